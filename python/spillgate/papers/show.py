"""Tables and figures by axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from spillgate.papers.measured import PerRun, View
from spillgate.papers.model import Cell, Picture, Quantity, Table
from spillgate.papers.terms import Term
from spillgate.result import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Column = Callable[..., "Term | PerRun | Quantity | str | None"]
"""Gives a cell from the row's place on each axis."""


@dataclass(frozen=True)
class By:
    """A table with a row for each point of the product of its axes.

    Attributes:
        file: File name of its CSV, without ending.
        title: Heading.
        rows: The axes by heading: what the cells are given, with what is shown of it. A label
            that is that of the row before stays empty on all axes but the last.
        columns: What gives the cells, by heading.
        note: What to know, below it.
    """

    file: str
    title: str
    rows: Mapping[str, Sequence[str] | Mapping[str, str]]
    columns: Mapping[str, Column]
    note: str = ""

    def table(self, view: View) -> Table:
        """From the runs of a view."""
        axes = [a if isinstance(a, Mapping) else {x: x for x in a} for a in self.rows.values()]
        rows: list[tuple[Cell, ...]] = []
        before: tuple[str, ...] = ()
        for place in product(*axes):
            labels = [
                "" if place[: i + 1] == before[: i + 1] else axis[x]
                for i, (axis, x) in enumerate(zip(axes, place, strict=True))
            ]
            cells = [cell(column(*place), view) for column in self.columns.values()]
            rows.append((*labels, *cells))
            before = place
        return Table(self.file, self.title, (*self.rows, *self.columns), tuple(rows), self.note)


def cell(of: Term | PerRun | Quantity | str | None, view: View) -> Cell:
    """A cell of a table."""
    if isinstance(of, Term):
        of = of.take(view)
    return of.quantity if isinstance(of, PerRun) else of


@dataclass(frozen=True)
class Bars:
    """A figure with bars by place and by what is measured, with 95 % intervals.

    Attributes:
        file: File name, without ending.
        title: Heading.
        metric: What is measured.
        names: Of which classes, say.
        scope: What those are.
        shades: How many neighbors share a color.
    """

    file: str
    title: str
    metric: str
    names: Sequence[str]
    scope: str = "class"
    shades: int = 1

    def picture(self, results: Results, places: Sequence[str], suffix: str = "") -> Picture:
        """Of these results; a suffix tells it from the same figure of others."""
        title = f"{self.title}, {suffix}" if suffix else self.title

        def make() -> Figure:
            from spillgate.plot import bars

            return bars(
                results,
                self.metric,
                scope=self.scope,
                names=self.names,
                variants=places,
                shades=self.shades,
                title=title,
            )

        return Picture(f"{self.file}-{suffix}" if suffix else self.file, title, saved(make))


def saved(make: Callable[[], Figure]) -> Callable[[Path], None]:
    """What writes a figure to the path that it is given."""

    def draw(path: Path) -> None:
        from spillgate.plot.files import write

        write(make(), path)

    return draw
