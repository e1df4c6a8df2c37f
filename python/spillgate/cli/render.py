"""What `spillgate run` says: tables that fit the width, symbols with words, color only on top."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from spillgate import __commit__, __version__
from spillgate.cli.progress import duration
from spillgate.cli.screen import Part, present
from spillgate.cli.tables import (
    admission_table,
    class_table,
    difference_table,
    input_table,
    node_tables,
    outages,
    tcp_table,
)
from spillgate.cli.text import console, count, item
from spillgate.cli.verdicts import verdict_table, worst_verdicts
from spillgate.metrics import format_value
from spillgate.result import Results
from spillgate.scenario import Description


def results(
    found: Results,
    directory: Path | None,
    figures: Sequence[Path],
    report: Path | None = None,
    *,
    brief: bool = False,
    whole: bool = False,
) -> None:
    """What `spillgate run` says.

    Args:
        found: The results.
        directory: Where they are; none if they could not be saved.
        figures: Figures that were drawn.
        report: The report, if there is one.
        brief: Only the verdicts.
        whole: Everything, not only what fits the screen.
    """
    d, remarks = found.description, found.remarks
    verdicts = Part(
        lambda out: verdict_table(out, found),
        1,
        "verdicts",
        len(found.verdicts),
        lambda out, n: worst_verdicts(out, found, n),
        share=0.65,
    )
    said = Part(
        lambda out: notes(out, d, remarks),
        2,
        "warnings and lines without effect",
        len(d.warnings) + len(remarks) + len(d.unmodelled),
        lambda out, n: notes(out, d, remarks, n),
        share=0.25,
    )
    places = Part(lambda out: _places(out, directory, figures, report))
    parts = [verdicts]
    if not brief:
        tables = _tables(found) if found.runs else ()
        parts = [Part(lambda out: _header(out, found)), *tables, verdicts, said, places]
    rest = f"{report or directory / 'results.json'}, or --all" if directory else "--all"
    present(console(), parts, rest, whole=whole)


def _tables(found: Results) -> Sequence[Part]:
    classes = Part(
        lambda out: class_table(out, found),
        3,
        "classes",
        len({(row.variant, row.name) for row in found.classes()}),
        lambda out, n: class_table(out, found, n),
    )
    # Whole, or not where there is no place for it.
    tables = (
        (tcp_table, 4, "TCP"),
        (admission_table, 4, "admission"),
        (input_table, 6, "packets where they arrive"),
        (node_tables, 6, "nodes and queues"),
        (difference_table, 5, "differences between variants"),
        (outages, 1, "failures"),
    )
    return [
        classes,
        *(
            Part(lambda out, draw=draw: draw(out, found), rank, name)  # type: ignore[misc]
            for draw, rank, name in tables
        ),
    ]


def _places(
    out: Console, directory: Path | None, figures: Sequence[Path], report: Path | None
) -> None:
    if directory is not None:
        out.print(Text.assemble(("Results ", "bold"), f"in {directory}"), overflow="fold")
    if report is not None:
        out.print(Text.assemble(("Report  ", "bold"), f"in {report}"), overflow="fold")
    if figures:
        out.print(Text("Figures", "bold"))
        for figure in figures:
            out.print(Text(f"  {figure}"), overflow="fold")


def _header(out: Console, found: Results) -> None:
    d = found.description
    out.print(Text(d.name or found.scenario_path.name, "bold"))
    campaign = ", ".join(
        (
            f"{d.extent()} × {d.repeated()}"
            + (f" (partial: {found.extent()})" if found.partial else ""),
            count(d.flows, "flow"),
            f"{format_value(d.duration, 's')} measured",
            f"{format_value(d.warmup, 's')} warm-up",
        )
    )
    effort = f"{found.events / 1e6:.3g} M events in {_seconds(found.wall_s)}"
    lines = (
        campaign,
        f"seed {d.seed}, scenario {d.hash}",
        f"{effort}, spillgate {__version__} ({__commit__})",
    )
    for line in lines:
        out.print(Text(line))
    out.print()


def _seconds(wall_s: float) -> str:
    return f"{wall_s:.1f} s" if wall_s < 10 else duration(wall_s)


def notes(
    out: Console, d: Description, remarks: Sequence[str] = (), most: int | None = None
) -> int:
    """Warnings, what the runs gave cause to say, and configuration lines without effect.

    At most so many, the warnings first; returns how many.
    """
    warnings = [f"! {warning}" for warning in (*d.warnings, *remarks)]
    lines = [f"{u.file}:{u.line}: {u.text.strip()} ({u.reason})" for u in d.unmodelled]
    if most is not None:
        warnings, lines = warnings[:most], lines[: max(0, most - len(warnings))]
    for heading, items in (
        ("Warnings", warnings),
        ("Configuration lines without effect", lines),
    ):
        if items:
            out.print(Text(heading, "bold"))
        for one in items:
            item(out, one)
    if warnings or lines:
        out.print()
    return len(warnings) + len(lines)
