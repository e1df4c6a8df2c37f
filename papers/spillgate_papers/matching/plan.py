"""How much a search runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from spillgate_papers.model import Point, Silent


@dataclass(frozen=True)
class Plan:
    """How much is run.

    Attributes:
        points: How many points shares of variance are computed from, a power of two. As many sets
            are run for each silent choice, and twice as many beside.
        waves: How many waves follow.
        size: How many sets each of these has.
        runs: Runs of each set.
        seconds: Seconds of warm-up, and measured; those of the ledger if not given.
        also: Choices beside those of the ledger, by key: a plausible range.
    """

    points: int = 16
    waves: int = 3
    size: int = 64
    runs: int = 3
    seconds: tuple[float, float] | None = None
    also: Mapping[str, tuple[Point, ...]] = field(default_factory=dict)

    def quick(self) -> Plan:
        """Few sets, to see that it works."""
        return replace(self, points=2, waves=1, size=8, runs=2)

    def ranges(self, silent: Sequence[Silent]) -> tuple[Silent, ...]:
        """What is silent, with all choices that are searched."""
        known = {s.key: s for s in silent}
        for key, points in self.also.items():
            s = known.get(key, Silent(key, "as the paper has it", ""))
            known[key] = replace(s, others=(*s.points, *points))
        return tuple(known.values())
