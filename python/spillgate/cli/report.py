"""`spillgate report`: the page of a run directory, made again."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Literal

from spillgate.cli.chosen import figures, of_interest
from spillgate.errors import InputError, OutputError
from spillgate.own import given as own_of
from spillgate.result import Results
from spillgate.rundir import read_study
from spillgate.saved import load

if TYPE_CHECKING:
    from spillgate.explain import Explanation
    from spillgate.plot import FigureSpec


def make_report(options: argparse.Namespace) -> int:
    """`spillgate report`."""
    from spillgate.report import REPORT, write

    results = of_interest(load(options.run), options)
    target = options.output or options.run / REPORT
    specs = figures(options.figures, results.description)
    worst = _worst(options, results)
    manifest = results.manifest() | read_study(options.run) | {"where": options.where}
    written = write(results, target, manifest, force=options.force, worst=worst)
    print(written)
    if specs is not None:
        for line in _draw_again(results, specs, options):
            print(line)
    return 0


def _draw_again(
    results: Results, specs: list[FigureSpec] | Literal["default"], options: argparse.Namespace
) -> list[str]:
    """Draws figures of saved results beside them; what was written, what could not be drawn."""
    from spillgate import plot

    target = options.run / "figures"
    if target.exists() and not options.force:
        msg = f"{target} exists; add --force to replace what is in it"
        raise OutputError(msg)
    try:
        drawn, problems = plot.save(results, target, None if specs == "default" else specs)
    except OSError as error:
        msg = f"cannot write figures to {target}: {error.strerror or error}"
        raise OutputError(msg) from error
    return [*(str(f) for f in drawn), *problems]


def _worst(options: argparse.Namespace, results: Results) -> list[Explanation]:
    """What became of the worst packets of the chosen variants: each run is repeated."""
    from spillgate.explain import explain

    if not options.worst:
        if options.variant or options.run_number is not None:
            msg = "error: --variant and --run say whose worst packets: add --worst N"
            raise InputError(msg)
        return []
    return [
        explain(
            options.run,
            worst=options.worst,
            drops=options.worst,
            variant=v,
            run=options.run_number or 0,
            own=own_of(options),
            confine=options.confine,
        )
        for v in options.variant or results.description.variants
    ]
