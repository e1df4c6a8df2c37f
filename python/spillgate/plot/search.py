"""Figures of what was found: what requirements measure along the values, and frontiers."""

from __future__ import annotations

from matplotlib.figure import Figure

from spillgate.find import Answer, Frontier
from spillgate.metrics import scale_for
from spillgate.plot.layout import finish, fitted, said_of, small
from spillgate.plot.style import NotebookFigure, styled
from spillgate.search import ladder

_PANELS = 6
"""Requirements that are drawn: first those that change their verdict."""


@styled()
def answer(found: Answer) -> Figure:
    """What each requirement measures along the values tried, its bound, and the answer."""
    points = found.points
    count = len(points[0].verdicts)
    kinds = [{p.verdicts[k].verdict for p in points} for k in range(count)]
    order = sorted(range(count), key=lambda k: -len(kinds[k]))[:_PANELS]
    figure = NotebookFigure(figsize=(6.4, 1.2 + 1.9 * len(order)), layout="constrained")
    panels = figure.subplots(len(order), 1, sharex=True, squeeze=False)[:, 0]
    unit = ladder(found.key.start, found.key.stop, found.key.within).unit
    along = scale_for(unit, [p.number for p in points])
    xs = [p.number * along.factor for p in points]
    chosen = next(p.number for p in points if p.value == found.value) * along.factor
    for axes, k in zip(panels, order, strict=True):
        of = [p.verdicts[k] for p in points]
        scale = scale_for(of[0].unit, [v.mean for v in of])
        ys = [float("nan") if v.mean is None else v.mean * scale.factor for v in of]
        halves = [
            0.0 if v.high is None or v.mean is None else (v.high - v.mean) * scale.factor
            for v in of
        ]
        axes.errorbar(xs, ys, yerr=halves, marker="o", linewidth=1, markersize=3, color="C0")
        axes.axhline(of[0].bound * scale.factor, color="C1", linestyle="--", linewidth=1)
        axes.axvline(chosen, color="0.5", linestyle=":", linewidth=1)
        title = f"{of[0].whose}: {of[0].words}"
        axes.set_title(fitted(title, 5.6, small(), bold=True), fontsize=small(), loc="left")
        axes.set_ylabel("" if scale.unit == "1" else scale.unit)
    name = found.key.path.split(".", 1)[-1]
    unit = "" if along.unit == "1" else along.unit
    panels[-1].set_xlabel(fitted(said_of(name, unit), 5.6, small() + 1.0))
    finish(figure, {}, f"{found.key.word} {name}: {found.value}")
    return figure


@styled()
def frontier(found: Frontier) -> Figure:
    """The first key's answer over the second key."""
    figure = NotebookFigure(figsize=(6.4, 4.0), layout="constrained")
    axes = figure.subplots()
    first, second = found.first.ladder, found.second.ladder
    there = dict(zip(first.texts, first.numbers, strict=True))
    along = dict(zip(second.texts, second.numbers, strict=True))
    pairs = [(along[v], there[a.value]) for v, a in found.answers if isinstance(a, Answer)]
    xs, ys = scale_for(second.unit, second.numbers), scale_for(first.unit, first.numbers)
    axes.plot([x * xs.factor for x, _ in pairs], [y * ys.factor for _, y in pairs], marker="o")
    for set_label, key, unit, room in (
        (axes.set_xlabel, found.second, xs.unit, 5.4),
        (axes.set_ylabel, found.first, ys.unit, 3.2),
    ):
        said = said_of(key.path, "" if unit == "1" else unit)
        set_label(fitted(said, room, small() + 1.0))
    finish(figure, {}, f"{found.first.word} {found.first.path}")
    return figure
