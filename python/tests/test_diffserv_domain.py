"""A DiffServ domain of the configurations of an edge and a core router."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

import pytest

import spillgate

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/diffserv"

# The example's routers between one-way links, so that a scenario can say by itself what arrives.
DOMAIN = """\
schema_version: 1
topology:
  nodes: [gold, lan, edge, core, net]
  links:
    gold: {{from: gold, to: edge, rate: 100 Mb/s, delay: 10 ms, overhead: 14 B{gold}}}
    to-gold: {{from: edge, to: gold, rate: 100 Mb/s, delay: 10 ms, overhead: 14 B}}
    shared: {{from: lan, to: edge, rate: 100 Mb/s, delay: 10 ms, overhead: 14 B{shared}}}
    to-shared: {{from: edge, to: lan, rate: 100 Mb/s, delay: 10 ms, overhead: 14 B}}
    backbone: {{from: edge, to: core, rate: 100 Mb/s, delay: 5 ms, overhead: 14 B{backbone}}}
    back: {{from: core, to: edge, rate: 100 Mb/s, delay: 5 ms}}
    line: {{from: core, to: net, rate: 16 Mb/s, delay: 5 ms{line}}}
    home: {{from: net, to: core, rate: 16 Mb/s, delay: 5 ms}}
{policies}
traffic:
  - flow:
      name: voice
      from: gold
      to: net
      dscp: ef
      source: {{poisson: {{rate: 200 kb/s, packet: 200 B}}}}
  - flow: {{name: gold, count: 3, from: gold, to: net, start_spread: 1 s, tcp: {{profile: linux}}}}
  - flow: {{name: silver, count: 2, from: lan, to: net, src: 10.20.0.1, tcp: {{profile: linux}}}}
  - flow:
      name: bronze
      from: lan
      to: net
      src: 10.30.0.1
      source: {{cbr: {{rate: 5 Mb/s, packet: 700 B}}}}
  - flow: {{name: others, count: 2, from: lan, to: net, tcp: {{profile: linux}}}}
measurement: {{warmup: 1 s, duration: 10 s}}
runs: {{count: 2, seed: 1}}
"""

CONFIGS = """\
configs:
  - ios: edge.cfg
    platform: ios-hqf
    prefix: edge-
    interfaces:
      GigabitEthernet0/1: to-gold
      GigabitEthernet0/2: to-shared
      GigabitEthernet0/0: backbone
  - {ios: core.cfg, platform: ios-hqf, prefix: core-, interfaces: {POS1/0: line}}
"""

# What edge.cfg and core.cfg say, in the scenario's own words.
BY_HAND = """\
policies:
  GOLD:
    class-based:
      classes:
        - name: VOICE
          match: {dscp: ef}
          police: {rate: 128 kb/s, burst: 4 kB, conform: {set-dscp: ef}, exceed: drop}
        - name: class-default
          police:
            rate: 6 Mb/s
            burst: 150 kB
            peak_rate: 12 Mb/s
            excess_burst: 300 kB
            conform: {set-dscp: af11}
            exceed: {set-dscp: af12}
            violate: {set-dscp: af13}
  SHARED:
    class-based:
      classes:
        - name: SILVER
          match: {src: 10.20.0.0/16}
          police:
            rate: 3 Mb/s
            burst: 75 kB
            peak_rate: 6 Mb/s
            excess_burst: 150 kB
            conform: {set-dscp: af11}
            exceed: {set-dscp: af12}
            violate: {set-dscp: af13}
        - name: BRONZE
          match: {src: 10.30.0.0/16}
          police:
            rate: 1 Mb/s
            burst: 25 kB
            peak_rate: 2 Mb/s
            excess_burst: 50 kB
            conform: {set-dscp: af11}
            exceed: {set-dscp: af12}
            violate: {set-dscp: af13}
        - {name: class-default, set_dscp: default}
  UPLINK:
    class-based:
      classes:
        - {name: VOICE, match: {dscp: ef}, priority: {rate: 10 %}}
        - name: ASSURED
          match: {dscp: [af11, af12, af13]}
          bandwidth: 60 %
          queue_limit: 128 packets
          aqm: {wred: {by: dscp}}
        - name: class-default
          queue_limit: 64 packets
          fair_queue: {queues: 256, threshold: 16, hold_queue: 64, weights: equal}
  PHB:
    class-based:
      classes:
        - {name: EF, match: {dscp: ef}, priority: {rate: 10 %}}
        - name: AF1
          match: {dscp: [af11, af12, af13]}
          bandwidth: 70 %
          queue_limit: 128 packets
          aqm:
            wred:
              exponential_weighting_constant: 8
              dscp:
                af11: {min: 40, max: 120, denominator: 20}
                af12: {min: 25, max: 75, denominator: 10}
                af13: {min: 10, max: 30, denominator: 5}
        - name: class-default
          queue_limit: 64 packets
          fair_queue: {queues: 256, threshold: 16, hold_queue: 64, weights: equal}
"""


@pytest.mark.parametrize("engine", ["express", "plain"])
def test_two_configurations_are_the_domain_written_by_hand(
    engine: Literal["express", "plain"],
) -> None:
    nothing = dict.fromkeys(("gold", "shared", "backbone", "line"), "")
    imported = DOMAIN.format(policies=CONFIGS, **nothing)
    by_hand = DOMAIN.format(
        policies=BY_HAND,
        gold=", input_policy: GOLD",
        shared=", input_policy: SHARED",
        backbone=", policy: UPLINK, tx_ring: 64 packets",
        line=", policy: PHB, tx_ring: 8 packets",
    )
    configs = {name: (EXAMPLE / name).read_text() for name in ("edge.cfg", "core.cfg")}
    one = spillgate.run(imported, files=configs, engine=engine, series="all")
    other = spillgate.run(by_hand, engine=engine, series="all")
    assert len(one.runs) == 2
    assert [r.digest for r in one.runs] == [r.digest for r in other.runs]
    assert measured(one) == measured(other)
    # What the domain is for happens: every color is marked, and the worst is dropped.
    assert one.value("base", "queue", "line/AF1", "packets_lost").mean > 10
    voice = [one.value("base", "input", "gold/VOICE", m).mean for m in ("offered", "carried")]
    assert voice[1] < 0.95 * voice[0]


def measured(results: spillgate.Results) -> str:
    """All that was measured, without what names the scenario."""
    record = results.to_dict()
    keys = ("summary", "runs", "series", "distributions", "transients")
    return json.dumps({key: record[key] for key in keys})


PATH = """\
schema_version: 1
topology:
  nodes: [a, edge, core, z]
  links:
    in: {{from: a, to: edge, rate: 10 Mb/s, delay: 1 ms}}
    to-a: {{from: edge, to: a, rate: 10 Mb/s, delay: 1 ms}}
    mid: {{from: edge, to: core, rate: 10 Mb/s, delay: 1 ms}}
    back: {{from: core, to: edge, rate: 10 Mb/s, delay: 1 ms}}
    out: {{from: core, to: z, rate: 10 Mb/s, delay: 1 ms}}
configs:
  - {{ios: edge.cfg, prefix: edge-, interfaces: {{GigabitEthernet0/0: to-a}}}}
  - ios: core.cfg
    prefix: core-
    interfaces: {{GigabitEthernet0/0: back, GigabitEthernet0/1: out}}
traffic:
  - flow: {{name: f, from: a, to: z, source: {{cbr: {{rate: {rate}, packet: 500 B}}}}}}
measurement: {{warmup: 5 s, duration: 60 s}}
runs: {{count: 1, seed: 1}}
"""

EDGE = """\
policy-map IN
 class class-default
  {police}
interface GigabitEthernet0/0
 bandwidth 10000
 service-policy input IN
"""

# A class for each color counts it.
CORE = """\
class-map match-all GREEN
 match dscp af11
class-map match-all YELLOW
 match dscp af12
class-map match-all RED
 match dscp af13
policy-map IN
 class class-default
  {again}
policy-map OUT
 class GREEN
  bandwidth percent 20
 class YELLOW
  bandwidth percent 20
 class RED
  bandwidth percent 20
interface GigabitEthernet0/0
 bandwidth 10000
 service-policy input IN
interface GigabitEthernet0/1
 bandwidth 10000
 service-policy output OUT
"""

MARKS = " ".join(
    f"{color}-action set-dscp-transmit af1{n}"
    for n, color in enumerate(("conform", "exceed", "violate"), 1)
)
TWO = "conform-action set-dscp-transmit af11 exceed-action set-dscp-transmit af12"
AWARE = (
    "police cir 1000000 pir 3000000\n"
    "   conform-color GREEN exceed-color YELLOW\n"
    "   conform-action set-dscp-transmit af11\n"
    "   exceed-action set-dscp-transmit af12\n"
    "   violate-action set-dscp-transmit af13"
)
NOTHING = "police cir 9000000 conform-action transmit exceed-action transmit"


@pytest.mark.parametrize("engine", ["express", "plain"])
@pytest.mark.parametrize(
    ("police", "again", "rate", "shares"),
    [
        # One rate: what is out is 1 - CIR / rate.
        (f"police cir 2000000 bc 62500 {TWO}", NOTHING, 5, (2 / 5, 3 / 5, 0)),
        (f"police 1500000 {TWO}", NOTHING, 6, (1 / 4, 3 / 4, 0)),
        (f"police cir percent 20 {TWO}", NOTHING, 5, (2 / 5, 3 / 5, 0)),
        # RFC 2697: nothing overflows into the second bucket, which stays empty once it was used.
        (f"police cir 2000000 bc 10000 be 20000 {MARKS}", NOTHING, 5, (2 / 5, 0, 3 / 5)),
        # RFC 2698, rates, bursts in time and percentages.
        (f"police cir 2000000 pir 4000000 {MARKS}", NOTHING, 5, (2 / 5, 2 / 5, 1 / 5)),
        (
            f"police cir percent 10 bc 40 ms be 40 ms pir percent 30 {MARKS}",
            NOTHING,
            8,
            (1 / 8, 2 / 8, 5 / 8),
        ),
        # Cisco's own example (Catalyst 4500 command reference, `police` (two rates)) prints 59538,
        # 59538 and 29731 packets of 1.25 Mb/s.
        (
            f"police cir 500000 bc 10000 pir 1000000 be 10000 {MARKS}",
            NOTHING,
            1.25,
            (0.4001, 0.4001, 0.1998),
        ),
        # Color-aware behind 2, 2 and 1 Mb/s: 1 Mb/s of green conforms, 3 Mb/s do not violate.
        (f"police cir 2000000 pir 4000000 {MARKS}", AWARE, 5, (1 / 5, 2 / 5, 2 / 5)),
    ],
)
def test_long_run_shares_of_colors(
    police: str,
    again: str,
    rate: float,
    shares: tuple[float, float, float],
    engine: Literal["express", "plain"],
) -> None:
    files = {"edge.cfg": EDGE.format(police=police), "core.cfg": CORE.format(again=again)}
    results = spillgate.run(PATH.format(rate=f"{rate} Mb/s"), files=files, engine=engine)
    assert not [w for w in results.description.warnings if "policy" in w or "left out" in w]
    of = {
        color: results.value("base", "queue", f"out/{color}", "packets_offered").mean
        for color in ("GREEN", "YELLOW", "RED")
    }
    # All 60 s of them, up to those on the way.
    assert sum(of.values()) == pytest.approx(60 * rate * 1e6 / 4000, abs=10)
    # Buckets, which hold 0.25 s of their rate at most, are empty after the warm-up. The longest
    # period of the pattern is a few packets: 18,750 packets at least show the share to 1e-3.
    for color, share in zip(of, shares, strict=True):
        assert of[color] / sum(of.values()) == pytest.approx(share, abs=1e-3), (color, of)
