"""The largest value of a function that takes a run to look at, over a cube.

First the cube is covered (Sobol) and a population evolves (differential evolution, Storn and
Price 1997); then the best place is moved along one direction at a time, in steps that halve
(Hooke and Jeeves 1961). Equal seeds give equal places with the same version of SciPy.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from spillgate.errors import MissingDependencyError

Place = tuple[float, ...]
"""Where in the cube, from 0 to 1 in each direction."""

Look = Callable[[list[Place]], list[float]]
"""The values at some places; minus infinity where there is none."""

Method = Literal["evolve", "random"]
"""`random` takes independent places alone: what a search has to beat."""

LEAST = 16
"""The fewest places that make a search."""

_GLOBAL = 0.6
"""The share of places by which the cube is covered; the others are near the best."""

_FIRST_STEP, _LAST_STEP = 0.25, 1e-4


@dataclass(frozen=True)
class Highest:
    """What was found.

    Attributes:
        place: Where.
        value: The value there.
        looked: How many places were looked at.
    """

    place: Place
    value: float
    looked: int


def _scipy() -> tuple[Any, Any]:
    try:
        from scipy.optimize import differential_evolution
        from scipy.stats import qmc
    except ImportError as error:
        msg = "SciPy, which the search needs, is not installed: pip install 'spillgate[analysis]'"
        raise MissingDependencyError(msg, name="scipy") from error
    return differential_evolution, qmc


class _Known:
    """All places looked at, with their values."""

    def __init__(self, look: Look, most: int) -> None:
        self._look, self._most = look, most
        self.values: dict[Place, float] = {}

    @property
    def left(self) -> int:
        return self._most - len(self.values)

    def at(self, places: Sequence[Place]) -> list[float]:
        """Their values; those beyond the last look have none."""
        new = [p for p in dict.fromkeys(places) if p not in self.values][: self.left]
        if new:
            self.values.update(zip(new, self._look(new), strict=True))
        return [self.values.get(p, -math.inf) for p in places]

    def best(self) -> Place:
        # The first of equals, so that the order of looks decides.
        return max(self.values, key=lambda p: self.values[p])


def highest(
    look: Look, directions: int, *, looks: int, seed: int, method: Method = "evolve"
) -> Highest:
    """Searches for the place with the largest value.

    Args:
        look: Gives values; called with several places at a time.
        directions: Of the cube.
        looks: How many places at most, at least `LEAST`.
        seed: Of what is random.
        method: How.

    Raises:
        MissingDependencyError: If SciPy is not installed.

    Example:
        >>> def look(places):
        ...     return [-((x - 0.3) ** 2) - (y - 0.7) ** 2 for x, y in places]
        >>> found = highest(look, 2, looks=64, seed=1)
        >>> [round(x, 1) for x in found.place]
        [0.3, 0.7]
    """
    evolve, qmc = _scipy()
    known = _Known(look, looks)
    if method == "random":
        draw = random.Random(seed).random  # noqa: S311 - no secret
        known.at([_place([draw() for _ in range(directions)]) for _ in range(looks)])
    else:
        # Sobol's points cover the cube evenly in powers of two.
        size = 2 ** max(3, int(math.log2(looks / 5)))
        first = qmc.Sobol(directions, rng=seed).random(size)
        generations = int(_GLOBAL * looks / size) - 1
        if generations < 1:
            known.at([_place(row) for row in first])
        else:
            evolve(
                lambda columns: [-v for v in known.at([_place(row) for row in columns.T])],
                [(0.0, 1.0)] * directions,
                init=first,
                maxiter=generations,
                tol=0.0,
                polish=False,
                updating="deferred",
                vectorized=True,
                rng=seed,
            )
        _climb(known, directions)
    place = known.best()
    return Highest(place, known.values[place], len(known.values))


def _place(row: Sequence[float]) -> Place:
    return tuple(round(float(x), 9) for x in row)


def _climb(known: _Known, directions: int) -> None:
    """Moves the best place along each direction, in steps that halve."""
    step = _FIRST_STEP
    while step >= _LAST_STEP and known.left > 0:
        here = known.best()
        moved = [
            (*here[:i], min(max(here[i] + sign * step, 0.0), 1.0), *here[i + 1 :])
            for i in range(directions)
            for sign in (1, -1)
        ]
        known.at(moved)
        if known.best() == here:
            step /= 2
