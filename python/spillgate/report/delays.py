"""Distributions of the one-way delay: a chart a class, a curve a variant, a band over the runs."""

from __future__ import annotations

from collections.abc import Sequence

from spillgate.metrics import Scale, format_value, scale_for
from spillgate.report.figure import Figure
from spillgate.report.svg import STYLES, Axis, Line, Panel
from spillgate.result import Results
from spillgate.rows import Distribution
from spillgate.tables import Table

_TABLE = (0.5, 0.95, 0.99, 0.999, 1.0)
_QUANTILE = {"owd_p50": 0.5, "owd_p95": 0.95, "owd_p99": 0.99, "owd_p999": 0.999}
_LEAST_SHARE = 1e-6

Point = tuple[float, float]


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
    left_out = len(results.description.variants) - len(variants)
    more = f" The first {len(variants)} variants." if left_out > 0 else ""
    table = _table(curves)
    style = {v: i for i, v in enumerate(variants)}
    return [
        Figure(
            id="later",
            title="Packets later than x",
            caption="How many of a class's packets take longer than x, from all runs together."
            + more,
            panels=_panels(results, curves, style, bounds, tail=True),
            legend=legend,
            table=table,
            group="delay",
            notes=[*band, *dots],
        ),
        Figure(
            id="within",
            title="Packets within x",
            caption="The distribution function of the one-way delay, from all runs together."
            + more,
            panels=_panels(results, curves, style, {}, tail=False),
            legend=legend,
            table=table,
            group="delay",
            notes=band,
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
                summary="; ".join(_said(d) for d in mine),
            )
        )
    return panels


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


def _said(d: Distribution) -> str:
    return f"{d.variant}: 99 % within {format_value(_at(d, 0.99), 's')}"


def _table(curves: Sequence[Distribution]) -> Table:
    names = {0.5: "median", 1.0: "largest"}
    head = ["class", "variant", *(names.get(q, f"{100 * q:g} % within") for q in _TABLE)]
    rows = [
        [d.cls, d.variant, *(format_value(_at(d, q), "s") for q in _TABLE)]
        for d in sorted(curves, key=lambda d: [c.cls for c in curves].index(d.cls))
    ]
    return Table(head, rows)
