"""A result that is one n-th fair says so: in words, on the command line, and in the report."""

import json

import pytest

import spillgate

ATM = """\
schema_version: 1
name: Ten connections over a switch that loses cells
topology:
  nodes:
    - {name: host, count: 10}
    - {name: switch, atm_switch: {buffer: 256, discard: tail}}
    - sink
  links:
    in: {from: host, to: switch, rate: 155.52 Mb/s, delay: 5 us, atm: {}, duplex: true}
    out: {from: switch, to: sink, rate: 155.52 Mb/s, delay: 5 us, atm: {}, duplex: true}
traffic:
  - flow: {name: bulk, count: 10, from: host, to: sink, start_spread: 10 ms, tcp: {profile: linux}}
measurement: {warmup: 1 s, duration: 3 s, interval: 100 ms, series: []}
runs: {count: 2, seed: 1}
variants:
  - {name: tail, set: {topology.nodes.1.atm_switch.discard: tail}}
  - name: EPD
    set: {topology.nodes.1.atm_switch: {buffer: 4000, discard: epd, epd_threshold: 2000}}
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "scenario.yaml"
    path.write_text(ATM)
    return path


def test_one_of_ten_that_has_nearly_everything_is_told_of(scenario, cli, tmp_path):
    done = cli("run", scenario, "--out", "out", "--runs", "1")
    text = " ".join(done.stdout.split())
    said = "the 10 connections of class bulk are alike, and one has nearly everything (tail)"
    assert f"{said}: Jain's index of their rates is 0.1" in text
    assert "fairness" in done.stdout
    assert "fairness: Jain's index" in text
    results = spillgate.load(tmp_path / "out")
    assert results.value("tail", "class", "bulk", "jain").mean < 0.15
    assert results.value("tail", "class", "bulk", "goodput").mean > 100e6
    assert any(said in remark for remark in results.remarks)
    html = (tmp_path / "out/report.html").read_text()
    assert ">fairness" in html.replace("\n", "")
    assert said in html
    document = json.loads((tmp_path / "out/results.json").read_text())
    assert any(said in remark for remark in document["remarks"])


def test_those_that_share_are_not_told_of(scenario):
    results = spillgate.run(scenario, runs=1, set={"traffic.bulk.tcp": {"profile": "ns2"}})
    fair = results.value("EPD", "class", "bulk", "jain").mean
    told = [r for r in results.remarks if "(EPD)" in r and "alike" in r]
    assert bool(told) == (fair < 0.5)
