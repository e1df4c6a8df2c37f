"""Tables and figures by axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from string import Formatter
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from spillgate.result import Results
from spillgate_papers.judge import outcome
from spillgate_papers.measured import PerRun, Singles, View
from spillgate_papers.model import Cell, Claim, Judged, Picture, Quantity, Table
from spillgate_papers.terms import Term, own, value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Shown = Term | PerRun | Callable[[View], Cell] | Cell
"""What a cell shows."""

Column = Callable[..., Shown] | str | tuple[str, str] | tuple[str, str, str]
"""Gives a cell from the row's place on each axis. A metric alone is that of the class that is the
last axis, at the point that the others name; with a name, and perhaps its scope, that of it."""

Measures = Mapping[str, Callable[[str], Term]]
"""What is measured, by name: the quantity at a point."""

Text = str | Callable[[View], str]
"""Sentences, or what makes them of the runs."""


@dataclass(frozen=True)
class By:
    """A table with a row for each point of the product of its axes.

    Attributes:
        file: File name of its CSV, without ending.
        title: Heading.
        rows: The axes by heading: what the cells are given, with what is shown of it. A label
            that is that of the row before, as are those before it, stays empty.
        columns: What gives the cells, by heading.
        note: What to know, below it.
        where: Which rows there are; all of the product if not given.
        bare: On how many axes labels may stay empty; on all but the last if not given.
    """

    file: str
    title: str
    rows: Mapping[str, Sequence[str] | Mapping[str, str]]
    columns: Mapping[str, Column]
    note: Text = ""
    where: Callable[..., bool] = field(default=lambda *_: True)
    bare: int | None = None

    def table(self, view: View) -> Table:
        """From the runs of a view."""
        axes = [a if isinstance(a, Mapping) else {x: x for x in a} for a in self.rows.values()]
        rows: list[tuple[Cell, ...]] = []
        before: tuple[str, ...] = ()
        bare = len(axes) - 1 if self.bare is None else self.bare
        for place in filter(lambda x: self.where(*x), product(*axes)):
            labels = [
                "" if i < bare and place[: i + 1] == before[: i + 1] else axis[x]
                for i, (axis, x) in enumerate(zip(axes, place, strict=True))
            ]
            cells = [cell(_shown(column, place), view) for column in self.columns.values()]
            rows.append((*labels, *cells))
            before = place
        head = (*self.rows, *self.columns)
        return Table(self.file, self.title, head, tuple(rows), said(self.note, view))


Taken = Mapping[str, "str | tuple[str, Callable[[Singles], PerRun]]"]
"""What a paper itself takes, by heading: its key, and what is made of single values."""


def taken(point: str, columns: Taken) -> dict[str, Column]:
    """Columns of what a paper itself takes, with what is made of it if it is single values.

    Args:
        point: The point of a row, with the row's labels as `{0}`, `{1}`, and so on.
        columns: What is taken, by heading; with labels in the same way.
    """

    def column(key: str, of: Callable[[Singles], PerRun] = Singles.mean) -> Column:
        return lambda *row: own(key.format(*row), point.format(*row), of)

    return {k: column(c) if isinstance(c, str) else column(*c) for k, c in columns.items()}


def _shown(column: Column, place: Sequence[str]) -> Shown:
    if isinstance(column, str):
        return value(column, ", ".join(place[:-1]), place[-1])
    if isinstance(column, tuple):
        metric, *of = column
        return value(metric, ", ".join(place), *of)
    return column(*place)


def cell(of: Shown, view: View) -> Cell:
    """A cell of a table."""
    if isinstance(of, Term):
        of = of.take(view)
    if isinstance(of, PerRun):
        return of.quantity
    return of(view) if callable(of) else of


def said(text: Text, view: View) -> str:
    """Sentences of a view."""
    return text(view) if callable(text) else text


def filled(
    template: str,
    measures: Mapping[str, Callable[[str], Term]] = MappingProxyType({}),
    /,
    **cells: Shown,
) -> Callable[[View], str]:
    """Sentences with measured values in braces: by name, or measures at points (`{loss@RED}`)."""

    def shown(name: str | None) -> Shown:
        measure, at, point = (name or "").partition("@")
        return "" if name is None else measures[measure](point) if at else cells[name]

    every = [(literal, shown(name)) for literal, name, _, _ in Formatter().parse(template)]
    return lambda view: "".join(f"{literal}{cell(of, view)}" for literal, of in every)


def binned(points: Sequence[tuple[float, float]], n: int) -> list[tuple[float, float]]:
    """Means of `n` samples each, by the time of the middle one."""
    bins = (points[i : i + n] for i in range(0, len(points) - n + 1, n))
    return [(b[n // 2][0], sum(v for _, v in b) / n) for b in bins]


def verdict(claim: Claim, at: Mapping[str, str]) -> Callable[[View], str]:
    """What a claim is with other points in place of its own."""
    return lambda v: outcome(claim.test(v.moved(at))).replace("_", " ")


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

    def picture(
        self, results: Results, places: Sequence[str] | Mapping[str, str], suffix: str = ""
    ) -> Picture:
        """Of these results; a suffix tells it from the same figure of others.

        Places may be given with what is shown of them.
        """
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
                # As in the paper, even where one bar dwarfs the others.
                log=False,
                title=title,
            )

        return Picture(f"{self.file}-{suffix}" if suffix else self.file, title, saved(make))


Line = Mapping[float, Term] | Callable[[View], Sequence[tuple[float, float]]]
"""Terms by their place on the axis to the right, or what gives the points themselves."""


@dataclass(frozen=True)
class Panel:
    """Lines over one axis.

    Attributes:
        title: Above it.
        x: What goes to the right.
        y: What goes up.
        lines: What is drawn, by label.
        guides: Lines to compare with, each dashed in another way, by label: a height, or points.
        shades: How many neighbors share a color; they differ in how they are dashed.
        legend: Where it stands, as matplotlib says it; none if empty.
        factor: From base units to those of the axis that goes up.
        dots: Whether points have no line between them.
        look: What else is done with matplotlib's axes: scales and ticks.
    """

    title: str
    x: str
    y: str
    lines: Mapping[str, Line]
    guides: Mapping[str, float | Sequence[tuple[float, float]]] = field(default_factory=dict)
    shades: int = 1
    legend: str = "best"
    factor: float = 1.0
    dots: bool = False
    look: Callable[[Axes], object] = field(default=lambda _: None)

    def draw(self, axes: Axes, view: View) -> None:
        """Fills matplotlib's axes."""
        from spillgate.plot.style import palette

        for i, (label, guide) in enumerate(self.guides.items()):
            style = ("--", ":", "-.")[i % 3]
            dashed = {"color": "#444444", "linewidth": 0.9, "linestyle": style, "label": label}
            if isinstance(guide, float):
                axes.axhline(guide, **dashed)  # type: ignore[arg-type]
            else:
                axes.plot(*zip(*guide, strict=True), **dashed)  # type: ignore[arg-type]
        colors = palette(-(-len(self.lines) // self.shades))
        for i, (label, line) in enumerate(self.lines.items()):
            look = {
                "label": label,
                "color": colors[i // self.shades][0],
                "linestyle": ("-", ":", "--", "-.")[i % self.shades % 4],
            }
            if isinstance(line, Mapping):
                points = {x: term.take(view).quantity for x, term in line.items()}
                # Of curves that coincide, those below are seen around the upper ones.
                mark = {"marker": "os^Dv"[i % 5], "markersize": 7.0 - i % 5}
                errors(axes, points, self.factor, **mark, **look)
            else:
                look |= {"marker": "o", "linestyle": "none"} if self.dots else {}
                pairs = [(x, self.factor * y) for x, y in line(view)]
                axes.plot(*zip(*pairs, strict=True), linewidth=0.8, markersize=4, **look)  # type: ignore[arg-type]
        axes.set_xlabel(self.x)
        axes.set_ylabel(self.y)
        axes.set_title(self.title, fontsize=8, pad=3)
        if self.legend:
            axes.legend(loc=self.legend, fontsize=7)  # type: ignore[call-overload]
        self.look(axes)


def from_zero(axes: Axes) -> None:
    """The axis that goes up begins at 0."""
    axes.set_ylim(bottom=0)


def logarithmic(x: Sequence[float] = (), y: Sequence[float] = ()) -> Callable[[Axes], None]:
    """Logarithmic axes with these ticks; one without ticks stays as it is."""

    def look(axes: Axes) -> None:
        for scale, ticks, values in (
            (axes.set_xscale, axes.set_xticks, x),
            (axes.set_yscale, axes.set_yticks, y),
        ):
            if values:
                scale("log")
                ticks(values, [f"{v:g}" for v in values])
                ticks([], minor=True)

    return look


def side_by_side(
    groups: Mapping[str, Sequence[Term]],
) -> tuple[dict[str, Line], Callable[[Axes], None]]:
    """Values of the first run in groups to the right, for panels of dots, and their ticks."""

    def dots(group: int, terms: Sequence[Term]) -> Callable[[View], list[tuple[float, float]]]:
        places = [group + 0.5 * ((k + 0.5) / len(terms) - 0.5) for k in range(len(terms))]
        return lambda v: [(x, t.take(v).values[0]) for x, t in zip(places, terms, strict=True)]

    def look(axes: Axes) -> None:
        axes.set_xticks(range(len(groups)), list(groups))
        from_zero(axes)

    return {label: dots(i, terms) for i, (label, terms) in enumerate(groups.items())}, look


def errors(
    axes: Axes, points: Mapping[float, Quantity], factor: float = 1.0, **look: object
) -> None:
    """Means with intervals, none of which goes below 0.

    Means with values that were cut off have an arrow upwards: they are lower bounds.
    """
    qs = list(points.values())
    ys = [math.nan if q.mean is None else factor * q.mean for q in qs]
    lows = [y if q.low is None else factor * max(q.low, 0.0) for q, y in zip(qs, ys, strict=True)]
    highs = [y if q.high is None else factor * q.high for q, y in zip(qs, ys, strict=True)]
    below = [y - low for y, low in zip(ys, lows, strict=True)]
    above = [high - y for y, high in zip(ys, highs, strict=True)]
    size = {"capsize": 2, "elinewidth": 0.8}
    axes.errorbar(list(points), ys, yerr=[below, above], **size, **look)  # type: ignore[arg-type]
    cut = [(x, y) for (x, q), y in zip(points.items(), ys, strict=True) if q.at_least]
    if cut:
        arrow = {"linestyle": "none", "marker": "$\\uparrow$", "markersize": 9}
        axes.plot(*zip(*cut, strict=True), **arrow, color=look.get("color"), label="_cut off")  # type: ignore[arg-type]


@dataclass(frozen=True)
class Curves:
    """A figure of panels with lines.

    Attributes:
        file: File name, without ending.
        title: Heading.
        panels: Row by row.
        note: What to know, below it.
        rows: In how many rows.
        size: Width and height in inches.
        shared: Whether panels have the same height, all or those of a row.
    """

    file: str
    title: str
    panels: Sequence[Panel]
    note: str = ""
    rows: int = 1
    size: tuple[float, float] = (8.2, 3.0)
    shared: bool | Literal["row"] = False

    def picture(self, view: View) -> Picture:
        """From the runs of a view."""

        def make() -> Figure:
            from matplotlib.figure import Figure

            from spillgate.plot.style import styled

            with styled():
                figure = Figure(figsize=self.size)
                columns = len(self.panels) // self.rows
                every = figure.subplots(self.rows, columns, sharey=self.shared, squeeze=False)
                for axes, panel in zip(every.flatten(), self.panels, strict=True):
                    panel.draw(axes, view)
            return figure

        return Picture(self.file, self.title, saved(make), self.note)


def shares(key: str, at: str) -> Callable[[View], list[tuple[float, float]]]:
    """The distribution of single values that the paper takes at a point: percent up to each."""

    def points(view: View) -> list[tuple[float, float]]:
        found = view.own(at, key)
        values = found.all() if isinstance(found, Singles) else sorted(found.values)
        before = [(x, 100.0 * i / len(values)) for i, x in enumerate(values)]
        after = [(x, 100.0 * (i + 1) / len(values)) for i, x in enumerate(values)]
        steps = [p for pair in zip(before, after, strict=True) for p in pair]
        return [(0.0, 0.0), *steps]

    return points


def compared(
    file: str, title: str, settings: Mapping[str, Sequence[Judged]], note: str = ""
) -> Table:
    """The verdicts of the same claims under several settings, side by side."""
    head = ["id", "measured"]
    for name in settings:
        head += [name, "ours"]
    rows: list[tuple[Cell, ...]] = []
    for claims in zip(*settings.values(), strict=True):
        cells: list[Cell] = [claims[0].claim.id, claims[0].claim.measure]
        for j in claims:
            cells += [j.mark, j.ours]
        rows.append(tuple(cells))
    return Table(file, title, tuple(head), tuple(rows), note)


def saved(make: Callable[[], Figure]) -> Callable[[Path], None]:
    """What writes a figure to the path that it is given."""

    def draw(path: Path) -> None:
        from spillgate.plot.files import write

        write(make(), path)

    return draw
