"""Laws of active queue management as the fluid model needs them.

Two families. A curve (RED, DSRED) gives the drop probability of the averaged measure x, with
dx/dt = K (m - x) and K = -ln(1 - w) C (Misra, Gong and Towsley 2000, from the average of one
sample a packet). An integral law (PI, PIE) moves the probability itself, dp/dt = Ki (m - m_ref) +
Kp dm/dt. The measure m is a queue length in packets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from spillgate.errors import InputError

Spread: TypeAlias = Literal["none", "per-packet", "per-gap"]
"""How gaps between drops are spread, in the words of a scenario's RED."""


def require(ok: bool, name: str, found: object, valid: str) -> None:  # noqa: FBT001
    """Raises `InputError` unless a parameter is valid."""
    if not ok:
        msg = f"error: fluid model: {name}: {found!r}: must be {valid}"
        raise InputError(msg)


def finite(name: str, value: float, low: float, high: float = math.inf) -> None:
    """Raises `InputError` unless a number lies above `low` and not above `high`."""
    ok = math.isfinite(value) and low < value <= high
    bounds = f"above {low:g}" + ("" if math.isinf(high) else f" and at most {high:g}")
    require(ok, name, value, f"a finite number {bounds}")


def _thresholds(low: float, high: float, weight: float) -> None:
    require(math.isfinite(low) and low >= 0, "min_th", low, "a finite number, at least 0")
    finite("max_th", high, low)
    require(0 < weight < 1, "weight", weight, "above 0 and below 1")


class Curve:
    """A law by which the averaged measure decides; the base of those of one's own.

    Attributes:
        weight: Weight of one sample in the average, above 0, below 1; one sample a packet.
    """

    weight: float

    def probability(self, x: float) -> float:
        """The share of packets that is dropped or marked at an average of `x` packets."""
        raise NotImplementedError

    def slope(self, x: float) -> float:
        """Its derivative, per packet; at a corner that of the side above."""
        raise NotImplementedError

    def corners(self) -> tuple[float, ...]:
        """The averages at which the curve changes its law, ascending; 1 is reached at the last."""
        raise NotImplementedError

    def pole(self, capacity: float) -> float:
        """K of the average in 1/s, at so many samples a second."""
        return -math.log1p(-self.weight) * capacity


class Integral:
    """A law that moves the probability until the measure is at its reference."""

    def reference(self, capacity: float) -> float:
        """The measure that it steers to, in packets."""
        raise NotImplementedError

    def gains(self, p: float, capacity: float) -> tuple[float, float]:
        """Ki per packet and second, and Kp per packet, at a probability."""
        raise NotImplementedError


def _dropped(p: float, spread: Spread, *, wait: bool) -> float:
    """The share of packets that is dropped at a constant p_b, by the mean of the gaps.

    With n = 1/p_b the gaps are uniform over 1 to n - 1 (`per-packet`), 1 to n (`per-gap`), with
    `wait` n to 2n - 1 and n + 1 to 2n, or geometric with mean n (`none`).
    """
    if p <= 0.0 or spread == "none":
        return max(p, 0.0)
    if spread == "per-packet":
        return 2 * p / (3 - p) if wait else min(1.0, 2 * p)
    return 2 * p / (3 + p) if wait else 2 * p / (1 + p)


def _dropped_slope(p: float, spread: Spread, *, wait: bool) -> float:
    if spread == "none":
        return 1.0
    if spread == "per-packet":
        return 6 / (3 - p) ** 2 if wait else (2.0 if p < 0.5 else 0.0)
    return 6 / (3 + p) ** 2 if wait else 2 / (1 + p) ** 2


def basic_of(dropped: float, spread: Spread, *, wait: bool) -> float:
    """The p_b at which this share of packets is dropped, above 0 and at most 1."""
    if spread == "none":
        return dropped
    if spread == "per-packet":
        return 3 * dropped / (2 + dropped) if wait else dropped / 2
    return 3 * dropped / (2 - dropped) if wait else dropped / (2 - dropped)


@dataclass(frozen=True)
class Red(Curve):
    """Random early detection (Floyd and Jacobson 1993).

    Attributes:
        min_th: Average in packets from which on packets are dropped, at least 0.
        max_th: Average in packets at which the probability is `max_p`, above `min_th`.
        max_p: That probability, above 0, at most 1.
        weight: Weight of one sample in the average, above 0, below 1; one sample a packet.
        gentle: The probability rises to 1 between `max_th` and twice that, instead of jumping.
        spread: How gaps between drops are spread, which decides how many are dropped at a p_b:
            `none` exactly p_b, as in the published model; `per-packet` twice that (1993, figure
            2); `per-gap` (figure 17; Linux).
        wait: Gaps are longer by 1/p_b packets (ns-2).
        curve: `linear`, or `quadratic` for nonlinear RED, which rises to 1.5 `max_p`.
    """

    min_th: float
    max_th: float
    max_p: float
    weight: float
    gentle: bool = True
    spread: Spread = "none"
    wait: bool = False
    curve: Literal["linear", "quadratic"] = "linear"

    def __post_init__(self) -> None:
        """Raises `InputError` if a parameter is out of range."""
        _thresholds(self.min_th, self.max_th, self.weight)
        require(self.curve in ("linear", "quadratic"), "curve", self.curve, "linear or quadratic")
        finite("max_p", self.max_p, 0.0, 1.0 if self.curve == "linear" else 2 / 3)
        kinds = ("none", "per-packet", "per-gap")
        require(self.spread in kinds, "spread", self.spread, " or ".join(kinds))
        ok = not (self.wait and self.spread == "none")
        require(ok, "wait", self.wait, "false where no gaps are spread")

    def _basic(self, x: float) -> tuple[float, float]:
        """p_b and its slope."""
        if x < self.min_th:
            return 0.0, 0.0
        steep = self.curve == "quadratic"
        highest = 1.5 * self.max_p if steep else self.max_p
        if x < self.max_th:
            slope = highest / (self.max_th - self.min_th)
            part = (x - self.min_th) / (self.max_th - self.min_th)
            return highest * part**2 if steep else slope * (x - self.min_th), (
                2 * slope * part if steep else slope
            )
        if self.gentle and x < 2 * self.max_th:
            slope = (1 - highest) / self.max_th
            return highest + slope * (x - self.max_th), slope
        return 1.0, 0.0

    def probability(self, x: float) -> float:
        """The share of packets that is dropped or marked at an average of `x` packets."""
        p = self._basic(x)[0]
        return 1.0 if p >= 1 else _dropped(p, self.spread, wait=self.wait)

    def slope(self, x: float) -> float:
        """Its derivative, per packet; at a corner that of the side above."""
        p, slope = self._basic(x)
        return slope * _dropped_slope(p, self.spread, wait=self.wait)

    def corners(self) -> tuple[float, ...]:
        """The averages at which the curve changes its law, ascending; 1 is reached at the last."""
        end = (2 * self.max_th,) if self.gentle else ()
        return (self.min_th, self.max_th, *end)


@dataclass(frozen=True)
class Dsred(Curve):
    """Double-slope RED (Zheng and Atiquzzaman 2001).

    Attributes:
        min_th: Lower threshold K_l in packets, at least 0.
        max_th: Upper threshold K_h in packets, from which on all is dropped.
        gamma: 1 - gamma is the probability in the middle; 0 to 1.
        weight: Weight of one sample in the average, above 0, below 1.
        spread: Whether gaps between drops are spread as RED's figure 2 does.
    """

    min_th: float = 6.0
    max_th: float = 20.0
    gamma: float = 0.96
    weight: float = 0.07
    spread: bool = False

    def __post_init__(self) -> None:
        """Raises `InputError` if a parameter is out of range."""
        _thresholds(self.min_th, self.max_th, self.weight)
        require(0 <= self.gamma <= 1, "gamma", self.gamma, "0 to 1")

    @property
    def _gaps(self) -> Spread:
        return "per-packet" if self.spread else "none"

    def _basic(self, x: float) -> tuple[float, float]:
        width = self.max_th - self.min_th
        middle = self.min_th + width / 2
        if x < self.min_th:
            return 0.0, 0.0
        if x < middle:
            slope = 2 * (1 - self.gamma) / width
            return slope * (x - self.min_th), slope
        if x < self.max_th:
            slope = 2 * self.gamma / width
            return 1 - self.gamma + slope * (x - middle), slope
        return 1.0, 0.0

    def probability(self, x: float) -> float:
        """The share of packets that is dropped or marked at an average of `x` packets."""
        p = self._basic(x)[0]
        return 1.0 if p >= 1 else _dropped(p, self._gaps, wait=False)

    def slope(self, x: float) -> float:
        """Its derivative, per packet; at a corner that of the side above."""
        p, slope = self._basic(x)
        return slope * _dropped_slope(p, self._gaps, wait=False)

    def corners(self) -> tuple[float, ...]:
        """The averages at which the curve changes its law, ascending; 1 is reached at the last."""
        return (self.min_th, (self.min_th + self.max_th) / 2, self.max_th)


@dataclass(frozen=True)
class Pi(Integral):
    """The proportional-integral controller of Hollot and others (INFOCOM 2001).

    At each sample p ← p + a (q - ref) - b (q_old - ref). Its continuous form is
    K (s/z + 1) / s with K = (a - b) f and K/z = (a + b) / 2, which the bilinear transformation
    takes to a and b.

    Attributes:
        a: Gain of the queue at this sample, per packet.
        b: Gain of the queue at the last one, above 0, below `a`.
        frequency: Samples a second.
        target: The reference queue in packets.
    """

    a: float = 1.822e-5
    b: float = 1.816e-5
    frequency: float = 160.0
    target: float = 200.0

    def __post_init__(self) -> None:
        """Raises `InputError` if a parameter is out of range."""
        finite("a", self.a, 0.0)
        finite("b", self.b, 0.0)
        require(self.b < self.a, "b", self.b, f"below a, which is {self.a!r}")
        finite("frequency", self.frequency, 0.0)
        finite("target", self.target, 0.0)

    @classmethod
    def designed(
        cls,
        flows: float,
        capacity: float,
        rtt: float,
        *,
        target: float,
        crossover: float | None = None,
        frequency: float = 160.0,
    ) -> Pi:
        """The published design for at least `flows` and a round trip of at most `rtt`.

        Its zero z = 2N/(R²C) cancels the slow pole of the windows; then a gain of
        K = w |j w R + 1| (2N)² / (RC)³ makes w the crossover frequency.

        Args:
            flows: Fewest connections.
            capacity: Packets a second.
            rtt: Longest round trip in seconds, queueing included.
            target: The reference queue in packets.
            crossover: w in radians a second; z if not given, as in the published example.
            frequency: Samples a second.
        """
        for name, value in (("flows", flows), ("capacity", capacity), ("rtt", rtt)):
            finite(name, value, 0.0)
        z = 2 * flows / (rtt**2 * capacity)
        w = z if crossover is None else crossover
        finite("crossover", w, 0.0)
        gain = w * math.hypot(w * rtt, 1.0) * (2 * flows) ** 2 / (rtt * capacity) ** 3
        half = gain / frequency / 2
        return cls(gain / z + half, gain / z - half, frequency, target)

    def reference(self, capacity: float) -> float:  # noqa: ARG002
        """The measure that it steers to, in packets."""
        return self.target

    def gains(self, p: float, capacity: float) -> tuple[float, float]:  # noqa: ARG002
        """Ki per packet and second, and Kp per packet."""
        return (self.a - self.b) * self.frequency, (self.a + self.b) / 2


PIE_STEPS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
PIE_SCALES = (2048, 512, 128, 32, 8, 2, 1)
"""RFC 8033 §4.2: by what the gains are divided below each probability."""


@dataclass(frozen=True)
class Pie(Integral):
    """PIE (RFC 8033), without burst allowance and de-randomization.

    At each update p ← p + s(p) (alpha (d - target) + beta (d - d_old)) with the delay d = m/C; s
    is 1/2048 for p below 10⁻⁶ up to 1/2 below 0.1 and 1 above. Continuous, by the bilinear
    transformation: Ki = s alpha / (T C) and Kp = s (beta + alpha/2) / C.

    Attributes:
        target: Target delay in seconds.
        update: Seconds between updates.
        alpha: Gain of the distance to the target, per second of delay.
        beta: Gain of the change of the delay, per second of delay.
        scaled: Whether the gains depend on the probability.
    """

    target: float = 0.015
    update: float = 0.015
    alpha: float = 0.125
    beta: float = 1.25
    scaled: bool = True

    def __post_init__(self) -> None:
        """Raises `InputError` if a parameter is out of range."""
        for name in ("target", "update", "alpha", "beta"):
            finite(name, getattr(self, name), 0.0)

    def reference(self, capacity: float) -> float:
        """The measure that it steers to, in packets."""
        return self.target * capacity

    def gains(self, p: float, capacity: float) -> tuple[float, float]:
        """Ki per packet and second, and Kp per packet."""
        s = 1 / capacity
        if self.scaled:
            s /= PIE_SCALES[sum(p >= step for step in PIE_STEPS)]
        return s * self.alpha / self.update, s * (self.beta + self.alpha / 2)


Aqm: TypeAlias = Curve | Integral
"""What a `Model` can have at its queue."""
