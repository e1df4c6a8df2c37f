"""The gate for text that comes from files, before it is shown.

A name or a line of a configuration may hold anything. What would move a terminal's cursor or color
its text, what turns the order of a line's letters round, and what no XML document may contain, is
shown as a sign of its own, one for one, so that columns stay where they are.
"""

from __future__ import annotations

import re

_REPLACEMENT = "\ufffd"

_HARMFUL = re.compile(
    # Controls but for tab and line feed; C1 controls (U+009B begins a terminal's commands, too).
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"
    # Separators of lines and paragraphs; embeddings, overrides and isolates (UAX 9, table 4).
    "\u2028\u2029\u202a-\u202e\u2066-\u2069"
    # Halves of pairs, which stand for bytes that are no text; what XML 1.0, 2.2 excludes.
    "\ud800-\udfff\ufffe\uffff]"
)


def visible(text: str) -> str:
    r"""The text with every harmful character replaced by one that can be seen.

    Controls become their pictures (U+2400 and following), all others U+FFFD.

    Example:
        >>> visible("voice\x1b[31m") == "voice\u241b[31m"
        True
    """
    return _HARMFUL.sub(lambda found: _sign(found[0]), text)


def _sign(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else _REPLACEMENT


def escaped(document: str) -> str:
    r"""A JSON document whose harmful characters are written as escapes: the same document.

    Example:
        >>> print(escaped('"\u202e"'))
        "\u202e"
    """
    # JSON has none of the others outside of strings, and line feeds only there.
    return _HARMFUL.sub(lambda found: f"\\u{ord(found[0]):04x}", document)
