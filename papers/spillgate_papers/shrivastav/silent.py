"""What the paper leaves silent: our choice, its reason, and other choices to run."""

from __future__ import annotations

from spillgate_papers.model import Point, Silent
from spillgate_papers.shrivastav.system import (
    BUFFER,
    MODIFIED,
    PARALLEL,
    RED,
    SCHEMES,
    SIZES,
    SWITCH,
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

SILENT = (
    Silent(
        "packet.size",
        "1000 B, all of it the IP packet",
        "ns-2's usual size",
        (_tcp("500 B", packet=500), _tcp("1500 B", packet=1500)),
    ),
    Silent(
        "tcp.cc",
        "NewReno",
        "what ns-2's studies of AQM mostly use; the paper says TCP only",
        (_tcp("Reno", cc="reno"), _tcp("Tahoe", cc="tahoe")),
    ),
    Silent(
        "tcp.window",
        "20 packets",
        "ns-2's default",
        (_tcp("100 packets", window=100),),
    ),
    Silent(
        "link.delay",
        "10 ms on each link",
        "a metropolitan distance; the paper gives none",
        (_delay("2 ms"), _delay("50 ms")),
    ),
    Silent(
        "host.link",
        "the input's link of 1 Mb/s is that of the source, whose sessions share it",
        "the paper sets the input link to 1 Mb/s and has many sessions at each source node",
        (
            Point(
                "sources on 100 Mb/s",
                {
                    "topology.links.in.rate": "100 Mb/s",
                    "policies.HOST.fifo.limit": "1000 packets",
                },
            ),
        ),
    ),
    Silent(
        "host.limit",
        "50 packets wait at a source at most",
        "ns-2's default; what is lost there is not lost in the switch",
        {"policies.HOST.fifo.limit": ["20 packets", "1000 packets"]},
    ),
    Silent(
        "input.buffer",
        "20 packets in each VOQ",
        "each is a queue of ns-2 with its own limit",
        (
            Point("20 packets in all VOQs of an input", {f"{SWITCH}.buffer.per": "input"}),
            Point(
                "19 packets, also in drop-tail outputs: ns-2 refuses what would make it 20",
                {
                    f"{SWITCH}.buffer.limit": f"{BUFFER - 1} packets",
                    "policies.TAIL.fifo.limit": f"{BUFFER - 1} packets",
                },
            ),
        ),
    ),
    Silent(
        "red.gentle",
        "gentle: the drop probability rises to 1 between max_th and twice that",
        "ns-2's default at the time; the figure of the probability ends at max_th",
        (_red("not gentle", {**NS2, "gentle": False}),),
        places=WITH_RED,
    ),
    Silent(
        "red.variant",
        "as ns-2's code, thresholds in packets",
        "the paper was simulated in ns, whose packet size, window, gentle mode and limits are "
        "chosen here, too; corrected after the first runs, which had the spacing of 1993",
        (_red(SPACING_OF_1993, {}),),
        places=WITH_RED,
    ),
    Silent(
        "sessions.number",
        "Poisson arrivals at each pair of ports, as many as the paper in the mean",
        "sessions with random ends and random times are that, but for the total, which then "
        "varies by its square root",
        note="not varied: of 800 sessions the total varies by 3.5 %",
    ),
    Silent(
        "measured.period",
        "all of the 100 s, beginning with an empty switch",
        "the paper speaks of a duration of 100 s",
        note="not varied: the first lifetimes are a tenth of it in the 4 x 4 switch, a third in "
        "the 16 x 16 switch",
    ),
    Silent(
        "tcp.acks",
        "one for each packet, on a way back that does not cross the switch",
        "ns-2's default; acknowledgments of 40 B are 4 % of the data",
        note="not varied",
    ),
    Silent(
        "input.queue",
        "packets over all VOQs of an input, on average over time and inputs",
        "the paper speaks of the input queue, not of VOQs",
        note="not varied: that of a VOQ is a quarter or a sixteenth, shown beside it",
    ),
    Silent(
        "speedups",
        "five from 1.1 to 2.5, and from 1.1 to 2.7",
        "the paper gives the ends",
        note="not varied",
    ),
    Silent(
        "crossbar",
        "carries whole packets; iSLIP, log2 n iterations",
        "the paper's fabric approximates round robin",
        note="other matchings: see the table of matchings",
    ),
)
"""The ledger."""
