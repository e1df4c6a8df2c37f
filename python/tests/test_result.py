import builtins

import pytest

import spillgate
from conftest import make_results
from spillgate.errors import InputError, MissingDependencyError, OutputError
from spillgate.result import SCOPES


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


SHORT = {"measurement.duration": "1 s"}


@pytest.fixture(scope="module")
def short(root):
    """The first example for a second, three runs."""
    return spillgate.run(root / "examples/first/scenario.yaml", runs=3, set=SHORT)


def test_a_saved_run_directory_can_be_loaded(short, tmp_path):
    where = short.save(tmp_path / "out")
    assert {p.name for p in where.iterdir()} == {
        "manifest.json",
        "results.json",
        "results.parquet",
        "runs",
        "scenario.yaml",
        "series.parquet",
    }
    again = spillgate.load(where)
    assert again.verdicts == short.verdicts
    assert again.runs == short.runs
    assert again.description == short.description
    for scope in SCOPES:
        assert again.table(scope=scope) == short.table(scope=scope)
    again.save(tmp_path / "copy")
    for name in ("results.json", "results.parquet", "series.parquet"):
        assert (where / name).read_bytes() == (tmp_path / "copy" / name).read_bytes()


def test_loaded_results_are_all_that_the_run_gave(short, tmp_path):
    where = short.save(tmp_path / "out")
    again = spillgate.load(where)
    assert again.table() == short.table()
    assert again.samples() == short.samples()
    assert again.samples(scope="flow", metric="throughput", name="data-0", variant="llq")
    assert again.series() == short.series() != ()
    assert again.distributions() == short.distributions()
    assert again.differences() == short.differences()
    assert again.admission() == short.admission()
    assert again.events == short.events > 0
    assert again.sampled == (0,)
    assert again.remarks == short.remarks
    assert again.conclusion == short.conclusion


def test_single_flows_are_given_on_request(made):
    flows = {r["name"] for r in made.to_dict(flows=True)["summary"] if r["scope"] == "flow"}
    assert flows == {"f-0"}


def test_nothing_is_overwritten_by_mistake(short, tmp_path):
    where = short.save(tmp_path / "out")
    before = (where / "results.json").read_bytes()
    other = spillgate.run("examples/first/scenario.yaml", runs=1, set=SHORT)
    with pytest.raises(OutputError, match="exists"):
        other.save(where)
    assert (where / "results.json").read_bytes() == before
    other.save(where, force=True)
    assert (where / "results.json").read_bytes() != before
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_directory_of_others_is_never_replaced(short, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/chapter1.tex").write_text("x")
    with pytest.raises(OutputError, match="no run directory"):
        short.save(tmp_path / "thesis", force=True)
    assert (tmp_path / "thesis/chapter1.tex").exists()
    (tmp_path / "empty").mkdir()
    short.save(tmp_path / "empty", force=True)


def test_a_failed_write_leaves_nothing(short, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("spillgate._engine.Outcome.write_parquet", full)
    with pytest.raises(OutputError, match="No space left"):
        short.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_run_directory_is_refused(tmp_path):
    with pytest.raises(InputError, match="no readable run directory"):
        spillgate.load(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs/a.runs").write_text("spillgate runs 99\n")
    with pytest.raises(InputError, match="it has version 99 of the format"):
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
        "bound",
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
    assert ">✗</span> fail" in shown
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


def test_none_are_sampled(first, tmp_path):
    none = spillgate.run(first, runs=1, series=[], set=SHORT).save(tmp_path / "none")
    loaded = spillgate.load(none)
    assert (loaded.series(), loaded.sampled) == ((), ())
    assert not (none / "series.parquet").exists()
