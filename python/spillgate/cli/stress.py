"""`spillgate stress`: the cross traffic that hurts a class most."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING

from rich.text import Text

from spillgate.cli import INTERRUPTED
from spillgate.cli.machine import write_json
from spillgate.cli.text import console, laid, show
from spillgate.cross import SCENARIO
from spillgate.errors import OutputError
from spillgate.run import Interrupted
from spillgate.shown.searches import beside, stressed_sentences
from spillgate.stress import PACKETS, Stressed
from spillgate.stress import stress as search

if TYPE_CHECKING:
    from spillgate.cli.signals import Stop

OPTIONS = (
    *("rate", "burst", "packet", "sources", "like", "dscp", "origins", "to", "variant"),
    *("trials", "runs", "confirm", "method", "seed", "jobs", "set", "confine"),
)
"""Options that go to `spillgate.stress` as they are."""


def stress(options: argparse.Namespace) -> int:
    """The command; returns the exit status."""
    if options.out is not None and options.out.exists():
        # Before the search: some minutes of it must not end so.
        msg = f"{options.out} exists; choose another --out"
        raise OutputError(msg)
    stop: Stop = options.stop
    try:
        with stop.raising():
            found = search(
                options.scenario,
                options.port,
                options.against,
                **{name: getattr(options, name) for name in OPTIONS},
                tried=None if options.quiet else partial(_tell, options),
            )
    except Interrupted:
        print("spillgate: interrupted", file=sys.stderr)
        return INTERRUPTED
    told = options.format == "text"
    if told:
        _print(found)
    else:
        write_json(found.to_dict())
    # Last, so that nothing is lost if it cannot be saved.
    if options.out is not None:
        saved = found.save(options.out)
        if told:
            print(f"saved: {saved.parent}: {SCENARIO} replays {PACKETS}")
    return 0


def _tell(options: argparse.Namespace, looked: int, worst: float) -> None:
    print(
        f"spillgate: {looked} of {options.trials}: {options.against} {worst:.4g}", file=sys.stderr
    )


def _print(found: Stressed) -> None:
    out = console()
    out.print(Text(found.sentence.replace(". ", ".\n")), soft_wrap=True)
    show(out, laid(beside(found)))
    for line in stressed_sentences(found):
        out.print(Text(line), soft_wrap=True)
