"""The tables that `spillgate run` prints of what was measured: classes, TCP in classes, nodes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spillgate.cli.text import add_metric, legend, show, table, width
from spillgate.cli.verdicts import worst_first
from spillgate.labels import is_a, short_of, tcp_columns, times, words
from spillgate.metrics import (
    column_decimals,
    format_cell,
    format_count,
    format_value,
    scale_for,
    scale_of,
)
from spillgate.nodes import line_rows, node_rows, port_rows, switch_rows
from spillgate.profiles import end_rows, meter_rows, queue_rows
from spillgate.result import Results
from spillgate.rows import Difference, Row

COLUMNS = (
    "offered",
    "throughput",
    "loss_ratio",
    "owd_mean",
    "owd_p99",
    "jitter",
    "pdv",
    "mos",
)
"""Metrics of the class table."""

UNITS = {"packets": "", "events": "", "transfers": "", "score": ""}
"""Units that the heading says already."""


@dataclass(frozen=True)
class Detail:
    """How much the class table shows; tried in turn until it fits."""

    intervals: frozenset[str]
    hidden: frozenset[str] = frozenset()


_ALL = frozenset(COLUMNS)
_TIMES = frozenset(times("tcp"))
_TCP = _TIMES | {"goodput"}
_COUNTS = frozenset({"transfers_begun", "transfers_done"})
DETAILS = (
    Detail(_ALL),
    Detail(_ALL - {"offered"}),
    Detail(_ALL - {"offered", "throughput", "jitter", "pdv", "mos"}),
    Detail(frozenset({"owd_mean", "loss_ratio"})),
    Detail(frozenset({"owd_mean"})),
    Detail(frozenset()),
    Detail(frozenset(), frozenset({"pdv"})),
    Detail(frozenset(), frozenset({"pdv", "jitter"})),
    Detail(frozenset(), frozenset({"pdv", "jitter", "offered"})),
    Detail(frozenset(), frozenset({"pdv", "jitter", "offered", "throughput"})),
)
TCP_DETAILS = (
    Detail(_TCP),
    Detail(_TCP - {"fct_p50", "fct_p99"}),
    Detail(frozenset({"goodput", "fct_p95"})),
    Detail(frozenset()),
    Detail(frozenset(), frozenset({"timeouts"})),
    Detail(frozenset(), frozenset({"timeouts", "fct_p50"})),
    Detail(frozenset(), frozenset({"timeouts", "fct_p50", "fct_p99"}) | _COUNTS),
    Detail(frozenset(), frozenset({"timeouts", "fct_p50", "fct_p99", "retransmits"}) | _COUNTS),
)

Columns = Sequence[str]
Cells = Mapping[tuple[str, str], Mapping[str, Row]]


def class_table(out: Console, found: Results, most: int | None = None) -> int:
    """Means with half-widths of 95 % intervals by variant and class; how many of them.

    At most so many: those that miss requirements by most, then those that lose most.
    """
    rows = _cells(found)
    if most is not None:
        missed: dict[tuple[str, str], int] = {}
        for number, v in enumerate(worst_first(found.verdicts)):
            if v.verdict != "pass":
                missed.setdefault((v.variant, v.cls), number)
        first = sorted(rows, key=lambda at: (missed.get(at, math.inf), -_lost(rows[at])))[:most]
        rows = {at: cells for at, cells in rows.items() if at in first}
    speech = any("mos" in cells for cells in rows.values())
    columns = [m for m in COLUMNS if speech or m != "mos"]
    # A scenario without variants has one, which is called like the scenario.
    several = len({row.variant for row in found.classes()}) > 1
    detail = _fitting(out, rows, columns, DETAILS, several=several)
    alone = all(r.low is None for cells in rows.values() for r in cells.values())
    sign = "one run, so no intervals" if alone else "± half-width of the 95 % interval"
    if detail.hidden:
        sign += _hidden(columns, detail)
    elif detail.intervals < _ALL - {"offered"} and not alone:
        sign += "; more of them in a wider terminal"
    meaning = "delay: one-way; PDV: 99.9 % − minimum"
    if speech:
        meaning += "; MOS: speech, 1 to 4.5"
    legend(out, f"{meaning}; {sign}")
    return len(rows)


def tcp_table(out: Console, found: Results) -> None:
    """What TCP did, by variant and class; nothing where there is none."""
    rows = {at: cells for at, cells in _cells(found).items() if "goodput" in cells}
    if not rows:
        return
    shared = any(c["jain"].mean not in (None, 1.0) for c in rows.values() if "jain" in c)
    every = tcp_columns(shared=shared)
    values = {m: [cells[m].mean for cells in rows.values() if m in cells] for m in every}
    # Endless connections alone have nothing to say about transfers.
    idle = {m for m in every if is_a("rare", m)}
    if not any(values["transfers_done"]):
        idle |= _TIMES | _COUNTS
    columns = [m for m in every if m not in idle or any(values[m])]
    if any(values["transfers_failed"]):
        columns = [m for m in every if m in _COUNTS or m in columns]
    several = len({variant for variant, _ in rows}) > 1
    detail = _fitting(out, rows, columns, TCP_DETAILS, several=several)
    parts = ["goodput: each byte once; retransmits: segments"]
    shown = set(columns) - detail.hidden
    if "jain" in shown:
        parts.append("fairness: Jain's index, 1 if all have alike, 1/n if one of n has all")
    if shown & _COUNTS:
        parts.append("begun, done: transfers")
    if shown & _TIMES:
        parts.append("time: of those that completed")
    text = "; ".join(parts) + _hidden(columns, detail)
    if not detail.hidden and detail.intervals < _TCP:
        text += "; intervals in a wider terminal"
    legend(out, text)


_COMPARED = (
    "throughput",
    "goodput",
    "loss_ratio",
    "owd_mean",
    "owd_p99",
    "jitter",
    "mos",
    "fct_p95",
)
"""Metrics of the table of differences."""


def difference_table(out: Console, found: Results) -> None:
    """The other variants compared with one, run by run; nothing where there is one variant."""
    rows: dict[tuple[str, str], dict[str, Difference]] = {}
    for d in found.differences():
        rows.setdefault((d.variant, d.cls), {})[d.metric] = d
    if not rows:
        return
    columns = [
        m
        for m in _COMPARED
        if any(m in cells and cells[m].mean is not None for cells in rows.values())
    ]
    hidden: list[str] = []
    while True:
        shown = _difference_table(rows, columns)
        if width(out, shown) <= out.width or len(columns) == 1:
            break
        # What is in the files is named, not shown.
        least = next(m for m in _LEAST if m in columns)
        hidden.append(short_of(least))
        columns.remove(least)
    out.print(Text(f"Compared with {found.description.against}, run by run", "bold"))
    show(out, shown)
    of = words("effects")
    said = {name: f"{effect['mark']} {effect['label']}".strip() for name, effect in of.items()}
    meaning = (
        f"{said['better']}, {said['worse']}, {of['more']['mark']} {of['less']['mark']} more or "
        f"less where neither is better, {said['not shown']}, at 95 % each; 0 the {said['same']}"
    )
    if hidden:
        meaning += f"; {', '.join(hidden)} in a wider terminal"
    legend(out, meaning)


_LEAST = ("jitter", "throughput", "fct_p95", "owd_mean", "mos", "goodput", "owd_p99", "loss_ratio")
"""In which order columns of differences are left out."""


def _difference_table(
    rows: Mapping[tuple[str, str], Mapping[str, Difference]], columns: Columns
) -> Table:
    made = table()
    made.add_column("variant", no_wrap=True)
    made.add_column("class", no_wrap=True)
    scales, decimals = {}, {}
    for metric in columns:
        cells = [c[metric] for c in rows.values() if metric in c]
        scales[metric] = scale_for(cells[0].unit, [c.mean for c in cells], difference=True)
        decimals[metric] = column_decimals(scales[metric], [abs(c.mean or 0.0) for c in cells])
        add_metric(made, metric, UNITS.get(cells[0].unit, scales[metric].unit))
    last, marks = None, {name: e["mark"] for name, e in words("effects").items()}
    for (variant, cls), of in rows.items():
        texts = []
        for m in columns:
            d = of.get(m)
            text = "–"
            if d is not None and d.mean is not None:
                text = format_cell(abs(d.mean), d.half, scales[m], decimals[m])
                if d.mean and text != "0":
                    text = ("+" if d.mean > 0.0 else "−") + text
                text = f"{text} {marks[d.effect]}".rstrip()
            texts.append(text)
        if last not in (None, variant):
            made.add_row()
        made.add_row(Text(variant if variant != last else ""), Text(cls), *texts)
        last = variant
    return made


def input_table(out: Console, found: Results) -> None:
    """What policies let in where packets arrive, by variant and class; nothing without any."""
    cells: dict[tuple[str, str], dict[str, float]] = {}
    for row in found.table(scope="input"):
        cells.setdefault((row.variant, row.name), {})[row.metric] = row.mean or 0.0
    if not cells:
        return
    several = len({variant for variant, _ in cells}) > 1
    made = table()
    for heading in (
        *(("variant",) if several else ()),
        "arriving",
        "offered",
        "let in",
        "dropped",
    ):
        made.add_column(heading, justify="left" if heading in ("variant", "arriving") else "right")
    for (variant, name), values in cells.items():
        made.add_row(
            *((Text(variant),) if several else ()),
            Text(name),
            format_value(values["offered"], "b/s"),
            format_value(values["carried"], "b/s"),
            format_count(values["drops_policer"]),
        )
    show(out, made)
    legend(out, "policies where packets arrive, link/class; dropped: packets in a run, mean")


def node_table(out: Console, found: Results) -> None:
    """What was in profile, how busy nodes with `forwarding` were, and switches, by variant."""
    for nodes, what in (
        (meter_rows(found), "meters"),
        (queue_rows(found), "queues by drop precedence"),
        (end_rows(found), "classes by drop precedence"),
        (node_rows(found), "nodes that hold packets"),
        (switch_rows(found), "switches"),
        (port_rows(found), "output ports of ATM switches"),
        (line_rows(found), "lines that circuits of ATM share"),
    ):
        if nodes is None:
            continue
        made = table()
        names = {"variant", *(scope["short"] for scope in words("scopes").values())}
        for heading in nodes.head:
            if heading in names:
                # Half of a name may be that of another thing.
                made.add_column(heading, overflow="fold")
            else:
                made.add_column(heading, justify="right")
        for row in nodes.rows:
            made.add_row(*map(Text, row))
        show(out, made)
        legend(out, f"{what}; {nodes.note}")


def _cells(found: Results) -> dict[tuple[str, str], dict[str, Row]]:
    rows: dict[tuple[str, str], dict[str, Row]] = {}
    for row in found.classes():
        rows.setdefault((row.variant, row.name), {})[row.metric] = row
    return rows


def _lost(cells: Mapping[str, Row]) -> float:
    return cells["loss_ratio"].mean or 0.0 if "loss_ratio" in cells else 0.0


def _hidden(columns: Columns, detail: Detail) -> str:
    missing = [short_of(m) for m in columns if m in detail.hidden]
    return f"; more columns ({', '.join(missing)}) in a wider terminal" if missing else ""


def _fitting(
    out: Console, rows: Cells, columns: Columns, details: Sequence[Detail], *, several: bool
) -> Detail:
    """Shows the first of `details` that fits the width, or the last; which one."""
    for detail in details:
        left = [m for m in columns if m not in detail.hidden]
        shown = _class_table(rows, left, detail, several=several)
        if width(out, shown) <= out.width:
            break
    show(out, shown)
    return detail


def _class_table(rows: Cells, shown: Columns, detail: Detail, *, several: bool) -> Table:
    made = table()
    if several:
        made.add_column("variant", no_wrap=True)
    made.add_column("class", no_wrap=True)
    scales, decimals = {}, {}
    for metric in shown:
        # Times of transfers are compared with each other.
        alike = _TIMES if metric in _TIMES else {metric}
        found = [c[m] for c in rows.values() for m in alike if m in c]
        unit = found[0].unit if found else ""
        scales[metric] = scale_of(metric, unit, [v.mean for v in found])
        means = [c[metric].mean for c in rows.values() if metric in c]
        decimals[metric] = column_decimals(scales[metric], means)
        shown_unit = UNITS.get(unit, scales[metric].unit)
        add_metric(made, metric, shown_unit)
    last = None
    for (variant, cls), cells in rows.items():
        if last is not None and variant != last:
            made.add_row()
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
            for m in shown
        ]
        names = [Text(variant if variant != last else "")] if several else []
        made.add_row(*names, Text(cls), *texts)
        last = variant
    return made
