"""C. Mitroi and D. Stroescu: congestion management in the customer-edge node.

The eight policies of the paper are run from the text of a router configuration (`system/`).
"""

from spillgate_papers.frame import Frame
from spillgate_papers.mitroi import claims, show, system

PAPER = Frame(
    name="mitroi",
    texts=system.TEXTS,
    system=system.SYSTEM,
    batches=show.BATCHES,
    claims=claims.CLAIMS,
    silent=system.SILENT,
    files=system.FILES,
    tables=show.MEASURED,
    figures=show.BARS,
    causes=claims.CAUSES,
    ledger=(*system.POLICIES, *system.EXACT),
    sections=show.sections,
    scopes=("class", "dscp", "queue"),
    metrics=("loss_ratio", "owd_mean", "jitter", "sojourn_mean"),
    flow_metrics=("loss_ratio",),
)
