"""The results of runs: means with intervals, verdicts, series, distributions."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Sequence
from copy import deepcopy
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillgate import _engine, admission, documents, frames
from spillgate.displayed import Displayed, Several
from spillgate.errors import InputError, OutputError
from spillgate.estimates import Beside, Estimates, exact_of_classes, numbers_of, of_point
from spillgate.labels import words as words_of
from spillgate.labels import worst
from spillgate.outages import Outage, outages
from spillgate.points import At, chosen
from spillgate.rows import (
    Admission,
    ClassBound,
    Conclusion,
    Difference,
    Distribution,
    Row,
    Run,
    Sample,
    Series,
    T,
    Transient,
    Verdict,
    records,
)
from spillgate.rundir import COPIES, MANIFEST, RUNS, RunDirectory, copy_files, seal
from spillgate.scenario import Description, Engine
from spillgate.source import Source
from spillgate.where import Where, part
from spillgate.witness import witnesses

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import xarray as xr

PARTS = ("verdicts", "bounds", "differences", "transients", "runs", "series", "distributions")
"""The parts of results beside the summary, as the core names them."""

WORDS = ("conclusion", "remarks", "assumptions")
"""What is said of results, as the core names it."""

SCOPES = tuple(name for name in words_of("scopes") if name != "flow")
"""What the rows of a summary are about, single flows left out."""


class Results(Displayed):
    """What the finished runs gave.

    Attributes:
        description: What was run.
        interrupted: Whether the runs were stopped before all had finished.
        wall_s: Seconds from the start of the runs to their end.
        engine: What got the runs through their events: `express` or `plain`.
        source: The scenario with its files.
        overrides: Values of it that were replaced, as `path=value` texts.
        sla: Files with requirements beside the scenario's, relative to it.
        sampled: Numbers of the runs that have time series; none if every one has.
        store: Where the runs are stored, each in a file: `runs` of a run directory, or what was
            given to `run`; none if they are not.
    """

    def __init__(
        self,
        description: Description,
        values: _engine.Outcome,
        *,
        source: Source,
        interrupted: bool = False,
        wall_s: float = 0.0,
        engine: Engine = "express",
        overrides: Sequence[str] = (),
        sla: Sequence[str] = (),
        series: Sequence[int] | None = (),
        store: Path | None = None,
        again: Callable[..., Results] | None = None,
        whole: Results | None = None,
    ) -> None:
        """Made by `spillgate.run` and `spillgate.load`; `again` is the former.

        `whole` is what they were chosen of by `where`.
        """
        self.description = description
        self.interrupted = interrupted
        self.wall_s = wall_s
        self.engine: Engine = engine
        self.source = source
        self.overrides = tuple(overrides)
        self.sla = tuple(sla)
        self.sampled = None if series is None else tuple(series)
        self.store = store
        self._again = again
        self._whole = whole
        self._values = values
        self._parsed: dict[str, Any] = {}
        self._witnesses: dict[tuple[str, int], dict[tuple[str, bool], dict[str, Any]]] = {}
        self._sampled: dict[tuple[str, str], dict[str, list[Sample]]] = {}
        self._rows: dict[tuple[str | None, str | None], tuple[Row, ...]] = {}

    @property
    def scenario_path(self) -> Path:
        """The scenario's file; its name only if it has none."""
        return self.source.path

    @cached_property
    def events(self) -> int:
        """How many events the runs took, those that were stored included.

        No result: it depends on the engine.
        """
        return self._values.events()

    def _objects(self, name: str, kind: type[T]) -> tuple[T, ...]:
        if name not in self._parsed:
            self._parsed[name] = records(kind, self._values.part(name))
        parsed: tuple[T, ...] = self._parsed[name]
        return parsed

    def _summary(self, scope: str | None, metric: str | None, names: set[str]) -> tuple[Row, ...]:
        # All rows are many where flows or links are: they are made only when they are asked for.
        def made() -> tuple[Row, ...]:
            scopes, metrics = ([x] if x else [] for x in (scope, metric))
            return records(Row, self._values.summary(scopes, metrics, names))

        if names:
            return made()
        if (scope, metric) not in self._rows:
            self._rows[scope, metric] = made()
        return self._rows[scope, metric]

    def table(
        self,
        *,
        scope: str | None = None,
        name: str | Collection[str] | None = None,
        metric: str | None = None,
        variant: str | None = None,
        at: At | None = None,
    ) -> list[Row]:
        """The rows that match all given criteria, in the scenario's order.

        Args:
            scope: What the rows are about: `class`, `queue`, `link`, ...
            name: Its name, or several.
            metric: The metric.
            variant: The variant; of a scenario with axes also the name of a point.
            at: Coordinates by axis: `{"load": "2 Mb/s"}` or `{"load": 2e6}`.

        Raises:
            InputError: If there is no such axis or value.

        Example:
            >>> import spillgate
            >>> results = spillgate.run("examples/first/scenario.yaml", runs=2)
            >>> [r.name for r in results.table(scope="class", metric="owd_mean")]
            ['voice', 'data', 'voice', 'data']
        """
        among = self._chosen(variant, at)
        if name is None or isinstance(name, str):
            rows = self._summary(scope, metric, set())
            return [r for r in rows if name in (None, r.name) and among(r.variant)]
        names = set(name)
        rows = self._summary(scope, metric, names) if names else ()
        return [r for r in rows if among(r.variant)]

    def classes(self, *, metric: str | None = None, variant: str | None = None) -> list[Row]:
        """The rows about classes of service."""
        return self.table(scope="class", metric=metric, variant=variant)

    def value(
        self, variant: str | None, scope: str, name: str, metric: str, *, at: At | None = None
    ) -> Row:
        """One row; raises `KeyError` if there is none."""
        for row in self.table(scope=scope, name=name, metric=metric, variant=variant, at=at):
            return row
        raise KeyError((variant, scope, name, metric))

    def samples(
        self,
        *,
        scope: str | None = None,
        metric: str | None = None,
        name: str | None = None,
        variant: str | None = None,
        at: At | None = None,
    ) -> list[Sample]:
        """The value of each run, of what matches all given criteria.

        Example:
            >>> import spillgate
            >>> results = spillgate.run("examples/first/scenario.yaml", runs=2)
            >>> [s.runs for s in results.samples(scope="class", metric="jitter", name="voice")]
            [(0, 1), (0, 1)]
        """
        among = self._chosen(variant, at)
        found = self._values.samples(
            [] if scope is None else [scope], [] if metric is None else [metric]
        )
        return [s for s in records(Sample, found) if name in (None, s.name) and among(s.variant)]

    def where(self, where: Where) -> Results:
        """The results of some points only, as if no others had been run.

        Tables, verdicts, what they come to, and figures are of these. The runs are read again
        from where they are stored.

        Args:
            where: Values by axis, as a text (`load=2 Mb/s,8 Mb/s,size=small`, a range
                `load=2 Mb/s..`) or as a mapping to a value or several. Variants are chosen by
                `variant`.

        Raises:
            InputError: If there is no such axis or value, or no point at these values.

        Example:
            >>> import spillgate
            >>> results = spillgate.run("examples/first/scenario.yaml", runs=2)
            >>> results.where("variant=llq").description.variants
            ('llq',)
        """
        job, described = part(
            self.description,
            where,
            source=self.source,
            set=self.overrides,
            sla=self._sla_files(),
            engine=self.engine,
        )
        again = self._again
        series = None if self.sampled is None else list(self.sampled)
        with tempfile.TemporaryDirectory() as temporary:
            stored = self.store
            if stored is None or not stored.is_dir():
                stored = Path(temporary)
                self._values.keep(stored)
            values = job.stored(stored, whole=not self.partial, series=series)
        whole = self if self._whole is None else self._whole
        return Results(
            described,
            values,
            source=self.source,
            interrupted=self.interrupted,
            wall_s=self.wall_s,
            engine=self.engine,
            overrides=self.overrides,
            sla=self.sla,
            series=self.sampled,
            store=self.store,
            again=again and (lambda *given, **options: again(*given, **options).where(where)),
            whole=whole,
        )

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One verdict for each requirement and variant."""
        return self._objects("verdicts", Verdict)

    def bounds(self) -> tuple[ClassBound, ...]:
        """What the delays of classes cannot exceed, by variant, whatever happens.

        Rows of a summary have the same as `bound`. `spillgate.bound` says the rest: what it is
        made of, and what queues cannot exceed.

        Example:
            >>> import spillgate
            >>> results = spillgate.run("examples/first/scenario.yaml", runs=2)
            >>> [(b.cls, b.owd) for b in results.bounds() if b.variant == "llq"]
            [('voice', 0.00636), ('data', 0.06697979798)]
        """
        return self._objects("bounds", ClassBound)

    def witness(self, verdict: Verdict) -> dict[str, Any] | None:
        """The packet that refuted a requirement which is to hold for certain.

        The run is repeated for it; of a delay it is the packet that took longest, of losses the
        first that was lost.

        Args:
            verdict: One of `verdicts`.

        Returns:
            A record as `explain` has it: `flow`, `seq`, `sent` and `delay` in picoseconds, and a
            `sentence`; none if nothing refuted it, or the run cannot be repeated.
        """
        if self._whole is not None:
            return self._whole.witness(verdict)
        if verdict.witness is None or self._again is None:
            return None
        at = verdict.variant, verdict.witness["run"]
        if at not in self._witnesses:
            run = next((r for r in self.runs if (r.variant, r.run) == at), None)
            self._witnesses[at] = (
                {}
                if run is None
                else witnesses(self.source, self.description, self.overrides, self.verdicts, run)
            )
        of = verdict.witness["flow"], verdict.metric == "loss_ratio"
        return self._witnesses[at].get(of)

    def differences(
        self, *, variant: str | None = None, cls: str | None = None, metric: str | None = None
    ) -> tuple[Difference, ...]:
        """The other variants compared with one, run by run, by class and metric.

        That one is the first, or what `against` says; after `against="all"` every two are
        compared, the later with the earlier, and those of one class and metric hold together.

        Example:
            >>> import spillgate
            >>> results = spillgate.run("examples/first/scenario.yaml", runs=3)
            >>> [d.effect for d in results.differences(cls="voice", metric="owd_mean")]
            ['better']
        """
        return tuple(
            d
            for d in self._objects("differences", Difference)
            if variant in (None, d.variant) and cls in (None, d.cls) and metric in (None, d.metric)
        )

    def transients(self) -> tuple[Transient, ...]:
        """Classes whose rate or delay had not settled when measuring began.

        Of the runs that have time series: the first of each variant, or those chosen by `series`.
        `remarks` says the same in words.

        Example:
            >>> import spillgate
            >>> spillgate.run("examples/first/scenario.yaml", runs=2).transients()
            ()
        """
        return self._objects("transients", Transient)

    @property
    def passed(self) -> bool:
        """Whether every requirement is met by every variant."""
        return all(v.verdict == "pass" for v in self.verdicts)

    def outages(self) -> list[Outage]:
        """What each requirement and class suffers from failures along an axis with `each`.

        Returns:
            For each variant and requirement the worst failure and those that break it; delay and
            loss of classes of which nothing is required. Empty without such an axis.
        """
        d = self.description
        return outages(d.axes, d.points, self.classes(), self.verdicts)

    def customers(self) -> dict[str, dict[str, str]]:
        """For each customer and variant: `pass` if all that is required is met, or the worst.

        Example:
            >>> import spillgate
            >>> spillgate.run("examples/first/scenario.yaml", runs=2).customers()
            {}
        """
        found: dict[str, dict[str, str]] = {}
        for v in self.verdicts:
            if v.customer is not None:
                of = found.setdefault(v.customer, {})
                of[v.variant] = worst((of.get(v.variant, v.verdict), v.verdict))
        return found

    @property
    def status(self) -> int:
        """Exit status that says the same: 0 all pass, 1 some fail, 3 some undecided."""
        said = worst(v.verdict for v in self.verdicts)
        return int(words_of("verdicts")[said]["status"]) if said else 0

    @property
    def runs(self) -> tuple[Run, ...]:
        """The finished runs."""
        return self._objects("runs", Run)

    def series(
        self,
        *,
        where: str | None = None,
        metric: str | None = None,
        variant: str | None = None,
        at: At | None = None,
        run: int | None = None,
    ) -> tuple[Series, ...]:
        """Time series of the runs that were sampled: the first of each variant, or those chosen.

        Args:
            where: What was sampled: `wan/voice` for a queue, `link wan`, `class voice`, `flow f`.
            metric: Its metric: `backlog_packets`, `carried`, `throughput`, `cwnd`, ...
            variant: The variant; of a scenario with axes also the name of a point.
            at: Coordinates by axis.
            run: The run, from 0.

        Example:
            >>> import spillgate
            >>> results = spillgate.run("examples/first/scenario.yaml", runs=1)
            >>> [s.unit for s in results.series(where="class voice", variant="llq")]
            ['b/s']
        """
        among = self._chosen(variant, at)
        return tuple(
            s
            for s in self._objects("series", Series)
            if where in (None, s.where)
            and metric in (None, s.metric)
            and among(s.variant)
            and run in (None, s.run)
        )

    def admission(
        self, *, variant: str | None = None, link: str | None = None
    ) -> tuple[Admission, ...]:
        """What links with flow admission (FAN) did to each flow, run by run.

        Empty where no link has any.

        Example:
            >>> import spillgate
            >>> spillgate.run("examples/first/scenario.yaml", runs=2).admission()
            ()
        """
        return tuple(
            a
            for a in self._objects(admission.PART, Admission)
            if variant in (None, a.variant) and link in (None, a.link)
        )

    def distributions(self) -> tuple[Distribution, ...]:
        """Delay distributions by variant and class."""
        return self._objects("distributions", Distribution)

    @cached_property
    def _words(self) -> dict[str, Any]:
        return self._values.words()

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know before believing the numbers: overload, failures, losses without a path."""
        return tuple(self._words["remarks"])

    @property
    def conclusion(self) -> Conclusion | None:
        """What the verdicts come to, in words; none if nothing is required.

        Example:
            >>> import spillgate
            >>> spillgate.run("examples/first/scenario.yaml", runs=3).conclusion.headline
            'Both requirements pass with llq; not with the other variant.'
        """
        found = self._words["conclusion"]
        return None if found is None else Conclusion(**found)

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What holds in every run of the scenario and may not hold in a network."""
        return tuple(self._words["assumptions"])

    def extend(
        self,
        runs: int,
        *,
        jobs: int | None = None,
        ignore_memory: bool = False,
        progress: Callable[..., None] | None = None,
    ) -> Results:
        """The same study with more runs.

        Those of a run directory, or of the `store` of `run`, are not made again, and new ones are
        stored beside them; without a store all are made. `save` with `force` puts the results in
        the place of the earlier ones.

        Args:
            runs: Runs of each variant, those that there are included.
            jobs: As for `run`.
            ignore_memory: As for `run`.
            progress: As for `run`.

        Raises:
            InputError: If there are as many already, or the scenario can no longer be used.
            Interrupted: On Ctrl-C, with the results of the finished runs.

        Example:
            >>> import tempfile, spillgate
            >>> store = tempfile.mkdtemp()
            >>> few = spillgate.run("examples/first/scenario.yaml", runs=2, store=store)
            >>> len(few.runs), len(few.extend(runs=3).runs)
            (4, 6)
        """
        if runs <= self.description.runs and not self.interrupted:
            msg = (
                f"error: there are {self.description.runs} runs of each variant already\n"
                "    hint: `runs` is how many there are to be in all"
            )
            raise InputError(msg)
        return self._once_more(
            self.overrides,
            self._sla_files(),
            runs=runs,
            jobs=jobs,
            ignore_memory=ignore_memory,
            progress=progress,
        )

    def estimates(self, variant: str | None = None) -> tuple[Estimates, ...]:
        """What formulas say of each point, beside what was simulated; see `spillgate.estimate`.

        Args:
            variant: Only the point of this name; default all.

        Raises:
            InputError: If there is no such point.

        Example:
            >>> import spillgate
            >>> results = spillgate.run("examples/first/scenario.yaml", runs=2)
            >>> fifo, llq = results.estimates()
            >>> next(b.words for b in fifo.simulated if b.estimate.metric == "loss_ratio")
            'inside the 95 % interval'
        """
        numbers = numbers_of(self.description, variant)
        return Several(of_point(self._values, self.description, n, self._of) for n in numbers)

    @cached_property
    def expected(self) -> dict[tuple[str, str], Beside]:
        """By variant and class the mean delay by an exact formula, beside the simulated one.

        Only of classes for which the scenario meets all that a formula assumes; none in networks
        of more than 500 links, since it is made with every table.
        """
        d = self.description
        return {
            (name, cls): beside
            for n, name in enumerate(d.variants)
            if self._values.has_formulas(n)
            for cls, beside in exact_of_classes(self._values, d, n, self._of).items()
        }

    def _of(self, scope: str, metric: str, variant: str) -> Sequence[Sample]:
        """The values of the runs of a point."""
        # Once for all points, of which there may be many.
        if (scope, metric) not in self._sampled:
            by_variant: dict[str, list[Sample]] = {}
            for s in records(Sample, self._values.samples([scope], [metric])):
                by_variant.setdefault(s.variant, []).append(s)
            self._sampled[scope, metric] = by_variant
        return self._sampled[scope, metric].get(variant, ())

    def judge(
        self,
        sla: str | Path | Sequence[str | Path] | None = None,
        *,
        correction: str | None = None,
        against: str | None = None,
    ) -> Results:
        """The same runs, judged again.

        Those of a run directory, or of the `store` of `run`, are not made again; without a store
        all are. Runs that are missing because the study was interrupted are made.

        Args:
            sla: Files with the requirements of customers in place of those so far; those so far
                if not given. The requirements of the scenario stay.
            correction: What is done about the number of requirements, if not what was.
            against: The variant that the others are compared with, if not the one that was.

        Raises:
            InputError: If the requirements cannot be used.

        Example:
            >>> import tempfile, spillgate
            >>> store = tempfile.mkdtemp()
            >>> found = spillgate.run("examples/first/scenario.yaml", runs=2, store=store)
            >>> found.judge(correction="holm").description.correction
            'holm'
        """
        given = {"verdicts.correction": correction, "verdicts.against": against}
        replaced = {path for path, value in given.items() if value is not None}
        if sla is None:
            files: Sequence[str | Path] = self._sla_files()
        else:
            files = [sla] if isinstance(sla, str | Path) else sla
        return self._once_more(
            [t for t in self.overrides if t.split("=", 1)[0].strip() not in replaced],
            files,
            runs=self.description.runs,
            correction=correction,
            against=against,
        )

    def _sla_files(self) -> list[Path]:
        return [self.source.path.parent / file for file in self.sla]

    def _once_more(
        self,
        overrides: Sequence[str],
        sla: Sequence[str | Path],
        **options: Any,  # noqa: ANN401 - those of `run`
    ) -> Results:
        if self._again is None:
            msg = "error: these results are not of a scenario that can be run"
            raise InputError(msg)
        return self._again(
            self.source,
            seed=self.description.seed,
            set=overrides,
            sla=sla,
            engine=self.engine,
            series="all" if self.sampled is None else self.sampled,
            store=self.store,
            **options,
        )

    def to_dict(self, *, flows: bool = False) -> dict[str, Any]:
        """Everything as plain data; single flows only if asked for, as they may be many."""
        parts = (*PARTS, *([admission.PART] if flows else []))
        return {
            **deepcopy(self._head()),
            **self._words,
            "summary": self._values.summary([] if flows else [*SCOPES], [], set()),
            **self._beside(),
            **{name: [*map(documents.plain, self._values.part(name))] for name in parts},
        }

    def _beside(self) -> dict[str, Any]:
        """What is said of the results beside what the core says, as plain data."""
        found = [asdict(o) | {"class": o.cls} for o in self.outages()]
        for one in found:
            del one["cls"]
        said = {"expected": documents.expected(self.expected)}
        return said | ({"outages": found} if found else {})

    def manifest(self, argv: Sequence[str] | None = None) -> dict[str, Any]:
        """What is needed to know where the results come from and to repeat them.

        In a run directory it has the digests of the other files, too.
        """
        return documents.manifest(
            self.source,
            self.description,
            argv,
            set=list(self.overrides),
            sla=list(self.sla),
            **self.source.own.identities(),
            runs_completed=len(self.runs),
            interrupted=self.interrupted,
            digests={f"{r.variant}/{r.run}": r.digest for r in self.runs},
            engine=self.engine,
            events=self.events,
            wall_s=round(self.wall_s, 3),
            series="all" if self.sampled is None else list(self.sampled),
            remarks=list(self.remarks),
        )

    def _head(self) -> dict[str, Any]:
        return documents.head(self.description, len(self.runs), interrupted=self.interrupted)

    def write_into(self, directory: str | Path, argv: Sequence[str] | None = None) -> None:
        """Writes a run directory into an empty directory, which may have its stored runs already.

        The runs, and the scenario with the files that it refers to, are what is read again. The
        rest is for people and other programs, and made of these: `manifest.json`, `results.json`,
        `results.parquet`, where runs were sampled `series.parquet`, and where a link admits flows
        `admission.csv`.
        """
        if self._whole is not None:
            msg = "some points of a study make no run directory: save what they were chosen of"
            raise OutputError(msg)
        where = Path(directory)
        copies = copy_files(self.source, self.description.files, where)
        head = {**self._head(), **self._beside()}
        self._values.write_json(str(where / "results.json"), head)
        self._values.write_parquet(str(where / "results.parquet"))
        if self.series():
            self._values.write_series(str(where / "series.parquet"))
        admission.write(where / admission.FILE, self._values.part(admission.PART))
        if self.runs:
            self._values.keep(where / RUNS)
        seal(where, {**self.manifest(argv), COPIES: copies})

    def save(self, directory: str | Path, *, force: bool = False) -> Path:
        """Saves everything but figures as a run directory.

        Args:
            directory: The directory to make.
            force: Whether an existing run directory is replaced.

        Returns:
            The directory.

        Raises:
            OutputError: If it exists or cannot be written, or these are the results of some points
                only; nothing is then changed.
        """
        # A run directory takes its runs along.
        store = self.store
        take = [store] if store is not None and (store.parent / MANIFEST).is_file() else []
        run_directory = RunDirectory(directory, force=force, take=take)
        with run_directory.filling() as temporary:
            self.write_into(temporary)
        return run_directory.path

    def to_pandas(self) -> pd.DataFrame:
        """The table as a pandas data frame, one line a row.

        With axes `variant` is the variant alone, `point` what rows have as `variant`, and each
        axis is a column.

        Raises:
            MissingDependencyError: If pandas is not installed.
        """
        return frames.to_pandas(self._every_row(), self.description)

    def to_polars(self) -> pl.DataFrame:
        """The table as a polars data frame, one line a row, with the columns of `to_pandas`.

        Raises:
            MissingDependencyError: If polars is not installed.
        """
        return frames.to_polars(self._every_row(), self.description)

    def to_xarray(self, scope: str = "class") -> xr.Dataset:
        """The values of one scope as a data set with named dimensions.

        Each metric is a variable. Its dimensions are `variant` (if there are several), the axes,
        `name` (of the class, queue, ..) and `estimate`: the mean and the `low` and `high` end of
        its 95 % interval. What is undefined is NaN. Where the points are not all combinations of
        the axes' values, `point` is a dimension in place of variant and axes, which are its
        coordinates.

        Raises:
            InputError: If there is nothing in this scope.
            MissingDependencyError: If pandas or xarray is not installed.

        Example:
            >>> import spillgate
            >>> results = spillgate.run("examples/first/scenario.yaml", runs=2)
            >>> delay = results.to_xarray().owd_mean
            >>> [str(d) for d in delay.dims]
            ['variant', 'name', 'estimate']
        """
        return frames.to_xarray(self._every_row(), self.description, scope)

    def _every_row(self) -> list[dict[str, Any]]:
        return self._values.summary([], [], set())

    def _chosen(self, variant: str | None, at: At | None) -> Callable[[str], bool]:
        return chosen(self.description.axes, self.description.points, variant, at)

    @property
    def partial(self) -> bool:
        """Whether there are fewer runs than were to be made."""
        return self._values.is_partial()

    def extent(self) -> str:
        """How many runs the results rest on, and of how many if some are missing.

        Example:
            >>> import spillgate
            >>> spillgate.run("examples/first/scenario.yaml", runs=2).extent()
            '4 runs'
        """
        done, d = len(self.runs), self.description
        if not self.partial:
            return f"{done} run{'' if done == 1 else 's'}"
        wanted = d.runs * len(d.variants)
        limit = "at most " if d.replication else ""
        whole = f"{limit}{wanted} run{'' if wanted == 1 else 's'}"
        each = [(v, sum(r.variant == v for r in self.runs)) for v in d.variants]
        if len(each) == 1:
            return f"{done} of {whole}"
        few, most = min(n for _, n in each), max(n for _, n in each)
        span = f"{few}" if few == most else f"{few} to {most}"
        return f"{done} of {whole}, {span} of {d.runs} of each variant"

    def __repr__(self) -> str:
        """Name, variants and runs."""
        d = self.description
        state = "interrupted" if self.interrupted else "complete"
        return f"<Results {d.name!r}: {len(d.variants)} variants, {len(self.runs)} runs, {state}>"
