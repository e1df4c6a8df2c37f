#!/usr/bin/env python3
"""Time Spillgate and other simulators on the same scenarios, in turn.

Every simulator runs a case as a whole process on one thread, one after the
other and then again from the first, so that a slow minute of the machine
meets all of them. CPU time is the operating system's account of the process;
start-up (reading, building the network) is timed by a run of one millisecond
and subtracted, because slow simulators get fewer simulated seconds, and would
otherwise pay with more of it. Memory is the peak that the process reads of
itself. The ratio is of CPU time for each delivered data packet, the median of
the rounds.

    python3 bench/peers.py [--only WORD ...] [--repeats N] [--quick] [--check]

--check compares what was simulated (loss ratio, mean queue) instead of timing
it. A simulator that is not installed is skipped, and said so:

    ns-2   ns on the path (Debian package ns2)
    ns-3   headers and libraries where g++ finds them (Debian package libns3-dev)
    ns-3 local   NS3_DIR: a source tree of ns-3 built with --build-profile=optimized
    ns.py  is installed from PyPI into an environment of its own, target/peers/nspy
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "bench" / "peers"
BUILT = ROOT / "target" / "peers"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
START_S = 0.001
BINARY = TARGET / "release" / "spillgate-bench"
CLI = ROOT / ".venv" / "bin" / "spillgate"
NS3_MODULES = (
    "applications",
    "point-to-point",
    "traffic-control",
    "nix-vector-routing",
    "internet",
    "network",
    "core",
)
T_975 = {
    2: 12.706,
    3: 4.303,
    4: 3.182,
    5: 2.776,
    6: 2.571,
    7: 2.447,
    8: 2.365,
    9: 2.306,
    10: 2.262,
}


@dataclass(frozen=True)
class Case:
    """A scenario: Spillgate's file, and for each simulator the seconds to simulate."""

    title: str
    seconds: dict[str, float]
    scenario: str | None = None
    by_name: bool = False


# Spillgate's files have one link, so that its hops are delivered packets.
CASES = {
    "w": Case(
        "W: 100 Poisson flows, RED, load 0.98",
        {"Spillgate": 60, "ns-2": 60, "ns-3": 20, "ns.py": 10},
        "bench/cases/w.yaml",
    ),
    "f": Case(
        "F: 1,000 Poisson flows, fair queue, load 1.2",
        {"Spillgate": 20, "ns-2": 5, "ns-3": 1, "ns.py": 0.2},
        "bench/cases/f.yaml",
    ),
    "d50": Case("D50: 50 NewReno flows, drop-tail", {"ns-2": 60, "ns-3": 10}),
    "d50-red": Case("D50: 50 NewReno flows, RED", {"ns-2": 60, "ns-3": 10}),
    "d1k": Case("D1k: 1,000 NewReno flows", {"ns-2": 5, "ns-3": 2}),
    # The start-up of ns-2 grows with the square of the flows: minutes here.
    "d10k": Case("D10k: 10,000 NewReno flows", {"ns-2": 1}, by_name=True),
}

# What one run needs: case, seconds, whether to watch the queue, seed.
Command = Callable[[str, float, bool, int], list[str]]


def skip(name: str, why: str) -> None:
    """Say that a simulator is left out."""
    print(f"SKIPPED: {name}: {why}", file=sys.stderr)


def built(output: Path, sources: list[Path], command: list[str]) -> str | None:
    """Run a build unless its output is newer than its sources; the error if it fails."""
    if output.exists() and all(output.stat().st_mtime > s.stat().st_mtime for s in sources):
        return None
    output.parent.mkdir(parents=True, exist_ok=True)
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        return str(error)
    if done.returncode:
        return (done.stderr.strip().splitlines() or ["failed"])[0]
    return None


def ns2() -> Command | None:
    """ns-2 of the system."""
    if not shutil.which("ns"):
        return skip("ns-2", "no `ns` on the path; on Debian: apt install ns2")
    return lambda case, seconds, watch, seed: [
        "ns",
        str(PEERS / "ns2.tcl"),
        case,
        f"{seconds:g}",
        str(int(watch)),
        str(seed),
    ]


def ns3_command(binary: Path) -> Command:
    """How a built ns-3 scenario is run."""
    return lambda case, seconds, watch, seed: [
        str(binary),
        f"--case={case}",
        f"--seconds={seconds:g}",
        f"--measure={int(watch)}",
        f"--seed={seed}",
    ]


def ns3() -> Command | None:
    """ns-3 of the system."""
    if (
        not shutil.which("pkg-config")
        or subprocess.run(
            ["pkg-config", "--exists", *(f"ns3-{m}" for m in NS3_MODULES)]
        ).returncode
    ):
        return skip(
            "ns-3", "pkg-config does not know it; on Debian: apt install libns3-dev g++ pkg-config"
        )
    binary, source = BUILT / "ns3", PEERS / "ns3.cc"
    # Debian's .pc files name every module, but also flags that no compiler takes.
    flags = [f"-lns3-{m}" for m in NS3_MODULES]
    error = built(
        binary, [source], ["g++", "-std=c++17", "-O2", "-o", str(binary), str(source), *flags]
    )
    return skip("ns-3", error) if error else ns3_command(binary)


def ns3_local() -> Command | None:
    """An optimized build of the user's own."""
    where = os.environ.get("NS3_DIR")
    if not where:
        return skip("ns-3 local", "NS3_DIR is not set")
    build = Path(where).resolve() / "build"
    flags = []
    for module in NS3_MODULES:
        pattern = re.compile(rf"libns3[\d.]*(-dev)?-{module}(-(optimized|release|default))?\.so")
        found = sorted(p for p in (build / "lib").glob("libns3*.so") if pattern.fullmatch(p.name))
        if not found:
            return skip("ns-3 local", f"no library of module {module} in {build / 'lib'}")
        flags.append(str(found[0]))
    binary, source = BUILT / "ns3-local", PEERS / "ns3.cc"
    command = [
        "g++",
        "-std=c++17",
        "-O2",
        f"-I{build / 'include'}",
        "-o",
        str(binary),
        str(source),
    ]
    command += [*flags, f"-Wl,-rpath,{build / 'lib'}"]
    error = built(binary, [source, *map(Path, flags)], command)
    return skip("ns-3 local", error) if error else ns3_command(binary)


def nspy() -> Command | None:
    """ns.py in an environment of its own."""
    home, wanted = BUILT / "nspy", PEERS / "requirements.txt"
    python, stamp = home / "bin" / "python", home / ".done"
    for command, output in (
        ([sys.executable, "-m", "venv", str(home)], python),
        ([str(python), "-m", "pip", "install", "--quiet", "-r", str(wanted)], stamp),
    ):
        if output.exists() and (output != stamp or stamp.stat().st_mtime > wanted.stat().st_mtime):
            continue
        error = built(stamp, [wanted], command)
        if error:
            return skip("ns.py", error)
    stamp.touch()
    return lambda case, seconds, watch, seed: [
        str(python),
        str(PEERS / "nspy.py"),
        case,
        f"{seconds:g}",
        str(int(watch)),
        str(seed),
    ]


def spillgate() -> Command | None:
    """Spillgate's benchmark program."""
    if not BINARY.exists():
        sys.exit(f"{BINARY} is missing: cargo build --release --locked -p spillgate-bench")
    return lambda case, seconds, _watch, seed: [
        str(BINARY),
        str(ROOT / (CASES[case].scenario or "")),
        "--set",
        f"measurement.duration={seconds:g} s",
        "--set",
        f"measurement.interval={seconds:g} s",
        "--set",
        f"runs.seed={seed}",
    ]


@dataclass(frozen=True)
class Figures:
    """What one process cost and did."""

    cpu_s: float
    start_s: float
    delivered: int
    peak_kb: int | None

    @property
    def us(self) -> float:
        """CPU microseconds for a delivered packet."""
        return (self.cpu_s - self.start_s) / self.delivered * 1e6


def once(args: list[str]) -> tuple[float, dict]:
    """Run a process; its CPU seconds and the object on the last line that it printed."""
    with subprocess.Popen(args, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(args)} failed with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, json.loads(out.splitlines()[-1])


def timed(start: list[str], args: list[str]) -> Figures:
    """Run a process and account for it, and before it one that only starts up."""
    start_s, _ = once(start)
    cpu, did = once(args)
    delivered = did.get("delivered", did.get("hops"))
    if not delivered:
        sys.exit(f"{' '.join(args)} delivered nothing")
    if cpu <= start_s:
        sys.exit(f"{' '.join(args)} is too short to be told from its start-up")
    return Figures(cpu, start_s, delivered, did["peak_kb"])


def time_case(name: str, case: Case, who: dict[str, Command], repeats: int, scale: float) -> None:
    """Run the rounds of one case and print its rows."""
    commands = {
        peer: (make(name, START_S, False, 1), make(name, seconds * scale, False, 1))
        for peer, make in who.items()
        if (seconds := case.seconds.get(peer.removesuffix(" local")))
    }
    rows: dict[str, list[Figures]] = {peer: [] for peer in commands}
    for _ in range(repeats):
        for peer, (start, args) in commands.items():
            rows[peer].append(timed(start, args))
    ours = rows.get("Spillgate")
    for peer, figures in rows.items():
        us = [f.us for f in figures]
        # Rounds are compared within themselves: both ran in the same minute.
        ratio = (
            statistics.median(a / b.us for a, b in zip(us, ours, strict=True)) if ours else None
        )
        peaks = [f.peak_kb for f in figures if f.peak_kb is not None]
        print(
            f"| {case.title} | {peer} | {case.seconds[peer.removesuffix(' local')] * scale:g} "
            f"| {figures[0].delivered:,} | {statistics.median(f.cpu_s for f in figures):.2f} "
            f"| {statistics.median(f.start_s for f in figures):.2f} "
            f"| {1 / statistics.median(us):.3f} | {statistics.median(us):.2f} ({min(us):.2f} to {max(us):.2f}) "
            f"| {'-' if ratio is None else f'{ratio:.1f}'} "
            f"| {f'{max(peaks) / 1024:.1f}' if peaks else '-'} |",
            flush=True,
        )


def simulated(peer: str, name: str, case: Case, make: Command, seconds: float, seed: int) -> dict:
    """What a run says about the bottleneck."""
    if peer != "Spillgate":
        return once(make(name, seconds, True, seed))[1]
    args = [
        str(CLI),
        "run",
        str(ROOT / (case.scenario or "")),
        "--format",
        "json",
        "--no-figures",
        "--quiet",
    ]
    args += ["--seed", str(seed), "--set", f"measurement.duration={seconds:g} s"]
    args += ["--out", str(BUILT / "check"), "--force"]
    done = subprocess.run(args, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(args)} failed: {done.stderr}")
    values = {
        (row["scope"], row["metric"]): row["mean"] for row in json.loads(done.stdout)["summary"]
    }
    sent = values["total", "packets_sent"]
    return {
        "arrivals": sent,
        "drops": sent * values["total", "loss_ratio"],
        "utilization": values["link", "utilization"],
        "mean_queue": values["queue", "backlog_packets_mean"],
    }


def interval(values: list[float]) -> str:
    """Mean with the half width of its 95 % interval (Student)."""
    mean = statistics.mean(values)
    if len(values) not in T_975:
        return f"{mean:.4g}"
    half = T_975[len(values)] * statistics.stdev(values) / math.sqrt(len(values))
    return f"{mean:.4g} ± {half:.2g}"


def check_case(name: str, case: Case, who: dict[str, Command], repeats: int, scale: float) -> None:
    """Compare what the simulators say about one case; seeds 1, 2, ..."""
    for peer, make in who.items():
        seconds = case.seconds.get(peer.removesuffix(" local"))
        if not seconds:
            continue
        runs = [
            simulated(peer, name, case, make, seconds * scale, seed)
            for seed in range(1, repeats + 1)
        ]
        print(
            f"| {case.title} | {peer} | {seconds * scale:g} "
            f"| {interval([100 * r['drops'] / r['arrivals'] for r in runs])} "
            f"| {interval([r['mean_queue'] for r in runs])} "
            f"| {interval([100 * r['utilization'] for r in runs])} |",
            flush=True,
        )


def main() -> int:
    """Find the simulators, run the cases, print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], help="only these cases and simulators")
    parser.add_argument("--repeats", type=int, default=5, help="rounds; with --check seeds")
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulated time")
    parser.add_argument("--check", action="store_true", help="compare results instead of times")
    args = parser.parse_args()
    if args.repeats < 1:
        parser.error("--repeats must be at least 1")
    find = {
        "Spillgate": spillgate,
        "ns-2": ns2,
        "ns-3": ns3,
        "ns-3 local": ns3_local,
        "ns.py": nspy,
    }
    names = {n.lower(): n for n in (*CASES, *find)}
    if unknown := [w for w in args.only if w.lower() not in names]:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(names.values())}")
    only = {names[w.lower()] for w in args.only}
    peers = [p for p in find if p in only] or list(find)
    cases = [c for c in CASES if c in only] or [c for c in CASES if not CASES[c].by_name]
    if args.check and "Spillgate" in peers and not CLI.exists():
        skip("Spillgate", "--check needs the installed package: make demo")
        peers.remove("Spillgate")
    who = {peer: command for peer in peers if (command := find[peer]())}
    print(
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores; {args.repeats} rounds\n"
    )
    if args.check:
        print("| case | simulator | simulated s | loss % | mean queue, packets | utilization % |")
        print("|---|---|---|---|---|---|")
    else:
        print(
            "| case | simulator | simulated s | delivered | CPU s | of it start-up | M packets / CPU s "
            "| CPU us / packet (min to max) | times Spillgate | peak MB |"
        )
        print("|---|---|---|---|---|---|---|---|---|---|")
    for name in cases:
        case = CASES[name]
        here = {p: c for p, c in who.items() if p != "Spillgate" or case.scenario}
        if "Spillgate" in who and not case.scenario:
            skip(f"Spillgate on {name}", "bench/cases has no such scenario")
        run = check_case if args.check else time_case
        run(name, case, here, args.repeats, 0.1 if args.quick else 1.0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
