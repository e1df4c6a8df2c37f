"""`spillgate stress`: the worst cross traffic within an envelope, against known worst cases."""

import json
import struct

import pytest
import yaml

import spillgate
from spillgate.envelope import SECOND, Envelope, Pattern, Trace
from spillgate.maximum import highest

pytest.importorskip("scipy")

# Probes of 64 B every millisecond see the delay of a line of 10 Mb/s without propagation.
LINE, PROBE = 10e6, 64
TEXT = """schema_version: 1
name: Probes
topology:
  nodes: [a, b, c]
  links:
    access: {from: c, to: a, rate: 100 Mb/s, delay: 1 ms}
    wan: {from: a, to: b, rate: 10 Mb/s, delay: 0 ms, policy: FIFO}
    back: {from: b, to: a, rate: 1 Gb/s, delay: 1 ms}
policies:
  FIFO: {fifo: {limit: 1000 packets}}
  SP:
    class-based:
      classes:
        - {name: first, match: {dscp: ef}, priority: {limit: 1000 packets}}
        - {name: class-default, queue_limit: 1000 packets}
traffic:
  - flow: {name: probe, from: a, to: b, source: {cbr: {rate: 512 kb/s, packet: 64 B}}}
  - flow: {name: call, dscp: ef, from: a, to: b, source: {cbr: {rate: 50 kb/s, packet: 100 B}}}
measurement: {warmup: 100 ms, duration: 1 s}
runs: {count: 2, seed: 1}
"""
ENVELOPE = {"rate": "1 Mb/s", "burst": "30 kB"}


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "probes.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def conforms(times, envelope):
    """Between any two packets there is no more than burst and rate allow; by another rule."""
    # The largest excess of what was sent over the rate, since any packet before (in picobits).
    cost = envelope.packet * 8 * SECOND
    excess = last = 0
    for at in times:
        excess = max(0, excess - envelope.rate * (at - last)) + cost
        last = at
        if excess > envelope.burst * 8 * SECOND:
            return False
    return True


def packets_of(capture):
    """Interface and time of each packet of a pcapng file."""
    at, found = 0, []
    while at < len(capture):
        kind, size = struct.unpack_from("<II", capture, at)
        if kind == 6:
            interface, high, low, _, length = struct.unpack_from("<IIIII", capture, at + 8)
            found.append((interface, high << 32 | low, length))
        at += size
    return found


@pytest.mark.parametrize("place", [(0.0,) * 6, (1.0,) * 6, (0.7, 0.3, 0.05, 0.9, 0.2, 0.8)])
def test_every_pattern_keeps_its_envelope_exactly(place):
    envelope = Envelope(rate=1_234_567, burst=10_000, packet=1500)
    trace = Trace.of(Pattern.at(place, envelope, 2 * SECOND), envelope, 2 * SECOND)
    for times in trace.sent:
        assert times == tuple(sorted(times))
        assert conforms(times, envelope)
        # And any two of them, however far apart.
        for i, first in enumerate(times[:60]):
            for j, then in enumerate(times[i : i + 60], i):
                bits = (j - i + 1) * envelope.packet * 8 * SECOND
                assert bits <= envelope.burst * 8 * SECOND + envelope.rate * (then - first)
    assert not conforms([0] * 7, envelope)


def test_a_burst_at_a_fifo_queue(scenario):
    found = spillgate.stress(scenario, "wan", "probe.owd_max", trials=64, **ENVELOPE)
    # Just after a burst a probe waits until all of it and itself have been sent.
    analytic = (30_000 + PROBE) * 8 / LINE
    assert 0.97 * analytic < found.value <= found.bound
    assert found.of("poisson").mean < found.value / 3
    assert found.of("none").mean <= found.of("cbr").mean < found.of("poisson").mean
    sent = [(i, at) for i, at, _ in packets_of(found.packets) if i]
    assert conforms([at for _, at in sent], found.envelope)
    assert {length for *_, length in packets_of(found.packets)} == {1500}


def test_two_bursts_are_found_to_hurt_most_together(scenario):
    half = {"rate": "500 kb/s", "burst": "15 kB", "sources": 2}
    found = spillgate.stress(scenario, "wan", "probe.owd_max", trials=128, **half)
    analytic = (30_000 + PROBE) * 8 / LINE
    assert 0.9 * analytic < found.value <= found.bound
    for source in (1, 2):
        times = [at for i, at, _ in packets_of(found.packets) if i == source]
        assert conforms(times, found.envelope)


def test_as_many_independent_candidates_do_not_come_as_near(scenario):
    four = {"rate": "250 kb/s", "burst": "7500 B", "sources": 4}

    def reached(method):
        searches = (
            spillgate.stress(
                scenario, "wan", "probe.owd_max", trials=160, method=method, seed=seed, **four
            )
            for seed in (1, 2, 3)
        )
        return sum(found.value for found in searches) / 3

    analytic = (30_000 + PROBE) * 8 / LINE
    assert reached("evolve") > 0.9 * analytic
    assert reached("evolve") > reached("random")


def test_a_higher_class_keeps_a_lower_one_waiting_longer_than_its_burst(scenario):
    found = spillgate.stress(
        scenario,
        "wan",
        "probe.owd_max",
        like=["call"],
        trials=96,
        set={"topology.links.wan.policy": "SP"},
        **ENVELOPE,
    )
    # While it waits, more comes that goes first.
    analytic = 30_000 * 8 / (LINE - 1e6) + PROBE * 8 / LINE
    assert 30_000 * 8 / LINE < found.value <= found.bound
    assert found.value > 0.9 * analytic
    assert [k.dscp for k in found.kinds] == ["ef"]


def test_sources_are_where_and_what_one_says(scenario):
    """Over an access link of ten times the rate, of two kinds, each with its own pattern."""
    found = spillgate.stress(
        scenario,
        "wan",
        "probe.owd_p95",
        rate="200 kb/s",
        burst="6 kB",
        packet="500 B",
        sources=2,
        like=["call"],
        dscp=["af11"],
        origins=["c", "a"],
        trials=16,
        confirm=2,
        set={"topology.links.wan.policy": "SP"},
    )
    assert [(k.name, k.dscp) for k in found.kinds] == [("call", "ef"), ("af11", "af11")]
    assert len(found.patterns) == 2
    sent = {i: [at for of, at, _ in packets_of(found.packets) if of == i] for i in range(1, 5)}
    assert all(conforms(times, found.envelope) and times for times in sent.values())
    traffic = yaml.safe_load(found.scenario)["traffic"]
    replays = [item["capture"] for item in traffic if "capture" in item]
    assert [r["from"] for r in replays] == ["c", "a", "c", "a"]
    assert [r["dscp"] for r in replays] == ["ef", "ef", "af11", "af11"]


def test_what_is_saved_gives_the_stated_number(cli, scenario, tmp_path):
    out = tmp_path / "worst"
    options = ("--trials", "16", "--confirm", "3", "--rate", "1 Mb/s", "--burst", "30 kB")
    ask = ("stress", scenario, "--port", "wan", "--against", "probe.owd_p99")
    done = cli(*ask, *options, "--out", out, "--format", "json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    results = spillgate.run(out / "worst.yaml")
    [row] = results.table(scope="class", name="probe", metric="owd_p99")
    assert row.mean == told["value"]
    [sample] = results.samples(scope="class", name="probe", metric="owd_p99")
    worst = next(b for b in told["beside"] if b["traffic"] == "worst")
    assert list(sample.values) == worst["values"]
    assert (out / "report.html").is_file()
    again = cli(*ask, *options, "--quiet")
    assert again.returncode == 0, again.stderr
    assert "The worst cross traffic found at wan brings the" in again.stdout
    assert "1 Mb/s with bursts of 30,000 B" in again.stdout


def test_files_elsewhere_cannot_be_saved_with_it(tmp_path):
    (tmp_path / "flows.csv").write_text("name,from,to,rate\nother,a,b,80 kb/s\n", encoding="utf-8")
    (tmp_path / "here").mkdir()
    path = tmp_path / "here/probes.yaml"
    more = "  - csv: {file: ../flows.csv, defaults: {source: cbr, packet: 100 B}}\nmeasurement:"
    path.write_text(TEXT.replace("measurement:", more), encoding="utf-8")
    found = spillgate.stress(path, "wan", "probe.owd_max", trials=16, confirm=2, **ENVELOPE)
    with pytest.raises(
        spillgate.InputError, match=r"flows\.csv is outside of the scenario's folder"
    ):
        found.save(tmp_path / "worst")
    assert not (tmp_path / "worst").exists()


def test_the_same_seed_finds_the_same(scenario):
    def found():
        return spillgate.stress(scenario, "wan", "call.loss_ratio", trials=16, confirm=2)

    first, second = found(), found()
    assert first.to_dict() == second.to_dict()
    assert first.packets == second.packets


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--port", "van"), "did you mean wan?"),
        (("--against", "probe.owd_p98"), "there is no metric `owd_p98`"),
        (("--against", "probe"), "--against probe: write CLASS.METRIC"),
        (("--against", "video.owd_p99"), "there is no class 'video'"),
        (("--against", "probe.mos"), "mos of class probe is not measured"),
        (("--rate", "11 Mb/s"), "1 x 11 Mb/s fill the 10 Mb/s of wan in the mean"),
        (("--sources", "4", "--rate", "3 Mb/s"), "4 x 3 Mb/s fill"),
        (("--burst", "1 kB"), "--burst 1 kB: no packet of 1500 B can ever be sent"),
        (("--rate", "11"), "--rate 11: write it in b/s"),
        (("--class", "video"), "--class: there is no class 'video'"),
        (("--trials", "3"), "--trials 3: at least 16"),
        (("--from", "d"), "--from: no link has the node 'd'; there are a, b"),
        (("--to", "d"), "--to: no link has the node 'd'; there are a, b"),
        (("--from", "b", "--to", "a"), "what b sends to a does not all pass wan"),
        (("--burst", "0 B"), "--burst 0 B: no packet of 1500 B can ever be sent"),
        (("--dscp", "af99"), "--dscp af99: `af99` is not a DSCP"),
        (("--dscp", "99"), "--dscp 99: `99` is not a DSCP"),
        (("--variant", "x"), "no variant `x`"),
    ],
)
def test_bad_input(cli, scenario, options, said):
    given = dict(zip(("--port", "--against"), ("wan", "probe.owd_p99"), strict=True))
    given |= dict(zip(options[::2], options[1::2], strict=True))
    done = cli("stress", scenario, *(x for pair in given.items() for x in pair))
    assert done.returncode == 2, done.stdout
    assert said in done.stderr


def test_the_search_climbs_where_independent_places_do_not_come():
    def look(places):
        return [-sum((x - 0.3) ** 2 for x in p) for p in places]

    near = highest(look, 5, looks=160, seed=1)
    far = highest(look, 5, looks=160, seed=1, method="random")
    assert near.looked <= far.looked == 160
    assert near.value > far.value
