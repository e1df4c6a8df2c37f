"""C. Mitroi and D. Stroescu: congestion management in the customer-edge node.

The eight policies of the paper are run from the text of a router configuration (`system/`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from spillgate_papers.frame import Frame
from spillgate_papers.grid import Batch, Effort, Grid, Value
from spillgate_papers.mitroi import beyond, system, why
from spillgate_papers.mitroi.claims import CAUSES, CLAIMS, ORDER, STEP
from spillgate_papers.mitroi.silent import BRIEFLY, SILENT, TOGETHER_AXES
from spillgate_papers.mitroi.why import EXACT, MAIN, POLICY, REPEATING, VARIED
from spillgate_papers.model import Section
from spillgate_papers.search import Search
from spillgate_papers.show import Bars, compared
from spillgate_papers.study import Study


def _started(title: str, label: str, value: Value, varied: Effort | None = None) -> Batch:
    grid = Grid(policy=POLICY(), source={label: value})
    return Batch(
        title,
        grid,
        REPEATING,
        varied,
        keep=True,
        note="With hardly any jitter the traffic repeats itself every 2 s.",
    )


BATCHES = (
    Batch("The paper's policies", Grid(policy=POLICY()), MAIN, VARIED, keep=True),
    Batch(
        "Policies that it does not test", Grid(policy=POLICY(system.ALSO)), REPEATING, keep=True
    ),
    _started("The same without jitter", "exact", Value({}, system.NO_JITTER), VARIED),
    _started("All streams started together", STEP, Value(system.IN_STEP)),
    _started("Streams started in order", ORDER, Value(system.in_order())),
    *why.BATCHES,
    *beyond.BATCHES,
)
REAL_TIME, POINTS, DATA = system.REAL_TIME, system.DATA_POINTS, tuple(system.CLASSES)[2:]
VARIATION = "Figure 10: delay variation of voice and video"
FIGURES = (
    Bars("fig06-delay-realtime", "Figure 6: delay of voice and video", "owd_mean", REAL_TIME),
    Bars("fig07-delay-data", "Figure 7: delay of the data classes", "owd_mean", DATA),
    Bars("fig08-loss-realtime", "Figure 8: loss of voice and video", "loss_ratio", REAL_TIME),
    Bars("fig09-loss-data", "Figure 9: loss of the data classes", "loss_ratio", POINTS, "dscp", 3),
    Bars("fig10-delay-variation", VARIATION, "jitter", REAL_TIME),
)
SEARCH = Search(
    TOGETHER_AXES,
    replace(VARIED, runs=3),
    REPEATING,
    BRIEFLY,
    "Random starts have 10 % of jitter, the others 0.01 %, unless it says that there is none.",
)


def sections(study: Study) -> Iterator[Section]:
    """What stands between the verdicts and the ledger."""
    v = study.main
    measured = study.measured()
    exact = study.lab.batches["The same without jitter"]
    yield replace(
        measured,
        tables=(*measured.tables, study.runs()),
        pictures=(*measured.pictures, *(f.picture(exact, EXACT, "exact") for f in FIGURES)),
    )
    yield SEARCH.section(study)
    sources = compared(
        "sources",
        "The claims by how the generator sends",
        {
            "with jitter": study.claims,
            "without jitter": study.paper.judged(v.moved({p: x for x, p in EXACT.items()})),
            STEP: study.paper.judged(study.switched(STEP)[0]),
            ORDER: study.paper.judged(study.switched(ORDER)[0]),
        },
        "The verdicts of the paper's claims are those of the first column; M12 is about traffic "
        "without jitter in any case. What is started together or in order has 0.01 % of jitter.",
    )
    tables = (*(t.table(v) for t in why.TABLES), sources)
    yield Section("Why", why.WFQ_SAID(v), tables, tuple(f.picture(v) for f in why.FIGURES), "wfq")
    tables = tuple(t.table(v) for t in beyond.TABLES)
    yield Section("Beyond the paper", "", tables, (beyond.LOAD.picture(v),))


PAPER = Frame(
    name="mitroi",
    texts=system.TEXTS,
    system=system.SYSTEM,
    batches=BATCHES,
    claims=CLAIMS,
    silent=SILENT,
    files=system.FILES,
    tables=why.MEASURED,
    figures=FIGURES,
    causes=CAUSES,
    ledger=(*system.POLICIES, *system.EXACT),
    sections=sections,
    scopes=("class", "dscp", "queue"),
    metrics=("loss_ratio", "owd_mean", "jitter", "sojourn_mean"),
    flow_metrics=("loss_ratio",),
)
