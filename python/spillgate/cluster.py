"""Studies on the workers of Dask: blocks of runs go out, and what is stored counts.

A block is handed to a worker, which makes its runs and stores each when it ends; what it returns
says how long that took, and is not believed: results of a worker that was killed are gone, and its
blocks made anew, while the runs that it had stored are there. So the store is asked what is
missing, until nothing is.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from spillgate import _engine
from spillgate.errors import InputError, MissingDependencyError, OutputError, SpillgateError
from spillgate.run import Limits, Progress
from spillgate.source import Source

if TYPE_CHECKING:
    from distributed import Client, Future

Key: TypeAlias = tuple[int, int]
"""A point and the number of a run."""

IN_FLIGHT = 4
"""Blocks that a worker has at a time, at most."""

BLOCK_S = 10.0
"""How long a block is to take."""

LEAST_S = 0.5
"""How long it is to take at least: handing one out takes some milliseconds."""

PATIENCE_S = 10.0
"""How long an address, and then a first worker, is waited for."""

DEATHS = 5
"""Workers that may die over a block before its runs are tried one by one."""

_IN_MEMORY = 10_000_000
"""Bytes of a scenario with its files above which workers read the files themselves."""


class ClusterError(SpillgateError):
    """Workers cannot be reached, or cannot be used."""


def identity() -> tuple[str, str, int]:
    """Which Spillgate this is: version, commit, and the behavior of its engine."""
    return _engine.VERSION, _engine.COMMIT, _engine.BEHAVIOR


def _version(who: tuple[str, str, int]) -> str:
    version, commit, behavior = who
    return f"{version} ({commit}, behavior {behavior})"


@dataclass(frozen=True)
class Block:
    """What a worker needs to make some runs.

    Attributes:
        opened: `open_job` but for `points`.
        points: Numbers of points of the scenario.
        runs: The runs, each as a place in `points` and its number.
        store: Directory of stored runs.
        series: Runs whose time series are sampled; every run if none.
        limits: What one run may take.
        who: Which Spillgate is to make them.
    """

    opened: Callable[..., _engine.Job]
    points: list[int]
    runs: list[Key]
    store: str
    series: list[int] | None
    limits: Limits
    who: tuple[str, str, int]


@dataclass(frozen=True)
class Made:
    """What a worker says of a block: only how long it took is used.

    Attributes:
        seconds: From its start to its end.
        events: Events of its runs.
        notes: What could not be stored, and why.
        refused: Why it was not tried.
        failed: What went wrong, in words: not every exception can be sent.
    """

    seconds: float = 0.0
    events: int = 0
    notes: list[str] = field(default_factory=list)
    refused: str = ""
    failed: str = ""


def make(block: Block) -> Made:
    """Makes the runs of a block, each stored when it ends; called on a worker."""
    try:
        return _make(block)
    except Exception as error:  # noqa: BLE001 - whatever it is, the client has to hear of it
        return Made(failed=f"{type(error).__name__}: {error}")


def _make(block: Block) -> Made:
    if identity() != block.who:
        return Made(refused=f"it has Spillgate {_version(identity())}")
    if not Path(block.store).is_dir():
        return Made(refused=f"it does not see the directory {block.store}")
    begun = time.monotonic()
    job = block.opened(points=block.points)
    how: _engine.How = {**block.limits.how(), "these": block.runs, "shelved": True}
    job.start(block.series, block.store, **how)
    while not job.join(1.0):
        pass
    return Made(time.monotonic() - begun, job.progress()[4], job.store_notes())


def address(where: str) -> str | None:
    """The address of a scheduler, none for workers of this machine; raises `InputError`.

    Example:
        >>> address("dask://10.0.0.1:8786")
        'tcp://10.0.0.1:8786'
        >>> address("dask-local")
    """
    if where == "dask-local":
        return None
    found = re.fullmatch(r"dask://(\[[0-9a-fA-F:.]+\]|[^\s/:@]+):(\d{1,5})", where)
    if found is None or not 0 < int(found[2]) < 65536:
        msg = f"error: --on: {where!r} is neither dask://HOST:PORT nor dask-local"
        raise InputError(msg)
    return f"tcp://{found[1]}:{found[2]}"


@contextmanager
def connected(where: str, jobs: int | None = None) -> Iterator[Cluster]:
    """A cluster whose workers have this Spillgate.

    Args:
        where: `dask://HOST:PORT`, or `dask-local` for worker processes on this machine.
        jobs: How many of these; one a core if not given.

    Raises:
        InputError: If it is no such address.
        MissingDependencyError: If Dask is not installed.
        ClusterError: If nobody answers, no worker joins, or one has another Spillgate.
    """
    at = address(where)
    try:
        import dask

        # That a worker died is no news here.
        dask.config.set({"logging.distributed": "critical"})
        import distributed
    except ImportError as error:
        msg = "--on needs Dask: pip install 'spillgate[dask]'"
        raise MissingDependencyError(msg) from error
    if at is None:
        # Its processes read their settings from here.
        os.environ.setdefault("DASK_LOGGING__DISTRIBUTED", "critical")
        with (
            distributed.LocalCluster(
                n_workers=jobs or None,
                threads_per_worker=1,
                processes=True,
                # Any port: the usual one may belong to another study.
                dashboard_address=":0",
            ) as local,
            distributed.Client(local) as client,
        ):
            yield Cluster(client, where)
        return
    try:
        client = distributed.Client(at, timeout=PATIENCE_S)
    except (OSError, distributed.TimeoutError) as error:
        msg = f"--on: nothing answers at {where} within {PATIENCE_S:g} s"
        raise ClusterError(msg) from error
    with client:
        yield Cluster(client, where)


def portable(opened: partial[_engine.Job], files: tuple[str, ...]) -> partial[_engine.Job]:
    """Opens the same scenario in any process: its files are taken along unless they are large.

    Each process has one thread, as each block is made by one worker.
    """
    source: Source = opened.args[0]
    there = replace(source, path=source.path.absolute())
    contents: dict[str, bytes] = {}
    for name in (source.path.name, *files):
        with source.open(name) as file:
            contents[name] = file.read(_IN_MEMORY)
    if sum(map(len, contents.values())) < _IN_MEMORY:
        there = replace(there, memory={**contents, **source.memory})
    return partial(opened.func, there, **{**opened.keywords, "jobs": 1})


class Cluster:
    """Workers that make runs, and a client that tells them which."""

    def __init__(self, client: Client, where: str) -> None:
        """Waits for a first worker, and looks which Spillgate all of them have."""
        from distributed import TimeoutError as Late

        self._client = client
        self._where = where
        self._stop = threading.Event()
        try:
            client.wait_for_workers(1, timeout=PATIENCE_S)
        except Late as error:
            msg = f"--on: no worker has joined {where} within {PATIENCE_S:g} s"
            raise ClusterError(msg) from error
        found = client.run(identity, on_error="return")
        for worker, who in found.items():
            if isinstance(who, BaseException):
                self._refuse(worker, f"it has no Spillgate that can be used ({who})")
            if who != identity():
                self._refuse(worker, f"it has Spillgate {_version(who)}")
        self._deaths: int = client.run_on_scheduler(_allow, DEATHS) + 1

    def _refuse(self, worker: str, why: str) -> None:
        ours = _version(identity())
        msg = f"--on: worker {worker} of {self._where} is refused: {why}; this is {ours}"
        raise ClusterError(msg)

    def _failed(self, why: str) -> ClusterError:
        return ClusterError(f"--on: a worker of {self._where} failed: {why}")

    def stop(self) -> None:
        """Hands out no more blocks; those that are under way come to their end."""
        self._stop.set()

    def fill(
        self,
        job: _engine.Job,
        opened: Callable[..., _engine.Job],
        store: Path,
        series: list[int] | None,
        *,
        limits: Limits,
        progress: Callable[[Progress], None] | None = None,
    ) -> bool:
        """Makes the runs of a job that a store lacks; whether it came to the end.

        Args:
            job: All points of the scenario.
            opened: Opens it anew, for some points.
            store: Where runs are kept, for all workers the same directory.
            series: Runs whose time series are sampled; every run if none.
            limits: What one run may take.
            progress: Called several times a second.

        Raises:
            ClusterError: If workers cannot be used, or what they make is not in the store.
            OutputError: If the store can be neither read nor made.
        """
        where = str(store.absolute())
        again = limits.again
        left, _ = job.lacking(where, again=again)
        runs = job.progress()[3]
        pace = _Pace(runs, runs - len(left), progress)
        while left and not self._stop.is_set():
            block = Block(opened, [], [], where, series, limits, identity())
            suspects = self._pass(left, block, pace)
            for key in suspects:
                # Alone, so that it is known what the workers died of.
                if not self._stop.is_set() and self._pass([key], block, pace, most=1):
                    cause = f"killed its worker {self._deaths} times"
                    job.put_failure(where, *key, cause)
            asked, (left, _) = set(left), job.lacking(where, again=False)
            if asked <= set(left) and not self._stop.is_set():
                why = "; ".join(pace.notes) or f"is {where} the same directory for all of them?"
                msg = f"--on: what the workers of {self._where} made is not there: {why}"
                raise OutputError(msg)
        return not self._stop.is_set()

    def _pass(self, keys: list[Key], of: Block, pace: _Pace, most: int = 0) -> list[Key]:
        """Hands out runs in blocks; those of blocks over which workers died again and again."""
        from distributed import TimeoutError as Late
        from distributed import wait

        todo = deque(keys)
        flying: dict[Future, list[Key]] = {}
        suspects: list[Key] = []
        try:
            while (flying or todo) and not self._stop.is_set():
                room = most or IN_FLIGHT * max(1, len(self._client.scheduler_info()["workers"]))
                while todo and len(flying) < room:
                    size = min(len(todo), pace.size(len(todo), room))
                    runs = [todo.popleft() for _ in range(size)]
                    flying[self._client.submit(make, _filled(of, runs), pure=False)] = runs
                try:
                    done, _ = wait(list(flying), timeout=0.2, return_when="FIRST_COMPLETED")
                except Late:
                    pace.report()
                    continue
                for future in done:
                    runs = flying.pop(future)
                    if not self._ended(future, len(runs), pace):
                        suspects += runs
                pace.report()
        finally:
            if flying:
                self._client.cancel(list(flying))
        return suspects

    def _ended(self, future: Future, runs: int, pace: _Pace) -> bool:
        """Takes note of a block; false if workers died over it."""
        from distributed import KilledWorker

        if future.status == "error":
            error = future.exception()
            if isinstance(error, KilledWorker):
                return False
            raise self._failed(f"{type(error).__name__}: {error}")
        if future.status != "finished":
            # Lost or cancelled: the store knows what there is of it.
            return True
        made: Made = future.result()
        if made.failed:
            raise self._failed(made.failed)
        if made.refused:
            worker = next(iter(self._client.who_has([future]).get(future.key, ())), "unknown")
            self._refuse(worker, made.refused)
        pace.made(runs, made)
        return True


def _filled(of: Block, runs: list[Key]) -> Block:
    points = sorted({point for point, _ in runs})
    places = {point: place for place, point in enumerate(points)}
    return replace(of, points=points, runs=[(places[point], run) for point, run in runs])


def _allow(deaths: int, dask_scheduler: Any = None) -> int:  # noqa: ANN401 - of Dask, untyped
    """Lets a scheduler put up with dead workers, and says with how many; called there."""
    allowed: int = max(dask_scheduler.allowed_failures or 0, deaths)
    dask_scheduler.allowed_failures = allowed
    return allowed


class _Pace:
    """How many runs make a block, and how far the study is."""

    def __init__(self, runs: int, kept: int, progress: Callable[[Progress], None] | None) -> None:
        self._runs, self._kept, self._progress = runs, kept, progress
        self._done = self._events = 0
        self._begun = time.monotonic()
        self._each: float | None = None
        self.notes: list[str] = []

    def size(self, left: int, room: int) -> int:
        """Runs of the next block, of so many that are left for so many blocks at a time."""
        if self._each is None:
            # The first blocks measure.
            return 1
        by_time = max(1, int(BLOCK_S / max(self._each, 1e-6)))
        # The last ones are shorter, so that all workers end at the same time.
        least = max(1, int(LEAST_S / max(self._each, 1e-6)))
        return min(by_time, max(least, -(-left // room)))

    def made(self, runs: int, made: Made) -> None:
        """Takes note of a block."""
        self._done += runs
        self._events += made.events
        each = made.seconds / runs
        self._each = each if self._each is None else 0.7 * self._each + 0.3 * each
        self.notes += [note for note in made.notes if note not in self.notes]

    def report(self) -> None:
        """Says how far the study is."""
        if self._progress is None:
            return
        done = min(self._kept + self._done, self._runs)
        elapsed = time.monotonic() - self._begun
        fraction = done / max(1, self._runs)
        self._progress(Progress(fraction, done, self._runs, self._events, elapsed, self._kept))
