"""The runs of several studies in one table."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import polars as pl
import pytest

import spillgate
from spillgate import InputError, OutputError
from spillgate._engine import stored_runs
from spillgate.cli import main

FIRST = Path("examples/first/scenario.yaml").read_text(encoding="utf-8")
SHORT = {"measurement.duration": "1 s"}
LOAD = "axes:\n  - {name: load, set: traffic.data.source.rate, values: [1 Mb/s, 3 Mb/s]}\n"
SIZE = """\
axes:
  - name: size
    points:
      - {name: small, set: {traffic.data.source.packet: 500 B}}
      - {name: large, set: {traffic.data.source.packet: 1500 B}}
"""


def study(directory: Path, axes: str = "", seed: int = 1) -> Path:
    return spillgate.run(FIRST + axes, runs=2, seed=seed, set=SHORT).save(directory)


def without_runs(directory: Path, copy: Path) -> Path:
    """A copy of a run directory that has lost its runs, but not what study they are of."""
    shutil.copytree(directory, copy)
    for file in (copy / "runs").iterdir():
        alone = copy / "alone"
        alone.mkdir()
        if stored_runs(file.rename(alone / file.name).parent):
            (alone / file.name).unlink()
        else:
            (alone / file.name).rename(file)
        alone.rmdir()
    return copy


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    where = tmp_path_factory.mktemp("studies")
    for name, axes, seed in (("plain", "", 1), ("load", LOAD, 2), ("size", SIZE, 3)):
        study(where / name, axes, seed)
    return where


def test_it_has_the_rows_of_each_study(studies: Path, tmp_path: Path) -> None:
    names = ["plain", "load", "size"]
    written = spillgate.write_dataset([studies / n for n in names], tmp_path / "all.parquet")
    assert (written.studies, written.runs, written.missing) == (3, 4 + 8 + 8, 0)
    table = pl.read_parquet(written.path)
    assert table.schema["load"] == pl.Float64()
    assert table.schema["size"] == pl.String()
    assert table.schema["seed"] == pl.UInt64()
    for name, seed in zip(names, (1, 2, 3), strict=True):
        mine = table.filter(pl.col("seed") == seed)
        theirs = pl.read_parquet(studies / name / "results.parquet")
        assert mine.select(theirs.columns).equals(theirs)
        hashes = {spillgate.load(studies / name).description.hash}
        assert set(mine["scenario_hash"]) == hashes
        for axis in {"load", "size"} - {*theirs.columns}:
            assert mine[axis].is_null().all()
    assert table["point"].null_count() == 0
    assert set(table.filter(pl.col("seed") == 2)["load"]) == {1e6, 3e6}


def test_pandas_reads_it(studies: Path, tmp_path: Path) -> None:
    spillgate.write_dataset([studies / "load"], tmp_path / "one.parquet")
    frame = pd.read_parquet(tmp_path / "one.parquet")
    alone = pd.read_parquet(studies / "load" / "results.parquet")
    pd.testing.assert_frame_equal(frame[alone.columns], alone)
    delays = frame[(frame.metric == "owd_mean") & (frame.scope == "class")]
    wide = delays.pivot_table("value", ["variant", "load", "run", "seed"], "name")
    assert wide.shape == (8, 2)
    assert (wide > 0).all().all()


def test_runs_of_shards_are_there_once(studies: Path, tmp_path: Path) -> None:
    # Two places have the runs of one study; a third none of them.
    shutil.copytree(studies / "plain", tmp_path / "same")
    empty = without_runs(studies / "plain", tmp_path / "empty")
    rows = pl.read_parquet(studies / "plain" / "results.parquet").height
    three = [empty, studies / "plain", tmp_path / "same"]
    written = spillgate.write_dataset(three, tmp_path / "once.parquet")
    assert (written.runs, written.missing) == (4, 0)
    assert pl.read_parquet(written.path).height == rows


def test_missing_runs_are_counted(
    studies: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = without_runs(studies / "plain", tmp_path / "empty")
    out = tmp_path / "some.parquet"
    arguments = ["dataset", str(empty), str(studies / "load"), "--out", str(out)]
    assert main(arguments) == 0
    printed = capsys.readouterr()
    assert printed.out == f"{out}\n"
    assert printed.err == "spillgate: 4 of 12 runs are not stored: a study was interrupted\n"
    assert main(arguments) == 2
    assert "add --force to replace it" in capsys.readouterr().err
    assert main([*arguments, "--force"]) == 0


def test_bad_input_makes_no_file(studies: Path, tmp_path: Path) -> None:
    out = tmp_path / "no.parquet"
    study(tmp_path / "texts", SIZE.replace("name: size", "name: load"))
    both = [studies / "load", tmp_path / "texts"]
    with pytest.raises(InputError, match=r"axis load has numbers in b/s in one study and texts"):
        spillgate.write_dataset(both, out)
    with pytest.raises(InputError, match="nowhere"):
        spillgate.write_dataset([tmp_path / "nowhere"], out)
    with pytest.raises(InputError, match="no run directory"):
        spillgate.write_dataset([], out)
    with pytest.raises(OutputError, match="name the file"):
        spillgate.write_dataset([studies / "load"], tmp_path)
    with pytest.raises(OutputError, match="cannot write"):
        spillgate.write_dataset([studies / "load"], tmp_path / "no" / "place.parquet")
    shutil.copytree(studies / "plain", tmp_path / "torn")
    file = next((tmp_path / "torn" / "runs").iterdir())
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"torn|damaged"):
        spillgate.write_dataset([tmp_path / "torn"], out)
    assert [p.name for p in tmp_path.glob("*no.parquet*")] == []
