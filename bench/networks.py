#!/usr/bin/env python3
"""Write scenarios of large networks, which are too long to be kept as files.

    python3 bench/networks.py mesh|tcp-mesh|fat-tree [--policy FIFO|DRR|FQ-CODEL|CLASSES] > scenario.yaml

The same words give the same text, on any machine.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator

POLICIES = {
    "FIFO": "{fifo: {limit: 100 packets}}",
    "DRR": "{drr: {limit: 400 packets}}",
    "FQ-CODEL": "{fq-codel: {}}",
    "CLASSES": (
        "{class-based: {classes: [{name: voice, match: {dscp: [ef]}, priority: {rate: 20%}}, "
        "{name: data, match: {dscp: [af31]}, bandwidth: 40%}, "
        "{name: class-default}]}}"
    ),
}
"""What the ports have, by name."""

DSCPS = ("ef", "af31", "0")


def scenario(name: str, nodes: list[str], links: list[str], flows: list[str], policy: str) -> str:
    """The text of a scenario with one second that is measured."""
    lines = [
        "schema_version: 1",
        f"name: {name}",
        "topology:",
        f"  nodes: [{', '.join(nodes)}]",
        "  links:",
        *(f"    {link}" for link in links),
        f"policies: {{P: {POLICIES[policy]}}}",
        "traffic:",
        *(f"  - flow: {{{flow}}}" for flow in flows),
        "measurement: {warmup: 0 s, duration: 5 s, interval: 100 ms}",
        "runs: {count: 1, seed: 1}",
    ]
    return "\n".join(lines) + "\n"


def random_links(rng: random.Random, nodes: int, degree: int) -> list[str]:
    """The links of a random connected network."""
    pairs = {(rng.randrange(n), n) for n in range(1, nodes)}
    while len(pairs) < nodes * degree // 2:
        a, b = sorted(rng.sample(range(nodes), 2))
        pairs.add((a, b))
    return [
        f"l{i}: {{from: n{a}, to: n{b}, rate: 100 Mb/s, delay: {rng.randint(1, 5)} ms, "
        "policy: P, duplex: true}"
        for i, (a, b) in enumerate(sorted(pairs))
    ]


def mesh(policy: str, nodes: int = 200, flows: int = 400, degree: int = 4) -> str:
    """A random connected network; Poisson traffic that fills its links to a half or so."""
    rng = random.Random(7)
    links = random_links(rng, nodes, degree)
    traffic = []
    for i in range(flows):
        a, b = rng.sample(range(nodes), 2)
        source = f"{{poisson: {{rate: {rng.randint(2, 10)} Mb/s, packet: imix}}}}"
        traffic.append(f"name: f{i}, from: n{a}, to: n{b}, dscp: {DSCPS[i % 3]}, source: {source}")
    names = [f"n{i}" for i in range(nodes)]
    return scenario(f"Mesh of {nodes} nodes, {policy}", names, links, traffic, policy)


def tcp_mesh(policy: str, nodes: int = 200, flows: int = 400, degree: int = 4) -> str:
    """The same network with greedy connections, which fill links and lose packets."""
    rng = random.Random(7)
    links = random_links(rng, nodes, degree)
    traffic = []
    for i in range(flows):
        a, b = rng.sample(range(nodes), 2)
        traffic.append(f"name: f{i}, from: n{a}, to: n{b}, start_spread: 100 ms, tcp: {{}}")
    names = [f"n{i}" for i in range(nodes)]
    title = f"TCP over a mesh of {nodes} nodes, {policy}"
    text = scenario(title, names, links, traffic, policy)
    return text.replace("duration: 5 s", "duration: 2 s")


def fat_tree(policy: str, k: int = 8, flows: int = 255) -> str:
    """A fat tree of `k`-port switches; greedy connections between random hosts."""
    rng = random.Random(11)
    half = k // 2
    hosts: list[str] = []
    names: list[str] = []

    def wires() -> Iterator[tuple[str, str]]:
        for pod in range(k):
            for edge in range(half):
                for host in range(half):
                    hosts.append(f"h{pod}-{edge}-{host}")
                    yield hosts[-1], f"e{pod}-{edge}"
                for up in range(half):
                    yield f"e{pod}-{edge}", f"a{pod}-{up}"
            for up in range(half):
                for core in range(half):
                    yield f"a{pod}-{up}", f"c{up}-{core}"

    pairs = list(wires())
    for pair in pairs:
        names += [name for name in pair if name not in names]
    links = [
        f"l{i}: {{from: {a}, to: {b}, rate: 1 Gb/s, delay: 10 us, policy: P, duplex: true}}"
        for i, (a, b) in enumerate(pairs)
    ]
    traffic = []
    for i in range(flows):
        a, b = rng.sample(hosts, 2)
        # Distances of hosts are alike: each begins at its own time.
        traffic.append(f"name: f{i}, from: {a}, to: {b}, start_spread: 10 ms, tcp: {{}}")
    text = scenario(f"Fat tree of {k}-port switches, {policy}", names, links, traffic, policy)
    return text.replace("duration: 5 s", "duration: 200 ms")


NETWORKS = {"mesh": mesh, "tcp-mesh": tcp_mesh, "fat-tree": fat_tree}
"""What can be written."""


def main() -> None:
    """Print one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("--policy", choices=POLICIES, default="FIFO")
    args = parser.parse_args()
    print(NETWORKS[args.network](args.policy), end="")


if __name__ == "__main__":
    main()
