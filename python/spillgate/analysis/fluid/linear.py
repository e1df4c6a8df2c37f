"""The linearized loop: frequency response, margins, roots.

States are the window, the VOQs, the queue and the controller, with one delay R0:
x' = A0 x + A1 x(t - R0), the Jacobian of the equations in `model` at the operating point. Without
a switch and `simplified`, the loop opened at p is

    L(s) = C(s) C²/(2N) e^(-s R0) / ((s + 2N/(R0² C)) (s + 1/R0)),
    C(s) = p'(m0) / (1 + s/K) for RED, Ki/s + Kp for PI and PIE

(Hollot, Misra, Towsley and Gong 2001). With VOQs of lag t that are not the bottleneck the sum of
all queues moves as the queue does there, and the measure is this sum times
(1 + nu t s) / (1 + t s): a weight of 1 hides the input queues from the loop, a lower one delays
what the AQM sees, a higher one leads.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvals
from scipy.optimize import brentq

from spillgate.analysis.fluid.aqm import Curve

if TYPE_CHECKING:
    from spillgate.analysis.fluid.model import Model, OperatingPoint

Array: TypeAlias = NDArray[Any]

_NODES = 40
"""Chebyshev nodes over one delay, enough for roots of |s| R0 up to about half as many."""


@dataclass(frozen=True)
class Margins:
    """How far a loop is from instability.

    Attributes:
        stable: Whether every root of the closed loop is in the left half plane.
        gain: The factor by which the gain can grow; below 1 if the loop is unstable; infinite if
            the phase does not reach -180 degrees.
        phase: Phase margin in degrees; negative if the loop is unstable; infinite if the gain is
            below 1 at every frequency.
        delay: Seconds of further delay that it bears: the phase margin over its frequency.
        gain_crossover: Radians a second at which the gain is 1; NaN if it is nowhere.
        phase_crossover: Radians a second at which the phase is -180 degrees; NaN if it is nowhere.
        root: The root with the largest real part, the upper one of a pair, in 1/s.
        swing: The pair with the largest real part, upper one: its imaginary part is the frequency
            at which the loop swings; NaN if no root is complex.
    """

    stable: bool
    gain: float
    phase: float
    delay: float
    gain_crossover: float
    phase_crossover: float
    root: complex
    swing: complex

    @property
    def damping(self) -> float:
        """Damping ratio of the swing: 1 hardly swings, 0 does forever, negative grows."""
        return -self.swing.real / abs(self.swing)


@dataclass(frozen=True, eq=False)
class Loop:
    """A linearized model.

    Attributes:
        model: What was linearized.
        point: Where.
        a0: Effect of the states on their derivatives, in 1/s.
        a1: Effect of the states one round trip before.
        names: Names of the states: window, inputs, queue, controller, as far as there are.
        integral: Whether the controller integrates, so that the open loop has a pole at 0.
    """

    model: Model
    point: OperatingPoint
    a0: Array
    a1: Array
    names: tuple[str, ...]
    integral: bool
    _drive: Array
    _law: Array

    @classmethod
    def of(cls, model: Model, *, simplified: bool = False) -> Loop:
        """Linearizes a model at its operating point."""
        at = model.operating_point()
        switch, c = model.switch, model.capacity
        idle = at.rate < c
        names = ["window", *(["inputs"] if switch else []), *([] if idle else ["queue"])]
        n = len(names) + 1
        a0, a1, drive, law = (np.zeros(s) for s in ((n, n), (n, n), n, n))
        waits = range(1, n - 1)
        # Windows: a/R - b W W_R p_R / R_R.
        slow = model.increase / (at.window * at.rtt)
        a0[0, 0], a1[0, 0] = (-2 * slow, 0.0) if simplified else (-slow, -slow)
        drive[0] = -model.decrease * at.window**2 / at.rtt
        pull = 0.0 if simplified else model.increase / at.rtt**2 / model.bottleneck
        # The flow N W / R into the first queue.
        flow = np.zeros(n)
        flow[0] = model.flows / at.rtt
        for i in waits:
            a0[0, i], a1[0, i] = -pull, pull
            flow[i] = -at.rate / (at.rtt * model.bottleneck)
        a0[1] += flow
        measure = np.zeros(n)
        measure[n - 2] = 1.0
        if switch:
            lag = switch.lag(at.rate / switch.rate(c), c)
            a0[1, 1] -= 1 / lag
            measure[1] = switch.nu
            if not idle:
                a0[2, 1] += 1 / lag
        # The controller, p = law · states.
        if isinstance(model.aqm, Curve):
            k = model.aqm.pole(c)
            a0[n - 1] = k * measure
            a0[n - 1, n - 1] = -k
            law[n - 1] = model.aqm.slope(at.measure)
        else:
            ki, kp = model.aqm.gains(at.probability, c)
            a0[n - 1] = measure
            law = kp * measure
            law[n - 1] = ki
        integral = not isinstance(model.aqm, Curve)
        closed = a1 + np.outer(drive, law)
        return cls(model, at, a0, closed, (*names, "controller"), integral, drive, law)

    def response(self, omega: Array | float) -> Array:
        """The open loop L(j omega): minus the probability that a probability brings about.

        Args:
            omega: Radians a second, above 0.
        """
        w = np.atleast_1d(np.asarray(omega, dtype=float))
        shift = np.exp(-1j * w * self.point.rtt)
        # Without the feedback, which a1 contains.
        opened = self.a1 - np.outer(self._drive, self._law)
        n = len(self.names)
        system = 1j * w[:, None, None] * np.eye(n) - self.a0 - opened * shift[:, None, None]
        states = np.linalg.solve(system, np.tile(self._drive[:, None], (w.size, 1, 1)))
        found: Array = -shift * (states[:, :, 0] @ self._law)
        return found

    def roots(self) -> Array:
        """Rightmost roots of the closed loop in 1/s, by falling real part.

        Of the generator of the delay equation, discretized on Chebyshev nodes (Breda, Maset and
        Vermiglio 2005).
        """
        n, m, r = len(self.names), _NODES, self.point.rtt
        x = np.cos(np.pi * np.arange(m + 1) / m)
        ends = np.ones(m + 1)
        ends[[0, -1]] = 2.0
        ends *= (-1.0) ** np.arange(m + 1)
        d = np.outer(ends, 1 / ends) / (x[:, None] - x[None, :] + np.eye(m + 1))
        d -= np.diag(d.sum(axis=1))
        big = np.kron(d * 2 / r, np.eye(n))
        big[:n] = 0.0
        big[:n, :n], big[:n, -n:] = self.a0, self.a1
        found = eigvals(big)
        # The discretization has these beside the true ones.
        found = found[abs(found) * r < m / 2]
        ordered: Array = found[np.argsort(-found.real)]
        return ordered

    def _frequencies(self) -> Array:
        """Frequencies that no crossing can hide between, up to a gain of 1/20."""
        r = self.point.rtt
        slowest = float(np.min(abs(np.diag(self.a0))[np.diag(self.a0) != 0]))
        low, high = 1e-3 * min(slowest, 1 / r), 20 / r
        while abs(self.response(low)[0]) < 1 and self.integral:
            low /= 10
        while abs(self.response(high)[0]) > 0.05 and high < 1e5 / r:
            high *= 2
        even = np.arange(low, min(high, 2000 / r), 0.02 / r)
        return np.unique(np.concatenate([np.geomspace(low, high, 2000), even]))

    def margins(self) -> Margins:
        """Gain, phase and delay margins, and the dominant roots."""
        w = self._frequencies()
        response = self.response(w)

        def crossings(values: Array, function: Callable[[complex], float]) -> list[float]:
            change = np.flatnonzero(np.diff(np.signbit(values)))
            return [
                float(brentq(lambda x: function(self.response(x)[0]), w[i], w[i + 1], rtol=1e-12))
                for i in change
            ]

        ones = crossings(abs(response) - 1, lambda z: abs(z) - 1)
        phases = {x: float(np.angle(-self.response(x)[0])) for x in ones}
        gain_at = min(phases, key=lambda x: phases[x], default=math.nan)
        halves = crossings(response.imag, lambda z: z.imag)
        gains = {x: -self.response(x)[0].real for x in halves}
        gains = {x: g for x, g in gains.items() if g > 0}
        phase_at = max(gains, key=lambda x: gains[x], default=math.nan)
        phase = phases.get(gain_at, math.inf)
        roots = self.roots()
        pairs = roots[roots.imag > 1e-9 * abs(roots)]
        root = complex(roots[0])
        return Margins(
            stable=bool(root.real < 0),
            gain=float(1 / gains[phase_at]) if gains else math.inf,
            phase=math.degrees(phase),
            delay=phase / gain_at if phases else math.inf,
            gain_crossover=gain_at,
            phase_crossover=phase_at,
            root=complex(root.real, abs(root.imag)),
            swing=complex(pairs[0]) if pairs.size else complex(math.nan, math.nan),
        )

    def spectrum(self, frequency: Array | float) -> Array:
        """Power spectral density of the output's queue, from the randomness of drops alone.

        Drops are taken as a Poisson process that halves windows of the mean size: white noise of
        p0 C (b W0 / N)² in dW/dt. Of a stable loop; its peak is where a simulated queue swings.

        Args:
            frequency: In hertz, above 0.

        Returns:
            One-sided, in packets² per hertz.
        """
        m, at = self.model, self.point
        w = 2 * np.pi * np.atleast_1d(np.asarray(frequency, dtype=float))
        n = len(self.names)
        shift = np.exp(-1j * w * at.rtt)
        system = 1j * w[:, None, None] * np.eye(n) - self.a0 - self.a1 * shift[:, None, None]
        push = np.zeros((n, 1))
        push[0] = 1.0
        gain = np.linalg.solve(system, np.tile(push, (w.size, 1, 1)))[:, :, 0]
        queue = gain[:, self.names.index("queue")] if "queue" in self.names else 0 * w
        noise = at.probability * at.rate * (m.decrease * at.window / m.flows) ** 2
        density: Array = 2 * noise * abs(queue) ** 2
        return density
