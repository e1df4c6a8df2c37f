"""The runs of a paper, its ledger, and what they say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from spillgate_papers.grid import Batch, under
from spillgate_papers.lab import Effort, Lab, Settings
from spillgate_papers.measured import Measured, View
from spillgate_papers.model import (
    LETTERS_SAID,
    OUTCOME_LETTERS,
    Cell,
    Claim,
    Elsewhere,
    Judged,
    Ledgered,
    Picture,
    Point,
    Section,
    Switch,
    Table,
    Trial,
)
from spillgate_papers.show import By, Curves
from spillgate_papers.terms import Term

if TYPE_CHECKING:
    from spillgate_papers.frame import Frame

CHOSEN = "as chosen"
"""The setting in which every silent choice is ours."""


@dataclass(frozen=True)
class Watched:
    """What the ledger shows of a point beside the verdicts: terms by name."""

    point: str
    label: str
    terms: Mapping[str, Term]


class Study:
    """The runs of a paper, and what they say."""

    def __init__(self, paper: Frame, lab: Lab) -> None:
        """Takes what is to be run, and where; nothing is run yet."""
        self.paper, self.lab = paper, lab
        for name, text in paper.files.items():
            lab.write(name, text)
        self._known: dict[str, tuple[Measured, str]] = {}
        self.main = View({})
        """The claims' runs."""
        self.settings: dict[str, View] = {}
        """The grid under each other choice and with each cause off, by key and label or name."""
        self.claims: tuple[Judged, ...] = ()
        """The claims with verdicts."""
        self.ledger: tuple[Ledgered, ...] = ()
        """What the paper leaves silent, with what other choices do."""
        self.varied: tuple[Table, ...] = ()
        """The verdicts, and what is measured, under each other choice."""

    def reproduce(self) -> None:
        """Makes the claims' runs, those of the ledger, and those with causes off."""
        for batch in self.paper.batches:
            found = self.run(batch)
            if both := set(self.main.variants) & set(found.variants):
                msg = f"points of two batches: {', '.join(sorted(both))}"
                raise ValueError(msg)
            self.main = View({**self.main.variants, **found.variants})
        self._ledger_runs()
        self.claims = self.paper.judged(self.main, self._trials())
        self.ledger, self.varied = self._ledger()

    def compare(self, choices: Sequence[Point]) -> tuple[Judged, ...]:
        """The claims under other choices together; `claims` are those as everything was chosen.

        Both are judged from the batches in which choices are varied or searched, in runs as long
        and as many as those behind the claims. Claims that need other points are not judged.
        """
        compared = self.paper.compared
        every = {x: v for b in compared for x, v in b.places.items()}
        partial = len(compared) < len(self.paper.batches)

        def judged(name: str, of: Sequence[Point]) -> tuple[Judged, ...]:
            found: dict[str, tuple[Measured, str]] = {}
            for b in compared:
                wanted = {x: under(every, x, of) for x in b.places}
                found |= self.taken(f"{b.title}, {name}", wanted, b.effort, self.paper.metrics)
            return self.paper.judged(View(found, partial))

        self.claims = judged(CHOSEN, ())
        return judged("as set", choices)

    def run(self, batch: Batch) -> View:
        """Runs a batch, all of whose metrics are taken."""
        same = batch.same(self.main)
        wanted = {k: c for k, c in batch.cases().items() if k not in same}
        found = self.taken(batch.title, wanted, batch.effort, None, keep=batch.keep)
        known = {**self.main.variants, **found}
        return View({p: known[same.get(p, p)] for p in batch.places})

    def taken(
        self,
        title: str,
        wanted: Mapping[str, Settings],
        effort: Effort,
        metrics: Sequence[str] | None,
        *,
        keep: bool = False,
    ) -> dict[str, tuple[Measured, str]]:
        """The values of cases by name; what was run before, as long and as often, is not again.

        Runs of which fewer metrics were taken do not count as run.
        """
        protocol = effort.of(self.lab)
        some = None if metrics is None else sorted(metrics)
        keys = {}
        for k, c in wanted.items():
            whole, part = (
                json.dumps([str(protocol), c, of], sort_keys=True) for of in (None, some)
            )
            keys[k] = whole if whole in self._known else part
        new = dict(wanted)
        if not keep:
            first = {keys[k]: k for k in reversed(new) if keys[k] not in self._known}
            new = {k: wanted[k] for k in reversed(first.values())}
        if new:
            paper = self.paper
            results = self.lab.run(title, new, protocol, keep=keep, series=paper.series)
            m = Measured(results, paper.scopes, metrics, paper.flow_metrics, paper.own)
            if keep:
                m.results = results
            self._known |= {keys[k]: (m, k) for k in new}
        return {k: self._known[key] for k, key in keys.items()}

    def section(
        self,
        title: str,
        text: str = "",
        tables: Sequence[By | Table] = (),
        figures: Sequence[Curves] = (),
        name: str = "",
    ) -> Section:
        """A part of the page, from the claims' runs."""
        filled = tuple(t if isinstance(t, Table) else t.table(self.main) for t in tables)
        return Section(title, text, filled, tuple(f.picture(self.main) for f in figures), name)

    def measured(self) -> Section:
        """The tables and figures of the claims' runs."""
        first, *_ = self.paper.batches
        main = first.effort.of(self.lab)
        text = (
            f"The claims rest on {main.runs} independent runs of {main.duration:g} s after "
            f"{main.warmup:g} s of warm-up"
        )
        if first.varied:
            varied = first.varied.of(self.lab)
            text += (
                f"; the ledger on {varied.runs} of {varied.duration:g} s at each point under the "
                "same seeds"
            )
        figures: list[Picture] = []
        if self.paper.figures:
            results = self.lab.batches[first.title]
            figures = [f.picture(results, list(first.places)) for f in self.paper.figures]
        return Section(
            "What was measured",
            f"{text}. ± is half the width of the 95 % interval.",
            tuple(t.table(self.main) for t in self.paper.tables),
            tuple(figures),
            "measured",
        )

    def runs(self) -> Table:
        """What is run."""
        rows: list[tuple[Cell, ...]] = []
        for b in self.paper.batches:
            for of, effort in (("", b.effort), (", at each point of the ledger", b.varied)):
                if effort:
                    p = effort.of(self.lab)
                    length = f"{p.warmup:g} to {p.warmup + p.duration:g} s"
                    points = "" if of else str(len(b.places))
                    rows.append((f"{b.title}{of}", points, str(p.runs), length, b.note))
        note = (
            "Runs of one number have the same seeds at every point, so that differences and "
            "ratios are formed run by run."
        )
        head = ("what", "points", "runs", "measured", "how")
        return Table("runs", "What is run", head, tuple(rows), note)

    def _ledger_runs(self) -> None:
        paper = self.paper
        others = [p for p in paper.causes if isinstance(p, Point)]
        varied = {x: b for b in paper.batches if b.varied for x in b.places}
        shown = tuple(paper.ledger or varied)
        points = {CHOSEN: Point(CHOSEN, places=() if others else shown)}
        for s in paper.silent:
            for p in s.points:
                touched = tuple(x for x in p.places or shown if x in shown) or p.places
                points[f"{s.key}, {p.label}"] = replace(p, places=touched)
        points |= {p.label: p for p in others}
        found: dict[str, tuple[Measured, str]] = {}
        for batch in paper.batches:
            if batch.varied is None:
                continue
            wanted = {
                f"{name}: {place}": case
                for name, p in points.items()
                for place, case in batch.cases(p).items()
            }
            of = [b.title for b in paper.batches if b.varied]
            title = "The ledger of assumptions" + (f": {batch.title}" if len(of) > 1 else "")
            found |= self.taken(title, wanted, batch.varied, paper.metrics)
        for name, p in points.items():
            there = varied if p in others or (name == CHOSEN and others) else shown
            variants = {}
            for x in there:
                here = name if x in p.places or not p.places else CHOSEN
                variants[x] = found[f"{here}: {p.same.get(x, x)}"]
            self.settings[name] = View(variants, set(variants) != set(self.main.variants))

    def switched(self, name: str) -> tuple[View, View]:
        """The runs with a suspected cause off, and those with it on to compare them with."""
        for cause in self.paper.causes:
            if isinstance(cause, Elsewhere) and cause.label == name:
                return self.main.moved(cause.off), self.main.moved(cause.on)
        return self.settings[name], self.settings[CHOSEN]

    def _trials(self) -> dict[str, list[Trial]]:
        """What each claim is with its suspected causes off, beside runs as long with them on."""

        def tried(claim: Claim, switch: Switch) -> Trial:
            off, on = self.switched(switch.setting)
            said = switch.off or switch.setting
            return Trial(switch.cause, said, claim.test(off), claim.test(on))

        return {c.id: [tried(c, s) for s in c.because] for c in self.paper.claims}

    def _ledger(self) -> tuple[tuple[Ledgered, ...], tuple[Table, ...]]:
        """What the claims do at each point, compared with the choice in runs as long."""
        paper = self.paper
        chosen = self.settings[CHOSEN]
        if paper.ledger:
            chosen = View({x: chosen.variants[x] for x in paper.ledger}, chosen.partial)
        base = {j.claim.id: j for j in paper.judged(chosen)}
        rows: list[tuple[Cell, ...]] = [("", CHOSEN, *letters(base))]
        values: list[tuple[Cell, ...]] = [("", CHOSEN, *self._watched(chosen, ()))]
        ledger = []
        for s in paper.silent:
            effects = []
            for point in s.points:
                view = self.settings[f"{s.key}, {point.label}"]
                here = {j.claim.id: j for j in paper.judged(view)}
                moved = moves(paper.watched, point.places, chosen, view)
                effects.append(f"{point.label}: {changes(base, here)}{moved}")
                rows.append((s.key, point.label, *letters(here)))
                values.append((s.key, point.label, *self._watched(view, point.places)))
            ledger.append(Ledgered(s, "; ".join(effects) or s.note))
        head, note = ("assumption", "choice"), self._note(base)
        title = "Each assumption varied alone"
        tables = [Table("ledger", title, (*head, *base), tuple(rows), f"{LETTERS_SAID} {note}")]
        if paper.watched:
            names = (f"{w.label} {name}" for w in paper.watched for name in w.terms)
            untouched = f"Empty where a choice cannot touch a point. {note}"
            tables.append(
                Table(
                    "ledger-values",
                    f"{title}: what is measured",
                    (*head, *names),
                    tuple(values),
                    untouched,
                )
            )
        return tuple(ledger), tuple(tables)

    def _watched(self, view: View, places: Sequence[str]) -> list[Cell]:
        return [
            term.take(view).quantity if w.point in places or not places else None
            for w in self.paper.watched
            for term in w.terms.values()
        ]

    def _note(self, base: Mapping[str, Judged]) -> str:
        """How the ledger was run, and whether its base has the verdicts of the claims."""
        protocols = {b.varied.of(self.lab) for b in self.paper.batches if b.varied}
        runs = {p.runs for p in protocols}
        lengths = " or ".join(f"{x:g}" for x in sorted({p.duration for p in protocols}))
        many = ", as many as of the claims" if runs == {self.lab.runs} else ""
        said = " or ".join(str(n) for n in sorted(runs))
        at = f" At {self._ledgered()}." if self.paper.ledger else ""
        unjudged = [c.id for c in self.paper.claims if c.id not in base]
        left = f" {', '.join(unjudged)} need others, and are not judged here." if unjudged else ""
        return (
            f"{said} runs at each point{many}, under the same seeds, of {lengths} s each; the "
            f"first line is our choice in such runs.{at}{left} {agreement(self.claims, base)}"
        )

    def _ledgered(self) -> str:
        """The points of the ledger, those of whole batches by the name of these."""
        left = list(self.paper.ledger)
        said = []
        for b in self.paper.batches:
            if set(b.places) <= set(left):
                left = [p for p in left if p not in b.places]
                said.append(f"all points of {b.title}")
        return "; ".join([*said, *left])


def agreement(claims: Sequence[Judged], base: Mapping[str, Judged]) -> str:
    """Whether the first line of the ledger has the verdicts of the claims, in words."""
    differ = [
        f"{j.claim.id} ({base[j.claim.id].verdict.replace('_', ' ')} here)"
        for j in claims
        if j.claim.id in base and base[j.claim.id].verdict != j.verdict
    ]
    if differ:
        return f"It has other verdicts than the claims for {', '.join(differ)}."
    return "It has the verdicts of the claims."


def moves(watched: Sequence[Watched], places: Sequence[str], base: View, found: View) -> str:
    """What is watched of the first point that a choice touches, before and after."""
    first = next((w for w in watched if w.point in places or not places), None)
    if first is None:
        return ""

    def mean(term: Term, view: View) -> str:
        value = term.take(view).quantity.mean
        return "–" if value is None else f"{value:.3g}"

    said = (
        f"{name} {mean(term, base)} → {mean(term, found)} {term.take(found).unit}"
        for name, term in first.terms.items()
    )
    return f" ({first.label} {', '.join(said)})"


def letters(judged: Mapping[str, Judged]) -> list[str]:
    """Verdicts in one letter each."""
    return [OUTCOME_LETTERS[j.verdict] for j in judged.values()]


def changes(base: Mapping[str, Judged], found: Mapping[str, Judged]) -> str:
    """Which verdicts are others."""
    changed = [
        f"{k} {base[k].verdict.replace('_', ' ')} → {j.verdict.replace('_', ' ')}"
        for k, j in found.items()
        if j.verdict != base[k].verdict
    ]
    return ", ".join(changed) or "no verdict changes"
