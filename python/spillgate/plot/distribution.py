"""How delays are distributed: curves of the share of packets that is later than x, or is not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from spillgate.metrics import Scale, scale_for
from spillgate.plot.layout import (
    Facet,
    Handle,
    called,
    facets,
    finish,
    multiples,
    said_of,
)
from spillgate.plot.style import pens, plain, plain_numbers, styled
from spillgate.result import Results
from spillgate.rows import Distribution

Shape = Literal["ccdf", "cdf", "both"]
"""Whether curves fall (packets later than x), rise (not later), or both stand side by side."""

SAID = {"ccdf": "packets later than x", "cdf": "packets within x"}
"""What goes up."""


def ccdf(
    results: Results,
    *,
    names: Sequence[str] | None = None,
    variants: Sequence[str] | None = None,
    rows: str = "",
    columns: str = "",
    log: bool | None = None,
    title: str = "",
) -> Figure:
    """How many packets are delayed by more than x, one panel a class; see `distribution`."""
    return distribution(
        results,
        shape="ccdf",
        names=names,
        variants=variants,
        rows=rows,
        columns=columns,
        log=log,
        title=title,
    )


def distribution(
    results: Results,
    *,
    shape: Shape = "both",
    names: Sequence[str] | None = None,
    variants: Sequence[str] | None = None,
    rows: str = "",
    columns: str = "",
    log: bool | None = None,
    title: str = "",
) -> Figure:
    """How many packets are delayed by at most x (CDF), and by more (CCDF).

    The share that is later has a logarithmic axis, on which tails are seen; the share that is not
    has a linear one, on which medians are.

    Args:
        results: What was measured.
        shape: `cdf`, `ccdf`, or `both` beside each other.
        names: Which classes, in this order; all if not given.
        variants: Which points or variants; all if not given.
        rows: An axis whose values have a panel each, below each other, in place of classes.
        columns: An axis whose values have a panel each, side by side.
        log: Logarithmic delays; if not given where they differ by more than 20 times.
        title: Above the figure.

    Raises:
        ValueError: If nothing matches, or several classes are to be shown in panels of an axis.
    """
    d = results.description
    chosen = [
        p for p in d.points if variants is None or p.name in variants or p.variant in variants
    ]
    of_names = {p.name for p in chosen}
    curves = [c for c in results.distributions() if c.variant in of_names and any(c.owd)]
    classes = list(names) if names is not None else list(dict.fromkeys(c.cls for c in curves))
    classes = [n for n in classes if any(c.cls == n for c in curves)]
    if not classes:
        msg = "there is no delay distribution"
        raise ValueError(msg)
    if (rows or columns) and len(classes) > 1:
        msg = f"panels of an axis show one class; name one of {', '.join(classes)}"
        raise ValueError(msg)
    if (rows or columns) and shape == "both":
        msg = "panels of an axis show a cdf or a ccdf, not both"
        raise ValueError(msg)
    low, high = _extent(curves)
    logarithmic = high > 20.0 * low if log is None else log
    scale = scale_for("s", [high])
    with styled():
        plan = _plan(results, classes, shape, rows, columns)
        of_axes = bool(rows or columns)
        figure, panels = multiples(
            [facet for facet, _, _ in plan],
            width=max(4.6, 2.7 * min(3, len(plan))),
            height=2.1,
            most=3,
            sharex=True if of_axes or logarithmic else "row" if shape == "both" else False,
            sharey="col" if shape == "both" else True,
            label=(
                said_of("one-way delay x", scale.unit, log=logarithmic),
                SAID.get(shape, "share of packets"),
            ),
        )
        labels = called(d, chosen, (rows, columns))
        every = dict.fromkeys(labels[c.variant] for c in curves)
        order = [label for label in dict.fromkeys(labels.values()) if label in every]
        found = dict(zip(order, pens(len(order)), strict=True))
        handles: dict[str, Handle] = {}
        for panel, (facet, cls, one) in zip(panels, plan, strict=True):
            shown = {p.name for p in facet.points}
            for c in (c for c in curves if c.cls == cls and c.variant in shown):
                label = labels[c.variant]
                xs, ys = _points(c, one, scale, positive=logarithmic)
                handles[label] = panel.plot(xs, ys, **plain(found[label]))[0]
            _scales(panel, one, log=logarithmic)
        finish(figure, {label: handles[label] for label in order if label in handles}, title)
    return figure


def _extent(curves: Sequence[Distribution]) -> tuple[float, float]:
    """The least and the largest delay above zero."""
    delays = [v for c in curves for v in c.owd if v]
    return min(delays), max(delays)


def _plan(
    results: Results, classes: Sequence[str], shape: Shape, rows: str, columns: str
) -> list[tuple[Facet, str, str]]:
    """The panels: each with its class and whether it is a CDF or a CCDF."""
    d = results.description
    if rows or columns:
        return [(facet, classes[0], shape) for facet in facets(d, rows, columns, ())]
    if shape != "both":
        return [(Facet(cls, d.points), cls, shape) for cls in classes]
    return [
        (
            Facet(
                f"{SAID[one]} ({one.upper()})" if r == 0 else "",
                d.points,
                cls if c == 1 and len(classes) > 1 else "",
                (r, c),
            ),
            cls,
            one,
        )
        for r, cls in enumerate(classes)
        for c, one in enumerate(("cdf", "ccdf"))
    ]


def _points(
    curve: Distribution, shape: str, scale: Scale, *, positive: bool
) -> tuple[list[float], list[float]]:
    """Delays in the unit that is shown, and the shares that are later or not."""
    known = [(q, v) for q, v in zip(curve.q, curve.owd, strict=True) if v is not None]
    if positive:
        known = [(q, v) for q, v in known if v > 0.0]
    if shape == "ccdf":
        known = [(1.0 - q, v) for q, v in known if q < 1.0]
    return [v * scale.factor for _, v in known], [q for q, _ in known]


def _scales(panel: Axes, shape: str, *, log: bool) -> None:
    if shape == "ccdf":
        panel.set_yscale("log")
        panel.yaxis.set_minor_locator(NullLocator())
    else:
        panel.set_ylim(0.0, 1.02)
    if log:
        panel.set_xscale("log")
        plain_numbers(panel.xaxis)
    panel.grid(visible=True, axis="both")
