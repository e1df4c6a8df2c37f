"""What is run for the claims, and the cells that come of it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from spillgate.papers.domzal import oracle, system
from spillgate.papers.domzal.cells import Cell, Reader
from spillgate.papers.domzal.effort import Effort
from spillgate.papers.domzal.system import BASIC, MECHANISMS, SCHEDULERS, Setting, Workload
from spillgate.papers.lab import Case, Lab, Protocol
from spillgate.papers.measured import PerRun
from spillgate.result import Results

ALONE = (
    ("traffic.2.sessions.arrivals.poisson.count", 1),
    ("traffic.2.sessions.session.transfer.size.pareto.mean", "1500 B"),
)
"""Nothing to d2 but one small transfer: R2 does not notice."""


@dataclass(frozen=True)
class Batch:
    """What a batch gave.

    Attributes:
        results: Everything.
        cells: By name of the setting.
        cut: The same as if the runs had ended earlier, if that was asked for.
    """

    results: Results
    cells: Mapping[str, Cell]
    cut: Mapping[str, Cell]


def run(
    lab: Lab,
    batch: str,
    settings: Mapping[str, Setting],
    runs: int,
    end: float,
    *,
    scale: float,
    keep: bool = False,
    cut: float | None = None,
) -> Batch:
    """Runs settings by name to a second, and looks at them at an earlier one if that is given."""
    cases = [Case(name, s.settings(scale, end)) for name, s in settings.items()]
    results = lab.run(batch, cases, Protocol(runs, 0.0, end), keep=keep)
    reader = Reader(results)
    cells = {name: reader.cell(name, s.failure) for name, s in settings.items()}
    before = {
        name: reader.cell(name, s.failure, cut) for name, s in settings.items() if cut is not None
    }
    return Batch(results, cells, before)


@dataclass(frozen=True)
class TableOne:
    """The runs of table I for one workload.

    Attributes:
        cells: By scheduler and router.
        watched: The results whose first runs were watched: basic FAN, and the mechanisms.
    """

    cells: Mapping[tuple[str, str], Cell]
    watched: tuple[Results, Results]


def named(scheduler: str, router: str) -> str:
    """The variant of a cell of table I.

    Example:
        >>> named("PFQ", "EFM")
        'PFQ EFM'
    """
    return f"{scheduler} {router}"


def table_one(
    lab: Lab, effort: Effort, workload: Workload, title: str, runs: int, scale: float
) -> TableOne:
    """Runs every mechanism under both schedulers."""
    of = Setting(workload=workload, failure=effort.failure)
    basic = {named(s, BASIC): replace(of, scheduler=s) for s in SCHEDULERS}
    mechanisms = {
        named(s, m): replace(of, scheduler=s, router=m) for s in SCHEDULERS for m in MECHANISMS
    }
    first = run(lab, f"{title} basic FAN", basic, runs, effort.end, scale=scale, keep=True)
    end = effort.failure + effort.aftermath
    second = run(lab, f"{title} mechanisms", mechanisms, runs, end, scale=scale, keep=True)
    every = {**first.cells, **second.cells}
    cells = {(s, r): every[named(s, r)] for s in SCHEDULERS for r in system.ROUTERS}
    return TableOne(cells, (first.results, second.results))


def triggered(lab: Lab, effort: Effort, main: TableOne) -> dict[tuple[str, str], Cell]:
    """Table I where the packet that triggers a removal is admitted; basic FAN has no removals."""
    settings = {
        named(s, m): Setting(scheduler=s, router=m, failure=effort.failure, rest=system.TRIGGER)
        for s in SCHEDULERS
        for m in MECHANISMS
    }
    end = effort.failure + effort.aftermath
    title = "Table I mechanisms, triggers admitted"
    found = run(lab, title, settings, lab.runs, end, scale=effort.scale, keep=True)
    cells = {(s, m): found.cells[named(s, m)] for s in SCHEDULERS for m in MECHANISMS}
    return {k: cells.get(k, c) for k, c in main.cells.items()}


@dataclass(frozen=True)
class Prolonged:
    """Basic FAN with more time, by scheduler.

    Attributes:
        cut: The runs of table I.
        on: The same run on after the paper's end, if a stream was not admitted by then.
        failed: Without a failure, for R2 alone, until the second at which it would be.
        unfailed: The same until the paper's end.
        oracle: As in `claims.Found`.
    """

    cut: Mapping[str, Cell]
    on: Mapping[str, Cell]
    failed: Mapping[str, Cell]
    unfailed: Mapping[str, Cell]
    oracle: Mapping[str, PerRun]


def prolonged(lab: Lab, effort: Effort, main: TableOne) -> Prolonged:
    """Runs basic FAN on where somebody waits still, and without the failure."""
    basic = {s: Setting(scheduler=s, failure=effort.failure) for s in SCHEDULERS}
    cut = {s: main.cells[s, BASIC] for s in SCHEDULERS}
    on = dict(cut)
    waiting = {s: basic[s] for s, c in cut.items() if any(c.censored("R4").values)}
    if waiting:
        until = effort.prolonged
        on |= run(lab, "Basic FAN run on", waiting, lab.runs, until, scale=effort.scale).cells
    still = {s: replace(of, failure=None, rest=ALONE) for s, of in basic.items()}
    unfailed = run(
        lab,
        "Basic FAN without the failure",
        still,
        lab.runs,
        effort.end,
        scale=effort.small,
        cut=effort.failure,
    )
    expected = {
        s: closed_for(cell, system.W_CAL, effort.failure, effort.scale) for s, cell in on.items()
    }
    return Prolonged(cut, on, unfailed.cut, unfailed.cells, expected)


def closed_for(cell: Cell, workload: Workload, failure: float, scale: float) -> PerRun:
    """The closure of L5 at the failure over what the oracle expects of it, in each run.

    NaN where L5 is open then, or does not open before the run ends.
    """
    found = []
    for admitted in cell.openings:
        expected = oracle.reopening(
            admitted,
            before=failure,
            scale=workload.mean * scale * (system.SHAPE - 1.0) / system.SHAPE,
            rate=system.RATE * scale * system.PAYLOAD / system.PACKET,
            stay=math.ceil(1.0 / system.MIN_SHARE) - 1.0,
            tick=system.TICK,
            shape=system.SHAPE,
        )
        opened = next((t for t in admitted if t >= failure), None)
        if expected is None or opened is None or expected[0] >= failure - 2.0 * system.TICK:
            found.append(math.nan)
        else:
            found.append((opened - expected[0]) / expected[1])
    return PerRun(tuple(found), "ratio")


@dataclass(frozen=True)
class Sweeps:
    """The runs of figures 6 to 9, and of what mechanisms cost.

    Attributes:
        by_timer: Waits at R2 by scheduler, mechanism and timer; nothing else of them is of use.
        by_flows: Under PFQ, by router and number of flows.
        by_cost: Under PFQ over whole runs, by mechanism and timer.
        reference: Basic FAN under PFQ with the traffic of `by_cost`.
    """

    by_timer: Mapping[tuple[str, str, float], Cell]
    by_flows: Mapping[tuple[str, int], Cell]
    by_cost: Mapping[tuple[str, float], Cell]
    reference: Cell


def sweeps(lab: Lab, effort: Effort) -> Sweeps:
    """Varies the timers and the number of flows."""
    of = Setting(workload=effort.sweep, failure=effort.failure)
    points = [(m, t) for m in MECHANISMS for t in effort.timers]
    by_timer: dict[tuple[str, str, float], Cell] = {}
    for scheduler in SCHEDULERS:
        alone = replace(of, scheduler=scheduler, failure=None, rest=ALONE)
        # PDRR at fewer timers: the claim is about the same line.
        mine = [(m, t) for m, t in points if scheduler == "PFQ" or t in effort.timers[::2]]
        settings = {f"{m} {t:g} s": replace(alone, router=m, timer=t) for m, t in mine}
        end = min(effort.sweep_end, effort.failure)
        runs = min(effort.few, lab.runs)
        cells = run(lab, f"Timers, {scheduler}", settings, runs, end, scale=effort.small).cells
        by_timer |= {(scheduler, m, t): cells[f"{m} {t:g} s"] for m, t in mine}
    dear = [(m, t) for m in MECHANISMS for t in effort.costs]
    whole = {f"{m} {t:g} s": replace(of, router=m, timer=t) for m, t in dear}
    runs = min(effort.traded, lab.runs)
    costs = run(
        lab, "What timers cost", {BASIC: of, **whole}, runs, effort.end, scale=effort.small
    ).cells
    by_cost = {(m, t): costs[f"{m} {t:g} s"] for m, t in dear}
    return Sweeps(by_timer, _by_flows(lab, effort, of), by_cost, costs[BASIC])


def _by_flows(lab: Lab, effort: Effort, of: Setting) -> dict[tuple[str, int], Cell]:
    """Figure 6: its ends decide the claim, and are run at more of the rates."""
    runs = min(effort.deciding, lab.runs)
    # Earlier, with 600 flows, the network is still filling, and some wait for seconds at R4.
    late = replace(of, workload=system.W_CAL)
    found: dict[tuple[str, int], Cell] = {}
    for n in effort.flows:
        # Basic FAN takes the longest, and no claim of figure 6 is about it.
        for title, routers, base, end, scale in (
            ("mechanisms", MECHANISMS, late, effort.failure + effort.aftermath, effort.rates(n)),
            ("basic FAN", (BASIC,), of, effort.end, effort.small),
        ):
            workload = replace(base.workload, flows=n)
            settings = {f"{r} {n}": replace(base, router=r, workload=workload) for r in routers}
            cells = run(lab, f"{n} elastic flows, {title}", settings, runs, end, scale=scale).cells
            found |= {(r, n): cells[f"{r} {n}"] for r in routers}
    return found
