"""How long packets take on a link: a distribution of parts, with what formulas need of it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A part of service times: one time, an even spread, or an exponential excess. Seconds.

    Attributes:
        share: The probability of this part.
        low: The shortest time.
        high: Times are spread evenly up to here; `low` for the other parts.
        excess: The mean by which times exceed `low`, exponentially; 0 for the other parts.
    """

    share: float
    low: float
    high: float
    excess: float = 0.0

    def moment(self, n: int) -> float:
        """The n-th moment, n from 1 to 3."""
        a, b, m = self.low, self.high, self.excess
        if m > 0:
            # E(a + X)^n with E X^k = k! m^k.
            return sum(
                math.comb(n, k) * a ** (n - k) * math.factorial(k) * m**k for k in range(n + 1)
            )
        return sum(a**k * b ** (n - k) for k in range(n + 1)) / (n + 1)

    def counts(self, rate: float, n: int) -> list[float]:
        """Probabilities of 0, 1, .. n Poisson arrivals in such a time."""
        a, b, m = self.low, self.high, self.excess
        if m > 0:
            # Integral of the density with Poisson probabilities: an incomplete gamma function.
            beta = rate + 1 / m
            upto, scale, ratio = _cumulated(beta * a, n), 1 / (m * beta), rate / beta
            lift = math.exp(a / m)
            return [scale * ratio**k * lift * upto[k] for k in range(n + 1)]
        width = rate * (b - a)
        if width < 1e-6:
            return _poisson(rate * (a + b) / 2, n)
        low, high = _cumulated(rate * a, n), _cumulated(rate * b, n)
        return [max((x - y) / width, 0.0) for x, y in zip(low, high, strict=True)]

    def raised(self, theta: float) -> float:
        """E exp(theta S); infinite where it diverges."""
        a, b, m = self.low, self.high, self.excess
        if m > 0:
            return math.exp(theta * a) / (1 - theta * m) if theta * m < 1 else math.inf
        width = theta * (b - a)
        factor = math.expm1(width) / width if abs(width) > 1e-12 else 1.0
        return math.exp(theta * a) * factor if theta * b < 700 else math.inf


def _poisson(mean: float, n: int) -> list[float]:
    if mean > 700:
        # The first factor would be 0; from the most probable number on it is not.
        return [math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in range(n + 1)]
    p = [math.exp(-mean)]
    for k in range(1, n + 1):
        p.append(p[-1] * mean / k)
    return p


def _cumulated(mean: float, n: int) -> list[float]:
    """Probabilities of at most 0, 1, .. n."""
    found, total = [], 0.0
    for p in _poisson(mean, n):
        total += p
        found.append(min(total, 1.0))
    return found


@dataclass(frozen=True)
class Service:
    """The time that a packet takes on a link.

    Attributes:
        parts: Its parts, whose shares add up to 1.
    """

    parts: tuple[Part, ...]

    @classmethod
    def constant(cls, seconds: float) -> Service:
        """Always the same."""
        return cls((Part(1.0, seconds, seconds),))

    @classmethod
    def exponential(cls, mean: float) -> Service:
        """Exponential."""
        return cls((Part(1.0, 0.0, 0.0, mean),))

    @classmethod
    def uniform(cls, low: float, high: float) -> Service:
        """Evenly spread."""
        return cls((Part(1.0, low, high),))

    @classmethod
    def mixed(cls, services: Iterable[tuple[float, Service]]) -> Service:
        """One of several, by weights above 0; parts that are alike are put together."""
        listed = [(w, s) for w, s in services if w > 0]
        total = sum(w for w, _ in listed)
        shares: dict[tuple[float, float, float], float] = {}
        for w, s in listed:
            for p in s.parts:
                key = (p.low, p.high, p.excess)
                shares[key] = shares.get(key, 0.0) + w / total * p.share
        return cls(tuple(Part(share, *key) for key, share in shares.items() if share > 0))

    @property
    def mean(self) -> float:
        """Its mean."""
        return self.moment(1)

    @property
    def variation(self) -> float:
        """Its squared coefficient of variation: 0 if constant, 1 if exponential."""
        return max(self.moment(2) / self.mean**2 - 1, 0.0)

    @property
    def least(self) -> float:
        """The shortest time."""
        return min(p.low for p in self.parts)

    @property
    def most(self) -> float:
        """The longest time; infinite if there is none."""
        return max(math.inf if p.excess > 0 else p.high for p in self.parts)

    @property
    def kind(self) -> str:
        """`D` if constant, `M` if exponential but for rounded and cut lengths, else `G`."""
        if len(self.parts) == 1 and self.least == self.most:
            return "D"
        tail = [p for p in self.parts if p.excess > 0]
        is_m = len(tail) == 1 and abs(self.variation - 1) < 0.1 and tail[0].share > 0.9
        return "M" if is_m else "G"

    def moment(self, n: int) -> float:
        """The n-th moment, n from 1 to 3."""
        return sum(p.share * p.moment(n) for p in self.parts)

    def counts(self, rate: float, n: int) -> list[float]:
        """Probabilities of 0, 1, .. n Poisson arrivals of a rate (1/s) in such a time."""
        each: Iterator[list[float]] = (
            [p.share * x for x in p.counts(rate, n)] for p in self.parts
        )
        return [sum(xs) for xs in zip(*each, strict=True)]

    def raised(self, theta: float) -> float:
        """E exp(theta S); infinite where it diverges."""
        return sum(p.share * p.raised(theta) for p in self.parts)
