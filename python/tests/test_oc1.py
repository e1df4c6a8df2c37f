"""TCP over RED and tail drop at OC-1 beside ns-2: bench/oc1.py, where ns-2 is installed."""

from __future__ import annotations

import re
import shutil
import statistics
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNS = 8
SURE = 0.999
"""Other random numbers, which a change of the program brings, fail one time in a thousand."""
EXIT = ("RED, wait, 9180 B", "RED, wait, gentle, 9180 B", "tail drop, 9180 B", "tail drop, 1500 B")
"""Where most recoveries end without a timeout, and what ends one opens the window in ns-2."""


@pytest.fixture(scope="module")
def oc1():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "bench"))
        import oc1

        yield oc1
        for name in ("oc1", "beside"):
            sys.modules.pop(name)


@pytest.fixture(scope="module")
def with_ns2(oc1):
    if not shutil.which("ns"):
        pytest.skip("ns-2 is not installed (Debian: ns2): TCP at OC-1 is not compared with it")
    return oc1


def test_tcp_over_red_agrees_with_ns2(with_ns2):
    names = [n for n in (*with_ns2.ALIKE, with_ns2.LONGER) if n not in EXIT]
    assert len(names) == 7
    found = list(with_ns2.rows(names, RUNS, SURE))
    assert len(found) == len(names) * len(with_ns2.WHAT)
    assert [r for r in found if not r.agrees] == []


def test_the_end_of_a_recovery_is_all_that_differs(with_ns2):
    """A cycle of Reno is one segment more in each of W / 2 round trips. ns-2's begins 2 / W
    higher, so that it is shorter by 4 / W² at most, and so much more is lost."""
    round_trip, line = 18e-3, 51.84e6
    found = list(with_ns2.rows(EXIT, RUNS, SURE))
    queues = {r.case: statistics.fmean(r.theirs) for r in found if r.what == "mean queue"}
    assert [r for r in found if r.what == "carried" and not r.agrees] == []
    for row in found:
        inside = queues[row.case] + line * round_trip / (8 * with_ns2.CASES[row.case].packet)
        # Four connections; the mean of a sawtooth is three quarters of its height.
        highest = inside / 4 * 4 / 3
        mean, half = row.difference
        assert abs(mean) <= half + 4 / highest**2 * statistics.fmean(row.theirs), row


def test_clocks_and_limited_transmit_make_the_differences_that_the_page_names(with_ns2):
    coarse = {r.what: r for r in with_ns2.rows([with_ns2.COARSE], RUNS, SURE)}
    for what in ("drops", "timeouts", "mean queue"):
        mean, half = coarse[what].difference
        assert mean > half, what
    limited = {r.what: r for r in with_ns2.rows([with_ns2.LIMITED], 3 * RUNS, SURE)}
    assert [w for w, r in limited.items() if not r.agrees] == ["retransmissions"]


def test_the_comparison_sees_another_queue(with_ns2, monkeypatch):
    name = "RED, 9180 B"
    mine = with_ns2.ours(with_ns2.CASES["RED, wait, 9180 B"], RUNS)
    monkeypatch.setattr(with_ns2, "ours", lambda _case, _runs: mine)
    differ = {r.what for r in with_ns2.rows([name], RUNS, SURE) if not r.agrees}
    assert {"carried", "mean queue", "timeouts"} <= differ


def test_every_value_stands_in_the_page(oc1):
    """The page has a row for each value, and names each that differs."""
    page = (ROOT / "docs/validation.md").read_text(encoding="utf-8")
    [table] = re.findall(r"<!-- oc1 -->\n(.*?)<!-- end -->", page, re.DOTALL)
    cells = [[c.strip() for c in line.split("|")[1:-1]] for line in table.splitlines()[2:]]
    wanted = [
        (name if i == 0 else "", what)
        for name in oc1.CASES
        for i, (what, _) in enumerate(oc1.WHAT.values())
    ]
    assert [(c[0], c[1]) for c in cells] == wanted
    case = ""
    for cell in cells:
        case = cell[0] or case
        assert cell[5] == "agrees" or case in (*EXIT, oc1.COARSE, oc1.LIMITED), (case, cell)
