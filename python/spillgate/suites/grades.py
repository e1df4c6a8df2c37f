"""Grades of bufferbloat, as public tests in the browser give them."""

from __future__ import annotations

from math import inf

from spillgate.statistics import Interval

GRADES = (("A+", 0.005), ("A", 0.030), ("B", 0.060), ("C", 0.200), ("D", 0.400), ("F", inf))
"""Grades with the latency, in seconds, by which load may add less than that."""


def grade(increase_s: float) -> str:
    """The grade of a latency that load adds, in seconds.

    Example:
        >>> grade(0.004), grade(0.03), grade(0.5)
        ('A+', 'B', 'F')
    """
    return next(letter for letter, below in GRADES if increase_s < below)


def graded(increase: Interval | None) -> str:
    """The grade of a mean; with both where its interval reaches into another.

    Example:
        >>> graded(Interval(0.028, 0.02, 0.036, 0.95)), graded(None)
        ('A (A to B)', '–')
    """
    if increase is None:
        return "–"
    of = grade(increase.estimate)
    if increase.high == inf:
        return of
    ends = [grade(increase.low), grade(increase.high)]
    return of if ends == [of, of] else f"{of} ({ends[0]} to {ends[1]})"
