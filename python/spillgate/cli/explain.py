"""What `spillgate explain` says: a sentence for each packet, then a table of its way."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from spillgate.cli.text import console, item, show, table
from spillgate.explain import Explanation
from spillgate.labels import reason_of
from spillgate.sentences import PS_PER_S, hop_parts, mark_words, packets

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
            _way(out, packet)
        for note in _notes(packet):
            item(out, note)
    if group["drops"]:
        out.print(Text(f"{group['name']}: drops", "bold"))
    for kind in group["drops"]:
        _drops(out, kind)
    if group["marks"]:
        out.print(Text(f"{group['name']}: marks", "bold"))
    for kind in group["marks"]:
        count = packets(kind["packets"])
        item(out, f"{kind['link']}/{kind['queue']}: {count}, congestion experienced (marks_ce)")
        for one in kind["first"]:
            item(out, f"  {one['sentence']}")


def _way(out: Console, packet: Record) -> None:
    """Times in milliseconds, hop by hop; the last line is their sum."""
    columns = ("node", "own", "priority", "others", "wire", "tokens", "sending", "link")
    rows = [[hop_parts(h)[c] for c in columns] for h in packet["hops"]]
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
        grid.add_row(f"    {hop['arrived'] / PS_PER_S:.6f} s", place, *cells, _ms(sum(row)))
    if len(rows) > 1:
        grid.add_row("    in all", "", *(_ms(sums[i]) for i in shown), _ms(sum(sums)))
    show(out, grid)


def _ms(ps: int) -> str:
    return f"{ps / 1e9:.3f}" if ps else "0"


def _labels(stack: list[Record]) -> str:
    return "the label" if len(stack) == 1 else "the labels"


def _notes(packet: Record) -> list[str]:
    notes = []
    for hop in packet["hops"]:
        if hop["labels"]:
            stack = ", ".join(f"{x['label']} (EXP {x['exp']})" for x in hop["labels"])
            notes.append(f"{hop['link']} carried it under {_labels(hop['labels'])} {stack}")
        if hop["dscp"] is not None:
            before, after = hop["dscp"]
            notes.append(f"{hop['link']} changed its DSCP from {before} to {after}")
        if hop["marked_ce"]:
            why = f": {mark_words(hop['mark'])}" if hop["mark"] else ""
            notes.append(f"{hop['link']} marked it with congestion experienced{why}")
    segment = packet["segment"]
    if packet["acknowledgment"] and segment:
        notes.append(f"it acknowledged {segment['ack']:,} B of data")
    elif segment and len(segment["transmissions"]) > 1:
        said = []
        for t in segment["transmissions"]:
            words = f"{t['sent'] / PS_PER_S:.6f} s"
            if t["after_timeout"]:
                words += " after a time-out"
            if t["lost"]:
                place = f" at {t['lost']['link']}" if t["lost"]["link"] else ""
                words += f" (lost{place}: {reason_of(t['lost']['reason'])})"
            said.append(words)
        notes.append(f"its segment {segment['seq']} was sent {len(said)} times: {', '.join(said)}")
    return notes


def _drops(out: Console, kind: Record) -> None:
    place = kind["link"] or "nodes"
    if kind["queue"] is not None:
        place = f"{place}/{kind['queue']}"
    count = packets(kind["packets"])
    item(out, f"{place}: {count}, {reason_of(kind['reason'])} ({kind['reason']})")
    for one in kind["first"]:
        item(out, f"  {one['sentence']}")
