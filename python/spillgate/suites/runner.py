"""Runs a suite: each section is an ordinary scenario with a variant for what is compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict

from spillgate import _engine
from spillgate.displayed import Displayed
from spillgate.errors import InputError
from spillgate.mechanisms import Mechanism, mechanism
from spillgate.own import AqmLike, identity
from spillgate.result import Results
from spillgate.run import Progress, Simulation
from spillgate.scenario import catalog
from spillgate.source import Source
from spillgate.statistics import Interval, mean
from spillgate.suites.grades import graded
from spillgate.suites.index import Section, Suite, named
from spillgate.suites.measures import Measure

POLICY = "AQM"
"""How policies begin in whose place mechanisms are put."""

QUICK_RUNS = 2
"""Runs of each variant where it shall be quick."""


class _Line(TypedDict):
    """What a mechanism is made for."""

    rate_bps: float
    rtt_s: float | None
    own: AqmLike


@dataclass(frozen=True)
class Done:
    """One section that was run.

    Attributes:
        section: The section.
        results: What was measured, with all that a report has.
        stated: The parameters of each mechanism on the line of this section, by its name.
    """

    section: Section
    results: Results
    stated: Mapping[str, tuple[str, ...]]

    @cached_property
    def cases(self) -> Mapping[str, Mapping[str, str]]:
        """The point of each mechanism or congestion control by case; one case "" without axes."""
        d = self.results.description
        if not d.axes:
            return {"": {name: name for name in d.variants}}
        found: dict[str, dict[str, str]] = {}
        for p in d.points:
            case = ", ".join(a.labels[i] for a, i in zip(d.axes, p.places, strict=True))
            found.setdefault(case, {})[p.variant] = p.name
        return found

    def values(self, measure: Measure, case: str, of: str) -> tuple[float | None, ...]:
        """The value of each run."""
        idle = self.cases.get(self.section.baseline)
        return measure.values(
            self.results, self.cases[case][of], None if idle is None else idle[of]
        )

    def interval(self, measure: Measure, case: str, of: str) -> Interval | None:
        """The mean over the runs with its 95 % interval; none where nothing is defined."""
        defined = [v for v in self.values(measure, case, of) if v is not None]
        return mean(defined, again=False) if defined else None

    def grades(self, case: str, compared: Sequence[str]) -> list[str] | None:
        """The grade of each; none where nothing is graded."""
        measure = self.section.graded
        if measure is None or case == self.section.baseline:
            return None
        return [graded(self.interval(measure, case, of)) for of in compared]


@dataclass(frozen=True)
class SuiteResults(Displayed):
    """A suite that was run.

    Attributes:
        suite: The suite.
        compared: What was compared, in the order that was asked for.
        own: AQMs of one's own by name, each with what tells it from others.
        sections: The sections that were run.
        quick: Whether runs were few and short, so that nothing can be relied on.
        seed: The seed of all runs.
    """

    suite: Suite
    compared: tuple[str, ...]
    own: Mapping[str, str]
    sections: tuple[Done, ...]
    quick: bool
    seed: int

    def section(self, number: str) -> Done:
        """A section by its number; raises `KeyError` if it was not run."""
        return next(d for d in self.sections if d.section.number == number)

    def rows(self) -> Iterator[tuple[Done, Measure, str, list[Interval | None]]]:
        """Each measure of each case of each section, with the means of what was compared."""
        for done in self.sections:
            for case in done.cases:
                for measure in done.section.measures:
                    yield (
                        done,
                        measure,
                        case,
                        [done.interval(measure, case, of) for of in self.compared],
                    )

    def to_dict(self) -> dict[str, Any]:
        """All means and intervals, and what was left out, as plain data."""
        return {
            "version": _engine.VERSION,
            "suite": self.suite.name,
            "document": self.suite.document,
            "compared": list(self.compared),
            "own": dict(self.own),
            "quick": self.quick,
            "seed": self.seed,
            "rows": [
                {
                    "section": done.section.number,
                    "case": case,
                    "measure": measure.text,
                    "unit": measure.unit,
                    "values": {
                        of: None if i is None else {"mean": i.estimate, **_ends(i)}
                        for of, i in zip(self.compared, found, strict=True)
                    },
                }
                for done, measure, case, found in self.rows()
            ],
            "grades": [
                {
                    "section": done.section.number,
                    "case": case,
                    "grades": dict(zip(self.compared, found, strict=True)),
                }
                for done in self.sections
                for case in done.cases
                if (found := done.grades(case, self.compared)) is not None
            ],
            "stated": {
                done.section.number: {k: list(v) for k, v in done.stated.items()}
                for done in self.sections
            },
            "sections": [
                {
                    "section": s.number,
                    "title": s.title,
                    "state": s.state if s in self._ran else _unasked(s),
                    "left_out": s.left_out,
                }
                for s in self.suite.sections
            ],
        }

    @cached_property
    def _ran(self) -> list[Section]:
        return [d.section for d in self.sections]


def _ends(of: Interval) -> dict[str, float | None]:
    # JSON has no infinity, which is what one value alone has.
    return {"low": _finite(of.low), "high": _finite(of.high)}


def _finite(value: float) -> float | None:
    return value if abs(value) < float("inf") else None


def _unasked(section: Section) -> str:
    return "not run" if section.scenario is None else "not asked for"


def suite(
    name: str,
    *,
    aqm: Sequence[str] = (),
    tcp: Sequence[str] = (),
    own: AqmLike | None = None,
    sections: Sequence[str] = (),
    quick: bool = False,
    runs: int | None = None,
    seed: int = 1,
    jobs: int | None = None,
    store: str | Path | None = None,
    progress: Callable[[str, Progress], None] | None = None,
) -> SuiteResults:
    """Runs a suite of published scenarios.

    Args:
        name: `rfc7928`, `rfc9743`, `l4s` or `bufferbloat`.
        aqm: Mechanisms that are compared, by the names of `spillgate.mechanisms.NAMES` and of
            `own`; those of the suite if none is given. Not for suites of congestion controls.
        tcp: Congestion controls that are compared, for `rfc9743` alone.
        own: AQMs of one's own by name, as for `spillgate.run`; each stands in a FIFO.
        sections: Numbers of sections, with those below them; all if empty.
        quick: Makes few and short runs, to see that all of it works.
        runs: Runs of each variant; those of the scenario if not given.
        seed: Master seed of all sections.
        jobs: Threads; as many as processor cores if not given.
        store: Directory where each run is kept, as for `spillgate.run`.
        progress: Called with the number of the section about ten times a second.

    Raises:
        InputError: If there is no such suite, section, mechanism or congestion control; says
            which there are.
        Interrupted: On Ctrl-C.

    Example:
        >>> import spillgate
        >>> chosen = {"aqm": ["codel", "pie"], "sections": ["5.1.1"]}
        >>> found = spillgate.suite("rfc7928", **chosen, quick=True)
        >>> [measure.text for _, measure, _, _ in found.rows()][:2]
        ['link.down.sojourn_mean', 'class.bulk.goodput']
    """
    of, classes = named(name), dict(own or {})
    compared = _compared(of, aqm, tcp, classes)
    chosen = of.chosen(sections)
    # All of them are checked before the first run.
    prepared = [_prepare(of, s, compared, classes) for s in chosen]
    done: list[Done] = []
    for section, (source, stated) in zip(chosen, prepared, strict=True):
        simulation = Simulation(
            source,
            seed=seed,
            runs=QUICK_RUNS if quick and runs is None else runs,
            jobs=jobs,
            set=dict(section.quick) if quick else None,
        )
        # Sections are the same program: their runs may share a store.
        results = simulation.run(
            None if progress is None else _of_section(progress, section.number), store=store
        )
        done.append(Done(section, results, stated))
    identities = {n: identity(c) for n, c in classes.items() if n in compared}
    return SuiteResults(of, compared, identities, tuple(done), quick, seed)


def _of_section(
    progress: Callable[[str, Progress], None], number: str
) -> Callable[[Progress], None]:
    return lambda p: progress(number, p)


def _compared(of: Suite, aqm: Sequence[str], tcp: Sequence[str], own: AqmLike) -> tuple[str, ...]:
    """What is compared; raises `InputError` if there is no such thing."""
    other = tcp if of.kind == "aqm" else aqm
    if other or (own and of.kind == "tcp"):
        wrong, right = ("tcp", "aqm") if of.kind == "aqm" else ("aqm", "tcp")
        what = "mechanisms of queues" if of.kind == "aqm" else "congestion controls"
        msg = f"error: --{wrong}: {of.name} compares {what}: say which with --{right}"
        raise InputError(msg)
    asked = tuple(aqm if of.kind == "aqm" else tcp) or of.compared
    for name in asked:
        if asked.count(name) > 1:
            msg = f"error: --{of.kind}: {name!r} is given twice"
            raise InputError(msg)
        if of.kind == "aqm":
            # Of the line nothing is known yet, but of the name everything.
            mechanism(name, rate_bps=None, own=own)
        else:
            check_control(name)
    return asked


def check_control(name: str) -> None:
    """Raises `InputError` if there is no such congestion control."""
    known = [str(c["kind"]) for c in catalog()["congestion-control"]]
    if name not in known:
        near = _engine.nearest(name, known)
        hint = f"\n    hint: did you mean {near}?" if near else ""
        msg = f"error: --tcp: no congestion control is called {name!r}; there are "
        raise InputError(msg + ", ".join(known) + hint)


def _prepare(
    of: Suite, section: Section, compared: Sequence[str], own: AqmLike
) -> tuple[Source, dict[str, tuple[str, ...]]]:
    """The scenario of a section with a variant for each, and the parameters that they have."""
    assert section.scenario is not None  # noqa: S101 - only those that are run are chosen
    text = section.scenario.read_text(encoding="utf-8")
    stated: dict[str, tuple[str, ...]] = {}
    variants = []
    if of.kind == "tcp":
        for name in compared:
            values: dict[str, Any] = {f"traffic.{f}.tcp.cc": name for f in section.flows}
            variants.append({"name": name, "set": values})
    else:
        lines = _lines(Simulation(text))
        for name in compared:
            values = {}
            for policy, rate in lines.items():
                line: _Line = {"rate_bps": rate, "rtt_s": section.rtt_s, "own": own}
                found = mechanism(name, **line)
                if section.limit is not None and "fifo" in found.policy:
                    found = mechanism(name, **line, limit=section.limit)
                said = stated.setdefault(name, ())
                stated[name] = (*said, *(s for s in found.stated if s not in said))
                values[f"policies.{policy}"] = (
                    scheduled(found) if section.scheduled else dict(found.policy)
                )
            variants.append({"name": name, "set": values})
    # JSON is YAML, and the scenarios have no variants of their own.
    whole = f"{text}variants: {json.dumps(variants)}\n"
    return Source.of(whole, aqm={n: c for n, c in own.items() if n in compared}), stated


def _lines(simulation: Simulation) -> dict[str, float]:
    """The rate of the line in front of which each policy stands that is replaced."""
    return {
        str(link["policy"]): float(link["rate"])
        for link in simulation.description.links
        if str(link["policy"]).startswith(POLICY)
    }


def scheduled(of: Mechanism) -> dict[str, Any]:
    """A mechanism in each queue of a fair queue; what schedules by itself stays as it is.

    Example:
        >>> from spillgate.mechanisms import mechanism
        >>> scheduled(mechanism("pie", rate_bps=10e6))["fq"]["aqm"]
        {'pie': {'ecn': True}}
        >>> scheduled(mechanism("fq-codel", rate_bps=10e6))
        {'fq-codel': {}}
    """
    policy = dict(of.policy)
    if "fifo" not in policy:
        return policy
    return {"fq": {key: value for key, value in policy["fifo"].items() if key == "aqm"}}
