"""Writes meters.txt: colors by RFC 2697 and RFC 2698, with exact fractions.

The model knows nothing of the Rust code: it follows the token count of the RFCs' sections 2 and 3,
updated at each arrival. `python3 meters.py > meters.txt`.
"""

import random
from fractions import Fraction

GREEN, YELLOW, RED = "green", "yellow", "red"
DSCP = {GREEN: "cs1", YELLOW: "cs2", RED: "cs3"}


class SingleRate:
    """RFC 2697: CIR in B/s, CBS and EBS in bytes."""

    def __init__(self, cir, cbs, ebs):
        self.cir, self.cbs, self.ebs = cir, cbs, ebs
        self.tc, self.te, self.at = Fraction(cbs), Fraction(ebs), Fraction(0)

    def color(self, at, size, before):
        tokens = (at - self.at) * self.cir
        self.at = at
        to_c = min(tokens, self.cbs - self.tc)
        self.tc += to_c
        self.te = min(Fraction(self.ebs), self.te + tokens - to_c)
        if before == GREEN and self.tc - size >= 0:
            self.tc -= size
            return GREEN
        if before in (GREEN, YELLOW) and self.te - size >= 0:
            self.te -= size
            return YELLOW
        return RED


class TwoRate:
    """RFC 2698: CIR and PIR in B/s, CBS and PBS in bytes."""

    def __init__(self, cir, cbs, pir, pbs):
        self.cir, self.cbs, self.pir, self.pbs = cir, cbs, pir, pbs
        self.tc, self.tp, self.at = Fraction(cbs), Fraction(pbs), Fraction(0)

    def color(self, at, size, before):
        self.tc = min(Fraction(self.cbs), self.tc + (at - self.at) * self.cir)
        self.tp = min(Fraction(self.pbs), self.tp + (at - self.at) * self.pir)
        self.at = at
        if before == RED or self.tp - size < 0:
            return RED
        if before == YELLOW or self.tc - size < 0:
            self.tp -= size
            return YELLOW
        self.tp -= size
        self.tc -= size
        return GREEN


def write(name, spec, meter, aware, seed, count=60, gap=4):
    rng = random.Random(seed)
    print(f"\ncase {name}\npolice {{{spec}}}")
    ms = 0
    for _ in range(count):
        ms += rng.choice([0, 0, 1, gap, 4 * gap])
        size = rng.choice([40, 64, 200, 576, 1500])
        before = rng.choice([GREEN, GREEN, YELLOW, RED]) if aware else GREEN
        color = meter.color(Fraction(ms, 1000), size, before)
        came = f" {DSCP[before]}" if aware else ""
        print(f"packet {ms / 1000} {size}{came} {color}")


COLORS = '"conform_color": {"dscp": "cs1"}, "exceed_color": {"dscp": "cs2"}, '
ACTIONS = ", ".join(
    f'"{outcome}": {{"set-dscp": "{dscp}"}}'
    for outcome, dscp in (("conform", "cs1"), ("exceed", "cs2"), ("violate", "cs3"))
)

print("# Colors of packets; written by meters.py. Times in seconds, sizes in bytes.")
SINGLE = '"rate": "400 kb/s", "burst": "3000 B", "excess_burst": "5000 B", '
TWO = '"rate": "400 kb/s", "burst": "3000 B", "peak_rate": "800 kb/s", "excess_burst": "4000 B", '
write("RFC 2697, color-blind", SINGLE + ACTIONS, SingleRate(50_000, 3000, 5000), False, 1)
write("RFC 2697, color-aware", SINGLE + COLORS + ACTIONS, SingleRate(50_000, 3000, 5000), True, 2)
write(
    "RFC 2697 without excess burst",
    SINGLE.replace("5000 B", "0 B") + ACTIONS,
    SingleRate(50_000, 3000, 0),
    False,
    3,
)
write("RFC 2698, color-blind", TWO + ACTIONS, TwoRate(50_000, 3000, 100_000, 4000), False, 4)
write(
    "RFC 2698, color-aware",
    TWO + COLORS + ACTIONS,
    TwoRate(50_000, 3000, 100_000, 4000),
    True,
    5,
)
# 7 b/s: a byte takes 8/7 s, which no whole number of picoseconds is. The default bursts: 1500 B.
write(
    "RFC 2698 at an awkward rate",
    '"rate": "7 b/s", "peak_rate": "4011 b/s", ' + ACTIONS,
    TwoRate(Fraction(7, 8), 1500, Fraction(4011, 8), 1500),
    False,
    6,
    gap=400,
)
# The default excess burst is the committed burst; here both are 250 ms at the rate.
write(
    "defaults of RFC 2697",
    '"rate": "80 kb/s", ' + ACTIONS,
    SingleRate(10_000, 2500, 2500),
    False,
    7,
    gap=20,
)
