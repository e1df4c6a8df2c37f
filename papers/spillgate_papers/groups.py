"""Values in groups: how many levels they form, and how much the groups explain."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from spillgate_papers.terms import Term, of_each

Groups = Sequence[Sequence[float]]


def levels(groups: Groups, gap: float) -> int:
    """Into how many levels the means of the groups fall that are more than `gap` apart.

    Example:
        >>> levels([[0.133], [0.140], [0.172], [0.177], [0.195]], 0.01)
        3
    """
    means = sorted(math.fsum(g) / len(g) for g in groups)
    return 1 + sum(b - a > gap for a, b in pairwise(means))


def explained(groups: Groups) -> float:
    """Share of the variance of all values that lies between the groups; NaN without variance.

    Example:
        >>> explained([[1.0, 1.0], [2.0, 2.0]]), explained([[1.0, 2.0], [1.0, 2.0]])
        (1.0, 0.0)
    """
    values = [x for group in groups for x in group]
    mean = math.fsum(values) / len(values)
    total = math.fsum((x - mean) ** 2 for x in values)
    between = math.fsum(len(g) * (math.fsum(g) / len(g) - mean) ** 2 for g in groups)
    return between / total if total else math.nan


def grouped(terms: Sequence[Sequence[Term]], f: Callable[[Groups], float], unit: str = "") -> Term:
    """A number that `f` makes of groups of quantities in each run."""

    def of(values: Sequence[float]) -> float:
        rest = iter(values)
        return f([[next(rest) for _ in group] for group in terms])

    return of_each([t for group in terms for t in group], "groups", of, unit)
