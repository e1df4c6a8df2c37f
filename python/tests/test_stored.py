"""What version 1 of the format of stored runs has left is read by every later version."""

import json
import shutil
from pathlib import Path

import spillgate
from spillgate import _engine, report
from spillgate.cli import main

KEPT = Path(__file__).with_name("stored") / "version-1"


def test_a_directory_of_version_1_is_loaded():
    expected = json.loads((KEPT / "expected.json").read_text(encoding="utf-8"))
    results = spillgate.load(KEPT)
    assert {f"{r.variant}/{r.run}": r.digest for r in results.runs} == expected["digests"]
    values = {f"{r.variant}/{r.scope}/{r.name}/{r.metric}": r.mean for r in results.table()}
    assert {name: values.get(name) for name in expected["values"]} == expected["values"]
    assert {f"{s.where}/{s.metric}" for s in results.series()} == set(expected["series"])
    assert len(results.admission()) == expected["admissions"]
    verdicts = [[v.variant, v.whose, v.measured] for v in results.verdicts]
    assert verdicts == expected["verdicts"]
    assert len(results.distributions()) == 9
    assert "Shop" in report.render(results)


def test_it_is_reported_and_judged_and_copied_without_running(tmp_path, capsys):
    out = tmp_path / "out"
    shutil.copytree(KEPT, out)
    assert main(["report", str(out)]) == 0
    assert "report.html" in capsys.readouterr().out
    before = _engine.stored_runs(out / "runs")
    assert len(before) == 3
    copied = spillgate.load(out).save(tmp_path / "copy")
    assert _engine.stored_runs(copied / "runs") == before
    assert (copied / "results.json").is_file()
    assert (copied / "results.parquet").is_file()
