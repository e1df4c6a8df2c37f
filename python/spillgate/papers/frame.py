"""A paper as data: system, grid, silent choices, claims, tables; the frame does the rest.

It makes the runs, pairs them by run, varies each silent choice with as many runs as the claims
have, switches suspected causes on and off, judges, and gives the page its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from spillgate import _engine
from spillgate.papers.grid import Batch
from spillgate.papers.judge import judge
from spillgate.papers.lab import Lab
from spillgate.papers.measured import Own, View
from spillgate.papers.model import (
    Claim,
    Elsewhere,
    Judged,
    Point,
    Reproduction,
    Section,
    Silent,
    Trial,
)
from spillgate.papers.show import Bars, By
from spillgate.papers.study import Study, Watched
from spillgate.result import Results


@dataclass(frozen=True)
class Frame:
    """A paper.

    Attributes:
        name: Short name.
        title: Authors and title.
        system: Directory with `scenario.yaml` and what it refers to.
        files: Files that values and choices refer to, by name; written beside the scenario.
        batches: Its runs; the points of all are what claims, tables and figures are about.
        claims: Its claims.
        silent: What it leaves silent.
        tables: Tables of the claims' runs.
        figures: Figures of the first batch.
        causes: Settings that are no silent choice: suspected causes switched off, by the name
            by which claims refer to them. Silent choices are referred to by key and label.
        ledger: Points at which silent choices are varied; all of the batches that are varied if
            empty. Claims that need others are not judged there.
        watched: What the ledger shows beside verdicts.
        sections: Further sections of the page; they may make runs of their own.
        scopes: What the claims need of the results.
        metrics: The metrics that they need; all if not given.
        flow_metrics: Metrics of single flows that they need.
        own: Gives what else they need, by variant.
        series: Whether every run has time series, for `own`; else the first of each point has.
        quick: What `--quick` runs instead.
        runs: Runs behind each claim, if nobody says otherwise.
        quick_runs: The same with `--quick`.
    """

    name: str
    title: str
    system: Path
    batches: Sequence[Batch]
    claims: Sequence[Claim]
    silent: Sequence[Silent]
    files: Mapping[str, str] = field(default_factory=dict)
    tables: Sequence[By] = ()
    figures: Sequence[Bars] = ()
    causes: Sequence[Point | Elsewhere] = ()
    ledger: Sequence[str] = ()
    watched: Sequence[Watched] = ()
    sections: Callable[[Study], Iterable[Section]] | None = None
    scopes: Sequence[str] = ("class",)
    metrics: Sequence[str] | None = None
    flow_metrics: Sequence[str] = ()
    own: Callable[[Results], Mapping[str, Own]] | None = None
    series: bool = False
    quick: Frame | None = None
    runs: int = 10
    quick_runs: int = 3

    def judged(
        self, view: View, trials: Mapping[str, Sequence[Trial]] | None = None
    ) -> tuple[Judged, ...]:
        """Every claim, from the runs of one setting; of a partial view those that it decides."""
        tried = trials or {}
        tested = [(c, c.test(view)) for c in self.claims]
        return tuple(
            judge(c, parts, tried.get(c.id, ()))
            for c, parts in tested
            if parts or not view.partial
        )

    def reproduce(self, lab: Lab) -> Reproduction:
        """Runs everything."""
        if lab.quick and self.quick:
            return self.quick.reproduce(lab)
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
            (*further, Section(title, "", study.varied)),
            lab.batches,
            lab.packets,
            lab.events,
        )
