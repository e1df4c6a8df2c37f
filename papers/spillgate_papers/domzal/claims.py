"""The paper's claims D1 to D11 as predicates on what was measured.

The bounds are those of the acceptance gates that were fixed before the runs, G1 to G12.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import TypeVar

from spillgate_papers import terms
from spillgate_papers.domzal import oracle, system
from spillgate_papers.domzal.system import BASIC, LINKS, MECHANISMS, SCHEDULERS, TIMER, Plan, at
from spillgate_papers.measured import PerRun, Singles, View
from spillgate_papers.model import Claim, Elsewhere
from spillgate_papers.ours import Ours
from spillgate_papers.terms import Bound, Check, Term, least, most, number, own, trend

EVERYWHERE = {f"with {m} under {s}": (s, m) for s in SCHEDULERS for m in MECHANISMS}
"""Every mechanism under every scheduler."""
LEAST_BUSY = {"EFM": 0.90, "RAEF": 0.90, "RBAEF": 0.85}
"""Least utilization of L3 with each mechanism (G11)."""
V = TypeVar("V")
Range = tuple[float, float]
Ends = Callable[[V], tuple["float | None", "float | None"]]
Make = Callable[[Bound, str], Check]
_SECONDS, _WITHIN, _RANGE = "{:g} s".format, "within {:.0%}".format, "{0[0]:g} to {0[1]:g}".format
TENS = Ours("tens of seconds", (25, 130), ((10, 100), (40, 110)), "{0[0]:g} to {0[1]:g} s".format)
TIMES = Ours("basic FAN's wait over a mechanism's", 10, (5, 20))
STUCK = Ours("wait at R4 in half of the runs", 30, (10, 100), _SECONDS)
CLOSED = Ours("closure over the oracle's", 0.15, (0.1, 0.25), _WITHIN)
SOON = Ours("wait at R4 that follows the explanation", 3, (0.6, TIMER / 2), _SECONDS)
BASIC_ALIKE = Ours("means of basic FAN", 0.3, (0.1, 0.5), _WITHIN)
ALIKE = Ours("difference between the schedulers", 0.5, (0.25, 1), _SECONDS)
STEADY = Ours("change of the wait with the flows", 1, (0.25, 0.5), _SECONDS)
SLOPE = Ours("slope that is about a half", (0.3, 0.55), ((0.2, 0.6), (0.4, 0.6)), _RANGE)
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


def bounded(ours: Ours[V], term: Term, ends: Ends[V], text: str, make: Make = number) -> Check:
    """A part with bounds that are ours; the text has a place for our value in words."""
    return ours.judged(lambda v: make(Bound(term, *ends(v)), text.format(ours.said(v))))


def apart(v: float) -> tuple[float, float]:
    """As far below 0 as above."""
    return -v, v


def basic_r2() -> Iterator[Check]:
    """D1 (G4)."""
    waits = {s: wait(at(s, BASIC), "R2") for s in SCHEDULERS}
    for s, waiting in waits.items():
        yield bounded(TENS, waiting, lambda ends: ends, f"the mean wait at R2 is {{}} under {s}")
    for s, waiting in waits.items():
        ratio = waiting / most(wait(at(s, m), "R2") for m in MECHANISMS)
        text = f"it is at least {{}} times that of the slowest mechanism under {s}"
        yield bounded(TIMES, ratio, lambda v: (v, None), text, trend)


def basic_r4(plan: Plan) -> Iterator[Check]:
    """D2 (G5)."""

    def stuck(s: str, waiting: Term, seconds: float) -> Check:
        text = f"streams wait {seconds:g} s or more at R4 in at least half of the runs under {s}"
        return number(waiting.share(lambda w: w >= seconds).above(0.499), text)

    text = "the mean wait at R4 is hundreds of seconds under PFQ: above 100 s"
    yield number(wait(at("PFQ", BASIC), "R4").above(100), text)
    for s in SCHEDULERS:
        r2, r4 = (wait(at(s, BASIC), r) for r in LINKS)
        yield STUCK.judged(partial(stuck, s, r4))
        text = f"streams wait longer at R4 than at R2 under {s}: the difference"
        yield trend((r4 - r2).above(0), text)
    for s in SCHEDULERS:
        text = f"L5 stays closed as long as what came in lets expect under {s}, {{}}"
        yield bounded(CLOSED, closed(s, plan).defined(), lambda v: (1 - v, 1 + v), text)


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
            tick=system.TICK,
            shape=system.SHAPE,
        )
        opened = next((t for t in admitted if t >= plan.failure), None)
        if not expected or opened is None or expected[0] >= plan.failure - 2.0 * system.TICK:
            return math.nan
        return (opened - expected[0]) / expected[1]

    def ratios(openings: Singles) -> PerRun:
        return PerRun(tuple(of(run) for run in openings.ended), "ratio")

    return own("openings", at(scheduler, BASIC, system.RUN_ON), ratios)


def fast(router: str, shape: Callable[[Callable[[float], Check]], Check]) -> Iterator[Check]:
    """D3 and D4 (G1, G2); what they are about is the slowest mechanism.

    That a stream waits for half the timer at most is the paper's own bound for R2.
    """

    def below(how: str, waiting: Term, seconds: float) -> Check:
        half = "half the timer, " if seconds == TIMER / 2.0 else ""
        return trend(waiting.below(seconds), f"less than {half}{seconds:g} s {how}")

    waits = {how: wait(at(*of), router) for how, of in EVERYWHERE.items()}
    text = f"the slowest mechanism lets streams wait less than one second at {router}"
    yield number(most(waits.values()).below(1), text)
    for how, waiting in waits.items():
        yield number(waiting.below(1), f"streams wait less than one second at {router} {how}")
    yield from (shape(partial(below, *of)) for of in waits.items())


def alike() -> Iterator[Check]:
    """D5 (G6)."""
    # G6 would also do with intervals that overlap, which any two do that are wide enough.
    ratio = wait(at("PDRR", BASIC), "R2") / wait(at("PFQ", BASIC), "R2")
    text = "basic FAN at R2, PDRR over PFQ: the waits are {}"
    yield bounded(BASIC_ALIKE, ratio, lambda v: (1 / (1 + v), 1 + v), text, trend)
    for m in MECHANISMS:
        for r in LINKS:
            text = f"with {m} at {r} they are within {{}} of each other: PDRR minus PFQ"
            yield bounded(ALIKE, wait(at("PDRR", m), r) - wait(at("PFQ", m), r), apart, text)


def any_load(plan: Plan) -> Iterator[Check]:
    """D6 (G8)."""
    few, many = plan.flows[0], plan.flows[-1]

    def steady(m: str, r: str, seconds: float) -> Check:
        low, high = (wait(at("PFQ", m, f"{n} flows"), r) for n in (few, many))
        text = f"with {m} at {r} {many} flows instead of {few} change the wait by less than"
        near = trend((high - low).between(-seconds, seconds), f"{text} {seconds:g} s")
        return terms.either(near, trend((high / low).between(0.5, 2), f"{text} a factor of 2"))

    yield from (STEADY.judged(partial(steady, m, r)) for m in MECHANISMS for r in LINKS)


def by_timer(scheduler: str, m: str, plan: Plan) -> dict[float, Term]:
    """The wait at R2 by timer."""
    return {t: wait(at(scheduler, m, t), "R2") for t in plan.timers_of(scheduler)}


def fit(points: Mapping[float, float]) -> tuple[float, float, float]:
    """The line of least squares through at least two points: slope, value at 0, and R².

    R² is NaN if the values do not vary.

    Example:
        >>> fit({1.0: 0.5, 2.0: 1.0, 4.0: 2.0})
        (0.5, 0.0, 1.0)
    """
    xs, ys = list(points), list(points.values())
    slope, offset = statistics.linear_regression(xs, ys)
    r2 = statistics.correlation(xs, ys) ** 2 if len(set(ys)) > 1 else math.nan
    return slope, offset, r2


def slopes(values: Mapping[float, PerRun]) -> PerRun:
    """The slope in each run, without unit."""
    runs = zip(*(q.values for q in values.values()), strict=True)
    return PerRun(tuple(fit(dict(zip(values, run, strict=True)))[0] for run in runs), "ratio")


def line(scheduler: str, m: str, plan: Plan) -> tuple[Term, Term, Term]:
    """The line through the waits by timer: its slope in each run; offset and R² of the means."""
    waits = by_timer(scheduler, m, plan)

    def of_means(i: int, unit: str, view: View) -> PerRun:
        means = {t: w.take(view).quantity.mean or math.nan for t, w in waits.items()}
        return PerRun((fit(means)[i],), unit)

    slope = Term(lambda view: slopes({t: w.take(view) for t, w in waits.items()}))
    return slope, Term(partial(of_means, 1, "s")), Term(partial(of_means, 2, "ratio"))


def linear(m: str, plan: Plan) -> Iterator[Check]:
    """D7, and D8 for each of its mechanisms (G7)."""
    for s in SCHEDULERS:
        slope, _, r2 = line(s, m, plan)
        text = f"wait at R2 against the timer with {m} under {s}"
        yield bounded(
            SLOPE, slope, lambda ends: ends, f"{text}: about half of it, a slope of {{}}"
        )
        yield trend(slope.above(0), f"{text}: it grows")
        said = f"{text}: on a straight line, R² of the means at least {{}}"
        yield bounded(STRAIGHT, r2, lambda v: (v, None), said, trend)


def grade_of_service() -> Iterator[Check]:
    """D9 (G3): seconds within which 95 % of calls shall be set up (ITU-T E.721)."""
    places = [(f"wait {r}", at(*of)) for of in EVERYWHERE.values() for r in LINKS]

    def within(seconds: float) -> Term:
        return least(own(*of, lambda waits: waits.within(seconds)) for of in places)

    text = "95 % of the calls are set up within 6 s at each router with each mechanism"
    yield trend(within(6.0).above(0.95), text)
    yield trend(within(11.0).above(0.95), "and within 11 s")
    longest = most(own(*of, Singles.longest) for of in places).over(max)

    def slack(ticks: int) -> Check:
        end = TIMER + ticks * system.TICK
        text = f"no call waits longer than the timer and {ticks} ticks, {end:g} s"
        return number(longest.below(end + 1e-9), text)

    yield SLACK.judged(slack)


def transfer(m: str, timer: float) -> Term:
    """Mean transfer time over that of basic FAN."""
    basic = own("transfer", at("PFQ", BASIC, system.UNTIMED, system.WHOLE))
    return own("transfer", at("PFQ", m, timer, system.WHOLE)) / basic


def transfers(plan: Plan) -> Iterator[Check]:
    """D10 (G12): of the timers with which streams wait a second at most, the cheapest."""
    ratios = {(m, t): transfer(m, t) for m in MECHANISMS for t in plan.costs}
    waits = {(m, t): wait(at("PFQ", m, t, system.WHOLE), "R4").below(1) for m, t in ratios}

    def cheap(most: float) -> dict[tuple[str, float], Bound]:
        return {k: ratio.below(most) for k, ratio in ratios.items()}

    text = "mean transfer time over that of basic FAN with {{0}} and {{1:g}} s: at most {:g}"
    yield DEARER.judged(lambda most: terms.picked(text.format(most), cheap(most), ratios, waits))
    waited = "with it streams wait less than one second at R4 ({0}, {1:g} s)"
    yield terms.picked(waited, waits, ratios, waits)
    exists = "a timer exists with which transfers are not {:.0%} longer ({{0}}, {{1:g}} s)"
    yield DEARER.judged(
        lambda most: terms.picked(exists.format(most - 1), cheap(most), ratios, kind="trend")
    )


def backup() -> Iterator[Check]:
    """D11 (G10, G11)."""

    def hardly(s: str, gaps: Mapping[tuple[str], Term], seconds: float) -> Check:
        text = f"95 % of the streams are interrupted for at most {seconds:g} s under {s}"
        bounds = {k: gap.below(seconds) for k, gap in gaps.items()}
        return terms.picked(f"{text} with {{0}}", bounds, gaps)

    def in_use(how: str, point: str, gate: float, more: float) -> Check:
        text = f"L3 is at least {gate + more:.0%} used until the failure {how}"
        return number(own("use of L3", point).above(gate + more), text)

    for s in SCHEDULERS:
        gaps = {(m,): own("gap", at(s, m), long_gap) for m in MECHANISMS}
        yield HARDLY.judged(partial(hardly, s, gaps))
        text = f"that is shorter than with basic FAN under {s}: the difference"
        basic = own("gap", at(s, BASIC), long_gap)
        yield terms.picked(
            text, {k: (basic - g).above(0) for k, g in gaps.items()}, gaps, kind="trend"
        )
    for how, (s, m) in EVERYWHERE.items():
        text = f"no stream is removed from a list of protected flows {how}: the most in a run"
        yield trend(own("removed", at(s, m)).over(max).below(0.5), text)
        yield IN_USE.judged(partial(in_use, how, at(s, m), LEAST_BUSY[m]))


def causes(plan: Plan) -> tuple[Elsewhere, ...]:
    """Suspected causes, and where they are off."""
    short, rare, every = plan.timers[0], plan.costs[-1], EVERYWHERE.values()

    def timed(t: float) -> dict[str, str]:
        """Table I with the waits at R2 of a timer, where it was run."""
        return {at(s, m): at(s, m, t) for s, m in every if t in plan.timers_of(s)}

    whole = {at("PFQ", m, t, system.WHOLE): m for m in MECHANISMS for t in plan.costs}
    seldom = {k: at("PFQ", m, rare, system.WHOLE) for k, m in whole.items()}
    return (
        Elsewhere(system.ADMITTED, {at(*of): at(*of, system.ADMITTED) for of in every}),
        Elsewhere(f"a timer of {short:g} s", timed(short), timed(TIMER)),
        Elsewhere(f"timers of {rare:g} s, with which removals are rare", seldom),
    )


def claims(plan: Plan) -> tuple[Claim, ...]:
    """The claims in the paper's order."""
    _, timers, rare = causes(plan)
    return system.TEXTS.claims(
        {
            "D1": basic_r2(),
            "D2": basic_r4(plan),
            "D3": fast("R2", lambda below: below(TIMER / 2.0)),
            "D4": fast("R4", SOON.judged),
            "D5": alike(),
            "D6": any_load(plan),
            "D7": linear("EFM", plan),
            "D8": (check for m in ("RAEF", "RBAEF") for check in linear(m, plan)),
            "D9": grade_of_service(),
            "D10": transfers(plan),
            "D11": backup(),
        },
        {"short": timers.label, "rare": rare.label},
    )
