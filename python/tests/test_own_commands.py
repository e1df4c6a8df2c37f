"""Commands that take code of one's own, and those that refuse it."""

import json
import subprocess
import sys

import pytest

SCENARIO = """
schema_version: 1
topology:
  nodes: [a, b]
  links:
    wan: {from: a, to: b, rate: 2 Mb/s, delay: 10 ms, policy: Q, duplex: true}
policies:
  Q: POLICY
traffic:
  - flow: {name: bulk, count: 2, from: a, to: b, tcp: {cc: reno}}
measurement: {warmup: 1 s, duration: 3 s}
runs: {count: 3}
sla:
  - {class: bulk, metric: goodput, min: 1 Mb/s}
axes: [{name: limit, set: KEY.limit, values: [5, 30]}]
"""

CODE = """
from collections import deque


class Queue:
    version = "1"

    def __init__(self, limit=40):
        self.limit, self.waiting = limit, deque()

    def enqueue(self, packet, queue):
        if len(self.waiting) == self.limit:
            return "full"
        self.waiting.append(packet)

    def dequeue(self, queue):
        return self.waiting.popleft()


class Limit:
    version = "1"

    def __init__(self, limit=40):
        self.limit = limit

    def on_enqueue(self, packet, queue):
        return "drop" if queue.packets >= self.limit else "pass"
"""

KINDS = {
    "scheduler": ("{mine: {limit: 30}}", "policies.Q.mine", "mine=mine:Queue"),
    "aqm": ("{fifo: {aqm: {mine: {limit: 30}}}}", "policies.Q.fifo.aqm.mine", "mine=mine:Limit"),
}


@pytest.fixture(params=KINDS)
def given(request, tmp_path):
    """A folder with a scenario and code, and the option that gives the code."""
    policy, key, code = KINDS[request.param]
    (tmp_path / "mine.py").write_text(CODE)
    text = SCENARIO.replace("POLICY", policy).replace("KEY", key)
    (tmp_path / "s.yaml").write_text(text)
    (tmp_path / "one.yaml").write_text(text.partition("axes:")[0])
    return tmp_path, (f"--{request.param}", code)


def command(given, *arguments, code=True):
    folder, option = given
    return subprocess.run(
        [sys.executable, "-m", "spillgate", *arguments, *(option if code else ())],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_best_takes_it(given):
    asked = ("--smallest", "bulk:owd_mean", "--within", "1 ms", "--first", "3", "--most", "3")
    done = command(given, "best", "s.yaml", *asked, "--quiet", "--format", "json")
    assert done.returncode == 0, done.stderr
    assert "limit=5" in done.stdout


def test_find_takes_it(given):
    rate = ("--smallest", "topology.links.wan.rate", "--from", "1 Mb/s", "--to", "3 Mb/s")
    done = command(
        given, "find", "one.yaml", *rate, "--within", "500 kb/s", "--first", "3", "--most", "3",
        "--quiet", "--format", "json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_tune_takes_it(given):
    pytest.importorskip("optuna")
    done = command(given, "tune", "s.yaml", "--trials", "8", "--quiet", "--out", "out")
    assert done.returncode in (0, 1, 3), done.stderr
    assert (given[0] / "out").is_dir()


def test_packets_of_a_saved_run_are_explained_with_it(given):
    done = command(given, "run", "one.yaml", "--runs", "1", "--no-report", "--quiet", "--out", "o")
    assert done.returncode in (0, 1, 3), done.stderr
    told = command(given, "explain", "o", "--worst", "1")
    assert told.returncode == 0, told.stderr
    assert "repeated with the same fingerprint" in told.stdout
    written = command(given, "pcap", "o", "wan:out")
    assert written.returncode == 0, written.stderr
    report = command(given, "report", "o", "--worst", "1", "--force")
    assert report.returncode == 0, report.stderr
    told = command(given, "explain", "o", code=False)
    assert told.returncode == 2
    assert "is not given, without which nothing can be run" in told.stderr


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("bound", "s.yaml"), "no curve is known of an AQM or a scheduler of one's own"),
        (("export", "s.yaml", "--to", "tc"), "no router has an AQM or a scheduler of one's own"),
    ],
)
def test_what_cannot_have_it_says_why(given, arguments, why):
    done = command(given, *arguments, code=False)
    assert done.returncode == 2
    assert why in done.stderr.replace("\n", " ")
