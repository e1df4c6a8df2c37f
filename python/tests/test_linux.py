"""Recorded runs of a Linux kernel beside ours: bench/linux.py."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNS = 5


@pytest.fixture(scope="module")
def linux():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "bench"))
        import linux

        yield linux
        for name in ("linux", "linux_cells"):
            sys.modules.pop(name)


@pytest.fixture(scope="module")
def cells(linux):
    return {cell.name: cell for cell in linux.read()}


def test_every_recorded_run_is_a_cell(linux, cells):
    lines = linux.RECORDED.read_text(encoding="utf-8").splitlines()
    assert len(cells) == len(lines) == 29
    first = json.loads(lines[0])
    assert cells["pfifo, 1 reno"].values["signals"] == first["whole_run"]["drops"]


def recorded(linux, leaf):
    return linux.Recorded(leaf, flows=1, cc="reno", ecn=False, values={})


def below_htb(linux, leaf):
    [queue] = linux.queues(recorded(linux, leaf)).values()
    [made] = queue["class-based"]["classes"]
    assert made["shape"] == {"as": "htb", "rate": "10 Mb/s", "burst": "1600 B"}
    return made


def test_words_of_tc_become_queues(linux):
    words = "limit 400000 min 15000 max 45000 avpkt 1000 burst 25 bandwidth 10mbit probability 0.1"
    [red] = below_htb(linux, f"red {words}")["aqm"].values()
    # 26 - 15 = 11 packets; (1 - (15/16)^25) * 16 = 12.8, (1 - (7/8)^25) * 8 = 7.7.
    assert (red["weight"], red["max_p"], red["idle"]) == (1 / 16, 0.1, "none")
    [pie] = below_htb(linux, "pie limit 200 target 5ms tupdate 21ms")["aqm"].values()
    assert (pie["target"], pie["update"], pie["alpha"]) == ("5 ms", "30 ms", 0.125)
    assert below_htb(linux, "fq_codel limit 50 noecn")["fq_codel"]["ecn"] is False
    assert linux.queues(recorded(linux, "sfq perturb 10")) == {}
    with pytest.raises(ValueError, match="codel: unknown words: targe 5ms"):
        linux.queues(recorded(linux, "codel limit 5 targe 5ms"))


def test_only_cakes_own_shaper_has_counted(linux, cells):
    """`overlimits` of a leaf: RED counts its signals, and CAKE when its shaper makes it wait."""
    for line in linux.RECORDED.read_text(encoding="utf-8").splitlines():
        run = json.loads(line)
        kind, whole = run["leaf"].split()[0], run["whole_run"]
        if kind == "cake":
            assert whole["overlimits"] > whole["packets"]
        else:
            assert whole["overlimits"] == (whole["drops"] if kind == "red" else 0)
    shaped, plain = linux.queues(cells["cake, 1 reno"]).values()
    assert shaped == {"cake": {"tins": "besteffort", "rtt": "20 ms", "bandwidth": "10 Mb/s"}}
    [leaf] = plain["class-based"]["classes"]
    assert leaf["cake"] == {"tins": "besteffort", "rtt": "20 ms"}


@pytest.mark.parametrize(
    "name",
    [
        "pfifo, 5 cubic",
        "red, 1 reno",
        "red, 5 reno",
        "pie, 1 cubic",
        "pfifo, 1 reno",
        "cake, 1 reno",
    ],
)
def test_the_queue_is_the_kernels(linux, cells, name):
    rows = {r.key: r for r in linux.rows([cells[name]], RUNS) if not r.queue}
    for key in ("queue", "backlog", "signals", "again", "goodput"):
        assert rows[key].agrees, (key, rows[key].recorded, rows[key].mean, rows[key].scatter)


def test_another_queue_differs(linux, cells, monkeypatch):
    other = sys.modules["linux_cells"].below_htb({"queue_limit": "100 packets"})
    monkeypatch.setattr(linux, "queues", lambda _: {"": other})
    differ = {r.key for r in linux.rows([cells["red, 5 reno"]], 2) if not r.agrees}
    assert {"queue", "p50", "p95", "backlog", "signals", "rtt"} <= differ


def test_every_cell_stands_in_the_page(linux, cells):
    """The page has a row for each recorded run, and the kernel's values as they were recorded."""
    page = (ROOT / "docs/validation.md").read_text(encoding="utf-8")
    [table] = re.findall(r"<!-- linux -->\n(.*?)<!-- end -->", page, re.DOTALL)
    rows = [[c.strip() for c in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    names = {
        f"{cell.name}, {queue}".removesuffix(", "): cell
        for cell in cells.values()
        for queue in linux.queues(cell) or [""]
    }
    assert [row[0] for row in rows] == list(names)
    for name, *values in rows:
        cell = names[name]
        if not linux.queues(cell):
            assert not any(values), name
            continue
        for (key, what), text in zip(linux.WHAT.items(), values, strict=True):
            recorded = f"{cell.values[key]:.{what.digits}f}"
            assert text.strip("*").split(" / ")[0] == recorded or not text, (name, key)
