"""The selection of the best of several systems under noise.

Nothing here knows what the systems are. Each gives values, run by run, and the best has the least
mean. Run n of every system may draw the same random numbers: what counts is how much the
differences of systems vary, which is then less than the systems do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist

from spillgate import statistics

Values = Callable[[Mapping[int, int]], Mapping[int, Sequence[float]]]
"""Gives the values of the first runs of some systems, of each as many as are asked for."""


@dataclass(frozen=True)
class Dropped:
    """That a system was shown to be inferior.

    Attributes:
        after: After how many runs.
        by: The system that is better.
    """

    after: int
    by: int


@dataclass
class Selected:
    """What a procedure found.

    Attributes:
        best: The system with the least mean of those left.
        left: The systems that were not shown to be inferior, the best first.
        dropped: The others.
        values: The values of each system, of all runs that were made.
        needed: If several are left: after how many runs of each, at most, one would be; none else.
    """

    best: int = -1
    left: list[int] = field(default_factory=list)
    dropped: dict[int, Dropped] = field(default_factory=dict)
    values: dict[int, Sequence[float]] = field(default_factory=dict)
    needed: int | None = None


class _Moments:
    """Mean and variance of values that come one after the other."""

    __slots__ = ("count", "mean", "squares")

    def __init__(self, values: Sequence[float] = ()) -> None:
        self.count, self.mean, self.squares = 0, 0.0, 0.0
        for value in values:
            self.add(value)

    def add(self, value: float) -> None:
        self.count += 1
        off = value - self.mean
        self.mean += off / self.count
        self.squares += off * (value - self.mean)

    @property
    def variance(self) -> float:
        return self.squares / (self.count - 1)

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return math.sqrt(self.variance / self.count)


def screening_constant(runs: int, systems: int, level: float) -> float:
    """h² of KN++ after so many runs: 2 c η (r - 1) with c = 1.

    η solves ½ (1 + 2η)^(-(r - 1)/2) = α / (k - 1), the form for systems that are not independent.
    With more and more runs it goes to -2 ln(2α / (k - 1)).

    Example:
        >>> round(screening_constant(10, 5, 0.95), 3)
        11.429
        >>> round(screening_constant(10**6, 5, 0.95), 3), round(-2 * math.log(2 * 0.05 / 4), 3)
        (7.378, 7.378)
    """
    freedom = runs - 1
    return freedom * math.expm1(-2.0 / freedom * math.log(2.0 * (1.0 - level) / (systems - 1)))


def kim_nelson(
    systems: int,
    values: Values,
    *,
    zone: float,
    level: float,
    first: int,
    most: int,
    apart: float = 0.0,
    seen: Callable[[Selected, int], None] | None = None,
) -> Selected:
    """The best with a guarantee: KN++ (Kim and Nelson 2006) for independent runs.

    If the best is better than all others by the indifference zone or more, it is selected with at
    least the level's probability, asymptotically as the zone goes to 0. After each run
    each two systems that are left are compared: system i drops out if its mean exceeds that of l
    by more than `max(0, zone / 2r (h² S² / zone² - r))`, where S² is the variance of their
    differences in all r runs so far.

    Deviation: of two systems with equal means whose boundary is 0, the later one drops out. The
    paper has normal values, which are never equal; ratios of losses often are 0 in every run.

    A zone that is small beside how runs vary makes the boundary of KN++ so wide that it keeps even
    what is far behind. With `apart` a share of the error is spent on a second boundary, that does
    not know of the zone: a confidence sequence of the mean difference, which holds after any
    number of runs. Each pair has its part of that share.

    Runs are asked for some at a time, an eighth more than there are; each is looked at in turn, so
    that the answer is that of single runs.

    Args:
        systems: How many there are, two or more.
        values: Gives values.
        zone: The indifference zone, above 0.
        level: The probability of a correct selection.
        first: Runs before the first look, at least 2.
        most: Runs of a system at most; several may be left then.
        apart: The share of the error that the second boundary has, in 0..1; 0: KN++ alone.
        seen: Called after each look at new runs, with what is known and after how many runs.
    """
    found = Selected(left=list(range(systems)))
    error = 1.0 - level
    sure = 1.0 - apart * error / (systems - 1)
    pairs: dict[tuple[int, int], _Moments] = {}
    made, runs = 0, min(first, most)
    while True:
        if runs > made:
            wanted = max(runs, min(made + made // 8, found.needed or runs))
            made = min(most, wanted)
            found.values.update(values(dict.fromkeys(found.left, made)))
        for i, j in _pairs(found.left):
            a, b = found.values[i], found.values[j]
            pair = pairs.setdefault((i, j), _Moments())
            for n in range(pair.count, runs):
                pair.add(a[n] - b[n])
        constant = screening_constant(runs, systems, 1.0 - (1.0 - apart) * error)
        _screen(found, pairs, zone, constant, runs, sure)
        over = len(found.left) == 1 or runs >= most
        if seen is not None and (runs == made or over):
            seen(found, runs)
        if over:
            break
        runs += 1
    means = {i: math.fsum(found.values[i][:runs]) / runs for i in found.left}
    found.left.sort(key=lambda i: (means[i], i))
    found.best = found.left[0]
    return found


def _pairs(left: Sequence[int]) -> Iterator[tuple[int, int]]:
    return ((i, j) for at, i in enumerate(left) for j in left[at + 1 :])


def _screen(
    found: Selected,
    pairs: Mapping[tuple[int, int], _Moments],
    zone: float,
    constant: float,
    runs: int,
    sure: float,
) -> None:
    """Drops the systems that are shown to be inferior; says how many runs others may need."""
    worst: dict[int, tuple[float, int]] = {}
    needed: dict[tuple[int, int], int] = {}
    for i, j in _pairs(found.left):
        pair = pairs[i, j]
        spread = constant * pair.variance / zone**2
        width = max(0.0, zone / (2 * runs) * (spread - runs))
        needed[i, j] = max(runs, math.floor(spread)) + 1
        excess = abs(pair.mean) - width
        if excess <= 0.0 and sure < 1.0 and abs(pair.mean) > 3.0 * pair.error:
            a, b = found.values[i], found.values[j]
            differences = [x - y for x, y in zip(a[:runs], b[:runs], strict=True)]
            excess = abs(pair.mean) - statistics.mean(differences, level=sure).half
        if excess > 0.0 or (width == 0.0 and pair.mean == 0.0):
            loser, winner = (j, i) if pair.mean <= 0.0 else (i, j)
            # Of several that show it, the one by most; of equal ones the first.
            worst[loser] = max(worst.get(loser, (-math.inf, 0)), (excess, -winner))
    for loser, (_, winner) in worst.items():
        found.dropped[loser] = Dropped(runs, -winner)
        found.left.remove(loser)
    still = [needed[pair] for pair in _pairs(found.left)]
    found.needed = max(still, default=None)


def optimal_budget(
    systems: int,
    values: Values,
    *,
    budget: int,
    first: int,
    seen: Callable[[Selected, int], None] | None = None,
) -> Selected:
    """The best that a number of runs can tell: OCBA (Chen, Lin, Yücesan and Chick 2000).

    Each system has the first runs. What is left of the budget goes in twenty parts, each run of
    a part to the system that is farthest below its share, by the means and variances so far.

    Args:
        systems: How many there are, two or more.
        values: Gives values.
        budget: Runs of all systems together, at least `first` of each.
        first: Runs of each before any is preferred, at least 2.
        seen: Called after each part, with what is known and how many runs there were.
    """
    counts = dict.fromkeys(range(systems), first)
    found = Selected(left=list(range(systems)), values=dict(values(counts)))
    part = max(1, (budget - first * systems) // 20)
    while True:
        moments = [_Moments(found.values[i]) for i in range(systems)]
        means = [m.mean for m in moments]
        found.best = means.index(min(means))
        spent = sum(counts.values())
        if seen is not None:
            seen(found, spent)
        if spent >= budget:
            found.left.sort(key=lambda i: (means[i], i))
            return found
        shares = budget_shares(means, [m.variance for m in moments])
        before = dict(counts)
        for total in range(spent + 1, min(budget, spent + part) + 1):
            counts[max(counts, key=lambda i: shares[i] * total - counts[i])] += 1
        found.values.update(values({i: n for i, n in counts.items() if n > before[i]}))


def budget_shares(means: Sequence[float], variances: Sequence[float]) -> list[float]:
    """The shares of a budget by which the approximate probability of being right is greatest.

    With d the distance from the least mean, systems i and j other than the best b have runs as
    `(s_i / d_i)²` to `(s_j / d_j)²`, and b has `s_b sqrt(sum of N_i² / s_i²)` (Theorem 1).

    Example:
        >>> [round(s, 3) for s in budget_shares([1, 2, 3], [1, 1, 1])]
        [0.452, 0.438, 0.11]
    """
    best = min(range(len(means)), key=means.__getitem__)
    # Equal means would take all; beyond a millionth of the deviation they count as equal.
    tiny = 1e-12 * max(variances)
    if tiny == 0.0:
        return [1.0 / len(means)] * len(means)
    squares = [max((m - means[best]) ** 2, tiny) for m in means]
    ratios = [v / d for v, d in zip(variances, squares, strict=True)]
    others = (v / d**2 for v, d in zip(variances, squares, strict=True))
    of_others = math.fsum(x for i, x in enumerate(others) if i != best)
    ratios[best] = math.sqrt(variances[best] * of_others)
    total = math.fsum(ratios)
    return [r / total for r in ratios]


def correct_selection(values: Sequence[Sequence[float]], best: int) -> float:
    """The approximate probability that a system is the best (APCS), at least 0.

    1 less the probabilities, each by a normal distribution, that another one is better. The
    paper has independent systems. Where runs share random numbers, the variance of a difference
    is less by the covariance of the runs that both have.

    Args:
        values: Those of each system, at least two.
        best: The one that is taken for the best.

    Example:
        >>> round(correct_selection([[1, 2, 3], [2, 4, 6], [5, 7, 5]], 0), 4)
        0.9997
    """
    wrong = 0.0
    for i, other in enumerate(values):
        if i != best:
            mean, variance = _difference(values[best], other)
            if variance > 0.0:
                wrong += NormalDist().cdf(mean / math.sqrt(variance))
            else:
                # Always the same distance; if that is 0, both are the best.
                wrong += float(mean > 0.0)
    return max(0.0, 1.0 - wrong)


def _difference(a: Sequence[float], b: Sequence[float]) -> tuple[float, float]:
    """The difference of two means, and its variance: of the runs that both have, or of all.

    Of those that vary alike the runs of both say more, of others all.
    """
    of_a, of_b, common = _Moments(a), _Moments(b), min(len(a), len(b))
    pairs = _Moments([x - y for x, y in zip(a[:common], b[:common], strict=True)])
    x, y = _Moments(a[:common]), _Moments(b[:common])
    covariance = (x.variance + y.variance - pairs.variance) / 2.0
    scale = math.sqrt(x.variance * y.variance)
    # By the correlation, lest the variance becomes negative.
    alike = covariance / scale * math.sqrt(of_a.variance * of_b.variance) if scale else 0.0
    shared = 2.0 * alike * common / (len(a) * len(b))
    variance = of_a.variance / len(a) + of_b.variance / len(b) - shared
    if pairs.variance / common <= variance * (1.0 + 1e-9):
        return pairs.mean, pairs.variance / common
    return of_a.mean - of_b.mean, variance
