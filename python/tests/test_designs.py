"""Studies: designs, how many runs each point gets, and each failure in turn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console

import spillgate
from spillgate import InputError, plot, report
from spillgate.cli.tables import outages as outage_tables
from spillgate.cli.verdicts import verdict_table
from spillgate.report.embedded import embedded
from spillgate.report.maps import verdict_maps
from spillgate.report.study import Study

FIRST = Path("examples/first/scenario.yaml").read_text(encoding="utf-8")
AXES = """\
axes:
  - {name: load, set: traffic.data.source.rate, from: 500 kb/s, to: 3 Mb/s, steps: 3}
  - {name: size, set: traffic.data.source.packet, from: 200 B, to: 1500 B, scale: log, steps: 3}
"""
SHORT = {"measurement.duration": "1 s"}
HYPERCUBE = AXES + "study: {design: {latin-hypercube: {points: 5}}}\n"


def wide(columns: int) -> Console:
    return Console(width=columns)


@pytest.fixture(scope="module")
def drawn() -> spillgate.Results:
    return spillgate.run(FIRST + HYPERCUBE, runs=2, set=SHORT)


def test_drawn_points_have_coordinates(drawn: spillgate.Results) -> None:
    d = drawn.description
    assert d.design == "latin-hypercube"
    assert d.extent() == "10 points (2 variants × latin-hypercube over load, size)"
    assert [len(a.labels) for a in d.axes] == [5, 5]
    frame = drawn.to_pandas()
    assert len(set(zip(frame["load"], frame["size"], strict=True))) == 5
    assert frame["load"].between(5e5, 3e6).all()
    delay = drawn.to_xarray()["owd_mean"]
    assert delay.dims == ("point", "name", "estimate")
    assert list(delay["point"].values) == list(d.variants)
    wanted = sorted(set(frame["load"]))
    assert sorted(set(delay["load"].values)) == wanted
    some = drawn.value("llq", "class", "voice", "owd_mean", at={"load": wanted[0]})
    assert some.mean == pytest.approx(
        float(
            delay.sel(name="voice", estimate="mean")
            .where((delay["load"] == wanted[0]) & (delay["variant"] == "llq"), drop=True)
            .item()
        )
    )
    assert json.loads(json.dumps(drawn.to_dict()))["scenario"]["design"] == "latin-hypercube"


def test_each_drawn_point_is_a_row_and_a_dot(
    drawn: spillgate.Results, capsys: pytest.CaptureFixture[str]
) -> None:
    verdict_table(wide(140), drawn)
    said = capsys.readouterr().out
    assert sum(label in said for label in drawn.description.axes[0].labels) == 5
    study = Study.of(drawn)
    data = json.loads(embedded(study).text)
    assert not data["full"]
    assert [len(a["places"]) for a in data["axes"]] == [10, 10]
    # Every point once in the map of each variant, the columns in the order of the first axis.
    first, *_ = verdict_maps(study)
    assert [b.title for b, _ in first.blocks] == ["fifo", "llq"]
    cells = [c.number for _, rows in first.blocks for _, row in rows for c in row if c]
    assert sorted(cells) == list(range(10))
    assert len(study.table().rows) == 10
    page = report.render(drawn)
    assert "latin-hypercube" in page
    figure = plot.sweep(drawn, "owd_p99", "load", names=["voice"])
    assert [line.get_linestyle() for line in figure.axes[0].lines[:1]] == ["None"]


def test_ranges_and_pairs() -> None:
    d = spillgate.check(FIRST + AXES)
    assert len(d.points) == 18
    assert d.axes[0].labels == ("500 kb/s", "1.75 Mb/s", "3 Mb/s")
    paired = spillgate.check(FIRST + AXES + "study: {design: paired}\n")
    assert [p.places for p in paired.points] == [(0, 0), (1, 1), (2, 2)] * 2
    with pytest.raises(InputError, match="lacks `steps`"):
        spillgate.check(FIRST + AXES.replace(", steps: 3", ""))


UNTIL = (
    "study: {replication: {first: 3, until: [{class: data, metric: owd_mean, within: 30 %}]}}\n"
)


def test_points_have_as_many_runs_as_they_need(tmp_path: Path) -> None:
    text = FIRST + UNTIL
    many = spillgate.run(text, runs=12, set=SHORT, jobs=2, store=tmp_path / "store")
    counts = {v: sum(r.variant == v for r in many.runs) for v in many.description.variants}
    assert all(3 <= n <= 12 for n in counts.values())
    assert not many.partial
    for variant, n in counts.items():
        if n < 12:
            # The interval of one look is within that of any number of looks.
            known = many.value(variant, "class", "data", "owd_mean")
            assert known.half is not None
            assert known.mean is not None
            assert known.half <= 0.3 * known.mean
    # On one thread the same, and from the store.
    alone = spillgate.run(text, runs=12, set=SHORT, jobs=1)
    assert [(r.variant, r.run, r.digest) for r in alone.runs] == [
        (r.variant, r.run, r.digest) for r in many.runs
    ]
    hard = spillgate.run(
        text.replace("30 %", "0.01 %"), runs=4, set=SHORT, store=tmp_path / "store"
    )
    assert len(hard.runs) == 8
    many.save(tmp_path / "run")
    assert not spillgate.load(tmp_path / "run").partial


RING = """\
schema_version: 1
topology:
  nodes: [a, b, c, d, e]
  links:
    ab: {from: a, to: b, rate: 10 Mb/s, delay: 2 ms, duplex: true}
    bc: {from: b, to: c, rate: 10 Mb/s, delay: 2 ms, duplex: true}
    ad: {from: a, to: d, rate: 10 Mb/s, delay: 20 ms, duplex: true, cost: 5}
    dc: {from: d, to: c, rate: 10 Mb/s, delay: 20 ms, duplex: true}
    de: {from: d, to: e, rate: 10 Mb/s, delay: 2 ms, duplex: true}
  routing: {detection: 50 ms, convergence: 200 ms}
traffic:
  - flow: {name: voice, from: a, to: c, source: {cbr: {rate: 64 kb/s, packet: 200 B}}}
measurement: {warmup: 1 s, duration: 4 s}
runs: {count: 2}
sla:
  - {class: voice, metric: owd_p99, max: 30 ms}
axes:
  - {name: failure, each: link, at: 3 s}
"""


def test_each_failure_is_judged(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    results = spillgate.run(RING)
    d = results.description
    assert [p.same for p in d.points] == [None, None, 0, None, 0, 0]
    # What carries nothing has the results of no failure.
    assert len(results.runs) == 12
    digests = {(r.variant, r.run): r.digest for r in results.runs}
    assert digests["failure=de", 1] == digests["failure=none", 1]
    assert digests["failure=ab", 1] != digests["failure=none", 1]
    delay, loss = results.outages()
    assert (delay.cls, delay.metric, delay.of, delay.idle) == ("voice", "owd_p99", 5, 3)
    assert set(delay.broken) == {"ab", "bc"}
    assert delay.worst in ("ab", "bc")
    assert delay.without is not None
    assert delay.value is not None
    assert delay.without < 0.006 < 0.04 < delay.value
    assert (loss.metric, loss.requirement, loss.without) == ("loss_ratio", "", 0.0)
    assert "is worst when" in loss.said()
    # All goes over `ad` and `dc`, of which sources loaded neither.
    assert (delay.busiest, delay.load, delay.load_without) == ("ad", 0.0064, 0.0)
    assert "sources then offer ad 0.64 % of its rate" in delay.said()
    assert [p.shift and (p.shift.moved, p.shift.cut) for p in d.points] == [
        None,
        (1, 0),
        (0, 0),
        (1, 0),
        (0, 0),
        (0, 0),
    ]
    outage_tables(wide(120), results)
    said = capsys.readouterr().out
    assert "2 of 5: " in said
    words = " ".join(said.split())
    assert "3 of 5 failures change no path and no load and were not simulated: ad, dc, de" in words
    assert "when ab fails: ad 0.64 % of its rate, 0 % without" in words
    assert "Each failure" in report.render(results)
    results.save(tmp_path / "run")
    found = json.loads((tmp_path / "run" / "results.json").read_text())["outages"]
    assert found[0]["class"] == "voice"
    again = spillgate.load(tmp_path / "run")
    assert again.outages() == results.outages()
