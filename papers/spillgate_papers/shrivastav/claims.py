"""The paper's claims S1 to S10 as predicates on what was measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, pairwise

from spillgate_papers import judge
from spillgate_papers.judge import Kind, within
from spillgate_papers.measured import PerRun, View
from spillgate_papers.model import Elsewhere, Part, Quantity
from spillgate_papers.ours import Ours, percent, points, widths
from spillgate_papers.shrivastav.system import (
    CELL,
    CROSSBAR,
    LARGE,
    LIGHTER,
    MODIFIED,
    PARALLEL,
    RED,
    ROTATION,
    SCHEMES,
    SIZES,
    SMALL,
    TAIL,
    TEXTS,
    TOGETHER,
    Size,
)
from spillgate_papers.terms import Check, Term, either, number, own, trend


def few(part: float) -> float:
    """Packets by which queues may differ that are alike within a part."""
    return 2 * part


def alike_or_few(part: float) -> str:
    """Both in words.

    Example:
        >>> alike_or_few(0.15)
        '15 % or 0.3 packets'
    """
    return f"{percent(part)} or {few(part):.3g} packets"


def less_to_more(more: float) -> str:
    """A difference of losses in words, which may be a quarter of that below 0."""
    return f"{-25 * more:.3g} to {points(more)}"


# The paper has words for these: about the same, very low, significantly lower, approach each
# other, almost the same, slightly larger, minor.
ALIKE = Ours("difference of input queues about the same", 0.15, widths(0.15), alike_or_few)
SHORT = Ours("very low input queue over that at the lowest speedup", 0.1, widths(0.1), percent)
SHORTER = Ours("part by which it is significantly lower", 0.2, widths(0.2), percent)
CLOSE = Ours("difference of output queues that approach", 0.05, widths(0.05), percent)
SAME = Ours("difference of utilizations almost the same", 0.02, widths(0.02), points)
MORE = Ours("loss that is slightly larger at most", 0.02, widths(0.02), less_to_more)
MINOR = Ours("minor effect of a fabric", 0.15, widths(0.15), percent)

Bounded = Callable[[float], Check]
"""A part under a bound."""


def about_one(ratio: Term, text: str) -> Bounded:
    """That a ratio is within a bound of 1; the text has a place for it."""
    return lambda v: number(ratio.between(1 - v, 1 + v), text.format(percent(v)))


def below(ratio: Term, text: str) -> Bounded:
    """That a ratio is below a bound."""
    return lambda v: number(ratio.below(v), text.format(percent(v)))


def at(key: str, size: Size, scheme: str, s: float, load: int | None = None, **of: str) -> Term:
    """What is taken at a point."""
    return own(key, size.at(scheme, s, load, **of))


def same_inputs(size: Size) -> Iterator[Check]:
    """S1."""

    def alike(first: Term, second: Term, text: str) -> Bounded:
        difference = first - second
        ratio = about_one(first / second, f"{text} {{}}: ratio")
        return lambda v: either(
            ratio(v), number(difference.between(-few(v), few(v)), f"{text} {few(v):.3g} packets")
        )

    for s in size.speedups:
        for a, b in combinations(SCHEMES, 2):
            first, second = (at("input queue", size, x, s) for x in (a, b))
            text = f"input queues with {a} and {b} at speedup {s:g} are within"
            yield ALIKE.judged(alike(first, second, text))


def falling_inputs(size: Size) -> Iterator[Check]:
    """S2; what it is about is RED's input queue at the lowest of the high speedups."""
    slowest = size.speedups[0]
    for x in (RED, TAIL, MODIFIED):
        for s in size.high:
            part = at("input queue", size, x, s) / at("input queue", size, x, slowest)
            text = (
                f"the input queue with {x} at speedup {s:g} is below {{}} of that at {slowest:g}"
            )
            yield SHORT.judged(below(part, text))
    for x in SCHEMES:
        for a, b in pairwise(size.speedups):
            fall = at("input queue", size, x, a) - at("input queue", size, x, b)
            yield trend(fall.above(0), f"it falls with {x} from speedup {a:g} to {b:g}")


def tail_longest(size: Size) -> Iterator[Check]:
    """S3."""
    for s in size.speedups:
        tail, red = (at("output queue", size, x, s) for x in (TAIL, RED))
        yield trend((tail - red).above(0), f"drop-tail's output queue is longer at speedup {s:g}")


def shortened(size: Size, s: float) -> Term:
    """Output queue of modified RED over that of RED."""
    return at("output queue", size, MODIFIED, s) / at("output queue", size, RED, s)


def disjoint(short: Term, long: Term, text: str, kind: Kind = "number") -> Check:
    """That the interval of a quantity lies below that of another."""

    def check(v: View) -> Part:
        a, b = short.take(v), long.take(v)
        top, bottom = a.quantity.high, b.quantity.low
        holds = top is not None and bottom is not None and top < bottom
        return Part(text, (b - a).quantity, kind, holds)

    return check


def shorter_outputs(size: Size) -> Iterator[Check]:
    """S4."""

    def shorter(ratio: Term, text: str) -> Bounded:
        return lambda v: number(ratio.below(1 - v), text.format(percent(v)))

    for s in size.low:
        text = f"modified RED's output queue at speedup {s:g} is at least {{}} shorter: ratio"
        yield SHORTER.judged(shorter(shortened(size, s), text))
    for s in size.low:
        modified, red = (at("output queue", size, x, s) for x in (MODIFIED, RED))
        yield disjoint(modified, red, f"the intervals of both at {s:g} are disjoint")
        yield trend((red - modified).above(0), f"it is shorter at {s:g}: the difference")


def converging(size: Size) -> Iterator[Check]:
    """S5."""
    for s in size.high:
        text = f"output queues of modified RED and RED at speedup {s:g} are within {{}}: ratio"
        yield CLOSE.judged(about_one(shortened(size, s), text))


def change(key: str, size: Size, load: int) -> Term:
    """What modified RED adds at the speedup of the experiment with loads."""
    modified, red = (at(key, size, x, size.slow, load) for x in (MODIFIED, RED))
    return modified - red


def same_use(size: Size) -> Iterator[Check]:
    """S6, the highest load first."""

    def same(difference: Term, text: str) -> Bounded:
        return lambda v: number(difference.between(-v, v), text.format(points(v)))

    for load in reversed(size.loads):
        text = f"utilization with modified RED and RED at {load} sessions is within {{}}"
        yield SAME.judged(same(change("utilization", size, load), text))


def same_loss(size: Size) -> Iterator[Check]:
    """S7, the highest load first."""

    def more(difference: Term, text: str) -> Bounded:
        return lambda v: number(difference.between(-v / 4, v), text.format(less_to_more(v)))

    for load in reversed(size.loads):
        text = f"loss with modified RED minus RED at {load} sessions is {{}}"
        yield MORE.judged(more(change("loss", size, load), text))


def in_large() -> Iterator[Check]:
    """S8: the others in the large switch, S4 first."""

    def of(claim: str, check: Check) -> Check:
        def named(v: View) -> Part:
            p = check(v)
            return replace(p, text=f"{claim}: {p.text}")

        return named

    for claim, checks in {
        "S4": shorter_outputs(LARGE),
        "S1": same_inputs(LARGE),
        "S2": falling_inputs(LARGE),
        "S3": tail_longest(LARGE),
        "S5": converging(LARGE),
        "S6": same_use(LARGE),
        "S7": same_loss(LARGE),
    }.items():
        for check in checks:
            yield of(claim, check)


COMPARED = ("output queue", "input queue", "loss")
SHARED = Elsewhere(
    f"a crossbar that rotates in slots of {CELL} B",
    {
        size.at(x, s, load, CROSSBAR): size.at(x, s, load, TOGETHER)
        for size in SIZES
        for s, load in size.run_on(CROSSBAR)
        for x in SCHEMES
    },
)
"""Where a VOQ has its part of the fabric and no more, as on a link of its own."""
CROSSED = Elsewhere(
    "a crossbar with iSLIP",
    {
        SMALL.at(x, s, load): SMALL.at(x, s, load, CROSSBAR)
        for s, load in SMALL.points
        for x in SCHEMES
    },
)
"""Where it has what others do not need."""
LIGHT = Elsewhere(
    LIGHTER,
    {
        size.at(MODIFIED, s, load): f"{size.at(MODIFIED, s, load)}, {LIGHTER}"
        for size in SIZES
        for s, load in size.points
    },
)
CAUSES = (SHARED, CROSSED, LIGHT)


def against(key: str, size: Size, x: str, s: float, load: int, fabric: str) -> Term:
    """A fabric over parallel links at a point."""
    over, links = (at(key, size, x, s, load, fabric=f) for f in (fabric, PARALLEL))
    return over / links


def apart(q: Quantity) -> float:
    """How far a ratio is from 1, on a scale on which 2 is as far as 1/2."""
    return abs(math.log(q.mean)) if q.mean else math.inf


def farthest(
    key: str, size: Size, part: Callable[[str, PerRun], Part], fabric: str, schemes: Sequence[str]
) -> Check:
    """The part about the point at which a fabric is least as parallel links."""

    def check(v: View) -> Part:
        found = []
        for s, load in size.run_on(fabric):
            for x in schemes:
                text = (
                    f"{key} in the {size.name} switch, {fabric} / parallel: {x}, speedup {s:g}, "
                    f"{load} sessions"
                )
                found.append(part(text, against(key, size, x, s, load, fabric).take(v)))
        # What is missed first, then what is undecided, each the farthest from 1.
        return max(found, key=lambda p: (p.missed, p.undecided, apart(p.quantity)))

    return check


def alike_fabrics() -> Iterator[Check]:
    """S9."""

    def minor(key: str, size: Size) -> Bounded:
        def of(bound: float) -> Check:
            def part(text: str, ratio: PerRun) -> Part:
                within_it = f"{text}, within {percent(bound)}"
                return within(within_it, ratio, above=1 - bound, below=1 + bound)

            return farthest(key, size, part, CROSSBAR, SCHEMES)

        return of

    for size in SIZES:
        for key in COMPARED:
            yield MINOR.judged(minor(key, size))


def crossed() -> Iterator[Check]:
    """Beside S9: the fabrics in which a VOQ has its share and no more, as on parallel links."""
    for size in SIZES:
        for key in COMPARED:
            for fabric, schemes in (
                (TOGETHER, SCHEMES),
                (ROTATION, (TAIL, RED)),
                (ROTATION, (MODIFIED,)),
            ):
                yield farthest(key, size, judge.beside, fabric, schemes)


def faster(size: Size) -> Iterator[Check]:
    """S10."""
    for s in size.low:
        modified, red = (at("delay", size, x, s) for x in (MODIFIED, RED))
        text = f"mean delay in the {size.name} switch falls with modified RED at speedup {s:g}"
        yield trend((red - modified).above(0), f"{text}: by")


CLAIMS = TEXTS.claims(
    {
        "S1": same_inputs(SMALL),
        "S2": falling_inputs(SMALL),
        "S3": tail_longest(SMALL),
        "S4": shorter_outputs(SMALL),
        "S5": converging(SMALL),
        "S6": same_use(SMALL),
        "S7": same_loss(SMALL),
        "S8": in_large(),
        "S9": (
            *alike_fabrics(),
            *crossed(),
        ),
        "S10": (
            *faster(SMALL),
            *faster(LARGE),
        ),
    }
)
"""The claims in the paper's order."""
