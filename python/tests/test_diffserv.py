"""RIO and meters beside ns-2's DiffServ module: bench/diffserv.py, where ns-2 is installed."""

from __future__ import annotations

import dataclasses
import re
import shutil
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNS = 8
SURE = 0.999
"""Other random numbers, which a change of the program brings, fail one time in a thousand."""


@pytest.fixture(scope="module")
def diffserv():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "bench"))
        import diffserv

        yield diffserv
        for name in ("diffserv", "beside"):
            sys.modules.pop(name)


@pytest.fixture(scope="module")
def with_ns2(diffserv):
    if not shutil.which("ns"):
        pytest.skip("ns-2 is not installed (Debian: ns2): RIO and meters are not compared with it")
    return diffserv


def test_meters_and_rio_agree_with_ns2(with_ns2):
    cases = ("token bucket", "TSW2CM", "TSW3CM", "srTCM", "trTCM", "RIO-D, 12", "RIO-C, 12")
    names = [n for n in with_ns2.CASES if n.startswith(cases) and not n.endswith("TCP")]
    assert len(names) == len(cases)
    found = list(with_ns2.rows(names, RUNS, SURE))
    assert len(found) == 2 + 2 + 3 * 3 + 2 * 8
    assert [r for r in found if not r.agrees] == []


def test_the_comparison_sees_the_other_mode(with_ns2, monkeypatch):
    name = "RIO-C, 12 Mb/s"
    case = with_ns2.CASES[name]
    coupled = with_ns2.ours(case, RUNS)
    other = dataclasses.replace(case, mode="decoupled")
    monkeypatch.setattr(with_ns2, "ours", lambda _case, _runs: coupled)
    monkeypatch.setitem(with_ns2.CASES, name, other)
    differ = {r.what for r in with_ns2.rows([name], RUNS, SURE) if not r.agrees}
    assert {"mean queue", "mean wait"} <= differ


def test_every_value_stands_in_the_page(diffserv):
    """The page has a row for each value; where it says that one differs it says why."""
    page = (ROOT / "docs/validation.md").read_text(encoding="utf-8")
    [table] = re.findall(r"<!-- diffserv -->\n(.*?)<!-- end -->", page, re.DOTALL)
    cells = [[c.strip() for c in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    wanted = [
        (name if i == 0 else "", what)
        for name, case in diffserv.CASES.items()
        for i, (what, _) in enumerate(diffserv.compared(case).values())
    ]
    assert [(c[0], c[1]) for c in cells] == wanted
    # Those at which crates/sim/tests/dsred.rs shows why.
    explained = {"RIO-D, 12 Mb/s", "RIO-C, 10.2 Mb/s"}
    case = ""
    for cell in cells:
        case = cell[0] or case
        known = "TCP" in case or case in explained
        assert cell[5] == "agrees" or known, (case, cell)
