"""AQMs and fair queues beside ns-3: bench/ns3.py, where ns-3 is installed."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNS = 6
SURE = 0.999
"""Other random numbers, which a change of the program brings, fail one time in a thousand."""
LAST = "here too the delay of the packet that left last"
DIFFERS = (
    *(f"{q}, load 1.2{of}" for q in ("pie", "fq-pie") for of in ("", f", {LAST}")),
    "fq-pie, load 1.2, `as: ns3`",
)
"""Cases of which the page says by how much they differ."""


@pytest.fixture(scope="module")
def ns3():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "bench"))
        import ns3

        yield ns3
        for name in ("ns3", "peers", "poisson", "beside"):
            sys.modules.pop(name)


@pytest.fixture(scope="module")
def command(ns3):
    found = ns3.peers.ns3() if shutil.which("g++") else None
    if found is None:
        pytest.skip(
            "ns-3 cannot be built (Debian: libns3-dev g++ pkg-config): nothing is compared"
        )
    return found


def test_queues_agree_with_ns3(ns3, command):
    names = [n for n in ns3.CASES if n not in DIFFERS]
    found = list(ns3.rows(names, RUNS, command, SURE))
    assert len(found) == len(names) * len(ns3.poisson.WHAT)
    assert [r for r in found if not r.agrees] == []


def test_the_comparison_sees_another_queue(ns3, command, monkeypatch):
    mine = ns3.ours(ns3.CASES["pie, load 1.2"], RUNS)
    monkeypatch.setattr(ns3, "ours", lambda _case, _runs: mine)
    found = ns3.rows(["fq-pie, load 1.2"], RUNS, command, SURE)
    assert {"of the first flow", "mean queue"} <= {r.what for r in found if not r.agrees}


def test_every_value_stands_in_the_page(ns3):
    """The page has a row for each value, and names each that differs."""
    page = (ROOT / "docs/validation.md").read_text(encoding="utf-8")
    [table] = re.findall(r"<!-- ns3 -->\n(.*?)<!-- end -->", page, re.DOTALL)
    cells = [[c.strip() for c in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    wanted = [
        (name if i == 0 else "", what)
        for name in ns3.CASES
        for i, (what, _) in enumerate(ns3.poisson.WHAT.values())
    ]
    assert [(c[0], c[1]) for c in cells] == wanted
    case = ""
    for cell in cells:
        case = cell[0] or case
        assert cell[5] == "agrees" or case in DIFFERS, (case, cell)
