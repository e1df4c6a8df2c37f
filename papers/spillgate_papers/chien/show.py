"""The figures, and the tables beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from spillgate.result import Results
from spillgate_papers.chien.claims import gain
from spillgate_papers.chien.system import (
    ADAPTIVE,
    ASSURED,
    BEST_EFFORT,
    BLIND,
    BOTH,
    CHANCES,
    COMMITTED,
    FIXED,
    HIGH,
    LOW,
    MIDDLE,
    OFF,
    PHASES,
    RIO,
    SCHEMES,
    SOURCES,
    TEXTS,
    THRESHOLDS,
    absent,
    delivered,
    phase,
    queue,
    rate,
    red,
    sourced,
    total,
    use,
)
from spillgate_papers.measured import View
from spillgate_papers.show import By, Curves, Line, Panel, first_run, from_zero
from spillgate_papers.terms import Term, of_each, own, value

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BIN = 5
"""Seconds over which rates are averaged in figures 4 and 5."""
UPPER = next(reversed(FIXED))
"""RIO with its threshold for packets out at max_U."""


def percent(axes: Axes) -> None:
    """All of it, with room for the marks."""
    axes.set_ylim(0, 105)


THRESHOLD_TABLE = By(
    "thresholds",
    "Figure 2: ten best-effort connections",
    {"max_p": CHANCES, "max_th": [str(n) for n in THRESHOLDS]},
    {
        "utilization": lambda p, n: use(red(n, p)),
        "mean queue": lambda p, n: queue(red(n, p)),
        "timeouts": lambda p, n: value("timeouts", red(n, p), BEST_EFFORT),
    },
    "min_th is a third of max_th. Timeouts are those of all ten connections in 90 s.",
)
THRESHOLD_FIGURE = Curves(
    "fig02-thresholds",
    "Figure 2: utilization by max_th",
    (
        Panel(
            "",
            "max_th (packets)",
            "utilization (%)",
            {f"max_p {p}": {float(n): use(red(n, p)) for n in THRESHOLDS} for p in CHANCES},
            factor=100.0,
            look=percent,
        ),
    ),
    "Ten Reno connections, min_th a third of max_th.",
    size=(4.8, 3.2),
)


def over_time(results: Results, name: str, *classes: str) -> Line:
    """The rate of classes in the first run."""

    def points(_: View) -> Sequence[tuple[float, float]]:
        found = [first_run(results, f"class {c}", "throughput", name) for c in classes]
        sums = [sum(v for _, v in at) for at in zip(*found, strict=True)]
        starts = range(0, len(sums) - BIN + 1, BIN)
        return [(i + BIN / 2, sum(sums[i : i + BIN]) / BIN) for i in starts]

    return points


def timelines(results: Results) -> Sequence[Curves]:
    """Figures 4 and 5."""
    note = (
        f"First run, means of {BIN} s. The assured flow is idle until 100 s and from 200 to 300 s."
    )

    def timeline(file: str, title: str, y: str, *classes: str) -> Curves:
        lines = {s: over_time(results, s, *classes) for s in BOTH}
        guides = {"committed rate": 1e-6 * COMMITTED} if classes == (ASSURED,) else {}
        panel = Panel("", "time (s)", y, lines, guides, legend="best", factor=1e-6, look=from_zero)
        return Curves(file, title, (panel,), note, size=(6.4, 2.8))

    return (
        timeline("fig04-assured", "Figure 4: assured throughput", "assured (Mb/s)", ASSURED),
        timeline(
            "fig05-total", "Figure 5: total throughput", "total (Mb/s)", BEST_EFFORT, ASSURED
        ),
    )


def trace(results: Results) -> Curves:
    """C7: what A-RIO moves, and what it goes by."""

    def line(metric: str) -> Line:
        return lambda _: first_run(results, "core/fifo", metric, ADAPTIVE)

    panels = (
        Panel(
            "",
            "",
            "max_th (packets)",
            {"max_th of packets out": line("adapted_max_th")},
            {"max_L": float(LOW), "max_U": float(HIGH)},
            legend="",
        ),
        Panel(
            "",
            "time (s)",
            "rate (Mb/s)",
            {"arrivals": line("adapted_arrival_rate"), "C'": line("adapted_reference")},
            legend="lower right",
            factor=1e-6,
            look=lambda axes: axes.set_ylim(7, 10),
        ),
    )
    note = (
        "First run. Dashed max_L, dotted max_U. The assured flow is idle until 100 s and from 200 "
        "to 300 s."
    )
    return Curves("c7-trace", "C7: thresholds and reference", panels, note, 2, (6.4, 4.4))


def silences() -> By:
    """Figures 6 and 7."""
    return By(
        "silences",
        "Figures 6 and 7: on-off assured traffic",
        {"mean silence": {str(n): f"{n} s" for n in OFF}, "scheme": SCHEMES},
        {
            "best-effort utilization": lambda n, s: use(absent(s, n)),
            "gain over RIO": lambda n, s: None if s == RIO else gain(n, s),
            "assured, delivered": lambda n, s: delivered(absent(s, n)),
            "assured delay, 99 %": lambda n, s: value("owd_p99", absent(s, n), ASSURED),
            "mean queue": lambda n, s: queue(absent(s, n)),
        },
        "Delivered: of what the edge marked as in profile. The assured source has the same bursts "
        "under every scheme.",
    )


def _by_silence(
    file: str, title: str, panels: Mapping[str, tuple[Sequence[str], Callable[[str, int], Term]]]
) -> Curves:
    """Lines over the mean silence: by the name of the axis, schemes and what is shown of each."""
    drawn = [
        Panel(
            "",
            "mean silence of the assured flow (s)",
            y,
            {s: {float(n): of(s, n) for n in OFF} for s in schemes},
            factor=1.0 if "packets" in y else 100.0,
            look=percent if "(%)" in y else from_zero,
        )
        for y, (schemes, of) in panels.items()
    ]
    return Curves(file, title, drawn, size=(4.1 * len(drawn) + 0.4, 3.2))


SILENCE_FIGURES = (
    _by_silence(
        "fig06-utilization",
        "Figure 6: best-effort utilization",
        {"best-effort utilization (%)": (SCHEMES, lambda s, n: use(absent(s, n)))},
    ),
    _by_silence(
        "fig07-delivered",
        "Figure 7: what arrives of the assured flow",
        {"delivered in profile (%)": (SCHEMES, lambda s, n: delivered(absent(s, n)))},
    ),
)
RIVAL_FIGURE = _by_silence(
    "adaptation",
    "What adaptation gains, and a higher threshold",
    {
        "gain over RIO (points)": (SCHEMES, lambda s, n: gain(n, s)),
        "mean queue (packets)": (SCHEMES, lambda s, n: queue(absent(s, n))),
    },
)

PHASE_COLUMNS = {f"assured, {name}": lambda s, *_, name=name: phase(s, name) for name in PHASES}
RIVALS = By(
    "rivals",
    "Figures 4 and 5, RIO with other fixed thresholds, and RED that adapts",
    {"scheme": (*SCHEMES, *BLIND)},
    {
        "total": total,
        "best effort": lambda s: rate(s, BEST_EFFORT),
        "while the other is idle": lambda s: own("idle", s),
        **PHASE_COLUMNS,
        "mean queue": queue,
        "best-effort delay, 99 %": lambda s: value("owd_p99", s, BEST_EFFORT),
    },
    f"max_th for packets out: {LOW} packets under RIO, {LOW} to {HIGH} under A-RIO. The REDs "
    "begin at 10 and 30 packets for all and see no profile.",
)
ASSURED_TABLE = By(
    "assured",
    "The assured flow of figure 4: at the wire and as goodput",
    {"assured flow": ("", *SOURCES), "scheme": SCHEMES},
    {
        **{f"wire, {name}": lambda x, s, name=name: phase(sourced(s, x), name) for name in PHASES},
        "goodput": lambda x, s: own("goodput", sourced(s, x)) if x != "unresponsive" else None,
        "in profile": lambda x, s: own("in profile", sourced(s, x)),
        "lost": lambda x, s: value("loss_ratio", sourced(s, x), ASSURED),
    },
    "Goodput and what the edge marked as in profile over both phases, their first ten seconds "
    "included; a flow that is not TCP has no goodput. The first rows are the paper's: one TCP "
    "connection, a bucket of 50 ms.",
)


def _more(name: str) -> Term:
    return total(name) - total(RIO)


def said(name: str) -> Callable[[View], str]:
    """The sentences of a name."""
    measures = {
        "more": _more,
        "queue": queue,
        "assured": lambda at: phase(at, next(iter(PHASES))),
        "best effort": lambda at: rate(at, BEST_EFFORT),
    }
    share = of_each([_more(ADAPTIVE), _more(UPPER)], "share", lambda v: v[0] / v[1], "1")
    return TEXTS.said(name, measures, share=share, high=str(HIGH), middle=str(MIDDLE))
