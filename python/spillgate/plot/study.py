"""Studies at a glance: a metric over two axes, and delay against goodput."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse

from spillgate.labels import label_of
from spillgate.metrics import missing, scale_for
from spillgate.plot.style import NotebookFigure, pens, plain_numbers, shown_as, styled
from spillgate.points import FULL, At, Axis, chosen
from spillgate.result import Results

_NUMBERED = 150
"""Up to so many cells have their values written in."""


def heatmap(
    results: Results,
    metric: str,
    axes: tuple[str, str],
    name: str,
    *,
    scope: str = "class",
    variants: Sequence[str] | None = None,
    at: At | None = None,
    log: bool = False,
    title: str = "",
) -> Figure:
    """A metric over two axes as colors: a panel for each variant.

    Args:
        results: Of a scenario with axes, all combinations of which were run.
        metric: Name of the metric.
        axes: The axis that goes to the right, and the one that goes up.
        name: Of the class, queue, .. that is shown.
        scope: `class`, `dscp`, `queue`, `link`, `total` or `flow`.
        variants: Which variants, in this order; all if not given.
        at: Coordinates on all other axes.
        log: Logarithmic colors.
        title: Above the figure.

    Raises:
        InputError: If `at` names no axis or value of the results.
        ValueError: If an axis is not there, cells have several points, or nothing matches.
    """
    d = results.description
    if d.design != FULL:
        msg = f"a heat map needs all combinations of two axes; the design is {d.design}"
        raise ValueError(msg)
    right, up = (_index(d.axes, axis) for axis in axes)
    among = chosen(d.axes, d.points, None, at)
    rows = {r.variant: r for r in results.table(scope=scope, metric=metric) if r.name == name}
    called = (
        list(variants)
        if variants is not None
        else list(dict.fromkeys(p.variant for p in d.points))
    )
    cells: dict[str, dict[tuple[int, int], float]] = {v: {} for v in called}
    for p in d.points:
        row = rows.get(p.name)
        if p.variant not in cells or row is None or not among(p.name):
            continue
        place = (p.places[right], p.places[up])
        if place in cells[p.variant]:
            msg = "several points in one cell: give coordinates on the other axes (at)"
            raise ValueError(msg)
        cells[p.variant][place] = math.nan if row.mean is None else row.mean
    cells = {v: of for v, of in cells.items() if of}
    if not cells:
        raise ValueError(missing(metric, scope))
    unit = next(iter(rows.values())).unit
    scale = scale_for(unit, [x for of in cells.values() for x in of.values()])
    across, along = d.axes[right], d.axes[up]
    with styled():
        figure = NotebookFigure(figsize=(0.9 + 3.0 * len(cells), 3.0), layout="constrained")
        panels = figure.subplots(1, len(cells), sharey=True, squeeze=False)[0]
        values = [x * scale.factor for of in cells.values() for x in of.values() if x == x]
        low, high = min(values, default=0.0), max(values, default=1.0)
        by_ratio = log and low > 0.0
        for panel, (variant, of) in zip(panels, cells.items(), strict=True):
            table = [
                [of.get((x, y), math.nan) * scale.factor for x in range(len(across.labels))]
                for y in range(len(along.labels))
            ]
            image = panel.imshow(
                table,
                origin="lower",
                aspect="auto",
                cmap="viridis",
                norm="log" if by_ratio else "linear",
                vmin=low,
                vmax=high if high > low else low + 1.0,
            )
            if len(of) <= _NUMBERED / len(cells):
                middle = low * (high / low) ** 0.55 if by_ratio else low + 0.55 * (high - low)
                _write_values(panel, table, middle)
            panel.grid(visible=False)
            _ticks(panel.set_xticks, across, 8)
            _ticks(panel.set_yticks, along, 12)
            panel.set_xlabel(shown_as(across.name))
            if variant:
                panel.set_title(shown_as(variant), fontsize=8, pad=3)
        panels[0].set_ylabel(shown_as(along.name))
        bar = figure.colorbar(image, ax=panels, label=f"{label_of(metric)} ({scale.unit})")
        if by_ratio:
            plain_numbers(bar.ax.yaxis)
        if title:
            figure.suptitle(shown_as(title), ha="left", x=0.02, fontsize=10)
    return figure


def _write_values(panel: Axes, table: Sequence[Sequence[float]], middle: float) -> None:
    """Writes values into cells: dark on light ones, which are those above `middle`."""
    for y, row in enumerate(table):
        for x, value in enumerate(row):
            if value == value:
                panel.text(
                    *(x, y, f"{value:.3g}"),
                    ha="center",
                    va="center",
                    fontsize=7,
                    color="white" if value < middle else "black",
                )


def _ticks(set_ticks: Callable[[list[int], list[str]], object], axis: Axis, most: int) -> None:
    every = max(1, math.ceil(len(axis.labels) / most))
    places = range(0, len(axis.labels), every)
    set_ticks(list(places), [shown_as(axis.labels[i]) for i in places])


def _index(axes: Sequence[Axis], name: str) -> int:
    names = [a.name for a in axes]
    if name not in names:
        msg = f"there is no axis {name!r}; there are: {', '.join(names) or 'none'}"
        raise ValueError(msg)
    return names.index(name)


def tradeoff(
    results: Results,
    name: str,
    *,
    delay: str = "owd_p95",
    gain: str = "throughput",
    variants: Sequence[str] | None = None,
    at: At | None = None,
    title: str = "",
) -> Figure:
    """Delay against throughput of a class: better is up and to the right.

    A mark is the mean over the runs of a point, the ellipse around it one standard deviation of
    single runs (K. Winstein and H. Balakrishnan, TCP ex Machina, SIGCOMM 2013, figure 4). Delay
    falls to the right.

    Args:
        results: What was measured.
        name: The class.
        delay: A metric of which less is better.
        gain: A metric of which more is better.
        variants: Which points or variants, in this order; all if not given.
        at: Coordinates on axes.
        title: Above the figure.

    Raises:
        InputError: If `at` names no axis or value of the results.
        ValueError: If nothing matches.
    """
    d = results.description
    among = chosen(d.axes, d.points, None, at)
    wanted = [p for p in d.points if among(p.name)]
    if variants is not None:
        wanted = [p for v in variants for p in wanted if v in (p.name, p.variant)]
    samples = {
        (s.variant, metric): [math.nan if x is None else x for x in s.values]
        for metric in (delay, gain)
        for s in results.samples(scope="class", metric=metric, name=name)
    }
    found = {}
    for p in wanted:
        both = (samples.get((p.name, metric), ()) for metric in (delay, gain))
        pair = [(x, y) for x, y in zip(*both, strict=False) if x == x and y == y]
        if pair:
            found[p.name] = pair
    if not found:
        raise ValueError(missing(delay, "class"))
    metrics = {(r.variant, r.metric): r for r in results.classes() if r.name == name}
    units = [metrics[next(iter(found)), m].unit for m in (delay, gain)]
    scales = [
        scale_for(unit, [pair[k] for of in found.values() for pair in of])
        for k, unit in enumerate(units)
    ]
    with styled():
        figure = NotebookFigure(figsize=(4.8, 3.4))
        panel = figure.add_subplot()
        for (label, pairs), pen in zip(found.items(), pens(len(found)), strict=True):
            xs = [x * scales[0].factor for x, _ in pairs]
            ys = [y * scales[1].factor for _, y in pairs]
            (mx, my), (width, height, angle) = _ellipse(xs, ys)
            panel.add_patch(
                Ellipse((mx, my), width, height, angle=angle, alpha=0.25, color=pen["color"])
            )
            panel.plot(
                [mx],
                [my],
                linestyle="none",
                label=shown_as(label),
                markersize=4,
                color=pen["color"],
                marker=pen["marker"],
            )
        panel.autoscale_view()
        panel.invert_xaxis()
        panel.grid(visible=True, axis="both")
        panel.set_xlabel(f"{label_of(delay)} ({scales[0].unit}),\nbetter to the right")
        panel.set_ylabel(f"{label_of(gain)} ({scales[1].unit})")
        if len(found) > 1:
            panel.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.4)
        if title:
            panel.set_title(shown_as(title))
    return figure


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
    a = sum((x - mx) ** 2 for x in xs) / (n - 1)
    c = sum((y - my) ** 2 for y in ys) / (n - 1)
    b = sum((x - mx) * (y - my) for x, y in zip(xs, ys, strict=True)) / (n - 1)
    # Eigenvalues of the covariance.
    half, root = (a + c) / 2.0, math.hypot((a - c) / 2.0, b)
    angle = math.degrees(0.5 * math.atan2(2.0 * b, a - c))
    ends = (2.0 * math.sqrt(half + root), 2.0 * math.sqrt(max(0.0, half - root)), angle)
    width, height, turned = (round(e, 12) for e in ends)
    return (mx, my), (width, height, turned)
