"""What runs of one variant gave: waiting times at both routers, gaps, loads, transfers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from spillgate.papers.domzal import system
from spillgate.papers.measured import Measured, PerRun
from spillgate.result import Results
from spillgate.rows import Admission


@dataclass(frozen=True)
class Wait:
    """A stream at a router.

    Attributes:
        seconds: From its first packet there to the first that was admitted; if none was, to the
            last that it could have sent there.
        admitted: Whether one was.
    """

    seconds: float
    admitted: bool = True


@dataclass(frozen=True)
class Cell:
    """One variant.

    Attributes:
        waits: The streams at each router, run by run.
        removed: Removals of streams from lists of protected flows.
        gaps: The longest time without a packet of each stream across the failure, run by run;
            empty without a failure.
        busy: Utilization of the link of each router: of R2 until the failure.
        transfer: Mean seconds of elastic transfers, those that are under way at the end counted
            with the time so far.
        finished: Mean seconds of those that ended.
        done: How many those are.
        openings: When the elastic flows were admitted at R4, run by run.
        entry: Seconds between the admission of the first and of the last stream at R4.
    """

    waits: Mapping[str, tuple[tuple[Wait, ...], ...]]
    removed: PerRun
    gaps: tuple[tuple[float, ...], ...]
    busy: Mapping[str, PerRun]
    transfer: PerRun
    finished: PerRun
    done: PerRun
    openings: tuple[tuple[float, ...], ...]
    entry: PerRun

    def wait(self, router: str) -> PerRun:
        """Mean waiting time of the streams in each run; NaN where none came."""
        means = tuple(_mean(w.seconds for w in run) for run in self.waits[router])
        return PerRun(means, "s", self._cut(router))

    def _cut(self, router: str) -> bool:
        """Whether a wait had not ended when the time was over."""
        return any(not w.admitted for run in self.waits[router] for w in run)

    def longest(self, router: str) -> PerRun:
        """The longest waiting time in each run."""
        runs = self.waits[router]
        most = tuple(max((w.seconds for w in run), default=math.nan) for run in runs)
        return PerRun(most, "s", self._cut(router))

    def all_waits(self, router: str) -> list[float]:
        """The waiting times of all runs, ascending."""
        return sorted(w.seconds for w in chain.from_iterable(self.waits[router]))

    def share_within(self, router: str, seconds: float) -> PerRun:
        """The share of streams that waited no longer, in each run."""
        runs = self.waits[router]
        shares = (_mean(float(w.admitted and w.seconds <= seconds) for w in run) for run in runs)
        return PerRun(tuple(shares), "1")

    def censored(self, router: str) -> PerRun:
        """Streams that were never admitted, in each run."""
        runs = self.waits[router]
        return PerRun(tuple(float(sum(not w.admitted for w in run)) for run in runs), "streams")

    def long_gap(self) -> PerRun:
        """95th percentile of the streams' longest gaps, in each run."""
        return PerRun(tuple(percentile(sorted(run), 0.95) for run in self.gaps), "s")


def percentile(ordered: Sequence[float], share: float) -> float:
    """The smallest of ascending values that a share of them does not exceed; NaN of none.

    Example:
        >>> percentile([1.0, 2.0, 3.0, 4.0], 0.75), percentile([5.0], 0.95)
        (3.0, 5.0)
    """
    if not ordered:
        return math.nan
    return ordered[max(0, math.ceil(share * len(ordered) - 1e-9) - 1)]


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return math.fsum(found) / len(found) if found else math.nan


class Reader:
    """Takes cells from a batch."""

    def __init__(self, results: Results) -> None:
        """Reads the tables of a batch once for all its variants."""
        self._measured = Measured(
            results,
            scopes=("class", "link"),
            metrics=("utilization", "fct_mean", "transfers_begun", "transfers_done"),
            flow_metrics=("gap_max",),
        )
        self._runs = results.description.runs
        self._end = results.description.warmup + results.description.duration
        self._rows: dict[str, list[Admission]] = {}
        for row in results.admission():
            if row.direction == "data":
                self._rows.setdefault(row.variant, []).append(row)

    def cell(self, variant: str, failure: float | None, until: float = math.inf) -> Cell:
        """One variant.

        Args:
            variant: Its name.
            failure: Second at which L2 fails; none: never.
            until: Second at which waits are cut off, as if the run had ended there.
        """
        rows: list[list[Admission]] = [[] for _ in range(self._runs)]
        for row in self._rows.get(variant, ()):
            if row.offered_s < until:
                rows[row.run].append(row)
        end = min(until, self._end)
        last = {"R2": min(end, failure or end), "R4": end}
        waits = {
            router: tuple(
                tuple(
                    _wait(row, last[router])
                    for row in run
                    if row.link == link and row.cls == "streams"
                )
                for run in rows
            )
            for router, link in system.LINKS.items()
        }
        streams = [[row for row in run if row.cls == "streams"] for run in rows]
        removed = tuple(float(sum(row.removals for row in run)) for run in streams)
        elastic = [[row for row in run if row.cls != "streams"] for run in rows]
        openings = tuple(
            tuple(
                sorted(
                    row.admitted_s
                    for row in run
                    if row.link == "L5" and row.admitted_s is not None
                )
            )
            for run in elastic
        )
        return Cell(
            waits,
            PerRun(removed, "removals"),
            self._gaps(variant, failure),
            self._busy(variant, failure),
            *self._transfers(variant, elastic),
            openings,
            PerRun(tuple(_spread(run) for run in streams), "s"),
        )

    def _gaps(self, variant: str, failure: float | None) -> tuple[tuple[float, ...], ...]:
        if failure is None:
            return ()
        names = [f"stream-{i}" for i in range(system.STREAMS)]
        found = [self._measured.of(variant, "flow", name, "gap_max").values for name in names]
        runs = zip(*found, strict=True)
        return tuple(tuple(v for v in run if not math.isnan(v)) for run in runs)

    def _busy(self, variant: str, failure: float | None) -> dict[str, PerRun]:
        # After the failure nothing comes to L3.
        until = {"R2": min(self._end, failure or self._end), "R4": self._end}
        found = {}
        for router, link in system.LINKS.items():
            q = self._measured.of(variant, "link", link, "utilization")
            found[router] = PerRun(tuple(v * self._end / until[router] for v in q.values), "1")
        return found

    def _transfers(
        self, variant: str, elastic: Sequence[Sequence[Admission]]
    ) -> tuple[PerRun, PerRun, PerRun]:
        def of(metric: str) -> list[tuple[float, ...]]:
            names = ("elastic to d1", "elastic to d2")
            return [self._measured.of(variant, "class", n, metric).values for n in names]

        means, finished, counts = [], [], []
        for i in range(self._runs):
            begun = math.fsum(v[i] for v in of("transfers_begun"))
            done = math.fsum(v[i] for v in of("transfers_done"))
            time = math.fsum(
                n[i] * t[i]
                for n, t in zip(of("transfers_done"), of("fct_mean"), strict=True)
                if n[i]
            )
            # A session meets each link with admission once; its first is where it began.
            first = [row.offered_s for row in elastic[i] if not _again(row)]
            age = self._end - _mean(first)
            means.append((time + (begun - done) * age) / begun if begun else math.nan)
            finished.append(time / done if done else math.nan)
            counts.append(done)
        return (
            PerRun(tuple(means), "s"),
            PerRun(tuple(finished), "s"),
            PerRun(tuple(counts), "transfers"),
        )


def _again(row: Admission) -> bool:
    """Whether this is the second FAN link of a flow: of one to d1 after the failure."""
    return row.cls == "elastic to d1" and row.link == "L5"


def _wait(row: Admission, last: float) -> Wait:
    if row.admitted_s is None or row.admitted_s > last:
        return Wait(max(0.0, last - row.offered_s), admitted=False)
    return Wait(row.admitted_s - row.offered_s)


def _spread(streams: Sequence[Admission]) -> float:
    times = [r.admitted_s for r in streams if r.link == "L5" and r.admitted_s is not None]
    return max(times) - min(times) if times else math.nan
