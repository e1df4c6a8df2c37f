"""The points of a paper: products of axes, and how long and how often they are run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import product

from spillgate_papers.lab import Case, Lab, Protocol
from spillgate_papers.measured import View
from spillgate_papers.model import Point

Settings = Mapping[str, object]
"""Values of the scenario and of its configurations to replace, by path."""


@dataclass(frozen=True)
class Value:
    """A value of an axis.

    Attributes:
        set: What it replaces.
        always: What it replaces whatever a silent choice says.
    """

    set: Settings
    always: Settings = field(default_factory=dict)


class Grid:
    """The product of axes; the first value of each is the one meant if none is named.

    Example:
        >>> grid = Grid(policy=along("topology.links.wan.policy", ("FIFO", "RED")),
        ...             delay=along("topology.links.wan.delay", ("1 ms", "9 ms")))
        >>> grid.at(policy="RED"), len(grid.places)
        ('RED, 1 ms', 4)
    """

    def __init__(self, **axes: Mapping[str, Settings | Value]) -> None:
        """Takes the values of each axis by label."""
        self.axes = axes
        self.places: dict[str, Value] = {}
        """Each point by its labels, and what it replaces."""
        self.labels: dict[str, tuple[str, ...]] = {}
        for labels in product(*axes.values()):
            values = [axis[x] for axis, x in zip(axes.values(), labels, strict=True)]
            whole = Value({})
            for v in values:
                own = v if isinstance(v, Value) else Value(v)
                whole = Value({**whole.set, **own.set}, {**whole.always, **own.always})
            self.places[", ".join(labels)] = whole
            self.labels[", ".join(labels)] = labels

    def only(self, wanted: Callable[..., bool]) -> Grid:
        """The points whose labels, in the order of the axes, are wanted."""
        found = Grid(**self.axes)
        for labels in product(*self.axes.values()):
            if not wanted(*labels):
                del found.places[", ".join(labels)], found.labels[", ".join(labels)]
        return found

    def at(self, **labels: str) -> str:
        """The name of a point."""
        if unknown := set(labels) - set(self.axes):
            msg = f"no such axis: {', '.join(sorted(unknown))}"
            raise KeyError(msg)
        found = ", ".join(labels.get(name, next(iter(a))) for name, a in self.axes.items())
        if found not in self.places:
            raise KeyError(found)
        return found


def along(path: str, values: Iterable[object]) -> dict[str, Settings]:
    """An axis that sets one path."""
    return {str(v): {path: v} for v in values}


@dataclass(frozen=True)
class Effort:
    """How long something is run, and how often: as often as the claims unless it says otherwise.

    Attributes:
        warmup: Seconds that are not counted.
        duration: Seconds that are measured.
        quick: The same two with `--quick`, if it is shorter then.
        runs: Independent runs, at most.
        times: How many times as often as the claims, where these are undecided otherwise; with
            `--quick` as often.
    """

    warmup: float
    duration: float
    quick: tuple[float, float] | None = None
    runs: int | None = None
    times: int = 1

    def protocol(self, lab: Lab) -> Protocol:
        """As runs of a lab."""
        often = lab.runs * (1 if lab.quick else self.times)
        runs = often if self.runs is None else min(self.runs, often)
        length = self.quick if lab.quick and self.quick else (self.warmup, self.duration)
        return Protocol(runs, *length)


@dataclass(frozen=True)
class Batch:
    """Runs of a grid, all as long and as many.

    Attributes:
        title: Its name, for progress and for the folder of its results.
        grid: Its points; no other batch has points of these names.
        effort: How long they are run, and how often.
        varied: The same with other choices, and with causes on and off; not run so if none.
        same: Points that need no run of their own, from what was run before: the point of an
            earlier batch whose runs they are.
        keep: Whether its results are saved.
        note: What to know of it, for the table of what is run.
    """

    title: str
    grid: Grid
    effort: Effort
    varied: Effort | None = None
    same: Callable[[View], Mapping[str, str]] = field(default=lambda _: {})
    keep: bool = False
    note: str = ""


def cases(grid: Grid, point: Point | None = None) -> dict[str, Case]:
    """The variants of a grid under another choice, by place; those only that it can touch."""
    p = point or Point("")
    return {
        name: Case(
            name, {**({} if p.instead else v.set), **p.set, **p.own.get(name, {}), **v.always}
        )
        for name, v in grid.places.items()
        if (name in p.places or not p.places) and name not in p.same
    }
