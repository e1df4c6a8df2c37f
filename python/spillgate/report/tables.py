"""Tables of what each class got, and of where packets were lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from spillgate.labels import is_a, needing, tcp_columns, words
from spillgate.metrics import format_number, format_rough, scale_for
from spillgate.result import Results
from spillgate.rows import Difference
from spillgate.tables import (
    BOUND,
    EXPECTED,
    Cells,
    Column,
    ceiling_of,
    cells,
    columns,
    heading,
    waiting,
    with_expected,
)

_COLUMNS = (
    "offered",
    "throughput",
    "loss_ratio",
    "owd_mean",
    EXPECTED,
    "owd_p99",
    "owd_p999",
    "owd_max",
    BOUND,
    "jitter",
    "pdv",
    "r_factor",
    "mos",
)


_SHOWN = ("better", "worse", "more", "less")
"""Effects of differences that are not zero."""


@dataclass(frozen=True)
class ClassTable:
    """Things by variant: the columns, and of each thing its name and its rows of texts."""

    columns: Sequence[Column]
    groups: Sequence[tuple[str, Sequence[tuple[str, Sequence[str]]]]]


@dataclass(frozen=True)
class Columns:
    """What the classes got.

    Attributes:
        rows: By variant and class.
        shown: The columns of loads, losses and delays that say something.
        tcp: Those of what TCP did, in the rows of classes that have it.
    """

    rows: Cells
    shown: Sequence[Column]
    tcp: Sequence[Column]


def class_columns(results: Results) -> Columns:
    """Loads, losses and delays of the classes, and what TCP did in those that have it."""
    rows = with_expected(results, cells(results, "class"))
    tcp = _with_tcp(rows)
    shared = any(c["jain"].mean not in (None, 1.0) for c in tcp.values() if "jain" in c)
    return Columns(
        rows,
        columns(rows, _telling(rows, _COLUMNS)),
        columns(tcp, _telling(tcp, tcp_columns(shared=shared))),
    )


def class_tables(results: Results) -> tuple[ClassTable | None, ClassTable | None]:
    """The same as tables by class; none where nothing is to be said."""
    of, classes = class_columns(results), results.description.classes
    found = (of.rows, of.shown), (_with_tcp(of.rows), of.tcp)
    shown, tcp = (_by_name(results, *one, classes) if one[1] else None for one in found)
    return shown, tcp


def _with_tcp(rows: Cells) -> Cells:
    return {at: of for at, of in rows.items() if "goodput" in of}


def _telling(rows: Cells, wanted: Sequence[str]) -> list[str]:
    """The metrics that some row has."""
    means = {m: [of[m].mean for of in rows.values() if m in of] for m in wanted}
    if BOUND in means:
        means[BOUND] = [ceiling_of(of) for of in rows.values()]
    # Zeros say something of losses and delays, but not of what never happens.
    return [
        m
        for m in wanted
        if any(x is not None for x in means[m]) and (any(means[m]) or not is_a("rare", m))
    ]


def admission_table(results: Results) -> ClassTable | None:
    """Waiting times by link and class; none where no link admits flows."""
    rows = waiting(results)
    names = dict.fromkeys(name for _, name in rows)
    return _by_name(results, rows, columns(rows, needing("admission")), names) if rows else None


def _by_name(
    results: Results, rows: Cells, shown: Sequence[Column], names: Iterable[str]
) -> ClassTable:
    """These columns of things, in the order of their names and of the variants."""
    groups = []
    for name in names:
        of = [(v, rows[v, name]) for v in results.description.variants if (v, name) in rows]
        if of:
            groups.append((name, [(v, [c.text(row) for c in shown]) for v, row in of]))
    return ClassTable(shown, groups)


@dataclass(frozen=True)
class Cause:
    """A cause that occurs, with the number of its color and pattern."""

    style: int
    name: str


@dataclass(frozen=True)
class LossRow:
    """What a class lost in a variant.

    Attributes:
        variant: The variant.
        total: Lost over sent packets, as text.
        parts: Share of the sent packets by cause in percent, with the cause's style.
        texts: The same as texts, in the order of the causes.
    """

    variant: str
    total: str
    parts: tuple[tuple[int, float], ...]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class LossTable:
    """Losses by class, variant and cause; `widest` is the largest total in percent."""

    causes: tuple[Cause, ...]
    groups: tuple[tuple[str, tuple[LossRow, ...]], ...]
    widest: float


def loss_table(results: Results) -> LossTable | None:
    """Where the packets of each class were lost; none if nothing was."""
    by = {(r.name, r.variant, r.metric): r.mean or 0.0 for r in results.classes()}
    known = words("drops")
    names = [*known, *sorted({m for _, _, m in by if m.startswith("drops_")} - set(known))]
    found = [m for m in names if any(v > 0.0 for (_, _, k), v in by.items() if k == m)]
    if not found:
        return None
    d = results.description
    causes = tuple(Cause(i, known[m]["label"] if m in known else m) for i, m in enumerate(found))
    groups = []
    for cls in d.classes:
        rows = []
        for v in d.variants:
            sent = by.get((cls, v, "packets_sent"), 0.0)
            if sent <= 0.0:
                continue
            shares = [by.get((cls, v, m), 0.0) / sent for m in found]
            rows.append(
                LossRow(
                    variant=v,
                    total=format_rough(sum(shares), "1"),
                    parts=tuple((i, 100.0 * s) for i, s in enumerate(shares) if s > 0.0),
                    texts=tuple(format_rough(s, "1") for s in shares),
                )
            )
        if rows:
            groups.append((cls, tuple(rows)))
    widest = max(sum(p for _, p in row.parts) for _, rows in groups for row in rows)
    return LossTable(causes, tuple(groups), widest)


@dataclass(frozen=True)
class Comparison:
    """Every other variant compared with one, or every two.

    Attributes:
        against: That one; empty of every two.
        variants: The others, or the pairs.
        groups: By class, in the scenario's order: a metric's name and its meaning, and for each of
            the others the difference as text with what it is, such as `better`.
    """

    against: str
    variants: tuple[str, ...]
    groups: Sequence[tuple[str, Sequence[tuple[str, str, Sequence[tuple[str, str]]]]]]


def comparison(results: Results) -> Comparison | None:
    """The differences between variants, run by run, in the metrics of the class tables."""
    d = results.description
    found = {
        (one.cls, one.metric, one.pair if d.compares_pairs else one.variant): one
        for one in results.differences()
    }
    if not found:
        return None
    # In the order of the scenario, of which differences are made.
    others = tuple(dict.fromkeys(variant for _, _, variant in found))
    groups = []
    for cls in d.classes:
        rows = []
        for metric in (*(m for m in _COLUMNS[1:] if m != BOUND), *needing("tcp")):
            of = [found.get((cls, metric, v)) for v in others]
            if any(c is not None and c.mean is not None and c.effect != "same" for c in of):
                texts = tuple(_difference(c) for c in of)
                column = heading(metric)
                rows.append((column.head, column.meaning, texts))
        if rows:
            groups.append((cls, rows))
    return Comparison("" if d.compares_pairs else d.against, others, groups)


def differences_by_point(results: Results) -> dict[str, list[tuple[str, str, str, str, str]]]:
    """Differences whose intervals do not contain zero, in the metrics of the class tables.

    Returns:
        For each point that others are compared with or compared itself: the other, the class, the
        metric's heading, the difference, and what it is, such as `better`.
    """
    wanted = {*_COLUMNS[1:], *needing("tcp")} - {BOUND}
    found: dict[str, list[tuple[str, str, str, str, str]]] = {}
    for d in results.differences():
        if d.metric in wanted and d.mean is not None and d.effect in _SHOWN:
            text, said = _difference(d)
            row = (d.against, d.cls, heading(d.metric).head, text, said)
            found.setdefault(d.variant, []).append(row)
    return found


def _difference(d: Difference | None) -> tuple[str, str]:
    if d is None or d.mean is None:
        return "–", ""
    said = str(words("effects")[d.effect]["label"])
    if d.effect == "same":
        return "0", said
    scale = scale_for(d.unit, [d.mean, d.half], difference=True)
    sign = "+" if d.mean > 0.0 else "−"
    text = f"{sign}{format_number(abs(d.mean), d.half, scale)} {scale.unit}"
    return text.rstrip(), said
