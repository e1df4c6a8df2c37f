"""The benchmark scenarios for ns.py.

    python nspy.py CASE SECONDS MEASURE [SEED]

CASE is w or f. ns.py has TCP (Reno, CUBIC, BBR) but no NewReno, so the TCP cases
are left out. One line of JSON goes to standard output.

w: the RED of ns.py has no gentle mode, drops with `max_probability` however long
the average is, spreads no gaps and does not age while the port is idle.
f: the WFQ of ns.py has no limit, and with every packet that waits it gets slower; a
limit on what waits in all stands before it.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

import simpy
from ns.packet.dist_generator import DistPacketGenerator
from ns.port.red_port import REDPort
from ns.scheduler.wfq import WFQServer


class Counter:
    """The end of the way: counts, and stores nothing."""

    def __init__(self) -> None:
        self.delivered = 0

    def put(self, _packet, **_ignored) -> None:
        self.delivered += 1


class Limit:
    """Refuses what arrives while `limit` packets wait in `server`."""

    def __init__(self, server, limit, waiting) -> None:
        self.server, self.limit, self.waiting = server, limit, waiting
        self.dropped = 0
        self.received = 0

    def put(self, packet) -> None:
        self.received += 1
        if self.waiting() >= self.limit:
            self.dropped += 1
        else:
            self.server.put(packet)


class Delay:
    """A link's delay: one event a packet, as in the other simulators."""

    def __init__(self, env, seconds, out) -> None:
        self.env, self.seconds, self.out = env, seconds, out
        self.entered = 0

    def put(self, packet, **_ignored) -> None:
        self.entered += 1
        event = self.env.timeout(self.seconds)
        event.callbacks.append(lambda _event: self.out.put(packet))


def peak_kb() -> int | None:
    """The largest resident memory so far in KiB; None where the system does not say."""
    try:
        with Path("/proc/self/status").open() as status:
            return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        return None


def main() -> int:
    """Run one case."""
    if len(sys.argv) < 4 or sys.argv[1] not in ("w", "f"):
        print("usage: nspy.py w|f SECONDS MEASURE [SEED]", file=sys.stderr)
        return 2
    case, seconds, measure = sys.argv[1], float(sys.argv[2]), sys.argv[3] == "1"
    random.seed(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    env = simpy.Environment()
    counter = Counter()
    if case == "w":
        flows, rate, load = 100, 100e6, 0.98
        entry = port = REDPort(
            env,
            rate,
            max_threshold=75,
            min_threshold=25,
            max_probability=0.1,
            weight_factor=9,  # 2^-9 = 0.00195, the nearest to 0.002
            qlimit=300,
        )
    else:
        flows, rate, load = 1000, 1e9, 1.2
        port = WFQServer(env, rate, [1] * flows)
        entry = Limit(port, 3000, lambda: port.packets_received - wire.entered)
    port.out = wire = Delay(env, 0.010, counter)

    def waiting() -> int:
        """Packets in the queue, without the one that is being sent."""
        if case == "w":
            return len(port.store.items)
        return max(0, port.packets_received - wire.entered - 1)

    per_second = load * rate / (flows * 8000)
    for flow in range(flows):
        source = DistPacketGenerator(
            env, flow, lambda: random.expovariate(per_second), lambda: 1000, flow_id=flow
        )
        source.out = entry
    sampled = []
    if measure:

        def sample():
            while True:
                yield env.timeout(0.001)
                sampled.append(waiting())

        env.process(sample())
    env.run(until=seconds)
    mean = sum(sampled) / len(sampled) if sampled else None
    print(
        json.dumps(
            {
                "peer": "ns.py",
                "case": case,
                "delivered": counter.delivered,
                "arrivals": (entry.received if case == "f" else port.packets_received)
                if measure
                else None,
                "drops": (entry.dropped if case == "f" else port.packets_dropped)
                if measure
                else None,
                "utilization": wire.entered * 8000 / (rate * seconds) if measure else None,
                "mean_queue": mean,
                "seconds": seconds,
                "peak_kb": peak_kb(),
            }
        )
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
