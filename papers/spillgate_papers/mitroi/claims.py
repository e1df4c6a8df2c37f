"""The paper's claims M1 to M12 as predicates on what was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from spillgate_papers import terms
from spillgate_papers.groups import Groups, explained, grouped, levels
from spillgate_papers.judge import within
from spillgate_papers.measured import View
from spillgate_papers.mitroi import system
from spillgate_papers.mitroi.system import CLASS_BASED, EARLY, FIFO, LLQ, POLICIES, REAL_TIME, WRED
from spillgate_papers.model import Elsewhere, Part
from spillgate_papers.ours import Ours
from spillgate_papers.terms import beside, least, most, number, queued, trend, value

TUNNELED = {p: f"MPLS-{p}" for p in (LLQ, WRED)}
"""Policies 4 and 5, and the same inside an MPLS L3VPN."""


def at(setting: str, policies: Sequence[str] = POLICIES) -> dict[str, str]:
    """The points of a setting in which the claims' own are; what has no jitter is itself exact."""
    places = {p: f"{p}, {setting}" for p in policies}
    return places | {f"{p}, exact": x for p, x in places.items() if p in EARLY}


STEP, ORDER, MOVING = "started together", "started in order", "98 Mb/s offered, Poisson"
CAUSES = (
    Elsewhere(STEP, at(STEP)),
    Elsewhere(ORDER, at(ORDER)),
    Elsewhere(MOVING, at(MOVING), at("as chosen")),
)
LOSS, DELAY, JITTER = (
    {(p, c): value(metric, p, c) for p in POLICIES for c in system.CLASSES}
    for metric in ("loss_ratio", "owd_mean", "jitter")
)
POINT = {
    (p, d): value("loss_ratio", p, d, "dscp") for p in POLICIES for d in system.CONGESTED_POINTS
}
SPARED = most(LOSS[p, c] for p in CLASS_BASED for c in REAL_TIME)
NOT_SPARED = least(LOSS[FIFO, c] for c in REAL_TIME)
LABELED = [
    (DELAY[b, "voice"] - system.LABEL_TIME) / DELAY[a, "voice"] for a, b in TUNNELED.items()
]
BELOW_FIFO = least(DELAY[FIFO, "voice"] - DELAY[b, "voice"] for b in TUNNELED.values())
BULK, BULK_LOST = ([of[p, "bulk"] for p in CLASS_BASED] for of in (DELAY, LOSS))
REAL = [(p, c) for p in POLICIES for c in REAL_TIME]
OVER_FIFO = most(JITTER[p, c] / JITTER[FIFO, c] for p, c in REAL if p in CLASS_BASED)
LEVEL_GAP = 0.01
"""Losses a percentage point apart are different levels: what a bar chart of 0 to 50 % shows."""
LEVEL = Ours("fall of a step that is one", LEVEL_GAP, (0.002, 0.03), "{:.1%}".format)


def lost(cls: str, low: float, high: float) -> Iterator[terms.Check]:
    """M1 and M2."""
    size = f"{cls} loses {100 * low:g} to {100 * high:g} % under"
    for p in EARLY:
        yield number(LOSS[p, cls].between(low, high), f"{size} {p}")
    for p in EARLY:
        order = LOSS[p, "video"] - LOSS[p, "voice"]
        yield trend(order.above(0), f"voice loses less than video under {p}")
    for p in EARLY:
        gain = LOSS[p, cls] - LOSS["CBWFQ", cls]
        yield trend(gain.above(0), f"{cls} loses more under {p} than under CBWFQ")


def fall(fifo: str, llq: str) -> terms.Term:
    """M4: how many times LLQ cuts the delay of voice."""
    return value("owd_mean", fifo, "voice") / value("owd_mean", llq, "voice")


def waits(fifo: str, llq: str) -> terms.Term:
    """How many times it cuts the time in the queue of the line."""
    first, second = (queued("sojourn_mean", p, "wan", "VOICE") for p in (fifo, llq))
    return first / second


def alike() -> Iterator[terms.Check]:
    """M6."""
    for p in EARLY:
        delays = [DELAY[p, c] for c in system.CLASSES]
        said = f"the mean delays of the classes are within 10 % of each other under {p}"
        yield number((most(delays) / least(delays)).below(1.1), said)


def slower(policy: str, *others: str) -> terms.Bound:
    """M8: that AF3x and AF2x wait less under a policy than under others."""
    ratios = (DELAY[policy, c] / least(DELAY[p, c] for p in others) for c in system.CONGESTED)
    return most(ratios).below(1)


def step(a: str, b: str) -> terms.Term:
    """M9: what loss under CBWFQ grows by."""
    return POINT["CBWFQ", b] - POINT["CBWFQ", a]


def no_step_down(most: float) -> terms.Check:
    """M9. What falls by less is level."""

    def check(v: View) -> Part:
        pairs = pairwise(system.CONGESTED_POINTS)
        steps = {f"{a.upper()} to {b.upper()}": step(a, b).take(v) for a, b in pairs}
        name = min(steps, key=lambda name: steps[name].quantity.mean or 0.0)
        text = f"no step from AF31 to AF23 goes down by {most:.1%}; the lowest is {name}"
        return within(text, steps[name], above=-most, kind="trend")

    return check


def spread(policy: str, x: int) -> terms.Term:
    """M10: the losses of an AF class from the least to the most."""
    losses = [POINT[policy, f"af{x}{y}"] for y in (1, 2, 3)]
    return most(losses) - least(losses)


def changes(y: int) -> list[terms.Term]:
    """M10: what WRED adds to the losses of a drop precedence."""
    return [POINT[WRED, f"af{x}{y}"] - POINT[LLQ, f"af{x}{y}"] for x in (3, 2)]


def flow_losses(place: str) -> dict[float, list[terms.Term]]:
    """Loss of each data flow, by its rate in Mb/s."""
    return {
        rate: [value("loss_ratio", place, name, "flow") for name in names]
        for rate, names in system.RATES.items()
    }


def by_rate(place: str, f: Callable[[Groups], float], unit: str = "1") -> terms.Term:
    """What a function gives of the losses of the data flows, grouped by rate, in each run."""
    return grouped(list(flow_losses(place).values()), f, unit)


def three_levels() -> Iterator[terms.Check]:
    """M12."""
    # With k groups of n values without any relation, (k - 1) / (n - 1) is expected.
    chance = (len(system.RATES) - 1) / (sum(map(len, system.RATES.values())) - 1)
    for place, p in zip(system.EXACT, EARLY, strict=True):
        share = by_rate(place, explained)
        count = by_rate(place, lambda g: levels(g, LEVEL_GAP), "levels")
        yield number(count.between(2.5, 3.5), f"three levels of loss under {p}")
        yield number(share.above(0.9), f"a flow's rate explains 90 % of its loss under {p}")
        said = f"loss goes with the rate more than by chance under {p}"
        yield trend(share.above(chance), said)


CLAIMS = system.TEXTS.claims(
    {
        "M1": lost("voice", 0.10, 0.15),
        "M2": lost("video", 0.15, 0.25),
        "M3": (
            number(SPARED.below(0.001), "voice and video lose less than 0.1 % in policies 3 to 8"),
            trend((NOT_SPARED - SPARED).above(0), "they lose less than under FIFO"),
        ),
        "M4": (
            number(fall(FIFO, LLQ).between(2.5, 5), "the delay of voice falls 2.5 to 5 times"),
            trend(fall(FIFO, LLQ).above(1), "it falls"),
            beside(waits(FIFO, LLQ), "how many times its waiting alone falls"),
        ),
        "M5": (
            number(most(LABELED).below(1.05), "voice's delay, 7 / 4 and 8 / 5: the larger"),
            number(least(LABELED).above(0.95), "the smaller of them"),
            trend(BELOW_FIFO.above(0), "it is below that under FIFO"),
        ),
        "M6": alike(),
        "M7": (
            number((most(BULK) / least(BULK)).below(1.1), "largest AF1x delay over the smallest"),
            number(most(BULK_LOST).below(0.001), "AF1x loses less than 0.1 % there"),
        ),
        "M8": (
            trend(slower(WRED, FIFO, LLQ), "AF3x and AF2x wait shortest with WRED: over others"),
            trend(slower(WRED, LLQ), "policy 5 is below policy 4: delay over delay"),
            trend(slower(LLQ, FIFO), "policy 4 is below FIFO: delay over delay"),
        ),
        "M9": (
            LEVEL.judged(no_step_down),
            *(
                trend(step(a, b).above(0), f"{b.upper()} loses more than {a.upper()}")
                for a, b in pairwise(("af31", "af33", "af21", "af23"))
            ),
        ),
        "M10": (
            trend(
                most(spread(WRED, x) - spread(LLQ, x) for x in (3, 2)).below(0),
                "WRED brings the losses of y = 1, 2, 3 together: change of their spread",
            ),
            trend(most(changes(3)).below(0), "y = 3 loses less"),
            trend(least(changes(1)).above(0), "y = 1 loses more"),
        ),
        "M11": (
            trend(OVER_FIFO.below(1), "policies 3 to 8 have less jitter: the largest over FIFO's"),
            number(most(JITTER[x] for x in REAL).below(0.03), "it is below 30 ms everywhere"),
        ),
        "M12": three_levels(),
    }
)
BY_ID = {c.id: c for c in CLAIMS}
