"""Where adaptive RED comes to rest.

Floyd, Gummadi and Shenker 2001: every half second `max_p` grows by at most 0.01 while the average
is above six tenths of the way from `min_th` to `max_th`, and falls by a tenth while it is below
four tenths. That is slow beside the swings of the loop: at any time the loop is that of RED with
the present `max_p`, in the long run that with the `max_p` at which the operating point lies
between.
"""

from __future__ import annotations

from dataclasses import replace

from spillgate.analysis.fluid.aqm import Red, basic_of
from spillgate.analysis.fluid.model import Model
from spillgate.errors import InputError

LEAST, MOST = 0.01, 0.5
"""Between which values `max_p` stays."""
LOW, HIGH = 0.4, 0.6
"""Between which shares of the way from `min_th` to `max_th` the average may lie."""


def adapted(model: Model) -> Model:
    """The model with the `max_p` at which adaptive RED comes to rest.

    Args:
        model: One whose AQM is `Red` with the first `max_p`.

    Returns:
        The same with the nearest `max_p` whose operating point has its average four to six tenths
        of the way between the thresholds; 0.01 or 0.5 if none between has. The simulated one stops
        up to a step beyond.

    Raises:
        InputError: If the AQM is another, or the VOQs are the bottleneck and are not measured.
    """
    return replace(model, aqm=replace(_red(model), max_p=resting_max_p(model)))


def resting_max_p(model: Model) -> float:
    """The `max_p` of `adapted`."""
    red = _red(model)

    def holding(share: float) -> float:
        """The `max_p` that holds the average at a share of the way."""
        average = red.min_th + share * (red.max_th - red.min_th)
        dropped = min(model.needed_at(average), 1.0)
        return basic_of(dropped, red.spread, wait=red.wait) / share

    # The higher max_p, the lower the average.
    held = min(max(red.max_p, holding(HIGH)), holding(LOW))
    return min(max(held, LEAST), MOST)


def _red(model: Model) -> Red:
    if isinstance(model.aqm, Red):
        return model.aqm
    found = type(model.aqm).__name__
    msg = f"error: fluid model: aqm: {found!r}: must be Red, whose max_p adapts"
    raise InputError(msg)
