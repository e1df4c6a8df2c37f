"""What searches found, as tables and sentences."""

from __future__ import annotations

from collections.abc import Iterator

from spillgate.best import Best
from spillgate.find import Answer, Frontier
from spillgate.labels import mark_of, short_of
from spillgate.metrics import format_number, format_value, scale_of
from spillgate.objective import Objective
from spillgate.stress import Stressed
from spillgate.tables import Table
from spillgate.tuning import Tuned

TRAFFIC = {
    "none": "none",
    "cbr": "as much at a constant rate",
    "poisson": "as much at random (Poisson)",
    "worst": "the worst found",
}
"""Kinds of cross traffic in words."""


def tried(found: Answer) -> Table:
    """The values that `find` tried; the answer stands out."""
    rows = []
    for p in found.points:
        first = p.broken[0] if p.broken else None
        why = "" if first is None else f"{first.whose}: {first.words}, measured {first.measured}"
        rows.append((p.value, str(p.runs), mark_of(p.verdict, p.verdict), why))
    chosen = [i for i, p in enumerate(found.points) if p.value == found.value]
    head = ("value", "runs", "verdict", "first of what does not hold")
    return Table(head, rows, right=(0, 1), chosen=chosen)


def frontier(found: Frontier) -> Table:
    """The value of the first key for each of the second."""
    rows = []
    for value, answer in found.answers:
        if isinstance(answer, str):
            rows.append((value, "–", "", answer))
        else:
            note = "" if answer.monotone else "not in order"
            rows.append((value, answer.value, str(answer.runs), note))
    head = (found.second.path, f"{found.first.word} {found.first.path}", "runs", "")
    return Table(head, rows, right=(0, 1, 2))


def frontier_sentence(found: Frontier) -> str:
    """How sure all of it is."""
    level = next(a.level for _, a in found.answers if isinstance(a, Answer))
    return f"All rows together hold with {100 * level:g} % confidence."


def contest(found: Best) -> Table:
    """What was compared, the best first."""
    o = found.objective
    scale = scale_of(o.metric, o.unit, [s.mean for s in found.systems])
    unit = f" ({scale.unit})" if scale.unit else ""
    screened = found.budget is None
    rows = []
    for s in found.systems:
        best = s is found.systems[0]
        behind = "" if best else format_number(s.behind, s.behind_half, scale)
        row = [s.name, str(s.runs), format_number(s.mean, s.half, scale), behind]
        if screened:
            row.append("" if s.dropped is None else f"{s.dropped} runs, by {s.by}")
        rows.append(row)
    head = [found.kind, "runs", f"{short_of(o.metric)}{unit}", "worse by"]
    head += ["out after"] if screened else []
    return Table(head, rows, right=(1, 2, 3), chosen=(0,))


def knobs(found: Tuned) -> Table:
    """The values of the best point, and how far each may be moved."""
    rows = [
        (k.axis, k.best, f"{k.region[0]} to {k.region[1]}" if k.region else "nowhere")
        for k in found.knobs
    ]
    return Table(("value", "best", "all requirements hold"), rows)


def tuned_sentences(found: Tuned) -> Iterator[str]:
    """How many points pass, and what was found."""
    passing = sum(t.passes for t in found.trials)
    yield f"{passing} of {len(found.trials)} points meet every requirement"
    if found.tried:
        yield f"{found.tried} of them did not with fresh seeds, before this one:"


def objective_sentences(found: Tuned) -> Iterator[str]:
    """Each objective at the best point, with fresh seeds."""
    for o in found.objectives:
        yield f"{o}: {_measured(found, o)}"


def _measured(found: Tuned, objective: Objective) -> str:
    if not objective.cls:
        return f"{100 * (found.best.objectives[str(objective)] or 0.0):.3g} % of the bound"
    results = found.confirmed
    [name] = results.description.variants
    value = results.value(name, "class", objective.cls, objective.metric)
    if value.mean is None:
        return "not measured"
    return format_value(value.mean, value.unit)


def front(found: Tuned) -> Table:
    """Of several objectives the points of which none is better in all."""
    rows = [
        (
            *t.values.values(),
            *(f"{v:.4g}" if v is not None else "" for v in t.objectives.values()),
        )
        for t in found.front
    ]
    head = (*found.best.values, *found.best.objectives)
    return Table(head, rows, title="Points of which none is better in all")


def beside(found: Stressed) -> Table:
    """The metric with the worst cross traffic, beside ordinary traffic and the bound."""
    o = found.objective
    scale = scale_of(o.metric, o.unit, [b.mean for b in found.beside])
    unit = f" ({scale.unit})" if scale.unit else ""
    rows = [(TRAFFIC[b.traffic], format_number(b.mean, b.half, scale)) for b in found.beside]
    if found.bound is not None:
        rows.append(("cannot exceed", format_number(found.bound, None, scale)))
    return Table(("cross traffic", f"{short_of(o.metric)}{unit}"), rows, right=(1,))


def stressed_sentences(found: Stressed) -> Iterator[str]:
    """What the sources keep, how they send, and how it was found."""
    e = found.envelope
    origin = {n: "" if n in found.stated else " (from the line)" for n in ("rate", "burst")}
    total = found.sources * len(found.kinds)
    whose = "The source keeps" if total == 1 else f"Each of {total} sources keeps"
    yield (
        f"{whose} {format_value(e.rate, 'b/s')}{origin['rate']} with bursts of {e.burst:,} B"
        f"{origin['burst']}, in packets of {e.packet:,} B; "
        f"in the mean {format_value(found.mean_rate, 'b/s')} come."
    )
    for kind, pattern in zip(found.kinds, found.patterns, strict=True):
        begins = ", ".join(f"{p / 1e9:.4g}" for p in pattern.phases)
        yield f"{kind.name}: {pattern}; from {begins} ms on."
    runs = len(found.beside[-1].values)
    yield (
        f"{found.looked} candidates were run; in the search it was "
        f"{format_value(found.searched, found.objective.unit)}. "
        f"The table is of {runs} runs each with fresh seeds."
    )
