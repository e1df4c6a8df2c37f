"""Values that claims of papers take for measured."""

import random
from dataclasses import replace

from spillgate_papers.measured import Measured, PerRun, Singles


def around(mean, unit=""):
    """Four runs with this mean, and an interval of ±1.6 % of it: t(3) = 3.18, s = 1 % of it."""
    return PerRun(tuple(mean * (1 + d) for d in (-0.0115, -0.0038, 0.0038, 0.0115)), unit)


class World(Measured):
    """For each point what is measured, by scope, name and metric, and what is the paper's own."""

    def __init__(self, world):
        self._values = {
            (k, *m): v for k, (measured, _) in world.items() for m, v in measured.items()
        }
        self._own = {k: own for k, (_, own) in world.items()}


def _changed(world, factors):
    """The world with other values: each is as often what it was as `factors` says of its run."""

    def of(v):
        if isinstance(v, Singles):
            runs = zip(v.ended, factors(len(v.ended)), strict=True)
            return replace(v, ended=tuple(tuple(x * f for x in run) for run, f in runs))
        values = zip(v.values, factors(len(v.values)), strict=True)
        return replace(v, values=tuple(x * f for x, f in values))

    return {
        k: ({m: of(v) for m, v in measured.items()}, {m: of(v) for m, v in own.items()})
        for k, (measured, own) in world.items()
    }


def scattered(world, seed):
    """Each run is a hundred times off, either way: so wide an interval tells nothing."""
    rng = random.Random(seed)
    return _changed(world, lambda n: [1 + rng.choice((-100, 100)) for _ in range(n)])


def shifted(world, seed):
    """Each quantity has another mean, and its scatter."""
    rng = random.Random(seed)
    factors = (-1.0, 0.1, 1.0, 40.0)
    usual = rng.choice(factors)
    return _changed(world, lambda n: [rng.choice((*factors, usual, usual, usual))] * n)


def fails(judged, worlds):
    """Which parts of the claims that `judged` gives of a world, by number, are missed in some."""
    return {
        (j.claim.id, i)
        for world in worlds
        for j in judged(world)
        for i, p in enumerate(j.parts)
        if p.missed
    }
