"""What a reader should know of the runs before believing their numbers, in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from spillgate import _engine
from spillgate.metrics import format_value
from spillgate.rows import Row, Transient

if TYPE_CHECKING:
    from spillgate.scenario import Description

# Metric, what to say, and what it is a part of.
_SAID = (
    (
        "transfers_refused",
        (
            "sessions did not begin because as many as `active` allows were open; the load is too "
            "high, and the results depend on `active`"
        ),
        "transfers_begun",
        "for {} that began",
    ),
    (
        "transfers_failed",
        "TCP gave transfers up after too many timeouts",
        "transfers_begun",
        "of {}",
    ),
    (
        "incomplete",
        "transfers were under way when a run ended, and their times are missing",
        "transfers_begun",
        "of {}",
    ),
    ("drops_link_down", "packets were lost because a link was down", "packets_sent", "of {}"),
    (
        "drops_unroutable",
        "packets were lost without a route to their destination",
        "packets_sent",
        "of {}",
    ),
    ("drops_link_loss", "packets were lost at random on links", "packets_sent", "of {}"),
    (
        "drops_input_queue",
        "packets were lost because a router could not forward them fast enough",
        "packets_sent",
        "of {}",
    ),
    (
        "drops_too_big",
        "packets were lost because they were longer, labels included, than a link's mtu",
        "packets_sent",
        "of {}",
    ),
    (
        "unresolved",
        (
            "packets had neither arrived nor been lost when their time after the period was over "
            "(measurement.grace); verdicts hold whatever becomes of them"
        ),
        "packets_sent",
        "of {}",
    ),
)

_MISSED = 0.05


def remarks(rows: Iterable[Row], variants: Sequence[str]) -> tuple[str, ...]:
    """One line for each oddity.

    Args:
        rows: The rows about classes.
        variants: All variants; where there are several, the one with the most is shown.

    Example:
        >>> def row(metric, mean):
        ...     return Row("a", "class", "web", metric, "transfers", mean, None, None, 1)
        >>> remarks([row("transfers_failed", 2.0), row("transfers_begun", 50.0)], ["a"])
        ('TCP gave transfers up after too many timeouts: in each run web 2 of 50',)
    """
    by = {(r.name, r.metric, r.variant): r.mean or 0.0 for r in rows}
    by |= _incomplete(by)
    classes = list(dict.fromkeys(name for name, _, _ in by))
    lines = []
    for metric, text, whole, part in _SAID:
        counts = []
        for name in classes:
            worst = max(variants, key=lambda v: by.get((name, metric, v), 0.0))
            count = by.get((name, metric, worst), 0.0)
            if count > 0.0:
                of = part.format(_number(by.get((name, whole, worst), 0.0)))
                where = f" ({worst})" if len(variants) > 1 else ""
                counts.append(f"{name} {_number(count)} {of}{where}")
        if counts:
            lines.append(f"{text}: in each run {', '.join(counts)}")
    return tuple(lines)


_OVERLOAD = 1.05


def overloaded(rows: Iterable[Row], variants: Sequence[str]) -> tuple[str, ...]:
    """Says which links were offered more than they carry, and how many times that.

    Args:
        rows: The rows about links and queues.
        variants: All variants; where there are several, the one with the most is shown.

    Example:
        >>> def row(scope, name, metric, mean):
        ...     return Row("a", scope, name, metric, "b/s", mean, None, None, 1)
        >>> queue = row("queue", "wan/fifo", "offered", 3e7)
        >>> link = [row("link", "wan", "carried", 1e7), row("link", "wan", "utilization", 1.0)]
        >>> overloaded([queue, *link], ["a"])
        ('link wan was offered 3 times its rate: the rest is lost, whatever the policy',)
    """
    by: dict[tuple[str, str, str], float] = {}
    offered: dict[tuple[str, str], float] = {}
    for r in rows:
        if r.scope == "link":
            by[r.variant, r.name, r.metric] = r.mean or 0.0
        elif r.scope == "queue" and r.metric == "offered":
            at = (r.variant, r.name.split("/", 1)[0])
            offered[at] = offered.get(at, 0.0) + (r.mean or 0.0)
    most: dict[str, tuple[float, str]] = {}
    for (variant, link), bps in offered.items():
        used = by.get((variant, link, "utilization"), 0.0)
        carried = by.get((variant, link, "carried"), 0.0)
        # A link that is not full carries what it is offered, or loses it elsewhere.
        if used > 1.0 / _OVERLOAD and (factor := bps * used / carried) > _OVERLOAD:
            most[link] = max(most.get(link, (0.0, "")), (factor, variant))
    lines = []
    for link, (factor, variant) in most.items():
        where = f" ({variant})" if len(variants) > 1 else ""
        lines.append(
            f"link {link} was offered {factor:.3g} times its rate{where}: "
            "the rest is lost, whatever the policy"
        )
    return tuple(lines)


def identical(rows: Iterable[Row], variants: Sequence[str]) -> tuple[str, ...]:
    """Says which variants have several runs that all measured the same.

    Args:
        rows: The rows about classes.
        variants: All variants.

    Example:
        >>> def row(metric, mean, half):
        ...     return Row("a", "class", "web", metric, "s", mean, mean - half, mean + half, 5)
        >>> identical([row("owd_mean", 0.02, 0.0), row("jitter", 0.001, 0.0)], ["a"])[0][:24]
        'all 5 runs are identical'
        >>> identical([row("owd_mean", 0.02, 0.0), row("jitter", 0.001, 1e-9)], ["a"])
        ()
    """
    several = [r for r in rows if r.n > 1]
    runs = max((r.n for r in several), default=0)
    differ = {r.variant for r in several if r.half}
    same = [v for v in variants if v not in differ and any(r.variant == v for r in several)]
    if not same:
        return ()
    where = f" of {', '.join(same)}" if len(variants) > 1 else ""
    said = (
        f"all {runs} runs{where} are identical: nothing in them is random, so intervals of no "
        "width and verdicts speak of one trajectory only; give flows a `start_spread`, or sources "
        "that draw"
    )
    return (said,)


def unsettled(transients: Iterable[Transient], d: Description) -> tuple[str, ...]:
    """Says which classes had not settled when measuring began, and the warm-up that would do.

    Args:
        transients: All that were found.
        d: The scenario; its warm-up in seconds and its variants.
    """
    worst: dict[tuple[str, str], Transient] = {}
    for t in transients:
        other = worst.get((t.cls, t.metric))
        if other is None or _later(t) > _later(other):
            worst[t.cls, t.metric] = t
    if not worst:
        return ()
    parts = []
    for t in worst.values():
        where = f" ({t.variant})" if len(d.variants) > 1 else ""
        side = "above" if t.bias > 0 else "below"
        level = "what it settles at" if t.warmup is not None else "its later half"
        what = "rate" if t.metric == "throughput" else "delay"
        parts.append(f"{t.cls}{where} {what} {abs(t.bias):.0%} {side} {level}")
    ends = [t.warmup for t in worst.values()]
    times = [end for end in ends if end is not None]
    advice = (
        f"{format_value(_engine.rounded_up(max(times)), 's')} would do"
        if len(times) == len(ends)
        else "not even the end of the run is settled; measure longer after a longer one"
    )
    said = (
        f"the warm-up of {format_value(d.warmup, 's')} is too short: {', '.join(parts)}; "
        f"{advice} (`warmup: auto` finds it)"
    )
    return (said,)


def _later(t: Transient) -> tuple[float, float]:
    """Sorts by when it settles, those that do not last."""
    return (math.inf if t.warmup is None else t.warmup, abs(t.bias))


Counts = dict[tuple[str, str, str], float]


def _incomplete(by: Counts) -> Counts:
    """Transfers that neither completed nor failed, where they are so many that percentiles lack.

    Some always begin just before the end. Connections that are meant to be endless are not
    missed: a class of them completes nothing.
    """
    found: Counts = {}
    for (name, metric, variant), done in by.items():
        if metric == "transfers_done" and done > 0.0:
            begun = by.get((name, "transfers_begun", variant), 0.0)
            left = begun - done - by.get((name, "transfers_failed", variant), 0.0)
            if left > _MISSED * begun:
                found[name, "incomplete", variant] = left
    return found


def _number(n: float) -> str:
    return f"{n:.0f}" if n >= 10 else f"{n:.2g}"
