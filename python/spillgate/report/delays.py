"""Distributions of the one-way delay: a chart a class, a curve a variant, a band over the runs."""

from __future__ import annotations

from collections.abc import Sequence

from spillgate.metrics import Scale, format_ceiling, format_value, scale_for
from spillgate.report.figure import Figure
from spillgate.report.svg import STYLES, Axis, Line, Panel, Wall
from spillgate.result import Results
from spillgate.rows import Distribution
from spillgate.tables import Table

_TABLE = (0.5, 0.95, 0.99, 0.999, 1.0)
_QUANTILE = {"owd_p50": 0.5, "owd_p95": 0.95, "owd_p99": 0.99, "owd_p999": 0.999}
_LEAST_SHARE = 1e-6

_NEVER = "bound: no packet can take longer, whatever happens (→ beyond the chart)"

Point = tuple[float, float]
Ceilings = dict[tuple[str, str], float]
"""By variant and class the delay in seconds that no packet can exceed."""


def delay_figures(results: Results) -> list[Figure]:
    """The share of packets later than x on a logarithmic scale, and the distribution function."""
    curves = [d for d in results.distributions() if any(v is not None for v in d.owd)]
    variants = [v for v in results.description.variants if any(d.variant == v for d in curves)]
    variants = variants[:STYLES]
    curves = [d for d in curves if d.variant in variants]
    if not curves:
        return []
    several = len({r.run for r in results.runs}) > 1 and any(d.least for d in curves)
    legend = [(v, i) for i, v in enumerate(variants)] if len(variants) > 1 else []
    band = [("band", "from the smallest to the largest of the runs")] if several else []
    bounds = _bounds(results)
    dots = [("dot", "required: the curve has to pass below the point")] if bounds else []
    ceilings = {(b.variant, b.cls): b.owd for b in results.bounds() if b.owd is not None}
    walls = [("wall", _NEVER)] if any((d.variant, d.cls) in ceilings for d in curves) else []
    left_out = len(results.description.variants) - len(variants)
    more = f" The first {len(variants)} variants." if left_out > 0 else ""
    table = _table(curves, ceilings)
    style = {v: i for i, v in enumerate(variants)}
    return [
        Figure(
            id="later",
            title="Packets later than x",
            caption="How many of a class's packets take longer than x, from all runs together."
            + more,
            panels=_panels(results, curves, style, bounds, ceilings, tail=True),
            legend=legend,
            table=table,
            group="delay",
            notes=[*band, *dots, *walls],
        ),
        Figure(
            id="within",
            title="Packets within x",
            caption="The distribution function of the one-way delay, from all runs together."
            + more,
            panels=_panels(results, curves, style, {}, ceilings, tail=False),
            legend=legend,
            table=table,
            group="delay",
            notes=[*band, *walls],
        ),
    ]


def _bounds(results: Results) -> dict[str, list[tuple[float, float, str]]]:
    """By class: required delay, the share of packets that may exceed it, in words."""
    found: dict[str, list[tuple[float, float, str]]] = {}
    for v in results.verdicts:
        if v.metric in _QUANTILE and v.side == "max" and v.bound > 0:
            point = (v.bound, 1.0 - _QUANTILE[v.metric], v.requirement)
            known = found.setdefault(v.cls, [])
            if point not in known:
                known.append(point)
    return found


def _panels(
    results: Results,
    curves: Sequence[Distribution],
    style: dict[str, int],
    bounds: dict[str, list[tuple[float, float, str]]],
    ceilings: Ceilings,
    *,
    tail: bool,
) -> list[Panel]:
    delays = [v for d in curves for v in d.owd if v]
    scale = scale_for("s", delays)
    panels = []
    for cls in results.description.classes:
        mine = [d for d in curves if d.cls == cls]
        values = [v * scale.factor for d in mine for v in d.owd if v]
        if not values:
            continue
        counts = _packets(results, cls)
        lines = [_line(d, style[d.variant], counts.get(d.variant, 0.0), scale, tail) for d in mine]
        low, high = min(values), max(values)
        dots = [
            (bound * scale.factor, share, what)
            for bound, share, what in bounds.get(cls, ())
            if low / 5 <= bound * scale.factor <= high * 5
        ]
        low, high = min([low, *(d[0] for d in dots)]), max([high, *(d[0] for d in dots)])
        log = high > 20 * low
        walls = _walls(mine, style, ceilings, scale)
        # Others would squeeze the curves.
        near = (10.0 if log else 2.0) * high
        high = max([high, *(w.x for w in walls if w.x <= near)])
        x = Axis(low / 1.15 if log else 0.0, high * 1.08, "one-way delay", scale.unit, log=log)
        shares = [p[1] for line in lines for p in line.points if p is not None]
        y = (
            Axis(min(shares), 100.0, "packets later than x", "%", log=True)
            if tail
            else Axis(0.0, 100.0, "packets within x", "%")
        )
        panels.append(
            Panel(
                title=cls,
                x=x,
                y=y,
                lines=lines,
                dots=[(a, 100.0 * share, what) for a, share, what in dots],
                summary="; ".join(_said(d, ceilings) for d in mine),
                walls=walls,
            )
        )
    return panels


def _walls(
    mine: Sequence[Distribution], style: dict[str, int], ceilings: Ceilings, scale: Scale
) -> list[Wall]:
    """The bounds of a class; variants with the same share one."""
    found: dict[float, list[str]] = {}
    for d in mine:
        if (bound := ceilings.get((d.variant, d.cls))) is not None:
            found.setdefault(bound, []).append(d.variant)
    walls = []
    for bound, variants in found.items():
        whose = "" if len(variants) == len(mine) else f" {', '.join(variants)}"
        label = f"bound{whose}: {format_ceiling(bound, 's')}"
        alone = len(variants) == 1 and len(mine) > 1
        walls.append(Wall(bound * scale.factor, label, style[variants[0]] if alone else None))
    return walls


def _packets(results: Results, cls: str) -> dict[str, float]:
    rows = results.table(scope="class", name=cls, metric="packets_received")
    return {r.variant: (r.mean or 0.0) * r.n for r in rows}


def _line(d: Distribution, style: int, packets: float, scale: Scale, tail: bool) -> Line:  # noqa: FBT001
    least = max(_LEAST_SHARE, 1.0 / packets) if packets > 1.0 else 1e-3

    def curve(values: Sequence[float | None]) -> list[Point]:
        if not tail:
            return [(v * scale.factor, 100.0 * q) for q, v in zip(d.q, values, strict=True) if v]
        # Beyond 1 in all packets there are none: the curve falls down at the largest delay.
        points = [
            (v * scale.factor, 100.0 * (1.0 - q))
            for q, v in zip(d.q, values, strict=True)
            if v and 1.0 - q >= least
        ]
        last = values[-1]
        if last:
            points.append((last * scale.factor, 100.0 * least))
        return points

    band: list[Point] = []
    if d.least and d.least != d.most:
        band = [*curve(d.least), *reversed(curve(d.most))]
    return Line(d.variant, style, curve(d.owd), band)


def _at(d: Distribution, q: float) -> float | None:
    return d.owd[d.q.index(q)] if q in d.q else None


def _said(d: Distribution, ceilings: Ceilings) -> str:
    said = f"{d.variant}: 99 % within {format_value(_at(d, 0.99), 's')}"
    bound = ceilings.get((d.variant, d.cls))
    return said if bound is None else f"{said}, none beyond {format_ceiling(bound, 's')}"


def _table(curves: Sequence[Distribution], ceilings: Ceilings) -> Table:
    names = {0.5: "median", 1.0: "largest"}
    head = ["class", "variant", *(names.get(q, f"{100 * q:g} % within") for q in _TABLE)]
    head += ["bound"] if ceilings else []

    def bound(d: Distribution) -> list[str]:
        return [format_ceiling(ceilings.get((d.variant, d.cls)), "s")] if ceilings else []

    rows = [
        [d.cls, d.variant, *(format_value(_at(d, q), "s") for q in _TABLE), *bound(d)]
        for d in sorted(curves, key=lambda d: [c.cls for c in curves].index(d.cls))
    ]
    return Table(head, rows)
