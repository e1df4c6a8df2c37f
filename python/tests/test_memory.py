"""The estimate of memory against the peak of a process that does the runs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="SKIPPED: the peak of memory is read as Linux says it"
)

SCENARIO = """
schema_version: 1
topology:
  nodes: [a, b, {{name: c, count: {nodes}}}]
  links:
    wan: {{from: a, to: b, rate: 20 Mb/s, delay: 1 ms, policy: P, duplex: true}}
    spoke: {{from: b, to: c, rate: 100 Mb/s, delay: 1 ms, policy: Q, duplex: true}}
policies: {{P: {{fifo: {{limit: {limit} packets}}}}, Q: {{fifo: {{limit: 1000 packets}}}}}}
traffic:
  - flow:
      {{name: f, count: {flows}, class: f, from: a, to: c, source: {source}}}
measurement: {{warmup: 0 s, duration: 1 s, interval: 100 ms}}
runs: {{count: {runs}, seed: 1}}
"""

# 41: PR_SET_THP_DISABLE. What large pages round up to depends on what the kernel has left of them.
CHILD = """
import ctypes, json, sys, spillgate
ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)
results = spillgate.run(sys.argv[1], jobs=int(sys.argv[2]), series=[0])
lines = open("/proc/self/status").read().splitlines()
peak = next(int(s.split()[1]) for s in lines if s.startswith("VmHWM")) * 1024
print(json.dumps([results.description.memory_bytes, peak]))
"""


def measured(jobs: int, **shape: object) -> tuple[int, int]:
    """What was estimated, and the peak, of a process of its own."""
    source = f"{{poisson: {{rate: {shape['rate']}, packet: 200 B}}}}"
    text = SCENARIO.format(**shape, source=source)
    command = [sys.executable, "-c", CHILD, text, str(jobs)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    estimate, peak = json.loads(said)
    return estimate, peak


@linux
@pytest.mark.parametrize(
    ("jobs", "shape"),
    [
        (1, {"nodes": 1, "limit": 300, "flows": 20_000, "rate": "900 b/s", "runs": 2}),
        (1, {"nodes": 1, "limit": 1_000_000, "flows": 5, "rate": "150 Mb/s", "runs": 1}),
        (1, {"nodes": 3000, "limit": 300, "flows": 3000, "rate": "5 kb/s", "runs": 1}),
        (4, {"nodes": 500, "limit": 300, "flows": 4000, "rate": "4 kb/s", "runs": 8}),
    ],
    ids=["flows", "long queue", "nodes", "side by side"],
)
def test_the_estimate_is_within_a_factor_of_two(jobs: int, shape: dict[str, object]) -> None:
    """Beside what the program itself takes, measured by a run of next to nothing."""
    nothing = {"nodes": 1, "limit": 300, "flows": 1, "rate": "1 kb/s", "runs": 1}
    _, base = measured(1, **nothing)
    estimate, peak = measured(jobs, **shape)
    used = peak - base
    assert estimate / 2 <= used <= 2 * estimate, (estimate, used)
