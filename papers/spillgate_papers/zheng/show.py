"""The figures, and the tables beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from spillgate.result import Results
from spillgate_papers.measured import View
from spillgate_papers.model import Quantity, Table
from spillgate_papers.show import (
    By,
    Column,
    Curves,
    Line,
    Panel,
    binned,
    first_run,
    from_zero,
)
from spillgate_papers.terms import Term, value
from spillgate_papers.zheng.system import (
    AS_STATED,
    BOTH,
    BUFFER,
    CLOCKS,
    CONTRACTS,
    DSRED,
    LINE,
    LOOSEST,
    MTU,
    NRT,
    PLAIN,
    RED,
    RIVALS,
    SCHEMES,
    SETTINGS,
    SHARES,
    SIZES,
    SLOWER,
    SMALL,
    STATED,
    TEXTS,
    UBR,
    cells,
    circuit,
    drops,
    early,
    mean_queue,
    peak,
    per_second,
    place,
    received,
    sent,
    waiting,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 60
"""Stretches over which rates are averaged in the figures of throughput."""

CRITERIA: dict[str, Callable[[str], Term]] = {
    "received / sent (NTP)": received,
    "delay (AQD)": waiting,
    "peak queue (PQS)": peak,
    "drops (APD)": drops,
}
MECHANISM: dict[str, Callable[[str], Term]] = {
    **CRITERIA,
    "mean queue": mean_queue,
    "goodput": lambda at: value("goodput", at, "ftp"),
    "timeouts": lambda at: value("timeouts", at, "ftp"),
    "one-way delay": lambda at: value("owd_mean", at, "ftp"),
    "line used": lambda at: value("utilization", at, "vc", "link"),
}


def columns(of: Callable[..., str], what: dict[str, Callable[[str], Term]]) -> dict[str, Column]:
    """Columns of a table whose rows are points."""
    return {head: lambda *row, f=f: f(of(*row)) for head, f in what.items()}


TABLE = By(
    "table1",
    "Table 1",
    {"contract": (NRT, UBR), "scheme": tuple(SCHEMES)},
    columns(place, MECHANISM),
    "One-way delay includes 6 to 12 ms of propagation. Timeouts are those of all connections.",
)
PLAIN_TABLE = By(
    "plain",
    "The same line without cells",
    {"line": (PLAIN,), "scheme": (DSRED, *RIVALS)},
    columns(place, MECHANISM),
    "The homogeneous network of the companion paper: packets of 9180 B at the rate of the cells.",
)
SIZE_TABLE = By(
    "sizes",
    "Packet sizes and TCP's clock, under UBR",
    {"MTU": tuple(SIZES), "clock": tuple(CLOCKS), "scheme": (DSRED, *RIVALS)},
    columns(lambda m, c, s: varied(s, m, c), MECHANISM),
)
RIVAL_TABLE = By(
    "rival",
    "Which RED: settings that the paper may have had, under UBR",
    {"setting": ("", *SETTINGS), "scheme": BOTH},
    columns(lambda x, s: place(UBR, s, x) if x else place(UBR, s), MECHANISM),
    "The first rows are those of Table 1.",
)
CIRCUIT_TABLE = By(
    "circuit",
    "A circuit of a fifteenth of OC-1",
    {
        "setting": {
            AS_STATED: "as in Table 1",
            LOOSEST: "weight 0.002 in both, max_p 0.02, no count",
        },
        "scheme": BOTH,
    },
    {
        "received / sent": lambda x, s: received(circuit(s, x)),
        "NTP stated": lambda _, s: stated(s, 0),
        "delay": lambda x, s: waiting(circuit(s, x)),
        "AQD stated": lambda _, s: stated(s, 1, "s"),
        "peak queue": lambda x, s: peak(circuit(s, x)),
        "PQS stated": lambda _, s: stated(s, 2, "packets"),
        "drops": lambda x, s: drops(circuit(s, x)),
        "APD stated": lambda _, s: stated(s, 3, "packets/s"),
        "mean queue": lambda x, s: mean_queue(circuit(s, x)),
        "timeouts": lambda x, s: value("timeouts", circuit(s, x), "ftp"),
    },
    "Stated is what the paper's Table 1 has.",
)
SCR_TABLE = By(
    "scr",
    "The sustainable rate",
    {"SCR / line": [f"{s:g}" for s in SHARES], "scheme": BOTH},
    columns(lambda x, s: f"SCR {x}, {s}", MECHANISM),
)


def said(name: str) -> Callable[[View], str]:
    """The sentences of a name."""
    d, r = STATED[DSRED], STATED[RED]
    cells = {
        "dsred sent": f"{sent(DSRED):.0f}",
        "red sent": f"{sent(RED):.0f}",
        "dsred ntp": f"{d[0]:g}",
        "red ntp": f"{r[0]:g}",
        "dsred delay": f"{d[1]:.2f}",
        "red delay": f"{r[1]:.2f}",
        "dsred peak": f"{d[2]}",
        "red peak": f"{r[2]}",
        "mtu": f"{MTU}",
        "buffer": f"{BUFFER}",
        "carries": f"{per_second(MTU):.0f}",
        "longest": f"{r[2] / per_second(MTU):.2f}",
        "slow carries": f"{per_second(MTU, 1 / SLOWER):.0f}",
    }
    measures = {head.partition(" (")[0]: of for head, of in MECHANISM.items()}
    return TEXTS.said(name, {**measures, "received": received}, **cells)


def stated(scheme: str, i: int, unit: str = "ratio") -> Quantity:
    """What the paper's Table 1 has."""
    return Quantity(STATED[scheme][i], None, None, unit, 1)


def varied(scheme: str, mtu: str, clock: str) -> str:
    """A point of the table of sizes and clocks."""
    usual = (next(iter(SIZES)), next(iter(CLOCKS)))
    at = place(UBR, scheme)
    return at if (mtu, clock) == usual else f"{at}, {mtu}, {clock}"


def arithmetic() -> Table:
    """What the paper's numbers would mean together."""

    def exactly(x: float, unit: str) -> Quantity:
        return Quantity(x, None, None, unit, 1)

    rows = []
    for size, share, line in (
        (MTU, 1.0, "whole line"),
        (MTU, 0.5, "half of it"),
        (SMALL, 1.0, "whole line"),
    ):
        rate = per_second(size, share)
        for scheme, (_, delay, longest, _) in STATED.items():
            rows.append(
                (
                    f"{size} B, {line}",
                    scheme,
                    exactly(rate, "packets/s"),
                    exactly(sent(scheme), "packets/s"),
                    exactly(longest / rate, "s"),
                    exactly(delay, "s"),
                    exactly(delay * rate, "packets"),
                )
            )
    return Table(
        "arithmetic",
        "The paper's numbers, taken together",
        (
            "packets, circuit",
            "scheme",
            "the line carries",
            "sent, by NTP and APD",
            "longest wait behind PQS",
            "AQD",
            "mean queue by Little's law",
        ),
        tuple(rows),
        f"A packet of {MTU} B takes {cells(MTU)} cells, one of {SMALL} B {cells(SMALL)}; the line "
        f"has {LINE / (8 * 53):,.0f} cells/s. Sent is APD / (1 - NTP), if every packet that is "
        "not received was dropped. A mean delay cannot exceed the "
        "longest wait, nor a mean queue the peak.",
    )


_TWICE = STATED[RED][3] / STATED[DSRED][3]
QUOTES = Table(
    "quotes",
    "Text and table of the paper",
    ("", "section 3.3.1 of the paper, nrt-VBR", "its Table 1"),
    (
        ("queueing delay, DSRED", "0.35 s", f"{STATED[DSRED][1]:.2f} s"),
        ("queueing delay, RED", "0.55 s", f"{STATED[RED][1]:.2f} s"),
        ("normalized throughput, DSRED", "“around 0.9”", f"{STATED[DSRED][0]:g}"),
        ("normalized throughput, RED", "“around 0.6”", f"{STATED[RED][0]:g}"),
        (
            "drops, RED over DSRED",
            "peak “around 5.2 packet/second which is almost twice the value for DSRED”",
            f"{STATED[RED][3]:g} and {STATED[DSRED][3]:g} packets/s, {_TWICE:.2f} times",
        ),
        ("the queue is longest", "“at around 60 seconds”, then “at 50”", "–"),
        ("drops are most frequent", "“at around 50 seconds”, then at 90", "–"),
    ),
    "Claims are judged by Table 1. Peak and mean of drops need not have one ratio.",
)


def near_one(axes: Axes) -> None:
    """The last tenth."""
    axes.set_ylim(0.9, 1.0)


def figures(results: Results, starts: Results) -> Sequence[Curves]:
    """Figures 4 to 13, of the first run."""

    def of(where: str, metric: str, at: str) -> list[tuple[float, float]]:
        return first_run(results, where, metric, at)

    def averages(where: str, metric: str, at: str) -> list[tuple[float, float]]:
        points = of(where, metric, at)
        return binned(points, -(-len(points) // BINS))

    def normalized(at: str) -> Line:
        """The rate that arrives over the one that the servers send."""

        def points(_: View) -> Sequence[tuple[float, float]]:
            got = averages("class ftp", "throughput", at)
            sent = [averages(f"link access-{i}", "carried", at) for i in range(4)]
            sums = [sum(v for _, v in parts) for parts in zip(*sent, strict=True)]
            return [(t, g / s) for (t, g), s in zip(got, sums, strict=True) if s > 0.0]

        return points

    def queue(at: str) -> Line:
        return lambda _: of("vc/fifo", "backlog_packets", at)

    def averaged(at: str) -> Line:
        """The time average of the drops so far."""

        def points(_: View) -> Sequence[tuple[float, float]]:
            rates = of("vc/fifo", "drops_per_second", at)
            sums = accumulate(v for _, v in rates)
            return [(t, s / n) for n, ((t, _), s) in enumerate(zip(rates, sums, strict=True), 1)]

        return points

    def startup(metric: str, at: str) -> Line:
        return lambda _: first_run(starts, "vc/fifo", metric, at)

    drawn = []
    for contract, (first, second, third) in {NRT: (4, 6, 7), UBR: (9, 11, 12)}.items():
        points = {s: place(contract, s) for s in BOTH}
        for number, title, y, line in (
            (first, "normalized throughput", "received / sent", normalized),
            (second, "the queue", "packets", queue),
            (third, "time average of drops", "packets/s", averaged),
        ):
            name = f"fig{number:02}-{title.split()[-1]}"
            also = f"s {number} and {number + 1}" if number == first else f" {number}"
            panel = Panel(
                "",
                "time (s)",
                y,
                {s: line(at) for s, at in points.items()},
                look=near_one if line is normalized else from_zero,
            )
            drawn.append(
                Curves(name, f"Figure{also}: {title}, {contract}", (panel,), "First run.")
            )
    panels = [
        Panel(
            f"{s}, {c}",
            "time (s)" if c == UBR else "",
            "packets",
            {
                "queue": startup("backlog_packets", early(c, s)),
                "average": startup("backlog_average", early(c, s)),
            },
        )
        for c in CONTRACTS
        for s in BOTH
    ]
    drawn.append(
        Curves("start", "The start: queue and average", panels, "First run.", 2, (8.2, 5.0))
    )
    return drawn


SHARES_OF_TIME = {
    50.0: "backlog_packets_p50",
    95.0: "backlog_packets_p95",
    99.0: "backlog_packets_p99",
}
SHARE_FIGURE = Curves(
    "distribution",
    "Z6: the queue, by the share of time",
    tuple(
        Panel(
            c,
            "share of time (%)",
            "queue at most (packets)",
            {
                s: {
                    q: value(metric, place(c, s), "vc/fifo", "queue")
                    for q, metric in SHARES_OF_TIME.items()
                }
                for s in (DSRED, *RIVALS)
            },
            look=from_zero,
        )
        for c in CONTRACTS
    ),
    shared=True,
)
