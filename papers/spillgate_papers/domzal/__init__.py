"""J. Domżał, R. Wójcik, A. Jajszczyk: congestion control in Flow-Aware Networks after a failure.

A scenario of six nodes (`system/`); every mechanism under both schedulers, two workloads, and
sweeps of timers, of the number of flows and of every assumption.
"""

from dataclasses import replace
from functools import partial

from spillgate_papers.domzal import claims, show, system
from spillgate_papers.domzal.system import BASIC, LINKS, MECHANISMS, SCHEDULERS, Plan, at
from spillgate_papers.frame import Frame
from spillgate_papers.matching.plan import Plan as Search
from spillgate_papers.study import Watched

FULL = Plan()
"""A part of the paper's rates, but for what figure 6 is decided by."""
QUICK = Plan(decisive=0.2, timers=(1.0, 5.0, 20.0), costs=(20.0, 200.0), flows=(200, 600), few=1)
"""Lower rates throughout, and fewer points."""


def frame(plan: Plan) -> Frame:
    """The paper, run as much as is planned."""
    points = {r: at("PFQ", r) for r in (BASIC, *MECHANISMS)}
    return Frame(
        name="domzal",
        texts=system.TEXTS,
        system=system.SYSTEM,
        batches=system.batches(plan),
        claims=claims.claims(plan),
        silent=system.silent(plan),
        causes=claims.causes(plan),
        ledger=tuple(points.values()),
        watched=[Watched(p, r, {x: claims.wait(p, x) for x in LINKS}) for r, p in points.items()],
        sections=partial(show.sections, plan=plan),
        scopes=(),
        own=partial(system.taken, failure=plan.failure),
        modern=system.modern(plan),
        search=Search(
            points=8,
            waves=2,
            size=16,
            climbs=1,
            best=2,
            runs=2,
            places=frozenset(at(s, r) for s in SCHEDULERS for r in (BASIC, *MECHANISMS)),
            silent=system.silent(plan, together=True),
        ),
    )


PAPER = replace(frame(FULL), quick=frame(QUICK))
