"""`spillgate run --resume`: a run directory says what the command line does not."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from spillgate.errors import InputError
from spillgate.rundir import MANIFEST, RunDirectory, check_intact, read_manifest, stores


def complete(options: argparse.Namespace) -> None:
    """Fills in what follows from `--resume`; raises `InputError`."""
    if options.resume is None:
        if options.scenario is None:
            msg = (
                "usage: spillgate run SCENARIO [...], or spillgate run --resume DIR [...]\n"
                "error: name a SCENARIO, or a run directory with --resume"
            )
            raise InputError(msg)
        return
    stores(options.resume)
    if options.out is None:
        options.out, options.force = options.resume, True
    if options.scenario is not None:
        return
    directory: Path = options.resume
    if not (directory / MANIFEST).is_file():
        msg = f"error: {directory} was never finished: name the SCENARIO, too, with its options"
        raise InputError(msg)
    manifest = read_manifest(directory)
    check_intact(directory, manifest, (manifest["scenario"], *manifest["files"]))
    options.scenario = directory / manifest["scenario"]
    required: list[str] = manifest.get("sla", [])
    if missing := [
        f for f in manifest["files"] if f not in manifest.get("sla", ()) and not _in(directory, f)
    ]:
        msg = (
            f"error: {directory} has no copy of {', '.join(missing)}, which lay outside the "
            "scenario's folder: name the SCENARIO, too, with its options"
        )
        raise InputError(msg)
    if not options.sla:
        if lost := [f for f in required if not _in(directory, f)]:
            msg = (
                f"error: {directory} has no copy of {', '.join(lost)}, which lay outside the "
                "scenario's folder: name the requirements with --sla"
            )
            raise InputError(msg)
        options.sla = [directory / f for f in required]
    if options.seed is None:
        options.seed = manifest["seed"]
    if options.runs is None:
        options.runs = max(1, manifest["runs_requested"] // len(manifest["variants"]))
    # The last word is that of the command line.
    given = {text.split("=", 1)[0].strip() for text in options.set}
    given |= {
        f"verdicts.{k}" for k in ("correction", "against") if getattr(options, k) is not None
    }
    before = manifest.get("set", ())
    options.set = [t for t in before if t.split("=", 1)[0].strip() not in given] + options.set


def _in(directory: Path, name: str) -> bool:
    where = (directory / name).resolve()
    return where.is_relative_to(directory.resolve()) and where.is_file()


def note(directory: RunDirectory, options: argparse.Namespace) -> None:
    """Says on standard error which stored runs there are to go on with."""
    if directory.stored and options.resume is None:
        print(
            f"spillgate: taking over {_runs(directory.stored)} that an unfinished run left for "
            f"{directory.path}",
            file=sys.stderr,
        )
    for path, runs in directory.abandoned:
        print(
            f"spillgate: {_runs(runs)} of {path} were never finished: go on with 'spillgate run "
            f"SCENARIO --resume {shlex.quote(str(path))}', or remove "
            f"{path.with_name(f'.{path.name}.spillgate')}",
            file=sys.stderr,
        )


def unsaved(directory: RunDirectory, options: argparse.Namespace) -> None:
    """Says on standard error that finished runs are kept although the results cannot be saved."""
    if directory.has_runs():
        path = shlex.quote(str(directory.path))
        print(
            f"spillgate: the finished runs are kept: go on with 'spillgate run "
            f"{shlex.quote(str(options.scenario))} --resume {path}'",
            file=sys.stderr,
        )


def _runs(number: int) -> str:
    return f"{number} stored run{'s' if number != 1 else ''}"
