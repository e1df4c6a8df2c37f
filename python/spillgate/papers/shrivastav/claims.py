"""The paper's claims S1 to S10 as predicates on what was measured."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, pairwise

from spillgate.papers.judge import Kind, within
from spillgate.papers.measured import PerRun, View
from spillgate.papers.model import Claim, Elsewhere, Part, Switch
from spillgate.papers.shrivastav.system import (
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
    Size,
)
from spillgate.papers.terms import Check, Term, either, every, number, own, trend

ALIKE = 0.15
"""Within what part of each other two results are alike."""


def at(key: str, size: Size, scheme: str, s: float, load: int | None = None, **of: str) -> Term:
    """What is taken at a point."""
    return own(key, size.at(scheme, s, load, **of))


def same_inputs(size: Size) -> Iterator[Check]:
    """S1."""
    for s in size.speedups:
        for a, b in combinations(SCHEMES, 2):
            first, second = (at("input queue", size, x, s) for x in (a, b))
            text = f"input queues with {a} and {b} at speedup {s:g} are within"
            yield either(
                number((first / second).between(1 - ALIKE, 1 + ALIKE), f"{text} 15 %: ratio"),
                number((first - second).between(-0.3, 0.3), f"{text} 0.3 packets"),
            )


def falling_inputs(size: Size) -> Iterator[Check]:
    """S2; what it is about is RED's input queue at the lowest of the high speedups."""
    slowest = size.speedups[0]
    for x in (RED, TAIL, MODIFIED):
        for s in size.high:
            part = at("input queue", size, x, s) / at("input queue", size, x, slowest)
            text = (
                f"the input queue with {x} at speedup {s:g} is below 10 % of that at {slowest:g}"
            )
            yield number(part.below(0.1), text)
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
    for s in size.low:
        text = f"modified RED's output queue at speedup {s:g} is at least 20 % shorter: ratio"
        yield number(shortened(size, s).below(0.8), text)
    for s in size.low:
        modified, red = (at("output queue", size, x, s) for x in (MODIFIED, RED))
        yield disjoint(modified, red, f"the intervals of both at {s:g} are disjoint")
        yield trend((red - modified).above(0), f"it is shorter at {s:g}: the difference")


def converging(size: Size) -> Iterator[Check]:
    """S5."""
    for s in size.high:
        text = f"output queues of modified RED and RED at speedup {s:g} are within 5 %: ratio"
        yield number(shortened(size, s).between(0.95, 1.05), text)


def change(key: str, size: Size, load: int) -> Term:
    """What modified RED adds at the speedup of the experiment with loads."""
    modified, red = (at(key, size, x, size.slow, load) for x in (MODIFIED, RED))
    return modified - red


def same_use(size: Size) -> Iterator[Check]:
    """S6, the highest load first."""
    for load in reversed(size.loads):
        text = f"utilization with modified RED and RED at {load} sessions is within 2 points"
        yield number(change("utilization", size, load).between(-0.02, 0.02), text)


def same_loss(size: Size) -> Iterator[Check]:
    """S7, the highest load first."""
    for load in reversed(size.loads):
        text = f"loss with modified RED minus RED at {load} sessions is -0.5 to 2 points"
        yield number(change("loss", size, load).between(-0.005, 0.02), text)


def in_large() -> Iterator[Check]:
    """S8: the others in the large switch, S4 first."""

    def of(claim: str, check: Check) -> Check:
        def named(v: View) -> Part:
            p = check(v)
            return replace(p, text=f"{claim}: {p.text}")

        return named

    parts = (shorter_outputs, same_inputs, falling_inputs, tail_longest, converging, same_use)
    for claim, f in zip(
        ("S4", "S1", "S2", "S3", "S5", "S6", "S7"), (*parts, same_loss), strict=True
    ):
        for check in f(LARGE):
            yield of(claim, check)


COMPARED = ("output queue", "input queue", "loss")
ROTATED = Elsewhere(
    "a crossbar that connects its ports in fixed rotation",
    {
        size.at(x, s, load, CROSSBAR): size.at(x, s, load, ROTATION)
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
CAUSES = (ROTATED, CROSSED, LIGHT)
WAITING = Switch(
    "RED of 1993 drops two to three times as many packets as ns-2's code, which waits 1/p_b "
    "packets after each drop",
    "red.variant, as ns-2's code",
)
OWN_LINK = Switch(
    "a VOQ waits for its own s/n of the fabric, even while the output idles and other VOQs of its "
    "input are empty",
    CROSSED.label,
)
HEAVY = Switch(
    "with the paper's weight the input queues alone keep RED's average well above min_th, so that "
    "it drops while the output idles",
    LIGHT.label,
)


def farthest(key: str, size: Size) -> Check:
    """That both fabrics are alike at each point: the part about the one that is least so."""

    def check(v: View) -> Part:
        found = []
        for s, load in size.run_on(CROSSBAR):
            for x in SCHEMES:
                both = [at(key, size, x, s, load, fabric=f).take(v) for f in (CROSSBAR, PARALLEL)]
                # Runs of one number have the same seeds; of the large crossbar there are fewer.
                n = min(len(q.values) for q in both)
                cross, links = (PerRun(q.values[:n], q.unit) for q in both)
                where = f"{x}, speedup {s:g}, {load} sessions"
                text = (
                    f"{key} in the {size.name} switch, crossbar / parallel, within 15 %: {where}"
                )
                part = within(text, cross / links, above=1 - ALIKE, below=1 + ALIKE)
                mean = part.quantity.mean
                found.append((part, abs(math.log(mean)) if mean else math.inf))
        # What is missed first, then what is undecided, each the farthest from 1.
        return max(found, key=lambda f: (f[0].missed, f[0].undecided, f[1]))[0]

    return check


def faster(size: Size) -> Iterator[Check]:
    """S10."""
    for s in size.low:
        modified, red = (at("delay", size, x, s) for x in (MODIFIED, RED))
        text = f"mean delay in the {size.name} switch falls with modified RED at speedup {s:g}"
        yield trend((red - modified).above(0), f"{text}: by")


CLAIMS = (
    Claim(
        "S1",
        "Input queue lengths are about the same for drop-tail, RED and modified RED",
        None,
        "pairwise within 15 % or 0.3 packets at each speedup",
        "input queue at the lowest speedup, drop-tail / RED",
        every(*same_inputs(SMALL)),
        (HEAVY, OWN_LINK),
    ),
    Claim(
        "S2",
        "Input queues fall with speedup and are very short from a speedup of 2",
        None,
        "monotone; from 2 on below 10 % of that at 1.1",
        "RED's input queue at speedup 2 / at 1.1",
        every(*falling_inputs(SMALL)),
        (OWN_LINK,),
    ),
    Claim(
        "S3",
        "Drop-tail has the longest output queue, RED a shorter one",
        None,
        "drop-tail above RED at every speedup",
        "drop-tail minus RED at the lowest speedup",
        every(*tail_longest(SMALL)),
    ),
    Claim(
        "S4",
        "At low speedup the output queue of modified RED is significantly shorter than RED's",
        None,
        "at speedups up to 1.5 at least 20 % shorter, intervals disjoint",
        "output queue at the lowest speedup, modified RED / RED",
        every(*shorter_outputs(SMALL)),
    ),
    Claim(
        "S5",
        "The output queues of RED and modified RED approach each other from a speedup of 2",
        1.0,
        "within 5 % from 2 on",
        "output queue at speedup 2, modified RED / RED",
        every(*converging(SMALL)),
        (HEAVY, OWN_LINK),
    ),
    Claim(
        "S6",
        "The utilization of RED and modified RED is almost the same",
        0.0,
        "within 2 points at each load, speedup 1.1",
        "utilization at the highest load, modified RED minus RED",
        every(*same_use(SMALL)),
        (WAITING, HEAVY, OWN_LINK),
    ),
    Claim(
        "S7",
        "The loss rate of modified RED is slightly larger at most",
        None,
        "difference between -0.5 and +2 points at each load, speedup 1.1",
        "loss at the highest load, modified RED minus RED",
        every(*same_loss(SMALL)),
        (WAITING, HEAVY, OWN_LINK),
    ),
    Claim(
        "S8",
        "The same holds in the 16 x 16 switch",
        None,
        "S1 to S7 with nu = 0.125, speedups 1.1 to 2.7, loads at speedup 1.4",
        "output queue at the lowest speedup, modified RED / RED",
        every(*in_large()),
        (HEAVY,),
    ),
    Claim(
        "S9",
        "That packets cross together, at a lower rate, is a minor effect",
        1.0,
        "queues and loss of parallel links and of a crossbar within 15 %",
        "4 x 4, output queue, crossbar / parallel, where it differs most",
        every(*(farthest(key, size) for size in SIZES for key in COMPARED)),
        (
            Switch(
                "a crossbar with iSLIP serves whatever VOQ has packets, a link of s/n of the line "
                "rate its own only",
                ROTATED.label,
            ),
        ),
    ),
    Claim(
        "S10",
        "The average backlog in the switch, and so the delay of packets, falls",
        None,
        "mean delay in the switch lower with modified RED at speedups up to 1.5",
        "4 x 4, mean delay at the lowest speedup, RED minus modified RED",
        every(*faster(SMALL), *faster(LARGE)),
    ),
)
"""The claims in the paper's order."""
