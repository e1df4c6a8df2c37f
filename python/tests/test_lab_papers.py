"""The scenarios of the lab's figures of papers: what runs there is what runs behind the claims."""

import importlib
import json
import shutil
from pathlib import Path

import pytest
import yaml

from spillgate.run import Simulation
from spillgate_papers.lab import Effort, Lab

ROOT = Path(__file__).parents[2]
SILENCES = ("0 s", "10 s", "20 s", "40 s", "60 s")
SCHEMES = ("drop-tail", "RED", "modified RED")
SPEEDUPS = ("1.1", "1.3", "1.5", "2", "2.5")
INSIDE = ("CBWFQ", "CBWFQ-LLQ", "CBWFQ-LLQ-WRED")
MECHANISMS, TIMERS = ("EFM", "RAEF", "RBAEF"), (1, 2, 5, 10, 20)
POINTS = {
    "chien": {f"{x} (silence={t})": f"{x}, off {t}" for x in ("RIO", "A-RIO") for t in SILENCES},
    "domzal": {f"{m}, {t} s": f"PFQ, {m}, {t} s" for m in MECHANISMS for t in TIMERS},
    "mitroi": {p: p for p in ("FIFO", "WFQ", *INSIDE, *(f"MPLS-{p}" for p in INSIDE))},
    "shrivastav": {
        f"{x} (speedup={s})": f"4 x 4, parallel, {x}, {s}, 800" for x in SCHEMES for s in SPEEDUPS
    },
    "zheng": {x: f"nrt-VBR, {x}" for x in ("DSRED", "RED")},
}
"""The names of points in the lab, and in the paper."""
SECONDS = {"chien": 12, "domzal": 65, "mitroi": 1, "shrivastav": 8, "zheng": 4}
"""Seconds after which traffic of every kind has begun."""
MOVED = json.loads((ROOT / "web/tests/fixtures/papers/points.json").read_text(encoding="utf-8"))
"""Points under other settings, as the page's own test has them."""


def digests(simulation):
    return {r.variant: r.digest for r in simulation.run().runs}


def in_lab(paper, tmp_path, own):
    """Each point of a figure, run once for a short time."""
    system = ROOT / "papers" / "spillgate_papers" / paper / "system"
    for file in (*system.iterdir(), ROOT / f"web/src/scenarios/paper-{paper}.yaml"):
        if file.is_file():
            shutil.copy(file, tmp_path)
    own = {"measurement.duration": f"{SECONDS[paper]} s", **own}
    return digests(Simulation(tmp_path / f"paper-{paper}.yaml", runs=1, seed=1, set=own))


def in_paper(paper, tmp_path, points):
    """The paper's own points, run as long; by the names that they have in the lab."""
    frame = importlib.import_module(f"spillgate_papers.{paper}").PAPER
    found = {k: case for b in frame.batches for k, case in b.cases().items()}
    system = ROOT / "papers" / "spillgate_papers" / paper / "system"
    lab = Lab(system, tmp_path / "lab", seed=1, runs=1, quick=False)
    for name, text in frame.files.items():
        lab.write(name, text)
    warmup = 1 if paper == "mitroi" else 0
    cases = {name: found[place] for name, place in points.items()}
    return digests(lab.simulation(cases, Effort(warmup, SECONDS[paper], runs=1)))


@pytest.mark.parametrize("paper", POINTS)
def test_every_point_of_a_figure_runs_as_the_papers_own(paper, tmp_path):
    shown = in_lab(paper, tmp_path, {})
    assert shown.keys() == POINTS[paper].keys()
    assert in_paper(paper, tmp_path, POINTS[paper]) == shown


@pytest.mark.parametrize("of", MOVED, ids=lambda of: f"{of['paper']} {of['query']}")
def test_settings_of_a_figure_lead_to_the_papers_other_points(of, tmp_path):
    own = dict(text.split("=", 1) for text in of["set"])
    shown = in_lab(of["paper"], tmp_path, {k: yaml.safe_load(x) for k, x in own.items()})
    there = {of["variant"]: of["place"]}
    assert in_paper(of["paper"], tmp_path, there)[of["variant"]] == shown[of["variant"]]
    assert in_lab(of["paper"], tmp_path, {})[of["variant"]] != shown[of["variant"]]
