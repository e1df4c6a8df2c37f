"""Formulas of TCP in the long run: what a connection gets, shares of a link, buffers.

Loss is the probability that a packet is lost, `per_ack` how many full packets an acknowledgment
covers as far as the growth of the window is concerned (b of the sources).
"""

from __future__ import annotations

import math

from spillgate.estimates.queues import _check


def _ranges(rtt: float, loss: float, per_ack: float = 1) -> None:
    _check("rtt", rtt, rtt > 0, "above 0 s")
    _check("loss", loss, 0 < loss < 1, "between 0 and 1")
    _check("per_ack", per_ack, per_ack >= 1, "at least 1")


def square_root(rtt: float, loss: float, per_ack: float = 1) -> float:
    """The square-root law: sqrt(3 / (2 b p)) / R packets a second.

    Reno and NewReno without timeouts and without a limit of the window, at even losses (M.
    Mathis, J. Semke, J. Mahdavi, T. Ott, "The macroscopic behavior of the TCP congestion
    avoidance algorithm", Computer Communication Review 27(3), 1997).

    Args:
        rtt: R in seconds, above 0.
        loss: p, between 0 and 1.
        per_ack: b, at least 1.

    Raises:
        InputError: If a parameter is out of range.
    """
    _ranges(rtt, loss, per_ack)
    return math.sqrt(3 / (2 * per_ack * loss)) / rtt


def padhye(rtt: float, loss: float, rto: float, window: float, per_ack: float = 2) -> float:
    """PFTK, the full model: packets a second, lost ones and repeated ones included.

    Reno with timeouts and a limit of the window (J. Padhye, V. Firoiu, D. Towsley, J. Kurose,
    "Modeling TCP Reno performance", IEEE/ACM Transactions on Networking 8(2), 2000, section II).

    Args:
        rtt: R in seconds, above 0.
        loss: p, the probability that a packet is lost which is the first of its round, 0 to 1.
        rto: T0, the first timeout in seconds, above 0.
        window: W_m, the largest window in packets, at least 1.
        per_ack: b, at least 1.

    Raises:
        InputError: If a parameter is out of range.
    """
    _ranges(rtt, loss, per_ack)
    _check("rto", rto, rto > 0, "above 0 s")
    _check("window", window, window >= 1, "at least 1 packet")
    p, b = loss, per_ack
    third = (2 + b) / (3 * b)
    free = third + math.sqrt(8 * (1 - p) / (3 * b * p) + third * third)
    w = min(free, window)
    timeout = _timeout(w, p)
    backoff = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    limited = b / 8 * window + (1 - p) / (p * window) + 2
    rounds = b / 2 * free + 1 if free < window else limited
    sent = (1 - p) / p + w + timeout / (1 - p)
    return sent / (rtt * rounds + timeout * rto * backoff / (1 - p))


def _timeout(w: float, p: float) -> float:
    """The probability that a loss in a window ends in a timeout: Q of PFTK."""
    if w <= 3:
        return 1.0
    q = 1 - p
    lost = -math.expm1(w * math.log(q))
    late = float((1 - q**3) * (1 + q**3 * (1 - q ** (w - 3)))) / lost
    return min(1.0, late)


def tfrc(rtt: float, loss: float, rto: float | None = None, per_ack: float = 1) -> float:
    """PFTK as TFRC uses it: packets a second (RFC 5348, section 3.1).

    1 / (R sqrt(2 b p / 3) + t_RTO 3 sqrt(3 b p / 8) p (1 + 32 p²)).

    Args:
        rtt: R in seconds, above 0.
        loss: p, the loss event rate, between 0 and 1.
        rto: t_RTO in seconds; 4 R if not given, as the RFC recommends.
        per_ack: b, at least 1.

    Raises:
        InputError: If a parameter is out of range.
    """
    _ranges(rtt, loss, per_ack)
    waits = 4 * rtt if rto is None else rto
    _check("rto", waits, waits > 0, "above 0 s")
    p, b = loss, per_ack
    slow = waits * 3 * math.sqrt(3 * b * p / 8) * p * (1 + 32 * p * p)
    return 1 / (rtt * math.sqrt(2 * b * p / 3) + slow)


def cubic(rtt: float, loss: float, c: float = 0.4, beta: float = 0.7) -> tuple[float, bool]:
    """CUBIC: packets a second, and whether that is its Reno-friendly region.

    The average window is (C (3 + beta) / (4 (1 - beta)))^(1/4) (R / p)^(3/4) packets (RFC 9438,
    section 5), and at least that of its Reno-friendly region, sqrt(3 / (2 p)) (section 4.3).

    Args:
        rtt: R in seconds, above 0.
        loss: p, the rate of loss events, between 0 and 1.
        c: C, above 0.
        beta: Between 0 and 1.

    Raises:
        InputError: If a parameter is out of range.
    """
    _ranges(rtt, loss)
    _check("c", c, c > 0, "above 0")
    _check("beta", beta, 0 < beta < 1, "between 0 and 1")
    window = (c * (3 + beta) / (4 * (1 - beta))) ** 0.25 * (rtt / loss) ** 0.75
    friendly = math.sqrt(3 / (2 * loss))
    return max(window, friendly) / rtt, friendly >= window


def bbr_share(flows: int, queue: float, capacity: float, rtt: float) -> float:
    """The part of a link that all BBR connections get beside connections that fill its queue.

    Version 1 beside Reno or CUBIC, whatever the number of these: (1 - p) (1 - (q / c + 0.2 s +
    l) / 10 s) with p = 1/2 - 1 / (2 X) - 4 N / q, at least 0, the others' share while BBR does
    not probe, and X the queue's limit in bandwidth-delay products (R. Ware, M. Mukerjee, S.
    Seshan, J. Sherry, "Modeling BBR's interactions with loss-based congestion control", IMC
    2019, equations 9 to 11).

    Args:
        flows: N, the connections with BBR, at least 1.
        queue: q, the limit of the queue in packets, above 0.
        capacity: c in packets a second, above 0.
        rtt: l, the round trip without queueing in seconds, above 0.

    Raises:
        InputError: If a parameter is out of range.
    """
    _check("flows", flows, flows >= 1, "at least 1")
    _check("queue", queue, queue > 0, "above 0 packets")
    _check("capacity", capacity, capacity > 0, "above 0")
    _check("rtt", rtt, rtt > 0, "above 0 s")
    multiple = queue / (capacity * rtt)
    others = max(0.5 - 1 / (2 * multiple) - 4 * flows / queue, 0.0)
    probing = min((queue / capacity + 0.2 + rtt) / 10, 1.0)
    return (1 - others) * (1 - probing)


def buffer(capacity: float, rtt: float, flows: int = 1) -> float:
    """The packets that a queue must hold for a link to be always busy: c R / sqrt(n).

    The bandwidth-delay product for one connection, or several in step (C. Villamizar, C. Song,
    "High performance TCP in ANSNET", 1994); less by the root of n for n that are not (G.
    Appenzeller, I. Keslassy, N. McKeown, "Sizing router buffers", SIGCOMM 2004).

    Args:
        capacity: c in packets a second, above 0.
        rtt: R without queueing in seconds, above 0.
        flows: n, long connections, at least 1.

    Raises:
        InputError: If a parameter is out of range.
    """
    _check("capacity", capacity, capacity > 0, "above 0")
    _check("rtt", rtt, rtt > 0, "above 0 s")
    _check("flows", flows, flows >= 1, "at least 1")
    return capacity * rtt / math.sqrt(flows)
