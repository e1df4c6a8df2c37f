"""A paper as data: system, grid, silent choices, claims, tables; the frame does the rest.

It makes the runs, pairs them by run, varies each silent choice with as many runs as the claims
have, switches suspected causes on and off, judges, and gives the page its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from spillgate.errors import InputError
from spillgate.result import Results
from spillgate_papers.choices import chosen
from spillgate_papers.grid import Batch
from spillgate_papers.judge import judge
from spillgate_papers.lab import Lab, Report
from spillgate_papers.matching.plan import Plan
from spillgate_papers.measured import Own, View
from spillgate_papers.model import (
    Claim,
    Elsewhere,
    Judged,
    Ledgered,
    Point,
    Reproduction,
    Section,
    Silent,
    Trial,
)
from spillgate_papers.rivals import Modern
from spillgate_papers.show import Bars, By
from spillgate_papers.study import Study, Watched
from spillgate_papers.texts import Texts


@dataclass(frozen=True)
class Frame:
    """A paper.

    Attributes:
        name: Short name.
        texts: Its authors and title, and the sentences of its claims and silent choices.
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
        search: How much is run where the silent choices are searched.
        modern: Mechanisms of today beside the paper's, run if they are asked for.
        runs: Runs behind each claim, if nobody says otherwise.
        quick_runs: The same with `--quick`.
    """

    name: str
    texts: Texts
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
    search: Plan = field(default_factory=Plan)
    modern: Modern | None = None
    runs: int = 10
    quick_runs: int = 3

    @property
    def compared(self) -> list[Batch]:
        """The batches that are run under other choices together."""
        also = self.search.places | self.search.judged
        return [b for b in self.batches if b.varied or not also.isdisjoint(b.places)]

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

    def reproduce(
        self,
        work: str | Path,
        *,
        quick: bool = False,
        seed: int = 1,
        runs: int | None = None,
        jobs: int | None = None,
        report: Report | None = None,
        store: Path | None = None,
        set: Mapping[str, str] | None = None,  # noqa: A002
        search: bool = False,
        rivals: bool = False,
    ) -> Reproduction:
        """Runs the experiment and judges the claims.

        Args:
            work: Directory for the scenario and the configurations that are run; made if missing.
            quick: Few and short runs, to see that it works; verdicts are not to be relied on.
            seed: Master seed.
            runs: Independent runs behind each claim, at least 2; the paper's default if not given.
            jobs: Threads; one a core if not given. The result does not depend on it.
            report: Called while it runs, with the name of the batch and how far it is.
            store: Directory where each run is kept as soon as it is finished; what is there
                already is not run again.
            set: Other choices for what the paper leaves silent, by key: a label of the ledger, or
                a beginning of it that is unique. The claims are then judged under these choices
                together, beside those as everything is chosen. They are run as long and as often
                as usual, where choices are varied.
            search: Whether the choices are found by which most claims hold together, instead: in
                brief runs of many sets of choices, the best of which is then run as with `set`.
            rivals: Whether mechanisms of today are run beside the paper's, too.

        Returns:
            Claims with verdicts, the ledger, tables and figures; the same for the same version,
            seed and number of runs on every machine.

        Raises:
            InputError: If a number is out of range, or there is no such choice, or no rivals.
        """
        paper = (self.quick if quick else None) or self
        choices = chosen(paper.search.ranges(paper.silent), set or {})
        if choices and search:
            msg = "error: set and search exclude each other: a search chooses"
            raise InputError(msg)
        if rivals and (choices or search):
            msg = "error: rivals are run as everything is chosen: without set and search"
            raise InputError(msg)
        modern = self.compared_with() if rivals else None
        study = self._study(work, quick, seed, runs, jobs=jobs, report=report, store=store)
        if search:
            return self._searched(study)
        if choices:
            return self._set(study, choices)
        study.reproduce()
        further = list(paper.sections(study)) if paper.sections else [study.measured()]
        further += [modern.section(study)] if modern else []
        title = "The claims under other assumptions"
        sections = (*further, Section(title, "", study.varied))
        found = study.claims, study.ledger, sections
        return Reproduction(self.name, self.texts.title, study.lab, *found)

    def rivals(
        self,
        work: str | Path,
        *,
        quick: bool = False,
        seed: int = 1,
        runs: int | None = None,
        jobs: int | None = None,
        store: Path | None = None,
    ) -> Section:
        """Runs mechanisms of today beside the paper's, and nothing else.

        Arguments are those of `reproduce`.

        Raises:
            InputError: If a number is out of range, or the paper names no rivals.
        """
        modern = self.compared_with()
        return modern.section(self._study(work, quick, seed, runs, jobs=jobs, store=store))

    def compared_with(self) -> Modern:
        """What stands beside the paper's mechanisms; raises `InputError` if nothing does."""
        if self.modern is None:
            msg = f"error: {self.name} names no rivals"
            raise InputError(msg)
        return self.modern

    def _study(
        self,
        work: str | Path,
        quick: bool,  # noqa: FBT001
        seed: int,
        runs: int | None,
        *,
        jobs: int | None,
        report: Report | None = None,
        store: Path | None,
    ) -> Study:
        if runs is not None and runs < 2:
            msg = f"error: runs must be at least 2 (an interval needs two), not {runs}"
            raise InputError(msg)
        lab = Lab(
            self.system,
            Path(work),
            seed=seed,
            runs=runs or (self.quick_runs if quick else self.runs),
            quick=quick,
            jobs=jobs,
            report=report,
            store=store,
        )
        return Study((self.quick if quick else None) or self, lab)

    def _set(self, study: Study, choices: Mapping[str, Point]) -> Reproduction:
        """The claims under other choices, beside those as everything is chosen."""
        claims = study.compare(list(choices.values()))
        ledger = tuple(
            Ledgered(replace(s, value=choices[s.key].label), f"set here; our choice is {s.value}")
            for s in study.paper.search.ranges(study.paper.silent)
            if s.key in choices
        )
        labels = {key: p.label for key, p in choices.items()}
        found = study.lab, claims, ledger, (), labels, study.claims
        return Reproduction(self.name, self.texts.title, *found)

    def _searched(self, study: Study) -> Reproduction:
        """The claims under the choices by which most of them hold, beside those as chosen."""
        # Listing papers shall not load what only a search needs.
        from spillgate_papers.matching.inference import Inference

        choices, sections, document = Inference(study, study.paper.search).run()
        return replace(self._set(study, choices), sections=sections, search=document)
