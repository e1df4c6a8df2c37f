"""What is on disk is what was written, or it is said that it is not."""

import json
import random
import shutil

import pytest

import spillgate
from spillgate import cli as cli_module
from spillgate import rundir, spreadsheet
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
    return [p for p in sorted(directory.iterdir()) if p.is_file()]


def test_a_flipped_bit_is_never_read_in_silence(saved):
    """Of a hundred a file; white space of JSON alone may change unseen, for it means nothing."""
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


def test_the_checksum_of_a_table_of_admissions_is_compared(root, tmp_path):
    out = spillgate.run(root / ADMITTING, runs=1, set={"measurement.duration": "2 s"}).save(
        tmp_path / "out"
    )
    path = out / "admission.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("0", "1", 1), encoding="utf-8")
    with pytest.raises(InputError, match=r"admission\.csv is damaged, or was changed"):
        spillgate.load(out)


@pytest.mark.parametrize("name", ["results.json", "results.parquet", "series.parquet"])
def test_a_missing_file_is_named(saved, tmp_path, name):
    shutil.copytree(saved, tmp_path / "out")
    (tmp_path / "out" / name).unlink()
    with pytest.raises(InputError, match=rf"{name} is damaged.*: No such file"):
        spillgate.load(tmp_path / "out")


@pytest.mark.parametrize(
    "command", [["report"], ["run", "--resume"], ["explain"], ["pcap", "uplink"]]
)
def test_commands_refuse_a_changed_manifest(capsys, saved, tmp_path, command):
    out = tmp_path / "out"
    shutil.copytree(saved, out)
    if "--resume" in command:
        (out / "runs").mkdir()
        (out / "runs" / "x-1.run").write_bytes(b"")
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    manifest["seed"] += 1
    (out / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    arguments = [command[0], str(out), *command[1:]] if command[0] != "run" else [*command, out]
    assert cli_module.main([str(a) for a in arguments]) == 2
    assert "the checksum in it is of other content" in capsys.readouterr().err


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


def test_a_panic_is_an_internal_error(monkeypatch, capsys, saved, tmp_path):
    """A table whose digest fits and that the reader of tables panics at."""
    out = tmp_path / "out"
    shutil.copytree(saved, out)
    path = out / "series.parquet"
    content, places = path.read_bytes(), random.Random(1)
    for _ in range(20_000):
        damaged = bytearray(content)
        damaged[places.randrange(len(content))] ^= 1 << places.randrange(8)
        path.write_bytes(damaged)
        try:
            spillgate._engine.stored_series(str(path))
        except InputError:
            pass
        except BaseException as error:  # a panic is no `Exception`
            if type(error).__name__ != "PanicException":
                raise
            break
    else:
        pytest.skip("no damage makes the reader of tables panic")
    rundir.seal(out, rundir.read_manifest(out))
    capsys.readouterr()
    assert cli_module.main(["report", str(out)]) == 4
    assert "spillgate: internal error: PanicException: " in capsys.readouterr().err
    monkeypatch.setenv("SPILLGATE_DEBUG", "1")
    assert cli_module.main(["report", str(out)]) == 4


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
def test_quoted_names_are_read_as_they_were(name):
    assert spreadsheet.read(spreadsheet.written(name)) == name
    assert not spreadsheet.written(name).startswith(("=", "+", "-", "@", "\t"))
