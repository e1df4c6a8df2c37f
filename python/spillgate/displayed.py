"""What shows itself in a notebook.

Results are made far below what draws them: `spillgate` says what that is when it is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")

_drawing: list[Callable[[object], str]] = []


def drawn_by(function: Callable[[object], str]) -> None:
    """Says what gives the HTML of everything that is `Displayed`."""
    _drawing[:] = [function]


class Displayed:
    """Something that a notebook shows as HTML."""

    def _repr_html_(self) -> str | None:
        return _drawing[0](self) if _drawing else None


class Several(tuple[_T, ...], Displayed):
    """Several such things in their order, shown one below the other.

    Example:
        >>> Several((1, 2)) == (1, 2)
        True
    """

    __slots__ = ()
