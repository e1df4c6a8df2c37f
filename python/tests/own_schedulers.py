"""FIFO, strict priority and a shaper written as a user of Spillgate writes a scheduler."""

from collections import deque

from spillgate.own import FULL


class Fifo:
    """`fifo` with a limit in packets."""

    version = "1"

    def __init__(self, limit=40):
        self.limit, self.waiting = limit, deque()

    def __len__(self):
        return len(self.waiting)

    def enqueue(self, packet, queue):
        if len(self.waiting) == self.limit:
            return FULL
        self.waiting.append(packet)
        return None

    def dequeue(self, queue):
        return self.waiting.popleft() if self.waiting else None


class Priority:
    """Packets of one code point before all others, each kind in a FIFO."""

    version = "1"

    def __init__(self, dscp=46, first=64, others=64):
        self.dscp, self.limits = dscp, (first, others)
        self.queues = deque(), deque()

    def enqueue(self, packet, queue):
        kind = int(packet.dscp != self.dscp)
        if len(self.queues[kind]) == self.limits[kind]:
            return FULL
        self.queues[kind].append(packet)
        return None

    def dequeue(self, queue):
        waiting = next((q for q in self.queues if q), None)
        return waiting.popleft() if waiting else None


class Shaper(Fifo):
    """A FIFO that sends at most so many bytes a second, without a burst."""

    def __init__(self, rate=500_000, limit=40):
        super().__init__(limit)
        self.rate, self.next = rate, 0.0

    def dequeue(self, queue):
        if queue.now < self.next:
            return None
        packet = super().dequeue(queue)
        if packet is not None:
            self.next = max(self.next, queue.now) + packet.bytes / self.rate
        return packet

    def next_wake(self, queue):
        return self.next
