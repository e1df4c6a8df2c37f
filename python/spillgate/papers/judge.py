"""Predicates, and the verdict that they make."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from spillgate.metrics import format_number, scale_for
from spillgate.papers.measured import PerRun
from spillgate.papers.model import Claim, Judged, Outcome, Part, Quantity

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
    low = q.mean if q.low is None else q.low
    high = q.mean if q.high is None else q.high
    inside = (above is None or low > above) and (below is None or high < below)
    outside = (above is not None and high <= above) or (below is not None and low >= below)
    return Part(text, q, kind, holds=inside, undecided=not inside and not outside)


def judge(claim: Claim, parts: Sequence[Part], because: str = "") -> Judged:
    """The verdict: reproduced if every part holds, shape only if every trend does.

    A claim without any trend has no shape that could hold alone.

    Args:
        claim: The claim.
        parts: Its parts, the one that it is about first; none if it could not be run.
        because: Why the parts that do not hold do not, for the reason.
    """
    if not parts:
        nothing = Quantity(None, None, None, "1", 0)
        return Judged(claim, nothing, "not_reproduced", because or "not run", ())
    trends = [p for p in parts if p.kind == "trend"]
    verdict: Outcome = "not_reproduced"
    if all(p.holds for p in parts):
        verdict = "reproduced"
    elif trends and all(p.holds for p in trends):
        verdict = "shape_only"
    missed = [p for p in parts if not p.holds]
    said = "; ".join(f"{'undecided' if p.undecided else 'not'}: {described(p)}" for p in missed)
    reason = "" if verdict == "reproduced" else said + (f". {because}" if because else "")
    return Judged(claim, parts[0].quantity, verdict, reason, tuple(parts))


def described(part: Part) -> str:
    """A part with what was measured."""
    return f"{part.text} ({shown(part.quantity)})"


def shown(q: Quantity) -> str:
    """A quantity with its half-width in a fitting unit; a share (unit `1`) in percent.

    Example:
        >>> shown(Quantity(0.196, 0.190, 0.202, "1", 10))
        '19.6 ±0.6 %'
        >>> shown(Quantity(4.66, 4.60, 4.72, "ratio", 10))
        '4.66 ±0.06'
        >>> shown(Quantity(0.0058, None, None, "s", 1))
        '5.8 ms'
    """
    if q.mean is None:
        return "undefined"
    half = None if q.low is None or q.high is None else (q.high - q.low) / 2
    scale = scale_for("" if q.unit == "ratio" else q.unit, [q.mean, half])
    return f"{format_number(q.mean, half, scale)} {scale.unit}".rstrip()
