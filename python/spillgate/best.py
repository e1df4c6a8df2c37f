"""Which variant, or which point of the axes, is the best in one metric."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from spillgate import statistics
from spillgate.displayed import Displayed
from spillgate.errors import InputError
from spillgate.labels import label_of
from spillgate.metrics import format_value
from spillgate.objective import Objective
from spillgate.points import counted
from spillgate.run import Simulation
from spillgate.scenario import Overrides, override_texts
from spillgate.search import SPELT, quantity
from spillgate.selection import Selected, correct_selection, kim_nelson, optimal_budget
from spillgate.source import ScenarioLike, Source
from spillgate.where import Where, numbers_of

FIRST, MOST = 10, 200
"""Runs of each before the first look, and the most of each."""

APART = 0.2
"""The share of the error for what is far behind: 7 % more runs where all are a zone apart."""


@dataclass(frozen=True)
class System:
    """What was compared: a variant, or a point of the axes.

    Attributes:
        name: Its name: `LLQ`, `LLQ (load=2 Mb/s)`.
        values: The metric in each of its runs.
        mean: Their mean.
        half: Half of the mean's 95 % interval.
        behind: By how much it is worse than the best, run by run; negative if it is better in the
            runs that both have.
        behind_half: Half of the 95 % interval of that; 0 of the best itself.
        dropped: After how many runs it was shown to be inferior; none if it was not.
        by: Which one was shown to be better then.
    """

    name: str
    values: tuple[float, ...]
    mean: float
    half: float
    behind: float
    behind_half: float
    dropped: int | None = None
    by: str | None = None

    @property
    def runs(self) -> int:
        """Runs that were made of it."""
        return len(self.values)


@dataclass(frozen=True)
class Best(Displayed):
    """Which system is the best.

    Attributes:
        objective: What was to be best.
        kind: What is compared: `variant` or `point`.
        systems: All of them, the best first, then by their means.
        within: The difference that does not matter, in the metric's unit; none with a budget.
        level: Confidence in 0..1 that it is the best if all others are worse by `within`; none
            with a budget.
        budget: Runs that there were for all of them; none with a guarantee.
        probability: With a budget: approximately, how probable it is that it is the best.
        left: How many were not shown to be inferior to another; all with a budget.
        needed: If several are left: after how many runs of each, at most, only one would be.
    """

    objective: Objective
    kind: str
    systems: tuple[System, ...]
    within: float | None
    level: float | None
    budget: int | None
    probability: float | None
    left: int
    needed: int | None

    @property
    def name(self) -> str:
        """The best; if it is not decided, the one that leads."""
        return self.systems[0].name

    @property
    def decided(self) -> bool:
        """Whether one was found with the confidence, or there was a budget."""
        return self.budget is not None or self.left == 1

    @property
    def runs(self) -> int:
        """Runs that it took in all."""
        return sum(s.runs for s in self.systems)

    @property
    def word(self) -> str:
        """Which end is looked for: `smallest` or `largest`."""
        return "largest" if self.objective.larger else "smallest"

    @property
    def what(self) -> str:
        """What is measured, in words."""
        return f"{label_of(self.objective.metric)} of {self.objective.cls}"

    @property
    def sentence(self) -> str:
        """The answer in a sentence or two."""
        best, said = self.systems[0], partial(format_value, unit=self.objective.unit)
        kinds = counted(len(self.systems), self.kind)
        if not self.decided:
            left = [s for s in self.systems if s.dropped is None]
            named = ", ".join(f"{s.name} ({said(s.mean)})" for s in left[:5])
            more = f" and {len(left) - 5} more" if len(left) > 5 else ""
            return (
                f"After {best.runs} runs {len(left)} of {kinds} are left: {named}{more}. "
                f"At most {self.needed} runs of each would tell which has the {self.word} "
                f"{self.what}."
            )
        found = f"{best.name} has the {self.word} {self.what}, {said(best.mean)}"
        if self.probability is not None:
            sure = f"{100 * self.probability:.3g} %" if self.probability < 0.9995 else "> 99.9 %"
            return (
                f"{found}; the approximate probability that this is right is {sure}. "
                f"{self._same()}It had {best.runs} of {self.runs} runs, the others "
                f"{self._others()}."
            )
        assert self.level is not None  # noqa: S101 - there is no budget
        equal = max(s.runs for s in self.systems) * len(self.systems)
        saved = f", not the {equal} of as many for each" if self.runs < equal else ""
        return (
            f"{found}: with {100 * self.level:g} % confidence, unless another is within "
            f"{said(self.within)} of it. {self._same()}Of {kinds} {self._drops()}. That took "
            f"{self.runs} runs{saved}."
        )

    def _same(self) -> str:
        """Those that no run tells from the best, as a sentence."""
        same = [s.name for s in self.systems[1:] if s.behind == s.behind_half == 0.0]
        return f"The same in every run: {', '.join(same)}. " if same else ""

    def _drops(self) -> str:
        counts = Counter(s.dropped for s in self.systems if s.dropped is not None)
        (after, number), *rest = sorted(counts.items())
        said = f"{number} dropped out after {after} runs"
        if len(rest) > 2:
            return f"{said}, {sum(n for _, n in rest)} later, the last after {max(counts)}"
        return ", ".join([said, *(f"{n} after {runs}" for runs, n in rest)])

    def _others(self) -> str:
        runs = [s.runs for s in self.systems[1:]]
        least, most = min(runs), max(runs)
        return f"{least}" if least == most else f"{least} to {most}"


class _Field:
    """The systems, and how their runs are made."""

    def __init__(
        self,
        source: Source,
        objective: Objective,
        simulation: Callable[..., Simulation],
        set_: Sequence[str],
        store: str | Path,
    ) -> None:
        self.source, self.objective, self._store = source, objective, store
        self._simulation, self._set = simulation, tuple(set_)
        d = simulation(set=self._set).description
        if d.replication is not None:
            # Here each has as many runs as it takes to tell it from others.
            self._set = (*self._set, "study.replication=null")
        self.description = d
        self.numbers: list[int] = list(range(len(d.variants)))

    def choose(self, where: Where | None) -> None:
        """Takes only some of the points; raises `InputError` if fewer than two are left."""
        d = self.description
        self.objective.check(d, self.source.path)
        if where is not None:
            self.numbers = numbers_of(d.axes, d.points, where)
        if len(self.numbers) < 2:
            msg = (
                f"error: {self.source.path}: there is nothing to compare: {self.names[0]}\n"
                "    hint: the best is one of several variants, or of points of axes"
            )
            raise InputError(msg)

    @property
    def names(self) -> list[str]:
        """What the systems are called."""
        return [self.description.points[n].name for n in self.numbers]

    def values(self, asked: Mapping[int, int]) -> dict[int, list[float]]:
        """The values of the first runs of some systems, negative where more is better."""
        by_runs: dict[int, list[int]] = {}
        for system, runs in asked.items():
            by_runs.setdefault(runs, []).append(system)
        found: dict[int, list[float]] = {}
        for runs, systems in by_runs.items():
            found |= self._made(systems, runs)
        return found

    def _made(self, systems: Sequence[int], runs: int) -> dict[int, list[float]]:
        points = [self.numbers[i] for i in systems]
        simulation = self._simulation(set=self._set, runs=runs, points=points)
        results = simulation.run(series=[], store=self._store)
        # A warm-up that pilot runs found is that of all runs.
        self._set = results.overrides
        o, names = self.objective, self.names
        samples = results.samples(scope="class", metric=o.metric, name=o.cls)
        by = {s.variant: s.values for s in samples}
        sign = -1.0 if o.larger else 1.0
        found = {}
        for i in systems:
            if names[i] not in by:
                raise o.not_measured(self.source.path)
            values = [v for v in by[names[i]] if v is not None]
            if len(values) < runs:
                run = by[names[i]].index(None)
                msg = (
                    f"error: {self.source.path}: {o.metric} of class {o.cls} has no value in run "
                    f"{run} of {names[i]}\n    hint: longer runs, or another metric"
                )
                raise InputError(msg)
            found[i] = [sign * v for v in values]
        return found


def best(
    scenario: ScenarioLike | Source,
    metric: str,
    *,
    largest: bool = False,
    within: str | None = None,
    budget: int | None = None,
    level: float = 0.95,
    where: Where | None = None,
    first: int = FIRST,
    most: int = MOST,
    seed: int | None = None,
    jobs: int | None = None,
    set: Overrides | None = None,  # noqa: A002
    confine: bool = False,
    store: str | Path | None = None,
    tried: Callable[[int, int], None] | None = None,
) -> Best:
    """The variant, or the point of the axes, with the smallest (largest) mean of a metric.

    With `within` the best is selected with a guarantee: after each run those that are shown to be
    inferior drop out, until one is left (KN++, Kim and Nelson 2006). With `budget` a number of
    runs goes where it tells most (OCBA, Chen et al. 2000). Run n has the same seeds everywhere.

    Args:
        scenario: As for `run`.
        metric: What is measured: `CLASS:METRIC`.
        largest: Whether more of it is better.
        within: A difference that does not matter, as a scenario writes such a value: `0.5 ms`.
        budget: In place of it: runs of all systems together.
        level: With `within`: confidence that the best is found if all others are worse by it.
        where: Only these variants or points, as for `Results.where`; default all.
        first: Runs of each before the first look.
        most: With `within`: the most runs of each; several may be left then.
        seed: As for `run`.
        jobs: As for `run`.
        set: As for `run`.
        confine: As for `run`.
        store: As for `run`; default a temporary one.
        tried: Called after each look: how many are left, and runs so far: of each that is left,
            with a budget of all.

    Raises:
        InputError: If there is no such class, metric or variant, or only one system; if a run has
            no value; or if numbers of runs, level or `within` make no sense.

    Example:
        >>> import spillgate
        >>> found = spillgate.best(
        ...     "examples/first/scenario.yaml",
        ...     "voice:owd_mean",
        ...     within="1 ms",
        ...     set={"measurement.duration": "5 s"},
        ... )
        >>> found.name, found.runs
        ('llq', 20)
    """
    objective = Objective.read(metric, larger=largest)
    zone = _zone(objective, within, budget)
    if not 0.5 <= level < 1.0:
        msg = f"error: --level {100 * level:g} %: at least 50 % and below 100 %"
        raise InputError(msg)
    if first < 3 or (budget is None and most < first):
        msg = (
            f"error: {first} runs at first and {most} at most\n"
            "    hint: at least 3 at first, since fewer say nothing of how they vary, and no "
            "fewer at most"
        )
        raise InputError(msg)
    source = Source.of(scenario)
    simulation = partial(Simulation, source, seed=seed, jobs=jobs, confine=confine)
    with tempfile.TemporaryDirectory(prefix="spillgate-best-") as temporary:
        field = _Field(source, objective, simulation, override_texts(set), store or temporary)
        field.choose(where)
        systems = len(field.numbers)
        if budget is not None and budget < first * systems:
            msg = (
                f"error: a budget of {budget} runs: {systems} systems have {first} first runs "
                f"each, {first * systems} in all\n    hint: a larger --budget, or fewer --first"
            )
            raise InputError(msg)

        def seen(found: Selected, runs: int) -> None:
            if tried is not None:
                tried(len(found.left), runs)

        if zone is None:
            assert budget is not None  # noqa: S101 - one of both is given
            found = optimal_budget(systems, field.values, budget=budget, first=first, seen=seen)
        else:
            found = kim_nelson(
                systems,
                field.values,
                zone=zone,
                level=level,
                first=first,
                most=most,
                apart=APART,
                seen=seen,
            )
    return _answer(field, found, zone, level, budget)


def _zone(objective: Objective, within: str | None, budget: int | None) -> float | None:
    """The indifference zone in the unit of the metric; none with a budget."""
    if (within is None) == (budget is None):
        msg = (
            "error: say how much does not matter with --within, or how many runs there are with "
            "--budget, not both"
        )
        raise InputError(msg)
    if within is None:
        return None
    number, unit, _ = quantity("within", within)
    wanted = objective.unit
    factor = 0.01 if unit == "%" else 1.0
    plain = wanted in ("1", "score", "factor", "packets")
    given = "1" if unit == "%" else SPELT.get(unit, unit) or (wanted if plain else "")
    if given != wanted:
        such = format_value({"1": 0.01, "s": 0.001, "b/s": 1e5}.get(wanted, 1.0), wanted)
        msg = f"error: --within {within} is no difference of {objective}: write one such as {such}"
        raise InputError(msg)
    if not number > 0:
        msg = f"error: --within {within}: a difference that does not matter is above 0"
        raise InputError(msg)
    return float(number) * factor


def _answer(
    field: _Field, found: Selected, zone: float | None, level: float, budget: int | None
) -> Best:
    sign = -1.0 if field.objective.larger else 1.0
    names = field.names

    def system(i: int) -> System:
        values = [sign * v for v in found.values[i]]
        lead = found.values[found.best]
        pairs = [a - b for a, b in zip(found.values[i], lead, strict=False)]
        mean, behind = (statistics.mean(v, again=False) for v in (values, pairs))
        out = found.dropped.get(i)
        return System(
            names[i],
            tuple(values),
            mean.estimate,
            mean.half,
            behind.estimate,
            behind.half,
            None if out is None else out.after,
            None if out is None else names[out.by],
        )

    others = [system(i) for i in range(len(names)) if i != found.best]
    others.sort(key=lambda s: (s.dropped is not None, sign * s.mean))
    lists = [found.values[i] for i in range(len(names))]
    return Best(
        objective=field.objective,
        kind="point" if field.description.axes else "variant",
        systems=(system(found.best), *others),
        within=zone,
        level=None if zone is None else level,
        budget=budget,
        probability=None if zone is not None else correct_selection(lists, found.best),
        left=len(found.left),
        needed=found.needed,
    )
