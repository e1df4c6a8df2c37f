"""B. Zheng and M. Atiquzzaman: Double-slope RED over TCP/IP/ATM.

Four TCP connections over an edge router with DSRED or RED, and a virtual circuit with a traffic
contract (`system/`).
"""

from __future__ import annotations

from collections.abc import Iterator

from spillgate_papers.frame import Frame
from spillgate_papers.model import Section
from spillgate_papers.study import Study, Watched
from spillgate_papers.zheng import show, system
from spillgate_papers.zheng.claims import CAUSES, CLAIMS
from spillgate_papers.zheng.silent import LEDGER, SILENT
from spillgate_papers.zheng.system import BOTH, UBR, drops, place, received


def sections(study: Study) -> Iterator[Section]:
    """What stands between the verdicts and the ledger."""
    batches = study.lab.batches
    yield study.section(
        "The figures",
        f"{study.lab.runs} runs a point; ± is half the width of the 95 % interval.",
        (show.TABLE, study.runs()),
        (*show.figures(batches["Table 1"], batches["The start"]), show.SHARE_FIGURE),
        "figures",
    )
    yield study.section(
        "Numbers that cannot hold together",
        show.said("arithmetic")(study.main),
        (show.QUOTES, show.arithmetic()),
        name="arithmetic",
    )
    yield study.section(
        "A circuit as slow as the numbers say",
        show.said("circuit")(study.main),
        (show.CIRCUIT_TABLE,),
        name="circuit",
    )
    yield study.section("An average without decay", show.said("locked")(study.main), name="locked")
    yield study.section(
        "Why a shorter queue drops more",
        show.said("why")(study.main),
        (show.RIVAL_TABLE, show.SIZE_TABLE, show.SCR_TABLE, show.PLAIN_TABLE),
        name="why",
    )


PAPER = Frame(
    name="zheng",
    texts=system.TEXTS,
    system=system.SYSTEM,
    batches=system.BATCHES,
    claims=CLAIMS,
    silent=SILENT,
    causes=CAUSES,
    ledger=LEDGER,
    watched=[
        Watched(
            place(UBR, s), s, {"received": received(place(UBR, s)), "drops": drops(place(UBR, s))}
        )
        for s in BOTH
    ],
    sections=sections,
    scopes=("class", "queue", "link"),
    own=system.taken,
    series=True,
    quick_runs=2,
)
