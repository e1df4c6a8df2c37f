"""`spillgate suite`."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.text import Text

from spillgate.cli import INTERRUPTED, resuming
from spillgate.cli.machine import write_json
from spillgate.cli.progress import LINE_EVERY_S, describe
from spillgate.cli.text import console, count, fresh, item, show, table
from spillgate.errors import InputError
from spillgate.own import named as own_classes
from spillgate.run import Interrupted, Progress
from spillgate.rundir import RUNS, RunDirectory, default_directory
from spillgate.suites import SuiteResults, named, suite, suites

if TYPE_CHECKING:
    from spillgate.cli.signals import Stop
    from spillgate.own import Library

LIST = "list"
"""What stands in place of a name to see all suites."""

_KEY = 2
"""Measures of a section that the terminal shows unless all are asked for."""


def run(options: argparse.Namespace) -> int:
    """Runs a suite; status 0 whatever is measured, as nothing is required."""
    if options.suite == LIST:
        _list()
        return 0
    chosen = named(options.suite)
    aqm, own = compared(options.aqm)
    chosen.chosen(options.section)
    if options.runs is not None and options.runs < 1:
        msg = f"error: --runs must be at least 1, not {options.runs}"
        raise InputError(msg)
    directory = _directory(options)
    again = _again(options, directory.path)
    directory.remember(again)
    stop: Stop = options.stop
    try:
        with stop.raising():
            found = suite(
                options.suite,
                aqm=aqm,
                tcp=_split(options.tcp),
                own=own,
                sections=options.section,
                quick=options.quick,
                runs=options.runs,
                seed=1 if options.seed is None else options.seed,
                jobs=options.jobs,
                store=directory.store,
                progress=None if options.quiet else _progress(),
            )
        with directory.filling() as temporary:
            from spillgate.report.suite import save

            save(found, temporary, options.argv)
    except Interrupted:
        if directory.has_runs():
            print(f"spillgate: finished runs are kept; the rest: {again}", file=sys.stderr)
        return INTERRUPTED
    finally:
        directory.discard()
    if options.format == "json":
        write_json(found.to_dict())
        return 0
    _print(found, directory.path, options)
    return 0


def _directory(options: argparse.Namespace) -> RunDirectory:
    if options.out is None:
        return RunDirectory.fresh(default_directory(f"suite-{options.suite}"))
    before = [options.out / RUNS] if (options.out / RUNS).is_dir() else []
    directory = RunDirectory(options.out, force=options.force, take=before)
    if not options.quiet:
        resuming.note(directory, options)
    return directory


def compared(texts: Sequence[str]) -> tuple[list[str], dict[str, type | Library]]:
    """Names of mechanisms, and the AQMs of one's own among them.

    Args:
        texts: Each one or several of `NAME`, `NAME=MODULE:CLASS` and `NAME=LIBRARY.so`, with
            commas between.

    Raises:
        InputError: If there is no such module or class.

    Example:
        >>> compared(["codel,pie", "red"])
        (['codel', 'pie', 'red'], {})
    """
    names: list[str] = []
    own: dict[str, type | Library] = {}
    for text in _split(texts):
        if "=" in text or ":" in text:
            found = own_classes([text])
            names += found
            own |= found
        else:
            names.append(text)
    return names, own


def _split(texts: Sequence[str]) -> list[str]:
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def _again(options: argparse.Namespace, path: Path) -> str:
    """The command line that goes on, if this is interrupted."""
    words = ["spillgate", "suite", options.suite]
    for name in ("aqm", "tcp", "section"):
        for text in getattr(options, name):
            words += [f"--{name}", text]
    words += ["--quick"] if options.quick else []
    for name in ("seed", "runs"):
        value = getattr(options, name)
        words += [] if value is None else [f"--{name}", str(value)]
    return shlex.join([*words, "--out", str(path)])


def _progress() -> Callable[[str, Progress], None]:
    """Says now and then on standard error which section is run."""
    last = time.monotonic()

    def report(section: str, p: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_EVERY_S:
            last = time.monotonic()
            line = f"section {section}: {p.fraction:4.0%} {describe(p)}"
            print(line, file=sys.stderr, flush=True)

    return report


def _list() -> None:
    made = table()
    for heading in ("suite", "compares", "sections"):
        made.add_column(heading)
    made.add_column("what it is")
    for name, of in suites().items():
        what = f"{of.document}: {of.title}" if of.document else of.title
        kind = "--aqm" if of.kind == "aqm" else "--tcp"
        numbers = f"{len(of.runnable)} of {len(of.sections)}"
        made.add_row(*map(Text, (name, kind, numbers, what)))
    show(console(), made)


def _print(found: SuiteResults, path: Path, options: argparse.Namespace) -> None:
    from spillgate.report.suite import cells

    out = console()
    made = table()
    for heading in ("section", "case", "measured"):
        made.add_column(heading, overflow="fold")
    for of in found.compared:
        made.add_column(of, justify="right", overflow="fold")
    above: tuple[str, ...] = ()
    for done, measure, case, intervals in found.rows():
        if not options.all and measure not in done.section.measures[:_KEY]:
            continue
        unit, texts = cells(measure, intervals)
        names = (done.section.number, case, f"{measure.short} ({unit})" if unit else measure.short)
        made.add_row(*map(Text, (*fresh(names, above), *texts)))
        above = names
        if measure == done.section.graded and (grades := done.grades(case, found.compared)):
            made.add_row(*map(Text, ("", "", "grade", *grades)))
    if not options.quiet:
        show(out, made)
        out.print()
    left = [s for s in found.suite.sections if s.scenario is None]
    if left and not options.section and not options.quiet:
        out.print(Text(f"Not run: {count(len(left), 'section')}", "bold"))
        for s in left:
            item(out, f"{s.number} {s.title}: {s.left_out}")
        out.print()
    if found.quick:
        out.print("Quick: few and short runs, not to be relied on.")
    out.print(
        Text.assemble(("Tables, figures and reports ", "bold"), f"in {path / 'index.html'}"),
        overflow="fold",
    )
