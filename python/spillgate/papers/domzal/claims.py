"""The paper's claims D1 to D11 as predicates on what was measured.

The bounds are those of the acceptance gates that were fixed before the runs, G1 to G12.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from spillgate.papers.domzal import oracle, system
from spillgate.papers.domzal.regression import fit, slopes
from spillgate.papers.domzal.system import (
    ADMITTED,
    BASIC,
    LINKS,
    MECHANISMS,
    RUN_ON,
    SCHEDULERS,
    TICK,
    TIMER,
    UNTIMED,
    WHOLE,
    Plan,
    at,
)
from spillgate.papers.measured import PerRun, Singles, View
from spillgate.papers.model import Claim, Elsewhere, Part, Switch
from spillgate.papers.terms import (
    Check,
    Term,
    either,
    every,
    least,
    most,
    number,
    own,
    picked,
    trend,
)

EVERYWHERE = tuple((s, m) for s in SCHEDULERS for m in MECHANISMS)
"""Every mechanism under every scheduler."""
E721_LOCAL, E721_INTERNATIONAL = 6.0, 11.0
"""Seconds within which 95 % of calls shall be set up (ITU-T E.721)."""
LEAST_BUSY = {"EFM": 0.90, "RAEF": 0.90, "RBAEF": 0.85}
"""Least utilization of L3 with each mechanism (G11)."""


def wait(point: str, router: str) -> Term:
    """Mean waiting time of the streams."""
    return own(f"wait {router}", point)


def long_gap(gaps: Singles) -> PerRun:
    """95th percentile of the streams' longest times without a packet across the failure."""
    return gaps.quantile(0.95)


def basic_r2() -> Iterator[Check]:
    """D1 (G4)."""
    for s in SCHEDULERS:
        text = f"the mean wait at R2 is 25 to 130 s under {s}"
        yield number(wait(at(s, BASIC), "R2").between(25, 130), text)
    for s in SCHEDULERS:
        text = f"it is at least ten times that of the slowest mechanism under {s}"
        slowest = most(wait(at(s, m), "R2") for m in MECHANISMS)
        yield trend((wait(at(s, BASIC), "R2") / slowest).above(10), text)


def basic_r4(plan: Plan) -> Iterator[Check]:
    """D2 (G5)."""
    first, *_ = SCHEDULERS
    text = f"the mean wait at R4 is hundreds of seconds under {first}: above 100 s"
    yield number(wait(at(first, BASIC), "R4").above(100), text)
    for s in SCHEDULERS:
        r2, r4 = (wait(at(s, BASIC), r) for r in LINKS)
        text = f"streams wait 30 s or more at R4 in at least half of the runs under {s}"
        yield number(r4.share(lambda seconds: seconds >= 30.0).above(0.499), text)
        text = f"streams wait longer at R4 than at R2 under {s}: the difference"
        yield trend((r4 - r2).above(0), text)
    for s in SCHEDULERS:
        text = f"L5 stays closed as long as what came in lets expect under {s}, within 15 %"
        yield number(closed(s, plan).defined().between(0.85, 1.15), text)


def closed(scheduler: str, plan: Plan) -> Term:
    """The closure of L5 at the failure under basic FAN, over what the oracle expects of it.

    NaN where L5 is open then, or does not open before the run ends.
    """

    def of(admitted: tuple[float, ...]) -> float:
        expected = oracle.reopening(
            admitted,
            before=plan.failure,
            scale=system.MEAN * plan.scale * (system.SHAPE - 1.0) / system.SHAPE,
            rate=system.RATE * plan.scale * system.PAYLOAD / system.PACKET,
            stay=math.ceil(1.0 / system.MIN_SHARE) - 1.0,
            tick=TICK,
            shape=system.SHAPE,
        )
        opened = next((t for t in admitted if t >= plan.failure), None)
        if not expected or opened is None or expected[0] >= plan.failure - 2.0 * TICK:
            return math.nan
        return (opened - expected[0]) / expected[1]

    def ratios(openings: Singles) -> PerRun:
        return PerRun(tuple(of(run) for run in openings.ended), "ratio")

    return own("openings", at(scheduler, BASIC, RUN_ON), ratios)


def fast(router: str, shape: float, gate: str) -> Iterator[Check]:
    """D3 and D4 (G1, G2); what they are about is the slowest mechanism."""
    waits = {f"with {m} under {s}": wait(at(s, m), router) for s, m in EVERYWHERE}
    text = f"the slowest mechanism lets streams wait less than one second at {router}"
    yield number(most(waits.values()).below(1), text)
    for how, waiting in waits.items():
        yield number(waiting.below(1), f"streams wait less than one second at {router} {how}")
    for how, waiting in waits.items():
        yield trend(waiting.below(shape), f"less than {gate} {how}")


def alike() -> Iterator[Check]:
    """D5 (G6)."""

    def basic(view: View) -> Part:
        pfq, pdrr = (wait(at(s, BASIC), "R2").take(view) for s in SCHEDULERS)
        a, b = pfq.quantity, pdrr.quantity
        ends = (a.low, a.high, b.low, b.high)
        overlap = None not in ends and max(ends[::2]) <= min(ends[1::2])  # type: ignore[type-var,operator]
        of_means = (b.mean or math.nan) / (a.mean or math.nan)
        text = "basic FAN at R2, PDRR over PFQ: the intervals overlap, or the means are within 30"
        holds = overlap or 1 / 1.3 <= of_means <= 1.3
        return Part(f"{text} %", (pdrr / pfq).quantity, "trend", holds=holds)

    yield basic
    for m in MECHANISMS:
        for r in LINKS:
            difference = wait(at("PDRR", m), r) - wait(at("PFQ", m), r)
            text = f"with {m} at {r} they are within 0.5 s of each other: PDRR minus PFQ"
            yield number(difference.between(-0.5, 0.5), text)


def any_load(plan: Plan) -> Iterator[Check]:
    """D6 (G8)."""
    few, many = plan.flows[0], plan.flows[-1]
    for m in MECHANISMS:
        for r in LINKS:
            low, high = (wait(at("PFQ", m, f"{n} flows"), r) for n in (few, many))
            text = f"with {m} at {r} {many} flows instead of {few} change the wait by less than"
            near = trend((high - low).between(-1, 1), f"{text} 1 s")
            yield either(near, trend((high / low).between(0.5, 2), f"{text} a factor of 2"))


def by_timer(scheduler: str, m: str, plan: Plan) -> dict[float, Term]:
    """The wait at R2 by timer."""
    return {t: wait(at(scheduler, m, t), "R2") for t in plan.timers_of(scheduler)}


def line(scheduler: str, m: str, plan: Plan) -> tuple[Term, Term, Term]:
    """The line through the waits by timer: its slope in each run; offset and R² of the means."""
    waits = by_timer(scheduler, m, plan)

    def of_means(what: str, unit: str) -> Term:
        def take(view: View) -> PerRun:
            means = {t: w.take(view).quantity.mean or math.nan for t, w in waits.items()}
            return PerRun((getattr(fit(means), what),), unit)

        return Term(take)

    slope = Term(lambda view: slopes({t: w.take(view) for t, w in waits.items()}))
    return slope, of_means("offset", "s"), of_means("r2", "ratio")


def linear(m: str, plan: Plan) -> Iterator[Check]:
    """D7, and D8 for each of its mechanisms (G7)."""
    for s in SCHEDULERS:
        slope, _, straight = line(s, m, plan)
        text = f"wait at R2 against the timer with {m} under {s}"
        half = f"{text}: about half of it, a slope of 0.30 to 0.55"
        yield number(slope.between(0.3, 0.55), half)
        yield trend(slope.above(0), f"{text}: it grows")
        yield trend(
            straight.above(0.95), f"{text}: on a straight line, R² of the means at least 0.95"
        )


def grade_of_service() -> Iterator[Check]:
    """D9 (G3)."""
    places = [(at(s, m), r) for s, m in EVERYWHERE for r in LINKS]

    def share(point: str, router: str, seconds: float) -> Term:
        return own(f"wait {router}", point, lambda waits: waits.within(seconds))

    local, international = (
        least(share(point, r, t) for point, r in places) for t in (E721_LOCAL, E721_INTERNATIONAL)
    )
    text = "95 % of the calls are set up within 6 s at each router with each mechanism"
    yield trend(local.above(0.95), text)
    yield trend(international.above(0.95), "and within 11 s")
    bound = TIMER + 3 * TICK
    text = f"no call waits longer than the timer and three ticks, {bound:g} s"
    longest = most(own(f"wait {r}", point, Singles.longest) for point, r in places)
    yield number(longest.over(max).below(bound + 1e-9), text)


def transfer(m: str, timer: float) -> Term:
    """Mean transfer time over that of basic FAN."""
    basic = own("transfer", at("PFQ", BASIC, UNTIMED, WHOLE))
    return own("transfer", at("PFQ", m, timer, WHOLE)) / basic


def transfers(plan: Plan) -> Iterator[Check]:
    """D10 (G12): of the timers with which streams wait a second at most, the cheapest."""
    ratios = {(m, t): transfer(m, t) for m in MECHANISMS for t in plan.costs}
    waits = {(m, t): wait(at("PFQ", m, t, WHOLE), "R4").below(1) for m, t in ratios}
    cheap = {k: ratio.below(1.1) for k, ratio in ratios.items()}
    text = "mean transfer time over that of basic FAN with {0} and {1:g} s: at most 1.1"
    yield picked(text, cheap, ratios, waits)
    text = "with it streams wait less than one second at R4 ({0}, {1:g} s)"
    yield picked(text, waits, ratios, waits)
    text = "a timer exists with which transfers are not 10 % longer ({0}, {1:g} s)"
    yield picked(text, cheap, ratios, kind="trend")


def backup() -> Iterator[Check]:
    """D11 (G10, G11)."""
    for s in SCHEDULERS:
        gaps = {(m,): own("gap", at(s, m), long_gap) for m in MECHANISMS}
        text = f"95 % of the streams are interrupted for at most 1.5 s under {s} with {{0}}"
        yield picked(text, {k: gap.below(1.5) for k, gap in gaps.items()}, gaps)
        text = f"that is shorter than with basic FAN under {s}: the difference"
        basic = own("gap", at(s, BASIC), long_gap)
        yield picked(text, {k: (basic - g).above(0) for k, g in gaps.items()}, gaps, kind="trend")
    for s, m in EVERYWHERE:
        how = f"with {m} under {s}"
        text = f"no stream is removed from a list of protected flows {how}: the most in a run"
        yield trend(own("removed", at(s, m)).over(max).below(0.5), text)
        text = f"L3 is at least {LEAST_BUSY[m]:.0%} used until the failure {how}"
        yield number(own("use of L3", at(s, m)).above(LEAST_BUSY[m]), text)


DROPPED = Switch(
    "the packet that triggers a removal is dropped, and its stream waits for the next tick",
    ADMITTED,
    "it is admitted at once",
)


def causes(plan: Plan) -> tuple[Elsewhere, ...]:
    """Suspected causes, and where they are off."""
    short, rare = plan.timers[0], plan.costs[-1]

    def timed(t: float) -> dict[str, str]:
        """Table I with the waits at R2 of a timer, where it was run."""
        return {at(s, m): at(s, m, t) for s, m in EVERYWHERE if t in plan.timers_of(s)}

    whole = {at("PFQ", m, t, WHOLE): m for m in MECHANISMS for t in plan.costs}
    seldom = {k: at("PFQ", m, rare, WHOLE) for k, m in whole.items()}
    return (
        Elsewhere(ADMITTED, {at(s, m): at(s, m, ADMITTED) for s, m in EVERYWHERE}),
        Elsewhere(f"a timer of {short:g} s", timed(short), timed(TIMER)),
        Elsewhere(f"timers of {rare:g} s, with which removals are rare", seldom),
    )


def claims(plan: Plan) -> tuple[Claim, ...]:
    """The claims in the paper's order."""
    _, timers, rare = causes(plan)
    waiting = "a stream waits until the timer expires, and flows may be taken off the list"
    removed = "each removal makes elastic flows start again"
    return (
        Claim(
            "D1",
            "Under basic FAN a stream waits tens of seconds at R2 (78 s with PFQ, 89 s with PDRR)",
            78.43,
            "25 to 130 s, and at least ten times the wait with every mechanism (G4)",
            "wait at R2, basic, PFQ",
            every(*basic_r2()),
        ),
        Claim(
            "D2",
            "Under basic FAN it waits hundreds of seconds at R4, significantly longer than at R2",
            240.86,
            "above 100 s, 30 s or more in at least half of the runs, longer than at R2; L5 closed "
            "for what the closure oracle expects within 15 % (G5)",
            "wait at R4, basic, PFQ, cut off at 500 s",
            every(*basic_r4(plan)),
        ),
        Claim(
            "D3",
            "With EFM, RAEF, RBAEF a stream is accepted at R2 in less than one second",
            None,
            "mean below 1 s; shape: below half the timer (G1)",
            "wait at R2, the slowest of the mechanisms",
            every(*fast("R2", TIMER / 2.0, "half the timer, 2.5 s,")),
            (DROPPED, Switch(waiting, timers.label)),
        ),
        Claim(
            "D4",
            "The same at R4, after the failure",
            None,
            "mean below 1 s; shape: below 3 s (G2)",
            "wait at R4, the slowest of the mechanisms",
            every(*fast("R4", 3.0, "3 s")),
            (DROPPED,),
        ),
        Claim(
            "D5",
            "PFQ and PDRR give almost identical outcomes",
            1.14,
            "basic at R2 alike (G6); with the mechanisms within 0.5 s of each other",
            "wait at R2, basic, PDRR / PFQ",
            every(*alike()),
            (DROPPED,),
        ),
        Claim(
            "D6",
            "The wait does not depend on the number of elastic flows in the background (figure 6)",
            None,
            "from 200 to 600 flows to each destination it changes by less than 1 s or a factor 2 "
            "(G8)",
            "change of the wait at R2 with EFM",
            every(*any_load(plan)),
        ),
        Claim(
            "D7",
            "With EFM the wait grows linearly with pfl_flushing_timer, about half of it "
            "(figure 7)",
            0.5,
            "slope 0.30 to 0.55, R² at least 0.95, timers of 1 to 20 s (G7)",
            "slope at R2, PFQ",
            every(*linear("EFM", plan)),
        ),
        Claim(
            "D8",
            "With RAEF and RBAEF it is the same against active_time (figures 8 and 9)",
            0.5,
            "slope 0.30 to 0.55, R² at least 0.95, for each (G7)",
            "slope at R2, RAEF, PFQ",
            every(*linear("RAEF", plan), *linear("RBAEF", plan)),
        ),
        Claim(
            "D9",
            "Calls are set up within the grade of service of ITU-T E.721",
            0.95,
            "95 % within 6 s (local) and 11 s (international), none above the timer and 1.5 s "
            "(G3)",
            "share of calls within 6 s, the least of all mechanisms and routers",
            every(*grade_of_service()),
            (DROPPED,),
        ),
        Claim(
            "D10",
            "The transmission time of elastic flows need not grow significantly",
            1.0,
            "a timer exists with a ratio to basic FAN of at most 1.1 and a wait of at most 1 s at "
            "R4 (G12)",
            "mean transfer time over that of basic FAN, with that timer",
            every(*transfers(plan)),
            (Switch(removed, rare.label),),
        ),
        Claim(
            "D11",
            "The backup link carries normal traffic before the failure, and streams move to it "
            "with hardly any interruption",
            None,
            "95th percentile of the streams' longest gap at most 1.5 s with a mechanism, no "
            "stream removed (G10), L3 well used (G11)",
            "95th percentile of the longest gap, PFQ, the best mechanism",
            every(*backup()),
            (DROPPED,),
        ),
    )
