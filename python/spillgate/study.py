"""Studies in parts: runs are made and stored, and the results are made of the store later.

A study is a list of keys, each a point and the number of a run. The store is the only truth about
which of them are done: whoever takes part makes what it lacks.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from spillgate import pilot
from spillgate.errors import InputError
from spillgate.rows import Transient, records
from spillgate.run import POLL_S, Failed, Limits, Progress, paced, watched
from spillgate.scenario import Description

if TYPE_CHECKING:
    from spillgate import _engine

CHUNK = 4096
"""Points that are made at once: a point takes some 12 kB."""


@dataclass
class Filled:
    """What became of the keys of a study, or of a part of it.

    Attributes:
        runs: How many keys there are.
        done: How many of them are stored.
        kept: How many of these had been.
        failed: The runs that could not be made.
        refused: Points that cannot be run, as errors of the scenario.
        notes: What was stored and could not be used, or could not be stored, in sentences.
        interrupted: Whether it was stopped before it was done.
    """

    runs: int = 0
    done: int = 0
    kept: int = 0
    failed: list[Failed] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    interrupted: bool = False


def chunks(
    opened: Callable[..., _engine.Job], points: Sequence[int], refused: list[str]
) -> Iterator[_engine.Job]:
    """Jobs of these points, each of a few thousand.

    Args:
        opened: `open_job` but for `points`.
        points: Numbers of points.
        refused: Takes the errors of points that cannot be run.
    """
    for at in range(0, len(points), CHUNK):
        yield from _halves(opened, list(points[at : at + CHUNK]), refused)


def _halves(
    opened: Callable[..., _engine.Job], points: list[int], refused: list[str]
) -> Iterator[_engine.Job]:
    try:
        job = opened(points=points)
    except InputError as error:
        if len(points) == 1:
            refused.append(f"point {points[0]}: {error}")
            return
        half = len(points) // 2
        yield from _halves(opened, points[:half], refused)
        yield from _halves(opened, points[half:], refused)
    else:
        yield job


class Part:
    """One of several parts of a study, to be run anywhere.

    The parts of a study are disjoint, and together the whole. Each begins with the first runs of
    its points, so that parts that are interrupted can be compared.

    Attributes:
        description: What was understood of the scenario; of many points only the first, and those
            that differ from it in one axis.
        points: How many points the scenario has.
    """

    def __init__(self, opened: partial[_engine.Job], number: int, of: int) -> None:
        """Takes part `number`, from 1, of a study in `of` parts; raises `InputError`.

        Every value of every axis is checked, whichever of them are of this part. `opened` is
        `open_job` but for `points` and `edges`.
        """
        if not 1 <= number <= of:
            msg = f"error: --shard: part {number} of {of}: parts are numbered from 1 to {of}"
            raise InputError(msg)
        self._opened = opened
        self._first, self._of = number - 1, of
        job = opened(edges=True)
        self.description = Description.from_json(job.describe())
        self.points = job.extent()
        self._running: _engine.Job | None = None
        self._stopped = False

    @property
    def runs(self) -> int:
        """How many runs this part has."""
        runs = self.description.runs
        if self.points > CHUNK:
            return len(range(self._first, self.points, self._of)) * runs
        return len(range(self._first, self.points * runs, self._of))

    def pilot(self) -> float | None:
        """Seconds that a run takes one thread, by first runs of some points; see `paced`."""
        return paced(self._opened, self.points)

    def stop(self) -> None:
        """Asks the runs to stop soon; finished ones stay."""
        self._stopped = True
        if self._running is not None:
            self._running.cancel()

    def run(
        self,
        store: str | Path,
        *,
        limits: Limits | None = None,
        series: Sequence[int] | Literal["all"] | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> Filled:
        """Makes the runs of this part that a store lacks.

        Args:
            store: Directory of stored runs; other parts may write it at the same time.
            limits: What one run may take.
            series: Runs whose time series are sampled, as for `spillgate.run`.
            progress: Called about ten times a second.

        Raises:
            OutputError: If the store can be neither read nor made.
        """
        sampled = watched(series, self.description.runs)
        filled = Filled(runs=self.runs)
        if self.description.auto_warmup and not self._settle(store, filled):
            filled.interrupted = True
            return filled
        # Each part makes the points that it needs, not those of the others.
        many = self.points > CHUNK
        mine = range(self._first, self.points, self._of) if many else range(self.points)
        part = None if many else (self._first, self._of)
        begun, events = time.monotonic(), 0

        def report() -> None:
            _, done, kept, _, more = job.progress()
            now = Progress(
                (filled.done + done) / max(1, filled.runs),
                filled.done + done,
                filled.runs,
                events + more,
                time.monotonic() - begun,
                filled.kept + kept,
            )
            if progress is not None:
                progress(now)

        counted = 0
        for job in chunks(self._opened, mine, filled.refused):
            self._running = job
            if self._stopped:
                break
            how: _engine.How = {**(limits or Limits()).how(), "part": part, "shelved": True}
            job.start(sampled, str(store), **how)
            while not job.join(POLL_S):
                report()
            report()
            _, done, kept, runs, more = job.progress()
            counted += runs
            filled.done += done
            filled.kept += kept
            events += more
            filled.failed += [Failed(*f) for f in job.failed()]
            filled.notes += [n for n in job.store_notes() if n not in filled.notes]
        if self.description.replication is not None and not self._stopped:
            # Those that no point needs are none of it.
            filled.runs = counted
        filled.interrupted = self._stopped and filled.done + len(filled.failed) < filled.runs
        return filled

    def _settle(self, store: str | Path, filled: Filled) -> bool:
        """Finds the warm-up of the study by pilot runs of all its points; false if it was stopped.

        All parts find the same, as what the runs draw depends on the seed alone. Those that the
        store has are not made again.
        """
        texts: Sequence[str] = self._opened.keywords.get("set") or ()

        def made(length: float) -> list[Transient] | None:
            values = pilot.replaced(texts, pilot.overrides(length))
            seed = pilot.seed(self.description.seed)
            opened = partial(self._opened, seed=seed, runs=1, set=values)
            found: list[Transient] = []
            for job in chunks(opened, range(self.points), []):
                self._running = job
                if not self._stopped:
                    job.start([0], str(store))
                    while not job.join(POLL_S):
                        pass
                if self._stopped:
                    return None
                found += records(Transient, job.outcome().part("transients"))
            return found

        settled = pilot.find(self.description, made)
        if settled is None:
            return False
        filled.notes.append(settled.said())
        values = pilot.replaced(texts, settled.override)
        self._opened = partial(self._opened, set=values)
        path = self._opened.args[0].path
        pilot.check(Description.from_json(self._opened(edges=True).describe()), path)
        return True
