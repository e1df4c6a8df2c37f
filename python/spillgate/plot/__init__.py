"""Figures of results.

Every function returns a matplotlib figure made without pyplot, so nothing
global changes and no window opens. Bars carry 95 % intervals. They need
matplotlib: `pip install 'spillgate[plot]'`.

>>> import spillgate, spillgate.plot
>>> results = spillgate.run("examples/first/scenario.yaml", runs=2)
>>> figure = spillgate.plot.bars(results, "owd_mean")
>>> figure.axes[0].get_ylabel()
'mean one-way delay (ms)'
"""

from spillgate.errors import MissingDependencyError

try:
    import matplotlib as mpl  # noqa: F401
except ImportError as error:
    msg = "matplotlib, which draws figures, is not installed: pip install 'spillgate[plot]'"
    raise MissingDependencyError(msg, name="matplotlib") from error

from spillgate.plot.charts import bars, timeline
from spillgate.plot.distribution import ccdf, distribution
from spillgate.plot.files import draw, save, write
from spillgate.plot.specs import FigureSpec, default_figures, read_specs
from spillgate.plot.study import heatmap, tradeoff
from spillgate.plot.sweep import sweep
from spillgate.plot.warmup import warmup

__all__ = [
    "FigureSpec",
    "bars",
    "ccdf",
    "default_figures",
    "distribution",
    "draw",
    "heatmap",
    "read_specs",
    "save",
    "sweep",
    "timeline",
    "tradeoff",
    "warmup",
    "write",
]
