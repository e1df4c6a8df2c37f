"""What the paper leaves silent: our choice, its reason, and other choices to run."""

from __future__ import annotations

from spillgate_papers.chien.system import (
    ADAPTIVE,
    BOTH,
    CHANCES,
    CONDITIONED,
    OFF,
    TCP,
    TEXTS,
    THRESHOLDS,
    absent,
    chance,
    fixed,
    red,
)
from spillgate_papers.grid import Settings
from spillgate_papers.model import Point

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


SILENT = TEXTS.silent(
    {
        "core.rate": (_line("rate", "5 Mb/s", 63), _line("rate", "20 Mb/s", 250)),
        "core.delay": (_line("delay", "2 ms", 85), _line("delay", "40 ms", 275)),
        "access": (
            _access("rate", "20 Mb/s"),
            _access("delay", "1 ms"),
            Point(
                "1, 5, 10 and 20 ms for the senders of best effort",
                {"topology.links.access.delay": ["1 ms", "5 ms", "10 ms", "20 ms"]},
            ),
        ),
        "core.buffer": (Point("250 packets", _buffer(250)),),
        "core.thresholds": (
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
        "core.max_p": tuple(Point(p, chance(p)) for p in CHANCES[1:]),
        "core.weight": (
            Point("0.0005", _both("weight", 0.0005)),
            Point("0.01", _both("weight", 0.01)),
        ),
        "core.absence": {f"{_ADAPTIVE}.absence": ["1 s", "10 s"]},
        "edge.bucket": {f"{CONDITIONED}.burst": ["500 ms"]},
        "tcp.recovery": (*_tcp("NewReno", cc="newreno"), *_tcp("SACK", cc="newreno", sack=True)),
        "tcp.window": _tcp("20 packets", max_window="19200 B"),
        "packet": (
            *(
                Point(p.label, {**p.set, **_both("mean_packet", "500 B")}, p.places)
                for p in _tcp("500 B", mss="460 B")
            ),
        ),
        "on-off.transport": (Point("over a TCP connection", {"traffic.assured.tcp": TCP}),),
    },
    {
        "core.absence": ADAPTED,
        "edge.bucket": LEDGER[:6],
        "on-off.transport": SILENCES,
    },
)
"""The ledger."""
