"""Words of the core for scopes, metrics, series, reasons of losses, verdicts and differences."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from spillgate import _engine


@cache
def words(family: str) -> dict[str, dict[str, Any]]:
    """The entries of a family of the catalog by name, in its order."""
    return {e["name"]: e for e in _engine.catalog()[family]}


def _word(metric: str, key: str) -> str:
    # Results of a newer version may have metrics that this one does not know.
    entry = words("metrics").get(metric) or words("series").get(metric, {})
    return str(entry.get(key) or metric.replace("_", " "))


@cache
def needing(what: str) -> tuple[str, ...]:
    """The metrics that only something has, in the order of reports.

    Example:
        >>> needing("gaps")
        ('gap_max',)
    """
    return tuple(name for name, m in words("metrics").items() if m["needs"] == what)


@cache
def times(needs: str) -> tuple[str, ...]:
    """Of the metrics that only something has, the times: they are compared with each other.

    Example:
        >>> times("admission")
        ('waiting_time', 'waiting_time_p95', 'waiting_time_max')
    """
    return tuple(m for m in needing(needs) if words("metrics")[m]["unit"] == "s")


def is_a(tag: str, metric: str) -> bool:
    """Whether something is true of a metric.

    Example:
        >>> is_a("rare", "timeouts"), is_a("required", "timeouts")
        (True, False)
    """
    return tag in words("metrics").get(metric, {}).get("tags", ())


def tcp_columns(*, shared: bool) -> tuple[str, ...]:
    """The metrics of a table of what TCP did.

    Args:
        shared: Whether connections of a class share unequally: beside their goodput then stands
            how fair that is.

    Example:
        >>> tcp_columns(shared=True)[:2]
        ('goodput', 'jain')
    """
    first, *others = needing("tcp")
    return (first, *(("jain",) if shared else ()), *others)


def label_of(metric: str) -> str:
    """A metric's name as people say it.

    Example:
        >>> label_of("owd_p50")
        'median one-way delay'
    """
    return _word(metric, "label")


def short_of(metric: str) -> str:
    """The heading of a metric's column.

    Example:
        >>> short_of("owd_p50"), short_of("new_metric")
        ('median delay', 'new metric')
    """
    return _word(metric, "short")


def reason_of(drops: str) -> str:
    """Why packets were lost that a metric of drops counts, within a sentence.

    Example:
        >>> reason_of("drops_link_down")
        'the link was down'
    """
    return str(words("drops").get(drops, {}).get("summary", drops))


def mark_of(verdict: str, said: str = "") -> str:
    """How a verdict is shown: a symbol and a word, never color alone.

    Example:
        >>> mark_of("pass"), mark_of("pass", "proven")
        ('✓ pass', '✓ proven')
    """
    return f"{words('verdicts')[verdict]['mark']} {said or verdict}"


def worst(verdicts: Iterable[str]) -> str:
    """The worst of some verdicts; empty for none.

    Example:
        >>> worst(["pass", "undecided"])
        'undecided'
    """
    table = words("verdicts")
    return max(verdicts, key=lambda v: int(table[v]["severity"]), default="")
