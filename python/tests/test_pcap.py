"""pcapng files: read by a reader of our own, and by tshark where it is installed."""

import json
import re
import shutil
import struct
import subprocess
from collections import Counter

import pytest

import spillgate

CHANGES = {"measurement.duration": "2 s", "measurement.warmup": "1 s"}


@pytest.fixture(scope="module")
def directory(first, tmp_path_factory):
    """Two runs of the first example."""
    where = tmp_path_factory.mktemp("pcap") / "out"
    return spillgate.run(first, runs=2, set=CHANGES).save(where)


TCP = """
schema_version: 1
topology:
  nodes: [a, b]
  links:
    l: {from: a, to: b, rate: 2 Mb/s, delay: 5 ms, duplex: true, policy: Q}
policies:
  Q: {fifo: {limit: 20 packets, aqm: {red: {min_th: 3, max_th: 9, weight: 0.1}}}}
traffic:
  - flow: {name: t, count: 2, dscp: af11, from: a, to: b, tcp: {profile: linux}}
  - flow: {name: u, dscp: ef, from: a, to: b, source: {cbr: {rate: 100 kb/s, packet: 200 B}}}
measurement: {warmup: 0 s, duration: 4 s}
runs: {count: 1, seed: 3}
"""


@pytest.fixture(scope="module")
def tcp(tmp_path_factory):
    """A run with connections that lose segments."""
    where = tmp_path_factory.mktemp("tcp")
    scenario = where / "scenario.yaml"
    scenario.write_text(TCP, encoding="utf-8")
    return spillgate.run(scenario).save(where / "out")


class Capture:
    """The blocks of a pcapng file, read by the letter of the draft."""

    def __init__(self, path):
        data = path.read_bytes()
        self.interfaces, self.packets, self.comment = [], [], ""
        at = 0
        while at < len(data):
            kind, length = struct.unpack_from("<II", data, at)
            assert length % 4 == 0
            assert struct.unpack_from("<I", data, at + length - 4) == (length,)
            body = data[at + 8 : at + length - 4]
            if kind == 0x0A0D0D0A:
                assert struct.unpack_from("<IHHq", body) == (0x1A2B3C4D, 1, 0, -1)
                self.comment = self.options(body[16:])[1].decode()
            elif kind == 1:
                link, _, snaplen = struct.unpack_from("<HHI", body)
                options = self.options(body[8:])
                assert options[9] == b"\x09"
                self.interfaces.append((options[2].decode(), link, snaplen))
            else:
                assert kind == 6
                interface, high, low, kept, length_ = struct.unpack_from("<IIIII", body)
                rest = body[20 + (kept + 3) // 4 * 4 :]
                options = self.options(rest)
                self.packets.append(
                    (interface, high << 32 | low, body[20 : 20 + kept], length_, options[1])
                )
            at += length
        assert at == len(data)

    @staticmethod
    def options(data):
        found = {}
        at = 0
        while True:
            code, length = struct.unpack_from("<HH", data, at)
            if code == 0:
                assert at + 4 == len(data)
                return found
            found[code] = data[at + 4 : at + 4 + length]
            at += 4 + (length + 3) // 4 * 4


def words(comment):
    return dict(w.split("=", 1) for w in comment.decode().split(" "))


def ones_sum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def test_drops_and_departures_are_those_that_were_counted(directory, tmp_path):
    results = spillgate.load(directory)
    made = []
    for run in (0, 1):
        path = tmp_path / f"{run}.pcapng"
        said = spillgate.record(
            directory, ["uplink:in", "uplink"], path, run=run, start="1 s", stop="3 s"
        )
        capture = Capture(path)
        assert said.packets == len(capture.packets)
        assert said.left_out == 0
        assert [i[0] for i in capture.interfaces] == ["uplink:in", "uplink:out", "uplink:drops"]
        made.append(capture)
    count = Counter(p[0] for c in made for p in c.packets)
    drops = results.value("fifo", "queue", "uplink/fifo", "drops_tail").mean
    carried = results.value("fifo", "link", "uplink", "carried").mean
    assert count[2] == pytest.approx(2 * drops)
    out = sum(p[3] for c in made for p in c.packets if p[0] == 1)
    # Lengths in the file are those of IP packets; the link adds nothing here. The rate has of the
    # packets on the wire at the begin and at the end of the period the part within it.
    longest = max(p[3] for c in made for p in c.packets)
    assert abs(out * 8 / 2 - 2 * carried) <= longest * 8
    times = [p[1] for p in made[0].packets]
    assert times == sorted(times)
    assert 1e9 <= times[0] < times[-1] < 3e9


def test_headers_are_true(directory, tmp_path):
    path = tmp_path / "x.pcapng"
    spillgate.record(directory, "uplink", path, packets=3000, snaplen=142)
    capture = Capture(path)
    assert {i[1] for i in capture.interfaces} == {101}
    assert len(capture.packets) == 3000
    for _, _, data, length, comment in capture.packets:
        said = words(comment)
        ihl, tos, total, number = struct.unpack_from(">BBHH", data)
        assert (ihl, total) == (0x45, length)
        assert len(data) == min(142, length)
        assert ones_sum(data[:20]) == 0xFFFF
        assert data[9] == 17
        assert number == int(said["packet"]) & 0xFFFF
        assert tos >> 2 == (46 if said["class"] == "voice" else 0)
        udp = struct.unpack_from(">HHHH", data, 20)
        assert udp[2] == length - 20
        pseudo = data[12:20] + struct.pack(">HH", 17, udp[2])
        # The payload is zeros, so the kept part is enough.
        assert ones_sum(pseudo + data[20:]) == 0xFFFF
        assert data[28:].strip(b"\0") == b""
        assert said["queue"] == "uplink/fifo"
        if "drop" in said:
            assert (said["drop"], said["queue_packets"]) == ("drops_tail", "50")
        else:
            assert float(said["waited_us"]) >= 0


def test_the_file_is_the_same_each_time_and_what_run_writes(cli, first, directory, tmp_path):
    options = ("--runs", "2", "--no-figures", "--quiet", "--out", "out", "--pcap", "uplink")
    changes = [x for k, v in CHANGES.items() for x in ("--set", f"{k}={v}")]
    done = cli("run", first, *options, *changes, "--pcap-packets", "500", "--pcap-variant", "llq")
    assert re.search(r"packets.pcapng: 500 packets; [\d,]+ more were left out", done.stderr)
    done = cli(
        "pcap", directory, "uplink", "-o", "b.pcapng", "--packets", "500", "--variant", "llq"
    )
    assert done.returncode == 0, done.stderr
    one, two = (tmp_path / n for n in ("out/packets.pcapng", "b.pcapng"))
    assert one.read_bytes() == two.read_bytes()
    assert "variant llq, run 0" in Capture(one).comment
    assert {p.name for p in tmp_path.iterdir()} == {"out", "b.pcapng"}


def test_segments_are_consistent(tcp, tmp_path):
    path = tmp_path / "t.pcapng"
    spillgate.record(tcp, ["l", "l:in", "l.reverse:in"], path)
    capture = Capture(path)
    sacks = acks = dropped = 0
    sent = {}
    for interface, _, data, length, comment in capture.packets:
        said = words(comment)
        name = capture.interfaces[interface][0]
        assert ones_sum(data[:20]) == 0xFFFF
        if data[9] != 6:
            continue
        header = data[20:]
        sport, dport, seq, ack, offset, flags = struct.unpack_from(">HHIIBB", header)
        size = (offset >> 4) * 4
        payload = length - 20 - size
        assert payload >= 0
        pseudo = data[12:20] + struct.pack(">HH", 6, length - 20)
        assert ones_sum(pseudo + header[:size]) == 0xFFFF
        options = header[20:size]
        at = 0
        while at < len(options):
            kind = options[at]
            if kind == 1:
                at += 1
                continue
            if kind == 5:
                sacks += 1
                blocks = struct.unpack_from(f">{(options[at + 1] - 2) // 4}I", options, at + 2)
                assert all(a < b for a, b in zip(blocks[::2], blocks[1::2], strict=True))
                assert all(a > ack for a in blocks[::2])
            at += options[at + 1]
        assert at == len(options)
        if said["flow"].endswith("/ack"):
            acks += 1
            assert flags & 16
            # Nothing is acknowledged that was not sent.
            assert ack <= sent[dport, sport]
        elif name == "l:in":
            end = seq + payload + (flags & 2) // 2 + (flags & 1)
            sent[sport, dport] = max(sent.get((sport, dport), 0), end)
        if name == "l:drops":
            dropped += 1
            assert said["drop"] in ("drops_early", "drops_forced", "drops_tail")
            if said["drop"] == "drops_early":
                assert float(said["draw"]) < float(said["probability"])
    assert sacks > 5
    assert acks > 100
    assert dropped > 5


FAN = """schema_version: 1
topology:
  nodes: [a, b]
  links:
    ab: {from: a, to: b, rate: 10 Mb/s, delay: 1 ms, policy: fan}
    ba: {from: b, to: a, rate: 10 Mb/s, delay: 1 ms}
policies:
  fan:
    fan: {limit: 30 packets, mechanism: {rbaef: {active_time: 500 ms, blocked_time: 1 s}}}
traffic:
  - flow: {name: call, count: 4, from: a, to: b, start: 3 s, source: {cbr: {rate: 80 kb/s, packet: 100 B}}}
  - flow:
      name: bulk
      count: 30
      from: a
      to: b
      tcp: {profile: ns2, handshake: true, retry: {constant: 500 ms}, retries: unlimited, syn_retries: unlimited}
measurement: {warmup: 0 s, duration: 8 s}
runs: {count: 1, seed: 5}
"""  # noqa: E501


def test_what_flow_admission_did_is_told_of_each_packet(tmp_path):
    """Refused for congestion, refused as blocked, pushed out: each with what decided it."""
    scenario = tmp_path / "fan.yaml"
    scenario.write_text(FAN, encoding="utf-8")
    results = spillgate.run(scenario)
    path = tmp_path / "x.pcapng"
    spillgate.record(results.save(tmp_path / "out"), ["ab:drops"], path, start="0 s", stop="8 s")
    found = Counter()
    for _, ns, _, _, comment in Capture(path).packets:
        said = words(comment)
        found[said["drop"], said.get("refused")] += 1
        if said["drop"] == "drops_pushed_out":
            assert (said["queue_packets"], said["limit_packets"]) == ("30", "30")
        if said["drop"] != "drops_admission":
            assert "mechanism" not in said
            continue
        assert said["mechanism"] == "rbaef"
        assert said["min_fair_rate"] == "500000"
        assert float(said["max_priority_load"]) == 0.7
        if said["refused"] == "fair-rate":
            assert float(said["fair_rate"]) < 500_000
            assert "blocked_until" not in said
        else:
            # To the end of a block of 1 s.
            left = float(said["blocked_until"]) - ns / 1e9
            assert 0.0 < left <= 1.0
    assert set(found) >= {
        ("drops_pushed_out", None),
        ("drops_admission", "fair-rate"),
        ("drops_admission", "blocked"),
    }
    for metric in ("drops_pushed_out", "drops_admission", "drops_tail"):
        (row,) = results.table(scope="queue", name="ab/fan", metric=metric)
        counted = row.mean
        assert sum(n for (why, _), n in found.items() if why == metric) == counted


@pytest.mark.parametrize("variant", ["fifo", "llq"])
def test_explanations_agree_with_the_packets_on_the_wire(directory, tmp_path, variant):
    """What `explain` says was sent while a packet waited is what the file shows."""
    path = tmp_path / "x.pcapng"
    spillgate.record(directory, ["uplink:in", "uplink:out"], path, variant=variant)
    arrivals, departures = {}, []
    for interface, ns, _, length, comment in Capture(path).packets:
        said = words(comment)
        name = (said["flow"], int(said["packet"]))
        if interface == 0:
            arrivals[name] = ns
        else:
            queue = (said["queue"].partition("/")[2], said["class"])
            departures.append((ns, name, queue, length))
    begun = {name: ns for ns, name, _, _ in departures}
    found = spillgate.explain(directory, variant=variant, worst=10)
    checked = 0
    for group in found.groups:
        for packet in group["packets"]:
            name = (packet["flow"], packet["seq"])
            (hop,) = packet["hops"]
            told = Counter()
            for s in hop["served"]:
                told[s["queue"], s["class"]] += s["packets"]
            # The file's times lack fractions of nanoseconds; transmissions take many.
            seen = Counter(
                queue
                for ns, other, queue, _ in departures
                if arrivals[name] <= ns < begun[name] and other != name
            )
            assert told == seen
            on_wire = [d for d in departures if d[0] < arrivals[name]][-1]
            if rest := hop["residual"]:
                assert ((rest["queue"], rest["class"]), rest["bytes"]) == on_wire[2:]
            checked += sum(told.values())
    assert checked > 100


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nolink",), "there is no link `nolink`; there are uplink"),
        (("uplink:up",), "`up` is not a point of a link; write uplink:in"),
        (("uplink", "--from", "2"), "`2` is not a time"),
        (("uplink", "--from", "2 s", "--until", "1 s"), "the end must come later"),
        (("uplink", "--packets", "0"), "0 packets cannot be recorded"),
        (("uplink", "--packets", "-1"), "packets must be 0 to"),
        (("uplink", "--snaplen", "10"), "10 B cannot be kept of a packet"),
        (("uplink", "--variant", "x"), "there is no variant 'x'"),
        (("uplink", "-o", "no/such/place.pcapng"), "cannot write"),
    ],
)
def test_bad_requests_leave_nothing(cli, directory, tmp_path, arguments, said):
    done = cli("pcap", directory, "-o", "x.pcapng", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_bad_points_are_found_before_a_run(cli, first, tmp_path):
    done = cli("run", first, "--pcap", "nolink", "--out", "out")
    assert done.returncode == 2
    assert "there is no link `nolink`" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_not_replaced_unless_asked(directory, tmp_path):
    path = tmp_path / "x.pcapng"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(spillgate.OutputError, match="exists"):
        spillgate.record(directory, "uplink", path)
    assert path.read_text(encoding="utf-8") == "mine"
    spillgate.record(directory, "uplink", path, force=True, packets=1)
    assert len(Capture(path).packets) == 1


LABELS = """
schema_version: 1
topology:
  nodes: [a, pe1, p, pe2, b]
  links:
    in: {from: a, to: pe1, rate: 8 Mb/s}
    core1: {from: pe1, to: p, rate: 8 Mb/s}
    core2: {from: p, to: pe2, rate: 8 Mb/s}
    out: {from: pe2, to: b, rate: 8 Mb/s}
  mpls: {pe: [pe1, pe2], p: [p]}
traffic:
  - flow: {name: f, dscp: ef, from: a, to: b, source: {cbr: {rate: 80 kb/s, packet: 100 B}}}
measurement: {warmup: 0 s, duration: 1 s, interval: 100 ms}
runs: {count: 1, seed: 5}
"""


def test_labels_stand_in_front(tmp_path):
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text(LABELS, encoding="utf-8")
    out = spillgate.run(scenario).save(tmp_path / "out")
    path = tmp_path / "x.pcapng"
    links = ("in", "core1", "core2", "out")
    spillgate.record(out, [f"{link}:out" for link in links], path)
    capture = Capture(path)
    assert {i[1] for i in capture.interfaces} == {1}
    # Two labels, one after the penultimate hop has popped the outer one, none outside.
    depth = dict(enumerate((0, 2, 1, 0)))
    assert Counter(p[0] for p in capture.packets).keys() == depth.keys()
    for interface, _, data, length, _ in capture.packets:
        n = depth[interface]
        (kind,) = struct.unpack_from(">H", data, 12)
        assert kind == (0x8847 if n else 0x0800)
        assert length == 14 + 4 * n + 100
        stack = struct.unpack_from(f">{n}I", data, 14)
        # EF is precedence 5; the last label has the bottom bit.
        assert [e >> 9 & 7 for e in stack] == [5] * n
        assert [e >> 8 & 1 for e in stack] == [0] * (n - 1) + [1] * (n > 0)
        # 16, 17, 18 are the ways to pe1, p, pe2; 19 is the VPN.
        assert [e >> 12 for e in stack] == [18, 19][2 - n :]
        assert ones_sum(data[14 + 4 * n :][:20]) == 0xFFFF
    if tshark := shutil.which("tshark"):
        command = [tshark, "-r", path, "-T", "fields", "-e", "mpls.exp", "-e", "udp.length"]
        lines = subprocess.run(command, capture_output=True, check=True, text=True).stdout
        said = Counter(lines.splitlines())
        assert said.keys() == {"\t80", "5\t80", "5,5\t80"}


L4S = """
schema_version: 1
topology:
  nodes: [a, b]
  links:
    l: {from: a, to: b, rate: 10 Mb/s, delay: 5 ms, duplex: true, policy: Q}
policies:
  Q: {dualpi2: {}}
traffic:
  - flow: {name: t, from: a, to: b, tcp: {cc: prague}}
  - flow: {name: u, from: a, to: b, tcp: {cc: cubic, ecn: accurate, timestamps: false}}
measurement: {warmup: 0 s, duration: 2 s}
runs: {count: 1, seed: 3}
"""


def test_tshark_decodes_accurate_feedback(tmp_path):
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not installed: what it reads of AccECN is not checked")
    scenario, path = tmp_path / "scenario.yaml", tmp_path / "x.pcapng"
    scenario.write_text(L4S, encoding="utf-8")
    results = spillgate.run(scenario).save(tmp_path / "out")
    spillgate.record(results, ["l", "l.reverse:in"], path)
    names = ["ip.dsfield.ecn", "tcp.flags.syn", "tcp.flags.ack", "tcp.flags.ace", "tcp.flags.ae"]
    names += ["tcp.flags.cwr", "tcp.flags.ece", "tcp.len", "tcp.stream", "tcp.option_kind"]
    names += [f"tcp.options.acc_ecn.{f}" for f in ("ee0b", "ee1b", "eceb")]
    names.append("_ws.malformed")
    done = subprocess.run(
        [tshark, "-r", path, "-T", "json", *(x for n in names for x in ("-e", n))],
        capture_output=True,
        check=True,
    )
    frames = [p["_source"]["layers"] for p in json.loads(done.stdout)]
    assert not any("_ws.malformed" in f for f in frames)

    def number(frame, name):
        value = frame.get(name, ["0"])[-1]
        return {"True": 1, "False": 0}.get(value) if value in ("True", "False") else int(value, 0)

    for stream, codepoint, field, kind in ((0, 1, "ee1b", "174"), (1, 2, "ee0b", "172")):
        mine = [f for f in frames if number(f, "tcp.stream") == stream]
        flags = [tuple(number(f, f"tcp.flags.{b}") for b in ("ae", "cwr", "ece")) for f in mine]
        # SYN asks, SYN-ACK says that SYN came as Not-ECT, and its acknowledgment likewise.
        assert flags[:2] == [(1, 1, 1), (0, 1, 0)]
        assert number(mine[2], "tcp.flags.ace") == 0b010
        data = [f for f in mine if number(f, "tcp.len") > 0]
        answers = [f for f in mine[1:] if number(f, "tcp.len") == 0][2:]
        assert {number(f, "ip.dsfield.ecn") for f in data} == {codepoint, 3}
        assert {number(f, "tcp.flags.ace") for f in data} == {5}
        assert {number(f, "tcp.flags.ace") for f in answers} == set(range(8))
        assert all(kind in f["tcp.option_kind"] for f in answers)
        counted = [number(f, f"tcp.options.acc_ecn.{field}") for f in answers]
        marked = [number(f, "tcp.options.acc_ecn.eceb") for f in answers]
        assert counted == sorted(counted)
        assert marked == sorted(marked)
        # What left the queue by then and was acknowledged is counted: with either codepoint once.
        length = dict.fromkeys((codepoint, 3), 0)
        for f in data:
            length[number(f, "ip.dsfield.ecn")] += number(f, "tcp.len")
        late = max(number(f, "tcp.len") for f in data) * 40
        assert 0 <= length[codepoint] - (counted[-1] - 1) < late
        assert 0 <= length[3] - marked[-1] < late
        assert marked[-1] > 0


def test_tshark_reads_the_same(directory, tcp, tmp_path):
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not installed: what other programs read is not checked")
    for source, points in ((directory, ["uplink:in", "uplink"]), (tcp, ["l", "l.reverse:in"])):
        path = tmp_path / "x.pcapng"
        spillgate.record(source, points, path, packets=2000, force=True)
        fields = ("interface_name", "time_epoch", "len", "cap_len", "comment")
        done = subprocess.run(
            [
                tshark,
                *("-r", path, "-T", "json", "-o", "ip.check_checksum:TRUE"),
                *("-o", "tcp.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"),
                *(x for f in fields for x in ("-e", f"frame.{f}")),
                *("-e", "ip.checksum.status", "-e", "tcp.checksum.status", "-e", "ip.len"),
                *("-e", "udp.checksum.status", "-e", "_ws.malformed", "-e", "ip.dsfield.dscp"),
            ],
            capture_output=True,
            check=True,
        )
        read = [p["_source"]["layers"] for p in json.loads(done.stdout)]
        capture = Capture(path)
        assert len(read) == len(capture.packets)
        for frame, (interface, ns, data, length, comment) in zip(
            read, capture.packets, strict=True
        ):
            assert frame["frame.interface_name"] == [capture.interfaces[interface][0]]
            assert frame["frame.time_epoch"] == [f"{ns // 10**9}.{ns % 10**9:09}"]
            assert frame["frame.len"] == [str(length)] == frame["ip.len"]
            assert frame["frame.cap_len"] == [str(len(data))]
            assert frame["frame.comment"] == [comment.decode()]
            assert "_ws.malformed" not in frame
            assert frame["ip.checksum.status"] == ["1"]
            assert frame["ip.dsfield.dscp"] == [str(data[1] >> 2)]
            if len(data) == length:
                # tshark checks only what was kept in full: 1 is good.
                transport = frame.get("tcp.checksum.status") or frame["udp.checksum.status"]
                assert transport == ["1"]
