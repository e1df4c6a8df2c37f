"""Policies where packets arrive: what each of their classes let in and dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from spillgate.metrics import format_count, format_rough, format_value
from spillgate.result import Results
from spillgate.rows import Row

MOST_TABLES = 40
"""Policies that are shown; of more, those that dropped most."""


@dataclass(frozen=True)
class Arriving:
    """A class of a policy at arrival; rates count bytes as the link does.

    Attributes:
        depth: How many classes it is in.
        name: Its name.
        let_in: Share of the largest class's offered rate that it let in, 0 to 1.
        offered_share: The same of what came.
        offered: Rate that came, as text.
        carried: Rate that it let in.
        dropped: Share of what came that it dropped.
        packets: Packets that it dropped in a run, in the mean.
    """

    depth: int
    name: str
    let_in: float
    offered_share: float
    offered: str
    carried: str
    dropped: str
    packets: str


@dataclass(frozen=True)
class Gate:
    """The policy at the receiving end of one link in one variant."""

    variant: str
    link: str
    node: str
    policy: str
    classes: tuple[Arriving, ...]


def gates(results: Results) -> tuple[list[Gate], int]:
    """The policies at arrival to show, by variant and link, and how many there are in all."""
    d = results.description
    found: dict[tuple[str, str], dict[str, dict[str, Row]]] = {}
    places = {str(link["name"]): i for i, link in enumerate(d.links)}
    policies = dict(zip(d.variants, d.arriving, strict=False))
    for row in results.table(scope="input"):
        link, cls = _parted(row.name, places)
        found.setdefault((row.variant, link), {}).setdefault(cls, {})[row.metric] = row
    made = []
    for (variant, link), classes in found.items():
        place = places.get(link)
        of = policies.get(variant)
        gate = Gate(
            variant=variant,
            link=link,
            node="" if place is None else str(d.links[place]["to"]),
            policy="" if place is None or of is None else of[place] or "",
            classes=_classes(classes),
        )
        lost = sum(_mean(cells, "drops_policer") for cells in classes.values())
        made.append((lost, gate))
    made.sort(key=lambda m: d.variants.index(m[1].variant))
    if len(made) > MOST_TABLES:
        most = sorted(range(len(made)), key=lambda i: -made[i][0])[:MOST_TABLES]
        return [made[i][1] for i in sorted(most)], len(made)
    return [gate for _, gate in made], len(made)


def _parted(name: str, links: Mapping[str, int]) -> tuple[str, str]:
    """Link and class of `link/class`; names of either may have slashes."""
    ends = [i for i, c in enumerate(name) if c == "/"]
    known = [i for i in ends if name[:i] in links]
    end = known[-1] if known else ends[0]
    return name[:end], name[end + 1 :]


def _classes(classes: dict[str, dict[str, Row]]) -> tuple[Arriving, ...]:
    largest = max((_mean(c, "offered") for c in classes.values()), default=0.0)
    rows = []
    seen: set[str] = set()
    for name, cells in classes.items():
        # A class that contains a policy has no packets of its own: a heading.
        *outer, own = name.split("/")
        for depth in range(len(outer)):
            path = "/".join(outer[: depth + 1])
            if path not in seen:
                seen.add(path)
                rows.append(Arriving(depth, outer[depth], 0.0, 0.0, "", "", "", ""))
        offered, carried = _mean(cells, "offered"), _mean(cells, "carried")
        rows.append(
            Arriving(
                depth=len(outer),
                name=own,
                let_in=carried / largest if largest else 0.0,
                offered_share=offered / largest if largest else 0.0,
                offered=_rate(cells, "offered"),
                carried=_rate(cells, "carried"),
                dropped=_share(max(0.0, offered - carried), offered),
                packets=format_count(_mean(cells, "drops_policer")),
            )
        )
    return tuple(rows)


def _mean(cells: dict[str, Row], metric: str) -> float:
    row = cells.get(metric)
    return 0.0 if row is None or row.mean is None else row.mean


def _share(part: float, of: float) -> str:
    return format_rough(part / of, "1") if of else "–"


def _rate(cells: dict[str, Row], metric: str) -> str:
    return format_value(_mean(cells, metric), "b/s") if _mean(cells, metric) else "0"
