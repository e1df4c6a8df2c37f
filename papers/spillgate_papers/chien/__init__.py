"""C.-H. Chien and W. Liao: a self-configuring RED gateway for QoS networks (Adaptive RIO).

An assured flow and best effort over a core with one queue (`system/`), under RIO, Adaptive RIO and
RIO with other fixed thresholds.
"""

from __future__ import annotations

from collections.abc import Iterator

from spillgate_papers.chien import show, system
from spillgate_papers.chien.claims import CAUSES, CLAIMS
from spillgate_papers.chien.silent import LEDGER, SILENT
from spillgate_papers.chien.system import BEST_EFFORT, BOTH, PHASES, phase, rate
from spillgate_papers.frame import Frame
from spillgate_papers.model import Section
from spillgate_papers.study import Study, Watched


def sections(study: Study) -> Iterator[Section]:
    """What stands between the verdicts and the ledger."""
    results = study.lab.batches["Figures 4 and 5"]
    runs = study.lab.runs
    yield study.section(
        "The figures",
        f"{runs} runs a point, {system.MORE * runs} of the connections alone with max_p "
        f"{system.CHANCES[0]}; ± is half the width of the 95 % interval.",
        (show.THRESHOLD_TABLE, show.silences(), study.runs()),
        (
            show.THRESHOLD_FIGURE,
            *show.timelines(results),
            *show.SILENCE_FIGURES,
            show.trace(results),
        ),
        "figures",
    )
    yield study.section(
        "Adaptation, or a higher threshold",
        "\n\n".join(show.said(x)(study.main) for x in ("gain", "blind")),
        (show.RIVALS, show.ASSURED_TABLE),
        (show.RIVAL_FIGURE,),
        "adaptation",
    )


PAPER = Frame(
    name="chien",
    texts=system.TEXTS,
    system=system.SYSTEM,
    batches=system.BATCHES,
    claims=CLAIMS,
    silent=SILENT,
    causes=CAUSES,
    ledger=LEDGER,
    watched=[
        Watched(
            s, s, {"best effort": rate(s, BEST_EFFORT), "assured": phase(s, next(iter(PHASES)))}
        )
        for s in BOTH
    ],
    sections=sections,
    scopes=("class", "queue", "link", "meter", "class-dscp"),
    metrics=(
        "throughput",
        "goodput",
        "carried",
        "conform",
        "utilization",
        "backlog_packets_mean",
    ),
    own=system.taken,
    series=True,
    quick_runs=2,
)
