"""Choosing points: `--where` and `Results.where`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import spillgate
from spillgate import InputError, OutputError
from spillgate.cli import main
from spillgate.points import Axis, Point
from spillgate.where import numbers_of

FIRST = Path("examples/first/scenario.yaml").read_text(encoding="utf-8")
AXES = """\
axes:
  - {name: load, set: traffic.data.source.rate, values: [1 Mb/s, 2 Mb/s, 3 Mb/s]}
  - {name: limit, set: policies.fifo.fifo.limit, values: [20 packets, 50 packets]}
"""
SHORT = {"measurement.duration": "1 s"}


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("study") / "run"
    spillgate.run(FIRST + AXES, runs=2, set=SHORT).save(where)
    return where


@pytest.fixture
def results(study: Path) -> spillgate.Results:
    return spillgate.load(study)


@pytest.mark.parametrize(
    ("where", "loads", "limits", "variants"),
    [
        ("load=2 Mb/s", ["2 Mb/s"], ["20 packets", "50 packets"], ["fifo", "llq"]),
        ("load=2000 kb/s, limit=20", ["2 Mb/s"], ["20 packets"], ["fifo", "llq"]),
        ("load=1 Mb/s,3 Mb/s,variant=llq", ["1 Mb/s", "3 Mb/s"], None, ["llq"]),
        ("load=1.5 Mb/s..", ["2 Mb/s", "3 Mb/s"], None, ["fifo", "llq"]),
        ("load=..2 Mb/s,limit=50 packets", ["1 Mb/s", "2 Mb/s"], ["50 packets"], None),
        ({"load": 3e6, "variant": ["fifo"]}, ["3 Mb/s"], None, ["fifo"]),
    ],
)
def test_points_are_chosen(
    results: spillgate.Results,
    where: str | dict[str, object],
    loads: list[str],
    limits: list[str] | None,
    variants: list[str] | None,
) -> None:
    found = results.where(where)
    load, limit = found.description.axes
    assert list(load.labels) == loads
    assert list(limit.labels) == (limits or ["20 packets", "50 packets"])
    assert load.numbers == tuple(float(v.split()[0]) * 1e6 for v in loads)
    assert sorted({p.variant for p in found.description.points}) == (variants or ["fifo", "llq"])
    # What is said of a point is the same, however it was chosen.
    for name in found.description.variants:
        for mine in found.table(scope="class", variant=name, metric="owd_mean"):
            assert mine == results.value(name, "class", mine.name, "owd_mean")
    names = set(found.description.variants)
    assert [v for v in results.verdicts if v.variant in names] == list(found.verdicts)
    assert found.conclusion is not None
    assert f"of {len(found.verdicts)} requirements" in found.conclusion.tally
    point = found.description.points[-1]
    assert found.table(at={"load": loads[-1]}, variant=point.variant, metric="owd_mean")


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("lod=1", "there is no axis 'lod'; there are: load, limit, variant"),
        ({"lod": 1}, "there is no axis 'lod'; there are: load, limit, variant"),
        ("load=4 Mb/s", "no '4 Mb/s' on the axis load; there are 1 Mb/s, 2 Mb/s, 3 Mb/s"),
        ({"load": 4e6}, "no 4000000.0 on the axis load"),
        ("load=2 s", "no '2 s' on the axis load"),
        ("load=4 Mb/s..", "no value of the axis load is in 4 Mb/s"),
        ("load=x..", "no 'x' on the axis load"),
        ("load=1 Mb/s,load=2 Mb/s", "the axis load occurs twice; write load=A,B"),
        ("variant=wfq", "no 'wfq' on the axis variant; there are fifo, llq"),
        ("2 Mb/s", "'2 Mb/s' is no AXIS=VALUE; there are: load, limit, variant"),
        ("load=", "no '' on the axis load"),
        ("", "write AXIS=VALUE"),
    ],
)
def test_mistakes_say_what_there_is(
    results: spillgate.Results, where: str | dict[str, object], said: str
) -> None:
    with pytest.raises(InputError) as caught:
        results.where(where)
    assert said in str(caught.value)


def test_values_may_have_commas_and_signs() -> None:
    axes = [Axis("failure", ("none", "a-b, b-a", "x=1", "load=2")), Axis("load", ("1", "2"))]
    places = [(i, j) for i in range(4) for j in range(2)]
    points = [Point(str(at), "A", at) for at in places]
    found = {
        "failure=a-b, b-a,load=2": [(1, 1)],
        "failure=none,a-b, b-a,x=1": [p for p in places if p[0] < 3],
        "failure=load=2,load=1": [(3, 0)],
        "failure=none..x=1,load=1": [(0, 0), (1, 0), (2, 0)],
    }
    for where, at in found.items():
        assert [places[n] for n in numbers_of(axes, points, where)] == at, where
    with pytest.raises(InputError, match="no point has these values together"):
        numbers_of(axes, points[:1], "failure=none,load=2")


def test_a_choice_can_be_chosen_of_and_judged_again(results: spillgate.Results) -> None:
    found = results.where("variant=llq").where("load=1 Mb/s")
    assert found.description.extent() == "2 points (1 load × 2 limit)"
    assert found.judge(correction="holm").description.extent() == found.description.extent()
    assert found.to_dict()["runs_completed"] == 4
    assert set(found.to_pandas()["load"]) == {1e6}


def test_a_choice_is_no_study(results: spillgate.Results, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="save what they were chosen of"):
        results.where("load=1 Mb/s").save(tmp_path / "some")
    assert list(tmp_path.iterdir()) == []


def test_results_that_are_not_stored_are_chosen_of() -> None:
    results = spillgate.run(FIRST, runs=2, set=SHORT)
    found = results.where("variant=llq")
    assert found.description.variants == ("llq",)
    assert found.classes() == results.classes(variant="llq")


def test_tables_and_figures_are_of_the_chosen_points(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.yaml").write_text(FIRST + AXES, encoding="utf-8")
    out = tmp_path / "run"
    common = ("run", str(tmp_path / "s.yaml"), "--runs", "2", "--set", "measurement.duration=1 s")
    where = ("--where", "load=1 Mb/s,variant=llq")
    assert main([*common, *where, "--out", str(out), "--format", "json", "--quiet"]) in (0, 1, 3)
    printed = json.loads(capsys.readouterr().out)
    names = [f"llq (load=1 Mb/s, limit={n} packets)" for n in (20, 50)]
    assert sorted({r["variant"] for r in printed["summary"]}) == sorted(names)
    saved = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert len({r["variant"] for r in saved["summary"]}) == 12
    again = ["run", "--resume", str(out), *where, "--figures", "default", "--no-report"]
    assert main([*again, "--all"]) in (0, 1, 3)
    assert "of 4 requirements" in capsys.readouterr().out
    assert (out / "figures" / "delay.png").is_file()


def test_a_wrong_choice_is_said_before_anything_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "s.yaml").write_text(FIRST + AXES, encoding="utf-8")
    out = tmp_path / "run"
    assert main(["run", str(tmp_path / "s.yaml"), "--where", "lod=1", "--out", str(out)]) == 2
    assert "there is no axis 'lod'; there are: load, limit, variant" in capsys.readouterr().err
    assert not out.exists()
