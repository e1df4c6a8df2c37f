"""The keywords of `overhead` beside the parser of the real `tc`: what it would tell the kernel."""

import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest

VECTORS = Path(__file__).parents[2] / "crates/core/tests/vectors/overhead.txt"
OWN = {"none", "ethernet-frame", "ppp", "B"}
CELLS = ("noatm", "atm", "ptm")
# linux/pkt_sched.h
TCA_CAKE_ATM, TCA_CAKE_OVERHEAD, TCA_CAKE_MPU = 4, 6, 14


def vectors():
    """The texts of the table with what each comes to."""
    rows = []
    for line in VECTORS.read_text().splitlines():
        if line.startswith(("#", "lengths")):
            continue
        text, value, _ = line.split("|")
        per_packet, mpu, cells = value.split()
        rows.append((text.strip(), (int(per_packet), int(mpu), cells)))
    return rows


def told(words):
    """What tc tells the kernel with these words: bytes, mpu and cells."""
    command = ["tc", "qdisc", "add", "dev", "lo", "root", "cake", *words]
    # The kernel is never asked: the system call that would ask it fails.
    trace = [
        "strace",
        "-e",
        "trace=sendmsg",
        "-e",
        "inject=sendmsg:error=EPERM",
        "-xx",
        "-s",
        "4096",
    ]
    done = subprocess.run(
        [*trace, *command], capture_output=True, text=True, timeout=60, check=False
    )
    options = re.search(r'nla_type=TCA_OPTIONS\}, "([^"]*)"', done.stderr)
    if options is None:
        assert "nla_type=TCA_OPTIONS" in done.stderr, done.stderr
        return (0, 0, "noatm")
    data = bytes.fromhex(options[1].replace("\\x", ""))
    values = {}
    while data:
        length, kind = struct.unpack_from("<HH", data)
        (values[kind],) = struct.unpack_from("<i", data, 4)
        data = data[(length + 3) // 4 * 4 :]
    cells = CELLS[values.get(TCA_CAKE_ATM, 0)]
    return (values.get(TCA_CAKE_OVERHEAD, 0), values.get(TCA_CAKE_MPU, 0), cells)


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
    theirs = [(text, value) for text, value in vectors() if not OWN & set(text.split())]
    assert len(theirs) > 50
    assert [(text, told(text.split())) for text, _ in theirs] == theirs


@pytest.mark.usefixtures("tc")
def test_tc_refuses_what_is_out_of_range():
    for wrong in ("overhead -65", "overhead 257", "mpu -1", "mpu 257", "pppoe"):
        command = ["tc", "qdisc", "add", "dev", "lo", "root", "cake", *wrong.split()]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert re.search("valid range|What is", done.stderr), done.stderr
