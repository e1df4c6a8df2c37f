"""The matrix of the page about validation: every mechanism, and what proves it.

Rows are what the registry has, so that a new kind appears with empty cells. Cells are golden
vectors, what `evidence.toml` names, and the tables of the page itself: of those the largest
deviation that is sure, which is what its interval leaves.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import spillgate

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/validation.md"
EVIDENCE = ROOT / "docs/evidence.toml"
VECTORS = ROOT / "crates/queueing/tests/vectors"
COLUMNS = {
    "vectors": "golden vectors",
    "second": "second implementation",
    "bound": "closed form or bound",
    "ns2": "ns-2",
    "ns3": "ns-3",
    "linux": "Linux",
}
FAMILIES = {"disciplines": "discipline", "aqm": "AQM", "scheduler": "scheduler of classes"}
"""What a kind is, by its family."""


def proofs() -> dict[str, dict[str, dict[str, list[str]]]]:
    """What proves a mechanism, by its family, its kind and the column."""
    return tomllib.loads(EVIDENCE.read_text(encoding="utf-8"))


def mechanisms() -> dict[str, list[str]]:
    """Every kind of the registry that decides about packets, by its family."""
    catalog = spillgate.catalog()
    schedulers = spillgate.schema("scenario")["$defs"]["ClassScheduler"]["oneOf"]
    return {
        "disciplines": [e["kind"] for e in catalog["disciplines"]],
        "aqm": [e["kind"] for e in catalog["aqm"]],
        "scheduler": [s["const"] for s in schedulers],
    }


def golden(family: str, kind: str) -> str:
    """In how many cases of `tests/vectors` a mechanism decides."""
    word = re.escape(kind)
    pattern = {
        "disciplines": rf'^policy \w+ {{"{word}":',
        "aqm": rf'^policy .*"aqm": {{"{word}":',
        "scheduler": rf'^policy .*"scheduler": "{word}"',
    }[family]
    found = 0
    for path in VECTORS.glob("*.txt"):
        cases = path.read_text(encoding="utf-8").split("\ncase ")[1:]
        found += sum(bool(re.search(pattern, case, re.MULTILINE)) for case in cases)
    return f"0 in {found} cases" if found else ""


def table(name: str, page: str) -> list[list[str]]:
    """The cells of a table of the page, with the case in each row."""
    [text] = re.findall(rf"<!-- {name} -->\n(.*?)<!-- end -->", page, re.DOTALL)
    rows, case = [], ""
    for line in text.splitlines()[2:]:
        first, *rest = [cell.strip() for cell in line.split("|")[1:-1]]
        case = first or case
        rows.append([case, *rest])
    return rows


def number(cell: str) -> float:
    """The number with which a cell begins."""
    found = re.match(r"[-+]?[\d.]+", cell)
    return float(found[0]) if found else 0.0


def sure(row: Sequence[str]) -> tuple[float, str]:
    """What the interval of a difference leaves, in percent of the other program's value."""
    _, what, _, theirs, difference, _ = row
    mean, half = (float(x) for x in difference.split(" ±"))
    of = number(theirs)
    return (100 * max(abs(mean) - half, 0) / of if of else 0.0), what


def bold(row: Sequence[str], heads: Sequence[str]) -> Iterator[tuple[float, str]]:
    """What differs of a recorded run, in percent of it."""
    for head, cell in zip(heads, row[1:], strict=True):
        if cell:
            found = re.search(r"([-+]\d+) %", cell)
            yield (abs(float(found[1])) if found else 0.0), head.split(",")[0]


def of_table(name: str, words: str, page: str) -> str:
    """The largest deviation of the cases that begin with these words."""
    rows = [r for r in table(name, page) if re.match(rf"{re.escape(words)}(?![-_\w])", r[0])]
    if name == "linux":
        [head] = re.findall(r"<!-- linux -->\n\| cell \| (.*?) \|\n", page)
        values = [v for row in rows for v in bold(row, head.split(" | "))]
    else:
        values = [sure(row) for row in rows]
    if not values:
        return ""
    off, what = max(values)
    differ = sum(v > 0 for v, _ in values)
    if not differ:
        return f"0 of {len(values)} values"
    return f"{off:.2g} % ({what}), {differ} of {len(values)} values"


def cell(family: str, kind: str, column: str, entries: Sequence[str], page: str) -> str:
    """What proves a mechanism in one way."""
    found = [golden(family, kind)] if column == "vectors" else []
    for entry in entries:
        left, right = entry.split(" | ")
        if "::" in right or "/" in right:
            found.append(f"{left} (`{Path(right.split('::')[0]).name}`)")
        else:
            found.append(of_table(left, right, page))
    return "; ".join(f for f in found if f)


def matrix(page: str) -> str:
    """As Markdown."""
    evidence = proofs()
    lines = [
        f"| mechanism | | {' | '.join(COLUMNS.values())} |",
        f"| --- | --- |{' --- |' * len(COLUMNS)}",
    ]
    for family, kinds in mechanisms().items():
        for kind in kinds:
            row: Mapping[str, Sequence[str]] = evidence.get(family, {}).get(kind, {})
            cells = [cell(family, kind, c, row.get(c, ()), page) for c in COLUMNS]
            lines.append(f"| `{kind}` | {FAMILIES[family]} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def write(where: Path) -> None:
    """Writes the matrix into the directory of what is generated."""
    text = matrix(PAGE.read_text(encoding="utf-8"))
    (where / "matrix.md").write_text(text, encoding="utf-8")
