"""What the paper leaves silent: our choice, its reason, and other choices to run."""

from __future__ import annotations

from spillgate_papers.mitroi import system
from spillgate_papers.mitroi.system import (
    EARLY,
    EXACT,
    IN_STEP,
    JITTER,
    LLQS,
    TEXTS,
    TUNNELS,
    WREDS,
)
from spillgate_papers.model import Point

DELAY = "topology.links.wan.delay"
AF = {c.upper(): x for c, x in zip(system.CONGESTED, "32", strict=True)}
"""The overloaded classes of the configuration, and which AF they are."""


def _profiles(policy: str, key: str, value: object) -> dict[str, object]:
    """A value of the WRED profiles of both classes; `{x}` is the class of AF, and its EXP."""
    return {
        path: value
        for name, x in AF.items()
        for path in system.in_classes((policy,), (name,), {f"aqm.{key.format(x=x)}": value})
    }


def _by_dscp(key: str, y: int, value: object) -> dict[str, object]:
    return _profiles("CBWFQ-LLQ-WRED", f"dscp.af{{x}}{y}.{key}", value)


def _denominators(n: int) -> dict[str, object]:
    tunneled = _profiles("MPLS-CBWFQ-LLQ-WRED", "precedence.{x}.denominator", n)
    return {path: n for y in (1, 2, 3) for path in _by_dscp("denominator", y, n)} | tunneled


def _burst(size: str) -> Point:
    return Point(size, system.in_classes(LLQS, ("VOICE",), {"priority.burst": size}))


def _weight(n: int) -> Point:
    values = {"aqm.exponential_weighting_constant": n}
    return Point(f"{n}", system.in_classes(WREDS, AF, values))


def _delay(label: str, value: str) -> Point:
    return Point(label, {DELAY: value})


def _wfq(label: str, policy: str) -> Point:
    return Point(label, system.at_line(policy), instead=True)


SILENT = TEXTS.silent(
    {
        "source.process": (Point("Poisson", system.POISSON),),
        "source.jitter": (Point("none", system.NO_JITTER), Point("50 %", {JITTER: "50 %"})),
        "source.start": (
            Point("all together", system.TOGETHER),
            Point("all together, 1 % of jitter", {**system.TOGETHER, JITTER: "1 %"}),
            Point("all together, 0.01 % of jitter", IN_STEP),
            Point(f"{system.ORDERED}, 0.01 % of jitter", system.in_order()),
        ),
        "packet.size": {f"{system.DEFAULTS}.packet": ["1000 B"]},
        "link.overhead": (
            Point("Ethernet with preamble", {"topology.links.wan.overhead": "ethernet"}),
        ),
        "link.delay": (
            _delay("0.1 ms", "100 us"),
            _delay("2 ms", "2 ms"),
            _delay("10 ms", "10 ms"),
        ),
        "fifo.limit": tuple(Point(f"{n} packets", system.fifo_limit(n)) for n in (20, 75, 300)),
        "wfq.position": (
            _wfq("on the line, 1000 packets", "WFQ"),
            _wfq("on the line, 64 packets in all", "WFQ-SHARED"),
        ),
        "class.limit": tuple(Point(f"{n} packets", system.class_limit(n)) for n in (8, 32, 128)),
        "llq.rate": (Point("16 %, video 34 %", system.llq_share(16)),),
        "llq.burst": (_burst("1500 B"), _burst("4500 B")),
        "wred.weight": (_weight(4), _weight(12)),
        "wred.denominator": tuple(Point(f"{n}", _denominators(n)) for n in (1, 100)),
        "wred.profiles": (
            Point(
                "minimum 4 lower for y = 2, 8 for y = 3",
                {**_by_dscp("min", 2, 20), **_by_dscp("min", 3, 16)},
            ),
        ),
        "mpls.labels": (Point("one (penultimate-hop popping)", {"topology.mpls.php": True}),),
        "mpls.exp": (
            Point(
                "AF2x marked as AF3x",
                {"topology.mpls.imposition": {f"af2{y}": 3 for y in (1, 2, 3)}},
            ),
        ),
    },
    {
        "fifo.limit": (*EARLY, *EXACT),
        "wfq.position": ("WFQ", "WFQ, exact"),
        "class.limit": system.CLASS_BASED,
        "llq.rate": LLQS,
        "llq.burst": LLQS,
        "wred.weight": WREDS,
        "wred.denominator": WREDS,
        "wred.profiles": WREDS,
        "mpls.labels": TUNNELS,
        "mpls.exp": TUNNELS,
    },
)
"""The ledger."""

_ALIKE = {f"{p}, exact": p for p in EARLY}
"""What hardly has jitter stands for what has none."""


def _ordered(gap: int) -> Point:
    label = f"in the order of table 1, {gap / 1000:g} ms apart"
    return Point(label, system.in_order(gap), same=_ALIKE)


TOGETHER_AXES = {
    "start": (
        Point("random phases"),
        Point("random phases, no jitter", system.NO_JITTER, same=_ALIKE),
        Point("all together", IN_STEP, same=_ALIKE),
        *map(_ordered, system.GAPS),
    ),
    "line": (Point("1 ms"), Point("10 ms", {DELAY: "10 ms"})),
    "FIFO": (
        Point("40 packets"),
        *(Point(f"{n} packets", system.fifo_limit(n), places=(*EARLY, *EXACT)) for n in (75, 300)),
    ),
    "class queues": (
        Point("64 packets"),
        Point("32 packets", system.class_limit(32), places=system.CLASS_BASED),
    ),
    "voice in LLQ": (Point("15 %"), Point("16 %", system.llq_share(16), places=LLQS)),
}
"""Choices that are varied together, the one made beforehand first."""
BRIEFLY = {
    "start": ("random phases", f"in the order of table 1, {system.APART / 1000:g} ms apart"),
    "FIFO": ("40 packets", "300 packets"),
    "class queues": ("64 packets",),
}
"""Those of them that do with `--quick`."""
