"""Tables of what stands in the network: policers, queues by code point, nodes, switches, lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from spillgate.labels import short_of, words
from spillgate.metrics import format_ceiling, format_count, format_rough, format_value
from spillgate.result import Results
from spillgate.rows import Row
from spillgate.tables import Cells, Table, by_variant, cells

Shown = tuple[str, Callable[[Row], str]]
"""A metric, and how its values are written."""


def _value(metric: str) -> Shown:
    return metric, lambda row: format_value(row.mean, row.unit)


def _rough(metric: str) -> Shown:
    return metric, lambda row: format_rough(row.mean, row.unit)


def _count(metric: str) -> Shown:
    return metric, lambda row: format_count(row.mean or 0.0)


def _ceiling(metric: str) -> Shown:
    """What a metric cannot exceed."""
    return metric, lambda row: format_ceiling(row.bound, row.unit)


def _roughly(*metrics: str) -> dict[str, Shown]:
    return {short_of(m): _rough(m) for m in metrics}


@dataclass(frozen=True)
class Kind:
    """What the table of a scope shows.

    Attributes:
        title: What its rows are about.
        columns: By heading.
        note: What the columns mean.
        name: The heading of the names; default that of the scope.
        needs: Of these metrics one is above 0 in each row.
        parted: Whether a name ends with a code point, which has a column of its own.
    """

    title: str
    columns: Mapping[str, Shown]
    note: str
    name: str = ""
    needs: tuple[str, ...] = ()
    parted: bool = False


_LOSSES = {"lost": _count("packets_lost"), "loss": _rough("loss_ratio")}
_MEAN = "mean over the runs; "

KINDS = {
    "input": Kind(
        "policies where packets arrive, link/class",
        {
            "offered": _value("offered"),
            "let in": _value("carried"),
            "dropped": _count("drops_policer"),
        },
        "dropped: packets in a run, mean",
        name="arriving",
    ),
    "meter": Kind(
        "meters",
        {
            "offered": _value("offered"),
            "packets": _count("packets_offered"),
            "in profile": _rough("conform_ratio"),
            "exceed": _rough("exceed_ratio"),
            "violate": _rough("violate_ratio"),
            "in profile, rate": _value("conform"),
        },
        "shares of the bytes that came to the policer of a class, link/class, mean over the "
        "runs: within the committed rate, beyond it, and beyond the excess burst or the peak rate",
        name="meter",
        needs=("packets_offered",),
    ),
    "queue-dscp": Kind(
        "queues by drop precedence",
        {
            "came": _count("packets_offered"),
            **_LOSSES,
            **_roughly("sojourn_mean", "sojourn_p99"),
        },
        "packets of a run with a code point at a queue, mean over the runs; lost: of those that "
        "came; time in the queue",
        name="queue",
        needs=("packets_offered",),
        parted=True,
    ),
    "class-dscp": Kind(
        "classes by drop precedence",
        {
            "throughput": _value("throughput"),
            "received": _count("packets_received"),
            **_LOSSES,
            **_roughly("owd_mean", "owd_p99"),
        },
        "packets of a run by the code point with which they arrived or were lost, mean over the "
        "runs; lost: of both",
        name="class",
        needs=("packets_received", "packets_lost"),
        parted=True,
    ),
    "node": Kind(
        "nodes that hold packets",
        {
            "offered": _rough("offered"),
            "forwarded": _rough("carried"),
            "busy": _rough("utilization"),
            "wait p99": _rough("sojourn_p99"),
            "longest wait": _rough("sojourn_max"),
            "bound": _ceiling("sojourn_max"),
            "dropped": _rough("drops_input_queue"),
        },
        f"{_MEAN}rates of IP packets; the wait is in the node; dropped: packets in a run that "
        "found an input queue full; bound: no packet can wait longer",
    ),
    "switch": Kind(
        "switches",
        {
            "offered": _rough("offered"),
            "sent": _rough("carried"),
            "lost at inputs": _rough("loss_input"),
            "at outputs": _rough("loss_output"),
            **_roughly("switch_delay_mean", "switch_delay_p99"),
        },
        f"{_MEAN}rates of IP packets; lost: over all that came; delay from a packet's arrival "
        "until its output begins to send it",
    ),
    "atm-port": Kind(
        "output ports of ATM switches",
        {
            "offered": _rough("offered"),
            "sent": _rough("carried"),
            "lost": _rough("loss_ratio"),
            **_roughly("cells_tagged", "backlog_cells_mean", "backlog_cells_max"),
        },
        f"{_MEAN}rates of cells of 53 bytes; lost: cells over all that came; waiting: without "
        "the cell that is sent",
    ),
    "atm-line": Kind(
        "lines that circuits of ATM share",
        {"sent": _rough("carried"), "utilization": _rough("utilization")},
        f"{_MEAN}bits of cells of 53 bytes",
    ),
}
"""By scope, in the order in which they are shown."""


def node_rows(results: Results, scope: str) -> Table | None:
    """The table of a scope of `KINDS`: a row a variant and thing; none without such a thing.

    Code points of a class are left out where all of its packets have one. Ports of ATM switches
    at which no cell waited are left out if there are others.
    """
    kind, found, note = KINDS[scope], cells(results, scope), KINDS[scope].note
    kept: Cells = {at: of for at, of in found.items() if not kind.needs or _any(of, *kind.needs)}
    if scope == "class-dscp":
        classes = [(variant, _parted(name)[0]) for variant, name in kept]
        kept = {at: of for at, of in kept.items() if classes.count((at[0], _parted(at[1])[0])) > 1}
    if scope == "atm-port":
        kept, idle = _busy(kept)
        note += f"; {idle} at which no cell waited: left out" if idle else ""
    shown = {h: c for h, c in kind.columns.items() if any(c[0] in of for of in kept.values())}
    texts = {
        (variant, name): (
            *(_parted(name) if kind.parted else (name,)),
            *(text(of[m]) if m in of else "-" for m, text in shown.values()),
        )
        for (variant, name), of in kept.items()
    }
    names = (kind.name or words("scopes")[scope]["short"], *(("DSCP",) if kind.parted else ()))
    return by_variant(found, (*names, *shown), texts, note, len(names), kind.title)


def _any(of: Mapping[str, Row], *metrics: str) -> bool:
    return any(m in of and of[m].mean for m in metrics)


def _busy(ports: Cells) -> tuple[Cells, str]:
    """Those at which cells ever waited or were lost, if any, and how many others there are."""
    busy = {n for (_, n), of in ports.items() if _any(of, "backlog_cells_max", "cells_lost")}
    idle = len({name for _, name in ports} - busy) if busy else 0
    kept = {at: of for at, of in ports.items() if at[1] in busy} if idle else ports
    return kept, "" if not idle else "one port" if idle == 1 else f"{idle} ports"


def _parted(name: str) -> tuple[str, str]:
    """What it is of, and the code point, of `link/queue/af11`."""
    thing, _, dscp = name.rpartition("/")
    return thing, dscp
