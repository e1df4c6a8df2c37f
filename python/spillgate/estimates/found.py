"""What an estimate consists of."""

from __future__ import annotations

from dataclasses import dataclass, field

from spillgate.displayed import Displayed

Term = tuple[str, str, str, float, float]
"""Scope, name and metric of a measured value, its weight, and what is taken off it before."""


@dataclass(frozen=True)
class Assumption:
    """What a formula takes for granted.

    Attributes:
        text: The assumption.
        met: Whether the scenario meets it.
        why: If not, why: a sentence without its full stop.
    """

    text: str
    met: bool = True
    why: str = ""


@dataclass(frozen=True)
class Estimate:
    """What a formula says of one value.

    Attributes:
        formula: Its name: `M/D/1`, `square-root law`, ..
        scope: What it is about: `queue`, `class`, `link` or `flow`.
        name: The name of that.
        metric: The metric of results that it predicts; of what results do not have, a name of
        its
            own.
        unit: Base unit of the value.
        value: The value.
        exact: Whether the formula is exact where its assumptions hold; else it is a model.
        assumptions: What it takes for granted.
        note: What to know beside it, in a sentence; may be empty.
    """

    formula: str
    scope: str
    name: str
    metric: str
    unit: str
    value: float
    exact: bool
    assumptions: tuple[Assumption, ...] = ()
    note: str = ""
    # The sum of measured values that it predicts; empty where nothing is measured.
    terms: tuple[Term, ...] = field(default=(), repr=False)

    @property
    def holds(self) -> bool:
        """Whether the scenario meets all assumptions."""
        return all(a.met for a in self.assumptions)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why it does not."""
        return tuple(a.why for a in self.assumptions if not a.met)


@dataclass(frozen=True)
class Beside:
    """An estimate beside what was simulated.

    Attributes:
        estimate: The estimate.
        mean: The mean over the runs; none if it is undefined.
        low: Lower end of its 95 % interval; none with fewer than two runs.
        high: Upper end.
        n: Runs that count.
    """

    estimate: Estimate
    mean: float | None
    low: float | None
    high: float | None
    n: int

    @property
    def distance(self) -> float | None:
        """How far the mean is above the estimate, in half-widths of its interval.

        Negative if it is below; none without an interval.
        """
        if self.mean is None or self.low is None or self.high is None:
            return None
        off, half = self.mean - self.estimate.value, (self.high - self.low) / 2
        if half > 0:
            return off / half
        return 0.0 if abs(off) <= 1e-9 * abs(self.estimate.value) else None

    @property
    def words(self) -> str:
        """The same in words: `inside the 95 % interval`, `3.2 half-widths above`."""
        if self.mean is None:
            return "not measured"
        off = self.distance
        if off is None:
            return "no interval"
        if abs(off) <= 1:
            return "inside the 95 % interval"
        return f"{abs(off):.3g} half-widths {'above' if off > 0 else 'below'}"


@dataclass(frozen=True)
class Unknown:
    """What no formula says anything of.

    Attributes:
        what: What that is: a class or the queues of a link.
        why: Why, a sentence without its full stop.
    """

    what: str
    why: str


@dataclass(frozen=True)
class Estimates(Displayed):
    """What formulas say of a point of a scenario.

    Attributes:
        point: The name of the point: a variant, with the values of axes.
        estimates: The estimates, by link, then class.
        unknown: Of what nothing can be said, and why.
        simulated: The estimates beside what was simulated, where results are given.
    """

    point: str
    estimates: tuple[Estimate, ...]
    unknown: tuple[Unknown, ...]
    simulated: tuple[Beside, ...] = ()
