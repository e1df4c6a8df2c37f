"""`spillgate run --resume`: a run directory says what the command line does not."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from spillgate.cli.parser import build_parser, command_parsers
from spillgate.errors import InputError
from spillgate.rundir import RunDirectory, read_study, runs_of, source_of, stores


def complete(options: argparse.Namespace) -> None:
    """Fills in what follows from `--resume`; raises `InputError`."""
    options.files = None
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
    study = read_study(directory) if directory.is_dir() else {}
    if not study:
        msg = f"error: {directory} was never finished: name the SCENARIO, too, with its options"
        raise InputError(msg)
    source = source_of(directory, study)
    options.scenario, options.files = source.path, source.memory
    if not options.sla:
        options.sla = [directory / f for f in study["sla"]]
    if options.seed is None:
        options.seed = study["seed"]
    if options.engine is None:
        options.engine = study["engine"]
    if options.runs is None:
        options.runs = runs_of(study)
    # The last word is that of the command line.
    given = {text.split("=", 1)[0].strip() for text in options.set}
    given |= {
        f"verdicts.{k}" for k in ("correction", "against") if getattr(options, k) is not None
    }
    before = study["set"]
    options.set = [t for t in before if t.split("=", 1)[0].strip() not in given] + options.set


def note(directory: RunDirectory, options: argparse.Namespace) -> None:
    """Says on standard error which stored runs there are to go on with."""
    if directory.stored and getattr(options, "resume", None) is None:
        left = "of" if directory.path.exists() else "that an unfinished run left for"
        print(
            f"spillgate: taking over {_runs(directory.stored)} {left} {directory.path}",
            file=sys.stderr,
        )
    for path, runs, command in directory.abandoned:
        command = command or f"spillgate run SCENARIO [...] --resume {shlex.quote(str(path))}"
        print(
            f"spillgate: {_runs(runs)} of {path} were never finished: go on with\n    {command}\n"
            f"or remove {path.with_name(f'.{path.name}.spillgate')}",
            file=sys.stderr,
        )


def unsaved(directory: RunDirectory, given: argparse.Namespace, scenario: Path) -> None:
    """Says on standard error that finished runs are kept although the results cannot be saved."""
    if directory.has_runs():
        print(
            "spillgate: the finished runs are kept: go on with\n    "
            f"{command(given, directory.path, scenario)}",
            file=sys.stderr,
        )


_INSTEAD = ("help", "resume", "out", "force")
"""Options that are not repeated: the run directory stands for them."""


def command(given: argparse.Namespace, directory: Path, scenario: Path | None) -> str:
    """The command line that goes on with what a run directory has, with all options given.

    Args:
        given: The arguments as they were parsed.
        directory: The run directory.
        scenario: The scenario; none if the directory has all of it.
    """
    named = [] if scenario is None else [str(scenario)]
    words = ["spillgate", given.command, *named, *repeated(given), "--resume", str(directory)]
    return shlex.join(words)


def rest(given: argparse.Namespace, directory: RunDirectory, scenario: Path) -> str:
    """The command line for the runs that a saved, interrupted study lacks."""
    path = directory.path
    try:
        stores(path)
    except InputError:
        # There is nothing to go on with.
        words = ["spillgate", given.command, str(scenario), *repeated(given), "--out", str(path)]
        return shlex.join([*words, "--force"])
    return command(given, path, None)


def repeated(given: argparse.Namespace) -> list[str]:
    """The options of `spillgate run` or `sweep` that differ from their defaults, as words."""
    parser = build_parser(given.command)
    actions = dict(command_parsers(parser))[given.command]._actions  # noqa: SLF001
    options = [a for a in actions if a.option_strings]
    return [w for a in options if a.dest not in _INSTEAD for w in _words(a, options, given)]


def _words(
    action: argparse.Action, options: list[argparse.Action], given: argparse.Namespace
) -> Iterator[str]:
    value, flag = getattr(given, action.dest), action.option_strings[-1]
    if value == action.default:
        return
    if action.nargs == 0:
        if value == action.const:
            yield flag
        return
    # What another option says with a constant of its own is said by that one.
    if any(a.dest == action.dest and a.nargs == 0 and a.const == value for a in options):
        return
    several = isinstance(action, argparse._AppendAction)  # noqa: SLF001
    for one in value if several else [value]:
        text = ",".join(map(str, one)) if isinstance(one, list) else str(one)
        # A value that begins with a dash would be taken for an option.
        yield from (f"{flag}={text}",) if text.startswith("-") else (flag, text)


def _runs(number: int) -> str:
    return f"{number} stored run{'s' if number != 1 else ''}"
