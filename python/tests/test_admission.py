"""What flow admission did, from the records to tables, files and the report."""

import csv
import io
import json

import pytest
from rich.console import Console

import spillgate
from conftest import CLASSES, VARIANTS, Made, described, parts, summary_row
from spillgate import admission, report
from spillgate.cli.tables import admission_table
from spillgate.report.admission import admission_figures
from spillgate.result import Results
from spillgate.saved import load
from spillgate.source import Source


def record(variant, run, flow, cls, offered, admitted):
    return {
        "variant": variant,
        "run": run,
        "link": "wan",
        "flow": flow,
        "class": cls,
        "direction": "data",
        "offered_s": offered,
        "admitted_s": admitted,
        "waiting_s": (65.0 if admitted is None else admitted) - offered,
        "refused": 3,
        "refused_total": 4,
        "admissions": 1,
        "removals": 0,
        "timeouts": 2,
    }


RECORDS = [
    record(v, run, f"{c}-{i}", c, 1.0 + i, None if i == 4 else 1.5 + i)
    for v in VARIANTS
    for run in (0, 1)
    for c in CLASSES
    for i in range(5)
]


def made(records=RECORDS, **changes):
    data = parts()
    metrics = (
        ("flows_offered", "flows", 5.0),
        ("flows_waiting", "flows", 1.0),
        ("flows_removed", "events", 0.0),
        ("waiting_time", "s", 12.4),
        ("waiting_time_p95", "s", 60.0),
        ("waiting_time_max", "s", 60.0),
    )
    data["summary"] += [
        summary_row(v, "admission", f"wan/{c}", metric, unit, mean, 0.1)
        for v in VARIANTS
        for c in CLASSES
        for metric, unit, mean in metrics
        if records
    ]
    data["admission"] = records
    where = report.page._TEMPLATE.parent / "scenario.yaml"
    return Results(described(**changes), Made(data), source=Source(where), wall_s=1.0)


def shown(results, width=100):
    out = io.StringIO()
    admission_table(Console(file=out, width=width, highlight=False, emoji=False), results)
    return out.getvalue()


def test_records_are_chosen_by_variant_and_link():
    results = made()
    assert len(results.admission()) == len(RECORDS)
    chosen = results.admission(variant=VARIANTS[1], link="wan")
    assert {a.variant for a in chosen} == {VARIANTS[1]}
    assert len(chosen) == len(RECORDS) // 2
    assert results.admission(link="lan") == ()
    never = [a for a in chosen if a.admitted_s is None]
    assert {(a.flow[-2:], a.waiting_s) for a in never} == {("-4", 60.0)}


def test_a_run_directory_keeps_them(root, tmp_path):
    scenario = root / "examples/fan-access/scenario.yaml"
    results = spillgate.run(scenario, runs=1, set={"measurement.duration": "2 s"})
    assert results.admission()
    where = results.save(tmp_path / "out")
    with (where / admission.FILE).open(encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert tuple(lines[0]) == admission.COLUMNS
    assert len(lines) == len(results.admission())
    assert load(where).admission() == results.admission()
    copied = load(where).save(tmp_path / "copy")
    assert (copied / admission.FILE).read_bytes() == (where / admission.FILE).read_bytes()


def test_nothing_is_written_where_no_link_admits_flows(first, tmp_path):
    results = spillgate.run(first, runs=1, set={"measurement.duration": "1 s"})
    where = results.save(tmp_path / "out")
    assert not (where / admission.FILE).exists()
    assert load(where).admission() == ()
    assert shown(made([])) == ""
    assert "Who was admitted when" not in report.render(made([]))


@pytest.mark.parametrize("width", [60, 80, 100, 140])
def test_the_table_says_who_waits_still(width):
    text = shown(made(), width)
    assert "12.4" in text
    # Where there is no room for a column, the legend says so.
    assert "still waiting" in " ".join(text.split())
    # Nothing was removed, so there is no column of zeros.
    assert "removed" not in text
    assert all(len(line) <= max(width, 75) for line in text.splitlines())
    wide = shown(made(), 140)
    assert "12.40 ±0.10" in wide or "12.4 ±0.1" in wide


def test_the_report_draws_who_was_admitted_when():
    (figure,) = admission_figures(made())
    assert len(figure.panels) == len(VARIANTS)
    panel = figure.panels[0]
    assert "10 flows, 2 of them never admitted" in panel.summary
    come, admitted = (line.points for line in panel.lines[:2])
    # Staircases end where their counts do: five came, four were admitted.
    assert come[-1] == (65.0, 5.0)
    assert admitted[-1] == (65.0, 4.0)
    assert (1.5, 1.0) in admitted
    assert [p[0] for p in admitted] == sorted(p[0] for p in admitted)
    page = report.render(made())
    assert "Who was admitted when" in page
    assert "admission at link/class" in page


def test_a_document_has_them_with_the_flows():
    assert "admission" not in made().to_dict()
    asked = json.loads(json.dumps(made().to_dict(flows=True)))
    assert len(asked["admission"]) == len(RECORDS)
