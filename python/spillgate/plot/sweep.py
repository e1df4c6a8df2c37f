"""A metric over an axis of the points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from spillgate.labels import label_of
from spillgate.metrics import missing, scale_for
from spillgate.plot.layout import (
    Handle,
    by_ratio,
    called,
    facets,
    finish,
    index_of,
    multiples,
    name_ticks,
    said_of,
    scale_up,
)
from spillgate.plot.style import pens, styled, width_or
from spillgate.points import FULL, Axis, Point
from spillgate.result import Results
from spillgate.rows import Row

MOST_LINES = 12
"""So many lines are drawn unasked."""

Lines = dict[str, list[tuple[Point, Row]]]
"""By what a line is called: its points, ascending on the axis, and what was measured there."""


def sweep(
    results: Results,
    metric: str,
    axis: str,
    *,
    scope: str = "class",
    names: Sequence[str] | None = None,
    variants: Sequence[str] | None = None,
    rows: str = "",
    columns: str = "",
    log: bool | None = None,
    title: str = "",
) -> Figure:
    """A metric over the values of one axis with 95 % intervals: a line for all else that differs.

    Where the points are not all combinations of the axes' values, each is a mark by itself, in the
    color of its variant and name.

    Args:
        results: Of a scenario with axes; `results.where` chooses among its points.
        metric: Name of the metric.
        axis: The axis that goes to the right.
        scope: `class`, `dscp`, `queue`, `link`, `total` or `flow`.
        names: What to show, in this order; everything of the scope if not given.
        variants: Which variants, in this order; all if not given.
        rows: An axis whose values have a panel each, below each other.
        columns: An axis whose values have a panel each, side by side.
        log: Logarithmic values; if not given where one line dwarfs others.
        title: Above the figure.

    Raises:
        ValueError: If nothing matches, or more lines than can be told apart.
    """
    d = results.description
    along = index_of(d.axes, axis)
    across = d.axes[along]
    shown = facets(d, rows, columns, (axis,))
    lines = _lines(results, (scope, metric), along, names, variants, (axis, rows, columns))
    if not lines:
        raise ValueError(missing(metric, scope))
    cells = [r for line in lines.values() for _, r in line]
    scale = scale_for(cells[0].unit, [r.mean for r in cells])
    right = scale_for(across.unit or "", list(across.numbers or ()))
    heights = [[_value(r.mean, scale.factor) for _, r in line] for line in lines.values()]
    logarithmic = by_ratio(heights, log=log)
    unit = right.unit if across.numbers is not None else ""
    label = (
        said_of(axis, unit),
        said_of(label_of(metric), scale.unit, log=logarithmic),
    )
    with styled():
        figure, panels = multiples(
            shown, width=6.4, height=2.7 if len(shown) == 1 else 1.9, label=label
        )
        found = dict(zip(lines, pens(len(lines)), strict=True))
        handles: dict[str, Handle] = {}
        for panel, facet in zip(panels, shown, strict=True):
            here = {p.name for p in facet.points}
            for name, line in lines.items():
                part = [(p, r) for p, r in line if p.name in here]
                pen = found[name] if d.design == FULL else {**found[name], "linestyle": "none"}
                places = [_place(across, p.places[along], right.factor) for p, _ in part]
                handles[name] = _draw(panel, places, [r for _, r in part], scale.factor, pen)
            if across.numbers is None:
                beside = panel.get_subplotspec().get_gridspec().ncols  # type: ignore[union-attr]
                name_ticks(panel.xaxis, across.labels, (width_or(6.4) - 0.8) / beside - 0.15)
        for panel in panels:
            scale_up(panel, [h for of in heights for h in of], log=logarithmic)
        finish(figure, handles, title)
    return figure


def _draw(
    panel: Axes,
    places: Sequence[float],
    cells: Sequence[Row],
    factor: float,
    pen: Mapping[str, Any],
) -> Handle:
    """A line of means with their intervals."""
    means = [_value(r.mean, factor) for r in cells]
    halves = [_value(r.half or None, factor) for r in cells]
    return panel.errorbar(places, means, halves, markersize=3, capsize=2, **pen)


def _value(value: float | None, factor: float) -> float:
    return math.nan if value is None else value * factor


def _place(axis: Axis, index: int, factor: float) -> float:
    return float(index) if axis.numbers is None else axis.numbers[index] * factor


def _lines(
    results: Results,
    what: tuple[str, str],
    along: int,
    names: Sequence[str] | None,
    variants: Sequence[str] | None,
    said: Sequence[str],
) -> Lines:
    """The lines of a metric of a scope; `said` are axes that their names leave out."""
    d = results.description
    scope, metric = what
    rows = {
        (r.variant, r.name): r
        for r in results.table(scope=scope, metric=metric)
        if names is None or r.name in names
    }
    shown = list(names) if names is not None else list(dict.fromkeys(name for _, name in rows))
    wanted = list(dict.fromkeys(p.variant for p in d.points)) if variants is None else variants
    points = [p for v in wanted for p in d.points if p.variant == v]
    # Where the points are no grid, each axis differs from mark to mark.
    left_out = said if d.design == FULL else [a.name for a in d.axes]
    labels = called(d, points, left_out)
    several = len(set(labels.values())) > 1
    lines: Lines = {}
    for name in shown:
        for point in points:
            row = rows.get((point.name, name))
            if row is not None:
                parts = [name] if len(shown) > 1 or not several else []
                parts += [labels[point.name]] if several else []
                lines.setdefault(", ".join(parts), []).append((point, row))
    order = d.axes[along].numbers or range(len(d.axes[along].labels))
    return {
        n: sorted(line, key=lambda at: order[at[0].places[along]]) for n, line in lines.items()
    }
