#!/usr/bin/env python3
"""Compare Spillgate with recorded runs of a Linux kernel (bench/linux/README.md), cell by cell.

    python3 bench/linux.py [--runs N] [--only WORD ...] [--recorded FILE]

The path is bench/cases/linux.yaml, the queue that which `tc` was told. What the kernel sampled is sampled here: the queue each
millisecond from 5 s to 30 s, everything else over 30 s. Ours are N runs with other random numbers, the kernel's is one, so that it
should lie within t sqrt(1 + 1/N) deviations of our mean, 95 times of 100.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linux_cells import RECORDED, Queue, Recorded, queues, read
from scipy import stats

import spillgate

SCENARIO = Path(__file__).resolve().parent / "cases" / "linux.yaml"
RUNS = 10
FROM = 5
"""Seconds after which the queue is sampled."""
QUEUES = {"class-based": "bottleneck/class-default", "cake": "bottleneck/best-effort"}
"""What is measured by the kind of the port's queue."""
KERNEL = (0.012, 0.034)
"""How far runs of the kernel itself lie from their middle, as a share: of what is measured, and of
what is counted (RED with other seeds: 13.0 to 13.3 packets, 870 to 931 drops)."""


@dataclass(frozen=True)
class What:
    """A value that is compared."""

    words: str
    unit: str
    digits: int
    whole: bool = False
    """A percentile of whole packets, which may be the next one."""
    counted: bool = False


WHAT = {
    "queue": What("mean queue", "packets", 2),
    "p50": What("median", "packets", 0, whole=True),
    "p95": What("95th percentile", "packets", 0, whole=True),
    "p99": What("99th percentile", "packets", 0, whole=True),
    "backlog": What("backlog", "kB", 1),
    "signals": What("drops and marks", "", 0, counted=True),
    "again": What("retransmits", "", 0, counted=True),
    "goodput": What("goodput", "Mb/s", 2),
    "jain": What("Jain's index", "", 3),
    "rtt": What("mean RTT", "ms", 1),
}

Values = Mapping[str, Sequence[float]]


def quantile(values: Sequence[float], share: float) -> float:
    """The smallest value that is not below a share of them."""
    return sorted(values)[max(math.ceil(share * len(values)) - 1, 0)]


def settings(cell: Recorded, queue: Queue) -> dict[str, Any]:
    """What a cell replaces in the scenario."""
    return {
        "policies.BOTTLENECK": queue,
        "traffic.0.flow.count": cell.flows,
        "traffic.0.flow.tcp": {
            "profile": "linux",
            "cc": "newreno" if cell.cc == "reno" else cell.cc,
            **({"ecn": "classic"} if cell.ecn else {}),
        },
    }


def queue_values(packets: Sequence[float]) -> dict[str, float]:
    """Mean and percentiles of what was sampled."""
    shares = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
    return {"queue": statistics.fmean(packets)} | {
        k: quantile(packets, s) for k, s in shares.items()
    }


def ours(cell: Recorded, queue: Queue, runs: int) -> Values:
    """What Spillgate says of each run."""
    [kind] = queue
    scopes = {"queue": QUEUES[kind], "total": "all"}
    results = spillgate.run(SCENARIO, runs=runs, set=settings(cell, queue), series="all")

    def of(scope: str, metric: str) -> list[float]:
        [samples] = results.samples(scope=scope, name=scopes[scope], metric=metric)
        return [v or 0.0 for v in samples.values]

    def sampled(metric: str, run: int) -> list[float]:
        [found] = results.series(where=QUEUES[kind], metric=metric, run=run)
        return [v for t, v in zip(found.t, found.v, strict=True) if t >= FROM]

    values: dict[str, list[float]] = {key: [] for key in WHAT}
    for run in range(runs):
        for key, value in queue_values(sampled("backlog_packets", run)).items():
            values[key].append(value)
        values["backlog"].append(statistics.fmean(sampled("backlog_bytes", run)) / 1e3)
        # iperf3 asks each socket once a second.
        rtts = [list(s.v)[999::1000] for s in results.series(metric="srtt", run=run)]
        values["rtt"].append(1e3 * statistics.fmean(x for rtt in rtts for x in rtt))
    lost, marked = of("queue", "packets_lost"), of("queue", "marks_ce")
    values["signals"] = [a + b for a, b in zip(lost, marked, strict=True)]
    values["again"] = of("total", "retransmits")
    values["goodput"] = [x / 1e6 for x in of("total", "goodput")]
    values["jain"] = of("total", "jain")
    return values


@dataclass(frozen=True)
class Row:
    """One value of a cell."""

    cell: Recorded
    queue: str
    """What tells our queue from others that are compared with the cell, if anything does."""
    key: str
    ours: Sequence[float]

    @property
    def recorded(self) -> float:
        """The kernel's."""
        return self.cell.values[self.key]

    @property
    def mean(self) -> float:
        """Ours."""
        return statistics.fmean(self.ours)

    @property
    def scatter(self) -> float:
        """How far a single run may lie from our mean, 95 times of 100."""
        n = len(self.ours)
        t = float(stats.t.ppf(0.975, n - 1))
        return t * math.sqrt(1 + 1 / n) * statistics.stdev(self.ours)

    @property
    def off(self) -> float:
        """Our mean's deviation in percent of the recorded value."""
        return 100 * (self.mean / self.recorded - 1) if self.recorded else 0.0

    @property
    def agrees(self) -> bool:
        """Whether the recorded run may be one of ours, or one of the kernel's with our mean."""
        share = KERNEL[WHAT[self.key].counted]
        theirs = max(share * self.recorded, 1 if WHAT[self.key].whole else 0)
        return abs(self.mean - self.recorded) <= max(self.scatter, theirs)


def rows(cells: Sequence[Recorded], runs: int) -> Iterator[Row]:
    """Every value of these cells, without those of queues that Spillgate does not have."""
    for cell in cells:
        for name, queue in queues(cell).items():
            for key, values in ours(cell, queue, runs).items():
                yield Row(cell, name, key, values)


def shown(row: Row) -> str:
    """A value of both."""
    if not row.recorded and not row.mean:
        return ""
    digits = WHAT[row.key].digits
    text = f"{row.recorded:.{digits}f} / {row.mean:.{digits}f}"
    deviation = statistics.stdev(row.ours)
    if round(deviation, digits):
        text += f" ±{deviation:.{digits}f}"
    return text if row.agrees else f"**{text}, {row.off:+.0f} %**"


def table(found: Sequence[Row], cells: Sequence[Recorded]) -> str:
    """As Markdown: a line for each cell, those too that nothing is compared of."""
    head = [f"{w.words}{f', {w.unit}' if w.unit else ''}" for w in WHAT.values()]
    lines = [f"| cell | {' | '.join(head)} |", f"| --- |{' ---: |' * len(head)}"]
    for cell in cells:
        for queue in queues(cell) or [""]:
            values = {r.key: shown(r) for r in found if (r.cell, r.queue) == (cell, queue)}
            name = f"{cell.name}, {queue}" if queue else cell.name
            lines.append(f"| {name} | {' | '.join(values.get(k, '') for k in WHAT)} |")
    return "\n".join(lines) + "\n"


def main() -> int:
    """Runs the cells and prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each cell, 2 at least")
    parser.add_argument("--only", nargs="+", default=[""], help="cells with one of these words")
    parser.add_argument("--recorded", type=Path, default=RECORDED, help="a file of recorded runs")
    args = parser.parse_args()
    if args.runs < 2:
        parser.error("--runs must be at least 2")
    every = list(read(args.recorded))
    cells = [c for c in every if any(word in c.name for word in args.only)]
    if not cells:
        parser.error(f"no cell has such a word; there are: {'; '.join(c.name for c in every)}")
    print(table(list(rows(cells, args.runs)), cells), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
