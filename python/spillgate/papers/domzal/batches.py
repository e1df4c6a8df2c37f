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
    """The runs of figures 6 to 9.

    Attributes:
        by_timer: By scheduler, mechanism and timer.
        by_flows: Under PFQ, by router and number of flows.
        reference: Basic FAN under PFQ with the same traffic.
    """

    by_timer: Mapping[tuple[str, str, float], Cell]
    by_flows: Mapping[tuple[str, int], Cell]
    reference: Cell


def sweeps(lab: Lab, effort: Effort) -> Sweeps:
    """Varies the timers and the number of flows."""
    few = min(effort.few, lab.runs)
    of = Setting(workload=effort.sweep, failure=effort.failure)
    points = [(m, t) for m in MECHANISMS for t in effort.timers]
    whole = {f"{m} {t:g} s": replace(of, router=m, timer=t) for m, t in points}
    pfq = run(
        lab,
        "Timers, PFQ",
        {BASIC: of, **whole},
        few,
        effort.end,
        scale=effort.small,
    )
    first = {
        name: replace(s, scheduler="PDRR", failure=None, rest=ALONE) for name, s in whole.items()
    }
    pdrr = run(
        lab, "Timers, PDRR", first, few, min(effort.sweep_end, effort.failure), scale=effort.small
    )
    by_timer = {
        (s, m, t): cells[f"{m} {t:g} s"]
        for s, cells in (("PFQ", pfq.cells), ("PDRR", pdrr.cells))
        for m, t in points
    }
    least, *more = effort.flows

    def loaded(router: str, n: int) -> Setting:
        return replace(of, router=router, workload=replace(effort.sweep, flows=n))

    every: dict[str, Cell] = {}
    for n in more:
        # Basic FAN takes the longest, and no claim of figure 6 is about it.
        for title, routers, end, scale in (
            ("mechanisms", MECHANISMS, effort.failure + effort.aftermath, effort.load(n)),
            ("basic FAN", (BASIC,), effort.end, effort.small),
        ):
            settings = {f"{r} {n}": loaded(r, n) for r in routers}
            every |= run(lab, f"{n} elastic flows, {title}", settings, few, end, scale=scale).cells
    by_flows = {(m, least): by_timer["PFQ", m, system.TIMER] for m in MECHANISMS}
    by_flows[BASIC, least] = pfq.cells[BASIC]
    by_flows |= {(r, n): every[f"{r} {n}"] for r in system.ROUTERS for n in more}
    return Sweeps(by_timer, by_flows, pfq.cells[BASIC])
