"""What the paper leaves silent: our choice, its reason, and other choices to run."""

from __future__ import annotations

from spillgate_papers.model import Point
from spillgate_papers.shrivastav.system import (
    BUFFER,
    MODIFIED,
    PARALLEL,
    RED,
    SCHEMES,
    SIZES,
    SWITCH,
    TEXTS,
    tcp,
)

DELAY = 0.01
"""Seconds of each link."""
LINKS = ("in", "out", "acks", "home")
AQM = "policies.RED.fifo.aqm"
STATED = {"min_th": 5, "max_th": 15, "weight": 0.004, "max_p": 0.1}
"""The paper's parameters of RED."""
NS2 = {"as": "ns2", "unit": "packets", "size_scaling": "none"}
"""RED as ns-2 has it where it counts packets."""
LEDGER = tuple(
    size.at(x, s, n, PARALLEL) for size in SIZES for x in SCHEMES for s, n in size.points
)
"""Where silent choices are varied: both switches with parallel links."""
WITH_RED = tuple(
    size.at(x, s, n) for size in SIZES for x in (RED, MODIFIED) for s, n in size.points
)


def _tcp(label: str, **of: object) -> Point:
    values = tcp(**of)  # type: ignore[arg-type]
    own = {
        size.at(x, s, n): {f"traffic.{i}.sessions.tcp": values for i in range(size.ports)}
        for size in SIZES
        for x in SCHEMES
        for s, n in size.points
    }
    return Point(label, own=own)


def _red(label: str, values: dict[str, object]) -> Point:
    return Point(label, {AQM: {"red": {**STATED, **values}}})


def _delay(delay: str) -> Point:
    return Point(delay, {f"topology.links.{x}.delay": delay for x in LINKS})


SPACING_OF_1993 = "drops spaced as in 1993"
"""RED's gaps of 1 to 1/p_b - 1 packets, where ns-2's code waits for 1/p_b packets first."""
VARIANT = f"red.variant, {SPACING_OF_1993}"
"""The setting with that."""

SILENT = TEXTS.silent(
    {
        "packet.size": (_tcp("500 B", packet=500), _tcp("1500 B", packet=1500)),
        "tcp.cc": (_tcp("Reno", cc="reno"), _tcp("Tahoe", cc="tahoe")),
        "tcp.window": (_tcp("100 packets", window=100),),
        "link.delay": (_delay("2 ms"), _delay("50 ms")),
        "host.link": (
            Point(
                "sources on 100 Mb/s",
                {
                    "topology.links.in.rate": "100 Mb/s",
                    "policies.HOST.fifo.limit": "1000 packets",
                },
            ),
        ),
        "host.limit": {"policies.HOST.fifo.limit": ["20 packets", "1000 packets"]},
        "input.buffer": (
            Point("20 packets in all VOQs of an input", {f"{SWITCH}.buffer.per": "input"}),
            Point(
                "19 packets, also in drop-tail outputs: ns-2 refuses what would make it 20",
                {
                    f"{SWITCH}.buffer.limit": f"{BUFFER - 1} packets",
                    "policies.TAIL.fifo.limit": f"{BUFFER - 1} packets",
                },
            ),
        ),
        "red.gentle": (_red("not gentle", {**NS2, "gentle": False}),),
        "red.variant": (_red(SPACING_OF_1993, {}),),
    },
    {
        "red.gentle": WITH_RED,
        "red.variant": WITH_RED,
    },
)
"""The ledger."""
