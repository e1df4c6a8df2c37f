"""`spillgate sweep`: limits of runs, parts of a study, and runs that could not be made."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from spillgate.cli import INTERRUPTED
from spillgate.cli.progress import duration
from spillgate.cli.source import source
from spillgate.errors import InputError
from spillgate.run import Elsewhere, Failed, Limits, Progress, Simulation
from spillgate.scenario import open_job, override_texts

if TYPE_CHECKING:
    from spillgate import _engine
    from spillgate.cli.signals import Stop
    from spillgate.cluster import Cluster

UNDECIDED = 3
_ESTIMATED, _ASKED = 1000, 100_000
"""Runs from which on the time is estimated first, and must be confirmed."""

_NAMED = 10
"""Failed runs that are named one by one."""


def limits(options: argparse.Namespace) -> Limits | None:
    """What one run may take; none for `spillgate run`, where every run must be made."""
    if options.command != "sweep":
        return None
    memory = None if options.memory is None else int(options.memory * 1e6)
    return Limits(options.timeout, memory, options.retry_failed)


@contextmanager
def workers(options: argparse.Namespace) -> Iterator[Cluster | None]:
    """The workers that `--on` names; none for threads."""
    if options.on is None:
        yield None
        return
    from spillgate.cluster import connected

    with connected(options.on, options.jobs) as cluster:
        yield cluster


def stopping(simulation: Simulation, cluster: Cluster | None) -> Callable[[], None]:
    """What a request to stop does."""

    def stop() -> None:
        simulation.stop()
        if cluster is not None:
            cluster.stop()

    return stop


def elsewhere(
    cluster: Cluster | None,
    simulation: Simulation,
    options: argparse.Namespace,
    progress: Callable[[Progress], None] | None,
) -> Elsewhere | None:
    """Makes runs on workers; none for threads."""
    if cluster is None:
        return None
    from spillgate.cluster import portable

    def fill(
        job: _engine.Job,
        opened: partial[_engine.Job],
        store: Path,
        series: list[int] | None,
    ) -> None:
        opened = portable(opened, simulation.description.files)
        limits_ = limits(options) or Limits()
        cluster.fill(job, opened, store, series, limits=limits_, progress=progress)

    return fill


def ask(pilot: Callable[[], float | None], options: argparse.Namespace, runs: int) -> None:
    """Says how long a study will take; raises `InputError` if that must be confirmed.

    Args:
        pilot: Finds the seconds that a run takes one thread; none if it cannot tell.
        options: The arguments.
        runs: How many runs there are.
    """
    if options.command != "sweep" or runs < _ESTIMATED or (options.quiet and runs < _ASKED):
        return
    seconds, threads = pilot(), options.jobs or os.cpu_count() or 1
    takes = "that takes longer than can be estimated"
    if seconds is not None and options.on is not None:
        takes = f"about {duration(seconds * runs)} of one worker's time"
    elif seconds is not None:
        takes = f"about {duration(seconds * runs / threads)} with {threads} threads"
    if runs >= _ASKED and not options.yes:
        msg = f"error: {runs:,} runs: {takes}; add --yes to start"
        raise InputError(msg)
    print(f"spillgate: {runs:,} runs: {takes}", file=sys.stderr)


def part(options: argparse.Namespace) -> int:
    """`spillgate sweep --shard`: makes some of the runs, and no results."""
    from spillgate.cli import progress
    from spillgate.study import Part

    store: Path | None = options.store
    if store is None:
        msg = "error: --shard makes no results: say with --store DIR where its runs are kept"
        raise InputError(msg)
    if options.resume is not None or options.out is not None:
        msg = "error: --shard makes no run directory: leave out --out and --resume"
        raise InputError(msg)
    if options.scenario is None:
        msg = "error: name the SCENARIO of which --shard is a part"
        raise InputError(msg)
    given = source(options)
    given.own.check_versions()
    opened = partial(
        open_job,
        given,
        seed=options.seed,
        runs=options.runs,
        jobs=options.jobs,
        set=override_texts(options.set, options.correction, options.against),
        sla=options.sla,
        ignore_memory=options.ignore_memory,
        strict=options.strict,
        engine=options.engine or "express",
        confine=options.confine,
        apart=True,
    )
    if options.on is not None:
        msg = "error: --shard runs here: leave out --on, which spreads a whole study"
        raise InputError(msg)
    number, of = options.shard
    study = Part(opened, number, of)
    ask(study.pilot, options, study.runs)
    stop: Stop = options.stop
    with (
        stop.calling(study.stop),
        progress.shown(study.description, quiet=options.quiet, kind=options.progress) as report,
    ):
        made = study.run(store, limits=limits(options), series=options.series, progress=report)
    for note in (*made.notes, *made.refused):
        print(f"spillgate: {note}", file=sys.stderr)
    say_failed(made.failed, options)
    if not options.quiet:
        print(
            f"part {number} of {of}: {made.done} of {made.runs} runs are in {store}, "
            f"{made.done - made.kept} of them new"
        )
    if made.interrupted:
        print("spillgate: interrupted: the same command goes on", file=sys.stderr)
        return INTERRUPTED
    if made.done + len(made.failed) < made.runs and not made.refused:
        # They could not be stored, and why was said.
        return 2
    return UNDECIDED if made.failed or made.refused else 0


def say_failed(failed: Sequence[Failed], options: argparse.Namespace) -> None:
    """Says on standard error which runs could not be made, and why."""
    if not failed:
        return
    runs = "1 run" if len(failed) == 1 else f"{len(failed)} runs"
    print(f"spillgate: {runs} could not be made:", file=sys.stderr)
    for one in failed[:_NAMED]:
        print(f"    {one}", file=sys.stderr)
    if len(failed) > _NAMED:
        print(f"    and {len(failed) - _NAMED} more", file=sys.stderr)
    if not options.retry_failed:
        print("    --retry-failed tries them again", file=sys.stderr)


def status(of_results: int, failed: Sequence[Failed]) -> int:
    """The exit status: of what is not whole nothing is decided but that it fails."""
    return UNDECIDED if failed and of_results == 0 else of_results
