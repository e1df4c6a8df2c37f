"""The least or greatest value with which the requirements of a scenario hold."""

from __future__ import annotations

import difflib
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from spillgate.displayed import Displayed
from spillgate.errors import InputError
from spillgate.result import Results
from spillgate.rows import Verdict
from spillgate.run import Simulation
from spillgate.scenario import Overrides, export, override_texts
from spillgate.search import (
    EverythingHoldsError,
    Found,
    Ladder,
    Look,
    NothingHoldsError,
    Tested,
    ladder,
    least,
    most_tests,
)
from spillgate.source import ScenarioLike, Source

FIRST, MOST = 10, 100
"""Runs of the first and of the last look at a value."""

VALUES = 5
"""Values of the second key of a frontier, unless another number is asked for."""

Judged = tuple[Verdict, ...]


@dataclass(frozen=True)
class Key:
    """What is varied.

    Attributes:
        path: The path in the scenario, as for `set`.
        start: The least value, as a scenario writes it: `500 kb/s`.
        stop: The greatest.
        largest: Whether the greatest value is looked for, not the least.
        within: How far apart the values are that are tried; default about a 64th of the way.
    """

    path: str
    start: str
    stop: str
    largest: bool = False
    within: str | None = None

    @property
    def ladder(self) -> Ladder:
        """The values."""
        return ladder(self.start, self.stop, self.within)

    @property
    def word(self) -> str:
        """Which end is looked for: `smallest` or `largest`."""
        return "largest" if self.largest else "smallest"


@dataclass(frozen=True)
class Point:
    """A value that was tried.

    Attributes:
        value: As the scenario writes it.
        number: The same as a number in the base unit.
        verdict: Whether the requirements hold: `pass`, `fail`, or `undecided` after all runs.
        runs: Runs that it took.
        verdicts: The requirements, judged.
    """

    value: str
    number: float
    verdict: str
    runs: int
    verdicts: Judged

    @property
    def broken(self) -> tuple[Verdict, ...]:
        """The requirements that are not met, or of which runs do not tell."""
        return tuple(v for v in self.verdicts if v.verdict == self.verdict != "pass")


@dataclass(frozen=True)
class Answer(Displayed):
    """The value that was looked for.

    Attributes:
        key: What was varied.
        value: The least (greatest) value that is shown to meet every requirement.
        beyond: The nearest value beyond it that is shown not to; none if runs do not tell.
        within: How far apart the values are.
        level: Confidence in 0..1 that all verdicts on tried values are right.
        monotone: Whether, of the values tried, all on the good side meet the requirements.
        points: All that was tried, by value.
        at: Values of other keys, by path; empty of one key.
        changed: The lines of the configuration that change.
    """

    key: Key
    value: str
    beyond: str | None
    within: str
    level: float
    monotone: bool
    points: tuple[Point, ...]
    at: Mapping[str, str]
    changed: tuple[str, ...] = ()

    @property
    def runs(self) -> int:
        """Runs that it took in all."""
        return sum(p.runs for p in self.points)

    @property
    def sentence(self) -> str:
        """The answer in a sentence or two."""
        by = {p.value: p for p in self.points}
        count = len(by[self.value].verdicts)
        all_hold = "the requirement holds" if count == 1 else f"all {count} requirements hold"
        said = (
            f"The {self.key.word} {self.key.path} with which {all_hold} is {self.value}, in steps "
            f"of {self.within}"
        )
        if self.beyond is None:
            said += f"; {100 * self.level:g} % confidence."
        else:
            broken = by[self.beyond].broken
            said += (
                f": with {self.beyond}, {_said(broken[0])} does not. Both are so with "
                f"{100 * self.level:g} % confidence."
            )
        beside = [p.value for p in self.points if p.verdict == "undecided"]
        if beside:
            said += f" Of {_listed(beside)} {max(p.runs for p in self.points)} runs do not tell."
        if self.monotone:
            good, bad = ("below", "above") if self.key.largest else ("above", "below")
            said += (
                f" Of the values tried, every one {good} it holds, and none {bad} it is shown to."
            )
        else:
            fails = [p.value for p in self.points if self._is_good_side(p) and p.verdict == "fail"]
            other = "smaller" if self.key.largest else "larger"
            said += f" But {_listed(fails)} fails again: a {other} value need not do."
        return said

    def _is_good_side(self, point: Point) -> bool:
        numbers = {p.value: p.number for p in self.points}
        own = numbers[self.value]
        return point.number < own if self.key.largest else point.number > own


def _as_asked(error: InputError, keys: Sequence[Key]) -> InputError:
    """An error about the value of a key, under the name of the option that has its path."""
    text, diagnostics = str(error), error.diagnostics
    for key in keys:
        given, asked = f"--set {key.path}", f"--{key.word} {key.path}"
        text = text.replace(f"{given}:", f"{asked}:")
        diagnostics = tuple(replace(d, file=asked) if d.file == given else d for d in diagnostics)
    return InputError(text, diagnostics)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _said(v: Verdict) -> str:
    return f"{v.whose}: {v.words} (measured {v.measured})"


@dataclass(frozen=True)
class Frontier(Displayed):
    """What a second key must be for each value of the first.

    Attributes:
        first: The key that is looked for.
        second: The key that is stepped through.
        answers: For each value of the second the answer, or why there is none.
    """

    first: Key
    second: Key
    answers: tuple[tuple[str, Answer | str], ...]


class Finder:
    """Looks for values with which the requirements of one variant hold."""

    def __init__(
        self,
        scenario: ScenarioLike | Source,
        *,
        variant: str | None = None,
        classes: Sequence[str] = (),
        level: float = 0.95,
        first: int = FIRST,
        most: int = MOST,
        seed: int | None = None,
        jobs: int | None = None,
        set: Overrides | None = None,  # noqa: A002 - the option's name on the command line
        sla: Sequence[str | Path] = (),
        confine: bool = False,
        store: str | Path | None = None,
        tried: Callable[[Point], None] | None = None,
    ) -> None:
        """Takes what does not depend on the value; the arguments are those of `find`."""
        if not 0.5 <= level < 1.0:
            msg = f"error: --level {100 * level:g} %: at least 50 % and below 100 %"
            raise InputError(msg)
        if not 3 <= first <= most:
            msg = (
                f"error: {first} runs at first and {most} at most\n"
                "    hint: at least 3 at first, since fewer decide nothing, and no fewer at most"
            )
            raise InputError(msg)
        self.source = Source.of(scenario)
        self.variant, self.level, self.first, self.most = variant, level, first, most
        self._classes = frozenset(classes)
        self._set = override_texts(set)
        self._tried = tried
        self._store = store
        self._simulation = partial(
            Simulation,
            self.source,
            seed=seed,
            jobs=jobs,
            sla=sla,
            confine=confine,
            variant=variant,
        )

    def answer(
        self,
        key: Key,
        *,
        at: Mapping[str, str] | None = None,
        tests: int | None = None,
        scan: bool = True,
    ) -> Answer:
        """The least or greatest value of a key, given those of others.

        Raises:
            InputError: If there is no requirement, no value or every value meets them, or the
                path leads nowhere.
        """
        rungs = key.ladder
        texts = rungs.texts[::-1] if key.largest else rungs.texts
        numbers = rungs.numbers[::-1] if key.largest else rungs.numbers
        count = tests or most_tests(len(texts), scan=scan)
        level = 1.0 - (1.0 - self.level) / count
        fixed = dict(at or {})
        for end in (texts[0], texts[-1]):
            self._check({**fixed, key.path: end}, key)

        def look(step: int, runs: int) -> Look[Judged]:
            return self._look({**fixed, key.path: texts[step]}, runs, level)

        def note(t: Tested[Judged]) -> Point:
            return Point(texts[t.step], numbers[t.step], t.verdict, t.runs, t.seen)

        def noted(step: int, runs: int) -> Look[Judged]:
            found = look(step, runs)
            if self._tried is not None:
                self._tried(note(Tested(step, found.verdict, runs, found.seen)))
            return found

        try:
            found = least(len(texts), noted, first=self.first, most=self.most, scan=scan)
        except NothingHoldsError as error:
            point = note(error.args[0])
            what = (
                "not all requirements hold"
                if point.verdict == "fail"
                else f"{point.runs} runs do not tell whether all requirements hold"
            )
            end = "lower" if key.largest else "upper"
            msg = (
                f"error: {key.path}: {what} even with {point.value}, the {end} end: "
                f"{'; '.join(map(_said, point.broken[:3]))}\n"
                f"    hint: a wider range, or the requirement is not met by this key alone"
            )
            raise InputError(msg) from None
        except EverythingHoldsError as error:
            point = note(error.args[0])
            end = "upper" if key.largest else "lower"
            other = "--smallest" if key.largest else "--largest"
            msg = (
                f"error: {key.path}: all requirements hold with {point.value} already, the {end} "
                f"end: no value beyond it was looked at\n    hint: a wider range; or was {other} "
                "meant?"
            )
            raise InputError(msg) from None
        points = {step: note(t) for step, t in found.tested.items()}
        return self._answer(key, rungs, found, points, fixed)

    def frontier(self, first: Key, second: Key, *, values: int = VALUES) -> Frontier:
        """The answer for the first key at some values of the second, from end to end.

        The level holds for all of them together: the more there are, the more runs each takes.
        `values`: how many of the second, at least 2; fewer where its ends are nearer.
        """
        rungs = second.ladder
        last = len(rungs.texts) - 1
        steps = sorted({last * part // (values - 1) for part in range(values)})
        tests = len(steps) * most_tests(len(first.ladder.texts), scan=False)
        for ends in ((first.start, second.start), (first.stop, second.stop)):
            self._check(dict(zip((first.path, second.path), ends, strict=True)), first, second)
        answers: list[tuple[str, Answer | str]] = []
        for step in steps:
            at = {second.path: rungs.texts[step]}
            try:
                found: Answer | str = self.answer(first, at=at, tests=tests, scan=False)
            except InputError as error:
                found = str(error).split("\n", 1)[0].removeprefix("error: ")
            answers.append((rungs.texts[step], found))
        if not any(isinstance(a, Answer) for _, a in answers):
            reasons = "\n".join(f"    {second.path} {value}: {why}" for value, why in answers)
            msg = f"error: no value of {second.path} has an answer:\n{reasons}"
            raise InputError(msg)
        return Frontier(first, second, tuple(answers))

    def _check(self, values: Mapping[str, str], *keys: Key) -> None:
        """Loads the scenario with these values; that there is nothing to judge is an error."""
        try:
            simulation = self._simulation(set=[*self._set, *override_texts(values)])
        except InputError as error:
            raise _as_asked(error, keys) from None
        d = simulation.description
        if not d.sla:
            msg = (
                f"error: {self.source.path}: no requirement is stated\n"
                "    hint: add `sla`, or requirements of a customer with --sla FILE"
            )
            raise InputError(msg)
        required = {r["class"] for r in d.sla}
        if strange := sorted(self._classes - required):
            msg = (
                f"error: {self.source.path}: no requirement is about class {strange[0]!r}\n"
                f"    hint: there are requirements of {', '.join(sorted(required))}"
            )
            raise InputError(msg)
        if len(d.variants) > 1:
            msg = (
                f"error: {self.source.path} has {len(d.variants)} variants\n"
                f"    hint: say with --variant whose value is looked for: {', '.join(d.variants)}"
            )
            raise InputError(msg)

    def _look(self, values: Mapping[str, str], runs: int, level: float) -> Look[Judged]:
        judged = {
            "verdicts.level": f"{100 * level!r} %",
            "verdicts.correction": "holm",
            "verdicts.looks": "any",
        }
        overrides = [*self._set, *override_texts(values), *override_texts(judged)]
        results: Results = self._simulation(set=overrides, runs=runs).run(
            series=[], store=self._store
        )
        verdicts = tuple(v for v in results.verdicts if v.cls in (self._classes or {v.cls}))
        if any(v.verdict == "fail" for v in verdicts):
            return Look("fail", None, verdicts)
        open_ = [v for v in verdicts if v.verdict == "undecided"]
        if not open_:
            return Look("pass", None, verdicts)
        advice = [v.further_runs for v in open_ if v.further_runs is not None]
        return Look("undecided", max(advice, default=None), verdicts)

    def _answer(
        self,
        key: Key,
        rungs: Ladder,
        found: Found[Judged],
        points: Mapping[int, Point],
        at: Mapping[str, str],
    ) -> Answer:
        value = points[found.step].value
        return Answer(
            key,
            value,
            None if found.fails is None else points[found.fails].value,
            rungs.within,
            self.level,
            not found.again,
            tuple(sorted(points.values(), key=lambda p: p.number)),
            at,
            self._changed({**at, key.path: value}),
        )

    def _changed(self, values: Mapping[str, str]) -> tuple[str, ...]:
        """What changes in the scenario, and in the router's configuration if it has the policy."""
        lines = [f"{path}: {value}" for path, value in values.items()]
        if self.source.memory or not any(path.startswith("policies.") for path in values):
            return tuple(lines)
        try:
            before, after = (
                export(
                    self.source.path, to="ios", variant=self.variant, set=[*self._set, *more]
                ).text.splitlines()
                for more in ((), override_texts(values))
            )
        except InputError:
            # The policy, or another one, has no form there.
            return tuple(lines)
        diff = [
            line
            for line in difflib.unified_diff(before, after, lineterm="", n=2)
            if not line.startswith(("---", "+++", "@@"))
        ]
        return (*lines, *diff)


def find(
    scenario: ScenarioLike | Source,
    path: str,
    start: str,
    stop: str,
    *,
    largest: bool = False,
    within: str | None = None,
    variant: str | None = None,
    classes: Sequence[str] = (),
    level: float = 0.95,
    first: int = FIRST,
    most: int = MOST,
    seed: int | None = None,
    jobs: int | None = None,
    set: Overrides | None = None,  # noqa: A002
    sla: Sequence[str | Path] = (),
    confine: bool = False,
    store: str | Path | None = None,
    tried: Callable[[Point], None] | None = None,
) -> Answer:
    """The smallest (largest) value with which every requirement of the scenario holds.

    Both ends are tried, some values between, and then halves of what is left. Each value gets as
    many runs as it takes to decide: run n has the same seeds at every value, and verdicts hold
    however often one looks. All verdicts on values together hold with the level, by Bonferroni's
    correction for the number of values and Holm's for the requirements of each.

    Args:
        scenario: As for `run`.
        path: What is varied, as for `set`.
        start: The least value, as the scenario writes it: `500 kb/s`.
        stop: The greatest.
        largest: Whether the largest value is looked for.
        within: How far apart values are; default a round number, about a 64th of the way.
        variant: Of a scenario with variants: whose value.
        classes: Only the requirements of these classes; default all.
        level: Confidence level.
        first: Runs of the first look at a value.
        most: Runs of the last: what they do not tell counts as not shown to hold.
        seed: As for `run`.
        jobs: As for `run`.
        set: As for `run`.
        sla: As for `run`.
        confine: As for `run`.
        store: As for `run`; default a temporary one.
        tried: Called after each look.

    Raises:
        InputError: If there is no requirement, if no value or every value meets them, or if path,
            values or scenario cannot be used; says which and where.

    Example:
        >>> import spillgate
        >>> found = spillgate.find(
        ...     "examples/first/scenario.yaml",
        ...     "topology.links.uplink.rate",
        ...     "10 Mb/s",
        ...     "20 Mb/s",
        ...     within="1 Mb/s",
        ...     variant="fifo",
        ...     set={"measurement.duration": "5 s"},
        ... )
        >>> found.value
        '14 Mb/s'
    """
    with tempfile.TemporaryDirectory(prefix="spillgate-find-") as temporary:
        finder = Finder(
            scenario,
            variant=variant,
            classes=classes,
            level=level,
            first=first,
            most=most,
            seed=seed,
            jobs=jobs,
            set=set,
            sla=sla,
            confine=confine,
            store=temporary if store is None else store,
            tried=tried,
        )
        return finder.answer(Key(path, start, stop, largest, within))
