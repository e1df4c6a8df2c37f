"""What the paper leaves silent: our choice, its reason, and other choices to run."""

from __future__ import annotations

from spillgate_papers.chien.system import (
    ADAPTIVE,
    BOTH,
    CHANCES,
    CONDITIONED,
    LOW,
    OFF,
    TCP,
    THRESHOLDS,
    absent,
    chance,
    fixed,
    red,
)
from spillgate_papers.grid import Settings
from spillgate_papers.model import Point, Silent

SILENCES = tuple(absent(s, off) for off in (OFF[1], OFF[-1]) for s in BOTH)
ALONE = tuple(red(n, CHANCES[0]) for n in (THRESHOLDS[0], THRESHOLDS[-1]))
LEDGER = (*BOTH, *SILENCES, *ALONE)
"""Points at which silent choices are varied."""
ADAPTED = (ADAPTIVE, *(p for p in SILENCES if ADAPTIVE in p))

_RIO, _ADAPTIVE = "policies.RIO.fifo.aqm.rio", "policies.A-RIO.fifo.aqm.adaptive-rio"
_CORE = "topology.links.core"


def _both(key: str, value: object) -> Settings:
    """A value of both schemes."""
    return {f"{p}.{key}": value for p in (_RIO, _ADAPTIVE)}


def _buffer(packets: int) -> Settings:
    return {f"policies.{s}.fifo.limit": f"{packets} packets" for s in BOTH}


def _line(key: str, label: str, buffer: int) -> Point:
    """Another rate or delay of the bottleneck, with a buffer of twice its product with the RTT."""
    return Point(
        f"{label} (buffer {buffer} packets)", {f"{_CORE}.{key}": label, **_buffer(buffer)}
    )


def _access(key: str, label: str) -> Point:
    links = ("access", "assured-access", "edge", "exit")
    return Point(label, {f"topology.links.{x}.{key}": label for x in links})


def _tcp(label: str, **values: object) -> tuple[Point, ...]:
    """Another TCP: of all connections of figure 4, and of best effort in the other figures."""

    def of(*flows: str) -> Settings:
        return {f"traffic.{f}.tcp.{k}": v for f in flows for k, v in values.items()}

    flows = ("best-effort", "assured-1", "assured-2")
    others = Point(f"{label}, figures 2, 6, 7", of("best-effort"), (*SILENCES, *ALONE))
    return (Point(f"{label}, figure 4", of(*flows), BOTH), others)


SILENT = (
    Silent(
        "core.rate",
        "10 Mb/s",
        "leaves best effort more than the 4 Mb/s of the assured flow",
        (_line("rate", "5 Mb/s", 63), _line("rate", "20 Mb/s", 250)),
    ),
    Silent(
        "core.delay",
        "10 ms, a round trip of 50 ms",
        "figure 1 has no readable delays; usual for ns-2 topologies of the time",
        (_line("delay", "2 ms", 85), _line("delay", "40 ms", 275)),
    ),
    Silent(
        "access",
        "100 Mb/s and 5 ms on every other link",
        "the core is the bottleneck",
        (
            _access("rate", "20 Mb/s"),
            _access("delay", "1 ms"),
            Point(
                "1, 5, 10 and 20 ms for the senders of best effort",
                {"topology.links.access.delay": ["1 ms", "5 ms", "10 ms", "20 ms"]},
            ),
        ),
    ),
    Silent(
        "core.buffer",
        "125 packets",
        "twice the bandwidth-delay product",
        (Point("250 packets", _buffer(250)),),
    ),
    Silent(
        "core.thresholds",
        f"in 40 and 70 packets, out at most {LOW} (RIO and max_L) and 70 (max_U)",
        "those of RIO's authors; max_U is max_th of packets in, which out must not exceed",
        (
            Point("max_L and RIO at 15", {**fixed(15), f"{_ADAPTIVE}.max_th_low": 15}, LEDGER[:6]),
            Point(
                "in 60 and 105, max_U 105",
                {
                    **_both("in", {"min_th": 60, "max_th": 105, "max_p": 0.02}),
                    f"{_ADAPTIVE}.max_th_high": 105,
                },
                LEDGER[:6],
            ),
        ),
    ),
    Silent(
        "core.max_p",
        "0.1 for packets out",
        "the usual value of RED; above that of packets in",
        tuple(Point(p, chance(p)) for p in CHANCES[1:]),
    ),
    Silent(
        "core.weight",
        "0.002",
        "that of RED's authors",
        (Point("0.0005", _both("weight", 0.0005)), Point("0.01", _both("weight", 0.01))),
    ),
    Silent(
        "core.absence",
        "5 s without a packet in profile: the assured flow is absent",
        "one window of the arrival rate",
        {f"{_ADAPTIVE}.absence": ["1 s", "10 s"]},
        places=ADAPTED,
    ),
    Silent(
        "edge.bucket",
        "50 ms at 4 Mb/s, 25 packets",
        "this is stated; a TCP connection gets its rate only with enough of it",
        {f"{CONDITIONED}.burst": ["500 ms"]},
        places=LEDGER[:6],
    ),
    Silent(
        "tcp.recovery",
        "Reno without delayed acknowledgments, as in ns-2",
        "Reno is stated for figure 2",
        (*_tcp("NewReno", cc="newreno"), *_tcp("SACK", cc="newreno", sack=True)),
    ),
    Silent(
        "tcp.window",
        "not limited",
        "20 packets, ns-2's default, are too few for 4 Mb/s with a queue",
        _tcp("20 packets", max_window="19200 B"),
    ),
    Silent(
        "packet",
        "1000 B with headers",
        "ns-2's usual size",
        (
            *(
                Point(p.label, {**p.set, **_both("mean_packet", "500 B")}, p.places)
                for p in _tcp("500 B", mss="460 B")
            ),
        ),
    ),
    Silent(
        "on-off.transport",
        "none: the source sends at its rate",
        "4 Mb/s are its rate while it is on",
        (Point("over a TCP connection", {"traffic.assured.tcp": TCP}),),
        places=SILENCES,
    ),
    Silent(
        "start",
        "best effort within the first second; C' and max_th at their lower ends",
        "the paper begins its figures at 0 s",
        note="not varied: 400 s are measured",
    ),
)
"""The ledger."""
