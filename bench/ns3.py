#!/usr/bin/env python3
"""Compare AQMs and fair queues with ns-3 (Debian packages libns3-dev, g++ and pkg-config).

    python3 bench/ns3.py [--runs N] [--only WORD ...]

Poisson flows of packets of 1000 B enter a queue of 10 Mb/s: bench/cases/ns3.yaml, and `--case=poisson` of bench/peers/ns3.cc, alike
but for the random numbers. The table is that of bench/beside.py: means over the runs of both, and the difference with an interval;
all intervals of the table hold together with 95 %.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import peers
from beside import TOGETHER, Row, Values, table

import spillgate

SCENARIO = Path(__file__).resolve().parent / "cases" / "ns3.yaml"
RUNS = 20
SECONDS = 60.0
LINE = 10.0
"""Mb/s."""
FLOWS, HEAVY = 10, 0.5
"""Of the load the first flow sends this share."""
PACKET = 8000
"""Bits."""
WHAT = {
    "carried": ("carried", "Mb/s"),
    "first": ("of the first flow", "Mb/s"),
    "lost": ("lost", "%"),
    "queue": ("mean queue", "packets"),
}
"""What is compared: its words and its unit, by key."""

DELAYS = {"inverse_sqrt": "newton16", "max_packet": "1500 B"}
"""CoDel as ns-3 has it: the root in 16 bits, and nothing is dropped while 1500 B are queued."""
PIE = {"mean_packet": "1000 B", "derandomize": False}
QUEUES: Mapping[str, Mapping[str, Any]] = {
    "codel": {"fifo": {"limit": "1000 packets", "aqm": {"codel": DELAYS}}},
    "pie": {"fifo": {"limit": "1000 packets", "aqm": {"pie": PIE}}},
    "fq-codel": {
        "fq-codel": {"limit": "1000 packets", "quantum": "1500 B", "guard": "flow", **DELAYS}
    },
    "fq-pie": {
        "fq": {
            "limit": "1000 packets",
            "quantum": "1500 B",
            "queues": 1024,
            "aqm": {"pie": PIE},
        }
    },
}
"""Spillgate's words for the queues of ns-3, by their names in bench/peers/ns3.cc."""


@dataclass(frozen=True)
class Case:
    """A queue and a load."""

    queue: str
    load: float
    """Of the line."""
    pie: Mapping[str, Any] = field(default_factory=dict)
    """What differs of PIE here."""
    derandomize: bool = False
    """Whether gaps between PIE's drops are alike in both (RFC 8033 section 5.4)."""


LOADS = (0.95, 1.2)
CASES = {f"{queue}, load {load:g}": Case(queue, load) for queue in QUEUES for load in LOADS}
LAST = "pie, load 1.2, here too the delay of the packet that left last"
CASES[LAST] = Case("pie", 1.2, {"as": "linux", "mean_packet": "1001 B"})
CASES["pie, load 1.2, derandomized"] = Case("pie", 1.2, derandomize=True)


def ns3(case: Case, runs: int, command: peers.Command) -> Values:
    """What ns-3 says of each run."""
    words = (
        *(f"--queue={case.queue}", f"--load={case.load}", f"--flows={FLOWS}", f"--heavy={HEAVY}"),
        f"--derandomize={int(case.derandomize)}",
    )

    def run(seed: int) -> list[float]:
        asked = peers.Run("poisson", SECONDS, watch=True, seed=seed)
        _, did = peers.once([*command(asked), *words])
        rate = PACKET / SECONDS / 1e6
        lost = 100 * did["drops"] / did["arrivals"]
        return [rate * did["delivered"], rate * did["first"], lost, did["mean_queue"]]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(run, range(1, runs + 1)))
    return dict(zip(WHAT, map(list, zip(*found, strict=True)), strict=True))


def ours(case: Case, runs: int) -> Values:
    """What Spillgate says of each run."""
    offered = case.load * LINE
    pie = {**case.pie, **({"derandomize": True} if case.derandomize else {})}
    rest = offered * (1 - HEAVY) / (FLOWS - 1)
    results = spillgate.run(
        SCENARIO,
        runs=runs,
        series=(),
        set={
            "policies.Q": QUEUES[case.queue],
            "traffic.0.flow.source.poisson.rate": f"{offered * HEAVY:.9g} Mb/s",
            "traffic.1.flow.count": FLOWS - 1,
            "traffic.1.flow.source.poisson.rate": f"{rest:.9g} Mb/s",
            **{f"policies.Q.fifo.aqm.pie.{key}": value for key, value in pie.items()},
        },
    )

    def of(scope: str, name: str, metric: str, by: float = 1.0) -> list[float]:
        [samples] = results.samples(scope=scope, name=name, metric=metric)
        return [by * (v or 0.0) for v in samples.values]

    [queue] = {s.name for s in results.samples(scope="queue", metric="loss_ratio")}
    return {
        "carried": of("total", "all", "throughput", 1e-6),
        "first": of("flow", "first", "throughput", 1e-6),
        "lost": of("queue", queue, "loss_ratio", 100),
        "queue": of("queue", queue, "backlog_packets_mean"),
    }


def rows(
    names: Sequence[str], runs: int, command: peers.Command, together: float = TOGETHER
) -> Iterator[Row]:
    """Every value of these cases."""
    level = 1 - (1 - together) / (len(names) * len(WHAT))
    for name in names:
        mine, theirs = ours(CASES[name], runs), ns3(CASES[name], runs, command)
        for key, (what, unit) in WHAT.items():
            yield Row(name, what, unit, mine[key], theirs[key], level)


def main() -> int:
    """Runs the cases and prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each case, 2 at least")
    parser.add_argument("--only", nargs="+", default=[""], help="cases with one of these words")
    args = parser.parse_args()
    if args.runs < 2:
        parser.error("--runs must be at least 2")
    names = [n for n in CASES if any(word in n for word in args.only)]
    if not names:
        parser.error(f"no case has such a word; there are: {', '.join(CASES)}")
    command = peers.ns3()
    if command is None:
        return 2
    print(table(list(rows(names, args.runs, command)), "ns-3"), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
