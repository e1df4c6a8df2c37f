"""The equations in time: steps of fixed length with the history that delays need.

Heun's method; the past is interpolated linearly, so the error is of second order in the step.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from spillgate.analysis.fluid.aqm import Curve, finite

if TYPE_CHECKING:
    from spillgate.analysis.fluid.model import Model

Array: TypeAlias = NDArray[Any]
State: TypeAlias = tuple[float, float, float, float]
"""Window, packets in VOQs, packets at the output, the controller's average or probability."""

_STEPS = 40
"""Steps in a round trip, if the step is not given."""


class _Motion:
    """A model under way."""

    def __init__(self, model: Model, state: State, step: float) -> None:
        self.model = model
        self.step = step
        self.states = [state]
        # For what happened a round trip ago: W, p and R at every step.
        self.past = [(state[0], self._probability(state), model.round_trip(state[1] + state[2]))]
        self.curve = isinstance(model.aqm, Curve)

    def _probability(self, state: State) -> float:
        aqm = self.model.aqm
        return aqm.probability(state[3]) if isinstance(aqm, Curve) else state[3]

    def _before(self, steps: float) -> tuple[float, float, float]:
        """W, p and R so many steps after the beginning, the first values before it."""
        if steps <= 0:
            return self.past[0]
        i = min(int(steps), len(self.past) - 1)
        j = min(i + 1, len(self.past) - 1)
        part = steps - i if j > i else 0.0
        (a, b, c), (x, y, z) = self.past[i], self.past[j]
        return a + part * (x - a), b + part * (y - b), c + part * (z - c)

    def _slopes(self, at: float, state: State) -> tuple[State, float]:
        """Derivatives at a time in steps, and the part of arrivals that finds no room."""
        m = self.model
        window, inputs, queue, control = state
        rtt = m.round_trip(inputs + queue)
        old, p, old_rtt = self._before(at - rtt / self.step)
        grow = m.increase / rtt - m.decrease * window * old / old_rtt * p
        if window <= 1 and grow < 0:
            grow = 0.0
        arriving = m.flows * window / rtt
        fill = 0.0
        if m.switch:
            leaving = m.switch.rate(m.capacity) * m.switch.load(inputs)
            fill, arriving = arriving - leaving, leaving
        change, lost = arriving - m.capacity, 0.0
        if queue <= 0 and change < 0:
            change = 0.0
        elif m.limit is not None and queue >= m.limit and change > 0:
            lost, change = change / arriving, 0.0
        measure = queue + m.nu * inputs
        if isinstance(m.aqm, Curve):
            move = m.aqm.pole(m.capacity) * (measure - control)
        else:
            ki, kp = m.aqm.gains(control, m.capacity)
            move = ki * (measure - m.aqm.reference(m.capacity)) + kp * (change + m.nu * fill)
        return (grow, fill, change, move), lost

    def _kept(self, state: State) -> State:
        """A state within what is possible."""
        window, inputs, queue, control = state
        top = math.inf if self.model.limit is None else self.model.limit
        if not self.curve:
            control = min(max(control, 0.0), 1.0)
        return max(window, 1.0), max(inputs, 0.0), min(max(queue, 0.0), top), control

    def run(self, steps: int) -> None:
        """Goes on."""
        h = self.step
        for _ in range(steps):
            now, state = float(len(self.states) - 1), self.states[-1]
            first, _ = self._slopes(now, state)
            guess = self._kept(
                (
                    state[0] + h * first[0],
                    state[1] + h * first[1],
                    state[2] + h * first[2],
                    state[3] + h * first[3],
                )
            )
            second, lost = self._slopes(now + 1, guess)
            h2 = h / 2
            state = self._kept(
                (
                    state[0] + h2 * (first[0] + second[0]),
                    state[1] + h2 * (first[1] + second[1]),
                    state[2] + h2 * (first[2] + second[2]),
                    state[3] + h2 * (first[3] + second[3]),
                )
            )
            self.states.append(state)
            p = self._probability(state)
            rtt = self.model.round_trip(state[1] + state[2])
            self.past.append((state[0], p + lost - p * lost, rtt))


@dataclass(frozen=True, eq=False)
class Trajectory:
    """A solution.

    Attributes:
        time: Seconds from the start, evenly spaced.
        window: Of each connection, in packets.
        input_queue: Sum of the VOQs in packets.
        queue: Of the output, in packets.
        probability: Of drop or mark by the AQM.
    """

    time: Array
    window: Array
    input_queue: Array
    queue: Array
    probability: Array

    @classmethod
    def of(
        cls,
        model: Model,
        duration: float,
        *,
        step: float | None = None,
        window: float = 1.0,
        queue: float = 0.0,
        input_queue: float = 0.0,
        control: float = 0.0,
    ) -> Trajectory:
        """Solves the equations from a state that lasted until then.

        Args:
            model: The model.
            duration: Seconds, above 0.
            step: Seconds; a fortieth of the round trip without queueing if not given.
            window: First window of each connection in packets, at least 1.
            queue: First queue of the output in packets.
            input_queue: First sum of the VOQs in packets.
            control: First average in packets (RED, DSRED) or probability (PI, PIE).

        Raises:
            InputError: If the duration or the step is not above 0, or the solution would have more
                than ten million steps.
        """
        finite("duration", duration, 0.0)
        h = model.rtt / _STEPS if step is None else step
        finite("step", h, 0.0)
        finite("duration / step", duration / h, 0.0, 1e7)
        motion = _Motion(model, (max(window, 1.0), input_queue, queue, control), h)
        motion.run(round(duration / h))
        return cls._of(motion, 0)

    @classmethod
    def _of(cls, motion: _Motion, start: int) -> Trajectory:
        states = np.array(motion.states[start:])
        time = motion.step * np.arange(start, len(motion.states))
        p = np.array([motion._probability(s) for s in motion.states[start:]])  # noqa: SLF001
        return cls(time, states[:, 0], states[:, 1], states[:, 2], p)


@dataclass(frozen=True, eq=False)
class Oscillation:
    """What a small disturbance of the operating point becomes.

    Attributes:
        lasting: Whether it grew into, or stayed, a lasting oscillation; else it died away, and the
            numbers below are of the equilibrium, with `frequency` that of the decaying swing.
        frequency: Of the output's queue, in hertz; NaN if it does not swing.
        low: Least queue of a period, in packets.
        high: Largest queue of a period, in packets.
        mean: Mean queue, in packets.
        trajectory: The solution from the disturbance on.
    """

    lasting: bool
    frequency: float
    low: float
    high: float
    mean: float
    trajectory: Trajectory

    @property
    def amplitude(self) -> float:
        """Half of the difference of the largest and the least queue, in packets."""
        return (self.high - self.low) / 2

    @classmethod
    def of(cls, model: Model) -> Oscillation:
        """Disturbs the operating point by a tenth of its queue and waits for what it becomes.

        The solution is continued in spans of ten swings of the linearized loop until the range of
        the queue changes by less than 0.5 % from span to span, or has fallen to a hundredth of the
        disturbance; for at most a hundred spans.

        Raises:
            InputError: If there is no operating point.
        """
        point, swing = model.operating_point(), model.margins().swing
        queue = max(1.1 * point.queue, point.queue + 1.0)
        curve = isinstance(model.aqm, Curve)
        control = point.measure if curve else point.probability
        h = model.rtt / _STEPS
        motion = _Motion(model, (point.window, point.input_queue, queue, control), h)
        period = 2 * math.pi / swing.imag if swing == swing else 10 * point.rtt
        span = max(1, round(10 * period / h))
        done, last = 0, math.inf
        for _ in range(100):
            motion.run(span)
            queues = [s[2] for s in motion.states[done:]]
            done = len(motion.states) - 1
            extent = max(queues) - min(queues)
            if extent < 0.01 * (queue - point.queue):
                break
            if abs(extent - last) < 0.005 * extent:
                break
            last = extent
        whole = Trajectory._of(motion, 0)  # noqa: SLF001
        if extent < 0.01 * (queue - point.queue):
            frequency = swing.imag / (2 * math.pi)
            return cls(False, frequency, point.queue, point.queue, point.queue, whole)
        return cls._lasting(whole, np.array(queues))

    @classmethod
    def _lasting(cls, whole: Trajectory, queues: Array) -> Oscillation:
        """The oscillation in the last span."""
        step = float(whole.time[1] - whole.time[0])
        level = float(queues.mean())
        above = queues > level
        rises = np.flatnonzero(~above[:-1] & above[1:])
        low, high = float(queues.min()), float(queues.max())
        if rises.size < 2:
            return cls(True, math.nan, low, high, level, whole)
        part = (level - queues[rises]) / (queues[rises + 1] - queues[rises])
        times = (rises + part) * step
        frequency = float((times.size - 1) / (times[-1] - times[0]))
        mean = float(queues[rises[0] + 1 : rises[-1] + 1].mean())
        return cls(True, frequency, low, high, mean, whole)
