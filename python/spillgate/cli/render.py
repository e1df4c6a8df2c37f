"""Text for people: tables that fit the width, symbols with words, color only on top."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from spillgate import __commit__, __version__
from spillgate.cli.progress import duration
from spillgate.metrics import column_decimals, format_cell, format_value, scale_for
from spillgate.result import Results
from spillgate.rows import VERDICT_MARKS, Row, measured
from spillgate.scenario import Description

COLUMNS = (
    ("offered", "offered"),
    ("throughput", "throughput"),
    ("loss", "loss_ratio"),
    ("delay", "owd_mean"),
    ("p99", "owd_p99"),
    ("jitter", "jitter"),
    ("pdv", "pdv"),
)
"""Columns of the class table: heading and metric."""

UNITS = {"1": "ratio"}
"""Units whose sign says little."""

_COLORS = {"pass": "green", "fail": "bold red", "undecided": "yellow"}


class _Console(Console):
    def on_broken_pipe(self) -> None:
        # Rich would end the program with status 1, which means "a requirement is not met".
        raise BrokenPipeError


def console() -> Console:
    """Standard output; 100 columns where no terminal says otherwise."""
    width = None if sys.stdout.isatty() else int(os.environ.get("COLUMNS") or 100)
    if sys.stdout.isatty():
        width = shutil.get_terminal_size((100, 40)).columns
    return _Console(width=max(40, width or 100), highlight=False, soft_wrap=False, emoji=False)


@dataclass(frozen=True)
class Detail:
    """How much the class table shows; tried in turn until it fits."""

    intervals: frozenset[str]
    hidden: frozenset[str] = frozenset()


_ALL = frozenset(metric for _, metric in COLUMNS)
DETAILS = (
    Detail(_ALL),
    Detail(_ALL - {"offered"}),
    Detail(_ALL - {"offered", "throughput", "jitter", "pdv"}),
    Detail(frozenset({"owd_mean", "loss_ratio"})),
    Detail(frozenset({"owd_mean"})),
    Detail(frozenset()),
    Detail(frozenset(), frozenset({"pdv"})),
    Detail(frozenset(), frozenset({"pdv", "jitter"})),
    Detail(frozenset(), frozenset({"pdv", "jitter", "offered"})),
    Detail(frozenset(), frozenset({"pdv", "jitter", "offered", "throughput"})),
)


def _table() -> Table:
    return Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")


def results(
    found: Results, directory: Path | None, figures: Sequence[Path], *, brief: bool = False
) -> None:
    """Everything that `spillgate run` says."""
    out = console()
    if not brief:
        _header(out, found)
        if found.runs:
            class_table(out, found)
    verdict_table(out, found)
    if brief:
        return
    notes(out, found.description)
    if directory is not None:
        out.print(Text.assemble(("Results ", "bold"), f"in {directory}"), overflow="fold")
    if figures:
        out.print(Text("Figures", "bold"))
        for figure in figures:
            out.print(Text(f"  {figure}"), overflow="fold")


def _header(out: Console, found: Results) -> None:
    d = found.description
    out.print(Text(d.name or found.scenario_path.name, "bold"))
    events = sum(r.events for r in found.runs)
    campaign = ", ".join(
        (
            f"{_count(len(d.variants), 'variant')} × {_count(d.runs, 'run')}",
            _count(d.flows, "flow"),
            f"{format_value(d.duration, 's')} measured",
            f"{format_value(d.warmup, 's')} warm-up",
        )
    )
    effort = f"{events / 1e6:.3g} M events in {_seconds(found.wall_s)}"
    lines = (
        campaign,
        f"seed {d.seed}, scenario {d.hash}",
        f"{effort}, spillgate {__version__} ({__commit__})",
    )
    for line in lines:
        out.print(Text(line))
    out.print()


def _seconds(wall_s: float) -> str:
    return f"{wall_s:.1f} s" if wall_s < 10 else duration(wall_s)


def _show(out: Console, table: Table) -> None:
    """Prints a table without the blanks that fill its last column."""
    with out.capture() as captured:
        out.print(table)
    text = "\n".join(line.rstrip() for line in captured.get().splitlines())
    out.out(text, highlight=False)


def _item(out: Console, text: str) -> None:
    """Prints an indented entry whose further lines hang below its first word."""
    for number, line in enumerate(text.splitlines() or [""]):
        first = "  " if number == 0 else "    "
        wrapped = textwrap.wrap(
            line,
            out.width,
            initial_indent=first,
            subsequent_indent="    ",
            break_long_words=False,
            break_on_hyphens=False,
        )
        for piece in wrapped:
            out.print(Text(piece), overflow="fold")


def _count(n: int, what: str, plural: str = "") -> str:
    return f"{n} {what}" if n == 1 else f"{n} {plural or what + 's'}"


def class_table(out: Console, found: Results) -> None:
    """Means with half-widths of 95 % intervals by variant and class."""
    rows: dict[tuple[str, str], dict[str, Row]] = {}
    for row in found.classes():
        rows.setdefault((row.variant, row.name), {})[row.metric] = row
    for detail in DETAILS:
        table = _class_table(rows, detail)
        if _width(out, table) <= out.width:
            break
    _show(out, table)
    alone = all(r.low is None for cells in rows.values() for r in cells.values())
    legend = "one run, so no intervals" if alone else "± half-width of the 95 % interval"
    missing = [heading for heading, metric in COLUMNS if metric in detail.hidden]
    if missing:
        legend += f"; more columns ({', '.join(missing)}) in a wider terminal"
    elif detail.intervals < _ALL - {"offered"} and not alone:
        legend += "; more of them in a wider terminal"
    text = f"delay: one-way, mean; pdv: 99.9 % − minimum; {legend}"
    for line in textwrap.wrap(text, out.width):
        out.print(Text(line, "dim"))
    out.print()


def _width(out: Console, table: Table) -> int:
    # Measured without the console's limit, or everything would seem to fit.
    return Measurement.get(out, out.options.update(width=1000), table).maximum


def _class_table(rows: Mapping[tuple[str, str], Mapping[str, Row]], detail: Detail) -> Table:
    table = _table()
    # A scenario without variants has one, which is called like the scenario.
    several = len({variant for variant, _ in rows}) > 1
    if several:
        table.add_column("variant", no_wrap=True)
    table.add_column("class", no_wrap=True)
    shown = [(h, m) for h, m in COLUMNS if m not in detail.hidden]
    scales, decimals = {}, {}
    for heading, metric in shown:
        values = [cells[metric] for cells in rows.values() if metric in cells]
        unit = values[0].unit if values else ""
        scales[metric] = scale_for(unit, [v.mean for v in values])
        decimals[metric] = column_decimals(scales[metric], [v.mean for v in values])
        table.add_column(f"{heading}\n{scales[metric].unit}", justify="right", no_wrap=True)
    last = None
    for (variant, cls), cells in rows.items():
        if last is not None and variant != last:
            table.add_row()
        texts = [
            format_cell(
                cells[m].mean,
                cells[m].half,
                scales[m],
                decimals[m],
                interval=m in detail.intervals,
            )
            if m in cells
            else "–"
            for _, m in shown
        ]
        names = [Text(variant if variant != last else "")] if several else []
        table.add_row(*names, Text(cls), *texts)
        last = variant
    return table


def verdict_table(out: Console, found: Results) -> None:
    """The requirements, judged."""
    if not found.verdicts:
        if found.runs:
            out.print("No requirements stated (sla).")
        return
    table = _table()
    further = any(v.verdict == "undecided" for v in found.verdicts)
    several = len({v.variant for v in found.verdicts}) > 1
    if several:
        table.add_column("variant")
    for heading in ("class", "requirement", "measured", "verdict"):
        table.add_column(heading, justify="right" if heading == "measured" else "left")
    if further:
        table.add_column("further runs", justify="right")
    last = None
    for v in found.verdicts:
        if last is not None and v.variant != last:
            table.add_row()
        more = "" if v.verdict != "undecided" else str(v.further_runs or "out of reach")
        table.add_row(
            *([Text(v.variant if v.variant != last else "")] if several else []),
            Text(v.cls),
            Text(v.requirement),
            Text(measured(v)),
            Text(VERDICT_MARKS[v.verdict], _COLORS[v.verdict]),
            *([more] if further else []),
        )
        last = v.variant
    _show(out, table)
    count = {k: sum(v.verdict == k for v in found.verdicts) for k in VERDICT_MARKS}
    said = [f"{n} {k}" for k, n in count.items() if n]
    out.print(Text(f"{', '.join(said)} of {_count(len(found.verdicts), 'requirement')}", "bold"))
    out.print()


def notes(out: Console, d: Description) -> None:
    """Warnings, and configuration lines without effect."""
    if d.warnings:
        out.print(Text("Warnings", "bold"))
        for warning in d.warnings:
            _item(out, f"! {warning}")
    if d.unmodelled:
        out.print(Text("Configuration lines without effect", "bold"))
        for u in d.unmodelled:
            _item(out, f"{u.file}:{u.line}: {u.text.strip()} ({u.reason})")
    if d.warnings or d.unmodelled:
        out.print()


def description(d: Description) -> None:
    """Everything that `spillgate check` says."""
    out = console()
    out.print(Text(d.name or "(no name)", "bold"))
    out.print(
        Text(
            f"{_count(d.flows, 'flow')} in {_count(len(d.classes), 'class', 'classes')}: "
            f"{', '.join(d.classes)}"
        ),
        overflow="fold",
    )
    out.print(
        f"{format_value(d.duration, 's')} measured after {format_value(d.warmup, 's')} of "
        f"warm-up, series every {format_value(d.interval, 's')}"
    )
    out.print(
        f"{_count(len(d.variants), 'variant')} × {_count(d.runs, 'run')}, seed {d.seed}, "
        f"at most about {format_value(float(d.memory_bytes), 'B')} of memory"
    )
    out.print(Text(f"scenario {d.hash}"))
    out.print()
    table = _table()
    for heading in ("link", "from → to", "rate", "delay", "policy"):
        table.add_column(heading, no_wrap=heading != "policy")
    for i, link in enumerate(d.links):
        names = [p[i] for p in d.policies if i < len(p)]
        policy = names[0] if len(set(names)) == 1 else f"{', '.join(names)} (by variant)"
        table.add_row(
            Text(str(link["name"])),
            Text(f"{link['from']} → {link['to']}"),
            format_value(link["rate"], "b/s"),
            format_value(link["delay"], "s"),
            Text(policy),
        )
    _show(out, table)
    out.print()
    if d.sla:
        table = _table()
        table.add_column("class")
        table.add_column("requirement")
        for record in d.sla:
            table.add_row(Text(str(record["class"])), Text(requirement(record)))
        _show(out, table)
        out.print()
    notes(out, d)
    out.print("The scenario is valid.")


def requirement(record: Mapping[str, Any]) -> str:
    """A requirement of a description as text.

    Example:
        >>> requirement({"metric": "jitter", "unit": "s", "max": 0.03, "min": None})
        'jitter ≤ 30 ms'
    """
    bounds = [
        f"{sign} {format_value(record[side], record['unit'])}"
        for side, sign in (("min", "≥"), ("max", "≤"))
        if record.get(side) is not None
    ]
    return f"{record['metric']} {' and '.join(bounds)}"


def catalog(families: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Everything that `spillgate list` says."""
    out = console()
    for number, (family, entries) in enumerate(families.items()):
        if number:
            out.print()
        out.print(Text(family, "bold"))
        table = _table()
        table.add_column()
        table.add_column()
        table.show_header = False
        for entry in entries:
            name = str(entry.get("kind") or entry.get("name"))
            unit = f" ({UNITS.get(entry['unit'], entry['unit'])})" if "unit" in entry else ""
            table.add_row(Text(f"  {name}"), Text(f"{entry['summary']}{unit}"))
        _show(out, table)
