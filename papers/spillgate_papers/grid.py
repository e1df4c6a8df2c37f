"""The points of a paper: products of axes, and how long and how often they are run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from spillgate_papers.lab import Effort, Settings
from spillgate_papers.measured import View
from spillgate_papers.model import Point


@dataclass(frozen=True)
class Value:
    """A value of an axis, or a point, which has one of each.

    Attributes:
        set: What it replaces.
        always: What it replaces whatever a silent choice says.
        at: The label on each axis; of a point.
    """

    set: Settings
    always: Settings = field(default_factory=dict)
    at: Mapping[str, str] = field(default_factory=dict)


def places(
    wanted: Callable[..., bool] = lambda *_: True, /, **axes: Mapping[str, Settings | Value]
) -> dict[str, Value]:
    """The product of axes by name of the point: its labels.

    Args:
        wanted: Which points there are, from their labels in the order of the axes; all if none.
        axes: The values of each axis by label.

    Example:
        >>> path = "topology.links.wan.policy"
        >>> list(places(policy={"FIFO": {}, "RED": {path: "RED"}}, load={"low": {}}))
        ['FIFO, low', 'RED, low']
    """
    found = {}
    for labels in product(*axes.values()):
        values = [axis[x] for axis, x in zip(axes.values(), labels, strict=True)]
        every = [v if isinstance(v, Value) else Value(v) for v in values]
        if wanted(*labels):
            found[", ".join(labels)] = Value(
                {path: x for v in every for path, x in v.set.items()},
                {path: x for v in every for path, x in v.always.items()},
                dict(zip(axes, labels, strict=True)),
            )
    return found


def under(every: Mapping[str, Value], place: str, choices: Sequence[Point]) -> Settings:
    """A point under other choices together; one that they cannot touch is as it was chosen.

    Args:
        every: The points that there are.
        place: Its name.
        choices: The choices; of two that replace the same value the later one counts.
    """
    place = next((p.same[place] for p in choices if place in p.same), place)
    value = every[place]
    touching = [p for p in choices if place in p.places or not p.places]
    found = {} if any(p.instead for p in touching) else dict(value.set)
    for p in touching:
        found |= {**p.set, **p.own.get(place, {})}
    return {**found, **value.always}


@dataclass(frozen=True)
class Batch:
    """Runs of points, all as long and as many.

    Attributes:
        title: Its name, for progress and for the folder of its results.
        places: Its points by name; no other batch has points of these names.
        effort: How long they are run, and how often.
        varied: The same with other choices, and with causes on and off; not run so if none.
        same: Points that need no run of their own, from what was run before: the point of an
            earlier batch whose runs they are.
        keep: Whether its results are saved.
        note: What to know of it, for the table of what is run.
    """

    title: str
    places: Mapping[str, Value]
    effort: Effort
    varied: Effort | None = None
    same: Callable[[View], Mapping[str, str]] = field(default=lambda _: {})
    keep: bool = False
    note: str = ""

    def cases(self, point: Point | None = None) -> dict[str, Settings]:
        """Its variants under another choice, by place; those only that it can touch."""
        p = point or Point("")
        return {
            name: under(self.places, name, [p])
            for name in self.places
            if (name in p.places or not p.places) and name not in p.same
        }
