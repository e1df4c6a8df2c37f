"""Pilot runs, which find how long a scenario takes to settle: `warmup: auto`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spillgate import _engine
from spillgate.errors import InputError
from spillgate.metrics import format_value
from spillgate.rows import Transient
from spillgate.scenario import Description

_LONGEST = 64
"""How much longer than the measured period a pilot run may become."""

_FIRST = 4
"""How much longer the first one is: within one measured period a slow swing looks settled."""

_LEAST = 50
"""The least warm-up is this part of the pilot run: that is what one batch of MSER-5 covers."""


@dataclass(frozen=True)
class Settled:
    """What pilot runs found.

    Attributes:
        warmup: Seconds until all classes have settled.
        length: Seconds that the last pilot run took.
    """

    warmup: float
    length: float

    @property
    def override(self) -> dict[str, str]:
        """What takes the place of `auto`."""
        return {"measurement.warmup": f"{self.warmup!r} s"}

    def said(self) -> str:
        """For a reader of the results."""
        return (
            f"the warm-up of {format_value(self.warmup, 's')} comes from pilot runs of up to "
            f"{format_value(self.length, 's')} (`warmup: auto`)"
        )


def find(d: Description, pilot: Callable[[float], Sequence[Transient] | None]) -> Settled | None:
    """Makes pilot runs, each twice as long as the one before, until one settles in its first half.

    Args:
        d: The scenario; the first pilot run is four times as long as its measured period.
        pilot: Makes one of so many seconds and says what had not settled; none if it was stopped.

    Raises:
        InputError: If nothing settles.

    Returns:
        None if a pilot run was stopped.
    """
    length = d.duration * _FIRST
    while True:
        found = pilot(length)
        if found is None:
            return None
        restless = [t for t in found if t.warmup is None]
        if not restless:
            ends = [t.warmup for t in found if t.warmup is not None]
            return Settled(_engine.rounded_up(max([length / _LEAST, *ends])), length)
        if length * 2 > d.duration * _LONGEST:
            break
        length *= 2
    which = ", ".join(dict.fromkeys(f"{t.cls} ({t.variant})" for t in restless))
    msg = (
        f"error: warmup: auto: {which} has not settled after {format_value(length, 's')}\n"
        "    hint: is more offered than the links carry, or the load not steady? Write the "
        "warm-up, such as 60 s, if that is meant"
    )
    raise InputError(msg)


def check(d: Description, path: Path) -> None:
    """Raises `InputError` if there is still a warm-up to be found, in a variant's own settings."""
    if d.auto_warmup:
        msg = (
            f"error: {path}: a variant sets measurement.warmup to auto\n    hint: write "
            "it in the scenario's own `measurement`: all variants have one warm-up"
        )
        raise InputError(msg)


def overrides(length: float) -> dict[str, str]:
    """What makes a scenario a pilot run of so many seconds."""
    return {
        "measurement.warmup": "0 s",
        "measurement.duration": f"{length!r} s",
        "measurement.interval": f"{length!r} s",
        "measurement.series": "[]",
    }


def replaced(texts: Sequence[str], values: Mapping[str, str]) -> tuple[str, ...]:
    """Overrides with some values in place of those that they have.

    Example:
        >>> replaced(["a.b=1", "measurement.warmup=auto"], {"measurement.warmup": "2 s"})
        ('a.b=1', 'measurement.warmup=2 s')
    """
    kept = [t for t in texts if t.split("=", 1)[0].strip() not in values]
    return (*kept, *(f"{path}={value}" for path, value in values.items()))


def seed(of: int) -> int:
    """The seed of the pilot runs: what they draw says nothing of the runs that count.

    Example:
        >>> seed(seed(7))
        7
    """
    return of ^ 0x70696C6F74
