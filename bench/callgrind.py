#!/usr/bin/env python3
"""Guard against regressions by counting instructions under callgrind.

Instruction counts repeat exactly for one compiler, so they can gate where wall
time cannot. The counts of `bench/callgrind.json` belong to the compiler named
there; with another compiler the guard says so, prints the new counts and
passes, because a difference would say nothing about our change.

    python3 bench/callgrind.py [--bless]
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
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
BINARY = TARGET / "release" / "spillgate-bench"
BASELINE = ROOT / "bench" / "callgrind.json"
TOLERANCE = 0.05
CASES = {
    "port": [
        "bench/cases/port.yaml",
        "--set",
        "measurement.warmup=0.1 s",
        "--set",
        "measurement.duration=0.4 s",
        "--set",
        "measurement.interval=0.4 s",
    ],
    "ce-node": [
        "examples/ce-node/scenario.yaml",
        "--set",
        "variants=[]",
        "--set",
        "topology.links.wan.policy=CBWFQ-LLQ-WRED",
        "--set",
        "topology.links.wan.tx_ring=1 packet",
        "--set",
        "measurement.warmup=0.5 s",
        "--set",
        "measurement.duration=4 s",
    ],
    # Long enough for the slow starts, their losses and congestion avoidance.
    "d50": [
        "bench/cases/d50.yaml",
        "--set",
        "measurement.duration=4 s",
    ],
    # Past the first flush.
    "fan": [
        "bench/cases/fan.yaml",
        "--set",
        "measurement.duration=3 s",
    ],
}


def count(args: list[str]) -> int:
    """Instructions that one case executes."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                f"--callgrind-out-file={folder}/out",
                str(BINARY),
                *args,
            ],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or not found:
        sys.exit(f"callgrind failed:\n{done.stderr}{done.stdout}")
    return int(found[1])


def main() -> int:
    """Compare the counts with the baseline."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--bless", action="store_true", help="make these counts the ones on record"
    )
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        print("callgrind guard SKIPPED: valgrind is not installed")
        return 0
    if not BINARY.exists():
        sys.exit(f"{BINARY} is missing: cargo build --release --locked -p spillgate-bench")
    compiler = subprocess.run(
        ["rustc", "--version"], capture_output=True, text=True, check=True
    ).stdout.strip()
    counts = {name: count(args) for name, args in CASES.items()}
    if args.bless:
        BASELINE.write_text(
            json.dumps({"compiler": compiler, "instructions": counts}, indent=2) + "\n"
        )
        print(f"wrote {BASELINE.name}: {counts}")
        return 0
    baseline = json.loads(BASELINE.read_text())
    comparable = baseline["compiler"] == compiler
    if not comparable:
        print(
            f"callgrind guard SKIPPED: baseline is of `{baseline['compiler']}`, this is `{compiler}`"
        )
    worse = False
    for name, now in counts.items():
        before = baseline["instructions"].get(name)
        if before is None:
            print(f"callgrind {name}: {now:,} instructions, NONE ON RECORD; run with --bless")
            worse |= comparable
            continue
        change = now / before - 1
        bad = comparable and change > TOLERANCE
        worse |= bad
        print(
            f"callgrind {name}: {now:,} instructions, baseline {before:,} ({change:+.2%}){' TOO MANY' if bad else ''}"
        )
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
