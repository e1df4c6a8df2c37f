"""M. Shrivastav, S. Mukherjee, S. Gonnade: RED that sees the input queues of a switch.

Two switches with virtual output queues (`system/`), two fabrics, three schemes at the outputs; a
sweep of the weight of the input queues, and the stability of the loop.
"""

from spillgate_papers.frame import Frame
from spillgate_papers.shrivastav import claims, show, system

PAPER = Frame(
    name="shrivastav",
    texts=system.TEXTS,
    system=system.SYSTEM,
    batches=system.batches(),
    claims=claims.CLAIMS,
    silent=system.SILENT,
    causes=claims.CAUSES,
    ledger=system.LEDGER,
    sections=show.sections,
    scopes=(),
    own=system.taken,
    runs=20,
)
