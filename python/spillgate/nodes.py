"""Nodes that hold packets before they pass them to a port, and switches among them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from spillgate.labels import short_of, words
from spillgate.metrics import format_rough
from spillgate.result import Results

NOTE = (
    "mean over the runs; rates of IP packets; the wait is in the node; dropped: "
    "packets in a run that found an input queue full"
)


@dataclass(frozen=True)
class NodeTable:
    """Headings, one row of texts a variant and node, and what the columns mean."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = NOTE


_NODE = {
    "offered": "offered",
    "forwarded": "carried",
    "busy": "utilization",
    "wait p99": "sojourn_p99",
    "longest wait": "sojourn_max",
    "dropped": "drops_input_queue",
}


def node_rows(results: Results) -> NodeTable | None:
    """One row a variant and node that holds packets; none if there is no such node."""
    return _rows(results, "node", _NODE, NOTE)


SWITCH_NOTE = (
    "mean over the runs; rates of IP packets; lost: over all that came; delay from a packet's "
    "arrival until its output begins to send it"
)

_SWITCH = {
    "offered": "offered",
    "sent": "carried",
    "lost at inputs": "loss_input",
    "at outputs": "loss_output",
    **{short_of(m): m for m in ("switch_delay_mean", "switch_delay_p99")},
}


PORT_NOTE = (
    "mean over the runs; rates of cells of 53 bytes; lost: cells over all that came; waiting: "
    "without the cell that is sent"
)

_PORT = {
    "offered": "offered",
    "sent": "carried",
    "lost": "loss_ratio",
    **{short_of(m): m for m in ("cells_tagged", "backlog_cells_mean", "backlog_cells_max")},
}


def switch_rows(results: Results) -> NodeTable | None:
    """One row a variant and switch; none if there is no switch."""
    return _rows(results, "switch", _SWITCH, SWITCH_NOTE)


def port_rows(results: Results) -> NodeTable | None:
    """One row a variant and output port of an ATM switch at which cells ever waited or were lost.

    If there is no such port, of all of them; none if there is no ATM switch.
    """
    table = results.table(scope="atm-port")
    busy = {
        r.name
        for r in table
        if r.metric in ("backlog_cells_max", "cells_lost") and (r.mean or 0) > 0
    }
    idle = len({r.name for r in table} - busy) if busy else 0
    note = PORT_NOTE
    if idle:
        ports = "one port" if idle == 1 else f"{idle} ports"
        note += f"; {ports} at which no cell waited: left out"
    return _rows(results, "atm-port", _PORT, note, busy)


LINE_NOTE = "mean over the runs; bits of cells of 53 bytes"

_LINE = {"sent": "carried", "utilization": "utilization"}


def line_rows(results: Results) -> NodeTable | None:
    """One row a variant and line that circuits of ATM share; none if there is no such line."""
    return _rows(results, "atm-line", _LINE, LINE_NOTE)


def _rows(
    results: Results,
    scope: str,
    columns: dict[str, str],
    note: str,
    names: Collection[str] = (),
) -> NodeTable | None:
    cells: dict[tuple[str, str], dict[str, str]] = {}
    measured = set()
    for row in results.table(scope=scope):
        if names and row.name not in names:
            continue
        text = format_rough(row.mean, row.unit)
        cells.setdefault((row.variant, row.name), {})[row.metric] = text
        measured.add(row.metric)
    if not cells:
        return None
    several = len({variant for variant, _ in cells}) > 1
    shown = {heading: metric for heading, metric in columns.items() if metric in measured}
    rows = tuple(
        (*((variant,) if several else ()), name, *(of.get(m, "-") for m in shown.values()))
        for (variant, name), of in cells.items()
    )
    head = (*(("variant",) if several else ()), words("scopes")[scope]["short"], *shown)
    return NodeTable(head, rows, note)
