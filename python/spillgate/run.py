"""Running a scenario."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from spillgate import pilot
from spillgate.errors import HookError, InputError
from spillgate.own import AqmLike, SchedulerLike, Watch
from spillgate.result import Results
from spillgate.rows import Transient, records
from spillgate.scenario import Description, Engine, Overrides, open_job, override_texts, seen_from
from spillgate.source import FilesLike, ScenarioLike, Source

if TYPE_CHECKING:
    from spillgate import _engine

POLL_S = 0.1
"""Seconds between two looks at a running simulation."""


@dataclass(frozen=True)
class Progress:
    """How far a simulation is.

    Attributes:
        fraction: 0 to 1.
        runs_done: Runs finished.
        runs: Runs in all.
        events: Events handled so far.
        elapsed_s: Seconds since the start.
        runs_kept: Runs of those finished that had been stored.
    """

    fraction: float
    runs_done: int
    runs: int
    events: int
    elapsed_s: float
    runs_kept: int = 0

    @property
    def remaining_s(self) -> float | None:
        """Seconds that are left at the pace so far; none while that is unknown."""
        # What was stored took no time.
        made = self.fraction - self.runs_kept / max(1, self.runs)
        if made <= 0.0:
            return 0.0 if self.fraction >= 1.0 else None
        return self.elapsed_s * (1.0 - self.fraction) / made


@dataclass(frozen=True)
class Limits:
    """What one run may take, where a run that cannot be made does not end the others.

    Attributes:
        seconds: The most by the clock; no limit if not given.
        memory: The most bytes by the estimate, with every queue full; a thread's share of the
            machine's if not given.
        again: Whether runs that failed before are tried again.
    """

    seconds: float | None = None
    memory: int | None = None
    again: bool = False

    def how(self) -> _engine.How:
        """The same as the core takes it."""
        return {
            "goes_on": True,
            "again": self.again,
            "time": self.seconds,
            "memory": self.memory,
        }


@dataclass(frozen=True)
class Failed:
    """A run that could not be made.

    Attributes:
        point: Name of the point.
        run: Number of the run, from 0.
        cause: Why, in words.
    """

    point: str
    run: int
    cause: str

    def __str__(self) -> str:
        """As one line."""
        return f"run {self.run} of {self.point}: {self.cause}"


class Interrupted(KeyboardInterrupt):
    """The simulation was stopped from the keyboard; `results` holds the finished runs."""

    def __init__(self, results: Results) -> None:
        """Takes the results of the finished runs."""
        super().__init__("interrupted")
        self.results = results


def watched(series: Sequence[int] | Literal["all"] | None, runs: int) -> list[int] | None:
    """The runs, of so many, whose series are sampled, none for every one; raises `InputError`."""
    if series is None:
        return [0]
    if series == "all":
        return None
    if strange := [r for r in series if r not in range(runs)]:
        msg = f"error: there is no run {strange[0]} to take series of; there are 0 to {runs - 1}"
        raise InputError(msg)
    return list(series)


PILOT_POINTS, PILOT_RUNS, PILOT_S = 8, 16, 2.0
"""Points of which some runs are tried before a large study, how many, and how long at most."""


def paced(opened: Callable[..., _engine.Job], points: int) -> float | None:
    """The seconds that a run takes one thread, by some runs of some points.

    They are not kept, and not made to their end if they take long.

    Args:
        opened: `open_job` but for `points`.
        points: How many points the scenario has.
    """
    tried = sorted({points * i // PILOT_POINTS for i in range(PILOT_POINTS)})
    job = opened(points=tried, jobs=1)
    keys = [(point, run) for run in range(PILOT_RUNS) for point in range(len(tried))]
    begun = time.monotonic()
    job.start([], None, these=keys, goes_on=True)
    job.join(PILOT_S)
    fraction, elapsed = job.progress()[0], time.monotonic() - begun
    job.cancel()
    while not job.join(POLL_S):
        pass
    # Of all that was begun, each as far as it came.
    return elapsed / (fraction * len(keys)) if fraction > 0.0 else None


class Elsewhere(Protocol):
    """Makes runs in other processes."""

    def __call__(
        self,
        job: _engine.Job,
        opened: partial[_engine.Job],
        store: Path,
        series: list[int] | None,
    ) -> None:
        """Makes the runs of a job that a store lacks.

        Args:
            job: All points of the scenario.
            opened: Opens it anew, `open_job` but for `points`; can be sent to another process.
            store: Where runs are kept.
            series: The runs whose series are sampled; every one if none.
        """


class Simulation:
    """A validated scenario that can be run once.

    `run` does all this in one call; the class is for callers that want to see
    what was understood before they start.

    Attributes:
        source: The scenario with its files.
        path: The scenario's file.
        overrides: Values that were replaced, as `path=value` texts.
        description: What was understood.
        notes: What was stored and could not be used, or could not be stored, in sentences; after
            a run with a store.
        failed: The runs that could not be made, after a run with limits.
    """

    def __init__(
        self,
        scenario: ScenarioLike | Source,
        *,
        files: FilesLike | None = None,
        aqm: AqmLike | None = None,
        scheduler: SchedulerLike | None = None,
        seed: int | None = None,
        runs: int | None = None,
        jobs: int | None = None,
        set: Overrides | None = None,  # noqa: A002
        sla: Sequence[str | Path] = (),
        correction: str | None = None,
        against: str | None = None,
        ignore_memory: bool = False,
        strict: bool = False,
        engine: Engine = "express",
        confine: bool = False,
        limits: Limits | None = None,
        variant: str | None = None,
        points: Sequence[int] | None = None,
    ) -> None:
        """Loads and validates; the arguments are those of `run`.

        With `limits` a run that cannot be made is one of `failed`, and the others go on. `variant`
        leaves out all others of a scenario without axes, `points` all but those of these numbers.
        """
        self.source = Source.of(scenario, files, aqm, scheduler)
        self.path = self.source.path
        self.overrides = tuple(override_texts(set, correction, against))
        self._sla = tuple(sla)
        self._engine: Engine = engine
        self._confine = confine
        self._open: Callable[..., _engine.Job] = partial(
            open_job,
            self.source,
            seed=seed,
            runs=runs,
            jobs=jobs,
            sla=sla,
            ignore_memory=ignore_memory,
            strict=strict,
            engine=engine,
            confine=confine,
            apart=limits is not None,
            variant=variant,
            points=None if points is None else list(points),
        )
        self._limits = limits
        self._job = self._open(set=self.overrides)
        self.description = Description.from_json(self._job.describe())
        self.notes: tuple[str, ...] = ()
        self.failed: tuple[Failed, ...] = ()
        self._stopped = False

    def cast(self) -> dict[str, Any]:
        """`flows` (name, class) and `links` of the first point, in the order of their numbers."""
        return self._job.cast(0)

    def arriving(self) -> dict[str, Any]:
        """What comes to each port of the first point, and to paths and sessions."""
        return self._job.arriving(0)

    def taken_plainly(self) -> dict[str, list[str]]:
        """What the express engine takes one event after the other, and why.

        Returns:
            For each variant some sentences; none where it has all its shortcuts.
        """
        return self._job.taken_plainly()

    def pilot(self) -> float | None:
        """Seconds that a run takes one thread, by first runs of some points; see `paced`."""
        count = len(self.description.variants)
        return paced(partial(self._open, set=self.overrides), count)

    def stop(self) -> None:
        """Asks the runs to stop soon; `run` then raises `Interrupted`.

        To be called from another thread, from `progress` or from a signal handler.
        """
        self._stopped = True
        self._job.cancel()

    def run(
        self,
        progress: Callable[[Progress], None] | None = None,
        *,
        series: Sequence[int] | Literal["all"] | None = None,
        store: str | Path | None = None,
        shared: bool = False,
        elsewhere: Elsewhere | None = None,
        patience: float | None = None,
    ) -> Results:
        """Runs it to the end; `series` and `store` are those of `run`.

        `shared`: others make runs of the same study, so that it is better to begin elsewhere.
        `elsewhere`: makes the runs that the store lacks, so that they are only read here.
        `patience`: the seconds after which a hook of one's own that has not returned is given up;
        default 10.

        Raises:
            InputError: If there is no such run.
            OutputError: If the store can be neither read nor made.
            Interrupted: On Ctrl-C, or after `stop`, with the results of the finished runs.
        """
        watched = self.watched(series)
        begun = time.monotonic()
        if self.description.auto_warmup:
            self._find_warmup(store)
        if elsewhere is not None and store is not None:
            opened = partial(self._open, set=self.overrides)
            self.source.own.check_versions()
            elsewhere(self._job, opened, Path(store), watched)
            if self._stopped:
                values = self._job.stored(Path(store), whole=False, series=watched)
                stopped = self._results(values, begun, watched, store, interrupted=True)
                raise Interrupted(stopped)
        how: _engine.How = {} if self._limits is None else self._limits.how()
        how["scattered"] = shared
        hooks = Watch(self._job, patience)
        self._job.start(watched, None if store is None else str(store), **how)
        interrupted = False
        try:
            while not self._job.join(POLL_S):
                if progress is not None:
                    progress(self._progress(begun))
                if stuck := hooks.look():
                    raise stuck
        except KeyboardInterrupt:
            interrupted = True
        finally:
            # Whatever happened, no thread outlives this call, but for a hook that cannot be ended.
            self._settle(hooks)
        self.notes = tuple(self._job.store_notes())
        self.failed = tuple(Failed(*f) for f in self._job.failed())
        done = self._progress(begun)
        interrupted |= self._stopped and done.runs_done + len(self.failed) < done.runs
        if progress is not None and not interrupted:
            progress(done)
        # Without some runs it is as partial as one that was stopped.
        partly = interrupted or bool(self.failed)
        results = self._results(self._job.outcome(), begun, watched, store, interrupted=partly)
        if interrupted:
            raise Interrupted(results)
        return results

    def _results(
        self,
        values: _engine.Outcome,
        begun: float,
        watched: list[int] | None,
        store: str | Path | None,
        *,
        interrupted: bool,
    ) -> Results:
        return Results(
            self.description,
            values,
            source=self.source,
            interrupted=interrupted,
            wall_s=time.monotonic() - begun,
            engine=self._engine,
            overrides=self.overrides,
            sla=seen_from(self.source, self._sla),
            series=watched,
            store=None if store is None else Path(store),
            again=partial(run, confine=self._confine),
        )

    def _find_warmup(self, store: str | Path | None) -> None:
        """Makes pilot runs until all has settled, and begins anew with the warm-up found."""
        unstarted, d = self._job, self.description
        found = pilot.find(d, partial(self._pilot, store))
        if found is None:
            # Stopped: not one of its own runs has begun.
            self._job = unstarted
            self._job.cancel()
            return
        self.overrides = pilot.replaced(self.overrides, found.override)
        self._job = self._open(set=self.overrides)
        described = Description.from_json(self._job.describe())
        pilot.check(described, self.path)
        self.description = replace(described, warnings=(*described.warnings, found.said()))

    def _pilot(self, store: str | Path | None, length: float) -> tuple[Transient, ...] | None:
        """Runs it once without a warm-up; what had not settled, none if it was stopped."""
        overrides = pilot.replaced(self.overrides, pilot.overrides(length))
        seed = pilot.seed(self.description.seed)
        self._job = self._open(seed=seed, runs=1, set=overrides)
        if not self._stopped:
            self._job.start([0], None if store is None else str(store))
            try:
                while not self._job.join(POLL_S):
                    pass
            except KeyboardInterrupt:
                self._stopped = True
            finally:
                self._settle(Watch(self._job))
        if self._stopped:
            return None
        return records(Transient, self._job.outcome().part("transients"))

    def _settle(self, hooks: Watch) -> None:
        """Waits for the threads; a second Ctrl-C does not hasten that, and loses nothing."""
        while True:
            try:
                self._job.cancel()
                while not self._job.join(POLL_S):
                    if hooks.end():
                        return
            except KeyboardInterrupt:
                continue
            except HookError:
                # What it says of a hook was raised before, or is of one that was ended.
                return
            return

    def watched(self, series: Sequence[int] | Literal["all"] | None) -> list[int] | None:
        """The runs whose series are sampled, none for every one; raises `InputError`."""
        return watched(series, self.description.runs)

    def check_recording(self, variant: str, selection: dict[str, Any]) -> None:
        """Raises `InputError` if packets of a variant cannot be recorded so."""
        self._job.check_recording(self.description.variants.index(variant), selection)

    def record(
        self, variant: str, run: int, selection: dict[str, Any], title: str, path: Path
    ) -> tuple[int, int, str]:
        """Repeats one run and writes its packets down: packets, those left out, fingerprint."""
        index = self.description.variants.index(variant)
        return self._job.record(index, run, selection, title, str(path))

    def _progress(self, begun: float) -> Progress:
        fraction, done, kept, runs, events = self._job.progress()
        return Progress(fraction, done, runs, events, time.monotonic() - begun, kept)


def run(
    scenario: ScenarioLike | Source,
    *,
    files: FilesLike | None = None,
    aqm: AqmLike | None = None,
    scheduler: SchedulerLike | None = None,
    seed: int | None = None,
    runs: int | None = None,
    jobs: int | None = None,
    set: Overrides | None = None,  # noqa: A002
    sla: Sequence[str | Path] = (),
    correction: str | None = None,
    against: str | None = None,
    ignore_memory: bool = False,
    strict: bool = False,
    engine: Engine = "express",
    confine: bool = False,
    series: Sequence[int] | Literal["all"] | None = None,
    store: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Results:
    """Runs a scenario.

    Args:
        scenario: Path of the scenario file, its text (with a line break), or what the text would
            say as a mapping.
        files: Contents that stand in for files, by name as the scenario writes it: tables,
            configurations, traces. What is not among them is read from the scenario's directory,
            the working directory for one without a file.
        aqm: AQMs of one's own that the scenario names, as classes by name; see `spillgate.own`.
            Their runs take one thread, since one at a time has the interpreter.
        scheduler: Schedulers of one's own, likewise.
        seed: Replaces the scenario's master seed.
        runs: Replaces the scenario's number of independent runs of each variant.
        jobs: Threads; as many as processor cores if not given. The results do not
            depend on it.
        set: Values to replace, by path: `{"topology.links.wan.rate": "50 Mb/s"}`.
        sla: Files with the requirements of customers, beside the scenario's.
        correction: What is done about the number of requirements: `none`, `bonferroni`, `holm`.
        against: The variant that the others are compared with, run by run; the first if not given.
        ignore_memory: Starts although the memory that it needs at most, with every queue full,
            is above what the machine has.
        strict: Refuses router configurations with names that are not defined or lines that are
            wrong, instead of a warning with what stands in for them.
        engine: `plain` takes no shortcut: one event for each thing that happens. It is the
            definition of what `express` computes several times as fast; the results are the same.
        confine: Refuses files outside the scenario's folder that the scenario refers to, wherever
            links and `..` lead; those given with `sla` are read.
        series: Numbers of the runs, from 0, whose time series are sampled, or `"all"`; the first
            run if not given, no run if empty. A run that is sampled can take half as long again,
            or more with a short `interval`.
        store: Directory where each run is kept as soon as it is finished, under a key of what
            decides it: the point, the seed, its number, the behavior of the engine (which changes
            less often than the version), and the engine, so that what is to check another run is
            run. A run that is there is not made again, whatever its
            point is called and however it is judged; so a study can be stopped, extended and
            judged anew. Others may use the directory at the same time. The `runs` of a run
            directory is such a store. What is damaged or of another behavior is made anew, with a
            warning.
        progress: Called about ten times a second while it runs.

    Returns:
        The results, the same for the same scenario and seed on every machine.

    Raises:
        InputError: If the scenario cannot be used; says where and why.
        AqmError: If a hook of an AQM of one's own raises, answers what is no answer, or does not
            return; what it raised is the cause.
        SchedulerError: The same of a scheduler of one's own.
        Interrupted: On Ctrl-C, with the results of the finished runs.
        OutputError: If the store can be neither read nor made.

    Example:
        >>> import spillgate
        >>> results = spillgate.run("examples/first/scenario.yaml", runs=3)
        >>> voice = results.value("llq", "class", "voice", "loss_ratio")
        >>> voice.mean
        0.0
    """
    simulation = Simulation(
        scenario,
        files=files,
        aqm=aqm,
        scheduler=scheduler,
        seed=seed,
        runs=runs,
        jobs=jobs,
        set=set,
        sla=sla,
        correction=correction,
        against=against,
        ignore_memory=ignore_memory,
        strict=strict,
        engine=engine,
        confine=confine,
    )
    try:
        return simulation.run(progress, series=series, store=store)
    finally:
        for note in simulation.notes:
            warnings.warn(note, stacklevel=2)
