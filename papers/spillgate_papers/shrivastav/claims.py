"""The paper's claims S1 to S10 as predicates on what was measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, pairwise

from spillgate_papers import judge
from spillgate_papers.measured import PerRun, View
from spillgate_papers.model import Elsewhere, Part, Quantity
from spillgate_papers.ours import Ours, percent, points, widths
from spillgate_papers.shrivastav import system
from spillgate_papers.shrivastav.system import LARGE, MODIFIED, RED, SCHEMES, SMALL, TAIL, Size
from spillgate_papers.terms import Bound, Check, Term, either, number, own, trend

SIZES, CROSSBAR, TOGETHER = tuple(system.SIZES.values()), system.CROSSBAR, system.TOGETHER


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

Ends = Callable[[float], tuple["float | None", float]]
"""The bounds of a term that a value of ours means."""


def bounded(ours: Ours[float], term: Term, ends: Ends, text: str) -> Check:
    """That a term is between bounds that are ours; the text has a place for our value."""
    return ours.judged(lambda v: number(Bound(term, *ends(v)), text.format(ours.said(v))))


def about_one(v: float) -> tuple[float, float]:
    """Within a bound of 1."""
    return 1 - v, 1 + v


def at(key: str, size: Size, scheme: str, s: float, load: int | None = None, **of: str) -> Term:
    """What is taken at a point."""
    return own(key, size.at(scheme, s, load, **of))


def same_inputs(size: Size) -> Iterator[Check]:
    """S1."""

    def alike(text: str, first: Term, second: Term, v: float) -> Check:
        ratio = number((first / second).between(*about_one(v)), f"{text} {percent(v)}: ratio")
        said = f"{text} {few(v):.3g} packets"
        return either(ratio, number((first - second).between(-few(v), few(v)), said))

    for s in size.speedups:
        for a, b in combinations(SCHEMES, 2):
            first, second = (at("input queue", size, x, s) for x in (a, b))
            text = f"input queues with {a} and {b} at speedup {s:g} are within"
            yield ALIKE.judged(partial(alike, text, first, second))


def falling_inputs(size: Size) -> Iterator[Check]:
    """S2; what it is about is RED's input queue at the lowest of the high speedups."""
    slowest = size.speedups[0]
    for x in (RED, TAIL, MODIFIED):
        for s in size.high:
            part = at("input queue", size, x, s) / at("input queue", size, x, slowest)
            text = (
                f"the input queue with {x} at speedup {s:g} is below {{}} of that at {slowest:g}"
            )
            yield bounded(SHORT, part, lambda v: (None, v), text)
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


def disjoint(text: str, short: Term, long: Term, v: View) -> Part:
    """That the interval of a quantity lies below that of another."""
    a, b = short.take(v), long.take(v)
    top, bottom = a.quantity.high, b.quantity.low
    holds = top is not None and bottom is not None and top < bottom
    return Part(text, (b - a).quantity, "number", holds)


def shorter_outputs(size: Size) -> Iterator[Check]:
    """S4."""
    for s in size.low:
        text = f"modified RED's output queue at speedup {s:g} is at least {{}} shorter: ratio"
        yield bounded(SHORTER, shortened(size, s), lambda v: (None, 1 - v), text)
    for s in size.low:
        modified, red = (at("output queue", size, x, s) for x in (MODIFIED, RED))
        yield partial(disjoint, f"the intervals of both at {s:g} are disjoint", modified, red)
        yield trend((red - modified).above(0), f"it is shorter at {s:g}: the difference")


def converging(size: Size) -> Iterator[Check]:
    """S5."""
    for s in size.high:
        text = f"output queues of modified RED and RED at speedup {s:g} are within {{}}: ratio"
        yield bounded(CLOSE, shortened(size, s), about_one, text)


def change(key: str, size: Size, load: int) -> Term:
    """What modified RED adds at the speedup of the experiment with loads."""
    modified, red = (at(key, size, x, size.slow, load) for x in (MODIFIED, RED))
    return modified - red


def same_use(size: Size) -> Iterator[Check]:
    """S6, the highest load first."""
    for load in reversed(size.loads):
        text = f"utilization with modified RED and RED at {load} sessions is within {{}}"
        yield bounded(SAME, change("utilization", size, load), lambda v: (-v, v), text)


def same_loss(size: Size) -> Iterator[Check]:
    """S7, the highest load first."""
    for load in reversed(size.loads):
        text = f"loss with modified RED minus RED at {load} sessions is {{}}"
        yield bounded(MORE, change("loss", size, load), lambda v: (-v / 4, v), text)


OF_SIZE: dict[str, Callable[[Size], Iterator[Check]]] = {
    "S1": same_inputs,
    "S2": falling_inputs,
    "S3": tail_longest,
    "S4": shorter_outputs,
    "S5": converging,
    "S6": same_use,
    "S7": same_loss,
}


def _named(claim: str, check: Check, v: View) -> Part:
    part = check(v)
    return replace(part, text=f"{claim}: {part.text}")


def in_large() -> Iterator[Check]:
    """S8: the others in the large switch, S4 first."""
    for claim, checks in sorted(OF_SIZE.items(), key=lambda of: of[0] != "S4"):
        yield from (partial(_named, claim, check) for check in checks(LARGE))


COMPARED = ("output queue", "input queue", "loss")
LIGHTER = system.LIGHTER
SLOTS = f"a crossbar that rotates in slots of {system.CELL} B"
"""Where a VOQ has its part of the fabric and no more, as on a link of its own."""


def moved(sizes: Sequence[Size], fabric: str, to: str) -> dict[str, str]:
    """The points of a fabric, and the same on another."""
    at = [(z, x, s, n) for z in sizes for s, n in z.run_on(CROSSBAR) for x in SCHEMES]
    return {z.at(x, s, n, fabric): z.at(x, s, n, to) for z, x, s, n in at}


LIGHT = Elsewhere(LIGHTER, {p: f"{p}, {LIGHTER}" for p in system.LEDGER if MODIFIED in p})
CAUSES = (
    Elsewhere(SLOTS, moved(SIZES, CROSSBAR, TOGETHER)),
    # Where a VOQ has what others do not need.
    Elsewhere("a crossbar with iSLIP", moved((SMALL,), system.PARALLEL, CROSSBAR)),
    LIGHT,
)


def against(key: str, size: Size, x: str, s: float, load: int, fabric: str) -> Term:
    """A fabric over parallel links at a point."""
    return at(key, size, x, s, load, fabric=fabric) / at(key, size, x, s, load)


def apart(q: Quantity) -> float:
    """How far a ratio is from 1, on a scale on which 2 is as far as 1/2."""
    return abs(math.log(q.mean)) if q.mean else math.inf


def farthest(
    fabric: str,
    key: str,
    size: Size,
    part: Callable[[str, PerRun], Part] = judge.beside,
    schemes: Sequence[str] = SCHEMES,
) -> Check:
    """The part about the point at which a fabric is least as parallel links."""
    said = f"{key} in the {size.name} switch, {fabric} / parallel"

    def check(v: View) -> Part:
        found = [
            part(
                f"{said}: {x}, speedup {s:g}, {load} sessions",
                against(key, size, x, s, load, fabric).take(v),
            )
            for s, load in size.run_on(fabric)
            for x in schemes
        ]
        # What is missed first, then what is undecided, each the farthest from 1.
        return max(found, key=lambda p: (p.missed, p.undecided, apart(p.quantity)))

    return check


def alike_fabrics() -> Iterator[Check]:
    """S9, and beside it the fabrics in which a VOQ has its share and no more."""

    def minor(key: str, size: Size, bound: float) -> Check:
        def part(text: str, ratio: PerRun) -> Part:
            said, (low, high) = f"{text}, within {percent(bound)}", about_one(bound)
            return judge.within(said, ratio, above=low, below=high)

        return farthest(CROSSBAR, key, size, part)

    where = [(key, size) for size in SIZES for key in COMPARED]
    yield from (MINOR.judged(partial(minor, *at)) for at in where)
    for key, size in where:
        yield farthest(TOGETHER, key, size)
        for schemes in ((TAIL, RED), (MODIFIED,)):
            yield farthest(system.ROTATION, key, size, schemes=schemes)


def faster() -> Iterator[Check]:
    """S10."""
    for size in SIZES:
        for s in size.low:
            modified, red = (at("delay", size, x, s) for x in (MODIFIED, RED))
            text = f"mean delay in the {size.name} switch falls with modified RED at speedup {s:g}"
            yield trend((red - modified).above(0), f"{text}: by")


CLAIMS = system.TEXTS.claims(
    {
        **{claim: checks(SMALL) for claim, checks in OF_SIZE.items()},
        "S8": in_large(),
        "S9": alike_fabrics(),
        "S10": faster(),
    }
)
