"""`spillgate.estimate` beside runs, and `spillgate estimate`.

Of thousands of means of independent runs none is 2.5 half-widths off, about five standard
errors; a formula that is a little wrong is farther.
"""

import json
import re

import pytest

import spillgate
from spillgate.estimates import queues, tcp
from spillgate.estimates.service import Service

FAR = 2.5
"""Half-widths."""


def poisson(name, rate, packet, dscp="default"):
    source = {"poisson": {"rate": rate, "packet": packet}}
    return {"name": name, "from": "a", "to": "b", "dscp": dscp, "source": source}


def scenario(policy, *flows, runs=40, link=(), sessions=()):
    """One port at 10 Mb/s."""
    line = {"from": "a", "to": "b", "rate": "10 Mb/s", "delay": "5 ms", "policy": "q"}
    back = {"from": "b", "to": "a", "rate": "10 Mb/s", "delay": "5 ms"}
    return {
        "schema_version": 1,
        "name": "one port",
        "topology": {"nodes": ["a", "b"], "links": {"l": line | dict(link), "k": back}},
        "policies": {"q": policy},
        "traffic": [{"flow": f} for f in flows] + [{"sessions": s} for s in sessions],
        "measurement": {"warmup": "2 s", "duration": "30 s"},
        "runs": {"count": runs, "seed": 7},
    }


def simulated(made):
    """The estimates beside runs, by name and metric."""
    [found] = spillgate.run(made, series=[]).estimates()
    return {(b.estimate.name, b.estimate.metric): b for b in found.simulated}


def agree(found):
    """All of them hold and are near."""
    for at, b in found.items():
        assert b.estimate.holds, (at, b.estimate.reasons)
        assert b.estimate.exact, at
        assert abs(b.distance) < FAR, (at, b.estimate.value, b.mean, b.words)


def off(beside, value):
    """Half-widths from the mean of the runs to another value."""
    return abs(beside.mean - value) / ((beside.high - beside.low) / 2)


ENDLESS = {"fifo": {"limit": "100000 packets"}}


@pytest.mark.parametrize("tenths", range(1, 100))
def test_a_load_of_one_is_no_less_in_whatever_order_it_is_summed(tenths):
    first = poisson("first", f"{tenths}00 kb/s", "1000 B")
    second = poisson("second", f"{100 - tenths}00 kb/s", "500 B")
    [found] = spillgate.estimate(scenario({"fifo": {"limit": "1 GB"}}, first, second))
    assert "conservation law" not in {e.formula for e in found.estimates}


def test_constant_lengths():
    found = simulated(scenario(ENDLESS, poisson("f", "8 Mb/s", "1250 B")))
    agree(found)
    wait = found["l/fifo", "sojourn_mean"]
    assert wait.estimate.formula == "M/D/1"
    assert wait.estimate.value == pytest.approx(0.8 / (2 * 0.2) * 1e-3)
    # That of M/M/1, and with the packet's own transmission.
    assert off(wait, 4e-3) > 30
    assert off(wait, 3e-3) > 20
    assert found["f", "owd_mean"].estimate.value == pytest.approx(8e-3)
    assert found["l/fifo", "backlog_packets_mean"].estimate.value == pytest.approx(1.6)
    # The packet in transmission does not wait.
    assert off(found["l/fifo", "backlog_packets_mean"], 2.4) > 20


def test_exponential_lengths():
    found = simulated(scenario(ENDLESS, poisson("f", "7 Mb/s", {"exponential": "1000 B"})))
    agree(found)
    wait = found["l/fifo", "sojourn_mean"]
    assert wait.estimate.formula == "M/M/1"
    # But for lengths below 20 B, which become 20 B: rho / (mu - lambda).
    assert wait.estimate.value == pytest.approx(0.7 / (1250 - 875), rel=2e-3)


def test_mixed_lengths_on_ethernet():
    flows = [
        poisson("f", "4 Mb/s", "imix"),
        poisson("g", "2 Mb/s", {"uniform": {"min": "64 B", "max": "1500 B"}}),
    ]
    found = simulated(scenario(ENDLESS, *flows, link={"overhead": "ethernet"}.items()))
    agree(found)
    assert found["l/fifo", "sojourn_mean"].estimate.formula == "M/G/1"
    assert ("l", "weighted_wait") in found


@pytest.mark.parametrize(
    ("packet", "kind", "rate"),
    [("1250 B", "D", "9 Mb/s"), ({"exponential": "1000 B"}, "M", "12 Mb/s")],
)
def test_a_limited_queue(packet, kind, rate):
    made = scenario({"fifo": {"limit": "5 packets"}}, poisson("f", rate, packet))
    found = simulated(made)
    agree(found)
    lost = found["l/fifo", "loss_ratio"]
    assert lost.estimate.formula == f"M/{kind}/1/6"
    # With a place more or less.
    service = Service.constant(1e-3) if kind == "D" else Service.exponential(0.8e-3)
    packets = 900 if kind == "D" else 1500
    for places in (5, 7):
        assert off(lost, queues.mg1k(packets, service, places).loss) > 5


def test_a_transmit_ring_has_places_too():
    made = scenario({"fifo": {"limit": "3 packets"}}, poisson("f", "9 Mb/s", "1250 B"))
    made["topology"]["links"]["l"]["tx_ring"] = "3 packets"
    found = simulated(made)
    agree(found)
    assert found["l/fifo", "loss_ratio"].estimate.formula == "M/D/1/6"


THREE = [
    poisson("v", "2 Mb/s", "200 B", "ef"),
    poisson("w", "2 Mb/s", {"uniform": {"min": "300 B", "max": "900 B"}}, "af11"),
    poisson("d", "4 Mb/s", "1500 B"),
]


def test_priorities():
    classes = [
        {"name": "c1", "match": {"dscp": "ef"}, "priority": {"level": 1, "limit": "999 packets"}},
        {
            "name": "c2",
            "match": {"dscp": "af11"},
            "priority": {"level": 2, "limit": "999 packets"},
        },
        {"name": "class-default", "queue_limit": "999 packets"},
    ]
    found = simulated(scenario({"class-based": {"classes": classes}}, *THREE))
    agree(found)
    first = found["l/c1", "sojourn_mean"]
    assert first.estimate.formula == "M/G/1 with priorities"
    # Preemptive: only its own residual is met.
    residual = 1250 * (160e-6) ** 2 / 2
    assert off(first, residual / (1 - 0.2)) > 100
    # First in, first out.
    alike = found["l", "weighted_wait"].estimate.value / 0.8
    assert off(first, alike) > 100
    assert off(found["l/class-default", "sojourn_mean"], alike) > 10
    assert ("l", "weighted_wait") in found


FIXED = [
    poisson("v", "2 Mb/s", "200 B", "ef"),
    poisson("w", "2 Mb/s", "600 B", "af11"),
    poisson("d", "4 Mb/s", "1500 B"),
]


@pytest.mark.parametrize(
    "policy",
    [
        {"drr": {"limit": "99999 packets"}},
        {"wfq": {"limit": "99999 packets", "hold_queue": "99999 packets"}},
        {"fq": {"limit": "99999 packets"}},
        {
            "class-based": {
                "classes": [
                    {
                        "name": name,
                        "match": {"dscp": dscp},
                        "bandwidth": rate,
                        "queue_limit": "9999 packets",
                    }
                    for name, dscp, rate in (("c1", "ef", "5 Mb/s"), ("c2", "af11", "1 Mb/s"))
                ]
                + [{"name": "class-default", "queue_limit": "9999 packets"}]
            }
        },
    ],
)
def test_what_schedulers_conserve(policy):
    found = simulated(scenario(policy, *FIXED, runs=20))
    law = found["l", "weighted_wait"]
    agree({"law": law})
    # Of lengths that count as alike, and without what is in transmission.
    assert off(law, law.estimate.value * 1.3) > 5


def test_where_the_order_looks_at_lengths_nothing_is_promised():
    [found] = spillgate.estimate(scenario({"drr": {"limit": "9999 packets"}}, *THREE))
    [law] = [e for e in found.estimates if e.metric == "weighted_wait"]
    assert law.reasons == ("`l` shares by lengths, and those of `w` differ",)
    [wait] = [e for e in found.estimates if e.metric == "sojourn_mean"]
    assert wait.reasons == ("`drr` does, and they differ",)
    assert {u.what for u in found.unknown} == {"class `v`", "class `w`", "class `d`"}


def test_a_second_link_that_is_faster_adds_no_wait():
    made = scenario(ENDLESS, poisson("f", "8 Mb/s", "1250 B") | {"to": "c"}, runs=10)
    made["topology"]["nodes"].append("c")
    made["topology"]["links"]["m"] = {"from": "b", "to": "c", "rate": "20 Mb/s", "delay": "1 ms"}
    found = simulated(made)
    agree(found)
    assert found["f", "owd_mean"].estimate.value == pytest.approx(9.5e-3)
    # A slower one has arrivals that are not Poisson.
    made["topology"]["links"]["m"]["rate"] = "9 Mb/s"
    [found] = spillgate.estimate(made)
    [delay] = [e for e in found.estimates if e.metric == "owd_mean"]
    assert delay.reasons == ("`f` has passed `l`, which changes its gaps",)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"policies.q": {"fifo": {"aqm": {"red": {}}}}}, "`l` has an AQM"),
        (
            {
                "measurement.warmup": "0 s",
                "measurement.duration": "100 ms",
                "measurement.interval": "1 ms",
            },
            "until the empty",
        ),
        ({"topology.links.l.reorder": {"share": "1 %", "by": "1 ms"}}, "`l` reorders packets"),
        ({"traffic[0].flow.stop": "5 s"}, "`f` starts or stops within it"),
        ({"traffic[0].flow.source.poisson.packet": {"genome": "aaf"}}, "follow each other"),
        (
            {"traffic[0].flow.source": {"cbr": {"rate": "8 Mb/s", "packet": "1250 B"}}},
            "`f` is `cbr`",
        ),
        (
            {"policies.q": {"fifo": {"limit": "20 kB"}}},
            "`l/fifo` may be full for up to",
        ),
    ],
)
def test_what_is_not_met_is_said(change, reason):
    made = scenario(ENDLESS, poisson("f", "8 Mb/s", "1250 B"))
    [found] = spillgate.estimate(made, set=change)
    waits = [e for e in found.estimates if e.metric == "sojourn_mean"]
    assert waits
    assert not waits[0].holds
    assert any(reason in why for why in waits[0].reasons), waits[0].reasons


def classes(*own):
    return {"class-based": {"classes": [*own, {"name": "class-default"}]}}


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        # It acts on packets that wait with those of others.
        ({"police": {"rate": "1 Mb/s"}}, "`l/c` has a policer"),
        ({"priority": {"rate": "1 Mb/s"}}, "`l/c` has a policer"),
        ({"shape": {"rate": "9 Mb/s"}}, "`l/c` is shaped"),
        ({"bandwidth": "1 Mb/s", "fair_queue": {}}, "`l/c` has queues by flow"),
        ({"bandwidth": "1 Mb/s", "aqm": "codel"}, "`l/c` has an AQM"),
    ],
)
def test_what_classes_do_beside_waiting_is_said(own, reason):
    c = {"name": "c", "match": {"dscp": "ef"}} | own
    made = scenario(classes(c), *FIXED)
    [found] = spillgate.estimate(made)
    assert found.estimates
    for e in found.estimates:
        assert any(reason in why for why in e.reasons), (e.metric, e.reasons)


def test_a_policy_inside_another_has_no_formula():
    inner = {"name": "class-default", "shape": {"rate": "9 Mb/s"}, "policy": "inner"}
    made = scenario({"class-based": {"classes": [inner]}}, *FIXED)
    made["policies"]["inner"] = classes({"name": "c", "match": {"dscp": "ef"}, "priority": {}})
    [found] = spillgate.estimate(made)
    assert not any(e.holds for e in found.estimates)


def test_links_that_fail_leave_nothing_exact():
    made = scenario(ENDLESS, poisson("f", "8 Mb/s", "1250 B"))
    made["topology"]["failures"] = [{"link": "k", "at": "5 s", "repair": "6 s"}]
    [found] = spillgate.estimate(made)
    assert found.estimates
    assert not any(e.holds for e in found.estimates)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"policies.q": {"fan": {}}}, "no formula of `fan` is known"),
        (
            {"policies.q": {"fifo": {"limit": "1 MB"}}, "topology.links.l.rate": "7 Mb/s"},
            "load is",
        ),
        (
            {"traffic[0].flow.source": {"video": {"rate": "8 Mb/s", "fps": 25}}},
            "lengths that no formula",
        ),
    ],
)
def test_where_there_is_no_formula_it_says_why(cli, tmp_path, change, reason):
    path = tmp_path / "x.yaml"
    path.write_text(json.dumps(scenario(ENDLESS, poisson("f", "8 Mb/s", "1250 B"))))
    sets = [f"--set={k}={json.dumps(v)}" for k, v in change.items()]
    done = cli("estimate", path, *sets)
    assert done.returncode == 0, done.stderr
    assert "No formula applies." in done.stdout
    assert reason in " ".join(done.stdout.split())


# --- TCP and sessions


def connections(cc, loss=None, **more):
    flow = {"name": "f", "count": 4, "from": "a", "to": "b", "start_spread": "1 s", "tcp": cc}
    link = {"rate": "100 Mb/s", "delay": "45 ms"} | more
    if loss:
        link["loss"] = {"bernoulli": loss}
    made = scenario({"fifo": {"limit": "1000 packets"}}, flow, runs=5, link=link.items())
    made["measurement"] = {"warmup": "20 s", "duration": "100 s"}
    return made


def test_connections_over_a_link_that_loses():
    """The models' authors claim a few tens of percent; timeouts are few at 0.2 %."""
    made = connections({"cc": "newreno", "sack": True}, "0.2 %")
    results = spillgate.run(made, series=[])
    [found] = results.estimates()
    laws = [b for b in found.simulated if "of the links" in b.estimate.note]
    assert [b.estimate.formula for b in laws] == ["square-root law", "PFTK", "PFTK, RFC 5348"]
    for b in laws:
        assert b.estimate.holds
        assert not b.estimate.exact
        assert b.mean == pytest.approx(b.estimate.value, rel=0.15)
    # By the loss and the delay of the runs it is nearly the same.
    after = [b for b in found.simulated if "of the runs" in b.estimate.note]
    for b, of_runs in zip(laws, after, strict=True):
        assert of_runs.estimate.value == pytest.approx(b.estimate.value, rel=0.05)


def test_connections_that_fill_a_link():
    made = connections({"cc": "newreno", "sack": True}, rate="10 Mb/s")
    [found] = spillgate.run(made, series=[]).estimates()
    even = next(b for b in found.simulated if b.estimate.formula == "even shares")
    assert even.estimate.holds
    assert even.mean == pytest.approx(even.estimate.value, rel=0.01)
    rules = {e.formula: e.value for e in found.estimates if e.metric == "buffer"}
    capacity = 10e6 / 8 / 1500
    rtt = 45e-3 + 5e-3 + 1500 * 8 / 10e6 + 52 * 8 / 10e6
    assert rules["bandwidth-delay product"] == pytest.approx(capacity * rtt, rel=1e-3)
    assert rules["BDP over root of flows"] == pytest.approx(capacity * rtt / 2, rel=1e-3)
    [short] = spillgate.estimate(made, set={"policies.q.fifo.limit": "9 packets"})
    [even] = [e for e in short.estimates if e.formula == "even shares"]
    assert even.reasons[0].startswith("the queue holds 9 of ")


def test_bbr_beside_cubic():
    made = connections({"cc": "cubic"}, rate="10 Mb/s")
    made["traffic"].append({"flow": made["traffic"][0]["flow"] | {"name": "g", "count": 1}})
    made["traffic"][1]["flow"]["tcp"] = {"cc": "bbr"}
    [found] = spillgate.estimate(made)
    ours = {e.name: e.value for e in found.estimates if e.formula == "BBR beside loss-based"}
    capacity = 10e6 / 8 / 1500
    rtt = 45e-3 + 5e-3 + 1500 * 8 / 10e6 + 52 * 8 / 10e6
    share = tcp.bbr_share(1, 1000, capacity, rtt)
    assert ours["g"] / (ours["f"] + ours["g"]) == pytest.approx(share, rel=1e-3)


def test_refused_sessions():
    sessions = {
        "name": "s",
        "from": "a",
        "to": "b",
        "arrivals": {"poisson": {"gap": "500 ms"}},
        "session": {"lifetime": {"mean": "4 s"}},
        "active": 6,
        "tcp": {"cc": "newreno", "max_window": "3 kB"},
    }
    link = {"rate": "1 Gb/s", "delay": "1 ms"}
    made = scenario(ENDLESS, runs=20, sessions=[sessions], link=link.items())
    made["measurement"] = {"warmup": "20 s", "duration": "200 s"}
    [found] = spillgate.run(made, series=[]).estimates()
    refused, again = found.simulated
    wanted = 400 * queues.erlang_b(8.0, 6)
    assert refused.estimate.value == pytest.approx(wanted)
    assert refused.estimate.holds
    assert abs(refused.distance) < FAR
    assert off(refused, 400 * queues.erlang_b(8.0, 7)) > FAR
    assert again.estimate.note.endswith("with the mean time of the runs")
    assert again.estimate.value == pytest.approx(wanted, rel=0.05)


def test_calls_of_a_policed_class():
    call = {"name": "c", "count": 5, "from": "a", "to": "b", "dscp": "ef"}
    call["source"] = {"voip": {"codec": "g711"}}
    classes = [{"name": "v", "match": {"dscp": "ef"}, "priority": {"rate": "1 Mb/s"}}]
    [found] = spillgate.estimate(scenario({"class-based": {"classes": classes}}, call))
    [load] = [e for e in found.estimates if e.metric == "erlangs"]
    # 200 B each 20 ms are 80 kb/s: 12 calls; 5.88 erlangs at 1 % in any table.
    assert load.note.startswith("12 calls of 80 kb/s fit into 1000 kb/s (there are 5)")
    assert load.value == pytest.approx(5.88, abs=5e-3)


# --- Beside what runs show


def test_what_is_expected_stands_in_tables_reports_and_files(cli, tmp_path):
    made = scenario(ENDLESS, poisson("f", "8 Mb/s", "1250 B"), runs=4)
    flow = made["traffic"][0]["flow"]
    made["variants"] = [
        {"name": "random", "set": {}},
        {
            "name": "even",
            "set": {"traffic.f.source": {"cbr": {"rate": "8 Mb/s", "packet": "1 kB"}}},
        },
    ]
    path = tmp_path / "x.yaml"
    path.write_text(json.dumps(made))
    done = cli("run", path, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert re.search(r"^random .* 8\.\d+.* 8\.00\d* \([+−]\d\.\d\) ", done.stdout, re.MULTILINE)
    assert re.search(r"^even .* – ", done.stdout, re.MULTILINE)
    assert "expected: by the formula" in done.stdout
    results = spillgate.load(tmp_path / "run")
    [(at, beside)] = results.expected.items()
    assert at == ("random", flow["name"])
    [record] = json.loads((tmp_path / "run/results.json").read_text())["expected"]
    assert record == results.to_dict()["expected"][0]
    assert record["formula"] == "M/D/1"
    assert record["value"] == pytest.approx(8e-3)
    assert record["distance"] == pytest.approx(beside.distance)
    report = (tmp_path / "run/report.html").read_text()
    assert ">expected" in report
    assert f"({beside.distance:+.1f})".replace("-", "−") in report


def test_where_nothing_is_expected_there_is_no_column(cli, first):
    results = spillgate.run(first, runs=2)
    assert results.expected == {}
    assert results.to_dict()["expected"] == []
    assert "expected" not in cli("run", first, "--runs", "2").stdout


# --- The command


def test_what_it_prints(cli, tmp_path):
    path = tmp_path / "x.yaml"
    path.write_text(json.dumps(scenario(ENDLESS, poisson("f", "8 Mb/s", "1250 B"), runs=3)))
    done = cli("estimate", path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^l/fifo +mean sojourn +M/D/1 +2 ms +exact$", done.stdout, re.MULTILINE)
    assert "simulated" not in done.stdout
    run = tmp_path / "run"
    assert cli("run", path, "--out", run).returncode == 0
    done = cli("estimate", run)
    assert done.returncode == 0, done.stderr
    row = (
        r"^l/fifo +mean sojourn +M/D/1 +2 ms +exact +\S+ ms to \S+ ms +(inside the|[\d.]+ half-w)"
    )
    assert re.search(row, done.stdout, re.MULTILINE)
    assert cli("estimate", run, "--set", "runs.count=4").returncode == 2


def test_it_prints_what_fits_and_says_what_is_left(cli, tmp_path):
    made = scenario(ENDLESS, poisson("f", "8 Mb/s", "1250 B"))
    loads = [f"{n} kb/s" for n in range(1_000, 1_300)]
    made["axes"] = [{"name": "load", "set": "traffic.f.source.rate", "values": loads}]
    path = tmp_path / "x.yaml"
    path.write_text(json.dumps(made))
    done = cli("estimate", path, LINES="40")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 40
    of = sum(len(point.estimates) for point in spillgate.estimate(made))
    shown = sum(line.endswith(" exact") for line in lines)
    assert 0 < shown < of
    assert lines[-1] == f"Not shown: estimates ({of - shown:,} of {of:,}): --all, or --format json"
    whole = cli("estimate", path, "--all", LINES="40").stdout
    assert sum(line.endswith(" exact") for line in whole.splitlines()) == of
    assert "Not shown" not in whole


def test_json_is_the_same(cli, first):
    done = cli("estimate", first, "--variant", "fifo", "--format", "json")
    [record] = json.loads(done.stdout)
    [found] = spillgate.estimate(first, variant="fifo")
    assert record["point"] == found.point == "fifo"
    assert [e["value"] for e in record["estimates"]] == [e.value for e in found.estimates]
    assert not record["estimates"][0]["holds"]
    assert record["estimates"][0]["assumptions"][0] == {
        "text": "arrivals are Poisson",
        "met": False,
        "why": "`voice` is `cbr`",
    }


def test_bad_input(cli, first, tmp_path):
    done = cli("estimate", first, "--variant", "lq")
    assert done.returncode == 2
    assert "there is no variant 'lq'; valid are 'fifo', 'llq'" in done.stderr
    assert cli("estimate", tmp_path / "none.yaml").returncode == 2
    assert cli("estimate", tmp_path).returncode == 2
    with pytest.raises(spillgate.InputError):
        spillgate.estimate(first, set={"topology.links.uplink.rate": "fast"})


def test_one_run_has_no_interval():
    made = scenario(ENDLESS, poisson("f", "8 Mb/s", "1250 B"), runs=1)
    found = simulated(made)
    assert {b.words for b in found.values()} == {"no interval"}
    assert found["l/fifo", "sojourn_mean"].distance is None
