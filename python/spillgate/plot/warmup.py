"""The figure of the warm-up: series from the start, and where MSER-5 says that they settle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.ticker import NullFormatter

from spillgate.labels import label_of
from spillgate.metrics import format_value, scale_for
from spillgate.plot.layout import Handle, finish, fitted, new_figure, said_of, small
from spillgate.plot.style import pens, plain, styled, width_or
from spillgate.statistics import BATCH, mser5

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from spillgate.result import Results
    from spillgate.rows import Series

MOST = 12
"""Rows of a figure."""


def warmup(
    results: Results,
    *,
    names: Sequence[str] | None = None,
    variants: Sequence[str] | None = None,
    title: str = "",
) -> Figure:
    """How long a run takes to settle: a row for each class.

    On the left its throughput from the start of the first run that was sampled, on the right the
    statistic of MSER-5 by how much is left out. A dot is the least of it: the warm-up that this
    series asks for, which is above the panel, too. The dashed line is the one that runs have.

    Args:
        results: What was measured.
        names: Which classes, in this order; all if not given.
        variants: Which variants; all if not given.
        title: Above the figure.

    Raises:
        ValueError: If nothing matches, or there are fewer than ten samples.
    """
    chosen = list(variants) if variants is not None else list(results.description.variants)
    classes = list(names) if names is not None else list(results.description.classes)
    places = [f"class {name}" for name in classes]
    found = [
        s for s in results.series(metric="throughput") if s.variant in chosen and s.where in places
    ]
    if not found:
        msg = "there is no time series of these classes: `--series` says which runs have some"
        raise ValueError(msg)
    places = [p for p in places if any(s.where == p for s in found)]
    if len(places) > MOST:
        msg = f"{len(places)} classes are too many for a figure; choose {MOST} at most by `names`"
        raise ValueError(msg)
    first = min(s.run for s in found)
    found = [s for s in found if s.run == first]
    chosen = [v for v in chosen if any(s.variant == v for s in found)]
    with styled():
        drawn = dict(zip(chosen, pens(len(chosen)), strict=True))
        figure = new_figure(7.0, 0.6 + 1.5 * len(places))
        panels = figure.subplots(len(places), 2, sharex="col", squeeze=False)
        for (left, right), place in zip(panels, places, strict=True):
            _row(left, right, [s for s in found if s.where == place], drawn)
            name = fitted(place.removeprefix("class "), width_or(7.0) / 2 - 0.8, small())
            left.set_title(name, loc="left", fontsize=small(), pad=3)
        for axes in panels.flat:
            axes.axvline(results.description.warmup, color="0.3", linestyle="--", linewidth=1)
        panels[-1, 0].set_xlabel("time (s)")
        panels[-1, 1].set_xlabel("left out (s)")
        configured = format_value(results.description.warmup, "s")
        handles: dict[str, Handle] = {
            v: panels[0, 0].plot([], [], **_line(drawn[v]))[0] for v in chosen
        }
        line = panels[0, 0].plot([], [], color="0.3", linestyle="--", linewidth=1)[0]
        finish(figure, {**handles, f"warm-up: {configured}": line}, title)
    return figure


def _line(pen: dict[str, Any]) -> dict[str, Any]:
    """A thin pen without markers."""
    return plain(pen) | {"linewidth": 1}


def _row(left: Axes, right: Axes, of: Sequence[Series], drawn: dict[str, dict[str, Any]]) -> None:
    """Draws a series of each variant, and its statistic."""
    scale = scale_for(of[0].unit, [s.peak for s in of])
    said, lowest = [], math.inf
    for s in of:
        values = [v * scale.factor for v in s.v if not math.isnan(v)]
        truncation = mser5(values)
        if len(values) < len(s.v) or not truncation.errors:
            few = f"{len(values)} of {len(s.v)} samples have a value"
            msg = f"{s.where} of {s.variant}: {few}, and MSER-5 needs ten or more, all of them"
            raise ValueError(f"{msg}; write a shorter `measurement.interval`")
        pen = drawn[s.variant]
        left.plot(s.t, values, **_line(pen))
        cuts = [BATCH * d * s.step for d in range(len(truncation.errors))]
        right.plot(cuts, truncation.errors, **_line(pen))
        at = truncation.cut // BATCH
        least = truncation.errors[at]
        lowest = min(lowest, least)
        right.plot([cuts[at]], [least], marker="o", markersize=5, color=pen["color"])
        if truncation.settled:
            left.axvline(cuts[at], color=pen["color"], linestyle=":", linewidth=1)
        said.append(format_value(cuts[at], "s") if truncation.settled else "not settled")
    room, size = width_or(7.0) / 2 - 0.8, small()
    settled = ", ".join(said) if len(said) <= 4 else ""
    right.set_title(fitted(settled, room, size), loc="left", fontsize=size, pad=3)
    left.set_ylabel(fitted(said_of(label_of("throughput"), scale.unit), 1.1, size), fontsize=size)
    right.set_ylabel("MSER-5", fontsize=size)
    if lowest > 0.0:
        right.set_yscale("log")
        right.yaxis.set_minor_formatter(NullFormatter())
