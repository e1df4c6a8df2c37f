"""Formulas of queues with Poisson arrivals. Times in seconds, rates in packets a second.

Waiting times are from the arrival until transmission begins, as `sojourn_mean` of a queue is;
queues are the packets that wait, without that in transmission, as `backlog_packets_mean`. The
sources are

- L. Kleinrock, "Queueing Systems", volumes 1 (1975) and 2 (1976),
- A. Cobham, "Priority assignment in waiting line problems", Operations Research 2, 1954,
- A. K. Erlang, "Solution of some problems in the theory of probabilities of significance in
  automatic telephone exchanges", 1917.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from spillgate.errors import InputError
from spillgate.estimates.service import Service

Stream = tuple[float, Service]
"""Packets a second, and how long each takes."""


def _check(name: str, value: float, ok: bool, valid: str) -> None:  # noqa: FBT001
    if not (math.isfinite(value) and ok):
        msg = f"error: estimate: {name}: {value!r}; valid is {valid}"
        raise InputError(msg)


def load(streams: Sequence[Stream]) -> float:
    """The share of its time in which a line sends: sum of rate times mean."""
    return sum(rate * service.mean for rate, service in streams)


def residual(streams: Sequence[Stream]) -> float:
    """What an arrival finds in transmission, W0: half the sum of rate times second moment."""
    return sum(rate * service.moment(2) for rate, service in streams) / 2


def mg1_wait(rate: float, service: Service) -> float:
    """Mean wait of M/G/1: W = rate E S² / (2 (1 - rho)) (Pollaczek 1930, Khinchine 1932).

    Of constant times (M/D/1) it is rho S / (2 (1 - rho)), of exponential ones (M/M/1)
    rho S / (1 - rho) (Kleinrock 1, chapter 5).

    Raises:
        InputError: If the load is not below 1.
    """
    rho = load([(rate, service)])
    _check("load", rho, 0 <= rho < 1, "0 to below 1")
    return residual([(rate, service)]) / (1 - rho)


def cobham_waits(classes: Sequence[Stream]) -> list[float]:
    """Mean waits of M/G/1 with non-preemptive priority, first class first.

    W_k = W0 / ((1 - s_(k-1)) (1 - s_k)) with s_k = rho_1 + .. + rho_k and W0 of all classes: a
    packet of any class that is in transmission is finished (Cobham 1954; Kleinrock 2, section
    3.3).

    Raises:
        InputError: If the load is not below 1.
    """
    rho = load(classes)
    _check("load", rho, 0 <= rho < 1, "0 to below 1")
    waits, before, found = residual(classes), 0.0, []
    for stream in classes:
        after = before + load([stream])
        found.append(waits / ((1 - before) * (1 - after)))
        before = after
    return found


def conserved(classes: Sequence[Stream]) -> float:
    """Kleinrock's conservation law: the sum of rho_i W_i, in seconds.

    It is rho W0 / (1 - rho) in whatever order a line that never idles sends the packets of the
    classes, as long as the order does not look at lengths within a class (Kleinrock 2, section
    3.4).

    Raises:
        InputError: If the load is not below 1.
    """
    rho = load(classes)
    _check("load", rho, 0 <= rho < 1, "0 to below 1")
    return rho * residual(classes) / (1 - rho)


def settling(rate: float, service: Service, room: float = math.inf) -> float:
    """About the time in seconds in which a queue forgets that it began empty.

    With the variance v = rate E S² of the work that comes in a second it is v / (1 - rho)²
    (Kleinrock 2, chapter 2, on diffusion), from a load of 1 on beside the time until the queue is
    full, and never more than a limit of `room` seconds of work takes to be crossed by chance,
    room² / v. Infinite without a limit from a load of 1 on.
    """
    rho, spread = rate * service.mean, rate * service.moment(2)
    full = room / (rho - 1) if rho > 1 else 0.0
    drift = math.inf if rho == 1 else spread / (1 - rho) ** 2 + full
    return min(drift, room**2 / spread)


def overflow(rate: float, service: Service, seconds: float) -> float:
    """What the probability that more than `seconds` of work wait in M/G/1 is at most.

    exp(-theta x) with theta > 0 so that rate (E exp(theta S) - 1) = theta: the inequality of
    Lundberg and Kingman. 1 from a load of 1 on.
    """
    if rate * service.mean >= 1:
        return 1.0

    def excess(theta: float) -> float:
        return rate * (service.raised(theta) - 1) - theta

    high = 1 / service.mean
    while excess(high) < 0:
        high *= 2
    low = 0.0
    for _ in range(60):
        middle = (low + high) / 2
        if excess(middle) < 0:
            low = middle
        else:
            high = middle
    return math.exp(-min(low * seconds, 700.0))


@dataclass(frozen=True)
class Limited:
    """M/G/1/K in the long run.

    Attributes:
        loss: The probability that an arrival is lost.
        wait: Mean wait of those that are not, in seconds.
        queue: Packets that wait on average, without that in transmission.
        busy: The share of time in which the line sends.
    """

    loss: float
    wait: float
    queue: float
    busy: float


_STEPS = 3_000_000
"""More terms than these would take seconds."""


_NOTHING = 1e-15
"""Probabilities below it are rounding."""


def mg1k(rate: float, service: Service, places: int) -> Limited | None:
    """M/G/1/K: K places, that of the packet in transmission included.

    The probabilities that a departing packet leaves j behind follow from
    a_0 q_(j+1) = q_0 P(A > j) + sum over i = 1 .. j of q_i P(A > j + 1 - i), with A the arrivals
    in a transmission and a_0 = P(A = 0): in the long run as many departures fall below a level
    as arrivals rise above it (Kleinrock 1, section 5.6). They are those of M/G/1 up to a factor.
    With q_0 + .. + q_(K-1) = 1 the time averages are q_j / (q_0 + rho) for j < K, and an arrival
    is lost with 1 - 1 / (q_0 + rho) (J. Keilson, "The ergodic queue length distribution for
    queueing systems with finite capacity", J. Royal Statistical Society B 28, 1966). All terms
    are positive, so that nothing cancels. M/M/1/K and M/D/1/K are cases of it.

    Args:
        rate: Packets a second, above 0.
        service: How long each takes.
        places: K, at least 1.

    Returns:
        What it comes to; none if it has too many terms to be computed at once.

    Raises:
        InputError: If a parameter is out of range.
    """
    _check("rate", rate, rate > 0, "above 0")
    _check("places", places, places >= 1, "at least 1")
    rho = rate * service.mean
    above = _tails(rate, service, places)
    if places * len(above) > _STEPS and rho > 0.999:
        return None
    none = service.counts(rate, 0)[0]
    if none < 1e-250:
        return None
    q, total = [1.0], 1.0
    for j in range(places - 1):
        first = above[j] if j < len(above) else 0.0
        window = range(max(1, j + 2 - len(above)), j + 1)
        nxt = (q[0] * first + sum(q[i] * above[j + 1 - i] for i in window)) / none
        q.append(nxt)
        total += nxt
        if nxt > 1e200:
            q, total = [x / nxt for x in q], total / nxt
        if rho < 1 and nxt < 1e-17 * total * (1 - rho):
            break
    q = [x / total for x in q]
    norm = q[0] + rho
    # Of few losses the difference of 1 would be all rounding.
    loss = max(1 - 1 / norm, 0.0)
    if rho < 1 and len(q) < places:
        loss = 0.0
    busy = 1 - q[0] / norm
    within = sum(j * x for j, x in enumerate(q)) / norm + places * loss
    queue = max(within - busy, 0.0)
    return Limited(loss, queue / (rate * (1 - loss)), queue, busy)


def _tails(rate: float, service: Service, places: int) -> list[float]:
    """P(A > 0), P(A > 1), .. until they are nothing, at most to the places."""
    n = 32 + int(4 * rate * service.mean)
    while (counts := service.counts(rate, n))[-1] > _NOTHING:
        n *= 2
    # From the end, so that small ones are not what is left of 1.
    sums, total = [], 0.0
    for p in reversed(counts):
        total += p if p > _NOTHING else 0.0
        if total > 0:
            sums.append(total)
    return sums[-2::-1][:places] or [0.0]


def erlang_b(erlangs: float, circuits: int) -> float:
    """Erlang's loss formula: the share of calls that find all circuits busy.

    B(c) = a B(c - 1) / (c + a B(c - 1)), B(0) = 1, for Poisson arrivals of calls that are lost
    if refused; how long calls last matters by its mean only (Erlang 1917; Kleinrock 1, section
    3.6).

    Args:
        erlangs: Calls that would be open without a limit: rate times mean length, at least 0.
        circuits: How many can be open, at least 0.

    Raises:
        InputError: If a parameter is out of range.
    """
    _check("erlangs", erlangs, erlangs >= 0, "at least 0")
    _check("circuits", circuits, circuits >= 0, "at least 0")
    blocked = 1.0
    for c in range(1, circuits + 1):
        blocked = erlangs * blocked / (c + erlangs * blocked)
    return blocked


def erlang_c(erlangs: float, circuits: int) -> float:
    """Erlang's delay formula: the share of calls that wait, if none is lost.

    C = c B / (c - a (1 - B)): Poisson arrivals, exponential lengths (Kleinrock 1, section 3.5).

    Args:
        erlangs: Offered calls, from 0 to below `circuits`.
        circuits: How many can be open, at least 1.

    Raises:
        InputError: If a parameter is out of range.
    """
    _check("circuits", circuits, circuits >= 1, "at least 1")
    _check("erlangs", erlangs, 0 <= erlangs < circuits, f"0 to below {circuits} circuits")
    blocked = erlang_b(erlangs, circuits)
    return circuits * blocked / (circuits - erlangs * (1 - blocked))


def erlangs_for(circuits: int, blocked: float) -> float:
    """The offered erlangs of which so large a share is blocked: the inverse of `erlang_b`.

    Args:
        circuits: How many calls can be open, at least 1.
        blocked: The share, between 0 and 1.

    Raises:
        InputError: If a parameter is out of range.
    """
    _check("circuits", circuits, circuits >= 1, "at least 1")
    _check("blocked", blocked, 0 < blocked < 1, "between 0 and 1")
    low, high = 0.0, float(circuits)
    while erlang_b(high, circuits) < blocked:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        if erlang_b(middle, circuits) < blocked:
            low = middle
        else:
            high = middle
    return (low + high) / 2
