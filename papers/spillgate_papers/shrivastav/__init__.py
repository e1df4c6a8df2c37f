"""M. Shrivastav, S. Mukherjee, S. Gonnade: RED that sees the input queues of a switch.

Two switches with virtual output queues (`system/`), two fabrics, three schemes at the outputs; a
sweep of the weight of the input queues, and the stability of the loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from spillgate_papers.frame import Frame
from spillgate_papers.model import Section
from spillgate_papers.shrivastav import figures, stability, system, why
from spillgate_papers.shrivastav.claims import CAUSES, CLAIMS
from spillgate_papers.shrivastav.silent import LEDGER, SILENT
from spillgate_papers.shrivastav.system import LARGE, SMALL
from spillgate_papers.study import Study


def sections(study: Study) -> Iterator[Section]:
    """What the page shows beside verdicts and ledger."""
    yield why.section(study)
    measured = study.measured()
    numbered = ((SMALL, 2), (LARGE, 4))
    pictures = [c.picture(study.main) for size, n in numbered for c in figures.figures(size, n)]
    tables = [f(size, n) for size, n in numbered for f in (figures.queues, figures.losses)]
    made = tuple(t.table(study.main) for t in tables)
    yield replace(measured, tables=made, pictures=tuple(pictures))
    yield why.fabrics(study)
    yield study.section("Matchings", "", (figures.MATCHED,))
    text = " ".join(figures.weights_said(size)(study.main) for size in system.SIZES)
    title = "The weight of the input queues"
    yield study.section(title, text, (figures.WEIGHTS,), (figures.FRONTIER,), "weights")
    yield stability.section(study)
    yield study.section("What is run", "", (study.runs(),))


PAPER = Frame(
    name="shrivastav",
    texts=system.TEXTS,
    system=system.SYSTEM,
    batches=system.batches(),
    claims=CLAIMS,
    silent=SILENT,
    causes=CAUSES,
    ledger=LEDGER,
    sections=sections,
    scopes=(),
    own=system.taken,
    runs=20,
)
