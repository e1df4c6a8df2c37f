"""Why: how RED spaces its drops, what waits at the inputs, and how packets cross the fabric."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spillgate_papers.measured import View
from spillgate_papers.model import Cell, Section, Table
from spillgate_papers.shrivastav.claims import (
    COMPARED,
    LIGHT,
    against,
    apart,
    at,
    change,
    shortened,
)
from spillgate_papers.shrivastav.silent import VARIANT
from spillgate_papers.shrivastav.system import (
    CELL,
    CROSSBAR,
    LARGE,
    MODIFIED,
    PARALLEL,
    RED,
    ROTATION,
    SCHEMES,
    SIZES,
    SMALL,
    TAIL,
    TOGETHER,
    Size,
)
from spillgate_papers.study import CHOSEN, Study
from spillgate_papers.terms import Term

AGAINST = (TOGETHER, ROTATION, CROSSBAR)
"""The fabrics that are laid beside parallel links."""


def section(study: Study) -> Section:
    """The causes in numbers."""
    return study.section("Why", f"{spaced(study)} {weighed(study.main)}", name="why")


def spaced(study: Study) -> str:
    """What the spacing of drops changes."""
    said = []
    for name, view in (("as ns-2 spaces drops", CHOSEN), ("as in 1993", VARIANT)):
        v = study.settings[view]
        values = [
            str(change(key, size, load).take(v).quantity)
            for size, load in ((SMALL, SMALL.full), (LARGE, LARGE.full))
            for key in ("utilization", "loss")
        ]
        said.append(
            f"{name}, by {values[0]} and {values[1]} in the {SMALL.name} switch, and by "
            f"{values[2]} and {values[3]} in the {LARGE.name} one"
        )
    runs = len(change("loss", SMALL, SMALL.full).take(study.settings[VARIANT]).values)
    return (
        f"At the highest load modified RED changes utilization and loss, {'; '.join(said)} "
        f"({runs} runs)."
    )


def weighed(main: View) -> str:
    """What a lighter weight of the input queues changes, and what a crossbar does."""
    light = main.moved(LIGHT.off)
    slow = SMALL.speedups[0]
    queue, lighter = (shortened(SMALL, slow).take(v).quantity for v in (main, light))
    loss, less = (change("loss", SMALL, SMALL.full).take(v).quantity for v in (main, light))
    inputs = [
        str(at("input queue", SMALL, RED, SMALL.high[0], fabric=f).take(main).quantity)
        for f in (PARALLEL, CROSSBAR)
    ]
    return (
        f"In the {SMALL.name} switch at speedup {slow:g} its output queue is {queue} of that of "
        f"RED, and {loss} of the packets more are lost; with {LIGHT.label} it is {lighter}, and "
        f"{less} more are lost. At speedup {SMALL.high[0]:g} with RED {inputs[0]} wait at an "
        f"input on parallel links, and {inputs[1]} with a crossbar with iSLIP."
    )


def off(
    v: View,
    fabric: str,
    keys: Sequence[str] = COMPARED,
    schemes: Sequence[str] = SCHEMES,
    sizes: Sequence[Size] = SIZES,
    wanted: Callable[[Size, int], bool] = lambda *_: True,
) -> list[float]:
    """By which parts the means on a fabric differ from those on parallel links, ascending."""
    terms = (
        against(key, size, x, s, load, fabric)
        for size in sizes
        for s, load in size.run_on(fabric)
        if wanted(size, load)
        for key in keys
        for x in schemes
    )
    means = (t.take(v).quantity.mean for t in terms)
    return sorted(abs(m - 1) for m in means if m is not None)


def crossed(v: View) -> str:
    """Which part of the difference is that packets cross together, and which is not."""
    cells = off(v, TOGETHER)
    said = []
    for size in SIZES:
        for who, schemes in (("drop-tail and RED", (TAIL, RED)), ("modified RED", (MODIFIED,))):
            full, other = (
                [
                    percent(off(v, ROTATION, (key,), schemes, (size,), wanted)[-1])
                    for key in ("output queue", "loss")
                ]
                for wanted in (lambda s, n: n == s.full, lambda s, n: n < s.full)
            )
            said.append(
                f"in the {size.name} switch the output queue of {who} by up to {full[0]} and its "
                f"loss by up to {full[1]} at the highest load, at others by up to {other[0]} and "
                f"{other[1]}"
            )
    half, most = (percent(quantile(cells, share)) for share in (0.5, 0.9))
    return (
        "A crossbar that connects its ports in rotation, whatever waits, and in slots of "
        f"{CELL} B is the parallel fabric: of {len(cells)} means (output queue, input queue and "
        f"loss with each scheme at each point) half are within {half} of those on parallel links, "
        f"nine in ten within {most}, and all within {percent(cells[-1])}. So what is left of the "
        "difference to a crossbar with iSLIP is that this is work-conserving. In slots of a "
        "packet the packets of an input cross one by one, with the same shares of the fabric; "
        f"that changes {'; '.join(said)}."
    )


def percent(share: float) -> str:
    """In words.

    Example:
        >>> percent(0.0312)
        '3.1 %'
    """
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"


def quantile(ordered: Sequence[float], share: float) -> float:
    """What a share of ascending values does not exceed."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def fabrics(study: Study) -> Section:
    """The fabrics beside parallel links."""
    v = study.main
    rows: list[tuple[Cell, ...]] = []
    for size in SIZES:
        for fabric in AGAINST:
            for x in SCHEMES:
                first = (size.name, fabric) if x is SCHEMES[0] else ("", "")
                terms: list[Term] = []
                for key in COMPARED:
                    here = [against(key, size, x, s, n, fabric) for s, n in size.run_on(fabric)]
                    slow = against(key, size, x, size.speedups[0], size.full, fabric)
                    terms += [slow, max(here, key=lambda t: apart(t.take(v).quantity))]
                rows.append((*first, x, *(t.take(v).quantity for t in terms)))
    head = [h for key in COMPARED for h in (key, "farthest from 1")]
    table = Table(
        "fabrics",
        "Fabrics over parallel links",
        ("switch", "fabric", "scheme", *head),
        tuple(rows),
        "Ratios in runs under the same seeds: at the lowest speedup and the highest load, then at "
        "the point at which the ratio is farthest from 1.",
    )
    return study.section("What crosses together", crossed(v), (table,), name="fabrics")
