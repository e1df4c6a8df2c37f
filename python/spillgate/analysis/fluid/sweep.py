"""Margins over a grid of what stability depends on."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from spillgate.analysis.fluid.linear import Margins
from spillgate.analysis.fluid.model import Model, OperatingPoint
from spillgate.errors import InputError

COLUMNS = (
    "nu",
    "connections",
    "T (ms)",
    "output",
    "VOQs",
    "gain margin",
    "phase margin (°)",
    "swing (Hz)",
)
"""Of `Margin.cells`: queue and VOQs are in packets."""


@dataclass(frozen=True)
class Margin:
    """A model of the grid.

    Attributes:
        nu: Weight of the VOQs in the measure; 0 without a switch.
        flows: Connections.
        rtt: Round trip without queueing in seconds.
        point: Its operating point; none if there is none.
        margins: Its margins; none if there is no operating point.
        why: Why there is none; empty if there is one.
    """

    nu: float
    flows: float
    rtt: float
    point: OperatingPoint | None
    margins: Margins | None
    why: str = ""

    def cells(self) -> tuple[float, ...]:
        """What a table has: numbers in the order of `COLUMNS`.

        NaN where there is no operating point.
        """
        if self.point is None or self.margins is None:
            return (self.nu, self.flows, self.rtt * 1e3, *(math.nan,) * 5)
        swing = self.margins.swing.imag / (2 * math.pi)
        return (
            self.nu,
            self.flows,
            self.rtt * 1e3,
            self.point.queue,
            self.point.input_queue,
            self.margins.gain,
            self.margins.phase,
            swing,
        )


def margins_over(
    model: Model,
    *,
    nu: Sequence[float] | None = None,
    flows: Sequence[float] | None = None,
    rtt: Sequence[float] | None = None,
) -> list[Margin]:
    """Margins of a model for all combinations of weights, numbers of connections and round trips.

    Args:
        model: The model; what is not varied is as it says.
        nu: Weights of the VOQs, of a model with a switch.
        flows: Numbers of connections.
        rtt: Round trips without queueing in seconds.

    Returns:
        A record for each, `rtt` changing fastest.

    Raises:
        InputError: If a value is out of range, or `nu` is given without a switch.

    Example:
        >>> from spillgate.analysis import fluid
        >>> red = fluid.Red(50, 450, 0.2, 0.001)
        >>> switch = fluid.Switch(ports=16, speedup=1.1)
        >>> model = fluid.Model(20, 1250, 0.1, red, switch=switch)
        >>> [round(m.margins.gain, 2) for m in fluid.margins_over(model, nu=[0, 0.5])]
        [0.61, 1.37]
    """
    if nu is not None and model.switch is None:
        msg = "error: fluid model: nu: needs a switch, of whose VOQs it is the weight"
        raise InputError(msg)
    grid = itertools.product(
        (model.nu,) if nu is None else nu,
        (model.flows,) if flows is None else flows,
        (model.rtt,) if rtt is None else rtt,
    )
    return [_margin(model, *at) for at in grid]


def _margin(model: Model, nu: float, flows: float, rtt: float) -> Margin:
    switch = None if model.switch is None else replace(model.switch, nu=nu)
    varied = replace(model, switch=switch, flows=flows, rtt=rtt)
    try:
        point = varied.operating_point()
    except InputError as error:
        return Margin(nu, flows, rtt, None, None, str(error).removeprefix("error: fluid model: "))
    return Margin(nu, flows, rtt, point, varied.margins())
