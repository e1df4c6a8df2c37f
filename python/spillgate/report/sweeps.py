"""What classes got along axes.

Of all combinations of values: a chart a class, with a curve for each place on the other axes. Of
other designs: a chart for each class and axis, with a dot for each point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spillgate.labels import short_of
from spillgate.metrics import Scale, column_decimals, format_cell, format_value, scale_for
from spillgate.points import Axis as Place
from spillgate.points import Grid, grid
from spillgate.report.figure import Figure
from spillgate.report.svg import STYLES, Level, Line, Panel
from spillgate.report.svg import Axis as Along
from spillgate.result import Results
from spillgate.rows import Row
from spillgate.tables import Table

METRICS = ("owd_p99", "loss_ratio", "throughput", "goodput", "mos")
"""What is drawn, as far as classes have it; more with `--figures`."""

Cells = Mapping[tuple[str, str], Row]
"""Rows of one metric by class and point."""


def sweep_figures(results: Results) -> list[Figure]:
    """A figure for each metric, if the last axis is one of numbers with two of them or more.

    Where not all combinations are run, each such axis has charts of its own.
    """
    d = results.description
    along = grid(d.axes, d.points, d.design)
    if along is None:
        return []
    across = [
        (i, a)
        for i, a in enumerate(d.axes)
        if a.numbers is not None and len(set(a.numbers)) > 1 and (along.listed or a is along.axis)
    ]
    if not across:
        return []
    cells: dict[str, dict[tuple[str, str], Row]] = {m: {} for m in METRICS}
    for row in results.classes():
        if row.metric in cells and row.mean is not None:
            cells[row.metric][row.name, row.variant] = row
    if along.listed:
        return [_scatter(results, across, m, of) for m, of in cells.items() if of]
    return [_figure(results, along, m, of) for m, of in cells.items() if of]


def _scatter(
    results: Results, across: Sequence[tuple[int, Place]], metric: str, cells: Cells
) -> Figure:
    """A dot for each point, over each axis: how much it matters, whatever the others are."""
    d = results.description
    variants = list(dict.fromkeys(p.variant for p in d.points))
    shown = variants[:STYLES]
    scale = scale_for(next(iter(cells.values())).unit, [r.mean for r in cells.values()])
    classes = [c for c in d.classes if any(name == c for name, _ in cells)]
    panels = []
    for cls in classes:
        levels, most = _levels(results, cls, metric, scale, cells)
        for index, axis in across:
            right = scale_for(axis.unit or "", axis.numbers or ())
            at = [n * right.factor for n in axis.numbers or ()]
            lines = []
            for style, variant in enumerate(shown):
                found = [
                    (at[p.places[index]], _of(row.mean, scale))
                    for p in d.points
                    if p.variant == variant and (row := cells.get((cls, p.name)))
                ]
                apart = [one for dot in sorted(found) for one in (dot, None)]
                lines.append(Line(variant or cls, style, apart, dots=True))
            panels.append(
                Panel(
                    title=f"{cls}, over {axis.name}",
                    x=Along(min(at), max(at), axis.name, right.unit if axis.unit else ""),
                    y=Along(0.0, most * 1.05 or 1.0, short_of(metric), scale.unit),
                    lines=lines,
                    levels=levels,
                    summary=f"{len(d.points)} points",
                )
            )
    left_out = len(variants) - len(shown)
    listing = grid(d.axes, d.points, d.design)
    assert listing is not None  # noqa: S101 - there are axes
    return Figure(
        id=f"along-{metric}",
        title=f"{short_of(metric).capitalize()} at the points of the design",
        caption="A dot is the mean over the runs at one point."
        + (f" The first {len(shown)} of {len(variants)} variants." if left_out else ""),
        panels=panels,
        legend=[(n, i) for i, n in enumerate(shown)] if len(shown) > 1 else [],
        table=_table(results, listing, cells, scale),
        group=f"along-{metric}",
        notes=[("level", "required")] if any(p.levels for p in panels) else [],
    )


def _figure(results: Results, along: Grid, metric: str, cells: Cells) -> Figure:
    rows = along.rows[:STYLES]
    names = [_name(along, row) for row, _ in rows]
    scale = scale_for(next(iter(cells.values())).unit, [r.mean for r in cells.values()])
    several = any(r.low is not None for r in cells.values())
    left_out = len(along.rows) - len(rows)
    panels = [
        _panel(results, along, cls, metric, cells, scale)
        for cls in results.description.classes
        if any(name == cls for name, _ in cells)
    ]
    levels = [("level", "required")] if any(p.levels for p in panels) else []
    return Figure(
        id=f"along-{metric}",
        title=f"{short_of(metric).capitalize()} against {along.axis.name}",
        caption=f"Means over the runs at each value of {along.axis.name}."
        + (f" The first {len(rows)} of {len(along.rows)} curves." if left_out else ""),
        panels=panels,
        legend=[(n, i) for i, n in enumerate(names)] if len(names) > 1 else [],
        table=_table(results, along, cells, scale),
        group=f"along-{metric}",
        notes=[*([("band", "95 % interval of the mean")] if several else []), *levels],
    )


def _name(along: Grid, names: Sequence[str]) -> str:
    """`LLQ, speedup 1.5`."""
    parts = [
        name if head == "variant" else f"{head} {name}"
        for head, name in zip(along.heads, names, strict=True)
    ]
    return ", ".join(parts)


def _panel(
    results: Results, along: Grid, cls: str, metric: str, cells: Cells, scale: Scale
) -> Panel:
    numbers = along.axis.numbers or ()
    across = scale_for(along.axis.unit or "", numbers)
    at = [n * across.factor for n in numbers]
    lines, summary, values = [], [], []
    for style, (names, points) in enumerate(along.rows[:STYLES]):
        found = sorted(
            (x, row) for x, p in zip(at, points, strict=True) if (row := cells.get((cls, p or "")))
        )
        curve = [(x, _of(row.mean, scale)) for x, row in found]
        band: list[tuple[float, float]] = []
        if found and all(row.low is not None and row.high is not None for _, row in found):
            band = [(x, _of(row.high, scale)) for x, row in found]
            # None of these metrics can be below 0, whatever a symmetric interval says.
            band += [(x, max(0.0, _of(row.low, scale))) for x, row in reversed(found)]
        values += [y for _, y in (*curve, *band)]
        name = _name(along, names)
        lines.append(Line(name, style, curve, band))
        if found:
            first, last = found[0][1], found[-1][1]
            told = (
                f"{format_value(first.mean, first.unit)} to {format_value(last.mean, last.unit)}"
            )
            summary.append(f"{name}: {told}")
    levels, most = _levels(results, cls, metric, scale, cells, values)
    return Panel(
        title=cls,
        x=Along(min(at), max(at), along.axis.name, across.unit if along.axis.unit else ""),
        y=Along(0.0, most * 1.05 or 1.0, short_of(metric), scale.unit),
        lines=lines,
        levels=levels,
        summary="; ".join(summary),
    )


def _levels(
    results: Results,
    cls: str,
    metric: str,
    scale: Scale,
    cells: Cells,
    values: Sequence[float] = (),
) -> tuple[list[Level], float]:
    """What is required of a class, and the largest value that a chart shows."""
    bounds = {
        v.requirement: v.bound
        for v in results.verdicts
        if (v.cls, v.metric) == (cls, metric) and v.customer is None
    }
    levels = [Level(b * scale.factor, text) for text, b in bounds.items()]
    values = values or [_of(r.mean, scale) for (name, _), r in cells.items() if name == cls]
    most = max(values, default=1.0)
    # A bound far beyond everything would hide the curves.
    levels = [one for one in levels if one.y <= 3.0 * most]
    return levels, max([most, *(one.y for one in levels)])


def _of(value: float | None, scale: Scale) -> float:
    return (value or 0.0) * scale.factor


def _table(results: Results, along: Grid, cells: Cells, scale: Scale) -> Table:
    decimals = column_decimals(scale, [r.mean for r in cells.values()])

    def text(row: Row | None) -> str:
        return "–" if row is None else format_cell(row.mean, row.half, scale, decimals)

    return Table(
        ["class", *along.heads, *(f"{along.axis.name} {v}".strip() for v in along.axis.labels)],
        [
            [cls, *names, *(text(cells.get((cls, p or ""))) for p in points)]
            for cls in results.description.classes
            for names, points in along.rows
            if any(name == cls for name, _ in cells)
        ],
        names=1 + len(along.heads),
    )
