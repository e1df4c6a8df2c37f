"""Which variant passes which requirement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spillgate.labels import words, worst
from spillgate.metrics import format_value
from spillgate.proofs import Unproven, unproven
from spillgate.result import Results
from spillgate.rows import Verdict


@dataclass(frozen=True)
class Cell:
    """One verdict, `said` in words; `verdict` is empty where there is none."""

    verdict: str
    mark: str
    text: str = ""
    note: str = ""
    said: str = ""


@dataclass(frozen=True)
class Line:
    """A requirement with its verdicts by variant.

    It is given in words, as the scenario says it, and with the objective that it comes from.
    """

    text: str
    exact: str
    basis: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Group:
    """A class with the worst of its verdicts by variant, and its requirements."""

    name: str
    cells: tuple[Cell, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Matrix:
    """Verdicts by class and variant.

    Attributes:
        headline: The outcome in one sentence.
        verdict: The worst verdict of the best variant.
        variants: The columns.
        groups: The rows.
        counts: How many verdicts are what: word and number.
        details: Every verdict with its interval and limit as texts.
        further: Whether some are undecided.
        unproven: What is to hold for certain and is refuted or not proven, and why.
        proofs: Whether anything is to hold for certain.
    """

    headline: str
    verdict: str
    variants: tuple[str, ...]
    groups: tuple[Group, ...]
    counts: tuple[tuple[str, Cell, int], ...]
    details: Sequence[tuple[Verdict, str, str, Cell]]
    further: bool
    unproven: Sequence[Unproven]
    proofs: bool


MOST_UNPROVEN = 20
"""Of how many such requirements the report says why."""


def _cell(verdict: str, text: str = "", note: str | None = None, said: str = "") -> Cell:
    mark = words("verdicts")[verdict]["mark"] if verdict else ""
    return Cell(verdict, mark, text, note or "", said or verdict)


def _interval(v: Verdict) -> str:
    if v.certain or v.low is None or v.high is None:
        return "–"
    return f"{format_value(v.low, v.unit)} to {format_value(v.high, v.unit)}"


def matrix(results: Results) -> Matrix | None:
    """The verdicts in order of the scenario; none if it requires nothing."""
    verdicts, conclusion = results.verdicts, results.conclusion
    if conclusion is None:
        return None
    found = {v.variant for v in verdicts}
    variants = tuple(v for v in results.description.variants if v in found)
    groups: dict[str, list[Verdict]] = {}
    for v in verdicts:
        groups.setdefault(v.whose, []).append(v)
    rows = tuple(_group(name, variants, of) for name, of in groups.items())
    return Matrix(
        headline=conclusion.headline,
        verdict=conclusion.verdict,
        variants=variants,
        groups=rows,
        counts=tuple(
            (k, _cell(k), n)
            for k in words("verdicts")
            if (n := sum(v.verdict == k for v in verdicts)) or k == "pass"
        ),
        details=[
            (
                v,
                _interval(v),
                format_value(v.bound, v.unit),
                _cell(v.verdict, "", v.advice or v.note, v.said),
            )
            for v in verdicts
        ],
        further=any(v.verdict == "undecided" for v in verdicts),
        unproven=unproven(results)[:MOST_UNPROVEN],
        proofs=any(v.certain for v in verdicts),
    )


def _group(name: str, variants: Sequence[str], verdicts: Sequence[Verdict]) -> Group:
    by = {(v.variant, v.requirement): v for v in verdicts}
    requirements = {v.requirement: (v.words, v.basis or "") for v in verdicts}

    def cell(variant: str, requirement: str) -> Cell:
        v = by.get((variant, requirement))
        return _cell("") if v is None else _cell(v.verdict, v.measured, v.advice or v.note, v.said)

    return Group(
        name=name,
        cells=tuple(
            _cell(worst(v.verdict for v in verdicts if v.variant == one)) for one in variants
        ),
        lines=tuple(
            Line(text, exact, basis, tuple(cell(v, exact) for v in variants))
            for exact, (text, basis) in requirements.items()
        ),
    )
