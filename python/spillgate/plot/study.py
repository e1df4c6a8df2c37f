"""Studies at a glance: a metric over two axes, and delay against goodput."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse

from spillgate.labels import label_of
from spillgate.metrics import missing, scale_for
from spillgate.plot.layout import (
    Facet,
    by_ratio,
    called,
    facets,
    finish,
    fitted,
    index_of,
    multiples,
    said_of,
    small,
    text_size,
)
from spillgate.plot.style import pens, plain_numbers, shown_as, styled
from spillgate.points import FULL, Axis, Point
from spillgate.result import Results
from spillgate.rows import Row
from spillgate.statistics import covariance

_NUMBERED = 150
"""Up to so many cells have their values written in."""

_NUMBER = 7.0
"""Points of these values."""

Cells = dict[tuple[int, int], float]
"""Values by place to the right and place up."""


def heatmap(
    results: Results,
    metric: str,
    axes: tuple[str, str],
    name: str,
    *,
    scope: str = "class",
    variants: Sequence[str] | None = None,
    rows: str = "",
    columns: str = "",
    log: bool | None = None,
    title: str = "",
) -> Figure:
    """A metric over two axes as colors: a panel for each variant, or for values of other axes.

    Args:
        results: Of a scenario with axes, all combinations of which were run; `results.where`
            chooses among its points.
        metric: Name of the metric.
        axes: The axis that goes to the right, and the one that goes up.
        name: Of the class, queue, .. that is shown.
        scope: `class`, `dscp`, `queue`, `link`, `total` or `flow`.
        variants: Which variants, in this order; all if not given.
        rows: An axis whose values have a panel each, below each other; of one variant.
        columns: An axis whose values have a panel each, side by side; of one variant.
        log: Logarithmic colors; if not given where one panel dwarfs others.
        title: Above the figure.

    Raises:
        ValueError: If an axis is not there, cells have several points, or nothing matches.
    """
    d = results.description
    if d.design != FULL:
        msg = f"a heat map needs all combinations of two axes; the design is {d.design}"
        raise ValueError(msg)
    right, up = (index_of(d.axes, axis) for axis in axes)
    found = {r.variant: r for r in results.table(scope=scope, metric=metric) if r.name == name}
    wanted = list(dict.fromkeys(p.variant for p in d.points)) if variants is None else variants
    shown = (
        facets(d, rows, columns, axes)
        if rows or columns
        else [Facet(v, tuple(p for p in d.points if p.variant == v)) for v in wanted]
    )
    every = [
        (f, _cells([p for p in f.points if p.variant in wanted], found, right, up)) for f in shown
    ]
    every = [(f, cells) for f, cells in every if cells]
    if not every:
        raise ValueError(missing(metric, scope))
    known = [[x for x in cells.values() if x == x] for _, cells in every]
    scale = scale_for(next(iter(found.values())).unit, [x for of in known for x in of])
    values = [x * scale.factor for of in known for x in of]
    low, high = min(values, default=0.0), max(values, default=1.0)
    logarithmic = by_ratio(known, log=log) and low > 0.0
    across, along = d.axes[right], d.axes[up]
    with styled():
        figure, panels = multiples(
            [f for f, _ in every],
            width=min(9.6, 0.9 + 3.0 * len(every)),
            height=2.5 if len(every) == 1 else 2.1,
            label=(across.name, along.name),
        )
        for panel, (_, cells) in zip(panels, every, strict=True):
            table = [
                [cells.get((x, y), math.nan) * scale.factor for x in range(len(across.labels))]
                for y in range(len(along.labels))
            ]
            # Rectangles, not a picture: LaTeX shall need no further file.
            image = panel.pcolormesh(
                [x - 0.5 for x in range(len(across.labels) + 1)],
                [y - 0.5 for y in range(len(along.labels) + 1)],
                table,
                cmap="viridis",
                norm="log" if logarithmic else "linear",
                vmin=low,
                vmax=high if high > low else low + 1.0,
                edgecolors="face",
                linewidth=0.1,
            )
            panel.grid(visible=False)
        bar = figure.colorbar(image, ax=panels)
        # As a picture it would be a further file of LaTeX's.
        bar.solids.set(rasterized=False, edgecolor="face")  # type: ignore[union-attr]
        said = said_of(label_of(metric), scale.unit, log=logarithmic)
        bar.set_label(fitted(said, 0.9 * figure.get_figheight(), small() + 1.0))
        if logarithmic:
            plain_numbers(bar.ax.yaxis)
        finish(figure, {}, title)
        _ticks(figure, panels, across, along)
        if sum(len(cells) for _, cells in every) <= _NUMBERED:
            middle = low * (high / low) ** 0.55 if logarithmic else low + 0.55 * (high - low)
            _write_values(figure, panels, [(cells, scale.factor) for _, cells in every], middle)
    return figure


def _cells(points: Sequence[Point], rows: Mapping[str, Row], right: int, up: int) -> Cells:
    """The values of points by their places on two axes."""
    cells: Cells = {}
    for p in points:
        row = rows.get(p.name)
        if row is None:
            continue
        place = (p.places[right], p.places[up])
        if place in cells:
            msg = (
                "several points in one cell: choose some of them (where), or give the other axes "
                "panels (rows, columns)"
            )
            raise ValueError(msg)
        cells[place] = math.nan if row.mean is None else row.mean
    return cells


def _write_values(
    figure: Figure, panels: Sequence[Axes], tables: Sequence[tuple[Cells, float]], middle: float
) -> None:
    """Writes values into cells that are wide enough: dark on light ones, above `middle`."""
    figure.draw_without_rendering()
    for panel, (cells, factor) in zip(panels, tables, strict=True):
        texts = {at: _written(v * factor) for at, v in cells.items() if v == v}
        extent = panel.get_window_extent()
        places = abs(panel.get_xlim()[1] - panel.get_xlim()[0])
        floors = abs(panel.get_ylim()[1] - panel.get_ylim()[0])
        sizes = [text_size(t, _NUMBER) for t in texts.values()]
        widest = max((w for w, _ in sizes), default=0.0)
        wide, high = extent.width / figure.dpi / places, extent.height / figure.dpi / floors
        if widest > 0.85 * wide or high < 1.25 * _NUMBER / 72.0:
            continue
        for at, text in texts.items():
            color = "white" if cells[at] * factor < middle else "black"
            panel.text(*at, text, ha="center", va="center", fontsize=_NUMBER, color=color)


def _written(value: float) -> str:
    """Three digits, or all before the point.

    Example:
        >>> _written(0.01234), _written(1234.5)
        ('0.0123', '1234')
    """
    return f"{value:.0f}" if 1000.0 <= abs(value) < 1e6 else f"{value:.3g}"


def _ticks(figure: Figure, panels: Sequence[Axes], across: Axis, along: Axis) -> None:
    """As many names of values as have a place beside each other."""
    figure.draw_without_rendering()
    extent = panels[0].get_window_extent()
    wide, high = extent.width / figure.dpi, extent.height / figure.dpi
    for panel in panels:
        _some(panel.set_xticks, across, wide, lambda text: text_size(text, small())[0] + 0.06)
        _some(panel.set_yticks, along, high, lambda text: text_size(text, small())[1])


def _some(
    set_ticks: Callable[[list[int], list[str]], object],
    axis: Axis,
    inches: float,
    size: Callable[[str], float],
) -> None:
    each = max(size(shown_as(label)) for label in axis.labels)
    every = max(1, math.ceil(len(axis.labels) * each / inches))
    places = range(0, len(axis.labels), every)
    set_ticks(list(places), [shown_as(axis.labels[i]) for i in places])


def tradeoff(
    results: Results,
    name: str,
    *,
    delay: str = "owd_p95",
    gain: str = "throughput",
    variants: Sequence[str] | None = None,
    rows: str = "",
    columns: str = "",
    log: bool | None = None,
    title: str = "",
) -> Figure:
    """Delay against throughput of a class: better is up and to the right.

    A mark is the mean over the runs of a point, the ellipse around it one standard deviation of
    single runs (K. Winstein and H. Balakrishnan, TCP ex Machina, SIGCOMM 2013, figure 4). Delay
    falls to the right.

    Args:
        results: What was measured; `results.where` chooses among the points.
        name: The class.
        delay: A metric of which less is better.
        gain: A metric of which more is better.
        variants: Which points or variants, in this order; all if not given.
        rows: An axis whose values have a panel each, below each other.
        columns: An axis whose values have a panel each, side by side.
        log: Logarithmic delays; if not given where one point dwarfs others.
        title: Above the figure.

    Raises:
        ValueError: If nothing matches.
    """
    d = results.description
    wanted = list(d.points)
    if variants is not None:
        wanted = [p for v in variants for p in d.points if v in (p.name, p.variant)]
    found = _pairs(results, name, (delay, gain), wanted)
    measured = [results.table(scope="class", name=name, metric=m) for m in (delay, gain)]
    for metric, of in zip((delay, gain), measured, strict=True):
        if not of:
            raise ValueError(missing(metric, "class"))
    if not found:
        msg = f"{delay} and {gain} of {name} have no values in the same run"
        raise ValueError(msg)
    units = [of[0].unit for of in measured]
    scales = [
        scale_for(unit, [pair[k] for of in found.values() for pair in of])
        for k, unit in enumerate(units)
    ]
    logarithmic = by_ratio([[x for x, _ in of] for of in found.values()], log=log) and any(
        x > 0.0 for of in found.values() for x, _ in of
    )
    shown = facets(d, rows, columns, ())
    labels = called(d, [p for p in wanted if p.name in found], (rows, columns))
    with styled():
        label = (
            f"{said_of(label_of(delay), scales[0].unit, log=logarithmic)}, better to the right",
            said_of(label_of(gain), scales[1].unit),
        )
        figure, panels = multiples(
            shown, width=4.8, height=2.8 if len(shown) == 1 else 2.0, label=label
        )
        order = list(dict.fromkeys(labels[p] for p in found))
        look = dict(zip(order, pens(len(order)), strict=True))
        handles = {}
        for panel, facet in zip(panels, shown, strict=True):
            for p in (p for p in facet.points if p.name in found):
                pairs = [(x * scales[0].factor, y * scales[1].factor) for x, y in found[p.name]]
                mark = _mark(panel, pairs, look[labels[p.name]])
                handles[labels[p.name]] = mark
            panel.autoscale_view()
            panel.grid(visible=True, axis="both")
        if logarithmic:
            panels[0].set_xscale("log")
            delays = [x * scales[0].factor for of in found.values() for x, _ in of if x > 0.0]
            panels[0].set_xlim(min(delays) / 2.0, max(delays) * 2.0)
            for panel in panels:
                plain_numbers(panel.xaxis)
        # Scales are shared: turned once, they are turned in all panels.
        panels[0].invert_xaxis()
        finish(figure, {label: handles[label] for label in order}, title)
    return figure


def _pairs(
    results: Results, name: str, metrics: tuple[str, str], points: Sequence[Point]
) -> dict[str, list[tuple[float, float]]]:
    """The values of both metrics in each run, by point; without points that have none."""
    samples = {
        (s.variant, metric): [math.nan if x is None else x for x in s.values]
        for metric in metrics
        for s in results.samples(scope="class", metric=metric, name=name)
    }
    found = {}
    for p in points:
        both = (samples.get((p.name, metric), ()) for metric in metrics)
        pairs = [(x, y) for x, y in zip(*both, strict=False) if x == x and y == y]
        if pairs:
            found[p.name] = pairs
    return found


def _mark(panel: Axes, pairs: Sequence[tuple[float, float]], pen: Mapping[str, Any]) -> Line2D:
    """A mean with its ellipse."""
    (mx, my), (width, height, angle) = _ellipse([x for x, _ in pairs], [y for _, y in pairs])
    panel.add_patch(Ellipse((mx, my), width, height, angle=angle, alpha=0.25, color=pen["color"]))
    style = {"color": pen["color"], "marker": pen["marker"]}
    return panel.plot([mx], [my], linestyle="none", markersize=4, **style)[0]


def _ellipse(
    xs: Sequence[float], ys: Sequence[float]
) -> tuple[tuple[float, float], tuple[float, float, float]]:
    """Center, width, height and angle in degrees of one standard deviation around the mean.

    Example:
        >>> _ellipse([1.0, 3.0], [1.0, 3.0])
        ((2.0, 2.0), (4.0, 0.0, 45.0))
    """
    n = len(xs)
    mx, my = sum(xs) / n, sum(ys) / n
    if n < 2:
        return (mx, my), (0.0, 0.0, 0.0)
    a, b, c = covariance(xs, ys)
    # Eigenvalues of the covariance.
    half, root = (a + c) / 2.0, math.hypot((a - c) / 2.0, b)
    angle = math.degrees(0.5 * math.atan2(2.0 * b, a - c))
    ends = (2.0 * math.sqrt(half + root), 2.0 * math.sqrt(max(0.0, half - root)), angle)
    width, height, turned = (round(e, 12) for e in ends)
    return (mx, my), (width, height, turned)
