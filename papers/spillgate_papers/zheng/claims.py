"""The paper's claims Z1 to Z7 as predicates on what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from spillgate_papers.model import Elsewhere
from spillgate_papers.ours import Ours, widths
from spillgate_papers.terms import Check, Term, apart, beside, number, own, trend
from spillgate_papers.zheng.system import (
    BOTH,
    CONTRACTS,
    CRITERIA,
    DSRED,
    FIFTEENTH,
    LOOSEST,
    NRT,
    RED,
    RIVALS,
    SETTINGS,
    SINGLE,
    STATED,
    TEXTS,
    UBR,
    circuit,
    drops,
    early,
    mean_queue,
    peak,
    place,
    received,
    waiting,
)

Measured = Callable[[str], Term]

NAMES: dict[Measured, str] = {
    received: "normalized throughput",
    waiting: "the mean queueing delay",
    peak: "the peak queue",
    drops: "the drop rate",
    mean_queue: "the mean queue",
}


def _stated(i: int) -> float:
    """DSRED's value over RED's in the paper's Table 1."""
    return STATED[DSRED][i] / STATED[RED][i]


PROPORTION: dict[Measured, tuple[float, float, float]] = {
    waiting: (_stated(1), 0.4, 0.7),
    peak: (_stated(2), 0.75, 0.95),
    drops: (_stated(3), 0.15, 0.5),
}
"""The paper's proportion, and our bounds about it."""


def proportion(of: Measured, k: float = 1.0) -> tuple[float, float]:
    """Bounds about the paper's ratio of DSRED's to RED's, `k` times as far from it as ours."""
    stated, low, high = PROPORTION[of]
    return stated - k * (stated - low), stated + k * (high - stated)


def between(of: Measured, k: float = 1.0) -> str:
    """The same in words."""
    low, high = proportion(of, k)
    return f"{low:.3g} to {high:.3g}"


# How near numbers come to the paper's is ours, and how far the contracts may be apart.
NEAR = Ours("difference of throughputs from what is stated", 0.05, widths(0.05), "{:.3g}".format)
ABOUT = {
    of: Ours(
        f"{NAMES[of]}, DSRED / RED, about the paper's", 1.0, widths(1.0), partial(between, of)
    )
    for of in PROPORTION
}
EQUAL = Ours("difference between contracts", 0.1, widths(0.1), lambda part: f"{100 * part:.3g} %")

Bounded = Callable[[float], Check]
"""A part under a bound."""


def others(of: Measured) -> Iterator[Check]:
    """The same against RED without spreading by count, and against gentle RED."""
    for rival in RIVALS[1:]:
        for contract in CONTRACTS:
            ratio = of(place(contract, DSRED)) / of(place(contract, rival))
            yield beside(ratio, f"{NAMES[of]}, DSRED / {rival}, {contract}")


def throughput() -> Iterator[Check]:
    """Z1."""

    def near(scheme: str, contract: str) -> Bounded:
        measured, stated = received(place(contract, scheme)), STATED[scheme][0]
        text = (
            f"packets received over sent with {scheme} are within {{:.3g}} of {stated}, {contract}"
        )
        return lambda v: number(measured.between(stated - v, stated + v), text.format(v))

    for c in CONTRACTS:
        a, b = (received(place(c, s)) for s in BOTH)
        yield apart(a, b, f"packets received over sent are more with DSRED than with RED, {c}")
    for c in CONTRACTS:
        for s in BOTH:
            yield NEAR.judged(near(s, c))
    yield from others(received)


def lower(of: Measured) -> Iterator[Check]:
    """Z2 to Z4: that DSRED has less, in the paper's proportion."""

    def about(ratio: Term, contract: str) -> Bounded:
        text = f"{NAMES[of]}, DSRED / RED, is {{}}, {contract}"
        return lambda k: number(ratio.between(*proportion(of, k)), text.format(between(of, k)))

    ratios = {c: of(place(c, DSRED)) / of(place(c, RED)) for c in CONTRACTS}
    for c, ratio in ratios.items():
        yield trend(ratio.below(1), f"{NAMES[of]} is lower with DSRED, {c}: the ratio")
    for c, ratio in ratios.items():
        yield ABOUT[of].judged(about(ratio, c))
    yield from others(of)


def whatever() -> Iterator[Check]:
    """Z5."""

    def equal(ratio: Term, text: str) -> Bounded:
        return lambda v: number(ratio.between(1 - v, 1 + v), f"{text} within {EQUAL.said(v)}")

    for name, of in CRITERIA.items():
        for s in BOTH:
            ratio = of(place(NRT, s)) / of(place(UBR, s))
            yield EQUAL.judged(equal(ratio, f"{name} with {s} is the same"))


def shorter() -> Iterator[Check]:
    """Z6."""
    for c in CONTRACTS:
        a, b = (mean_queue(place(c, s)) for s in BOTH)
        yield trend((a / b).below(1), f"{NAMES[mean_queue]} is lower with DSRED, {c}: the ratio")
    yield from others(mean_queue)


def start() -> Iterator[Check]:
    """Z7."""
    for c in CONTRACTS:
        for s in BOTH:
            at = early(c, s)
            height = own("first peak", at) - own("later peak", at)
            text = f"the queue is longest at the start, {s}, {c}: peak less that of later"
            yield trend(height.above(0), text)
    for c in CONTRACTS:
        for s in BOTH:
            at = early(c, s)
            more = own("drops at first", at) - own("drops later", at)
            yield trend(
                more.above(0), f"most is dropped at the start, {s}, {c}: drop rate less later's"
            )
    for c in CONTRACTS:
        for s in BOTH:
            at = early(c, s)
            text = f"the average of {s} follows the queue, {c}: the lag of best correlation"
            yield trend(own("lag", at).above(0), text)


OFF = tuple(
    Elsewhere(cause, {place(c, s): place(c, s, cause) for c in CONTRACTS for s in BOTH})
    for cause in SETTINGS
)
"""Settings in which a suspected cause is off."""
COUNT = Elsewhere("RED, no count", {place(c, RED): place(c, SINGLE) for c in CONTRACTS})
"""RED that drops in clusters."""
WHOLE = Elsewhere("SCR of the whole line", {place(NRT, s): f"SCR 1, {s}" for s in BOTH})
"""A contract that does not slow the circuit."""
SLOWED = Elsewhere(
    f"a circuit of {FIFTEENTH}, {LOOSEST}",
    {place(c, s): circuit(s, LOOSEST) for c in CONTRACTS for s in BOTH},
)
"""A circuit that carries as many packets as the paper's numbers mean, and loose RED."""
CAUSES = (*OFF, COUNT, WHOLE, SLOWED)
"""All of them."""


CLAIMS = TEXTS.claims(
    {
        "Z1": throughput(),
        "Z2": lower(waiting),
        "Z3": lower(peak),
        "Z4": lower(drops),
        "Z5": whatever(),
        "Z6": shorter(),
        "Z7": start(),
    }
)
"""The claims in the paper's order."""
