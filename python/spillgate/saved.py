"""Results of stored runs: a run directory is read, and nothing is run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from spillgate import _engine
from spillgate.errors import InputError
from spillgate.result import Results
from spillgate.run import run
from spillgate.rundir import RUNS, read_study, runs_of, source_of
from spillgate.scenario import Description, Unmodelled, open_job
from spillgate.source import Source


@dataclass(frozen=True)
class Opened:
    """A run directory whose runs have not been read.

    Attributes:
        study: What its manifest says.
        source: Its copy of the scenario with the files.
        job: The scenario as it was run.
    """

    study: dict[str, Any]
    source: Source
    job: _engine.Job


def opened(where: Path, *, confine: bool) -> Opened:
    """Opens a run directory; raises `InputError` as `load` does."""
    study = read_study(where)
    source = source_of(where, study)
    job = open_job(
        source,
        seed=study.get("seed"),
        runs=runs_of(study),
        set=study.get("set", []),
        sla=[where / file for file in study.get("sla", [])],
        engine=study.get("engine", "express"),
        ignore_memory=True,
        confine=confine,
    )
    return Opened(study, source, job)


def load(directory: str | Path, *, confine: bool = False) -> Results:
    """Reads the results that a run directory holds: all that `run` gave.

    They are made of its stored runs, of this version of Spillgate or of an earlier one, and of its
    copy of the scenario. All else in it is for others, and not read.

    Args:
        directory: A directory made by `spillgate run` or `Results.save`.
        confine: Whether files outside the directory are refused.

    Raises:
        InputError: If it is no run directory, or a run or the scenario is not as it was written.
    """
    where = Path(directory)
    found = opened(where, confine=confine)
    study, job = found.study, found.job
    series = study.get("series", [0])
    series = None if series == "all" else series
    interrupted = study.get("interrupted", False)
    try:
        values = job.stored(where / RUNS, whole=not interrupted, series=series)
    except InputError as error:
        msg = f"{error}\n    hint: `spillgate run --resume {where}` makes what is missing anew"
        raise InputError(msg) from error
    described = replace(Description.from_json(job.describe()), memory_bytes=0, jobs=0)
    if study:
        described = replace(
            described,
            outside=tuple(study["outside"]),
            # They name the files that were read.
            warnings=tuple(study["warnings"]),
            unmodelled=tuple(Unmodelled(**line) for line in study["unmodelled"]),
        )
    return Results(
        described,
        values,
        source=found.source,
        interrupted=interrupted,
        wall_s=study.get("wall_s", 0.0),
        engine=study.get("engine", "express"),
        overrides=study.get("set", []),
        sla=study.get("sla", []),
        series=series,
        store=where / RUNS,
        again=partial(run, confine=confine),
    )
