"""Bounds that stand in our specification and not in the paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from spillgate_papers.measured import View
from spillgate_papers.model import OurBound, Part
from spillgate_papers.terms import Check

V = TypeVar("V")


def percent(share: float) -> str:
    """A share in words.

    Example:
        >>> percent(0.95), percent(0.001)
        ('95 %', '0.1 %')
    """
    return f"{100 * share:.3g} %"


def widths(bound: float) -> tuple[float, ...]:
    """Values from half of a bound to twice it.

    Example:
        >>> widths(20.0)
        (10.0, 15.0, 18.0, 22.0, 30.0, 40.0)
    """
    return tuple(k * bound for k in (0.5, 0.75, 0.9, 1.1, 1.5, 2.0))


@dataclass(frozen=True)
class Ours(Generic[V]):
    """A bound that we chose, and others that could as well have been chosen.

    Attributes:
        name: What it bounds, in a few words; a claim has one bound of a name.
        value: What was chosen, before the runs.
        others: Other values, below and above.
        said: A value in words.
    """

    name: str
    value: V
    others: tuple[V, ...]
    said: Callable[[V], str] = "{:g}".format

    def judged(self, check: Callable[[V], Check]) -> Check:
        """The part under our bound, which knows what it is under the others.

        Args:
            check: Gives the part under a bound.
        """
        values = sorted((self.value, *self.others))  # type: ignore[type-var]
        checks = {self.said(v): check(v) for v in values}
        chosen = self.said(self.value)

        def part(view: View) -> Part:
            parts = {label: c(view) for label, c in checks.items()}
            return replace(parts[chosen], bound=OurBound(self.name, chosen, parts))

        return part
