"""Rules for congestion management, checked without simulating."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from spillgate import _engine
from spillgate.displayed import Displayed
from spillgate.own import AqmLike, Own, SchedulerLike
from spillgate.scenario import Overrides, override_texts


@dataclass(frozen=True)
class Rule:
    """A rule, or a warning of what reads the files.

    Attributes:
        id: Stable identifier such as `SG-Q001`; the code of a warning such as `W0702`.
        name: Name in kebab-case.
        level: `error`, `warning` or `note`.
        summary: One line.
        explanation: Why it hurts, in paragraphs separated by empty lines.
        remedy: What to do.
        source: Where the rule is from.
    """

    id: str
    name: str
    level: str
    summary: str
    explanation: str
    remedy: str
    source: str


@dataclass(frozen=True)
class Finding:
    """One thing that a rule has found.

    Attributes:
        id: The rule's identifier, or the code of a reader's warning such as `W0702`.
        name: The name of the rule or of the reader's warning.
        severity: `error`, `warning` or `note`.
        file: The file, as the user named it.
        line: Line from 1, if it has one.
        column: Column from 1, if it has one.
        path: Place in a scenario, such as `policies.WAN.class-based.classes[0]`.
        message: What was found, with the numbers of the case.
        help: What to do.
        source: The line of the file.
        variants: Of a scenario with several points: the names of those at which it holds.
            Empty otherwise, and of what is about none of them.
        holds: The same in words: variants, and values of axes.
    """

    id: str
    name: str
    severity: str
    file: str
    line: int | None
    column: int | None
    path: str
    message: str
    help: str
    source: str | None
    variants: tuple[str, ...]
    holds: str


@dataclass(frozen=True)
class Findings(Displayed):
    """What the rules found, in the order of the files."""

    found: tuple[Finding, ...]
    text: str
    """All of them for people, a block each."""
    sarif: dict[str, Any]
    """All of them as a SARIF 2.1.0 log."""

    def count(self, severity: str) -> int:
        """How many there are of a severity."""
        return sum(f.severity == severity for f in self.found)

    def fails(self, *, strict: bool = False) -> bool:
        """Whether an error is among them; with `strict`, an error or a warning."""
        failing = ("error", "warning") if strict else ("error",)
        return any(f.severity in failing for f in self.found)


def is_scenario(file: str | Path) -> bool:
    """Whether a file is taken for a scenario (`.yaml`, `.yml`, `.json`), not a configuration."""
    return Path(file).suffix.lower() in (".yaml", ".yml", ".json")


def lint(
    file: str | Path,
    *,
    platform: str = "ios",
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    set: Overrides | None = None,  # noqa: A002 - the name of the command line
    aqm: AqmLike | None = None,
    scheduler: SchedulerLike | None = None,
    confine: bool = False,
) -> Findings:
    """Checks a router configuration or a scenario by the rules; simulates nothing.

    Args:
        file: A Cisco IOS configuration, or a scenario (`.yaml`, `.yml`, `.json`).
        platform: Whose meaning the commands of a configuration have.
        select: Only these rules, if any are given: identifiers, names, or beginnings of
            identifiers such as `SG-Q`.
        ignore: Not these rules.
        set: Of a scenario: values to replace, by path.
        aqm: Of a scenario: AQMs of one's own that it names; see `spillgate.own`.
        scheduler: Of a scenario: schedulers of one's own, likewise.
        confine: Of a scenario: refuses files outside its folder.

    Returns:
        What was found.

    Raises:
        InputError: If the file cannot be used, or there is no such rule.

    Example:
        >>> import spillgate
        >>> found = spillgate.lint("examples/ce-node/policies.cfg", select=["SG-Q001"])
        >>> len(found.found)
        0
    """
    record = _engine.lint(
        str(file),
        scenario=is_scenario(file),
        platform=platform,
        overrides=override_texts(set),
        select=list(select),
        ignore=list(ignore),
        confine=confine,
        own=Own.of(aqm, scheduler).parts(),
    )
    names = [f.name for f in fields(Finding)]
    found = tuple(
        Finding(**{n: f[n] for n in names} | {"variants": tuple(f["variants"])})
        for f in record["findings"]
    )
    return Findings(found=found, text=record["text"], sarif=record["sarif"])


def rules() -> tuple[Rule, ...]:
    """Every rule, in the order of the identifiers.

    Example:
        >>> import spillgate
        >>> spillgate.rules()[0].id
        'SG-A001'
    """
    return tuple(Rule(**r) for r in _engine.lint_rules())


def reader_warnings() -> tuple[Rule, ...]:
    """What the readers of configurations, scenarios and captures warn of, by code.

    Example:
        >>> import spillgate
        >>> spillgate.reader_warnings()[0].id
        'W0401'
    """
    return tuple(Rule(**r) for r in _engine.reader_warnings())
