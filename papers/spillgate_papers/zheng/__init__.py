"""B. Zheng and M. Atiquzzaman: Double-slope RED over TCP/IP/ATM.

Four TCP connections over an edge router with DSRED or RED, and a virtual circuit with a traffic
contract (`system/`).
"""

from pathlib import Path

from spillgate_papers.declared import paper
from spillgate_papers.zheng import measured

PAPER = paper(
    Path(__file__).parent,
    own=measured.taken,
    normalized=measured.normalized,
    averaged=measured.averaged,
    arithmetic=measured.arithmetic(),
    cells=measured.CELLS,
)
