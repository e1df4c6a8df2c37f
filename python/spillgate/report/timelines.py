"""What was sampled while a run went on: queues with their thresholds, rates, windows, sessions."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from statistics import fmean

from spillgate import _engine
from spillgate.labels import label_of, words
from spillgate.metrics import Scale, format_value, scale_for
from spillgate.report.figure import Figure
from spillgate.report.outlines import queues
from spillgate.report.svg import STYLES, Axis, Level, Line, Panel
from spillgate.result import Results
from spillgate.rows import Series
from spillgate.tables import Table

POINTS = 60_000
"""Points of all curves together: what bounds the size of the page."""

MOST_RUNS = 10
"""Runs that have charts of their own."""

MOST_PANELS = 12
"""Variants that have charts of their own."""

AVERAGE = "backlog_average"
"""The metric of the average that RED and WRED keep."""

_KINDS = ("class ", "link ", "flow ", "sessions ")


ALL_RUNS = "all runs"
"""What stands for the mean of the runs in place of a run's name."""


def timeline_figures(results: Results) -> list[Figure]:
    """Figures for each sampled metric that is ever above zero.

    Where several runs were sampled, one figure for all together and one for each run.
    """
    every = results.series()
    numbers = sorted({s.run for s in every})
    if len(numbers) < 2:
        return _of_run(results, every, f"First run of {results.description.runs}")
    shown = numbers[:MOST_RUNS]
    share = 1 + len(shown)
    figures = _of_run(results, pooled(every), ALL_RUNS, share)
    for run in shown:
        mine = [s for s in every if s.run == run]
        figures += _of_run(results, mine, f"run {run}", share)
    return figures


def shown_runs(figures: Sequence[Figure]) -> list[str]:
    """Which runs a reader can choose from; none where there is one."""
    return list(dict.fromkeys(f.runs for f in figures if f.runs))


@dataclass(frozen=True, eq=False)
class Pooled(Series):
    """The mean over the runs, with the smallest and the largest value at each instant."""

    low: array[float]
    high: array[float]

    @property
    def peak(self) -> float:
        """The largest value of any run."""
        return max((v for v in self.high if not isnan(v)), default=0.0)


def pooled(series: Sequence[Series]) -> list[Series]:
    """Each curve as its mean over the runs; an instant at which some run has no value has none."""
    groups: dict[tuple[str, str, str], list[Series]] = {}
    for s in series:
        groups.setdefault((s.variant, s.where, s.metric), []).append(s)
    found: list[Series] = []
    for members in groups.values():
        first = members[0]
        columns = [
            None if any(isnan(x) for x in c) else c
            for c in zip(*(m.v for m in members), strict=False)
        ]

        def of(
            fold: Callable[[tuple[float, ...]], float],
            columns: Sequence[tuple[float, ...] | None] = columns,
        ) -> array[float]:
            return array("d", [nan if c is None else fold(c) for c in columns])

        found.append(
            Pooled(
                first.variant,
                first.run,
                first.where,
                first.metric,
                first.unit,
                first.start,
                first.step,
                of(fmean),
                low=of(min),
                high=of(max),
            )
        )
    return found


def _of_run(results: Results, series: Sequence[Series], runs: str, share: int = 1) -> list[Figure]:
    # Averages are drawn with the queues that they are of.
    metrics = list(dict.fromkeys(s.metric for s in series if s.metric != AVERAGE))
    ordered = sorted(metrics, key=[*words("series"), *metrics].index)
    if not _limits_in_bytes(results):
        ordered = [m for m in ordered if m != "backlog_bytes"]
    chosen = {m: _busiest([s for s in series if s.metric == m]) for m in ordered}
    averages = sum(s.metric == AVERAGE for s in series)
    curves = sum(len(c) for c in chosen.values()) + averages
    # A band has two more sides.
    sides = 3 if runs == ALL_RUNS else 1
    room = max(200 // share, POINTS // (curves * share * sides)) if curves else POINTS
    return [
        _figure(results, series, metric, chosen[metric], room, runs, several=share > 1)
        for metric in ordered
        if chosen[metric]
    ]


def _limits_in_bytes(results: Results) -> bool:
    return any(
        node["limit_bytes"] is not None and node["limit_packets"] is None
        for v in results.description.variants
        for node in queues(results, v).values()
    )


def _busiest(series: Sequence[Series]) -> list[Series]:
    """Of the places that are ever above zero the eight with the highest peaks."""
    peaks: dict[str, float] = {}
    for s in series:
        peaks[s.where] = max(peaks.get(s.where, 0.0), s.peak)
    top = sorted((p for p in peaks if peaks[p] > 0.0), key=lambda p: -peaks[p])[:STYLES]
    return [s for s in series if s.where in top]


def _names(places: Sequence[str]) -> dict[str, str]:
    """Names for the legend, as short as they can be.

    A port with one queue is its queue; a link that all other queues belong to says nothing.

    Example:
        >>> _names(["lan/fifo", "wan/voice", "wan/data"])
        {'lan/fifo': 'lan', 'wan/voice': 'voice', 'wan/data': 'data'}
    """
    links = [p.partition("/")[0] for p in places if "/" in p]
    several = {link for link in links if links.count(link) > 1}
    names = {}
    for p in places:
        link, slash, queue = p.partition("/")
        if not slash:
            names[p] = _name(p)
        elif link in several:
            names[p] = queue if len(several) == 1 else p
        else:
            names[p] = link
    return names


def _name(where: str) -> str:
    return next((where[len(k) :] for k in _KINDS if where.startswith(k)), where)


def _figure(
    results: Results,
    every: Sequence[Series],
    metric: str,
    series: Sequence[Series],
    room: int,
    runs: str,
    *,
    several: bool,
) -> Figure:
    d = results.description
    # Results of a newer version may have series that this one does not know.
    known = words("series").get(metric, {})
    title, what = (known.get(key, label_of(metric)) for key in ("short", "summary"))
    places = list(dict.fromkeys(s.where for s in series))
    name = _names(places)
    style = {p: i for i, p in enumerate(places)}
    scale = scale_for(series[0].unit, [s.peak for s in series])
    variants = [v for v in d.variants if any(s.variant == v for s in series)]
    left_out = len(variants) - MOST_PANELS
    variants = variants[:MOST_PANELS]
    tops = {v: max(s.peak for s in series if s.variant == v) * scale.factor for v in variants}
    alike = max(tops.values()) <= 8 * min(tops.values())
    panels = []
    averaged = False
    for v in variants:
        mine = [s for s in series if s.variant == v]
        averages = [
            s
            for s in every
            if s.metric == AVERAGE
            and metric == "backlog_packets"
            and s.variant == v
            and s.where in style
        ]
        averaged = averaged or bool(averages)
        levels = _levels(results, v, metric, [s.where for s in mine], style, name, scale)
        peak = max(tops.values()) if alike else tops[v]
        panels.append(
            _panel(results, v, metric, [*averages, *mine], style, name, scale, levels, peak, room)
        )
    if alike:
        high = max(p.y.high for p in panels)
        panels = [_raised(p, high) for p in panels]
    run = (runs[0].upper() + runs[1:]) if several or d.runs > 1 else "The run"
    if runs == ALL_RUNS:
        run = f"Mean of {len({s.run for s in results.series()})} runs; the band holds all of them"
    caption = f"{run}: {what}, sampled every {format_value(d.interval, 's')}."
    links = {p.partition("/")[0] for p in places if "/" in p}
    if len(links) == 1:
        title = f"{title} on {next(iter(links))}"
    if metric.startswith("backlog") and any(map(any, d.rings)):
        caption += " What is in transmit rings counts, too, but not for limits."
    if averaged:
        caption += " RED and WRED compare their thresholds with the average, not the queue."
    if len({s.where for s in every if s.metric == metric}) > len(places):
        caption += " Queues and links that are idle, or less busy, are in series.parquet."
    if left_out > 0:
        caption += f" {left_out} more variants are in series.parquet."
    notes = [("span", "warm-up, not counted")] if d.warmup > 0 else []
    if d.failures:
        notes.append(("span down", "a link is down"))
    if averaged:
        notes.append(("average", "average of RED or WRED"))
    named = [v.label for p in panels for v in p.levels]
    if any(not label.startswith("bound") for label in named):
        notes.append(("level", "limit or threshold"))
    if any(label.startswith("bound") for label in named):
        notes.append(("level", "bound: cannot be exceeded, whatever happens"))
    if runs == ALL_RUNS:
        notes.append(("band", "smallest to largest of the runs"))
    suffix = "" if not several or runs == ALL_RUNS else f"-{runs.replace(' ', '-')}"
    return Figure(
        id=f"time-{metric}{suffix}",
        title=title,
        caption=caption,
        panels=panels,
        legend=[(name[p], style[p]) for p in places],
        table=_table(series),
        group="time",
        notes=notes,
        runs=runs if several else "",
    )


def _raised(p: Panel, high: float) -> Panel:
    y = Axis(p.y.low, high, p.y.label, p.y.unit)
    return replace(p, y=y)


def _panel(
    results: Results,
    variant: str,
    metric: str,
    series: Sequence[Series],
    style: dict[str, int],
    name: dict[str, str],
    scale: Scale,
    levels: Sequence[Level],
    peak: float,
    room: int,
) -> Panel:
    d = results.description
    end = d.warmup + d.duration
    near = [v.y for v in levels if v.y <= 3.0 * peak]
    high = 1.12 * max([peak, *near]) or 1.0
    lines = [_line(s, style[s.where], name[s.where], scale, room) for s in series]
    series = [s for s in series if s.metric == metric]
    spans = [(0.0, d.warmup, "warm-up, not counted")] if d.warmup > 0 else []
    spans += d.outages()
    worst = max(series, key=lambda s: s.peak)
    unit = scale.unit if scale.unit != "packets" else "packets"
    return Panel(
        title=variant,
        x=Axis(0.0, end, "time", "s"),
        y=Axis(0.0, high, label_of(metric), unit),
        lines=lines,
        levels=levels,
        spans=spans,
        summary=f"highest is {_name(worst.where)} with {format_value(worst.peak, worst.unit)}",
    )


def _line(s: Series, style: int, name: str, scale: Scale, room: int) -> Line:
    points = thin(s, scale.factor, room)
    if s.metric == AVERAGE:
        return Line(f"{name}, average", style, points, average_of=name)
    if isinstance(s, Pooled):
        return Line(name, style, points, band=band(s, scale.factor, room))
    return Line(name, style, points)


def band(s: Pooled, factor: float, room: int) -> list[tuple[float, float]]:
    """The outline of what lies between the smallest and the largest run.

    Of long series each stretch keeps its extremes, so that every run lies inside.
    """
    known = [
        (t, low * factor, high * factor)
        for t, low, high in zip(s.t, s.low, s.high, strict=True)
        if not isnan(low)
    ]
    stretch = max(1, -(-len(known) // room))
    upper, lower = [], []
    for i in range(0, len(known), stretch):
        part = known[i : i + stretch]
        for t in dict.fromkeys((part[0][0], part[-1][0])):
            upper.append((t, max(p[2] for p in part)))
            lower.append((t, min(p[1] for p in part)))
    return [*upper, *reversed(lower)]


def thin(s: Series, factor: float, room: int) -> list[tuple[float, float] | None]:
    """At most about `room` points: of each stretch the smallest and the largest, in order.

    Example:
        >>> s = Series("", 0, "", "", "", 0.0, 1.0, array("d", [5.0, 1.0, 9.0, nan]))
        >>> thin(s, 2.0, 100)
        [(0.0, 10.0), (1.0, 2.0), (2.0, 18.0), None]
    """
    points = ((s.t[i], s.v[i]) for i in _engine.outline(s.v, room))
    return [None if isnan(y) else (x, y * factor) for x, y in points]


def _levels(
    results: Results,
    variant: str,
    metric: str,
    places: Sequence[str],
    style: dict[str, int],
    name: dict[str, str],
    scale: Scale,
) -> list[Level]:
    if metric == "carried":
        return _rates(results, variant, places, style, scale)
    if metric in _ADMISSION:
        return _admission(results, variant, metric, places, scale)
    if metric not in ("backlog_packets", "backlog_bytes", "queue_delay"):
        return []
    known = queues(results, variant)
    found: dict[tuple[float, str], list[str]] = {}
    if (largest := _BOUNDED.get(metric)) is not None:
        # By name: there may be thousands of other queues.
        for row in results.table(scope="queue", metric=largest, name=places, variant=variant):
            if row.bound is not None:
                found.setdefault((row.bound * scale.factor, "bound"), []).append(row.name)
    for place in places:
        node = known.get(place)
        if node is None or metric == "queue_delay":
            continue
        key = "limit_packets" if metric == "backlog_packets" else "limit_bytes"
        if node[key] is not None:
            found.setdefault((node[key] * scale.factor, "limit"), []).append(place)
        if metric == "backlog_packets":
            own = [t for t in node["thresholds"] if not t["in_bytes"]]
            for t in own:
                names = ", ".join(t["dscp"]) if len(own) > 1 else ""
                aqm = f"{node['aqm'].upper()} {names}".rstrip()
                found.setdefault((t["min"], f"{aqm} min"), []).append(place)
                found.setdefault((t["max"], f"{aqm} max"), []).append(place)
    queue_count = sum(p in known for p in places)
    levels = []
    for (y, what), where in found.items():
        alone = len(where) == 1
        if queue_count == 1 or (what == "limit" and len(where) == queue_count):
            label = what
        elif len(where) <= 2:
            label = f"{what} {', '.join(name[p] for p in where)}"
        else:
            label = f"{what} of {len(where)} queues"
        levels.append(
            Level(y, f"{label}: {y:.4g}", style[where[0]] if alone and queue_count > 1 else None)
        )
    return levels


_BOUNDED = {"backlog_bytes": "backlog_bytes_max", "queue_delay": "sojourn_max"}
"""Of sampled metrics the measured one whose bound they cannot exceed."""

_ADMISSION = {
    "fair_rate": ("min_fair_rate", "closed below"),
    "priority_load": ("max_priority_load", "closed above"),
}
"""Of the metrics of flow admission: their threshold, and what it does."""


def _admission(
    results: Results, variant: str, metric: str, places: Sequence[str], scale: Scale
) -> list[Level]:
    """Where links stop to admit new flows."""
    d = results.description
    trees = d.outlines[d.variants.index(variant)] if d.outlines else ()
    key, what = _ADMISSION[metric]
    alike: dict[float, list[str]] = {}
    for link, tree in zip(d.links, trees, strict=False):
        limits = (tree or {}).get("admission")
        if limits is not None and f"link {link['name']}" in places:
            alike.setdefault(limits[key] * scale.factor, []).append(link["name"])
    return [
        Level(y, f"{what}: {y:.4g}" if len(alike) == 1 else f"{', '.join(where)} {what}: {y:.4g}")
        for y, where in alike.items()
    ]


def _rates(
    results: Results, variant: str, places: Sequence[str], style: dict[str, int], scale: Scale
) -> list[Level]:
    """The rate of each link whose policy is known; of others only if variants cannot differ."""
    d = results.description
    rates = {}
    trees = d.outlines[d.variants.index(variant)] if d.outlines else ()
    for link, tree in zip(d.links, trees, strict=False):
        if tree is not None:
            rates[f"link {link['name']}"] = tree["guaranteed"] * scale.factor
        elif len(d.variants) == 1:
            rates[f"link {link['name']}"] = link["rate"] * scale.factor
    alike: dict[float, list[str]] = {}
    for p in places:
        if p in rates:
            alike.setdefault(rates[p], []).append(p)
    return [
        Level(
            rate,
            f"rate of {', '.join(_name(p) for p in where)}: {rate:.4g}",
            style[where[0]] if len(where) == 1 else None,
        )
        for rate, where in alike.items()
    ]


def _table(series: Sequence[Series]) -> Table:
    rows = [
        [s.variant, _name(s.where), *(format_value(x, s.unit) for x in s.extent)]
        for s in series
        if s.extent is not None
    ]
    return Table(["variant", "of", "smallest", "mean of samples", "largest"], rows)
