"""The style of the figures."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.axis import Axis
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from spillgate.visible import visible

_STYLE = Path(__file__).with_name("spillgate.mplstyle")
_HATCHES = ("", "///", "...", "\\\\\\", "xxx", "|||", "---", "ooo")


class NotebookFigure(Figure):
    """A figure that notebooks show by themselves, without pyplot.

    Everything has its place in it; files are as large as the figure.
    """

    def savefig(self, *given: Any, **options: Any) -> None:  # noqa: ANN401 - matplotlib's
        """As matplotlib's, with nothing cut off or added at the edges."""
        with mpl.rc_context({"savefig.bbox": None}):
            super().savefig(*given, **options)

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        with styled():
            self.savefig(picture, format="png")
        return picture.getvalue()


_SIZES: tuple[Any, ...] = (
    *("font.size", "figure.labelsize", "axes.labelsize", "axes.titlesize", "legend.fontsize"),
    *("xtick.labelsize", "ytick.labelsize"),
)


class Asked(NamedTuple):
    """What is asked of figures.

    Attributes:
        family: The family of their texts; DejaVu Sans if empty.
        size: Size of their labels in points; that of the style if 0.
        width: How wide they are in inches; as wide as suits them if 0.
    """

    family: str = ""
    size: float = 0.0
    width: float = 0.0


_NOTHING = Asked()
_ASKED: ContextVar[Asked] = ContextVar("asked", default=_NOTHING)


@contextmanager
def styled() -> Iterator[None]:
    """Spillgate's style and nothing of the user's, for figures that do not depend on settings."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(mpl.rc_params_from_file(_STYLE, use_default_template=False))
        family, size, _ = _ASKED.get()
        if family:
            mpl.rcParams["font.family"] = [family, "DejaVu Sans"]
        if size:
            scale = size / mpl.rcParams["font.size"]
            mpl.rcParams.update({k: mpl.rcParams[k] * scale for k in _SIZES})
        yield


@contextmanager
def asked(what: Asked) -> Iterator[None]:
    """Figures that are drawn meanwhile have this font and this width."""
    before = _ASKED.set(what)
    try:
        yield
    finally:
        _ASKED.reset(before)


def width_or(default: float) -> float:
    """The width in inches that is asked for, or a default."""
    return _ASKED.get().width or default


def plain_numbers(axis: Axis) -> None:
    """Writes the numbers of a logarithmic axis as 20, not as 2 × 10¹."""
    size = float(mpl.rcParams["xtick.labelsize"])

    def between(x: float, _: int | None = None) -> str:
        return f"{x:g}" if f"{x:e}"[0] in "25" and _has_room(axis, size) else ""

    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_formatter(FuncFormatter(between))


def _has_room(axis: Axis, size: float) -> bool:
    """Whether 1, 2, 5, 10 have places beside each other on a logarithmic axis."""
    low, high = sorted(axis.get_view_interval())
    decades = math.log10(high / low) if low > 0.0 else math.inf
    panel = axis.axes.get_window_extent()
    across = axis is axis.axes.xaxis
    points = (panel.width if across else panel.height) / axis.axes.figure.dpi * 72.0
    # From 1 to 2 are three tenths of a decade; numbers are some three letters wide.
    return decades < 1.0 or 0.3 * points / decades > (3.0 if across else 1.3) * size


def shown_as(name: str) -> str:
    r"""A name as matplotlib must be told it to show it: gated, and no formula.

    Example:
        >>> print(shown_as("a $x$"))
        a \$x\$
    """
    return visible(name).replace("$", r"\$")


def palette(count: int, shades: int = 1) -> list[tuple[str | tuple[float, float, float], str]]:
    """Colors and hatches of `count` series.

    Args:
        count: How many series.
        shades: This many consecutive series share a hue, each lighter than the one before.
    """
    colors: list[str] = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
    chosen: list[tuple[str | tuple[float, float, float], str]] = []
    for i in range(count):
        hue, step = divmod(i, shades)
        white = 0.72 * step / shades
        red, green, blue = (c + (1.0 - c) * white for c in to_rgb(colors[hue % len(colors)]))
        hatch = _HATCHES[hue // len(colors) % len(_HATCHES)]
        chosen.append(((red, green, blue), hatch))
    return chosen


_DASHES: tuple[Any, ...] = (
    "-",
    "--",
    ":",
    "-.",
    (0, (6, 1, 1, 1, 1, 1)),
    (0, (8, 2)),
    (0, (1, 3)),
    (0, (3, 1, 1, 1, 1, 1, 1, 1)),
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")


def pens(count: int) -> list[dict[str, Any]]:
    """Color, dashes and marker of `count` curves, no two alike.

    From the ninth on a color comes again with other dashes and another marker.

    Raises:
        ValueError: If there are more than can be told apart: 64.
    """
    colors: list[str] = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
    most = len(colors) * len(_DASHES)
    if count > most:
        msg = f"{count} curves cannot be told apart; {most} can: choose some of them (where)"
        raise ValueError(msg)
    found = []
    for i in range(count):
        again, hue = divmod(i, len(colors))
        color, dash, marker = f"#{colors[hue].lstrip('#')}", _DASHES[again], _MARKERS[again]
        found.append({"color": color, "linestyle": dash, "marker": marker})
    return found


def plain(pen: Mapping[str, Any]) -> dict[str, Any]:
    """A pen without markers, for curves of many points."""
    return {k: v for k, v in pen.items() if k != "marker"}
