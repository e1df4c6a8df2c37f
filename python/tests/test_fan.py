"""Flow admission from the command line: mistakes, partitions, what is said."""

import csv
import re

import pytest

import spillgate

SCENARIO = """schema_version: 1
topology:
  nodes: [a, b, c]
  links:
    ab: {from: a, to: b, rate: 10 Mb/s, delay: 1 ms, policy: fan}
    ba: {from: b, to: a, rate: 10 Mb/s, delay: 1 ms}
    bc: {from: b, to: c, rate: 10 Mb/s, delay: 1 ms, policy: fan}
    cb: {from: c, to: b, rate: 10 Mb/s, delay: 1 ms}
policies:
  fan:
    fan:
      limit: 100 packets
traffic:
  - flow: {name: call, class: calls, count: 4, from: a, to: c, start: 3 s, source: {cbr: {rate: 80 kb/s, packet: 100 B}}}
  - flow:
      name: bulk
      class: bulk
      count: 30
      from: a
      to: c
      bytes: 4 MB
      tcp: {profile: ns2, handshake: true, retry: {constant: 500 ms}, retries: unlimited, syn_retries: unlimited}
measurement: {warmup: 1 s, duration: 9 s, interval: 500 ms}
runs: {count: 2, seed: 5}
"""  # noqa: E501


@pytest.fixture
def write(tmp_path):
    def write(*keys, text=SCENARIO, **replaced):
        for key in keys:
            text = text.replace(
                "      limit: 100 packets\n", f"      limit: 100 packets\n      {key}\n"
            )
        for old, new in replaced.items():
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "scenario.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


MISTAKES = [
    ("min_fair_rate: 120 %", "min_fair_rate", "120"),
    ("min_fair_rate: -5 %", "min_fair_rate", "-5"),
    ("min_fair_rate: 20 Mb/s", "min_fair_rate", "20 Mb/s"),
    ("max_priority_load: 101 %", "max_priority_load", "101"),
    ("max_priority_load: 11 Mb/s", "max_priority_load", "11 Mb/s"),
    ("max_priority_load: 0.7", "max_priority_load", "0.7"),
    ("pfl_flow_timeout: 0 s", "pfl_flow_timeout", "0 s"),
    ("pfl_max: 0", "pfl_max", "0"),
    ("p_add: 1.5", "p_add", "1.5"),
    ("p_add: -0.1", "p_add", "-0.1"),
    ("mtu: 0 B", "mtu", "0 B"),
    ("admissions_per_tick: 0", "admissions_per_tick", "0"),
    ("mechanism: flush", "mechanism", "flush"),
    ("mechanism: {efm: {pfl_flushing_timer: 0 s}}", "pfl_flushing_timer", "0 s"),
    ("mechanism: {efm: {active_time: 1 s}}", "active_time", ""),
    ("mechanism: {raef: {active_time: 0 s}}", "active_time", "0 s"),
    ("mechanism: {rbaef: {blocked_time: 0 s}}", "blocked_time", "0 s"),
    ("mechanism: {rbaef: {active_time: 5}}", "active_time", "5"),
    ("scheduler: wfq", "scheduler", "wfq"),
    ("scheduler: {pfq: {afl_max: 0}}", "afl_max", "0"),
    ("scheduler: {pdrr: {mode: strict}}", "mode", "strict"),
    ("scheduler: {pdrr: {quantum: 0 B}}", "quantum", "0 B"),
    ("elastic: sometimes", "elastic", "sometimes"),
    ("fair_rate: {interval: 0 s}", "fair_rate.interval", "0 s"),
    ("fair_rate: {smoothing: 1.5}", "fair_rate.smoothing", "1.5"),
    ("priority_load: {interval: 0 s}", "priority_load.interval", "0 s"),
    ("priority_load: {smoothing: -1}", "priority_load.smoothing", "-1"),
    ("pfl_timeout: 20 s", "pfl_timeout", ""),
]


def assert_placed(said, path, line, key, found):
    """The line of the key, or, of a value that does not fit the link, of where it stands."""
    number = path.read_text(encoding="utf-8").splitlines().index(f"      {line}") + 1
    assert re.search(rf"scenario\.yaml:{number}:\d+: error: ", said), said
    assert key.rpartition(".")[2] in said
    assert found in said
    assert "hint:" in said


@pytest.mark.parametrize(("line", "key", "found"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_a_mistake_is_named_with_its_place(write, line, key, found):
    path = write(line)
    with pytest.raises(spillgate.InputError) as caught:
        spillgate.check(path)
    assert_placed(str(caught.value), path, line, key, found)


def test_a_mistake_ends_with_status_2_and_writes_nothing(cli, write, tmp_path):
    line, key, found = MISTAKES[0]
    path = write(line)
    done = cli("run", path, "--out", "out")
    assert done.returncode == 2
    assert_placed(done.stderr, path, line, key, found)
    assert not (tmp_path / "out").exists()


def test_links_that_share_a_list_must_agree(cli, write):
    text = SCENARIO.replace(
        "traffic:\n",
        "  other: {fan: {protected_list: all, pfl_flow_timeout: 5 s}}\ntraffic:\n",
    ).replace(
        "bc: {from: b, to: c, rate: 10 Mb/s, delay: 1 ms, policy: fan}",
        "bc: {from: b, to: c, rate: 10 Mb/s, delay: 1 ms, policy: other}",
    )
    done = cli("run", write("protected_list: all", text=text), "--out", "out")
    assert done.returncode == 2, done.stdout
    assert "pfl_flow_timeout" in done.stderr


def test_a_run_says_who_waited(cli, write, tmp_path):
    done = cli("run", write("mechanism: efm"), "--out", "out", COLUMNS="140")
    assert done.returncode == 0, done.stderr
    assert "admission at" in done.stdout
    with (tmp_path / "out/admission.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert {(r["link"], r["class"]) for r in rows} == {
        (link, cls) for link in ("ab", "bc") for cls in ("calls", "bulk")
    }
    results = spillgate.load(tmp_path / "out")
    assert len(results.admission()) == len(rows)
    again = results.table(scope="admission", name="ab/calls", metric="waiting_time")
    of_calls = [a.waiting_s for a in results.admission(link="ab") if a.cls == "calls"]
    assert again[0].mean == pytest.approx(sum(of_calls) / len(of_calls))
    page = (tmp_path / "out/report.html").read_text(encoding="utf-8")
    for said in ("Who was admitted when", "Fair rate", "closed below", "admission at link/class"):
        assert said in page


def test_what_waits_to_the_end_cannot_pass(write):
    text = SCENARIO.replace("start: 3 s", "start: 9.9 s") + (
        "sla:\n"
        "  - {class: calls, metric: waiting_time, max: 5 s}\n"
        "  - {class: calls, metric: waiting_time_p95, max: 10 ms}\n"
        "  - {class: calls, metric: flows_waiting, max: 0 flows}\n"
    )
    results = spillgate.run(write(text=text))
    # Thirty transfers of 4 MB leave 10 Mb/s closed for the 10 s of the run.
    assert {a.admitted_s for a in results.admission(link="ab") if a.cls == "calls"} == {None}
    said = {v.metric: v.verdict for v in results.verdicts}
    # 0.1 s of waiting so far are below 5 s and above 10 ms.
    assert said == {
        "waiting_time": "undecided",
        "waiting_time_p95": "fail",
        "flows_waiting": "fail",
    }


def test_a_partition_counts_flows_as_unroutable_and_goes_on(cli, write, tmp_path):
    text = SCENARIO.replace("policies:", "  failures: [{link: bc, at: 5 s}]\npolicies:")
    done = cli("run", write(text=text), "--out", "out")
    assert done.returncode == 0, done.stderr
    assert "packets were lost without a route to their destination" in done.stdout
    rows = spillgate.load(tmp_path / "out").classes(metric="drops_unroutable")
    lost = {r.name: r.mean for r in rows}
    # Calls of 100 packets a second for 5 s, those of them that were admitted on the first link.
    assert 0 < lost["calls"] <= 4 * 500


def test_threads_and_repetition_change_nothing(write):
    path = write("mechanism: rbaef", "scheduler: pdrr", "p_add: 0.5")
    one, two = spillgate.run(path, jobs=1), spillgate.run(path, jobs=2)
    assert one.admission() == two.admission()
    assert [r.digest for r in one.runs] == [r.digest for r in two.runs]


def test_a_refused_packet_is_explained(cli, write):
    path = write()
    assert cli("run", path, "--out", "out").returncode == 0
    done = cli("explain", "out", "--flow", "calls", "--drops", "1")
    assert done.returncode == 0, done.stderr
    assert "fair rate" in done.stdout
