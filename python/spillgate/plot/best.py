"""The figure of a search for the best: means, the difference that does not matter, and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillgate.metrics import scale_of
from spillgate.plot.layout import fitted, small, text_size
from spillgate.plot.style import NotebookFigure, plain_numbers, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spillgate.best import Best

MOST = 40
"""Systems that are drawn: the best ones."""


@styled()
def contest(found: Best) -> Figure:
    """The mean of each system with its 95 % interval, and how many runs it had; the best on top.

    Those that dropped out are light. The band is the difference that does not matter.
    """
    systems = found.systems[:MOST]
    o = found.objective
    scale = scale_of(o.metric, o.unit, [s.mean for s in systems])
    names = [fitted(s.name, 2.4, small()) for s in systems]
    pitch = max(0.34, *(text_size(name, small())[1] + 0.05 for name in names))
    figure = NotebookFigure(figsize=(7.0, 1.3 + pitch * len(systems)), layout="constrained")
    means, runs = figure.subplots(1, 2, sharey=True, width_ratios=(3, 1))
    lead = systems[0].mean * scale.factor
    if found.within is not None:
        end = lead + (-1 if o.larger else 1) * found.within * scale.factor
        means.axvspan(*sorted((lead, end)), color="C1", alpha=0.25, linewidth=0)
    for y, s in enumerate(systems):
        color = "C0" if s.dropped is None else "#9aa5b1"
        means.errorbar(
            s.mean * scale.factor,
            y,
            xerr=s.half * scale.factor,
            marker="o",
            markersize=4,
            color=color,
            linewidth=1,
        )
        runs.barh(y, s.runs, height=0.6, color=color)
        runs.annotate(f" {s.runs}", (s.runs, y), ha="left", va="center", fontsize="small")
    if 0 < 20 * min(s.mean for s in systems) < max(s.mean for s in systems):
        means.set_xscale("log")
        plain_numbers(means.xaxis)
    means.set_yticks(range(len(systems)), names)
    means.set_ylim(len(systems) - 0.5, -0.5)
    unit = f" ({scale.unit})" if scale.unit else ""
    means.set_xlabel(fitted(f"{found.what}{unit}", 3.2, small() + 1.0))
    runs.set_xlabel("runs")
    runs.margins(x=0.25)
    for axes in (means, runs):
        axes.grid(visible=True, axis="x")
        axes.grid(visible=False, axis="y")
    return figure
