"""The paper's system: what is run of it, and what is taken of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from spillgate.result import Results
from spillgate_papers.grid import Batch, Effort, Grid, Settings
from spillgate_papers.measured import Own, PerRun
from spillgate_papers.terms import Term, own, value
from spillgate_papers.texts import Texts

SYSTEM = Path(__file__).parent / "system"
TEXTS = Texts.read(Path(__file__).with_name("paper.md"))

LINE = 48.384e6
"""b/s of cells on the OC-1 line."""
CELL, PAYLOAD, TRAILER, LLC = 53, 48, 8, 8
"""Bytes of AAL5."""
MTU, SMALL = 9180, 1500
"""Bytes: the MTU of IP over ATM (RFC 2225), and that of Ethernet."""
BUFFER = 200
"""Packets that the edge holds."""

DSRED, RED, SINGLE, GENTLE = "DSRED", "RED", "RED, no count", "gentle RED"
ADAPTIVE, NONLINEAR = "A-RED", "NLRED"
_RED = "policies.RED.fifo.aqm.red"
_DSRED = "policies.DSRED.fifo.aqm.dsred"
_POLICY = "topology.links.vc.policy"
_TCP = "traffic.0.flow.tcp"

SCHEMES: Mapping[str, Settings] = {
    DSRED: {},
    RED: {_POLICY: "RED"},
    SINGLE: {_POLICY: "RED", f"{_RED}.spread": "none"},
    GENTLE: {_POLICY: "RED", f"{_RED}.gentle": True},
    ADAPTIVE: {_POLICY: "A-RED"},
    NONLINEAR: {_POLICY: "RED", f"{_RED}.curve": "quadratic"},
}
"""DSRED, the paper's RED, and others that it might have been or is compared with."""
BOTH = (DSRED, RED)
RIVALS = (RED, SINGLE, GENTLE)
"""Which RED the rival is."""

_CONTRACT = "topology.links.vc.atm.contract"


def vbr(share: float) -> Settings:
    """A circuit whose sustainable rate is a share of the line."""
    rates = {"pcr": f"{LINE:.0f} b/s", "scr": f"{share * LINE:.0f} b/s", "mbs": 200}
    return {_CONTRACT: {"nrt-vbr": rates}}


NRT, UBR, PLAIN = "nrt-VBR", "UBR", "no ATM"
CONTRACTS: Mapping[str, Settings] = {NRT: vbr(0.5), UBR: {}}
_IP: Settings = {
    f"topology.links.{name}": {
        "from": ends[0],
        "to": ends[1],
        "rate": f"{LINE:.0f} b/s",
        "delay": "5 ms",
        **extra,
    }
    for name, ends, extra in (
        ("vc", ("edge", "dest"), {"policy": "DSRED"}),
        ("back", ("dest", "edge"), {}),
    )
}
"""The line without cells: the homogeneous network of the companion paper."""
SHARES = (0.25, 0.5, 0.75, 1.0)
"""SCR over the rate of the line."""

SIZES: Mapping[str, Settings] = {
    f"MTU {MTU}": {},
    f"MTU {SMALL}": {
        f"{_TCP}.mss": f"{SMALL - 40} B",
        f"{_RED}.mean_packet": f"{SMALL} B",
        f"{_DSRED}.mean_packet": f"{SMALL} B",
    },
}
CLOCKS: Mapping[str, Settings] = {
    "clock 100 ms": {},
    "clock 0.1 ms": {f"{_TCP}.rto_granularity": "0.1 ms", f"{_TCP}.min_rto": "0.2 ms"},
}
"""The granularity of the retransmission clock; no timeout is shorter than two ticks."""

SLOW: Settings = {f"{_RED}.weight": 0.002, f"{_DSRED}.weight": 0.002}
LOOSE: Settings = {**SLOW, f"{_RED}.max_p": 0.02, f"{_RED}.spread": "none"}
STILL: Settings = {f"{_RED}.idle": "none", f"{_DSRED}.idle": "none"}
AUTHORS, IDLE, LOCKED, LOOSEST = (
    "weight 0.002",
    "no decay while idle",
    "no decay while idle, RED with weight 0.002",
    "RED with weight 0.002, max_p 0.02 and no count",
)
SETTINGS: Mapping[str, Settings] = {
    AUTHORS: SLOW,
    IDLE: STILL,
    LOCKED: {**STILL, f"{_RED}.weight": 0.002},
    LOOSEST: LOOSE,
}
"""What the rival may have been: the weight of RED's authors, in both or in RED alone; averages as
in equation (1), which change at arrivals only; and the max_p of RED's authors, too."""

STATED = {DSRED: (0.98, 0.30, 100, 0.8), RED: (0.66, 0.55, 118, 3.0)}
"""The paper's Table 1: NTP, AQD in s, PQS in packets, APD in packets/s."""
SLOWER = 15
"""By how many times a circuit is slower than OC-1 that carries what DSRED's NTP and APD mean."""
FIFTEENTH, AS_STATED = "a fifteenth of OC-1", "as stated"


def sent(scheme: str) -> float:
    """Packets that the servers send in a second, if all that is not received was dropped.

    Example:
        >>> round(sent(DSRED)), round(sent(RED))
        (40, 9)
    """
    received, _, _, dropped = STATED[scheme]
    return dropped / (1.0 - received)


def circuit(scheme: str, setting: str = AS_STATED) -> str:
    """A point of the slow circuit."""
    return f"{FIFTEENTH}, {scheme}, {setting}"


STARTUP = 10.0
"""Seconds that are sampled closely, for what happens at the start."""
EARLY = 3.0
"""Seconds after the last start by which the first congestion is over."""


def place(contract: str, scheme: str, *more: str) -> str:
    """The name of a point."""
    return ", ".join((contract, scheme, *more))


def _batches() -> tuple[Batch, ...]:
    whole = Effort(0.0, 300.0, quick=(0.0, 20.0))
    rivals = {s: SCHEMES[s] for s in (DSRED, *RIVALS)}
    both = {s: SCHEMES[s] for s in BOTH}
    cause: dict[str, Settings] = dict(SETTINGS)
    other = Grid(contract=CONTRACTS, scheme=rivals, mtu=SIZES, clock=CLOCKS)
    usual = (next(iter(SIZES)), next(iter(CLOCKS)))
    return (
        Batch("Table 1", Grid(contract=CONTRACTS, scheme=SCHEMES), whole, whole, keep=True),
        Batch(
            "Packets and clocks",
            other.only(lambda _, __, mtu, clock: (mtu, clock) != usual),
            whole,
            note="Without the sizes and clock of Table 1.",
        ),
        Batch("The rival", Grid(contract=CONTRACTS, scheme=both, cause=cause), whole),
        Batch(
            "SCR",
            Grid(share={f"SCR {s:g}": vbr(s) for s in SHARES}, scheme=both),
            whole,
        ),
        Batch(
            "A slow circuit",
            Grid(
                circuit={FIFTEENTH: {_CONTRACT: {"ubr": {"pcr": f"{LINE / SLOWER:.0f} b/s"}}}},
                scheme=both,
                setting={AS_STATED: {}, LOOSEST: LOOSE},
            ),
            whole,
        ),
        Batch("A plain link", Grid(line={PLAIN: _IP}, scheme=rivals), whole),
        Batch(
            "The start",
            Grid(
                start={"start": {"measurement.interval": "5 ms"}},
                contract=CONTRACTS,
                scheme=both,
            ),
            Effort(0.0, STARTUP),
            keep=True,
        ),
    )


BATCHES = _batches()
"""What is run."""


def early(contract: str, scheme: str) -> str:
    """A point of which the start is sampled closely."""
    return f"start, {place(contract, scheme)}"


def _queue(metric: str, at: str) -> Term:
    return value(metric, at, "vc/fifo", "queue")


def received(at: str) -> Term:
    """Normalized throughput: packets received over packets sent."""
    return value("packets_received", at, "ftp") / value("packets_sent", at, "ftp")


def waiting(at: str) -> Term:
    """Mean queueing delay at the edge."""
    return _queue("sojourn_mean", at)


def peak(at: str) -> Term:
    """Peak queue at the edge, in packets."""
    return _queue("backlog_packets_max", at)


def mean_queue(at: str) -> Term:
    """Mean queue at the edge over time, in packets."""
    return _queue("backlog_packets_mean", at)


def drops(at: str) -> Term:
    """Packets that the edge drops in a second."""
    return own("drops", at)


CRITERIA = {"NTP": received, "AQD": waiting, "PQS": peak, "APD": drops}
"""The rows of the paper's Table 1."""


def taken(results: Results) -> Mapping[str, Own]:
    """Drops per second, and what the series of the queue show, by variant."""
    seconds = results.description.duration
    found: dict[str, dict[str, PerRun]] = {}
    for sample in results.samples(scope="queue", metric="packets_lost", name="vc/fifo"):
        lost = tuple((v or 0.0) / seconds for v in sample.values)
        found[sample.variant] = {"drops": PerRun(lost, "packets/s")}
    if seconds > STARTUP:
        return found
    peaks: dict[str, dict[str, list[float]]] = {}
    last = 1.0 + EARLY
    for variant in found:
        of = peaks[variant] = {}
        queues, averages, dropped = (
            results.series(where="vc/fifo", metric=metric, variant=variant)
            for metric in ("backlog_packets", "backlog_average", "drops_per_second")
        )
        for queue, average, drop in zip(queues, averages, dropped, strict=True):
            packets = list(zip(queue.t, queue.v, strict=True))
            rates = list(zip(drop.t, drop.v, strict=True))
            step = queue.t[1] - queue.t[0]
            for key, x in {
                "first peak": max(v for t, v in packets if t <= last),
                "later peak": max(v for t, v in packets if t > last),
                "drops at first": _sum(rates, 0.0, last) / last,
                "drops later": _sum(rates, last, math.inf) / (seconds - last),
                "lag": step * lag(queue.v, average.v),
            }.items():
                of.setdefault(key, []).append(x)
        units = {"lag": "s", "drops": "packets/s"}
        found[variant] |= {
            key: PerRun(tuple(v), units.get(key.split()[0], "packets")) for key, v in of.items()
        }
    return found


def lag(before: Sequence[float], after: Sequence[float], most: int = 50) -> int:
    """By how many samples a curve follows another: where their correlation is largest.

    Example:
        >>> lag([0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0], 3)
        2
    """
    n = len(before)
    a, b = ([x - math.fsum(v) / n for x in v] for v in (before, after))

    def together(k: int) -> float:
        return math.fsum(a[i] * b[i + k] for i in range(max(0, -k), min(n, n - k)))

    return max(range(-most, most + 1), key=together)


def _sum(values: Sequence[tuple[float, float]], begin: float, end: float) -> float:
    """The integral of a rate between two times."""
    steps = (
        (b[0] - a[0]) * b[1] for a, b in pairwise([(0.0, 0.0), *values]) if begin < b[0] <= end
    )
    return math.fsum(steps)


def cells(size: int) -> int:
    """Cells of a packet (RFC 2684 with LLC, ITU-T I.363.5)."""
    return -(-(size + LLC + TRAILER) // PAYLOAD)


def per_second(size: int, share: float = 1.0) -> float:
    """Packets of a size that a share of the line carries in a second."""
    return share * LINE / (8 * CELL * cells(size))
