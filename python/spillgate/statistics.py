"""Confidence of independent values, and where the beginning of a series ends."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from spillgate import _engine


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval.

    Attributes:
        estimate: The mean or quantile; NaN without values.
        low: Lower end, minus infinity if there are too few values.
        high: Upper end, infinity if there are too few values.
        level: Its level in 0..1.
    """

    estimate: float
    low: float
    high: float
    level: float

    @property
    def half(self) -> float:
        """Half of the width; infinite where an end is."""
        return (self.high - self.low) / 2


def mean(values: Sequence[float], *, level: float = 0.95, again: bool = True) -> Interval:
    """The mean of independent values with its interval.

    Args:
        values: One of each run; NaN is left out.
        level: Confidence level.
        again: Whether one may look, add values and look again. The interval then covers after any
            number of values at once: a normal mixture of t statistics, exact for normal values
            whose deviation is unknown (Lai 1976; Wang and Ramdas 2025). From five values on it is
            about twice as wide as that of one look, which is Student's.

    Raises:
        ValueError: If the level is not between 0 and 1.

    Example:
        >>> found = mean([17, 21, 18, 20, 19])
        >>> found.estimate, round(found.half, 2)
        (19.0, 3.93)
        >>> round(mean([17, 21, 18, 20, 19], again=False).half, 2)
        1.96
    """
    return Interval(*_engine.interval(values, level, again=again), level)


def quantile(values: Sequence[float], p: float, *, level: float = 0.95) -> Interval:
    """The p-quantile of what independent values come from, after any number of them at once.

    It holds for every distribution: the count of values up to the quantile is binomial, and its
    likelihood ratio mixed by a beta distribution is a martingale (Howard and Ramdas 2022).

    Args:
        values: One of each run; NaN is left out.
        p: Which quantile: 0.5 is the median.
        level: Confidence level.

    Raises:
        ValueError: If p or the level is not between 0 and 1.

    Example:
        >>> quantile(range(1, 21), 0.5)
        Interval(estimate=10.0, low=4.0, high=17.0, level=0.95)
    """
    return Interval(*_engine.quantile_interval(values, p, level), level)


def p_value(values: Sequence[float], bound: float, *, again: bool = True) -> float:
    """The p-value of `bound` being the mean of independent values.

    Args:
        values: One of each run; NaN is left out.
        bound: The mean that is tested.
        again: Whether one may look again: the probability that it ever falls to p is then at most
            p. Otherwise it is that of Student's test.

    Example:
        >>> round(p_value([1, 2, 3, 4, 5], 5, again=False), 4)
        0.0474
        >>> round(p_value([1, 2, 3, 4, 5], 5), 2)
        0.56
        >>> p_value([5, 5, 5], 5)
        1.0
    """
    if all(value == bound or math.isnan(value) for value in values):
        # No deviation is known, and nothing speaks against the bound.
        return 1.0
    return _engine.p_value(values, bound, again=again)


def covariance(xs: Sequence[float], ys: Sequence[float]) -> tuple[float, float, float]:
    """Variance of the first, covariance, and variance of the second of pairs of values.

    Args:
        xs: The first of each pair.
        ys: The second of each pair.

    Raises:
        ValueError: If there are not as many of both; or fewer than two, which have none.

    Example:
        >>> covariance([1.0, 3.0], [1.0, 5.0])
        (2.0, 4.0, 8.0)
    """
    if len(xs) < 2:
        msg = "fewer than two pairs have no covariance"
        raise ValueError(msg)
    n = len(xs)
    mx, my = sum(xs) / n, sum(ys) / n
    away = [(x - mx, y - my) for x, y in zip(xs, ys, strict=True)]
    xx, xy, yy = (
        sum(of) / (n - 1) for of in zip(*((x * x, x * y, y * y) for x, y in away), strict=True)
    )
    return xx, xy, yy


BATCH = 5
"""Values that MSER-5 averages."""


@dataclass(frozen=True)
class Truncation:
    """How much of a series is its beginning, by MSER-5.

    Attributes:
        cut: How many values to leave out at the beginning: a multiple of five.
        errors: The statistic by how much is left out: nothing, one batch, ..., half of them. The
            least is at `cut`.
    """

    cut: int
    errors: tuple[float, ...]

    @property
    def settled(self) -> bool:
        """Whether it settles before the last place that is looked at: a half."""
        return bool(self.errors) and self.cut < BATCH * (len(self.errors) - 1)


def mser5(values: Sequence[float]) -> Truncation:
    """Where a series settles (White 1997; in batches of five: White, Cobb and Spratt 2000).

    Without the first d of m batches, the squared standard error of the mean of the others is
    estimated by `sum of (y - mean)² / (m - d)²`. The d with the least ends the beginning. It is
    looked for in the first half: a late one rests on a few values that happen to agree. Of equal
    ones the first counts.

    Args:
        values: The series; none NaN. Fewer than ten have no statistic and nothing to leave out.

    Example:
        >>> found = mser5([9] * 10 + [1, 2] * 20)
        >>> found.cut, len(found.errors), found.settled
        (10, 6, True)
    """
    count = len(values) // BATCH
    if count < 2:
        return Truncation(0, ())
    batches = [sum(values[BATCH * i : BATCH * (i + 1)]) / BATCH for i in range(count)]
    errors: list[float] = []
    center = squares = 0.0
    # From the end, with a running mean and sum of squares.
    for n, value in enumerate(reversed(batches), 1):
        off = value - center
        center += off / n
        squares += off * (value - center)
        errors.append(squares / n**2)
    kept = errors[::-1][: count // 2 + 1]
    return Truncation(BATCH * kept.index(min(kept)), tuple(kept))
