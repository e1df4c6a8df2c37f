"""Several papers on one page: a row for each claim, and a folder for each paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from spillgate import _engine
from spillgate.rundir import MANIFEST, write_json
from spillgate_papers import page
from spillgate_papers.model import OUTCOME_MARKS, Cell, Judged, Reproduction, Section, Table


def sections(every: Sequence[Reproduction]) -> list[Section]:
    """What the page of all papers shows."""
    links = {r.paper: f"{r.paper}/index.html" for r in every}
    verdicts = [j.verdict for r in every for j in r.claims]
    papers = [_counted(r.paper, [j.verdict for j in r.claims]) for r in every]
    by_paper = Table(
        "papers",
        "Verdicts by paper",
        ("paper", "claims", *OUTCOME_MARKS.values(), "title"),
        (
            *((*row, r.title) for row, r in zip(papers, every, strict=True)),
            (*_counted("all", verdicts), ""),
        ),
        links=links,
    )
    searched = any(r.search for r in every)
    claims = Table(
        "claims",
        "Claims",
        (
            *("paper", "id", "it says", "its figure"),
            *(("as chosen",) if searched else ()),
            *("ours", "verdict", "cause shown by runs"),
        ),
        tuple(
            (
                *(r.paper, j.claim.id, j.claim.statement, j.stated),
                *((b.mark,) if searched else ()),
                *(j.ours, j.mark, _cause(j)),
            )
            for r in every
            for b, j in zip(r.base or r.claims, r.claims, strict=True)
        ),
        "A paper's name leads to its page, which says why a claim is not reproduced. "
        + (
            "Verdicts are those in the best set of silent choices, beside those as everything is "
            "chosen; claims that need other points than are searched are left out."
            if searched
            else "The cause is shown by runs where all that does not hold holds with a suspected "
            "cause switched off."
        ),
        links=links,
    )
    counted = {kind: sum(v == kind for v in verdicts) for kind in OUTCOME_MARKS}
    counts = ", ".join(f"{n} {kind.replace('_', ' ')}" for kind, n in counted.items() if n)
    said = f"{about(every)}: {counts}."
    return [Section("Verdicts", said, (by_paper, claims), (), "verdicts")]


def _counted(name: str, verdicts: Sequence[str]) -> tuple[Cell, ...]:
    counts = (sum(v == kind for v in verdicts) for kind in OUTCOME_MARKS)
    return (name, str(len(verdicts)), *map(str, counts))


def _cause(j: Judged) -> str:
    if j.verdict == "reproduced":
        return ""
    return "yes" if j.explained else "no"


def write(
    every: Sequence[Reproduction],
    directory: Path,
    argv: Sequence[str],
    spent: Sequence[tuple[float, float]],
) -> None:
    """Fills a run directory; the arguments are those of `Reproduction.write_together`."""
    for r, took in zip(every, spent, strict=True):
        r.write(directory / r.paper, argv, *took)
    first = every[0].lab
    shown = sections(every)
    tables = directory / "tables"
    tables.mkdir(exist_ok=True)
    for section in shown:
        for table in section.tables:
            page.write_csv(tables / f"{table.file}.csv", table)
    length = "few and short runs (--quick)" if first.quick else "full length"
    said = f"Spillgate {_engine.VERSION}, seed {first.seed}, {length}."
    page.write_page(directory, "Papers reproduced", about(every), said, shown)
    write_json(directory / "claims.json", Reproduction.document_together(every))
    of = {"papers": [r.paper for r in every], "seed": first.seed, "quick": first.quick}
    wall, cpu = map(sum, zip(*spent, strict=True))
    write_json(directory / MANIFEST, page.manifest(argv, wall, cpu, **of))


def about(every: Sequence[Reproduction]) -> str:
    """How many papers and claims, in words."""
    claims = sum(len(r.claims) for r in every)
    return f"{len(every)} papers, {claims} claims"
