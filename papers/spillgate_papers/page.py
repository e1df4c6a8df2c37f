"""A reproduction as files: JSON, tables as CSV, figures, and a page as Markdown and as HTML."""

from __future__ import annotations

import csv
import platform
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from spillgate import _engine
from spillgate.report.html import page
from spillgate.rundir import MANIFEST, write_json
from spillgate.spreadsheet import written
from spillgate_papers.judge import described, more_runs
from spillgate_papers.model import (
    OUTCOME_MARKS,
    Cell,
    Judged,
    Part,
    Picture,
    Quantity,
    Reproduction,
    Section,
    Table,
)
from spillgate_papers.study import changes

FORMAT = 1
"""Version of `claims.json` and of the manifest."""

_LOOKS = {
    OUTCOME_MARKS["reproduced"]: "pass",
    OUTCOME_MARKS["shape_only"]: "undecided",
    OUTCOME_MARKS["not_reproduced"]: "fail",
    OUTCOME_MARKS["undecided"]: "undecided",
}
"""Cells that look as verdicts on requirements do."""


def text(cell: Cell) -> str:
    """A cell as text."""
    return "" if cell is None else str(cell)


def claims_table(r: Reproduction) -> Table:
    """Every claim with its verdict, a line each; below what ours is, and reasons."""
    return Table(
        "claims",
        "Claims",
        ("id", "the paper says", "paper", "ours", "verdict"),
        tuple((j.claim.id, j.claim.statement, j.stated, j.ours, j.mark) for j in r.claims),
        "Why a claim is not reproduced stands below it. Shown by runs: with a suspected cause "
        "switched off, under the same seeds, what does not hold holds.",
        {j.claim.id: _why(j) for j in r.claims},
    )


def _why(j: Judged) -> str:
    ours = f"Ours: {j.claim.measure}."
    if j.verdict == "reproduced":
        return ours
    shown = "yes" if j.explained else "no"
    return f"{ours} {j.reason[0].upper()}{j.reason[1:]}. Shown by runs: {shown}."


def parts_table(r: Reproduction) -> Table:
    """What is checked for each claim, and what was measured."""
    return Table(
        "parts",
        "What is checked",
        ("id", "predicate", "part", "kind", "holds"),
        tuple(
            (
                j.claim.id if not i else "",
                j.claim.predicate if not i else "",
                described(p),
                f"{p.kind}, ours" if p.bound else p.kind,
                _held(p),
            )
            for j in r.claims
            for i, p in enumerate(j.parts)
        ),
        "A part holds when its whole 95 % interval does, and is undecided when the interval "
        "contains its bound. Reproduced: all parts hold; shape only: all that are trends. What is "
        "beside is reported and does not count. Ours: the bound stands in our specification, not "
        "in the paper.",
    )


def bounds_table(r: Reproduction) -> Table | None:
    """What claims are under other values of the bounds that are ours; none if none is."""
    rows = tuple(
        (
            j.claim.id,
            name,
            j.chosen(name),
            "; ".join(f"{x}: {OUTCOME_MARKS[o]}" for x, o in verdicts.items()),
        )
        for j in r.claims
        for name, verdicts in j.bounds.items()
    )
    if not rows:
        return None
    return Table(
        "bounds",
        "Bounds that are ours",
        ("id", "what the paper gives no bound for", "our bound", "the claim with this bound"),
        rows,
        "One bound is moved at a time, in all parts of the claim that have it; the runs stay.",
    )


def _held(part: Part) -> str:
    if part.kind == "beside":
        return "–"
    if part.undecided:
        return f"undecided: {more_runs(part)}"
    return "yes" if part.holds else "no"


def ledger_table(r: Reproduction) -> Table:
    """The assumptions."""
    return Table(
        "assumptions",
        "What the paper leaves silent",
        ("assumption", "our choice", "why", "what other choices do"),
        tuple(
            (x.assumption.key, x.assumption.value, x.assumption.why, x.effect)
            for x in r.assumptions
        ),
    )


def summary(r: Reproduction) -> str:
    """The claims by verdict."""
    said = []
    for verdict in OUTCOME_MARKS:
        claims = [j for j in r.claims if j.verdict == verdict]
        if claims:
            ids = ", ".join(j.claim.id for j in claims)
            said.append(f"{len(claims)} of {len(r.claims)} {verdict.replace('_', ' ')} ({ids})")
    missed = [j.claim.id for j in r.claims if j.verdict != "reproduced" and j.explained]
    shown_by = f" The cause is shown by runs for {', '.join(missed)}." if missed else ""
    return f"{'; '.join(said)}.{shown_by}"


def beside(r: Reproduction) -> Section:
    """The verdicts as everything is chosen, and under other choices."""
    name = "best set" if r.search else "as set"
    title = f"As chosen, and {'in the best set' if r.search else name}"
    rows = tuple(
        (b.claim.id, b.claim.statement, b.mark, b.ours, j.mark, j.ours)
        for b, j in zip(r.base, r.claims, strict=True)
    )
    head = ("id", "the paper says", "as chosen", "ours", name, "ours there")
    before, after = (sum(j.verdict == "reproduced" for j in of) for of in (r.base, r.claims))
    said = (
        f"{before} of {len(rows)} claims are reproduced as everything is chosen, {after} with "
        f"{chosen(r)}. {changed(r)}."
    )
    return Section(title, said, (Table("beside", title, head, rows),), (), "beside")


def chosen(r: Reproduction) -> str:
    """The choices that are not ours, in words."""
    return "; ".join(f"{key}: {label}" for key, label in r.set.items()) or "no other choice"


def changed(r: Reproduction) -> str:
    """Which verdicts other choices change, in words."""
    said = changes(*({j.claim.id: j for j in of} for of in (r.base, r.claims)))
    return f"{said[0].upper()}{said[1:]}"


def sections(r: Reproduction) -> Iterator[Section]:
    """Everything that the page shows, in order."""
    if r.base:
        yield beside(r)
    bounds = bounds_table(r)
    tables = (claims_table(r), parts_table(r), *((bounds,) if bounds else ()))
    yield Section("Verdicts", summary(r), tables, (), "verdicts")
    yield from r.sections
    yield Section("Assumptions", "", (ledger_table(r),))


def write(
    r: Reproduction, directory: Path, argv: Sequence[str], wall_s: float, cpu_s: float
) -> None:
    """Fills a run directory, which holds `system/` already.

    Args:
        r: What was found.
        directory: Where to write.
        argv: The arguments, for the manifest.
        wall_s: Seconds that it took.
        cpu_s: Seconds of processor time.
    """
    write_json(directory / "claims.json", r.document())
    tables, figures = directory / "tables", directory / "figures"
    tables.mkdir(exist_ok=True)
    figures.mkdir(exist_ok=True)
    for section in sections(r):
        for table in section.tables:
            write_csv(tables / f"{table.file}.csv", table)
        for picture in section.pictures:
            picture.draw(figures / picture.file)
    heading = f"Reproduction of {r.paper}"
    write_page(directory, heading, r.title, intro(r), list(sections(r)))
    for name, results in r.lab.batches.items():
        where = directory / "runs" / name.lower().replace("'", "").replace(" ", "-")
        where.mkdir(parents=True, exist_ok=True)
        results.write_into(where, list(argv))
    lab = r.lab
    of = {"paper": r.paper, "seed": lab.seed, "runs": lab.runs, "quick": lab.quick}
    of |= {"packets": lab.packets, "events": lab.events}
    write_json(directory / MANIFEST, manifest(argv, wall_s, cpu_s, **of))


def manifest(argv: Sequence[str], wall_s: float, cpu_s: float, **what: object) -> dict[str, Any]:
    """Who made a reproduction, of what, and how long it took."""
    return {
        "format": FORMAT,
        "version": _engine.VERSION,
        "commit": _engine.COMMIT,
        **what,
        "wall_s": round(wall_s, 3),
        "cpu_s": round(cpu_s, 3),
        "platform": platform.platform(),
        "python": platform.python_version(),
        "argv": list(argv or sys.argv),
    }


def write_csv(path: Path, table: Table) -> None:
    """A table as CSV; a quantity becomes three columns: mean, low, high, in base units."""
    wide = [
        any(isinstance(row[i], Quantity) for row in table.rows) for i in range(len(table.head))
    ]
    head: list[str] = []
    for name, is_wide in zip(table.head, wide, strict=True):
        head += [name, f"{name}, low", f"{name}, high"] if is_wide else [name]
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(head)
        for row in table.rows:
            cells: list[object] = []
            for cell, is_wide in zip(row, wide, strict=True):
                if isinstance(cell, Quantity):
                    cells += [cell.mean, cell.low, cell.high]
                else:
                    cells += [cell or "", *(["", ""] if is_wide else [])]
            writer.writerow(["" if c is None else written(c) for c in cells])


def intro(r: Reproduction) -> str:
    """How it was run, in sentences."""
    length = "few and short runs (--quick)" if r.lab.quick else "full length"
    said = f"Spillgate {_engine.VERSION}, seed {r.lab.seed}, {r.lab.runs} runs, {length}."
    if not r.base:
        return said
    return f"{said} Other choices than ours for what the paper leaves silent: {chosen(r)}."


def write_page(
    directory: Path, heading: str, about: str, said: str, shown: Sequence[Section]
) -> None:
    """Writes `index.md` and `index.html`; the figures are in `figures/` already.

    Args:
        directory: Where to write.
        heading: The page's heading.
        about: What it is about: authors and title.
        said: How it was made.
        shown: Everything else.
    """
    lines = markdown(heading, about, said, shown)
    (directory / "index.md").write_text(lines, encoding="utf-8")
    made = page(
        Path(__file__).with_name("paper.html.j2"),
        heading,
        _engine.VERSION,
        about=about,
        intro=said,
        sections=shown,
        looks=_LOOKS,
        drawn=partial(_drawn, directory / "figures"),
    )
    (directory / "index.html").write_text(made, encoding="utf-8")


def markdown(heading: str, about: str, said: str, shown: Sequence[Section]) -> str:
    """A page as Markdown."""
    lines = [f"# {heading}", "", f"{about}.", "", said, ""]
    for section in shown:
        lines += [f"## {section.title}", ""]
        if section.text:
            lines += [section.text, ""]
        for table in section.tables:
            lines += [*table_lines(table), ""]
        for picture in section.pictures:
            lines += [f"![{picture.title}](figures/{picture.file}.png)", ""]
            if picture.note:
                lines += [picture.note, ""]
    return "\n".join(lines)


def table_lines(table: Table) -> list[str]:
    """A table as Markdown, with its heading and its note."""

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(c.replace("|", "\\|").replace("\n", " ") for c in cells) + " |"

    lines = [f"### {table.title}", "", line(table.head), "|" + " --- |" * len(table.head)]
    lines += [line([_linked(text(cell), table) for cell in row]) for row in table.rows]
    below = (
        *([table.note] if table.note else ()),
        *(f"**{k}** {v}" for k, v in table.below.items()),
    )
    return [*lines, *(x for said in below for x in ("", said))]


def _linked(cell: str, table: Table) -> str:
    return f"[{cell}]({table.links[cell]})" if cell in table.links else cell


def _drawn(figures: Path, picture: Picture) -> Markup:
    """A figure as SVG within the page."""
    svg = (figures / f"{picture.file}.svg").read_text(encoding="utf-8")
    # Without the XML head, and with names that no other figure of the page has.
    svg = svg[svg.index("<svg") :]
    for attribute in ('id="', 'href="#', "url(#"):
        svg = svg.replace(attribute, f"{attribute}{picture.file}-")
    labeled = f'<svg role="img" aria-label="{escape(picture.title)}" '
    return Markup(svg.replace("<svg ", labeled, 1))  # noqa: S704
