"""The paper's claims C1 to C7 as predicates on what was measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise

from spillgate_papers.chien.system import (
    ADAPTIVE,
    BEST_EFFORT,
    BOTH,
    CHANCES,
    COMMITTED,
    EXCEEDED,
    OFF,
    OTHERWISE,
    PHASES,
    RIO,
    SCHEMES,
    SOURCES,
    TEXTS,
    THRESHOLDS,
    absent,
    delivered,
    phase,
    rate,
    red,
    share,
    total,
    use,
)
from spillgate_papers.model import Elsewhere
from spillgate_papers.ours import Ours, percent
from spillgate_papers.terms import (
    Check,
    Term,
    apart,
    beside,
    least,
    most,
    number,
    of_each,
    own,
    trend,
)

MET = Ours("share of the committed rate that meets it", 0.95, (0.9, 1.0), percent)
ENDS = Ours("fall of utilization from the highest max_th to the lowest", 0.1, (0.05, 0.3), percent)
ARRIVED = Ours("share of what is in profile that arrives", 0.95, (0.9, 0.999), percent)
ALIKE = Ours("difference between the shares", 0.02, (0.001, 0.05), percent)
FEWEST, MOST = THRESHOLDS[0], THRESHOLDS[-1]
SHORT, LONG = OFF[1], OFF[-1]


def thresholds() -> Iterator[Check]:
    """C1."""

    def grows(max_p: str) -> Term:
        return use(red(MOST, max_p)) - use(red(FEWEST, max_p))

    first, *others = CHANCES
    ends = f"utilization with max_th {MOST} less that with {FEWEST}"
    yield ENDS.judged(
        lambda least: number(grows(first).above(least), f"{ends}: at least {100 * least:g} points")
    )
    for a, b in pairwise(THRESHOLDS):
        step = use(red(b, first)) - use(red(a, first))
        yield trend(step.above(0), f"it is lower with max_th {a} than with {b}: the difference")
    for p in others:
        yield beside(grows(p), f"{ends}, max_p {p}")


def committed(scheme: str, name: str, share: float) -> Check:
    """That the assured flow gets so much of its rate in a phase."""
    text = f"the assured flow has {percent(share)} of its rate at the wire, {scheme}, {name}"
    return number(phase(scheme, name).above(share * COMMITTED), text)


def met() -> Iterator[Check]:
    """C2."""
    for s in BOTH:
        for name in PHASES:
            yield MET.judged(partial(committed, s, name))
    for s in BOTH:
        yield beside(own("goodput", s), f"its goodput in both phases, {s}")


def higher() -> Iterator[Check]:
    """C3."""
    said = "more under A-RIO than under RIO, and the intervals are disjoint"
    yield apart(total(ADAPTIVE), total(RIO), f"total throughput is {said}")
    a, r = (rate(s, BEST_EFFORT) for s in (ADAPTIVE, RIO))
    yield apart(a, r, f"best-effort throughput is {said}")
    a, r = (own("idle", s) for s in (ADAPTIVE, RIO))
    yield apart(a, r, f"throughput while the assured flow is idle is {said}")


def gain(off: int, name: str = ADAPTIVE) -> Term:
    """How much more of the link best effort uses than under RIO."""
    return use(absent(name, off)) - use(absent(RIO, off))


def always() -> Iterator[Check]:
    """C4."""
    for off in reversed(OFF):
        text = f"best effort uses more of the link under A-RIO with {off} s of silence: the gain"
        yield trend(gain(off).above(0), text)


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each in ascending order, from 1; equal ones share theirs.

    Example:
        >>> ranks([5.0, 1.0, 5.0])
        [2.5, 1.0, 2.5]
    """
    ordered = sorted(values)
    return [ordered.index(v) + (ordered.count(v) + 1) / 2 for v in values]


def spearman(values: Sequence[float]) -> float:
    """Rank correlation of values with their order; 0 if all are equal.

    Example:
        >>> spearman([1.0, 2.0, 4.0]), spearman([3.0, 2.0, 1.0])
        (1.0, -1.0)
    """
    middle = (len(values) + 1) / 2
    x = [i + 1 - middle for i in range(len(values))]
    y = [r - middle for r in ranks(values)]
    spread = (sum(a * a for a in x) * sum(b * b for b in y)) ** 0.5
    return sum(a * b for a, b in zip(x, y, strict=True)) / spread if spread else 0.0


def longer() -> Iterator[Check]:
    """C5."""
    text = f"the gain with {LONG} s of silence less that with {SHORT} s"
    yield trend((gain(LONG) - gain(SHORT)).above(0), text)
    order = of_each(map(gain, OFF), "order", spearman, "ratio")
    yield trend(order.above(0), "rank correlation of gain and length of silence")


def as_effective() -> Iterator[Check]:
    """C6."""

    def arrived(scheme: str, share: float) -> Check:
        least_of_all = least(delivered(absent(scheme, off)) for off in OFF)
        what = f"{percent(share)} of what is in profile arrives under {scheme}"
        return number(least_of_all.above(share), f"{what}: the least share of all silences")

    for s in BOTH:
        yield ARRIVED.judged(partial(arrived, s))
    gaps = (delivered(absent(ADAPTIVE, x)) - delivered(absent(RIO, x)) for x in OFF)
    far = most(of_each([g], "size", lambda v: abs(v[0])) for g in gaps)
    yield ALIKE.judged(
        lambda gap: number(
            far.below(gap),
            f"the shares are within {100 * gap:g} points of each other: the largest gap",
        )
    )


def reacts() -> Iterator[Check]:
    """C7."""

    def moved(what: str, name: str) -> Term:
        return own(f"{what}, {name}", ADAPTIVE)

    def change(what: str, name: str) -> Term:
        return moved(what, name) - own(f"{what} before {name}", ADAPTIVE)

    for name in PHASES:
        text = f"max_th for packets out is lower from {name} than before: the difference"
        yield trend(change("max_th", name).below(0), text)
    for name in PHASES:
        text = f"C' is higher from {name} than before: the difference"
        yield trend(change("C'", name).above(0), text)
    above, rest = (own(f"max_th a second {x}", ADAPTIVE) for x in (EXCEEDED, OTHERWISE))
    text = f"max_th falls in seconds {EXCEEDED}: what it moves in one"
    yield trend(above.below(0), text)
    text = f"it falls faster than in those {OTHERWISE}: the difference"
    yield trend((above - rest).below(0), text)
    first, second = PHASES
    for what, sign, how in (("max_th", 1, "higher"), ("C'", -1, "lower")):
        back = own(f"{what} before {second}", ADAPTIVE) - moved(what, first)
        text = f"with the assured flow gone {what} is {how} again before {second}: the difference"
        yield trend(back.above(0) if sign > 0 else back.below(0), text)
    highest = share(own("most C'", ADAPTIVE), ADAPTIVE)
    yield beside(highest, "the highest C' over the link's rate")


CAUSES = tuple(Elsewhere(name, {s: f"{s}, {name}" for s in SCHEMES}) for name in SOURCES)
"""Settings in which a suspected cause is off."""

CLAIMS = TEXTS.claims(
    {
        "C1": thresholds(),
        "C2": met(),
        "C3": higher(),
        "C4": always(),
        "C5": longer(),
        "C6": as_effective(),
        "C7": reacts(),
    }
)
"""The claims in the paper's order."""
