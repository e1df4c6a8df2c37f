"""A metric over an axis of the points."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from spillgate.labels import label_of
from spillgate.metrics import missing, scale_for
from spillgate.plot.style import NotebookFigure, pens, plain_numbers, shown_as, styled
from spillgate.points import FULL, At, Axis, Point, chosen
from spillgate.result import Results
from spillgate.rows import Row

MOST_LINES = 12
"""So many lines are drawn unasked."""


def sweep(
    results: Results,
    metric: str,
    axis: str,
    *,
    scope: str = "class",
    names: Sequence[str] | None = None,
    variants: Sequence[str] | None = None,
    at: At | None = None,
    log: bool = False,
    title: str = "",
) -> Figure:
    """A metric over the values of one axis with 95 % intervals: a line for all else that differs.

    Where the points are not all combinations of the axes' values, each is a mark by itself, in the
    color of its variant and name.

    Args:
        results: Of a scenario with axes.
        metric: Name of the metric.
        axis: The axis that goes to the right.
        scope: `class`, `dscp`, `queue`, `link`, `total` or `flow`.
        names: What to show, in this order; everything of the scope if not given.
        variants: Which variants, in this order; all if not given.
        at: Coordinates on the other axes; all of them if not given.
        log: Logarithmic values, where one variant dwarfs the others.
        title: Above the figure.

    Raises:
        InputError: If `at` names no axis or value of the results.
        ValueError: If nothing matches, or more lines than can be told apart.
    """
    d = results.description
    along = next((i for i, a in enumerate(d.axes) if a.name == axis), None)
    if along is None:
        there = ", ".join(a.name for a in d.axes) or "none"
        msg = f"there is no axis {axis!r}; there are: {there}"
        raise ValueError(msg)
    among = chosen(d.axes, d.points, None, at)
    whole = d.design == FULL
    rows = {
        (r.variant, r.name): r
        for r in results.table(scope=scope, metric=metric)
        if names is None or r.name in names
    }
    wanted = [p for p in d.points if among(p.name)]
    lines = _lines(d.axes, wanted, along, variants, rows, names, whole=whole)
    if not lines:
        raise ValueError(missing(metric, scope))
    cells = [r for line in lines.values() for _, r in line]
    scale = scale_for(cells[0].unit, [r.mean for r in cells])
    across = d.axes[along]
    right = scale_for(across.unit or "", list(across.numbers or ()))
    with styled():
        figure = NotebookFigure(figsize=(6.4, 3.2))
        axes = figure.add_subplot()
        for (label, line), pen in zip(lines.items(), pens(len(lines)), strict=True):
            places = [_place(across, i, right.factor) for i, _ in line]
            means = [math.nan if r.mean is None else r.mean * scale.factor for _, r in line]
            halves = [r.half * scale.factor if r.half else math.nan for _, r in line]
            axes.errorbar(
                places,
                means,
                halves,
                label=shown_as(label),
                markersize=3,
                capsize=2,
                **(pen if whole else {**pen, "linestyle": "none"}),
            )
        if across.numbers is None:
            axes.set_xticks(range(len(across.labels)), [shown_as(v) for v in across.labels])
        unit = f" ({right.unit})" if across.numbers is not None and right.unit else ""
        axes.set_xlabel(f"{shown_as(axis)}{unit}")
        axes.set_ylabel(f"{label_of(metric)} ({scale.unit})")
        if log:
            axes.set_yscale("log")
            plain_numbers(axes.yaxis)
        elif any(r.mean for r in cells):
            axes.set_ylim(bottom=0)
        else:
            axes.set_ylim(0, 1)
        if len(lines) > 1:
            axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.4)
        if title:
            axes.set_title(shown_as(title))
    return figure


def _place(axis: Axis, index: int, factor: float) -> float:
    return float(index) if axis.numbers is None else axis.numbers[index] * factor


def _lines(
    axes: Sequence[Axis],
    points: Sequence[Point],
    along: int,
    variants: Sequence[str] | None,
    rows: dict[tuple[str, str], Row],
    names: Sequence[str] | None,
    *,
    whole: bool,
) -> dict[str, list[tuple[int, Row]]]:
    """By what a line is called: its rows with the place on the axis, ascending."""
    shown = list(names) if names is not None else list(dict.fromkeys(name for _, name in rows))
    wanted = (
        list(variants) if variants is not None else list(dict.fromkeys(p.variant for p in points))
    )
    fixed = [i for i in range(len(axes)) if i != along and whole]
    # What is the same everywhere need not be said.
    fixed = [i for i in fixed if len({p.places[i] for p in points}) > 1]
    lines: dict[str, list[tuple[int, Row]]] = {}
    for name in shown:
        for variant in wanted:
            for point in (p for p in points if p.variant == variant):
                row = rows.get((point.name, name))
                if row is None:
                    continue
                parts = [name] if len(shown) > 1 else []
                parts += [variant] if len(wanted) > 1 else []
                parts += [f"{axes[i].name}={axes[i].labels[point.places[i]]}" for i in fixed]
                line = lines.setdefault(", ".join(parts) or name, [])
                line.append((point.places[along], row))
    order = axes[along].numbers or range(len(axes[along].labels))
    return {label: sorted(line, key=lambda item: order[item[0]]) for label, line in lines.items()}
