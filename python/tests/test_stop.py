"""Runs side by side, and runs that are asked to stop: no finished run is lost."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import spillgate
from spillgate import _engine, plot
from spillgate import cli as cli_module

SHORT = ("--runs", "2", "--set", "measurement.duration=2 s", "--set", "measurement.warmup=1 s")
# Minutes of work on one thread of any machine.
LONG = ("--runs", "1000", "--jobs", "1", "--set", "measurement.duration=1000 s")


def entries(directory):
    return sorted(p.name for p in directory.iterdir())


def until_written(directory):
    """Waits until a run has taken its place."""
    for _ in range(600):
        if directory.is_dir() and entries(directory):
            return
        time.sleep(0.05)
    raise AssertionError(directory)


def test_runs_side_by_side_have_directories_of_their_own(cli, first, tmp_path, manifest):
    seeds = (11, 12, 13, 14)
    at_once = [
        cli.start("run", first, *SHORT, "--no-figures", "--no-report", "--seed", s) for s in seeds
    ]
    said = [p.communicate(timeout=120) for p in at_once]
    assert all(p.returncode in (0, 1, 3) for p in at_once), said
    made = {manifest(d)["seed"]: d for d in (tmp_path / "runs").iterdir()}
    assert sorted(made) == list(seeds)
    for seed, (out, _) in zip(seeds, said, strict=True):
        assert f"Results in {made[seed].relative_to(tmp_path)}\n" in out


def test_of_two_runs_with_one_name_the_second_is_refused(cli, first, tmp_path):
    process = cli.start("run", first, *LONG, "--out", "o/x", "--no-figures")
    until_written(tmp_path / "o")
    for force in ((), ("--force",)):
        second = cli("run", first, *SHORT, "--out", "o/x", "--no-figures", *force)
        assert second.returncode == 2
        assert "another run is writing o/x; choose another --out" in second.stderr
        assert second.stdout == ""
    process.terminate()
    process.communicate(timeout=60)
    assert entries(tmp_path / "o") == ["x"]


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_request_to_stop_keeps_what_is_finished(cli, first, tmp_path, manifest, name):
    # Where the tests run under nohup the signal is ignored, and processes inherit that.
    inherited = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    process = cli.start("run", first, *LONG, "--out", "out", "--no-figures")
    signal.signal(signal.SIGHUP, inherited)
    # Progress lines come every five seconds: by the first, runs have finished.
    assert "runs" in process.stderr.readline()
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    done = manifest(tmp_path / "out")["runs_completed"]
    assert f"interrupted; {done} of 2000 runs are saved in out\n" in err
    rest = ("spillgate", "run", *LONG, "--resume", "out")
    said = err.split("the rest: ")[1].splitlines()[0]
    assert sorted(shlex.split(said)) == sorted(rest)
    # What is shown rests on those runs, and says so.
    each = f"{done} of 2000 runs, "
    assert f"(partial: {each}" in out
    assert f"(partial: {each}" in (tmp_path / "out/report.html").read_text()
    document = json.loads((tmp_path / "out/results.json").read_text())
    assert (document["runs_completed"], document["runs_requested"]) == (done, 2000)
    assert any(f"(of {1000})" in a for a in document["assumptions"])
    assert "Results in out" in out
    assert manifest(tmp_path / "out")["interrupted"] is True
    assert entries(tmp_path) == ["out"]


def test_a_second_request_loses_nothing(cli, first, tmp_path, manifest):
    process = cli.start("run", first, *LONG, "--out", "out", "--figures", "default")
    assert "runs" in process.stderr.readline()
    # One after the other, as from someone who is impatient, until the end.
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
        if (tmp_path / "out").exists():
            break
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    done = manifest(tmp_path / "out")["runs_completed"]
    assert done > 0
    assert f"interrupted; {done} of 2000 runs are saved in out without figures and report" in err
    assert len(spillgate.load(tmp_path / "out").runs) == done
    assert "report.html" not in entries(tmp_path / "out")
    assert entries(tmp_path) == ["out"]


def test_what_a_shell_lets_a_run_ignore_is_ignored(cli, first, tmp_path):
    nohup = shutil.which("nohup")
    if nohup is None:
        pytest.skip("there is no nohup")
    process = subprocess.Popen(
        [nohup, "python", "-m", "spillgate", "run", first, *LONG, "--out", "o/x"],
        executable=nohup,
        cwd=tmp_path,
        env={
            **cli.environment,
            "PATH": os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"])),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    until_written(tmp_path / "o")
    process.send_signal(signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=2)
    process.kill()
    process.communicate(timeout=60)
    assert entries(tmp_path / "o") == [".x.spillgate"]
    stored = len(_engine.stored_runs(tmp_path / "o/.x.spillgate/runs"))
    assert stored > 0
    # The next run leaves its finished runs, and says how to go on.
    other = cli("run", first, *SHORT, "--no-figures", "--out", "o/y")
    assert other.returncode in (0, 1, 3)
    assert f"{stored} stored run{'s' if stored > 1 else ''} of " in other.stderr
    assert re.search(rf"go on with\n    spillgate run {first} .*--resume o/x\n", other.stderr)
    assert entries(tmp_path / "o") == [".x.spillgate", "y"]


def test_reproductions_stop_without_a_trace(cli, tmp_path):
    process = cli.start("reproduce", "domzal", "--out", "o/x", "--jobs", "1")
    until_written(tmp_path / "o")
    process.terminate()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "spillgate: interrupted\n" in err
    assert entries(tmp_path / "o") == []


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (RuntimeError("a broken figure"), 4, "internal error"),
        (OSError(28, "full"), 2, "figures into"),
    ],
)
def test_a_figure_that_fails_does_not_cost_the_results(
    monkeypatch, capsys, first, tmp_path, error, status, said
):
    def fails(results, where, specs):  # noqa: ARG001
        where.mkdir()
        (where / "half.png").write_bytes(b"x")
        raise error

    monkeypatch.setattr(plot, "save", fails)
    out = tmp_path / "out"
    run = ["run", str(first), *SHORT, "--figures", "default"]
    assert cli_module.main([*run, "--out", str(out)]) == status
    shown = capsys.readouterr()
    assert "VERDICT" in shown.out.upper()
    assert f"the results are in {out}\n" in shown.err
    assert said in shown.err
    assert len(spillgate.load(out).runs) == 4
    assert "figures" not in entries(out)
    assert "report.html" in entries(out)
