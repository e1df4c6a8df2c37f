"""The only module that touches the compiled core.

It turns the core's JSON into Python data and its exceptions into ours, so that
nothing above needs to know how the core is spoken to.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict

from spillgate import _native
from spillgate.errors import Diagnostic, HookError, InputError, OutputError

if TYPE_CHECKING:
    from typing_extensions import Unpack

VERSION: str = _native.__version__
COMMIT: str = _native.__commit__
BEHAVIOR: int = _native.BEHAVIOR

# Thousands of cells: nothing stands between them and the core.
scale_for = _native.scale_for
column_decimals = _native.column_decimals
format_number = _native.format_number
format_cell = _native.format_cell
format_value = _native.format_value
format_ceiling = _native.format_ceiling
format_rough = _native.format_rough
format_count = _native.format_count
rounded_up = _native.rounded_up
nearest = _native.nearest

# What hooks of one's own are called with.
Packet = _native.Packet
Queue = _native.Queue
Port = _native.Port


Part: TypeAlias = "type | str | tuple[int, int, int] | None"
"""A class, a library's path, or addresses of functions and the bytes of their state; None for what
is not there, so that nothing can be run."""

Own: TypeAlias = "dict[str, dict[str, tuple[Part, str]]]"
"""AQMs and schedulers of one's own, by family and name, each with what tells it from others."""


def schema(of: str) -> dict[str, Any]:
    """JSON Schema of the scenario file."""
    parsed: dict[str, Any] = json.loads(_native.schema(of))
    return parsed


def catalog() -> dict[str, list[dict[str, Any]]]:
    """What the core offers, by family: kinds with a summary."""
    parsed: dict[str, list[dict[str, Any]]] = json.loads(_native.catalog())
    return parsed


def interval(
    values: Sequence[float], level: float = 0.95, *, again: bool = False
) -> tuple[float, float, float]:
    """Mean of independent values and the ends of its interval, of one look or of any number."""
    return _native.interval(values, level, again)


def quantile_interval(
    values: Sequence[float], p: float, level: float
) -> tuple[float, float, float]:
    """A quantile of what independent values come from, and the ends of its interval."""
    return _native.quantile_interval(values, p, level)


def p_value(values: Sequence[float], bound: float, *, again: bool) -> float:
    """The p-value of a bound being their mean."""
    return _native.p_value(values, bound, again)


def judge(
    values: Sequence[float], low: float, high: float, most: float | None, least: float | None
) -> tuple[str, int | None]:
    """Verdict of one look at their interval, and how many more values would tell."""
    return _native.judge(values, low, high, most, least)


def understand(path: str, platform: str, interface: str | None, *, strict: bool) -> dict[str, Any]:
    """What the core understood of a router configuration; raises `InputError`."""
    with _translated():
        text = _native.understand(path, platform, interface, strict)
        parsed: dict[str, Any] = json.loads(text)
    return parsed


def rate_call(voice: str, delay: float, loss: float, burst_ratio: float) -> dict[str, float]:
    """The E-model's rating and its parts; raises `ValueError`."""
    parsed: dict[str, float] = json.loads(_native.rate_call(voice, delay, loss, burst_ratio))
    return parsed


def profile_capture(
    path: str,
    by: str,
    only: dict[str, Any],
    top: int,
    config: str | None,
    platform: str,
    interface: str | None,
) -> dict[str, Any]:
    """What was measured of a capture; raises `InputError`."""
    with _translated():
        text = _native.profile_capture(
            path, by, json.dumps(only), top, config, platform, interface
        )
        parsed: dict[str, Any] = json.loads(text)
    return parsed


def export(
    path: str,
    to: str,
    *,
    scenario: bool,
    platform: str,
    names: dict[str, str | None],
    overrides: list[str],
    confine: bool,
) -> dict[str, Any]:
    """Policies as text, and what it does not say; raises `InputError`.

    `names` are the interface, link, variant, policy, rate, device, scheduler and filters that were
    asked for.
    """
    with _translated():
        text = _native.export(
            path, to, scenario, platform, overrides=overrides, confine=confine, **names
        )
        parsed: dict[str, Any] = json.loads(text)
    return parsed


def alone(
    path: str,
    *,
    overrides: list[str],
    variant: str | None,
    confine: bool,
    files: dict[str, bytes],
    own: Own,
) -> list[dict[str, Any]]:
    """What each point of a scenario says, or one of them; raises `InputError`."""
    with _translated():
        parsed: list[dict[str, Any]] = json.loads(
            _native.alone(path, overrides, variant, confine, files, own)
        )
    return parsed


def bound(
    path: str, *, overrides: list[str], sla: list[str] | None = None, confine: bool
) -> list[dict[str, Any]]:
    """What cannot be exceeded at each point of a scenario; raises `InputError`."""
    with _translated():
        parsed: list[dict[str, Any]] = json.loads(
            _native.bound(path, overrides, sla or [], confine)
        )
    return parsed


def worst(
    path: str, point: int, link: str, queue: str, *, overrides: list[str], confine: bool
) -> tuple[dict[str, Any], bytes]:
    """The worst arrivals that are found for a queue with a bound, and their capture.

    Raises `InputError`, and `ValueError` with the reason if there are none.
    """
    with _translated():
        text, packets = _native.worst(path, point, link, queue, overrides, confine)
    parsed: dict[str, Any] = json.loads(text)
    return parsed, packets


def written(
    path: str,
    point: int,
    *,
    overrides: list[str],
    confine: bool,
    files: dict[str, bytes],
    own: Own,
) -> dict[str, Any]:
    """What a scenario writes of variants, policies and links; raises `InputError`.

    `variants` with what they `set`, and of one point the names of all `policies`; `links`: name,
    from, to, rate (b/s, that policies are made for) and duplex; and `interfaces`: of each
    configuration those that go to links.
    """
    with _translated():
        text = _native.written(path, point, overrides, confine, files, own)
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def lint(
    path: str,
    *,
    scenario: bool,
    platform: str,
    overrides: list[str],
    select: list[str],
    ignore: list[str],
    confine: bool,
    own: Own,
) -> dict[str, Any]:
    """What the rules find in a configuration or scenario; raises `InputError`."""
    with _translated():
        text = _native.lint(path, scenario, platform, overrides, select, ignore, confine, own)
        parsed: dict[str, Any] = json.loads(text)
    return parsed


def lint_rules() -> list[dict[str, Any]]:
    """Every rule with its texts."""
    parsed: list[dict[str, Any]] = json.loads(_native.lint_rules())
    return parsed


def reader_warnings() -> list[dict[str, Any]]:
    """Every warning of a reader with its texts, in the form of rules."""
    parsed: list[dict[str, Any]] = json.loads(_native.reader_warnings())
    return parsed


def stored_runs(directory: Path) -> list[str]:
    """The keys of the runs that are stored in a directory, each once; none if it is not there."""
    return _native.stored_runs(str(directory))


def study(directory: Path) -> str | None:
    """What is noted with the runs of a directory, as JSON, if anything; raises `OSError`."""
    return _native.study(str(directory))


def note_study(directory: Path, text: str) -> None:
    """Notes that; raises `OSError`."""
    _native.note_study(str(directory), text)


def is_show_output(path: str) -> bool:
    """Whether a file looks like an output of `show policy-map interface`."""
    return _native.is_show_output(path)


def offered(path: str) -> dict[str, Any]:
    """The classes in an output of `show policy-map interface`; raises `InputError`."""
    with _translated():
        parsed: dict[str, Any] = json.loads(_native.offered(path))
    return parsed


@contextmanager
def _hooks() -> Iterator[None]:
    try:
        yield
    except _native.HookError as error:
        kind = "scheduler" if isinstance(error, _native.SchedulerError) else "AQM"
        raise HookError.of(kind, str(error)) from error.__cause__


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except _native.InputError as error:
        records = json.loads(getattr(error, "diagnostics", "[]"))
        problems = tuple(Diagnostic.from_json(r) for r in records)
        raise InputError(str(error), problems) from None


class How(TypedDict, total=False):
    """How the runs of a job are made.

    Attributes:
        part: Of all runs only each n-th from a number on: the number, n.
        these: Only these, as point and number of the run.
        scattered: In an order that no other process has, since others make the same runs.
        shelved: Stored runs are not kept in memory.
        goes_on: A run that fails is put down in the store, and the others go on.
        again: Runs that failed before are tried again.
        time: The most seconds that a run may take.
        memory: The most bytes that a run may need by estimate.
    """

    part: tuple[int, int] | None
    these: list[tuple[int, int]] | None
    scattered: bool
    shelved: bool
    goes_on: bool
    again: bool
    time: float | None
    memory: int | None


class Job:
    """A loaded and validated scenario, and its runs."""

    def __init__(
        self,
        path: str,
        overrides: list[str],
        sla: list[str],
        seed: int | None,
        runs: int | None,
        jobs: int,
        *,
        ignore_memory: bool = False,
        strict: bool = False,
        engine: str = "express",
        confine: bool = False,
        files: dict[str, bytes] | None = None,
        points: list[int] | None = None,
        edges: bool = False,
        apart: bool = False,
        variant: str | None = None,
        own: Own | None = None,
    ) -> None:
        """Loads and validates; raises `InputError`.

        `own`: what is given of one's own. `points`: only those with these numbers are made; with
        `edges` only the first and those that differ from it in one axis. `apart`: one that needs
        too much memory is no error; its runs fail, and the others go on.
        """
        with _translated():
            self._job = _native.Job(
                *(path, overrides, sla, seed, runs, jobs),
                ignore_memory=ignore_memory,
                strict=strict,
                engine=engine,
                confine=confine,
                files=files or {},
                points=points,
                edges=edges,
                apart=apart,
                variant=variant,
                own=own or {"aqm": {}, "scheduler": {}},
            )

    def hook(self) -> tuple[int, tuple[str, str] | None, int]:
        """Calls of hooks begun and ended, together; the one that runs and of what; the thread."""
        return self._job.hook()

    def extent(self) -> int:
        """How many points the scenario has, whichever of them were made."""
        return self._job.extent()

    def describe(self) -> dict[str, Any]:
        """What was understood of the scenario."""
        parsed: dict[str, Any] = json.loads(self._job.describe())
        return parsed

    def taken_plainly(self) -> dict[str, list[str]]:
        """What the express engine takes one event after the other, and why, for each variant."""
        return dict(self._job.taken_plainly())

    def start(
        self, series: list[int] | None = None, store: str | None = None, **how: Unpack[How]
    ) -> None:
        """Starts the runs in background threads.

        Args:
            series: Runs whose time series are sampled; every run if not given.
            store: Directory of stored runs, which are not made again, and of those that are made.
            how: Which runs are made, and what becomes of those that fail.

        Raises:
            OutputError: If the store can be neither read nor made.
        """
        try:
            self._job.start(series, store, **how)
        except OSError as error:
            msg = f"cannot keep runs in {store}: {error.strerror or error}"
            raise OutputError(msg) from error

    def lacking(
        self, store: str, *, again: bool
    ) -> tuple[list[tuple[int, int]], list[tuple[int, int, str]]]:
        """Point and number of each run that a directory lacks, and of those that failed the cause.

        Raises:
            OutputError: If the directory can be neither read nor made.
        """
        try:
            return self._job.lacking(store, again)
        except OSError as error:
            msg = f"cannot keep runs in {store}: {error.strerror or error}"
            raise OutputError(msg) from error

    def put_failure(self, store: str, point: int, run: int, cause: str) -> None:
        """Puts down in a directory that a run failed."""
        self._job.put_failure(store, point, run, cause)

    def failed(self) -> list[tuple[str, int, str]]:
        """The runs that have failed, and the others went on: point, number, cause."""
        return self._job.failed()

    def progress(self) -> tuple[float, int, int, int, int]:
        """Fraction done, runs done, those of them that were stored, runs in all, events so far."""
        return self._job.progress()

    def store_notes(self) -> list[str]:
        """What was stored and had to be made anew, or could not be stored, in sentences."""
        return self._job.store_notes()

    def cancel(self) -> None:
        """Asks the runs to stop; finished ones stay."""
        self._job.cancel()

    def join(self, seconds: float) -> bool:
        """Waits up to `seconds`; true when all threads have ended."""
        with _hooks():
            return self._job.join(seconds)

    def cast(self, variant: int) -> dict[str, Any]:
        """`flows` (name, class) and `links` of a variant."""
        parsed: dict[str, Any] = json.loads(self._job.cast(variant))
        return parsed

    def loops(self, variant: int) -> list[dict[str, Any]]:
        """The links of a variant that endless TCP connections cross, and what controls them."""
        parsed: list[dict[str, Any]] = json.loads(self._job.loops(variant))
        return parsed

    def arriving(self, variant: int) -> dict[str, Any]:
        """What comes to each port of a variant, and to paths and sessions."""
        parsed: dict[str, Any] = json.loads(self._job.arriving(variant))
        return parsed

    def explain(self, variant: int, run: int, question: dict[str, Any]) -> dict[str, Any]:
        """Repeats one run with a tap and answers a question about its packets."""
        text = json.dumps(question, ensure_ascii=False)
        with _hooks():
            parsed: dict[str, Any] = json.loads(self._job.explain(variant, run, text))
        return parsed

    def check_recording(self, variant: int, selection: dict[str, Any]) -> None:
        """Raises `InputError` if packets cannot be recorded so."""
        try:
            self._job.check_recording(variant, json.dumps(selection, ensure_ascii=False))
        except ValueError as error:
            msg = f"error: {error}"
            raise InputError(msg) from None

    def record(
        self, variant: int, run: int, selection: dict[str, Any], title: str, path: str
    ) -> tuple[int, int, str]:
        """Repeats one run and writes its packets down: packets, those left out, fingerprint."""
        text = json.dumps(selection, ensure_ascii=False)
        with _hooks():
            return self._job.record(variant, run, text, title, path)

    def outcome(self) -> Outcome:
        """What the finished runs gave."""
        return Outcome(self._job.results())

    def stored(self, directory: Path, *, whole: bool, series: list[int] | None) -> Outcome:
        """What the runs gave that are stored in a directory; nothing is run.

        Args:
            directory: The directory.
            whole: Whether all must be there.
            series: Runs whose time series are wanted; every run if not given.

        Raises:
            InputError: If the directory or one of the runs cannot be read.
        """
        try:
            return Outcome(self._job.stored(str(directory), whole, series))
        except (OSError, ValueError) as error:
            msg = f"error: {directory}: {error}"
            raise InputError(msg) from error


def outline(values: array[float], room: int) -> list[int]:
    """Which of the values, in order, show all that can be seen of them in so many points."""
    return _native.Results.outline(values.tobytes(), room)


def extent(values: array[float]) -> tuple[float, float, float] | None:
    """The least, the mean and the largest of the values that are not NaN."""
    return _native.Results.extent(values.tobytes())


def _series(
    curve: tuple[str, int, tuple[str, str, str], tuple[float, float], bytes],
) -> dict[str, Any]:
    variant, run, (where, metric, unit), (start, step), values = curve
    return {
        "variant": variant,
        "run": run,
        "where": where,
        "metric": metric,
        "unit": unit,
        "start": start,
        "step": step,
        "v": array("d", values),
    }


def write_dataset(studies: Sequence[tuple[Job, Path]], path: str) -> tuple[int, int]:
    """Writes the values of stored runs as one table: runs written, runs that are nowhere.

    Args:
        studies: Scenarios, and where their runs are stored.
        path: The file.

    Raises:
        InputError: If a run is damaged, or the studies do not fit into one table.
        OSError: If a directory cannot be read, or the file cannot be written.
    """
    try:
        return _native.write_dataset(
            [(job._job, str(directory)) for job, directory in studies],  # noqa: SLF001
            path,
        )
    except ValueError as error:
        msg = f"error: {error}"
        raise InputError(msg) from error


class Outcome:
    """The measured values of finished runs, each part parsed when it is asked for."""

    def __init__(self, native: _native.Results) -> None:
        """Wraps the core's results."""
        self._native = native

    def part(self, name: str) -> list[dict[str, Any]]:
        """One of `verdicts`, `bounds`, `runs`, `series`, `distributions`, `admission`."""
        if name == "series":
            return [_series(s) for s in self._native.series()]
        parsed: list[dict[str, Any]] = json.loads(getattr(self._native, name)())
        return parsed

    def is_partial(self) -> bool:
        """Whether there are fewer runs than the scenario asks for."""
        return self._native.is_partial()

    def events(self) -> int:
        """The events that the runs took."""
        return self._native.events()

    def arriving(self, variant: int) -> dict[str, Any]:
        """What comes to each port of a variant, and to paths and sessions."""
        parsed: dict[str, Any] = json.loads(self._native.arriving(variant))
        return parsed

    def loops(self, variant: int) -> list[dict[str, Any]]:
        """The links of a variant that endless TCP connections cross, and what controls them."""
        parsed: list[dict[str, Any]] = json.loads(self._native.loops(variant))
        return parsed

    def has_formulas(self, variant: int) -> bool:
        """Whether a variant is small, and has sources that formulas of queues may be for."""
        return self._native.has_formulas(variant)

    def words(self) -> dict[str, Any]:
        """What is said of the results: `conclusion`, `remarks`, `assumptions`."""
        parsed: dict[str, Any] = json.loads(self._native.words())
        return parsed

    def summary(
        self, scopes: list[str], metrics: list[str], names: set[str]
    ) -> list[dict[str, Any]]:
        """Every value with its interval; of some scopes, metrics and names, or of all."""
        parsed: list[dict[str, Any]] = json.loads(self._native.summary(scopes, metrics, names))
        return parsed

    def samples(self, scopes: list[str], metrics: list[str]) -> list[dict[str, Any]]:
        """The value of each run; of some scopes and metrics, where any are given."""
        parsed: list[dict[str, Any]] = json.loads(self._native.samples(scopes, metrics))
        return parsed

    def keep(self, directory: Path) -> None:
        """Stores the runs that a directory lacks."""
        self._native.keep(str(directory))

    def write_json(self, path: str, head: dict[str, Any]) -> None:
        """Writes what people read, after the entries of `head`."""
        self._native.write_json(path, json.dumps(head, ensure_ascii=False))

    def write_parquet(self, path: str) -> None:
        """Writes every value of every run as a tidy table."""
        self._native.write_parquet(path)

    def write_series(self, path: str) -> None:
        """Writes the time series as a table, a row a curve."""
        self._native.write_series(path)
