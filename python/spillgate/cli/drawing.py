"""The figure of an answer: `--figure FILE` of `find` and `best`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from spillgate.errors import OutputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def check(options: argparse.Namespace) -> None:
    """Says before anything runs that nothing can draw, or that the file exists."""
    if options.figure is None:
        return
    from spillgate import plot  # noqa: F401

    if options.figure.exists() and not options.force:
        msg = f"{options.figure} exists; add --force to replace it"
        raise OutputError(msg)


def write(draw: Callable[[], Figure], path: Path) -> None:
    """Draws and writes it."""
    from spillgate.plot.style import styled

    figure = draw()
    try:
        with styled():
            figure.savefig(path)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        msg = f"cannot write {path}: {reason}"
        raise OutputError(msg) from error
