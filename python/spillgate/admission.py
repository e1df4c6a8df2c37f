"""The file of a run directory that tells what flow admission did to each flow.

One line a flow, link and run, in a form that spreadsheets read. It is left out where no link
admits flows.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from spillgate.errors import InputError
from spillgate.rows import Admission
from spillgate.spreadsheet import read as read_text
from spillgate.spreadsheet import written

PART = "admission"
"""What the core calls these records."""

FILE = "admission.csv"
"""The name of the file."""

COLUMNS = tuple("class" if f.name == "cls" else f.name for f in fields(Admission))
"""Its columns: the attributes of `Admission`."""

_TEXTS = ("variant", "link", "flow", "class", "direction")


def write(path: Path, records: Sequence[dict[str, Any]]) -> None:
    """Writes the records, if there are any."""
    if not records:
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        lines.writeheader()
        lines.writerows({k: written(v) for k, v in record.items()} for record in records)


def read(path: Path) -> list[dict[str, Any]]:
    """The records of a file; none if there is no file.

    Raises:
        InputError: If the file is damaged.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [_record(line) for line in csv.DictReader(file)]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, csv.Error) as error:
        msg = f"error: {path} is no readable table of admissions: {error!r}"
        raise InputError(msg) from error


def _record(line: dict[str, str]) -> dict[str, Any]:
    return {key: _value(key, line[key]) for key in COLUMNS}


def _value(key: str, text: str) -> str | float | int | None:
    if key in _TEXTS:
        return read_text(text)
    if key == "admitted_s" and not text:
        return None
    return float(text) if key.endswith("_s") else int(text)
