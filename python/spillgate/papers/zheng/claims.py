"""The paper's claims Z1 to Z7 as predicates on what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from spillgate.papers.model import Claim, Elsewhere, Switch
from spillgate.papers.terms import Check, Term, apart, beside, every, number, own, trend
from spillgate.papers.zheng.system import (
    BOTH,
    CONTRACTS,
    CRITERIA,
    DSRED,
    NRT,
    RED,
    RIVALS,
    SETTINGS,
    SINGLE,
    UBR,
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


def others(of: Measured) -> Iterator[Check]:
    """The same against RED without spreading by count, and against gentle RED."""
    for rival in RIVALS[1:]:
        for contract in CONTRACTS:
            ratio = of(place(contract, DSRED)) / of(place(contract, rival))
            yield beside(ratio, f"{NAMES[of]}, DSRED / {rival}, {contract}")


def throughput() -> Iterator[Check]:
    """Z1."""
    for c in CONTRACTS:
        a, b = (received(place(c, s)) for s in BOTH)
        yield apart(a, b, f"packets received over sent are more with DSRED than with RED, {c}")
    for c in CONTRACTS:
        for s, stated in ((DSRED, 0.98), (RED, 0.66)):
            text = f"packets received over sent with {s} are within 0.05 of {stated}, {c}"
            bound = received(place(c, s)).between(stated - 0.05, stated + 0.05)
            yield number(bound, text)
    yield from others(received)


def lower(of: Measured, low: float, high: float) -> Iterator[Check]:
    """Z2 to Z4: that DSRED has less, in the paper's proportion."""
    for c in CONTRACTS:
        a, b = (of(place(c, s)) for s in BOTH)
        yield trend((a / b).below(1), f"{NAMES[of]} is lower with DSRED, {c}: the ratio")
    for c in CONTRACTS:
        a, b = (of(place(c, s)) for s in BOTH)
        text = f"{NAMES[of]}, DSRED / RED, is {low} to {high}, {c}"
        yield number((a / b).between(low, high), text)
    yield from others(of)


def whatever() -> Iterator[Check]:
    """Z5."""
    for name, of in CRITERIA.items():
        for s in BOTH:
            ratio = of(place(NRT, s)) / of(place(UBR, s))
            yield number(ratio.between(0.9, 1.1), f"{name} with {s} is the same within 10 %")


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
WEIGHT, RIVAL = (e.label for e in OFF)
CAUSES = (*OFF, COUNT, WHOLE)
"""All of them."""

_COUNT = Switch(
    "RED that spreads its drops is compared with DSRED, which drops in clusters",
    COUNT.label,
)
_WEIGHT = Switch(
    "with a weight of 0.07 the average follows within 14 packets, so that no queue overshoots",
    WEIGHT,
    "the weight of RED's authors, 0.002, in both",
)
_RIVAL = Switch(
    "at the stated settings RED drops no less than DSRED: a shorter queue means a shorter round "
    "trip, and so more drops",
    RIVAL,
    "the weight and max_p of RED's authors, and drops without spreading",
)
ALL = (_COUNT, _WEIGHT, _RIVAL)

CLAIMS = (
    Claim(
        "Z1",
        "Of the packets sent 98 % arrive with DSRED and 66 % with RED (table 1)",
        0.98,
        "more with DSRED, intervals disjoint; each within 0.05 of what is stated",
        "share received with DSRED, nrt-VBR",
        every(*throughput()),
        ALL,
    ),
    Claim(
        "Z2",
        "Queueing delay is 0.30 s with DSRED and 0.55 s with RED",
        0.30 / 0.55,
        "lower with DSRED, by a factor of 0.4 to 0.7",
        "delay, DSRED / RED, nrt-VBR",
        every(*lower(waiting, 0.4, 0.7)),
        ALL,
    ),
    Claim(
        "Z3",
        "The peak queue is 100 packets with DSRED and 118 with RED",
        100 / 118,
        "lower with DSRED, by a factor of 0.75 to 0.95",
        "peak, DSRED / RED, nrt-VBR",
        every(*lower(peak, 0.75, 0.95)),
        ALL,
    ),
    Claim(
        "Z4",
        "0.8 packets are dropped in a second with DSRED and 3.0 with RED",
        0.8 / 3.0,
        "fewer with DSRED, by a factor of 0.15 to 0.5",
        "drops, DSRED / RED, nrt-VBR",
        every(*lower(drops, 0.15, 0.5)),
        ALL,
    ),
    Claim(
        "Z5",
        "Results do not depend on the traffic contract",
        1.0,
        "each criterion within 10 % between nrt-VBR and UBR",
        "share received with DSRED, nrt-VBR / UBR",
        every(*whatever()),
        (
            Switch(
                "the sustainable rate is half of the line, so that the circuit is half as fast",
                WHOLE.label,
            ),
        ),
    ),
    Claim(
        "Z6",
        "DSRED keeps the instantaneous queue lower (figures 6 and 11)",
        None,
        "its mean over time is lower",
        "mean queue, DSRED / RED, nrt-VBR",
        every(*shorter()),
        ALL,
    ),
    Claim(
        "Z7",
        "One peak of queue and drops when slow start ends, then recovery; the average lags",
        None,
        "queue and drops are highest in the first seconds; the average lags behind the queue",
        "peak at the start less later's, DSRED, nrt-VBR",
        every(*start()),
    ),
)
"""The claims in the paper's order."""
