"""Values that claims of papers take for measured."""

from spillgate.papers.measured import Measured, PerRun


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
