#!/usr/bin/env python3
"""Write scenarios that differ in one feature each, for the table of what features cost.

    python3 bench/features.py NAME > scenario.yaml

`PORTS` are one link that Poisson flows of three DSCPs load to nineteen twentieths. `SOURCES` are the
same link as a FIFO with other traffic. `TRANSPORTS` are a dumbbell of 20 connections, whose
bottleneck fills a FIFO.
"""

from __future__ import annotations

import argparse

FIRST_PORT = 1000


def classes(data: str = "", rest: str = "") -> str:
    """A class-based policy of three classes, two of which have some more keys."""
    return (
        "{class-based: {classes: [{name: voice, match: {dscp: ef}, priority: {rate: 40%}}, "
        f"{{name: data, match: {{dscp: af31}}, bandwidth: 30%{data}}}, {{name: class-default{rest}}}]}}}}"
    )


def many_classes(count: int) -> str:
    """A class-based policy by port numbers; the last class is the default."""
    named = [
        f"{{name: c{i}, match: {{dport: {FIRST_PORT + i}}}, bandwidth_remaining_ratio: {1 + i % 10}}}"
        for i in range(count - 1)
    ]
    return f"{{class-based: {{classes: [{', '.join(named)}, {{name: class-default}}]}}}}"


def aqm(text: str) -> str:
    """A FIFO with an AQM."""
    return f"{{fifo: {{limit: 1000 packets, aqm: {{{text}}}}}}}"


PORTS = {
    "FIFO": "{fifo: {limit: 1000 packets}}",
    "RED": aqm("red: {min_th: 20, max_th: 60, max_p: 0.1, weight: 0.002}"),
    "RIO": aqm(
        "rio: {profile: [ef, af31], in: {min_th: 20, max_th: 60, max_p: 0.1}, "
        "out: {min_th: 20, max_th: 60, max_p: 0.1}}"
    ),
    "adaptive RIO": aqm(
        "adaptive-rio: {profile: [ef, af31], in: {min_th: 20, max_th: 60, max_p: 0.1}, "
        "max_th_low: 60, max_th_high: 60, max_p: 0.1}"
    ),
    "CoDel": aqm("codel: {}"),
    "WFQ (PGPS)": "{wfq: {limit: 100 packets, hold_queue: 1000 packets}}",
    "flow-based WFQ": "{flow-wfq: {}}",
    "DRR": "{drr: {limit: 1000 packets}}",
    "FQ-CoDel": "{fq-codel: {}}",
    "FAN, PFQ": "{fan: {scheduler: pfq}}",
    "FAN, PDRR": "{fan: {scheduler: pdrr}}",
    "3 classes": classes(),
    "3 classes, WRED": classes(", aqm: {wred: {}}"),
    "3 classes, policer": classes(", police: {rate: 400 Mb/s}"),
    "3 classes, shaper": classes(", shape: {rate: 400 Mb/s}"),
    "3 classes, flow queues": classes(rest=", drr: {}"),
    "20 classes": many_classes(20),
    "100 classes": many_classes(100),
}
"""Policies of the port, by feature."""

POISSON = "{poisson: {rate: %s kb/s, packet: imix}}"
SOURCES = {
    "constant rate": "{cbr: {rate: %s kb/s, packet: 500 B}}",
    "constant rate, jitter": "{cbr: {rate: %s kb/s, packet: 500 B, jitter: 10 %%}}",
    "on-off": "{on-off: {peak: %s0 kb/s, packet: 500 B, on: 10 ms, off: 90 ms}}",
}
"""Sources beside Poisson ones, by feature; `%s` is the rate of one."""

TRANSPORTS = {
    "NewReno without SACK": "{profile: ns2}",
    "CUBIC, SACK": "{cc: cubic}",
    "Linux": "{profile: linux}",
    "RACK and PRR": "{cc: cubic, prr: true, rack_tlp: true}",
    "DCTCP": "{cc: dctcp}",
    "Prague": "{cc: prague}",
    "BBR": "{cc: bbr}",
}
"""Connections, by feature."""

RATE_KBPS = 950_000
NAMES = (*PORTS, *SOURCES, *TRANSPORTS)
MAX_NS = 100
"""What a hop may cost, of all features but more than 20 classes."""


def port(policy: str, source: str, flows: int) -> str:
    """One link of 1 Gb/s with flows whose DSCPs take turns."""
    return (
        f"""\
schema_version: 1
name: One port
topology:
  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 1 Gb/s, delay: 1 ms, policy: P}}}}
policies: {{P: {policy}}}
traffic:
"""
        + "".join(
            f"  - flow: {{name: f-{i + 1}, from: a, to: b, dscp: {('ef', 'af31', '0')[i % 3]}, dport: {FIRST_PORT + i}, "
            f"source: {source % (RATE_KBPS // flows)}}}\n"
            for i in range(flows)
        )
        + "measurement: {warmup: 0 s, duration: 3 s, interval: 1 s}\nruns: {count: 1, seed: 1}\n"
    )


def dumbbell(tcp: str) -> str:
    """20 connections over one bottleneck of 200 Mb/s, which marks for those that want marks."""
    marks = tcp in (TRANSPORTS["DCTCP"], TRANSPORTS["Prague"])
    step = (
        "limit: 1000 packets, aqm: {red: {min_th: 50, max_th: 51, max_p: 1, weight: 1, ecn: true}}"
    )
    return f"""\
schema_version: 1
name: 20 connections
topology:
  nodes: [left, right, {{name: s, count: 20}}, {{name: d, count: 20}}]
  links:
    access: {{from: s, to: left, rate: 1 Gb/s, delay: [1 ms, 2 ms, 3 ms, 4 ms, 5 ms], duplex: true}}
    bottleneck: {{from: left, to: right, rate: 200 Mb/s, delay: 5 ms, policy: P, duplex: true}}
    egress: {{from: right, to: d, rate: 1 Gb/s, delay: 1 ms, duplex: true}}
policies: {{P: {{fifo: {{{step if marks else "limit: 300 packets"}}}}}}}
traffic:
  - flow: {{name: f, count: 20, from: s, to: d, start_spread: 1 s, tcp: {tcp}}}
measurement: {{warmup: 0 s, duration: 10 s, interval: 1 s}}
runs: {{count: 1, seed: 1}}
"""


def feature(name: str) -> str:
    """The scenario of a feature."""
    if name in PORTS:
        return port(PORTS[name], POISSON, 100 if name == "100 classes" else 20)
    if name in SOURCES:
        return port(PORTS["FIFO"], SOURCES[name], 20)
    return dumbbell(TRANSPORTS[name])


def base(name: str) -> str:
    """The feature whose costs are those without this one."""
    return next(iter(TRANSPORTS)) if name in TRANSPORTS else next(iter(PORTS))


def main() -> None:
    """Print one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("name", choices=NAMES)
    print(feature(parser.parse_args().name), end="")


if __name__ == "__main__":
    main()
