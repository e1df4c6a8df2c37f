"""What the paper takes of runs beside their metrics, and what its numbers mean together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

from spillgate.result import Results
from spillgate_papers.measured import Own, PerRun, View
from spillgate_papers.model import Quantity, Table
from spillgate_papers.show import binned

LINE = 48.384e6
"""b/s of cells on the OC-1 line."""
CELL, PAYLOAD, TRAILER, LLC = 53, 48, 8, 8
"""Bytes of AAL5."""
MTU, SMALL = 9180, 1500
"""Bytes: the MTU of IP over ATM (RFC 2225), and that of Ethernet."""
STATED = {"DSRED": (0.98, 0.30, 100, 0.8), "RED": (0.66, 0.55, 118, 3.0)}
"""The paper's Table 1: NTP, AQD in s, PQS in packets, APD in packets/s."""
SLOWER = 15
"""By how many times a circuit is slower than OC-1 that carries what DSRED's NTP and APD mean."""
STARTUP = 10.0
"""Seconds that are sampled closely, for what happens at the start."""
EARLY = 3.0
"""Seconds after the last start by which the first congestion is over."""
BINS = 60
"""Stretches over which rates are averaged in the figures of throughput."""


def taken(results: Results) -> Mapping[str, Own]:
    """Drops per second, and what the series of the queue show, by variant."""
    seconds = results.description.duration
    found: dict[str, dict[str, PerRun]] = {}
    for sample in results.samples(scope="queue", metric="packets_lost"):
        if sample.name.startswith("vc/"):
            lost = PerRun(tuple((v or 0.0) / seconds for v in sample.values), "packets/s")
            before = found.get(sample.variant)
            found[sample.variant] = {"drops": before["drops"] + lost if before else lost}
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


def normalized(view: View, point: str) -> list[tuple[float, float]]:
    """The rate that arrives over the one that the servers send, in the first run."""

    def means(where: str, metric: str) -> list[tuple[float, float]]:
        points = view.series(point, where, metric)
        return binned(points, -(-len(points) // BINS))

    links = [means(f"link access-{i}", "carried") for i in range(4)]
    sums = [sum(v for _, v in parts) for parts in zip(*links, strict=True)]
    got = means("class ftp", "throughput")
    return [(t, g / s) for (t, g), s in zip(got, sums, strict=True) if s > 0.0]


def averaged(view: View, point: str) -> list[tuple[float, float]]:
    """The time average of the drops so far, in the first run."""
    rates = view.series(point, "vc/fifo", "drops_per_second")
    sums = accumulate(v for _, v in rates)
    return [(t, s / n) for n, ((t, _), s) in enumerate(zip(rates, sums, strict=True), 1)]


def cells(size: int) -> int:
    """Cells of a packet (RFC 2684 with LLC, ITU-T I.363.5)."""
    return -(-(size + LLC + TRAILER) // PAYLOAD)


def per_second(size: int, share: float = 1.0) -> float:
    """Packets of a size that a share of the line carries in a second."""
    return share * LINE / (8 * CELL * cells(size))


def sent(scheme: str) -> float:
    """Packets that the servers send in a second, if all that is not received was dropped.

    Example:
        >>> round(sent("DSRED")), round(sent("RED"))
        (40, 9)
    """
    received, _, _, dropped = STATED[scheme]
    return dropped / (1.0 - received)


def arithmetic() -> Table:
    """What the paper's numbers would mean together."""

    def exactly(x: float, unit: str) -> Quantity:
        return Quantity(x, None, None, unit, 1)

    rows = []
    for size, share, line in (
        (MTU, 1.0, "whole line"),
        (MTU, 0.5, "half of it"),
        (SMALL, 1.0, "whole line"),
    ):
        rate = per_second(size, share)
        for scheme, (_, delay, longest, _) in STATED.items():
            rows.append(
                (
                    f"{size} B, {line}",
                    scheme,
                    exactly(rate, "packets/s"),
                    exactly(sent(scheme), "packets/s"),
                    exactly(longest / rate, "s"),
                    exactly(delay, "s"),
                    exactly(delay * rate, "packets"),
                )
            )
    return Table(
        "arithmetic",
        "The paper's numbers, taken together",
        (
            "packets, circuit",
            "scheme",
            "the line carries",
            "sent, by NTP and APD",
            "longest wait behind PQS",
            "AQD",
            "mean queue by Little's law",
        ),
        tuple(rows),
        f"A packet of {MTU} B takes {cells(MTU)} cells, one of {SMALL} B {cells(SMALL)}; the line "
        f"has {LINE / (8 * 53):,.0f} cells/s. Sent is APD / (1 - NTP), if every packet that is "
        "not received was dropped. A mean delay cannot exceed the "
        "longest wait, nor a mean queue the peak.",
    )


CELLS = {
    "dsred sent": f"{sent('DSRED'):.0f}",
    "red sent": f"{sent('RED'):.0f}",
    "carries": f"{per_second(MTU):.0f}",
    "longest": f"{STATED['RED'][2] / per_second(MTU):.2f}",
    "slow carries": f"{per_second(MTU, 1 / SLOWER):.0f}",
}
"""What sentences say of the paper's numbers."""
