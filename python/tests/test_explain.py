"""`spillgate explain` from end to end, on run directories that were made or spoiled."""

import json

import pytest

import spillgate
from spillgate import rundir
from spillgate.explain import RecordedRun

SHORT = ("--runs", "2", "--set", "measurement.duration=2 s", "--set", "measurement.warmup=1 s")


@pytest.fixture(scope="module")
def directory(first, tmp_path_factory):
    """Two runs of the first example."""
    where = tmp_path_factory.mktemp("explain") / "out"
    results = spillgate.run(
        first, runs=2, set={"measurement.duration": "2 s", "measurement.warmup": "1 s"}
    )
    return results.save(where)


def parts(packet):
    """What each hop took, added up in another way than the program does."""
    for hop in packet["hops"]:
        yield hop["tokens"] + hop["cells"] + hop["serialization"] + hop["propagation"]
        yield from (s["time"] for s in hop["served"])
        if hop["residual"]:
            yield hop["residual"]["time"]


@pytest.mark.parametrize("variant", ["fifo", "llq"])
@pytest.mark.parametrize("run", [0, 1])
def test_delays_add_up_and_are_the_worst(directory, variant, run):
    found = spillgate.explain(directory, variant=variant, run=run, worst=7)
    results = spillgate.load(directory)
    (digest,) = (r.digest for r in results.runs if (r.variant, r.run) == (variant, run))
    assert found.digest == digest
    assert [g["name"] for g in found.groups] == ["voice", "data"]
    for group in found.groups:
        delays = [p["delay"] for p in group["packets"]]
        assert len(delays) == 7
        assert delays == sorted(delays, reverse=True)
        for packet in group["packets"]:
            assert sum(parts(packet)) == packet["delay"] == packet["received"] - packet["sent"]
    if run == 0:
        # The maximum of the pooled runs is a maximum of one of them.
        both = [spillgate.explain(directory, variant=variant, run=k, worst=1) for k in (0, 1)]
        for i, cls in enumerate(("voice", "data")):
            worst = max(e.groups[i]["packets"][0]["delay"] for e in both) / 1e12
            (curve,) = (d for d in results.distributions() if (d.variant, d.cls) == (variant, cls))
            # Histograms are within 0.4 %, what `quantile_error` promises of few flows.
            assert curve.owd[-1] == pytest.approx(worst, rel=0.004)


def test_drops_are_those_that_were_counted(directory):
    results = spillgate.load(directory)
    counted = 0
    for run in (0, 1):
        found = spillgate.explain(
            directory, variant="fifo", run=run, flow="data", worst=0, drops=2
        )
        (group,) = found.groups
        assert group["packets"] == []
        for kind in group["drops"]:
            assert (kind["link"], kind["queue"], kind["reason"]) == (
                "uplink",
                "fifo",
                "drops_tail",
            )
            assert len(kind["first"]) == 2
            for one in kind["first"]:
                evidence = one["lost"]["evidence"]
                assert evidence["queue_packets"] == evidence["limit"]["packets"] == 50
                assert "50 packets" in one["sentence"]
            counted += kind["packets"]
    mean = results.value("fifo", "class", "data", "drops_tail").mean
    assert counted == pytest.approx(2 * mean)
    assert counted > 0


def test_priority_is_not_overtaken(directory):
    found = spillgate.explain(directory, variant="llq", flow="voice", worst=20)
    for packet in found.groups[0]["packets"]:
        (hop,) = packet["hops"]
        # Priority: nothing but the packet on the wire and its own class.
        assert {s["relation"] for s in hop["served"]} <= {"ahead"}
    found = spillgate.explain(directory, variant="llq", flow="data-*", worst=3, at="uplink")
    packets = found.groups[0]["packets"]
    assert packets[0]["hops"][0]["waited"] >= packets[-1]["hops"][0]["waited"]
    assert any(s["relation"] == "priority" for s in packets[0]["hops"][0]["served"])


def test_one_packet_by_number(directory):
    found = spillgate.explain(directory, flow="voice", packet=100, drops=0, variant="llq")
    (packet,) = found.groups[0]["packets"]
    assert (packet["flow"], packet["seq"]) == ("voice", 100)
    assert sum(parts(packet)) == packet["delay"]
    # In the queue of the other variant it found no place.
    found = spillgate.explain(directory, flow="voice", packet=100, variant="fifo")
    (packet,) = found.groups[0]["packets"]
    assert packet["delay"] is None
    assert "the queue was full; 50 packets" in packet["sentence"]
    with pytest.raises(spillgate.InputError, match="has sent a packet 99999"):
        spillgate.explain(directory, flow="voice", packet=99999)


def test_the_command_line_says_the_same(cli, directory):
    done = cli("explain", directory, "--flow", "data-2", "--worst", "2", "--format", "json")
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said == spillgate.explain(directory, flow="data-2", worst=2).to_dict()
    done = cli("explain", directory, "--flow", "data-2", "--worst", "2")
    text = " ".join(done.stdout.split())
    assert max(map(len, done.stdout.splitlines())) <= 100
    for packet in said["groups"][0]["packets"]:
        assert packet["sentence"] in text
        total = packet["delay"] / 1e9
        assert f"{total:.3f}" in text
    assert "same fingerprint" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--flow", "vioce"), "did you mean voice?"),
        (("--flow", "zzz"), "no flow or class 'zzz'; there are voice, data"),
        (("--at", "uplnk"), "no link 'uplnk'; did you mean uplink?"),
        (("--variant", "wfq"), "no variant 'wfq'; there are fifo, llq"),
        (("--run", "9"), "no run 9 of variant 'fifo'; there are 0, 1"),
        (("--worst", "-1"), "worst must be 0 to 1000"),
        (("--packet", "-1"), "packet must be 0 to"),
    ],
)
def test_bad_questions_are_refused(cli, directory, arguments, words):
    done = cli("explain", directory, *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_what_changed_is_named(cli, first, tmp_path):
    cli("run", first, *SHORT, "--no-figures", "--quiet", "--out", "out")
    out = tmp_path / "out"
    scenario = out / "scenario.yaml"
    text = scenario.read_text(encoding="utf-8")
    scenario.write_text(text.replace("10 Mb/s", "11 Mb/s"), encoding="utf-8")
    done = cli("explain", "out")
    assert done.returncode == 2
    assert "scenario.yaml is damaged, or was changed after it was written" in done.stderr
    scenario.write_text(text, encoding="utf-8")
    assert cli("explain", "out", "--worst", "1").returncode == 0
    rundir.seal(out, {**rundir.read_study(out), "commit": "another"})
    recorded = RecordedRun(out)
    with pytest.raises(spillgate.InputError, match=r"cannot be repeated[^$]*\(another\)"):
        recorded.verify("0" * 32)


def test_files_elsewhere_are_taken_along(cli, root, tmp_path):
    scenario = root / "examples/mpls-vpn/scenario.yaml"
    short = {"measurement.duration": "1 s", "measurement.warmup": "0 s"}
    made = spillgate.run(scenario, runs=1, set=short)
    out = made.save(tmp_path / "out")
    assert (out / "outside/1-policies.cfg").is_file()
    done = cli("explain", "out", "--worst", "1", "--confine")
    assert done.returncode == 0, done.stderr
    assert "same fingerprint" in done.stdout
    loaded = spillgate.load(out, confine=True)
    assert loaded.to_dict() == made.to_dict()
    assert loaded.extend(runs=2).runs[0] == made.runs[0]
    copied = loaded.save(tmp_path / "copy")
    assert (copied / "outside/1-policies.cfg").is_file()
    (out / "outside/1-policies.cfg").write_text("policy-map X\n", encoding="utf-8")
    with pytest.raises(spillgate.InputError, match=r"1-policies\.cfg is damaged"):
        spillgate.load(out)


def test_what_is_no_run_directory_is_refused(cli, tmp_path):
    (tmp_path / "out").mkdir()
    done = cli("explain", "out")
    assert done.returncode == 2
    assert "no readable run directory" in done.stderr


def test_retransmissions_are_told(root, tmp_path):
    changes = {"measurement.duration": "4 s", "measurement.warmup": "1 s", "variants": "[]"}
    results = spillgate.run(root / "examples/tcp/scenario.yaml", runs=1, set=changes)
    out = results.save(tmp_path / "out")
    found = spillgate.explain(out, flow=["downloads", "pages"], worst=200)
    again = 0
    for group in found.groups:
        for packet in group["packets"]:
            assert sum(parts(packet)) == packet["delay"]
            sent = [t["sent"] for t in packet["segment"]["transmissions"]]
            assert sent == sorted(sent)
            own = [t for t in packet["segment"]["transmissions"] if t["seq"] == packet["seq"]]
            assert [t["sent"] for t in own] == [packet["sent"]]
            # What was sent again had been lost, or was thought to be.
            again += len(sent) > 1
    assert again > 0


@pytest.fixture(scope="module")
def marking(root, tmp_path_factory):
    """A run of the example with connections, whose RED queue marks."""
    results = spillgate.run(
        root / "examples/tcp/scenario.yaml",
        runs=1,
        set={
            "measurement.duration": "4 s",
            "policies.red.fifo.aqm.red.ecn": "true",
            "traffic.download.tcp.ecn": "classic",
        },
    )
    return results.save(tmp_path_factory.mktemp("explain") / "tcp")


def test_marks_are_told_with_their_odds(cli, marking):
    question = (
        "--variant",
        "NewReno + RED",
        "--flow",
        "downloads",
        "--worst",
        "0",
        "--drops",
        "2",
    )
    done = cli("explain", marking, *question)
    assert done.returncode == 0, done.stderr
    assert "where the delay" not in done.stdout
    found = spillgate.explain(marking, variant="NewReno + RED", flow="downloads", worst=0, drops=2)
    (kind,) = found.groups[0]["marks"]
    assert (kind["link"], kind["queue"]) == ("down", "fifo")
    assert kind["packets"] >= len(kind["first"]) == 2
    text = " ".join(done.stdout.split())
    for mark in kind["first"]:
        odds = mark["evidence"]["cause"]
        assert odds["draw"] is None or odds["draw"] < odds["probability"]
        assert f"the average queue was {odds['average']:.2f} packets" in mark["sentence"]
        assert mark["sentence"] in text


def test_acknowledgments_are_asked_about(cli, marking):
    found = spillgate.explain(marking, flow="downloads", acks=True, worst=4)
    packets = found.groups[0]["packets"]
    assert len(packets) == 4
    for packet in packets:
        assert packet["acknowledgment"]
        assert packet["hops"][0]["link"] == "up"
        assert sum(parts(packet)) == packet["delay"]
        assert " acknowledgment #" in packet["sentence"]
    done = cli("explain", marking, "--flow", "downloads", "--acks", "--worst", "1")
    assert "it acknowledged" in done.stdout
    # Calls have none.
    found = spillgate.explain(marking, flow="voice", acks=True)
    assert found.groups[0]["packets"] == []


def test_a_node_that_forwards_has_its_share_of_the_delay(root, tmp_path):
    results = spillgate.run(root / "corpus/forwarding.yaml", runs=1)
    results.save(tmp_path / "run")
    (group,) = spillgate.explain(tmp_path / "run", flow="call", worst=1, drops=1).groups
    (packet,) = group["packets"]
    assert "in nodes that forward" in packet["sentence"]
    parts = [sum(h["parts"].values()) for h in packet["hops"]]
    assert sum(parts) == packet["delay"]
    assert any(h["kept"] for h in packet["hops"])
    (drop,) = [d for d in group["drops"] if d["reason"] == "drops_input_queue"]
    assert "at node spokes-0, which it reached over out-0" in drop["first"][0]["sentence"]
    assert "of at most 75 packets" in drop["first"][0]["sentence"]
