"""Where every two variants are compared: who stands where, and delay against goodput."""

from __future__ import annotations

import math
from collections.abc import Sequence

from spillgate.labels import label_of, short_of
from spillgate.metrics import Scale, format_number, format_value, scale_for, scale_of
from spillgate.ranking import rankings
from spillgate.report.figure import Figure
from spillgate.report.svg import STYLES, Axis, Line, Panel
from spillgate.result import Results
from spillgate.tables import Table, heading

Groups = Sequence[tuple[str, Sequence[tuple[str, str, Sequence[tuple[str, str]]]]]]
"""By class: a metric's heading and meaning, and for each variant a value and its place."""

DELAY = "owd_p99"
"""What delay is, where it is drawn against goodput."""

_TURN = 48
"""Points of an ellipse."""

Pairs = list[tuple[float, float]]


def standing(results: Results) -> Groups:
    """The places of all variants in each ranking; empty if not every two are compared."""
    d = results.description
    if not d.compares_pairs or d.axes:
        return []
    found: dict[str, list[tuple[str, str, list[tuple[str, str]]]]] = {}
    for r in rankings(results):
        column = heading(r.metric)
        cells = []
        for v in d.variants:
            place = r.place(v)
            shown = ("–", "")
            if place is not None:
                scale = scale_of(r.metric, r.unit, [place.mean, place.half])
                text = f"{format_number(place.mean, place.half, scale)} {scale.unit}".rstrip()
                shown = text, f"place {place.places}" if r.tells else ""
            cells.append(shown)
        found.setdefault(r.cls, []).append((column.head, column.meaning, cells))
    return list(found.items())


def tradeoff_figures(results: Results) -> list[Figure]:
    """Delay against goodput of each class, an ellipse a variant; none for a single variant."""
    d = results.description
    variants = d.variants[:STYLES]
    if len(variants) < 2 or d.axes:
        return []
    panels, rows = [], []
    gains = set()
    for cls in d.classes:
        found = _pairs(results, cls, variants)
        if found is None:
            continue
        gain, pairs = found
        gains.add(gain)
        panels.append(_panel(cls, gain, pairs, variants))
        for v, of in pairs.items():
            means = [sum(x) / len(of) for x in zip(*of, strict=True)]
            texts = (format_value(means[0], "s"), format_value(means[1], "b/s"))
            rows.append([cls, v, *texts])
    if not panels:
        return []
    more = f" The first {len(variants)} variants." if len(d.variants) > len(variants) else ""
    what = " or ".join(sorted(map(short_of, gains)))
    return [
        Figure(
            id="tradeoff",
            title=f"Delay against {what}",
            caption="A mark is the mean over the runs, the ellipse around it one standard "
            f"deviation of single runs: better is up and to the left.{more}",
            panels=panels,
            legend=[(v, i) for i, v in enumerate(variants)],
            table=Table(["class", "variant", short_of(DELAY), what], rows),
            group="tradeoff",
            notes=[("band", "one standard deviation of single runs")],
        )
    ]


def _pairs(
    results: Results, cls: str, variants: Sequence[str]
) -> tuple[str, dict[str, Pairs]] | None:
    """Delay and gain of each run, by variant, and what the gain is."""
    delays = {s.variant: s.values for s in results.samples(scope="class", metric=DELAY, name=cls)}
    for gain in ("goodput", "throughput"):
        gained = {
            s.variant: s.values for s in results.samples(scope="class", metric=gain, name=cls)
        }
        pairs = {
            v: [
                (x, y)
                for x, y in zip(delays.get(v, ()), gained.get(v, ()), strict=False)
                if x is not None and y is not None
            ]
            for v in variants
        }
        pairs = {v: of for v, of in pairs.items() if of}
        if pairs:
            return gain, pairs
    return None


def _panel(cls: str, gain: str, pairs: dict[str, Pairs], variants: Sequence[str]) -> Panel:
    across = scale_for("s", [x for of in pairs.values() for x, _ in of])
    along = scale_for("b/s", [y for of in pairs.values() for _, y in of])
    lines = [
        _mark(v, variants.index(v), [(x * across.factor, y * along.factor) for x, y in of])
        for v, of in pairs.items()
    ]
    seen = [p for line in lines for p in (*line.points, *line.band) if p is not None]
    x = _axis([p[0] for p in seen], label_of(DELAY), across)
    y = _axis([p[1] for p in seen], label_of(gain), along)
    best = min(lines, key=lambda line: (line.points[0] or (math.inf, 0.0))[0])
    return Panel(cls, x, y, lines, summary=f"the least delay has {best.name}")


def _axis(values: Sequence[float], label: str, scale: Scale) -> Axis:
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    log = low > 0.0 and high > 20.0 * low
    if log:
        return Axis(low / 1.2, high * 1.2, label, scale.unit, log=True)
    return Axis(max(0.0, low - room) if low >= 0.0 else low - room, high + room, label, scale.unit)


def _mark(name: str, style: int, pairs: Pairs) -> Line:
    """The mean, and the ellipse around it: the image of a circle under the root of the covariance.

    Example:
        >>> line = _mark("A", 0, [(1.0, 1.0), (3.0, 3.0)])
        >>> line.points, [round(x, 2) for x in line.band[0]]
        ([(2.0, 2.0)], [3.41, 3.41])
    """
    n = len(pairs)
    mx, my = (sum(of) / n for of in zip(*pairs, strict=True))
    if n < 2:
        return Line(name, style, [(mx, my)])
    xx, yy, xy = (
        sum(a * b for a, b in of) / (n - 1)
        for of in (
            [(x - mx, x - mx) for x, _ in pairs],
            [(y - my, y - my) for _, y in pairs],
            [(x - mx, y - my) for x, y in pairs],
        )
    )
    # Cholesky's root of the covariance.
    a = math.sqrt(xx)
    b = xy / a if a > 0.0 else 0.0
    c = math.sqrt(max(0.0, yy - b * b))
    turns = [2.0 * math.pi * i / _TURN for i in range(_TURN)]
    band = [(mx + a * math.cos(t), my + b * math.cos(t) + c * math.sin(t)) for t in turns]
    return Line(name, style, [(mx, my)], band)
