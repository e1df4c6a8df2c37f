"""What the page shows: table I beside the paper's, figures 6 to 9, and what explains them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spillgate.labels import label_of
from spillgate_papers import show
from spillgate_papers.domzal import system
from spillgate_papers.domzal.claims import by_timer, closed, line, long_gap, transfer, wait
from spillgate_papers.domzal.system import BASIC, LINKS, MECHANISMS, RUN_ON, TEXTS, WHOLE, Plan, at
from spillgate_papers.measured import PerRun, Singles, View
from spillgate_papers.model import Quantity, Section, Table
from spillgate_papers.show import By, Column, Curves, Panel, Taken, shares, taken
from spillgate_papers.study import Study
from spillgate_papers.terms import Term, own

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OF_TABLE = ("D3", "D4", "D5", "D9", "D11")
"""The claims that mechanisms in table I decide."""
_rows = Path(__file__).with_name("table1.csv").read_text(encoding="utf-8").splitlines()
STATED = {r["point"]: r for r in csv.DictReader(_rows)}
"""Table I of the paper."""
ROUTERS, ENDS = (BASIC, *MECHANISMS), tuple(LINKS)
TABLE_ONE = {"scheduler": tuple(system.SCHEDULERS), "mechanism": ROUTERS}
TIMED = {**TABLE_ONE, "mechanism": MECHANISMS}


def unended(waits: Singles) -> PerRun:
    """Streams that were never admitted."""
    return waits.unended("streams")


NEVER = {"never admitted at R4": ("wait R4", unended)}
WAITS: Taken = {"wait R2": "wait R2", "wait R4": "wait R4"}
LONGEST: Taken = {"longest at R2": ("wait R2", Singles.longest)}


def table_one(file: str, *more: str, basic: bool = True, **cells: str) -> By:
    """Waiting times beside the paper's."""

    def paper(router: str) -> Column:
        def cell(s: str, m: str) -> Quantity:
            mean, half = (float(STATED[at(s, m)][k]) for k in (router, f"half at {router}"))
            return Quantity(mean, mean - half, mean + half, "s", 2)

        return cell

    columns: dict[str, Column] = {}
    for r in LINKS:
        ours: Taken = {f"ours, {r}": f"wait {r}", f"longest, {r}": (f"wait {r}", Singles.longest)}
        columns |= {f"paper, {r}": paper(r), **taken(at("{0}", "{1}", *more), ours)}
    return TEXTS.by(file, TABLE_ONE, columns, cells, lambda _, m: basic or m != BASIC)


def prolonged(plan: Plan) -> By:
    """Basic FAN, cut off as in the paper and with more time."""
    end = f"until {2 * plan.failure:g} s"
    shown = {
        "until the failure": ("R2", "wait R2", system.UNFAILED),
        f"no failure, {end}": ("R2", "wait R2, no failure", system.UNFAILED),
        end: ("R4", "wait R4"),
        "run on": ("R4", "wait R4", RUN_ON),
    }

    def of(make: Callable[[Singles], PerRun]) -> Column:
        def cell(s: str, _: str, how: str) -> Term:
            _, key, *more = shown[how]
            return own(key, at(s, BASIC, *more), make)

        return cell

    return TEXTS.by(
        "prolonged",
        {"scheduler": tuple(system.SCHEDULERS), "router": ENDS, "how long": tuple(shown)},
        {"wait": of(Singles.mean), "never admitted": of(unended)},
        where=lambda _, router, how: shown[how][0] == router,
        bare=1,
    )


WITHIN: Taken = {
    "within 6 s": ("wait {2}", lambda waits: waits.within(6.0)),
    "within 11 s": ("wait {2}", lambda waits: waits.within(11.0)),
    "95th percentile": ("wait {2}", lambda waits: waits.pooled(0.95)),
    "longest": ("wait {2}", lambda waits: waits.pooled(1.0)),
}
ACROSS: Taken = {
    "longest gap, p95": ("gap", long_gap),
    "first to last admission at R4": "entry",
    "removals of streams": "removed",
    "use of L3 until the failure": "use of L3",
    "use of L5": "use of L5",
}
FORMED: Taken = {
    **WAITS,
    **NEVER,
    "longest gap, p95": ("gap", long_gap),
    "use of L3": "use of L3",
    "transfers done": "done",
    "transfer time": "transfer",
}
GRADES = TEXTS.by("e721", {**TABLE_ONE, "router": ENDS}, taken("{0}, {1}", WITHIN))
INTERRUPTIONS = TEXTS.by("failure", TABLE_ONE, taken("{0}, {1}", ACROSS))
BEYOND = TEXTS.by(
    "beyond",
    {"router": (BASIC, "EFM"), "form": tuple(system.FORMS)},
    taken("PFQ, {0}, {1}", FORMED),
)


def behind(plan: Plan, runs: Callable[[str], int], most: int) -> Iterator[By]:
    """What stands behind figures 6 to 9."""
    some, scale = [f"{n}: {plan.rates(n):.2g}" for n in plan.flows[1:-1]], f"{plan.scale:g}"
    between = f", between them at part of them ({', '.join(some)})" if some else ""
    yield TEXTS.by(
        "flows",
        {"mechanism": ROUTERS, "flows to each destination": [str(n) for n in plan.flows]},
        taken("PFQ, {0}, {1} flows", {**WAITS, **LONGEST, "removals": "removed"}),
        {
            "runs": str(min(plan.runs(4), most)),
            "scale": scale,
            "between": between,
            "least": f"{plan.rates(plan.flows[-1]):g}",
        },
    )
    yield TEXTS.by(
        "timers",
        {**TIMED, "timer": [at(t) for t in plan.timers]},
        taken("{0}, {1}, {2}", {"wait R2": "wait R2", **LONGEST}),
        {"start": f"{plan.failure / 5:g}", "gap": f"{plan.failure / 50:g}"},
        lambda s, _, t: t in map(at, plan.timers_of(s)),
        0,
    )
    slopes = {
        k: (lambda s, m, i=i: line(s, m, plan)[i])
        for i, k in enumerate(("slope", "at timer 0", "R²"))
    }
    yield TEXTS.by("slopes", TIMED, slopes, bare=0)

    def over_basic(key: str) -> Column:
        basic = own(key, at("PFQ", BASIC, system.UNTIMED, WHOLE))
        return lambda m, t: None if m == BASIC else own(key, at("PFQ", m, t, WHOLE)) / basic

    timers = {**{at(t): at(t) for t in plan.costs}, system.UNTIMED: ""}
    decisive = [at(*system.CHEAPEST)] if system.CHEAPEST[1] in plan.costs else []
    point = at("PFQ", "{0}", "{1}", WHOLE)
    yield TEXTS.by(
        "costs",
        {"mechanism": (*MECHANISMS, BASIC), "timer": timers},
        {
            **taken(point, {**WAITS, **NEVER}),
            "transfer time / basic": over_basic("transfer"),
            "of those that ended / basic": over_basic("finished"),
            **taken(point, {"transfers done": "done"}),
        },
        {
            "runs": str(runs("What timers cost")),
            "decisive": " and ".join([*decisive, BASIC]),
            "often": str(runs("What the cheapest timer costs")),
        },
        lambda m, t: (m == BASIC) == (t == system.UNTIMED),
        0,
    )


def closures(plan: Plan, runs: int) -> By:
    """The closure of L5 at the failure against the oracle, run by run."""

    def one(*more: str) -> Column:
        return lambda s, i: own("wait R4", at(s, BASIC, *more), lambda w: w.only(int(i)).mean())

    return TEXTS.by(
        "closures",
        {"scheduler": tuple(system.SCHEDULERS), "run": [str(i) for i in range(runs)]},
        {
            f"wait, until {2 * plan.failure:g} s": one(),
            "wait, run on": one(RUN_ON),
            "closure / oracle": lambda s, i: closed(s, plan).over(lambda v: v[int(i)]),
        },
    )


def waits_by_flows(plan: Plan) -> Curves:
    """Figure 6: waits at both routers against the number of flows."""

    def look(axes: Axes) -> None:
        axes.set_yscale("symlog", linthresh=1.0, linscale=0.6)
        axes.set_ylim(0, 1000)
        axes.set_yticks((0, 0.5, 1, 10, 100, 1000), ("0", "0.5", "1", "10", "100", "1000"))
        axes.set_xticks(plan.flows)

    def panel(title: str, router: str) -> Panel:
        waits = {
            r: {float(n): wait(at("PFQ", r, f"{n} flows"), router) for n in plan.flows}
            for r in ROUTERS
        }
        x, y = "elastic flows to each destination", "waiting time (s)"
        return Panel(title, x, y, waits, legend="center right", look=look)

    panels = (panel("(a) R2, link L3", "R2"), panel("(b) R4, link L5", "R4"))
    return TEXTS.curves("fig06-waits-by-flows", *panels, size=(8.2, 3.4), shared=True)


def waits_by_timer(file: str, m: str, plan: Plan) -> Curves:
    """Figures 7 to 9: waits at R2 under both schedulers, at R4 under PFQ, and half the timer."""
    last = plan.timers[-1]
    whole = {t: wait(at("PFQ", m, t, WHOLE), "R4") for t in plan.costs if t <= last}

    def panel(title: str, s: str) -> Panel:
        return Panel(
            title,
            f"{system.PARAMETERS[m]} (s)",
            f"waiting time with {m} (s)",
            {"R2": by_timer(s, m, plan), **({"R4": whole} if s == "PFQ" else {})},
            {"half the timer": ((0.0, 0.0), (last, last / 2.0))},
            legend="upper left",
            look=show.from_zero,
        )

    return TEXTS.curves(file, panel("(a) PFQ", "PFQ"), panel("(b) PDRR", "PDRR"), shared=True)


def distributions() -> Curves:
    """The distribution of single waits with the mechanisms."""

    def look(axes: Axes) -> None:
        axes.axvline(6.0, color="#888888", linewidth=0.8)
        axes.set_xlim(0, 7)
        axes.set_ylim(0, 100)

    def panel(router: str, legend: str) -> Panel:
        points = {f"{m}, {s}": at(s, m) for m in MECHANISMS for s in system.SCHEDULERS}
        lines = {k: shares(f"wait {router}", p) for k, p in points.items()}
        x, y = "waiting time (s)", "streams (%)"
        return Panel(router, x, y, lines, shades=2, legend=legend, look=look)

    # At R4 all wait for one tick: there is room.
    return TEXTS.curves("waits-distribution", panel("R2", ""), panel("R4", "center"), shared=True)


def openings(plan: Plan) -> Curves:
    """Fair rate and listed flows of L5 over time, basic FAN and EFM, first run."""
    least = 1e-6 * system.RATE * plan.scale * system.MIN_SHARE

    def look(axes: Axes) -> None:
        axes.axvline(plan.failure, color="#888888", linewidth=0.8)
        axes.set_xlim(0, plan.failure + 20.0)

    def logarithmic(axes: Axes) -> None:
        look(axes)
        axes.set_yscale("log")
        axes.set_yticks((1, 10, 100), ("1", "10", "100"))

    def line(router: str, metric: str) -> Callable[[View], Sequence[tuple[float, float]]]:
        return lambda v: v.series(at("PFQ", router), "link L5", metric)

    def rate(r: str) -> Panel:
        lines = {label_of("fair_rate"): line(r, "fair_rate")}
        y, guides = "fair rate of L5 (Mb/s)", {"min_fair_rate": least}
        of = (f"{r}, PFQ", "", y, lines, guides)
        return Panel(*of, legend="", factor=1e-6, look=logarithmic)

    def listed(r: str) -> Panel:
        lines = {"flows": line(r, "flows_listed")}
        return Panel("", "time (s)", "flows listed at R4", lines, legend="", look=look)

    panels = (*map(rate, (BASIC, "EFM")), *map(listed, (BASIC, "EFM")))
    return TEXTS.curves("openings", *panels, rows=2, size=(8.2, 4.4), shared="row")


def whole_wait(m: str, timer: float) -> Term:
    """The wait at R4 with a timer, over whole runs."""
    return wait(at("PFQ", m, timer, WHOLE), "R4")


def transfer_cost(plan: Plan) -> Curves:
    """What each timer costs the elastic flows, against what it gives the streams."""
    look = show.logarithmic(plan.costs)

    def both(axes: Axes) -> None:
        look(axes)
        axes.set_yscale("log")

    dear, waits = (
        {m: {t: of(m, t) for t in plan.costs} for m in MECHANISMS} for of in (transfer, whole_wait)
    )
    title, y = "D10: what the timer costs elastic flows", "mean transfer time / basic"
    cost = Panel(title, "timer (s)", y, dear, {"1.1": 1.1}, look=look)
    title, y = "and what it gives streams", "wait at R4 (s)"
    gain = Panel(title, "timer (s)", y, waits, {"1 s": 1.0}, look=both)
    return TEXTS.curves("d10-transfers", cost, gain, size=(8.2, 3.2))


def trade_off(plan: Plan, v: View) -> str:
    """D10 in words."""
    ends = {"first": plan.costs[0], "last": plan.costs[-1]}
    said = []
    for m in MECHANISMS:
        cells = {f"transfer {k}": transfer(m, t) for k, t in ends.items()}
        cells |= {f"wait {k}": whole_wait(m, t) for k, t in ends.items()}
        said.append(TEXTS.said("with a mechanism", m=m, **cells)(v))
    timers = {k: f"{t:g}" for k, t in ends.items()}
    return TEXTS.said("curve", said="; ".join(said), **timers)(v)


def sections(study: Study, plan: Plan) -> Iterator[Section]:
    """What the page shows beside verdicts and ledger."""
    lab, v = study.lab, study.main
    efforts = {b.title: b.effort for b in study.paper.batches}

    def runs(title: str) -> int:
        return efforts[title].of(lab).runs

    admitted = study.paper.judged(study.switched(system.ADMITTED)[0])
    settings = {"it is dropped": study.claims, "it is admitted": admitted}
    chosen = {k: [j for j in of if j.claim.id in OF_TABLE] for k, of in settings.items()}
    title, note = TEXTS.shown("settings")
    whole, often = f"{2 * plan.failure:g}", str(runs("Table I mechanisms"))
    cells = {"scale": f"{plan.scale:g}", "least": f"{system.LEAST_HZ}", "held": f"{system.HELD:g}"}
    text = TEXTS.said("protocol", runs=str(lab.runs), often=often, whole=whole, **cells)
    tables: list[By | Table] = [
        table_one("table1", whole=whole),
        table_one("table1-trigger", system.ADMITTED, basic=False),
        show.compared("settings", title, chosen, note),
        table_one("table1-lit", system.LITERATURE, runs=str(min(plan.runs(2), lab.runs))),
        *(prolonged(plan), GRADES, INTERRUPTIONS),
    ]
    yield study.section("Table I", text(v), tables, (distributions(),), "protocol")
    timed = zip(("fig07-efm", "fig08-raef", "fig09-rbaef"), MECHANISMS, strict=True)
    figures = [waits_by_timer(*of, plan) for of in timed]
    figures = [waits_by_flows(plan), *figures, transfer_cost(plan)]
    made = list(behind(plan, runs, lab.runs))
    yield study.section("Figures 6 to 9", trade_off(plan, v), made, figures, "curve")
    head = ("claims", "the paper", "what it means here")
    unlike = TEXTS.table("inconsistencies", head, map(tuple, TEXTS.rows["Inconsistencies"]))
    yield study.section("Why", "", (unlike, closures(plan, lab.runs)), (openings(plan),))
    yield study.section("Beyond the paper", "", (BEYOND,))
    yield study.section("What is run", "", (study.runs(),))
