"""What `spillgate explain` says: a sentence for each packet, then a table of its way."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from spillgate.cli.text import console, item, show, table
from spillgate.explain import Explanation
from spillgate.labels import words

Record = dict[str, Any]


def explanation(found: Explanation, *, ways: bool = True) -> None:
    """Everything that `spillgate explain` says; without `ways` of drops and marks only."""
    out = console()
    out.print(Text(found.name, "bold"))
    where = f", ranked by the wait at {found.at}" if found.at else ""
    out.print(Text(f"variant {found.variant}, run {found.run}{where}"))
    out.print(Text(f"repeated with the same fingerprint {found.digest}"))
    for group in found.groups:
        _group(out, group, ways=ways)


def _group(out: Console, group: Record, *, ways: bool) -> None:
    out.print()
    if ways:
        out.print(Text(f"{group['name']}: where the delay of the worst packets went", "bold"))
    if ways and not group["packets"]:
        item(out, "no packet of the measured period arrived")
    for packet in group["packets"]:
        item(out, packet["sentence"])
        if packet["hops"] and packet["delay"] is not None:
            way(out, packet)
        for note in packet["notes"]:
            item(out, note)
    for family in ("drops", "marks"):
        if group[family]:
            out.print(Text(f"{group['name']}: {family}", "bold"))
        for kind in group[family]:
            item(out, kind["sentence"])
            for one in kind["first"]:
                item(out, f"  {one['sentence']}")


def way(out: Console, packet: Record) -> None:
    """Prints where a packet's delay went, in milliseconds, hop by hop, and the sum."""
    columns = list(words("delays"))
    rows = [[h["parts"][c] for c in columns] for h in packet["hops"]]
    sums = [sum(column) for column in zip(*rows, strict=True)]
    shown = [i for i, total in enumerate(sums) if total or columns[i] in ("sending", "link")]
    grid = table()
    grid.add_column("    ms")
    grid.add_column("at")
    for i in shown:
        grid.add_column(columns[i], justify="right")
    grid.add_column("sum", justify="right")
    for hop, row in zip(packet["hops"], rows, strict=True):
        place = f"{hop['link']}/{hop['queue']}"
        cells = [_ms(row[i]) for i in shown]
        grid.add_row(f"    {hop['arrived'] / 1e12:.6f} s", place, *cells, _ms(sum(row)))
    if len(rows) > 1:
        grid.add_row("    in all", "", *(_ms(sums[i]) for i in shown), _ms(sum(sums)))
    show(out, grid)


def _ms(ps: int) -> str:
    return f"{ps / 1e9:.3f}" if ps else "0"
