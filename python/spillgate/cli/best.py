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
from spillgate.cli.text import console, show, table
from spillgate.errors import InputError
from spillgate.labels import short_of
from spillgate.metrics import format_number, scale_of
from spillgate.run import Interrupted

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
    o = found.objective
    scale = scale_of(o.metric, o.unit, [s.mean for s in found.systems])
    unit = f" ({scale.unit})" if scale.unit else ""
    made = table()
    made.add_column(found.kind)
    made.add_column("runs", justify="right")
    made.add_column(f"{short_of(o.metric)}{unit}", justify="right")
    made.add_column("worse by", justify="right")
    if found.budget is None:
        made.add_column("out after")
    for s in found.systems:
        name = Text(s.name, style="bold" if s is found.systems[0] else "")
        cells = [str(s.runs), format_number(s.mean, s.half, scale)]
        cells.append(
            "" if s is found.systems[0] else format_number(s.behind, s.behind_half, scale)
        )
        if found.budget is None:
            cells.append("" if s.dropped is None else f"{s.dropped} runs, by {s.by}")
        made.add_row(name, *map(Text, cells))
    show(out, made)
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
