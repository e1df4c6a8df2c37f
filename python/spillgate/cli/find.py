"""`spillgate find`: the least or greatest value with which the requirements hold."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from spillgate.cli import INTERRUPTED, drawing
from spillgate.cli.machine import write_json
from spillgate.cli.source import source
from spillgate.cli.text import console, laid, show
from spillgate.errors import InputError
from spillgate.find import VALUES, Answer, Finder, Frontier, Key, Point
from spillgate.run import Interrupted
from spillgate.shown.searches import frontier, frontier_sentence, tried

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spillgate.cli.signals import Stop


def find(options: argparse.Namespace) -> int:
    """The command; returns the exit status."""
    keys = _keys(options)
    drawing.check(options)
    stop: Stop = options.stop
    with tempfile.TemporaryDirectory(prefix="spillgate-find-") as temporary:
        finder = Finder(
            source(options),
            variant=options.variant,
            classes=options.classes,
            level=options.level / 100,
            first=options.first,
            most=options.most,
            seed=options.seed,
            jobs=options.jobs,
            set=options.set,
            sla=options.sla,
            confine=options.confine,
            store=options.store or temporary,
            tried=None if options.quiet else _tell,
        )
        try:
            with stop.raising():
                found: Answer | Frontier = (
                    finder.answer(keys[0])
                    if len(keys) == 1
                    else finder.frontier(*keys, values=options.values or VALUES)
                )
        except Interrupted:
            kept = f"; its runs are in {options.store}" if options.store else ""
            print(f"spillgate: interrupted{kept}", file=sys.stderr)
            return INTERRUPTED
    if options.figure is not None:
        drawing.write(lambda: _figure(found), options.figure)
    if options.format == "json":
        write_json(to_dict(found))
    elif isinstance(found, Answer):
        _print(found)
    else:
        _print_frontier(found)
    if options.figure is not None and options.format != "json":
        print(f"Figure: {options.figure}")
    return 0


def _keys(options: argparse.Namespace) -> list[Key]:
    """What is varied, as it was asked for: each path with its ends."""
    paths, lows, highs = options.paths, options.low, options.high
    if not paths:
        msg = "error: say what is varied: --smallest PATH or --largest PATH"
        raise InputError(msg)
    if len(paths) > 2:
        msg = f"error: {len(paths)} paths\n    hint: one, or two, whose frontier is then found"
        raise InputError(msg)
    if options.values is not None and len(paths) == 1:
        msg = "error: --values is of a second key: name one with --smallest or --largest"
        raise InputError(msg)
    if options.values is not None and options.values < 2:
        msg = f"error: --values {options.values}: at least 2, the ends of the second key"
        raise InputError(msg)
    if not len(lows) == len(highs) == len(paths):
        msg = "error: each --smallest or --largest PATH has one --from and one --to"
        raise InputError(msg)
    within = options.within + [None] * (len(paths) - len(options.within))
    return [
        Key(path, low, high, largest, step)
        for (largest, path), low, high, step in zip(paths, lows, highs, within, strict=True)
    ]


def _tell(point: Point) -> None:
    said = {"pass": "holds", "fail": "does not hold", "undecided": "undecided"}[point.verdict]
    print(f"spillgate: {point.value}: {said} after {point.runs} runs", file=sys.stderr)


def _print(found: Answer) -> None:
    out = console()
    show(out, laid(tried(found)))
    out.print(Text(found.sentence), soft_wrap=True)
    _changes(found.changed)


def _changes(lines: Sequence[str]) -> None:
    out = console()
    out.print()
    for line in lines:
        out.print(Text(f"    {line}"), soft_wrap=True)


def _print_frontier(found: Frontier) -> None:
    out = console()
    show(out, laid(frontier(found)))
    out.print(Text(frontier_sentence(found)), soft_wrap=True)


def _figure(found: Answer | Frontier) -> Figure:
    from spillgate.plot.search import answer, frontier

    return answer(found) if isinstance(found, Answer) else frontier(found)


def to_dict(found: Answer | Frontier) -> dict[str, object]:
    """The answer as plain data."""
    if isinstance(found, Frontier):
        return {
            "path": found.first.path,
            "second": found.second.path,
            "frontier": [
                {"at": value, **({"none": a} if isinstance(a, str) else to_dict(a))}
                for value, a in found.answers
            ],
        }
    return {
        "path": found.key.path,
        "looked_for": found.key.word,
        "value": found.value,
        "beyond": found.beyond,
        "within": found.within,
        "level": found.level,
        "monotone": found.monotone,
        "sentence": found.sentence,
        "changed": list(found.changed),
        "runs": found.runs,
        "tried": [
            {
                "value": p.value,
                "number": p.number,
                "verdict": p.verdict,
                "runs": p.runs,
                "requirements": [
                    {
                        "whose": v.whose,
                        "requirement": v.requirement,
                        "mean": v.mean,
                        "low": v.low,
                        "high": v.high,
                        "verdict": v.verdict,
                    }
                    for v in p.verdicts
                ],
            }
            for p in found.points
        ],
    }
