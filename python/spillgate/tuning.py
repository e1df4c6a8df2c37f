"""Tuning: values of axes with which all requirements hold, and most is left.

The axes of a scenario are the knobs. Optuna proposes points (ask and tell), which are run with
the same seeds at every point. What is best is run again with fresh seeds, since the best of many
noisy points looks better than it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spillgate.displayed import Displayed
from spillgate.errors import InputError, MissingDependencyError
from spillgate.objective import LEFT, Objective
from spillgate.points import Axis
from spillgate.result import Results
from spillgate.rows import Verdict
from spillgate.run import Progress, Simulation
from spillgate.scenario import Description, Overrides, override_texts
from spillgate.source import ScenarioLike, Source

TOGETHER = 8
"""Points that are proposed and run at a time."""

SCANNED = 9
"""Values along each knob at which the best point is looked around from."""

CONFIRMED = 3
"""Points that are run with fresh seeds at most until one of them passes."""


@dataclass(frozen=True)
class Trial:
    """A point that was run.

    Attributes:
        at: Where it is on each axis, from 0 to 1.
        values: Its values by axis, as the scenario would write them.
        margins: By how much each requirement holds, as a share of its bound: of the worse end of
            its interval, so negative unless it surely holds.
        objectives: What is to be best, by its name; none where it is not measured.
    """

    at: tuple[float, ...]
    values: dict[str, str]
    margins: tuple[float, ...]
    objectives: dict[str, float | None]

    @property
    def passes(self) -> bool:
        """Whether every requirement holds."""
        return all(m >= 0 for m in self.margins)


@dataclass(frozen=True)
class Knob:
    """How far the best point may be moved along one axis.

    Attributes:
        axis: The axis.
        best: Its value at the best point.
        trials: Points along it, all other values as at the best one.
        region: The first and the last value of those around the best one at which all
            requirements hold.
    """

    axis: str
    best: str
    trials: tuple[Trial, ...]
    region: tuple[str, str] | None


@dataclass(frozen=True)
class Tuned(Displayed):
    """What was found.

    Attributes:
        best: The best point that meets the requirements, confirmed if one was; else the point that
            is nearest to meeting them.
        objectives: What was to be best.
        confirmed: Its results with fresh seeds.
        tried: Points that were run with fresh seeds and did not pass, before it.
        trials: All points that were proposed.
        front: Of several objectives, the points of which none is better in all.
        knobs: What moving each value alone does; none unless that was asked for.
    """

    best: Trial
    objectives: tuple[Objective, ...]
    confirmed: Results = field(repr=False)
    tried: int
    trials: tuple[Trial, ...] = field(repr=False)
    front: tuple[Trial, ...]
    knobs: tuple[Knob, ...] = field(repr=False)

    @property
    def passed(self) -> bool:
        """Whether the fresh runs meet every requirement."""
        return bool(self.confirmed.passed)


def _optuna() -> Any:  # noqa: ANN401 - a module
    try:
        import optuna
    except ImportError as error:
        msg = "tuning needs Optuna: pip install 'spillgate[tune]'"
        raise MissingDependencyError(msg, name="optuna") from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    return optuna


def tune(
    scenario: ScenarioLike | Source,
    *,
    objectives: Sequence[Objective] = (LEFT,),
    trials: int = 64,
    runs: int | None = None,
    seed: int | None = None,
    jobs: int | None = None,
    set: Overrides | None = None,  # noqa: A002
    sla: Sequence[str | Path] = (),
    correction: str | None = None,
    confirm: int | None = None,
    around: bool = True,
    store: str | Path | None = None,
    progress: Callable[[str, Progress], None] | None = None,
) -> Tuned:
    """Finds values of the axes with which all requirements hold, and which are best.

    Args:
        scenario: A scenario with axes and requirements, and without variants.
        objectives: What is to be best among points that meet the requirements. With several, the
            points of which none is better in all are found, and the first one chooses among them.
        trials: How many points are proposed, at least 8.
        runs: Runs of each; the scenario's number if not given.
        seed: The master seed; the scenario's if not given. What is proposed depends on it, too.
        jobs: Threads; one a core if not given. The result does not depend on it.
        set: Values to replace, as for `spillgate.run`.
        sla: Files with the requirements of customers, beside the scenario's.
        correction: What is done about the number of requirements, as for `spillgate.run`.
        confirm: Runs with fresh seeds of the best point; four times `runs` if not given.
        around: Whether each value is moved alone, too, to see what that does.
        store: Directory of stored runs, which are not made again.
        progress: Called while it runs, with what is run.

    Returns:
        The best point, confirmed by fresh runs, with what moving each value alone does; the same
        for the same scenario, seed and versions of Spillgate and Optuna.

    Raises:
        InputError: If the scenario has no axes or no requirements, or has variants.
        MissingDependencyError: If Optuna is not installed.

    Example:
        >>> import spillgate
        >>> from spillgate.tuning import tune
        >>> tuned = tune("examples/ce-node/tune.yaml", trials=8, runs=2)
        >>> len(tuned.trials)
        8
    """
    optuna = _optuna()
    if trials < TOGETHER:
        msg = f"error: tuning takes at least {TOGETHER} trials, not {trials}"
        raise InputError(msg)
    how = {"seed": seed, "jobs": jobs, "sla": sla}
    texts = override_texts(set, correction)
    field_ = _Field(Source.of(scenario), texts, objectives, how, store, progress)
    runs = field_.first.runs if runs is None else runs
    found = field_.search(optuna, trials, runs)
    ranked = sorted(found, key=lambda t: field_.order(t))
    passing = [t for t in ranked if t.passes][:CONFIRMED]
    fresh = 4 * runs if confirm is None else confirm
    best, confirmed, tried = (passing or ranked)[0], None, 0
    for tried, trial in enumerate(passing or ranked[:1]):  # noqa: B007
        results = field_.confirm(trial, fresh)
        if confirmed is None or results.passed:
            best, confirmed = trial, results
        if results.passed:
            break
    assert confirmed is not None  # noqa: S101 - there are trials
    knobs = tuple(field_.knobs(best, runs)) if around else ()
    front = tuple(_front(found, objectives)) if len(objectives) > 1 else ()
    return Tuned(best, tuple(objectives), confirmed, tried, tuple(found), front, knobs)


class _Field:
    """The points that can be run, and how."""

    def __init__(
        self,
        source: Source,
        overrides: Sequence[str],
        objectives: Sequence[Objective],
        how: dict[str, Any],
        store: str | Path | None,
        progress: Callable[[str, Progress], None] | None,
    ) -> None:
        self._source, self._overrides, self._how = source, tuple(overrides), how
        self._objectives, self._store, self._progress = objectives, store, progress
        self._known: dict[tuple[tuple[float, ...], int], Trial] = {}
        self._labels: dict[tuple[float, ...], dict[str, str] | None] = {}
        self._wrong: InputError | None = None
        # Any one point says which axes there are, and ranges need no steps.
        one = override_texts({"study.design": {"random": {"points": 1}}})
        texts = [*self._overrides, *one]
        try:
            self.first = Simulation(self._source, set=texts, **how).description
        except InputError as error:
            if any(d.path == "study.design" for d in error.diagnostics):
                raise self._nothing() from error
            raise
        self.axes = self._checked(self.first)

    def _open(
        self, rows: Sequence[tuple[float, ...]], runs: int | None, seed: int | None = None
    ) -> Simulation:
        design = {"study.design": {"given": {"points": [list(row) for row in rows]}}}
        texts = [*self._overrides, *override_texts(design)]
        how = self._how if seed is None else {**self._how, "seed": seed}
        return Simulation(self._source, runs=runs, set=texts, **how)

    def _nothing(self) -> InputError:
        return InputError(
            f"error: {self._source.path}: there is nothing to tune: the scenario has no axes\n"
            "    hint: `axes: [{name: .., set: PATH, from: .., to: ..}]` names values and ranges"
        )

    def _checked(self, d: Description) -> tuple[Axis, ...]:
        where = self._source.path
        if any(p.variant for p in d.points):
            msg = (
                f"error: {where}: a scenario with variants cannot be tuned\n    hint: make them "
                "an axis: `{name: policy, points: [{name: .., set: {..}}]}`"
            )
            raise InputError(msg)
        if not d.sla:
            msg = (
                f"error: {where}: there is nothing to meet: the scenario has no requirements\n"
                "    hint: `sla: [{class: .., metric: owd_p99, max: 20 ms}]`"
            )
            raise InputError(msg)
        for o in self._objectives:
            o.check(d, where)
        return d.axes

    def labels(self, row: tuple[float, ...]) -> dict[str, str] | None:
        """The values of a point; none if it cannot be run."""
        if row not in self._labels:
            try:
                axes = self._open([row], 2).description.axes
            except InputError as error:
                self._labels[row], self._wrong = None, error
            else:
                self._labels[row] = {a.name: a.labels[0] for a in axes}
        return self._labels[row]

    def trials(self, rows: Sequence[tuple[float, ...]], runs: int, what: str) -> list[Trial]:
        """Points that are run with the seeds of the search."""
        new = {}
        for row in rows:
            if (row, runs) in self._known:
                continue
            if labels := self.labels(row):
                new[row] = labels
            else:
                self._known[row, runs] = self._impossible(row)
        if new:
            results = self._run(list(new), runs, what)
            d = results.description
            names = {
                tuple(a.labels[i] for a, i in zip(d.axes, p.places, strict=True)): p.name
                for p in d.points
            }
            for row, labels in new.items():
                name = names[tuple(labels[a.name] for a in d.axes)]
                self._known[row, runs] = self._trial(row, labels, results, name)
        return [self._known[row, runs] for row in rows]

    def _run(
        self, rows: list[tuple[float, ...]], runs: int, what: str, seed: int | None = None
    ) -> Results:
        simulation = self._open(rows, runs, seed)
        report = self._progress
        shown = None if report is None else lambda p: report(what, p)
        return simulation.run(shown, series=[], store=self._store)

    def _trial(
        self, row: tuple[float, ...], labels: dict[str, str], results: Results, name: str
    ) -> Trial:
        margins = tuple(_margin(v) for v in results.verdicts if v.variant == name)
        values: dict[str, float | None] = {}
        for o in self._objectives:
            try:
                values[str(o)] = (
                    results.value(name, "class", o.cls, o.metric).mean if o.cls else min(margins)
                )
            except KeyError:
                raise o.not_measured(self._source.path) from None
        return Trial(row, labels, margins, values)

    def _impossible(self, row: tuple[float, ...]) -> Trial:
        """A point that cannot be run: shares of more than all there is, say."""
        labels = {a.name: f"{u:.3g} of the axis" for a, u in zip(self.axes, row, strict=True)}
        margins = (-1.0,) * len(self.first.sla)
        return Trial(row, labels, margins, {str(o): None for o in self._objectives})

    def search(self, optuna: Any, trials: int, runs: int) -> list[Trial]:  # noqa: ANN401
        """Asks for points, runs them, tells what they gave; in all `trials`."""
        seed = self.first.seed
        study = optuna.create_study(
            directions=["maximize" if o.larger else "minimize" for o in self._objectives],
            sampler=optuna.samplers.TPESampler(
                seed=seed % 2**32,
                multivariate=True,
                constant_liar=True,
                n_startup_trials=min(trials // 2, 8 * len(self.axes)),
            ),
        )
        space = {a.name: self._distribution(optuna, a) for a in self.axes}
        found: list[Trial] = []
        while len(found) < trials:
            asked = [study.ask(space) for _ in range(min(TOGETHER, trials - len(found)))]
            rows = [tuple(self._place(a, t.params[a.name]) for a in self.axes) for t in asked]
            made = self.trials(rows, runs, f"trials {len(found) + 1} to {len(found) + len(rows)}")
            for ask, trial in zip(asked, made, strict=True):
                # Above 0 a constraint is violated.
                for i, margin in enumerate(trial.margins):
                    ask.set_constraint(str(i), -margin)
                values = [trial.objectives[str(o)] for o in self._objectives]
                if None in values:
                    study.tell(ask, state=optuna.trial.TrialState.FAIL)
                else:
                    study.tell(ask, values)
            found += made
            if self._wrong is not None and not any(self._labels.values()):
                # None can be run so far: it is the scenario.
                raise self._wrong
        return found

    @staticmethod
    def _distribution(optuna: Any, axis: Axis) -> Any:  # noqa: ANN401
        if axis.listed is None:
            return optuna.distributions.FloatDistribution(0.0, 1.0)
        return optuna.distributions.CategoricalDistribution(tuple(range(axis.listed)))

    @staticmethod
    def _place(axis: Axis, value: float) -> float:
        """A place on an axis, from what Optuna proposes."""
        return round(value, 6) if axis.listed is None else (value + 0.5) / axis.listed

    def order(self, trial: Trial) -> tuple[Any, ...]:
        """The best first: what meets the requirements by the first objective, then the nearest."""
        first = self._objectives[0]
        value = trial.objectives[str(first)]
        if value is None:
            value = -math.inf if first.larger else math.inf
        lacking = -sum(min(m, 0.0) for m in trial.margins)
        return (lacking, -value if first.larger else value, trial.at)

    def confirm(self, trial: Trial, runs: int) -> Results:
        """The same point with seeds that the search has not seen."""
        return self._run([trial.at], runs, "confirmation", self.first.seed + 1)

    def knobs(self, best: Trial, runs: int) -> Iterator[Knob]:
        """What moving each value alone does."""
        for k, axis in enumerate(self.axes):
            n = axis.listed
            places = (
                [i / (SCANNED - 1) for i in range(SCANNED)]
                if n is None
                else [(i + 0.5) / n for i in range(n)]
            )
            along = sorted({*places, best.at[k]})
            rows = [(*best.at[:k], u, *best.at[k + 1 :]) for u in along]
            made = self.trials(rows, runs, f"around the best: {axis.name}")
            yield Knob(
                axis.name, best.values[axis.name], tuple(made), _region(axis.name, made, best)
            )


def _margin(v: Verdict) -> float:
    """By how much a requirement holds, by the worse end of its interval."""
    end = v.high if v.side == "max" else v.low
    end = v.mean if end is None else end
    if end is None:
        return -1.0
    left = v.bound - end if v.side == "max" else end - v.bound
    return left / (abs(v.bound) or 1.0)


def _region(axis: str, along: Sequence[Trial], best: Trial) -> tuple[str, str] | None:
    """The first and last value around the best one at which all requirements hold."""
    at = next(i for i, t in enumerate(along) if t.values[axis] == best.values[axis])
    if not along[at].passes:
        return None
    low = high = at
    while low > 0 and along[low - 1].passes:
        low -= 1
    while high + 1 < len(along) and along[high + 1].passes:
        high += 1
    return along[low].values[axis], along[high].values[axis]


def _front(found: Sequence[Trial], objectives: Sequence[Objective]) -> Iterator[Trial]:
    """The points that meet the requirements of which none is better in all objectives."""

    def worse(a: Trial, b: Trial) -> bool:
        pairs = []
        for o in objectives:
            x, y = a.objectives[str(o)], b.objectives[str(o)]
            if x is None or y is None:
                return x is None
            pairs.append((x, y) if o.larger else (-x, -y))
        return all(y >= x for x, y in pairs) and any(y > x for x, y in pairs)

    passing = [t for t in found if t.passes]
    passing.sort(key=lambda t: [t.objectives[str(o)] or 0.0 for o in objectives])
    for trial in passing:
        if not any(worse(trial, other) for other in passing):
            yield trial
