"""What is on disk is what was written, or it is said that it is not."""

import random
import re
import shutil

import pytest

import spillgate
from spillgate import cli as cli_module
from spillgate import spreadsheet
from spillgate.errors import InputError

SHORT = {"measurement.duration": "1 s"}
ADMITTING = "examples/fan-access/scenario.yaml"


@pytest.fixture(scope="module")
def saved(root, tmp_path_factory):
    results = spillgate.run(root / "examples/first/scenario.yaml", runs=2, set=SHORT)
    return results.save(tmp_path_factory.mktemp("intact") / "out")


def everything(directory):
    results = spillgate.load(directory)
    return results.to_dict(flows=True), results.samples()


def files(directory):
    return [p for p in sorted(directory.rglob("*")) if p.is_file()]


def test_a_flipped_bit_is_never_read_in_silence(saved):
    """Of a hundred a file; white space of JSON may change unseen, and what is not read again."""
    whole = everything(saved)
    places = random.Random(7)
    for path in files(saved):
        content = path.read_bytes()
        for _ in range(100):
            damaged = bytearray(content)
            damaged[places.randrange(len(content))] ^= 1 << places.randrange(8)
            path.write_bytes(damaged)
            try:
                read = everything(saved)
                if path.suffix == ".yaml":
                    spillgate.load(saved).extend(runs=3)
                    pytest.fail(f"{path.name} was run again")
            except InputError as error:
                assert str(saved) in str(error)  # noqa: PT017 - the rest must be whole
            else:
                assert read == whole
        path.write_bytes(content)


def test_what_is_not_read_again_may_go(saved, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(saved, out)
    for name in ("results.json", "results.parquet", "series.parquet"):
        (out / name).unlink()
    assert everything(out) == everything(saved)
    again = spillgate.load(out).save(tmp_path / "again")
    for name in ("results.json", "results.parquet", "series.parquet"):
        assert (again / name).read_bytes() == (saved / name).read_bytes()


@pytest.mark.parametrize("name", ["scenario.yaml", "runs"])
def test_a_missing_file_is_named(saved, tmp_path, name):
    out = tmp_path / "out"
    shutil.copytree(saved, out)
    if name == "runs":
        shutil.rmtree(out / name)
    else:
        (out / name).unlink()
    with pytest.raises(InputError, match=name) as refused:
        spillgate.load(out)
    assert "No such file" in str(refused.value)


def test_a_damaged_run_is_named(saved, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(saved, out)
    # The other one says what study it is.
    path = max((out / "runs").iterdir(), key=lambda p: p.stat().st_size)
    content = path.read_bytes()
    flipped = content[:-1] + bytes([content[-1] ^ 1])
    for damaged, said in (
        (content[:-1], r"runs: run 1 of \w+: it is not there"),
        (flipped, r"is damaged at byte \d+: its checksum is wrong"),
        (b"PAR1", "it is not a file of stored runs, which begins with `spillgate runs 1`"),
        (b"spillgate runs 2\n", "it has version 2 of the format; this Spillgate reads version 1"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=said) as refused:
            spillgate.load(out)
        assert re.search(rf"`spillgate run .*--resume {out}` makes", str(refused.value))


def test_a_study_is_not_resumed_with_a_changed_scenario(cli, root, tmp_path):
    out = tmp_path / "out"
    scenario = root / "examples/first/scenario.yaml"
    cli("run", scenario, "--runs", "1", "--set", "measurement.duration=1 s", "--out", out)
    copy = out / "scenario.yaml"
    copy.write_text(copy.read_text(encoding="utf-8").replace("10 Mb/s", "11 Mb/s"))
    done = cli("run", "--resume", out, "--runs", "2")
    assert done.returncode == 2
    assert f"{copy} is damaged, or was changed after it was written" in done.stderr
    # Its stored runs are whole: with the scenario named the study goes on.
    done = cli(
        "run", scenario, "--resume", out, "--runs", "2", "--set", "measurement.duration=1 s"
    )
    assert done.returncode in (0, 1, 3), done.stderr
    assert len(spillgate.load(out).runs) == 4


def test_a_panic_is_an_internal_error(monkeypatch, capsys, saved):
    """Whatever the core panics at: no input is known to do it."""

    class PanicException(BaseException):
        pass

    def panics(*_arguments, **_options):
        raise PanicException("index out of bounds")

    monkeypatch.setattr("spillgate._engine.Job.stored", panics)
    assert cli_module.main(["report", str(saved)]) == 4
    assert "spillgate: internal error: PanicException: " in capsys.readouterr().err
    monkeypatch.setenv("SPILLGATE_DEBUG", "1")
    assert cli_module.main(["report", str(saved)]) == 4


def test_names_that_a_spreadsheet_would_run_are_quoted(cli, root, tmp_path):
    text = (root / "examples/first/scenario.yaml").read_text(encoding="utf-8")
    path = tmp_path / "s.yaml"
    path.write_text(text.replace("name: data", "name: =1+1", 1), encoding="utf-8")
    done = cli("run", path, "--runs", "1", "--set", "measurement.duration=1 s", "--format", "csv")
    assert done.returncode in (0, 1, 3), done.stderr
    cells = [cell for line in done.stdout.splitlines() for cell in line.split(",")]
    assert "'=1+1" in cells
    assert "=1+1" not in cells


@pytest.mark.parametrize("name", ["=a", "+a", "-a", "@a", "'a", "''=", "\ta", "a=b", ""])
def test_quoted_names_can_be_told(name):
    shown = spreadsheet.written(name)
    assert shown.removeprefix("'") == name
    assert not shown.startswith(("=", "+", "-", "@", "\t"))
