"""TCP connections from the scenario to the saved results."""

import json
import math
import subprocess
import sys

import pytest

import spillgate

SCENARIO = """
schema_version: 1
topology:
  nodes: [a, b]
  links:
    l: {from: a, to: b, rate: 10 Mb/s, delay: 10 ms, duplex: true, policy: P}
policies: {P: {fifo: {limit: 50 packets}}}
traffic:
  - flow: {name: upload, from: a, to: b, tcp: {profile: linux}}
  - flow: {name: file, count: 2, class: files, from: a, to: b, start: 2 s, bytes: 200 kB, tcp: {}}
  - flow: {name: calls, from: a, to: b, source: {cbr: {rate: 500 kb/s, packet: 200 B}}}
measurement: {warmup: 1 s, duration: 10 s}
runs: {count: 2}
"""


def test_connections_are_measured_and_saved(tmp_path):
    scenario = tmp_path / "tcp.yaml"
    scenario.write_text(SCENARIO, encoding="utf-8")
    results = spillgate.run(scenario)
    variant = results.description.variants[0]
    upload = results.value(variant, "class", "upload", "goodput")
    assert 5e6 < upload.mean < 9.7e6
    files = results.value(variant, "class", "files", "goodput")
    # Two transfers of 200 kB in the ten seconds that are measured.
    assert files.mean == 2 * 200e3 * 8 / 10
    assert results.value(variant, "class", "files", "fct_mean").mean > 0.3
    assert not results.table(scope="class", name="calls", metric="goodput")
    saved = results.save(tmp_path / "run")
    assert (saved / "results.parquet").stat().st_size > 1000
    assert spillgate.load(saved).value(variant, "class", "upload", "goodput") == upload


OVERLOAD = """
schema_version: 1
name: Too much
topology:
  nodes: [hub, {name: s, count: 6}]
  links:
    access: {from: s, to: hub, rate: 1 Mb/s, delay: [1 ms, 5 ms], duplex: true, policy: P}
  failures: [{link: access-0, at: 2 s, repair: 4 s}]
  routing: {convergence: 100 ms}
policies: {P: {fifo: {limit: 20 packets}}}
traffic:
  - sessions:
      name: web
      from: s-0
      to: hub
      arrivals: {fixed: {gap: 50 ms}}
      session: {transfer: {size: {fixed: 20 kB}}}
      tcp: {}
      active: 3
  - flow: {name: bulk, count: 5, from: s, to: hub, tcp: {}}
measurement: {warmup: 1 s, duration: 5 s, interval: 100 ms}
runs: {count: 2}
sla:
  - {class: web, metric: fct_p95, max: 1 ms}
  - {class: web, metric: transfers_refused, max: 0 transfers}
"""


@pytest.fixture
def overload(tmp_path):
    scenario = tmp_path / "overload.yaml"
    scenario.write_text(OVERLOAD, encoding="utf-8")
    return scenario


def test_what_tcp_did_is_shown_and_oddities_are_said(cli, overload, tmp_path):
    done = cli("run", overload, "--out", "out", "--figures", "default", COLUMNS="120")
    assert done.returncode == 1, done.stderr
    heads = next(line for line in done.stdout.splitlines() if "goodput" in line).split()
    assert heads[:3] == ["goodput", "fairness", "retransmits"]
    assert heads[-4:] == ["time"] * 4
    assert {"begun", "done", "refused"} < set(heads)
    said = " ".join(done.stdout.split())
    assert "sessions did not begin because as many as `active` allows were open" in said
    assert "packets were lost because a link was down: in each run" in said
    assert "transfers_refused ≤ 0 transfers" in said
    drawn = {p.name for p in (tmp_path / "out/figures").iterdir()}
    assert {"window.png", "sessions.png", "goodput.png", "transfers.png"} <= drawn
    results = spillgate.load(tmp_path / "out")
    assert len(results.remarks) >= 2
    windows = [s for s in results.series() if s.metric == "cwnd"]
    assert [s.where for s in windows] == [f"flow bulk-{i}" for i in range(5)]
    assert all(v >= 500 for s in windows for v in s.v if not math.isnan(v))


def test_transfers_under_way_at_the_end_are_said(tmp_path):
    scenario = tmp_path / "tcp.yaml"
    # The file that begins in the last tenth of a second cannot be there in time; 1 of 3 is.
    late = "{name: late, class: files, from: a, to: b, start: 10900 ms, bytes: 9 MB, tcp: {}}"
    text = SCENARIO.replace("measurement:", f"  - flow: {late}\nmeasurement:")
    scenario.write_text(text, encoding="utf-8")
    warm, said = spillgate.run(scenario).remarks
    assert warm.startswith("the warm-up of 1 s is too short: upload")
    assert said.startswith("transfers were under way when a run ended")
    assert said.endswith("in each run files 1 of 3")
    scenario.write_text(SCENARIO, encoding="utf-8")
    assert spillgate.run(scenario).remarks == (warm,)


def test_without_tcp_nothing_is_said_of_it(cli, first):
    done = cli("run", first, "--runs", 2, "--set", "measurement.duration=1 s", "--out", "out")
    assert "goodput" not in done.stdout
    assert "retransmits" not in done.stdout


def test_a_check_sums_up_groups_sessions_and_failures(cli, overload):
    done = cli("check", overload, "--set", "topology.nodes.s.count=1000")
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert len(done.stdout.splitlines()) < 40
    assert "access-0 … access-999 s-0 … s-999 → hub 1 Mb/s 1 ms to 5 ms P" in said
    assert "6 flows (5 TCP connections, 1 workload of sessions)" in said
    assert "transfer size fixed 20000 B" in said
    assert "access-0, access-0.reverse 2 s 4 s" in said
    assert "routes follow 100 ms later" in said


def test_requirements_on_tcp_need_tcp(tmp_path):
    scenario = tmp_path / "tcp.yaml"
    wrong = SCENARIO + "sla: [{class: calls, metric: fct_p95, max: 1 s}]\n"
    scenario.write_text(wrong, encoding="utf-8")
    with pytest.raises(spillgate.InputError, match="class `calls` has no TCP traffic"):
        spillgate.check(scenario)


MANY_LINKS = """
schema_version: 1
name: 700 flows over as many links
topology:
  nodes: [left, right, {name: s, count: 700}, {name: d, count: 700}]
  links:
    access: {from: s, to: left, rate: 10 Mb/s, duplex: true}
    bottleneck: {from: left, to: right, rate: 100 Mb/s, delay: 1 ms}
    back: {from: right, to: left, rate: 100 Mb/s, delay: 1 ms}
    egress: {from: right, to: d, rate: 10 Mb/s, duplex: true}
traffic:
  - flow: {name: f, class: tcp, count: 700, from: s, to: d, start_spread: 100 ms, tcp: {}}
measurement: {warmup: 0 s, duration: 200 ms, interval: 50 ms}
runs: {count: 2, seed: 1}
"""


def test_what_is_many_is_saved_once(tmp_path):
    """2,802 queues have 70,000 values: a run of 10,000 flows left 200 MB of them in JSON."""
    (tmp_path / "s.yaml").write_text(MANY_LINKS, encoding="utf-8")
    results = spillgate.run(tmp_path / "s.yaml")
    results.save(tmp_path / "out")
    data = json.loads((tmp_path / "out/results.json").read_text())
    assert data["scopes"] == ["class", "dscp", "link", "total"]
    assert {r["scope"] for r in data["summary"]} == set(data["scopes"])
    loaded = spillgate.load(tmp_path / "out")
    assert loaded.to_dict(flows=True) == results.to_dict(flows=True)
    two = ["back/fifo", "bottleneck/fifo"]
    assert loaded.table(scope="queue", name=two) == results.table(scope="queue", name=two)
    assert {r.name for r in loaded.table(scope="queue", name=two, metric="offered")} == set(two)
    assert loaded.table(scope="queue", name=[]) == []
    loaded.save(tmp_path / "again")
    again = json.loads((tmp_path / "again/results.json").read_text())
    assert again == data


def test_saving_many_flows_takes_little_memory(root, tmp_path):
    # All rows of 10,000 flows as Python objects took 200 MB, and their JSON text as much again.
    code = f"""
import resource, spillgate
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
short = {{f"measurement.{{key}}": "100 ms" for key in ("duration", "warmup", "interval")}}
results = spillgate.run({str(root / "bench/cases/flows10k.yaml")!r}, jobs=1, set=short)
before = peak()
results.save({str(tmp_path / "out")!r})
print(peak() - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    )
    assert float(done.stdout) < 60
