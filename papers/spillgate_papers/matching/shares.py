"""How much of a claim's score each silent choice explains: shares of variance.

First-order shares are what a choice explains alone, total shares what it explains with all others
(`scipy.stats.sobol_indices`: A. Saltelli et al., Computer Physics Communications 181, 2010).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import sobol_indices

Floats = NDArray[np.float64]

AGAIN = 200
"""How often points and seeds are drawn anew for the intervals."""


@dataclass(frozen=True)
class Shares:
    """Shares of one claim.

    Attributes:
        first: What each choice explains alone, shape (axes,), with its 95 % interval, shape
            (2, axes).
        total: What it explains with others, likewise.
        noise: The share of the variance of scores that is noise of the simulation.
    """

    first: Floats
    first_within: Floats
    total: Floats
    total_within: Floats
    noise: float


def shares(scores: Floats, seed: int) -> Shares | None:
    """The shares of a claim; none if its score is the same everywhere.

    Args:
        scores: Shape (d + 2, n, r): of the sets that `Space.crossed` gives, each from r seeds.
        seed: Of the resampling.
    """
    mean = scores.mean(axis=2)
    whole = float(mean[:2].var())
    if whole <= 1e-9:
        return None
    rng = np.random.default_rng(seed)
    _, n, r = scores.shape
    drawn = []
    for _ in range(AGAIN):
        points, runs = rng.integers(0, n, n), rng.integers(0, r, r)
        again = scores[:, points][:, :, runs].mean(axis=2)
        if again[:2].var() > 1e-9:
            drawn.append(_indices(again))
    first, total = _indices(mean)
    ends = np.percentile(np.array(drawn), [2.5, 97.5], axis=0)
    within = float(scores[:2].var(axis=2, ddof=1).mean()) / r if r > 1 else 0.0
    return Shares(first, ends[:, 0], total, ends[:, 1], min(1.0, within / whole))


def _indices(scores: Floats) -> tuple[Floats, Floats]:
    a, b, crossed = scores[0], scores[1], scores[2:]
    n = scores.shape[1]
    func = {"f_A": a[None], "f_B": b[None], "f_AB": crossed[:, None]}
    found = sobol_indices(func=func, n=n)
    return found.first_order.reshape(-1), found.total_order.reshape(-1)
