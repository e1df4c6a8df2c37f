import json
import math
import os
import signal
import subprocess
import sys
from array import array
from pathlib import Path

import pytest

from spillgate.result import Results
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
        "about": "voice",
        "whose": "voice",
        "requirement": "owd_p99 ≤ 20 ms",
        "words": "99 % delay ≤ 20 ms",
        "measured": "19.0 ±1.0 ms",
        "needs": further and str(further),
        "advice": further and f"about {further} more runs would decide",
    }


def conclusion(rows):
    """What the core says of verdicts on one requirement, one a variant."""
    if not rows:
        return None
    said = [r["verdict"] for r in rows]
    passed = [r["variant"] for r in rows if r["verdict"] == "pass"]
    headline = (
        "No variant passes every requirement. Most pass with FIFO and LLQ: 0 of 1; not for voice."
    )
    if passed:
        every = len(passed) == len(rows)
        rest = "that is every variant" if every else "not with the other variant"
        headline = f"The requirement passes with {' and '.join(passed)}; {rest}."
    tally = ", ".join(f"{said.count(w)} {w}" for w in ("pass", "fail", "undecided") if w in said)
    return {
        "verdict": min(said, key=("pass", "undecided", "fail").index),
        "headline": headline,
        "tally": f"{tally} of {len(rows)} requirements",
        "certainty": "each at 95 % for itself; --correction holm makes 95 % hold for all together",
    }


ASSUMPTIONS = (
    "No flow reacts to loss or delay (50 flows send what they send).",
    "± and verdicts come from 95 % Student-t intervals over 10 independent runs.",
    "Curves over time are of the first run of each variant.",
)


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
                "v": [0.0, 3.0, math.nan],
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


class Made:
    """Values as the core would give them."""

    def __init__(self, data):
        self.data = data

    def is_partial(self):
        return self.data.get("partial", False)

    def part(self, name):
        records = self.data.get(name, [])
        if name == "series":
            # NaN where undefined, as doubles.
            return [{**r, "v": array("d", map(float, r["v"]))} for r in records]
        return records

    def words(self):
        said = conclusion(self.data["verdicts"])
        return {"conclusion": said, "remarks": [], "assumptions": list(ASSUMPTIONS)}

    def summary(self, scopes, metrics, names):
        wanted = (("scope", scopes), ("metric", metrics), ("name", names))
        return [
            r
            for r in self.data["summary"]
            if all(not among or r[key] in among for key, among in wanted)
        ]

    def samples(self, scopes, metrics):
        wanted = (("scope", scopes), ("metric", metrics))
        return [
            r
            for r in self.data.get("samples", [])
            if all(not among or r[key] in among for key, among in wanted)
        ]

    def events(self):
        return 0

    def has_formulas(self, _):
        return False


def make_results(verdicts=("fail", "pass"), **changes):
    return Results(
        described(**changes),
        Made(parts(verdicts)),
        source=Source(Path("examples/first/scenario.yaml")),
        wall_s=1.0,
    )


@pytest.fixture
def made():
    """Results with known values."""
    return make_results()


# Fixtures of modules that run a paper, each for ten seconds or more; one paper is in every set.
RUNS_A_PAPER = {
    "test_chien": "quick",
    "test_shrivastav": "quick",
    "test_domzal": "tiny",
    "test_tcp_over_atm": "grid",
}


def pytest_collection_modifyitems(items):
    for item in items:
        module = item.nodeid.split("::")[0].rpartition("/")[2].removesuffix(".py")
        if RUNS_A_PAPER.get(module) in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.nightly)


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
