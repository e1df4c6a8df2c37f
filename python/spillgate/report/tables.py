"""Tables of what each class got, and of where packets were lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spillgate.labels import is_a, needing, short_of, tcp_columns, times, words
from spillgate.metrics import (
    Scale,
    column_decimals,
    format_cell,
    format_number,
    format_rough,
    scale_for,
    scale_of,
)
from spillgate.result import Results
from spillgate.rows import Difference, Row

_COLUMNS = (
    "offered",
    "throughput",
    "loss_ratio",
    "owd_mean",
    "owd_p99",
    "owd_p999",
    "jitter",
    "pdv",
    "r_factor",
    "mos",
)

_PLAIN = {"packets": "", "score": "", "events": "", "transfers": "", "1": "%"}


@dataclass(frozen=True)
class Column:
    """A column: heading, unit, and what the metric means."""

    head: str
    unit: str
    meaning: str


def heading(metric: str, unit: str = "") -> Column:
    """The column of a metric."""
    return Column(short_of(metric), unit, words("metrics")[metric]["summary"])


@dataclass(frozen=True)
class ClassRows:
    """One class: its name, and a row of texts for each variant."""

    name: str
    rows: tuple[tuple[str, tuple[str, ...]], ...]


@dataclass(frozen=True)
class ClassTable:
    """Classes by variant."""

    columns: tuple[Column, ...]
    groups: tuple[ClassRows, ...]


def class_tables(results: Results) -> tuple[ClassTable | None, ClassTable | None]:
    """Loads, losses and delays of the classes, and what TCP did in those that have it."""
    rows: dict[tuple[str, str], dict[str, Row]] = {}
    for row in results.classes():
        rows.setdefault((row.name, row.variant), {})[row.metric] = row
    with_tcp = {at: cells for at, cells in rows.items() if "goodput" in cells}
    shared = any(c["jain"].mean not in (None, 1.0) for c in with_tcp.values() if "jain" in c)
    tcp = _class_table(results, with_tcp, tcp_columns(shared=shared))
    return _class_table(results, rows, _COLUMNS), tcp


def _class_table(
    results: Results,
    rows: dict[tuple[str, str], dict[str, Row]],
    wanted: Sequence[str],
) -> ClassTable | None:
    found = [row.mean for c in rows.values() for m, row in c.items() if m in times("tcp")]
    shown: list[tuple[str, Scale, int]] = []
    for metric in wanted:
        cells = [c[metric] for c in rows.values() if metric in c]
        means = [c.mean for c in cells]
        # Zeros say something of losses and delays, but not of what never happens.
        if not any(m is not None for m in means) or (is_a("rare", metric) and not any(means)):
            continue
        # Times of transfers are compared with each other.
        scale = scale_of(metric, cells[0].unit, found if metric in times("tcp") else means)
        shown.append((metric, scale, column_decimals(scale, means)))
    if not shown:
        return None
    d = results.description
    groups = []
    for cls in d.classes:
        mine = []
        for v in d.variants:
            of = rows.get((cls, v))
            if of is not None:
                mine.append((v, tuple(_text(of.get(m), s, n) for m, s, n in shown)))
        if mine:
            groups.append(ClassRows(cls, tuple(mine)))
    columns = tuple(
        heading(metric, _PLAIN.get(scale.unit, scale.unit)) for metric, scale, _ in shown
    )
    return ClassTable(columns, tuple(groups))


def _text(row: Row | None, scale: Scale, decimals: int) -> str:
    return "–" if row is None else format_cell(row.mean, row.half, scale, decimals)


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
    """Every other variant compared with one.

    Attributes:
        against: That one.
        variants: The others.
        rows: Class, metric's name and its meaning, and for each of the others the difference as
            text with what it is, such as `better`.
    """

    against: str
    variants: tuple[str, ...]
    rows: tuple[tuple[str, str, str, tuple[tuple[str, str], ...]], ...]


def comparison(results: Results) -> Comparison | None:
    """The differences between variants, run by run, in the metrics of the class tables."""
    found = {(d.cls, d.metric, d.variant): d for d in results.differences()}
    if not found:
        return None
    d = results.description
    compared = {variant for _, _, variant in found}
    others = tuple(v for v in d.variants if v in compared)
    rows = []
    for cls in d.classes:
        for metric in (*_COLUMNS[1:], *needing("tcp")):
            cells = [found.get((cls, metric, v)) for v in others]
            if any(c is not None and c.mean is not None and c.effect != "same" for c in cells):
                texts = tuple(_difference(c) for c in cells)
                column = heading(metric)
                rows.append((cls, column.head, column.meaning, texts))
    return Comparison(d.against, others, tuple(rows))


def _difference(d: Difference | None) -> tuple[str, str]:
    if d is None or d.mean is None:
        return "–", ""
    said = str(words("effects")[d.effect]["label"])
    if d.effect == "same":
        return "0", said
    scale = scale_for(d.unit, [d.mean], difference=True)
    sign = "+" if d.mean > 0.0 else "−"
    text = f"{sign}{format_number(abs(d.mean), d.half, scale)} {scale.unit}"
    return text.rstrip(), said
