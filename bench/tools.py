#!/usr/bin/env python3
"""Time what users wait for before anything runs: help, reading, checking, linting.

Each case is a whole process; CPU time is the least of five.

    .venv/bin/python bench/tools.py [--check]

With --check the exit status is 1 if a case misses its target.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
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


def cases(made: Path) -> Iterator[tuple[str, list[str], float]]:
    """Names, arguments and most CPU-seconds."""
    yield "help", ["--help"], 0.1
    (made / "points.yaml").write_text(points(), encoding="utf-8")
    yield "check of 10,000 points", ["check", str(made / "points.yaml")], 10.0
    (made / "r.cfg").write_text(configuration(), encoding="utf-8")
    yield "lint of 51,000 lines", ["check", str(made / "r.cfg")], 1.0


def spent(arguments: list[str]) -> float:
    """CPU-seconds of a process of the command line."""
    with Path(os.devnull).open("wb") as nowhere:
        child = subprocess.Popen(
            [sys.executable, "-m", "spillgate", *arguments], stdout=nowhere, stderr=nowhere
        )
        _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode not in (0, 1):
        sys.exit(f"spillgate {' '.join(arguments)}: exit status {child.returncode}")
    return usage.ru_utime + usage.ru_stime


def main() -> int:
    """Print the table."""
    print("| what | CPU time | asked |\n|---|---|---|")
    missed = False
    with tempfile.TemporaryDirectory() as made:
        for name, arguments, most in cases(Path(made)):
            least = min(spent(arguments) for _ in range(5))
            missed |= least > most
            print(f"| {name} | {least:.2f} s | {most:g} s |")
    return int(missed and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
