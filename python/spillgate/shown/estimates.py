"""What formulas say, as tables and sentences."""

from __future__ import annotations

from collections.abc import Sequence

from spillgate.estimates import Beside, Estimate, Estimates
from spillgate.labels import short_of, words
from spillgate.metrics import format_value, scale_of
from spillgate.tables import Table

_OWN = {
    "buffer": "buffer needed",
    "erlangs": "load offered",
    "weighted_wait": "load × wait",
}
"""What metrics are called that results do not have."""

MEANING = (
    "exact: what runs have in the mean; a model: an approximation; rough: something that the "
    "formula assumes does not hold; sojourn: until transmission begins; backlog, bytes: of "
    "what waits"
)
"""What the column of kinds means."""

DISTANCE = "distance: of the simulated mean, in half-widths of its 95 % interval"
"""What the column of distances means."""


def estimates(found: Estimates, *, simulated: bool) -> Table:
    """A row for each estimate, with what was simulated if there are runs."""
    head = ["of", "", "formula", "expected", "it is"]
    beside: dict[int, Beside] = {}
    if simulated:
        head += ["simulated", "distance"]
        beside = {id(b.estimate): b for b in found.simulated}
    rows = []
    for e in found.estimates:
        row = [e.name, _label(e.metric), e.formula, _value(e, e.value), _kind(e)]
        if simulated:
            b = beside.get(id(e))
            row += ["", ""] if b is None else [_simulated(b), b.words]
        rows.append(row)
    return Table(head, rows, right=(3, 5) if simulated else (3,))


def _label(metric: str) -> str:
    return _OWN.get(metric) or (short_of(metric) if metric in words("metrics") else metric)


def _value(e: Estimate, value: float) -> str:
    if e.unit in ("packets", "erlangs", "transfers"):
        return f"{value:.4g}"
    if scale_of(e.metric, e.unit, [value]).unit == "%" or e.unit == "1":
        return format_value(value, "1")
    return format_value(float(f"{value:.4g}"), e.unit)


def _kind(e: Estimate) -> str:
    if not e.holds:
        return "rough"
    return "exact" if e.exact else "a model"


def _simulated(b: Beside) -> str:
    if b.mean is None:
        return "–"
    if b.low is None or b.high is None:
        return _value(b.estimate, b.mean)
    return f"{_value(b.estimate, b.low)} to {_value(b.estimate, b.high)}"


def remarks(found: Estimates) -> list[str]:
    """Why values are rough or there are none, and what to know of them, each once."""
    reasons: dict[str, dict[str, None]] = {}
    for e in found.estimates:
        for why in e.reasons:
            reasons.setdefault(f"rough, since {why}: ", {})[f"{e.name} ({e.formula})"] = None
    for u in found.unknown:
        reasons.setdefault(f"no formula, since {u.why}: ", {})[u.what] = None
    lines = [why + _some(list(names)) for why, names in reasons.items()]
    notes = {f"{e.name}, {e.formula}: {e.note}": None for e in found.estimates if e.note}
    return lines + list(notes)


def _some(names: Sequence[str]) -> str:
    most = 6
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
