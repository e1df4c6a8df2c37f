"""The figures: 6 to 9 of the paper, and those of the explanations."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spillgate.papers.domzal import system
from spillgate.papers.domzal.batches import TableOne, named
from spillgate.papers.domzal.cells import Cell
from spillgate.papers.domzal.system import BASIC, LINKS, MECHANISMS, ROUTERS, SCHEDULERS
from spillgate.papers.measured import PerRun
from spillgate.papers.model import Picture
from spillgate.result import Results
from spillgate.rows import Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MARKS = ("o", "s", "^", "D")


def _saved(make: Callable[[], Figure]) -> Callable[[Path], None]:
    def draw(path: Path) -> None:
        from spillgate.plot.files import write

        write(make(), path)

    return draw


def _line(axes: Axes, points: Mapping[float, PerRun], **look: object) -> None:
    """Means with intervals; the lower end of one that reaches 0 is left out on a log axis.

    Means with values that were cut off have an arrow upwards.
    """
    xs = list(points)
    qs = [q.quantity for q in points.values()]
    ys = [math.nan if q.mean is None else q.mean for q in qs]
    below = [0.0 if q.low is None or q.mean is None else q.mean - max(q.low, 0.0) for q in qs]
    above = [0.0 if q.high is None or q.mean is None else q.high - q.mean for q in qs]
    axes.errorbar(xs, ys, yerr=[below, above], capsize=2, elinewidth=0.8, markersize=4, **look)  # type: ignore[arg-type]
    cut = [(x, y) for x, y, q in zip(xs, ys, qs, strict=True) if q.at_least]
    if cut:
        # What was cut off is a lower bound: hollow, with an arrow to where it may be.
        axes.plot(
            [x for x, _ in cut],
            [y for _, y in cut],
            linestyle="none",
            marker="$\\uparrow$",
            markersize=9,
            markerfacecolor="white",
            color=look.get("color"),
            label="_cut off",
        )


def waits_by_flows(by_flows: Mapping[tuple[str, int], Cell]) -> Picture:
    """Figure 6: waits at both routers against the number of flows."""
    counts = sorted({n for _, n in by_flows})

    def make() -> Figure:
        from matplotlib.figure import Figure

        from spillgate.plot.style import palette, styled

        with styled():
            figure = Figure(figsize=(8.2, 3.4))
            panels = figure.subplots(1, 2, sharey=True)
            for panel, (at, link), letter in zip(panels, LINKS.items(), "ab", strict=True):
                for router, (color, _), mark in zip(
                    ROUTERS, palette(len(ROUTERS)), _MARKS, strict=True
                ):
                    points = {float(n): by_flows[router, n].wait(at) for n in counts}
                    _line(panel, points, color=color, marker=mark, label=router)
                panel.set_yscale("symlog", linthresh=1.0, linscale=0.6)
                panel.set_ylim(0, 1000)
                panel.set_yticks(
                    (0, 0.5, 1, 10, 100, 1000), ("0", "0.5", "1", "10", "100", "1000")
                )
                panel.set_xticks(counts)
                panel.set_xlabel("elastic flows to each destination")
                panel.set_title(f"({letter}) {at}, link {link}", fontsize=8, pad=3)
            panels[0].set_ylabel("waiting time (s)")
            panels[0].legend(loc="center right", fontsize=7)
        return figure

    return Picture(
        "fig06-waits-by-flows", "Figure 6: waits by number of elastic flows", _saved(make), CUT
    )


CUT = "An arrow upwards: some streams were not admitted when the run ended, a lower bound."


def waits_by_timer(
    number: int,
    mechanism: str,
    by_timer: Mapping[tuple[str, str, float], Cell],
    by_cost: Mapping[tuple[str, float], Cell],
) -> Picture:
    """Figures 7 to 9: waits at R2 under both schedulers, at R4 under PFQ, and half the timer."""
    parameter = system.PARAMETERS[mechanism]

    def make() -> Figure:
        from matplotlib.figure import Figure

        from spillgate.plot.style import palette, styled

        with styled():
            figure = Figure(figsize=(8.2, 3.0))
            panels = figure.subplots(1, 2, sharey=True)
            for panel, scheduler, letter in zip(panels, SCHEDULERS, "ab", strict=True):
                cells = {
                    t: c for (s, m, t), c in by_timer.items() if (s, m) == (scheduler, mechanism)
                }
                colors = palette(2)
                ends = (0.0, max(cells))
                panel.plot(
                    ends,
                    [t / 2.0 for t in ends],
                    color="#444444",
                    linewidth=0.9,
                    linestyle="--",
                    label="half the timer",
                )
                at_r2 = {t: c.wait("R2") for t, c in cells.items()}
                _line(panel, at_r2, color=colors[0][0], marker="o", label="R2")
                if scheduler == "PFQ":
                    last = max(cells)
                    at_r4 = {
                        t: c.wait("R4")
                        for (m, t), c in by_cost.items()
                        if m == mechanism and t <= last
                    }
                    _line(panel, at_r4, color=colors[1][0], marker="s", label="R4")
                panel.set_ylim(bottom=0)
                panel.set_xlabel(f"{parameter} (s)")
                panel.set_title(f"({letter}) {scheduler}", fontsize=8, pad=3)
                panel.legend(loc="upper left", fontsize=7)
            panels[0].set_ylabel(f"waiting time with {mechanism} (s)")
        return figure

    return Picture(
        f"fig{number:02}-{mechanism.lower()}",
        f"Figure {number}: waits by {parameter}, {mechanism}",
        _saved(make),
        CUT,
    )


def distributions(found: TableOne) -> Picture:
    """The distribution of single waits with the mechanisms."""

    def make() -> Figure:
        from matplotlib.figure import Figure

        from spillgate.plot.style import palette, styled

        with styled():
            figure = Figure(figsize=(8.2, 3.0))
            panels = figure.subplots(1, 2, sharey=True)
            for panel, at in zip(panels, LINKS, strict=True):
                for m, (color, _) in zip(MECHANISMS, palette(len(MECHANISMS)), strict=True):
                    for s, style in zip(SCHEDULERS, ("-", ":"), strict=True):
                        waits = found.cells[s, m].all_waits(at)
                        shares = [100.0 * (i + 1) / len(waits) for i in range(len(waits))]
                        panel.step(
                            [0.0, *waits],
                            [0.0, *shares],
                            where="post",
                            color=color,
                            linestyle=style,
                            label=f"{m}, {s}",
                        )
                panel.axvline(6.0, color="#888888", linewidth=0.8)
                panel.set_xlim(0, 7)
                panel.set_ylim(0, 100)
                panel.set_xlabel("waiting time (s)")
                panel.set_title(at, fontsize=8, pad=3)
            panels[0].set_ylabel("streams (%)")
            # At R4 all wait for one tick: there is room.
            panels[1].legend(loc="center", fontsize=7)
        return figure

    return Picture(
        "waits-distribution",
        "Single waits with the mechanisms",
        _saved(make),
        "The line at 6 s is the target of ITU-T E.721 for local calls.",
    )


def _series(results: Results, variant: str, link: str, metric: str) -> Series | None:
    for series in results.series():
        if (series.variant, series.where, series.metric) == (variant, f"link {link}", metric):
            return series
    return None


def openings(found: TableOne, failure: float, scale: float) -> Picture:
    """Fair rate and listed flows of L5 over time, basic FAN and EFM, first run."""
    basic, mechanisms = found.watched
    until = failure + 20.0
    shown: Sequence[tuple[str, Results, str]] = (
        (BASIC, basic, named("PFQ", BASIC)),
        ("EFM", mechanisms, named("PFQ", "EFM")),
    )

    def make() -> Figure:
        from matplotlib.figure import Figure

        from spillgate.plot.style import palette, styled

        with styled():
            figure = Figure(figsize=(8.2, 4.4))
            panels = figure.subplots(2, 2, sharex=True, sharey="row")
            (color, _), (other, _) = palette(2)
            for column, (label, results, variant) in enumerate(shown):
                top, low = panels[0][column], panels[1][column]
                rate = _series(results, variant, "L5", "fair_rate")
                listed = _series(results, variant, "L5", "flows_listed")
                for panel, series, factor, c in (
                    (top, rate, 1e-6, color),
                    (low, listed, 1.0, other),
                ):
                    if series is not None:
                        values = [factor * v for v in series.v]
                        panel.plot(series.t, values, color=c, linewidth=0.8)
                    panel.axvline(failure, color="#888888", linewidth=0.8)
                    panel.set_xlim(0, until)
                least = 1e-6 * system.RATE * scale * system.MIN_SHARE
                top.axhline(least, color="#444444", linewidth=0.8, linestyle="--")
                top.set_yscale("log")
                top.set_yticks((1, 10, 100), ("1", "10", "100"))
                top.set_title(f"{label}, PFQ", fontsize=8, pad=3)
                low.set_xlabel("time (s)")
            panels[0][0].set_ylabel("fair rate of L5 (Mb/s)")
            panels[1][0].set_ylabel("flows listed at R4")
        return figure

    return Picture(
        "openings",
        "Openings of L5",
        _saved(make),
        "First run. Dashed: min_fair_rate; the link is open while the fair rate is not below it. "
        "The gray line is the failure.",
    )


def transfer_cost(by_cost: Mapping[tuple[str, float], Cell], reference: Cell) -> Picture:
    """What each timer costs the elastic flows, against what it gives the streams."""

    def make() -> Figure:
        from matplotlib.figure import Figure

        from spillgate.plot.style import palette, styled

        with styled():
            figure = Figure(figsize=(8.2, 3.2))
            cost, wait = figure.subplots(1, 2)
            cost.axhline(1.1, color="#444444", linewidth=0.9, linestyle="--", label="1.1")
            wait.axhline(1.0, color="#444444", linewidth=0.9, linestyle="--", label="1 s")
            for m, (color, _), mark in zip(
                MECHANISMS, palette(len(MECHANISMS)), _MARKS, strict=False
            ):
                cells = {t: c for (of, t), c in by_cost.items() if of == m}
                ratios = {t: c.transfer / reference.transfer for t, c in cells.items()}
                waits = {t: c.wait("R4") for t, c in cells.items()}
                _line(cost, ratios, color=color, marker=mark, label=m)
                _line(wait, waits, color=color, marker=mark, label=m)
            timers = sorted({t for _, t in by_cost})
            for panel in (cost, wait):
                panel.set_xscale("log")
                panel.set_xticks(timers, [f"{t:g}" for t in timers])
                panel.set_xticks([], minor=True)
                panel.set_xlabel("timer (s)")
                panel.legend(loc="best", fontsize=7)
            wait.set_yscale("log")
            cost.set_ylabel("mean transfer time / basic")
            wait.set_ylabel("wait at R4 (s)")
            cost.set_title("D10: what the timer costs elastic flows", fontsize=8, pad=3)
            wait.set_title("and what it gives streams", fontsize=8, pad=3)
        return figure

    return Picture("d10-transfers", "D10: transfer time and wait by timer", _saved(make), CUT)
