"""What can go wrong, as exceptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


class SpillgateError(Exception):
    """Base of every exception that Spillgate raises on purpose."""


@dataclass(frozen=True)
class Diagnostic:
    """One problem of a scenario or of a file that it names.

    Attributes:
        code: Stable identifier such as `E0102`.
        severity: `error` or `warning`.
        file: The file, as the user named it.
        line: Line number from 1, if the problem has a place.
        column: Column from 1, if the problem has a place.
        path: Place in the scenario, such as `topology.links.wan.rate`.
        message: What is wrong.
        found: The offending text.
        hint: What would be valid.
    """

    code: str
    severity: str
    file: str
    line: int | None
    column: int | None
    path: str
    message: str
    found: str
    hint: str

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Diagnostic:
        """Builds it from the record that the core writes."""
        return cls(
            code=record.get("code") or "",
            severity=record.get("severity") or "error",
            file=record.get("file") or "",
            line=record.get("line") or None,
            column=record.get("column") or None,
            path=record.get("path") or "",
            message=record.get("message") or "",
            found=record.get("found") or "",
            hint=record.get("hint") or "",
        )


class InputError(SpillgateError):
    """The scenario, a file that it names or an option cannot be used.

    `str()` gives the full text for people; `diagnostics` the same as data.
    """

    def __init__(self, text: str, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        """Takes the rendered text and the problems one by one."""
        super().__init__(text)
        self.diagnostics = diagnostics


class HookError(SpillgateError):
    """A hook of one's own failed; `__cause__` is what it raised, if it raised."""

    @classmethod
    def of(cls, kind: str, text: str) -> HookError:
        """One of a hook of this kind: `AQM` or `scheduler`."""
        return (SchedulerError if kind == "scheduler" else AqmError)(text)


class AqmError(HookError):
    """A hook of an AQM of one's own failed."""


class SchedulerError(HookError):
    """A hook of a scheduler of one's own failed."""


class OutputError(SpillgateError):
    """The place for the results cannot be written, or already holds something."""


class MissingDependencyError(SpillgateError, ImportError):
    """An optional package is needed for this call and is not installed."""


def is_internal(error: BaseException) -> bool:
    """Whether an exception is a fault of the program: an `Exception`, or a panic of the core.

    PyO3 raises a panic as `PanicException`, which is not an `Exception`.
    """
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"
