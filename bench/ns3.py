#!/usr/bin/env python3
"""Compare AQMs and fair queues with ns-3 (Debian packages libns3-dev, g++ and pkg-config).

    python3 bench/ns3.py [--runs N] [--only WORD ...]

Poisson flows of packets of 1000 B enter a queue of 10 Mb/s: bench/cases/poisson.yaml, and `--case=poisson` of bench/peers/ns3.cc, alike
but for the random numbers. The table is that of bench/beside.py: means over the runs of both, and the difference with an interval;
all intervals of the table hold together with 95 %.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import peers
import poisson
from beside import TOGETHER, Row, Values, table

RUNS = 20
HEAVY = 0.5
"""Of the load the first flow sends this share."""

DELAYS = {"inverse_sqrt": "newton16", "max_packet": "1500 B"}
"""CoDel as ns-3 has it: the root in 16 bits, and nothing is dropped while 1500 B are queued."""
PIE = {"mean_packet": "1000 B", "derandomize": False}
QUEUES: Mapping[str, Mapping[str, Any]] = {
    "codel": {"fifo": {"limit": "1000 packets", "aqm": {"codel": DELAYS}}},
    "pie": {"fifo": {"limit": "1000 packets", "aqm": {"pie": PIE}}},
    "cobalt": {"fifo": {"limit": "1000 packets", "aqm": {"cobalt": {"as": "ns3", "ecn": False}}}},
    "fq-codel": {
        "fq-codel": {"limit": "1000 packets", "quantum": "1500 B", "guard": "flow", **DELAYS}
    },
    "fq-pie": {"fq-pie": {"limit": "1000 packets", "quantum": "1500 B", **PIE}},
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
LINUX = {"as": "linux", "mean_packet": "1001 B"}
"""What the PIE of ns-3 shares with that of Linux alone: the delay of the packet that left last."""
for queue in ("pie", "fq-pie"):
    CASES[f"{queue}, load 1.2, here too the delay of the packet that left last"] = Case(
        queue, 1.2, LINUX
    )
    CASES[f"{queue}, load 1.2, `as: ns3`"] = Case(queue, 1.2, {"as": "ns3"})
CASES["pie, load 1.2, derandomized"] = Case("pie", 1.2, derandomize=True)


def ns3(case: Case, runs: int, command: peers.Command) -> Values:
    """What ns-3 says of each run."""
    words = (
        *(f"--queue={case.queue}", f"--load={case.load}", f"--flows={poisson.FLOWS}"),
        *(f"--heavy={HEAVY}", f"--derandomize={int(case.derandomize)}"),
    )

    def run(seed: int) -> list[str]:
        return [*command(peers.Run("poisson", poisson.SECONDS, watch=True, seed=seed)), *words]

    return poisson.theirs(run, runs)


def ours(case: Case, runs: int) -> Values:
    """What Spillgate says of each run."""
    pie = {**case.pie, **({"derandomize": True} if case.derandomize else {})}
    where = "fq-pie" if case.queue == "fq-pie" else "fifo.aqm.pie"
    changes = {f"policies.Q.{where}.{key}": value for key, value in pie.items()}
    return poisson.ours(case.load, HEAVY, runs, QUEUES[case.queue], **changes)


def rows(
    names: Sequence[str], runs: int, command: peers.Command, together: float = TOGETHER
) -> Iterator[Row]:
    """Every value of these cases."""

    def both(name: str) -> tuple[Values, Values]:
        return ours(CASES[name], runs), ns3(CASES[name], runs, command)

    return poisson.rows(names, both, together)


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
