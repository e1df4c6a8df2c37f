"""What a router has measured, as tables for people."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from spillgate.cli.text import console, item, show, table
from spillgate.errors import Diagnostic

Record = Mapping[str, Any]

_NUMBERS = ("offered", "dropped", "packets", "mean", "queued", "drops")


def offered(file: str, found: Record) -> None:
    """Everything that `spillgate import` says of an output of `show policy-map interface`."""
    out = console()
    for number, policy in enumerate(found["policies"]):
        if number:
            out.print()
        interface = policy["interface"] or "an interface without name"
        text = f"{interface}, {policy['direction']} policy {policy['policy']}"
        out.print(Text(f"{text} (line {policy['line']})", "bold"))
        if policy["framing"] is not None:
            out.print(f"rates and bytes count {policy['framing']} B beside each IP packet")
        shown = table()
        shown.add_column("class")
        for head in _NUMBERS:
            shown.add_column(head, justify="right")
        shown.add_column("matches")
        shown.add_row("", "kb/s", "kb/s", "", "B", "packets", "packets", "", style="dim")
        for entry in policy["classes"]:
            shown.add_row(*_row(entry))
        show(out, shown)
    periods = sorted({c["interval_s"] for p in found["policies"] for c in p["classes"]} - {None})
    spans = " and ".join(f"{s // 60} minutes" if s % 60 == 0 else f"{s} s" for s in periods)
    out.print()
    if spans:
        out.print(f"Rates are averages over {spans}; counters since they were cleared.")
    _leaves(out, found)
    for warning in found["warnings"]:
        item(out, str(Diagnostic.from_json(warning)))
    out.print(Text(f"traffic: [{{show-policy-map: {{file: {file}, ...}}}}] simulates it."))


def _row(entry: Record) -> list[str]:
    def number(value: float | None, digits: int = 0, scale: float = 1) -> str:
        return "-" if value is None else f"{value / scale:,.{digits}f}"

    packets, size = entry["packets"], entry["bytes"]
    mean = size / packets if packets and size is not None else None
    child = f" > {entry['child']}" if entry["child"] else ""
    return [
        "  " * (1 + len(entry["within"])) + entry["name"] + child,
        number(entry["offered_bps"], 1, 1e3),
        number(entry["drop_bps"], 1, 1e3),
        number(packets),
        number(mean),
        number(entry["queue_depth"]),
        number(entry["total_drops"]),
        "; ".join(entry["matches"]),
    ]


def _leaves(out: Console, found: Record) -> None:
    """Says which classes a simulation would have to be told of."""
    for policy in found["policies"]:
        unknown = [
            c["name"]
            for c in policy["classes"]
            if not c["dscp"]
            and not c["child"]
            and c["offered_bps"]
            and c["name"] != "class-default"
            and "any" not in c["matches"]
        ]
        if unknown:
            names = ", ".join(unknown)
            text = (
                f"{policy['policy']}: no code point is known of {names}: write it under `classes`."
            )
            item(out, text)
