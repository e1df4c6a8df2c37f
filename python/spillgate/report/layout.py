"""Points of a study in tables, a cell a point, small enough to see a thousand.

Where all combinations are run, columns and rows are the last two axes, of more than two those that
decide most, with a table for each place on the others and each variant. Points of other designs
are ordered: from left to right along the axis that decides most, in each column from bottom to top
along the next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil, sqrt

from spillgate.points import FULL, Axis, Point
from spillgate.report.influence import grouped

_MOST_COLUMNS = 40


@dataclass(frozen=True)
class Block:
    """A table whose cells are points.

    Attributes:
        title: The variant, and the places on axes that are not in the table.
        corner: Name of the axis along the rows; "" without one.
        along: Name of the axis along the columns.
        columns: The heading of each column; empty of points in an order, whose columns are ranges.
        rows: The heading of each row, and the numbers of its points; none where there is none.
        note: How points in an order stand.
    """

    title: str
    corner: str
    along: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[int | None, ...]], ...]
    note: str = ""

    @property
    def width(self) -> int:
        """How many columns there are."""
        return max(len(cells) for _, cells in self.rows)


def blocks(
    axes: Sequence[Axis], points: Sequence[tuple[int, Point]], design: str, order: Sequence[int]
) -> list[Block]:
    """The tables of some points.

    Args:
        axes: The axes.
        points: The points with their numbers.
        design: Which combinations they are.
        order: The numbers of the axes, those that decide most first.
    """
    if design == FULL:
        return _crossed(axes, points, order)
    return [
        _ordered(axes, list(of), order, variant)
        for variant, of in groupby(points, key=lambda p: p[1].variant)
    ]


def _crossed(
    axes: Sequence[Axis], points: Sequence[tuple[int, Point]], order: Sequence[int]
) -> list[Block]:
    several = len({p.variant for _, p in points}) > 1
    across, down = len(axes) - 1, len(axes) - 2
    if len(axes) > 2 and len(order) > 1:
        across, down = order[:2]
    tables: dict[str, dict[str, list[int | None]]] = {}
    for number, p in points:
        labels = [a.labels[i] for a, i in zip(axes, p.places, strict=True)]
        names = [p.variant] if several and down >= 0 else []
        names += [f"{a.name} {labels[i]}" for i, a in enumerate(axes) if i not in (across, down)]
        rows = tables.setdefault(", ".join(names), {})
        row = rows.setdefault(
            labels[down] if down >= 0 else p.variant, [None] * len(axes[across].labels)
        )
        row[p.places[across]] = number
    corner = axes[down].name if down >= 0 else "variant" if several else ""
    along = axes[across]
    return [
        Block(title, corner, along.name, along.labels, tuple((r, tuple(c)) for r, c in of.items()))
        for title, of in tables.items()
    ]


def _ordered(
    axes: Sequence[Axis], points: Sequence[tuple[int, Point]], order: Sequence[int], variant: str
) -> Block:
    first, second = order[0], order[1] if len(order) > 1 else order[0]

    def along(axis: int, of: tuple[int, Point]) -> float:
        numbers, place = axes[axis].numbers, of[1].places[axis]
        return numbers[place] if numbers else place

    ranked = sorted(points, key=lambda p: (along(first, p), along(second, p)))
    wide = len(ranked) if first == second else max(1, round(1.3 * sqrt(len(ranked))))
    height = ceil(len(ranked) / min(_MOST_COLUMNS, wide))
    stacks = [
        sorted(ranked[i : i + height], key=lambda p: along(second, p))
        for i in range(0, len(ranked), height)
    ]
    rows = tuple(
        ("", tuple(stack[level][0] if level < len(stack) else None for stack in stacks))
        for level in reversed(range(height))
    )

    def ends(axis: int) -> str:
        low, high = (f(points, key=lambda p: along(axis, p))[1].places[axis] for f in (min, max))
        return f"{axes[axis].name}, {axes[axis].labels[low]} to {axes[axis].labels[high]}"

    note = f"From left to right: {ends(first)}."
    if first != second:
        note += f" In each column from bottom to top: {ends(second)}."
    return Block(variant, "", axes[first].name, (), rows, note)


@dataclass(frozen=True)
class Shares:
    """How many points pass, by groups of two axes: what is shown of more points than have cells.

    Attributes:
        corner: Name of the axis along the rows.
        along: Name of the axis along the columns.
        columns: Their groups.
        rows: A group, and for each column how many pass and how many there are.
    """

    corner: str
    along: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[tuple[int, int], ...]], ...]


def shares(across: Axis, down: Axis, places: Sequence[tuple[int, int, bool]]) -> Shares:
    """Counts by groups.

    Args:
        across: The axis of the columns.
        down: The axis of the rows.
        places: For each point its places on both axes, and whether it passes.

    Example:
        >>> load, size = Axis("load", ("1", "2")), Axis("size", ("s", "l"))
        >>> shares(load, size, [(0, 0, True), (1, 0, False), (0, 1, True), (1, 1, True)]).rows
        (('s', ((1, 1), (0, 1))), ('l', ((1, 1), (1, 1))))
    """
    columns = grouped(across, [a for a, _, _ in places])
    rows = grouped(down, [b for _, b, _ in places])
    column = {p: i for i, (_, of) in enumerate(columns) for p in of}
    row = {p: i for i, (_, of) in enumerate(rows) for p in of}
    counts = [[(0, 0) for _ in columns] for _ in rows]
    for a, b, passes in places:
        passed, n = counts[row[b]][column[a]]
        counts[row[b]][column[a]] = passed + passes, n + 1
    return Shares(
        down.name,
        across.name,
        tuple(label for label, _ in columns),
        tuple((label, tuple(of)) for (label, _), of in zip(rows, counts, strict=True)),
    )
