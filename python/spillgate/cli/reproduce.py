"""`spillgate reproduce`."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from spillgate.cli import resuming
from spillgate.cli.machine import write_json
from spillgate.cli.progress import LINE_EVERY_S, describe, duration
from spillgate.cli.streams import ungated
from spillgate.cli.text import console, item, show, table
from spillgate.errors import InputError
from spillgate.rundir import RUNS, RunDirectory, default_directory
from spillgate.visible import visible

if TYPE_CHECKING:
    from spillgate.run import Progress
    from spillgate_papers.frame import Frame
    from spillgate_papers.lab import Report
    from spillgate_papers.model import Reproduction

_GROUP = "spillgate.papers"
"""The entry points of papers: a name, and its `Frame`."""

_CLEAR = "\033[K"
"""Erases the rest of a terminal's line."""

_COLORS = {
    "reproduced": "green",
    "shape_only": "yellow",
    "not_reproduced": "red",
    "undecided": "cyan",
}


def installed() -> dict[str, EntryPoint]:
    """The papers that can be reproduced here, by name."""
    return {e.name: e for e in entry_points(group=_GROUP)}


def reproduce(options: argparse.Namespace) -> int:
    """Runs a paper's experiment, or lists the papers; status 0 whatever the verdicts are."""
    papers = installed()
    if not papers:
        msg = (
            "error: no papers are installed; they are the distribution spillgate-papers "
            "(in a clone of Spillgate: pip install ./papers)"
        )
        raise InputError(msg)
    if options.list:
        _list(papers)
        return 0
    if options.paper not in papers:
        what = f"there is no paper {options.paper!r}" if options.paper else "name a paper"
        msg = f"error: {what}; there are {', '.join(sorted(papers))}"
        raise InputError(msg)
    if options.runs is not None and options.runs < 2:
        msg = f"error: --runs must be at least 2 (an interval needs two), not {options.runs}"
        raise InputError(msg)
    # That nothing can draw the figures is said before anything runs.
    import spillgate.plot  # noqa: F401

    paper: Frame = papers[options.paper].load()
    before = [options.out / RUNS] if options.out and (options.out / RUNS).is_dir() else []
    directory = (
        RunDirectory(options.out, force=options.force, take=before)
        if options.out
        else RunDirectory.fresh(default_directory(f"reproduce-{options.paper}"))
    )
    if not options.quiet:
        resuming.note(directory, options)
    again = _again(options, directory.path)
    directory.remember(again)
    begun, worked = time.monotonic(), time.process_time()
    try:
        with _progress(quiet=options.quiet) as report:
            found = paper.reproduce(
                directory.store.parent / "system",
                quick=options.quick,
                seed=1 if options.seed is None else options.seed,
                runs=options.runs,
                jobs=options.jobs,
                report=report,
                store=directory.store,
            )
        spent = time.monotonic() - begun, time.process_time() - worked
        with directory.filling() as temporary:
            found.write(temporary, options.argv, *spent)
    except KeyboardInterrupt:
        if directory.has_runs():
            print(f"spillgate: finished runs are kept; the rest: {again}", file=sys.stderr)
        raise
    finally:
        directory.discard()
    if options.format == "json":
        write_json(found.document())
    else:
        _print(found, directory.path, spent, brief=options.quiet)
    return 0


def _again(options: argparse.Namespace, path: Path) -> str:
    """The command line that goes on, if this is interrupted."""
    words = ["spillgate", "reproduce", options.paper, *(["--quick"] if options.quick else ())]
    for name in ("seed", "runs"):
        value = getattr(options, name)
        words += [] if value is None else [f"--{name}", str(value)]
    return shlex.join([*words, "--out", str(path)])


def _list(papers: Mapping[str, EntryPoint]) -> None:
    made = table()
    made.add_column()
    made.add_column()
    made.show_header = False
    for name in sorted(papers):
        made.add_row(Text(name), Text(papers[name].load().texts.about))
    show(console(), made)


@contextmanager
def _progress(*, quiet: bool) -> Iterator[Report | None]:
    """Gives a function that shows progress until the block ends; none if quiet."""
    last = time.monotonic()
    live = sys.stderr.isatty()
    terminal = ungated(sys.stderr)

    def report(batch: str, p: Progress) -> None:
        nonlocal last
        if time.monotonic() - last < (0.2 if live else LINE_EVERY_S):
            return
        last = time.monotonic()
        line = f"{batch}: {p.fraction:4.0%} {describe(p)}"
        if live:
            print(f"\r{_CLEAR}{visible(line[:79])}", end="", file=terminal, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    try:
        yield None if quiet else report
    finally:
        if live and not quiet:
            print(f"\r{_CLEAR}", end="", file=terminal, flush=True)


def _print(
    found: Reproduction, directory: Path, spent: tuple[float, float], *, brief: bool
) -> None:
    out = console()
    if not brief:
        out.print(Text(found.title, "bold"))
        length = (
            ", quick: few and short runs, verdicts not to be relied on" if found.lab.quick else ""
        )
        out.print(Text(f"{found.lab.runs} runs, seed {found.lab.seed}{length}"))
        out.print()
    made = table()
    for heading in ("claim", "the paper says", "paper", "ours", "verdict"):
        made.add_column(heading, justify="right" if heading in ("paper", "ours") else "left")
    for j in found.claims:
        made.add_row(
            Text(j.claim.id),
            Text.assemble(f"{j.claim.statement}\n", (j.claim.measure, "dim")),
            Text(j.stated),
            Text(str(j.ours)),
            Text(j.mark, _COLORS[j.verdict]),
        )
    show(out, made)
    counts = {k: sum(j.verdict == k for j in found.claims) for k in _COLORS}
    said = ", ".join(f"{n} {k.replace('_', ' ')}" for k, n in counts.items() if n)
    out.print(Text(f"{said} of {len(found.claims)} claims", "bold"))
    out.print()
    if brief:
        return
    _reasons(out, found)
    wall, cpu = (duration(s) for s in spent)
    out.print(f"{found.lab.packets / 1e6:.3g} M packets in {wall} ({cpu} of processor time)")
    out.print(
        Text.assemble(("Tables and figures ", "bold"), f"in {directory / 'index.html'}"),
        overflow="fold",
    )


def _reasons(out: Console, found: Reproduction) -> None:
    out.print(Text("Why not", "bold"))
    for j in found.claims:
        if j.reason:
            item(out, f"{j.claim.id}: {j.reason}")
    out.print()
    out.print(Text("What the paper leaves silent, our choice, and what others do", "bold"))
    for x in found.assumptions:
        item(out, f"{x.assumption.key}: {x.assumption.value}\n{x.effect}")
    out.print()
