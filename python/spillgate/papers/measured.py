"""What runs measured, run by run.

Differences and ratios are formed within a run, under the same seeds, before they are averaged.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from spillgate import _engine
from spillgate.papers.model import Quantity
from spillgate.result import Results

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
        return [f(a, b) for a, b in zip(self.values, others, strict=True)]

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


def largest(of: Iterable[PerRun]) -> PerRun:
    """The largest of several quantities in each run."""
    return _each(of, max)


def smallest(of: Iterable[PerRun]) -> PerRun:
    """The smallest of several quantities in each run."""
    return _each(of, min)


def _each(of: Iterable[PerRun], f: Callable[[Sequence[float]], float]) -> PerRun:
    every = list(of)
    runs = zip(*(q.values for q in every), strict=True)
    # max and min answer by order where one is NaN.
    found = (math.nan if any(math.isnan(v) for v in run) else f(run) for run in runs)
    return PerRun(tuple(found), every[0].unit, any(q.at_least for q in every))


class Measured:
    """The values of finished runs by variant, scope, name and metric."""

    def __init__(
        self,
        results: Results,
        scopes: Sequence[str] = ("class", "dscp"),
        metrics: Sequence[str] | None = None,
        flow_metrics: Sequence[str] = (),
    ) -> None:
        """Takes the values of these scopes and metrics.

        Args:
            results: Where they come from.
            scopes: Which scopes.
            metrics: Which metrics; all if not given.
            flow_metrics: Which metrics of single flows, which are many.
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

    def __or__(self, other: Measured) -> Measured:
        """The variants of both, which have different names."""
        both = copy.copy(self)
        both._values = self._values | other._values
        both._names = self._names | other._names
        return both

    def of(self, variant: str, scope: str, name: str, metric: str) -> PerRun:
        """One quantity; raises `KeyError` if it was not measured."""
        return self._values[variant, scope, name, metric]

    def names(self, variant: str, scope: str) -> list[str]:
        """What was measured of a scope, in the scenario's order."""
        return self._names.get((variant, scope), [])


@dataclass(frozen=True)
class View:
    """The policies of one setting of the assumptions.

    Attributes:
        variants: The variant in which each policy was run, with its values.
    """

    variants: dict[str, tuple[Measured, str]]

    def __contains__(self, policy: object) -> bool:
        """Whether a policy was run."""
        return policy in self.variants

    def of(self, policy: str, scope: str, name: str, metric: str) -> PerRun:
        """One quantity under a policy."""
        measured, variant = self.variants[policy]
        return measured.of(variant, scope, name, metric)

    def cls(self, policy: str, name: str, metric: str) -> PerRun:
        """One quantity of a class under a policy."""
        return self.of(policy, "class", name, metric)

    def names(self, policy: str, scope: str) -> list[str]:
        """What was measured of a scope under a policy."""
        measured, variant = self.variants[policy]
        return measured.names(variant, scope)
