"""Progress on standard error: a bar on a terminal, a line now and then elsewhere, or JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from spillgate.cli.streams import ungated
from spillgate.run import Progress
from spillgate.scenario import Description
from spillgate.visible import visible

LINE_EVERY_S = 5.0
JSON_EVERY_S = 1.0


@contextmanager
def shown(
    described: Description, *, quiet: bool = False, kind: str = "text"
) -> Iterator[Callable[[Progress], None] | None]:
    """Gives a function that shows progress until the block ends; none if quiet.

    `kind`: `text`, or `json` for one JSON object a line, for programs, however quiet.
    """
    if kind == "json":
        yield _objects()
    elif quiet:
        yield None
    elif sys.stderr.isatty():
        with _bar(described) as report:
            yield report
    else:
        yield _lines()


@contextmanager
def _bar(described: Description) -> Iterator[Callable[[Progress], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        # No markup: a title may contain brackets.
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[state]}"),
    )
    with Bar(*columns, console=Console(file=ungated(sys.stderr)), transient=True) as bar:
        task = bar.add_task(visible(described.name) or "running", total=1.0, state="")

        def report(p: Progress) -> None:
            bar.update(task, completed=p.fraction, state=describe(p))

        yield report


def _lines() -> Callable[[Progress], None]:
    last = time.monotonic()

    def report(p: Progress) -> None:
        nonlocal last
        if time.monotonic() - last >= LINE_EVERY_S:
            last = time.monotonic()
            print(f"{p.fraction:4.0%} {describe(p)}", file=sys.stderr, flush=True)

    return report


def _objects() -> Callable[[Progress], None]:
    last = -JSON_EVERY_S

    def report(p: Progress) -> None:
        nonlocal last
        if p.fraction < 1.0 and time.monotonic() - last < JSON_EVERY_S:
            return
        last = time.monotonic()
        left = p.remaining_s
        said = {
            "fraction": round(p.fraction, 6),
            "runs": p.runs,
            "runs_done": p.runs_done,
            "runs_stored_before": p.runs_kept,
            "events": p.events,
            "elapsed_s": round(p.elapsed_s, 3),
            "remaining_s": None if left is None else round(left, 3),
        }
        print(json.dumps(said), file=sys.stderr, flush=True)

    return report


def describe(p: Progress) -> str:
    """Runs done, pace and remaining time as text."""
    pace = p.events / p.elapsed_s / 1e6 if p.elapsed_s > 0 else 0.0
    kept = f" ({p.runs_kept} stored)" if p.runs_kept else ""
    left = p.remaining_s
    eta = "" if left is None or p.fraction >= 1.0 else f", {duration(left)} left"
    return f"{p.runs_done} of {p.runs} runs{kept}, {pace:.1f} M events/s{eta}"


def duration(seconds: float) -> str:
    """A rough length of time.

    Example:
        >>> duration(4.2), duration(95), duration(7300)
        ('4 s', '1 min 35 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
