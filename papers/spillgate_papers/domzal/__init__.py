"""J. Domżał, R. Wójcik, A. Jajszczyk: congestion control in Flow-Aware Networks after a failure.

A scenario of six nodes (`system/`); every mechanism under both schedulers, two workloads, and
sweeps of timers, of the number of flows and of every assumption.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from spillgate_papers.domzal import figures, system, tables
from spillgate_papers.domzal.claims import causes, claims, transfer, wait
from spillgate_papers.domzal.silent import silent
from spillgate_papers.domzal.system import (
    ADMITTED,
    BASIC,
    HELD,
    LINKS,
    LITERATURE,
    MECHANISMS,
    WHOLE,
    Plan,
    at,
)
from spillgate_papers.frame import Frame
from spillgate_papers.model import Section
from spillgate_papers.show import compared
from spillgate_papers.study import Study, Watched

OF_TABLE = ("D3", "D4", "D5", "D9", "D11")
"""The claims that mechanisms in table I decide."""

FULL = Plan()
"""A part of the paper's rates, but for what figure 6 is decided by."""
QUICK = Plan(decisive=0.2, timers=(1.0, 5.0, 20.0), costs=(20.0, 200.0), flows=(200, 600), few=1)
"""Lower rates throughout, and fewer points."""


def sections(study: Study, plan: Plan) -> Iterator[Section]:
    """What the page shows beside verdicts and ledger."""
    lab = study.lab
    other = study.paper.judged(study.switched(ADMITTED)[0])
    settings = {"it is dropped": study.claims, "it is admitted": other}
    second = min(plan.runs(2), lab.runs)
    efforts = {b.title: b.effort for b in study.paper.batches}

    def runs(title: str) -> int:
        return efforts[title].protocol(lab).runs

    yield study.section(
        "Table I",
        f"Table I is from {lab.runs} runs with basic FAN and "
        f"{runs('Table I mechanisms')} with mechanisms, which decide "
        f"more, at {plan.scale:g} of the paper's rates: FAN links, "
        "volumes, buffers and the rates of streams (at least "
        f"{system.LEAST_HZ} packets a second) in proportion, so that everything takes as "
        f"long with fewer packets. Basic FAN is run for {2 * plan.failure:g} s, mechanisms until "
        f"{HELD:g} s after the failure, when their waits are over. ± is half the "
        "width of the 95 % interval; ≥ marks what holds waits that were cut off.",
        (
            tables.table_one(
                "table1",
                "Waiting times, workload W-cal",
                "Mean over the streams of a run, then over the runs; the longest wait of a run "
                "beside it. Basic FAN is cut off at the failure (R2) and at "
                f"{2 * plan.failure:g} s (R4).",
            ),
            tables.table_one(
                "table1-trigger",
                "Waiting times where the packet that triggers a removal is admitted",
                "The second setting: workload W-cal, as often and as long. Basic FAN removes "
                "nothing.",
                ADMITTED,
                basic=False,
            ),
            compared(
                "settings",
                "The claims of table I, by what becomes of the packet that triggers a removal",
                {k: [j for j in of if j.claim.id in OF_TABLE] for k, of in settings.items()},
                "Under both schedulers, as often and as long. Dropped is our choice; the paper "
                "does not say.",
            ),
            tables.table_one(
                "table1-lit",
                "Waiting times, workload W-lit",
                "Elastic flows of 150 Mbit in the mean, TCP's doubling timeouts from 3 s, streams "
                f"1 s apart. {second} runs.",
                LITERATURE,
            ),
            tables.prolonged(plan),
            tables.GRADES,
            tables.INTERRUPTIONS,
        ),
        (figures.distributions(),),
        "protocol",
    )
    yield study.section(
        "Figures 6 to 9",
        _curve(study, plan),
        (
            tables.flows(plan, _rates(study, plan)),
            tables.timers(plan),
            tables.regressions(plan),
            tables.costs(
                plan,
                runs("What timers cost"),
                runs("What the cheapest timer costs"),
            ),
        ),
        (
            figures.waits_by_flows(plan),
            *(figures.waits_by_timer(i, m, plan) for i, m in enumerate(MECHANISMS, 7)),
            figures.transfer_cost(plan),
        ),
        "curve",
    )
    watched = [lab.batches[f"Table I {of}"] for of in ("basic FAN", "mechanisms")]
    yield study.section(
        "Why",
        "",
        (tables.INCONSISTENCIES, tables.closures(plan, lab.runs)),
        (figures.openings(watched[0], watched[1], plan),),
    )
    yield study.section("Beyond the paper", "", (tables.BEYOND,))
    yield study.section("What is run", "", (study.runs(),))


def _rates(study: Study, plan: Plan) -> str:
    runs = min(plan.runs(4), study.lab.runs)
    between = [f"{n}: {plan.rates(n):.2g}" for n in plan.flows[1:-1]]
    least = plan.rates(plan.flows[-1])
    rest = f", between them at part of them ({', '.join(between)})" if between else ""
    return (
        f"PFQ, timers of {system.TIMER:g} s, {runs} runs. Mechanisms are run at {least:g} of the "
        f"paper's rates with the fewest and the most flows{rest}, basic FAN at {plan.scale:g}."
    )


def _curve(study: Study, plan: Plan) -> str:
    """D10 as a trade-off, in words."""
    ends = (plan.costs[0], plan.costs[-1])
    said = []
    for m in MECHANISMS:
        ratios, waits = (
            " to ".join(str(term.take(study.main).quantity) for term in terms)
            for terms in (
                [transfer(m, t) for t in ends],
                [wait(at("PFQ", m, t, WHOLE), "R4") for t in ends],
            )
        )
        said.append(f"with {m} transfers take {ratios} times as long and streams wait {waits}")
    return (
        f"From a timer of {ends[0]:g} s to one of {ends[1]:g} s the two costs change places: "
        f"{'; '.join(said)} at R4."
    )


def frame(plan: Plan) -> Frame:
    """The paper, run as much as is planned."""
    points = {r: at("PFQ", r) for r in (BASIC, *MECHANISMS)}
    return Frame(
        name="domzal",
        texts=system.TEXTS,
        system=system.SYSTEM,
        batches=system.batches(plan),
        claims=claims(plan),
        silent=silent(plan),
        causes=causes(plan),
        ledger=tuple(points.values()),
        watched=[Watched(p, r, {x: wait(p, x) for x in LINKS}) for r, p in points.items()],
        sections=lambda study: sections(study, plan),
        scopes=(),
        own=system.taken(plan.failure),
    )


PAPER = replace(frame(FULL), quick=frame(QUICK))
