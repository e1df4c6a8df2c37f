#!/usr/bin/env python3
"""Compare fair queues and adaptive RED with ns-2 (Debian package ns2).

    python3 bench/ns2.py [--runs N] [--only WORD ...]

Poisson flows of packets of 1000 B enter a queue of 10 Mb/s: bench/cases/poisson.yaml, and bench/peers/fair.tcl, alike but for the
random numbers. The table is that of bench/beside.py: means over the runs of both, and the difference with an interval; all intervals
of the table hold together with 95 %. ns-2 must be on the path as `ns`.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import poisson
from beside import TOGETHER, Row, Values, table

SCRIPT = Path(__file__).resolve().parent / "peers" / "fair.tcl"
RUNS = 20


@dataclass(frozen=True)
class Queue:
    """A queue, in both languages."""

    ns2: str
    keys: str
    policy: Mapping[str, Any]


RED = (
    "bytes_ false queue_in_bytes_ false wait_ false setbit_ false cautious_ 0 drop_tail_ true "
    "mean_pktsize_ 1000 thresh_ 20 maxthresh_ 60 q_weight_ 0.002 linterm_ 10 gentle_ true"
)
THRESHOLDS = {"min_th": 20, "max_th": 60, "weight": 0.002, "max_p": 0.1, "mean_packet": "1000 B"}


def red(ns2: str, kind: str) -> Queue:
    """A RED with these words beside the common ones."""
    fifo = {"limit": "1000 packets", "aqm": {kind: {**THRESHOLDS, "gentle": True}}}
    return Queue("RED", f"{RED} {ns2}", {"fifo": fifo})


QUEUES = {
    "sfq": Queue(
        "SFQ",
        "maxqueue_ 256 buckets_ 64",
        {"sfq": {"as": "ns2", "limit": "256 packets", "divisor": 64}},
    ),
    "drr": Queue(
        "DRR",
        "buckets_ 16384 blimit_ 100000 quantum_ 1500 mask_ 0",
        {"drr": {"limit": "100 kB", "quantum": "1500 B"}},
    ),
    "red": red("adaptive_ 0", "red"),
    "adaptive-red": red(
        "adaptive_ 1 alpha_ 0.01 beta_ 0.9 top_ 0.5 bottom_ 0.01 interval_ 0.5", "adaptive-red"
    ),
}


@dataclass(frozen=True)
class Case:
    """A queue and its traffic."""

    queue: str
    load: float
    """Of the line."""
    heavy: float = 0.5
    """Of the load the first flow sends this share."""


CASES = {f"{queue}, load {load:g}": Case(queue, load) for queue in QUEUES for load in (0.95, 1.2)}
CASES |= {f"{queue}, load 1.2, flows alike": Case(queue, 1.2, 0.1) for queue in ("sfq", "drr")}


def ns2(case: Case, runs: int) -> Values:
    """What ns-2 says of each run."""
    queue = QUEUES[case.queue]

    def run(seed: int) -> list[str]:
        words = (seed, poisson.SECONDS, case.load, case.heavy, queue.ns2, queue.keys)
        return ["ns", str(SCRIPT), *map(str, words)]

    return poisson.theirs(run, runs)


def ours(case: Case, runs: int) -> Values:
    """What Spillgate says of each run."""
    # The queue of ns-2 is without the packet that is sent.
    ring = {"topology.links.bottleneck.tx_ring": "1 packets"}
    return poisson.ours(case.load, case.heavy, runs, QUEUES[case.queue].policy, **ring)


def rows(names: Sequence[str], runs: int, together: float = TOGETHER) -> Iterator[Row]:
    """Every value of these cases."""

    def both(name: str) -> tuple[Values, Values]:
        return ours(CASES[name], runs), ns2(CASES[name], runs)

    return poisson.rows(names, both, together)


def main() -> int:
    """Runs the cases and prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each case, 2 at least")
    parser.add_argument("--only", nargs="+", default=[""], help="cases with one of these words")
    args = parser.parse_args()
    if args.runs < 2:
        parser.error("--runs must be at least 2")
    if not shutil.which("ns"):
        print("there is no `ns` on the path; on Debian: apt install ns2", file=sys.stderr)
        return 2
    names = [n for n in CASES if any(word in n for word in args.only)]
    if not names:
        parser.error(f"no case has such a word; there are: {', '.join(CASES)}")
    print(table(list(rows(names, args.runs))), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
