"""The fluid model of TCP connections that share a queue under active queue management.

A `Model` has the differential equations of Misra, Gong and Towsley (SIGCOMM 2000), their operating
point, their linearization with gain, phase and delay margins (Hollot, Misra, Towsley and Gong,
INFOCOM 2001), and their solution in time. An input-queued stage in front of the queue and a
measure of congestion that counts it with a weight are extensions; see `Switch`.

Queues and windows are in packets, times in seconds, rates in packets a second.

>>> from spillgate.analysis import fluid
>>> red = fluid.Red(min_th=150, max_th=700, max_p=0.1, weight=1.33e-6, gentle=False)
>>> model = fluid.Model(flows=60, capacity=3750, rtt=0.2, aqm=red)
>>> round(model.operating_point().queue)
194
>>> model.margins().stable
True
"""

from spillgate.analysis.fluid.adapt import adapted
from spillgate.analysis.fluid.aqm import Aqm, Curve, Dsred, Integral, Pi, Pie, Red
from spillgate.analysis.fluid.linear import Loop, Margins
from spillgate.analysis.fluid.model import Model, OperatingPoint, Switch
from spillgate.analysis.fluid.motion import Oscillation, Trajectory
from spillgate.analysis.fluid.scenario import ControlLoop, from_scenario
from spillgate.analysis.fluid.sweep import COLUMNS, Margin, margins_over

__all__ = [
    "COLUMNS",
    "Aqm",
    "ControlLoop",
    "Curve",
    "Dsred",
    "Integral",
    "Loop",
    "Margin",
    "Margins",
    "Model",
    "OperatingPoint",
    "Oscillation",
    "Pi",
    "Pie",
    "Red",
    "Switch",
    "Trajectory",
    "adapted",
    "from_scenario",
    "margins_over",
]
