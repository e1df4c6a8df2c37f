import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spillgate.result import Results
from spillgate.saved import Saved
from spillgate.scenario import Description
from spillgate.source import Source

VARIANTS = ("FIFO", "LLQ")
CLASSES = ("voice", "data")


def summary_row(variant, scope, name, metric, unit, mean, half=0.0, n=10):
    ends = (None, None) if half is None else (mean - half, mean + half)
    return {
        "variant": variant,
        "scope": scope,
        "name": name,
        "metric": metric,
        "unit": unit,
        "mean": mean,
        "low": ends[0],
        "high": ends[1],
        "n": n,
    }


def verdict_row(variant, verdict, *, further=None):
    return {
        "variant": variant,
        "class": "voice",
        "metric": "owd_p99",
        "unit": "s",
        "bound": 0.02,
        "side": "max",
        "mean": 0.019,
        "low": 0.018,
        "high": 0.020,
        "n": 10,
        "verdict": verdict,
        "further_runs": further,
    }


def scenario_record(**changes):
    return {
        "name": "Two queues",
        "hash": "0123456789abcdef0123456789abcdef",
        "files": ["policies.cfg"],
        "seed": 7,
        "runs": 10,
        "variants": list(VARIANTS),
        "classes": list(CLASSES),
        "links": [{"name": "wan", "from": "a", "to": "b", "rate": 1e8, "delay": 1e-3}],
        "policies": [["FIFO"], ["LLQ"]],
        "flows": 50,
        "warnings": ["policies.cfg:5: the shares add up to 100 %"],
        "unmodelled": [
            {"file": "policies.cfg", "line": 9, "text": " log", "reason": "not modelled"}
        ],
        "memory_bytes": 1_000_000,
        "jobs": 2,
        "measurement": {"warmup": 5.0, "duration": 60.0, "interval": 1.0},
        "sla": [{"class": "voice", "metric": "owd_p99", "unit": "s", "max": 0.02, "min": None}],
        **changes,
    }


def described(**changes):
    return Description.from_json(scenario_record(**changes))


def parts(verdicts=("fail", "pass")):
    metrics = (
        ("offered", "b/s", 15e6),
        ("throughput", "b/s", 12.2e6),
        ("loss_ratio", "1", 0.187),
        ("owd_mean", "s", 0.0048),
        ("owd_p99", "s", 0.0061),
        ("jitter", "s", 0.00021),
        ("pdv", "s", 0.0049),
    )
    rows = [
        summary_row(v, scope, name, metric, unit, mean * (1 + i) / (1 + k), 0.01 * mean)
        for k, v in enumerate(VARIANTS)
        for scope, names in (("class", CLASSES), ("dscp", ("ef", "default")), ("flow", ("f-0",)))
        for i, name in enumerate(names)
        for metric, unit, mean in metrics
    ]
    return {
        "summary": rows,
        "verdicts": [
            verdict_row(v, said, further=12 if said == "undecided" else None)
            for v, said in zip(VARIANTS, verdicts, strict=True)
        ],
        "differences": [],
        "transients": [],
        "runs": [
            {"variant": v, "run": i, "seed": 7, "digest": f"{i:032x}", "packets": 4}
            for v in VARIANTS
            for i in range(10)
        ],
        "series": [
            {
                "variant": v,
                "run": 0,
                "where": f"wan/{c}",
                "metric": "backlog_packets",
                "unit": "packets",
                "start": 0.0,
                "step": 1.0,
                "v": [0.0, 3.0, None],
            }
            for v in VARIANTS
            for c in CLASSES
        ],
        "distributions": [
            {
                "variant": v,
                "class": c,
                "q": [0.0, 0.5, 0.99, 1.0],
                "owd": [0.001, 0.002, 0.004, 0.005],
            }
            for v in VARIANTS
            for c in CLASSES
        ],
    }


class Made(Saved):
    """Values as they would be loaded, without a table."""

    def __init__(self, data, **changes):
        super().__init__({"scenario": scenario_record(**changes), **data}, None)
        self.data = self._data

    def part(self, name):
        return self.data.get(name, []) if name == "admission" else super().part(name)

    def summary(self, scopes, metrics, names):
        wanted = (("scope", scopes), ("metric", metrics), ("name", names))
        return [
            r
            for r in self.data["summary"]
            if all(not among or r[key] in among for key, among in wanted)
        ]

    def write_parquet(self, path):
        Path(path).write_bytes(b"PAR1")

    def write_series(self, path):
        Path(path).write_bytes(b"PAR1")


def make_results(verdicts=("fail", "pass"), **changes):
    return Results(
        described(**changes),
        Made(parts(verdicts), **changes),
        source=Source(Path("examples/first/scenario.yaml")),
        wall_s=1.0,
    )


@pytest.fixture
def made():
    """Results with known values."""
    return make_results()


@pytest.fixture(scope="session")
def first(root):
    """The first example."""
    return root / "examples/first/scenario.yaml"


@pytest.fixture(autouse=True)
def tall_screen(monkeypatch):
    """A screen for everything that a command says."""
    monkeypatch.setenv("LINES", "1000")


class Cli:
    """The installed command line in a process of its own."""

    def __init__(self, cwd):
        self.cwd = cwd
        self.environment = {
            **{k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")},
            "PYTHONIOENCODING": "utf-8",
        }

    def start(self, *arguments, **environment):
        return subprocess.Popen(
            [sys.executable, "-m", "spillgate", *map(str, arguments)],
            cwd=self.cwd,
            env={**self.environment, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            # What a shell starts in the background ignores Ctrl-C, and so would this.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    def __call__(self, *arguments, **environment):
        process = self.start(*arguments, **environment)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)


@pytest.fixture
def cli(tmp_path):
    """Calls the command line in an empty directory."""
    return Cli(tmp_path)


@pytest.fixture
def manifest():
    """Reads the manifest of a run directory."""

    def read(directory):
        return json.loads((directory / "manifest.json").read_text(encoding="utf-8"))

    return read
