"""Switches in tables and in the report."""

import re

import pytest

import spillgate
from spillgate import report
from spillgate.cli import main
from spillgate.nodes import node_rows
from spillgate.report import switches

SCENARIO = """
schema_version: 1
name: A hot spot
topology:
  nodes:
    - {name: a, count: 3}
    - {name: s, switch: {architecture: ARCHITECTURE}}
    - {name: b, count: 3}
  links:
    in: {from: a, to: s, rate: 10 Mb/s}
    out: {from: s, to: b, rate: 10 Mb/s}
traffic:
  # Every input sends half a line to output 0, and input 0 a tenth to output 1.
  - flow: {name: hot, count: 3, from: a, to: b-0, source: {poisson: {rate: 5 Mb/s, packet: 1 kB}}}
  - flow: {name: cool, from: a-0, to: b-1, source: {poisson: {rate: 1 Mb/s, packet: 1000 B}}}
measurement: {warmup: 0 s, duration: 2 s, interval: 50 ms}
runs: {count: 2, seed: 1}
"""


def run(architecture="voq"):
    return spillgate.run(SCENARIO.replace("ARCHITECTURE", architecture))


@pytest.fixture(scope="module")
def hot():
    return run()


def test_the_table_has_a_row_for_each_switch(hot):
    table = node_rows(hot, "switch")
    assert table.head[0] == "switch"
    [row] = table.rows
    cells = dict(zip(table.head, row, strict=True))
    assert cells["switch"] == "s"
    # 16 Mb/s come, 10 + 1 Mb/s leave; nothing is lost, as buffers have no limit.
    assert cells["offered"].startswith(("15", "16"))
    assert cells["sent"].startswith(("10.", "11"))
    assert cells["lost at inputs"] == "0 %"


def test_no_switch_no_table(first):
    results = spillgate.run(first, runs=1)
    assert node_rows(results, "switch") is None
    assert switches.switch_parts(results) == ([], 0)
    assert 'id="switches"' not in report.render(results)


def test_the_map_shows_where_packets_wait(hot):
    [part], count = switches.switch_parts(hot)
    assert count == 1
    assert part.name == "s"
    assert [x[:2] for x in part.longest[:3]] == [
        pair for pair in (x[:2] for x in part.longest) if pair[1] == "out-0"
    ]
    assert part.longest[3][1] != "out-0"
    # In every square all dark cells are in the first column.
    for shade, path in re.findall(
        r'<path class="f0" fill-opacity="([.\d]+)" d="([^"]*)"', part.map
    ):
        if float(shade) > 0.3:
            assert set(re.findall(r"M(\d+),", path)) == {"0"}
    shares = {p.name: dict(p.slots) for p in part.ports}
    # Output 0 is always wanted, and used whenever iSLIP finds it: the three shares are a whole.
    assert sum(shares["out-0"].values()) == pytest.approx(100)
    assert shares["out-0"][0] > 95
    assert shares["out-2"] == {0: 0, 1: 0, 2: 100}


def test_the_report_has_it(hot):
    page = report.render(hot)
    assert '<a href="#switches">Switches</a>' in page
    section = page[page.index('<section id="switches"') :]
    section = section[: section.index("</section>")]
    assert section.count('class="heat"') == 1
    assert "an input in each row from the top" in section


def test_an_output_queued_switch_has_no_map():
    [part], _ = switches.switch_parts(run("output-queued"))
    assert part.map is None
    assert all(not p.slots for p in part.ports)


def test_ports_of_a_large_switch_are_put_together():
    n = 2 * switches.MOST_PORTS
    whole = [[float(i == o) for o in range(n)] for i in range(n)]
    found = switches._put_together(whole)
    assert len(found) == len(found[0]) == switches.MOST_PORTS
    # Of two by two ports, two of four cells are 1.
    assert found[0][0] == found[5][5] == 0.5
    assert found[0][1] == 0.0
    assert switches._put_together([[1.0, 2.0]]) == [[1.0, 2.0]]


def test_the_command_line_shows_switches(tmp_path, capsys):
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO.replace("ARCHITECTURE", "voq"), encoding="utf-8")
    out = str(tmp_path / "out")
    assert main(["run", str(path), "--no-figures", "--runs", "1", "--out", out]) == 0
    said = capsys.readouterr().out
    assert "lost at inputs" in said
    assert "switches; mean over the runs" in " ".join(said.split())


def test_parts_of_the_first_run_are_shown_where_queues_were_sampled(hot):
    """The hot spot's queues grow all the time: each square is darker than the one before."""
    [part], _ = switches.switch_parts(hot)
    squares = part.map.split("<text")[1 : switches.SLICES + 1]
    assert len(squares) == switches.SLICES
    darkest = [
        max(float(x) for x in re.findall(r'path class="f0" fill-opacity="([.\d]+)"', s))
        for s in squares
    ]
    assert darkest == sorted(darkest)
    assert darkest[0] < 0.5
    assert darkest[-1] > 0.8
