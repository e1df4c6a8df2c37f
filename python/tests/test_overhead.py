"""The keywords of `overhead` beside the parser of the real `tc`: what it would tell the kernel."""

import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

import spillgate

VECTORS = Path(__file__).parents[2] / "crates/core/tests/vectors/overhead.txt"
OWN = {"none", "ethernet-frame", "ppp", "B"}
CELLS = ("noatm", "atm", "ptm")
# linux/pkt_sched.h
TCA_CAKE_ATM, TCA_CAKE_OVERHEAD, TCA_CAKE_MPU = 4, 6, 14


OURS = {
    "none": (0, 0, ""),
    "18 B": (18, 0, ""),
    "ethernet": (38, 84, ""),
    "ipoa-vcmux": (8, 0, "atm"),
    "pppoe-llcsnap": (40, 0, "atm"),
    "pppoa-llc mpu 64": (14, 64, "atm"),
    "overhead -4 atm": (-4, 0, "atm"),
}


def vectors():
    """The lengths of the table, and its texts with what each comes to and its sizes."""
    lengths, rows = [], []
    for line in VECTORS.read_text().splitlines():
        if line.startswith("lengths"):
            lengths = [int(n) for n in line.split()[1:]]
        elif not line.startswith("#"):
            text, value, sizes = line.split("|")
            per_packet, mpu, cells = value.split()
            value = (int(per_packet), int(mpu), cells)
            rows.append((text.strip(), value, [int(n) for n in sizes.split()]))
    return lengths, rows


def asked(*words):
    """What tc would send to the kernel, as strace shows it: the call itself is made to fail."""
    trace = "strace -e trace=sendmsg -e inject=sendmsg:error=EPERM -xx -s 65536"
    command = [*trace.split(), "tc", "qdisc", "add", "dev", "lo", "root", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert "RTM_NEWQDISC" in done.stderr, done.stderr
    return done.stderr


def told(words):
    """What tc tells the kernel with these words: bytes, mpu and cells."""
    said = asked("cake", *words)
    options = re.search(r'nla_type=TCA_OPTIONS\}, "([^"]*)"', said)
    if options is None:
        assert "nla_type=TCA_OPTIONS" in said, said
        return (0, 0, "noatm")
    data = bytes.fromhex(options[1].replace("\\x", ""))
    values = {}
    while data:
        length, kind = struct.unpack_from("<HH", data)
        (values[kind],) = struct.unpack_from("<i", data, 4)
        data = data[(length + 3) // 4 * 4 :]
    cells = CELLS[values.get(TCA_CAKE_ATM, 0)]
    return (values.get(TCA_CAKE_OVERHEAD, 0), values.get(TCA_CAKE_MPU, 0), cells)


def sizes(words, lengths):
    """What the kernel makes of IP packets on Ethernet with this size table (tc-stab(8))."""
    said = asked("handle", "1:", *words, "pfifo")
    keys = ("cell_log", "size_log", "cell_align", "overhead", "tsize")
    log, shift, align, overhead, slots = (
        int(found[1]) if (found := re.search(rf"\b{key}=(-?\d+)", said)) else 0 for key in keys
    )
    found = re.search(r"TCA_STAB_DATA\}, \[([^\]]*)\]", said)
    table = [int(n) for n in found[1].split(",")] if found else []
    assert len(table) == slots
    counted = []
    for length in lengths:
        frame = length + 14 + overhead
        slot = max(frame + align, 0) >> log
        assert not table or slot < slots, length
        counted.append(table[slot] << shift if table else frame)
    return counted


@pytest.fixture(scope="module")
def tc():
    for program in ("tc", "strace"):
        if shutil.which(program) is None:
            pytest.skip(f"NOT COMPARED WITH tc: there is no {program}")
    known = subprocess.run(["tc", "qdisc", "help"], capture_output=True, check=False)
    traced = subprocess.run(["strace", "true"], capture_output=True, text=True, check=False)
    if known.returncode not in (0, 255) or traced.returncode != 0:
        pytest.skip(f"NOT COMPARED WITH tc: {traced.stderr.strip()[-200:]}")


@pytest.mark.usefixtures("tc")
def test_tc_makes_the_same_of_the_words():
    _, rows = vectors()
    theirs = [(text, value) for text, value, _ in rows if not OWN & set(text.split())]
    assert len(theirs) > 50
    assert [(text, told(text.split())) for text, _ in theirs] == theirs


@pytest.mark.usefixtures("tc")
def test_tc_refuses_what_is_out_of_range():
    for wrong in ("overhead -65", "overhead 257", "mpu -1", "mpu 257", "pppoe"):
        command = ["tc", "qdisc", "add", "dev", "lo", "root", "cake", *wrong.split()]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert re.search("valid range|What is", done.stderr), done.stderr


@pytest.mark.usefixtures("tc")
@pytest.mark.parametrize("text", OURS)
def test_exported_size_tables_count_what_links_count(text, cli, tmp_path):
    scenario = tmp_path / "s.yaml"
    scenario.write_text(f"""\
schema_version: 1
topology:
  nodes: [a, b]
  links: {{eth0: {{from: a, to: b, rate: 10 Mb/s, overhead: {text}, policy: P}}}}
policies: {{P: {{fq-codel: {{}}}}}}
traffic: [{{flow: {{name: f, from: a, to: b, source: {{cbr: {{rate: 1 Mb/s, packet: 90 B}}}}}}}}]
measurement: {{duration: 1 s}}
""")
    done = cli("export", scenario, "--to", "tc")
    assert done.returncode == 0, done.stderr
    words = re.search(r"root handle 1: (stab .*?)(?=fq_codel|htb|ets)", done.stdout)
    assert words is not None, done.stdout
    lengths = list(range(20, 2000))
    lengths += [9000] if "mtu 2047" not in words[1] else []
    per_packet, mpu, cells = OURS[text]
    frames = [max(n + per_packet, mpu) for n in lengths]
    ours = [-(-f // 48) * 53 if cells == "atm" else f for f in frames]
    assert sizes(words[1].split(), lengths) == ours


def test_what_counts_is_said_in_words(cli, root, tmp_path):
    example = root / "examples/dsl/scenario.yaml"
    counts = {link["name"]: link.get("counts") for link in spillgate.check(example).links}
    cells = "IP packet + 40 B, cells of ATM (53 B for 48 B)"
    assert counts == {"lan": None, "port": None, "adsl": cells, "down": None}
    assert "cells of ATM" in cli("check", example).stdout
    listed = cli("list", "overhead").stdout
    for text, _, _ in vectors()[1]:
        assert text.split()[0] in listed or text == "18 B", text
    short = ("--set", "measurement.duration=2 s", "--runs", "1", "--no-figures")
    cli("run", example, *short, "--out", tmp_path / "out")
    asked = ("--variant", "sync rate, AAL5", "--flow", "g729", "--worst", "1", "--drops", "0")
    told = cli("explain", tmp_path / "out", *asked).stdout
    # 60 B of IP and 40 B: three cells.
    assert f"adsl counted 159 B for it: {cells}" in " ".join(told.split()), told
