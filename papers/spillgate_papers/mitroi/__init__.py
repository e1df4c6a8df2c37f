"""C. Mitroi and D. Stroescu: congestion management in the customer-edge node.

The eight policies of the paper are run from the text of a router configuration (`system/`).
"""

from spillgate_papers.declared import paper
from spillgate_papers.mitroi import measured

PAPER = paper(measured.FOLDER, **vars(measured))
