"""What a reproduction consists of: claims with verdicts, assumptions and effects, tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from spillgate import _engine
from spillgate.metrics import format_number, scale_for

if TYPE_CHECKING:
    from spillgate_papers.lab import Lab

Outcome = Literal["reproduced", "shape_only", "not_reproduced", "undecided"]

OUTCOME_MARKS: Mapping[str, str] = {
    "reproduced": "✓ reproduced",
    "shape_only": "~ shape only",
    "not_reproduced": "✗ not reproduced",
    "undecided": "? undecided",
}
"""How verdicts are shown: a symbol and words, never color alone."""

OUTCOME_LETTERS: Mapping[str, str] = {
    "reproduced": "R",
    "shape_only": "s",
    "not_reproduced": "–",
    "undecided": "?",
}
"""Verdicts in one letter, for tables of many."""

RIVALS = "modern"
"""The name of the section about mechanisms of today."""

LETTERS_SAID = "R reproduced, s shape only, – not reproduced, ? undecided."
"""What the letters mean, for the notes of such tables."""


@dataclass(frozen=True)
class Quantity:
    """A mean over independent runs with its 95 % interval, in base units.

    As text it has half the width of its interval, in a fitting unit; shares are in percent.

    Attributes:
        mean: The mean; none if it is defined in no run.
        low: Lower end; none with fewer than two runs.
        high: Upper end; none with fewer than two runs.
        unit: `s`, `b/s`, `1` for shares of a whole, `ratio` for other ratios, or a word for
            counts.
        n: Runs in which it is defined.
        at_least: Whether values are in it that were cut off, so that it is a lower bound.

    Example:
        >>> f"{Quantity(0.196, 0.190, 0.202, '1', 10)}"
        '19.6 ±0.6 %'
        >>> f"{Quantity(4.66, 4.60, 4.72, 'ratio', 10)}"
        '4.66 ±0.06'
        >>> f"{Quantity(0.0058, None, None, 's', 1)}"
        '5.8 ms'
        >>> f"{Quantity(180.0, None, None, 's', 3, at_least=True)}"
        '≥ 180 s'
    """

    mean: float | None
    low: float | None
    high: float | None
    unit: str
    n: int
    at_least: bool = False

    def __str__(self) -> str:
        """The mean and half the width of the interval."""
        if self.mean is None:
            return "undefined"
        half = None if self.low is None or self.high is None else (self.high - self.low) / 2
        scale = scale_for("" if self.unit == "ratio" else self.unit, [self.mean, half])
        value = f"{format_number(self.mean, half, scale)} {scale.unit}".rstrip()
        return f"≥ {value}" if self.at_least else value


@dataclass(frozen=True)
class OurBound:
    """A bound that stands in our specification and not in the paper.

    Attributes:
        name: What it bounds.
        chosen: Our value, in words.
        parts: The part under each value of a range, ours among them, by the value in words.
    """

    name: str
    chosen: str
    parts: Mapping[str, Part]


@dataclass(frozen=True)
class Part:
    """One checkable statement of a claim.

    Attributes:
        text: What must hold, in words.
        quantity: What was measured for it.
        kind: `trend` for an ordering or direction, `number` for a size, `beside` for what is
            only reported.
        holds: Whether it does.
        undecided: Whether the interval contains the bound; then `holds` is false.
        further: If undecided, how many more runs would probably tell; none if nobody can say.
        bound: The bound, if it is ours and not the paper's.
        margins: By how much it holds in each run, in the unit of what was measured; negative
            where it does not.
    """

    text: str
    quantity: Quantity
    kind: Literal["trend", "number", "beside"]
    holds: bool
    undecided: bool = False
    further: int | None = None
    bound: OurBound | None = None
    margins: tuple[float, ...] = ()

    @property
    def missed(self) -> bool:
        """Whether it counts, and is known not to hold."""
        return self.kind != "beside" and not self.holds and not self.undecided


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper.

    Attributes:
        id: Such as `M1`.
        statement: What the paper says.
        paper: The paper's own figure, in base units; none where it states none.
        predicate: What is checked, in words.
        measure: What `ours` is, in a few words.
        test: Gives the parts, the one that the claim is about first, from measured values.
        because: Suspected causes of what does not hold, which the frame switches off.
    """

    id: str
    statement: str
    paper: float | None
    predicate: str
    measure: str
    test: Callable[[Any], Sequence[Part]]
    because: tuple[Switch, ...] = ()


@dataclass(frozen=True)
class Switch:
    """A suspected cause, and the setting in which it is off.

    Attributes:
        cause: What is suspected, in words.
        setting: Key and label of a silent choice (`fifo.limit, 300 packets`), or the name of one
            of the paper's causes.
        off: How the cause is switched off, in words; the setting's name if empty.
    """

    cause: str
    setting: str
    off: str = ""


@dataclass(frozen=True)
class Elsewhere:
    """A suspected cause that is off at other points of the claims' runs.

    Attributes:
        label: What claims call it.
        off: Where it is off: by point of the claims, the point whose runs they are judged from.
        on: Where it is on, in runs like those; the claims' own points if empty.
    """

    label: str
    off: Mapping[str, str]
    on: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Trial:
    """A suspected cause: the claim from runs with it, and from runs without it.

    Attributes:
        cause: What is suspected, in words.
        off: How it was switched off, in words.
        without: The parts of the claim where it is off.
        on: Where it is on, in runs as many and as long as those; none if that is the claim itself.
    """

    cause: str
    off: str
    without: Sequence[Part]
    on: Sequence[Part] | None = None

    def mends(self, parts: Sequence[Part]) -> set[int]:
        """Which of a claim's parts are missed with the cause, and hold without it."""
        on = parts if self.on is None else self.on
        pairs = enumerate(zip(parts, on, self.without, strict=True))
        return {i for i, (p, a, b) in pairs if p.missed and a.missed and b.holds}


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict.

    Attributes:
        claim: The claim.
        ours: What was measured: the quantity of the first part.
        verdict: `reproduced` if all parts hold, `shape_only` if all trends do, `undecided` if an
            interval contains a bound on which that depends.
        reason: What does not hold, and what runs without the suspected cause gave; empty for
            `reproduced`.
        parts: All parts.
        explained: Whether every part that is missed was run with a suspected cause and without
            it, and holds without it.
        bounds: What it is under each value of a bound that is ours, by bound and value.
    """

    claim: Claim
    ours: Quantity
    verdict: Outcome
    reason: str
    parts: tuple[Part, ...]
    explained: bool = False
    bounds: Mapping[str, Mapping[str, Outcome]] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        """The verdict with its symbol."""
        return OUTCOME_MARKS[self.verdict]

    @property
    def stated(self) -> str:
        """The paper's figure in the unit of ours."""
        if self.claim.paper is None:
            return "–"
        return str(Quantity(self.claim.paper, None, None, self.ours.unit, 1))

    def chosen(self, bound: str) -> str:
        """Our value of a bound, in words."""
        return next(p.bound.chosen for p in self.parts if p.bound and p.bound.name == bound)

    def record(self) -> dict[str, Any]:
        """As in the JSON document."""
        return {
            "id": self.claim.id,
            "statement": self.claim.statement,
            "paper": self.claim.paper,
            "ours": self.ours.mean,
            "low": self.ours.low,
            "high": self.ours.high,
            "unit": self.ours.unit,
            "verdict": self.verdict,
            "reason": self.reason,
            "explained": self.explained,
            "bounds": [
                {"name": name, "ours": self.chosen(name), "verdicts": dict(verdicts)}
                for name, verdicts in self.bounds.items()
            ],
        }


@dataclass(frozen=True)
class Point:
    """Another choice for what the paper leaves silent.

    Attributes:
        label: The choice in words.
        set: Values of the scenario and of its configurations to replace, by path.
        places: Points of the paper's grid that it can touch, for which it is run; all if empty.
            The others are taken from the runs with everything as chosen, which are the same.
        same: Points of the grid whose runs are those of another point under this choice.
        instead: Whether it replaces what its places set, where it is not added to that.
        own: What it replaces at some points only, by point.
    """

    label: str
    set: Mapping[str, object] = field(default_factory=dict)
    places: tuple[str, ...] = ()
    same: Mapping[str, str] = field(default_factory=dict)
    instead: bool = False
    own: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


Others = tuple[Point, ...] | Mapping[str, "Sequence[object] | Mapping[str, object]"]
"""Other choices, as of `Silent`."""


@dataclass(frozen=True)
class Silent:
    """One line of the ledger: something that the paper leaves silent.

    Attributes:
        key: A short name, such as `fifo.limit`.
        value: What was chosen.
        why: The reason of the choice.
        others: Other choices to run; none if it cannot be varied. A mapping from paths to lists
            of values is a choice for each value, several paths are set together; one from labels
            to what is set is a choice for each label.
        note: For what cannot be varied: what is known of its effect.
        places: Points of the paper's grid that the choice can touch; all if empty.
    """

    key: str
    value: str
    why: str
    others: Others = ()
    note: str = ""
    places: tuple[str, ...] = ()

    @property
    def points(self) -> tuple[Point, ...]:
        """The other choices, each with the points of the grid that it can touch."""
        found = self.others
        if isinstance(found, Mapping):
            named = {k: v for k, v in found.items() if isinstance(v, Mapping)}
            values = {k: v for k, v in found.items() if not isinstance(v, Mapping)}
            sets = [
                dict(zip(values, of, strict=True)) for of in zip(*values.values(), strict=True)
            ]
            named |= {str(next(iter(s.values()))): s for s in sets}
            found = tuple(Point(label, s) for label, s in named.items())
        return tuple(replace(p, places=p.places or self.places) for p in found)


@dataclass(frozen=True)
class Ledgered:
    """An assumption with what the claims do when it is varied."""

    assumption: Silent
    effect: str

    def record(self) -> dict[str, str]:
        """As in the JSON document."""
        a = self.assumption
        return {"key": a.key, "value": a.value, "why": a.why, "effect": self.effect}


Cell = str | Quantity | None


@dataclass(frozen=True)
class Table:
    """A table of the page.

    Attributes:
        file: File name of its CSV, without ending.
        title: Heading.
        head: Headings of the columns.
        rows: Cells: texts, quantities, or none.
        note: What to know, below it.
        below: A paragraph each about things of the table, by their name.
        links: Addresses of pages that cells lead to, by the text of the cell.
    """

    file: str
    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    below: Mapping[str, str] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)

    def records(self) -> list[dict[str, Any]]:
        """Its rows as in the JSON document: by heading a text, or a quantity in base units."""

        def cell(of: Cell) -> Any:  # noqa: ANN401
            if not isinstance(of, Quantity):
                return of
            return {"mean": of.mean, "low": of.low, "high": of.high, "unit": of.unit}

        return [dict(zip(self.head, map(cell, row), strict=True)) for row in self.rows]


@dataclass(frozen=True)
class Picture:
    """A figure: `draw` writes it to the path it is given plus `.png` and `.svg`."""

    file: str
    title: str
    draw: Callable[[Path], None]
    note: str = ""


@dataclass(frozen=True)
class Section:
    """A part of the page: text, then tables, then figures.

    Attributes:
        title: Its heading.
        text: Sentences, computed from the runs like everything else.
        tables: Its tables.
        pictures: Its figures.
        name: What the text is called where documentation shows it alone.
    """

    title: str
    text: str = ""
    tables: tuple[Table, ...] = ()
    pictures: tuple[Picture, ...] = ()
    name: str = ""


@dataclass(frozen=True)
class Reproduction:
    """Everything that one call found.

    Attributes:
        paper: Short name of the paper.
        title: Its authors and title.
        lab: Where its runs were made: seed, number of runs, results, counts.
        claims: The claims with verdicts.
        assumptions: The ledger.
        sections: Tables and figures.
        set: Other choices for what the paper leaves silent under which the claims are judged, by
            key; none if everything is as chosen.
        base: If there are any, the claims as everything is chosen.
        search: If these choices were searched, what was found, for the JSON document.
    """

    paper: str
    title: str
    lab: Lab
    claims: tuple[Judged, ...]
    assumptions: tuple[Ledgered, ...]
    sections: tuple[Section, ...]
    set: Mapping[str, str] = field(default_factory=dict)
    base: tuple[Judged, ...] = ()
    search: Mapping[str, Any] = field(default_factory=dict)

    def write(self, directory: Path, argv: Sequence[str], wall_s: float, cpu_s: float) -> None:
        """Fills a run directory, which holds `system/` already.

        Args:
            directory: Where to write.
            argv: The arguments, for the manifest.
            wall_s: Seconds that it took.
            cpu_s: Seconds of processor time.
        """
        from spillgate_papers import page

        page.write(self, directory, argv, wall_s, cpu_s)

    @staticmethod
    def write_together(
        every: Sequence[Reproduction],
        directory: Path,
        argv: Sequence[str],
        spent: Sequence[tuple[float, float]],
    ) -> None:
        """Fills a run directory with several papers, each in its own folder, and a page of all.

        Args:
            every: The papers, each with its `system/` in the folder of its name already.
            directory: Where to write.
            argv: The arguments, for the manifest.
            spent: Seconds that each took, and of processor time.
        """
        from spillgate_papers import together

        together.write(every, directory, argv, spent)

    @staticmethod
    def document_together(every: Sequence[Reproduction]) -> dict[str, Any]:
        """The JSON document of several papers: that of each, and the version."""
        return {"version": _engine.VERSION, "papers": [r.document() for r in every]}

    @property
    def rivals(self) -> Section | None:
        """Mechanisms of today beside the paper's, if they were run."""
        return next((s for s in self.sections if s.name == RIVALS), None)

    def document(self) -> dict[str, Any]:
        """The JSON document: claims and assumptions; the same for the same version and seed.

        If choices were set or searched, also these, and the claims as everything is chosen. If
        mechanisms of today were run, also these.
        """
        other: dict[str, Any] = {"set": dict(self.set)}
        other["base"] = [c.record() for c in self.base]
        if self.search:
            other["search"] = dict(self.search)
        return {
            "paper": self.paper,
            "version": _engine.VERSION,
            "seed": self.lab.seed,
            "runs": self.lab.runs,
            "quick": self.lab.quick,
            "claims": [c.record() for c in self.claims],
            "assumptions": [a.record() for a in self.assumptions],
            **(other if self.base else {}),
            **({"rivals": self.rivals.tables[0].records()} if self.rivals else {}),
        }
