"""The table that `spillgate run` prints of links with flow admission."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spillgate.cli.text import add_metric, legend, show, table, width
from spillgate.labels import is_a, needing, short_of, times, words
from spillgate.metrics import Scale, column_decimals, format_cell, scale_for
from spillgate.result import Results
from spillgate.rows import Row

_TIMES = frozenset(times("admission"))

_NONE: frozenset[str] = frozenset()
_DETAILS = (
    (_TIMES, _NONE),
    (frozenset({"waiting_time"}), _NONE),
    (_NONE, _NONE),
    (_NONE, frozenset({"waiting_time_max"})),
    (_NONE, frozenset({"waiting_time_max", "flows_removed"})),
    (_NONE, frozenset({"waiting_time_max", "flows_removed", "flows_waiting"})),
)
"""Which times have intervals, and which columns are left out; tried in turn until it fits."""

Cells = dict[tuple[str, str], dict[str, Row]]


def admission_table(out: Console, found: Results) -> None:
    """How long flows waited, by variant, link and class; nothing where no link admits flows."""
    rows: Cells = {}
    for row in found.table(scope="admission"):
        rows.setdefault((row.variant, row.name), {})[row.metric] = row
    rows = {at: cells for at, cells in rows.items() if cells["flows_offered"].mean}
    if not rows:
        return
    for intervals, hidden in _DETAILS:
        made = _table(rows, intervals, hidden)
        if width(out, made) <= out.width:
            break
    show(out, made)
    text = (
        "flows: whose first packet came to the link, of the data; wait: from there to its "
        "admission"
    )
    if any(cells["flows_waiting"].mean for cells in rows.values()):
        text += "; still waiting: not admitted when the run ended, counted with the time so far"
    if any(cells["flows_removed"].mean for cells in rows.values()):
        text += "; removed: taken off the list of protected flows by the congestion mechanism"
    if hidden:
        names = [short_of(m) for m in _told(rows) if m in hidden]
        text += f"; more columns ({', '.join(names)}) in a wider terminal"
    legend(out, text)


def _told(rows: Cells) -> list[str]:
    """The columns that have something to tell: nobody cares for zeros of what may not happen."""
    return [
        m
        for m in needing("admission")
        if not is_a("rare", m) or any(cells[m].mean for cells in rows.values())
    ]


def _table(rows: Cells, intervals: frozenset[str], hidden: frozenset[str]) -> Table:
    made = table()
    several = len({variant for variant, _ in rows}) > 1
    if several:
        made.add_column("variant", no_wrap=True)
    made.add_column(words("scopes")["admission"]["short"], no_wrap=True)
    made.add_column("class", no_wrap=True)
    shown = [m for m in _told(rows) if m not in hidden]
    found = [cells[m].mean for cells in rows.values() for m in _TIMES]
    scales, decimals = {}, {}
    for metric in shown:
        means = [cells[metric].mean for cells in rows.values()]
        # Times are compared with each other.
        scales[metric] = scale_for("s", found) if metric in _TIMES else scale_for("flows", means)
        decimals[metric] = column_decimals(scales[metric], means)
        unit = scales[metric].unit if metric in _TIMES else ""
        add_metric(made, metric, unit)
    before = ("", "")
    for (variant, name), cells in rows.items():
        link, _, cls = name.rpartition("/")
        if several and before[0] not in ("", variant):
            made.add_row()
        names = [Text(variant if variant != before[0] else "")] if several else []
        made.add_row(
            *names,
            Text(link if (variant, link) != before else ""),
            Text(cls),
            *_cells(cells, shown, scales, decimals, intervals),
        )
        before = (variant, link)
    return made


def _cells(
    cells: dict[str, Row],
    metrics: Sequence[str],
    scales: dict[str, Scale],
    decimals: dict[str, int],
    intervals: frozenset[str],
) -> list[str]:
    return [
        format_cell(cells[m].mean, cells[m].half, scales[m], decimals[m], interval=m in intervals)
        for m in metrics
    ]
