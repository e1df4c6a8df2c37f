"""What all text for programs is made of."""

from __future__ import annotations

import json
import sys

from spillgate.visible import escaped


def write_json(value: object, *, indent: int | None = None) -> None:
    """Write a value to standard output as one JSON document, with a line feed at its end."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    sys.stdout.write(escaped(text) + "\n")
