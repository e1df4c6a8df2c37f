"""The paper's system: its flows, its policies, and what it leaves silent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

from spillgate_papers.flows import Flows
from spillgate_papers.model import Point
from spillgate_papers.texts import Texts

T = TypeVar("T")
SYSTEM = Path(__file__).parent / "system"
TEXTS = Texts.read(Path(__file__).with_name("paper.md"))
FLOWS = Flows(SYSTEM / "traffic.csv")
"""Table 1 of the paper."""

FIFO, LLQ, WRED = "FIFO", "CBWFQ-LLQ", "CBWFQ-LLQ-WRED"
EARLY, INSIDE = (FIFO, "WFQ"), ("CBWFQ", LLQ, WRED)
"""Policies 1 and 2, and 3 to 5."""
TUNNELS = tuple(f"MPLS-{p}" for p in INSIDE)
"""Policies 6 to 8: 3 to 5 inside an MPLS L3VPN."""
CLASS_BASED = (*INSIDE, *TUNNELS)
POLICIES = (*EARLY, *CLASS_BASED)
LLQS, WREDS = (tuple(p for p in POLICIES if x in p) for x in ("LLQ", "WRED"))
ALSO = ("PQ", "RED", "ECN")
"""Policies that the paper describes and does not test."""
EXACT = tuple(f"{p}, exact" for p in EARLY)
"""Policies 1 and 2 without jitter, for the claim about levels of loss."""

CLASSES = {
    "voice": "voice (EF)",
    "video": "video (AF41)",
    "critical": "critical (AF3x)",
    "non-critical": "non-critical (AF2x)",
    "bulk": "bulk (AF1x)",
}
REAL_TIME, CONGESTED = ("voice", "video"), ("critical", "non-critical")
"""The latter got supplementary traffic."""
CONGESTED_POINTS = tuple(f"af{x}{y}" for x in "32" for y in "123")
DATA_POINTS = (*CONGESTED_POINTS, "af11", "af12", "af13")
RATES = FLOWS.by_rate(DATA_POINTS)
"""The data flows by their rate in Mb/s."""

WAN, FILE, DEFAULTS = "topology.links.wan", "traffic.0.csv.file", "traffic.0.csv.defaults"
DELAY, JITTER = f"{WAN}.delay", f"{DEFAULTS}.jitter"
NO_JITTER = {JITTER: "0 %"}
TOGETHER = {f"{DEFAULTS}.phase": "0 s"}
"""All streams of the generator start at once."""
IN_STEP = {**TOGETHER, JITTER: "0.01 %"}
"""The same, but for what shuffles packets sent at the same instant: 0.01 % of a gap are less than
the time between two packets on the 1 Gb/s link."""
POISSON: dict[str, object] = {
    DEFAULTS: {"from": "site-a", "to": "site-b", "source": "poisson", "packet": "1500 B"}
}
GAPS, APART = (30, 60, 90, 120), 90
"""Microseconds between the starts of two streams that start in the order of table 1."""
LOADS, BELOW = (80, 90, 100, 110, 120, 130, 140, 150), 98
"""Offered loads in Mb/s, and one that the line carries."""
FILES = {
    **{f"traffic-order-{gap}.csv": FLOWS.text(gap=gap) for gap in GAPS},
    **{f"traffic-{load}.csv": FLOWS.scaled(load) for load in (*LOADS, BELOW)},
    "traffic-even.csv": FLOWS.evened(),
}


def in_order(gap: int = APART) -> dict[str, object]:
    """Streams start one after another, with the jitter of `IN_STEP`."""
    return {FILE: f"traffic-order-{gap}.csv", JITTER: "0.01 %"}


def at_load(load: int) -> dict[str, object]:
    """Table 1 scaled to a load in Mb/s."""
    return {FILE: f"traffic-{load}.csv"}


def at_line(policy: str) -> dict[str, object]:
    """The policy on the bottleneck itself."""
    return {f"{WAN}.policy": policy}


PORT = {"from": "ce2", "to": "limit", "rate": "1 Gb/s", "policy": "WFQ", "tx_ring": "1 packet"}
BEFORE_LIMIT: dict[str, object] = {
    "topology.nodes": ["site-a", "ce2", "limit", "ce1", "site-b"],
    "topology.links.port": PORT,
    f"{WAN}.from": "limit",
    **at_line(FIFO),
}
"""WFQ on the 1 Gb/s port; what limits the rate to 100 Mb/s comes after it."""


def settings(policy: str) -> dict[str, object]:
    """What a policy replaces in the scenario; two labels on the line of an MPLS VPN."""
    found = BEFORE_LIMIT if policy == "WFQ" else at_line(policy)
    if policy in TUNNELS:
        return {**found, "topology.mpls": {"pe": ["ce2", "ce1"], "php": False}}
    return {**found, f"{DEFAULTS}.ecn": "ect0"} if policy == "ECN" else found


def along_policies(policies: Iterable[str] = POLICIES) -> dict[str, Mapping[str, object]]:
    """Policies as an axis."""
    return {p: settings(p) for p in policies}


def in_classes(
    policies: Iterable[str], classes: Iterable[str], key: str, value: T
) -> dict[str, T]:
    """What replaces a value in classes of policies of the configuration."""
    own = list(classes)
    names = {p: [f"{c}-EXP" if p in TUNNELS else c for c in own] for p in policies}
    return {f"policies.{p}.classes.{c}.{key}": value for p, of in names.items() for c in of}


def fifo_limit(packets: int) -> dict[str, str]:
    """Another limit of FIFO."""
    return in_classes((FIFO,), ("class-default",), "queue_limit", f"{packets} packets")


def class_limit(packets: int) -> dict[str, str]:
    """Another limit of the queue of each class that has a share of the line."""
    key, limit, shared = "queue_limit", f"{packets} packets", ("CBWFQ", "MPLS-CBWFQ")
    queued = in_classes(CLASS_BASED, ("VIDEO", "CRITICAL", "NON-CRITICAL", "BULK"), key, limit)
    return queued | in_classes(shared, ("VOICE",), key, limit)


def llq_share(percent: int) -> dict[str, str]:
    """Another share of the line for voice in LLQ; video has the rest of 50 %."""
    voice = in_classes(LLQS, ("VOICE",), "priority.rate", f"{percent} %")
    return voice | in_classes(LLQS, ("VIDEO",), "bandwidth", f"{50 - percent} %")


def wred(key: str, value: T, points: Iterable[int] = (1, 2, 3)) -> dict[str, T]:
    """What replaces a value of WRED's profiles of drop precedences."""
    paths = [(c, f"aqm.dscp.af{x}{y}.{key}") for c, x in AF.items() for y in points]
    return {k: v for c, path in paths for k, v in in_classes((WRED,), (c,), path, value).items()}


AF = {c.upper(): x for c, x in zip(CONGESTED, "32", strict=True)}
"""The overloaded classes of the configuration, and which AF they are."""
FRAME, LABEL = 1500, 4
"""Bytes of a frame, and of a label."""
LABEL_TIME = 2 * LABEL * 8 / 100e6
"""Seconds that a stack of two labels takes on the line."""


def policed(labels: int) -> float:
    """The share of voice that LLQ's policer drops in the long run, at the rate that voice has.

    It counts labels, so that of every frame with its labels it carries the bytes of a frame.

    Example:
        >>> f"{policed(2):.3%}", f"{policed(0):.3%}"
        ('0.531%', '0.000%')
    """
    return 1.0 - FRAME / (FRAME + LABEL * labels)


ORDERED = f"in the order of table 1, {APART / 1000:g} ms apart"
_EXP = [f"policies.{WREDS[1]}.classes.{c}-EXP.aqm.precedence.{x}" for c, x in AF.items()]
SILENT = TEXTS.silent(
    {
        "source.process": {"Poisson": POISSON},
        "source.jitter": {"none": NO_JITTER, "50 %": {JITTER: "50 %"}},
        "source.start": {
            "all together": TOGETHER,
            "all together, 1 % of jitter": {**TOGETHER, JITTER: "1 %"},
            "all together, 0.01 % of jitter": IN_STEP,
            f"streams start {ORDERED}, 0.01 % of jitter": in_order(),
        },
        "packet.size": {f"{DEFAULTS}.packet": ["1000 B"]},
        "link.overhead": {"Ethernet with preamble": {f"{WAN}.overhead": "ethernet"}},
        "link.delay": {DELAY: ["0.1 ms", "2 ms", "10 ms"]},
        "fifo.limit": {f"{n} packets": fifo_limit(n) for n in (20, 75, 300)},
        "wfq.position": (
            Point("on the line, 1000 packets", at_line("WFQ"), instead=True),
            Point("on the line, 64 packets in all", at_line("WFQ-SHARED"), instead=True),
        ),
        "class.limit": {f"{n} packets": class_limit(n) for n in (8, 32, 128)},
        "llq.rate": {"16 %, video 34 %": llq_share(16)},
        "llq.burst": in_classes(LLQS, ("VOICE",), "priority.burst", ["1500 B", "4500 B"]),
        "wred.weight": in_classes(WREDS, AF, "aqm.exponential_weighting_constant", [4, 12]),
        "wred.denominator": {
            **wred("denominator", [1, 100]),
            **{f"{path}.denominator": [1, 100] for path in _EXP},
        },
        "wred.profiles": {
            "minimum 4 lower for y = 2, 8 for y = 3": wred("min", 20, [2]) | wred("min", 16, [3])
        },
        "mpls.labels": {"one (penultimate-hop popping)": {"topology.mpls.php": True}},
        "mpls.exp": {
            "AF2x marked as AF3x": {
                "topology.mpls.imposition": dict.fromkeys(CONGESTED_POINTS[3:], 3)
            }
        },
    },
    {
        "fifo.limit": (*EARLY, *EXACT),
        "wfq.position": ("WFQ", "WFQ, exact"),
        "class.limit": CLASS_BASED,
        **dict.fromkeys(("llq.rate", "llq.burst"), LLQS),
        **dict.fromkeys(("wred.weight", "wred.denominator", "wred.profiles"), WREDS),
        **dict.fromkeys(("mpls.labels", "mpls.exp"), TUNNELS),
    },
)
_ALIKE = dict(zip(EXACT, EARLY, strict=True))
"""What hardly has jitter stands for what has none."""
_EARLY = (*EARLY, *EXACT)
TOGETHER_AXES = {
    "start": (
        Point("random phases"),
        Point("random phases, no jitter", NO_JITTER, same=_ALIKE),
        Point("all together", IN_STEP, same=_ALIKE),
        *(
            Point(f"in the order of table 1, {x / 1000:g} ms apart", in_order(x), same=_ALIKE)
            for x in GAPS
        ),
    ),
    "line": (Point("1 ms"), Point("10 ms", {DELAY: "10 ms"})),
    "FIFO": (
        Point("40 packets"),
        *(Point(f"{n} packets", fifo_limit(n), _EARLY) for n in (75, 300)),
    ),
    "class queues": (Point("64 packets"), Point("32 packets", class_limit(32), CLASS_BASED)),
    "voice in LLQ": (Point("15 %"), Point("16 %", llq_share(16), LLQS)),
}
"""Choices that are varied together, the one made beforehand first."""
BRIEFLY = {
    "start": ("random phases", ORDERED),
    "FIFO": ("40 packets", "300 packets"),
    "class queues": ("64 packets",),
}
"""Those of them that do with `--quick`."""
