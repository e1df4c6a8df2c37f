"""An AQM in Python: drops what arrives, more often the longer packets wait."""

from spillgate.own import DROP, PASS


class Ramp:
    """Drops with the probability (w - target) / target, w being how long the first packet waits.

    Up to `target` seconds nothing is dropped, from twice that on everything.
    """

    version = "1"

    def __init__(self, target=0.02):
        self.target = target
        self.odds = 0.0

    def on_enqueue(self, packet, queue):
        self.odds = min(max((queue.delay - self.target) / self.target, 0.0), 1.0)
        return DROP if self.odds > 0.0 and queue.random() < self.odds else PASS

    def state(self):
        return {"drop_probability": self.odds}
