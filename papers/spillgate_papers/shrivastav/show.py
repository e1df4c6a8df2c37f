"""Figures 2 to 5, fabrics, matchings, the sweep of the weight, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from spillgate_papers.measured import View
from spillgate_papers.model import Cell, Section
from spillgate_papers.show import By, Column, Curves, Panel, Taken, taken
from spillgate_papers.shrivastav import system
from spillgate_papers.shrivastav.system import CROSSBAR, PARALLEL, SCHEMES, SIZES, SMALL, Size
from spillgate_papers.study import CHOSEN, Study
from spillgate_papers.terms import Term, own
from spillgate_papers.texts import Texts

TEXTS = Texts.read(system.FOLDER / "paper.md")
QUEUES: Taken = {
    "input queue": "input queue",
    "of a VOQ": "VOQ",
    "output queue": "output queue",
    "delay in the switch": "delay",
}
LOSSES: Taken = {
    **{k: k for k in ("utilization", "loss")},
    **{f"at the {x}": f"lost at {x}" for x in ("inputs", "outputs")},
}


def changed(key: str, size: Size, s: float, load: int) -> tuple[Term, Term]:
    """What is taken with modified RED and with RED."""
    return own(key, size.at(system.MODIFIED, s, load)), own(key, size.at(system.RED, s, load))


def change(key: str, size: Size) -> Term:
    """What modified RED adds at the highest load, at the speedup of the experiment with loads."""
    modified, red = changed(key, size, size.slow, size.full)
    return modified - red


def behind(size: Size) -> tuple[By, By]:
    """What stands behind the paper's two figures of a switch."""
    axes = {"fabric": system.FABRICS, "scheme": SCHEMES}
    return (
        TEXTS.by(
            f"queues-{size.ports}",
            {**axes, "speedup": [f"{s:g}" for s in size.speedups]},
            taken(f"{size.name}, {{0}}, {{1}}, {{2}}, {size.full}", QUEUES),
            where=lambda f, _, s: (float(s), size.full) in size.run_on(f),
        ),
        TEXTS.by(
            f"loss-{size.ports}",
            {**axes, "sessions": [str(x) for x in size.loads]},
            taken(f"{size.name}, {{0}}, {{1}}, {size.slow:g}, {{2}}", LOSSES),
            where=lambda f, _, x: (size.slow, int(x)) in size.run_on(f),
        ),
    )


def frontier(size: Size) -> Panel:
    """A dot for each weight."""

    def dot(weight: str) -> Callable[[View], list[tuple[float, float]]]:
        terms = [own(k, f"{size.name}, {weight}") for k in ("loss", "backlog")]

        def point(v: View) -> list[tuple[float, float]]:
            loss, backlog = (term.take(v).quantity.mean or 0.0 for term in terms)
            return [(100.0 * loss, backlog)]

        return point

    title, y = f"{size.name}, speedup {size.speedups[0]:g}", "backlog a port (packets)"
    legend = "best" if size is SMALL else ""
    dots = {w: dot(w) for w in (f"nu = {x:g}" for x in system.WEIGHTS)}
    return Panel(title, "loss (%)", y, dots, legend=legend, dots=True)


FRONTIER = TEXTS.curves("frontier", *map(frontier, SIZES.values()), size=(8.2, 3.4))


def why(study: Study) -> Iterator[Section]:
    """The causes in numbers: how RED spaces its drops, and what waits at the inputs."""
    variant = study.settings["red.variant, drops spaced as in 1993"]
    loss, (short, long) = change("loss", SMALL), changed("output queue", SMALL, 1.1, SMALL.full)
    light = study.switched(system.LIGHTER)[0]
    cells: dict[str, Term | str] = {
        f"{key} {size.ports}{year}": str(change(key, size).take(view).quantity)
        for year, view in (("", study.settings[CHOSEN]), (" 1993", variant))
        for size in SIZES.values()
        for key in ("utilization", "loss")
    }
    cells |= {
        f: own("input queue", SMALL.at(system.RED, 2.0, fabric=f)) for f in (PARALLEL, CROSSBAR)
    }
    cells |= {"runs": str(len(loss.take(variant).values)), "queue": short / long, "more": loss}
    cells["lighter"] = str((short / long).take(light).quantity)
    text = TEXTS.said("why", less=str(loss.take(light).quantity), **cells)(study.main)
    yield study.section("Why", text, name="why")


def off(
    v: View,
    fabric: str,
    keys: Sequence[str] = system.COMPARED,
    schemes: Sequence[str] = SCHEMES,
    sizes: Sequence[Size] = tuple(SIZES.values()),
    loads: Sequence[int] = (),
) -> list[float]:
    """By which parts the means on a fabric differ from those on parallel links, ascending."""
    terms = (
        system.against(key, size, x, s, load, fabric)
        for size in sizes
        for s, load in size.run_on(fabric)
        if load in (loads or size.loads)
        for key in keys
        for x in schemes
    )
    means = (t.take(v).quantity.mean for t in terms)
    return sorted(abs(m - 1) for m in means if m is not None)


def crossed(v: View) -> str:
    """Which part of the difference is that packets cross together, and which is not."""
    cells, said = off(v, system.TOGETHER), []
    for size in SIZES.values():
        for who, schemes in (("drop-tail and RED", SCHEMES[:2]), ("modified RED", SCHEMES[2:])):
            parts = {
                f"{key} {when}": percent(
                    off(v, system.ROTATION, (key,), schemes, (size,), loads)[-1]
                )
                for key in ("output queue", "loss")
                for when, loads in (("full", size.loads[-1:]), ("other", size.loads[:-1]))
            }
            said.append(TEXTS.said("rotation", switch=size.name, who=who, **parts)(v))
    half, most = (percent(cells[min(len(cells) - 1, int(x * len(cells)))]) for x in (0.5, 0.9))
    found = {"n": str(len(cells)), "half": half, "most": most, "all": percent(cells[-1])}
    return TEXTS.said("crossed", **found, changed="; ".join(said))(v)


def percent(share: float) -> str:
    """In words.

    Example:
        >>> percent(0.0312)
        '3.1 %'
    """
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"


def _fabrics() -> By:
    columns: dict[str, Column] = {}
    for key in system.COMPARED:

        def slow(name: str, fabric: str, x: str, key: str = key) -> Term:
            size = SIZES[name]
            return system.against(key, size, x, size.speedups[0], size.full, fabric)

        def farthest(name: str, fabric: str, x: str, key: str = key) -> Callable[[View], Cell]:
            size = SIZES[name]
            terms = [system.against(key, size, x, s, n, fabric) for s, n in size.run_on(fabric)]
            return lambda v: max((t.take(v).quantity for t in terms), key=system.apart)

        columns |= {key: slow, f"{key}, farthest from 1": farthest}
    rows = {
        "switch": tuple(SIZES),
        "fabric": (system.TOGETHER, system.ROTATION, CROSSBAR),
        "scheme": SCHEMES,
    }
    return TEXTS.by("fabrics", rows, columns)


def measured(study: Study, *drawn: Curves) -> Iterator[Section]:
    """The paper's figures, and the tables behind them."""
    tables = tuple(t.table(study.main) for size in SIZES.values() for t in behind(size))
    pictures = tuple(c.picture(study.main) for c in drawn)
    yield replace(study.measured(), tables=tables, pictures=pictures)


def crossing(study: Study) -> Iterator[Section]:
    """The fabrics beside parallel links."""
    text = crossed(study.main)
    yield study.section("What crosses together", text, (_fabrics(),), name="fabrics")
