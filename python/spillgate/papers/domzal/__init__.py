"""J. Domżał, R. Wójcik, A. Jajszczyk: congestion control in Flow-Aware Networks after a failure.

A scenario of six nodes (`system/`); every mechanism under both schedulers, two workloads, and
sweeps of timers, of the number of flows and of every assumption.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from spillgate import _engine
from spillgate.papers.domzal import batches, beyond, figures, sweep, system, tables
from spillgate.papers.domzal.claims import CLAIMS, Found
from spillgate.papers.domzal.effort import FULL, QUICK, Effort
from spillgate.papers.judge import judge, shown
from spillgate.papers.lab import Lab
from spillgate.papers.model import ByHand, Judged, Reproduction, Section, Trial

TITLE = (
    "J. Domżał, R. Wójcik and A. Jajszczyk, The impact of congestion control mechanisms on "
    "network performance after failure in Flow-Aware Networks"
)
SYSTEM = system.SYSTEM
RUNS = 10
QUICK_RUNS = 3


def judged(
    found: Found, trials: Mapping[str, Sequence[Trial]] | None = None
) -> tuple[Judged, ...]:
    """Every claim."""
    tried = trials or {}
    return tuple(judge(c, c.test(found), tried.get(c.id, ())) for c in CLAIMS)


def reproduce(lab: Lab) -> Reproduction:
    """Runs everything."""
    return run(lab, QUICK if lab.quick else FULL)


def run(lab: Lab, effort: Effort) -> Reproduction:
    """Runs everything with the given effort."""
    few = min(effort.second, lab.runs)
    main = batches.table_one(lab, effort, system.W_CAL, "Table I", lab.runs, effort.scale)
    triggered = batches.triggered(lab, effort, main)
    literal = batches.table_one(
        lab, effort, system.W_LIT, "Table I, recalled workload", few, effort.small
    )
    longer = batches.prolonged(lab, effort, main)
    curves = batches.sweeps(lab, effort)
    more = beyond.table(lab, effort)
    found = Found(
        main.cells,
        longer.oracle,
        curves.by_flows,
        curves.by_timer,
        curves.by_cost,
        curves.reference,
    )
    second = replace(found, table=triggered)
    claims = judged(found, _trials(found, second))
    ledger = sweep.run(lab, effort, claims)
    of_table = [c.id for c in CLAIMS if c.id in OF_TABLE]
    first, other = ([j for j in judged(f) if j.claim.id in of_table] for f in (found, second))
    sections = (
        Section(
            "Table I",
            _protocol(lab, effort),
            (
                tables.table_one(
                    "table1",
                    "Waiting times, workload W-cal",
                    main.cells,
                    "Mean over the streams of a run, then over the runs; the longest wait of a "
                    f"run beside it. Basic FAN is cut off at the failure (R2) and at "
                    f"{effort.end:g} s (R4).",
                ),
                tables.table_one(
                    "table1-trigger",
                    "Waiting times where the packet that triggers a removal is admitted",
                    {k: c for k, c in triggered.items() if k[1] != system.BASIC},
                    "The second setting: workload W-cal, as often and as long. Basic FAN removes "
                    "nothing.",
                ),
                tables.settings(first, other),
                tables.table_one(
                    "table1-lit",
                    "Waiting times, workload W-lit",
                    literal.cells,
                    "Elastic flows of 150 Mbit in the mean, TCP's doubling timeouts from 3 s, "
                    f"streams 1 s apart. {few} runs.",
                ),
                tables.prolonged(longer, effort.end),
                tables.grades(main),
                tables.interruptions(main),
            ),
            (figures.distributions(main),),
            "protocol",
        ),
        Section(
            "Figures 6 to 9",
            _curve(found),
            (
                tables.flows(curves.by_flows, _rates(lab, effort)),
                tables.timers(curves.by_timer),
                tables.regressions(curves.by_timer),
                tables.costs(curves.by_cost, curves.reference),
            ),
            (
                figures.waits_by_flows(curves.by_flows),
                *(
                    figures.waits_by_timer(number, m, curves.by_timer, curves.by_cost)
                    for number, m in enumerate(system.MECHANISMS, 7)
                ),
                figures.transfer_cost(curves.by_cost, curves.reference),
            ),
            "curve",
        ),
        Section(
            "Why",
            "",
            (tables.inconsistencies(), tables.closures(longer)),
            (figures.openings(main, effort.failure, effort.scale),),
        ),
        Section("Beyond the paper", "", (more,)),
        Section("What is run", "", (tables.plan(lab, effort),)),
        Section("The claims under other assumptions", "", (ledger.verdicts, ledger.waits)),
    )
    return Reproduction(
        "domzal",
        TITLE,
        _engine.VERSION,
        lab.seed,
        lab.runs,
        lab.quick,
        claims,
        ledger.ledger,
        sections,
        lab.batches,
        lab.packets,
        lab.events,
    )


OF_TABLE = ("D3", "D4", "D5", "D9", "D11")
"""The claims that mechanisms in table I decide."""


def _protocol(lab: Lab, effort: Effort) -> str:
    return (
        f"Table I is from {lab.runs} runs at {effort.scale:g} of the paper's rates: FAN links, "
        "volumes, buffers and the rates of streams (at least "
        f"{system.STREAM_LEAST_HZ} packets a second) in proportion, so that everything takes as "
        f"long with fewer packets. Basic FAN is run for {effort.end:g} s, mechanisms until "
        f"{effort.aftermath:g} s after the failure, when their waits are over. ± is half the "
        "width of the 95 % interval; ≥ marks what holds waits that were cut off."
    )


def _rates(lab: Lab, effort: Effort) -> str:
    runs = min(effort.deciding, lab.runs)
    between = [f"{n}: {effort.load(n):.2g}" for n in effort.flows[1:-1]]
    least = max(effort.decisive, effort.load(effort.flows[-1]))
    rest = f", between them at part of them ({', '.join(between)})" if between else ""
    return (
        f"PFQ, timers of {system.TIMER:g} s, {runs} runs. Mechanisms are run at {least:g} of the "
        f"paper's rates with the fewest and the most flows{rest}, basic FAN at {effort.small:g}."
    )


def _curve(found: Found) -> str:
    """D10 as a trade-off, in words."""
    if found.reference is None:
        return ""
    said = []
    timers = sorted({t for _, t in found.by_cost})
    for m in system.MECHANISMS:
        ends = [found.by_cost[m, t] for t in (timers[0], timers[-1])]
        ratios, waits = (
            " to ".join(shown(q.quantity) for q in values)
            for values in (
                [c.transfer / found.reference.transfer for c in ends],
                [c.wait("R4") for c in ends],
            )
        )
        said.append(f"with {m} transfers take {ratios} times as long and streams wait {waits}")
    return (
        f"From a timer of {timers[0]:g} s to one of {timers[-1]:g} s the two costs change places: "
        f"{'; '.join(said)} at R4."
    )


def _trials(found: Found, second: Found) -> dict[str, tuple[Trial, ...]]:
    """What claims are with a suspected cause off."""
    claims = {c.id: c for c in CLAIMS}

    def tried(of: str, cause: str, off: str, without: Found, on: Found | None = None) -> Trial:
        test = claims[of].test
        return Trial(cause, off, test(without), None if on is None else test(on))

    dropped = (
        "the packet that triggers a removal is dropped, and its stream waits for the next tick"
    )
    result: dict[str, tuple[Trial, ...]] = {
        of: (tried(of, dropped, "it is admitted at once", second),) for of in OF_TABLE
    }

    def timed(t: float) -> Found:
        """Table I with the waits at R2 of a timer."""
        cells = {(s, m): c for (s, m, of), c in found.by_timer.items() if of == t}
        return replace(found, table={**found.table, **cells})

    timers = sorted({t for _, _, t in found.by_timer})
    swept = [c for (_, _, t), c in found.by_timer.items() if t in (timers[0], system.TIMER)]
    runs = {len(c.waits["R2"]) for c in (*swept, *found.table.values())}
    # Compared run by run, if there are as many of the sweep as of table I.
    if system.TIMER in timers and len(runs) == 1:
        # Runs of the sweep with the timer of table I are those to compare with.
        cause = "a stream waits until the timer expires, and flows may be taken off the list"
        off = f"a timer of {timers[0]:g} s"
        result["D3"] += (tried("D3", cause, off, timed(timers[0]), timed(system.TIMER)),)
    if found.by_cost:
        last = max(t for _, t in found.by_cost)
        rare = replace(found, by_cost={k: c for k, c in found.by_cost.items() if k[1] == last})
        removed = "each removal makes elastic flows start again"
        off = f"timers of {last:g} s, with which removals are rare"
        result["D10"] = (tried("D10", removed, off, rare),)
    return result


PAPER = ByHand(SYSTEM, RUNS, QUICK_RUNS, reproduce)
