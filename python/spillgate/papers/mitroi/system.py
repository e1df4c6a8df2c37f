"""The paper's system: its flows, its policies, and how each is put into the scenario."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path

SYSTEM = Path(__file__).parent / "system"

POLICIES = (
    "FIFO",
    "WFQ",
    "CBWFQ",
    "CBWFQ-LLQ",
    "CBWFQ-LLQ-WRED",
    "MPLS-CBWFQ",
    "MPLS-CBWFQ-LLQ",
    "MPLS-CBWFQ-LLQ-WRED",
)
"""The policies of the claims, in the paper's order."""

CLASS_BASED = POLICIES[2:]
"""Policies 3 to 8."""

TUNNELED = {"CBWFQ-LLQ": "MPLS-CBWFQ-LLQ", "CBWFQ-LLQ-WRED": "MPLS-CBWFQ-LLQ-WRED"}
"""Policies 4 and 5, and the same inside an MPLS L3VPN."""

VPN: dict[str, object] = {"pe": ["ce2", "ce1"], "php": False}
"""CE2 and CE1 are the edges of the VPN; two labels on the line, as between edges further apart."""

LLQS = tuple(p for p in POLICIES if "LLQ" in p)
"""Policies with a low-latency queue."""

TUNNELS = POLICIES[5:]
"""Policies 6 to 8."""

FRAME = 1500
"""Bytes of a frame."""
LABEL = 4
"""Bytes of a label."""


def voice() -> float:
    """What voice offers in Mb/s."""
    return sum(mbps(r) * int(r["count"]) for r in flows() if r["class"] == "voice")


def policed(labels: int) -> float:
    """The share of voice that LLQ's policer drops in the long run, at the rate that voice has.

    It counts labels, so that of every frame with its labels it carries the bytes of a frame.

    Example:
        >>> f"{policed(2):.3%}", f"{policed(0):.3%}"
        ('0.531%', '0.000%')
    """
    return 1.0 - FRAME / (FRAME + LABEL * labels)


LABEL_TIME = 8 * 8 / 100e6
"""Seconds that a stack of two labels takes on the line."""

ALSO = ("PQ", "RED", "ECN")
"""Policies that the paper describes and does not test."""

EXACT = ("FIFO, exact", "WFQ, exact")
"""Policies 1 and 2 without jitter, for the claim about levels of loss."""

CLASSES = ("voice", "video", "critical", "non-critical", "bulk")
LABELS = {
    "voice": "voice (EF)",
    "video": "video (AF41)",
    "critical": "critical (AF3x)",
    "non-critical": "non-critical (AF2x)",
    "bulk": "bulk (AF1x)",
}
REAL_TIME = ("voice", "video")
CONGESTED = ("critical", "non-critical")
"""The classes that got supplementary traffic: AF3x and AF2x."""

DATA_POINTS = ("af31", "af32", "af33", "af21", "af22", "af23", "af11", "af12", "af13")

DEFAULTS = "traffic.0.csv.defaults"
NO_JITTER: dict[str, object] = {f"{DEFAULTS}.jitter": "0 %"}
TOGETHER: dict[str, object] = {f"{DEFAULTS}.phase": "0 s"}
"""All streams of the generator start at once."""
IN_STEP: dict[str, object] = {**TOGETHER, f"{DEFAULTS}.jitter": "0.01 %"}
"""Started together and without jitter, but for what shuffles packets sent at the same instant:
0.01 % of a gap are less than the time between two packets on the 1 Gb/s link."""

APART = 90
"""Microseconds between the starts of two streams that start in the order of table 1."""
ORDERED = f"streams start in the order of table 1, {APART / 1000:g} ms apart"


def ordered(gap: int = APART) -> str:
    """Table 1 with a row a flow, each of which starts `gap` microseconds after the one before."""
    lines = ["name,count,class,dscp,rate,phase"]
    for r in flows():
        first, like = len(lines) - 1, f"{r['class']},{r['dscp']},{r['rate']}"
        lines += [
            f"{r['name']}-{i},1,{like},{(first + i) * gap} us" for i in range(int(r["count"]))
        ]
    return "\n".join(lines) + "\n"


def in_order(file: str) -> dict[str, object]:
    """What a table by `ordered` replaces; the jitter is that of `IN_STEP`."""
    return {"traffic.0.csv.file": file, f"{DEFAULTS}.jitter": "0.01 %"}


QUEUED = ("VIDEO", "CRITICAL", "NON-CRITICAL", "BULK")
"""Classes of the configuration that have a share of the line in every class-based policy."""


def in_classes(
    policies: Iterable[str], classes: Iterable[str], values: Mapping[str, object]
) -> dict[str, object]:
    """What replaces values by key in classes of policies of the configuration."""
    own = list(classes)
    return {
        f"policies.{p}.classes.{c}{'-EXP' if p.startswith('MPLS-') else ''}.{key}": value
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


def flows() -> list[dict[str, str]]:
    """Table 1 of the paper: the rows of `traffic.csv`."""
    lines = (SYSTEM / "traffic.csv").read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def mbps(row: dict[str, str]) -> float:
    """Rate of each flow of a row of table 1 in Mb/s."""
    return float(row["rate"].removesuffix(" Mb/s"))


def scaled(load: float) -> str:
    """Table 1 with all rates multiplied so that `load` Mb/s are offered in all."""
    rows = flows()
    factor = load / sum(mbps(r) * int(r["count"]) for r in rows)
    lines = ["name,count,class,dscp,rate"]
    lines += [
        f"{r['name']},{r['count']},{r['class']},{r['dscp']},{round(mbps(r) * factor * 1e6)} b/s"
        for r in rows
    ]
    return "\n".join(lines) + "\n"


def evened() -> str:
    """Table 1 with one rate in each class, the mean of its flows'."""
    rows = flows()
    total: dict[str, float] = {}
    number: dict[str, int] = {}
    for r in rows:
        total[r["class"]] = total.get(r["class"], 0.0) + mbps(r) * int(r["count"])
        number[r["class"]] = number.get(r["class"], 0) + int(r["count"])
    lines = ["name,count,class,dscp,rate"]
    lines += [
        f"{r['name']},{r['count']},{r['class']},{r['dscp']},"
        f"{round(total[r['class']] / number[r['class']] * 1e6)} b/s"
        for r in rows
    ]
    return "\n".join(lines) + "\n"


def at_line(policy: str) -> dict[str, object]:
    """The policy on the bottleneck itself."""
    return {"topology.links.wan.policy": policy}


def before_limit(policy: str) -> dict[str, object]:
    """The policy on the 1 Gb/s port; what limits the rate to 100 Mb/s comes after it."""
    return {
        "topology.nodes": ["site-a", "ce2", "limit", "ce1", "site-b"],
        "topology.links.port": {"from": "ce2", "to": "limit", "rate": "1 Gb/s", "policy": policy},
        "topology.links.wan.from": "limit",
        "topology.links.wan.policy": "FIFO",
    }


def settings(policy: str) -> dict[str, object]:
    """What a policy replaces in the scenario."""
    name, _, exact = policy.partition(", ")
    found = before_limit("WFQ") if name == "WFQ" else at_line(name)
    if name.startswith("MPLS-"):
        found["topology.mpls"] = VPN
    if name == "ECN":
        found[f"{DEFAULTS}.ecn"] = "ect0"
    return found | (NO_JITTER if exact else {})
