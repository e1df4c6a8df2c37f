"""Captures from end to end: `spillgate profile`, and replay by `spillgate run`."""

import gzip
import json
import struct
import subprocess
import sys

import pytest

import spillgate

SCENARIO = """\
schema_version: 1
topology:
  nodes: [a, b]
  links: {l: {from: a, to: b, rate: 1 Mb/s, delay: 5 ms}}
traffic:
  - capture: {name: c, file: edge.pcap, from: a, to: b, classes: {ef: voice}}
measurement: {warmup: 0 s, duration: 10 s, interval: 1 s}
runs: {count: 2}
"""


def packet(dscp, length, dport):
    """An Ethernet frame with a UDP datagram, of which the headers are captured."""
    ip = struct.pack(
        ">BBHIBBH4s4s", 0x45, dscp << 2, length, 0, 64, 17, 0, b"\n\0\0\1", b"\n\0\0\2"
    )
    return bytes(12) + b"\x08\0" + ip + struct.pack(">HHHH", 4000, dport, length - 20, 0)


def pcap(records):
    """A pcap file of records: time in ms, data, length on the wire."""
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 96, 1)
    rest = (
        struct.pack("<IIII", ms // 1000, ms % 1000 * 1000, len(data), wire) + data
        for ms, data, wire in records
    )
    return head + b"".join(rest)


@pytest.fixture
def capture(tmp_path):
    """Voice of 200 B each 20 ms for 10 s, data of 1000 B each 100 ms, one ARP."""
    records = [(ms, packet(46, 200, 5004), 214) for ms in range(1000, 11000, 20)]
    records += [(ms, packet(0, 1000, 80), 1014) for ms in range(1000, 11000, 100)]
    records.append((1500, bytes(12) + b"\x08\x06" + bytes(46), 60))
    path = tmp_path / "edge.pcap"
    path.write_bytes(pcap(sorted(records)))
    return path


def test_a_capture_is_measured(cli, capture):
    done = cli("profile", capture.name)
    assert done.returncode == 0, done.stderr
    assert "pcap (microseconds), interface EN10MB: 600 IP packets, 200 kB, 9.980 s" in done.stdout
    assert "1 record is without an IP packet and left out: 1 ARP" in done.stdout
    found = json.loads(cli("profile", capture.name, "--format", "json").stdout)
    voice, data = sorted(found["groups"], key=lambda g: -g["shape"]["packets"])
    assert (voice["name"], voice["shape"]["packets"], voice["flows"]) == ("ef", 500, 1)
    assert voice["shape"]["rate"] == pytest.approx(500 * 1600 / 9.98)
    assert voice["fit"]["source"]["cbr"]["jitter"] == "0 %"
    # Five of 200 B in 100 ms.
    assert voice["shape"]["peak_to_mean"] == pytest.approx(80e3 / (500 * 1600 / 9.98))
    assert (data["name"], data["shape"]["sizes"]) == ("default", [{"size": 1000, "packets": 100}])


def test_some_of_it(cli, capture):
    found = spillgate.profile(capture, by="flow", only={"port": "80"})
    (group,) = found["groups"]
    assert group["name"] == "udp 10.0.0.1:4000 > 10.0.0.2:80"
    shown = cli("profile", capture.name, "--by", "flow", "--only", "dscp=ef,cs1", "--top", "1")
    assert "udp 10.0.0.1:4000 > 10.0.0.2:5004" in shown.stdout.replace("\n", "")
    for wrong, why in (
        (["--only", "port"], "write KEY=VALUE"),
        (["--only", "nonsense=1"], "unknown field"),
        (["--only", "src=10.1"], "is not an address"),
        (["--only", "dscp=af11"], "none of the 600 IP packets"),
        (["--by", "class"], "classes are those of a configuration"),
        (["--top", "0"], "at least one group"),
    ):
        done = cli("profile", capture.name, *wrong)
        assert (done.returncode, done.stdout) == (2, ""), wrong
        assert why in done.stderr, done.stderr


def test_classes_of_a_router(cli, capture, tmp_path):
    (tmp_path / "r.cfg").write_text(
        "class-map VOICE\n match dscp ef\npolicy-map WAN\n class VOICE\n  priority percent 20\n"
        "interface Serial0/0\n bandwidth 2048\n service-policy output WAN\n"
    )
    of = ("profile", capture.name, "--config", "r.cfg", "--format", "json")
    found = json.loads(cli(*of, "--interface", "serial0/0").stdout)
    assert [g["name"] for g in found["groups"]] == ["VOICE", "class-default"]
    done = cli(*of, "--interface", "Gi0/9")
    assert done.returncode == 2
    assert "interfaces with an output policy: Serial0/0" in done.stderr


def test_the_fitted_sources_run(cli, capture, tmp_path):
    done = cli("profile", capture.name, "--format", "yaml")
    assert done.returncode == 0, done.stderr
    (tmp_path / "like.yaml").write_text(done.stdout, encoding="utf-8")
    results = spillgate.run(tmp_path / "like.yaml", runs=1)
    rows = [r for r in results.to_dict()["summary"] if r["metric"] == "offered"]
    offered = {r["name"]: r["mean"] for r in rows if r["scope"] == "class"}
    # A packet more or less in ten seconds.
    assert offered["dscp-ef"] == pytest.approx(500 * 1600 / 9.98, rel=2 / 500)
    assert offered["dscp-default"] == pytest.approx(100 * 8000 / 9.98, rel=2 / 100)


def test_a_capture_is_replayed(cli, capture, tmp_path):
    (tmp_path / "s.yaml").write_text(SCENARIO, encoding="utf-8")
    done = cli("run", "s.yaml", "--no-figures", "--out", "run", "--format", "json")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)["summary"]
    sent = {r["name"]: r["mean"] for r in rows if r["metric"] == "packets_sent"}
    assert (sent["voice"], sent["c-default"]) == (500, 100)
    # The capture belongs to what the scenario is.
    before = spillgate.check(tmp_path / "s.yaml").hash
    content = bytearray(capture.read_bytes())
    content[-1] ^= 1
    capture.write_bytes(content)
    assert spillgate.check(tmp_path / "s.yaml").hash != before


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda b: b[:0], "the file is empty"),
        (gzip.compress, "compressed with gzip"),
        (lambda b: b[:10], "the file ends 10 bytes into it"),
        (lambda b: b"nothing" + b, "not a pcap or pcapng file"),
        (lambda b: b[:24] + b"\xff" * 16 + b[40:], "byte 24, packet record"),
        (lambda b: b[:24], "no packets"),
    ],
)
def test_what_is_no_capture_is_refused(cli, capture, tmp_path, change, says):
    capture.write_bytes(change(capture.read_bytes()))
    (tmp_path / "s.yaml").write_text(SCENARIO, encoding="utf-8")
    for command in (("profile", "edge.pcap"), ("run", "s.yaml"), ("check", "s.yaml")):
        done = cli(*command)
        assert (done.returncode, done.stdout) == (2, ""), command
        assert says in done.stderr, done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_capture_that_was_interrupted_is_taken_as_far_as_it_is_whole(cli, capture):
    capture.write_bytes(capture.read_bytes()[:-7])
    done = cli("profile", capture.name)
    assert done.returncode == 0, done.stderr
    assert "the file ends within a record" in done.stdout


RECORDED = """\
schema_version: 1
topology:
  nodes: [a, b]
  links: {wan: {from: a, to: b, rate: 2 Mb/s, delay: 1 ms}}
traffic:
  - flow:
      {name: voice, count: 5, from: a, to: b, dscp: ef,
       source: {cbr: {rate: 80 kb/s, packet: 200 B}}}
  - flow:
      {name: data, from: a, to: b, dscp: af11, source: {poisson: {rate: 1 Mb/s, packet: 1000 B}}}
measurement: {warmup: 0 s, duration: 5 s, interval: 1 s}
runs: {count: 1}
"""


def test_what_was_recorded_meets_the_same_queue_again(cli, tmp_path):
    """Delays of a run, and of its packets recorded where they entered the link and replayed."""
    (tmp_path / "w.yaml").write_text(RECORDED, encoding="utf-8")
    run = ("--no-figures", "--no-report", "--format", "json")
    done = cli("run", "w.yaml", *run, "--out", "w", "--pcap", "wan:in")
    assert done.returncode == 0, done.stderr
    head, tail = RECORDED.split("traffic:")[0], RECORDED.split("measurement:")[1]
    replay = (
        "traffic:\n  - capture: {name: c, file: w/packets.pcapng, from: a, to: b, "
        "only: {interface: 'wan:in'}, classes: {ef: voice, af11: data}}\nmeasurement:"
    )
    (tmp_path / "r.yaml").write_text(head + replay + tail, encoding="utf-8")
    again = cli("run", "r.yaml", *run, "--out", "r")
    assert again.returncode == 0, again.stderr

    def values(text):
        rows = json.loads(text)["summary"]
        wanted = ("packets_sent", "owd_mean", "owd_p99", "owd_max")
        return {
            (r["name"], r["metric"]): r["mean"]
            for r in rows
            if r["scope"] == "class" and r["metric"] in wanted
        }

    was, is_now = values(done.stdout), values(again.stdout)
    assert set(was) == set(is_now)
    assert len(was) >= 8
    for key, value in was.items():
        if key[1] == "packets_sent":
            # Times count from the first record: those of its delay more fit into the period.
            assert value <= is_now[key] <= value + 5, key
        else:
            # Times are recorded in whole nanoseconds at best, and quantiles in buckets of 0.4 %.
            assert is_now[key] == pytest.approx(value, rel=0.01), key


def test_the_example_s_capture_is_what_its_generator_writes(root, tmp_path):
    for name, seconds in (("examples/captures/office.pcap", "10"), ("corpus/replay.pcap", "1")):
        out = tmp_path / "again.pcap"
        make = root / "examples/captures/make.py"
        subprocess.run([sys.executable, make, out, seconds], check=True)
        assert out.read_bytes() == (root / name).read_bytes(), name


def test_priority_helps_the_calls_of_the_capture(root):
    results = spillgate.run(
        root / "examples/captures/scenario.yaml", runs=2, set={"measurement.duration": "10 s"}
    )
    # Calls alone are 0.24 Mb/s of the 0.4 that have priority: none is lost.
    assert results.value("CBWFQ-LLQ", "class", "voice", "loss_ratio").mean == 0
    assert results.value("FIFO", "class", "voice", "loss_ratio").mean > 0.01
