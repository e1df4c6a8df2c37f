"""Poisson flows into one queue, as Spillgate has them, for comparisons with other programs."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from beside import TOGETHER, Row, Values

import spillgate

SCENARIO = Path(__file__).resolve().parent / "cases" / "poisson.yaml"
SECONDS = 60.0
LINE = 10.0
"""Mb/s."""
FLOWS = 10
PACKET = 8000
"""Bits."""
WHAT = {
    "carried": ("carried", "Mb/s"),
    "first": ("of the first flow", "Mb/s"),
    "lost": ("lost", "%"),
    "queue": ("mean queue", "packets"),
}
"""What is compared: its words and its unit, by key."""


def ours(
    load: float, heavy: float, runs: int, policy: Mapping[str, Any], **changes: object
) -> Values:
    """What Spillgate says of each run: flows with this load, of which the first sends `heavy`."""
    offered = load * LINE
    rest = offered * (1 - heavy) / (FLOWS - 1)
    results = spillgate.run(
        SCENARIO,
        runs=runs,
        series=(),
        set={
            "policies.Q": policy,
            "traffic.0.flow.source.poisson.rate": f"{offered * heavy:.9g} Mb/s",
            "traffic.1.flow.count": FLOWS - 1,
            "traffic.1.flow.source.poisson.rate": f"{rest:.9g} Mb/s",
            **changes,
        },
    )

    def of(scope: str, name: str, metric: str, by: float = 1.0) -> list[float]:
        [samples] = results.samples(scope=scope, name=name, metric=metric)
        return [by * (v or 0.0) for v in samples.values]

    [queue] = {s.name for s in results.samples(scope="queue", metric="loss_ratio")}
    return {
        "carried": of("total", "all", "throughput", 1e-6),
        "first": of("flow", "first", "throughput", 1e-6),
        "lost": of("queue", queue, "loss_ratio", 100),
        "queue": of("queue", queue, "backlog_packets_mean"),
    }


def theirs(command: Callable[[int], Sequence[str]], runs: int) -> Values:
    """What another program says of each run, as a line of JSON; `command` runs it with a seed."""

    def run(seed: int) -> list[float]:
        done = subprocess.run(command(seed), capture_output=True, text=True, check=False)
        if done.returncode or not done.stdout.startswith("{"):
            raise RuntimeError(done.stderr or done.stdout)
        did = json.loads(done.stdout.splitlines()[-1])
        rate = PACKET / SECONDS / 1e6
        lost = 100 * did["drops"] / did["arrivals"]
        return [rate * did["delivered"], rate * did["first"], lost, did["mean_queue"]]

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(run, range(1, runs + 1)))
    return dict(zip(WHAT, map(list, zip(*found, strict=True)), strict=True))


def rows(
    names: Sequence[str],
    both: Callable[[str], tuple[Values, Values]],
    together: float = TOGETHER,
) -> Iterator[Row]:
    """Every value of these cases, of which `both` says what either program found."""
    level = 1 - (1 - together) / (len(names) * len(WHAT))
    for name in names:
        mine, other = both(name)
        for key, (what, unit) in WHAT.items():
            yield Row(name, what, unit, mine[key], other[key], level)
