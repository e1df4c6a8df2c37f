"""Puts what searches of silent choices found into the pages of papers (`refresh.py searches`).

A search takes minutes to an hour of processor time. Its runs are kept in a folder, from which the
next refresh takes them: `FOLDER/NAME/runs`, where those of
`spillgate reproduce NAME --search --out FOLDER/NAME` are, too.
"""

import re
from importlib import import_module
from pathlib import Path

from spillgate_papers import page

HERE = Path(__file__).parent
PAPERS = ("mitroi", "domzal", "shrivastav", "chien", "zheng")
SECTIONS = ("beside", "search")
"""Of what a search shows: the claims in the best set, and the search itself."""
FIGURE = "shares"
"""The figure of a search, copied to `img` with the paper's name before it."""
INDEX = HERE / "papers/index.md"

_BLOCK = re.compile(r"(<!-- (table|text) (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
_REPRODUCED = "✓ reproduced"


def replaced(text, made):
    """A page with these blocks, by kind and name; other blocks stay."""

    def block(m):
        content = made.get((m[2], m[3]))
        return m[0] if content is None else f"{m[1]}{content}{m[4]}"

    return _BLOCK.sub(block, text)


def blocks(sections):
    """What a search says, by kind and name."""
    made = {}
    for section in sections:
        if section.name in SECTIONS:
            made["text", section.name] = f"{section.text}\n"
            for table in section.tables:
                made["table", table.file] = "\n".join(page.table_lines(table)[2:]) + "\n"
    return made


def refresh(folder, wanted=()):
    """Searches, all papers if none is named; replaces texts, tables and figures, and counts."""
    for paper in wanted or PAPERS:
        where, path = folder / paper, HERE / f"papers/{paper}.md"
        store = where / "runs"
        store.mkdir(parents=True, exist_ok=True)
        frame = import_module(f"spillgate_papers.{paper}").PAPER
        found = frame.reproduce(where / "system", search=True, store=store)
        text, made = path.read_text(encoding="utf-8"), blocks(page.sections(found))
        if missing := made.keys() - {m.group(2, 3) for m in _BLOCK.finditer(text)}:
            msg = f"{path} has no place for {sorted(missing)}"
            raise ValueError(msg)
        path.write_text(replaced(text, made), encoding="utf-8")
        for picture in (p for s in found.sections for p in s.pictures if p.file == FIGURE):
            picture.draw(where / FIGURE)
            drawn = (where / f"{FIGURE}.png").read_bytes()
            (HERE / f"img/{paper}-{FIGURE}.png").write_bytes(drawn)
    INDEX.write_text(index_page(), encoding="utf-8")


def table(text, name):
    """The rows of a page's table by their first cell, each by heading; empty if there is none."""
    block = next((m[0] for m in _BLOCK.finditer(text) if m.group(2, 3) == ("table", name)), "")
    lines = [x for x in block.splitlines() if x.startswith("| ")]
    cells = [[c.strip() for c in re.split(r"(?<!\\)\|", x)[1:-1]] for x in lines]
    return {row[0]: dict(zip(cells[0], row, strict=True)) for row in cells[2:]}


def counts():
    """By paper: how many claims there are, how many are reproduced, and in the best set.

    A claim that a search does not judge counts as in the base.
    """
    made = {}
    for paper in PAPERS:
        text = (HERE / f"papers/{paper}.md").read_text(encoding="utf-8")
        base = {k: row["verdict"] for k, row in table(text, "claims").items()}
        best = base | {k: row["best set"] for k, row in table(text, "beside").items()}
        made[paper] = (
            len(base),
            *(sum(v == _REPRODUCED for v in of.values()) for of in (base, best)),
        )
    return made


def index_page():
    """The page that leads to those of the papers, with the counts of claims on these."""
    found = counts()
    pages = {p: (HERE / f"papers/{p}.md").read_text(encoding="utf-8") for p in PAPERS}
    searched = [p for p, text in pages.items() if table(text, "beside")]
    claims, base, best = map(sum, zip(*found.values(), strict=True))
    rows = [
        "| paper | claims | reproduced | in the best set |",
        "| --- | --- | --- | --- |",
        *(f"| [{p}]({p}.md) | {' | '.join(map(str, of))} |" for p, of in found.items()),
        f"| all | {claims} | {base} | {best} |",
    ]
    said = (
        f"{base} of {claims} claims are reproduced as everything was chosen beforehand, and "
        f"{best} of {claims} under the choices that searches found for {', '.join(searched)}."
    )
    made = {("text", "counts"): f"{said}\n", ("table", "counts"): "\n".join(rows) + "\n"}
    return replaced(INDEX.read_text(encoding="utf-8"), made)
