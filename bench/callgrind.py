#!/usr/bin/env python3
"""Guard against regressions by counting the instructions of a hop under callgrind.

Instruction counts repeat exactly for one compiler, so they can gate where wall time cannot. Each case runs twice, for a
shorter and for a longer time: the difference, divided by the hops in it, is what a hop costs; what is left of the shorter run
is what it takes to start.

The counts of `bench/callgrind.json` belong to the compiler named there. Its reference does not move: a version may take so
many instructions as the commit named there and what was bought since; cases that joined later refer to the commit that they
joined with. With another compiler the guard says so, prints its counts and passes, because a difference would say nothing
about our change.

    python3 bench/callgrind.py [--bought "percentiles of backlogs by time"]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import features
import networks

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
BASELINE = ROOT / "bench" / "callgrind.json"
TOLERANCE = 0.02


@dataclass(frozen=True)
class Case:
    """What is counted.

    Attributes:
        scenario: A file, or what writes its text.
        durations: The shorter and the longer time that is measured, in ms.
        settings: What replaces values of the scenario.
    """

    scenario: str | Callable[[], str]
    durations: tuple[int, int]
    settings: tuple[str, ...] = ()


CASES = {
    "port": Case("bench/cases/port.yaml", (100, 400), ("measurement.warmup=0.1 s",)),
    "ce-node": Case(
        "examples/ce-node/scenario.yaml",
        (1000, 4000),
        (
            "variants=[]",
            "topology.links.wan.policy=CBWFQ-LLQ-WRED",
            "topology.links.wan.tx_ring=1 packet",
            "measurement.warmup=0.5 s",
        ),
    ),
    # Beyond the slow starts and their losses.
    "d50": Case("bench/cases/d50.yaml", (2000, 4000)),
    # Packets and acknowledgments meet on a grid of 8 us.
    "d50, 1,000 B": Case("bench/cases/d50.yaml", (2000, 4000), ("traffic.0.flow.tcp.mss=960 B",)),
    # Past the first flush.
    "fan": Case("bench/cases/fan.yaml", (1500, 3000)),
    "fq-codel": Case(
        lambda: features.port(features.PORTS["FQ-CoDel"], features.POISSON, 20), (50, 200)
    ),
    "mesh, drr": Case(lambda: networks.mesh("DRR"), (20, 60)),
    # Links are full and lose packets.
    "tcp mesh, fifo": Case(lambda: networks.tcp_mesh("FIFO"), (300, 400)),
    "tcp mesh, drr": Case(lambda: networks.tcp_mesh("DRR"), (300, 400)),
}


@dataclass(frozen=True)
class Count:
    """Instructions of a hop, and of everything that is no hop."""

    a_hop: float
    start: int


def run(binary: Path, scenario: str, settings: list[str]) -> tuple[int, int]:
    """Instructions and hops of one run."""
    command = [str(binary), scenario, *(word for s in settings for word in ("--set", s))]
    with tempfile.TemporaryDirectory() as folder:
        out = f"--callgrind-out-file={folder}/out"
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", out, *command],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"callgrind failed:\n{done.stderr}{done.stdout}")
    return int(found[1]), json.loads(done.stdout)["hops"]


def count(binary: Path, case: Case) -> Count:
    """What a hop of one case costs."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = case.scenario
        if not isinstance(scenario, str):
            file = Path(folder) / "scenario.yaml"
            file.write_text(scenario())
            scenario = str(file)
        found = []
        for ms in case.durations:
            time = [f"measurement.duration={ms} ms", f"measurement.interval={ms} ms"]
            found.append(run(binary, scenario, [*case.settings, *time]))
    (short, hops), (long, more) = found
    a_hop = (long - short) / (more - hops)
    return Count(a_hop=round(a_hop, 2), start=round(short - a_hop * hops))


def reference_of(baseline: dict[str, Any], name: str) -> float | None:
    """Instructions of a hop that the reference takes; none if there is no such case."""
    sources = (baseline["reference"], *baseline["joined"])
    return next((s["a_hop"][name] for s in sources if name in s["a_hop"]), None)


def allowed(baseline: dict[str, Any], name: str) -> float | None:
    """The same with what was bought since."""
    reference = reference_of(baseline, name)
    if reference is None:
        return None
    return reference + sum(b["a_hop"].get(name, 0.0) for b in baseline["bought"])


def main() -> int:
    """Compare the counts with what is allowed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--bought", metavar="WHAT", help="allow what a hop costs now, and write down for what"
    )
    parser.add_argument(
        "--binary", type=Path, default=TARGET / "release" / "spillgate-bench", help="what is run"
    )
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        print("callgrind guard SKIPPED: valgrind is not installed")
        return 0
    if not args.binary.exists():
        sys.exit(f"{args.binary} is missing: cargo build --release --locked -p spillgate-bench")
    compiler = subprocess.run(
        ["rustc", "--version"], capture_output=True, text=True, check=True
    ).stdout.strip()
    baseline = json.loads(BASELINE.read_text())
    comparable = baseline["compiler"] == compiler
    if not comparable:
        print(
            f"callgrind guard SKIPPED: baseline is of `{baseline['compiler']}`, this is `{compiler}`"
        )
    too_many, bought = False, {}
    for name, case in CASES.items():
        now = count(args.binary.resolve(), case)
        limit, reference = allowed(baseline, name), reference_of(baseline, name)
        shown = f"callgrind {name}: {now.a_hop:,.1f} instructions a hop, {now.start:,} to start"
        if limit is None or reference is None:
            print(f"{shown}; NO REFERENCE")
            too_many |= comparable
            continue
        bad = comparable and now.a_hop > limit * (1 + TOLERANCE)
        too_many |= bad
        bought[name] = round(now.a_hop - limit, 2)
        print(
            f"{shown}; allowed {limit:,.1f} ({now.a_hop / limit - 1:+.1%}), "
            f"reference {reference:,.1f} ({now.a_hop / reference - 1:+.1%})"
            f"{' TOO MANY' if bad else ''}"
        )
    if args.bought is None:
        return 1 if too_many else 0
    baseline["bought"].append({"what": args.bought, "a_hop": bought})
    BASELINE.write_text(json.dumps(baseline, indent=2) + "\n")
    print(f"wrote {BASELINE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
