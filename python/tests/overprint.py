"""Finds labels of a figure that are printed over something else, or cut off."""

from __future__ import annotations

from itertools import combinations

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text
from matplotlib.transforms import Bbox

_SLACK = 1.0
"""Pixels by which boxes may meet: the box of a text has the ascent of its font above it."""


def overprinted(figure) -> list[str]:
    """What is wrong with the labels of a figure, one line each.

    The boxes of all texts are compared with each other, with the panels outside of which they
    belong, and with the edge of the figure; that of the legend with the panels, too.
    """
    FigureCanvasAgg(figure).draw()
    inside, outside = _texts(figure)
    panels = [axes.get_window_extent() for axes in figure.axes if axes.get_visible()]
    found = [
        f"{_said(a)} over {_said(b)}"
        for (a, box), (b, other) in combinations([*inside, *outside], 2)
        if _meet(box, other)
    ]
    found += [
        f"{_said(text)} over a panel"
        for text, box in outside
        for panel in panels
        if _meet(box, panel)
    ]
    width, height = figure.get_size_inches() * figure.dpi
    for text, box in [*inside, *outside]:
        if box.x0 < -_SLACK or box.y0 < -_SLACK or box.x1 > width + _SLACK:
            found.append(f"{_said(text)} cut off")
        elif box.y1 > height + _SLACK:
            found.append(f"{_said(text)} cut off above")
    for legend in figure.legends:
        box = legend.get_window_extent()
        found += ["legend over a panel" for panel in panels if _meet(box, panel)]
    # What has no room is made as small as it gets.
    found += [
        f"a panel of {p.width / figure.dpi:.2f} by {p.height / figure.dpi:.2f} inches"
        for axes, p in zip(figure.axes, panels, strict=True)
        if min(p.width, p.height)
        < (0.05 if axes.get_label() == "<colorbar>" else 0.35) * figure.dpi
    ]
    return found


def _texts(figure):
    """Texts within panels, and those outside of them, with their boxes."""
    inside, outside = [], []
    own = [figure._suptitle, figure._supxlabel, figure._supylabel]
    outside += [text for text in own if text is not None]
    for legend in figure.legends:
        outside += legend.get_texts()
    for axes in figure.axes:
        if not axes.get_visible():
            continue
        for text in axes.texts:
            x, y = text.get_position()
            of_axes = text.get_transform() == axes.transAxes
            (outside if of_axes and not (0 < x < 1 and 0 < y < 1) else inside).append(text)
        outside += [axes.title, axes._left_title, axes._right_title]
        for axis in (axes.xaxis, axes.yaxis):
            outside += [axis.label, axis.offsetText]
            low, high = sorted(axis.get_view_interval())
            room = 1e-9 * (high - low)
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                if low - room <= tick.get_loc() <= high + room:
                    outside += [tick.label1, tick.label2]
    return _boxed(inside), _boxed(outside)


def _boxed(texts) -> list[tuple[Text, Bbox]]:
    shown = [t for t in texts if t.get_visible() and t.get_text().strip()]
    return [(t, t.get_window_extent()) for t in shown]


def _meet(a: Bbox, b: Bbox) -> bool:
    across = min(a.x1, b.x1) - max(a.x0, b.x0)
    up = min(a.y1, b.y1) - max(a.y0, b.y0)
    return across > _SLACK and up > _SLACK


def _said(text: Text) -> str:
    return repr(text.get_text())
