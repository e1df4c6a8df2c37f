"""`spillgate best`: the variant, or point of axes, that is the best in one metric."""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from rich.text import Text

from spillgate.best import MOST, Best
from spillgate.best import best as find_best
from spillgate.cli import INTERRUPTED, drawing
from spillgate.cli.machine import write_json
from spillgate.cli.source import source
from spillgate.cli.text import console, laid, show
from spillgate.errors import InputError
from spillgate.run import Interrupted
from spillgate.shown.searches import contest as table

if TYPE_CHECKING:
    from spillgate.cli.signals import Stop

UNDECIDED = 3


def best(options: argparse.Namespace) -> int:
    """The command; returns the exit status."""
    if options.budget is not None and (options.level, options.most) != (None, None):
        msg = "error: --level and --most belong to --within: a budget gives no confidence"
        raise InputError(msg)
    drawing.check(options)
    largest, metric = options.metric
    stop: Stop = options.stop
    try:
        with stop.raising():
            found = find_best(
                source(options),
                metric,
                largest=largest,
                within=options.within,
                budget=options.budget,
                level=0.95 if options.level is None else options.level / 100,
                where=options.where,
                first=options.first,
                most=MOST if options.most is None else options.most,
                seed=options.seed,
                jobs=options.jobs,
                set=options.set,
                confine=options.confine,
                store=options.store,
                tried=None if options.quiet else _tell,
            )
    except Interrupted:
        kept = f"; its runs are in {options.store}" if options.store else ""
        print(f"spillgate: interrupted{kept}", file=sys.stderr)
        return INTERRUPTED
    if options.figure is not None:
        from spillgate.plot.best import contest

        drawing.write(lambda: contest(found), options.figure)
    if options.format == "json":
        write_json(to_dict(found))
    else:
        _print(found)
        if options.figure is not None:
            print(f"Figure: {options.figure}")
    return 0 if found.decided else UNDECIDED


def _tell(left: int, runs: int) -> None:
    print(f"spillgate: {left} left after {runs} runs", file=sys.stderr)


def _print(found: Best) -> None:
    out = console()
    show(out, laid(table(found)))
    # Each sentence has its line.
    out.print(Text(found.sentence.replace(". ", ".\n")), soft_wrap=True)


def to_dict(found: Best) -> dict[str, object]:
    """The answer as plain data."""
    o = found.objective
    return {
        "class": o.cls,
        "metric": o.metric,
        "unit": o.unit,
        "looked_for": found.word,
        "best": found.name,
        "decided": found.decided,
        "within": found.within,
        "level": found.level,
        "budget": found.budget,
        "probability": found.probability,
        "needed": found.needed,
        "sentence": found.sentence,
        "runs": found.runs,
        "systems": [{**asdict(s), "runs": s.runs} for s in found.systems],
    }
