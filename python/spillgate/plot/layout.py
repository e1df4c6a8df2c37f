"""Panels of a figure, their titles and legend, so that nothing is printed over anything else."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis as TickAxis
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.container import Container
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from spillgate.plot.style import NotebookFigure, plain_numbers, width_or
from spillgate.points import Axis, Point
from spillgate.scenario import Description
from spillgate.visible import visible

_NARROWEST = 1.45
"""Inches below which panels are not beside each other."""

_BESIDE = 0.65
"""Inches for ticks and label at the left of panels, about."""

_PAPER = RendererAgg(1, 1, 72)  # type: ignore[no-untyped-call]

Handle: TypeAlias = Artist | Container
"""What a legend shows of a series."""


def text_metrics(text: str, font: FontProperties, ismath: Any) -> tuple[float, float, float]:  # noqa: ANN401
    """Width, height and descent of a line in points."""
    found: tuple[float, float, float] = _PAPER.get_text_width_height_descent(text, font, ismath)  # type: ignore[no-untyped-call]
    return found


def text_size(text: str, size: float, *, bold: bool = False) -> tuple[float, float]:
    """Width and height in inches of a text in the font of the figures, of so many points."""
    font = FontProperties(size=size, weight="bold" if bold else "normal")
    lines = text.replace(r"\$", "$").split("\n")
    widths = [text_metrics(line, font, ismath=False)[0] for line in lines]
    return max(widths) / 72.0, 1.25 * size * len(lines) / 72.0


def fitted(name: str, room: float, size: float, *, bold: bool = False) -> str:
    """A name as matplotlib must be told it, in lines of at most `room` inches.

    It is broken after spaces, commas, hyphens and the like, and in words that are wider.
    """
    lines = [""]
    for word in re.findall(r"[^\s,/_(=-]*[\s,/_(=-]+|[^\s,/_(=-]+", visible(name)):
        if text_size((lines[-1] + word).rstrip(), size, bold=bold)[0] <= room:
            lines[-1] += word
            continue
        if lines[-1]:
            lines.append("")
        for sign in word:
            if lines[-1] and text_size(lines[-1] + sign.strip(), size, bold=bold)[0] > room:
                lines.append("")
            lines[-1] += sign
    return "\n".join(line.strip() for line in lines if line.strip()).replace("$", r"\$")


def new_figure(width: float, height: float) -> Figure:
    """A figure in which everything has its place, as wide as is asked for or else `width`."""
    return NotebookFigure(figsize=(width_or(width), height), layout="constrained")


def small() -> float:
    """Points of texts beside the labels."""
    return float(mpl.rcParams["legend.fontsize"])


def finish(figure: Figure, handles: Mapping[str, Handle], title: str) -> None:
    """Adds a title above everything and a legend below, which make room for themselves.

    Without a title if it is empty, and without a legend of fewer than two.
    """
    width, height = figure.get_size_inches()
    above = 0.0
    if title:
        size = float(mpl.rcParams["axes.titlesize"])
        said = fitted(title, 0.96 * width, size, bold=True)
        figure.suptitle(said, ha="left", x=0.02, fontsize=size)
        above = text_size(said, size)[1]
    below = _legend(figure, handles) if len(handles) > 1 else 0.0
    height += above + below
    figure.set_size_inches(width, height)
    if engine := figure.get_layout_engine():
        share = below / height
        if below and (said := figure.get_supxlabel()):
            # It would stand at the edge of the figure, over the legend.
            figure.supxlabel(said, y=share)
            size = float(mpl.rcParams["figure.labelsize"])
            share += (text_size(said, size)[1] + 0.05) / height
        engine.set(rect=(0.0, share, 1.0, 1.0 - share))  # type: ignore[call-arg]
        if said := figure.get_supylabel():
            figure.supylabel(said, y=(share + 1.0 - above / height) / 2.0)


def _legend(figure: Figure, handles: Mapping[str, Handle]) -> float:
    """Puts a legend at the lower edge; how high it is in inches."""
    size = small()
    sign, gap = 2.8 * size / 72.0, 1.4 * size / 72.0
    room = figure.get_figwidth() - 0.12
    labels = [fitted(name, room - sign, size) for name in handles]
    widest = max(text_size(label, size)[0] for label in labels) + sign
    columns = max(1, min(len(labels), int((room + gap) / (widest + gap))))
    # As few columns as make no more rows.
    columns = math.ceil(len(labels) / math.ceil(len(labels) / columns))
    legend = figure.legend(  # type: ignore[call-overload]
        list(handles.values()),
        labels,
        loc="lower center",
        bbox_to_anchor=(0.5, 0.0),
        ncols=columns,
        columnspacing=1.4,
        handlelength=2.0,
        handletextpad=0.8,
        borderaxespad=0.2,
        borderpad=0.1,
    )
    return float(legend.get_window_extent().height / figure.dpi) + 0.05


@dataclass(frozen=True)
class Facet:
    """What one panel of several shows.

    Attributes:
        title: What is said above it.
        points: The points it shows.
        side: What is said at its right, in a grid of two axes.
        place: Row and column in such a grid.
    """

    title: str
    points: tuple[Point, ...] = ()
    side: str = ""
    place: tuple[int, int] | None = None


def index_of(axes: Sequence[Axis], name: str) -> int:
    """Where an axis stands; raises `ValueError` if it is not there."""
    names = [a.name for a in axes]
    if name not in names:
        msg = f"there is no axis {name!r}; there are: {', '.join(names) or 'none'}"
        raise ValueError(msg)
    return names.index(name)


def facets(d: Description, rows: str, columns: str, taken: Sequence[str]) -> list[Facet]:
    """Small multiples: a panel for each value of one axis, or of two.

    Args:
        d: Whose points they are.
        rows: The axis whose values stand below each other; none if empty.
        columns: The axis whose values stand side by side; none if empty.
        taken: Axes that have another use in the figure.

    Returns:
        One facet of all points if neither is given.

    Raises:
        ValueError: If there is no such axis, or it has another use.
    """
    asked = [a for a in (rows, columns) if a]
    for n, name in enumerate(asked):
        index_of(d.axes, name)
        if name in (*taken, *asked[:n]):
            msg = f"the axis {name!r} cannot be used twice in a figure"
            raise ValueError(msg)
    if not asked:
        return [Facet("", d.points)]
    if len(asked) == 1:
        i = index_of(d.axes, asked[0])
        return [
            Facet(f"{asked[0]}={label}", tuple(p for p in d.points if p.places[i] == n))
            for n, label in enumerate(d.axes[i].labels)
        ]
    i, j = index_of(d.axes, rows), index_of(d.axes, columns)
    return [
        Facet(
            f"{columns}={right}" if not r else "",
            tuple(p for p in d.points if (p.places[i], p.places[j]) == (r, c)),
            f"{rows}={below}" if c == len(d.axes[j].labels) - 1 else "",
            (r, c),
        )
        for r, below in enumerate(d.axes[i].labels)
        for c, right in enumerate(d.axes[j].labels)
    ]


def called(d: Description, points: Sequence[Point], without: Sequence[str]) -> dict[str, str]:
    """What points are called in a legend, by name: variant and coordinates that tell them apart.

    Args:
        d: Whose points they are.
        points: All that are shown.
        without: Axes that are not said, because the panel or its axis says them.
    """
    several = len({p.variant for p in points}) > 1
    said = [
        (i, a)
        for i, a in enumerate(d.axes)
        if a.name not in without and len({p.places[i] for p in points}) > 1
    ]
    found = {}
    for p in points:
        parts = [p.variant] if several else []
        parts += [f"{a.name}={a.labels[p.places[i]]}" for i, a in said]
        found[p.name] = ", ".join(parts) or p.variant
    return found


def multiples(
    shown: Sequence[Facet],
    *,
    width: float,
    height: float,
    most: int = 4,
    sharex: bool | Literal["row", "col"] = True,
    sharey: bool | Literal["row", "col"] = True,
    label: tuple[str, str] = ("", ""),
) -> tuple[Figure, list[Axes]]:
    """A figure with a panel for each facet, on shared scales with their labels once.

    Args:
        shown: The facets.
        width: Inches of the figure, if no other width is asked for.
        height: Inches of each panel.
        most: Panels side by side at most, where they are of one axis.
        sharex: Whether the scales to the right are the same, of all or in each row.
        sharey: Whether the scales up are the same, of all or in each column.
        label: What is said below and at the left of all panels.
    """
    inches = width_or(width)
    if shown[0].place is None:
        columns = max(1, min(len(shown), most, int((inches - _BESIDE) / _NARROWEST)))
        places = [divmod(n, columns) for n in range(len(shown))]
    else:
        places = [f.place for f in shown if f.place is not None]
        columns = 1 + max(c for _, c in places)
    rows = 1 + max(r for r, _ in places)
    figure = new_figure(width, 0.5 + rows * height)
    grid = figure.subplots(rows, columns, sharex=sharex, sharey=sharey, squeeze=False)
    panels = [grid[at] for at in places]
    room = (inches - _BESIDE) / columns - 0.1
    for panel, facet in zip(panels, shown, strict=True):
        if facet.title:
            said = fitted(facet.title, room, small(), bold=True)
            panel.set_title(said, fontsize=small(), pad=3)
        if facet.side:
            said = fitted(facet.side, height - 0.3, small(), bold=True)
            panel.text(
                *(1.02, 0.5, said),
                transform=panel.transAxes,
                rotation=270,
                va="center",
                ha="left",
                fontsize=small(),
                fontweight="bold",
            )
    for at in {(r, c) for r in range(rows) for c in range(columns)} - set(places):
        grid[at].remove()
    # What is below is not there for all: the last of each column has the ticks.
    for (_, c), panel in zip(places, panels, strict=True):
        last = [p for p, at in zip(panels, places, strict=True) if at[1] == c][-1]
        panel.tick_params(labelbottom=panel is last or sharex is not True)
    size = float(mpl.rcParams["axes.labelsize"])
    label = (
        fitted(label[0], inches - _BESIDE, size),
        fitted(label[1], rows * height - 0.45, size),
    )
    if len(panels) == 1:
        panels[0].set(xlabel=label[0], ylabel=label[1])
    else:
        for say, text in ((figure.supxlabel, label[0]), (figure.supylabel, label[1])):
            if text:
                say(text)
    return figure, panels


def dwarfed(series: Sequence[Sequence[float]]) -> bool:
    """Whether one of several series dwarfs others, so that these would be flat on a linear scale.

    At least half of them stay below a twentieth of the largest value. Where a value is zero or
    negative, a logarithmic scale cannot show it.

    Example:
        >>> dwarfed([[1.0, 2.0], [300.0]]), dwarfed([[1.0], [3.0]]), dwarfed([[0.0], [300.0]])
        (True, False, False)
    """
    known = [[v for v in values if math.isfinite(v)] for values in series]
    tops = [max(values) for values in known if values]
    if len(tops) < 2 or min(min(values) for values in known if values) <= 0.0:
        return False
    flat = sum(top < max(tops) / 20.0 for top in tops)
    return 2 * flat >= len(tops)


def by_ratio(series: Sequence[Sequence[float]], *, log: bool | None) -> bool:
    """Whether a scale is logarithmic: as asked for, or if one of the series dwarfs others."""
    return dwarfed(series) if log is None else log


def said_of(label: str, unit: str, *, log: bool = False) -> str:
    """The label of an axis: `mean one-way delay (ms, log scale)`."""
    parts = [*([unit] if unit else []), *(["log scale"] if log else [])]
    return f"{label} ({', '.join(parts)})" if parts else label


def least_shown(values: Sequence[float]) -> float:
    """Where a logarithmic scale begins: intervals may reach down to zero."""
    return min(v for v in values if v > 0.0) / 2.0


def scale_up(panel: Axes, values: Sequence[float], *, log: bool) -> None:
    """The scale of values, which begins at zero or is logarithmic."""
    known = [v for v in values if math.isfinite(v)]
    if log and any(v > 0.0 for v in known):
        panel.set_yscale("log")
        panel.set_ylim(bottom=least_shown(known))
        plain_numbers(panel.yaxis)
    elif any(known):
        panel.set_ylim(bottom=min([0.0, *known]))
    else:
        panel.set_ylim(0, 1)


def name_ticks(axis: TickAxis, names: Sequence[str], inches: float) -> None:
    """Ticks 0, 1, .. with names below an axis of so many inches; upright, or else some of them."""
    size = float(mpl.rcParams["xtick.labelsize"])
    room = inches / max(1, len(names)) - 0.04
    widest = max(
        (text_size(w, size)[0] for n in names for w in re.split(r"[\s,/-]", n)), default=0
    )
    if widest <= room:
        axis.set_ticks(range(len(names)), [fitted(n, room, size) for n in names])
        return
    every = max(1, math.ceil(1.25 * size / 72.0 / max(room + 0.04, 1e-3)))
    places = range(0, len(names), every)
    axis.set_ticks(list(places), [fitted(names[i], 1.6, size) for i in places], rotation=90)
