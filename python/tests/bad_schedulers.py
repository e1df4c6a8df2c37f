"""Schedulers that do what none may, each with what is said of it."""

from own_schedulers import Fifo

from spillgate.own import DROP, FULL, MARK


class Bad(Fifo):
    """A FIFO whose hooks can be made to go wrong once many packets have come."""

    def __init__(self, limit=1000):
        super().__init__(limit)
        self.came, self.gone = 0, []

    def enqueue(self, packet, queue):
        self.came += 1
        return super().enqueue(packet, queue)

    def dequeue(self, queue):
        packet = super().dequeue(queue)
        self.gone.append(packet)
        return self.wrong(packet, queue) if self.came > 300 else packet

    def wrong(self, packet, queue):
        return packet


class SendsTwice(Bad):
    def wrong(self, packet, queue):
        return self.gone[0]


class SendsDropped(Bad):
    def wrong(self, packet, queue):
        queue.drop(packet)
        return packet


class SendsNonsense(Bad):
    def wrong(self, packet, queue):
        return 3


class SendsNothing(Bad):
    def wrong(self, packet, queue):
        self.waiting.appendleft(packet)
        return


class SendsAPair(Bad):
    def wrong(self, packet, queue):
        return packet, "drop"


class MarksWhatCannotBe(Bad):
    def wrong(self, packet, queue):
        return packet, MARK


class NeverWakes(SendsNothing):
    def next_wake(self, queue):
        return None


class Loses(Bad):
    """It forgets packets, and says how many it knows of."""

    def wrong(self, packet, queue):
        self.waiting.clear()
        return


class DropsWhatHasGone(Bad):
    def wrong(self, packet, queue):
        queue.drop(self.gone[0])
        return packet


class DropsNonsense(Bad):
    def wrong(self, packet, queue):
        queue.drop("a packet")


class DropsForNoReason(Bad):
    def wrong(self, packet, queue):
        queue.drop(packet, "boredom")


class DropsAndRefuses(Fifo):
    def enqueue(self, packet, queue):
        queue.drop(packet)
        return FULL


class TakesNonsense(Fifo):
    def enqueue(self, packet, queue):
        return True


class SendsWhatItRefused(Fifo):
    def enqueue(self, packet, queue):
        if packet.number % 10 == 9:
            self.waiting.append(packet)
            return DROP
        return super().enqueue(packet, queue)


class DropsFromAnEmptyQueue(Fifo):
    kept = None

    def enqueue(self, packet, queue):
        if self.kept is not None and queue.packets == 0:
            queue.drop(self.kept)
        self.kept = packet
        return super().enqueue(packet, queue)


def waking(answer):
    class Wakes(SendsNothing):
        def next_wake(self, queue):
            return answer

    return Wakes


MISTAKES = [
    (SendsTwice, ["returned <Packet 0", "which has been sent", "that wait"]),
    (SendsDropped, ["returned <Packet", "which has been dropped"]),
    (SendsNonsense, ["returned 3, which is no packet", "or None"]),
    (SendsAPair, ["returned (<Packet", "'drop'), which is no packet"]),
    (MarksWhatCannotBe, ["marked <Packet", "not capable of ECN", "queue.drop"]),
    (
        SendsNothing,
        [
            "returned None at ",
            "it has no next_wake",
            "packets that it took",
            "wait; it returns",
        ],
    ),
    (NeverWakes, ["returned None at ", "next_wake returned None"]),
    (Loses, ["__len__ of the scheduler `mine` at `wan`", "returned 0, but of ", " wait"]),
    (DropsWhatHasGone, ["dropped <Packet 0", "which has been sent", "it drops packets"]),
    (DropsNonsense, ["dropped 'a packet', which is no packet"]),
    (DropsForNoReason, ["for 'boredom'; a reason is", '"full"']),
    (DropsAndRefuses, ["dropped <Packet 0", "and returned 'full'; it does one of both"]),
    (TakesNonsense, ["enqueue of", "returned True; it returns", '"pass" or None']),
    (SendsWhatItRefused, ["returned <Packet 9 ", "which was refused"]),
    (DropsFromAnEmptyQueue, ["dropped <Packet", "which has been sent"]),
    (waking(0), ["next_wake of", "returned 0 at ", "it returns a later time"]),
    (waking(float("nan")), ["next_wake of", "returned nan; it returns a time in seconds"]),
    (waking(float("inf")), ["next_wake of", "returned inf; it returns a time in seconds"]),
    (waking("soon"), ["next_wake of", "returned 'soon'; it returns a time in seconds"]),
]
"""Classes, and texts of the error."""
