"""An emulator: what scores are in sets that were not run, and how uncertain that is.

A Gaussian process over choices without order. The covariance of two sets is s^2 exp(-sum of w_k
over the axes k on which they differ), beside the noise of the simulation, whose variance is known
(C. E. Rasmussen and C. K. I. Williams, "Gaussian Processes for Machine Learning", 2006, chapters 2
and 5). Weights and s are those of the greatest likelihood.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from spillgate_papers.matching.space import Levels

Floats = NDArray[np.float64]

FITTED = 256
"""Weights are fitted to as many sets at most; predictions use all."""

_USUAL, _WIDTH = np.log(0.1), 1.5
"""What is expected of the logarithm of a weight: its middle, and its standard deviation."""


class Emulator:
    """The scores of one claim."""

    def __init__(self, sets: Levels, scores: Floats, variance: float = 1.0) -> None:
        """Fits it.

        Args:
            sets: Sets that were run, shape (n, d).
            scores: Their scores, shape (n,).
            variance: That of the noise of a score.
        """
        self._sets, self._variance = sets, variance
        few = slice(0, FITTED)
        self._weights, self._signal = self._fitted(sets[few], scores[few])
        self._factor = cho_factor(self._noisy(self._covariance(sets, sets)), lower=True)
        ones = cho_solve(self._factor, np.ones(len(sets)))
        self._mean = float(ones @ scores / ones.sum())
        self._solved = cho_solve(self._factor, scores - self._mean)

    def predict(self, sets: Levels) -> tuple[Floats, Floats]:
        """Means and variances of what scores without noise are in sets."""
        means, variances = [], []
        for part in np.array_split(sets, max(1, len(sets) // 2048)):
            cross = self._covariance(part, self._sets)
            means.append(self._mean + cross @ self._solved)
            known = np.einsum("ij,ji->i", cross, cho_solve(self._factor, cross.T))
            variances.append(np.maximum(self._signal - known, 0.0))
        return np.concatenate(means), np.concatenate(variances)

    def _noisy(self, covariance: Floats) -> Floats:
        return covariance + self._variance * np.eye(len(covariance))

    def _covariance(self, a: Levels, b: Levels) -> Floats:
        apart = np.zeros((len(a), len(b)))
        for k, w in enumerate(self._weights):
            apart += w * (a[:, k, None] != b[None, :, k])
        made: Floats = self._signal * np.exp(-apart)
        return made

    def _fitted(self, sets: Levels, scores: Floats) -> tuple[Floats, float]:
        d = sets.shape[1]
        differ = [sets[:, k, None] != sets[None, :, k] for k in range(d)]
        centered = scores - scores.mean()
        scale = max(float(centered.var()), 1e-3)

        def loss(x: Floats) -> tuple[float, Floats]:
            weights, signal = np.exp(x[:d]), scale * np.exp(x[d])
            apart = sum(w * apart for w, apart in zip(weights, differ, strict=True))
            smooth = signal * np.exp(-apart)
            factor = cho_factor(smooth + self._variance * np.eye(len(scores)), lower=True)
            solved = cho_solve(factor, centered)
            inverse = cho_solve(factor, np.eye(len(scores)))
            pull = (inverse - np.outer(solved, solved)) * smooth
            slope = (
                np.array(
                    [
                        *(-w * pull[m].sum() for w, m in zip(weights, differ, strict=True)),
                        pull.sum(),
                    ]
                )
                / 2
            )
            value = centered @ solved / 2 + np.log(np.diag(factor[0])).sum()
            off = np.append((x[:d] - _USUAL) / _WIDTH, x[d] / 2)
            slope += np.append(off[:d] / _WIDTH, off[d] / 2)
            return float(value + off @ off / 2), slope

        found = minimize(
            loss,
            np.append(np.full(d, _USUAL), 0.0),
            jac=True,
            method="L-BFGS-B",
            bounds=[(-9.0, 3.0)] * d + [(-6.0, 6.0)],
            options={"maxiter": 60},
        ).x
        return np.exp(found[:d]), float(scale * np.exp(found[d]))
