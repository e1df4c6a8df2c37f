"""Texts in tables that spreadsheets open.

A spreadsheet takes a cell that begins with `=`, `+`, `-` or `@` for a formula, and a name in a
scenario may begin so. Such a text gets an apostrophe in front, as does one that begins with an
apostrophe, so that the one in front can be taken away again (OWASP, "CSV Injection").
"""

from __future__ import annotations

from typing import TypeVar

_ACTIVE = ("=", "+", "-", "@", "\t", "\r", "'")

T = TypeVar("T")


def written(value: T) -> T | str:
    """A value as it is written: texts that a spreadsheet would run are quoted.

    Example:
        >>> [written(v) for v in ("voice", "=1+1", -1.5, "'a'")]
        ['voice', "'=1+1", -1.5, "''a'"]
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_ACTIVE) else value
