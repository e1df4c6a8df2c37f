"""Tables and figures: figures 2 to 5, fabrics, matchings, and the sweep of the weight."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from spillgate_papers.measured import View
from spillgate_papers.show import By, Curves, Line, Panel, Taken, filled, from_zero, taken
from spillgate_papers.shrivastav.system import (
    CROSSBAR,
    FABRICS,
    MATCHINGS,
    NUS,
    PARALLEL,
    SCHEMES,
    SIZES,
    SMALL,
    Size,
    weight,
)
from spillgate_papers.terms import Term, own

QUEUES: Taken = {
    "input queue": "input queue",
    "of a VOQ": "VOQ",
    "output queue": "output queue",
    "delay in the switch": "delay",
}
DRAWN = (PARALLEL, CROSSBAR)
"""The fabrics of the figures."""
LOSSES: Taken = {
    "utilization": "utilization",
    "loss": "loss",
    "at the inputs": "lost at inputs",
    "at the outputs": "lost at outputs",
}


def queues(size: Size, number: int) -> By:
    """What stands behind the figure with queues."""
    return By(
        f"queues-{size.ports}",
        f"Figure {number}: queues by speedup, {size.name}, {size.full} sessions",
        {"fabric": FABRICS, "scheme": SCHEMES, "speedup": [f"{s:g}" for s in size.speedups]},
        taken(f"{size.name}, {{0}}, {{1}}, {{2}}, {size.full}", QUEUES),
        "Packets, without those that cross or are being sent. Delay: from a packet's arrival at "
        "the switch until the output begins to send it.",
        lambda f, _, s: (float(s), size.full) in size.run_on(f),
    )


def losses(size: Size, number: int) -> By:
    """What stands behind the figure with loss and utilization."""
    return By(
        f"loss-{size.ports}",
        f"Figure {number}: loss and utilization by load, {size.name}, speedup {size.slow:g}",
        {"fabric": FABRICS, "scheme": SCHEMES, "sessions": [str(x) for x in size.loads]},
        taken(f"{size.name}, {{0}}, {{1}}, {size.slow:g}, {{2}}", LOSSES),
        "Packets lost in the switch over those that came to it; mean utilization of the outputs.",
        lambda f, _, x: (size.slow, int(x)) in size.run_on(f),
    )


def _lines(size: Size, key: str, places: Mapping[float, tuple[float, int]]) -> dict[str, Line]:
    """A line for each scheme and fabric."""
    lines: dict[str, Line] = {}
    for x in SCHEMES:
        for f in DRAWN:
            lines[f"{x}, {f}"] = {
                at: own(key, size.at(x, s, load, f))
                for at, (s, load) in places.items()
                if (s, load) in size.run_on(f)
            }
    return lines


def _panel(
    size: Size, key: str, y: str, *, load: bool, factor: float = 1.0, legend: str = ""
) -> Panel:
    places = (
        {float(x): (size.slow, x) for x in size.loads}
        if load
        else {s: (s, size.full) for s in size.speedups}
    )
    return Panel(
        "",
        "sessions in 100 s" if load else "speedup",
        y,
        _lines(size, key, places),
        shades=len(DRAWN),
        legend=legend,
        factor=factor,
        look=from_zero,
    )


def figures(size: Size, number: int) -> tuple[Curves, Curves]:
    """The paper's two figures of a switch."""
    name = f"fig{number:02}-queues-{size.ports}", f"fig{number + 1:02}-loss-{size.ports}"
    return (
        Curves(
            name[0],
            f"Figure {number}: average input and output queue, {size.name}, {size.full} sessions",
            (
                _panel(size, "input queue", "input queue (packets)", load=False, legend="best"),
                _panel(size, "output queue", "output queue (packets)", load=False),
            ),
        ),
        Curves(
            name[1],
            f"Figure {number + 1}: loss and utilization, {size.name}, speedup {size.slow:g}",
            (
                _panel(size, "loss", "loss (%)", load=True, factor=100.0),
                _panel(
                    size, "utilization", "utilization (%)", load=True, factor=100.0, legend="best"
                ),
            ),
        ),
    )


def swept(size: Size, key: str, nu: float) -> Term:
    """What is taken at a weight."""
    return own(key, f"{size.name}, {weight(nu)}")


WEIGHTS = By(
    "weights",
    "The weight of the input queues",
    {"switch": [s.name for s in SIZES], "weight": [weight(x) for x in NUS]},
    taken("{0}, {1}", {"backlog": "backlog", **QUEUES, **LOSSES}),
    "At the lowest speedup and the highest load, parallel links. Backlog: all that waits in the "
    "switch over its ports. With a weight of 0 it is RED.",
)


def _frontier(size: Size) -> Panel:
    def dot(nu: float) -> Callable[[View], list[tuple[float, float]]]:
        def point(v: View) -> list[tuple[float, float]]:
            loss, backlog = (swept(size, k, nu).take(v).quantity.mean for k in ("loss", "backlog"))
            return [(100.0 * (loss or 0.0), backlog or 0.0)]

        return point

    return Panel(
        f"{size.name}, speedup {size.speedups[0]:g}",
        "loss (%)",
        "backlog a port (packets)",
        {weight(x): dot(x) for x in NUS},
        legend="best" if size is SMALL else "",
        dots=True,
    )


FRONTIER = Curves(
    "frontier",
    "Backlog against loss by the weight of the input queues",
    tuple(_frontier(s) for s in SIZES),
    "Each dot is a weight; toward the left and the bottom is better.",
    size=(8.2, 3.4),
)

MATCHED = By(
    "matchings",
    "How a crossbar chooses its pairs",
    {"matching": MATCHINGS},
    taken(f"{SMALL.name}, {{0}}", {**QUEUES, **LOSSES}),
    f"4 x 4 with RED, speedup {SMALL.slow:g}, {SMALL.full} sessions.",
)


def weights_said(size: Size) -> Callable[[View], str]:
    """What the paper's weight brings, and what a larger one does."""
    cells: dict[str, Term] = {}
    said = []
    for i, nu in enumerate((0.0, size.nu, NUS[-1])):
        cells |= {f"b{i}": swept(size, "backlog", nu), f"l{i}": swept(size, "loss", nu)}
        said.append(f"{{b{i}}} and {{l{i}}} with a weight of {nu:g}")
    text = f"Backlog of a port and loss in the {size.name} switch are {', '.join(said)}."
    return filled(text, **cells)
