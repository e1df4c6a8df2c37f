"""`spillgate bound`: which delays and backlogs cannot be exceeded."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict

from rich.table import Table
from rich.text import Text

from spillgate.bounds import Bounds, EndToEnd, QueueBound
from spillgate.bounds import bound as find
from spillgate.cli.machine import write_json
from spillgate.cli.text import console, show, table
from spillgate.metrics import format_value

PARTS = {
    "own": "of which\nown",
    "priority": "what goes\nfirst",
    "front": "packets\nin front",
    "shaper": "shaper",
    "share": "what others\nget",
}
"""The parts of a delay as columns."""


def bound(options: argparse.Namespace) -> int:
    """The command; returns the exit status."""
    found = find(
        options.scenario, variant=options.variant, set=options.set, confine=options.confine
    )
    if options.format == "json":
        write_json([asdict(b) for b in found])
        return 0
    out = console()
    for b in found:
        out.print(Text(b.point, style="bold"))
        if b.without_failures:
            out.print("Links fail in this scenario: these bounds hold while none does.")
        show(out, _ends("class", b.classes))
        if options.flows:
            show(out, _ends("flow", b.flows))
        show(out, _queues(b.queues))
        for line in _reasons(b, flows=options.flows):
            out.print(Text(line), soft_wrap=True)
        out.print()
    out.print(
        "Delays are of queueing and transmission; the one-way delay has propagation, too. Own: "
        "the burst that may come, or the full queue, on an empty line; the other parts add to it."
    )
    return 0


def _time(seconds: float | None) -> str:
    """Four digits, rounded up: what is printed is a bound, too."""
    if seconds is None:
        return "no bound"
    if seconds <= 0:
        return "0 s"
    step = 10.0 ** (math.floor(math.log10(seconds)) - 3)
    # A whole number of steps may be a little more or less in binary.
    return format_value(math.ceil(seconds / step - 1e-9) * step, "s")


def _size(count: int | None) -> str:
    return "" if count is None else f"{count:,} B"


def _ends(what: str, ends: Iterable[EndToEnd]) -> Table:
    made = table()
    made.add_column(what)
    made.add_column("one-way delay\nnever above", justify="right")
    made.add_column("loss in queues")
    for e in ends:
        made.add_row(e.name, _time(e.owd), "impossible" if e.lossless else "possible")
    return made


def _queues(queues: Sequence[QueueBound]) -> Table:
    made = table()
    # Only what adds to a delay here.
    parts = [p for p in PARTS if any(q.parts.get(p) for q in queues)]
    for name in ("link/queue", "classes"):
        made.add_column(name)
    for name in ("delay\nnever above", *(PARTS[p] for p in parts)):
        made.add_column(name, justify="right")
    made.add_column("own", justify="right")
    made.add_column("is the")
    made.add_column("at", justify="right")
    made.add_column("backlog\nnever above", justify="right")
    for q in queues:
        made.add_row(
            f"{q.link}/{q.queue}",
            ", ".join(q.classes),
            _time(q.delay),
            *(_time(q.parts[p]) if p in q.parts else "" for p in parts),
            _size(q.own),
            q.by or "",
            "" if q.rate is None else format_value(q.rate, "b/s"),
            _size(q.backlog),
        )
    return made


def _reasons(b: Bounds, *, flows: bool) -> list[str]:
    """Why there is no bound, a line each."""
    ends = [("class", c) for c in b.classes] + [("flow", f) for f in b.flows if flows]
    lines = [f"No bound of {what} {e.name}: {e.why}." for what, e in ends if e.why]
    return lines + [f"No bound at {q.link}/{q.queue}: {q.why}." for q in b.queues if q.why]
