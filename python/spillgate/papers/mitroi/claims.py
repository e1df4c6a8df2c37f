"""The paper's claims M1 to M12 as predicates on what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from spillgate.papers.judge import beside, within
from spillgate.papers.measured import PerRun, View, largest, smallest
from spillgate.papers.mitroi import system
from spillgate.papers.model import Claim, Part

LEVEL_GAP = 0.01
"""Losses a percentage point apart are different levels: what a bar chart of 0 to 50 % shows."""


def _loss(v: View, policy: str, cls: str) -> PerRun:
    return v.cls(policy, cls, "loss_ratio")


def _delay(v: View, policy: str, cls: str) -> PerRun:
    return v.cls(policy, cls, "owd_mean")


def _lost(v: View, cls: str, above: float, below: float) -> list[Part]:
    parts = [
        within(
            f"{cls} loses {100 * above:g} to {100 * below:g} % under {p}",
            _loss(v, p, cls),
            above=above,
            below=below,
        )
        for p in ("FIFO", "WFQ")
    ]
    parts += [
        within(
            f"voice loses less than video under {p}",
            _loss(v, p, "video") - _loss(v, p, "voice"),
            above=0.0,
            kind="trend",
        )
        for p in ("FIFO", "WFQ")
    ]
    parts += [
        within(
            f"{cls} loses more under {p} than under CBWFQ",
            _loss(v, p, cls) - _loss(v, "CBWFQ", cls),
            above=0.0,
            kind="trend",
        )
        for p in ("FIFO", "WFQ")
    ]
    return parts


def voice_loss(v: View) -> Sequence[Part]:
    """M1: over 10 %, and nearer to it than to the 20 % of video."""
    return _lost(v, "voice", 0.10, 0.15)


def video_loss(v: View) -> Sequence[Part]:
    """M2."""
    return _lost(v, "video", 0.15, 0.25)


def real_time_spared(v: View) -> Sequence[Part]:
    """M3."""
    most = largest(_loss(v, p, c) for p in system.CLASS_BASED for c in system.REAL_TIME)
    fifo = smallest(_loss(v, "FIFO", c) for c in system.REAL_TIME)
    return (
        within("voice and video lose less than 0.1 % under policies 3 to 8", most, below=0.001),
        within("they lose less than under FIFO", fifo - most, above=0.0, kind="trend"),
    )


def waiting(v: View, policy: str, cls: str) -> PerRun:
    """Mean time in the queue of the line of what arrives there for a class."""
    queues = [q for q in v.names(policy, "queue") if q.startswith("wan/")]
    own = next((q for q in queues if q == f"wan/{cls.upper()}"), queues[0])
    return v.of(policy, "queue", own, "sojourn_mean")


def llq_delay(v: View) -> Sequence[Part]:
    """M4."""
    delays = _delay(v, "FIFO", "voice") / _delay(v, "CBWFQ-LLQ", "voice")
    waits = waiting(v, "FIFO", "voice") / waiting(v, "CBWFQ-LLQ", "voice")
    return (
        within("the delay of voice falls 2.5 to 5 times", delays, above=2.5, below=5.0),
        within("it falls", delays, above=1.0, kind="trend"),
        beside("how many times its waiting alone falls", waits),
    )


def mpls_delay(v: View) -> Sequence[Part]:
    """M5."""
    pairs = list(system.TUNNELED.items())
    ratios = [
        (_delay(v, b, "voice") - system.LABEL_TIME) / _delay(v, a, "voice") for a, b in pairs
    ]
    fifo = smallest(_delay(v, "FIFO", "voice") - _delay(v, b, "voice") for _, b in pairs)
    return (
        within(
            "voice's delay under policies 7, 8 is not 5 % above that of 4, 5: the largest ratio",
            largest(ratios),
            below=1.05,
        ),
        within("nor 5 % below: the smallest ratio", smallest(ratios), above=0.95),
        within("it is below that under FIFO", fifo, above=0.0, kind="trend"),
    )


def alike(v: View) -> Sequence[Part]:
    """M6."""
    return [
        within(
            f"the mean delays of the classes are within 10 % of each other under {p}",
            largest(_delay(v, p, c) for c in system.CLASSES)
            / smallest(_delay(v, p, c) for c in system.CLASSES),
            below=1.1,
        )
        for p in ("FIFO", "WFQ")
    ]


def bulk_steady(v: View) -> Sequence[Part]:
    """M7."""
    means = [_delay(v, p, "bulk") for p in system.CLASS_BASED]
    lost = largest(_loss(v, p, "bulk") for p in system.CLASS_BASED)
    return (
        within(
            "the AF1x delays under policies 3 to 8 are within 10 % of each other",
            largest(means) / smallest(means),
            below=1.1,
        ),
        within("AF1x loses less than 0.1 % there", lost, below=0.001),
    )


def wred_delay(v: View) -> Sequence[Part]:
    """M8."""
    first, fourth, fifth = (
        {c: _delay(v, p, c) for c in system.CONGESTED}
        for p in ("FIFO", "CBWFQ-LLQ", "CBWFQ-LLQ-WRED")
    )
    lowest = {c: smallest((first[c], fourth[c])) for c in system.CONGESTED}
    return (
        within(
            "with WRED, AF3x and AF2x wait shortest of all: delay over the lowest other",
            largest(fifth[c] / lowest[c] for c in system.CONGESTED),
            below=1.0,
            kind="trend",
        ),
        within(
            "policy 5 is below policy 4: delay over delay",
            largest(fifth[c] / fourth[c] for c in system.CONGESTED),
            below=1.0,
            kind="trend",
        ),
        within(
            "policy 4 is below FIFO: delay over delay",
            largest(fourth[c] / first[c] for c in system.CONGESTED),
            below=1.0,
            kind="trend",
        ),
    )


def _point(v: View, policy: str, point: str) -> PerRun:
    return v.of(policy, "dscp", point, "loss_ratio")


def steps(v: View) -> Sequence[Part]:
    """M9. A step that is not told apart from none does not fall."""
    points = ("af31", "af32", "af33", "af21", "af22", "af23")
    found = [(a, b, _point(v, "CBWFQ", b) - _point(v, "CBWFQ", a)) for a, b in pairwise(points)]
    a, b, lowest = min(found, key=lambda s: s[2].quantity.mean or 0.0)
    q = lowest.quantity
    falls = q.high if q.high is not None else q.mean
    parts = [
        Part(
            f"no step from AF31 to AF23 goes down; the lowest is {a.upper()} to {b.upper()}",
            q,
            "trend",
            holds=falls is not None and falls >= 0.0,
        )
    ]
    parts += [
        within(
            f"{b.upper()} loses more than {a.upper()}",
            _point(v, "CBWFQ", b) - _point(v, "CBWFQ", a),
            above=0.0,
            kind="trend",
        )
        for a, b in (("af31", "af33"), ("af33", "af21"), ("af21", "af23"))
    ]
    return parts


def wred_loss(v: View) -> Sequence[Part]:
    """M10."""
    before, after = "CBWFQ-LLQ", "CBWFQ-LLQ-WRED"

    def spread(policy: str, x: int) -> PerRun:
        losses = [_point(v, policy, f"af{x}{y}") for y in (1, 2, 3)]
        return largest(losses) - smallest(losses)

    def change(y: int) -> list[PerRun]:
        return [_point(v, after, f"af{x}{y}") - _point(v, before, f"af{x}{y}") for x in (3, 2)]

    return (
        within(
            "WRED brings the losses of y = 1, 2, 3 together: change of their spread",
            largest(spread(after, x) - spread(before, x) for x in (3, 2)),
            below=0.0,
            kind="trend",
        ),
        within("y = 3 loses less", largest(change(3)), below=0.0, kind="trend"),
        within("y = 1 loses more", smallest(change(1)), above=0.0, kind="trend"),
    )


def variation(v: View) -> Sequence[Part]:
    """M11."""
    jitter = {
        (p, c): v.cls(p, c, "jitter")
        for p in ("FIFO", "WFQ", *system.CLASS_BASED)
        for c in system.REAL_TIME
    }
    worst = largest(
        jitter[p, c] / jitter["FIFO", c] for p in system.CLASS_BASED for c in system.REAL_TIME
    )
    return (
        within(
            "policies 3 to 8 have less jitter than FIFO: the largest over that of FIFO",
            worst,
            below=1.0,
            kind="trend",
        ),
        within("jitter is below 30 ms everywhere", largest(jitter.values()), below=0.030),
    )


def by_rate(v: View, policy: str) -> dict[float, list[PerRun]]:
    """Loss of each data flow, by its rate in Mb/s."""
    found: dict[float, list[PerRun]] = {}
    for row in system.flows():
        if row["dscp"] in system.DATA_POINTS:
            for i in range(int(row["count"])):
                loss = v.of(policy, "flow", f"{row['name']}-{i}", "loss_ratio")
                found.setdefault(system.mbps(row), []).append(loss)
    return found


def explained(groups: Sequence[Sequence[float]]) -> float:
    """Share of the variance of all values that lies between the groups; NaN without variance.

    Example:
        >>> explained([[1.0, 1.0], [2.0, 2.0]]), explained([[1.0, 2.0], [1.0, 2.0]])
        (1.0, 0.0)
    """
    every = [x for group in groups for x in group]
    mean = math.fsum(every) / len(every)
    total = math.fsum((x - mean) ** 2 for x in every)
    means = [math.fsum(g) / len(g) for g in groups]
    between = math.fsum(len(g) * (m - mean) ** 2 for g, m in zip(groups, means, strict=True))
    return between / total if total else math.nan


def levels(groups: Sequence[Sequence[float]], gap: float = LEVEL_GAP) -> int:
    """Into how many levels the means of the groups fall that are more than `gap` apart.

    Example:
        >>> levels([[0.133], [0.140], [0.172], [0.177], [0.195]])
        3
    """
    means = sorted(math.fsum(g) / len(g) for g in groups)
    return 1 + sum(b - a > gap for a, b in pairwise(means))


def three_levels(v: View) -> Sequence[Part]:
    """M12."""
    parts = []
    for policy in system.EXACT:
        groups = by_rate(v, policy)
        count = len(groups)
        flows = sum(len(g) for g in groups.values())
        runs = range(len(next(iter(groups.values()))[0].values))
        cut = [[[q.values[run] for q in g] for g in groups.values()] for run in runs]
        found = PerRun(tuple(float(levels(g)) for g in cut), "levels")
        share = PerRun(tuple(explained(g) for g in cut), "1")
        name = policy.partition(",")[0]
        parts += [
            within(f"three levels of loss under {name}", found, above=2.5, below=3.5),
            within(f"a flow's rate explains 90 % of its loss under {name}", share, above=0.9),
            # With k groups of n values without any relation, (k - 1) / (n - 1) is expected.
            within(
                f"loss goes with the rate more than by chance under {name}",
                share,
                above=(count - 1) / (flows - 1),
                kind="trend",
            ),
        ]
    return parts


CLAIMS = (
    Claim(
        "M1",
        "FIFO or WFQ loses over 10 % of IP telephony",
        0.10,
        "voice loss 10 to 15 % under FIFO and WFQ, below that of video, above that under CBWFQ",
        "voice loss under FIFO",
        voice_loss,
    ),
    Claim(
        "M2",
        "FIFO or WFQ loses about 20 % of videoconference",
        0.20,
        "video loss 15 to 25 % under FIFO and WFQ, above that of voice and that under CBWFQ",
        "video loss under FIFO",
        video_loss,
    ),
    Claim(
        "M3",
        "Voice and video loss is almost zero with CBWFQ, alone or with LLQ, WRED, MPLS",
        0.0,
        "< 0.1 % in policies 3 to 8",
        "largest loss of voice and video, 3 to 8",
        real_time_spared,
    ),
    Claim(
        "M4",
        "LLQ cuts the delay of voice about 3.5 times against FIFO",
        3.5,
        "mean delay FIFO / LLQ between 2.5 and 5; waiting alone beside it",
        "voice delay, FIFO / LLQ",
        llq_delay,
    ),
    Claim(
        "M5",
        "An MPLS VPN keeps the delay of voice at the level of CBWFQ with LLQ",
        None,
        "policies 7, 8 within 5 % of 4, 5 plus the label's share",
        "voice delay, 7 / 4 and 8 / 5, the larger",
        mpls_delay,
    ),
    Claim(
        "M6",
        "The delay of data under FIFO and WFQ is like that of the real-time services",
        None,
        "class means within 10 % of each other",
        "largest / smallest class delay under FIFO",
        alike,
    ),
    Claim(
        "M7",
        "AF1x delay is about constant over the CBWFQ variants, and AF1x loses nothing",
        None,
        "AF1x means of policies 3 to 8 within 10 %, loss < 0.1 %",
        "largest / smallest AF1x delay, 3 to 8",
        bulk_steady,
    ),
    Claim(
        "M8",
        "AF3x and AF2x delay is lowest when WRED is on",
        None,
        "policy 5 < policy 4 < policy 1, both classes",
        "AF3x and AF2x delay, 5 / the lower of 1 and 4, the larger",
        wred_delay,
    ),
    Claim(
        "M9",
        "Under CBWFQ loss grows step by step from AF31 to AF23",
        None,
        "no step down, and up from AF31 to AF33 to AF21 to AF23",
        "lowest step",
        steps,
    ),
    Claim(
        "M10",
        "WRED takes loss from y = 3 and gives it to y = 1, 2",
        None,
        "spread over y smaller in 5 than in 4, y = 3 lower, y = 1 higher, in AF3x and AF2x",
        "change of the spread over y from 4 to 5, the smaller",
        wred_loss,
    ),
    Claim(
        "M11",
        "Delay variation of real-time classes is within bounds, best with class-based policies",
        None,
        "jitter(3 to 8) < jitter(1), and below 30 ms everywhere",
        "jitter over that of FIFO, 3 to 8, the largest",
        variation,
    ),
    Claim(
        "M12",
        "Three levels of loss for data under FIFO and WFQ",
        3.0,
        "with exact CBR, losses of flows form three levels that go with the rate",
        "levels under FIFO",
        three_levels,
    ),
)
"""The claims in the paper's order."""
