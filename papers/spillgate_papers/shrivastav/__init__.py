"""M. Shrivastav, S. Mukherjee, S. Gonnade: RED that sees the input queues of a switch.

Two switches with virtual output queues (`system/`), two fabrics, three schemes at the outputs; a
sweep of the weight of the input queues, and the stability of the loop.
"""

from spillgate_papers.declared import paper
from spillgate_papers.shrivastav import show, stability, system

_NAMED = {**vars(show), **vars(stability), **vars(system)}
PAPER = paper(system.FOLDER, **{**_NAMED, "own": system.taken})
