"""The paper's system: its flows, its policies, and how each is put into the scenario."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from spillgate_papers.flows import Flows
from spillgate_papers.texts import Texts

SYSTEM = Path(__file__).parent / "system"
TEXTS = Texts.read(Path(__file__).with_name("paper.md"))

EARLY = ("FIFO", "WFQ")
"""Policies 1 and 2."""
CLASS_BASED = (
    "CBWFQ",
    "CBWFQ-LLQ",
    "CBWFQ-LLQ-WRED",
    "MPLS-CBWFQ",
    "MPLS-CBWFQ-LLQ",
    "MPLS-CBWFQ-LLQ-WRED",
)
"""Policies 3 to 8."""
POLICIES = (*EARLY, *CLASS_BASED)
"""The policies of the claims, in the paper's order."""
LLQS = tuple(p for p in POLICIES if "LLQ" in p)
WREDS = tuple(p for p in POLICIES if "WRED" in p)
TUNNELS = CLASS_BASED[3:]
"""Policies 6 to 8: 3 to 5 inside an MPLS L3VPN."""
ALSO = ("PQ", "RED", "ECN")
"""Policies that the paper describes and does not test."""
EXACT = ("FIFO, exact", "WFQ, exact")
"""Policies 1 and 2 without jitter, for the claim about levels of loss."""

CLASSES = {
    "voice": "voice (EF)",
    "video": "video (AF41)",
    "critical": "critical (AF3x)",
    "non-critical": "non-critical (AF2x)",
    "bulk": "bulk (AF1x)",
}
REAL_TIME = ("voice", "video")
CONGESTED = ("critical", "non-critical")
"""The classes that got supplementary traffic: AF3x and AF2x."""
CONGESTED_POINTS = ("af31", "af32", "af33", "af21", "af22", "af23")
DATA_POINTS = (*CONGESTED_POINTS, "af11", "af12", "af13")

FLOWS = Flows(SYSTEM / "traffic.csv")
"""Table 1 of the paper."""
RATES = FLOWS.by_rate(DATA_POINTS)
"""The data flows by their rate in Mb/s."""

FILE, DEFAULTS = "traffic.0.csv.file", "traffic.0.csv.defaults"
JITTER = f"{DEFAULTS}.jitter"
NO_JITTER: dict[str, object] = {JITTER: "0 %"}
TOGETHER: dict[str, object] = {f"{DEFAULTS}.phase": "0 s"}
"""All streams of the generator start at once."""
IN_STEP: dict[str, object] = {**TOGETHER, JITTER: "0.01 %"}
"""Started together and without jitter, but for what shuffles packets sent at the same instant:
0.01 % of a gap are less than the time between two packets on the 1 Gb/s link."""
POISSON: dict[str, object] = {
    DEFAULTS: {"from": "site-a", "to": "site-b", "source": "poisson", "packet": "1500 B"}
}

GAPS = (30, 60, 90, 120)
"""Microseconds between the starts of two streams that start in the order of table 1."""
APART = 90
ORDERED = f"streams start in the order of table 1, {APART / 1000:g} ms apart"
LOADS = (80, 90, 100, 110, 120, 130, 140, 150)
"""Offered load in Mb/s."""
BELOW = 98
"""An offered load that the line carries."""

FILES = {
    **{f"traffic-order-{gap}.csv": FLOWS.text(gap=gap) for gap in GAPS},
    **{f"traffic-{load}.csv": FLOWS.scaled(load) for load in (*LOADS, BELOW)},
    "traffic-even.csv": FLOWS.evened(),
}
"""Other traffic, by the name of its file."""


def in_order(gap: int = APART) -> dict[str, object]:
    """Streams start one after another, with the jitter of `IN_STEP`."""
    return {FILE: f"traffic-order-{gap}.csv", JITTER: "0.01 %"}


def at_load(load: int) -> dict[str, object]:
    """Table 1 scaled to a load in Mb/s."""
    return {FILE: f"traffic-{load}.csv"}


def at_line(policy: str) -> dict[str, object]:
    """The policy on the bottleneck itself."""
    return {"topology.links.wan.policy": policy}


BEFORE_LIMIT: dict[str, object] = {
    "topology.nodes": ["site-a", "ce2", "limit", "ce1", "site-b"],
    "topology.links.port": {
        "from": "ce2",
        "to": "limit",
        "rate": "1 Gb/s",
        "policy": "WFQ",
        "tx_ring": "1 packet",
    },
    "topology.links.wan.from": "limit",
    "topology.links.wan.policy": "FIFO",
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


QUEUED = ("VIDEO", "CRITICAL", "NON-CRITICAL", "BULK")
"""Classes of the configuration that have a share of the line in every class-based policy."""


def in_classes(
    policies: Iterable[str], classes: Iterable[str], values: Mapping[str, object]
) -> dict[str, object]:
    """What replaces values by key in classes of policies of the configuration."""
    own = list(classes)
    return {
        f"policies.{p}.classes.{c}{'-EXP' if p in TUNNELS else ''}.{key}": value
        for p in policies
        for c in own
        for key, value in values.items()
    }


def fifo_limit(packets: int) -> dict[str, object]:
    """Another limit of FIFO."""
    return {"policies.FIFO.classes.class-default.queue_limit": f"{packets} packets"}


def class_limit(packets: int) -> dict[str, object]:
    """Another limit of the queue of each class that has a share of the line."""
    limit = {"queue_limit": f"{packets} packets"}
    shared = [p for p in CLASS_BASED if p not in LLQS]
    return in_classes(CLASS_BASED, QUEUED, limit) | in_classes(shared, ("VOICE",), limit)


def llq_share(percent: int) -> dict[str, object]:
    """Another share of the line for voice in LLQ; video has the rest of 50 %."""
    voice = in_classes(LLQS, ("VOICE",), {"priority.rate": f"{percent} %"})
    return voice | in_classes(LLQS, ("VIDEO",), {"bandwidth": f"{50 - percent} %"})


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
