"""The tables that `spillgate run` prints of what was measured: classes, TCP in classes, nodes."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spillgate.cli.text import add_metric, fresh, legend, show, table, width
from spillgate.labels import is_a, needing, short_of, tcp_columns, times, words
from spillgate.metrics import column_decimals, format_cell, scale_for
from spillgate.nodes import KINDS, node_rows
from spillgate.proofs import worst_first
from spillgate.result import Results
from spillgate.rows import Difference, Row
from spillgate.tables import (
    BOUND,
    BY_FORMULA,
    EXPECTED,
    NEVER,
    SAID,
    Cells,
    Column,
    ceiling_of,
    cells,
    columns,
    outage_table,
    waiting,
    with_expected,
)

COLUMNS = (
    "offered",
    "throughput",
    "loss_ratio",
    "owd_mean",
    EXPECTED,
    "owd_p99",
    "owd_max",
    BOUND,
    "jitter",
    "pdv",
    "mos",
)
"""Columns of the class table."""


@dataclass(frozen=True)
class Detail:
    """How much the class table shows; tried in turn until it fits."""

    intervals: frozenset[str]
    hidden: frozenset[str] = frozenset()


_ALL = frozenset(COLUMNS)
_TIMES = frozenset(times("tcp"))
_WAITS = frozenset(times("admission"))
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
    Detail(frozenset(), frozenset({"pdv", "jitter", "offered", "throughput", "owd_max"})),
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

ADMISSION_DETAILS = (
    Detail(_WAITS),
    Detail(frozenset({"waiting_time"})),
    Detail(frozenset()),
    Detail(frozenset(), frozenset({"waiting_time_max"})),
    Detail(frozenset(), frozenset({"waiting_time_max", "flows_removed"})),
    Detail(frozenset(), frozenset({"waiting_time_max", "flows_removed", "flows_waiting"})),
)

Metrics = Sequence[str]


def class_table(out: Console, found: Results, most: int | None = None) -> int:
    """Means with half-widths of 95 % intervals by variant and class; how many of them.

    At most so many: those that miss requirements by most, then those that lose most.
    """
    rows = with_expected(found, cells(found, "class"))
    # A scenario without variants has one, which is called like the scenario.
    several = _several(rows)
    if most is not None:
        missed: dict[tuple[str, str], int] = {}
        for number, v in enumerate(worst_first(found.verdicts)):
            if v.verdict != "pass":
                missed.setdefault((v.variant, v.cls), number)
        first = sorted(rows, key=lambda at: (missed.get(at, math.inf), -_lost(rows[at])))[:most]
        rows = {at: cells for at, cells in rows.items() if at in first}
    speech = any("mos" in cells for cells in rows.values())
    bounded = any(ceiling_of(cells) is not None for cells in rows.values())
    there = {m for cells in rows.values() for m in cells} | ({BOUND} if bounded else set())
    shown = [m for m in COLUMNS if m in there]
    detail = _fitting(out, rows, shown, DETAILS, several=several)
    alone = all(r.low is None for cells in rows.values() for r in cells.values())
    sign = "one run, so no intervals" if alone else "± half-width of the 95 % interval"
    if detail.hidden:
        sign += _hidden(shown, detail)
    elif detail.intervals < _ALL - {"offered"} and not alone:
        sign += "; more of them in a wider terminal"
    meaning = "delay: one-way; PDV: 99.9 % − minimum"
    if EXPECTED in there:
        meaning += f"; {BY_FORMULA}"
    if bounded:
        meaning += f"; {NEVER}"
    if speech:
        meaning += "; MOS: speech, 1 to 4.5"
    legend(out, f"{meaning}; {sign}{_unbounded(found, rows)}")
    return len(rows)


def _unbounded(found: Results, rows: Cells) -> str:
    """Why delays have no bound if that is the same of all; else where it is said."""
    whys = [b.why for b in found.bounds() if b.why and (b.variant, b.cls) in rows]
    if not whys:
        return ""
    if len(set(whys)) == 1:
        which = "no bound" if len(whys) == len(rows) else "– no bound"
        return f"; {which}: {whys[0]}"
    which = "delays have no bound" if len(whys) == len(rows) else "– no bound"
    return f"; {which}: `spillgate bound` says why"


def tcp_table(out: Console, found: Results) -> None:
    """What TCP did, by variant and class; nothing where there is none."""
    rows = {at: of for at, of in cells(found, "class").items() if "goodput" in of}
    if not rows:
        return
    shared = any(c["jain"].mean not in (None, 1.0) for c in rows.values() if "jain" in c)
    every = tcp_columns(shared=shared)
    values = {m: [cells[m].mean for cells in rows.values() if m in cells] for m in every}
    # Endless connections alone have nothing to say about transfers.
    idle = {m for m in every if is_a("rare", m)}
    if not any(values["transfers_done"]):
        idle |= _TIMES | _COUNTS
    told = [m for m in every if m not in idle or any(values[m])]
    if any(values["transfers_failed"]):
        told = [m for m in every if m in _COUNTS or m in told]
    detail = _fitting(out, rows, told, TCP_DETAILS)
    parts = ["goodput: each byte once; retransmits: segments"]
    shown = set(told) - detail.hidden
    if "jain" in shown:
        parts.append("fairness: Jain's index, 1 if all have alike, 1/n if one of n has all")
    if shown & _COUNTS:
        parts.append("begun, done: transfers")
    if shown & _TIMES:
        parts.append("time: of those that completed")
    text = "; ".join(parts) + _hidden(told, detail)
    if not detail.hidden and detail.intervals < _TCP:
        text += "; intervals in a wider terminal"
    legend(out, text)


def admission_table(out: Console, found: Results) -> None:
    """How long flows waited, by variant, link and class; nothing where no link admits flows."""
    rows = waiting(found)
    if not rows:
        return
    # Nobody cares for zeros of what may not happen.
    told = [
        m
        for m in needing("admission")
        if not is_a("rare", m) or any(of[m].mean for of in rows.values())
    ]
    heads = (words("scopes")["admission"]["short"], "class")
    detail = _fitting(out, rows, told, ADMISSION_DETAILS, lambda n: n.rsplit("/", 1), heads)
    text = (
        "flows: whose first packet came to the link, of the data; wait: from there to its "
        "admission"
    )
    if any(of["flows_waiting"].mean for of in rows.values()):
        text += "; still waiting: not admitted when the run ended, counted with the time so far"
    if any(of["flows_removed"].mean for of in rows.values()):
        text += "; removed: taken off the list of protected flows by the congestion mechanism"
    legend(out, text + _hidden(told, detail))


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


def outages(out: Console, found: Results) -> None:
    """The worst failure of each requirement; nothing without an axis of failures."""
    of = outage_table(found)
    if of is None:
        return
    made = table()
    for heading in of.head:
        right = heading in ("without failure", "then")
        made.add_column(heading, justify="right" if right else "left")
    for row in of.rows:
        made.add_row(*map(Text, row))
    out.print(Text("Each failure", "bold"))
    show(out, made)
    legend(out, of.note)


def difference_table(out: Console, found: Results, only: Collection[str] = ()) -> None:
    """The other variants compared with one, run by run; nothing where there is one variant.

    Where every two are compared, `only` leaves out all pairs but those with one of these.
    """
    rows: dict[tuple[str, str], dict[str, Difference]] = {}
    pairs = found.description.compares_pairs
    for d in found.differences():
        if not only or d.against in only:
            rows.setdefault((d.pair if pairs and not only else d.variant, d.cls), {})[d.metric] = d
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
    against = ", ".join(only) if only else found.description.against
    heading = "Every two variants" if pairs and not only else f"Compared with {against}"
    out.print(Text(f"{heading}, run by run", "bold"))
    show(out, shown)
    of = words("effects")
    level = "all pairs of a metric and class together at 95 %" if pairs else "at 95 % each"
    said = {name: f"{effect['mark']} {effect['label']}".strip() for name, effect in of.items()}
    meaning = (
        f"{said['better']}, {said['worse']}, {of['more']['mark']} {of['less']['mark']} more or "
        f"less where neither is better, {said['not shown']}, {level}; 0 the {said['same']}"
    )
    if hidden:
        meaning += f"; {', '.join(hidden)} in a wider terminal"
    legend(out, meaning)


_LEAST = ("jitter", "throughput", "fct_p95", "owd_mean", "mos", "goodput", "owd_p99", "loss_ratio")
"""In which order columns of differences are left out."""


def _difference_table(
    rows: Mapping[tuple[str, str], Mapping[str, Difference]], columns: Metrics
) -> Table:
    made = table()
    made.add_column("variant", no_wrap=True)
    made.add_column("class", no_wrap=True)
    scales, decimals = {}, {}
    for metric in columns:
        cells = [c[metric] for c in rows.values() if metric in c]
        scales[metric] = scale_for(cells[0].unit, [c.mean for c in cells], difference=True)
        decimals[metric] = column_decimals(scales[metric], [abs(c.mean or 0.0) for c in cells])
        add_metric(made, metric, SAID.get(cells[0].unit, scales[metric].unit))
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


def node_tables(out: Console, found: Results, scopes: Sequence[str] = tuple(KINDS)[1:]) -> None:
    """What was in profile, how busy nodes were, and switches, by variant; or of other scopes."""
    for scope in scopes:
        nodes = node_rows(found, scope)
        if nodes is None:
            continue
        made = table()
        for n, heading in enumerate(nodes.head):
            if n < nodes.names:
                # Half of a name may be that of another thing.
                made.add_column(heading, overflow="fold")
            else:
                made.add_column(heading, justify="right")
        for row in nodes.rows:
            made.add_row(*map(Text, row))
        show(out, made)
        legend(out, f"{nodes.title}; {nodes.note}")


def input_table(out: Console, found: Results) -> None:
    """What policies let in where packets arrive, by variant and class; nothing without any."""
    node_tables(out, found, ("input",))


def _several(rows: Cells) -> bool:
    return len({variant for variant, _ in rows}) > 1


def _lost(cells: Mapping[str, Row]) -> float:
    return cells["loss_ratio"].mean or 0.0 if "loss_ratio" in cells else 0.0


def _hidden(columns: Metrics, detail: Detail) -> str:
    missing = [short_of(m) for m in columns if m in detail.hidden]
    return f"; more columns ({', '.join(missing)}) in a wider terminal" if missing else ""


def _fitting(
    out: Console,
    rows: Cells,
    metrics: Metrics,
    details: Sequence[Detail],
    parts: Callable[[str], Sequence[str]] = lambda name: (name,),
    heads: Sequence[str] = ("class",),
    *,
    several: bool | None = None,
) -> Detail:
    """Shows the first of `details` that fits the width, or the last; which one.

    `parts` gives what stands under `heads` of a name. Variants are named if there are `several`.
    """
    several = _several(rows) if several is None else several
    left = (*(("variant",) if several else ()), *heads)
    of_metrics = columns(rows, metrics)
    for detail in details:
        shown = _laid_out(rows, of_metrics, detail, parts, left)
        if width(out, shown) <= out.width:
            break
    show(out, shown)
    return detail


def _laid_out(
    rows: Cells,
    every: Sequence[Column],
    detail: Detail,
    parts: Callable[[str], Sequence[str]],
    heads: Sequence[str],
) -> Table:
    made = table()
    for head in heads:
        made.add_column(head, no_wrap=True)
    shown = [c for c in every if c.metric not in detail.hidden]
    for column in shown:
        add_metric(made, column.metric, column.unit)
    last: tuple[str, ...] = ()
    for (variant, name), of in rows.items():
        if last and variant != last[0]:
            made.add_row()
        names = (variant, *parts(name))
        texts = [c.text(of, interval=c.metric in detail.intervals) for c in shown]
        made.add_row(*map(Text, fresh(names, last)[-len(heads) :]), *texts)
        last = names
    return made
