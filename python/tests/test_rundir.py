import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from spillgate.errors import OutputError
from spillgate.rundir import MANIFEST, RunDirectory, TakenError, default_directory


@pytest.mark.parametrize(
    ("scenario", "stem"),
    [
        ("a/ce-node/scenario.yaml", "ce-node"),
        ("a/my scenario (2).yaml", "my-scenario-2"),
        ("lab.yaml", "lab"),
    ],
)
def test_default_directories_are_named_after_the_scenario(scenario, stem, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = default_directory(scenario).as_posix()
    assert re.fullmatch(rf"runs/{re.escape(stem)}-\d{{8}}-\d{{6}}", name)


def test_default_directories_do_not_collide(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    taken, gate = [], threading.Barrier(8)

    def take():
        gate.wait()
        taken.append(RunDirectory.fresh("runs/lab"))

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {d.path.name for d in taken} == {"lab", *(f"lab-{n}" for n in range(2, 9))}
    for directory in taken:
        with directory.filling() as hidden:
            (hidden / MANIFEST).write_text(str(directory.path))
    assert all((d.path / MANIFEST).read_text() == str(d.path) for d in taken)
    assert len(list(Path("runs").iterdir())) == 8


@pytest.mark.parametrize("force", [False, True])
def test_a_name_belongs_to_one_process_at_a_time(tmp_path, force):
    with RunDirectory(tmp_path / "out", force=force).filling():
        with pytest.raises(TakenError, match=r"another run is writing .*/out; choose another"):
            RunDirectory(tmp_path / "out", force=force)
        RunDirectory(tmp_path / "other").discard()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    RunDirectory(tmp_path / "out", force=True).discard()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def killed(path, then):
    """A process that takes a name and is killed before it gives it up."""
    program = f"""
import os, signal
from pathlib import Path
from spillgate import rundir
directory = rundir.RunDirectory({str(path)!r}, force=True)
hidden = directory._claim.hidden
(hidden / rundir.MANIFEST).write_text("new")
{then}
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == -9


def test_what_a_killed_run_has_left_is_removed_by_the_next(tmp_path):
    killed(tmp_path / "out", "")
    killed(tmp_path / "other", "")
    (tmp_path / ".mine").mkdir()
    # The second has already removed what the first had left.
    assert {p.name for p in tmp_path.iterdir()} == {".other.spillgate", ".mine"}
    with RunDirectory(tmp_path / "alive").filling():
        with RunDirectory(tmp_path / "other").filling():
            names = {p.name for p in tmp_path.iterdir()}
            assert names == {".other.spillgate", ".alive.spillgate", ".mine"}
        assert {p.name for p in tmp_path.iterdir()} == {"other", ".alive.spillgate", ".mine"}


def test_a_run_that_is_killed_while_it_replaces_another_is_finished(tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / MANIFEST).write_text("old")
    killed(tmp_path / "out", "directory.path.rename(hidden / rundir._REPLACED)")
    assert [p.name for p in tmp_path.iterdir()] == [".out.spillgate"]
    with pytest.raises(TakenError, match="exists"):
        RunDirectory(tmp_path / "out")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert [p.name for p in (tmp_path / "out").iterdir()] == [MANIFEST]
    assert (tmp_path / "out" / MANIFEST).read_text() == "new"


def test_what_cannot_take_the_place_of_another_leaves_it(tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / MANIFEST).write_text("old")
    directory = RunDirectory(tmp_path / "out", force=True)
    rename = Path.rename

    def fails(self, target):
        if self.name == ".out.spillgate":
            raise OSError(16, "Device or resource busy")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(OutputError, match="busy"), directory.filling():
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / MANIFEST).read_text() == "old"


def test_an_unwritable_place_is_found_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        RunDirectory(tmp_path / "file/out")
    with pytest.raises(OutputError, match="not a directory"):
        RunDirectory(tmp_path / "file", force=True)


def test_an_exception_leaves_nothing(tmp_path):
    directory = RunDirectory(tmp_path / "out")
    with pytest.raises(ZeroDivisionError), directory.filling() as temporary:
        (temporary / "half").write_text(str(1 / 0))
    assert list(tmp_path.iterdir()) == []


def test_results_are_as_readable_as_other_files(tmp_path):
    (tmp_path / "plain").mkdir()
    directory = RunDirectory(tmp_path / "out")
    with directory.filling():
        pass
    assert directory.path.stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("force", [False, True])
def test_a_place_taken_meanwhile_is_not_overwritten(tmp_path, force):
    directory = RunDirectory(tmp_path / "out", force=force)
    (tmp_path / "out").mkdir()
    (tmp_path / "out/theirs").write_text("x")
    with directory.filling() as hidden:
        (hidden / "ours").write_text("y")
    assert directory.path == tmp_path / "out-2"
    assert (tmp_path / "out-2/ours").read_text() == "y"
    assert (tmp_path / "out/theirs").read_text() == "x"
    assert {p.name for p in tmp_path.iterdir()} == {"out", "out-2"}
