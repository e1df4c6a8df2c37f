"""The paper's claims M1 to M12 as predicates on what was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from spillgate_papers import terms
from spillgate_papers.groups import Groups, explained, grouped, levels
from spillgate_papers.judge import within
from spillgate_papers.measured import View
from spillgate_papers.mitroi import system
from spillgate_papers.mitroi.system import CLASS_BASED, EARLY, POLICIES, REAL_TIME, TEXTS
from spillgate_papers.model import Elsewhere, Part
from spillgate_papers.ours import Ours
from spillgate_papers.terms import beside, least, most, number, queued, trend, value

FIFO, LLQ, WRED = "FIFO", "CBWFQ-LLQ", "CBWFQ-LLQ-WRED"
TUNNELED = {LLQ: "MPLS-CBWFQ-LLQ", WRED: "MPLS-CBWFQ-LLQ-WRED"}
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
"""Settings in which a suspected cause is off."""


def _loss(policy: str, cls: str) -> terms.Term:
    return value("loss_ratio", policy, cls)


def _delay(policy: str, cls: str) -> terms.Term:
    return value("owd_mean", policy, cls)


def _point(policy: str, point: str) -> terms.Term:
    return value("loss_ratio", policy, point, "dscp")


def _lost(cls: str, low: float, high: float) -> Sequence[terms.Check]:
    """M1 and M2."""
    size, more = f"{cls} loses {100 * low:g} to {100 * high:g} %", f"{cls} loses more under"
    parts = [number(_loss(p, cls).between(low, high), f"{size} under {p}") for p in EARLY]
    for p in EARLY:
        order = _loss(p, "video") - _loss(p, "voice")
        parts.append(trend(order.above(0), f"voice loses less than video under {p}"))
    for p in EARLY:
        gain = _loss(p, cls) - _loss("CBWFQ", cls)
        parts.append(trend(gain.above(0), f"{more} {p} than under CBWFQ"))
    return parts


SPARED = most(_loss(p, c) for p in CLASS_BASED for c in REAL_TIME)
LABELED = [
    (_delay(b, "voice") - system.LABEL_TIME) / _delay(a, "voice") for a, b in TUNNELED.items()
]
BELOW_FIFO = least(_delay(FIFO, "voice") - _delay(b, "voice") for b in TUNNELED.values())
BULK = [_delay(p, "bulk") for p in CLASS_BASED]


def fall(fifo: str, llq: str) -> terms.Term:
    """M4: how many times LLQ cuts the delay of voice."""
    return _delay(fifo, "voice") / _delay(llq, "voice")


def waits(fifo: str, llq: str) -> terms.Term:
    """How many times it cuts the time in the queue of the line."""
    first, second = (queued("sojourn_mean", p, "wan", "VOICE") for p in (fifo, llq))
    return first / second


def _alike(policy: str) -> terms.Check:
    """M6."""
    delays = [_delay(policy, c) for c in system.CLASSES]
    said = f"the mean delays of the classes are within 10 % of each other under {policy}"
    return number((most(delays) / least(delays)).below(1.1), said)


def _slower(policy: str, *others: str) -> terms.Term:
    """Delay of AF3x and AF2x under a policy over the lowest under others, the larger."""
    return most(_delay(policy, c) / least(_delay(p, c) for p in others) for c in system.CONGESTED)


def _no_step_down(most: float) -> terms.Check:
    """M9. What falls by less is level."""

    def check(v: View) -> Part:
        steps = [
            (f"{a.upper()} to {b.upper()}", (_point("CBWFQ", b) - _point("CBWFQ", a)).take(v))
            for a, b in pairwise(system.CONGESTED_POINTS)
        ]
        name, step = min(steps, key=lambda s: s[1].quantity.mean or 0.0)
        text = f"no step from AF31 to AF23 goes down by {most:.1%}; the lowest is {name}"
        return within(text, step, above=-most, kind="trend")

    return check


def _spread(policy: str, x: int) -> terms.Term:
    losses = [_point(policy, f"af{x}{y}") for y in (1, 2, 3)]
    return most(losses) - least(losses)


def _changes(y: int) -> list[terms.Term]:
    """What WRED adds to the losses of a drop precedence."""
    return [_point(WRED, f"af{x}{y}") - _point(LLQ, f"af{x}{y}") for x in (3, 2)]


JITTER = {(p, c): value("jitter", p, c) for p in POLICIES for c in REAL_TIME}
LEVEL_GAP = 0.01
"""Losses a percentage point apart are different levels: what a bar chart of 0 to 50 % shows."""
LEVEL = Ours("fall of a step that is one", LEVEL_GAP, (0.002, 0.03), "{:.1%}".format)


def flow_losses(place: str) -> dict[float, list[terms.Term]]:
    """Loss of each data flow, by its rate in Mb/s."""
    return {
        rate: [value("loss_ratio", place, name, "flow") for name in names]
        for rate, names in system.RATES.items()
    }


def by_rate(place: str, f: Callable[[Groups], float], unit: str = "1") -> terms.Term:
    """What a function gives of the losses of the data flows, grouped by rate, in each run."""
    return grouped(list(flow_losses(place).values()), f, unit)


def _three_levels(place: str) -> list[terms.Check]:
    """M12."""
    share, name = by_rate(place, explained), place.partition(",")[0]
    # With k groups of n values without any relation, (k - 1) / (n - 1) is expected.
    chance = (len(system.RATES) - 1) / (sum(map(len, system.RATES.values())) - 1)
    return [
        number(
            by_rate(place, lambda g: levels(g, LEVEL_GAP), "levels").between(2.5, 3.5),
            f"three levels of loss under {name}",
        ),
        number(share.above(0.9), f"a flow's rate explains 90 % of its loss under {name}"),
        trend(share.above(chance), f"loss goes with the rate more than by chance under {name}"),
    ]


CLAIMS = TEXTS.claims(
    {
        "M1": _lost("voice", 0.10, 0.15),
        "M2": _lost("video", 0.15, 0.25),
        "M3": (
            number(
                SPARED.below(0.001), "voice and video lose less than 0.1 % under policies 3 to 8"
            ),
            trend(
                (least(_loss(FIFO, c) for c in REAL_TIME) - SPARED).above(0),
                "they lose less than under FIFO",
            ),
        ),
        "M4": (
            number(fall(FIFO, LLQ).between(2.5, 5), "the delay of voice falls 2.5 to 5 times"),
            trend(fall(FIFO, LLQ).above(1), "it falls"),
            beside(waits(FIFO, LLQ), "how many times its waiting alone falls"),
        ),
        "M5": (
            number(
                most(LABELED).below(1.05),
                "voice's delay under policies 7, 8 is not 5 % above that of 4, 5: the largest "
                "ratio",
            ),
            number(least(LABELED).above(0.95), "nor 5 % below: the smallest ratio"),
            trend(BELOW_FIFO.above(0), "it is below that under FIFO"),
        ),
        "M6": map(_alike, EARLY),
        "M7": (
            number(
                (most(BULK) / least(BULK)).below(1.1),
                "the AF1x delays under policies 3 to 8 are within 10 % of each other",
            ),
            number(
                most(_loss(p, "bulk") for p in CLASS_BASED).below(0.001),
                "AF1x loses less than 0.1 % there",
            ),
        ),
        "M8": (
            trend(
                _slower(WRED, FIFO, LLQ).below(1),
                "with WRED, AF3x and AF2x wait shortest of all: delay over the lowest other",
            ),
            trend(_slower(WRED, LLQ).below(1), "policy 5 is below policy 4: delay over delay"),
            trend(_slower(LLQ, FIFO).below(1), "policy 4 is below FIFO: delay over delay"),
        ),
        "M9": (
            LEVEL.judged(_no_step_down),
            *(
                trend(
                    (_point("CBWFQ", b) - _point("CBWFQ", a)).above(0),
                    f"{b.upper()} loses more than {a.upper()}",
                )
                for a, b in pairwise(("af31", "af33", "af21", "af23"))
            ),
        ),
        "M10": (
            trend(
                most(_spread(WRED, x) - _spread(LLQ, x) for x in (3, 2)).below(0),
                "WRED brings the losses of y = 1, 2, 3 together: change of their spread",
            ),
            trend(most(_changes(3)).below(0), "y = 3 loses less"),
            trend(least(_changes(1)).above(0), "y = 1 loses more"),
        ),
        "M11": (
            trend(
                most(JITTER[p, c] / JITTER[FIFO, c] for p in CLASS_BASED for c in REAL_TIME).below(
                    1
                ),
                "policies 3 to 8 have less jitter than FIFO: the largest over that of FIFO",
            ),
            number(most(JITTER.values()).below(0.030), "jitter is below 30 ms everywhere"),
        ),
        "M12": (check for place in system.EXACT for check in _three_levels(place)),
    }
)
"""The claims in the paper's order."""
BY_ID = {c.id: c for c in CLAIMS}
