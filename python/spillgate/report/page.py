"""Puts the parts of the report together and writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillgate.described import listings
from spillgate.errors import OutputError
from spillgate.nodes import node_rows
from spillgate.report import html
from spillgate.report.admission import admission_figures
from spillgate.report.arrivals import gates
from spillgate.report.delays import delay_figures
from spillgate.report.facts import (
    command,
    parameters,
    provenance,
)
from spillgate.report.outlines import trees
from spillgate.report.sweeps import sweep_figures
from spillgate.report.switches import switch_parts
from spillgate.report.tables import admission_table, class_tables, comparison, loss_table
from spillgate.report.timelines import shown_runs, timeline_figures
from spillgate.report.verdicts import matrix
from spillgate.report.worst import worst_packets
from spillgate.result import Results
from spillgate.tables import outage_table
from spillgate.whole import replacing

if TYPE_CHECKING:
    from spillgate.explain import Explanation

REPORT = "report.html"
"""Name of the report in a run directory."""

_MARK = b'<meta name="generator" content="Spillgate'
"""What every report says near its beginning."""

_NODES = (
    ("profiles", "What was in profile", "Profiles", ("meter", "queue-dscp", "class-dscp")),
    ("nodes", "Nodes that take time to forward", "Nodes", ("node",)),
    ("atm-ports", "Output ports of ATM switches", "ATM switches", ("atm-port",)),
    ("atm-lines", "Lines that circuits of ATM share", "ATM lines", ("atm-line",)),
)
"""Sections with tables of `KINDS`: identifier, heading, name, scopes."""

_FINGERPRINTS = 500
"""Of how many runs the page has the fingerprints."""

_TEMPLATE = Path(__file__).parent / "page.html.j2"


def render(
    results: Results,
    manifest: Mapping[str, Any] | None = None,
    worst: Sequence[Explanation] = (),
) -> str:
    """The report as HTML; the same results and manifest give the same text.

    Args:
        results: What was measured, from `spillgate.run` or `spillgate.load`.
        manifest: Where it comes from, as `manifest.json` says; that of `results` if not given.
        worst: What became of single packets of these results, from `spillgate.explain`.

    Example:
        >>> import spillgate
        >>> from spillgate import report
        >>> results = spillgate.run("examples/first/scenario.yaml", runs=2)
        >>> report.render(results).startswith("<!doctype html>")
        True
    """
    manifest = results.manifest() if manifest is None else manifest
    d = results.description
    classes, tcp = class_tables(results)
    shown, total = trees(results)
    arriving, gate_count = gates(results)
    switches, switch_count = switch_parts(results)
    nodes = [
        (*names, found)
        for *names, scopes in _NODES
        if (found := [t for scope in scopes if (t := node_rows(results, scope))])
    ]
    figures = [
        *sweep_figures(results),
        *delay_figures(results),
        *admission_figures(results),
        *timeline_figures(results),
    ]
    return html.page(
        _TEMPLATE,
        d.name or results.scenario_path.name,
        manifest.get("version", ""),
        d=d,
        interrupted=results.interrupted,
        runs=len(results.runs),
        extent=results.extent(),
        partial=results.partial,
        matrix=matrix(results),
        outages=outage_table(results),
        warnings=[*d.warnings, *results.remarks],
        classes=classes,
        tcp=tcp,
        admission=admission_table(results),
        comparison=comparison(results),
        losses=loss_table(results),
        figures=figures,
        shown_runs=shown_runs(figures),
        worst=worst_packets(worst),
        trees=shown,
        tree_count=total,
        nodes=nodes,
        switched=node_rows(results, "switch"),
        switches=switches,
        switch_count=switch_count,
        gates=arriving,
        gate_count=gate_count,
        parameters=parameters(d),
        listings=listings(d),
        assumptions=results.assumptions,
        unmodelled=d.unmodelled,
        provenance=provenance(manifest, d),
        digests=[(r.variant, r.run, r.digest) for r in results.runs[:_FINGERPRINTS]],
        command=command(manifest, d),
    )


def write(
    results: Results,
    path: str | Path,
    manifest: Mapping[str, Any] | None = None,
    *,
    force: bool = False,
    worst: Sequence[Explanation] = (),
) -> Path:
    """Writes the report; an earlier report in its place is replaced, nothing else is.

    Args:
        results: What was measured.
        path: The file to write.
        manifest: As for `render`.
        force: Whether a file that is no report is replaced too.
        worst: As for `render`.

    Returns:
        The file.

    Raises:
        OutputError: If something else is there or the file cannot be written; nothing is then
            changed.
    """
    target = Path(path)
    text = render(results, manifest, worst)
    try:
        if target.is_dir():
            msg = f"{target} is a directory; name the file to write"
            raise OutputError(msg)
        if target.exists() and not force and not _is_report(target):
            msg = f"{target} exists and is no report; choose another -o or add --force"
            raise OutputError(msg)
        with replacing(target) as temporary:
            temporary.write_bytes(text.encode())
    except OSError as error:
        msg = f"cannot write the report to {target}: {error.strerror or error}"
        raise OutputError(msg) from error
    return target


def _is_report(path: Path) -> bool:
    with path.open("rb") as file:
        return _MARK in file.read(1024)
