"""What fits the screen: the most important parts first, and where the rest is."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from spillgate.cli.text import SIZE, Measuring, TooLong, show, some_rows, wrapped

_PROMPT = 2
"""Lines that the shell takes: the command, and the prompt after it."""

_LEAST = 16
"""Lines below which a screen is not filled, but scrolls."""


@dataclass(frozen=True)
class Part:
    """A part of the output, with as many entries as the screen leaves it.

    Attributes:
        draw: Prints it with all of its entries.
        rank: Parts of a lower rank get their lines first; those of rank 0 are always shown.
        name: What its entries are called, `links`.
        entries: How many it has.
        some: Prints it with at most so many, the most important, and returns how many; none if
            it is shown whole or not at all.
        share: Which part of the screen it takes at most while others want the rest.
    """

    draw: Callable[[Console], object]
    rank: int = 0
    name: str = ""
    entries: int = 0
    some: Callable[[Console, int], int] | None = None
    share: float = 1.0


def table_part(
    made: Table, rank: int, name: str, *, after: str = "", worth: Sequence[Any] = ()
) -> Part:
    """A table, with a line below it.

    Args:
        made: The table.
        rank: As of `Part`.
        name: What its rows are called.
        after: The line below it; an empty one follows in any case.
        worth: For each row, what is least of those that are shown first. Default: their order.
    """
    rows = range(made.row_count)
    order = sorted(rows, key=worth.__getitem__) if worth else rows

    def some(out: Console, n: int) -> int:
        show(out, some_rows(made, sorted(order[:n])))
        if after:
            out.print(after)
        out.print()
        return n

    return Part(lambda out: some(out, len(rows)), rank, name, len(rows), some, share=0.4)


def present(out: Console, parts: Sequence[Part], rest: str, *, whole: bool) -> None:
    """Prints parts in their order, all of them or what fits the screen.

    Args:
        out: The console.
        parts: All there is.
        rest: Where the rest is, for the last line.
        whole: Whether everything is printed, however long.
    """
    room = max(_LEAST, shutil.get_terminal_size(SIZE).lines - _PROMPT)
    measure = _Measure(out, room)
    if whole or _fit(measure, parts, room):
        for part in parts:
            measure.draw(part, _WHOLE)
        return
    # The last line says what is missing, and may take two.
    chosen = _choose(measure, parts, room - 2)
    missing = []
    for part in parts:
        shown = measure.draw(part, chosen[id(part)])
        if part.name and shown < max(part.entries, 1):
            of = f"{part.entries - shown:,} of {part.entries:,}" if shown else f"{part.entries:,}"
            missing.append(f"{part.name} ({of})" if part.entries else part.name)
    said = f"Not shown: {', '.join(missing)}" if missing else "In brief"
    for line in wrapped(f"{said}: {rest}", out.width):
        out.print(Text(line, "bold"))


class _Measure:
    """Lines that parts take on a console, each laid out once.

    Ten thousand rows are not laid out to see that they are too many: of what does not fit it says
    no more than that.
    """

    def __init__(self, out: Console, room: int) -> None:
        self._out = out
        self._width = out.width
        self._room = room
        self._known: dict[tuple[int, int], int] = {}
        self._texts: dict[tuple[int, int], tuple[int, str]] = {}

    def lines(self, part: Part, n: int) -> int:
        """Of so many entries of a part, lines that the terminal breaks included."""
        at = id(part), n
        if at not in self._known:
            self._known[at] = self._lines(part, n)
        return self._known[at]

    def draw(self, part: Part, n: int) -> int:
        """Prints so many entries of a part; how many of them it has said."""
        if (id(part), n) not in self._texts:
            return _draw(self._out, part, n)
        shown, text = self._texts[id(part), n]
        self._out.file.write(text)
        return shown

    def _lines(self, part: Part, n: int) -> int:
        measuring = Measuring(self._width, self._room)
        try:
            shown = _draw(measuring, part, n)
        except TooLong as found:
            return found.lines
        if measuring.color_system == self._out.color_system:
            self._texts[id(part), n] = shown, measuring.text()
        lines = measuring.text().splitlines()
        return sum(max(1, -(-cell_len(line) // self._width)) for line in lines)


def _fit(measure: _Measure, parts: Sequence[Part], room: int) -> bool:
    if sum(p.entries for p in parts) > room:
        return False
    left = room
    for part in parts:
        left -= measure.lines(part, _WHOLE)
        if left < 0:
            return False
    return True


def _choose(measure: _Measure, parts: Sequence[Part], room: int) -> Mapping[int, int]:
    """How many entries of each part are shown; `_WHOLE` for all, if it has any."""
    chosen = {id(p): 0 for p in parts}
    taken = dict.fromkeys(chosen, 0)
    ranked = sorted(parts, key=lambda p: p.rank)
    for shared in (True, False):
        for part in ranked:
            left = room - sum(taken.values()) + taken[id(part)]
            if shared and part.rank:
                left = min(left, int(part.share * room))
            chosen[id(part)], taken[id(part)] = _most(measure, part, left)
    return chosen


_WHOLE = sys.maxsize


def _most(measure: _Measure, part: Part, left: int) -> tuple[int, int]:
    """The most of a part that takes no more lines than are left, and how many it takes."""
    if part.entries <= left and (lines := measure.lines(part, _WHOLE)) <= max(0, left):
        return _WHOLE, lines
    n = min(part.entries, left) if part.some is not None else 0
    while n > 0:
        lines = measure.lines(part, n)
        if lines <= left:
            return n, lines
        n -= max(1, (lines - left) // 2)
    return (0, 0) if part.rank else (_WHOLE, measure.lines(part, _WHOLE))


def _draw(out: Console, part: Part, n: int) -> int:
    """Prints so many entries of a part; how many of them it has said."""
    if n == _WHOLE:
        part.draw(out)
        return _WHOLE
    return part.some(out, n) if n and part.some is not None else 0
