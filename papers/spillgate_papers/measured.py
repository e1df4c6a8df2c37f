"""What runs measured, run by run.

Differences and ratios are formed within a run, under the same seeds, before they are averaged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from spillgate import _engine
from spillgate.result import Results
from spillgate.rows import Admission
from spillgate_papers.model import Quantity

DIGITS = 12
"""Significant digits of what is reported; the last ones of sums differ between machines."""


def rounded(x: float) -> float | None:
    """`x` to `DIGITS` significant digits; none if it is not finite.

    Example:
        >>> rounded(0.1 + 0.2), rounded(math.inf)
        (0.3, None)
    """
    return float(f"{x:.{DIGITS - 1}e}") if math.isfinite(x) else None


@dataclass(frozen=True)
class PerRun:
    """One quantity in every run; NaN where undefined.

    Two are put together by the runs that both have: those of one number have the same seeds.

    Attributes:
        values: The values, run by run.
        unit: Their unit.
        at_least: Whether some are of what was cut off. Differences and ratios of such are bounds
            of neither side, and do not say so.

    Example:
        >>> fifo, llq = PerRun((6.0, 8.0), "s"), PerRun((2.0, 2.0), "s")
        >>> (fifo / llq).values
        (3.0, 4.0)
    """

    values: tuple[float, ...]
    unit: str
    at_least: bool = False

    def _with(self, other: PerRun | float, f: Callable[[float, float], float]) -> list[float]:
        others = other.values if isinstance(other, PerRun) else (other,) * len(self.values)
        return [f(a, b) for a, b in zip(self.values, others, strict=False)]

    def __add__(self, other: PerRun | float) -> PerRun:
        """Run by run."""
        return PerRun(tuple(self._with(other, lambda a, b: a + b)), self.unit)

    def __sub__(self, other: PerRun | float) -> PerRun:
        """Run by run."""
        return PerRun(tuple(self._with(other, lambda a, b: a - b)), self.unit)

    def __truediv__(self, other: PerRun) -> PerRun:
        """A ratio run by run, undefined where the divisor is 0."""
        return PerRun(tuple(self._with(other, lambda a, b: a / b if b else math.nan)), "ratio")

    @property
    def quantity(self) -> Quantity:
        """Mean and interval over the runs."""
        mean, low, high = _engine.interval(self.values)
        n = sum(not math.isnan(v) for v in self.values)
        return Quantity(rounded(mean), rounded(low), rounded(high), self.unit, n, self.at_least)


def each(of: Iterable[PerRun], f: Callable[[Sequence[float]], float], unit: str = "") -> PerRun:
    """A number made of several in each run, in the unit of the first if none is given."""
    every = list(of)
    runs = zip(*(q.values for q in every), strict=False)
    # max and min answer by order where one is NaN.
    found = (math.nan if any(math.isnan(v) for v in run) else f(run) for run in runs)
    return PerRun(tuple(found), unit or every[0].unit, any(q.at_least for q in every))


@dataclass(frozen=True)
class Singles:
    """Single values in every run, of flows, say; some of what had not ended when it was cut off.

    Attributes:
        ended: The values of what ended, run by run.
        unit: Their unit.
        cut: How long the others had taken until they were cut off, run by run.

    Example:
        >>> waits = Singles(((1.0, 2.0), (4.0,)), "s", ((), (8.0,)))
        >>> waits.mean().values, waits.within(2.0).values, waits.unended("flows").values
        ((1.5, 6.0), (1.0, 0.0), (0.0, 1.0))
        >>> waits.mean().at_least, waits.pooled(0.5).values
        (True, (2.0,))
    """

    ended: tuple[tuple[float, ...], ...]
    unit: str
    cut: tuple[tuple[float, ...], ...] = ()

    @property
    def runs(self) -> list[tuple[float, ...]]:
        """All values, run by run."""
        cut = self.cut or ((),) * len(self.ended)
        return [(*a, *b) for a, b in zip(self.ended, cut, strict=True)]

    @property
    def at_least(self) -> bool:
        """Whether some were cut off."""
        return any(self.cut)

    def each(self, f: Callable[[Sequence[float]], float]) -> PerRun:
        """One value from all of a run; NaN where there are none."""
        found = tuple(f(run) if run else math.nan for run in self.runs)
        return PerRun(found, self.unit, self.at_least)

    def mean(self) -> PerRun:
        """Their mean in each run."""
        return self.each(mean)

    def longest(self) -> PerRun:
        """The largest in each run."""
        return self.each(max)

    def quantile(self, share: float) -> PerRun:
        """What a share of them does not exceed, in each run."""
        return self.each(lambda run: percentile(run, share))

    def within(self, bound: float) -> PerRun:
        """The share of them that ended and are no larger, in each run."""
        shares = (
            mean([float(v <= bound) for v in ended] + [0.0] * (len(run) - len(ended)))
            for ended, run in zip(self.ended, self.runs, strict=True)
        )
        return PerRun(tuple(shares), "1")

    def unended(self, unit: str) -> PerRun:
        """How many were cut off, in each run."""
        cut = self.cut or ((),) * len(self.ended)
        return PerRun(tuple(float(len(run)) for run in cut), unit)

    def only(self, run: int) -> Singles:
        """One run of them."""
        return Singles((self.ended[run],), self.unit, self.cut[run : run + 1])

    def all(self) -> list[float]:
        """The values of all runs, ascending."""
        return sorted(chain.from_iterable(self.runs))

    def pooled(self, share: float) -> PerRun:
        """What a share of the values of all runs does not exceed: one value, without interval."""
        return PerRun((percentile(self.all(), share),), self.unit)


def mean(values: Iterable[float]) -> float:
    """The mean; NaN of none."""
    found = list(values)
    return math.fsum(found) / len(found) if found else math.nan


def percentile(values: Iterable[float], share: float) -> float:
    """The smallest of the values that a share of them does not exceed; NaN of none.

    Example:
        >>> percentile([4.0, 2.0, 3.0, 1.0], 0.75), percentile([5.0], 0.95)
        (3.0, 5.0)
    """
    ordered = sorted(values)
    if not ordered:
        return math.nan
    return ordered[max(0, math.ceil(share * len(ordered) - 1e-9) - 1)]


def admission_waits(rows: Sequence[Sequence[Admission]], until: float) -> Singles:
    """How long flows waited for admission, run by run, those cut off that waited at `until`."""
    came = [[row for row in run if row.offered_s < until] for run in rows]
    ended, cut = [], []
    for run in came:
        entered = [r.admitted_s if (r.admitted_s or 0.0) <= until else None for r in run]
        pairs = list(zip(run, entered, strict=True))
        ended.append(tuple(at - r.offered_s for r, at in pairs if at is not None))
        cut.append(tuple(until - r.offered_s for r, at in pairs if at is None))
    return Singles(tuple(ended), "s", tuple(cut))


Own = Mapping[str, "PerRun | Singles"]
"""What a paper takes of a variant beside its metrics, by key."""


class NotRunError(KeyError):
    """A point that was not run."""


class Measured:
    """The values of finished runs by variant, scope, name and metric.

    Attributes:
        results: The runs themselves, if they are kept.
    """

    results: Results | None = None

    def __init__(
        self,
        results: Results,
        scopes: Sequence[str] = ("class", "dscp"),
        metrics: Sequence[str] | None = None,
        flow_metrics: Sequence[str] = (),
        own: Callable[[Results], Mapping[str, Own]] | None = None,
    ) -> None:
        """Takes the values of these scopes and metrics.

        Args:
            results: Where they come from.
            scopes: Which scopes.
            metrics: Which metrics; all if not given.
            flow_metrics: Which metrics of single flows, which are many.
            own: Gives what else is taken of each variant.
        """
        samples = [
            s
            for scope in scopes
            for metric in (metrics if metrics is not None else (None,))
            for s in results.samples(scope=scope, metric=metric)
        ]
        for metric in flow_metrics:
            samples += results.samples(scope="flow", metric=metric)
        self._values = {
            (s.variant, s.scope, s.name, s.metric): PerRun(
                tuple(math.nan if v is None else v for v in s.values), s.unit
            )
            for s in samples
        }
        self._names: dict[tuple[str, str], list[str]] = {}
        for variant, scope, name, _ in self._values:
            known = self._names.setdefault((variant, scope), [])
            if name not in known:
                known.append(name)
        self._own = own(results) if own else {}

    def of(self, variant: str, scope: str, name: str, metric: str) -> PerRun:
        """One quantity; raises `KeyError` if it was not measured."""
        return self._values[variant, scope, name, metric]

    def own(self, variant: str, key: str) -> PerRun | Singles:
        """What the paper itself took of a variant."""
        return self._own[variant][key]

    def names(self, variant: str, scope: str) -> list[str]:
        """What was measured of a scope, in the scenario's order."""
        return self._names.get((variant, scope), [])


@dataclass(frozen=True)
class View:
    """The points of one setting of the assumptions.

    Attributes:
        variants: The variant in which each point was run, with its values.
        partial: Whether points of the claims were left out, so that parts of claims that need
            them are not judged.
    """

    variants: Mapping[str, tuple[Measured, str]]
    partial: bool = False

    def __contains__(self, point: object) -> bool:
        """Whether a point was run."""
        return point in self.variants

    def at(self, point: str) -> tuple[Measured, str]:
        """The values of a point, and its variant.

        Raises:
            NotRunError: If it was not run.
        """
        if point not in self.variants:
            raise NotRunError(point)
        return self.variants[point]

    def of(self, point: str, scope: str, name: str, metric: str) -> PerRun:
        """One quantity at a point."""
        measured, variant = self.at(point)
        return measured.of(variant, scope, name, metric)

    def own(self, point: str, key: str) -> PerRun | Singles:
        """What the paper itself took at a point."""
        measured, variant = self.at(point)
        return measured.own(variant, key)

    def names(self, point: str, scope: str) -> list[str]:
        """What was measured of a scope at a point."""
        measured, variant = self.at(point)
        return measured.names(variant, scope)

    def series(self, point: str, where: str, metric: str) -> list[tuple[float, float]]:
        """A time series of the first run at a point, whose runs are kept."""
        measured, variant = self.at(point)
        if measured.results is None:
            raise NotRunError(point)
        [s] = measured.results.series(where=where, metric=metric, variant=variant, run=0)
        return list(zip(s.t, s.v, strict=True))

    def moved(self, points: Mapping[str, str]) -> View:
        """The same with the runs of other points at some."""
        there = {point: self.at(other) for point, other in points.items()}
        return View({**self.variants, **there}, self.partial)
