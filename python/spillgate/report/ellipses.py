"""Delay against goodput of what is compared: means of runs with ellipses around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import cos, pi, sin, sqrt
from statistics import fmean

from spillgate.metrics import Scale, scale_for
from spillgate.report.svg import Axis, Line, Panel
from spillgate.statistics import covariance

Pairs = list[tuple[float, float]]
"""The two values of each run."""

_CORNERS = 48


def ellipse(pairs: Pairs) -> Pairs:
    """The outline within one standard deviation of a normal distribution fitted to points.

    It is that of RFC 7928, section 2.7. Of points on a line it is a line; one point has none.

    Example:
        >>> outline = ellipse([(0.0, 0.0), (2.0, 0.0), (1.0, 3.0), (1.0, -3.0)])
        >>> round(max(x for x, _ in outline), 3), round(max(y for _, y in outline), 3)
        (1.816, 2.449)
    """
    if len(pairs) < 2:
        return []
    mx, my = (fmean(of) for of in zip(*pairs, strict=True))
    xx, xy, yy = covariance([x for x, _ in pairs], [y for _, y in pairs])
    # The image of a circle under Cholesky's root of the covariance.
    a = sqrt(xx)
    b = xy / a if a > 0.0 else 0.0
    c = sqrt(max(0.0, yy - b * b))
    turns = [2.0 * pi * i / _CORNERS for i in range(_CORNERS)]
    return [(mx + a * cos(t), my + b * cos(t) + c * sin(t)) for t in turns]


def panel(
    title: str,
    x: tuple[str, str],
    y: tuple[str, str],
    pairs: Mapping[str, Pairs],
    styles: Mapping[str, int],
) -> Panel:
    """A chart with a mean and an ellipse of each.

    Args:
        title: Above it.
        x: What the first values are, and their base unit.
        y: The same of the second.
        pairs: The values of the runs of each, at least of one.
        styles: The color of each.
    """
    every = [p for of in pairs.values() for p in of]
    across, up = (scale_for(unit, [p[i] for p in every]) for i, (_, unit) in enumerate((x, y)))
    lines = []
    for name, of in pairs.items():
        scaled = [(a * across.factor, b * up.factor) for a, b in of]
        mean = fmean(a for a, _ in scaled), fmean(b for _, b in scaled)
        lines.append(Line(name, styles[name], [mean], ellipse(scaled)))
    seen = [p for line in lines for p in (*line.points, *line.band) if p is not None]
    return Panel(
        title,
        _axis([p[0] for p in seen], x[0], across),
        _axis([p[1] for p in seen], y[0], up),
        lines,
        summary="; ".join(
            f"{w.name} at {p[0]:.4g}, {p[1]:.4g}" for w in lines for p in w.points if p
        ),
    )


def _axis(values: Sequence[float], label: str, scale: Scale) -> Axis:
    low, high = min(values), max(values)
    room = 0.06 * (high - low) or 0.05 * abs(high) or 1.0
    log = low > 0.0 and high > 20.0 * low
    if log:
        return Axis(low / 1.2, high * 1.2, label, scale.unit, log=True)
    return Axis(max(0.0, low - room) if low >= 0.0 else low - room, high + room, label, scale.unit)
