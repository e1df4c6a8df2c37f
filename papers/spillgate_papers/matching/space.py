"""The space of silent choices, and points in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from spillgate_papers.model import Point, Silent

Levels = NDArray[np.int64]
"""Sets of choices, a row each: on each axis the number of the choice, 0 for ours."""


@dataclass(frozen=True)
class Axis:
    """What the paper leaves silent.

    Attributes:
        key: Its key in the ledger.
        ours: Our choice in words.
        others: The other choices.
    """

    key: str
    ours: str
    others: tuple[Point, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """All choices in words, ours first."""
        return (self.ours, *(p.label for p in self.others))


@dataclass(frozen=True)
class Space:
    """The product of silent choices.

    Attributes:
        axes: What is silent, in the order of the ledger.
    """

    axes: tuple[Axis, ...]

    @classmethod
    def of(cls, silent: Iterable[Silent]) -> Space:
        """The space of a ledger: what has other choices."""
        return cls(tuple(Axis(s.key, s.value, s.points) for s in silent if s.points))

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many choices each axis has."""
        return np.array([len(a.labels) for a in self.axes])

    @property
    def size(self) -> int:
        """How many sets there are."""
        return prod(len(a.labels) for a in self.axes)

    def levels(self, cube: NDArray[np.float64]) -> Levels:
        """The sets at points of the unit cube, each choice as likely as the others of its axis."""
        return np.minimum((cube * self.counts).astype(np.int64), self.counts - 1)

    def spread(self, n: int, seed: int) -> Levels:
        """`n` sets, a power of two, spread evenly (scrambled Sobol points)."""
        sampler = qmc.Sobol(len(self.axes), scramble=True, rng=np.random.default_rng(seed))
        return self.levels(sampler.random(n))

    def crossed(self, n: int, seed: int) -> Levels:
        """Sets from which shares of variance follow, shape (d + 2, n, d): A, B, and A with B's k.

        Args:
            n: How many there are of each, a power of two.
            seed: Of the scrambling.
        """
        d = len(self.axes)
        sampler = qmc.Sobol(2 * d, scramble=True, rng=np.random.default_rng(seed))
        both = sampler.random(n)
        a, b = self.levels(both[:, :d]), self.levels(both[:, d:])
        crossed = np.repeat(a[None], d, axis=0)
        for k in range(d):
            crossed[k, :, k] = b[:, k]
        return np.concatenate([a[None], b[None], crossed])

    def choices(self, of: Sequence[int]) -> dict[str, Point]:
        """The choices of a set that are not ours, by key."""
        return {
            a.key: a.others[level - 1] for a, level in zip(self.axes, of, strict=True) if level
        }

    def said(self, of: Sequence[int]) -> str:
        """What of a set is not ours, in words."""
        found = self.choices(of)
        return "; ".join(f"{k}: {p.label}" for k, p in found.items()) or "as chosen"
