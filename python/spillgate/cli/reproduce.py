"""`spillgate reproduce`."""

from __future__ import annotations

import argparse
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
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
    from spillgate_papers.model import Judged, Reproduction, Section

_GROUP = "spillgate.papers"
"""The entry points of papers: a name, and its `Frame`."""

ALL = "all"
"""Stands for every paper that is installed."""

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
    if options.paper not in (*papers, ALL):
        what = f"there is no paper {options.paper!r}" if options.paper else "name a paper"
        msg = f"error: {what}; there are {', '.join(sorted(papers))}, and {ALL}"
        raise InputError(msg)
    chosen = _chosen(options.set, options.paper)
    if options.search and chosen:
        msg = "error: --search chooses itself: leave --set out"
        raise InputError(msg)
    if options.rivals and (options.search or chosen):
        msg = "error: --rivals is about the paper as chosen: leave --set and --search out"
        raise InputError(msg)
    if options.runs is not None and options.runs < 2:
        msg = f"error: --runs must be at least 2 (an interval needs two), not {options.runs}"
        raise InputError(msg)
    # That nothing can draw the figures is said before anything runs.
    import spillgate.plot  # noqa: F401

    together = options.paper == ALL
    names = sorted(papers) if together else [options.paper]
    frames: list[Frame] = [papers[name].load() for name in names]
    if options.rivals and not together:
        frames[0].compared_with()
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
    made = directory.store.parent
    found: list[Reproduction] = []
    spent: list[tuple[float, float]] = []
    try:
        with _progress(quiet=options.quiet) as report:
            for frame in frames:
                begun, worked = time.monotonic(), time.process_time()
                work = (made / frame.name if together else made) / "system"
                named = partial(_named, report, frame.name) if together and report else report
                found.append(
                    frame.reproduce(
                        work,
                        quick=options.quick,
                        seed=1 if options.seed is None else options.seed,
                        runs=options.runs,
                        jobs=options.jobs,
                        report=named,
                        store=directory.store,
                        set=chosen,
                        search=options.search,
                        rivals=options.rivals and frame.modern is not None,
                    )
                )
                spent.append((time.monotonic() - begun, time.process_time() - worked))
        with directory.filling() as temporary:
            if together:
                found[0].write_together(found, temporary, options.argv, spent)
            else:
                found[0].write(temporary, options.argv, *spent[0])
    except KeyboardInterrupt:
        if directory.has_runs():
            print(f"spillgate: finished runs are kept; the rest: {again}", file=sys.stderr)
        raise
    finally:
        directory.discard()
    if options.format == "json":
        first = found[0]
        write_json(first.document_together(found) if together else first.document())
        return 0
    out = console()
    for r in found:
        _print(out, r, brief=options.quiet or together)
    if not options.quiet:
        _ending(out, found, directory.path, spent)
    return 0


def _named(report: Report, paper: str, batch: str, progress: Progress) -> None:
    report(f"{paper}, {batch}", progress)


def _chosen(texts: Sequence[str], paper: str) -> dict[str, str]:
    """What `--set` says: a label by the key of what a paper leaves silent."""
    if texts and paper == ALL:
        msg = f"error: --set is about one paper: its NAME instead of {ALL}"
        raise InputError(msg)
    found: dict[str, str] = {}
    for text in texts:
        key, equals, label = text.partition("=")
        if not equals:
            msg = f"error: --set {text}: write KEY=CHOICE, as `spillgate reproduce {paper}` lists"
            raise InputError(msg)
        if key in found:
            msg = f"error: --set {key} is given twice"
            raise InputError(msg)
        found[key.strip()] = label.strip()
    return found


def _again(options: argparse.Namespace, path: Path) -> str:
    """The command line that goes on, if this is interrupted."""
    words = ["spillgate", "reproduce", options.paper]
    words += [f"--{flag}" for flag in ("quick", "search", "rivals") if getattr(options, flag)]
    for name in ("seed", "runs"):
        value = getattr(options, name)
        words += [] if value is None else [f"--{name}", str(value)]
    for text in options.set:
        words += ["--set", text]
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


def _print(out: Console, found: Reproduction, *, brief: bool) -> None:
    """The claims of a paper; if not brief also why and how."""
    out.print(Text(found.title, "bold"))
    if not brief:
        length = (
            ", quick: few and short runs, verdicts not to be relied on" if found.lab.quick else ""
        )
        out.print(Text(f"{found.lab.runs} runs, seed {found.lab.seed}{length}"))
        for key, label in found.set.items():
            out.print(Text(f"{key}: {label}"))
    out.print()
    made = table()
    before = {j.claim.id: j for j in found.base}
    chosen = ("as chosen",) if before else ()
    for heading in ("claim", "the paper says", "paper", *chosen, "ours", "verdict"):
        made.add_column(heading, justify="right" if heading in ("paper", "ours") else "left")
    for j in found.claims:
        base = before.get(j.claim.id)
        made.add_row(
            Text(j.claim.id),
            Text.assemble(f"{j.claim.statement}\n", (j.claim.measure, "dim")),
            Text(j.stated),
            *((Text(f"{base.mark}\n{base.ours}", _COLORS[base.verdict]),) if base else ()),
            Text(str(j.ours)),
            Text(j.mark, _COLORS[j.verdict]),
        )
    show(out, made)
    changed = sum(before[j.claim.id].verdict != j.verdict for j in found.claims if before)
    more = f"; {changed} verdict{'s' * (changed != 1)} changed" if before else ""
    out.print(Text(f"{_counts(found.claims)} of {len(found.claims)} claims{more}", "bold"))
    out.print()
    if not brief:
        _reasons(out, found)
    if found.rivals:
        _rivals(out, found.rivals)


def _rivals(out: Console, found: Section) -> None:
    """Mechanisms of today beside the paper's."""
    [of] = found.tables
    out.print(Text(of.title, "bold"))
    made = table()
    for i, heading in enumerate(of.head):
        made.add_column(heading, justify="right" if i else "left", no_wrap=not i)
    for row in of.rows:
        made.add_row(*(Text(str(cell)) for cell in row))
    show(out, made)
    out.print(Text(found.text))
    if of.note:
        out.print(Text(of.note))
    out.print()


def _counts(claims: Sequence[Judged]) -> str:
    counts = {k: sum(j.verdict == k for j in claims) for k in _COLORS}
    return ", ".join(f"{n} {k.replace('_', ' ')}" for k, n in counts.items() if n)


def _ending(
    out: Console, found: Sequence[Reproduction], path: Path, spent: Sequence[tuple[float, float]]
) -> None:
    if len(found) > 1:
        claims = [j for r in found for j in r.claims]
        out.print(Text(f"{_counts(claims)} of {len(claims)} claims of all papers", "bold"))
    wall, cpu = (duration(sum(of)) for of in zip(*spent, strict=True))
    packets = sum(r.lab.packets for r in found)
    out.print(f"{packets / 1e6:.3g} M packets in {wall} ({cpu} of processor time)")
    out.print(
        Text.assemble(("Tables and figures ", "bold"), f"in {path / 'index.html'}"),
        overflow="fold",
    )


def _reasons(out: Console, found: Reproduction) -> None:
    out.print(Text("Why not", "bold"))
    for j in found.claims:
        if j.reason:
            item(out, f"{j.claim.id}: {j.reason}")
    out.print()
    silent = "What the paper leaves silent, our choice, and what others do"
    out.print(Text("Choices that are not ours" if found.base else silent, "bold"))
    for x in found.assumptions:
        item(out, f"{x.assumption.key}: {x.assumption.value}\n{x.effect}")
    out.print()
