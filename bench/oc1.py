#!/usr/bin/env python3
"""Compare TCP over RED and tail drop at OC-1 with ns-2 (Debian package ns2).

    python3 bench/oc1.py [--runs N] [--only WORD ...]

The network is that of bench/cases/oc1.yaml and bench/peers/oc1.tcl, alike but for the random numbers. The table is that of
bench/beside.py: means over the runs of both, and the difference with an interval; all intervals of the table hold together with
95 %. ns-2 must be on the path as `ns`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from beside import TOGETHER, Row, Values, table

import spillgate

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "bench" / "cases" / "oc1.yaml"
SCRIPT = ROOT / "bench" / "peers" / "oc1.tcl"
WARMUP, SECONDS = 10, 60
RUNS = 20
WHAT = {
    "rate": ("carried", "Mb/s"),
    "queue": ("mean queue", "packets"),
    "drops": ("drops", "1/s"),
    "again": ("retransmissions", "1/s"),
    "timeouts": ("timeouts", "1/s"),
}
"""What is compared: its words and its unit, by key."""


@dataclass(frozen=True)
class Case:
    """Packets, a queue, and what else differs, in both languages."""

    packet: int
    """Bytes on the wire."""
    red: Mapping[str, bool] | None
    """What differs from RED as of 1993; none: tail drop."""
    tcp: Mapping[str, object] = field(default_factory=dict)
    """What differs of connections here."""
    tcp_ns2: str = ""
    """And there."""

    @property
    def ns2(self) -> tuple[object, ...]:
        """Its arguments for ns-2."""
        red = self.red or {}
        queue = "RED" + "".join(f" {key}_ {int(on)}" for key, on in red.items())
        return self.packet, self.tcp_ns2, "tail" if self.red is None else queue

    @property
    def set(self) -> dict[str, object]:
        """What it replaces in the scenario."""
        red, tcp = "policies.RED.fifo.aqm.red.", "traffic.0.flow.tcp."
        return {
            f"{tcp}mss": f"{self.packet - 40} B",
            f"{red}mean_packet": f"{self.packet} B",
            "topology.links.line.policy": "TAIL" if self.red is None else "RED",
            **{f"{red}{key}": on for key, on in (self.red or {}).items()},
            **{f"{tcp}{key}": value for key, value in self.tcp.items()},
        }


QUEUES: Mapping[str, Mapping[str, bool] | None] = {
    "RED": {},
    "RED, wait": {"wait": True},
    "RED, gentle": {"gentle": True},
    "RED, wait, gentle": {"wait": True, "gentle": True},
    "tail drop": None,
}
ALIKE = {
    f"{name}, {packet} B": Case(packet, red)
    for packet in (9180, 1500)
    for name, red in QUEUES.items()
}
"""Cases in which both programs follow the same rules."""
COARSE, LIMITED = "RED, 9180 B, clock of 100 ms", "RED, 9180 B, limited transmit"
LONGER = f"{COARSE}, here no timeout below 300 ms"
CASES = {
    **ALIKE,
    COARSE: Case(9180, {}, {"rto_granularity": "100 ms"}, "tcpTick_ 0.1"),
    LONGER: Case(9180, {}, {"rto_granularity": "100 ms", "min_rto": "300 ms"}, "tcpTick_ 0.1"),
    LIMITED: Case(9180, {}, {"limited_transmit": True}, "singledup_ 1"),
}


def ns2(case: Case, runs: int) -> Values:
    """What ns-2 says of each run."""

    def run(seed: int) -> list[float]:
        args = ("ns", SCRIPT, seed, WARMUP, SECONDS, *case.ns2)
        done = subprocess.run([*map(str, args)], capture_output=True, text=True, check=False)
        if done.returncode or not done.stdout.startswith("["):
            raise RuntimeError(done.stderr or done.stdout)
        rate, *others = json.loads(done.stdout)
        return [rate / 1e6, *others]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(run, range(1, runs + 1)))
    return dict(zip(WHAT, map(list, zip(*found, strict=True)), strict=True))


def ours(case: Case, runs: int) -> Values:
    """What Spillgate says of each run."""
    results = spillgate.run(SCENARIO, runs=runs, set=case.set)

    def of(scope: str, name: str, metric: str, by: float = 1.0) -> list[float]:
        [samples] = results.samples(scope=scope, name=name, metric=metric)
        return [by * (v or 0.0) for v in samples.values]

    second = 1 / (SECONDS - WARMUP)
    tail = of("queue", "line/fifo", "drops_tail", second)
    early = (
        of("queue", "line/fifo", "drops_early", second) if case.red is not None else [0.0] * runs
    )
    return {
        "rate": of("link", "line", "carried", 1e-6),
        "queue": of("queue", "line/fifo", "backlog_packets_mean"),
        "drops": [a + b for a, b in zip(tail, early, strict=True)],
        "again": of("total", "all", "retransmits", second),
        "timeouts": of("total", "all", "timeouts", second),
    }


def rows(names: Sequence[str], runs: int, together: float = TOGETHER) -> Iterator[Row]:
    """Every value of these cases."""
    level = 1 - (1 - together) / (len(names) * len(WHAT))
    for name in names:
        mine, theirs = ours(CASES[name], runs), ns2(CASES[name], runs)
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
