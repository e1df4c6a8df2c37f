"""What a suite has: its sections, what is measured in each, and what is left out.

Each suite is a folder of scenarios, one for each section that is run, named by the number of the
section, and an index `NAME.toml` beside it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from spillgate import _engine
from spillgate.errors import InputError
from spillgate.suites.measures import Measure

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_HERE = Path(__file__).parent

Kind = Literal["aqm", "tcp"]
"""What a suite compares: mechanisms of queues, or congestion controls."""


@dataclass(frozen=True)
class Section:
    """One section of a suite.

    Attributes:
        number: Its number in the document, `8.2.5`; unique in the suite.
        title: What it is about.
        measures: What is measured, the most telling first; none where nothing is run.
        scenario: Its scenario, none where nothing is run. Policies whose name begins with `AQM`
            are replaced, or the congestion control of the flows that `flows` names.
        left_out: What of the section is not run, and why; "" if nothing is left out.
        rtt_s: The round trip that the mechanisms are set for, in seconds; none for the usual one.
        scheduled: Whether the mechanism stands in each queue of a scheduler.
        flows: Entries of the traffic whose congestion control is replaced.
        limit: What a FIFO holds, with an AQM or without, if not a round trip of the line.
        baseline: The case that increases are over; "" without any.
        graded: The increase that is graded as measurements of bufferbloat are; none if none is.
        ellipse: The queueing delay and the goodput that are drawn against each other.
        series: The link whose queue is drawn over time.
        quick: Values that make its runs short.
    """

    number: str
    title: str
    measures: tuple[Measure, ...] = ()
    scenario: Path | None = None
    left_out: str = ""
    rtt_s: float | None = None
    scheduled: bool = False
    flows: tuple[str, ...] = ()
    limit: str | None = None
    baseline: str = ""
    graded: Measure | None = None
    ellipse: tuple[Measure, Measure] | None = None
    series: str = ""
    quick: Mapping[str, str] = field(default_factory=dict)

    @property
    def state(self) -> str:
        """`run`, `run in part` or `not run`."""
        if self.scenario is None:
            return "not run"
        return "run in part" if self.left_out else "run"


@dataclass(frozen=True)
class Suite:
    """A suite.

    Attributes:
        name: As on the command line: `rfc7928`.
        title: What it is for.
        document: The document whose sections it has, `RFC 7928`; "" if it follows none.
        kind: What it compares.
        compared: What is compared if nobody says what.
        sections: In the order of the document.
    """

    name: str
    title: str
    document: str
    kind: Kind
    compared: tuple[str, ...]
    sections: tuple[Section, ...]

    @property
    def runnable(self) -> tuple[Section, ...]:
        """The sections that are run, wholly or in part."""
        return tuple(s for s in self.sections if s.scenario is not None)

    def chosen(self, numbers: Sequence[str]) -> tuple[Section, ...]:
        """The sections of these numbers that are run, with those below them; all if empty.

        Raises:
            InputError: If there is no such section, or nothing of it is run.

        Example:
            >>> [s.number for s in named("rfc7928").chosen(["5.1", "6.2"])]
            ['5.1.1', '5.1.2', '6.2']
        """
        if not numbers:
            return self.runnable
        found: list[Section] = []
        for number in numbers:
            of = [
                s for s in self.sections if s.number == number or s.number.startswith(f"{number}.")
            ]
            runnable = [s for s in of if s.scenario is not None]
            if not of:
                there = ", ".join(s.number for s in self.runnable)
                msg = f"error: --section: {self.name} has no section {number!r}; it runs {there}"
                raise InputError(msg)
            if not runnable:
                msg = f"error: --section: {number} of {self.name} is not run: {of[0].left_out}"
                raise InputError(msg)
            found += [s for s in runnable if s not in found]
        return tuple(s for s in self.sections if s in found)


@cache
def suites() -> dict[str, Suite]:
    """The suites by name."""
    return {path.stem: _read(path) for path in sorted(_HERE.glob("*.toml"))}


def named(name: str) -> Suite:
    """A suite by its name; raises `InputError` if there is none."""
    known = suites()
    if name not in known:
        near = _engine.nearest(name.lower(), list(known))
        hint = f"\n    hint: did you mean {near}?" if near else ""
        msg = f"error: there is no suite {name!r}; there are {', '.join(known)}{hint}"
        raise InputError(msg)
    return known[name]


def _read(path: Path) -> Suite:
    found = tomllib.loads(path.read_text(encoding="utf-8"))
    sections = [_section(path.stem, found, of) for of in found["section"]]
    kind = found["kind"]
    if kind not in get_args(Kind):
        msg = f"{path}: kind {kind!r}"
        raise ValueError(msg)
    return Suite(
        path.stem,
        found["title"],
        found.get("document", ""),
        kind,
        tuple(found["compared"]),
        tuple(sections),
    )


def _section(suite: str, of_suite: Mapping[str, Any], of: Mapping[str, Any]) -> Section:
    scenario = _HERE / suite / f"{of['number']}.yaml"
    ellipse, graded = of.get("ellipse"), of.get("graded", of_suite.get("graded"))
    drawn = None if ellipse is None else (Measure.of(ellipse[0]), Measure.of(ellipse[1]))
    return Section(
        of["number"],
        of["title"],
        tuple(map(Measure.of, of.get("measures", of_suite.get("measures", ())))),
        scenario if scenario.exists() else None,
        of.get("left_out", ""),
        of.get("rtt_s"),
        of.get("scheduled", False),
        tuple(of.get("flows", of_suite.get("flows", ()))),
        of.get("limit", of_suite.get("limit")),
        of.get("baseline", of_suite.get("baseline", "")),
        None if graded is None else Measure.of(graded),
        drawn,
        of.get("series", of_suite.get("series", "")),
        {**of_suite["quick"], **of.get("quick", {})},
    )
