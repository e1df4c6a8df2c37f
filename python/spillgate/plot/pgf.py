r"""Figures as PGF, which LaTeX sets in the font of the document.

matplotlib's backend asks a TeX engine how large each text is. Here the font of the figure answers,
so that none is needed and the same figure gives the same bytes everywhere. LaTeX anchors each text
where it belongs, whatever its size is there. Names are escaped: a `_` or `&` is no command.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import IO, Any

import matplotlib as mpl
from matplotlib.backend_bases import GraphicsContextBase, RendererBase
from matplotlib.backends.backend_mixed import MixedModeRenderer
from matplotlib.backends.backend_pgf import FigureCanvasPgf, RendererPgf
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.text import Text

from spillgate.plot.layout import text_metrics

_DPI = 72

_HEAD = r"""% A figure of Spillgate. In the document:
%   \usepackage{pgf}
%   ...
%   \input{FILE.pgf}
% Signs beyond ASCII need UTF-8, which LaTeX expects, and a font that has them.
\begingroup%
\makeatletter%
\providecommand{\mathdefault}[1]{#1}%
\begin{pgfpicture}%
"""

_SIGNS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    **{sign: f"\\{sign}" for sign in "$&#_%"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\ensuremath{<}",
    ">": r"\ensuremath{>}",
    "|": r"\ensuremath{|}",
    '"': r"\textquotedbl{}",
    "−": r"\ensuremath{-}",
    "×": r"\ensuremath{\times}",
    "±": r"\ensuremath{\pm}",
    "≤": r"\ensuremath{\leq}",
    "≥": r"\ensuremath{\geq}",
    "µ": r"\ensuremath{\mu}",
    "°": r"\ensuremath{{}^\circ}",
    "→": r"\ensuremath{\to}",
    "·": r"\ensuremath{\cdot}",
}
"""Signs that LaTeX takes for something else, or does not find in its usual fonts."""

_FAMILIES = {
    "serif": r"\rmfamily",
    "sans-serif": r"\sffamily",
    "sans": r"\sffamily",
    "monospace": r"\ttfamily",
}
"""Families that are LaTeX's, too. Any other is that of the document."""


def escaped(text: str) -> str:
    r"""A text as LaTeX must be told it.

    Example:
        >>> print(escaped("a_b & 50 % {x}"))
        a\_b \& 50 \% \{x\}
    """
    return "".join(_SIGNS.get(sign, sign) for sign in text)


def write_pgf(figure: Figure, path: Path) -> None:
    r"""Writes a figure as PGF, to be read by `\input`."""
    canvas = figure.canvas
    try:
        _Canvas(figure)
        # The document's fonts are its own affair.
        with mpl.rc_context({"pgf.rcfonts": False}):
            figure.savefig(path, format="pgf")
    finally:
        figure.set_canvas(canvas)


class _Renderer(RendererPgf):
    """As matplotlib's, with texts that are escaped and measured without TeX."""

    def draw_text(
        self,
        gc: GraphicsContextBase,
        x: float,
        y: float,
        s: str,
        prop: FontProperties,
        angle: float,
        ismath: Any = False,  # noqa: ANN401, FBT002 - as it is called
        mtext: Text | None = None,
    ) -> None:
        # Formulas are those of ticks; names have none.
        parts = re.split(r"((?<!\\)\$.*?(?<!\\)\$)", s) if ismath else [s]
        said = "".join(p if i % 2 else escaped(p) for i, p in enumerate(parts))
        super().draw_text(gc, x, y, said, prop, angle, ismath, mtext)  # type: ignore[no-untyped-call]

    def get_text_width_height_descent(
        self,
        s: str,
        prop: FontProperties,
        ismath: Any,  # noqa: ANN401
    ) -> tuple[float, float, float]:
        scale = self.dpi / _DPI
        width, height, descent = text_metrics(s, prop, ismath)
        return width * scale, height * scale, descent * scale


class _Canvas(FigureCanvasPgf):
    """As matplotlib's, with the renderer above and a head that says what is needed."""

    def _print_pgf_to_fh(
        self,
        fh: IO[str],
        *,
        bbox_inches_restore: Any = None,  # noqa: ANN401
    ) -> None:
        width, height = self.figure.get_size_inches()
        fh.write(_HEAD)
        corner = rf"\pgfqpoint{{{width:f}in}}{{{height:f}in}}"
        fh.write(rf"\pgfpathrectangle{{\pgfpointorigin}}{{{corner}}}" + "%\n")
        fh.write(r"\pgfusepath{use as bounding box, clip}" + "%\n")
        dpi = self.figure.dpi
        inner = _Renderer(self.figure, fh)  # type: ignore[no-untyped-call]
        restore = {"bbox_inches_restore": bbox_inches_restore}
        mixed: Any = MixedModeRenderer(self.figure, width, height, dpi, inner, **restore)  # type: ignore[no-untyped-call]
        self.figure.draw(mixed)
        fh.write("\\end{pgfpicture}%\n\\makeatother%\n\\endgroup%\n")

    def get_renderer(self) -> RendererBase:
        return _Renderer(self.figure, None)  # type: ignore[no-untyped-call]
