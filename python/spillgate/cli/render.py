"""What `spillgate run` says: tables that fit the width, symbols with words, color only on top."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from spillgate import __commit__, __version__
from spillgate.cli.admissions import admission_table
from spillgate.cli.progress import duration
from spillgate.cli.tables import (
    class_table,
    difference_table,
    input_table,
    node_table,
    tcp_table,
)
from spillgate.cli.text import console, count, item
from spillgate.cli.verdicts import verdict_table
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
) -> None:
    """Everything that `spillgate run` says."""
    out = console()
    if not brief:
        _header(out, found)
        if found.runs:
            class_table(out, found)
            tcp_table(out, found)
            admission_table(out, found)
            input_table(out, found)
            node_table(out, found)
            difference_table(out, found)
    verdict_table(out, found)
    if brief:
        return
    notes(out, found.description, found.remarks)
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
            f"{d.extent()} × {count(d.runs, 'run')}"
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


def notes(out: Console, d: Description, remarks: Sequence[str] = ()) -> None:
    """Warnings, what the runs gave cause to say, and configuration lines without effect."""
    if d.warnings or remarks:
        out.print(Text("Warnings", "bold"))
        for warning in (*d.warnings, *remarks):
            item(out, f"! {warning}")
    if d.unmodelled:
        out.print(Text("Configuration lines without effect", "bold"))
        for u in d.unmodelled:
            item(out, f"{u.file}:{u.line}: {u.text.strip()} ({u.reason})")
    if d.warnings or remarks or d.unmodelled:
        out.print()
