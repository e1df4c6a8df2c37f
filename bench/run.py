#!/usr/bin/env python3
"""Time the benchmark cases as whole processes and print a table.

Every case is one run of one scenario on one thread. CPU time and peak
resident memory are the operating system's account of the process, reading the
scenario included; CPU time is the median of five processes after one that is
not counted, memory the largest of the five.

    python3 bench/run.py [--repeats N] [--check] [CASE ...]

With --check the exit status is 1 if a case misses its target.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BINARY = ROOT / "target" / "release" / "spillgate-bench"


@dataclass(frozen=True)
class Case:
    """A scenario with what it must reach."""

    name: str
    scenario: str
    overrides: tuple[str, ...] = ()
    min_hops_per_s: float = 0.0
    max_cpu_s: float = float("inf")
    max_mb: float = float("inf")


CASES = (
    Case("port: 5 classes, LLQ, WRED", "bench/cases/port.yaml", min_hops_per_s=2.5e6),
    *(
        Case(
            f"CE node, {policy}",
            "examples/ce-node/scenario.yaml",
            (f"topology.links.wan.policy={policy}", "variants=[]"),
            max_cpu_s=0.6,
            max_mb=50,
        )
        for policy in ("FIFO", "WFQ", "CBWFQ", "CBWFQ-LLQ", "CBWFQ-LLQ-WRED")
    ),
    Case("D50: 50 TCP flows, tail drop", "bench/cases/d50.yaml"),
    Case(
        "D50: 50 TCP flows, RED",
        "bench/cases/d50.yaml",
        ("topology.links.bottleneck.policy=RED",),
    ),
    Case("10,000 flows, FIFO", "bench/cases/flows10k.yaml", max_mb=50),
)


@dataclass(frozen=True)
class Figures:
    """What one process cost and did."""

    cpu_s: float
    peak_mb: float
    packets: int
    hops: int
    events: int
    digest: str


def once(case: Case) -> Figures:
    """Run a case once and return the operating system's account of it."""
    args = [str(BINARY), str(ROOT / case.scenario)]
    for override in case.overrides:
        args += ["--set", override]
    with subprocess.Popen(args, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(args)} failed with status {process.returncode}")
    did = json.loads(out)
    return Figures(
        usage.ru_utime + usage.ru_stime,
        did["peak_kb"] / 1024,
        did["packets"],
        did["hops"],
        did["events"],
        did["digest"],
    )


def main() -> int:
    """Run the cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("cases", nargs="*", help="only cases whose name contains one of these")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    args = parser.parse_args()
    print(
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores; median of {args.repeats} (min to max)\n"
    )
    print(
        "| case | packets | hops | CPU s | M hops / CPU s | ns / event | peak MB | target | met |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    missed = 0
    for case in CASES:
        if args.cases and not any(word in case.name for word in args.cases):
            continue
        once(case)
        figures = [once(case) for _ in range(args.repeats)]
        if len({f.digest for f in figures}) != 1:
            sys.exit(f"{case.name}: repeats differ")
        cpu = statistics.median(f.cpu_s for f in figures)
        low, high = min(f.cpu_s for f in figures), max(f.cpu_s for f in figures)
        peak = max(f.peak_mb for f in figures)
        first = figures[0]
        rate = first.hops / cpu
        targets = []
        met = True
        if case.min_hops_per_s:
            targets.append(f">= {case.min_hops_per_s / 1e6:g} M hops/s")
            met &= rate >= case.min_hops_per_s
        if case.max_cpu_s < float("inf"):
            targets.append(f"< {case.max_cpu_s:g} s")
            met &= cpu < case.max_cpu_s
        if case.max_mb < float("inf"):
            targets.append(f"< {case.max_mb:g} MB")
            met &= peak < case.max_mb
        missed += not met
        print(
            f"| {case.name} | {first.packets:,} | {first.hops:,} | {cpu:.3f} ({low:.3f} to {high:.3f}) "
            f"| {rate / 1e6:.2f} | {cpu / first.events * 1e9:.0f} | {peak:.1f} "
            f"| {', '.join(targets) or '-'} | {'yes' if met else 'NO'} |",
            flush=True,
        )
    return 1 if args.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
