#!/usr/bin/env python3
"""Time Spillgate and other simulators on the same scenarios, in turn.

Every simulator runs a case as a whole process on one thread, one after the
other and then again from the first, so that a slow minute of the machine
meets all of them. CPU time is the operating system's account of the process;
of processes that take less than a second, as many as make one, on average.
Each process says how much of it went by between the first event and the last;
the rest is start-up (reading, building the network), which is shown, but does
not count: slow simulators get fewer simulated seconds, and would otherwise pay
with more of it. Memory is the peak that the process reads of itself. The ratio
is of CPU time for each delivered data packet, within a round; of the rounds the
median.

    python3 bench/peers.py [--only WORD ...] [--repeats N] [--quick] [--check]

--check compares what was simulated (delivered packets, losses, the queue, shares
of the flows) instead of timing it. A simulator that is not installed is skipped,
and said so:

    ns-2   ns on the path (Debian package ns2), with the packet headers that it comes with: those
           of all protocols, as in nearly every script
    ns-2 trimmed   the same with the headers that the scenario uses, which few know to ask for
    ns-3   headers and libraries where g++ finds them (Debian package libns3-dev), as it is built there
    ns-3 local   NS3_DIR: a source tree of ns-3 built with --build-profile=optimized
    htsim  HTSIM_DIR: the folder `sim` of a built csg-htsim, in which libhtsim.a is
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
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PEERS = ROOT / "bench" / "peers"
BUILT = ROOT / "target" / "peers"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
START_S = 0.001
# What is shorter is repeated within its round: a tenth of a second says as much of what else the
# machine did just then.
LEAST_S = 1.0
BINARY = TARGET / "release" / "spillgate-bench"
NS3_MODULES = (
    "applications",
    "point-to-point",
    "traffic-control",
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


def kind(peer: str) -> str:
    """The simulator, however it is built or used."""
    return peer.removesuffix(" local").removesuffix(" trimmed")


@dataclass(frozen=True)
class Case:
    """A scenario: Spillgate's file, and for each simulator the seconds to simulate."""

    title: str
    seconds: dict[str, float]
    scenario: str
    queue: str = "bottleneck/fifo"
    overrides: tuple[str, ...] = ()
    tcp: bool = True
    by_name: tuple[str, ...] = ()  # takes minutes with these, which are left out unless named

    def length(self, peer: str, *, quick: bool) -> float | None:
        """Seconds that a simulator simulates; none if it has no such case."""
        seconds = self.seconds.get(kind(peer))
        if not seconds or not quick:
            return seconds
        # Connections begin within the first second; the queue should be full for a while.
        return min(seconds, max(seconds / 10, 2 if self.tcp else 0))


CASES = {
    "d50": Case(
        "D50: 50 NewReno flows, drop-tail",
        {"Spillgate": 60, "ns-2": 60, "ns-3": 10, "htsim": 60},
        "bench/cases/d50.yaml",
    ),
    "d50-red": Case(
        "D50: 50 NewReno flows, RED",
        {"Spillgate": 60, "ns-2": 60, "ns-3": 10},
        "bench/cases/d50.yaml",
        overrides=("topology.links.bottleneck.policy=RED",),
    ),
    "d1k": Case(
        "D1k: 1,000 NewReno flows",
        {"Spillgate": 10, "ns-2": 10, "ns-3": 1.5, "htsim": 10},
        "bench/cases/d1k.yaml",
    ),
    # The Tcl of ns-2 takes a minute to build 20,000 hosts. ns-3 would take a quarter of an
    # hour a simulated second: a packet passes one handler for each interface of a router.
    "d10k": Case(
        "D10k: 10,000 NewReno flows",
        {"Spillgate": 3, "ns-2": 3},
        "bench/cases/d10k.yaml",
        by_name=("ns-2",),
    ),
    "w": Case(
        "W: 100 Poisson flows, RED, load 0.98",
        {"Spillgate": 60, "ns-2": 60, "ns-3": 20, "ns.py": 10},
        "bench/cases/w.yaml",
        tcp=False,
    ),
    # No two of the others have the same fair queue: each is compared with its own.
    "f": Case(
        "F: 1,000 Poisson flows, WFQ, load 1.2",
        {"Spillgate": 20, "ns.py": 0.2},
        "bench/cases/f.yaml",
        queue="bottleneck/wfq",
        tcp=False,
    ),
    "f-drr": Case(
        "F: 1,000 Poisson flows, DRR, load 1.2",
        {"Spillgate": 20, "ns-2": 5},
        "bench/cases/f.yaml",
        queue="bottleneck/drr",
        overrides=("topology.links.bottleneck.policy=DRR",),
        tcp=False,
    ),
    "f-fq-codel": Case(
        "F: 1,000 Poisson flows, FQ-CoDel, load 1.2",
        {"Spillgate": 20, "ns-3": 1},
        "bench/cases/f.yaml",
        queue="bottleneck/fq-codel",
        overrides=("topology.links.bottleneck.policy=FQ-CODEL",),
        tcp=False,
    ),
}


@dataclass(frozen=True)
class Run:
    """One run of a case."""

    case: str
    seconds: float
    watch: bool = False  # count at the bottleneck, which takes time
    seed: int = 1


Command = Callable[[Run], list[str]]


def skip(name: str, why: str) -> None:
    """Say that a simulator is left out."""
    print(f"SKIPPED: {name}: {why}", file=sys.stderr, flush=True)


def built(output: Path, sources: list[Path], commands: list[list[str]]) -> str | None:
    """Build by the first command that works, unless the output is newer than its sources.

    The answer is the error of the last command if none works.
    """
    wanted, stamp = json.dumps(commands), output.with_name(output.name + ".built")
    if (
        output.exists()
        and stamp.exists()
        and stamp.read_text() == wanted
        and all(output.stat().st_mtime > s.stat().st_mtime for s in sources)
    ):
        return None
    output.parent.mkdir(parents=True, exist_ok=True)
    error = "nothing to run"
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except OSError as e:
            return str(e)
        if done.returncode == 0:
            output.touch()
            stamp.write_text(wanted)
            return None
        error = (done.stderr.strip().splitlines() or ["failed"])[0]
    return error


def ns2() -> Command | None:
    """ns-2 of the system as it comes."""
    return ns2_with("ns-2", "all")


def ns2_trimmed() -> Command | None:
    """The same without the headers that nobody uses."""
    return ns2_with("ns-2 trimmed", "used")


def ns2_with(name: str, headers: str) -> Command | None:
    """ns-2 with some packet headers."""
    if not shutil.which("ns"):
        return skip(name, "no `ns` on the path; on Debian: apt install ns2")
    return lambda run: [
        "ns",
        str(PEERS / "ns2.tcl"),
        run.case,
        f"{run.seconds:g}",
        str(int(run.watch)),
        str(run.seed),
        headers,
    ]


def ns3_command(binary: Path) -> Command:
    """How a built ns-3 scenario is run."""
    return lambda run: [
        str(binary),
        f"--case={run.case}",
        f"--seconds={run.seconds:g}",
        f"--measure={int(run.watch)}",
        f"--seed={run.seed}",
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
    # Debian's .pc files name every module, but also flags that no compiler takes.
    return ns3_built("ns3", "ns-3", [f"-lns3-{m}" for m in NS3_MODULES], [])


def ns3_built(output: str, name: str, flags: list[str], sources: list[Path]) -> Command | None:
    """Our scenarios with some ns-3; each of its versions demands another C++."""
    binary, source = BUILT / output, PEERS / "ns3.cc"
    commands = [
        ["g++", f"-std={standard}", "-O2", "-o", str(binary), str(source), *flags]
        for standard in ("c++17", "c++20", "c++23")
    ]
    error = built(binary, [source, *sources], commands)
    return skip(name, error) if error else ns3_command(binary)


def ns3_local() -> Command | None:
    """An optimized build of the user's own."""
    where = os.environ.get("NS3_DIR")
    if not where:
        return skip("ns-3 local", "NS3_DIR is not set")
    build = Path(where).resolve() / "build"
    libraries = []
    for module in NS3_MODULES:
        pattern = re.compile(rf"libns3[\d.]*(-dev)?-{module}(-(optimized|release|default))?\.so")
        found = sorted(p for p in (build / "lib").glob("libns3*.so") if pattern.fullmatch(p.name))
        if not found:
            return skip("ns-3 local", f"no library of module {module} in {build / 'lib'}")
        libraries.append(found[0])
    flags = [f"-I{build / 'include'}", *map(str, libraries), f"-Wl,-rpath,{build / 'lib'}"]
    return ns3_built("ns3-local", "ns-3 local", flags, libraries)


def htsim() -> Command | None:
    """Our scenarios with a built htsim."""
    where = os.environ.get("HTSIM_DIR")
    if not where:
        return skip("htsim", "HTSIM_DIR is not set")
    home = Path(where).resolve()
    library = home / "libhtsim.a"
    if not library.exists():
        return skip("htsim", f"no libhtsim.a in {home}; run make there")
    binary, source = BUILT / "htsim", PEERS / "htsim.cc"
    command = [
        "g++",
        "-std=c++17",
        "-O3",
        f"-I{home}",
        "-o",
        str(binary),
        str(source),
        str(library),
    ]
    error = built(binary, [source, library], [command])
    if error:
        return skip("htsim", error)
    return lambda run: [
        str(binary),
        run.case,
        f"{run.seconds:g}",
        str(int(run.watch)),
        str(run.seed),
    ]


def nspy() -> Command | None:
    """ns.py in an environment of its own."""
    home, wanted = BUILT / "nspy", PEERS / "requirements.txt"
    python = home / "bin" / "python"
    error = built(python, [], [[sys.executable, "-m", "venv", str(home)]]) or built(
        home / "installed",
        [wanted],
        [[str(python), "-m", "pip", "install", "--quiet", "-r", str(wanted)]],
    )
    if error:
        return skip("ns.py", error)
    return lambda run: [
        str(python),
        str(PEERS / "nspy.py"),
        run.case,
        f"{run.seconds:g}",
        str(int(run.watch)),
        str(run.seed),
    ]


def spillgate() -> Command | None:
    """Spillgate's benchmark program."""
    if not BINARY.exists():
        sys.exit(f"{BINARY} is missing: cargo build --release --locked -p spillgate-bench")

    def command(run: Run) -> list[str]:
        case = CASES[run.case]
        # What is delivered is counted within the measured period: all of the run.
        settings = [
            *case.overrides,
            "measurement.warmup=0 s",
            f"measurement.duration={run.seconds:g} s",
            f"measurement.interval={run.seconds:g} s",
            f"runs.seed={run.seed}",
        ]
        values = [path for path, tcp in watched(case).values() if case.tcp or not tcp]
        return [
            str(BINARY),
            str(ROOT / case.scenario),
            *(f"--set={s}" for s in settings),
            *(f"--value={v}" for v in values if run.watch),
        ]

    return command


def watched(case: Case) -> dict[str, tuple[str, bool]]:
    """Where Spillgate's program has what the others count, and whether only TCP has it."""
    return {
        "arrivals": ("total/all/packets_sent", False),
        "loss": ("total/all/loss_ratio", False),
        "utilization": ("link/bottleneck/utilization", False),
        "mean_queue": (f"queue/{case.queue}/backlog_packets_mean", False),
        "jain": ("total/all/jain", True),
        "retransmits": ("total/all/retransmits", True),
        "timeouts": ("total/all/timeouts", True),
    }


@dataclass(frozen=True)
class Figures:
    """What a process cost and did."""

    cpu_s: float
    run_s: float
    delivered: int
    peak_kb: int | None

    @property
    def us(self) -> float:
        """CPU microseconds for a delivered packet."""
        return self.run_s / self.delivered * 1e6


def once(args: list[str]) -> tuple[float, dict[str, Any]]:
    """Run a process; its CPU seconds and the object on the last line that it printed."""
    with subprocess.Popen(args, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(args)} failed with status {process.returncode}")
    return usage.ru_utime + usage.ru_stime, json.loads(out.splitlines()[-1])


def timed(make: Command, name: str, seconds: float) -> Figures:
    """Run a process, a short one several times, and account for it."""
    runs = [timed_once(make, name, seconds)]
    while sum(run.cpu_s for run in runs) < LEAST_S:
        runs.append(timed_once(make, name, seconds))
    peaks = [run.peak_kb for run in runs if run.peak_kb is not None]
    return Figures(
        statistics.fmean(run.cpu_s for run in runs),
        statistics.fmean(run.run_s for run in runs),
        runs[0].delivered,
        max(peaks, default=None),
    )


def timed_once(make: Command, name: str, seconds: float) -> Figures:
    """Run a process and account for it."""
    args = make(Run(name, seconds))
    cpu, did = once(args)
    if not did["delivered"]:
        sys.exit(f"{' '.join(args)} delivered nothing")
    run_s = did.get("run_s")
    if run_s is None:
        # The process could not tell: a run that only starts up can.
        start_s, _ = once(make(Run(name, START_S)))
        run_s = cpu - start_s
        if run_s <= 0:
            sys.exit(f"{' '.join(args)} is too short to be told from its start-up")
    return Figures(cpu, run_s, did["delivered"], did["peak_kb"])


def time_case(
    name: str, case: Case, who: dict[str, Command], repeats: int, *, quick: bool
) -> None:
    """Run the rounds of one case and print its rows."""
    seconds = {peer: s for peer in who if (s := case.length(peer, quick=quick))}
    rows: dict[str, list[Figures]] = {peer: [] for peer in seconds}
    for _ in range(repeats):
        for peer, s in seconds.items():
            rows[peer].append(timed(who[peer], name, s))
    ours = rows.get("Spillgate")
    for peer, figures in rows.items():
        us = [f.us for f in figures]
        # Rounds are compared within themselves: both ran in the same minute.
        ratio = (
            statistics.median(a / b.us for a, b in zip(us, ours, strict=True)) if ours else None
        )
        peaks = [f.peak_kb for f in figures if f.peak_kb is not None]
        print(
            f"| {case.title} | {peer} | {seconds[peer]:g} | {figures[0].delivered:,} "
            f"| {statistics.median(f.run_s for f in figures):.2f} "
            f"| {statistics.median(f.cpu_s - f.run_s for f in figures):.2f} "
            f"| {1 / statistics.median(us):.3f} "
            f"| {statistics.median(us):.2f} ({min(us):.2f} to {max(us):.2f}) "
            f"| {'-' if ratio is None else f'{ratio:.1f}'} "
            f"| {f'{max(peaks) / 1024:.1f}' if peaks else '-'} |",
            flush=True,
        )


def simulated(peer: str, case: Case, make: Command, run: Run) -> dict[str, Any]:
    """What a run says about the bottleneck and the flows."""
    did = once(make(run))[1] | {"seconds": run.seconds}
    if peer == "Spillgate":
        for key, (path, _) in watched(case).items():
            did[key] = did["values"].get(path)
        did["drops"] = did["arrivals"] * did["loss"]
    if not case.tcp:
        did["jain"] = None
    return did


def interval(values: list[float]) -> str:
    """Mean with the half width of its 95 % interval (Student), to two digits of that."""
    mean = statistics.mean(values)
    if len(values) not in T_975:
        return f"{mean:,.4g}"
    half = T_975[len(values)] * statistics.stdev(values) / math.sqrt(len(values))
    digits = 1 - math.floor(math.log10(half)) if half > 0 else 3
    # More than three decimals say nothing here.
    digits = min(max(digits, 0), 3)
    return f"{mean:,.{digits}f} ± {half:.{digits}f}"


def per_second(key: str) -> Callable[[dict[str, Any]], float | None]:
    """How often something happened in a simulated second."""
    return lambda run: None if run.get(key) is None else run[key] / run["seconds"]


# Title, and the value from what a run says.
CHECKED: dict[str, Callable[[dict[str, Any]], float | None]] = {
    "delivered / s": per_second("delivered"),
    "loss %": lambda run: 100 * run["drops"] / run["arrivals"],
    # htsim's queues keep neither.
    "mean queue, packets": lambda run: run.get("mean_queue"),
    "utilization %": lambda run: (
        None if run.get("utilization") is None else 100 * run["utilization"]
    ),
    "Jain's index": lambda run: run.get("jain"),
    "sent again / s": per_second("retransmits"),
    "timeouts / s": per_second("timeouts"),
}


def check_case(
    name: str, case: Case, who: dict[str, Command], repeats: int, *, quick: bool
) -> None:
    """Compare what the simulators say about one case; seeds 1, 2, ..."""
    for peer, make in who.items():
        seconds = case.length(peer, quick=quick)
        if not seconds:
            continue
        runs = [
            simulated(peer, case, make, Run(name, seconds, watch=True, seed=seed))
            for seed in range(1, repeats + 1)
        ]
        cells = []
        for value in CHECKED.values():
            values = [v for run in runs if (v := value(run)) is not None]
            cells.append(interval(values) if len(values) == len(runs) else "-")
        print(f"| {case.title} | {peer} | {seconds:g} | {' | '.join(cells)} |", flush=True)


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
        "ns-2 trimmed": ns2_trimmed,
        "ns-3": ns3,
        "ns-3 local": ns3_local,
        "htsim": htsim,
        "ns.py": nspy,
    }
    names = {n.lower(): n for n in (*CASES, *find)}
    if unknown := [w for w in args.only if w.lower() not in names]:
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(names.values())}")
    only = {names[w.lower()] for w in args.only}
    # Headers make a packet no different, only slower.
    every = [p for p in find if not (args.check and p == "ns-2 trimmed")]
    peers = [p for p in find if p in only] or every
    cases = [c for c in CASES if c in only] or list(CASES)
    who = {peer: command for peer in peers if (command := find[peer]())}
    print(
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}; {args.repeats} rounds\n"
    )
    if args.check:
        columns = ["case", "simulator", "simulated s", *CHECKED]
    else:
        columns = [
            "case",
            "simulator",
            "simulated s",
            "delivered",
            "CPU s",
            "start-up s",
            "M packets / CPU s",
            "CPU us / packet (min to max)",
            "times Spillgate",
            "peak MB",
        ]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name in cases:
        case = CASES[name]
        here = dict(who)
        for peer in [p for p in here if kind(p) in case.by_name]:
            if not (peer in only and name in only):
                del here[peer]
                skip(f"{peer} on {name}", f"takes minutes; name both: --only {name} '{peer}'")
        run = check_case if args.check else time_case
        run(name, case, here, args.repeats, quick=args.quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
