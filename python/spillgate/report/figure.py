"""A figure of the report: charts with one legend, and the same as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from spillgate.report import svg
from spillgate.tables import Table


@dataclass(frozen=True)
class Figure:
    """Charts side by side that share a legend.

    Attributes:
        id: Unique in the page.
        title: Heading.
        caption: What one sees, and how it was measured.
        panels: The charts.
        legend: Names and styles of the curves.
        table: The same for those who cannot see it.
        group: Charts of one group zoom together.
        notes: Further entries of the legend: a kind (`band`, `level`, `dot`, `span`) and its
            meaning.
        runs: Which runs it shows, if there are figures of others: `run 3`, `all runs`.
    """

    id: str
    title: str
    caption: str
    panels: Sequence[svg.Panel]
    legend: Sequence[tuple[str, int]]
    table: Table
    group: str
    notes: Sequence[tuple[str, str]] = ()
    runs: str = ""

    @property
    def charts(self) -> list[tuple[str, Markup]]:
        """Title and drawing of each chart."""
        return [(p.title, svg.render(p)) for p in self.panels]
