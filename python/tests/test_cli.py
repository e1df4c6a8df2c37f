"""The command line from end to end, in processes of their own."""

import csv
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys

import jsonschema
import pytest

import spillgate
from spillgate import cli as cli_module
from spillgate.cli import commands

SHORT = ("--runs", "3", "--set", "measurement.duration=2 s", "--set", "measurement.warmup=1 s")


def test_version_names_the_commit(cli):
    done = cli("--version")
    assert done.returncode == 0
    assert done.stdout == f"spillgate {spillgate.__version__} ({spillgate.__commit__})\n"


def test_help_loads_nothing_heavy():
    program = """
import sys
from spillgate.cli import main
try:
    main(["--help"])
finally:
    print(*sys.modules, file=sys.stderr)
"""
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stderr.split()
    for heavy in ("matplotlib", "numpy", "rich", "pandas", "polars"):
        assert heavy not in loaded


@pytest.mark.parametrize("arguments", [(), ("fly",), ("run",), ("run", "x", "--runs", "many")])
def test_usage_errors_are_bad_input(cli, arguments):
    done = cli(*arguments)
    assert done.returncode == 2
    assert "usage: spillgate" in done.stderr
    assert done.stdout == ""


def test_a_run_gives_tables_files_and_a_status(cli, first, tmp_path, manifest):
    done = cli("run", first, *SHORT, "--out", "out", "--seed", "5", "--figures", "default")
    assert done.returncode == 1, done.stderr
    assert "A call beside a download" in done.stdout
    assert "seed 5" in done.stdout
    assert "✗ fail" in done.stdout
    assert "✓ pass" in done.stdout
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 100
    out = tmp_path / "out"
    names = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    assert names >= {"manifest.json", "results.json", "results.parquet", "scenario.yaml"}
    assert {n for n in names if n.startswith("figures/")} == {
        f"figures/{f}.{ending}"
        for f in ("delay", "loss", "delay-variation", "delay-distribution", "backlog")
        for ending in ("png", "svg")
    }
    assert [line.strip() for line in done.stdout.splitlines() if line.endswith(".png")] == [
        f"out/figures/{f}.png"
        for f in ("delay", "loss", "delay-variation", "delay-distribution", "backlog")
    ]
    said = manifest(out)
    assert said["interrupted"] is False
    assert said["seed"] == 5
    assert said["runs_completed"] == said["runs_requested"] == 6
    assert len(said["digests"]) == 6
    assert said["argv"][:2] == ["spillgate", "run"]
    assert re.fullmatch("[0-9a-f]{32}", said["scenario_hash"])
    assert (out / "scenario.yaml").read_text() == first.read_text()
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_the_default_place_is_under_runs(cli, first, tmp_path):
    cli("run", first, *SHORT, "--no-figures", "--quiet")
    (made,) = (tmp_path / "runs").iterdir()
    assert re.fullmatch(r"first-\d{8}-\d{6}", made.name)
    assert not (made / "figures").exists()


def test_machine_formats_are_alone_on_standard_output(cli, first, tmp_path):
    done = cli("run", first, *SHORT, "--no-figures", "--format", "json", "--out", "a")
    data = json.loads(done.stdout)
    saved = json.loads((tmp_path / "a/results.json").read_text())
    assert {r["scope"] for r in data["summary"]} == set(saved.pop("scopes"))
    # Files have them in a table of their own.
    assert data.pop("series")
    assert data == saved
    assert {r["scope"] for r in data["summary"]} >= {"class", "dscp", "link", "queue", "total"}
    done = cli("run", first, *SHORT, "--no-figures", "--format", "csv", "--out", "b")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == len(data["summary"])
    for row, record in zip(rows, data["summary"], strict=True):
        assert row["metric"] == record["metric"]
        mean = None if row["mean"] == "" else float(row["mean"])
        assert mean == record["mean"]


def test_the_same_seed_gives_the_same_results_on_any_number_of_threads(cli, first, tmp_path):
    for jobs in ("1", "2"):
        cli("run", first, *SHORT, "--no-figures", "--quiet", "--jobs", jobs, "--out", jobs)
    texts = [(tmp_path / j / "results.json").read_text() for j in ("1", "2")]
    assert texts[0] == texts[1]
    one = json.loads(texts[0])
    cli("run", first, *SHORT, "--no-figures", "--quiet", "--seed", "2", "--out", "other")
    other = json.loads((tmp_path / "other/results.json").read_text())
    assert other["runs"] != one["runs"]


def test_bad_input_is_located_and_nothing_is_written(cli, first, tmp_path):
    bad = tmp_path / "bad.yaml"
    bad.write_text(first.read_text().replace("rate: 10 Mb/s", "rate: 10 Mbyte/s"))
    for command in ("run", "check"):
        done = cli(command, bad)
        assert done.returncode == 2
        assert done.stdout == ""
        assert re.match(r"\S*bad\.yaml:6:\d+: error: ", done.stderr), done.stderr
        assert "Traceback" not in done.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["bad.yaml"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--runs", "0"), "runs must be 1 to 100000, not 0"),
        (("--seed", "-1"), "seed must be 0 to 18446744073709551615, not -1"),
        (("--jobs", "-3"), "jobs must be 0 to 4096, not -3"),
        (("--set", "topology.links.uplnk.rate=1 Mb/s"), "uplink"),
        (("--set", "nonsense"), "nonsense"),
    ],
)
def test_bad_options_are_bad_input(cli, first, arguments, said):
    done = cli("run", first, *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_a_missing_scenario_is_bad_input(cli):
    done = cli("run", "nowhere.yaml")
    assert done.returncode == 2
    assert "nowhere.yaml" in done.stderr


def test_an_unusable_place_is_found_before_the_runs(cli, first, tmp_path):
    (tmp_path / "file").write_text("mine")
    endless = ("--runs", "1000")
    for out in ("file", "file/below", "."):
        done = cli("run", first, *endless, "--out", out)
        assert done.returncode == 2, out
        assert done.stderr.startswith("spillgate: ")
        assert done.stderr.count("\n") == 1
    assert (tmp_path / "file").read_text() == "mine"
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_force_replaces_a_run_directory_only(cli, first, tmp_path, manifest):
    quick = (*SHORT, "--no-figures", "--quiet", "--out", "out")
    assert cli("run", first, *quick).returncode == 1
    again = cli("run", first, *quick, "--seed", "9")
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert cli("run", first, *quick, "--seed", "9", "--force").returncode == 1
    assert manifest(tmp_path / "out")["seed"] == 9


def test_chosen_figures_are_drawn_and_checked_first(cli, first, tmp_path):
    spec = tmp_path / "figures.toml"
    spec.write_text('[[figure]]\nfile = "one"\nmetric = "owd_p99"\nnames = ["voice"]\n')
    done = cli("run", first, *SHORT, "--quiet", "--out", "out", "--figures", spec)
    assert done.returncode == 1, done.stderr
    assert sorted(p.name for p in (tmp_path / "out/figures").iterdir()) == ["one.png", "one.svg"]
    spec.write_text('[[figure]]\nfile = "one"\nmetric = "owd_p99"\nnames = ["vioce"]\n')
    done = cli("run", first, "--runs", "1000", "--out", "b", "--figures", spec)
    assert done.returncode == 2
    assert "there is no class 'vioce'; there are voice, data" in done.stderr


def test_an_interrupted_run_keeps_what_is_finished(cli, first, tmp_path, manifest):
    # Minutes of work on one thread of any machine.
    long = ("--runs", "1000", "--jobs", "1", "--set", "measurement.duration=1000 s")
    process = cli.start("run", first, *long, "--out", "out", "--no-figures")
    # Progress lines come every five seconds: by the first, runs have finished.
    assert "runs" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert "interrupted" in err
    assert "A call beside a download" in out
    said = manifest(tmp_path / "out")
    assert said["interrupted"] is True
    assert 0 < said["runs_completed"] < said["runs_requested"] == 2000
    results = spillgate.load(tmp_path / "out")
    assert results.interrupted
    assert len(results.runs) == said["runs_completed"]


def test_check_says_what_was_understood(cli, root):
    done = cli("check", root / "examples/ce-node/scenario.yaml")
    assert done.returncode == 0, done.stderr
    for said in (
        "50 flows in 5 classes: voice, video, critical, non-critical, bulk",
        "5 variants × 10 runs, seed 1",
        "CBWFQ-LLQ-WRED",
        "ce2 → ce1",
        "100 Mb/s",
        "loss_ratio ≤ 0.1 %",
        "The scenario is valid.",
    ):
        assert said in done.stdout


def test_schema_is_a_json_schema(cli):
    schema = json.loads(cli("schema").stdout)
    assert "topology" in schema["properties"]


def test_list_shows_all_or_one_family(cli):
    everything = cli("list").stdout
    for said in ("disciplines", "class-based", "wred", "cbr", "owd_p99"):
        assert said in everything
    assert "cbr" not in cli("list", "aqm").stdout
    done = cli("list", "aqms")
    assert done.returncode == 2
    assert "there are" in done.stderr


def test_a_closed_pipe_is_no_error(cli):
    with cli.start("list") as process:
        process.stdout.close()
        assert process.wait(timeout=60) in (0, 141)
        assert process.stderr.read() == ""


def test_ascii_terminals_get_no_traceback(cli, first):
    done = cli("check", first, PYTHONIOENCODING="ascii", LC_ALL="C")
    assert done.returncode == 0, done.stderr
    assert "The scenario is valid." in done.stdout


def test_an_internal_error_is_one_line(monkeypatch, capsys, first):
    def broken(options):
        options.running = spillgate.check(first)
        raise RuntimeError("a broken invariant")

    monkeypatch.setitem(commands.COMMANDS, "run", broken)
    assert cli_module.main(["run", str(first)]) == 4
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "internal error: RuntimeError: a broken invariant" in err
    assert "seed 1" in err
    assert spillgate.check(first).hash in err
    monkeypatch.setenv("SPILLGATE_DEBUG", "1")
    assert cli_module.main(["run", str(first)]) == 4
    assert "Traceback" in capsys.readouterr().err


def test_results_are_shown_even_if_they_cannot_be_saved(monkeypatch, capsys, first, tmp_path):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spillgate.Results, "write_into", full)
    out = tmp_path / "out"
    assert cli_module.main(["run", str(first), *SHORT, "--quiet", "--out", str(out)]) == 2
    said = capsys.readouterr()
    assert "✗ fail" in said.out
    assert said.err == (
        "spillgate: the finished runs are kept: go on with\n    "
        + shlex.join(["spillgate", "run", str(first), *SHORT, "--quiet", "--resume", str(out)])
        + "\n"
        f"spillgate: cannot write results to {out}: No space left on device\n"
    )
    # Nothing is half-written, and no run is lost.
    assert [p.name for p in tmp_path.iterdir()] == [".out.spillgate"]
    monkeypatch.undo()
    again = ["run", str(first), *SHORT, "--quiet", "--resume", str(out)]
    assert cli_module.main(again) == 1
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_an_undecided_verdict_has_its_own_status(cli, first):
    # One run gives no interval, so nothing can be decided.
    done = cli("run", first, *SHORT[2:], "--runs", "1", "--no-figures", "--out", "out")
    assert done.returncode == 3, done.stdout
    assert "? undecided" in done.stdout


def on_terminal(cli, *arguments, **environment):
    """What a person at a terminal sees: both streams in one."""
    pty = pytest.importorskip("pty")
    main, other = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "spillgate", *map(str, arguments)],
        cwd=cli.cwd,
        env={**cli.environment, "TERM": "xterm-256color", **environment},
        stdin=other,
        stdout=other,
        stderr=other,
    ) as process:
        os.close(other)
        seen = b""
        while True:
            try:
                piece = os.read(main, 65536)
            except OSError:
                break  # Linux says so when the last writer has gone.
            if not piece:
                break
            seen += piece
        os.close(main)
        assert process.wait() == 1
    return seen.decode()


def test_terminals_get_color_and_a_bar_unless_they_refuse(cli, first):
    seen = on_terminal(cli, "run", first, "--runs", "40", "--no-figures")
    assert re.search(r"\x1b\[[\d;]*31m✗ fail", seen)
    assert "of 80 runs" in seen
    plain = on_terminal(cli, "run", first, "--runs", "40", "--no-figures", NO_COLOR="1")
    assert "✗ fail" in plain
    assert not re.search(r"\x1b\[[\d;]*3[1-7]m", plain)


def test_a_file_of_requirements_has_a_schema(cli):
    schema = json.loads(cli("schema", "sla").stdout)
    check = jsonschema.Draft202012Validator(schema)
    good = {
        "customer": "Acme",
        "objectives": [{"class": "voice", "preset": "g114-preferred", "share": "20 %"}],
        "sites": [
            {
                "name": "HQ",
                "nodes": ["a"],
                "objectives": [{"class": "data", "metric": "loss_ratio", "max": "0.1 %"}],
            }
        ],
    }
    check.check_schema(schema)
    assert list(check.iter_errors(good)) == []
    for wrong in (
        {},
        {**good, "customers": 1},
        {**good, "objectives": [{"class": "voice", "metric": "speed", "max": "1 s"}]},
        {**good, "objectives": [{"file": "other.yaml"}]},
    ):
        assert list(check.iter_errors(wrong)), wrong
    assert "topology" in json.loads(cli("schema").stdout)["properties"]
    done = cli("schema", "traffic")
    assert done.returncode == 2
    assert "there is no schema of 'traffic'; there are scenario, sla" in done.stderr


def test_an_overloaded_link_is_said_with_its_factor(cli, tmp_path):
    text = """\
schema_version: 1
measurement: {duration: 5 s, warmup: 0 s}
runs: {count: 1}
topology:
  nodes: [a, b]
  links:
    wan: {from: a, to: b, rate: 10 Mb/s, delay: 1 ms}
traffic:
  - flow: {name: f, from: a, to: b, source: {cbr: {rate: RATE Mb/s, packet: 1000 B}}}
"""
    (tmp_path / "s.yaml").write_text(text.replace("RATE", "30"), encoding="utf-8")
    done = cli("run", "s.yaml", "--no-report")
    said = " ".join(done.stdout.split())
    assert "link wan was offered 3 times its rate" in said, done.stdout
    (tmp_path / "s.yaml").write_text(text.replace("RATE", "9.9"), encoding="utf-8")
    assert "times its rate" not in cli("run", "s.yaml", "--no-report").stdout


def test_a_router_configuration_is_no_scenario(cli, tmp_path):
    (tmp_path / "router.cfg").write_text("! R1\nhostname R1\npolicy-map P\n", encoding="utf-8")
    done = cli("run", "router.cfg")
    assert done.returncode == 2
    assert done.stderr.startswith("router.cfg:2:1: error: this is a router's configuration")
    assert "spillgate import router.cfg" in done.stderr


def test_wide_names_do_not_run_over_the_edge(cli, tmp_path):
    name = "語音流量" * 6
    config = f"class-map {name}\n match dscp ef\npolicy-map P\n class {name}\n  bandwidth 10\n"
    config += "interface Gi0/1\n bandwidth 1000\n service-policy output P\n"
    config += f"access-list 101 permit ip any any\nclass-map X{name}\n match access-group 9\n"
    (tmp_path / "r.cfg").write_text(config, encoding="utf-8")
    done = cli("import", "r.cfg", "--interface", "Gi0/1")
    assert done.returncode == 0, done.stderr
    from rich.cells import cell_len

    assert max(cell_len(line) for line in done.stdout.splitlines()) <= 100, done.stdout
