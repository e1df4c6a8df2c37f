"""Bars and time lines."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from spillgate.labels import label_of
from spillgate.metrics import missing, scale_for
from spillgate.plot.layout import (
    Facet,
    Handle,
    by_ratio,
    finish,
    fitted,
    least_shown,
    multiples,
    name_ticks,
    new_figure,
    said_of,
    text_size,
)
from spillgate.plot.style import palette, pens, plain, plain_numbers, shown_as, styled, width_or
from spillgate.result import Results
from spillgate.rows import Row

_ZERO = 7.0
"""Points of the zero where there is no bar."""


def _ordered(names: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(names))


def bars(
    results: Results,
    metric: str,
    *,
    scope: str = "class",
    names: Sequence[str] | None = None,
    variants: Sequence[str] | Mapping[str, str] | None = None,
    x: Literal["variant", "name"] = "variant",
    shades: int = 1,
    log: bool | None = None,
    title: str = "",
) -> Figure:
    """Grouped bars of one metric with 95 % intervals.

    They lie where the names of groups have no place below them.

    Args:
        results: What was measured.
        metric: Name of the metric.
        scope: `class`, `dscp`, `queue`, `link`, `total` or `flow`.
        names: What to show, in this order; everything of the scope if not given.
        variants: Which variants, in this order, with what they are called if that differs; all if
            not given.
        x: Whether a group of bars is a variant or a name.
        shades: This many consecutive series share a hue.
        log: Logarithmic values; if not given where one of the series dwarfs others.
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
    heights = [[_height(by, x, g, one) * scale.factor for g in groups] for one in series]
    logarithmic = by_ratio(heights, log=log)
    names_of = [called.get(g, g) for g in groups]
    with styled():
        figure, axes, lying = _bars_figure(names_of, len(series))
        width = 0.8 / len(series)
        # Inches of a bar across: a zero is written where it has a place.
        across = (figure.get_figheight() if lying else figure.get_figwidth()) - 0.9
        zero = text_size(" 0 ", _ZERO)[1 if lying else 0]
        marked = across / len(groups) * width > zero
        handles: dict[str, Handle] = {}
        for k, (one, look) in enumerate(zip(series, palette(len(series), shades), strict=True)):
            cells = [by.get((g, one) if x == "variant" else (one, g)) for g in groups]
            # Without a width there is nothing to draw; a zero would leave a dash.
            errors = [
                c.half * scale.factor if c is not None and c.half else math.nan for c in cells
            ]
            places = [i + (k - (len(series) - 1) / 2) * width for i in range(len(groups))]
            drawn = _Bars(places, heights[k], errors, width, lying=lying, marked=marked)
            handles[called.get(one, one)] = drawn.draw(axes, called.get(one, one), look)
        said = said_of(label_of(metric), scale.unit, log=logarithmic)
        _bars_scale(axes, said, [h for of in heights for h in of], log=logarithmic, lying=lying)
        finish(figure, handles, title)
    return figure


def _height(by: Mapping[tuple[str, str], Row], x: str, group: str, one: str) -> float:
    row = by.get((group, one) if x == "variant" else (one, group))
    return math.nan if row is None or row.mean is None else row.mean


def _bars_figure(groups: Sequence[str], series: int) -> tuple[Figure, Axes, bool]:
    """A figure with the names of groups of bars, its axes, and whether the bars lie."""
    width = width_or(min(14.0, max(6.0, 1.2 + len(groups) * max(0.55, 0.17 * series))))
    size = float(mpl.rcParams["xtick.labelsize"])
    room = (width - 0.9) / len(groups)
    words = [w for g in groups for w in re.split(r"[\s,/-]", g)]
    widest = max(text_size(word, size)[0] for word in words)
    lying = widest > room - 0.04 or any(
        fitted(g, room - 0.04, size).count("\n") > 2 for g in groups
    )
    if not lying:
        figure = new_figure(width, 3.2)
        axes = figure.add_subplot()
        name_ticks(axes.xaxis, groups, width - 0.9)
        axes.margins(x=0.02)
        return figure, axes, lying
    names = [fitted(g, 0.38 * width, size) for g in groups]
    lines = max(text_size(name, size)[1] for name in names)
    pitch = max(lines + 0.03, 0.09 * series + 0.05)
    figure = new_figure(width, 0.7 + pitch * len(groups))
    axes = figure.add_subplot()
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    return figure, axes, lying


@dataclass(frozen=True)
class _Bars:
    """The bars of one series, upright or lying; `marked`: zeros are written."""

    places: Sequence[float]
    heights: Sequence[float]
    errors: Sequence[float]
    width: float
    lying: bool
    marked: bool

    def draw(self, axes: Axes, label: str, look: tuple[Any, str]) -> BarContainer:
        color, hatch = look
        common: dict[str, Any] = {
            "label": shown_as(label),
            "color": color,
            "edgecolor": "white",
            "hatch": hatch,
            "error_kw": {"ecolor": "#222222", "elinewidth": 0.9},
        }
        thick = self.width * 0.92
        if self.lying:
            made = axes.barh(self.places, self.heights, thick, xerr=self.errors, **common)
        else:
            made = axes.bar(self.places, self.heights, thick, yerr=self.errors, **common)
        if self.marked:
            for place, height in zip(self.places, self.heights, strict=True):
                if height == 0.0:
                    at, ha = ((0, place), "left") if self.lying else ((place, 0), "center")
                    va = "center" if self.lying else "bottom"
                    axes.annotate(" 0 ", at, ha=ha, va=va, fontsize=_ZERO, color="#444444")
        return made


def _bars_scale(
    axes: Axes, said: str, heights: Sequence[float], *, log: bool, lying: bool
) -> None:
    along = axes.xaxis if lying else axes.yaxis
    axes.grid(visible=False, axis="y" if lying else "x")
    axes.grid(visible=True, axis="x" if lying else "y")
    # Room for the label: beside upright bars as much as these are high.
    room = width_or(6.0) - 0.9 if lying else 2.8
    along.set_label_text(fitted(said, room, float(mpl.rcParams["axes.labelsize"])))
    known = [h for h in heights if math.isfinite(h)]
    if log and any(h > 0.0 for h in known):
        (axes.set_xscale if lying else axes.set_yscale)("log")
        plain_numbers(along)
        bounds: tuple[float, float | None] = (least_shown(known), None)
    else:
        bounds = (min([0.0, *known]), None) if any(known) else (0.0, 1.0)
    if lying:
        axes.set_xlim(*bounds)
    else:
        axes.set_ylim(*bounds)


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
    tops = [max(s.peak for s in series if s.variant == c) for c in chosen]
    # One scale makes panels comparable, unless it flattens some of them.
    alike = max(tops) <= 8 * min(tops)
    said = said_of(label_of(metric), scale.unit)
    with styled():
        figure, panels = multiples(
            [Facet(variant) for variant in chosen],
            width=6.4,
            height=1.35,
            most=1 if len(chosen) <= 8 else 4,
            sharey=alike,
            label=("time (s)", said),
        )
        found = dict(zip(places, pens(len(places)), strict=True))
        handles: dict[str, Handle] = {}
        for panel, variant, top in zip(panels, chosen, tops, strict=True):
            for s in (s for s in series if s.variant == variant):
                values = [v * scale.factor for v in s.v]
                handles[s.where] = panel.plot(s.t, values, **plain(found[s.where]))[0]
            _mark_failures(panel, results)
            highest = (max(tops) if alike else top) * scale.factor
            panel.set_ylim(0, 1.08 * highest or 1)
        handles = {p: handles[p] for p in places if p in handles}
        if results.description.failures:
            handles[_DOWN] = Patch(color=_DOWN_COLOR)
        finish(figure, handles, title)
    return figure


_DOWN = "a link is down"
_DOWN_COLOR = "#dddddd"


def _mark_failures(panel: Axes, results: Results) -> None:
    for begin, end, _ in results.description.outages():
        panel.axvspan(begin, end, color=_DOWN_COLOR, linewidth=0, zorder=0)
