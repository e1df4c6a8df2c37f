"""Results of stored runs: a run directory is read, and nothing is run."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from spillgate.errors import InputError
from spillgate.result import Results
from spillgate.run import run
from spillgate.rundir import RUNS, STORED, read_manifest, runs_of, source_of
from spillgate.scenario import Description, Unmodelled, open_job


def load(directory: str | Path, *, confine: bool = False) -> Results:
    """Reads the results that a run directory holds: all that `run` gave.

    They are made of its stored runs, of this version of Spillgate or of an earlier one, and of its
    copy of the scenario. `results.json`, the tables and the report are for others, and not read.

    Args:
        directory: A directory made by `spillgate run` or `Results.save`.
        confine: Whether files outside the directory are refused.

    Raises:
        InputError: If it is no run directory of this version, or a run, the scenario or the
            manifest is not as it was written.
    """
    where = Path(directory)
    manifest = read_manifest(where)
    source = source_of(where, manifest)
    job = open_job(
        source,
        seed=manifest["seed"],
        runs=runs_of(manifest),
        set=manifest["set"],
        sla=[where / file for file in manifest["sla"]],
        engine=manifest["engine"],
        ignore_memory=True,
        confine=confine,
    )
    series = None if manifest["series"] == "all" else manifest["series"]
    try:
        values = job.stored(where / RUNS, manifest[STORED], series)
    except InputError as error:
        msg = f"{error}\n    hint: `spillgate run --resume {where}` makes what is missing anew"
        raise InputError(msg) from error
    try:
        described = replace(
            Description.from_json(job.describe()),
            memory_bytes=0,
            jobs=0,
            outside=tuple(manifest["outside"]),
            # They name the files that were read.
            warnings=tuple(manifest["warnings"]),
            unmodelled=tuple(Unmodelled(**line) for line in manifest["unmodelled"]),
        )
    except TypeError as error:
        msg = f"error: {where} is no complete run directory: {error}"
        raise InputError(msg) from error
    return Results(
        described,
        values,
        source=source,
        interrupted=manifest["interrupted"],
        wall_s=manifest["wall_s"],
        engine=manifest["engine"],
        overrides=manifest["set"],
        sla=manifest["sla"],
        series=series,
        store=where / RUNS,
        again=partial(run, confine=confine),
    )
