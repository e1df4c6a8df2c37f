"""The longest time without an arrival, of flows over a link that fails."""

import pytest

import spillgate

SCENARIO = """schema_version: 1
topology:
  nodes: [a, b, c]
  links:
    ab: {from: a, to: b, rate: 10 Mb/s, delay: 1 ms, duplex: true}
    bc: {from: b, to: c, rate: 10 Mb/s, delay: 1 ms, duplex: true}
  failures: [{link: bc, at: 10 s, repair: 11.5 s}]
traffic:
  - flow: {name: cut, class: cut, from: a, to: c, source: {cbr: {rate: 80 kb/s, packet: 100 B}}}
  - flow:
      {name: whole, class: whole, from: a, to: b, source: {cbr: {rate: 80 kb/s, packet: 100 B}}}
  - flow:
      name: late
      class: late
      from: a
      to: b
      start: 20 s
      source: {cbr: {rate: 80 kb/s, packet: 100 B}}
measurement: {warmup: 1 s, duration: 19 s, gaps: {from: 9 s, to: 12 s}}
runs: {count: 2, seed: 3}
"""


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO, encoding="utf-8")
    return path


def gaps(path, **arguments):
    results = spillgate.run(path, **arguments)
    rows = results.table(scope="flow", metric="gap_max")
    return {r.name: r.mean for r in rows}


def test_an_outage_is_felt_in_whole_periods_of_the_source(scenario):
    found = gaps(scenario)
    # A packet every 10 ms: the outage of 1.5 s swallows 150 of them, or 151 with the one that the
    # failure catches on the wire, so that the gap is a period longer.
    assert found["cut"] in (pytest.approx(1.51), pytest.approx(1.52))
    # The first link carries both flows: what comes together waits for one packet of 100 B.
    assert found["whole"] == pytest.approx(0.01, abs=1e-4)
    # It sends nothing in the period or before.
    assert found["late"] is None


def test_gaps_end_with_the_period_and_reach_before_it(scenario):
    def over(begin, end):
        where = {"measurement.gaps.from": begin, "measurement.gaps.to": end}
        return gaps(scenario, set=where)["cut"]

    assert over("10 s", "11 s") == pytest.approx(1.0, abs=0.02)
    assert over("10.5 s", "18 s") == pytest.approx(1.51, abs=0.011)
    assert over("12 s", "18 s") == pytest.approx(0.01, abs=1e-6)


def test_classes_have_the_longest_and_requirements_may_bound_it(tmp_path):
    text = SCENARIO + "sla: [{class: cut, metric: gap_max, max: 1 s}]\n"
    (tmp_path / "bounded.yaml").write_text(text, encoding="utf-8")
    (verdict,) = spillgate.run(tmp_path / "bounded.yaml").verdicts
    assert verdict.verdict == "fail"
    assert verdict.requirement == "gap_max ≤ 1 s"
    assert verdict.mean == pytest.approx(1.51, abs=0.011)


def test_nobody_pays_who_does_not_ask(scenario):
    text = SCENARIO.replace(", gaps: {from: 9 s, to: 12 s}", "")
    scenario.write_text(text, encoding="utf-8")
    assert not spillgate.run(scenario).table(metric="gap_max")


@pytest.mark.parametrize(
    ("gaps", "said"),
    [
        ("{from: 12 s, to: 9 s}", "the period of gaps begins at 12 s and ends at 9 s"),
        ("{to: 25 s}", "the period of gaps ends after the run, which ends at 20 s"),
        ("{from: 1}", "measurement.gaps.from"),
        ("{until: 9 s}", "until"),
    ],
)
def test_bad_periods(cli, tmp_path, gaps, said):
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO.replace("{from: 9 s, to: 12 s}", gaps), encoding="utf-8")
    done = cli("run", path, "--out", "out")
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_failure_with_a_spread_is_later_in_each_run_and_said_to_be(tmp_path):
    path = tmp_path / "gaps.yaml"
    path.write_text(SCENARIO.replace("repair: 11.5 s", "repair: 11.5 s, spread: 400 ms"))
    results = spillgate.run(path, runs=8)
    assert results.description.outages() == [
        (10.0, 11.9, "down: bc, bc.reverse, by up to 0.4 s later")
    ]
    # The outage lasts as long as ever: a packet every 10 ms is early or late by one.
    gaps = [row.mean for row in results.table(scope="flow", name="cut", metric="gap_max")]
    assert all(1.49 < gap < 1.53 for gap in gaps)
    (record,) = results.description.failures
    assert (record["at"], record["repair"], record["spread"]) == (10.0, 11.5, 0.4)
