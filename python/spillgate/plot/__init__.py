"""Figures of results.

Every function returns a matplotlib figure made without pyplot, so nothing
global changes and no window opens. Bars carry 95 % intervals.

>>> import spillgate, spillgate.plot
>>> results = spillgate.run("examples/first/scenario.yaml", runs=2)
>>> figure = spillgate.plot.bars(results, "owd_mean")
>>> figure.axes[0].get_ylabel()
'mean one-way delay (ms)'
"""

from spillgate.plot.charts import bars, ccdf, timeline
from spillgate.plot.files import FigureSpec, default_figures, draw, read_specs, save
from spillgate.plot.sweep import sweep

__all__ = [
    "FigureSpec",
    "bars",
    "ccdf",
    "default_figures",
    "draw",
    "read_specs",
    "save",
    "sweep",
    "timeline",
]
