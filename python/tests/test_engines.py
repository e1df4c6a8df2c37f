"""What is made another way as a check is made, and changes no byte of the results."""

import json
from pathlib import Path

import pytest

import spillgate
from spillgate import _engine

CORPUS = Path(__file__).parents[2] / "corpus"
SHORT = {
    "measurement.warmup": "100 ms",
    "measurement.duration": "300 ms",
    "measurement.interval": "50 ms",
}


def progress_of(scenario, **options):
    """The results, and how far they were at the end."""
    seen = []
    return spillgate.run(scenario, **options, progress=seen.append), seen[-1]


def test_plain_runs_are_never_taken_from_express_ones(first, tmp_path):
    options = {"runs": 2, "set": SHORT, "store": tmp_path / "store"}
    express = spillgate.run(first, **options)
    plain, end = progress_of(first, **options, engine="plain")
    assert end.runs_kept == 0
    assert end.events == plain.events > express.events
    assert plain.to_dict(flows=True) == express.to_dict(flows=True)
    # Both are there now, and what goes on with results goes on with their engine.
    for engine, made in (("express", express), ("plain", plain)):
        again, end = progress_of(first, **options, engine=engine)
        assert (end.runs_kept, end.events) == (4, 0)
        assert (again.engine, again.events) == (engine, made.events)
    seen = []
    more = plain.extend(runs=3, progress=seen.append)
    assert more.engine == "plain"
    assert seen[-1].runs_kept == 4


def test_a_run_directory_keeps_its_engine(cli, first, tmp_path):
    study = ("--quiet", "--no-report", "--set", "measurement.duration=1 s")
    begun = ("run", first, *study, "--engine", "plain", "--runs", "2", "--out", "out")
    assert cli(*begun).returncode in (0, 1, 3)
    manifest = json.loads((tmp_path / "out/manifest.json").read_text())
    assert manifest["engine"] == "plain"
    loaded = spillgate.load(tmp_path / "out")
    assert (loaded.engine, loaded.events) == ("plain", manifest["events"])
    before = set(_engine.stored_runs(tmp_path / "out/runs"))
    for engine, made in (((), 2), (("--engine", "express"), 6)):
        resumed = ("run", "--resume", "out", *study, *engine, "--runs", "3")
        assert cli(*resumed).returncode in (0, 1, 3)
        found = set(_engine.stored_runs(tmp_path / "out/runs"))
        assert len(found - before) == made
        before = found


@pytest.mark.parametrize("name", ["atm.yaml", "atm-lines.yaml", "tcp.yaml"])
def test_results_are_the_same_on_any_number_of_threads(name, tmp_path):
    said = []
    for jobs in (1, 2, 3):
        # Points that are one may be made once, or at the same time.
        results = spillgate.run(
            CORPUS / name, runs=2, jobs=jobs, set=SHORT, store=tmp_path / f"store-{jobs}"
        )
        out = results.save(tmp_path / str(jobs))
        said.append(
            [(out / f).read_bytes() for f in ("results.json", "results.parquet", "series.parquet")]
        )
    assert said[0] == said[1] == said[2]


def test_exact_cells_are_made_beside_merged_ones(tmp_path):
    """Of variants of which one checks the other, both are made."""
    options = {"runs": 2, "set": SHORT, "store": tmp_path}
    _, end = progress_of(CORPUS / "atm.yaml", **options, jobs=1)
    assert end.runs_kept == 0


def test_ways_as_long_as_a_run_may_take():
    """200 days on the way: what is sent arrives after the end, on either engine."""
    scenario = """
schema_version: 1
topology:
  nodes: [a, b, c]
  links:
    first: {from: a, to: b, rate: 10 Mb/s, delay: 2400 h, duplex: true}
    then: {from: b, to: c, rate: 5 Mb/s, delay: 2400 h, duplex: true}
traffic:
  - flow: {name: cbr, from: a, to: c, stop: 5 s, source: {cbr: {rate: 1 Mb/s, packet: 1000 B}}}
  - flow: {name: tcp, from: a, to: c, stop: 5 s, tcp: {}}
measurement: {warmup: 1 s, duration: 4 s, grace: 100 h}
runs: {count: 1, seed: 1}
"""
    both = [spillgate.run(scenario, engine=e, ignore_memory=True) for e in ("express", "plain")]
    assert both[0].to_dict(flows=True) == both[1].to_dict(flows=True)
    delay = both[0].value(None, "class", "cbr", "owd_mean")
    assert delay.mean == pytest.approx(2 * 2400 * 3600)
    assert both[0].value(None, "class", "cbr", "loss_ratio").mean == 0
    with pytest.raises(spillgate.InputError, match=r"\[E0506\]"):
        spillgate.check(scenario.replace("grace: 100 h", "grace: 600 h"))
