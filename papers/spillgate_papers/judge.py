"""Predicates, and the verdict that they make."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

from spillgate import _engine
from spillgate_papers.measured import PerRun
from spillgate_papers.model import Claim, Judged, Outcome, Part, Quantity, Trial

Kind = Literal["trend", "number"]


def within(
    text: str,
    measured: PerRun,
    *,
    above: float | None = None,
    below: float | None = None,
    kind: Kind = "number",
) -> Part:
    """A part that holds when the whole 95 % interval lies strictly between the bounds.

    With one run there is no interval, and the value itself decides. What is undefined in some
    run does not hold.

    Args:
        text: What must hold, in words.
        measured: What was measured.
        above: Lower bound.
        below: Upper bound.
        kind: Whether it is an ordering or a size.
    """
    q = measured.quantity
    if q.mean is None or q.n < len(measured.values):
        return Part(text, q, kind, holds=False)
    lowest, highest = -math.inf if above is None else above, math.inf if below is None else below
    margins = tuple(min(v - lowest, highest - v) for v in measured.values)
    # Bounds of requirements may be reached, those of claims not.
    least = None if above is None else math.nextafter(above, math.inf)
    most = None if below is None else math.nextafter(below, -math.inf)
    # One value alone has no scatter.
    values = measured.values if len(measured.values) > 1 else measured.values * 2
    low, high = (q.mean if end is None else end for end in (q.low, q.high))
    verdict, further = _engine.judge(values, low, high, most, least)
    if verdict != "undecided":
        return Part(text, q, kind, holds=verdict == "pass", margins=margins)
    if further is not None and further + len(values) > MOST_RUNS:
        further = None
    return Part(text, q, kind, False, True, further, margins=margins)


def beside(text: str, measured: PerRun) -> Part:
    """What is only reported with a claim: it neither holds nor fails."""
    return Part(text, measured.quantity, "beside", holds=False)


MOST_RUNS = 4096
"""Beyond so many runs nobody is told how many would decide."""


def outcome(parts: Sequence[Part]) -> Outcome:
    """Reproduced if every part holds, shape only if every trend does and a size does not.

    Undecided where that depends on a part whose interval contains its bound. A claim without any
    trend has no shape that could hold alone.
    """
    counted = [p for p in parts if p.kind != "beside"]
    trends = [p for p in counted if p.kind == "trend"]
    sizes = [p for p in counted if p.kind == "number"]
    if not counted or any(p.missed for p in trends):
        return "not_reproduced"
    if any(p.undecided for p in trends):
        return "undecided"
    if any(p.missed for p in sizes):
        return "shape_only" if trends else "not_reproduced"
    return "undecided" if any(p.undecided for p in sizes) else "reproduced"


def under_bounds(parts: Sequence[Part]) -> Mapping[str, Mapping[str, Outcome]]:
    """What a claim is under each value of a bound that is ours, by bound and value.

    All parts that have the bound move together; the others stay as they are.
    """
    bounds = {p.bound.name: p.bound for p in parts if p.bound}

    def under(name: str, value: str) -> Outcome:
        return outcome(
            [p.bound.parts[value] if p.bound and p.bound.name == name else p for p in parts]
        )

    return {name: {x: under(name, x) for x in b.parts} for name, b in bounds.items()}


def judge(claim: Claim, parts: Sequence[Part], trials: Sequence[Trial] = ()) -> Judged:
    """The verdict, with its reason.

    Args:
        claim: The claim.
        parts: Its parts, the one that it is about first; none if it could not be run.
        trials: What it was with a suspected cause, and without it.
    """
    if not parts:
        nothing = Quantity(None, None, None, "1", 0)
        return Judged(claim, nothing, "not_reproduced", "not run", ())
    verdict = outcome(parts)
    bounds = under_bounds(parts)
    if verdict == "reproduced":
        return Judged(claim, parts[0].quantity, verdict, "", tuple(parts), bounds=bounds)
    missed = {i for i, p in enumerate(parts) if p.missed}
    said = [f"not: {described(parts[i])}" for i in sorted(missed)]
    said += [f"undecided: {described(p)}, {more_runs(p)}" for p in parts if p.undecided]
    mended: set[int] = set()
    shown_by = []
    for trial in trials:
        found = trial.mends(parts)
        mended |= found
        shown_by.append(_tried(trial, len(found), len(missed)))
    reason = ". ".join(["; ".join(said), *shown_by])
    explained = bool(missed) and mended == missed
    return Judged(claim, parts[0].quantity, verdict, reason, tuple(parts), explained, bounds)


def more_runs(part: Part) -> str:
    """How many more runs would decide a part, in words."""
    if part.further is None:
        return "and no number of runs that anybody would make would tell"
    return f"{part.further} more run{'s' if part.further > 1 else ''} would probably tell"


def _tried(trial: Trial, mended: int, missed: int) -> str:
    verdict = outcome(trial.without).replace("_", " ")
    what = f"the claim is {verdict} ({trial.without[0].quantity})"
    if missed:
        what += f"; {mended} of the {missed} parts that do not hold then do"
    return f"Suspected: {trial.cause}. Without it ({trial.off}) {what}"


def described(part: Part) -> str:
    """A part with what was measured."""
    return f"{part.text} ({part.quantity})"
