"""Where every two variants are compared: who stands where, and delay against goodput."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from spillgate.labels import label_of, short_of
from spillgate.metrics import format_number, format_value, scale_of
from spillgate.ranking import rankings
from spillgate.report.ellipses import Pairs, panel
from spillgate.report.figure import Figure
from spillgate.report.svg import STYLES, Panel
from spillgate.result import Results
from spillgate.tables import Table, heading

Groups = Sequence[tuple[str, Sequence[tuple[str, str, Sequence[tuple[str, str]]]]]]
"""By class: a metric's heading and meaning, and for each variant a value and its place."""

DELAY = "owd_p99"
"""What delay is, where it is drawn against goodput."""


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
    styles = {v: variants.index(v) for v in pairs}
    x, y = (label_of(DELAY), "s"), (label_of(gain), "b/s")
    found = panel(cls, x, y, pairs, styles)
    best = min(found.lines, key=lambda line: (line.points[0] or (math.inf, 0.0))[0])
    return replace(found, summary=f"the least delay has {best.name}")
