"""Bars, time lines and distribution curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter

from spillgate.labels import label_of
from spillgate.metrics import missing, scale_for
from spillgate.plot.style import NotebookFigure, palette, pens, shown_as, styled
from spillgate.result import Results
from spillgate.rows import Row


def _ordered(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _figure(groups: int, series: int) -> tuple[Figure, Axes]:
    width = min(14.0, max(6.0, 1.2 + groups * max(0.55, 0.17 * series)))
    figure = NotebookFigure(figsize=(width, 3.2))
    return figure, figure.add_subplot()


def _wrapped(name: str, room: int) -> str:
    """Breaks long names at their hyphens, so that neighbors do not overlap."""
    lines = [""]
    for part in name.replace("-", "-\0").replace(" ", " \0").split("\0"):
        if lines[-1] and len(lines[-1]) + len(part) > room:
            lines.append(part)
        else:
            lines[-1] += part
    return "\n".join(line.strip() for line in lines)


def _legend_and_title(axes: Axes, count: int, shades: int, title: str) -> None:
    # Filled column by column: series of one hue stand below each other.
    rows = shades if shades > 1 else 1 if count <= 6 else 2
    if count > 1:
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            ncols=math.ceil(count / rows),
            borderaxespad=0.2,
        )
    if title:
        axes.set_title(shown_as(title), pad=6 + 13 * rows if count > 1 else 6)


def bars(
    results: Results,
    metric: str,
    *,
    scope: str = "class",
    names: Sequence[str] | None = None,
    variants: Sequence[str] | Mapping[str, str] | None = None,
    x: Literal["variant", "name"] = "variant",
    shades: int = 1,
    log: bool = False,
    title: str = "",
) -> Figure:
    """Grouped bars of one metric with 95 % intervals.

    Args:
        results: What was measured.
        metric: Name of the metric.
        scope: `class`, `dscp`, `queue`, `link`, `total` or `flow`.
        names: What to show, in this order; everything of the scope if not given.
        variants: Which variants, in this order, with what they are called if that differs; all if
            not given.
        x: Whether a group of bars is a variant or a name.
        shades: This many consecutive series share a hue.
        log: Logarithmic values.
        title: Above the figure.

    Raises:
        ValueError: If nothing matches.
    """
    rows = results.table(scope=scope, metric=metric)
    if not rows:
        raise ValueError(missing(metric, scope))
    all_names = _ordered([r.name for r in rows])
    all_variants = list(results.description.variants)
    shown = list(names) if names is not None else all_names
    chosen = list(variants) if variants is not None else all_variants
    for wanted, known, what in ((shown, all_names, scope), (chosen, all_variants, "variant")):
        for name in wanted:
            if name not in known:
                msg = f"there is no {what} {name!r}; there are {', '.join(known)}"
                raise ValueError(msg)
    by = {(r.variant, r.name): r for r in rows}
    scale = scale_for(rows[0].unit, [r.mean for r in rows if r.name in shown])
    called = variants if isinstance(variants, Mapping) else {}
    groups, series = (chosen, shown) if x == "variant" else (shown, chosen)
    with styled():
        figure, axes = _figure(len(groups), len(series))
        width = 0.8 / len(series)
        for k, (one, (color, hatch)) in enumerate(
            zip(series, palette(len(series), shades), strict=True)
        ):
            cells = [by.get((g, one) if x == "variant" else (one, g)) for g in groups]
            places = [i + (k - (len(series) - 1) / 2) * width for i in range(len(groups))]
            _bar_series(
                axes, places, cells, width, scale.factor, called.get(one, one), color, hatch
            )
        # About 0.08 inches a letter, of what a group has beside the axis.
        room = max(6, min(12, int((figure.get_figwidth() - 1.2) / len(groups) / 0.08)))
        axes.set_xticks(
            range(len(groups)), [_wrapped(shown_as(called.get(g, g)), room) for g in groups]
        )
        axes.grid(visible=False, axis="x")
        axes.margins(x=0.02)
        axes.set_ylabel(f"{label_of(metric)} ({scale.unit})")
        if log:
            axes.set_yscale("log")
        elif not any(r.mean for r in rows if r.name in shown and r.variant in chosen):
            axes.set_ylim(0, 1)
        else:
            axes.set_ylim(bottom=0)
        _legend_and_title(axes, len(series), shades, title)
    return figure


def _bar_series(
    axes: Axes,
    places: Sequence[float],
    cells: Sequence[Row | None],
    width: float,
    factor: float,
    label: str,
    color: str | tuple[float, float, float],
    hatch: str,
) -> None:
    heights = [math.nan if c is None or c.mean is None else c.mean * factor for c in cells]
    # Without a width there is nothing to draw; a zero would leave a dash.
    errors = [c.half * factor if c is not None and c.half else math.nan for c in cells]
    axes.bar(
        places,
        heights,
        width * 0.92,
        label=shown_as(label),
        color=color,
        edgecolor="white",
        hatch=hatch,
        yerr=errors,
        error_kw={"ecolor": "#222222", "elinewidth": 0.9},
    )
    for place, height in zip(places, heights, strict=True):
        if height == 0.0 and len(places) <= 12:
            axes.annotate("0", (place, 0), ha="center", va="bottom", fontsize=7, color="#444444")


def timeline(
    results: Results,
    metric: str = "backlog_packets",
    *,
    where: Sequence[str] | None = None,
    variants: Sequence[str] | None = None,
    title: str = "",
) -> Figure:
    """Time series of the first run, one panel a variant.

    Args:
        results: What was measured.
        metric: Name of the sampled metric.
        where: Which places; those that are ever above zero if not given, at most eight.
        variants: Which variants; all if not given.
        title: Above the figure.

    Raises:
        ValueError: If nothing matches.
    """
    series = list(results.series(metric=metric))
    chosen = list(variants) if variants is not None else list(results.description.variants)
    series = [s for s in series if s.variant in chosen]
    if where is None:
        peak: dict[str, float] = {}
        for s in series:
            peak[s.where] = max(peak.get(s.where, 0.0), s.peak)
        busiest = sorted((p for p in peak if peak[p] > 0.0), key=lambda p: -peak[p])[:8]
        places = [p for p in peak if p in busiest]
    else:
        places = list(where)
    wanted = [s for s in series if where is None or s.where in where]
    unknown = next((s.where for s in wanted if any(map(math.isnan, s.v))), None)
    series = [s for s in series if s.where in places]
    if unknown and not any(s.peak for s in wanted):
        msg = f"{metric} of {unknown} is undefined whenever it is not zero"
        if metric == "queue_delay":
            msg += ": its scheduler does not tell which packet goes next; take backlog_bytes"
        raise ValueError(msg)
    if not series:
        there = ", ".join(dict.fromkeys(s.metric for s in results.series())) or "none"
        msg = f"there is no time series of {metric!r} above zero; sampled are: {there}"
        raise ValueError(msg)
    chosen = [v for v in chosen if any(s.variant == v for s in series)]
    scale = scale_for(series[0].unit, [s.peak for s in series])
    with styled():
        figure = NotebookFigure(figsize=(6.4, 0.9 + 1.25 * len(chosen)))
        tops = [max(s.peak for s in series if s.variant == c) for c in chosen]
        # One scale makes panels comparable, unless it flattens some of them.
        alike = max(tops) <= 8 * min(tops)
        panels = figure.subplots(len(chosen), 1, sharex=True, sharey=alike, squeeze=False)[:, 0]
        found = dict(zip(places, pens(len(places)), strict=True))
        for panel, variant in zip(panels, chosen, strict=True):
            for s in (s for s in series if s.variant == variant):
                values = [v * scale.factor for v in s.v]
                panel.plot(s.t, values, label=shown_as(s.where), **_plain(found[s.where]))
            _mark_failures(panel, results)
            panel.set_title(shown_as(variant), fontsize=8, pad=3)
        for panel, top in zip(panels, tops, strict=True):
            highest = (max(tops) if alike else top) * scale.factor
            panel.set_ylim(0, 1.08 * highest or 1)
        panels[-1].set_xlabel("time (s)")
        figure.supylabel(f"{label_of(metric)} ({scale.unit})", fontsize=9)
        handles: dict[object, Artist] = {
            line.get_label(): line for panel in panels for line in panel.get_lines()
        }
        shown = [p for p in map(shown_as, places) if p in handles]
        if results.description.failures:
            handles[_DOWN] = Patch(color=_DOWN_COLOR)
            shown.append(_DOWN)
        figure.legend(
            [handles[p] for p in shown],
            shown,
            loc="upper left",
            bbox_to_anchor=(0.98, 0.95),
            borderaxespad=0.0,
        )
        figure.tight_layout()
        if title:
            y = 1.0 + 0.05 / figure.get_figheight()
            figure.suptitle(shown_as(title), x=0.02, y=y, ha="left", va="bottom", fontsize=10)
    return figure


def _plain(pen: Mapping[str, Any]) -> dict[str, Any]:
    """A pen without markers, for curves of many points."""
    return {k: v for k, v in pen.items() if k != "marker"}


_DOWN = "a link is down"
_DOWN_COLOR = "#dddddd"


def _mark_failures(panel: Axes, results: Results) -> None:
    for begin, end, _ in results.description.outages():
        panel.axvspan(begin, end, color=_DOWN_COLOR, linewidth=0, zorder=0)


def ccdf(
    results: Results,
    *,
    names: Sequence[str] | None = None,
    variants: Sequence[str] | None = None,
    title: str = "",
) -> Figure:
    """How many packets are delayed by more than x, one panel a class.

    Args:
        results: What was measured.
        names: Which classes, in this order; all if not given.
        variants: Which variants; all if not given.
        title: Above the figure.

    Raises:
        ValueError: If nothing matches.
    """
    chosen = list(variants) if variants is not None else list(results.description.variants)
    curves = [d for d in results.distributions() if d.variant in chosen and any(d.owd)]
    classes = list(names) if names is not None else _ordered([d.cls for d in curves])
    curves = [d for d in curves if d.cls in classes]
    if not curves:
        msg = "there is no delay distribution"
        raise ValueError(msg)
    classes = [c for c in classes if any(d.cls == c for d in curves)]
    scale = scale_for("s", [v for d in curves for v in d.owd])
    with styled():
        delays = [v for d in curves for v in d.owd if v]
        wide = max(delays) > 20 * min(delays)
        columns = min(3, len(classes))
        rows = math.ceil(len(classes) / columns)
        figure = NotebookFigure(figsize=(max(4.6, 2.7 * columns), 0.7 + 2.1 * rows))
        grid = figure.subplots(rows, columns, sharex=wide, sharey=True, squeeze=False).flatten()
        found = dict(zip(chosen, pens(len(chosen)), strict=True))
        for panel, cls in zip(grid, classes, strict=False):
            for d in (d for d in curves if d.cls == cls):
                points = [
                    (v * scale.factor, 1.0 - q)
                    for q, v in zip(d.q, d.owd, strict=True)
                    if v is not None and q < 1.0
                ]
                panel.plot(
                    [p[0] for p in points],
                    [p[1] for p in points],
                    **_plain(found[d.variant]),
                    label=shown_as(d.variant),
                )
            panel.set_yscale("log")
            if wide:
                panel.set_xscale("log")
                panel.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
                panel.tick_params(labelbottom=True)
            panel.set_title(shown_as(cls), fontsize=8, pad=3)
            panel.set_xlabel(f"one-way delay x ({scale.unit})")
            panel.grid(visible=True, axis="both")
        for panel in grid[len(classes) :]:
            panel.set_visible(False)
        for panel in grid[::columns]:
            panel.set_ylabel("packets later than x")
        labels = {line.get_label(): line for p in grid for line in p.get_lines()}
        shown = [v for v in map(shown_as, chosen) if v in labels]
        if len(shown) > 1:
            figure.legend(
                [labels[v] for v in shown],
                shown,
                loc="lower center",
                bbox_to_anchor=(0.5, 0.99),
                ncols=min(5, len(shown)),
            )
        figure.tight_layout()
        if title:
            above = 0.34 if len(shown) > 1 else 0.12
            y = 1.0 + above / figure.get_figheight()
            figure.suptitle(shown_as(title), x=0.02, y=y, ha="left", va="bottom", fontsize=10)
    return figure
