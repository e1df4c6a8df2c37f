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

from spillgate.rows import Admission
from spillgate.spreadsheet import written

PART = "admission"
"""What the core calls these records."""

FILE = "admission.csv"
"""The name of the file."""

COLUMNS = tuple("class" if f.name == "cls" else f.name for f in fields(Admission))
"""Its columns: the attributes of `Admission`."""


def write(path: Path, records: Sequence[dict[str, Any]]) -> None:
    """Writes the records, if there are any."""
    if not records:
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        lines = csv.DictWriter(file, COLUMNS, extrasaction="ignore", lineterminator="\n")
        lines.writeheader()
        lines.writerows({k: written(v) for k, v in record.items()} for record in records)
