#!/usr/bin/env python3
"""Time the benchmark cases as whole processes and print tables.

Every case is one run of one scenario on one thread. CPU time and peak
resident memory are the operating system's account of the process, reading the
scenario included; CPU time is the median of five processes after one that is
not counted, memory the largest of the five.

Five more tables follow: what a hop costs by feature (`features`), what one costs TCP that
loses packets in meshes (`meshes`), two runs on two threads beside the same on one
(`parallel`), what a connection takes of memory (`memory`), and what a hop costs a
connection whose window grows to a million segments (`growth`).

    python3 bench/run.py [--repeats N] [--check] [--reference PROGRAM] [CASE ...]

With --check the exit status is 1 if a case misses its target.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from features import MAX_NS, NAMES, base, feature
from networks import NETWORKS, POLICIES, tcp_mesh

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
BINARY = TARGET / "release" / "spillgate-bench"
KIB = 1024
MAX_PARALLEL = 0.55
MAX_FLOW_KB = 1.0
MAX_GROWTH = 2.0
# Of a hop of D50 with 1,000 B on the wire, as version 9f873a9 takes it.
MAX_OF_D50 = {"FIFO": 5.0, "DRR": 9.6, "FQ-CODEL": 10.8}
# Of a hop between 50 nodes.
MAX_MESH_GROWTH = 1.6
MESH_NODES = (50, 200, 1000)
MADE = Path(tempfile.gettempdir()) / f"spillgate-bench-{os.getpid()}"


@dataclass(frozen=True)
class Case:
    """A scenario with what it must reach."""

    name: str
    scenario: str
    """A file, `network POLICY`: what `networks.py` writes, or `feature NAME`: what `features.py` does."""
    overrides: tuple[str, ...] = ()
    min_hops_per_s: float = 0.0
    min_delivered_per_s: float = 0.0
    max_cpu_s: float = float("inf")
    max_mb: float = float("inf")
    max_ns_per_hop: float = float("inf")
    plain: bool = False

    def args(self, directory: Path) -> list[str]:
        """What to give Spillgate's program; scenarios that are made go to a directory."""
        maker, _, name = self.scenario.partition(" ")
        path = ROOT / self.scenario
        if name:
            path = directory / f"{self.scenario.replace(' ', '-')}.yaml"
            if not path.exists():
                make = feature if maker == "feature" else NETWORKS[maker]
                path.write_text(make(name), encoding="utf-8")
        return [str(path), *(f"--set={o}" for o in self.overrides), *(["--plain"] * self.plain)]

    def judge(self, cpu_s: float, peak_mb: float, delivered: int, hops: int) -> tuple[str, bool]:
        """The targets in words, and whether all are met."""
        targets, met = [], True
        for rate, least, unit in (
            (hops / cpu_s, self.min_hops_per_s, "hops/s"),
            (delivered / cpu_s, self.min_delivered_per_s, "delivered/s"),
        ):
            if least:
                targets.append(f">= {least / 1e6:g} M {unit}")
                met &= rate >= least
        for value, most, unit in (
            (cpu_s, self.max_cpu_s, "s"),
            (peak_mb, self.max_mb, "MB"),
            (cpu_s / hops * 1e9, self.max_ns_per_hop, "ns/hop"),
        ):
            if most < float("inf"):
                targets.append(f"<= {most:g} {unit}")
                met &= value <= most
        return ", ".join(targets), met


D50, D1K = "bench/cases/d50.yaml", "bench/cases/d1k.yaml"
# Of 1,000 B and 1,500 B on the wire: at these rates packets and acknowledgments meet on a grid of 8 us.
MSS_960, MSS_1460 = "traffic.0.flow.tcp.mss=960 B", "traffic.0.flow.tcp.mss=1460 B"
CASES = (
    Case("port: 5 classes, LLQ, WRED", "bench/cases/port.yaml", min_hops_per_s=2.5e6),
    *(
        Case(
            f"CE node, {policy}",
            "examples/ce-node/scenario.yaml",
            (
                f"topology.links.wan.policy={policy}",
                "topology.links.wan.tx_ring=1 packet",
                "variants=[]",
            ),
            max_mb=50,
            max_ns_per_hop=100,
        )
        for policy in ("FIFO", "WFQ", "CBWFQ", "CBWFQ-LLQ", "CBWFQ-LLQ-WRED")
    ),
    Case("D50: 50 TCP flows, tail drop", D50, max_ns_per_hop=100),
    Case(
        "D50: 50 TCP flows, RED",
        D50,
        ("topology.links.bottleneck.policy=RED",),
        max_ns_per_hop=100,
    ),
    Case("D50, 1,000 B on the wire", D50, (MSS_960,), min_delivered_per_s=6e6),
    Case("D50, 1,500 B on the wire", D50, (MSS_1460,), max_ns_per_hop=100),
    Case("D50, plain engine", D50, (MSS_960,), min_delivered_per_s=1.5e6, plain=True),
    Case("D1k: 1,000 TCP flows", D1K, min_delivered_per_s=4.5e6),
    Case("D1k, 1,000 B on the wire", D1K, (MSS_960,), max_ns_per_hop=100),
    Case("D1k, 1,500 B on the wire", D1K, (MSS_1460,), max_ns_per_hop=100),
    Case("D1k, Linux", D1K, ("traffic.0.flow.tcp={profile: linux}",), max_ns_per_hop=100),
    Case("D10k: 10,000 TCP flows", "bench/cases/d10k.yaml", min_delivered_per_s=1.4e6),
    Case("D50, BBR", D50, ("traffic.0.flow.tcp={cc: bbr}",), max_ns_per_hop=100),
    Case(
        "long fat pipe: one CUBIC flow, 10 Gb/s, 100 ms",
        "bench/cases/growth.yaml",
        (
            "topology.links.access.rate=40 Gb/s",
            "topology.links.bottleneck.rate=10 Gb/s",
            "policies.Q.fifo.limit=31250 kB",
        ),
        max_ns_per_hop=100,
    ),
    Case("parking lot: 5 lines, 60 TCP flows", "bench/cases/parking-lot.yaml", max_ns_per_hop=100),
    Case("two-way classes", "bench/cases/two-way.yaml", max_ns_per_hop=100),
    Case("10,000 flows, FIFO", "bench/cases/flows10k.yaml", max_mb=50, max_ns_per_hop=100),
    # 8 s for the 500 s of the published experiment, of which this is the load of 60 s.
    Case(
        "FAN: 200 TCP flows, EFM, PFQ", "bench/cases/fan.yaml", max_cpu_s=0.96, max_ns_per_hop=100
    ),
    Case(
        "FAN: 200 TCP flows, EFM, PDRR",
        "bench/cases/fan.yaml",
        ("topology.links.first.policy=PDRR", "topology.links.second.policy=PDRR"),
        max_cpu_s=0.96,
        max_ns_per_hop=100,
    ),
    *(
        Case(
            f"{network}, {policy}",
            f"{network} {policy}",
            max_ns_per_hop=100 if policy == "FIFO" else 150,
        )
        for network in ("mesh", "fat-tree")
        for policy in POLICIES
    ),
)


@dataclass(frozen=True)
class Figures:
    """What one process cost and did."""

    cpu_s: float
    peak_mb: float
    delivered: int
    hops: int
    digest: str


def run(args: list[str], binary: Path = BINARY) -> tuple[dict[str, Any], float]:
    """Run Spillgate's program; what it says, and its CPU seconds."""
    command = [str(binary), *args]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed with status {process.returncode}")
    return json.loads(out), usage.ru_utime + usage.ru_stime


def once(case: Case, binary: Path = BINARY) -> Figures:
    """Run a case once and return the operating system's account of it."""
    did, cpu_s = run(case.args(MADE), binary)
    return Figures(
        cpu_s,
        (did["peak_kb"] or 0) / KIB,
        did["delivered"] or 0,
        did["hops"],
        did["digest"],
    )


def spread(values: list[float], digits: int) -> str:
    """The median, with the smallest and largest in parentheses."""
    median = statistics.median(values)
    return f"{median:.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def verdict(*, met: bool) -> str:
    """A word for the table."""
    return "yes" if met else "NO"


def time_cases(words: list[str], repeats: int) -> int:
    """Time every case that is asked for; how many miss their target."""
    cases = [c for c in CASES if not words or any(word in c.name for word in words)]
    if not cases:
        return 0
    columns = "case | delivered | hops | CPU s | M delivered / CPU s | M hops / CPU s | ns / hop | peak MB | target | met"
    print(f"| {columns} |\n|{'---|' * 10}")
    missed = 0
    for case in cases:
        once(case)
        figures = [once(case) for _ in range(repeats)]
        if len({f.digest for f in figures}) != 1:
            sys.exit(f"{case.name}: repeats differ")
        cpu = statistics.median(f.cpu_s for f in figures)
        peak = max(f.peak_mb for f in figures)
        first = figures[0]
        targets, met = case.judge(cpu, peak, first.delivered, first.hops)
        missed += not met
        print(
            f"| {case.name} | {first.delivered:,} | {first.hops:,} "
            f"| {spread([f.cpu_s for f in figures], 3)} | {first.delivered / cpu / 1e6:.2f} "
            f"| {first.hops / cpu / 1e6:.2f} | {cpu / first.hops * 1e9:.0f} | {peak:.1f} "
            f"| {targets or '-'} | {verdict(met=met) if targets else '-'} |",
            flush=True,
        )
    return missed


def features(repeats: int) -> int:
    """Time a hop by feature; how many cost more than they may."""
    cases = {
        name: Case(
            name,
            f"feature {name}",
            max_ns_per_hop=float("inf") if name == "100 classes" else MAX_NS,
        )
        for name in NAMES
    }
    rounds = range(repeats + 1)
    # In turns, so that a slow minute of the machine meets all; the first is not counted.
    figures = [{name: once(case) for name, case in cases.items()} for _ in rounds][1:]
    ns = {n: statistics.median(f[n].cpu_s / f[n].hops for f in figures) * 1e9 for n in cases}
    columns = "feature | hops | ns / hop | over that without | peak MB | target | met"
    print(f"\n| {columns} |\n|{'---|' * 7}")
    missed = 0
    for name, case in cases.items():
        first = figures[0][name]
        peak = max(f[name].peak_mb for f in figures)
        targets, met = case.judge(ns[name] * first.hops / 1e9, peak, first.delivered, first.hops)
        missed += not met
        more = "" if name == base(name) else f"{ns[name] - ns[base(name)]:+.0f}"
        print(
            f"| {name} | {first.hops:,} | {spread([f[name].cpu_s / f[name].hops * 1e9 for f in figures], 0)} "
            f"| {more} | {peak:.1f} | {targets or '-'} | {verdict(met=met) if targets else '-'} |",
            flush=True,
        )
    return missed


def meshes(repeats: int, reference: Path) -> int:
    """Time a hop of TCP that loses packets in meshes, beside one of D50; how many cost too much.

    The dense ones have eight links to a node, each way, and four connections.
    """
    d50 = Case("D50, 1,000 B on the wire", D50, (MSS_960,))
    cases = [Case(f"TCP mesh, {p}", f"tcp-mesh {p}") for p in MAX_OF_D50]
    dense = []
    for nodes in MESH_NODES:
        file = MADE / f"dense-{nodes}.yaml"
        file.write_text(tcp_mesh("FIFO", nodes, 4 * nodes, 8), encoding="utf-8")
        name, time = f"dense TCP mesh, {nodes:,} nodes", "measurement.duration=400 ms"
        dense.append(Case(name, str(file), (time,)))
    # In turns; the first round is not counted.
    rounds = []
    for _ in range(repeats + 1):
        found = {d50.name: once(d50, reference)}
        found |= {c.name: once(c) for c in (*cases, *dense)}
        rounds.append({name: f.cpu_s / f.hops * 1e9 for name, f in found.items()})
    rounds = rounds[1:]

    def ratio(name: str, to: str) -> float:
        return statistics.median(r[name] / r[to] for r in rounds)

    print(f"\n| TCP in meshes | ns / hop | of D50 | of 50 nodes | target | met |\n|{'---|' * 6}")
    missed = 0
    for case in (d50, *cases, *dense):
        of_d50, most = ratio(case.name, d50.name), MAX_OF_D50.get(case.name[10:])
        growth, target, met = "", "", "-"
        if most:
            target, met = f"<= {most:g} of D50", verdict(met=of_d50 <= most)
        if case in dense:
            of_least = ratio(case.name, dense[0].name)
            growth, target = f"{of_least:.2f}", f"<= {MAX_MESH_GROWTH:g} of 50 nodes"
            met = verdict(met=of_least <= MAX_MESH_GROWTH)
        missed += met == "NO"
        ns = spread([r[case.name] for r in rounds], 0)
        print(f"| {case.name} | {ns} | {of_d50:.1f} | {growth} | {target} | {met} |", flush=True)
    return missed


def parallel(repeats: int) -> int:
    """Time two runs on two threads beside two on one; 1 if that takes too long."""
    walls: dict[int, list[float]] = {1: [], 2: []}
    digests = set()
    for _ in range(repeats + 1):
        for threads, wall in walls.items():
            begin = time.perf_counter()
            # Long enough for a start-up to be little of it.
            args = [str(ROOT / "bench/cases/d50.yaml"), "--set", "measurement.duration=600 s"]
            args += ["--runs=2", f"--threads={threads}"]
            did, _cpu = run(args)
            wall.append(time.perf_counter() - begin)
            digests.add(tuple(did["digests"]))
    if len(digests) != 1:
        sys.exit("parallel: runs differ with the number of threads")
    # The first round is not counted. Rounds are compared within themselves.
    one, two = walls[1][1:], walls[2][1:]
    ratios = [b / a for a, b in zip(one, two, strict=True)]
    met = statistics.median(ratios) <= MAX_PARALLEL
    columns = "two runs of D50, 600 s | one after the other, s | on two threads, s | ratio | target | met"
    print(f"\n| {columns} |\n|{'---|' * 6}")
    print(
        f"| parallel | {spread(one, 3)} | {spread(two, 3)} | {spread(ratios, 3)} "
        f"| <= {MAX_PARALLEL:g} | {verdict(met=met)} |",
        flush=True,
    )
    return not met


def memory() -> int:
    """Measure what a connection takes; 1 if it is too much.

    The network of D10k, with all connections between the same two hosts, is the same in the
    first three runs: the difference of their peaks is due to the connections. With one segment
    each, it is what a connection always has, its results included; without end, also its
    packets in the queue and on the way. The fourth has hosts and links for each connection.
    """
    flows = 10_000
    one, short = "traffic.0.flow.count=1", "traffic.0.flow.bytes=1000 B"
    shared = [
        *(f"topology.nodes.{group}.count=1" for group in (2, 3)),
        *(f"topology.links.{name}.rate=100 Gb/s" for name in ("access", "egress")),
    ]

    def peak_kb(*overrides: str) -> int:
        settings = ("measurement.duration=3 s", *overrides)
        args = [str(ROOT / "bench/cases/d10k.yaml"), *(f"--set={s}" for s in settings)]
        return run(args)[0]["peak_kb"] or 0

    base = peak_kb(*shared, one, short)
    state = (peak_kb(*shared, short) - base) / (flows - 1)
    packets = (peak_kb(*shared) - base) / (flows - 1) - state
    hosts = (peak_kb(one, short) - base) / (flows - 1)
    met = state <= MAX_FLOW_KB
    columns = "10,000 connections | KB a connection | its packets, KB | its two hosts and four links, KB | target | met"
    print(f"\n| {columns} |\n|{'---|' * 6}")
    print(
        f"| memory | {state:.2f} | {packets:.2f} | {hosts:.2f} "
        f"| <= {MAX_FLOW_KB:g} KB a connection | {verdict(met=met)} |"
    )
    return not met


def growth(repeats: int) -> int:
    """Time a hop of one connection with SACK and RACK over ever faster lines; 1 if it grows with the window.

    The queue holds a quarter of the bandwidth-delay product, so slow start ends in losses.
    """
    print("\n| rate | window, segments | hops | CPU s | ns a hop | peak MB |\n|" + "---|" * 6)
    costs = []
    for gbps in (0.3, 1, 3, 10, 100):
        product = gbps * 1e9 * 0.1 / 8
        overrides = (
            f"topology.links.access.rate={4 * gbps:g} Gb/s",
            f"topology.links.bottleneck.rate={gbps:g} Gb/s",
            f"policies.Q.fifo.limit={product / 4:.0f} B",
            f"measurement.duration={max(4, 12 / gbps):g} s",
        )
        case = Case(f"{gbps:g} Gb/s", "bench/cases/growth.yaml", overrides)
        once(case)
        figures = [once(case) for _ in range(repeats)]
        cpu = statistics.median(f.cpu_s for f in figures)
        first = figures[0]
        costs.append(cpu / first.hops * 1e9)
        # 1 GiB is the largest window that TCP has.
        segments = min(1.25 * product, 2**30) / 1500
        print(
            f"| {gbps:g} Gb/s | {segments:,.0f} | {first.hops:,} "
            f"| {spread([f.cpu_s for f in figures], 2)} | {costs[-1]:.0f} "
            f"| {max(f.peak_mb for f in figures):.1f} |",
            flush=True,
        )
    ratio = max(costs) / min(costs)
    met = ratio <= MAX_GROWTH
    print(
        f"\nThe costliest hop is {ratio:.2f} times the cheapest; target <= {MAX_GROWTH:g}: {verdict(met=met)}."
    )
    return not met


TABLES = ("features", "meshes", "parallel", "memory", "growth")


def main() -> int:
    """Run what is asked for and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "cases",
        nargs="*",
        help="only cases whose name contains one of these; " + "; ".join(TABLES),
    )
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--check", action="store_true", help="exit with 1 if a target is missed")
    parser.add_argument(
        "--reference", type=Path, default=BINARY, help="what D50 is run with beside meshes"
    )
    args = parser.parse_args()
    if args.repeats < 1:
        parser.error("--repeats must be at least 1")
    known = [*(c.name for c in CASES), *TABLES]
    for word in args.cases:
        if not any(word in name for name in known):
            parser.error(f"no case has {word!r} in its name; there are: {'; '.join(known)}")
    if not BINARY.exists():
        sys.exit(f"{BINARY} is missing: cargo build --release --locked -p spillgate-bench")
    print(
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}; median of {args.repeats} (min to max)\n"
    )
    MADE.mkdir()
    try:
        missed = tables(args.cases, args.repeats, args.reference.resolve())
    finally:
        shutil.rmtree(MADE)
    return 1 if args.check and missed else 0


def tables(words: list[str], repeats: int, reference: Path) -> int:
    """Print what is asked for; how many miss their target."""
    missed = time_cases(words, repeats)
    if not words or "features" in words:
        missed += features(repeats)
    if not words or "meshes" in words:
        missed += meshes(repeats, reference)
    if not words or "parallel" in words:
        missed += parallel(repeats)
    if not words or "memory" in words:
        missed += memory()
    if not words or "growth" in words:
        missed += growth(repeats)
    return missed


if __name__ == "__main__":
    sys.exit(main())
