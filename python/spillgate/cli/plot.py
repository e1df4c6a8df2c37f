"""`spillgate plot`: one figure of a run directory."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from spillgate.errors import InputError, OutputError
from spillgate.saved import load


def plot(options: argparse.Namespace) -> int:
    """Draws a figure to the files that are named."""
    # That nothing can draw is said before anything is read.
    from spillgate.plot import FigureSpec
    from spillgate.plot.files import draw_to
    from spillgate.plot.specs import FORMATS

    files: list[Path] = options.output
    for file in files:
        if file.suffix[1:] not in FORMATS:
            endings = ", ".join(f".{f}" for f in FORMATS)
            msg = f"error: -o {file}: a figure ends in one of {endings}"
            raise InputError(msg)
        if file.exists() and not options.force:
            msg = f"{file} exists; add --force to replace it"
            raise OutputError(msg)
    results = load(options.run, confine=options.confine)
    try:
        spec = FigureSpec(
            "figure",
            options.kind,
            metric=options.metric,
            scope=options.scope,
            names=tuple(options.name),
            variants=tuple(options.variant),
            x=options.x,
            log={"auto": None, "yes": True, "no": False}[options.log],
            title=options.title,
            axis=options.axis,
            up=options.up,
            gain=options.gain,
            rows=options.rows,
            columns=options.columns,
            where=options.where or "",
            width=options.width,
            font=options.font,
            font_size=options.font_size,
        )
        spec.check(results.description)
        notes = draw_to(results, spec, files)
    except OSError as error:
        msg = f"cannot write {files[0]}: {error.strerror or error}"
        raise OutputError(msg) from error
    except ValueError as error:
        msg = f"error: {options.kind}: {error}"
        raise InputError(msg) from error
    for note in notes:
        print(f"spillgate: {note}", file=sys.stderr)
    for file in files:
        print(file)
    return 0
