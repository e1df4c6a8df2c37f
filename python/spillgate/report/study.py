"""What the page of a study says first, the answer, and its table with a row a point.

All numbers that the page's script needs are in `spillgate.report.embedded`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from spillgate.labels import mark_of, short_of, words, worst
from spillgate.points import Point, counted
from spillgate.proofs import worst_first
from spillgate.report.influence import Influence, influences
from spillgate.report.tables import Columns, class_columns
from spillgate.result import Results
from spillgate.rows import Verdict
from spillgate.scenario import Description
from spillgate.tables import Cells, Column, Table

MOST_POINTS = 1000
"""Points that have cells, rows and details; of more the page says how many it leaves out."""

_TABLE_COLUMNS = 8
"""Requirements, or metrics, in the table of all points."""

_NAMED = 10
"""So many values at which no point passes are named."""

_DECIDES = 0.5
"""Share of the variance of the verdicts from which on an axis is said to decide."""

_SHOWN = ("owd_p99", "loss_ratio", "throughput", "goodput")
"""Metrics in that table where nothing is required."""


@dataclass(frozen=True)
class Requirement:
    """A requirement with its verdicts.

    Attributes:
        whose: The class, with customer and site if it is about them.
        first: One of the verdicts; words and limit are the same in all.
        by: The verdicts by name of the point.
    """

    whose: str
    first: Verdict
    by: Mapping[str, Verdict]

    @property
    def text(self) -> str:
        """`voice: 99 % delay ≤ 8 ms`."""
        basis = f" ({self.first.basis})" if self.first.basis else ""
        return f"{self.whose}: {self.first.words}{basis}"

    @cached_property
    def counts(self) -> Counter[str]:
        """How many points have which verdict."""
        return Counter(v.verdict for v in self.by.values())

    @cached_property
    def hardest(self) -> Verdict:
        """The verdict of the point that misses the limit by most, or has least to spare."""
        return worst_first(list(self.by.values()))[0]


@dataclass(frozen=True)
class Answer:
    """What a study found, in sentences.

    Attributes:
        verdict: `pass` if all points pass, the worst of their verdicts if none does, else "".
        headline: How many points meet every requirement.
        sentences: What decides, which requirement is the hardest, and where it is worst.
        worst: The name of the point that is worst in the hardest requirement.
    """

    verdict: str
    headline: str
    sentences: Sequence[str]
    worst: str = ""


@dataclass(frozen=True)
class Study:
    """Results with axes as the page shows them.

    Attributes:
        results: What was measured.
        requirements: Those of the scenario, in its order.
        verdicts: The worst verdict of each point by name, "" where there is none.
        columns: What classes got at the points.
    """

    results: Results
    requirements: Sequence[Requirement]
    verdicts: Mapping[str, str]
    columns: Columns = field(repr=False)

    @classmethod
    def of(cls, results: Results) -> Study:
        """The study of results with axes."""
        by: dict[tuple[str, str], dict[str, Verdict]] = {}
        each: dict[str, list[str]] = {}
        for v in results.verdicts:
            by.setdefault((v.whose, v.requirement), {})[v.variant] = v
            each.setdefault(v.variant, []).append(v.verdict)
        return cls(
            results,
            [Requirement(whose, next(iter(of.values())), of) for (whose, _), of in by.items()],
            {p.name: worst(each.get(p.name, ())) for p in results.description.points},
            class_columns(results),
        )

    @property
    def description(self) -> Description:
        """What was run."""
        return self.results.description

    @cached_property
    def shown(self) -> list[Point]:
        """The points with cells, rows and details; of too many evenly spread ones."""
        points = self.description.points
        if len(points) <= MOST_POINTS:
            return list(points)
        return [points[i * len(points) // MOST_POINTS] for i in range(MOST_POINTS)]

    @cached_property
    def hardest(self) -> list[Requirement]:
        """The requirements, those that fewest points meet first."""
        ranked = worst_first([r.hardest for r in self.requirements])
        place = {id(v): i for i, v in enumerate(ranked)}
        return sorted(
            self.requirements,
            key=lambda r: (r.counts["pass"], -r.counts["fail"], place[id(r.hardest)]),
        )

    def kept(self, most: int) -> list[Requirement]:
        """So many of the hardest requirements, in the order of the scenario."""
        kept = {id(r) for r in self.hardest[:most]}
        return [r for r in self.requirements if id(r) in kept]

    @cached_property
    def influences(self) -> list[Influence]:
        """The axes, those that decide most first; empty where nothing is required.

        Where all points have the same verdict, by the values of the hardest requirement.
        """
        d = self.description
        if not self.requirements:
            return []
        means = {n: v.mean for n, v in self.hardest[0].by.items() if v.mean is not None}
        values = None if self.decided else means
        return influences(d.axes, d.points, self.verdicts, values)

    @cached_property
    def order(self) -> list[int]:
        """The numbers of the axes, those that decide most first, with several values."""
        several = [
            i
            for i in range(len(self.description.axes))
            if len({p.places[i] for p in self.shown}) > 1
        ]
        first = [i.index for i in self.influences if i.index is not None]
        return [*first, *(i for i in several if i not in first)] or [0]

    @property
    def decided(self) -> bool:
        """Whether points differ in their verdicts."""
        return len(set(self.verdicts.values()) - {""}) > 1

    def answer(self) -> Answer:
        """The answer in sentences."""
        d = self.description
        if not self.requirements:
            none = "" if self.results.runs else ", and no run has finished"
            text = f"{counted(len(d.points), 'point')}; the scenario states no requirements (sla)"
            return Answer("", f"{text}{none}.", [])
        counts = Counter(self.verdicts.values())
        every = "the requirement" if len(self.requirements) == 1 else "every requirement"
        passed, total = counts["pass"], len(d.points)
        head = (
            f"{passed:,} of {counted(total, 'point')} {'meets' if passed == 1 else 'meet'} {every}"
        )
        rest = [
            f"{counts[k]:,} {word}"
            for k, word in (("fail", "fail"), ("undecided", "undecided"), ("", "without results"))
            if counts[k]
        ]
        # A color says that all or none of them pass.
        said = worst(v for v in self.verdicts.values() if v)
        said = "" if 0 < passed < total else said
        sentences = [self._deciding(), *self._worst()]
        return Answer(
            said, ", ".join([head, *rest]) + ".", sentences, self.hardest[0].hardest.variant
        )

    def _deciding(self) -> str:
        """Which axis decides, and where."""
        told = [(i, i.share) for i in self.influences if i.told and i.share is not None]
        shares = [f"{i.name} ({100 * share:.0f} %)" for i, share in told]
        if not self.decided:
            same = "All points have the same verdict, so no axis decides."
            r = self.hardest[0]
            what = f"{r.whose}: {short_of(r.first.metric)} depends most on"
            variance = "in brackets the share of its variance"
            return f"{same} {what} {', then on '.join(shares)}; {variance}." if told else same
        if len(self.influences) == 1:
            return _alone(self.influences[0])
        if not told:
            return "No single axis decides: the verdicts depend on several together, or on chance."
        first, share = told[0]
        how = "What decides is" if share >= _DECIDES else "Most depends on"
        text = f"{how} {first.name} ({100 * share:.0f} % of the variance of the verdicts)"
        groups = [f"{g.label} passes at {g.passed:,} of {g.of:,}" for g in first.groups]
        where = groups if first.index is None else first.edges
        text = f"{text}: {', '.join(where)}." if where else f"{text}."
        return f"{text} Then on {', '.join(shares[1:])}." if shares[1:] else text

    def _worst(self) -> list[str]:
        """The hardest requirement, and the point that is worst in it."""
        r = self.hardest[0]
        v = r.hardest
        if r.counts["pass"] == len(r.by):
            return [f"Least to spare: {r.text}, {v.measured} at {v.variant}."]
        most = f"Hardest to meet: {r.text}, met at {r.counts['pass']:,} of {len(r.by):,} points"
        return [f"{most}; worst: {v.measured} at {v.variant}."]

    def table(self) -> Table:
        """A row for each point that is shown."""
        d = self.description
        several = len({p.variant for p in d.points}) > 1
        measured = self._measured()

        def row(p: Point) -> list[str]:
            places = [a.labels[i] for a, i in zip(d.axes, p.places, strict=True)]
            verdict = self.verdicts[p.name]
            said = [mark_of(verdict) if verdict else "–"] if self.requirements else []
            texts = [text(p.name) for _, text in measured]
            return [*([p.variant] if several else []), *places, *said, *texts]

        head = ["variant"] if several else []
        head += [a.name for a in d.axes] + (["verdict"] if self.requirements else [])
        rows = [row(p) for p in self.shown]
        return Table([*head, *(h for h, _ in measured)], rows, names=several + len(d.axes))

    def _measured(self) -> Sequence[tuple[str, Callable[[str], str]]]:
        """What the table has of each point: the hardest requirements, or the usual metrics."""
        if self.requirements:
            return [(r.text, partial(_judged, r)) for r in self.kept(_TABLE_COLUMNS)]
        rows = self.columns.rows
        found = [
            (f"{cls}: {c.head} {c.unit}".rstrip(), partial(_measured, rows, cls, c))
            for cls in self.description.classes
            for c in (*self.columns.shown, *self.columns.tcp)
            if c.metric in _SHOWN
            and any(k == cls and c.metric in of for (_, k), of in rows.items())
        ]
        return found[:_TABLE_COLUMNS]


def _alone(i: Influence) -> str:
    """Where on the only axis points pass."""
    failing = [g.label for g in i.groups if not g.passed]
    names = ", ".join(failing[:_NAMED]) + (" .." if len(failing) > _NAMED else "")
    where = i.edges or ([f"none passes at {names}"] if failing else [])
    return f"Along {i.name}: {', '.join(where)}." if where else f"{i.name} alone does not decide."


def _judged(r: Requirement, name: str) -> str:
    return r.by[name].measured if name in r.by else "–"


def _measured(rows: Cells, cls: str, column: Column, name: str) -> str:
    return column.text(rows.get((name, cls), {}))


def tallied(verdicts: Iterable[str]) -> list[tuple[str, str, int]]:
    """Each verdict that occurs, its mark and how often it does; those that pass in any case."""
    counts = Counter(verdicts)
    marks = words("verdicts")
    return [(k, str(marks[k]["mark"]), counts[k]) for k in marks if counts[k] or k == "pass"]
