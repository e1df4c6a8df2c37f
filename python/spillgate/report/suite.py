"""The page of a suite: sections by what was compared, figures, and what was left out."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from math import inf, isnan, nan
from pathlib import Path

from spillgate import _engine
from spillgate.labels import words
from spillgate.metrics import format_number, format_value, scale_of
from spillgate.report import html
from spillgate.report.ellipses import panel
from spillgate.report.figure import Figure
from spillgate.report.page import REPORT, write
from spillgate.report.svg import STYLES, Axis, Line, Panel
from spillgate.rows import Series
from spillgate.rundir import MANIFEST, write_json
from spillgate.statistics import Interval
from spillgate.suites import Done, Measure, SuiteResults
from spillgate.tables import Table

PAGE = "index.html"
"""The page of a suite in its directory."""

RESULTS = "suite.json"
"""What it measured, for programs."""

FORMAT = 1
"""Version of `suite.json` and of the manifest."""

_TEMPLATE = Path(__file__).parent / "suite.html.j2"

_POINTS = 1000
"""Points of a curve over time."""

_SERIES = "queue_delay"
"""What is drawn over time."""

_Point = tuple[float, float]


def cells(measure: Measure, found: Sequence[Interval | None]) -> tuple[str, list[str]]:
    """The unit of a row, and its means with half-widths.

    Args:
        measure: What the row shows.
        found: The mean of each of what was compared; none where nothing is defined.
    """
    means = [None if i is None else i.estimate for i in found]
    scale = scale_of(measure.metric, measure.unit, means)
    texts = [
        "–" if i is None else format_number(i.estimate, i.half if i.half < inf else None, scale)
        for i in found
    ]
    return scale.unit, texts


def table(results: SuiteResults, done: Done) -> Table:
    """What was measured in a section, a row for each case and measure."""
    rows = []
    for case in done.cases:
        for measure in done.section.measures:
            found = [done.interval(measure, case, of) for of in results.compared]
            unit, texts = cells(measure, found)
            name = f"{measure.name} ({unit})" if unit else measure.name
            rows.append((*([case] if case else []), name, *texts))
            if measure == done.section.graded and (grades := done.grades(case, results.compared)):
                rows.append((*([case] if case else []), "grade", *grades))
    axes = [a.name for a in done.results.description.axes]
    head = (*([", ".join(axes)] if axes else []), "measured", *results.compared)
    return Table(head, rows, names=2 if axes else 1, title=done.section.title)


def trade_off(results: SuiteResults, done: Done) -> Figure | None:
    """Queueing delay against goodput, an ellipse for each of what was compared."""
    if done.section.ellipse is None:
        return None
    across, up = done.section.ellipse
    found = {
        case: {of: _pairs(done, case, of, across, up) for of in results.compared}
        for case in done.cases
    }
    styles = {of: i % STYLES for i, of in enumerate(results.compared)}
    x, y = (across.name, across.unit), (up.name, up.unit)
    panels, rows = [], []
    for case, by in found.items():
        pairs = {of: points for of, points in by.items() if points}
        if pairs:
            made = panel(case or f"section {done.section.number}", x, y, pairs, styles)
            panels.append(made)
            for line in made.lines:
                rows += [
                    (
                        case or "–",
                        line.name,
                        f"{at[0]:.4g}",
                        f"{at[1]:.4g}",
                        made.x.unit,
                        made.y.unit,
                    )
                    for at in line.points
                    if at is not None
                ]
    if not panels:
        return None
    return Figure(
        f"f{done.section.number}-trade".replace(".", "-"),
        f"{done.section.number} {done.section.title}: goodput against delay",
        f"The ellipses hold one standard deviation of a run around the mean of "
        f"{done.results.description.runs} runs, which is the dot: left is less delay, up is more "
        "goodput (RFC 7928, section 2.7).",
        panels,
        list(styles.items()),
        Table(("case", "of", across.name, up.name, "units of delay", "of goodput"), rows, names=2),
        f"trade-{done.section.number}",
        [("band", "one standard deviation of single runs")],
    )


def _pairs(done: Done, case: str, of: str, across: Measure, up: Measure) -> list[_Point]:
    both = zip(done.values(across, case, of), done.values(up, case, of), strict=True)
    return [(x, y) for x, y in both if x is not None and y is not None]


def over_time(results: SuiteResults, done: Done) -> Figure | None:
    """The delay of the queue over the first run, a panel for each case."""
    if not done.section.series:
        return None
    sampled = {(s.variant, s.where): s for s in done.results.series(metric=_SERIES, run=0)}
    panels, rows = [], []
    for case, by in done.cases.items():
        lines = []
        for style, (of, point) in enumerate(by.items()):
            mine = [
                s
                for (variant, where), s in sampled.items()
                if variant == point and where.partition("/")[0] == done.section.series
            ]
            if mine:
                points = _longest(mine)
                lines.append(Line(of, style % STYLES, points))
                peak = max(p[1] for p in points)
                rows.append((case or "–", of, format_value(peak / 1e3, "s")))
        if lines:
            last = max(p[0] for w in lines for p in w.points if p is not None)
            high = max(p[1] for w in lines for p in w.points if p is not None)
            panels.append(
                Panel(
                    case or f"section {done.section.number}",
                    Axis(0.0, last, "time", "s"),
                    Axis(0.0, high * 1.05, "delay of the queue", "ms"),
                    lines,
                    spans=[(0.0, done.results.description.warmup, "warm-up")],
                    summary="; ".join(f"{c}, {of}: at most {peak}" for c, of, peak in rows),
                )
            )
    if not panels:
        return None
    return Figure(
        f"f{done.section.number}-time".replace(".", "-"),
        f"{done.section.number} {done.section.title}: the queue over time",
        f"First run: {words('series')[_SERIES]['summary']}.",
        panels,
        [(of, i % STYLES) for i, of in enumerate(results.compared)],
        Table(("case", "of", "largest"), rows, names=2),
        f"time-{done.section.number}",
        [("span", "warm-up")],
    )


def _longest(series: Sequence[Series]) -> list[_Point]:
    """The largest delay of some queues in milliseconds, thinned so that peaks stay."""
    first = series[0]
    values = [max(v for v in of) for of in zip(*(s.v for s in series), strict=True)]
    step = max(1, len(values) // _POINTS)
    found = []
    for i in range(0, len(values), step):
        largest = max((v for v in values[i : i + step] if not isnan(v)), default=nan)
        if not isnan(largest):
            found.append((first.t[i], 1e3 * largest))
    return found


def render(
    results: SuiteResults,
    argv: Sequence[str] = (),
    reports: Mapping[str, str] | None = None,
) -> str:
    """The page as HTML.

    Args:
        results: What was measured.
        argv: The command line that made it.
        reports: Where the whole report of a section is, by its number.
    """
    suite = results.suite
    figures = [
        f
        for done in results.sections
        for f in (trade_off(results, done), over_time(results, done))
        if f is not None
    ]
    ran = {d.section.number for d in results.sections}
    left = [
        (
            s.number,
            s.title,
            s.state if s.number in ran or s.scenario is None else "not asked for",
            s.left_out,
        )
        for s in suite.sections
        if s.left_out or s.number not in ran
    ]
    return html.page(
        _TEMPLATE,
        f"{suite.document}: {suite.title}" if suite.document else suite.title,
        _engine.VERSION,
        results=results,
        sections=[
            (d, table(results, d), (reports or {}).get(d.section.number)) for d in results.sections
        ],
        figures=figures,
        left=left,
        stated=_stated(results),
        command=shlex.join(argv) if argv else "",
    )


def _stated(results: SuiteResults) -> list[tuple[str, list[tuple[str, str]]]]:
    """The parameters of each mechanism, and in which sections it has them."""
    found = []
    for of in results.compared:
        by: dict[tuple[str, ...], list[str]] = {}
        for done in results.sections:
            if of in done.stated:
                by.setdefault(done.stated[of], []).append(done.section.number)
        found.append(
            (of, [(", ".join(where), "; ".join(said) or "none") for said, where in by.items()])
        )
    return [(of, rows) for of, rows in found if rows]


def save(results: SuiteResults, directory: Path, argv: Sequence[str] = ()) -> None:
    """Fills a directory: the page, `suite.json`, and a run directory for each section."""
    reports = {}
    for done in results.sections:
        folder = directory / done.section.number
        folder.mkdir()
        done.results.write_into(folder)
        write(done.results, folder / REPORT)
        reports[done.section.number] = f"{done.section.number}/{REPORT}"
    text = render(results, argv, reports)
    (directory / PAGE).write_bytes(text.encode())
    write_json(directory / RESULTS, {"format": FORMAT, **results.to_dict()})
    write_json(
        directory / MANIFEST,
        {
            "format": FORMAT,
            "version": _engine.VERSION,
            "commit": _engine.COMMIT,
            "suite": results.suite.name,
            "seed": results.seed,
            "argv": list(argv),
        },
    )
