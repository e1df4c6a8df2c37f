"""C.-H. Chien and W. Liao: a self-configuring RED gateway for QoS networks (Adaptive RIO).

An assured flow and best effort over a core with one queue (`system/`), under RIO, Adaptive RIO and
RIO with other fixed thresholds.
"""

from pathlib import Path

from spillgate_papers.chien import measured
from spillgate_papers.declared import paper

PAPER = paper(
    Path(__file__).parent,
    own=measured.taken,
    share=measured.share,
    over=measured.over,
    spearman=measured.spearman,
    rates=measured.rates,
)
