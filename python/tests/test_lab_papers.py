"""The scenarios of the lab's figures of papers: what runs there is what runs behind the claims."""

import importlib
import shutil

import pytest

from spillgate.run import Simulation
from spillgate_papers.lab import Effort, Lab

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


def digests(simulation):
    return {r.variant: r.digest for r in simulation.run().runs}


@pytest.mark.parametrize("paper", POINTS)
def test_every_point_of_a_figure_runs_as_the_papers_own(paper, root, tmp_path):
    points, seconds = POINTS[paper], SECONDS[paper]
    system = root / "papers" / "spillgate_papers" / paper / "system"
    for file in (*system.iterdir(), root / "web/src/scenarios" / f"paper-{paper}.yaml"):
        if file.is_file():
            shutil.copy(file, tmp_path)
    own = {"measurement.duration": f"{seconds} s"}
    shown = digests(Simulation(tmp_path / f"paper-{paper}.yaml", runs=1, seed=1, set=own))
    assert shown.keys() == points.keys()

    frame = importlib.import_module(f"spillgate_papers.{paper}").PAPER
    found = {k: case for b in frame.batches for k, case in b.cases().items()}
    lab = Lab(system, tmp_path / "lab", seed=1, runs=1, quick=False)
    warmup = 1 if paper == "mitroi" else 0
    cases = {name: found[place] for name, place in points.items()}
    assert digests(lab.simulation(cases, Effort(warmup, seconds, runs=1))) == shown
