"""The figures: 6 to 9 of the paper, and those of the explanations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spillgate.labels import label_of
from spillgate.result import Results
from spillgate_papers.domzal import system
from spillgate_papers.domzal.claims import by_timer, transfer, wait
from spillgate_papers.domzal.system import (
    BASIC,
    LINKS,
    MECHANISMS,
    PARAMETERS,
    SCHEDULERS,
    WHOLE,
    Plan,
    at,
)
from spillgate_papers.measured import View
from spillgate_papers.show import Curves, Line, Panel, shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CUT = "An arrow upwards: some streams were not admitted when the run ended, a lower bound."
SECONDS = "waiting time (s)"


def waits_by_flows(plan: Plan) -> Curves:
    """Figure 6: waits at both routers against the number of flows."""

    def look(axes: Axes) -> None:
        axes.set_yscale("symlog", linthresh=1.0, linscale=0.6)
        axes.set_ylim(0, 1000)
        axes.set_yticks((0, 0.5, 1, 10, 100, 1000), ("0", "0.5", "1", "10", "100", "1000"))
        axes.set_xticks(plan.flows)

    panels = [
        Panel(
            f"({letter}) {router}, link {link}",
            "elastic flows to each destination",
            SECONDS,
            {
                r: {float(n): wait(at("PFQ", r, f"{n} flows"), router) for n in plan.flows}
                for r in (BASIC, *MECHANISMS)
            },
            legend="center right",
            look=look,
        )
        for letter, (router, link) in zip("ab", LINKS.items(), strict=True)
    ]
    title = "Figure 6: waits by number of elastic flows"
    return Curves("fig06-waits-by-flows", title, panels, CUT, size=(8.2, 3.4), shared=True)


def waits_by_timer(number: int, m: str, plan: Plan) -> Curves:
    """Figures 7 to 9: waits at R2 under both schedulers, at R4 under PFQ, and half the timer."""
    last = plan.timers[-1]
    whole = {t: wait(at("PFQ", m, t, WHOLE), "R4") for t in plan.costs if t <= last}
    panels = [
        Panel(
            f"({letter}) {s}",
            f"{PARAMETERS[m]} (s)",
            f"waiting time with {m} (s)",
            {"R2": by_timer(s, m, plan), **({"R4": whole} if s == "PFQ" else {})},
            {"half the timer": ((0.0, 0.0), (last, last / 2.0))},
            legend="upper left",
            look=lambda axes: axes.set_ylim(bottom=0),
        )
        for letter, s in zip("ab", SCHEDULERS, strict=True)
    ]
    title = f"Figure {number}: waits by {PARAMETERS[m]}, {m}"
    return Curves(f"fig{number:02}-{m.lower()}", title, panels, CUT, shared=True)


def distributions() -> Curves:
    """The distribution of single waits with the mechanisms."""

    def look(axes: Axes) -> None:
        axes.axvline(6.0, color="#888888", linewidth=0.8)
        axes.set_xlim(0, 7)
        axes.set_ylim(0, 100)

    lines = [(m, s) for m in MECHANISMS for s in SCHEDULERS]
    panels = [
        Panel(
            router,
            SECONDS,
            "streams (%)",
            {f"{m}, {s}": shares(f"wait {router}", at(s, m)) for m, s in lines},
            shades=2,
            # At R4 all wait for one tick: there is room.
            legend="center" if router == "R4" else "",
            look=look,
        )
        for router in LINKS
    ]
    note = "The line at 6 s is the target of ITU-T E.721 for local calls."
    title = "Single waits with the mechanisms"
    return Curves("waits-distribution", title, panels, note, shared=True)


def openings(basic: Results, mechanisms: Results, plan: Plan) -> Curves:
    """Fair rate and listed flows of L5 over time, basic FAN and EFM, first run."""
    least = 1e-6 * system.RATE * plan.scale * system.MIN_SHARE

    def line(router: str, metric: str, factor: float) -> Line:
        def points(_: View) -> Sequence[tuple[float, float]]:
            results = basic if router == BASIC else mechanisms
            (series,) = results.series(where="link L5", metric=metric, variant=at("PFQ", router))
            return [(t, factor * v) for t, v in zip(series.t, series.v, strict=True)]

        return points

    def look(axes: Axes) -> None:
        axes.axvline(plan.failure, color="#888888", linewidth=0.8)
        axes.set_xlim(0, plan.failure + 20.0)

    def logarithmic(axes: Axes) -> None:
        look(axes)
        axes.set_yscale("log")
        axes.set_yticks((1, 10, 100), ("1", "10", "100"))

    routers = (BASIC, "EFM")
    rates = [
        Panel(
            f"{r}, PFQ",
            "",
            "fair rate of L5 (Mb/s)",
            {label_of("fair_rate"): line(r, "fair_rate", 1e-6)},
            {"min_fair_rate": least},
            legend="",
            look=logarithmic,
        )
        for r in routers
    ]
    listed = [
        Panel(
            "",
            "time (s)",
            "flows listed at R4",
            {"flows": line(r, "flows_listed", 1.0)},
            legend="",
            look=look,
        )
        for r in routers
    ]
    return Curves(
        "openings",
        "Openings of L5",
        (*rates, *listed),
        "First run. Dashed: min_fair_rate; the link is open while the fair rate is not below it. "
        "The gray line is the failure.",
        rows=2,
        size=(8.2, 4.4),
        shared="row",
    )


def transfer_cost(plan: Plan) -> Curves:
    """What each timer costs the elastic flows, against what it gives the streams."""

    def look(axes: Axes) -> None:
        axes.set_xscale("log")
        axes.set_xticks(plan.costs, [f"{t:g}" for t in plan.costs])
        axes.set_xticks([], minor=True)

    def both(axes: Axes) -> None:
        look(axes)
        axes.set_yscale("log")

    panels = (
        Panel(
            "D10: what the timer costs elastic flows",
            "timer (s)",
            "mean transfer time / basic",
            {m: {t: transfer(m, t) for t in plan.costs} for m in MECHANISMS},
            {"1.1": 1.1},
            look=look,
        ),
        Panel(
            "and what it gives streams",
            "timer (s)",
            "wait at R4 (s)",
            {m: {t: wait(at("PFQ", m, t, WHOLE), "R4") for t in plan.costs} for m in MECHANISMS},
            {"1 s": 1.0},
            look=both,
        ),
    )
    title = "D10: transfer time and wait by timer"
    return Curves("d10-transfers", title, panels, CUT, size=(8.2, 3.2))
