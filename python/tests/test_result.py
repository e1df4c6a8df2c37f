import builtins
import json

import pytest

import spillgate
from conftest import make_results
from spillgate import report, rundir
from spillgate.errors import InputError, MissingDependencyError, OutputError
from spillgate.result import SCOPES, WORDS


def test_rows_are_chosen_by_all_criteria(made):
    rows = made.table(scope="class", metric="owd_mean")
    assert [(r.variant, r.name) for r in rows] == [
        ("FIFO", "voice"),
        ("FIFO", "data"),
        ("LLQ", "voice"),
        ("LLQ", "data"),
    ]
    row = made.value("FIFO", "class", "voice", "owd_mean")
    assert row.mean == 0.0048
    assert row.half == pytest.approx(0.000048)
    assert made.classes(metric="owd_mean", variant="LLQ")[0].mean == 0.0024
    with pytest.raises(KeyError):
        made.value("FIFO", "class", "nobody", "owd_mean")


@pytest.mark.parametrize(
    ("verdicts", "status", "passed"),
    [
        (("pass", "pass"), 0, True),
        (("fail", "pass"), 1, False),
        (("undecided", "pass"), 3, False),
        (("undecided", "fail"), 1, False),
    ],
)
def test_the_worst_verdict_decides(verdicts, status, passed):
    results = make_results(verdicts)
    assert (results.status, results.passed) == (status, passed)


def test_requirements_read_as_text(made):
    verdict = made.verdicts[0]
    assert verdict.cls == "voice"
    assert verdict.requirement == "owd_p99 ≤ 20 ms"


def test_a_saved_run_directory_can_be_loaded(made, tmp_path):
    where = made.save(tmp_path / "out")
    assert {p.name for p in where.iterdir()} == {
        "manifest.json",
        "results.json",
        "results.parquet",
        "scenario.yaml",
        "series.parquet",
    }
    again = spillgate.load(where)
    assert again.verdicts == made.verdicts
    assert again.runs == made.runs
    assert again.series() == made.series()
    assert again.distributions() == made.distributions()
    assert again.description == made.description
    for scope in SCOPES:
        assert again.table(scope=scope) == made.table(scope=scope)
    again.save(tmp_path / "copy")
    first, second = ((tmp_path / d / "results.json").read_bytes() for d in ("out", "copy"))
    assert first == second


def test_loaded_results_are_all_that_the_run_gave(tmp_path):
    made = spillgate.run(
        "examples/first/scenario.yaml", runs=3, set={"measurement.duration": "1 s"}
    )
    where = made.save(tmp_path / "out")
    again = spillgate.load(where)
    assert again.table() == made.table()
    assert again.samples() == made.samples()
    assert again.samples(scope="flow", metric="throughput", name="data-0", variant="llq")
    assert again.series() == made.series()
    assert again.distributions() == made.distributions()
    assert again.differences() == made.differences()
    assert again.admission() == made.admission()
    table = where / "results.parquet"
    for content in (b"", b"PAR1 but no more", table.read_bytes()[:5000], None):
        table.unlink()
        if content is not None:
            table.write_bytes(content)
        else:
            table.mkdir()
        assert again.verdicts == made.verdicts
        with pytest.raises(InputError, match=r"results\.parquet: no table of results"):
            again.samples()


def test_single_flows_are_given_on_request(made):
    flows = {r["name"] for r in made.to_dict(flows=True)["summary"] if r["scope"] == "flow"}
    assert flows == {"f-0"}


def test_nothing_is_overwritten_by_mistake(made, tmp_path):
    where = made.save(tmp_path / "out")
    before = (where / "results.json").read_bytes()
    with pytest.raises(OutputError, match="exists"):
        make_results(("pass", "pass")).save(where)
    assert (where / "results.json").read_bytes() == before
    make_results(("pass", "pass")).save(where, force=True)
    assert (where / "results.json").read_bytes() != before
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_directory_of_others_is_never_replaced(made, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/chapter1.tex").write_text("x")
    with pytest.raises(OutputError, match="no run directory"):
        made.save(tmp_path / "thesis", force=True)
    assert (tmp_path / "thesis/chapter1.tex").exists()
    (tmp_path / "empty").mkdir()
    made.save(tmp_path / "empty", force=True)


def test_a_failed_write_leaves_nothing(made, tmp_path):
    def full(_path):
        raise OSError(28, "No space left on device")

    made._values.write_parquet = full
    with pytest.raises(OutputError, match="No space left"):
        made.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_run_directory_is_refused(tmp_path):
    with pytest.raises(InputError, match="no readable run directory"):
        spillgate.load(tmp_path)
    for name in ("results.json", "manifest.json"):
        (tmp_path / name).write_text(json.dumps({"format": 99}))
    with pytest.raises(InputError, match="format 99"):
        spillgate.load(tmp_path)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frames_hold_the_table(made, library):
    pytest.importorskip(library)
    frame = getattr(made, f"to_{library}")()
    assert list(frame.columns) == [
        "variant",
        "scope",
        "name",
        "metric",
        "unit",
        "mean",
        "low",
        "high",
        "n",
    ]
    assert len(frame) == len(made.table())
    assert frame["mean"].max() == 30e6


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_missing_library_is_named(made, library, monkeypatch):
    imported = builtins.__import__

    def without(name, *rest, **more):
        if name == library:
            raise ImportError(name)
        return imported(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependencyError, match=rf"pip install 'spillgate\[{library}\]'"):
        getattr(made, f"to_{library}")()


def test_notebooks_see_escaped_verdicts():
    shown = make_results(name="a <b> & c")._repr_html_()
    assert "a &lt;b&gt; &amp; c" in shown
    assert "✗ fail" in shown
    assert "19.0 ±1.0 ms" in shown


def test_repr_says_what_it_is(made):
    assert repr(made) == "<Results 'Two queues': 2 variants, 20 runs, complete>"


def test_a_run_can_be_repeated_from_what_is_saved(tmp_path):
    short = {"measurement.warmup": "100 ms", "measurement.duration": "200 ms"}
    quick = {**short, "measurement.interval": "100 ms"}
    results = spillgate.run("examples/ce-node/scenario.yaml", runs=1, set=quick)
    saved = results.save(tmp_path / "run")
    assert (saved / "policies.cfg").is_file()
    assert (saved / "traffic.csv").is_file()
    again = spillgate.run(saved / "scenario.yaml", runs=1, set=quick)
    assert again.description.hash == results.description.hash
    assert [r.digest for r in again.runs] == [r.digest for r in results.runs]


@pytest.mark.parametrize("version", [2, 3])
def test_what_earlier_versions_saved_is_read_in_full(version, tmp_path):
    made = spillgate.run(
        "examples/first/scenario.yaml",
        runs=2,
        set={"measurement.duration": "1 s", "measurement.warmup": "0 s"},
    )
    where = made.save(tmp_path / "old")
    wanted = report.render(made, json.loads((where / "manifest.json").read_text()))
    # They had series here, too, and no words.
    data = json.loads((where / "results.json").read_text())
    assert "series" not in data
    data = {k: v for k, v in data.items() if k not in WORDS} | {"format": version}
    data["series"] = made.to_dict()["series"]
    words = {"about", "whose", "requirement", "words", "measured", "needs", "advice"}
    data["verdicts"] = [{k: v for k, v in r.items() if k not in words} for r in data["verdicts"]]
    if version == 2:
        del data["scopes"]
        (where / "series.parquet").unlink()
    (where / "results.json").write_text(json.dumps(data))
    manifest = json.loads((where / "manifest.json").read_text()) | {"format": version}
    del manifest["contents"], manifest["checksum"]
    (where / "manifest.json").write_text(json.dumps(manifest))
    old = spillgate.load(where)
    assert old.series() == made.series()
    assert old.verdicts == made.verdicts
    assert old.remarks == made.remarks != ()
    assert old.conclusion == made.conclusion
    assert old.assumptions == made.assumptions
    assert report.render(old, {**manifest, "format": rundir.FORMAT}) == wanted
    again = spillgate.load(old.save(tmp_path / "new"))
    assert again.series() == made.series()
    assert again.remarks == made.remarks


def test_a_missing_table_of_series_is_named(tmp_path):
    run = spillgate.run("examples/first/scenario.yaml", runs=1)
    where = run.save(tmp_path / "out")
    (where / "series.parquet").unlink()
    with pytest.raises(InputError, match=r"series\.parquet"):
        spillgate.load(where).series()
    # None are sampled: there is nothing to miss.
    none = spillgate.run("examples/first/scenario.yaml", runs=1, series=[]).save(tmp_path / "none")
    assert spillgate.load(none).series() == ()
