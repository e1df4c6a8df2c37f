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
        climbs: How many rounds of a climb follow, each over all single changes of the best sets.
        best: How many of the best sets are run again, as often as the ledger.
        runs: Runs of each set.
        seconds: Seconds of warm-up, and measured; those of the ledger where these are shorter.
        places: Points that are run; those of the ledger if empty.
        judged: Further points, for claims that are judged in the best set only.
        silent: What is searched instead of the ledger, if choices touch other points than there.
        also: Choices beside those, by key: a plausible range.
    """

    points: int = 16
    waves: int = 3
    size: int = 64
    climbs: int = 4
    best: int = 10
    runs: int = 3
    seconds: tuple[float, float] | None = None
    places: frozenset[str] = frozenset()
    judged: frozenset[str] = frozenset()
    silent: tuple[Silent, ...] = ()
    also: Mapping[str, tuple[Point, ...]] = field(default_factory=dict)

    def quick(self) -> Plan:
        """Few sets, to see that it works."""
        return replace(self, points=2, waves=1, size=8, climbs=1, best=2, runs=2)

    def ranges(self, silent: Sequence[Silent]) -> tuple[Silent, ...]:
        """What is silent, with all choices that are searched."""
        known = {s.key: s for s in self.silent or silent}
        for key, points in self.also.items():
            s = known.get(key, Silent(key, "as the paper has it", ""))
            known[key] = replace(s, others=(*s.points, *points))
        return tuple(known.values())
