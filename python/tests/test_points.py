"""Scenarios with axes: points, their columns and dimensions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import spillgate
from spillgate import InputError, plot, points, report
from spillgate.cli import main
from spillgate.cli.text import console
from spillgate.cli.verdicts import verdict_table
from spillgate.report.embedded import embedded
from spillgate.report.maps import verdict_maps
from spillgate.report.study import Study

FIRST = Path("examples/first/scenario.yaml").read_text(encoding="utf-8")
AXES = """\
axes:
  - {name: load, set: traffic.data.source.rate, values: [1 Mb/s, 3 Mb/s]}
  - name: size
    points:
      - {name: small, set: {traffic.data.source.packet: 500 B}}
      - {name: large, set: {traffic.data.source.packet: 1500 B}}
"""
SHORT = {"measurement.duration": "1 s"}


@pytest.fixture(scope="module")
def results() -> spillgate.Results:
    return spillgate.run(FIRST + AXES, runs=2, set=SHORT)


def test_points_are_in_order(results: spillgate.Results) -> None:
    d = results.description
    assert d.extent() == "8 points (2 variants × 2 load × 2 size)"
    assert [p.places for p in d.points] == [(0, 0), (0, 1), (1, 0), (1, 1)] * 2
    assert d.variants[5] == "llq (load=1 Mb/s, size=large)"
    load, size = d.axes
    assert (load.unit, load.values) == ("b/s", (1e6, 3e6))
    assert (size.unit, size.values) == (None, ("small", "large"))


def test_a_point_is_the_scenario_with_its_values(results: spillgate.Results) -> None:
    values = {"traffic.data.source.rate": "3 Mb/s", "traffic.data.source.packet": "500 B"}
    alone = spillgate.run(FIRST, runs=2, set=SHORT | values)
    at = {"load": 3e6, "size": "small"}
    for metric in ("owd_mean", "loss_ratio"):
        mine = results.value("llq", "class", "data", metric, at=at)
        theirs = alone.value("llq", "class", "data", metric)
        assert (mine.mean, mine.low) == (theirs.mean, theirs.low)
    samples = results.samples(scope="class", metric="jitter", name="voice", variant="llq", at=at)
    assert [s.values for s in samples] == [
        s.values
        for s in alone.samples(scope="class", metric="jitter", name="voice")
        if s.variant == "llq"
    ]
    assert len(results.series(where="class voice", at={"size": "large"})) == 4


def test_a_difference_is_at_the_same_coordinates(results: spillgate.Results) -> None:
    found = results.differences(cls="voice", metric="owd_mean")
    pairs = [(d.variant, d.against) for d in found]
    assert pairs == [(f"llq{p[4:]}", p) for p in results.description.variants[:4]]
    assert results.description.against == "fifo"


def test_coordinates_are_columns(results: spillgate.Results, tmp_path: Path) -> None:
    frame = results.to_pandas()
    assert set(frame["variant"]) == {"fifo", "llq"}
    assert set(frame["load"]) == {1e6, 3e6}
    assert set(frame["point"]) == set(results.description.variants)
    polars = results.to_polars()
    assert polars["load"].to_list() == frame["load"].to_list()
    results.save(tmp_path / "run")
    table = pd.read_parquet(tmp_path / "run" / "results.parquet")
    assert table.groupby(["variant", "load", "size"])["point"].nunique().tolist() == [1] * 8
    loaded = spillgate.load(tmp_path / "run")
    assert loaded.description == results.description
    pd.testing.assert_frame_equal(loaded.to_pandas(), frame)


def test_axes_are_dimensions(results: spillgate.Results) -> None:
    data = results.to_xarray()
    assert dict(data.sizes) == {"variant": 2, "load": 2, "size": 2, "name": 2, "estimate": 3}
    for at in ({"load": 1e6, "size": "small"}, {"load": 3e6, "size": "large"}):
        cell = data.owd_mean.sel(variant="llq", name="voice", **at)
        row = results.value("llq", "class", "voice", "owd_mean", at=at)
        assert cell.sel(estimate=["mean", "low", "high"]).to_numpy().tolist() == [
            row.mean,
            row.low,
            row.high,
        ]
    with pytest.raises(InputError, match="nothing in these results is of scope 'exp'"):
        results.to_xarray("exp")


def test_without_axes_nothing_changes() -> None:
    plain = spillgate.run(FIRST, runs=2, set=SHORT)
    assert "point" not in plain.to_pandas().columns
    assert "axes" not in plain.to_dict()["scenario"]
    assert dict(plain.to_xarray().sizes)["variant"] == 2
    assert plain.description.extent() == "2 variants"


def test_places_that_are_not_there(results: spillgate.Results) -> None:
    with pytest.raises(InputError, match="no axis 'rate'; there are: load, size"):
        results.table(at={"rate": 1})
    with pytest.raises(InputError, match="no '4 Mb/s' on the axis load; there are 1 Mb/s, 3 Mb/s"):
        results.table(at={"load": "4 Mb/s"})
    assert results.table(variant="none") == []


@pytest.mark.skipif(
    sys.platform != "linux", reason="SKIPPED: the peak of memory is read as Linux says it"
)
def test_ten_thousand_points_take_little_memory(tmp_path: Path) -> None:
    loads = ", ".join(f"{1 + i / 100:.2f} Mb/s" for i in range(100))
    sizes = ", ".join(f"{500 + i} B" for i in range(100))
    head = FIRST[: FIRST.index("variants:")]
    (tmp_path / "s.yaml").write_text(
        f"{head}axes:\n  - {{name: load, set: traffic.data.source.rate, values: [{loads}]}}\n"
        f"  - {{name: size, set: traffic.data.source.packet, values: [{sizes}]}}\n",
        encoding="utf-8",
    )
    script = (
        "import json, spillgate\n"
        f"d = spillgate.check({str(tmp_path / 's.yaml')!r})\n"
        "lines = open('/proc/self/status').read().splitlines()\n"
        "peak = next(int(s.split()[1]) for s in lines if s.startswith('VmHWM')) / 1e3\n"
        "print(json.dumps([len(d.points), peak]))\n"
    )
    said = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    points, megabytes = json.loads(said.stdout)
    assert points == 10_000
    assert megabytes < 200


def test_a_sweep_has_a_line_for_all_else(results: spillgate.Results) -> None:
    figure = plot.sweep(results, "owd_mean", "load", names=["voice"])
    axes = figure.axes[0]
    labels = [str(text.get_text()) for text in figure.legends[0].get_texts()]
    assert labels == ["fifo, size=small", "fifo, size=large", "llq, size=small", "llq, size=large"]
    assert axes.get_xlabel() == "load (Mb/s)"
    line = axes.containers[3].lines[0]
    assert list(line.get_xdata()) == [1.0, 3.0]
    row = results.value("llq", "class", "voice", "owd_mean", at={"load": 3e6, "size": "large"})
    assert row.mean is not None
    assert line.get_ydata()[1] == row.mean * 1e3
    named = plot.sweep(results.where("load=1 Mb/s"), "owd_mean", "size", variants=["llq"])
    assert [t.get_text() for t in named.axes[0].get_xticklabels()] == ["small", "large"]
    with pytest.raises(ValueError, match="there is no axis 'rate'; there are: load, size"):
        plot.sweep(results, "owd_mean", "rate")
    with pytest.raises(ValueError, match="there is no metric 'owd' of scope 'class'"):
        plot.sweep(results, "owd", "load")


def test_figures_of_sweeps_are_checked_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.yaml").write_text(FIRST + AXES, encoding="utf-8")
    figures = tmp_path / "figures.toml"
    head = '[[figure]]\nfile = "x"\nkind = "sweep"\nmetric = "owd_mean"\n'
    for line, said in (
        ('axis = "lod"', "figure x: there is no axis 'lod'; there are load, size"),
        (
            'axis = "load"\nwhere = "size=tiny"',
            "figure x: there is no 'tiny' on the axis size; there are small, large",
        ),
        ('axis = "load"\nrows = "lod"', "figure x: there is no axis 'lod'; there are load, size"),
        ('axis = "load"\nnames = ["video"]', "there is no class 'video'; there are voice, data"),
        ("", "a sweep needs a metric and an axis"),
    ):
        figures.write_text(head + line + "\n", encoding="utf-8")
        assert main(["run", str(tmp_path / "s.yaml"), "--figures", str(figures)]) == 2
        assert said in capsys.readouterr().err


@pytest.fixture(scope="module")
def judged() -> spillgate.Results:
    turned = AXES.replace("axes:\n", "")
    load, size = turned.split("  - name: size", 1)
    text = FIRST + "axes:\n  - name: size" + size + load
    return spillgate.run(text, runs=2, set=SHORT)


def test_the_last_axis_makes_the_columns(judged: spillgate.Results) -> None:
    found = points.grid(judged.description.axes, judged.description.points)
    assert found is not None
    assert (found.heads, found.axis.name) == (("variant", "size"), "load")
    names, columns = found.rows[1]
    variant = judged.description.points[0].variant
    assert names == (variant, "large")
    assert columns == tuple(f"{variant} (size=large, load={v} Mb/s)" for v in (1, 3))
    assert points.grid((), judged.description.points) is None


def test_a_point_that_is_not_there_leaves_its_place_empty() -> None:
    two = points.Axis("load", ("1", "2"))
    made = points.grid([two], [points.Point("A (load=2)", "A", (1,))])
    assert made is not None
    assert made.rows == ((("A",), (None, "A (load=2)")),)


def test_verdicts_stand_along_the_last_axis(judged: spillgate.Results) -> None:
    every, found, _ = verdict_maps(Study.of(judged))
    assert (every.title, found.exact) == ("All requirements", "owd_p99 ≤ 20 ms")
    assert [b.columns for b, _ in found.blocks] == [("1 Mb/s", "3 Mb/s")] * 2
    assert [head for _, rows in found.blocks for head, _ in rows] == ["small", "large"] * 2
    of = [v for v in judged.verdicts if v.metric == "owd_p99"]
    by = {v.variant: (v.verdict, v.measured) for v in of}
    cells = [c for _, rows in found.blocks for _, row in rows for c in row]
    assert [(c.verdict, c.text) for c in cells if c] == [
        by[p] for p in judged.description.variants
    ]
    assert 'class="cells roomy matrix grid"' in report.render(judged)


def test_verdicts_are_printed_along_the_last_axis(
    judged: spillgate.Results, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    variant = judged.description.points[0].variant
    monkeypatch.setenv("COLUMNS", "100")
    verdict_table(console(), judged)
    wide = capsys.readouterr().out
    assert "voice: owd_p99 ≤ 20 ms, measured in ms" in wide
    assert "1 Mb/s" in wide
    assert "±" in wide
    # Each name is said once, where it begins.
    assert wide.count(variant) == 2
    monkeypatch.setenv("COLUMNS", "40")
    verdict_table(console(), judged)
    narrow = capsys.readouterr().out
    assert "±" not in narrow
    assert max(map(len, narrow.splitlines())) <= 45


def test_what_the_script_draws_are_the_rows(judged: spillgate.Results) -> None:
    data = json.loads(embedded(Study.of(judged)).text)
    metric = next(i for i, m in enumerate(data["metrics"]) if m["name"] == "owd_p99")
    voice = data["classes"].index("voice")
    for i, point in enumerate(judged.description.points):
        row = judged.value(point.name, "class", "voice", "owd_p99")
        assert row.mean is not None
        assert data["mean"][voice][metric][i] == pytest.approx(row.mean * 1e3, rel=1e-5)
        assert data["half"][voice][metric][i] == pytest.approx((row.half or 0) * 1e3, rel=1e-4)
    first = data["requirements"][0]
    assert (first["whose"], first["text"], first["limit"]) == ("voice", "99 % delay ≤ 20 ms", 20)
    size, load = data["axes"]
    assert "at" not in size
    assert (load["at"], load["unit"]) == ([1, 3], "Mb/s")
    assert data["names"][1] == judged.description.points[1].name
