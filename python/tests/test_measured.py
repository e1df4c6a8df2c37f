"""Traffic from a router's output and from matrices, through the command line and Python."""

import json

import pytest

import spillgate

SHOW = "crates/import/tests/show/branch.txt"


def test_an_output_is_recognized_and_shown(root, cli):
    done = cli("import", root / SHOW)
    assert done.returncode == 0, done.stderr
    for part in ("output policy SHAPE-2M", "class-default > WAN", "1,890.0", "dscp ef", "41,234"):
        assert part in done.stdout
    assert "no code point is known of BUSINESS" in done.stdout
    one = cli("import", root / SHOW, "--interface", "se0/1/0", "--format", "json")
    (policy,) = json.loads(one.stdout)["policies"]
    assert (policy["policy"], policy["framing"]) == ("OLD", 4)
    assert policy["classes"][0]["offered_bps"] == 8000


def test_what_a_file_is_can_be_said(root, cli, tmp_path):
    wrong = cli("import", root / "examples/voice-edge/edge.cfg", "--as", "show-policy-map")
    assert wrong.returncode == 2
    assert "there is no policy in this output" in wrong.stderr
    missing = cli("import", root / SHOW, "--interface", "gi9/9")
    assert missing.returncode == 2
    assert "no policy on an interface 'gi9/9'" in missing.stderr
    cut = tmp_path / "cut.txt"
    text = (root / SHOW).read_text()
    cut.write_text(text[: text.index("46000 bps")])
    done = cli("import", cut)
    assert done.returncode == 2
    assert "cut.txt:25:7: error: a number is cut off" in done.stderr


def test_interfaces_may_be_abbreviated(root):
    names = {
        p["interface"] for p in spillgate.offered(root / SHOW, interface="Gig 0/0")["policies"]
    }
    assert names == {"GigabitEthernet0/0"}
    with pytest.raises(spillgate.InputError, match="there are GigabitEthernet0/0, Serial0/1/0"):
        spillgate.offered(root / SHOW, interface="0/0")


def test_measured_classes_run_at_their_rates(root):
    """The offered rate of each class: the router's, less 4 B of each packet; Poisson counts."""
    results = spillgate.run(
        root / "examples/voice-edge/measured.yaml",
        runs=4,
        set={"measurement.duration": "20 s", "measurement.warmup": "1 s"},
    )
    for name, rate, size in (("VOICE", 310e3, 64), ("class-default", 1180e3, 594)):
        got = results.value("today", "class", name, "offered").mean
        want = rate * (size - 4) / size
        packets = want * 80 / 8 / (size - 4)
        assert abs(got - want) < 5 * want / packets**0.5


def test_a_matrix_runs(tmp_path):
    (tmp_path / "m.csv").write_text("from,hq,b1\nhq,-,2\nb1,0.5,-\n")
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(
        "schema_version: 1\n"
        "topology: {nodes: [hq, b1], links: {l: {from: hq, to: b1, rate: 10 Mb/s},"
        " r: {from: b1, to: hq, rate: 10 Mb/s}}}\n"
        "traffic: [{matrix: {file: m.csv, unit: Mb/s, scale: 2, defaults: {source: cbr}}}]\n"
        "measurement: {warmup: 1 s, duration: 5 s}\nruns: {count: 2, seed: 1}\n"
    )
    assert spillgate.check(scenario).classes == ("hq:b1", "b1:hq")
    results = spillgate.run(scenario)
    # A constant rate of any sizes is exact but for the packets at both ends of the 5 s.
    got = results.value("base", "class", "hq:b1", "offered").mean
    assert abs(got - 4e6) < 2 * 1500 * 8 / 5


def test_calls_are_rated_by_their_codec(root):
    described = spillgate.check(root / "examples/voice-edge/scenario.yaml")
    assert described.classes == ("voice", "video", "business", "data")
    assert list(described.unmodelled) == []
    results = spillgate.run(
        root / "examples/voice-edge/scenario.yaml",
        runs=2,
        set={"measurement.duration": "10 s", "measurement.warmup": "2 s"},
    )
    # 30 packets of 60 B each 20 ms.
    offered = results.value("G.729A", "class", "voice", "offered").mean
    assert abs(offered - 720e3) < 1e3
    good = results.value("G.729A with VAD", "class", "voice", "mos").mean
    bad = results.value("G.711 with VAD", "class", "voice", "mos").mean
    assert 3.9 < good < 4.1
    assert bad < 3


def test_every_codec_and_mix_is_listed(cli):
    text = cli("list", "voip-codecs").stdout + cli("list", "packet-mixes").stdout
    for name in ("g711", "g729a", "amr-wb", "opus", "simple", "tolly"):
        assert name in text


VIDEOS = """name,count,dscp,codec,rate,packet,fps,gop,weights,mtu
calls,3,ef,g729a,,,,,,
film,2,af31,,2 Mb/s,,25,IPPP,8:4:1,1200 B
data,1,default,,500 kb/s,1500 B,,,,
"""

TABLE = """schema_version: 1
topology:
  nodes: [a, b]
  links: {wan: {from: a, to: b, rate: 20 Mb/s, mtu: MTU}}
traffic:
  - csv: {file: flows.csv, defaults: {from: a, to: b}}
measurement: {warmup: 0 s, duration: 8 s}
runs: {count: 2, seed: 3}
"""


def test_a_table_with_videos_runs_and_what_does_not_fit_is_found(cli, tmp_path):
    (tmp_path / "flows.csv").write_text(VIDEOS, encoding="utf-8")
    scenario = tmp_path / "s.yaml"
    scenario.write_text(TABLE.replace("MTU", "1500 B"), encoding="utf-8")
    fits = cli("check", scenario)
    assert fits.returncode == 0, fits.stdout
    assert "SG-L001" not in fits.stdout
    results = spillgate.run(scenario)
    # Two films of 2 Mb/s; sizes of frames vary by 25 %, of 200 frames a flow and run.
    offered = results.value(results.description.variants[0], "class", "film", "offered").mean
    assert offered == pytest.approx(4e6, rel=4 * 0.25 / (4 * 200) ** 0.5)
    # Frames are cut at 1200 B: at least that many packets.
    (row,) = results.table(scope="class", metric="packets_sent", name="film")
    assert row.mean >= offered * 8 / 8 / 1200
    scenario.write_text(TABLE.replace("MTU", "1400 B"), encoding="utf-8")
    short = cli("check", scenario)
    assert short.returncode == 1
    said = " ".join(short.stdout.split())
    assert "packets of flow data take up to 1500 B on link wan; its `mtu` is 1400 B" in said
    assert "and another flow" not in said
    # What is said comes true: every packet of that flow, and no other, is lost.
    lost = {r.name: r.mean for r in spillgate.run(scenario).classes() if r.metric == "loss_ratio"}
    assert lost == {"calls": 0, "film": 0, "data": 1}
