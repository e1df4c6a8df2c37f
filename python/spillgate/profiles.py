"""What was in profile: colors that meters found, and losses and delays by drop precedence."""

from __future__ import annotations

from spillgate.labels import short_of
from spillgate.metrics import format_count, format_rough, format_value
from spillgate.nodes import NodeTable
from spillgate.result import Results

Cells = dict[tuple[str, str], dict[str, float | None]]

METERS = (
    "shares of the bytes that came to the policer of a class, link/class, mean over the runs: "
    "within the committed rate, beyond it, and beyond the excess burst or the peak rate"
)
QUEUES = (
    "packets of a run with a code point at a queue, mean over the runs; lost: of those that came; "
    "time in the queue"
)
ENDS = (
    "packets of a run by the code point with which they arrived or were lost, mean over the runs; "
    "lost: of both"
)


def _cells(results: Results, scope: str) -> Cells:
    cells: Cells = {}
    for row in results.table(scope=scope):
        cells.setdefault((row.variant, row.name), {})[row.metric] = row.mean
    return cells


def _made(
    cells: Cells, head: tuple[str, ...], rows: list[tuple[str, ...]], note: str
) -> NodeTable:
    several = len({variant for variant, _ in cells}) > 1
    shown = tuple(row if several else row[1:] for row in rows)
    return NodeTable((*(("variant",) if several else ()), *head), shown, note)


def meter_rows(results: Results) -> NodeTable | None:
    """One row a variant and meter; none if no packet came to any."""
    cells = _cells(results, "meter")
    colors = ("conform", "exceed", "violate")
    rows = [
        (
            variant,
            meter,
            format_value(of["offered"], "b/s"),
            format_count(of["packets_offered"] or 0.0),
            *(format_rough(of[f"{color}_ratio"], "1") for color in colors),
            format_value(of["conform"], "b/s"),
        )
        for (variant, meter), of in cells.items()
        if of["packets_offered"]
    ]
    head = ("meter", "offered", "packets", "in profile", "exceed", "violate", "in profile, rate")
    return _made(cells, head, rows, METERS) if rows else None


def queue_rows(results: Results) -> NodeTable | None:
    """One row a variant, queue and code point that came; none where queues tell none apart."""
    cells = _cells(results, "queue-dscp")
    rows = [
        (
            variant,
            *_parted(name),
            format_count(of["packets_offered"] or 0.0),
            format_count(of["packets_lost"] or 0.0),
            format_rough(of["loss_ratio"], "1"),
            *(format_rough(of[m], "s") for m in ("sojourn_mean", "sojourn_p99")),
        )
        for (variant, name), of in cells.items()
        if of["packets_offered"]
    ]
    sojourns = (short_of("sojourn_mean"), short_of("sojourn_p99"))
    head = ("queue", "DSCP", "came", "lost", "loss", *sojourns)
    return _made(cells, head, rows, QUEUES) if rows else None


def end_rows(results: Results) -> NodeTable | None:
    """One row a variant, class and code point, of classes whose packets ended with several."""
    cells = _cells(results, "class-dscp")
    ended = {key: of for key, of in cells.items() if of["packets_received"] or of["packets_lost"]}
    classes = [(variant, _parted(name)[0]) for variant, name in ended]
    rows = [
        (
            variant,
            *_parted(name),
            format_value(of["throughput"], "b/s"),
            format_count(of["packets_received"] or 0.0),
            format_count(of["packets_lost"] or 0.0),
            format_rough(of["loss_ratio"], "1"),
            *(format_rough(of[m], "s") for m in ("owd_mean", "owd_p99")),
        )
        for (variant, name), of in ended.items()
        if classes.count((variant, _parted(name)[0])) > 1
    ]
    delays = (short_of("owd_mean"), short_of("owd_p99"))
    head = ("class", "DSCP", "throughput", "received", "lost", "loss", *delays)
    return _made(cells, head, rows, ENDS) if rows else None


def _parted(name: str) -> tuple[str, str]:
    """What it is of, and the code point, of `link/queue/af11`."""
    thing, _, dscp = name.rpartition("/")
    return thing, dscp
