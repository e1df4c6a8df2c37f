"""Outputs that cannot be written, names that are no text, and text that would move a terminal."""

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

import spillgate
from conftest import make_results, parts
from spillgate import plot, report, rundir
from spillgate.cli import main
from spillgate.errors import InputError
from spillgate.visible import escaped, visible

SHORT = ("--runs", "2", "--set", "measurement.duration=2 s", "--set", "measurement.warmup=1 s")
# Two runs, looked at once, decide.
SHORT += ("--set", "verdicts.looks=once")
HOSTILE = "v\x1b]0;owned\x07\x1b[31m\x9b2J\u202eoice\r$\\frac$ <b>&\ufffe"


def through_shell(cli, tmp_path, redirection, *arguments):
    """The status, and what got through, of a command with redirections."""
    command = [sys.executable, "-m", "spillgate", *map(str, arguments)]
    return subprocess.run(
        ["sh", "-c", f'"$@" {redirection}', "sh", *command],
        cwd=tmp_path,
        env=cli.environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full", "2>&- <&-"])
def test_a_standard_error_that_is_gone_changes_nothing(cli, first, tmp_path, redirection):
    # What nobody reads is written to it all the same: the note of the rules, progress.
    done = through_shell(cli, tmp_path, redirection, "run", first, *SHORT, "--out", "out")
    assert done.returncode == 1
    assert "Results in out\n" in done.stdout
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        "manifest.json",
        "report.html",
        "results.json",
        "results.parquet",
        "runs",
        "scenario.yaml",
        "series.parquet",
    ]
    assert len(spillgate.load(tmp_path / "out").runs) == 4
    # Bad input has its status, and nothing of it goes elsewhere.
    done = through_shell(cli, tmp_path, redirection, "check", "missing.yaml")
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize(
    ("redirection", "why"),
    [(">/dev/full", "No space left on device"), (">&-", "Bad file descriptor")],
)
@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_a_standard_output_that_cannot_be_written(cli, first, tmp_path, redirection, why, form):
    arguments = ("run", first, *SHORT, "--no-figures", "--out", "out", "--format", form)
    done = through_shell(cli, tmp_path, redirection, *arguments)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-2:] == [
        "spillgate: the results are in out",
        f"spillgate: cannot write to standard output: {why}",
    ]
    assert len(spillgate.load(tmp_path / "out").runs) == 4
    assert through_shell(cli, tmp_path, redirection, "--help").returncode == 2


def test_a_path_may_be_anything(cli, first, tmp_path, manifest):
    directory = tmp_path / os.fsdecode(b"d\xff")
    directory.mkdir()
    path = directory / os.fsdecode(b"sc\xe9.yaml")
    path.write_bytes(first.read_bytes())
    out = directory / "o"
    done = cli("run", path, *SHORT, "--out", out)
    assert done.returncode == 1, done.stderr
    assert spillgate.load(out).scenario_path.read_bytes() == first.read_bytes()
    assert manifest(out)["scenario"] == path.name
    for command in (["explain", out], ["report", out], ["pcap", out, "uplink"], ["check", path]):
        again = cli(*command)
        assert again.returncode == 0, again.stderr
    assert cli("run", path, *SHORT, "--format", "json", "--no-figures").returncode == 1
    for arguments in (("--set", b"name=\xff"), ("--sla", b"\xff.yaml"), ("--pcap", b"\xff")):
        refused = cli("run", path, *map(os.fsdecode, arguments))
        assert refused.returncode == 2
        assert "is not UTF-8" in refused.stderr


@pytest.fixture(scope="module")
def saved(root, tmp_path_factory):
    """A run directory."""
    results = spillgate.run(
        root / "examples/first/scenario.yaml", runs=1, set={"measurement.duration": "1 s"}
    )
    return results.save(tmp_path_factory.mktemp("saved") / "out")


@pytest.mark.parametrize("text", ["[]", "1", "{", '{"format": 1}', "[" * 100_000, '"\ud800"'])
def test_a_manifest_is_for_others(capsys, saved, text):
    path = saved / "manifest.json"
    before = path.read_text()
    try:
        path.write_text(text, errors="surrogatepass")
        assert main(["report", str(saved), "--force"]) == 0
        assert "error" not in capsys.readouterr().err
    finally:
        path.write_text(before)


@pytest.mark.parametrize("key", ["scenario", "files", "copies"])
def test_a_study_has_no_files_elsewhere(saved, key):
    noted = rundir.read_study(saved)
    elsewhere = {"scenario": "../s.yaml", "files": ["../t.csv"], "copies": {"../a": "../a"}}
    try:
        rundir.seal(saved, {**noted, key: elsewhere[key]})
        with pytest.raises(InputError, match="is outside of it"):
            spillgate.load(saved)
    finally:
        rundir.seal(saved, noted)


def test_every_character_is_shown_by_one_and_harms_nothing():
    everything = "".join(map(chr, range(0x11000)))
    shown = visible(everything)
    assert len(shown) == len(everything)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown)
    assert shown.encode()
    ET.fromstring(f"<a>{shown.replace('&', '').replace('<', '').replace(']]>', '')}</a>")
    kept = [c for c in everything if visible(c) == c]
    assert {"\n", "\t", "é", "语", "\u200d"} <= set(kept)
    # Two halves that follow each other would be one character.
    halves = everything.replace("\udbff\udc00", "\udbff-\udc00")
    assert json.loads(escaped(json.dumps(halves, ensure_ascii=False))) == halves


@pytest.fixture
def hostile(first, tmp_path):
    """A scenario whose title would move a terminal, with a line of a configuration that would."""
    path = tmp_path / "hostile.yaml"
    text = first.read_text().replace("A call beside a download", json.dumps(HOSTILE))
    assert "owned" in text
    path.write_text(text)
    return path


def test_nothing_from_a_file_controls_a_terminal(cli, hostile, tmp_path):
    config = tmp_path / "router.cfg"
    config.write_bytes(
        b"policy-map P\n class class-default\n  bandwidth percent 40\n"
        b"  log \x1b[31m\x9b\xc2\x9b\ninterface Serial0\n bandwidth 512\n"
        b" service-policy output P\n"
    )
    bad = tmp_path / "bad.yaml"
    bad.write_text('schema_version: 1\n"\\e[31mnodes": 5\n')
    for command, status in (
        (["run", hostile, *SHORT, "--out", "out"], 1),
        (["run", hostile, *SHORT, "--out", "csv", "--no-figures", "--format", "csv"], 1),
        (["run", hostile, *SHORT, "--out", "json", "--no-figures", "--format", "json"], 1),
        (["check", hostile], 0),
        (["check", bad], 2),
        (["check", config], 0),
        (["import", config], 0),
        (["import", config, "--interface", "Serial0"], 0),
        (["import", config, "--format", "json"], 0),
        (["explain", "out"], 0),
    ):
        done = cli(*command)
        assert done.returncode == status, done.stderr
        for said in (done.stdout, done.stderr):
            assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", said), command
        if command[-1] == "json" and "run" in command:
            assert json.loads(done.stdout)["scenario"]["name"] == HOSTILE
    page = (tmp_path / "out/report.html").read_text()
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ufffe]", page)
    assert visible("v\x1b]0;owned") in page


def test_figures_show_names_as_they_are(tmp_path, recwarn):
    results = make_results(variants=[HOSTILE, "LLQ"])
    for rows in map(results._values.data.get, parts()):
        for row in rows:
            row["variant"] = HOSTILE if row["variant"] == "FIFO" else "LLQ"
    specs = [
        plot.FigureSpec("bars", metric="owd_mean", title=HOSTILE),
        plot.FigureSpec("names", metric="owd_mean", x="name"),
        plot.FigureSpec("curves", kind="ccdf", title=HOSTILE),
        plot.FigureSpec("lines", kind="timeline", metric="backlog_packets", title=HOSTILE),
    ]
    drawn, problems = plot.save(results, tmp_path, specs)
    assert len(drawn) == 4
    assert all("no signs for" in p for p in problems)
    for figure in drawn:
        root = ET.parse(figure.with_suffix(".svg")).getroot()
        texts = [t for t in ("".join(e.itertext()) for e in root.iter()) if "owned" in t]
        assert any(r"$\frac$" in t for t in texts), figure
    ET.fromstring(re.sub(r"(?s)^.*?(<svg.*?</svg>).*$", r"\1", report.render(results)))
    assert not recwarn.list


def test_names_beyond_the_font_are_told_of_once(tmp_path, recwarn):
    results = make_results(variants=["语音", "LLQ"])
    for rows in map(results._values.data.get, parts()):
        for row in rows:
            row["variant"] = "语音" if row["variant"] == "FIFO" else "LLQ"
    drawn, problems = plot.save(results, tmp_path)
    assert drawn
    said = "figures: their font has no signs for 语音, which PNG and PDF files show as boxes; "
    assert problems == [said + "SVG and PGF files and the report have them"]
    assert not recwarn.list
    assert "语音" in (tmp_path / "delay.svg").read_text()
