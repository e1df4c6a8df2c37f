"""What `spillgate check` and `spillgate list` say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from spillgate.cli.screen import Part, table_part
from spillgate.cli.text import console, count, show, table
from spillgate.described import Listing, listings, requirements
from spillgate.metrics import format_value
from spillgate.scenario import Description

UNITS = {"1": "ratio"}
"""Units whose sign says little."""


def description(d: Description) -> Sequence[Part]:
    """Everything that `spillgate check` says of what a file describes."""
    return (
        Part(
            lambda out: _head(out, d),
            entries=1,
            some=lambda out, _: _head(out, d, classes=_NAMED),
        ),
        *map(_part, listings(d)),
        *([_part(requirements(d))] if d.sla else ()),
        Part(lambda out: out.print("The scenario is valid.\n")),
    )


def _part(of: Listing) -> Part:
    made = table()
    for n, heading in enumerate(of.table.head):
        made.add_column(heading, no_wrap=n < of.fixed)
    for row in of.table.rows:
        made.add_row(*map(Text, row))
    return table_part(made, of.rank, of.what, after=of.table.note, worth=of.worth)


_NAMED = 12
"""Classes that are named where there is no place for all."""


def _head(out: Console, d: Description, classes: int | None = None) -> int:
    out.print(Text(d.name or "(no name)", "bold"))
    named = ", ".join(d.classes[:classes])
    if classes is not None and len(d.classes) > classes:
        named += ", ..."
    flows = f"{count(d.flows, 'flow')}{_kinds(d)}"
    out.print(
        Text(f"{flows} in {count(len(d.classes), 'class', 'classes')}: {named}"), overflow="fold"
    )
    out.print(
        f"{format_value(d.duration, 's')} measured after {format_value(d.warmup, 's')} of "
        f"warm-up, series every {format_value(d.interval, 's')}"
    )
    out.print(
        f"{d.extent()} × {count(d.runs, 'run')}, seed {d.seed}, "
        f"about {format_value(float(d.memory_bytes), 'B')} of memory"
    )
    out.print(Text(f"scenario {d.hash}"))
    if d.outside:
        out.print(Text(f"files outside its folder: {', '.join(d.outside)}"), overflow="fold")
    out.print()
    return 1


def _kinds(d: Description) -> str:
    kinds = []
    if d.connections:
        kinds.append(count(d.connections, "TCP connection"))
    if d.sessions:
        kinds.append(count(len(d.sessions), "workload of sessions", "workloads of sessions"))
    return f" ({', '.join(kinds)})" if kinds else ""


def catalog(families: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Everything that `spillgate list` says."""
    out = console()
    for number, (family, entries) in enumerate(families.items()):
        if number:
            out.print()
        out.print(Text(family, "bold"))
        made = table()
        made.add_column()
        made.add_column()
        made.show_header = False
        for entry in entries:
            name = str(entry.get("kind") or entry.get("name"))
            unit = f" ({UNITS.get(entry['unit'], entry['unit'])})" if "unit" in entry else ""
            made.add_row(Text(f"  {name}"), Text(f"{entry['summary']}{unit}"))
        show(out, made)
