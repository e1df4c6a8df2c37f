"""A measured capture as text for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spillgate.cli.text import console, count, item, table
from spillgate.cli.text import show as show_table
from spillgate.errors import InputError
from spillgate.metrics import format_value

Record = Mapping[str, Any]

_LISTS = ("vlan",)
_ONE = ("direction",)


def only(assignments: Sequence[str]) -> dict[str, Any]:
    """`KEY=VALUE[,VALUE]` as the conditions of a capture.

    Example:
        >>> only(["src=10.1.0.0/16", "port=5060,5061"])
        {'src': ['10.1.0.0/16'], 'port': ['5060', '5061']}
    """
    conditions: dict[str, Any] = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        values: list[Any] = [v.strip() for v in value.split(",") if v.strip()]
        if not equals or not values:
            msg = f"error: --only {assignment}: write KEY=VALUE such as src=10.1.0.0/16"
            raise InputError(msg)
        if key in conditions:
            msg = f"error: --only {key} is given twice: write {key}=VALUE,VALUE"
            raise InputError(msg)
        if key in _LISTS:
            values = [int(v) if v.isdecimal() else v for v in values]
        conditions[key] = values[0] if key in _ONE and len(values) == 1 else values
    return conditions


def _head(out: Console, found: Record) -> None:
    """What the file is."""
    out.print(Text(found["file"], "bold"), soft_wrap=True)
    links = ", ".join(f"{name or 'interface'} {link}" for name, link in found["interfaces"])
    out.print(
        Text(
            f"{found['format']}, {links}: {count(found['packets'], 'IP packet')}, "
            f"{format_value(found['bytes'], 'B')}, {found['length']:.3f} s"
        ),
        soft_wrap=True,
    )


def show(found: Record) -> None:
    """Everything that `spillgate profile` says."""
    out = console()
    _head(out, found)
    out.print()
    show_table(out, _rates(found))
    out.print()
    show_table(out, _dispersion(found))
    out.print(
        "index of dispersion: variance of the packets in windows of a length over their mean"
    )
    out.print()
    show_table(out, _fits(found))
    out.print(
        "fit: its index of dispersion at 10 ms and 1 s; --format yaml writes it as a scenario"
    )
    groups, octets = found["omitted"]
    if groups:
        more = count(groups, "more group")
        out.print(f"{more} with {format_value(octets, 'B')} are not shown (--top)")
    if found["remarks"]:
        out.print()
        out.print(Text("Remarks", "bold"))
        for remark in found["remarks"]:
            item(out, f"! {remark}")


def _number(value: float | None, digits: int = 2) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _at(entries: Sequence[Record], window: float, key: str) -> float | None:
    for entry in entries:
        if abs(entry["window"] - window) < window / 1000:
            value: float = entry[key]
            return value
    return None


def _mega(rate: float | None) -> str:
    return "–" if rate is None else f"{rate / 1e6:.3f}"


def _columns(shown: Table, first: str, others: Sequence[str]) -> None:
    shown.add_column(first, overflow="fold")
    for name in others:
        shown.add_column(name, justify="right")


def _rates(found: Record) -> Table:
    shown = table()
    _columns(
        shown,
        found["by"],
        ["flows", "packets", "B/packet", "Mb/s", "1 ms", "10 ms", "100 ms", "1 s", "burst kB"],
    )
    for group in found["groups"]:
        shape = group["shape"]
        peaks = [_mega(_at(shape["peaks"], w, "rate")) for w in (0.001, 0.01, 0.1, 1)]
        bucket = next((b["burst"] for b in shape["buckets"] if b["factor"] == 1.5), None)
        shown.add_row(
            group["name"],
            str(group["flows"]),
            str(shape["packets"]),
            f"{shape['size']:.0f}",
            _mega(shape["rate"]),
            *peaks,
            "–" if bucket is None else f"{bucket / 1e3:.1f}",
        )
    return shown


def _dispersion(found: Record) -> Table:
    shown = table()
    _columns(
        shown,
        found["by"],
        ["I 1 ms", "10 ms", "100 ms", "1 s", "10 s", "peak/mean", "gaps c²", "sizes B"],
    )
    for group in found["groups"]:
        shape = group["shape"]
        values = [_at(shape["dispersion"], w, "packets") for w in (0.001, 0.01, 0.1, 1, 10)]
        sizes = shape["sizes"]
        span = f"{sizes[0]['size']}–{sizes[-1]['size']}" if sizes else "–"
        shown.add_row(
            group["name"],
            *[_number(v) for v in values],
            _number(shape["peak_to_mean"]),
            _number(shape["gap_cv2"]),
            span if len(sizes) != 1 else str(sizes[0]["size"]),
        )
    return shown


def _fits(found: Record) -> Table:
    shown = table()
    shown.add_column(found["by"], overflow="fold")
    shown.add_column("source like it", overflow="fold")
    for name in ("rate", "I 10 ms", "1 s"):
        shown.add_column(name, justify="right")
    shown.add_column("because", overflow="fold")
    for group in found["groups"]:
        fit = group["fit"]
        if fit is None:
            shown.add_row(group["name"], "–", "", "", "", "too few packets")
            continue
        (kind,) = fit["source"]
        times = f"{fit['count']} × " if fit["count"] > 1 else ""
        check = fit["check"]
        shown.add_row(
            group["name"],
            f"{times}{kind}",
            f"{(check['rate'] - 1) * 100:+.1f} %",
            _number(_at(check["dispersion"], 0.01, "packets")),
            _number(_at(check["dispersion"], 1, "packets")),
            fit["why"],
        )
    return shown
