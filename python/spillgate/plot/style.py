"""The style of the figures."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.axis import Axis
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from spillgate.visible import visible

_STYLE = Path(__file__).with_name("spillgate.mplstyle")
_HATCHES = ("", "///", "...", "\\\\\\", "xxx")


class NotebookFigure(Figure):
    """A figure that notebooks show by themselves, without pyplot."""

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        with styled():
            self.savefig(picture, format="png", bbox_inches="tight")
        return picture.getvalue()


_SIZES: tuple[Any, ...] = (
    *("font.size", "axes.labelsize", "axes.titlesize", "legend.fontsize"),
    *("xtick.labelsize", "ytick.labelsize"),
)
_ASKED: ContextVar[tuple[str, float]] = ContextVar("asked", default=("", 0.0))


@contextmanager
def styled() -> Iterator[None]:
    """Spillgate's style and nothing of the user's, for figures that do not depend on settings."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(mpl.rc_params_from_file(_STYLE, use_default_template=False))
        family, size = _ASKED.get()
        if family:
            mpl.rcParams["font.family"] = [family, "DejaVu Sans"]
        if size:
            scale = size / mpl.rcParams["font.size"]
            mpl.rcParams.update({k: mpl.rcParams[k] * scale for k in _SIZES})
        yield


@contextmanager
def in_font(family: str = "", size: float = 0.0) -> Iterator[None]:
    """Figures that are drawn meanwhile have this font, and texts of this size in points."""
    before = _ASKED.set((family, size))
    try:
        yield
    finally:
        _ASKED.reset(before)


def plain_numbers(axis: Axis) -> None:
    """Writes the numbers of a logarithmic axis as 20, not as 2 × 10¹."""
    axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    axis.set_minor_formatter(FuncFormatter(lambda x, _: f"{x:g}" if f"{x:e}"[0] in "25" else ""))


def fit(figure: Figure, width: float) -> None:
    """Gives a figure a width in inches, of all that is drawn; its proportions stay."""
    for _ in range(3):
        figure.draw_without_rendering()
        drawn = figure.get_tightbbox().width + 2.0 * mpl.rcParams["savefig.pad_inches"]
        across, up = figure.get_size_inches()
        # Texts keep their size: what is beside the axes stays as wide as it is.
        beside = drawn - across
        wanted = max(0.5, width - beside)
        figure.set_size_inches(wanted, up * wanted / across)


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
)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def pens(count: int) -> list[dict[str, Any]]:
    """Color, dashes and marker of `count` curves, no two alike.

    From the ninth on a color comes again with other dashes and another marker.

    Raises:
        ValueError: If there are more than can be told apart: 56.
    """
    colors: list[str] = mpl.rcParams["axes.prop_cycle"].by_key()["color"]
    most = len(colors) * len(_DASHES)
    if count > most:
        msg = f"{count} curves cannot be told apart; {most} can: choose some of them"
        raise ValueError(msg)
    found = []
    for i in range(count):
        again, hue = divmod(i, len(colors))
        color, dash, marker = f"#{colors[hue].lstrip('#')}", _DASHES[again], _MARKERS[again]
        found.append({"color": color, "linestyle": dash, "marker": marker})
    return found
