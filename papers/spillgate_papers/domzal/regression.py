"""A straight line through waiting times, with its slope in each run."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from spillgate_papers.measured import PerRun


@dataclass(frozen=True)
class Line:
    """A line of least squares.

    Attributes:
        slope: Its slope.
        offset: Its value at 0.
        r2: Share of the variance of the values that it explains; NaN if they do not vary.
    """

    slope: float
    offset: float
    r2: float


def fit(points: Mapping[float, float]) -> Line:
    """The line of least squares through at least two points.

    Example:
        >>> fit({1.0: 0.5, 2.0: 1.0, 4.0: 2.0})
        Line(slope=0.5, offset=0.0, r2=1.0)
    """
    xs, ys = list(points), list(points.values())
    line = statistics.linear_regression(xs, ys)
    r2 = statistics.correlation(xs, ys) ** 2 if len(set(ys)) > 1 else math.nan
    return Line(line.slope, line.intercept, r2)


def slopes(values: Mapping[float, PerRun]) -> PerRun:
    """The slope in each run, without unit."""
    runs = zip(*(q.values for q in values.values()), strict=True)
    found = (fit(dict(zip(values, run, strict=True))).slope for run in runs)
    return PerRun(tuple(found), "ratio")
