"""The closure oracle: how long basic FAN stays closed, from what came through its openings.

While a link is closed its elastic flows share it equally and nobody joins them. It opens when so
few are left that each has the minimum fair rate. A volume that is Pareto distributed is above x
with probability (x_m / x)^a; what is left of one that is above q is above x with probability
(q / (q + x))^a. The service s that each flow has got when the link opens is that at which the
expected number of unfinished flows is the number that may stay, and the time to it is the expected
sum of what all got over the rate of the link.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Group:
    """So many flows whose volumes in bits are known to be above a floor.

    If they are served, that of each has been carried already, so that what is left counts.
    """

    count: float
    floor: float
    served: bool

    def left(self, service: float, shape: float) -> float:
        """Expected number of flows that `service` more bits do not finish."""
        if self.served:
            return self.count * _power(self.floor / (self.floor + service), shape)
        return self.count * min(1.0, _power(self.floor / service, shape))

    def carried(self, service: float, shape: float) -> float:
        """Expected bits that they take when each may have `service`: the integral of `left`."""
        rest = shape - 1.0
        if self.served:
            end = self.floor + service
            return self.count * self.floor / rest * (1.0 - _power(self.floor / end, rest))
        if service <= self.floor:
            return self.count * service
        tail = self.floor / rest * (1.0 - _power(self.floor / service, rest))
        return self.count * (self.floor + tail)


def _power(x: float, y: float) -> float:
    return math.exp(y * math.log(x))


def service_until(groups: Sequence[Group], stay: float, shape: float) -> float:
    """The service of each flow at which `stay` flows are left in the mean.

    Raises:
        ValueError: If no more than `stay` are there.
    """
    if sum(g.count for g in groups) <= stay:
        msg = "the link does not close with so few flows"
        raise ValueError(msg)
    high = max(g.floor for g in groups)
    while sum(g.left(high, shape) for g in groups) > stay:
        high *= 2.0
    low = 0.0
    # As many halvings as a double has digits.
    for _ in range(60):
        middle = (low + high) / 2.0
        if middle > 0.0 and sum(g.left(middle, shape) for g in groups) <= stay:
            high = middle
        else:
            low = middle
    return high


def closure(count: float, scale: float, rate: float, stay: float, shape: float = 1.5) -> float:
    """Seconds for which a link is closed with `count` fresh flows (see `reopening`).

    Example:
        >>> round(closure(25, 50e6, 100e6, 19), 1)
        14.7
        >>> round(closure(200, 100e6, 100e6, 19))
        417
    """
    groups = [Group(count, scale, served=False)]
    service = service_until(groups, stay, shape)
    return sum(g.carried(service, shape) for g in groups) / rate


def reopening(
    admitted: Sequence[float],
    *,
    before: float,
    scale: float,
    rate: float,
    stay: float,
    tick: float,
    shape: float = 1.5,
) -> tuple[float, float] | None:
    """When a link's closure under way at a time should end, from the admissions before.

    Args:
        admitted: Seconds at which flows were admitted; more than two ticks are between openings.
        before: The time: later admissions are not looked at.
        scale: Smallest volume in bits.
        rate: What elastic flows share, in b/s.
        stay: Flows with which the link opens.
        tick: Seconds between two values of the fair rate.
        shape: Shape of the Pareto distribution.

    Returns:
        The second at which it began, and how many it should last; none if the link was open.
    """
    openings: list[list[float]] = []
    for at in sorted(t for t in admitted if t < before):
        if openings and at - openings[-1][-1] <= 2.0 * tick:
            openings[-1].append(at)
        else:
            openings.append([at])
    left: list[Group] = []
    lasts: tuple[float, float] | None = None
    for times in openings:
        groups = [*left, Group(float(len(times)), scale, served=False)]
        if sum(g.count for g in groups) <= stay:
            left, lasts = groups, None
            continue
        service = service_until(groups, stay, shape)
        lasts = (times[-1], sum(g.carried(service, shape) for g in groups) / rate)
        rest = [g.floor + service if g.served else service for g in groups]
        pairs = zip(groups, rest, strict=True)
        left = [Group(g.left(service, shape), floor, served=True) for g, floor in pairs]
    return lasts
