"""A run that is stepped through: what happened at a queue, interval by interval.

The run is in a thread of its own. Before the first packet after the end of an interval is judged,
the queue's hook hands over what the interval was and waits for the next action. A queue without
packets asks nobody; such intervals are handed over together, and no action could have changed
them.
"""

from __future__ import annotations

import atexit
import math
import threading
from dataclasses import dataclass, field
from queue import SimpleQueue

from spillgate.errors import InputError
from spillgate.own import DROP, MARK, PASS, Packet, Queue
from spillgate.result import Results
from spillgate.run import Simulation

PS = 10**12
"""Picoseconds in a second."""


@dataclass
class Interval:
    """What happened at the queue in one interval.

    Attributes:
        end: When it ended, in seconds since the start of the run.
        length: Its length in seconds.
        rate: The rate of the queue in b/s.
        delay: How long the first packet had waited at the end, in seconds; 0 without one.
        backlog: Bytes that waited at the end.
        arrivals: Packets that came, and of which flows.
        drops: Packets that were dropped by the action, and of which flows.
        overflows: Packets that the queue's limit refused, and of which flows.
        marks: Packets that were marked.
        arrived: Bytes of those that came.
        departed: Bytes of those that left.
        waits: Of each packet that left its flow, its bytes, and its wait in seconds.
        probability: The probability that was in force.
    """

    end: float
    length: float
    rate: float
    delay: float = 0.0
    backlog: int = 0
    arrivals: list[int] = field(default_factory=list)
    drops: list[int] = field(default_factory=list)
    overflows: list[int] = field(default_factory=list)
    marks: int = 0
    arrived: int = 0
    departed: int = 0
    waits: list[tuple[int, int, float]] = field(default_factory=list)
    probability: float = 0.0


class _Ended(Exception):  # noqa: N818 - it is no error
    """Raised within a hook to end a run that nobody waits for."""


class Bridge:
    """Between the thread of a run and the one that steps through it.

    Attributes:
        interval: The length of an interval in picoseconds.
        steps: How many of them are stepped through.
        probability: With which packets that come are dropped or marked, from now on.
        target: The length of the queue in seconds of its line below which nothing is dropped.
        marking: Whether packets that are capable of ECN are marked in place of a drop.
        ready: What is handed over; None at the end of the run.
        go: What lets the run go on.
        closed: Whether nobody waits for it any more.
        results: What the run gave.
        error: By what it ended, if by an error.
    """

    def __init__(self, interval: int, steps: int) -> None:
        """For a run that has not begun."""
        self.interval, self.steps = interval, steps
        self.probability, self.target, self.marking = 0.0, 0.0, True
        self.ready: SimpleQueue[list[Interval] | None] = SimpleQueue()
        self.go: SimpleQueue[None] = SimpleQueue()
        self.closed = False
        self.results: Results | None = None
        self.error: BaseException | None = None
        self._handed = 0
        self._next = interval
        self._rate = 1.0
        self._owner: object | None = None
        self._last_flow = 0
        self._now = self._new()

    def _new(self) -> Interval:
        of = self.interval / PS
        end = (self._handed + 1) * of
        return Interval(end, of, self._rate, probability=self.probability)

    @property
    def asked(self) -> bool:
        """Whether a packet has come to the agent's queue."""
        return self._owner is not None

    def hooks(self) -> type:
        """The AQM for the run."""
        bridge = self

        class Agent:
            """Asks the environment's agent."""

            def on_enqueue(self, packet: Packet, queue: Queue) -> str:
                """Drops or marks with the probability."""
                return bridge.arrival(self, packet, queue)

            def on_dequeue(self, packet: Packet, queue: Queue) -> str:
                """Counts."""
                return bridge.departure(packet, queue)

            def on_overflow(self, queue: Queue) -> None:
                """Counts."""
                bridge.overflow(queue)

        return Agent

    def arrival(self, who: object, packet: Packet, queue: Queue) -> str:
        """Judges a packet that comes to the queue of `who`."""
        if self._owner is not who:
            self._claim(who, queue)
        if queue.now_ps >= self._next:
            self._cross(queue, queue.head_ps, queue.bytes)
        now = self._now
        flow = packet.flow
        now.arrivals.append(flow)
        now.arrived += packet.bytes
        self._last_flow = flow
        probability = self.probability
        if probability <= 0.0 or queue.random() >= probability:
            return PASS
        if self.target and queue.bytes * 8 < self.target * queue.rate:
            return PASS
        if self.marking and packet.ecn in (1, 2):
            now.marks += 1
            return MARK
        now.drops.append(flow)
        return DROP

    def departure(self, packet: Packet, queue: Queue) -> str:
        """Counts a packet that leaves."""
        if queue.now_ps >= self._next:
            # It waited until now.
            self._cross(queue, packet.arrived_ps, queue.bytes + packet.bytes)
        now = self._now
        size = packet.bytes
        now.departed += size
        now.waits.append((packet.flow, size, (queue.now_ps - packet.arrived_ps) / PS))
        return PASS

    def overflow(self, _: Queue) -> None:
        """Counts a packet that the limit refused."""
        self._now.overflows.append(self._last_flow)

    def _claim(self, who: object, queue: Queue) -> None:
        if self._owner is not None:
            msg = (
                "two queues have the agent: name the port, or give it to one queue, which has no "
                "queue for each flow"
            )
            raise ValueError(msg)
        self._owner, self._rate = who, queue.rate
        self._now.rate = queue.rate

    def _cross(self, queue: Queue, head: int | None, backlog: int) -> None:
        """Hands over all intervals that have ended, and waits for an action."""
        ended = []
        while queue.now_ps >= self._next and self._handed < self.steps:
            now = self._now
            now.backlog = backlog
            if head is not None and head < self._next:
                now.delay = (self._next - head) / PS
            ended.append(now)
            self._handed += 1
            self._next += self.interval
            self._now = self._new()
        if not ended:
            # After the last step the run goes on to its end.
            self._next = 2**63
            return
        self._rate = queue.rate
        if self.closed:
            raise _Ended
        self.ready.put(ended)
        self.go.get()
        if self.closed:
            raise _Ended
        self._now.probability, self._now.rate = self.probability, queue.rate

    def rest(self) -> list[Interval]:
        """After the end of the run: the intervals in which the queue asked nobody."""
        left = []
        while self._handed < self.steps:
            left.append(self._now)
            self._handed += 1
            self._now = self._new()
        return left


class SteppedRun:
    """A run in a thread of its own."""

    def __init__(self, bridge: Bridge, simulation: Simulation) -> None:
        """Begins it."""
        self.bridge = bridge
        self._simulation = simulation
        # What runs must not keep the environment, which may be dropped without being closed.
        self._thread = threading.Thread(target=self._simulate, daemon=True)
        _LIVE.add(self)
        self._thread.start()

    def _simulate(self) -> None:
        """What the thread does."""
        bridge = self.bridge
        try:
            bridge.results = self._simulation.run(series=[], patience=math.inf)
        except BaseException as error:  # noqa: BLE001 - whatever it is, who steps shall see it
            bridge.error = error
        finally:
            _LIVE.discard(self)
            bridge.ready.put(None)

    def end(self) -> None:
        """Ends it; may be called wherever objects are let go, and so waits for nothing."""
        self.bridge.closed = True
        self.bridge.go.put(None)
        self._simulation.stop()

    def close(self) -> None:
        """Ends it, and waits until it has ended."""
        self.end()
        self._thread.join()

    def step(self) -> list[Interval]:
        """Waits for what the queue hands over; at the end of the run for the rest."""
        if not self._thread.is_alive() and self.bridge.ready.empty():
            return self.bridge.rest()
        try:
            handed = self.bridge.ready.get()
        except BaseException:
            # Ctrl-C: nobody would take what is handed over.
            self.end()
            raise
        if handed is not None:
            return handed
        self._thread.join()
        if self.bridge.error is not None:
            raise self.bridge.error
        if not self.bridge.asked:
            msg = (
                "error: no packet came to a queue with the agent\n    hint: `port` puts it at the "
                "port of a link; else the policy of a link has `aqm: {agent: {}}`"
            )
            raise InputError(msg)
        return self.bridge.rest()

    def results(self) -> Results | None:
        """Lets the run go on to its end, after the last step."""
        self.bridge.go.put(None)
        self.step()
        return self.bridge.results


_LIVE: set[SteppedRun] = set()
"""Runs whose threads have not ended."""


@atexit.register
def _end_all() -> None:
    """No thread may need the interpreter once it is gone."""
    for run in list(_LIVE):
        run.close()
