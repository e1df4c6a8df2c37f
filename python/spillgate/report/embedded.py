"""What the script of a study's page needs, as compact JSON: each number once, in its unit.

Values of points stand in lists, a place a point, so that names are written once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spillgate.labels import words
from spillgate.metrics import Scale, format_rough, scale_for
from spillgate.points import FULL, Axis, Point
from spillgate.report.influence import grouped
from spillgate.report.study import Requirement, Study
from spillgate.report.tables import differences_by_point, loss_table
from spillgate.rows import Distribution
from spillgate.tables import Column
from spillgate.visible import visible

MOST_NUMBERS = 80_000
"""Means of classes that a page has; of more classes and points fewer metrics are kept."""

MOST_TEXTS = 60_000
"""Texts of what was measured for requirements; beyond, those that most points meet have none."""

MOST_COMPARED = 200
"""Points up to which each has its differences to other variants."""

_LEVELS = (0.5, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9998, 0.9999, 0.99998, 0.99999, 1.0)
"""Levels of the distributions of delays that are kept."""

_FEW_LEVELS = (0.5, 0.9, 0.99, 0.999, 1.0)
"""Those of more classes and points."""

MOST_DELAYS = 60_000
"""Delays of the distributions that a page has; where few levels are too many, there are none."""


@dataclass(frozen=True)
class Embedded:
    """The data, and what was left out of them.

    Attributes:
        text: The JSON, without `<`, to stand in a `script` element.
        omitted: Sentences on what is left out; empty if nothing is.
    """

    text: str
    omitted: Sequence[str]


def embedded(study: Study) -> Embedded:
    """The data of a study's page."""
    d, points = study.description, study.shown
    requirements = _kept_requirements(study)
    columns, left = _kept_columns(study)
    variants = list(dict.fromkeys(p.variant for p in points))
    data = {
        "full": d.design == FULL,
        "several": len({p.variant for p in d.points}) > 1,
        "variants": variants,
        "names": [p.name for p in points],
        "variant": [variants.index(p.variant) for p in points],
        "axes": [_axis(a, i, points) for i, a in enumerate(d.axes)],
        "order": study.order,
        "marks": {k: v["mark"] for k, v in words("verdicts").items()},
        "verdict": _letters(points, study.verdicts),
        "requirements": [_requirement(r, points, columns) for r in requirements],
        "hardest": next(
            (i for r in study.hardest[:1] for i, k in enumerate(requirements) if k is r), None
        ),
        "worst": study.answer().worst,
        "classes": d.classes,
        "metrics": [_metric(c) for c in columns],
        "mean": [[_means(study, points, cls, c) for c in columns] for cls in d.classes],
        "half": [[_halves(study, points, cls, c) for c in columns] for cls in d.classes],
        "differences": _differences(study, points),
        "losses": _losses(study, points),
        "delays": _delays(study, points),
    }
    text = json.dumps(_visible(data), ensure_ascii=False, separators=(",", ":"))
    return Embedded(text.replace("<", "\\u003c"), _omitted(study, requirements, left))


def _omitted(
    study: Study, requirements: Sequence[Requirement], left: Sequence[Column]
) -> list[str]:
    total, shown = len(study.description.points), len(study.shown)
    said = []
    if shown < total:
        said.append(
            f"{shown:,} of {total:,} points have a row, a dot and details; the answer counts all"
        )
    if _compared(study) and shown > MOST_COMPARED:
        said.append("differences between variants at each point")
    if left:
        said.append(f"{', '.join(c.head for c in left)} of classes")
    if not _levels(study):
        said.append("curves of the delays of classes")
    if len(requirements) < len(study.requirements):
        said.append(
            f"measured values of {len(study.requirements) - len(requirements)} requirements that "
            "most points meet"
        )
    return said


def _kept_requirements(study: Study) -> list[Requirement]:
    return study.kept(max(1, MOST_TEXTS // max(1, len(study.shown))))


def _kept_columns(study: Study) -> tuple[list[Column], list[Column]]:
    """The columns that there is room for, what is required first, and those left out."""
    columns = [*study.columns.shown, *study.columns.tcp]
    room = max(1, MOST_NUMBERS // max(1, len(study.shown) * len(study.description.classes)))
    required = {r.first.metric for r in study.requirements}
    ranked = sorted(columns, key=lambda c: c.metric not in required)[:room]
    return [c for c in columns if c in ranked], [c for c in columns if c not in ranked]


def _visible(value: object) -> object:
    """The same without characters that could do harm; the names of objects are ours."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {k: _visible(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)) and value and not isinstance(value[0], (int, float)):
        return [_visible(v) for v in value]
    return value


def _letters(points: Sequence[Point], verdicts: Mapping[str, str]) -> str:
    """`p`, `f` or `u` for each point, `-` without a verdict."""
    return "".join((verdicts.get(p.name) or "-")[0] for p in points)


def _digits(value: float | None, digits: int = 6) -> float | int | None:
    if value is None:
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def _axis(axis: Axis, index: int, points: Sequence[Point]) -> dict[str, Any]:
    places = [p.places[index] for p in points]
    used = {place: i for i, place in enumerate(sorted(set(places)))}
    made: dict[str, Any] = {
        "name": axis.name,
        "labels": [axis.labels[i] for i in used],
        "places": [used[i] for i in places],
        "groups": [[label, [used[i] for i in of]] for label, of in grouped(axis, places)],
    }
    if axis.numbers is not None:
        scale = scale_for(axis.unit or "", axis.numbers)
        made["at"] = [_digits(axis.numbers[i] * scale.factor) for i in used]
        made["unit"] = scale.unit if axis.unit else ""
    return made


def _requirement(
    r: Requirement, points: Sequence[Point], columns: Sequence[Column]
) -> dict[str, Any]:
    v = r.first
    # Most points share a few notes: each is written once.
    kinds: dict[str, int] = {}
    notes = {
        i: kinds.setdefault(note, len(kinds))
        for i, p in enumerate(points)
        if (one := r.by.get(p.name)) and (note := one.advice or one.note)
    }
    # Of sites, code points and customers no chart of a class shows the values.
    plain = v.customer is None and v.about == v.cls and not v.certain
    column = next((c for c in columns if plain and c.metric == v.metric), None)
    return {
        "whose": r.whose,
        "text": v.words + (f" ({v.basis})" if v.basis else ""),
        "verdict": _letters(points, {n: o.verdict for n, o in r.by.items()}),
        "said": {o.verdict[0]: o.said for o in r.by.values()},
        "measured": [r.by[p.name].measured if p.name in r.by else "" for p in points],
        "notes": notes,
        "kinds": list(kinds),
        "class": v.cls,
        "metric": v.metric,
        "limit": None if column is None else _digits(v.bound * column.scale.factor),
    }


def _metric(column: Column) -> dict[str, Any]:
    return {
        "name": column.metric,
        "head": column.head,
        "unit": column.unit,
        "meaning": column.meaning,
        "decimals": column.decimals,
    }


def _means(study: Study, points: Sequence[Point], cls: str, c: Column) -> list[Any] | None:
    found = [c.value(study.columns.rows.get((p.name, cls), {})) for p in points]
    if all(v is None for v in found):
        return None
    return [_digits(None if v is None else v * c.scale.factor) for v in found]


def _halves(study: Study, points: Sequence[Point], cls: str, c: Column) -> list[Any] | None:
    rows = [study.columns.rows.get((p.name, cls), {}).get(c.metric) for p in points]
    found = [None if r is None or r.half is None else r.half * c.scale.factor for r in rows]
    return None if not any(found) else [_digits(v, 5) for v in found]


def _compared(study: Study) -> bool:
    """Whether variants are compared; points of one variant have different loads."""
    return len({p.variant for p in study.description.points}) > 1


def _differences(study: Study, points: Sequence[Point]) -> dict[int, list[list[Any]]]:
    """For each point: the number of the other one, class, metric, difference, and what it is."""
    if not _compared(study) or len(points) > MOST_COMPARED:
        return {}
    numbers = {p.name: i for i, p in enumerate(points)}
    return {
        numbers[name]: [[numbers[other], *texts] for other, *texts in rows if other in numbers]
        for name, rows in differences_by_point(study.results).items()
        if name in numbers
    }


def _losses(study: Study, points: Sequence[Point]) -> dict[str, Any] | None:
    """For each class the causes' shares of the sent packets, by point as texts."""
    table = loss_table(study.results)
    if table is None:
        return None
    numbers = {p.name: i for i, p in enumerate(points)}
    return {
        "causes": [c.name for c in table.causes],
        "of": {
            cls: {
                numbers[r.variant]: [
                    [i, format_rough(s / 100, "1"), _digits(s, 3)] for i, s in r.parts
                ]
                for r in rows
                if r.parts and r.variant in numbers
            }
            for cls, rows in table.groups
        },
    }


def _levels(study: Study) -> tuple[float, ...]:
    """As many levels as there is room for."""
    each = len(study.shown) * len(study.description.classes)
    return next((of for of in (_LEVELS, _FEW_LEVELS) if len(of) * each <= MOST_DELAYS), ())


def _delays(study: Study, points: Sequence[Point]) -> dict[str, Any] | None:
    """For each class and point the delays that shares of the packets exceed."""
    # A class that is not there at a point has an empty one.
    by = {(o.cls, o.variant): o for o in study.results.distributions() if o.owd}
    if not by or not _levels(study):
        return None
    q = next(iter(by.values())).q
    places = [i for i, level in enumerate(q) if level in _levels(study)]
    scale = scale_for("s", _every(o.owd[i] for o in by.values() for i in places))
    return {
        "later": [_digits(100 * (1 - q[i])) for i in places],
        "unit": scale.unit,
        "of": [
            [_curve(by.get((cls, p.name)), places, scale) for p in points]
            for cls in study.description.classes
        ],
    }


def _every(values: Iterable[float | None]) -> list[float]:
    return [v for v in values if v is not None]


def _curve(of: Distribution | None, places: Sequence[int], scale: Scale) -> list[Any] | None:
    if of is None or of.owd[-1] is None:
        return None
    return [_digits(None if (v := of.owd[i]) is None else v * scale.factor, 4) for i in places]
