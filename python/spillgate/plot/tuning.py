"""The figure of a tuning: what moving each value alone does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spillgate.plot.layout import fitted, small
from spillgate.plot.style import NotebookFigure, shown_as, styled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spillgate.tuning import Tuned


def tornado(found: Tuned) -> Figure:
    """A bar for each value that was tuned: how far the first objective moves with it.

    The dark part is where all requirements hold, the light part the whole range; the values at its
    ends are written beside it. The most important value is on top.
    """
    name = str(found.objectives[0])
    center = found.best.objectives[name] or 0.0
    bars = []
    for knob in found.knobs:
        every = [(v, t) for t in knob.trials if (v := t.objectives[name]) is not None]
        if every:
            inside = [v for v, t in every if t.passes]
            ends = min(every, key=lambda x: x[0]), max(every, key=lambda x: x[0])
            bars.append((ends[1][0] - ends[0][0], knob, ends, inside))
    bars.sort(key=lambda b: b[0])
    with styled():
        figure = NotebookFigure(figsize=(7.0, 1.2 + 0.45 * len(bars)), layout="constrained")
        axes = figure.subplots()
        for y, (_, knob, (low, high), inside) in enumerate(bars):
            axes.barh(y, high[0] - low[0], left=low[0], height=0.5, color="#c9d7e6")
            if inside:
                width = max(inside) - min(inside)
                axes.barh(y, width, left=min(inside), height=0.5, color="#2f6db5")
            if high[0] == low[0]:
                axes.text(center, y, " nothing changes", ha="left", va="center", size=8)
                continue
            for (value, trial), side in ((low, "right"), (high, "left")):
                said = f" {shown_as(trial.values[knob.axis])} "
                axes.text(value, y, said, ha=side, va="center", size=8)
        axes.axvline(center, color="black", linewidth=1)
        axes.set_yticks(range(len(bars)), [fitted(b[1].axis, 2.2, small()) for b in bars])
        axes.set_xlabel(fitted(name, 4.5, small() + 1.0))
        # Bars begin at the edge otherwise, and the values are beside them.
        axes.use_sticky_edges = False
        axes.margins(x=0.25)
    return figure
