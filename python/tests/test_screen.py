"""What `run` and `check` print fits the screen, the most important first."""

import subprocess
import sys

import pytest
from rich.table import Table

from conftest import VARIANTS, make_results, verdict_row
from spillgate.cli import main, render
from spillgate.cli.verdicts import worst_first

LINKS = 10_000


@pytest.fixture
def wide(tmp_path):
    """A scenario with 10,000 links, of which one late in the file has a policy and one is slow."""
    path = tmp_path / "wide.yaml"
    links = {n: f"rate: {n % 7 + 2} Mb/s" for n in range(LINKS)}
    links[LINKS - 9] = "rate: 1 Mb/s"
    links[LINKS // 2] += ", policy: short"
    text = "".join(f"    l{n}: {{from: s{n}, to: hub, {of}}}\n" for n, of in links.items())
    nodes = ", ".join(f"s{n}" for n in links)
    path.write_text(
        f"schema_version: 1\ntopology:\n  nodes: [hub, {nodes}]\n  links:\n{text}"
        "policies:\n  short: {fifo: {limit: 64 packets}}\n"
        "traffic:\n  - flow:\n      name: a\n      from: s1\n      to: hub\n"
        "      source: {cbr: {rate: 100 kb/s, packet: 200 B}}\n"
        "measurement: {duration: 1 s}\n"
    )
    return path


def test_a_check_of_many_links_fits_the_screen(cli, wide):
    lines = 30
    done = cli("check", wide, LINES=str(lines))
    assert done.returncode == 0
    said = done.stdout.splitlines()
    assert lines // 2 < len(said) <= lines - 2
    links = [line.split()[0] for line in said if " → hub " in line]
    # In the order of all, but not the first of them.
    assert links == sorted(links)
    assert {f"l{LINKS // 2}", f"l{LINKS - 9}"} < set(links)
    assert "The scenario is valid." in said
    assert f"Not shown: links ({LINKS - len(links):,} of {LINKS:,})" in done.stdout
    assert "--all" in said[-1]


def test_nothing_is_laid_out_that_is_not_shown(wide, monkeypatch, capsys):
    laid = []
    rendered = Table.__rich_console__

    def count(table, *arguments):
        laid.append(table.row_count)
        return rendered(table, *arguments)

    monkeypatch.setattr(Table, "__rich_console__", count)
    monkeypatch.setenv("LINES", "40")
    assert main(["check", str(wide)]) == 0
    assert laid
    assert sum(laid) < 500
    assert f"of {LINKS:,})" in capsys.readouterr().out


def test_all_is_everything(cli, wide):
    text = cli("check", wide, "--all", LINES="24").stdout
    assert text.count(" → hub ") == LINKS
    assert "Not shown" not in text


def test_findings_take_a_line_each_the_worst_first(cli, root):
    example = root / "examples/ce-node/scenario.yaml"
    text = cli("check", example, LINES="30").stdout
    assert len(text.splitlines()) <= 28
    assert "hint:" not in text
    assert text.index(": warning: ") < text.index("8 warnings, 2 notes")
    assert "hint:" in cli("check", example, "--all", LINES="30").stdout


def many(verdicts):
    """Results with these verdicts, of both variants in turn."""
    found = make_results()
    found._values.data["verdicts"] = [
        verdict_row(VARIANTS[n % 2], v) for n, v in enumerate(verdicts)
    ]
    return found


def printed(capsys, monkeypatch, found, lines, **options):
    monkeypatch.setenv("LINES", str(lines))
    monkeypatch.setenv("COLUMNS", "100")
    render.results(found, None, (), **options)
    return capsys.readouterr().out


def test_a_run_fits_every_screen(capsys, monkeypatch):
    found = many(("fail", "pass", "undecided", "pass") * 10)
    whole = printed(capsys, monkeypatch, found, 1000)
    for lines in (18, 24, 30, 40, 60):
        text = printed(capsys, monkeypatch, found, lines)
        assert len(text.splitlines()) <= lines - 2, lines
        assert found.conclusion.tally in text
        assert "✗ " in text
        assert "--all" in text
        assert printed(capsys, monkeypatch, found, lines, whole=True) == whole


def test_the_worst_is_first():
    found = many(("pass", "undecided", "fail"))
    assert [v.verdict for v in worst_first(found.verdicts)] == ["fail", "undecided", "pass"]


def test_what_fits_is_shown_whole(capsys, monkeypatch):
    text = printed(capsys, monkeypatch, make_results(), 40)
    assert text == printed(capsys, monkeypatch, make_results(), 40, whole=True)


def test_where_there_is_no_terminal_a_screen_has_forty_lines(wide):
    done = subprocess.run(
        [sys.executable, "-m", "spillgate", "check", str(wide)],
        env={"PYTHONIOENCODING": "utf-8", "LINES": "many"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert 30 < len(done.stdout.splitlines()) <= 38
