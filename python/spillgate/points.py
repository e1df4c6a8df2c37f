"""Points: where a scenario with axes is run, and which of them are asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spillgate.errors import InputError

At = Mapping[str, object]
"""Coordinates by axis, as the scenario writes the value or as a number in the base unit."""


FULL = "full"
"""The design of all combinations of the values of axes."""


@dataclass(frozen=True)
class Axis:
    """An axis of the points.

    Attributes:
        name: Its name.
        labels: Its values as the scenario writes them.
        unit: The base unit of the numbers, "" for plain ones; none if they are no numbers.
        numbers: The values in that unit; none if they are not quantities of one kind.
        failures: Whether its values are failures; the first is none.
        listed: How many values the scenario lists; none of a range.
    """

    name: str
    labels: tuple[str, ...]
    unit: str | None = None
    numbers: tuple[float, ...] | None = None
    failures: bool = False
    listed: int | None = None

    @property
    def values(self) -> tuple[float, ...] | tuple[str, ...]:
        """The coordinates: numbers, or texts where they are none."""
        return self.labels if self.numbers is None else self.numbers

    def place(self, value: object) -> int:
        """Where a value is on the axis; raises `InputError` if it is not there."""
        if isinstance(value, str) and value in self.labels:
            return self.labels.index(value)
        if self.numbers is not None and value in self.numbers:
            return self.numbers.index(float(str(value)))
        there = ", ".join(self.labels)
        msg = f"error: there is no {value!r} on the axis {self.name}; there are {there}"
        raise InputError(msg)


@dataclass(frozen=True)
class Shift:
    """What a failure does to paths and loads once routes have followed, worked out without a run.

    Loads are what sources offer as IP packets, relative to the rate of a link: what connections
    send depends on the network.

    Attributes:
        moved: Flows whose path changes, of those that can be active before the repair is noticed.
        cut: Those of them that have no path left.
        link: The busiest of the links that are offered more; "" where none is.
        load: Its load then.
        without: Its load without the failure.
    """

    moved: int
    cut: int
    link: str
    load: float
    without: float


@dataclass(frozen=True)
class Point:
    """A point.

    Attributes:
        name: Its name in rows and tables: `LLQ (load=2 Mb/s)`; that of the variant without axes.
        variant: Name of its variant; "" if the scenario has none.
        places: Its place on each axis, from 0.
        same: The number of an earlier point whose results it has, because what fails here changes
            no path and no load; none if it was run itself.
        shift: What fails here compared with the point without that failure; none where nothing
            does, or the scenario has failures of its own.
    """

    name: str
    variant: str
    places: tuple[int, ...] = ()
    same: int | None = None
    shift: Shift | None = None


def counted(n: int, what: str) -> str:
    """`1 variant`, `1,000 variants`."""
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def axes_of(records: Sequence[Mapping[str, Any]]) -> tuple[Axis, ...]:
    """The axes of a description of the core."""
    axes = []
    for axis in records:
        numbers = axis["numbers"]
        values = None if numbers is None else tuple(numbers)
        failures = axis.get("failures", False)
        made = axis["name"], tuple(axis["labels"]), axis["unit"], values, failures
        axes.append(Axis(*made, axis.get("listed")))
    return tuple(axes)


def points_of(names: Sequence[str], records: Sequence[Mapping[str, Any]]) -> tuple[Point, ...]:
    """The points of a description of the core, which has no records of them without axes."""
    if not records:
        return tuple(Point(name, name) for name in names)
    points = []
    for p in records:
        shift = Shift(**p["shift"]) if "shift" in p else None
        points.append(Point(p["name"], p["variant"], tuple(p["places"]), p.get("same"), shift))
    return tuple(points)


def chosen(
    axes: Sequence[Axis], points: Sequence[Point], variant: str | None, at: At | None
) -> Callable[[str], bool]:
    """Whether a point, given by its name, is of a variant, or called so, and at coordinates.

    Raises:
        InputError: If there is no such axis, or it has no such value.
    """
    if variant is None and not at:
        return lambda _: True
    names = [axis.name for axis in axes]
    wanted = []
    for name, value in (at or {}).items():
        if name not in names:
            there = ", ".join(names) or "none"
            msg = f"error: there is no axis {name!r}; there are: {there}"
            raise InputError(msg)
        index = names.index(name)
        wanted.append((index, axes[index].place(value)))
    among = {
        p.name
        for p in points
        if variant in (None, p.name, p.variant) and all(p.places[i] == at for i, at in wanted)
    }
    return among.__contains__


def columns(axes: Sequence[Axis], points: Sequence[Point]) -> dict[str, dict[str, object]]:
    """For each point by name, what columns of tables say of it; empty without axes."""
    if not axes:
        return {}
    return {
        p.name: {
            "variant": p.variant,
            "point": p.name,
            **{a.name: a.values[i] for a, i in zip(axes, p.places, strict=True)},
        }
        for p in points
    }


@dataclass(frozen=True)
class Grid:
    """Points as a table, whose columns are the values of the last axis.

    Attributes:
        heads: What the names of a row are: the variant, if there are several, and the other axes.
        axis: The axis along which the columns stand.
        rows: The names of each row, and the names of its points; none where there is no point.
        listed: The design has not all combinations: each point is a row, with its places on all
            axes, and there is one column, of an axis without a name.
    """

    heads: tuple[str, ...]
    axis: Axis
    rows: tuple[tuple[tuple[str, ...], tuple[str | None, ...]], ...]
    listed: bool = False


def grid(axes: Sequence[Axis], points: Sequence[Point], design: str = FULL) -> Grid | None:
    """The points as a table; none without axes.

    Args:
        axes: The axes.
        points: The points.
        design: Which combinations of the axes' values they are.

    Example:
        >>> load = Axis("load", ("1", "2"))
        >>> both = [Point("A (load=1)", "A", (0,)), Point("A (load=2)", "A", (1,))]
        >>> grid([load], both).rows
        ((('A',), ('A (load=1)', 'A (load=2)')),)
    """
    if not axes:
        return None
    several = len({p.variant for p in points}) > 1
    if design != FULL:
        return _listing(axes, points, several=several)
    *others, last = axes
    several = several or not others
    rows: dict[tuple[str, ...], list[str | None]] = {}
    for p in points:
        names = tuple(a.labels[i] for a, i in zip(others, p.places[:-1], strict=True))
        row = rows.setdefault(((p.variant,) if several else ()) + names, [None] * len(last.labels))
        row[p.places[-1]] = p.name
    return Grid(
        heads=(*(("variant",) if several else ()), *(a.name for a in others)),
        axis=last,
        rows=tuple((names, tuple(row)) for names, row in rows.items()),
    )


def _listing(axes: Sequence[Axis], points: Sequence[Point], *, several: bool) -> Grid:
    def names(p: Point) -> tuple[str, ...]:
        places = (a.labels[i] for a, i in zip(axes, p.places, strict=True))
        return (*((p.variant,) if several else ()), *places)

    return Grid(
        heads=(*(("variant",) if several else ()), *(a.name for a in axes)),
        axis=Axis("", ("measured",)),
        rows=tuple((names(p), (p.name,)) for p in points),
        listed=True,
    )
