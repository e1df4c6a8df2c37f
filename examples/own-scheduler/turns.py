"""A scheduler in Python: flows take turns, as deficit round robin (DRR) has it."""

from collections import deque


class Turns:
    """Deficit round robin by flow, of at most `limit` packets.

    In its turn a flow may send `quantum` bytes more, and keeps what it does not use while it
    waits. A packet that finds no room pushes out the first packet of the longest queue in bytes.
    """

    version = "1"

    def __init__(self, limit=1000, quantum=1514):
        self.limit, self.quantum = limit, quantum
        self.queues = {}
        self.bytes = {}
        self.deficits = {}  # of the flows in the round
        self.round = deque()
        self.in_turn = False  # whether the first flow has got its quantum

    def enqueue(self, packet, queue):
        flow = packet.flow
        if flow not in self.deficits:
            self.deficits[flow] = 0
            self.round.append(flow)
        self.queues.setdefault(flow, deque()).append(packet)
        self.bytes[flow] = self.bytes.get(flow, 0) + packet.bytes
        if queue.packets == self.limit:
            longest = min(self.bytes, key=lambda f: (-self.bytes[f], f))
            queue.drop(self.take(longest))
            if not self.queues[longest]:
                self.deficits[longest] = 0

    def dequeue(self, queue):
        while self.round:
            flow = self.round[0]
            if not self.queues[flow]:  # all were pushed out
                self.leave()
                continue
            if not self.in_turn:
                self.deficits[flow] += self.quantum
                self.in_turn = True
            if self.queues[flow][0].bytes <= self.deficits[flow]:
                packet = self.take(flow)
                self.deficits[flow] -= packet.bytes
                if not self.queues[flow]:
                    self.leave()
                return packet
            self.round.rotate(-1)
            self.in_turn = False
        return None

    def take(self, flow):
        packet = self.queues[flow].popleft()
        self.bytes[flow] -= packet.bytes
        return packet

    def leave(self):
        del self.deficits[self.round.popleft()]
        self.in_turn = False
