"""What all text for programs is made of."""

from __future__ import annotations

import json
import sys


def write_json(value: object, *, indent: int | None = None) -> None:
    """Write a value to standard output as one JSON document, with a line feed at its end."""
    json.dump(value, sys.stdout, ensure_ascii=False, indent=indent)
    print()
