"""Puts the parts of the report together and writes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from spillgate.described import listings
from spillgate.errors import OutputError
from spillgate.nodes import node_rows
from spillgate.proofs import unproven
from spillgate.report import html
from spillgate.report.admission import admission_figures
from spillgate.report.arrivals import gates
from spillgate.report.delays import delay_figures
from spillgate.report.embedded import embedded
from spillgate.report.facts import (
    command,
    parameters,
    provenance,
)
from spillgate.report.maps import pass_shares, verdict_maps
from spillgate.report.outlines import trees
from spillgate.report.standing import standing, tradeoff_figures
from spillgate.report.study import MOST_POINTS, Study, tallied
from spillgate.report.svg import STYLES
from spillgate.report.switches import switch_parts
from spillgate.report.tables import admission_table, class_tables, comparison, loss_table
from spillgate.report.timelines import shown_runs, timeline_figures
from spillgate.report.verdicts import MOST_UNPROVEN, matrix
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
_STUDY = Path(__file__).parent / "study.html.j2"


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
    values = _shared(results, manifest, worst)
    if d.axes:
        study = Study.of(results)
        values |= _of_study(study)
        template, also = _STUDY, "study"
    else:
        values |= _of_scenario(results)
        template, also = _TEMPLATE, ""
    title = d.name or results.scenario_path.name
    return html.page(template, title, manifest.get("version", ""), also=also, **values)


def _shared(
    results: Results, manifest: Mapping[str, Any], worst: Sequence[Explanation]
) -> dict[str, object]:
    """What both kinds of pages have."""
    d = results.description
    shown, total = trees(results)
    arriving, gate_count = gates(results)
    switches, switch_count = switch_parts(results)
    nodes = [
        (*names, found)
        for *names, scopes in _NODES
        if (found := [t for scope in scopes if (t := node_rows(results, scope))])
    ]
    return {
        "d": d,
        "interrupted": results.interrupted,
        "runs": len(results.runs),
        "extent": results.extent(),
        "partial": results.partial,
        "warnings": [*d.warnings, *results.remarks],
        "worst": worst_packets(worst),
        "trees": shown,
        "tree_count": total,
        "nodes": nodes,
        "switched": node_rows(results, "switch"),
        "switches": switches,
        "all_switches": switch_count,
        "gates": arriving,
        "gate_count": gate_count,
        "parameters": parameters(d),
        "listings": listings(d),
        "assumptions": results.assumptions,
        "unmodelled": d.unmodelled,
        "provenance": provenance(manifest, d),
        "digests": [(r.variant, r.run, r.digest) for r in results.runs[:_FINGERPRINTS]],
        "command": command(manifest, d),
    }


def _of_scenario(results: Results) -> dict[str, object]:
    classes, tcp = class_tables(results)
    figures = [
        *tradeoff_figures(results),
        *delay_figures(results),
        *admission_figures(results),
        *timeline_figures(results),
    ]
    return {
        "matrix": matrix(results),
        "classes": classes,
        "tcp": tcp,
        "admission": admission_table(results),
        "standing": standing(results),
        "comparison": comparison(results),
        "losses": loss_table(results),
        "figures": figures,
        "shown_runs": shown_runs(figures),
    }


def _of_study(study: Study) -> dict[str, object]:
    results = study.results
    # Of more points there are not enough colors.
    few = len(study.description.points) <= STYLES
    figures = [*admission_figures(results), *timeline_figures(results)] if few else []
    data = embedded(study)
    return {
        "answer": study.answer(),
        "counts": tallied(study.verdicts.values()) if study.requirements else [],
        "influences": study.influences,
        "decided": study.decided,
        "maps": verdict_maps(study),
        "most_points": MOST_POINTS,
        "shares": pass_shares(study),
        "requirements": len(study.requirements),
        "unproven": unproven(results)[:MOST_UNPROVEN],
        "table": study.table(),
        "data": Markup(data.text),  # noqa: S704 - it has no `<`
        "omitted": data.omitted,
        "outages": outage_table(results),
        "admission": admission_table(results),
        "figures": figures,
        "shown_runs": shown_runs(figures),
    }


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
