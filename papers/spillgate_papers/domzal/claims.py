"""The paper's claims D1 to D11 as predicates on what was measured.

The bounds are those of the acceptance gates that were fixed before the runs, G1 to G12.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial

from spillgate_papers.domzal import oracle, system
from spillgate_papers.domzal.regression import fit, slopes
from spillgate_papers.domzal.system import (
    ADMITTED,
    BASIC,
    LINKS,
    MECHANISMS,
    RUN_ON,
    SCHEDULERS,
    TEXTS,
    TICK,
    TIMER,
    UNTIMED,
    WHOLE,
    Plan,
    at,
)
from spillgate_papers.measured import PerRun, Singles, View
from spillgate_papers.model import Claim, Elsewhere
from spillgate_papers.ours import Ours
from spillgate_papers.terms import (
    Bound,
    Check,
    Term,
    either,
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


def _range(ends: tuple[float, float]) -> str:
    return f"{ends[0]:g} to {ends[1]:g}"


_SECONDS, _PERCENT = "{:g} s".format, "{:.0%}".format
TENS = Ours("tens of seconds", (25, 130), ((10, 100), (40, 110)), lambda b: f"{_range(b)} s")
TIMES = Ours("basic FAN's wait over a mechanism's", 10, (5, 20))
STUCK = Ours("wait at R4 in half of the runs", 30, (10, 100), _SECONDS)
CLOSED = Ours("closure over the oracle's", 0.15, (0.1, 0.25), "within {:.0%}".format)
SOON = Ours("wait at R4 that follows the explanation", 3, (0.6, TIMER / 2), _SECONDS)
BASIC_ALIKE = Ours("means of basic FAN", 0.3, (0.1, 0.5), "within {:.0%}".format)
ALIKE = Ours("difference between the schedulers", 0.5, (0.25, 1), _SECONDS)
STEADY = Ours("change of the wait with the flows", 1, (0.25, 0.5), _SECONDS)
SLOPE = Ours("slope that is about a half", (0.3, 0.55), ((0.2, 0.6), (0.4, 0.6)), _range)
STRAIGHT = Ours("R² of a straight line", 0.95, (0.9, 0.99))
SLACK = Ours("ticks beyond the timer", 3, (1, 2))
DEARER = Ours("growth of transfer times that is significant", 1.1, (1.05, 1.2))
HARDLY = Ours("an interruption that is hardly one", 1.5, (0.5, 1), _SECONDS)
IN_USE = Ours("utilization of L3, beside G11's", 0.0, (-0.1, 0.05), "{:+.0%}".format)


def wait(point: str, router: str) -> Term:
    """Mean waiting time of the streams."""
    return own(f"wait {router}", point)


def long_gap(gaps: Singles) -> PerRun:
    """95th percentile of the streams' longest times without a packet across the failure."""
    return gaps.quantile(0.95)


def _tens(scheduler: str, ends: tuple[float, float]) -> Check:
    text = f"the mean wait at R2 is {_range(ends)} s under {scheduler}"
    return number(wait(at(scheduler, BASIC), "R2").between(*ends), text)


def _times(scheduler: str, least: float) -> Check:
    text = f"it is at least {least:g} times that of the slowest mechanism under {scheduler}"
    slowest = most(wait(at(scheduler, m), "R2") for m in MECHANISMS)
    return trend((wait(at(scheduler, BASIC), "R2") / slowest).above(least), text)


def basic_r2() -> Iterator[Check]:
    """D1 (G4)."""
    for s in SCHEDULERS:
        yield TENS.judged(partial(_tens, s))
    for s in SCHEDULERS:
        yield TIMES.judged(partial(_times, s))


def _stuck(scheduler: str, waiting: Term, seconds: float) -> Check:
    text = f"streams wait {seconds:g} s or more at R4 in at least half of the runs under"
    return number(waiting.share(lambda w: w >= seconds).above(0.499), f"{text} {scheduler}")


def _closed(scheduler: str, ratio: Term, off: float) -> Check:
    text = (
        f"L5 stays closed as long as what came in lets expect under {scheduler}, within {off:.0%}"
    )
    return number(ratio.between(1 - off, 1 + off), text)


def basic_r4(plan: Plan) -> Iterator[Check]:
    """D2 (G5)."""
    first, *_ = SCHEDULERS
    text = f"the mean wait at R4 is hundreds of seconds under {first}: above 100 s"
    yield number(wait(at(first, BASIC), "R4").above(100), text)
    for s in SCHEDULERS:
        r2, r4 = (wait(at(s, BASIC), r) for r in LINKS)
        yield STUCK.judged(partial(_stuck, s, r4))
        text = f"streams wait longer at R4 than at R2 under {s}: the difference"
        yield trend((r4 - r2).above(0), text)
    for s in SCHEDULERS:
        yield CLOSED.judged(partial(_closed, s, closed(s, plan).defined()))


def closed(scheduler: str, plan: Plan) -> Term:
    """The closure of L5 at the failure under basic FAN, over what the oracle expects of it.

    NaN where L5 is open then, or does not open before the run ends.
    """

    @cache
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


def fast(router: str, shape: Callable[[Callable[[float], Check]], Check]) -> Iterator[Check]:
    """D3 and D4 (G1, G2); what they are about is the slowest mechanism.

    That a stream waits for half the timer at most is the paper's own bound for R2.
    """
    waits = {f"with {m} under {s}": wait(at(s, m), router) for s, m in EVERYWHERE}
    text = f"the slowest mechanism lets streams wait less than one second at {router}"
    yield number(most(waits.values()).below(1), text)
    for how, waiting in waits.items():
        yield number(waiting.below(1), f"streams wait less than one second at {router} {how}")
    for how, waiting in waits.items():
        yield shape(partial(_below, how, waiting))


def _below(how: str, waiting: Term, seconds: float) -> Check:
    half = "half the timer, " if seconds == TIMER / 2.0 else ""
    return trend(waiting.below(seconds), f"less than {half}{seconds:g} s {how}")


def _basic_alike(off: float) -> Check:
    # G6 would also do with intervals that overlap, which any two do that are wide enough.
    pfq, pdrr = (wait(at(s, BASIC), "R2") for s in SCHEDULERS)
    text = f"basic FAN at R2, PDRR over PFQ: the waits are within {off:.0%}"
    return trend((pdrr / pfq).between(1 / (1 + off), 1 + off), text)


def _within(text: str, difference: Term, seconds: float) -> Check:
    return number(difference.between(-seconds, seconds), text.format(f"{seconds:g} s"))


def alike() -> Iterator[Check]:
    """D5 (G6)."""
    yield BASIC_ALIKE.judged(_basic_alike)
    for m in MECHANISMS:
        for r in LINKS:
            difference = wait(at("PDRR", m), r) - wait(at("PFQ", m), r)
            text = f"with {m} at {r} they are within {{}} of each other: PDRR minus PFQ"
            yield ALIKE.judged(partial(_within, text, difference))


def _steady(text: str, low: Term, high: Term, seconds: float) -> Check:
    near = trend((high - low).between(-seconds, seconds), f"{text} {seconds:g} s")
    return either(near, trend((high / low).between(0.5, 2), f"{text} a factor of 2"))


def any_load(plan: Plan) -> Iterator[Check]:
    """D6 (G8)."""
    few, many = plan.flows[0], plan.flows[-1]
    for m in MECHANISMS:
        for r in LINKS:
            low, high = (wait(at("PFQ", m, f"{n} flows"), r) for n in (few, many))
            text = f"with {m} at {r} {many} flows instead of {few} change the wait by less than"
            yield STEADY.judged(partial(_steady, text, low, high))


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


def _slope(text: str, slope: Term, ends: tuple[float, float]) -> Check:
    return number(slope.between(*ends), f"{text}: about half of it, a slope of {_range(ends)}")


def _straight(text: str, r2: Term, least: float) -> Check:
    return trend(
        r2.above(least), f"{text}: on a straight line, R² of the means at least {least:g}"
    )


def linear(m: str, plan: Plan) -> Iterator[Check]:
    """D7, and D8 for each of its mechanisms (G7)."""
    for s in SCHEDULERS:
        slope, _, straight = line(s, m, plan)
        text = f"wait at R2 against the timer with {m} under {s}"
        yield SLOPE.judged(partial(_slope, text, slope))
        yield trend(slope.above(0), f"{text}: it grows")
        yield STRAIGHT.judged(partial(_straight, text, straight))


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
    longest = most(own(f"wait {r}", point, Singles.longest) for point, r in places).over(max)
    yield SLACK.judged(
        lambda ticks: number(
            longest.below(TIMER + ticks * TICK + 1e-9),
            f"no call waits longer than the timer and {ticks} ticks, {TIMER + ticks * TICK:g} s",
        )
    )


def transfer(m: str, timer: float) -> Term:
    """Mean transfer time over that of basic FAN."""
    basic = own("transfer", at("PFQ", BASIC, UNTIMED, WHOLE))
    return own("transfer", at("PFQ", m, timer, WHOLE)) / basic


def transfers(plan: Plan) -> Iterator[Check]:
    """D10 (G12): of the timers with which streams wait a second at most, the cheapest."""
    ratios = {(m, t): transfer(m, t) for m in MECHANISMS for t in plan.costs}
    waits = {(m, t): wait(at("PFQ", m, t, WHOLE), "R4").below(1) for m, t in ratios}

    def cheap(most: float) -> dict[tuple[str, float], Bound]:
        return {k: ratio.below(most) for k, ratio in ratios.items()}

    text = "mean transfer time over that of basic FAN with {{0}} and {{1:g}} s: at most {:g}"
    yield DEARER.judged(lambda most: picked(text.format(most), cheap(most), ratios, waits))
    waited = "with it streams wait less than one second at R4 ({0}, {1:g} s)"
    yield picked(waited, waits, ratios, waits)
    exists = "a timer exists with which transfers are not {:.0%} longer ({{0}}, {{1:g}} s)"
    yield DEARER.judged(
        lambda most: picked(exists.format(most - 1), cheap(most), ratios, kind="trend")
    )


def _hardly(scheduler: str, gaps: Mapping[tuple[str], Term], seconds: float) -> Check:
    text = f"95 % of the streams are interrupted for at most {seconds:g} s under {scheduler}"
    bounds = {k: gap.below(seconds) for k, gap in gaps.items()}
    return picked(f"{text} with {{0}}", bounds, gaps)


def _in_use(how: str, use: Term, gate: float, more: float) -> Check:
    least = gate + more
    return number(use.above(least), f"L3 is at least {least:.0%} used until the failure {how}")


def backup() -> Iterator[Check]:
    """D11 (G10, G11)."""
    for s in SCHEDULERS:
        gaps = {(m,): own("gap", at(s, m), long_gap) for m in MECHANISMS}
        yield HARDLY.judged(partial(_hardly, s, gaps))
        text = f"that is shorter than with basic FAN under {s}: the difference"
        basic = own("gap", at(s, BASIC), long_gap)
        yield picked(text, {k: (basic - g).above(0) for k, g in gaps.items()}, gaps, kind="trend")
    for s, m in EVERYWHERE:
        how = f"with {m} under {s}"
        text = f"no stream is removed from a list of protected flows {how}: the most in a run"
        yield trend(own("removed", at(s, m)).over(max).below(0.5), text)
        yield IN_USE.judged(partial(_in_use, how, own("use of L3", at(s, m)), LEAST_BUSY[m]))


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
    return TEXTS.claims(
        {
            "D1": basic_r2(),
            "D2": basic_r4(plan),
            "D3": fast("R2", lambda below: below(TIMER / 2.0)),
            "D4": fast("R4", SOON.judged),
            "D5": alike(),
            "D6": any_load(plan),
            "D7": linear("EFM", plan),
            "D8": (
                *linear("RAEF", plan),
                *linear("RBAEF", plan),
            ),
            "D9": grade_of_service(),
            "D10": transfers(plan),
            "D11": backup(),
        },
        {"short": timers.label, "rare": rare.label},
    )
