"""`spillgate bound --worst`: packets that come near the bounds, and what happens to the worst."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable

from rich.table import Table
from rich.text import Text

from spillgate.cli.explain import way
from spillgate.cli.machine import write_json
from spillgate.cli.text import console, item, show, table
from spillgate.errors import OutputError
from spillgate.metrics import format_value
from spillgate.worst_case import WorstCase, save_all
from spillgate.worst_case import worst as find


def worst(options: argparse.Namespace) -> int:
    """The command; returns the exit status."""
    if options.out is not None and options.out.exists():
        # Before the search: some minutes of it must not end so.
        msg = f"{options.out} exists; choose another --out"
        raise OutputError(msg)
    cases = find(
        options.scenario,
        options.worst or None,
        variant=options.variant,
        set=options.set,
        confine=options.confine,
    )
    saved = [] if options.out is None else save_all(cases, options.out)
    if options.format == "json":
        write_json([c.to_dict() for c in cases])
        return 0
    out = console()
    for point in dict.fromkeys(c.point for c in cases):
        out.print(Text(point, style="bold"))
        of_point = [c for c in cases if c.point == point]
        show(out, _table(of_point))
        for case in of_point:
            if case.gap is not None:
                out.print(Text(f"{case.link}/{case.queue}: {case.gap}."), soft_wrap=True)
        for case in of_point:
            if case.story is not None:
                out.print(Text(f"{case.link}/{case.queue}: the worst packet found", style="bold"))
                item(out, case.story["sentence"])
                way(out, case.story)
                for note in case.story["notes"]:
                    item(out, note)
        out.print()
    out.print(
        "Delays are of queueing and transmission at the port. Reached is the largest that was "
        "found, not the largest there is."
    )
    for path in saved:
        out.print(Text(f"saved: {path}"), soft_wrap=True)
    return 0


def _table(cases: Iterable[WorstCase]) -> Table:
    made = table()
    for name in ("link/queue", "classes"):
        made.add_column(name)
    for name in ("delay\nnever above", "reached", "of the\nbound", "tried"):
        made.add_column(name, justify="right")
    for c in cases:
        made.add_row(
            f"{c.link}/{c.queue}",
            ", ".join(c.classes),
            "no bound" if c.bound is None else format_value(c.bound, "s"),
            "" if c.reached is None else format_value(c.reached, "s"),
            # Rounded down: 100 % is all of it.
            "" if c.share is None else f"{math.floor(c.share * 10_000) / 100:.2f} %",
            str(c.tried) if c.tried else "",
        )
    return made
