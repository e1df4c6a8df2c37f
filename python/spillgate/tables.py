"""Tables of results: which rows and columns there are, and each cell as text.

Terminal and report lay them out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from spillgate.labels import short_of, times, words
from spillgate.metrics import (
    Scale,
    ceiling_cell,
    column_decimals,
    format_cell,
    format_value,
    rounded_up,
    scale_for,
    scale_of,
)
from spillgate.outages import screening
from spillgate.result import Results
from spillgate.rows import Row

Cells = Mapping[tuple[str, str], Mapping[str, Row]]
"""Rows by variant and name, then by metric."""

SAID = dict.fromkeys(("packets", "events", "transfers", "flows", "score"), "")
"""Units that the heading says already."""


@dataclass(frozen=True)
class Table:
    """Rows of texts under headings.

    Attributes:
        head: The headings.
        rows: The texts.
        note: What the columns mean.
        names: How many columns at the left are names.
        title: What its rows are about.
        right: Which columns are numbers, from 0.
        chosen: Which rows stand out, from 0.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    names: int = 1
    title: str = ""
    right: Collection[int] = ()
    chosen: Collection[int] = ()


@dataclass(frozen=True)
class Column:
    """A metric in one unit and with the decimals that suit all of its values."""

    metric: str
    scale: Scale
    decimals: int = 0
    unit: str = ""

    @property
    def head(self) -> str:
        """Its heading."""
        return short_of(self.metric)

    @property
    def meaning(self) -> str:
        """What the metric means."""
        return str(words("metrics")[self.metric]["summary"])

    def text(self, of: Mapping[str, Row], *, interval: bool = True) -> str:
        """Its value of some thing, with the half-width of its interval if that is wanted."""
        row = of.get(self.metric)
        if row is None:
            return "–"
        return format_cell(row.mean, row.half, self.scale, self.decimals, interval=interval)

    def value(self, of: Mapping[str, Row]) -> float | None:
        """The same as a number in the base unit, without its interval."""
        row = of.get(self.metric)
        return None if row is None else row.mean


BOUND = "bound"
"""The column of what delays cannot exceed, beside those of metrics."""

NEVER = "bound: no packet can take longer, whatever happens"
"""What that column means."""


EXPECTED = "expected"
"""The column of mean delays by formulas, beside those of metrics."""

BY_FORMULA = "expected: by the formula, in brackets how many half-widths the mean is off"
"""What that column means."""

MEANS = {
    BOUND: "What the one-way delay of no packet can exceed, whatever happens; – where nothing is "
    "known",
    EXPECTED: "The mean one-way delay by an exact formula, where the scenario meets what that "
    "assumes; in brackets how far the simulated mean is above it, in half-widths of its interval",
}
"""What both mean, at length."""


class Known(Column):
    """What is known without a run."""

    @property
    def head(self) -> str:
        """Its heading."""
        return self.metric

    @property
    def meaning(self) -> str:
        """What it is."""
        return MEANS[self.metric]


class Ceiling(Known):
    """What delays cannot exceed, rounded up; where nothing is known a dash, never a number."""

    def text(self, of: Mapping[str, Row], *, interval: bool = True) -> str:  # noqa: ARG002
        """Its value of some thing."""
        return ceiling_cell(ceiling_of(of), self.scale, self.decimals)

    def value(self, of: Mapping[str, Row]) -> float | None:
        """The same as a number, rounded up to what is shown."""
        return rounded_up(ceiling_of(of), self.scale, self.decimals)


def ceiling_of(of: Mapping[str, Row]) -> float | None:
    """What the delays of some thing cannot exceed, if that is known."""
    return of["owd_max"].bound if "owd_max" in of else None


class Expected(Known):
    """The mean delay by an exact formula, and how far the simulated one is from it."""

    def text(self, of: Mapping[str, Row], *, interval: bool = True) -> str:  # noqa: ARG002
        """Its value of some thing, without an interval: it has none."""
        if EXPECTED not in of:
            return "–"
        value, mean, half = of[EXPECTED].mean, of["owd_mean"].mean, of["owd_mean"].half
        text = format_cell(value, None, self.scale, self.decimals, interval=False)
        if value is None or mean is None or not half:
            return text
        return f"{text} ({(mean - value) / half:+.1f})".replace("-", "−")

    @classmethod
    def of(cls, rows: Cells) -> Expected:
        """The column of some rows; in the unit of their means."""
        means = [
            row.mean for of in rows.values() for m in ("owd_mean", EXPECTED) if (row := of.get(m))
        ]
        scale = scale_of("owd_mean", "s", means)
        return cls(EXPECTED, scale, column_decimals(scale, means), scale.unit)


def with_expected(results: Results, rows: Cells) -> Cells:
    """Rows of classes with what formulas say of their mean delays, where those are exact."""
    found = {at: b.estimate.value for at, b in results.expected.items()}
    return {
        (variant, name): (
            of
            if (variant, name) not in found
            else {
                **of,
                EXPECTED: replace(of["owd_mean"], metric=EXPECTED, mean=found[variant, name]),
            }
        )
        for (variant, name), of in rows.items()
    }


def cells(results: Results, scope: str) -> dict[tuple[str, str], dict[str, Row]]:
    """What was measured in a scope."""
    found: dict[tuple[str, str], dict[str, Row]] = {}
    for row in results.table(scope=scope):
        found.setdefault((row.variant, row.name), {})[row.metric] = row
    return found


def waiting(results: Results) -> Cells:
    """What links with flow admission did to the flows of each class that had any there."""
    found = cells(results, "admission")
    return {at: of for at, of in found.items() if of["flows_offered"].mean}


def columns(rows: Cells, metrics: Iterable[str]) -> list[Column]:
    """The columns of metrics; times of transfers, and of waiting, are in one unit."""
    made: list[Column] = []
    for metric in metrics:
        if metric == EXPECTED:
            made.append(Expected.of(rows))
            continue
        if metric == BOUND:
            bounds = [ceiling_of(of) for of in rows.values()]
            scale = scale_for("s", bounds)
            made.append(Ceiling(BOUND, scale, column_decimals(scale, bounds), scale.unit))
            continue
        alike = next((t for t in map(times, ("tcp", "admission")) if metric in t), (metric,))
        found = [of[m] for of in rows.values() for m in alike if m in of]
        unit = found[0].unit if found else ""
        scale = scale_of(metric, unit, [row.mean for row in found])
        decimals = column_decimals(
            scale, [of[metric].mean for of in rows.values() if metric in of]
        )
        made.append(Column(metric, scale, decimals, SAID.get(unit, scale.unit)))
    return made


def heading(metric: str) -> Column:
    """The column of a metric whose cells have units of their own."""
    return Column(metric, Scale(1.0, ""))


def by_variant(
    rows: Cells,
    head: Sequence[str],
    texts: Mapping[tuple[str, str], Sequence[str]],
    note: str,
    names: int,
    title: str,
) -> Table | None:
    """A table with a row a variant and thing; the variants are named if `rows` are of several."""
    if not texts:
        return None
    several = len({variant for variant, _ in rows}) > 1
    named = [(*((v,) if several else ()), *row) for (v, _), row in texts.items()]
    return Table((*(("variant",) if several else ()), *head), named, note, names + several, title)


_NAMED = 3
"""So many failures that break a requirement are named."""


def outage_table(results: Results) -> Table | None:
    """Of each requirement the worst failure, and how many break it; none without failures."""
    found = results.outages()
    if not found:
        return None
    several = len({o.variant for o in found}) > 1
    rows = []
    for o in found:
        broken = ""
        if o.requirement:
            names = ", ".join(o.broken[:_NAMED]) + (" .." if len(o.broken) > _NAMED else "")
            broken = f"{len(o.broken)} of {o.of}" + (f": {names}" if names else "")
            broken += f"; undecided {len(o.undecided)}" if o.undecided else ""
        rows.append(
            [
                *([o.variant] if several else []),
                o.cls,
                o.requirement or short_of(o.metric),
                format_value(o.without, o.unit),
                o.worst or "as without",
                format_value(o.value, o.unit),
                "–" if o.load is None else f"{o.busiest} {format_value(o.load, '1')}",
                broken or "–",
            ]
        )
    head = ["class", "requirement", "without failure", "worst failure", "then"]
    head += ["busiest link then", "broken by"]
    note = screening(results.description.axes, results.description.points)
    return Table(["variant", *head] if several else head, rows, note, names=2 + several)
