"""RED, CoDel and PIE written as a user of Spillgate writes an AQM."""

import math

from spillgate.own import DROP, FORCED, MARK, PASS

SECOND = 10**12
"""Picoseconds."""

NEVER = 1 << 64
"""Later than any run."""


class Red:
    """Floyd and Jacobson 1993, as `red` with its defaults but for what is given."""

    version = "1"

    def __init__(self, min_th=5, max_th=15, max_p=0.1, weight=0.002, mean_packet=500, ecn=0):
        self.min_th, self.max_th, self.max_p = min_th, max_th, max_p
        self.weight, self.mean_packet, self.ecn = weight, mean_packet, ecn
        self.average, self.count, self.idle_since = 0.0, -1, NEVER

    def on_enqueue(self, packet, queue):
        if queue.packets == 0 and self.idle_since <= queue.now_ps:
            if self.average > 0:
                idle = (queue.now_ps - self.idle_since) / SECOND
                small = idle * (queue.rate / 8 / self.mean_packet)
                self.average *= math.pow(1 - self.weight, small)
            self.idle_since = queue.now_ps
        else:
            self.average += self.weight * (queue.packets - self.average)
        average = self.average
        if average < self.min_th:
            self.count = -1
            return PASS
        if average >= 2 * self.max_th:
            self.count = 0
            return FORCED
        if average < self.max_th:
            p = self.max_p * (average - self.min_th) / (self.max_th - self.min_th)
        else:
            p = self.max_p + (1 - self.max_p) * (average - self.max_th) / self.max_th
        self.count += 1
        x = self.count * p
        p_a = min(p / (1 - x), 1.0) if x < 1 else 1.0
        if queue.random() >= p_a:
            return PASS
        self.count = 0
        return MARK if self.ecn and packet.ecn else DROP

    def on_empty(self, queue):
        self.idle_since = queue.now_ps

    def on_overflow(self, queue):
        self.count = 0


class Codel:
    """RFC 8289, as `codel` with its defaults."""

    version = "1"

    def __init__(self, target=0.005, interval=0.1, max_packet=1514):
        self.target, self.interval = round(target * SECOND), round(interval * SECOND)
        self.max_packet = max_packet
        self.first_above, self.drop_next = NEVER, 0
        self.count = self.last_count = 0
        self.dropping = False
        self.stage, self.at = "first", -1

    def law(self, t):
        return t + int(self.interval / math.sqrt(self.count) + 0.5)

    def is_bad(self, now, waited, behind):
        if waited < self.target or behind <= self.max_packet:
            self.first_above = NEVER
            return False
        if self.first_above == NEVER:
            self.first_above = now + self.interval
            return False
        return now >= self.first_above

    def on_dequeue(self, packet, queue):
        now = queue.now_ps
        bad = self.is_bad(now, now - packet.arrived_ps, queue.bytes)
        if self.stage == "first" and self.dropping:
            self.dropping = bad
        elif self.stage == "dropped":
            self.dropping = bad
            if bad:
                self.drop_next = self.law(self.drop_next)
        elif self.stage == "began":
            grew = self.count - self.last_count
            self.dropping = True
            recent = max(now - self.drop_next, 0) < 16 * self.interval
            self.count = self.last_count = grew if grew > 1 and recent else 1
            self.drop_next = self.law(now)
            self.stage = "first"
            return PASS
        if self.stage == "first" and not self.dropping and bad:
            self.stage = "began"
            return DROP
        if self.dropping and bad and now >= self.drop_next:
            self.count += 1
            self.stage = "dropped"
            return DROP
        self.stage = "first"
        return PASS

    def on_exhausted(self, queue):
        if self.stage == "began":
            # As for the packet behind the first drop, of which there is none.
            grew = self.count - self.last_count
            recent = max(queue.now_ps - self.drop_next, 0) < 16 * self.interval
            self.count = self.last_count = grew if grew > 1 and recent else 1
            self.drop_next = self.law(queue.now_ps)
        self.stage = "first"
        self.first_above, self.dropping = NEVER, False


class Pie:
    """RFC 8033, as `pie` with its defaults."""

    version = "1"

    def __init__(self, target=0.015, update=0.015, alpha=0.125, beta=1.25, max_burst=0.15):
        self.target, self.update = round(target * SECOND), round(update * SECOND)
        self.alpha, self.beta, self.max_burst = alpha, beta, round(max_burst * SECOND)
        self.forget()
        self.next = NEVER

    def forget(self):
        self.p, self.sum, self.delay, self.burst = 0.0, 0.0, 0, self.max_burst

    def is_short(self, delay):
        return delay < self.target // 2

    def step(self, delay):
        d, old, target = delay / SECOND, self.delay / SECOND, self.target / SECOND
        step = self.alpha * (d - target) + self.beta * (d - old)
        for below, by in ((1e-6, 2048), (1e-5, 512), (1e-4, 128), (1e-3, 32), (1e-2, 8), (0.1, 2)):
            if self.p < below:
                step /= by
                break
        else:
            step = min(step, 0.02)
        self.p += step
        if delay == 0 and self.delay == 0:
            self.p *= 0.98
        self.p = min(max(self.p, 0.0), 1.0)
        self.burst = max(self.burst - self.update, 0)
        if self.p == 0:
            self.sum = 0.0
            if self.is_short(delay) and self.is_short(self.delay):
                self.burst = self.max_burst
        self.delay = delay

    def advance(self, now, head):
        while self.next <= now:
            self.step(0 if head is None else max(self.next - head, 0))
            self.next += self.update
            new = (self.p, self.sum, self.delay, self.burst) == (0.0, 0.0, 0, self.max_burst)
            if head is None and new:
                self.next = NEVER

    def on_enqueue(self, packet, queue):
        now = queue.now_ps
        self.advance(now, queue.head_ps)
        if self.next == NEVER:
            self.next = now + self.update
        spared = self.burst > 0 or (self.is_short(self.delay) and self.p < 0.2)
        if spared or queue.bytes < 2 * 1514 + 1:
            return PASS
        self.sum += self.p
        if self.sum < 0.85:
            return PASS
        if self.sum < 8.5 and queue.random() >= self.p:
            return PASS
        self.sum = 0.0
        return DROP

    def on_dequeue(self, packet, queue):
        self.advance(queue.now_ps, packet.arrived_ps)
        return PASS
