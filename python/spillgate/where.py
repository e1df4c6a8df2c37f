"""Which points are chosen: `load=8 Mb/s,limit=20 packets`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from spillgate.errors import InputError
from spillgate.points import Axis, Point
from spillgate.scenario import Description, Engine, open_job
from spillgate.search import SPELT, quantity
from spillgate.source import Source

if TYPE_CHECKING:
    from spillgate import _engine

Where: TypeAlias = str | Mapping[str, object]
"""Values by axis, as `load=2 Mb/s,8 Mb/s,size=small` or as a mapping to a value or several."""

VARIANT = "variant"
"""What variants are called in a choice, unless an axis is called so."""


def numbers_of(axes: Sequence[Axis], points: Sequence[Point], where: Where) -> list[int]:
    """The numbers of the points that are chosen, ascending.

    Args:
        axes: The axes.
        points: The points.
        where: The choice. A text has `axis=value` one after the other. Further values of an axis
            follow after a comma; `2 Mb/s..8 Mb/s` are all from one to another, and `2 Mb/s..` all
            from one on. `variant` is an axis, too.

    Raises:
        InputError: If there is no such axis or value, or no point at these values.

    Example:
        >>> load = Axis("load", ("1 Mb/s", "2 Mb/s", "8 Mb/s"), "b/s", (1e6, 2e6, 8e6))
        >>> points = [Point(f"A (load={v})", "A", (i,)) for i, v in enumerate(load.labels)]
        >>> numbers_of([load], points, "load=2 Mb/s.."), numbers_of([load], points, {"load": 1e6})
        ([1, 2], [0])
    """
    every = {a.name: a for a in axes}
    variants = tuple(dict.fromkeys(p.variant for p in points))
    if VARIANT not in every:
        every[VARIANT] = Axis(VARIANT, variants)
    wanted = _read(every, where) if isinstance(where, str) else where
    allowed = {name: _places(every, name, value) for name, value in wanted.items()}
    of_axes = [(i, allowed[a.name]) for i, a in enumerate(axes) if a.name in allowed]
    named = VARIANT in allowed and VARIANT not in {a.name for a in axes}
    found = [
        n
        for n, p in enumerate(points)
        if all(p.places[i] in places for i, places in of_axes)
        and (not named or variants.index(p.variant) in allowed[VARIANT])
    ]
    if not found:
        msg = f"error: where {where!r}: no point has these values together"
        raise InputError(msg)
    return found


def narrowed(
    axes: Sequence[Axis], points: Sequence[Point]
) -> tuple[tuple[Axis, ...], tuple[Point, ...]]:
    """The axes with the values of some points only, and these points on them."""
    kept = [sorted({p.places[i] for p in points}) for i in range(len(axes))]
    shorter = []
    for axis, places in zip(axes, kept, strict=True):
        numbers = None if axis.numbers is None else tuple(axis.numbers[i] for i in places)
        shorter.append(
            replace(
                axis,
                labels=tuple(axis.labels[i] for i in places),
                numbers=numbers,
                # Failures are compared with none, which is the first.
                failures=axis.failures and 0 in places,
            )
        )
    moved = [
        replace(p, places=tuple(of.index(i) for of, i in zip(kept, p.places, strict=True)))
        for p in points
    ]
    return tuple(shorter), tuple(moved)


def part(
    described: Description,
    where: Where,
    *,
    source: Source,
    set: Sequence[str],  # noqa: A002 - the option's name on the command line
    sla: Sequence[Path],
    engine: Engine,
) -> tuple[_engine.Job, Description]:
    """The chosen points of a scenario that was run, opened anew, and what is understood of them.

    Args:
        described: What was understood of all points.
        where: The choice.
        source: The scenario.
        set: Values of it that were replaced.
        sla: Files with requirements beside its own.
        engine: What got the runs through their events.

    Raises:
        InputError: If there is no such axis or value, or no point at these values.
    """
    job = open_job(
        source,
        seed=described.seed,
        runs=described.runs,
        set=set,
        sla=sla,
        engine=engine,
        ignore_memory=True,
        points=numbers_of(described.axes, described.points, where),
    )
    found = Description.from_json(job.describe())
    axes, points = narrowed(found.axes, found.points)
    kept = {f: getattr(described, f) for f in ("warnings", "unmodelled", "outside")}
    return job, replace(found, axes=axes, points=points, memory_bytes=0, jobs=0, **kept)


def _read(every: Mapping[str, Axis], text: str) -> dict[str, list[str]]:
    """The values of each axis in a text."""
    wanted: dict[str, list[str]] = {}
    rest = text.strip()
    axis: Axis | None = None
    while rest:
        begun = _begins(every, rest)
        # A value may have a `=` in it, unless an axis is called like what is before that.
        if begun is not None and (begun[0] in every or not (axis and _label(axis, rest))):
            name, rest = begun
            if name not in every:
                raise InputError(_unknown(every, name, text))
            if name in wanted:
                msg = f"error: where {text!r}: the axis {name} occurs twice; write {name}=A,B"
                raise InputError(msg)
            axis = every[name]
            wanted[name] = []
        if axis is None:
            msg = f"error: where {text!r}: {rest!r} is no AXIS=VALUE{_there(every)}"
            raise InputError(msg)
        value = _label(axis, rest) or rest.split(",", 1)[0]
        wanted[axis.name].append(value.strip())
        rest = rest[len(value) :].lstrip().removeprefix(",").strip()
    if not wanted:
        msg = f"error: where {text!r}: write AXIS=VALUE{_there(every)}"
        raise InputError(msg)
    return wanted


def _begins(every: Mapping[str, Axis], rest: str) -> tuple[str, str] | None:
    """The name of the axis that a text begins with, and what follows; none if it does not."""
    for name in sorted(every, key=len, reverse=True):
        if found := re.match(rf"{re.escape(name)}\s*=\s*", rest):
            return name, rest[found.end() :]
    if found := re.match(r"([^,=]*)=\s*", rest):
        return found[1].strip(), rest[found.end() :]
    return None


def _label(axis: Axis, rest: str) -> str:
    """The longest value that a text begins with, before a comma or the end; empty if none."""
    for label in sorted(axis.labels, key=len, reverse=True):
        if re.match(rf"{re.escape(label)}\s*(,|$)", rest):
            return label
    return ""


def _places(every: Mapping[str, Axis], name: str, value: object) -> set[int]:
    """Places on an axis that a value, several, or ranges of them name."""
    if name not in every:
        raise InputError(_unknown(every, name, name))
    axis = every[name]
    if isinstance(value, Iterable) and not isinstance(value, str):
        return {place for one in value for place in _places_of(axis, one)}
    return _places_of(axis, value)


def _places_of(axis: Axis, value: object) -> set[int]:
    if isinstance(value, str) and value not in axis.labels:
        low, dots, high = value.partition("..")
        if dots:
            return _between(axis, low.strip(), high.strip())
        number = _number(axis, value)
    else:
        number = value if isinstance(value, int | float) else None
    same = {i for i, n in enumerate(axis.numbers or ()) if n == number}
    return same or {axis.place(value)}


def _between(axis: Axis, low: str, high: str) -> set[int]:
    """Places from one value to another, both included; in their order if they are no numbers."""
    order: Sequence[float] = axis.numbers or range(len(axis.labels))

    def end(text: str, default: float) -> float:
        if not text:
            return default
        number = _number(axis, text)
        return order[axis.place(text)] if number is None else number

    ends = end(low, min(order)), end(high, max(order))
    found = {i for i, n in enumerate(order) if ends[0] <= n <= ends[1]}
    if not found:
        there = ", ".join(axis.labels)
        msg = f"error: no value of the axis {axis.name} is in {low}..{high}; there are {there}"
        raise InputError(msg)
    return found


def _number(axis: Axis, text: str) -> float | None:
    """A quantity in the unit of the axis, however it is written; none if it is not of its kind."""
    if axis.numbers is None:
        return None
    try:
        number, unit, _ = quantity("where", text)
    except InputError:
        return None
    if unit == "%" and axis.unit == "1":
        return float(number / Decimal(100))
    base = SPELT.get(unit, unit)
    return float(number) if base in ("", axis.unit) else None


def _unknown(every: Mapping[str, Axis], name: str, text: str) -> str:
    return f"error: where {text!r}: there is no axis {name!r}{_there(every)}"


def _there(every: Mapping[str, Axis]) -> str:
    return f"; there are: {', '.join(every)}"
