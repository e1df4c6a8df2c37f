"""Waves: which sets to run next, and how much of the space is left; then a climb to the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import norm

from spillgate_papers.matching.emulator import Emulator
from spillgate_papers.matching.scores import RULE, Floats, Margins, plausible, scores
from spillgate_papers.matching.space import Levels, Space

CANDIDATES = 2**13
"""Sets at which the emulator is asked."""

PEAKS = 2
"""From how many of the best sets a round of the climb goes on."""


Evaluate = Callable[[str, Levels], list[Margins | None]]
"""Runs sets; takes what the runs are called and the sets."""


@dataclass(frozen=True)
class Wave:
    """A wave of runs.

    Attributes:
        sets: How many sets had been run after it.
        most: How many claims may hold in the best of them.
        left: The share of the space in which as many may still hold.
    """

    sets: int
    most: int
    left: float


@dataclass
class Matched:
    """What the waves found.

    Attributes:
        space: The space.
        claims: The claims, by id.
        sets: All sets that were run, shape (n, d).
        margins: By how much the parts of the claims hold in each; none where it cannot be run.
        waves: The waves.
        climbs: How many sets had been run after each round of the climb.
    """

    space: Space
    claims: Sequence[str]
    sets: Levels
    margins: list[Margins | None]
    waves: list[Wave] = field(default_factory=list)
    climbs: list[int] = field(default_factory=list)

    @property
    def scores(self) -> Floats:
        """The scores of the sets, shape (n, claims)."""
        return scores(self.margins, self.claims)

    def run(self, evaluate: Evaluate, title: str, sets: Levels) -> None:
        """Runs sets, and keeps what they give."""
        self.margins += evaluate(title, sets)
        self.sets = np.concatenate([self.sets, sets])

    def ranking(self) -> list[int]:
        """The sets by how many claims hold in them: first by the number expected, then by changes.

        The expected number is the sum over claims of the probability that the score without noise
        is above 0.
        """
        expected = norm.cdf(self.scores).sum(axis=1).round(6)
        changed = (self.sets > 0).sum(axis=1)
        order = np.lexsort((np.arange(len(self.sets)), changed, -expected))
        return [int(i) for i in order]


def match(
    space: Space,
    claims: Sequence[str],
    evaluate: Evaluate,
    first: Levels,
    *,
    waves: int,
    size: int,
    climbs: int,
    seed: int,
) -> Matched:
    """Narrows the space to where most claims may hold together, then climbs from the best sets.

    Args:
        space: The space.
        claims: The claims, by id.
        evaluate: Runs sets.
        first: The sets of the first wave; those that occur again are run once.
        waves: How many further waves there are.
        size: How many sets each of them has.
        climbs: How many rounds the climb has at most.
        seed: Of what is drawn.
    """
    rng = np.random.default_rng([seed, 1])
    nothing = np.zeros((0, len(space.axes)), np.int64)
    ours = np.zeros((1, len(space.axes)), np.int64)
    found = Matched(space, claims, nothing, [])
    candidates = np.unique(space.spread(CANDIDATES, seed + 1), axis=0)
    # Each other choice alone is what the ledger shows.
    wanted = _new(np.concatenate([ours, _changed(space, ours[0]), first]), nothing)
    for number in range(1, waves + 2):
        found.run(evaluate, f"wave {number}", wanted)
        expected, may = _guess(found, candidates)
        most = int(plausible(found.scores).sum(axis=1).max())
        left = may >= most
        found.waves.append(Wave(len(found.sets), most, float(left.mean())))
        promising = candidates[np.argsort(-expected, kind="stable")[: size // 2]]
        rest = candidates[left]
        drawn = rest[rng.permutation(len(rest))]
        near = _neighbors(found, max(1, size // 16), rng)
        wanted = _new(np.concatenate([near, promising, drawn]), found.sets)[:size]
        if not len(wanted):
            break
    _climb(found, evaluate, climbs)
    return found


def _climb(found: Matched, evaluate: Evaluate, rounds: int) -> None:
    """Steepest ascent: runs all sets that differ in one choice from the best ones.

    It ends when none of them is better than the best before.
    """
    for number in range(1, rounds + 1):
        best, *others = found.ranking()[:PEAKS]
        near = [_changed(found.space, found.sets[i]) for i in (best, *others)]
        wanted = _new(np.concatenate(near), found.sets)
        if len(wanted):
            found.run(evaluate, f"climb {number}", wanted)
            found.climbs.append(len(found.sets))
        if found.ranking()[0] == best:
            break


def _neighbors(found: Matched, best: int, rng: np.random.Generator) -> Levels:
    """Sets that differ in one choice from the best ones, four of each."""
    counts = found.space.counts
    near = np.repeat(found.sets[found.ranking()[:best]], 4, axis=0)
    for of in near:
        k = int(rng.integers(len(counts)))
        of[k] = rng.integers(counts[k])
    return near


def _changed(space: Space, of: Levels) -> Levels:
    """All sets that differ from one in one choice."""
    made = [
        [*of[:k], level, *of[k + 1 :]]
        for k, n in enumerate(space.counts)
        for level in range(n)
        if level != of[k]
    ]
    return np.array(made, np.int64).reshape(-1, len(space.axes))


def _new(sets: Levels, known: Levels) -> Levels:
    """The sets that are not known, each once, in their order."""
    seen = {tuple(row) for row in known.tolist()}
    rows = []
    for row in sets.tolist():
        if tuple(row) not in seen:
            seen.add(tuple(row))
            rows.append(row)
    return np.array(rows, np.int64).reshape(-1, sets.shape[1])


def _guess(found: Matched, candidates: Levels) -> tuple[Floats, Floats]:
    """How many claims are expected to hold in sets, and how many may."""
    z = found.scores
    expected, may = np.zeros(len(candidates)), np.zeros(len(candidates))
    for of in z.T:
        if np.ptp(of) < 1e-9:
            expected += norm.cdf(of[0])
            may += of[0] >= -RULE
            continue
        mean, variance = Emulator(found.sets, of).predict(candidates)
        expected += norm.cdf(mean / np.sqrt(variance + 1.0))
        may += mean / np.sqrt(variance + 1.0) >= -RULE
    return expected, may
