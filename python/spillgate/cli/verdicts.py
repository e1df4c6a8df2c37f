"""The tables of verdicts that `spillgate run` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spillgate.cli.text import fresh, item, legend, show, table, width
from spillgate.labels import mark_of, words
from spillgate.metrics import column_decimals, format_cell, scale_for
from spillgate.points import Grid, grid
from spillgate.proofs import unproven, worst_first
from spillgate.result import Results
from spillgate.rows import Verdict

_COLORS = {"pass": "green", "fail": "bold red", "undecided": "yellow"}


def verdict_table(out: Console, found: Results) -> None:
    """The requirements, judged, those of all customers in one table."""
    conclusion = found.conclusion
    if conclusion is None:
        if found.runs:
            out.print("No requirements stated (sla).")
        return
    d = found.description
    along = grid(d.axes, d.points, d.design)
    verdicts = found.verdicts
    if along is None or not (_sheet(out, along, verdicts) or _sheets(out, along, verdicts)):
        several = len({v.variant for v in verdicts}) > 1
        based = any(v.basis is not None for v in verdicts)
        made = _verdicts(verdicts, based=based, several=several)
        if width(out, made) > out.width:
            # Where a bound comes from is in the files, too.
            made = _verdicts(verdicts, based=False, several=several)
        show(out, made)
        if any(v.customer is not None for v in verdicts):
            out.print()
    _customers(out, found, along)
    out.print(Text(conclusion.tally, "bold"))
    if conclusion.certainty is not None:
        out.print(Text(conclusion.certainty, "dim"))
    for note in dict.fromkeys(v.note for v in found.verdicts if v.note):
        out.print(Text(f"* {note}", "dim"))
    for line in _unproven(found):
        item(out, line)
    out.print()


_EXPLAINED = 5
"""Requirements that are to hold for certain of which it is said why they are not proven."""


def _unproven(found: Results) -> list[str]:
    every = unproven(found)
    lines = [
        f"{u.what}: {u.why}" + (f"\n{u.packet}" if u.packet else "") for u in every[:_EXPLAINED]
    ]
    more = len(every) - _EXPLAINED
    return [*lines, f"{more} more are refuted or not proven"] if more > 0 else lines


_COMPARED = 8
"""Variants that are compared before single verdicts are shown."""


def worst_verdicts(out: Console, found: Results, most: int) -> int:
    """The verdicts in so many rows: how many of each kind each variant has, and the worst.

    Returns how many have a row of their own.
    """
    conclusion = found.conclusion
    if conclusion is None:
        return 0
    ranked = worst_first(found.verdicts)
    variants = found.description.variants
    if len(variants) > 1:
        tallies = _tallies(ranked, variants, max((most + 1) // 2, min(most, _COMPARED)))
        most -= tallies.row_count
        show(out, tallies)
        out.print()
        # The tallies have those that pass.
        ranked = [v for v in ranked if v.verdict != "pass"]
    if ranked := ranked[:most]:
        show(out, _verdicts(ranked, based=False, several=len(variants) > 1, grouped=False))
        out.print()
    out.print(Text(conclusion.headline), overflow="fold")
    out.print(Text(conclusion.tally, "bold"))
    out.print()
    return len(ranked)


def _tallies(ranked: Sequence[Verdict], variants: Sequence[str], most: int) -> Table:
    """How many verdicts of each kind the variants have; if not all fit, those of the best."""
    kinds = words("verdicts")
    by: dict[str, list[Verdict]] = {}
    for v in ranked:
        by.setdefault(v.variant, []).append(v)
    counts = {name: [sum(v.verdict == k for v in of) for k in kinds] for name, of in by.items()}
    best = sorted(by, key=lambda name: counts[name][1:])[:most]
    made = table()
    for heading in ("variant", *kinds):
        made.add_column(heading, justify="left" if heading == "variant" else "right")
    made.add_column("worst")
    for name in variants:
        if name in best:
            v = by[name][0]
            told = f"{kinds[v.verdict]['mark']} {v.whose}: {v.words}, measured {v.measured}"
            shown = Text(told, _COLORS[v.verdict]) if v.verdict != "pass" else Text("")
            made.add_row(Text(name), *(str(n or "–") for n in counts[name]), shown)
    return made


def _sheet(out: Console, along: Grid, verdicts: Sequence[Verdict]) -> bool:
    """One table along the axes for the requirements of all customers; whether it fits."""
    if len({v.customer for v in verdicts if v.customer is not None}) < 2:
        return False
    by: dict[tuple[str, str, str], dict[str, Verdict]] = {}
    for v in verdicts:
        by.setdefault((v.customer or "", v.about, v.requirement), {})[v.variant] = v
    for interval in (True, False):
        rows = []
        for names, of in by.items():
            cells, unit = _cells(of, interval=interval)
            rows.append(((*names, unit), cells))
        made = _along(along, rows, ("customer", "class", "requirement", "in"))
        if width(out, made) <= out.width:
            show(out, made)
            _meaning(out, verdicts)
            out.print()
            return True
    return False


def _sheets(out: Console, along: Grid, verdicts: Sequence[Verdict]) -> bool:
    """A table along the axes for each requirement, if all fit; whether they do.

    Where each point is a row, one table has a column for each requirement.
    """
    sheets: dict[tuple[str, str], dict[str, Verdict]] = {}
    for v in verdicts:
        sheets.setdefault((v.whose, v.requirement), {})[v.variant] = v
    for interval in (True, False) if not along.listed else ():
        made = {}
        for (about, requirement), of in sheets.items():
            basis = next(iter(of.values())).basis
            cells, unit = _cells(of, interval=interval)
            heading = f"{about}: {requirement}" + (f" ({basis})" if basis else "")
            shown = _along(along, [((), cells)])
            made[f"{heading}, measured{f' in {unit}' if unit else ''}"] = shown
        if all(width(out, one) <= out.width for one in made.values()):
            break
    else:
        return along.listed and _by_point(out, along, sheets)
    for heading, one in made.items():
        out.print(Text(heading, "bold"))
        show(out, one)
        out.print()
    _meaning(out, verdicts)
    return True


def _by_point(
    out: Console, along: Grid, sheets: Mapping[tuple[str, str], Mapping[str, Verdict]]
) -> bool:
    """A table with a row for each point and a column for each requirement, if it fits."""
    for interval in (True, False):
        made = table()
        for head in along.heads:
            made.add_column(head, no_wrap=True, vertical="bottom")
        columns = []
        for (about, requirement), of in sheets.items():
            cells, unit = _cells(of, interval=interval)
            head = f"{about}: {requirement}{f', in {unit}' if unit else ''}"
            made.add_column(head, no_wrap=False, min_width=max(map(len, cells.values())))
            columns.append(cells)
        last: tuple[str, ...] = ()
        for names, (point,) in along.rows:
            found = (cells.get(point or "", Text("")) for cells in columns)
            made.add_row(*map(Text, fresh(names[:1], last)), *map(Text, names[1:]), *found)
            last = names[:1]
        if width(out, made) <= out.width:
            show(out, made)
            _meaning(out, [v for of in sheets.values() for v in of.values()])
            out.print()
            return True
    return False


def _meaning(out: Console, verdicts: Sequence[Verdict]) -> None:
    marks = words("verdicts")
    said = ", ".join(f"{marks[k]['mark']} {k}" for k in marks)
    if any(v.certain for v in verdicts):
        certain = ", ".join(f"{of['mark']} {of['certain']}" for of in marks.values())
        said += f"; of what is to hold for certain {certain}, with the largest of all runs"
    legend(out, f"{said}{_further(verdicts)}")


def _further(verdicts: Sequence[Verdict]) -> str:
    """How many more runs would decide what is undecided."""
    runs = [v.further_runs for v in verdicts if v.verdict == "undecided" and not v.certain]
    known = [n for n in runs if n is not None]
    if not runs:
        return ""
    if not known:
        return "; no number of further runs would decide those"
    which = "all of those" if len(known) == len(runs) else f"{len(known)} of those {len(runs)}"
    return f"; {max(known)} further runs would probably decide {which}"


def _cells(of: Mapping[str, Verdict], *, interval: bool) -> tuple[dict[str, Text], str]:
    """Mark and mean of each point, all in one unit, and the unit."""
    marks = words("verdicts")
    first = next(iter(of.values()))
    means = [v.largest if v.certain else v.mean for v in of.values()]
    scale = scale_for(first.unit, means)
    decimals = column_decimals(scale, means)
    cells = {}
    for (point, v), mean in zip(of.items(), means, strict=True):
        half = None if v.certain or v.high is None or v.mean is None else v.high - v.mean
        value = format_cell(mean, half, scale, decimals, interval=interval)
        text = f"{marks[v.verdict]['mark']} {value}" + (" *" if v.note else "")
        cells[point] = Text(text, _COLORS[v.verdict])
    return cells, "" if scale.unit == "1" else scale.unit


def _along(
    along: Grid,
    things: Sequence[tuple[tuple[str, ...], Mapping[str, Text]]],
    heads: Sequence[str] = (),
) -> Table:
    """A table with a cell for each point of each thing, as far as there are any.

    Each thing has its names under `heads`, before those of its rows.
    """
    made = table()
    for head in (*heads, *along.heads):
        made.add_column(head, no_wrap=True, vertical="bottom")
    for n, value in enumerate(along.axis.labels):
        made.add_column(f"{along.axis.name if n == 0 else ''}\n{value}", no_wrap=True)
    last: tuple[str, ...] = ()
    for thing, cells in things:
        for row, points in along.rows:
            names = (*thing, *row)
            made.add_row(
                *map(Text, fresh(names, last)), *(cells.get(p or "", Text("")) for p in points)
            )
            last = names
    return made


def _verdicts(
    verdicts: Sequence[Verdict], *, based: bool, several: bool, grouped: bool = True
) -> Table:
    """A row for each; `grouped`: those of a variant together, with its name once."""
    made = table()
    further = any(v.verdict == "undecided" for v in verdicts)
    owned = any(v.customer is not None for v in verdicts)
    if several:
        made.add_column("variant")
    if owned:
        made.add_column("customer")
    for heading in ("class", "requirement", *(["objective"] if based else []), "measured"):
        made.add_column(heading, justify="right" if heading == "measured" else "left")
    made.add_column("verdict")
    if further:
        made.add_column("further runs", justify="right")
    last = None
    for v in verdicts:
        if grouped and last is not None and v.variant != last:
            made.add_row()
        made.add_row(
            *([Text("" if grouped and v.variant == last else v.variant)] if several else []),
            *([Text(v.customer or "")] if owned else []),
            Text(v.about),
            Text(v.requirement),
            *([Text(v.basis or "")] if based else []),
            Text(v.measured),
            Text(mark_of(v.verdict, v.said) + (" *" if v.note else ""), _COLORS[v.verdict]),
            *([v.needs or ""] if further else []),
        )
        last = v.variant
    return made


def _customers(out: Console, found: Results, along: Grid | None) -> None:
    """One verdict for each customer and variant."""
    customers = found.customers()
    if not customers:
        return
    by = {
        customer: {v: Text(mark_of(m), _COLORS[m]) for v, m in verdicts.items()}
        for customer, verdicts in customers.items()
    }
    if along is not None:
        made = _along(
            along, [((customer,), cells) for customer, cells in by.items()], ("customer",)
        )
        if width(out, made) <= out.width:
            out.print(Text("All requirements of each customer", "bold"))
            show(out, made)
            out.print()
            return
    # Where each customer has one requirement the table above says it all.
    if len(found.verdicts) == sum(map(len, by.values())) and len(found.description.variants) == 1:
        return
    made = table()
    made.add_column("customer")
    variants = list(dict.fromkeys(v.variant for v in found.verdicts))
    for variant in variants:
        made.add_column(Text(variant if len(variants) > 1 else "verdict"))
    for customer, cells in by.items():
        made.add_row(Text(customer), *(cells.get(variant, Text("")) for variant in variants))
    show(out, made)
