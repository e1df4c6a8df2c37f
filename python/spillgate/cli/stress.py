"""`spillgate stress`: the cross traffic that hurts a class most."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING

from rich.text import Text

from spillgate.cli import INTERRUPTED
from spillgate.cli.machine import write_json
from spillgate.cli.text import console, show, table
from spillgate.cross import SCENARIO
from spillgate.errors import OutputError
from spillgate.labels import short_of
from spillgate.metrics import format_number, format_value, scale_of
from spillgate.run import Interrupted
from spillgate.stress import PACKETS, Stressed
from spillgate.stress import stress as search

if TYPE_CHECKING:
    from spillgate.cli.signals import Stop

TRAFFIC = {
    "none": "none",
    "cbr": "as much at a constant rate",
    "poisson": "as much at random (Poisson)",
    "worst": "the worst found",
}
"""Kinds of cross traffic in words."""


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
    o = found.objective
    out.print(Text(found.sentence.replace(". ", ".\n")), soft_wrap=True)
    scale = scale_of(o.metric, o.unit, [b.mean for b in found.beside])
    unit = f" ({scale.unit})" if scale.unit else ""
    made = table()
    made.add_column("cross traffic")
    made.add_column(f"{short_of(o.metric)}{unit}", justify="right")
    for b in found.beside:
        made.add_row(TRAFFIC[b.traffic], Text(format_number(b.mean, b.half, scale)))
    if found.bound is not None:
        made.add_row("cannot exceed", Text(format_number(found.bound, None, scale)))
    show(out, made)
    e = found.envelope
    origin = {n: "" if n in found.stated else " (from the line)" for n in ("rate", "burst")}
    total = found.sources * len(found.kinds)
    whose = "The source keeps" if total == 1 else f"Each of {total} sources keeps"
    out.print(
        Text(
            f"{whose} "
            f"{format_value(e.rate, 'b/s')}{origin['rate']} with bursts of {e.burst:,} B"
            f"{origin['burst']}, in packets of {e.packet:,} B; "
            f"in the mean {format_value(found.mean_rate, 'b/s')} come."
        ),
        soft_wrap=True,
    )
    for kind, pattern in zip(found.kinds, found.patterns, strict=True):
        begins = ", ".join(f"{p / 1e9:.4g}" for p in pattern.phases)
        out.print(Text(f"{kind.name}: {pattern}; from {begins} ms on."), soft_wrap=True)
    runs = len(found.beside[-1].values)
    out.print(
        Text(
            f"{found.looked} candidates were run; in the search it was "
            f"{format_value(found.searched, o.unit)}. "
            f"The table is of {runs} runs each with fresh seeds."
        ),
        soft_wrap=True,
    )
