"""Scores: by how many standard errors of the simulation claims hold in sets of choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

MOST = 10.0
"""Scores are cut off here: beyond, nothing depends on them."""

RULE = 3.0
"""A score below minus this is implausible: by Pukelsheim's rule, at most 5 % of any unimodal
distribution is as far from its mean."""

Margins = Mapping[str, Sequence[Sequence[float]]]
"""Of a set: for each claim, by how much each of its parts holds in each run."""

Floats = NDArray[np.float64]


def noise(found: Sequence[Margins]) -> dict[tuple[str, int], float]:
    """The standard error of each part's mean margin, pooled over sets; 0 if runs do not differ."""
    spread: dict[tuple[str, int], list[tuple[float, int]]] = {}
    for of in found:
        for claim, parts in of.items():
            for i, margins in enumerate(parts):
                if len(margins) > 1 and np.isfinite(margins).all():
                    variance = float(np.var(margins, ddof=1)) / len(margins)
                    spread.setdefault((claim, i), []).append((variance, len(margins) - 1))
    return {
        key: float(np.sqrt(sum(v * n for v, n in each) / sum(n for _, n in each)))
        for key, each in spread.items()
    }


def score(parts: Sequence[Sequence[float]], errors: Sequence[float]) -> float:
    """That of a claim: the mean margin of its worst part over the standard error of it."""
    worst = MOST
    for margins, error in zip(parts, errors, strict=True):
        mean = float(np.mean(margins)) if len(margins) else -np.inf
        if not np.isfinite(mean):
            return -MOST
        if error > 0:
            worst = min(worst, mean / error)
        elif mean <= 0:
            worst = -MOST
    return max(-MOST, worst)


def scores(found: Sequence[Margins | None], claims: Sequence[str]) -> Floats:
    """Scores of sets, shape (sets, claims); of sets that cannot be run the lowest."""
    errors = noise([of for of in found if of is not None])
    made = np.full((len(found), len(claims)), -MOST)
    for row, of in zip(made, found, strict=True):
        if of is None:
            continue
        for j, claim in enumerate(claims):
            parts = of.get(claim, ())
            if parts:
                row[j] = score(parts, [errors.get((claim, i), 0.0) for i in range(len(parts))])
    return made


def by_run(found: Sequence[Margins | None], claims: Sequence[str]) -> Floats:
    """The same from each run alone, shape (sets, claims, runs), in the same units."""
    errors = noise([of for of in found if of is not None])
    runs = max((len(m) for of in found if of for ps in of.values() for m in ps), default=1)
    made = np.full((len(found), len(claims), runs), -MOST)
    for i, of in enumerate(found):
        for j, claim in enumerate(claims):
            parts = of.get(claim, ()) if of else ()
            for r in range(runs if parts else 0):
                alone = [m[r : r + 1] for m in parts]
                made[i, j, r] = score(
                    alone, [errors.get((claim, k), 0.0) for k in range(len(parts))]
                )
    return made


def plausible(z: Floats) -> NDArray[np.bool_]:
    """Whether claims may hold, by their scores."""
    return z >= -RULE


def excluded(z: Floats, claims: Sequence[str]) -> list[tuple[str, str, int, int]]:
    """Pairs of claims that exclude each other: each may hold in sets, both in none.

    Only pairs count whose absence tells: in as many sets, claims that had nothing to do with each
    other would miss each other with a probability below 1 % divided by the number of pairs.

    Returns:
        The two claims, and in how many sets each may hold.
    """
    n, may = len(z), plausible(z)
    pairs = [(i, j) for i in range(len(claims)) for j in range(i)]
    found = []
    for i, j in sorted((j, i) for i, j in pairs):
        a, b = int(may[:, i].sum()), int(may[:, j].sum())
        if not a or not b or (may[:, i] & may[:, j]).any():
            continue
        # None of the b sets of the one is among the a of the other, drawn without replacement.
        if a + b <= n:
            chance = float(np.prod([(n - a - k) / (n - k) for k in range(b)]))
            if chance >= 0.01 / len(pairs):
                continue
        found.append((claims[i], claims[j], a, b))
    return found
