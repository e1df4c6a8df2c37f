"""What claims and tables are about: quantities of one setting's runs, and bounds on them.

A term is written down before anything has run. It is evaluated run by run on a view, so that
differences and ratios are those of runs under the same seeds.

Example:
    >>> fifo, llq = (value("owd_mean", at, "voice") for at in ("FIFO", "LLQ"))
    >>> (fifo / llq).between(2.5, 5).text
    'owd_mean of voice, FIFO / owd_mean of voice, LLQ between 2.5 and 5'
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from spillgate_papers import judge
from spillgate_papers.measured import NotRunError, PerRun, Singles, View, each
from spillgate_papers.model import Part

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

    def _made(self, f: Callable[[PerRun], PerRun], text: str = "") -> Term:
        return Term(lambda v: f(self.take(v)), text or self.text)

    def over(self, f: Callable[[Sequence[float]], float], text: str = "") -> Term:
        """One value from those of all runs: of its kind, and without an interval."""
        return self._made(lambda q: PerRun((f(q.values),), q.unit, q.at_least), text)

    def share(self, holds: Callable[[float], bool]) -> Term:
        """The share of runs in which something holds: it is what it is, without an interval."""
        return self._made(lambda q: PerRun((sum(map(holds, q.values)) / len(q.values),), "1"))

    def defined(self) -> Term:
        """Without the runs in which it is undefined."""
        return self._made(
            lambda q: replace(q, values=tuple(x for x in q.values if not math.isnan(x)))
        )

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

    def met(self, view: View) -> bool:
        """Whether the mean is within it, whatever its interval."""
        mean = self.term.take(view).quantity.mean
        above = self.lowest is None or (mean is not None and mean >= self.lowest)
        below = self.highest is None or (mean is not None and mean <= self.highest)
        return above and below

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


def own(key: str, at: str, of: Callable[[Singles], PerRun] = Singles.mean) -> Term:
    """What the paper itself takes at a place of the grid; `of` makes one value of single ones.

    Example:
        >>> own("wait", "EFM", Singles.longest).text
        'wait, EFM'
    """

    def take(v: View) -> PerRun:
        found = v.own(at, key)
        return of(found) if isinstance(found, Singles) else found

    return Term(take, f"{key}, {at}")


def queued(metric: str, at: str, link: str, of: str = "") -> Term:
    """A metric of the queue of a class on a link; of the link's first queue if it has none."""

    def take(v: View) -> PerRun:
        queues = [q for q in v.names(at, "queue") if q.startswith(f"{link}/")]
        own = f"{link}/{of}"
        return v.of(at, "queue", own if own in queues else queues[0], metric)

    return Term(take, f"{metric} of {of or 'all'} on {link}, {at}")


def busiest(metric: str, at: str, link: str) -> Term:
    """A metric of that queue of a link which is offered the most packets in all runs."""

    def take(v: View) -> PerRun:
        queues = [q for q in v.names(at, "queue") if q.startswith(f"{link}/")]
        offered = {q: sum(v.of(at, "queue", q, "packets_offered").values) for q in queues}
        return v.of(at, "queue", max(queues, key=offered.__getitem__), metric)

    return Term(take, f"{metric} on {link}, {at}")


def most(terms: Iterable[Term]) -> Term:
    """The largest in each run."""
    return of_each(terms, "largest", max)


def least(terms: Iterable[Term]) -> Term:
    """The smallest in each run."""
    return of_each(terms, "smallest", min)


def of_each(
    terms: Iterable[Term], word: str, f: Callable[[Sequence[float]], float], unit: str = ""
) -> Term:
    """A number that `f` makes of several in each run, undefined where one of them is.

    Its unit is that of the first if none is given.
    """
    every = tuple(terms)
    text = f"{word} of: {', '.join(t.text for t in every)}"
    return Term(lambda v: each(present(every, v), f, unit), text)


def present(terms: Iterable[Term], view: View) -> list[PerRun]:
    """Terms by value; in a partial view those of the points that are there.

    Raises:
        NotRunError: If there are none.
    """
    found, missing = [], NotRunError()
    for term in terms:
        try:
            found.append(term.take(view))
        except NotRunError as absent:
            if not view.partial:
                raise
            missing = absent
    if not found:
        raise missing
    return found


def number(bound: Bound, text: str = "") -> Check:
    """A part about a size; its text is the bound if none is given."""
    return _check(bound, text, "number")


def trend(bound: Bound, text: str = "") -> Check:
    """A part about an ordering or a direction."""
    return _check(bound, text, "trend")


def apart(better: Term, worse: Term, text: str) -> Check:
    """That the whole interval of a quantity lies above that of another."""

    def check(v: View) -> Part:
        a, b = better.take(v), worse.take(v)
        ends = (a.quantity.low, b.quantity.high)
        holds = None not in ends and ends[0] > ends[1]  # type: ignore[operator]
        d = a - b
        said = f"{text}: the difference"
        return Part(said, d.quantity, "trend", holds=holds, margins=d.values)

    return check


def beside(term: Term, text: str = "") -> Check:
    """What is only reported."""
    return lambda v: judge.beside(text or term.text, term.take(v))


def either(first: Check, second: Check) -> Check:
    """A part that holds if one of two does: the first, unless only the second holds."""

    def check(v: View) -> Part:
        a, b = first(v), second(v)
        return a if a.holds or not b.holds else b

    return check


K = TypeVar("K", bound="tuple[object, ...]")


def picked(
    text: str,
    bounds: Mapping[K, Bound],
    by: Mapping[K, Term],
    among: Mapping[K, Bound] | None = None,
    kind: judge.Kind = "number",
) -> Check:
    """A part about that of several candidates which has the smallest mean of a term.

    Args:
        text: What must hold; the parts of the candidate's key are put into it.
        bounds: The same of each candidate.
        by: What is smallest of the one that is picked.
        among: Which candidates are better than all others, if there are such.
        kind: Whether it is an ordering or a size.
    """

    def mean(key: K, v: View) -> float:
        found = by[key].take(v).quantity.mean
        return math.inf if found is None else found

    def check(v: View) -> Part:
        better = [k for k, bound in (among or {}).items() if bound.met(v)]
        key = min(better or by, key=lambda k: mean(k, v))
        return _check(bounds[key], text.format(*key), kind)(v)

    return check


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
    """The parts of a claim, the one that it is about first.

    In a partial view those whose points are there; none if the first part's are not.
    """

    def test(v: View) -> Sequence[Part]:
        parts: list[Part] = []
        for i, check in enumerate(checks):
            try:
                parts.append(check(v))
            except NotRunError:
                if not v.partial:
                    raise
                if i == 0:
                    break
        return parts

    return test
