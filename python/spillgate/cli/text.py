"""What all text for people is made of: the console, tables without frames, entries."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Sequence
from copy import copy
from typing import Any, cast

from rich.cells import cell_len
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from spillgate.cli.streams import ungated
from spillgate.labels import short_of
from spillgate.tables import Table as Texts
from spillgate.visible import visible

_PLAIN: dict[str, Any] = {"highlight": False, "soft_wrap": False, "emoji": False}


class _Console(Console):
    """A console whose texts go through the gate before they are measured and colored."""

    def print(self, *objects: Any, **options: Any) -> None:  # noqa: ANN401 - as its parent
        for one in objects:
            if isinstance(one, Text):
                one.plain = visible(one.plain)
        super().print(*(visible(o) if isinstance(o, str) else o for o in objects), **options)

    def on_broken_pipe(self) -> None:
        # Rich would end the program with status 1, which means "a requirement is not met".
        raise BrokenPipeError


SIZE = 100, 40
"""Columns and lines where standard output is no terminal and COLUMNS and LINES are not set."""


def console() -> Console:
    """Standard output, as wide as the terminal."""
    columns = max(40, shutil.get_terminal_size(SIZE).columns)
    return _Console(file=ungated(sys.stdout), width=columns, **_PLAIN)


class TooLong(Exception):  # noqa: N818 - an answer, not an error
    """A table has more lines than there is place for: at least so many."""

    def __init__(self, lines: int) -> None:
        """Takes their number."""
        super().__init__(lines)
        self.lines = lines


class Measuring(_Console):
    """A console that prints nowhere, to see how much something takes.

    It raises `TooLong` instead of laying out a table of more than `most` rows.
    """

    def __init__(self, width: int, most: int = sys.maxsize) -> None:
        """As wide as another."""
        super().__init__(file=io.StringIO(), width=width, **_PLAIN)
        self._most = most

    def expect(self, shown: Table) -> None:
        """Raises `TooLong` for a table that is not worth laying out."""
        if shown.row_count > self._most:
            raise TooLong(shown.row_count)

    def text(self) -> str:
        """What it was given so far."""
        return cast("io.StringIO", self.file).getvalue()


def table() -> Table:
    """A table without frames."""
    return Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")


def laid(of: Texts, *, grouped: bool = False) -> Table:
    """A table of texts, laid out.

    Args:
        of: The texts.
        grouped: Whether names are blank where they are those of the row above.
    """
    made = table()
    for number, head in enumerate(of.head):
        made.add_column(head, justify="right" if number in of.right else "left")
    above: Sequence[str] = ()
    for number, row in enumerate(of.rows):
        names = row[: of.names]
        first = [""] * of.names if grouped and names == above else names
        style = "bold" if number in of.chosen else ""
        made.add_row(*(Text(c) for c in (*first, *row[of.names :])), style=style)
        above = names
    return made


def add_metric(made: Table, metric: str, unit: str) -> None:
    """Adds the column of a metric, whose heading takes several lines and little width."""
    heading = "\n".join((*short_of(metric).rsplit(" ", 1), unit))
    made.add_column(heading, justify="right", no_wrap=True, vertical="bottom")


def fresh(names: Sequence[str], above: Sequence[str]) -> list[str]:
    """The names of a row without those at the left that it shares with the row above.

    Example:
        >>> fresh(("LLQ", "wan", "voice"), ("LLQ", "wan", "data"))
        ['', '', 'voice']
    """
    new = next((i for i, n in enumerate(names) if tuple(above[i : i + 1]) != (n,)), 0)
    return [n if i >= new else "" for i, n in enumerate(names)]


def show(out: Console, shown: Table) -> None:
    """Prints a table without the blanks that fill its last column."""
    if isinstance(out, Measuring):
        out.expect(shown)
    for column in shown.columns:
        for number, cell in enumerate(column._cells):  # noqa: SLF001
            if isinstance(cell, str):
                column._cells[number] = visible(cell)  # noqa: SLF001
            elif isinstance(cell, Text):
                cell.plain = visible(cell.plain)
    with out.capture() as captured:
        out.print(shown)
    text = "\n".join(line.rstrip() for line in captured.get().splitlines())
    # The colors of its cells are in it already.
    out.file.write(text + "\n")


def some_rows(shown: Table, rows: Sequence[int]) -> Table:
    """A table with these rows of another."""
    made = copy(shown)
    made.columns = [column.copy() for column in shown.columns]
    for column, of in zip(made.columns, shown.columns, strict=True):
        column._cells = [of._cells[i] for i in rows]  # noqa: SLF001 - rich offers no other way
    made.rows = [shown.rows[i] for i in rows]
    return made


def width(out: Console, shown: Table) -> int:
    """Columns that a table takes."""
    if isinstance(out, Measuring):
        out.expect(shown)
    # Measured without the console's limit, or everything would seem to fit.
    return Measurement.get(out, out.options.update(width=1000), shown).maximum


def wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Lines of at most so many columns; a Chinese character takes two.

    Args:
        text: Words.
        width: Columns of a terminal.
        first: What the first line begins with.
        rest: What the others begin with.

    Example:
        >>> wrapped("one two three", 9), wrapped("two 語音 語音", 9, "- ", "  ")
        (['one two', 'three'], ['- two', '  語音', '  語音'])
        >>> wrapped("語音語音語音", 8, "", "  ")
        ['語音語', '  音語音']
    """
    lines: list[str] = []
    line, bare = first, True
    for word in text.split():
        # A word is broken only where it fits on no line.
        for number, part in enumerate(_parts(word, width - max(cell_len(first), cell_len(rest)))):
            blank = "" if bare else " "
            if not bare and (number or cell_len(line) + cell_len(blank + part) > width):
                lines.append(line)
                line, blank = rest, ""
            line, bare = line + blank + part, False
    return [] if bare else [*lines, line]


def _parts(word: str, width: int) -> list[str]:
    """A word, or the pieces of one that has wide characters and is too long."""
    if cell_len(word) <= width or cell_len(word) == len(word):
        return [word]
    pieces = [""]
    for character in word:
        if pieces[-1] and cell_len(pieces[-1] + character) > width:
            pieces.append("")
        pieces[-1] += character
    return pieces


def legend(out: Console, text: str) -> None:
    """What the columns of the table above mean."""
    for line in wrapped(text, out.width):
        out.print(Text(line, "dim"))
    out.print()


def item(out: Console, text: str) -> None:
    """Prints an indented entry whose further lines hang below its first word."""
    for number, line in enumerate(text.splitlines() or [""]):
        first = "  " if number == 0 else "    "
        for piece in wrapped(line, out.width, first, "    "):
            out.print(Text(piece), overflow="fold")


def count(n: int, what: str, plural: str = "") -> str:
    """A number of things.

    Example:
        >>> count(1, "flow"), count(2, "class", "classes")
        ('1 flow', '2 classes')
    """
    return f"{n} {what}" if n == 1 else f"{n} {plural or what + 's'}"
