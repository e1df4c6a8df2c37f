"""Which axis decides whether requirements are met.

The score of a point is 1 if it passes, 0 if it fails and 1/2 between them; where all verdicts are
the same it is what was measured. Of an axis, points fall
into groups: one for each value, or about equally many of neighboring values where there are more
than `MOST_GROUPS`. The share of an axis is epsilon squared (Kelley 1935), the part of the variance
of the scores that lies between its groups, corrected for what chance alone would give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

from spillgate.points import Axis, Point

MOST_GROUPS = 6
"""Groups of an axis of numbers; one of names has one for each."""

SCORES = {"pass": 1.0, "undecided": 0.5, "fail": 0.0}


@dataclass(frozen=True)
class Group:
    """Points with neighboring values of an axis.

    Attributes:
        label: The value, or the first and the last.
        passed: Of how many points all requirements pass.
        undecided: Of how many none fails and some are undecided.
        of: How many points there are.
    """

    label: str
    passed: int
    undecided: int
    of: int

    @property
    def failed(self) -> int:
        """Of how many some requirement fails."""
        return self.of - self.passed - self.undecided


@dataclass(frozen=True)
class Influence:
    """What an axis, or the variant, has to do with the verdicts.

    Attributes:
        name: Its name; `variant`.
        index: Its number; none of the variant.
        share: Share of the variance of the scores, from 0 to 1; none if no group has two points.
        told: Whether the share is above what chance gives: by two standard deviations of what it
            is where the axis has no influence.
        groups: The points by value, in the order of the axis.
        edges: For an axis of numbers, up to or from where every point passes, and from or up to
            where none does, in words.
    """

    name: str
    index: int | None
    share: float | None
    told: bool
    groups: tuple[Group, ...]
    edges: tuple[str, ...] = ()


def grouped(axis: Axis, places: Sequence[int]) -> list[tuple[str, list[int]]]:
    """The places of an axis that occur in groups, with a label for each, in the order of numbers.

    Example:
        >>> grouped(Axis("load", ("2", "1"), "", (2.0, 1.0)), [0, 1, 1])
        [('1', [1]), ('2', [0])]
    """
    used = sorted(set(places), key=lambda i: axis.numbers[i] if axis.numbers else float(i))
    if axis.numbers is None or len(used) <= MOST_GROUPS:
        return [(axis.labels[i], [i]) for i in used]
    bounds = [round(g * len(used) / MOST_GROUPS) for g in range(MOST_GROUPS + 1)]
    parts = [used[a:b] for a, b in pairwise(bounds)]
    return [(_ends(axis, p[0], p[-1]), p) for p in parts]


def _ends(axis: Axis, first: int, last: int) -> str:
    return axis.labels[first] if first == last else f"{axis.labels[first]} to {axis.labels[last]}"


def influences(
    axes: Sequence[Axis],
    points: Sequence[Point],
    verdicts: Mapping[str, str],
    values: Mapping[str, float] | None = None,
) -> list[Influence]:
    """The variant, if there are several, and the axes; those that decide most come first.

    Args:
        axes: The axes.
        points: The points; those without a verdict are left out.
        verdicts: The verdict of each point by name: the worst of its requirements.
        values: Scores by name in place of those of the verdicts; points without are left out.
    """
    points = [p for p in points if verdicts.get(p.name) and (not values or p.name in values)]
    said = [verdicts[p.name] for p in points]
    scores = [values[p.name] if values else SCORES[verdicts[p.name]] for p in points]
    found = []
    variants = tuple(dict.fromkeys(p.variant for p in points))
    if len(variants) > 1:
        places = [variants.index(p.variant) for p in points]
        found.append(_influence(Axis("variant", variants), None, places, said, scores))
    for index, axis in enumerate(axes):
        places = [p.places[index] for p in points]
        if len(set(places)) > 1:
            found.append(_influence(axis, index, places, said, scores))
    return sorted(found, key=lambda i: -(i.share or 0.0))


def _influence(
    axis: Axis,
    index: int | None,
    places: Sequence[int],
    said: Sequence[str],
    scores: Sequence[float],
) -> Influence:
    parts = grouped(axis, places)
    number = {place: g for g, (_, part) in enumerate(parts) for place in part}
    by: list[list[str]] = [[] for _ in parts]
    scored: list[list[float]] = [[] for _ in parts]
    for place, verdict, score in zip(places, said, scores, strict=True):
        by[number[place]].append(verdict)
        scored[number[place]].append(score)
    share, told = _share(scored)
    groups = tuple(
        Group(label, of.count("pass"), of.count("undecided"), len(of))
        for (label, _), of in zip(parts, by, strict=True)
    )
    edges = _edges(axis, places, said) if axis.numbers else ()
    return Influence(axis.name, index, share, told, groups, edges)


def _share(groups: Sequence[Sequence[float]]) -> tuple[float | None, bool]:
    """Epsilon squared, and whether it is more than chance.

    Without influence the uncorrected share has a beta distribution with parameters (k-1)/2 and
    (n-k)/2 of k groups and n points, from which the standard deviation.
    """
    every = [s for of in groups for s in of]
    n, k = len(every), len(groups)
    mean = sum(every) / n
    total = sum((s - mean) ** 2 for s in every)
    if n <= k:
        return None, False
    if total == 0.0:
        return 0.0, False
    within = sum((s - sum(of) / len(of)) ** 2 for of in groups for s in of)
    correction = (n - 1) / (n - k)
    share = max(0.0, 1.0 - within / total * correction)
    a, b = (k - 1) / 2, (n - k) / 2
    deviation = sqrt(a * b / ((a + b) ** 2 * (a + b + 1))) * correction
    return share, share > 2.0 * deviation


def _edges(axis: Axis, places: Sequence[int], said: Sequence[str]) -> tuple[str, ...]:
    """Up to where every point passes, and from where none does, or the other way round."""
    by: dict[int, list[str]] = {}
    for place, verdict in zip(places, said, strict=True):
        by.setdefault(place, []).append(verdict)
    numbers = axis.numbers or ()
    order = sorted(by, key=lambda i: numbers[i])
    every = [all(v == "pass" for v in by[i]) for i in order]
    none = [all(v != "pass" for v in by[i]) for i in order]
    if all(every) or all(none):
        return ()

    def ends(flags: Sequence[bool]) -> tuple[str, str]:
        """Words for where the flags are set at the low end and at the high end."""
        low = next((i for i, f in enumerate(flags) if not f), len(flags))
        high = next((i for i, f in enumerate(reversed(flags)) if not f), len(flags))
        return (
            f"up to {axis.labels[order[low - 1]]}" if low else "",
            f"from {axis.labels[order[len(flags) - high]]} on" if high else "",
        )

    passing, failing = ends(every), ends(none)
    return (
        *(f"all pass {w}" for w in passing if w),
        *(f"none passes {w}" for w in failing if w),
    )
