"""Maps of the verdicts: of all requirements together, and of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spillgate.labels import words
from spillgate.points import FULL
from spillgate.report.layout import Block, Shares, blocks, shares
from spillgate.report.study import MOST_POINTS, Requirement, Study, tallied

MOST_CELLS = 12_000
"""Cells of all maps together; further requirements, those that most points meet, have no map."""

_ROOMY = 60
"""Points up to which the cells of a map have numbers."""


@dataclass(frozen=True)
class Cell:
    """A point in a map: its number, verdict and mark, and in a roomy map the value."""

    number: int
    verdict: str
    mark: str
    text: str


@dataclass(frozen=True)
class Map:
    """The verdicts of one requirement, or of all together, at the points.

    Attributes:
        title: The requirement.
        exact: The same as the scenario has it.
        counts: How many points have which verdict.
        blocks: The tables, each with its cells by row.
        roomy: Whether cells have values beside their marks.
        notes: How points in an order stand.
    """

    title: str
    exact: str
    counts: Sequence[tuple[str, str, int]]
    blocks: Sequence[tuple[Block, Sequence[tuple[str, Sequence[Cell | None]]]]]
    roomy: bool
    notes: Sequence[str]


def verdict_maps(study: Study) -> list[Map]:
    """The maps there is room for; none of more points than have cells."""
    d = study.description
    if not study.requirements or len(d.points) > MOST_POINTS:
        return []
    tables = blocks(d.axes, list(enumerate(d.points)), d.design, study.order)
    roomy = len(d.points) <= _ROOMY and d.design == FULL
    kept = study.kept(max(1, MOST_CELLS // len(d.points) - 1))
    found = [_of_requirement(study, tables, r, roomy=roomy) for r in kept]
    if len(study.requirements) > 1:
        found.insert(0, _map(study, tables, "All requirements", "", study.verdicts, {}))
    return found


def _of_requirement(study: Study, tables: Sequence[Block], r: Requirement, *, roomy: bool) -> Map:
    verdicts = {n: v.verdict for n, v in r.by.items()}
    texts = {n: v.measured for n, v in r.by.items()} if roomy else {}
    return _map(study, tables, r.text, r.first.requirement, verdicts, texts)


def _map(
    study: Study,
    tables: Sequence[Block],
    title: str,
    exact: str,
    verdicts: Mapping[str, str],
    texts: Mapping[str, str],
) -> Map:
    names = [p.name for p in study.description.points]
    marks = {name: str(of["mark"]) for name, of in words("verdicts").items()}

    def cell(number: int | None) -> Cell | None:
        if number is None:
            return None
        verdict = verdicts.get(names[number], "")
        return Cell(number, verdict, marks.get(verdict, "·"), texts.get(names[number], ""))

    placed = [(b, [(head, [cell(n) for n in row]) for head, row in b.rows]) for b in tables]
    notes = list(dict.fromkeys(b.note for b in tables if b.note))
    return Map(title, exact, tallied(verdicts.values()), placed, bool(texts), notes)


def pass_shares(study: Study) -> Shares | None:
    """How many points pass by the two axes that decide most; of more points than have cells."""
    d = study.description
    if not study.decided or len(d.points) <= MOST_POINTS or len(study.order) < 2:
        return None
    across, down = study.order[:2]
    places = [
        (p.places[across], p.places[down], study.verdicts[p.name] == "pass") for p in d.points
    ]
    return shares(d.axes[across], d.axes[down], places)
