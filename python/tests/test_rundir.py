import re
from pathlib import Path

import pytest

from spillgate.errors import OutputError
from spillgate.rundir import RunDirectory, default_directory


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
    made = set()
    for _ in range(3):
        directory = default_directory("lab.yaml")
        directory.mkdir(parents=True)
        made.add(directory)
    assert len(made) == 3


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


def test_a_place_taken_meanwhile_is_not_overwritten(tmp_path):
    directory = RunDirectory(tmp_path / "out")
    Path(tmp_path / "out").mkdir()
    (tmp_path / "out/theirs").write_text("x")
    with pytest.raises(OutputError, match="no run directory"), directory.filling():
        pass
    assert [p.name for p in tmp_path.iterdir()] == ["out"]
