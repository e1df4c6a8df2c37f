"""What the paper leaves silent: our choice, its reason, and other choices to run."""

from __future__ import annotations

from collections.abc import Mapping

from spillgate.papers.mitroi.system import (
    CLASS_BASED,
    DEFAULTS,
    IN_STEP,
    LLQS,
    NO_JITTER,
    ORDERED,
    TOGETHER,
    TUNNELS,
    at_line,
    class_limit,
    fifo_limit,
    in_classes,
    in_order,
    llq_share,
    ordered,
)
from spillgate.papers.model import Point, Silent

_WRED = ("CBWFQ-LLQ-WRED", "MPLS-CBWFQ-LLQ-WRED")


def _poisson() -> dict[str, object]:
    common = {"from": "site-a", "to": "site-b", "source": "poisson", "packet": "1500 B"}
    return {DEFAULTS: common}


def _wred(values: Mapping[str, object]) -> dict[str, object]:
    return in_classes(_WRED, ("CRITICAL", "NON-CRITICAL"), values)


def _profiles(policy: str, values: Mapping[str, object]) -> dict[str, object]:
    """Values of the profiles of both classes, by key; `{x}` is the class of AF, and its EXP."""
    found: dict[str, object] = {}
    for name, x in (("CRITICAL", "3"), ("NON-CRITICAL", "2")):
        own = {f"aqm.{key.format(x=x)}": value for key, value in values.items()}
        found |= in_classes((policy,), (name,), own)
    return found


def _denominators(n: int) -> dict[str, object]:
    by_dscp = {f"dscp.af{{x}}{y}.denominator": n for y in (1, 2, 3)}
    tunneled = _profiles("MPLS-CBWFQ-LLQ-WRED", {"precedence.{x}.denominator": n})
    return _profiles("CBWFQ-LLQ-WRED", by_dscp) | tunneled


_LOWER = {"dscp.af{x}2.min": 20, "dscp.af{x}3.min": 16}


ASSUMPTIONS = (
    Silent(
        "source.process",
        "constant bit rate",
        "the paper generates flows of fixed frame rates; hardware generators send so",
        (Point("Poisson", _poisson()),),
    ),
    Silent(
        "source.jitter",
        "each packet moved by up to 10 % of the gap",
        "keeps flows from locking into step, as clocks of real sources do",
        (
            Point("none", NO_JITTER),
            Point("50 %", {f"{DEFAULTS}.jitter": "50 %"}),
        ),
    ),
    Silent(
        "source.start",
        "independent random phases",
        "nothing is said of the generator; random phases favor no flow",
        (
            Point("all together", TOGETHER),
            Point("all together, 1 % of jitter", {**TOGETHER, f"{DEFAULTS}.jitter": "1 %"}),
            Point("all together, 0.01 % of jitter", IN_STEP),
            Point(
                f"{ORDERED}, 0.01 % of jitter",
                in_order("traffic-ordered.csv"),
                files={"traffic-ordered.csv": ordered()},
            ),
        ),
    ),
    Silent(
        "packet.size",
        "1500 B, all of it the IP packet",
        "rate over frame rate in table 1; the paper does not say at which layer",
        (Point("1000 B", {f"{DEFAULTS}.packet": "1000 B"}),),
    ),
    Silent(
        "link.overhead",
        "none",
        "1500 B are taken as what the 100 Mb/s count",
        (Point("Ethernet with preamble", {"topology.links.wan.overhead": "ethernet-phy"}),),
    ),
    Silent(
        "link.delay",
        "1 ms",
        "two routers side by side in a laboratory or a city apart; the paper gives none",
        (
            Point("0.1 ms", {"topology.links.wan.delay": "100 us"}),
            Point("2 ms", {"topology.links.wan.delay": "2 ms"}),
            Point("10 ms", {"topology.links.wan.delay": "10 ms"}),
        ),
    ),
    Silent(
        "fifo.limit",
        "40 packets",
        "the output hold queue of IOS",
        tuple(Point(f"{n} packets", fifo_limit(n)) for n in (20, 75, 300)),
        places=("FIFO", "WFQ", "FIFO, exact", "WFQ, exact"),
    ),
    Silent(
        "wfq.position",
        "on the 1 Gb/s port, before the limit to 100 Mb/s",
        "the paper limits 1 Gb/s interfaces to 100 Mb/s, and fair-queue is a command of the "
        "interface; class-based policies go inside a shaper and see the backlog",
        (
            Point("on the line, 1000 packets", {}),
            Point("on the line, 64 packets in all", {}),
        ),
        places=("WFQ", "WFQ, exact"),
    ),
    Silent(
        "class.limit",
        "64 packets in each class",
        "the default of IOS",
        tuple(Point(f"{n} packets", class_limit(n)) for n in (8, 32, 128)),
        places=CLASS_BASED,
    ),
    Silent(
        "llq.rate",
        "15 % of the line, labels counted",
        "the share that the paper plans for voice, of bytes on the line",
        (Point("16 %, video 34 %", llq_share(16)),),
        places=LLQS,
    ),
    Silent(
        "llq.burst",
        "200 ms at the class's rate",
        "the default of IOS",
        (
            Point("1500 B", in_classes(LLQS, ("VOICE",), {"priority.burst": "1500 B"})),
            Point("4500 B", in_classes(LLQS, ("VOICE",), {"priority.burst": "4500 B"})),
        ),
        places=LLQS,
    ),
    Silent(
        "wred.weight",
        "exponential weighting constant 9",
        "the default of IOS",
        tuple(Point(f"{n}", _wred({"aqm.exponential_weighting_constant": n})) for n in (4, 12)),
        places=_WRED,
    ),
    Silent(
        "wred.denominator",
        "10",
        "the default of IOS; the paper gives thresholds only",
        tuple(Point(f"{n}", _denominators(n)) for n in (1, 100)),
        places=_WRED,
    ),
    Silent(
        "wred.profiles",
        "the same for y = 1, 2, 3",
        "the paper gives one minimum for AF2x and one for AF3x",
        (Point("minimum 4 lower for y = 2, 8 for y = 3", _profiles("CBWFQ-LLQ-WRED", _LOWER)),),
        places=_WRED,
    ),
    Silent(
        "mpls.labels",
        "two on the line, CE2 and CE1 being the edges of the VPN",
        "the paper adds a VPN to the same two routers; two labels are what a line inside a "
        "provider's network carries",
        (Point("one (penultimate-hop popping)", {"topology.mpls.php": True}),),
        places=TUNNELS,
    ),
    Silent(
        "mpls.exp",
        "the upper three bits of the DSCP",
        "what IOS does unless told otherwise; classes keep apart, drop precedences do not",
        (
            Point(
                "AF2x marked as AF3x",
                {"topology.mpls.imposition": {"af21": 3, "af22": 3, "af23": 3}},
            ),
        ),
        places=TUNNELS,
    ),
    Silent(
        "scheduler",
        "self-clocked fair queueing between the classes",
        "IOS does not publish its own; this gives the documented shares",
        note="not varied: there is one scheduler of classes",
    ),
)
"""The ledger."""

WFQ_FORMS: dict[str, dict[str, object]] = {
    "on the line, 1000 packets": at_line("WFQ"),
    "on the line, 64 packets in all": at_line("WFQ-SHARED"),
}
"""Where else WFQ may stand: the points of `wfq.position`."""
