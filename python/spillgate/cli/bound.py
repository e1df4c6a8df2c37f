"""`spillgate bound`: which delays and backlogs cannot be exceeded."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict

from rich.table import Table
from rich.text import Text

from spillgate.bounds import Bounds, Delay, EndToEnd, QueueBound
from spillgate.bounds import bound as find
from spillgate.cli.machine import write_json
from spillgate.cli.text import console, show, table
from spillgate.labels import mark_of, words
from spillgate.metrics import format_ceiling, format_value
from spillgate.rows import Verdict

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
        options.scenario,
        variant=options.variant,
        set=options.set,
        sla=options.sla,
        confine=options.confine,
    )
    proven = all(v.verdict == "pass" for b in found for v in b.certain)
    status = 0 if proven else int(words("verdicts")["undecided"]["status"])
    if options.format == "json":
        write_json([asdict(b) for b in found])
        return status
    out = console()
    for b in found:
        out.print(Text(b.point, style="bold"))
        if b.without_failures:
            out.print("Links fail in this scenario: these bounds hold while none does.")
        show(out, _ends("class", b.classes))
        if options.flows:
            show(out, _ends("flow", b.flows))
        show(out, _queues(b.queues))
        for line in (*_reasons(b, flows=options.flows), *_halved(b)):
            out.print(Text(line), soft_wrap=True)
        if b.certain:
            show(out, _certain(b.certain))
        out.print()
    out.print(
        "Delays are of queueing and transmission; the one-way delay has propagation, too. Own: "
        "the burst that may come, or the full queue, on an empty line; other parts add to it."
    )
    return status


def _time(seconds: float | None) -> str:
    return "no bound" if seconds is None else format_ceiling(seconds, "s")


def _size(count: float | None) -> str:
    return "" if count is None else f"{count:,.0f} B"


def _ends(what: str, ends: Sequence[EndToEnd]) -> Table:
    made = table()
    parts = _parts(d for e in ends for d in e.steps)
    made.add_column(what)
    made.add_column("one-way delay\nnever above", justify="right")
    made.add_column("loss")
    made.add_column("of which")
    for name in ("there", *(PARTS[p] for p in parts)):
        made.add_column(name, justify="right")
    for e in ends:
        cells = [e.name, _time(e.owd), "impossible" if e.lossless else "possible"]
        if e.propagation:
            made.add_row(*cells, "propagation", _time(e.propagation))
            cells = [""] * 3
        for step in e.steps:
            made.add_row(*cells, f"{step.link}/{step.queue}", *_delay(step, parts))
            cells = [""] * 3
        if e.once:
            made.add_row(*cells, "bursts count once", f"-{_time(e.once)}")
        if not e.steps:
            made.add_row(*cells)
    return made


def _parts(delays: Iterable[Delay]) -> list[str]:
    """The parts that add to any of these delays."""
    found = {part for d in delays for part, time in d.parts.items() if time}
    return [part for part in PARTS if part in found]


def _delay(delay: Delay, parts: Iterable[str]) -> list[str]:
    """The cells of a delay and its parts."""
    return [
        _time(delay.delay),
        *(_time(delay.parts[p]) if p in delay.parts else "" for p in parts),
    ]


def _certain(verdicts: Iterable[Verdict]) -> Table:
    """What is required for certain."""
    made = table()
    for name in ("class", "requirement", "known", "verdict"):
        made.add_column(name)
    for v in verdicts:
        # No run is made: what is not proven is open.
        made.add_row(v.whose, v.requirement, v.measured, mark_of(v.verdict, v.said))
    return made


def _queues(queues: Iterable[QueueBound]) -> Table:
    made = table()
    for name in ("link/queue", "classes"):
        made.add_column(name)
    made.add_column("delay\nnever above", justify="right")
    made.add_column("own", justify="right")
    made.add_column("is the")
    made.add_column("guaranteed", justify="right")
    made.add_column("backlog\nnever above", justify="right")
    made.add_column("loss")
    for q in queues:
        made.add_row(
            f"{q.link}/{q.queue}",
            ", ".join(q.classes),
            _time(q.delay),
            _size(q.own),
            q.by or "",
            "" if q.rate is None else format_value(q.rate, "b/s"),
            _size(q.backlog),
            "impossible" if q.lossless else "possible",
        )
    return made


CHANGES = {
    "packets": "a queue limit of {} packets (now {})",
    "limit": "a queue limit of {} (now {})",
    "burst": "a burst of {} (now {})",
    "priority": "{} of what goes first (now {})",
    "front": "{} of packets in front (now {})",
    "shaper": "{} of delay by the shaper (now {})",
    "share": "{} of what others get (now {})",
}
"""What halves a bound, in words."""

UNITS = {"packets": "{:.0f}".format, "limit": _size, "burst": _size}
"""How these are printed; all else is a time."""


def _halved(b: Bounds) -> Iterator[str]:
    """What halves the bounds of classes, a line each."""
    for c in b.classes:
        if c.owd is None:
            continue
        ways = []
        for h in c.halved:
            unit = UNITS.get(h.what, _time)
            change = CHANGES[h.what].format(unit(h.most), unit(h.now))
            ways.append(f"{change} at {h.link}/{h.queue}")
        if not ways and (c.propagation or 0) > c.owd / 2:
            ways = [f"nothing at a queue: propagation is {_time(c.propagation)}"]
        yield f"To halve {c.name}: {', or '.join(ways) or 'no single change is enough'}."


def _reasons(b: Bounds, *, flows: bool) -> Iterator[str]:
    """Why there is no bound, each reason once."""
    of: dict[str, list[str]] = {}
    for e in (*b.classes, *(b.flows if flows else ())):
        if e.why:
            of.setdefault(e.why, []).append(e.name)
    for q in b.queues:
        if q.why:
            of.setdefault(q.why, []).append(f"{q.link}/{q.queue}")
    for why, names in of.items():
        yield f"No bound of {', '.join(names)}: {why}."
