"""The page of a suite: sections by what was compared, figures, and what was left out."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from math import cos, inf, isnan, nan, pi, sin, sqrt
from pathlib import Path
from statistics import fmean

from spillgate import _engine
from spillgate.labels import words
from spillgate.metrics import format_number, format_value, scale_for, scale_of
from spillgate.report import html
from spillgate.report.figure import Figure
from spillgate.report.page import REPORT, write
from spillgate.report.svg import STYLES, Axis, Line, Panel
from spillgate.rows import Series
from spillgate.rundir import MANIFEST, write_json
from spillgate.statistics import Interval, covariance
from spillgate.suites import Done, Measure, SuiteResults
from spillgate.tables import Table

PAGE = "index.html"
"""The page of a suite in its directory."""

RESULTS = "suite.json"
"""What it measured, for programs."""

FORMAT = 1
"""Version of `suite.json` and of the manifest."""

_TEMPLATE = Path(__file__).parent / "suite.html.j2"

_CORNERS = 48
"""Points of the outline of an ellipse."""

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


def ellipse(points: Sequence[_Point]) -> list[_Point]:
    """The outline within one standard deviation of a normal distribution fitted to points.

    It is that of RFC 7928, section 2.7; of points on a line it is a line, of one point a point.

    Example:
        >>> outline = ellipse([(0.0, 0.0), (2.0, 0.0), (1.0, 3.0), (1.0, -3.0)])
        >>> round(max(x for x, _ in outline), 3), round(max(y for _, y in outline), 3)
        (1.816, 2.449)
    """
    mx, my = fmean(x for x, _ in points), fmean(y for _, y in points)
    if len(points) < 2:
        return [(mx, my)] * 2
    xx, xy, yy = covariance([x for x, _ in points], [y for _, y in points])
    # The lower triangular root of the covariance maps a circle to the ellipse.
    a = sqrt(xx)
    b = xy / a if a > 0.0 else 0.0
    c = sqrt(max(0.0, yy - b * b))
    turns = [2 * pi * k / _CORNERS for k in range(_CORNERS + 1)]
    return [(mx + a * cos(t), my + b * cos(t) + c * sin(t)) for t in turns]


def trade_off(results: SuiteResults, done: Done) -> Figure | None:
    """Queueing delay against goodput, an ellipse for each of what was compared."""
    if done.section.ellipse is None:
        return None
    across, up = done.section.ellipse
    found = {
        case: {of: _pairs(done, case, of, across, up) for of in results.compared}
        for case in done.cases
    }
    every = [p for of in found.values() for points in of.values() for p in points]
    if not every:
        return None
    x_scale = scale_for(across.unit, [x for x, _ in every])
    y_scale = scale_for(up.unit, [y for _, y in every])
    panels, rows = [], []
    for case, by in found.items():
        lines, dots = [], []
        for style, (of, points) in enumerate(by.items()):
            if not points:
                continue
            drawn = [(x * x_scale.factor, y * y_scale.factor) for x, y in points]
            outline = ellipse(drawn)
            lines.append(Line(of, style % STYLES, outline, outline))
            x, y = fmean(x for x, _ in drawn), fmean(y for _, y in drawn)
            dots.append((x, y, of))
            rows.append((case or "–", of, f"{x:.4g}", f"{y:.4g}", str(len(points))))
        x_ends, y_ends = (
            _ends(p[0] for w in lines for p in w.band),
            _ends(p[1] for w in lines for p in w.band),
        )
        panels.append(
            Panel(
                case or done.section.title,
                Axis(*x_ends, across.name, x_scale.unit),
                Axis(*y_ends, up.name, y_scale.unit),
                lines,
                dots=dots,
                summary="; ".join(f"{what} at {x:.4g}, {y:.4g}" for x, y, what in dots),
            )
        )
    units = f"{across.name} ({x_scale.unit})", f"{up.name} ({y_scale.unit})"
    return Figure(
        f"f{done.section.number}-trade".replace(".", "-"),
        f"{done.section.number} {done.section.title}: goodput against delay",
        f"The ellipses hold one standard deviation of a run around the mean of "
        f"{done.results.description.runs} runs, which is the dot: left is less delay, up is more "
        "goodput (RFC 7928, section 2.7).",
        panels,
        [(of, i % STYLES) for i, of in enumerate(results.compared)],
        Table(("case", "of", *units, "runs"), rows, names=2),
        f"trade-{done.section.number}",
        [("dot", "mean of the runs")],
    )


def _pairs(done: Done, case: str, of: str, across: Measure, up: Measure) -> list[_Point]:
    both = zip(done.values(across, case, of), done.values(up, case, of), strict=True)
    return [(x, y) for x, y in both if x is not None and y is not None]


def _ends(values: Iterator[float]) -> tuple[float, float]:
    """The ends of an axis with some room on both sides."""
    found = list(values)
    low, high = min(found), max(found)
    room = max(0.08 * (high - low), 0.01 * abs(high), 1e-9)
    return max(0.0, low - room) if low >= 0.0 else low - room, high + room


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
                    case or done.section.title,
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
        f"First run. {words('series')[_SERIES]['summary']}.",
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
