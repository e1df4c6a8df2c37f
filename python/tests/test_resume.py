"""Stored runs: a study is resumed, extended and judged again without a run being made twice."""

import argparse
import json
import random
import shlex
import signal
import time
import warnings
from pathlib import Path

import pytest

import spillgate
from spillgate import _engine
from spillgate.cli import resuming
from spillgate.cli.parser import command_parsers, options

SHORT = ("--set", "measurement.duration=1 s", "--set", "measurement.warmup=500 ms")
LONGER = "measurement.duration=60 s"
QUICK = ("--no-figures", "--no-report")


@pytest.fixture(scope="module")
def scenario(tmp_path_factory, root):
    """The first example, in a directory of its own."""
    where = tmp_path_factory.mktemp("first") / "scenario.yaml"
    where.write_bytes((root / "examples/first/scenario.yaml").read_bytes())
    return where


def saved(directory):
    """All that was saved of results, but for what is of the machine and the moment."""
    manifest = json.loads((directory / "manifest.json").read_text())
    for name in ("wall_s", "argv", "jobs"):
        del manifest[name]
    files = sorted(p.name for p in directory.iterdir() if p.suffix != ".html")
    tables = [(directory / f).read_bytes() for f in ("results.json", "results.parquet")]
    return manifest, files, tables


def stored(directory):
    return _engine.stored_runs(directory / "runs")


def test_a_study_killed_fifty_times_is_the_whole_study(cli, scenario, tmp_path):
    study = ("run", scenario, *QUICK, "--runs", "150", "--jobs", "1", "--set", LONGER)
    assert cli(*study, "--out", "whole").returncode in (0, 1, 3)
    hidden = tmp_path / ".out.spillgate"
    moments = random.Random(1)
    for _ in range(50):
        before = len(stored(hidden))
        process = cli.start(*study, "--out", "out")
        deadline = time.monotonic() + 60
        # Some are killed before they have stored anything, some while they do.
        wanted = before + moments.choice((0, 1, 2))
        while len(stored(hidden)) < wanted and time.monotonic() < deadline:
            time.sleep(0.002)
        time.sleep(moments.uniform(0, 0.01) if wanted > before else moments.uniform(0, 0.3))
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
        assert len(stored(hidden)) >= before
    last = cli(*study, "--out", "out")
    assert last.returncode in (0, 1, 3)
    assert "taking over " in last.stderr
    assert not hidden.exists()
    assert saved(tmp_path / "out") == saved(tmp_path / "whole")


def test_more_runs_and_other_requirements_make_no_run_again(cli, scenario, tmp_path):
    strict = tmp_path / "strict.yml"
    strict.write_text(
        "customer: Acme\nobjectives:\n  - {class: voice, metric: owd_p99, max: 1 us}\n"
    )
    study = ("run", scenario, *SHORT, *QUICK)
    for runs, out in (("3", "out"), ("5", "whole")):
        assert cli(*study, "--runs", runs, "--out", out).returncode in (0, 1, 3)
    before = stored(tmp_path / "out")
    assert len(before) == 6
    assert cli("run", "--resume", "out", "--runs", "5", *QUICK).returncode in (0, 1, 3)
    assert saved(tmp_path / "out") == saved(tmp_path / "whole")
    assert set(before) < set(stored(tmp_path / "out"))
    # Two of runs, and two that say what study they are of.
    assert len(list((tmp_path / "out/runs").iterdir())) == 4
    # Judged again, elsewhere: what was there stays as it is.
    judged = cli(
        *("run", "--resume", "out", "--sla", strict, "--correction", "holm", *QUICK),
        *("--out", "judged"),
    )
    assert judged.returncode == 1
    results = spillgate.load(tmp_path / "judged")
    assert [v.verdict for v in results.verdicts if v.customer == "Acme"] == ["fail", "fail"]
    assert results.description.correction == "holm"
    assert stored(tmp_path / "judged") == stored(tmp_path / "out")
    assert saved(tmp_path / "out") == saved(tmp_path / "whole")
    # Requirements outside the scenario's folder are copied.
    strict.unlink()
    assert cli("run", "--resume", "judged", *QUICK).returncode == 1
    again = spillgate.load(tmp_path / "judged")
    assert again.verdicts == results.verdicts
    assert [r.digest for r in again.runs] == [r.digest for r in results.runs]


def test_no_event_is_handled_for_runs_that_are_stored(scenario, tmp_path):
    seen = []
    options = {"runs": 2, "store": tmp_path / "store", "set": {"measurement.duration": "1 s"}}
    whole = spillgate.run(scenario, **options)
    again = spillgate.run(scenario, **options, progress=seen.append, sla=[])
    assert (seen[-1].runs_kept, seen[-1].events) == (4, 0)
    assert again.to_dict(flows=True) == whole.to_dict(flows=True)
    # The time series of the second run were not sampled: it is made once more.
    spillgate.run(scenario, **options, series=[1], progress=seen.append)
    assert seen[-1].runs_kept == 2


def test_what_cannot_be_used_is_made_anew_and_said(scenario, tmp_path):
    options = {"runs": 2, "store": tmp_path, "set": {"measurement.duration": "1 s"}}
    whole = spillgate.run(scenario, **options)
    (path,) = tmp_path.glob("*.runs")
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.warns(UserWarning, match="made anew") as said:
        again = spillgate.run(scenario, **options)
    assert again.to_dict() == whole.to_dict()
    (text,) = (str(w.message) for w in said)
    assert text.startswith(f"{path} is damaged at byte ")
    assert text.endswith(": its checksum is wrong; its run is made anew")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        spillgate.run(scenario, **options)


def test_an_interrupted_study_goes_on(cli, scenario, tmp_path):
    study = ("run", scenario, *QUICK, "--runs", "40", "--set", "measurement.duration=20 s")
    process = cli.start(*study, "--out", "out", "--jobs", "1")
    hidden = tmp_path / ".out.spillgate"
    while len(stored(hidden)) < 2:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 130
    done = len(stored(tmp_path / "out"))
    assert 2 <= done < 80
    short = ("--runs", "2", *QUICK, "--out", "short")
    assert cli("run", "--resume", "out", *short).returncode in (0, 1, 3)
    results = spillgate.load(tmp_path / "short")
    assert len(results.runs) == 4
    assert not results.interrupted
    # Nothing that was stored is lost by going on with less.
    assert len(stored(tmp_path / "short")) >= done


def run_options(command="run"):
    """The parser of `spillgate run` or `sweep`, and its options."""
    parser = dict(command_parsers())[command]
    parser.set_defaults(command=command)
    return parser, [a for a in parser._actions if a.option_strings and a.dest != "help"]


def given(action):
    """The words of an option with a value that a shell would take apart."""
    flag = action.option_strings[0]
    if action.nargs == 0:
        return [flag]
    values = {
        int: "7",
        options.runs: "0,3",
        options.seconds: "0.25",
        options.megabytes: "7.5",
        options.shard: "2/3",
        None: "--a b's $c=1;*",
        Path: "it's a dir/x y",
    }
    value = action.choices[-1] if action.choices else values.get(action.type, "a figure's.toml")
    again = [f"{flag}={value}2"] if isinstance(action, argparse._AppendAction) else []
    return [f"{flag}={value}", *again]


@pytest.mark.parametrize("command", ["run", "sweep"])
def test_every_option_of_a_run_is_repeated(command):
    parser, known = run_options(command)
    assert len(known) > 20
    alone = [given(a) for a in known]
    # Of those that exclude each other the one that takes a value.
    at_once = [w for a in known if a.nargs != 0 or a.const is True for w in given(a)]
    for words in (*alone, at_once):
        parsed = parser.parse_args(["s.yaml", *words])
        line = resuming.command(parsed, Path("a dir"), Path("s.yaml"))
        again = vars(parser.parse_args(shlex.split(line)[2:]))
        assert again.pop("resume") == Path("a dir")
        # The directory stands for them.
        wanted = {**vars(parsed), "out": None, "force": False}
        del wanted["resume"]
        assert again == wanted, line


def test_what_was_killed_says_with_which_options_it_goes_on(cli, scenario, tmp_path):
    study = ("run", scenario, *QUICK, "--runs", "40", "--set", LONGER)
    process = cli.start(*study, "--out", "out", "--jobs", "1")
    while not stored(tmp_path / ".out.spillgate"):
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    said = cli("run", scenario, *SHORT, *QUICK, "--runs", "1", "--out", "other").stderr
    line = next(text for text in said.splitlines() if text.startswith("    spillgate run"))
    rest = ("--no-report", "--runs", "40", "--set", LONGER, "--jobs", "1", "--resume", "out")
    assert sorted(shlex.split(line)) == sorted(("spillgate", "run", str(scenario), *rest))
    assert not (tmp_path / "other/command").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "name a SCENARIO, or a run directory with --resume"),
        (("--resume", "nowhere"), "--resume: nowhere does not exist, not even unfinished"),
        (("--resume", "empty"), "--resume: empty holds no stored runs"),
        (("--resume", "killed"), "killed was never finished: name the SCENARIO, too"),
    ],
)
def test_what_cannot_be_resumed_is_refused(cli, scenario, tmp_path, arguments, said):
    (tmp_path / "empty").mkdir()
    (tmp_path / ".killed.spillgate/runs").mkdir(parents=True)
    results = spillgate.run(scenario, runs=1, set={"measurement.duration": "1 s"})
    results._values.keep(tmp_path / ".killed.spillgate/runs")
    process = cli("run", *arguments)
    assert process.returncode == 2
    assert said in process.stderr
    assert sorted(p.name for p in tmp_path.iterdir()) == [".killed.spillgate", "empty"]


def counted(results, action, **options):
    """What an action on results gives, and how many events and stored runs that took."""
    seen = []
    found = action(results)(**options, progress=seen.append)
    return found, seen[-1].events, seen[-1].runs_kept


def test_loaded_results_are_extended(scenario, cli, tmp_path):
    study = ("run", scenario, *SHORT, *QUICK, "--correction", "holm")
    for runs, out in (("2", "out"), ("4", "whole")):
        assert cli(*study, "--runs", runs, "--out", out).returncode in (0, 1, 3)
    before = stored(tmp_path / "out")
    loaded = spillgate.load(tmp_path / "out")
    more, _, kept = counted(loaded, lambda r: r.extend, runs=4)
    assert (kept, len(more.runs)) == (4, 8)
    assert more.to_dict(flows=True) == spillgate.load(tmp_path / "whole").to_dict(flows=True)
    # The directory has the new runs, and its results until they are replaced.
    assert len(spillgate.load(tmp_path / "out").runs) == 4
    assert set(before) < set(stored(tmp_path / "out"))
    more.save(tmp_path / "out", force=True)
    assert stored(tmp_path / "out") == stored(tmp_path / "whole")
    _, files, tables = saved(tmp_path / "out")
    assert (files, tables) == saved(tmp_path / "whole")[1:]
    with pytest.raises(spillgate.InputError, match="there are 4 runs of each variant already"):
        more.extend(runs=4)


def test_loaded_results_are_judged_again(scenario, cli, tmp_path):
    strict = tmp_path / "strict.yml"
    strict.write_text(
        "customer: Acme\nobjectives:\n  - {class: voice, metric: owd_p99, max: 1 us}\n"
    )
    study = ("run", scenario, *SHORT, *QUICK, "--runs", "3", "--set", "verdicts.looks=once")
    assert cli(*study, "--out", "out").returncode == 1
    before = saved(tmp_path / "out")
    loaded = spillgate.load(tmp_path / "out")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        judged = loaded.judge(strict, correction="holm", against="llq")
    assert [v.verdict for v in judged.verdicts if v.customer == "Acme"] == ["fail", "fail"]
    assert judged.description.correction == "holm"
    assert {d.against for d in judged.differences()} == {"llq"}
    assert [r.digest for r in judged.runs] == [r.digest for r in loaded.runs]
    assert judged.series() == loaded.series()
    assert saved(tmp_path / "out") == before
    # What was asked for stays unless it is replaced; no files leave the scenario's requirements.
    again = judged.judge()
    assert again.to_dict() == judged.to_dict()
    plain = judged.judge([], correction="none", against="fifo")
    assert plain.verdicts == loaded.verdicts
    assert plain.differences() == loaded.differences()
    # A copy takes the runs along.
    judged.save(tmp_path / "judged")
    assert stored(tmp_path / "judged") == stored(tmp_path / "out")


def test_judging_handles_no_event(scenario, tmp_path, monkeypatch):
    options = {"runs": 2, "store": tmp_path / "store", "set": {"measurement.duration": "1 s"}}
    made = spillgate.run(scenario, **options, series="all")
    seen = []
    again = made._again
    monkeypatch.setattr(made, "_again", lambda *a, **o: again(*a, **o, progress=seen.append))
    assert made.judge().to_dict(flows=True) == made.to_dict(flows=True)
    assert (seen[-1].events, seen[-1].runs_kept) == (0, 4)


def test_results_without_stored_runs_make_them_anew(scenario):
    made = spillgate.run(scenario, runs=1, set={"measurement.duration": "1 s"})
    more = made.extend(runs=2)
    assert [r.digest for r in more.runs if r.run == 0] == [r.digest for r in made.runs]
    assert len(more.runs) == 4
