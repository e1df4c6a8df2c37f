"""Switches from the command line and from Python, end to end."""

import re

import pytest

import spillgate


@pytest.fixture(scope="module")
def found(root, tmp_path_factory):
    """The corpus's switches under all fabrics, and their directory."""
    where = tmp_path_factory.mktemp("switch") / "run"
    results = spillgate.run(root / "corpus/switch.yaml")
    results.save(where)
    return results, where


def values(results, **wanted):
    return {(r.variant, r.name): r.mean for r in results.table(**wanted)}


def test_ports_and_queues_have_rows(found):
    results, _ = found
    loss = values(results, scope="switch", metric="loss_ratio")
    parts = [values(results, scope="switch", metric=m) for m in ("loss_input", "loss_output")]
    assert len(loss) == 6
    for key, ratio in loss.items():
        assert sum(part[key] for part in parts) == pytest.approx(ratio, abs=1e-12)
    backlog = values(results, scope="switch-input", metric="backlog_packets_mean")
    voqs = values(results, scope="voq", metric="backlog_packets_mean")
    inputs = [(v, i) for v, i in backlog if v not in ("fifo", "output-queued")]
    assert len(inputs) == 16
    for variant, name in inputs:
        own = [x for (v, n), x in voqs.items() if v == variant and n.startswith(f"{name}/")]
        assert len(own) == 4
        # Rounding alone: both are integrals of the same backlog.
        assert sum(own) == pytest.approx(backlog[variant, name], rel=1e-9)
    slots = [
        values(results, scope="switch-output", metric=f"slots_{kind}")
        for kind in ("used", "wasted", "idle")
    ]
    crossbars = {v for v, _ in slots[0]}
    assert crossbars == {"cells", "packets", "fifo"}
    for key in slots[0]:
        assert sum(of[key] for of in slots) == pytest.approx(1.0, abs=1e-12)
    delay = values(results, scope="switch", metric="switch_delay_mean")
    # Nothing is faster than no queue at the inputs.
    assert min(delay, key=delay.get) == ("output-queued", "s")


def test_queues_at_inputs_have_series(found):
    results, _ = found
    series = [s for s in results.series() if s.metric == "voq_backlog"]
    assert {s.where for s in series if s.variant == "parallel"} == {
        f"in-{i}/out-{o}" for i in range(4) for o in range(4)
    }
    assert max(s.peak for s in series) > 5.0


def test_the_command_line_shows_switches(root, cli, tmp_path):
    checked = cli("check", root / "corpus/switch.yaml")
    assert checked.returncode == 0
    assert re.search(r"s +cioq +4 +10 Mb/s +1\.1 +16 internal", checked.stdout)
    assert "CODEL" not in checked.stdout, "a policy of virtual output queues is used"
    short = ("--runs", "1", "--no-figures", "--out", tmp_path / "run")
    shown = cli("run", root / "corpus/switch.yaml", *short)
    assert shown.returncode == 0
    assert "switches; mean over the runs" in shown.stdout
    page = (tmp_path / "run/report.html").read_text(encoding="utf-8")
    assert '<section id="switches"' in page
    listed = cli("list", "matching")
    assert "islip" in listed.stdout
    assert "stable-marriage" in listed.stdout
    bad = tmp_path / "bad.yaml"
    text = (root / "corpus/switch.yaml").read_text().replace("speedup: 1.1", "speedup: 0.9")
    bad.write_text(text)
    refused = cli("check", bad)
    assert refused.returncode == 2
    assert "bad.yaml:10:18: error: a switch of 4 ports has a speedup of 1 to 4" in refused.stderr


def test_explain_follows_a_packet_through(found):
    _, where = found
    (group,) = spillgate.explain(where, variant="cells", flow="hot", worst=3, drops=1).groups
    waited = crossed = 0
    for packet in group["packets"]:
        parts = [h["parts"] for h in packet["hops"]]
        assert sum(sum(p.values()) for p in parts) == packet["delay"]
        waited += sum(p["input"] for p in parts)
        crossed += sum(p["fabric"] for p in parts)
    assert waited > 0
    assert crossed > 0


GROUPS = """
schema_version: 1
topology:
  nodes: [{name: h, count: 8}, {name: d, count: 8}, s]
  links:
    in: {from: h, to: s, rate: 1 Gb/s, delay: 8 us}
    out: {from: s, to: d, rate: 1 Gb/s, delay: 8 us}
traffic:
  - flow: {name: u, from: h, to: d, count: 8,
      source: {bernoulli: {line: 1 Gb/s, load: 80 %, packet: 1000 B}}}
measurement: {warmup: 10 ms, duration: 40 ms, interval: 1 ms}
runs: {count: 3}
"""


def test_a_pattern_decides_whether_packets_meet():
    """Member i to member i never waits; uniform traffic meets at the outputs, as Karol says."""
    slot = 8e-6
    (apart,), (meet,) = (
        [r.mean for r in spillgate.run(text).table(scope="total", metric="owd_mean")]
        for text in (GROUPS, GROUPS.replace("count: 8,\n", "pattern: uniform,\n"))
    )
    # Two links of a slot and a delay each.
    assert apart == pytest.approx(4 * slot, rel=1e-9)
    wait = 7 / 8 * 0.8 / (2 * 0.2)
    assert meet / slot == pytest.approx(4 + wait, rel=0.05)


def test_explain_knows_packets_that_begin_at_an_input(root, tmp_path):
    results = spillgate.run(root / "corpus/patterns.yaml")
    results.save(tmp_path / "run")
    (group,) = spillgate.explain(
        tmp_path / "run", variant="filled", flow="slotted-1", worst=2
    ).groups
    assert group["packets"]
    for packet in group["packets"]:
        (hop,) = packet["hops"]
        assert sum(hop["parts"].values()) == packet["delay"]
        assert hop["parts"]["input"] > 0


def test_check_says_who_sends_to_whom(root, cli, tmp_path):
    (tmp_path / "s.yaml").write_text(GROUPS)
    default = " ".join(cli("check", tmp_path / "s.yaml").stdout.split())
    assert "u h → d 8 in turn: flow i from member i to member i" in default
    named = cli("check", root / "corpus/patterns.yaml")
    assert named.returncode == 0
    text = " ".join(named.stdout.split())
    assert "slotted h → d 16 uniform: each packet to any receiver" in text
