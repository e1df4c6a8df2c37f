"""Which variant passes which requirement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spillgate.labels import short_of, words, worst
from spillgate.metrics import format_value
from spillgate.result import Results
from spillgate.rows import Verdict, measured


@dataclass(frozen=True)
class Cell:
    """One verdict; `verdict` is empty where there is none."""

    verdict: str
    mark: str
    text: str = ""
    note: str = ""


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
class Judged:
    """One verdict in full, as texts."""

    variant: str
    cls: str
    requirement: str
    measured: str
    interval: str
    bound: str
    runs: int
    cell: Cell


@dataclass(frozen=True)
class Matrix:
    """Verdicts by class and variant.

    Attributes:
        headline: The outcome in one sentence.
        verdict: The worst verdict of the best variant.
        variants: The columns.
        groups: The rows.
        counts: How many verdicts are what: word and number.
        details: Every verdict in full.
        further: Whether some are undecided.
    """

    headline: str
    verdict: str
    variants: tuple[str, ...]
    groups: tuple[Group, ...]
    counts: tuple[tuple[str, Cell, int], ...]
    details: tuple[Judged, ...]
    further: bool


def _blank(verdict: str, text: str = "", note: str = "") -> Cell:
    mark = words("verdicts")[verdict]["mark"] if verdict else ""
    return Cell(verdict, mark, text, note)


def _note(v: Verdict) -> str:
    noted: str | None = getattr(v, "note", None)
    if v.verdict != "undecided":
        return noted or ""
    if v.further_runs:
        return f"about {v.further_runs} more runs would decide"
    if v.open:
        return "what was still on its way when a run ended decides: a longer measurement.grace"
    return "more runs would hardly decide"


def whose(v: Verdict) -> str:
    """Whom a requirement is about: the class, with the site and the customer if there are any."""
    about: str = getattr(v, "about", v.cls)
    customer: str | None = getattr(v, "customer", None)
    return f"{customer}: {about}" if customer else about


def _basis(v: Verdict) -> str:
    """The published objective that a requirement comes from, if any."""
    basis: str | None = getattr(v, "basis", None)
    return basis or ""


def said(v: Verdict) -> str:
    """A requirement in words.

    Example:
        >>> said(Verdict("A", "voice", "owd_p999", "s", 0.01, "max", None, None, None, 0,
        ...              "pass", None))
        '99.9 % delay ≤ 10 ms'
    """
    sign = "≤" if v.side == "max" else "≥"
    return f"{short_of(v.metric)} {sign} {format_value(v.bound, v.unit)}"


def _interval(v: Verdict) -> str:
    if v.low is None or v.high is None:
        return "–"
    return f"{format_value(v.low, v.unit)} to {format_value(v.high, v.unit)}"


def matrix(results: Results) -> Matrix | None:
    """The verdicts in order of the scenario; none if it requires nothing."""
    verdicts = results.verdicts
    if not verdicts:
        return None
    found = {v.variant for v in verdicts}
    variants = tuple(v for v in results.description.variants if v in found)
    classes = list(dict.fromkeys(whose(v) for v in verdicts))
    return Matrix(
        headline=_headline(variants, classes, verdicts),
        verdict=_best(variants, verdicts),
        variants=variants,
        groups=tuple(_group(c, variants, [v for v in verdicts if whose(v) == c]) for c in classes),
        counts=tuple(
            (k, _blank(k), n)
            for k in words("verdicts")
            if (n := sum(v.verdict == k for v in verdicts)) or k == "pass"
        ),
        details=tuple(
            Judged(
                v.variant,
                whose(v),
                v.requirement + (f" ({basis})" if (basis := _basis(v)) else ""),
                measured(v),
                _interval(v),
                format_value(v.bound, v.unit),
                v.n,
                _blank(v.verdict, note=_note(v)),
            )
            for v in verdicts
        ),
        further=any(v.verdict == "undecided" for v in verdicts),
    )


def _group(name: str, variants: Sequence[str], verdicts: Sequence[Verdict]) -> Group:
    by = {(v.variant, v.requirement): v for v in verdicts}
    requirements = {v.requirement: (said(v), _basis(v)) for v in verdicts}

    def cell(variant: str, requirement: str) -> Cell:
        v = by.get((variant, requirement))
        return _blank("") if v is None else _blank(v.verdict, measured(v), _note(v))

    return Group(
        name=name,
        cells=tuple(
            _blank(worst(v.verdict for v in verdicts if v.variant == one)) for one in variants
        ),
        lines=tuple(
            Line(text, exact, basis, tuple(cell(v, exact) for v in variants))
            for exact, (text, basis) in requirements.items()
        ),
    )


def _best(variants: Sequence[str], verdicts: Sequence[Verdict]) -> str:
    of = [worst(v.verdict for v in verdicts if v.variant == one) for one in variants]
    return min(of, key=lambda v: int(words("verdicts")[v]["severity"]))


def _headline(variants: Sequence[str], classes: Sequence[str], verdicts: Sequence[Verdict]) -> str:
    per = len(verdicts) // len(variants)
    mine = {one: [v for v in verdicts if v.variant == one] for one in variants}
    passed = {one: sum(v.verdict == "pass" for v in of) for one, of in mine.items()}
    if len(variants) == 1:
        if passed[variants[0]] == per:
            return f"{_all(per)}."
        state = {c: worst(v.verdict for v in verdicts if whose(v) == c) for c in classes}
        failed = [c for c in classes if state[c] == "fail"]
        open_ = [c for c in classes if state[c] == "undecided"]
        parts = [f"fail for {_and(failed)}"] if failed else []
        parts += [f"undecided for {_and(open_)}"] if open_ else []
        return f"{passed[variants[0]]} of {per} requirements pass; {', '.join(parts)}."
    full = [v for v in variants if passed[v] == len(mine[v])]
    if full:
        return f"{_all(per)} with {_and(full)}; {_others(len(variants) - len(full))}"
    top = max(passed.values())
    best = [v for v in variants if passed[v] == top]
    missed = [
        c
        for c in classes
        if all(
            worst(v.verdict for v in verdicts if whose(v) == c and v.variant == b) != "pass"
            for b in best
        )
    ]
    still = f"; not for {_and(missed)}" if missed else ""
    return (
        f"No variant passes every requirement. Most pass with {_and(best)}: {top} of {per}{still}."
    )


def _all(count: int) -> str:
    names = {1: "The requirement passes", 2: "Both requirements pass"}
    return names.get(count, f"All {count} requirements pass")


def _others(count: int) -> str:
    if count == 0:
        return "that is every variant."
    return "not with the other variant." if count == 1 else f"not with the other {count}."


def _and(names: Sequence[str]) -> str:
    if len(names) > 4:
        return f"{', '.join(names[:3])} and {len(names) - 3} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
