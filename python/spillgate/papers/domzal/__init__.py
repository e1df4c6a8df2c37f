"""J. Domżał, R. Wójcik, A. Jajszczyk: congestion control in Flow-Aware Networks after a failure.

A scenario of six nodes (`system/`); every mechanism under both schedulers, two workloads, and
sweeps of timers, of the number of flows and of every assumption.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spillgate import _engine
from spillgate.papers.domzal import batches, beyond, figures, sweep, system, tables
from spillgate.papers.domzal.claims import CLAIMS, Found
from spillgate.papers.domzal.effort import FULL, QUICK, Effort
from spillgate.papers.judge import judge
from spillgate.papers.lab import Lab
from spillgate.papers.model import Judged, Reproduction, Section, Trial

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
    literal = batches.table_one(
        lab, effort, system.W_LIT, "Table I, recalled workload", few, effort.small
    )
    longer = batches.prolonged(lab, effort, main)
    curves = batches.sweeps(lab, effort)
    ledger = sweep.run(lab, effort)
    more = beyond.table(lab, effort)
    found = Found(main.cells, longer.oracle, curves.by_flows, curves.by_timer, curves.reference)
    sections = (
        Section(
            "Table I",
            _scaled(effort),
            (
                tables.table_one(
                    "table1",
                    "Waiting times, workload W-cal",
                    main,
                    "Mean over the streams of a run, then over the runs; the longest wait of a "
                    "run beside it. Basic FAN is cut off at the failure (R2) and at 500 s (R4).",
                ),
                tables.table_one(
                    "table1-lit",
                    "Waiting times, workload W-lit",
                    literal,
                    "Elastic flows of 150 Mbit in the mean, TCP's doubling timeouts from 3 s, "
                    f"streams 1 s apart. {few} runs.",
                ),
                tables.prolonged(longer, effort.end),
                tables.grades(main),
                tables.interruptions(main),
            ),
            (figures.distributions(main),),
        ),
        Section(
            "Figures 6 to 9",
            "",
            (
                tables.flows(curves.by_flows),
                tables.timers(curves.by_timer, curves.reference),
                tables.regressions(curves.by_timer),
            ),
            (
                figures.waits_by_flows(curves.by_flows),
                *(
                    figures.waits_by_timer(number, m, curves.by_timer)
                    for number, m in enumerate(system.MECHANISMS, 7)
                ),
                figures.transfer_cost(curves.by_timer, curves.reference),
            ),
        ),
        Section(
            "Why",
            "",
            (tables.inconsistencies(), tables.closures(longer)),
            (figures.openings(main, effort.failure, effort.scale),),
        ),
        Section("Beyond the paper", "", (more,)),
        Section("The claims under other assumptions", "", (ledger.verdicts, ledger.waits)),
    )
    return Reproduction(
        "domzal",
        TITLE,
        _engine.VERSION,
        lab.seed,
        lab.runs,
        lab.quick,
        judged(found),
        ledger.ledger,
        sections,
        lab.batches,
        lab.packets,
        lab.events,
    )


def _scaled(effort: Effort) -> str:
    whole = "" if effort.scale == 1.0 else f" Here it is run at {effort.scale:g} of the rates too."
    return (
        "Table I is run on links of 100 Mb/s. What varies it, and the second workload, is run at "
        f"{effort.small:g} of the rates, with more elastic flows at more of them (600: "
        f"{effort.load(600):g}), the ledger at {effort.least:g}: links, volumes, buffers and the "
        f"rates of streams (at least {system.STREAM_LEAST_HZ} packets a second) in proportion, "
        "so that everything takes as long with fewer packets. Where only waits matter, mechanisms "
        f"are run until {effort.aftermath:g} s after the failure." + whole
    )
