"""Fair queues and adaptive RED beside ns-2: bench/ns2.py, where ns-2 is installed."""

from __future__ import annotations

import dataclasses
import re
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNS = 6
SURE = 0.999
"""Other random numbers, which a change of the program brings, fail one time in a thousand."""
DIFFERS: tuple[str, ...] = ()
"""Cases of which the page says by how much they differ."""


@pytest.fixture(scope="module")
def ns2():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "bench"))
        import ns2

        yield ns2
        for name in ("ns2", "poisson", "beside"):
            sys.modules.pop(name)


@pytest.fixture(scope="module")
def with_ns2(ns2):
    if not shutil.which("ns"):
        pytest.skip("ns-2 is not installed (Debian: ns2): fair queues are not compared with it")
    return ns2


def test_queues_agree_with_ns2(with_ns2):
    names = [n for n in with_ns2.CASES if n not in DIFFERS]
    found = list(with_ns2.rows(names, RUNS, SURE))
    assert len(found) == len(names) * len(with_ns2.poisson.WHAT)
    assert [r for r in found if not r.agrees] == []


def test_the_comparison_sees_the_sfq_of_linux(with_ns2, monkeypatch):
    policy = {"sfq": {"limit": "256 packets", "divisor": 64}}
    linux = dataclasses.replace(with_ns2.QUEUES["sfq"], policy=policy)
    monkeypatch.setitem(with_ns2.QUEUES, "sfq", linux)
    found = with_ns2.rows(["sfq, load 1.2"], RUNS, SURE)
    assert "mean queue" in {r.what for r in found if not r.agrees}


def test_every_value_stands_in_the_page(ns2):
    """The page has a row for each value, and names each that differs."""
    page = (ROOT / "docs/validation.md").read_text(encoding="utf-8")
    [table] = re.findall(r"<!-- ns2 -->\n(.*?)<!-- end -->", page, re.DOTALL)
    cells = [[c.strip() for c in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    wanted = [
        (name if i == 0 else "", what)
        for name in ns2.CASES
        for i, (what, _) in enumerate(ns2.poisson.WHAT.values())
    ]
    assert [(c[0], c[1]) for c in cells] == wanted
    case = ""
    for cell in cells:
        case = cell[0] or case
        assert cell[5] == "agrees" or case in DIFFERS, (case, cell)
