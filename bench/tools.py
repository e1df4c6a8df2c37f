#!/usr/bin/env python3
"""Time the command line: what users wait for before anything runs, and whole studies.

Each case is a whole process. Figures are the operating system's account of it: CPU time, time on
the wall and peak resident memory (VmHWM of Linux, looked at until it ends); each is the least of
five, of studies of three.

    .venv/bin/python bench/tools.py [--check] [CASE ...]

With --check the exit status is 1 if a case misses its target. Modules have to be compiled, so
PYTHONDONTWRITEBYTECODE must not be set.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def points() -> str:
    """A scenario of 10,000 points."""
    loads = ", ".join(f"{1 + i / 100:.2f} Mb/s" for i in range(100))
    sizes = ", ".join(f"{500 + i} B" for i in range(100))
    return f"""schema_version: 1
topology:
  nodes: [a, b]
  links: {{wan: {{from: a, to: b, rate: 10 Mb/s, delay: 1 ms, policy: p}}}}
policies: {{p: {{fifo: {{limit: 100 packets}}}}}}
traffic:
  - flow: {{name: f, from: a, to: b, source: {{poisson: {{rate: 1 Mb/s, packet: 500 B}}}}}}
measurement: {{warmup: 1 s, duration: 10 s, interval: 1 s}}
runs: {{count: 10, seed: 1}}
axes:
  - {{name: load, set: traffic.f.source.rate, values: [{loads}]}}
  - {{name: size, set: traffic.f.source.packet, values: [{sizes}]}}
"""


def configuration() -> str:
    """51,000 lines: 200 policies of 50 classes, each of whose pairs of classes are compared."""
    lists = (
        f"ip access-list extended A{c}\n permit tcp any any eq {1000 + c % 50}\n"
        f"class-map match-all C{c}\n match access-group name A{c}\n"
        for c in range(10_000)
    )
    policies = (
        f"policy-map P{p}\n" + "".join(f" class C{50 * p + c}\n" for c in range(50))
        for p in range(200)
    )
    return "".join(lists) + "".join(policies)


@dataclass(frozen=True)
class Case:
    """Arguments of the command line, and what they may take.

    Attributes:
        name: What it is called; those of studies begin with "run".
        arguments: The command.
        most: CPU time in seconds, time on the wall in seconds, memory in MB; none where nothing is
            asked.
    """

    name: str
    arguments: list[str]
    most: tuple[float | None, float | None, float | None]


def cases(made: Path) -> Iterator[Case]:
    """What is timed; scenarios that are made go to a directory."""
    yield Case("help", ["--help"], (0.1, None, None))
    (made / "points.yaml").write_text(points(), encoding="utf-8")
    checked = ["check", str(made / "points.yaml")]
    yield Case("check of 10,000 points", checked, (10.0, None, None))
    (made / "r.cfg").write_text(configuration(), encoding="utf-8")
    yield Case("lint of 51,000 lines", ["check", str(made / "r.cfg")], (1.0, None, None))
    # Each run of a study is new, and replaces the directory of the one before.
    out = ["--out", str(made / "run"), "--force"]
    bench, node = ROOT / "bench/cases", ROOT / "examples/ce-node/scenario.yaml"
    yield Case("run of D50", ["run", str(bench / "d50.yaml"), *out], (0.35, None, None))
    yield Case("run of D10k", ["run", str(bench / "d10k.yaml"), *out], (5.5, None, None))
    second = ["--set", "measurement.warmup=0 s", "--set", "measurement.duration=1 s", *out]
    many = ["run", str(node), "--runs", "2000", *second]
    yield Case("run of 10,000 times 1 s, 5 points", many, (None, 25.0, 300.0))
    delays = ", ".join(f"{i / 10} ms" for i in range(1, 21))
    axis = f"axes=[{{name: delay, set: topology.links.wan.delay, values: [{delays}]}}]"
    many = ["run", str(node), "--runs", "100", "--set", axis, *second]
    yield Case("run of 10,000 times 1 s, 100 points", many, (None, 25.0, 300.0))


def resident_mb(process: int) -> float:
    """The most memory that a process has had resident so far, in MB of 10^6 bytes; 0 at its end."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return 0.0 if found is None else int(found[1]) * 1024 / 1e6


def spent(arguments: list[str]) -> tuple[float, float, float]:
    """CPU-seconds, seconds on the wall and MB of a process of the command line."""
    begun = time.monotonic()
    with Path(os.devnull).open("wb") as nowhere:
        child = subprocess.Popen(
            [sys.executable, "-m", "spillgate", *arguments], stdout=nowhere, stderr=nowhere
        )
        peak, ended = 0.0, 0
        while not ended:
            # Of a child whose parent was larger, ru_maxrss says how large that was.
            peak = max(peak, resident_mb(child.pid))
            time.sleep(0.005)
            ended, status, usage = os.wait4(child.pid, os.WNOHANG)
    wall = time.monotonic() - begun
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1, 3):
        sys.exit(f"spillgate {' '.join(arguments)}: exit status {child.returncode}")
    return usage.ru_utime + usage.ru_stime, wall, peak


def main() -> int:
    """Print the table."""
    wanted = {w for w in sys.argv[1:] if not w.startswith("-")}
    print("| what | CPU s | wall s | peak MB | asked | met |\n|---|---|---|---|---|---|")
    missed = False
    with tempfile.TemporaryDirectory() as made:
        for case in cases(Path(made)):
            if wanted and case.name not in wanted:
                continue
            times = 3 if case.name.startswith("run") else 5
            runs = [spent(case.arguments) for _ in range(times)]
            least = [min(of) for of in zip(*runs, strict=True)]
            asked = [
                (value <= most, f"{most:g} {unit}")
                for value, most, unit in zip(least, case.most, ("CPU s", "s", "MB"), strict=True)
                if most is not None
            ]
            met = all(one for one, _ in asked)
            missed |= not met
            limits = ", ".join(text for _, text in asked)
            cpu, wall, peak = least
            print(
                f"| {case.name} | {cpu:.2f} | {wall:.2f} | {peak:.0f} | {limits} | "
                f"{'yes' if met else 'NO'} |",
                flush=True,
            )
    return int(missed and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
