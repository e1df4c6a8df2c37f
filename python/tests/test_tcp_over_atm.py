"""What tail drop, PPD and EPD leave of the goodput of TCP: examples/tcp-over-atm and its page."""

from __future__ import annotations

import importlib.util
import re
import sys

import pytest

EFFORT = (8, {"measurement.duration": "2 s"})
"""Runs of each point, and how long."""
COLLAPSED = (0.34 + 0.9) / 2
"""Nearer to the 34 % that are quoted of the paper's tail drop than to the nine tenths of EPD."""


@pytest.fixture(scope="module")
def atm(root):
    path = root / "examples/tcp-over-atm/answer.py"
    spec = importlib.util.spec_from_file_location("tcp_over_atm_answer", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def measured(atm, points, **own):
    """Points by themselves, with the same changes to all."""
    named = {f"{i}": (p, own) for i, p in enumerate(points)}
    return dict(zip(points, atm.each(named, *EFFORT).values(), strict=True))


@pytest.fixture(scope="module")
def grid(atm):
    sizes = ((256, 1500), (256, 9180), (1000, 1500), (1000, 9180), (4000, 9180))
    return measured(atm, [atm.Point(b, d, mtu) for b, mtu in sizes for d in atm.DISCARDS])


def test_whole_frames_keep_what_single_cells_waste(atm, grid):
    """Tail drop, PPD, EPD: each better than the one before, beyond both intervals."""
    assert atm.disorder(grid) == []
    for tail in [p for p in grid if p.discard == "tail"]:
        tail, ppd, epd = (grid[atm.Point(tail.buffer, d, tail.mtu)] for d in atm.DISCARDS)
        assert tail.high < ppd.low
        assert ppd.high < epd.low


def test_tail_drop_collapses_in_a_small_buffer(atm, grid):
    low = grid[atm.Point(256, "tail", 9180)]
    assert low.high < COLLAPSED
    assert grid[atm.Point(4000, "EPD", 9180)].low >= atm.KEPT
    # All ten are at it: it is no capture by a few.
    assert low.starved < 1


def test_epd_keeps_nine_tenths_where_its_room_holds_two_frames(atm, grid):
    kept, lost = atm.kept(grid)
    assert [(p.buffer, p.mtu) for p in lost] == [(256, 9180)]
    assert len(kept) == 4
    room = measured(atm, [atm.room(mtu, frames) for mtu in atm.MTUS for frames in (0.5, 2)])
    for mtu in atm.MTUS:
        assert room[atm.room(mtu, 0.5)].high < atm.KEPT, mtu
        assert room[atm.room(mtu, 2)].low >= atm.KEPT, mtu


def test_the_longest_timeout_decides_how_deep_tail_drop_falls(atm, grid):
    point = atm.Point(256, "tail", 9180)
    as_it_is = grid[point]
    [short] = measured(atm, [point], **{f"{atm.TCP}max_rto": "3.2 ms"}).values()
    [long] = measured(atm, [point], **{f"{atm.TCP}max_rto": "64 s"}).values()
    assert short.high < as_it_is.low
    assert as_it_is.high < long.low
    # A line that looks well used, by a few.
    assert long.low > atm.KEPT
    assert long.starved > atm.CONNECTIONS / 2


def test_a_timeout_below_the_queues_delay_sends_twice(atm):
    """8000 cells take 21.8 ms; at 4000 the ceiling of 12.8 ms is not reached."""
    point = atm.Point(8000, "tail", 9180)
    [short] = measured(atm, [point]).values()
    [long] = measured(atm, [point], **{f"{atm.TCP}max_rto": "51.2 ms"}).values()
    assert short.high < long.low


def test_the_quick_answer_has_everything(atm, tmp_path):
    brief = {**atm.QUICK, "measurement.warmup": "50 ms", "measurement.duration": "100 ms"}
    found = atm.answer(tmp_path / "figure.png", 2, brief)
    assert set(found) == {"grid-0.1ms", "said", "rooms", "causes"}
    assert len(found["grid-0.1ms"].splitlines()) == len(atm.MTUS) * 4 + 2
    widths = {line.count("|") for line in found["causes"].splitlines()[1:]}
    assert widths == {len(atm.BUFFERS) * (len(atm.DISCARDS) + 1) + 2}
    assert found["said"].startswith("- Clock of 0.1 ms: ")
    assert (tmp_path / "figure.png").stat().st_size > 0


def test_the_page_has_what_the_example_says(atm, root):
    """One of its rows anew; `docs/refresh.py tcp-over-atm` writes all."""
    page = (root / "docs/howto/tcp-over-atm.md").read_text(encoding="utf-8")
    tables = dict(re.findall(r"<!-- table (\S+) -->\n(.*?)<!-- end -->", page, re.DOTALL))
    rows = len(atm.MTUS) * 4 + 2
    assert len(tables["grid-0.1ms"].splitlines()) == len(tables["grid-100ms"].splitlines()) == rows
    assert len(tables["rooms"].splitlines()) == len(atm.MTUS) + 2
    causes = [line.split(" | ")[0].strip("| ") for line in tables["causes"].splitlines()[2:]]
    assert causes == [*atm.CAUSES, "EPD from 25 %", "EPD from 80 %"]
    points = [atm.Point(256, d, 9180) for d in atm.DISCARDS]
    again = atm.each({f"256 {p.discard}": (p, {}) for p in points})
    row = " | ".join(map(str, again.values()))
    assert f"| 9180 B | 256 | {row} |" in tables["grid-0.1ms"]
