"""The style of the figures."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import matplotlib as mpl
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

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


@contextmanager
def styled() -> Iterator[None]:
    """Spillgate's style and nothing of the user's, for figures that do not depend on settings."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(mpl.rc_params_from_file(_STYLE, use_default_template=False))
        yield


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
