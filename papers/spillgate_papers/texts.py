"""A paper's texts: its title, its claims and what it leaves silent, from tables in Markdown.

The file begins with authors and title as a heading, and a line of what the paper is about. Its
tables are `Claims` (id, what the paper says, its own figure in base units if there is one, what is
checked, what ours is, keys of suspected causes), `Causes` (key, suspected cause, the setting
without it, that in words), `Silent` (key, our choice, why, what is known of the effect if it is
not varied), `Shown` (file, title and note of a table or a figure) and `Said` (key, a paragraph of
the page). Other headings have sentences for the page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from spillgate_papers.measured import View
from spillgate_papers.model import Cell, Claim, Others, Silent, Switch, Table
from spillgate_papers.show import By, Column, Curves, Measures, Panel, Shown, filled
from spillgate_papers.terms import Check, every


@dataclass(frozen=True)
class Texts:
    """The texts of a paper.

    Attributes:
        title: Authors and title.
        about: What it is about, in a line.
        rows: The rows of its tables, by heading.
        prose: What stands under the other headings, a line for each paragraph.
    """

    title: str
    about: str
    rows: Mapping[str, Sequence[Sequence[str]]]
    prose: Mapping[str, str]

    @staticmethod
    def read(path: Path) -> Texts:
        """Reads the file."""
        head, *parts = re.split(r"^#+ ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        title, about = (line for line in head.splitlines() if line)
        rows = {part.partition("\n")[0]: list(_rows(part)) for part in parts}
        prose = {
            name: "\n\n".join(" ".join(p.split("\n")) for p in body.strip().split("\n\n"))
            for name, _, body in (part.partition("\n") for part in parts)
            if not rows[name]
        }
        return Texts(title, about, rows, prose)

    def claims(
        self, checks: Mapping[str, Iterable[Check]], settings: Mapping[str, str] | None = None
    ) -> tuple[Claim, ...]:
        """The claims, each with its parts, the one that it is about first.

        Args:
            checks: The parts, by claim.
            settings: What stands in braces for settings without a cause.
        """
        causes = {
            key: Switch(cause, setting.format(**settings or {}), words)
            for key, cause, setting, words in self.rows["Causes"]
        }
        return tuple(
            Claim(
                name,
                *(says, figure(paper), predicate, ours),
                every(*checks[name]),
                tuple(causes[key] for key in because.split(", ") if key),
            )
            for name, says, paper, predicate, ours, because in self._of("Claims", checks)
        )

    def said(
        self, name: str, measures: Measures = MappingProxyType({}), /, **cells: Shown
    ) -> Callable[[View], str]:
        """The sentences under a heading, with measured values in braces (see `filled`)."""
        said = {**{row[0]: row[1] for row in self.rows.get("Said", ())}, **self.prose}
        return filled(said[name], measures, **cells)

    def by(
        self,
        file: str,
        rows: Mapping[str, Sequence[str] | Mapping[str, str]],
        columns: Mapping[str, Column],
        cells: Mapping[str, Shown] = MappingProxyType({}),
        where: Callable[..., bool] = lambda *_: True,
        bare: int | None = None,
    ) -> By:
        """A table by its file (see `By`), with values for what its note has in braces."""
        title, note = self.shown(file)
        return By(file, title, rows, columns, filled(note, **cells), where, bare)

    def table(self, file: str, head: Sequence[str], rows: Iterable[tuple[Cell, ...]]) -> Table:
        """A table of cells that are known, by its file."""
        title, note = self.shown(file)
        return Table(file, title, tuple(head), tuple(rows), note)

    def curves(
        self,
        file: str,
        *panels: Panel,
        rows: int = 1,
        size: tuple[float, float] = (8.2, 3.0),
        shared: bool | Literal["row"] = False,
    ) -> Curves:
        """A figure by its file (see `Curves`)."""
        title, note = self.shown(file)
        return Curves(file, title, panels, note, rows, size, shared)

    def shown(self, file: str) -> Sequence[str]:
        """Title and note of a table or a figure."""
        return next(row[1:] for row in self.rows["Shown"] if row[0] == file)

    def silent(
        self, others: Mapping[str, Others], places: Mapping[str, tuple[str, ...]]
    ) -> tuple[Silent, ...]:
        """The ledger: other choices by key, and the points that they can touch if not all."""
        rows = self._of("Silent", {*others, *(row[0] for row in self.rows["Silent"] if row[3])})
        return tuple(
            Silent(key, value, why, others.get(key, ()), note, places.get(key, ()))
            for key, value, why, note in rows
        )

    def _of(self, name: str, keys: Iterable[str]) -> Sequence[Sequence[str]]:
        rows = self.rows[name]
        if set(keys) ^ {row[0] for row in rows}:
            msg = f"{name} of {self.title} are {[row[0] for row in rows]}, not {list(keys)}"
            raise ValueError(msg)
        return rows


def _rows(text: str) -> Iterator[list[str]]:
    """The rows of a table, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    for line in lines[2:]:
        yield [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]]


def figure(text: str) -> float | None:
    """A figure, or the ratio of two.

    Example:
        >>> figure("4e6"), figure("1 / 4"), figure("")
        (4000000.0, 0.25, None)
    """
    if not text:
        return None
    over, _, under = text.partition("/")
    return float(over) / float(under or 1)
