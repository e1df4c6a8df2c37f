"""The equations of the fluid model and their operating point.

Misra, Gong and Towsley, "Fluid-based analysis of a network of AQM routers supporting TCP flows
with an application to RED", SIGCOMM 2000: N alike connections with window W over a queue q,

    dW/dt = a / R - b W W(t - R) / R(t - R) p(t - R),    R = T + q / C
    dq/dt = N W / R - C  (not below 0 while q = 0)

with a = 1 packet a round trip and b = 1/2. They are means: slow start, timeouts and the share of
dropped packets that is not queued are neglected.

Input queues. A switch with n inputs has a virtual output queue (VOQ) at each for this output, and
serves each at s/n of the line rate, s being the speedup (the fabric of parallel links). The
arrivals, spread evenly over k of the inputs, are packets and not fluid, so VOQs are not empty
although their load r = lambda n / (k s C) is below 1. Each is taken as an M/D/1 queue at every
instant: with y packets it sends at the load that keeps y there, r(y) = y + 1 - sqrt(y² + 1) (from
y = r + r² / (2 (1 - r)); the pointwise stationary approximation of Wang, Tipper and Banerjee,
INFOCOM 1996). With v packets in all VOQs and e = k s C / n,

    dv/dt = N W / R - e r(v / k),    dq/dt = e r(v / k) - C,    R = T + (q + v) / min(C, e)

and the AQM, which drops at the output, judges m = q + nu v (Shrivastav, Mukherjee and Gonnade).
Neglected: bursts of windows, which make VOQs longer than Poisson arrivals do; the blocking of a
crossbar's matching; overflow of VOQs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scipy.optimize import brentq

from spillgate.analysis.fluid.aqm import Aqm, Curve, finite, require
from spillgate.errors import InputError

if TYPE_CHECKING:
    from spillgate.analysis.fluid.linear import Loop, Margins
    from spillgate.analysis.fluid.motion import Oscillation, Trajectory


@dataclass(frozen=True)
class Switch:
    """The input-queued stage in front of the output, and its weight in the congestion measure.

    Attributes:
        ports: Inputs n, at least 1.
        speedup: Speed s of the fabric relative to the lines, at least 1, at most `ports`.
        nu: Weight of the sum of the VOQs in the measure, at least 0.
        inputs: Over how many inputs k the connections are spread; all if not given.
    """

    ports: int
    speedup: float
    nu: float = 0.0
    inputs: int | None = None

    def __post_init__(self) -> None:
        """Raises `InputError` if a parameter is out of range."""
        require(self.ports >= 1, "ports", self.ports, "at least 1")
        ok = 1 <= self.speedup <= self.ports
        require(ok, "speedup", self.speedup, f"1 to the number of ports, {self.ports}")
        ok = math.isfinite(self.nu) and self.nu >= 0
        require(ok, "nu", self.nu, "a finite number, at least 0")
        ok = self.inputs is None or 1 <= self.inputs <= self.ports
        require(ok, "inputs", self.inputs, f"1 to the number of ports, {self.ports}")

    @property
    def active(self) -> int:
        """Inputs with connections."""
        return self.ports if self.inputs is None else self.inputs

    def rate(self, capacity: float) -> float:
        """What the VOQs send at most in all, e, in packets a second."""
        return self.active * self.speedup * capacity / self.ports

    def load(self, packets: float) -> float:
        """The load that keeps so many packets in all VOQs, below 1."""
        y = packets / self.active
        # y + 1 - sqrt(y² + 1) without the difference of large numbers.
        return 2 * y / (y + 1 + math.hypot(y, 1.0))

    def packets(self, load: float) -> float:
        """Packets in all VOQs at a load below 1."""
        return self.active * (load + load * load / (2 * (1 - load)))

    def lag(self, load: float, capacity: float) -> float:
        """Seconds in which the VOQs follow their arrivals: dv / d(packets a second)."""
        slope = 1 + load * (2 - load) / (2 * (1 - load) ** 2)
        return self.active * slope / self.rate(capacity)


@dataclass(frozen=True)
class OperatingPoint:
    """Where the equations stand still.

    Attributes:
        window: W0 in packets.
        probability: p0, of drop or mark.
        queue: q0 of the output in packets.
        input_queue: v0, the sum of the VOQs in packets; 0 without a switch.
        rtt: R0 in seconds, queueing included.
        measure: q0 + nu v0 in packets, what the AQM judges.
        rate: Packets a second that leave: the capacity, or less if the AQM keeps the output empty
            by what waits in VOQs, or VOQs are the bottleneck.
    """

    window: float
    probability: float
    queue: float
    input_queue: float
    rtt: float
    measure: float
    rate: float


@dataclass(frozen=True)
class Model:
    """Connections over one queue.

    Attributes:
        flows: Number of connections N, above 0.
        capacity: Rate C of the link in packets a second.
        rtt: Round trip T in seconds without queueing, above 0.
        aqm: What decides which packets are dropped or marked.
        limit: Most packets that can wait, beyond which arrivals are lost; none for no limit.
        switch: An input-queued stage in front; none for an output-queued node.
        increase: Growth a of a window in packets a round trip: 1; with delayed acknowledgments and
            without byte counting 1/2.
        decrease: Part b of its window that a connection loses with a packet: 1/2.
    """

    flows: float
    capacity: float
    rtt: float
    aqm: Aqm
    limit: float | None = None
    switch: Switch | None = None
    increase: float = 1.0
    decrease: float = 0.5

    def __post_init__(self) -> None:
        """Raises `InputError` if a parameter is out of range."""
        for name in ("flows", "capacity", "rtt", "increase"):
            finite(name, getattr(self, name), 0.0)
        finite("decrease", self.decrease, 0.0, 1.0)
        if self.limit is not None:
            finite("limit", self.limit, 0.0)

    @property
    def nu(self) -> float:
        """Weight of the VOQs in the measure."""
        return self.switch.nu if self.switch else 0.0

    @property
    def bottleneck(self) -> float:
        """The lower of the output's rate and that of all VOQs, in packets a second."""
        return (
            min(self.capacity, self.switch.rate(self.capacity)) if self.switch else self.capacity
        )

    def round_trip(self, waiting: float) -> float:
        """R in seconds with so many packets waiting in all."""
        return self.rtt + waiting / self.bottleneck

    def needed(self, waiting: float, rate: float) -> float:
        """The drop probability at which the windows fill a rate: a (N / (R rate))² / b."""
        window = self.round_trip(waiting) * rate / self.flows
        return self.increase / (self.decrease * window * window)

    def needed_at(self, measure: float) -> float:
        """The drop probability at which the measure, above 0, stays what it is, whatever the AQM.

        Raises:
            InputError: If the VOQs are the bottleneck and are not measured.
        """
        c, switch = self.capacity, self.switch
        if switch is None:
            return self.needed(measure, c)
        load = c / switch.rate(c)
        if load < 1:
            inputs = switch.packets(load)
            if measure >= switch.nu * inputs:
                return self.needed(measure + (1 - switch.nu) * inputs, c)
        if switch.nu == 0:
            raise self._unseen()
        inputs = measure / switch.nu
        return self.needed(inputs, switch.rate(c) * switch.load(inputs))

    def _unseen(self) -> InputError:
        return self._none("the VOQs are the bottleneck, and with nu = 0 the AQM does not see them")

    def operating_point(self) -> OperatingPoint:
        """W0, p0, q0, R0: where nothing moves.

        Raises:
            InputError: If there is none: the AQM's probability jumps over the one that is needed,
                would have to exceed 1, or is reached above the limit of the queue.
        """
        point = self._at_output()
        if point is None:
            point = self._at_input()
        if point.probability >= 1:
            raise self._none(f"the windows would be {point.window:.2g} packets")
        if self.limit is not None and point.queue > self.limit:
            raise self._none(
                f"the queue of {point.queue:.4g} packets is above its limit {self.limit:g}"
            )
        return point

    def _none(self, why: str) -> InputError:
        return InputError(f"error: fluid model: no operating point: {why}")

    def _point(self, queue: float, inputs: float, rate: float) -> OperatingPoint:
        rtt = self.round_trip(queue + inputs)
        return OperatingPoint(
            window=rtt * rate / self.flows,
            probability=self.needed(queue + inputs, rate),
            queue=queue,
            input_queue=inputs,
            rtt=rtt,
            measure=queue + self.nu * inputs,
            rate=rate,
        )

    def _at_output(self) -> OperatingPoint | None:
        """The point at which the output is always busy; none if the AQM drops too much for it."""
        c, inputs = self.capacity, 0.0
        if self.switch:
            load = c / self.switch.rate(c)
            if load >= 1:
                return None
            inputs = self.switch.packets(load)
        held = self.nu * inputs
        if not isinstance(self.aqm, Curve):
            queue = self.aqm.reference(c) - held
            return self._point(queue, inputs, c) if queue > 0 else None
        curve = self.aqm

        def excess(m: float) -> float:
            return curve.probability(m) - self.needed(m - held + inputs, c)

        if excess(held) > 0:
            return None
        return self._point(self._balance(curve, excess, held) - held, inputs, c)

    def _at_input(self) -> OperatingPoint:
        """The point at which the output idles and the VOQs alone make the measure."""
        switch, c = self.switch, self.capacity
        if switch is None or switch.nu == 0:
            raise self._unseen()
        nu, most = switch.nu, switch.rate(c)

        def excess(m: float) -> float:
            return curve.probability(m) - self.needed(m / nu, most * switch.load(m / nu))

        if isinstance(self.aqm, Curve):
            curve = self.aqm
            # At 0 no rate is left, and the probability that it needs is infinite.
            measure = self._balance(curve, excess, 1e-9)
        else:
            measure = self.aqm.reference(c)
        inputs = measure / nu
        return self._point(0.0, inputs, most * switch.load(inputs))

    def _balance(self, curve: Curve, excess: Callable[[float], float], low: float) -> float:
        """The measure at which a rising function of it, not above 0 at `low`, is 0."""
        for end in (x for x in curve.corners() if x > low):
            below = math.nextafter(end, 0.0)
            if excess(below) >= 0:
                return float(brentq(excess, low, below, xtol=1e-12 * end))
            if excess(end) > 0:
                p, top = curve.probability(below), curve.probability(end)
                raise self._none(
                    f"at {end:g} packets the drop probability jumps from {p:.4g} to {top:.4g}, "
                    f"over {p - excess(below):.4g}, which {self.flows:g} connections need"
                )
            low = end
        raise self._none(f"not even a probability of 1 would hold {self.flows:g} connections")

    def loop(self, *, simplified: bool = False) -> Loop:
        """The control loop, linearized at the operating point.

        Args:
            simplified: Without the terms that are small for large windows, as Hollot and others
                have it: W(t - R) for W(t), and no effect of the queue on how fast windows grow.
        """
        from spillgate.analysis.fluid.linear import Loop

        return Loop.of(self, simplified=simplified)

    def margins(self, *, simplified: bool = False) -> Margins:
        """Gain, phase and delay margins and the dominant roots; see `loop`."""
        return self.loop(simplified=simplified).margins()

    def integrate(self, duration: float, **options: float) -> Trajectory:
        """Solves the nonlinear equations; see `Trajectory.of`."""
        from spillgate.analysis.fluid.motion import Trajectory

        return Trajectory.of(self, duration, **options)

    def oscillation(self) -> Oscillation:
        """What becomes of a small disturbance of the operating point; see `Oscillation.of`."""
        from spillgate.analysis.fluid.motion import Oscillation

        return Oscillation.of(self)
