"""A paper as data: system, grid, silent choices, claims, tables; the frame does the rest.

It makes the runs, pairs them by run, varies each silent choice with as many runs as the claims
have, switches suspected causes on and off, judges, and gives the page its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path

from spillgate import _engine
from spillgate.papers.judge import judge
from spillgate.papers.lab import Case, Lab, Protocol
from spillgate.papers.measured import Measured, View
from spillgate.papers.model import (
    LETTERS_SAID,
    OUTCOME_LETTERS,
    Cell,
    Claim,
    Judged,
    Ledgered,
    Point,
    Reproduction,
    Section,
    Silent,
    Table,
    Trial,
)
from spillgate.papers.show import Bars, By

CHOSEN = "as chosen"
"""The setting in which every silent choice is ours."""

Settings = Mapping[str, object]
"""Values of the scenario and of its configurations to replace, by path."""


@dataclass(frozen=True)
class Value:
    """A value of an axis.

    Attributes:
        set: What it replaces.
        always: What it replaces whatever a silent choice says.
    """

    set: Settings
    always: Settings = field(default_factory=dict)


class Grid:
    """The product of axes; the first value of each is the one meant if none is named.

    Example:
        >>> grid = Grid(policy=along("topology.links.wan.policy", ("FIFO", "RED")),
        ...             delay=along("topology.links.wan.delay", ("1 ms", "9 ms")))
        >>> grid.at(policy="RED"), len(grid.places)
        ('RED, 1 ms', 4)
    """

    def __init__(self, **axes: Mapping[str, Settings | Value]) -> None:
        """Takes the values of each axis by label."""
        self.axes = axes
        self.places: dict[str, Value] = {}
        """Each point by its labels, and what it replaces."""
        for labels in product(*axes.values()):
            values = [axis[x] for axis, x in zip(axes.values(), labels, strict=True)]
            whole = Value({})
            for v in values:
                own = v if isinstance(v, Value) else Value(v)
                whole = Value({**whole.set, **own.set}, {**whole.always, **own.always})
            self.places[", ".join(labels)] = whole

    def at(self, **labels: str) -> str:
        """The name of a point."""
        if unknown := set(labels) - set(self.axes):
            msg = f"no such axis: {', '.join(sorted(unknown))}"
            raise KeyError(msg)
        found = ", ".join(labels.get(name, next(iter(a))) for name, a in self.axes.items())
        if found not in self.places:
            raise KeyError(found)
        return found


def along(path: str, values: Iterable[object]) -> dict[str, Settings]:
    """An axis that sets one path."""
    return {str(v): {path: v} for v in values}


@dataclass(frozen=True)
class Effort:
    """How long something is run, and how often: as often as the claims unless it says otherwise.

    Attributes:
        warmup: Seconds that are not counted.
        duration: Seconds that are measured.
        quick: The same two with `--quick`.
        runs: Independent runs, at most.
    """

    warmup: float
    duration: float
    quick: tuple[float, float] = (1.0, 1.0)
    runs: int | None = None

    def protocol(self, lab: Lab) -> Protocol:
        """As runs of a lab."""
        runs = lab.runs if self.runs is None else min(self.runs, lab.runs)
        length = self.quick if lab.quick else (self.warmup, self.duration)
        return Protocol(runs, *length)


@dataclass(frozen=True)
class Frame:
    """A paper.

    Attributes:
        name: Short name.
        title: Authors and title.
        system: Directory with `scenario.yaml` and what it refers to.
        grid: What the claims are about.
        claims: Its claims.
        silent: What it leaves silent.
        main: How long the claims' runs are.
        varied: How long those are with other choices, and with causes on and off.
        tables: Tables of the claims' runs.
        figures: Figures of the claims' runs.
        causes: Settings that are no silent choice: suspected causes switched off, by the name
            by which claims refer to them. Silent choices are referred to by key and label.
        sections: Further sections of the page; they may make runs of their own.
        scopes: What the claims need of the results.
        metrics: The metrics that they need; all if not given.
        flow_metrics: Metrics of single flows that they need.
        runs: Runs behind each claim, if nobody says otherwise.
        quick_runs: The same with `--quick`.
    """

    name: str
    title: str
    system: Path
    grid: Grid
    claims: Sequence[Claim]
    silent: Sequence[Silent]
    main: Effort
    varied: Effort
    tables: Sequence[By] = ()
    figures: Sequence[Bars] = ()
    causes: Sequence[Point] = ()
    sections: Callable[[Study], Iterable[Section]] | None = None
    scopes: Sequence[str] = ("class",)
    metrics: Sequence[str] | None = None
    flow_metrics: Sequence[str] = ()
    runs: int = 10
    quick_runs: int = 3

    def judged(
        self, view: View, trials: Mapping[str, Sequence[Trial]] | None = None
    ) -> tuple[Judged, ...]:
        """Every claim, from the runs of one setting."""
        tried = trials or {}
        return tuple(judge(c, c.test(view), tried.get(c.id, ())) for c in self.claims)

    def reproduce(self, lab: Lab) -> Reproduction:
        """Runs everything."""
        study = Study(self, lab)
        further = list(self.sections(study)) if self.sections else [study.measured()]
        title = "The claims under other assumptions"
        return Reproduction(
            self.name,
            self.title,
            _engine.VERSION,
            lab.seed,
            lab.runs,
            lab.quick,
            study.claims,
            study.ledger,
            (*further, Section(title, "", (study.verdicts,))),
            lab.batches,
            lab.packets,
            lab.events,
        )


def cases(grid: Grid, point: Point | None = None, prefix: str = "") -> list[Case]:
    """The variants of a grid under another choice; those only that it can touch."""
    p = point or Point("")
    return [
        Case(f"{prefix}{name}", {**({} if p.instead else v.set), **p.set, **v.always})
        for name, v in grid.places.items()
        if (name in p.places or not p.places) and name not in p.same
    ]


class Study:
    """The runs of a paper, and what they say."""

    def __init__(self, paper: Frame, lab: Lab) -> None:
        """Makes the claims' runs, those of the ledger, and those with causes off."""
        self.paper, self.lab = paper, lab
        self.main = self.run("The paper's grid", paper.grid, paper.main, keep=True)
        """The claims' runs."""
        self.settings: dict[str, View] = {}
        """The grid under each other choice and with each cause off, by key and label or name."""
        self._ledger_runs()
        self.claims = paper.judged(self.main, self._trials())
        self.ledger, self.verdicts = self._ledger()

    def run(
        self,
        batch: str,
        grid: Grid,
        effort: Effort,
        point: Point | None = None,
        *,
        keep: bool = False,
    ) -> View:
        """Runs a grid, all of whose metrics are taken."""
        for name, text in (point.files if point else {}).items():
            self.lab.write(name, text)
        results = self.lab.run(batch, cases(grid, point), effort.protocol(self.lab), keep=keep)
        measured = Measured(results, self.paper.scopes, None, self.paper.flow_metrics)
        same = point.same if point else {}
        return View({p: (measured, same.get(p, p)) for p in grid.places})

    def measured(self) -> Section:
        """The tables and figures of the claims' runs."""
        main, varied = (e.protocol(self.lab) for e in (self.paper.main, self.paper.varied))
        results = self.lab.batches["The paper's grid"]
        return Section(
            "What was measured",
            f"The claims rest on {main.runs} independent runs of {main.duration:g} s after "
            f"{main.warmup:g} s of warm-up; the ledger on {varied.runs} of {varied.duration:g} s "
            "at each point under the same seeds. ± is half the width of the 95 % interval.",
            tuple(t.table(self.main) for t in self.paper.tables),
            tuple(f.picture(results, list(self.paper.grid.places)) for f in self.paper.figures),
            "measured",
        )

    def _ledger_runs(self) -> None:
        grid = self.paper.grid
        points = {CHOSEN: Point(CHOSEN)}
        for s in self.paper.silent:
            points |= {f"{s.key}, {p.label}": p for p in s.points}
        points |= {p.label: p for p in self.paper.causes}
        every: list[Case] = []
        for name, point in points.items():
            every += cases(grid, replace(point, set=self.lab.apply(point)), f"{name}: ")
        protocol = self.paper.varied.protocol(self.lab)
        results = self.lab.run("The ledger of assumptions", every, protocol)
        m = Measured(results, self.paper.scopes, self.paper.metrics, self.paper.flow_metrics)
        for name, p in points.items():
            self.settings[name] = View(
                {
                    x: (
                        m,
                        f"{name if x in p.places or not p.places else CHOSEN}: {p.same.get(x, x)}",
                    )
                    for x in grid.places
                }
            )

    def _trials(self) -> dict[str, list[Trial]]:
        """What each claim is with its suspected causes off, beside runs as long with them on."""
        on = self.settings[CHOSEN]
        return {
            c.id: [
                Trial(s.cause, s.off or s.setting, c.test(self.settings[s.setting]), c.test(on))
                for s in c.because
            ]
            for c in self.paper.claims
        }

    def _ledger(self) -> tuple[tuple[Ledgered, ...], Table]:
        """What the claims do at each point, compared with the choice in runs as long."""
        judged = self.paper.judged
        base = {j.claim.id: j for j in judged(self.settings[CHOSEN])}
        rows: list[tuple[Cell, ...]] = [("", CHOSEN, *letters(base))]
        ledger = []
        for s in self.paper.silent:
            effects = []
            for point in s.points:
                here = {j.claim.id: j for j in judged(self.settings[f"{s.key}, {point.label}"])}
                effects.append(f"{point.label}: {changes(base, here)}")
                rows.append((s.key, point.label, *letters(here)))
            ledger.append(Ledgered(s, "; ".join(effects) or s.note))
        protocol = self.paper.varied.protocol(self.lab)
        note = (
            f"{LETTERS_SAID} {protocol.runs} runs at each point, as many as of the claims and "
            f"under the same seeds, of {protocol.duration:g} s each; the first line is our choice "
            "in such runs."
        )
        head = ("assumption", "choice", *base)
        return tuple(ledger), Table(
            "ledger", "Each assumption varied alone", head, tuple(rows), note
        )


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
