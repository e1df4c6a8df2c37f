"""What claims and tables are about: quantities of one setting's runs, and bounds on them.

A term is written down before anything has run. It is evaluated run by run on a view, so that
differences and ratios are those of runs under the same seeds.

Example:
    >>> ratio("owd_mean", "FIFO", "LLQ", "voice").between(2.5, 5).text
    'owd_mean of voice, FIFO / owd_mean of voice, LLQ between 2.5 and 5'
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from spillgate.papers import judge
from spillgate.papers.measured import PerRun, View, largest, smallest
from spillgate.papers.model import Part

Check = Callable[[View], Part]
"""Gives one part of a claim from a view."""


@dataclass(frozen=True)
class Term:
    """A quantity.

    Attributes:
        take: Gives it run by run.
        text: What it is, in words.
    """

    take: Callable[[View], PerRun]
    text: str = ""

    def _with(
        self, other: Term | float, sign: str, f: Callable[[PerRun, PerRun | float], PerRun]
    ) -> Term:
        text = other.text if isinstance(other, Term) else f"{other:g}"

        def take(v: View) -> PerRun:
            return f(self.take(v), other.take(v) if isinstance(other, Term) else other)

        return Term(take, f"{self.text} {sign} {text}")

    def __add__(self, other: Term | float) -> Term:
        """Run by run."""
        return self._with(other, "+", lambda a, b: a + b)

    def __sub__(self, other: Term | float) -> Term:
        """Run by run."""
        return self._with(other, "−", lambda a, b: a - b)

    def __truediv__(self, other: Term) -> Term:
        """Run by run, undefined where the divisor is 0."""
        return Term(lambda v: self.take(v) / other.take(v), f"{self.text} / {other.text}")

    def above(self, bound: float) -> Bound:
        """That it is above a bound."""
        return Bound(self, bound, None)

    def below(self, bound: float) -> Bound:
        """That it is below a bound."""
        return Bound(self, None, bound)

    def between(self, above: float, below: float) -> Bound:
        """That it is between two bounds."""
        return Bound(self, above, below)


@dataclass(frozen=True)
class Bound:
    """That a term is above a bound, below one, or between two."""

    term: Term
    lowest: float | None
    highest: float | None

    @property
    def text(self) -> str:
        """In words."""
        if self.lowest is None:
            return f"{self.term.text} below {self.highest:g}"
        if self.highest is None:
            return f"{self.term.text} above {self.lowest:g}"
        return f"{self.term.text} between {self.lowest:g} and {self.highest:g}"


def value(metric: str, at: str, of: str, scope: str = "class") -> Term:
    """A metric of `of` (a class, say) at a place of the grid."""
    return Term(lambda v: v.of(at, scope, of, metric), f"{metric} of {of}, {at}")


def ratio(metric: str, a: str, b: str, of: str, scope: str = "class") -> Term:
    """A metric at a place over the same at another."""
    return value(metric, a, of, scope) / value(metric, b, of, scope)


def most(terms: Iterable[Term]) -> Term:
    """The largest in each run."""
    return _of_each(terms, "largest", largest)


def least(terms: Iterable[Term]) -> Term:
    """The smallest in each run."""
    return _of_each(terms, "smallest", smallest)


def _of_each(terms: Iterable[Term], word: str, f: Callable[[Iterable[PerRun]], PerRun]) -> Term:
    every = tuple(terms)
    return Term(
        lambda v: f(t.take(v) for t in every), f"{word} of: {', '.join(t.text for t in every)}"
    )


def number(bound: Bound, text: str = "") -> Check:
    """A part about a size; its text is the bound if none is given."""
    return _check(bound, text, "number")


def trend(bound: Bound, text: str = "") -> Check:
    """A part about an ordering or a direction."""
    return _check(bound, text, "trend")


def beside(term: Term, text: str = "") -> Check:
    """What is only reported."""
    return lambda v: judge.beside(text or term.text, term.take(v))


def _check(bound: Bound, text: str, kind: judge.Kind) -> Check:
    def check(v: View) -> Part:
        return judge.within(
            text or bound.text,
            bound.term.take(v),
            above=bound.lowest,
            below=bound.highest,
            kind=kind,
        )

    return check


def every(*checks: Check) -> Callable[[View], Sequence[Part]]:
    """The parts of a claim, the one that it is about first."""
    return lambda v: [c(v) for c in checks]
