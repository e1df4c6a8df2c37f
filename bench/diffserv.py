#!/usr/bin/env python3
"""Compare RIO and the meters of a DiffServ edge with ns-2's DiffServ module (Debian package ns2).

    python3 bench/diffserv.py [--runs N] [--only WORD ...]

Edge and core are those of bench/cases/diffserv.yaml and bench/peers/diffserv.tcl, alike but for the random numbers. For each value
the table has the mean over the runs of both, and the difference with an interval. All intervals of the table hold together with
95 % (Bonferroni, each by Welch's t). ns-2 must be on the path as `ns`.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from beside import TOGETHER, Row, Values, table

import spillgate

ROOT = Path(__file__).resolve().parent.parent
SCENARIO = ROOT / "bench" / "cases" / "diffserv.yaml"
SCRIPT = ROOT / "bench" / "peers" / "diffserv.tcl"
WARMUP, SECONDS = 10, 60
RUNS = 20
COLORS = {"in": "af11", "out": "af12", "far out": "af13"}


@dataclass(frozen=True)
class Customers:
    """Hosts behind the edge, in both languages."""

    ns2: str
    count: int
    flow: Mapping[str, object]
    delay: str | Sequence[str] = "1 ms"


def poisson(mbps: float, count: int = 1) -> Customers:
    """Customers who send packets of 1000 B at random."""
    source = {"poisson": {"rate": f"{mbps:g} Mb/s", "packet": "1000 B"}}
    return Customers(f"{{poisson {mbps * 1e6:.0f}}} " * count, count, {"source": source})


def tcp(*delays: int) -> Customers:
    """Customers with a greedy NewReno connection each, over lines of so many ms."""
    return Customers(
        " ".join(f"{{tcp {d}}}" for d in delays),
        len(delays),
        {"tcp": {"profile": "ns2", "cc": "newreno", "mss": "960 B"}},
        [f"{d} ms" for d in delays],
    )


@dataclass(frozen=True)
class Meter:
    """A policer, in both languages."""

    ns2: str
    police: Mapping[str, object]

    @property
    def colors(self) -> int:
        """How many it gives."""
        return 3 if "violate" in self.police else 2


TWO = {"conform": {"set-dscp": "af11"}, "exceed": {"set-dscp": "af12"}}
THREE = TWO | {"violate": {"set-dscp": "af13"}}


def tsw2cm(mbps: float) -> Meter:
    """RIO's tagger with a window of 1 s."""
    return Meter(f"TSW2CM {mbps * 1e6:.0f} 1", {"rate": f"{mbps:g} Mb/s", "window": "1 s", **TWO})


def bucket(mbps: float) -> Meter:
    """A token bucket of 25 kB."""
    police = {"rate": f"{mbps:g} Mb/s", "burst": "25 kB", **TWO}
    return Meter(f"TokenBucket {mbps * 1e6:.0f} 25000", police)


FOUR = {"rate": "4 Mb/s", **THREE}
TSW3CM = Meter("TSW3CM 4000000 5000000", {**FOUR, "peak_rate": "5 Mb/s", "window": "1 s"})
SRTCM = Meter("srTCM 4000000 3000 9000", {**FOUR, "burst": "3 kB", "excess_burst": "9 kB"})
TRTCM = Meter(
    "trTCM 4000000 3000 5000000 6000",
    {**FOUR, "burst": "3 kB", "peak_rate": "5 Mb/s", "excess_burst": "6 kB"},
)


@dataclass(frozen=True)
class Case:
    """A meter, a core, and customers."""

    meter: Meter
    customers: Customers
    mode: str | None = None
    """That of RIO; none: the core's line has room for all, and meters alone are compared."""

    @property
    def core(self) -> int:
        """Rate of the core's line in Mb/s."""
        return 10 if self.mode else 100

    def set(self) -> dict[str, object]:
        """What it replaces in the scenario."""
        c = self.customers
        flow = {"name": "customer", "count": c.count, "from": "s", "to": "far"}
        return {
            "topology.nodes.s.count": c.count,
            "topology.links.access.delay": c.delay,
            "topology.links.core.rate": f"{self.core} Mb/s",
            "policies.METER.class-based.classes.class-default.police": dict(self.meter.police),
            "policies.RIO.fifo.aqm.rio.mode": self.mode or "coupled",
            "traffic": [{"flow": {**flow, "start_spread": "1 s", **c.flow}}],
        }


CASES = {
    "token bucket": Case(bucket(4), poisson(6)),
    "TSW2CM": Case(tsw2cm(4), poisson(6)),
    "TSW3CM": Case(TSW3CM, poisson(6)),
    "srTCM": Case(SRTCM, poisson(3.8)),
    "trTCM": Case(TRTCM, poisson(4.5)),
    "RIO-D, 12 Mb/s": Case(tsw2cm(3), poisson(6, 2), "decoupled"),
    "RIO-C, 12 Mb/s": Case(tsw2cm(3), poisson(6, 2), "coupled"),
    "RIO-D, 10.2 Mb/s": Case(tsw2cm(3), poisson(5.1, 2), "decoupled"),
    "RIO-C, 10.2 Mb/s": Case(tsw2cm(3), poisson(5.1, 2), "coupled"),
    "RIO-C, TSW2CM, TCP": Case(tsw2cm(2), tcp(5, 10, 20, 40), "coupled"),
    "RIO-D, token bucket, TCP": Case(bucket(2), tcp(5, 10, 20, 40), "decoupled"),
}


def lost(came: float, left: float) -> float:
    """What the core dropped, in percent."""
    return 100 * (1 - left / came) if came else 0.0


def ns2(case: Case, runs: int) -> Values:
    """What ns-2 says of each run."""
    mode = "RIO-D" if case.mode == "decoupled" else "RIO-C"

    def run(seed: int) -> dict[str, float]:
        args = (seed, WARMUP, SECONDS, case.meter.ns2, mode, case.core, case.customers.ns2)
        done = subprocess.run(
            ["ns", str(SCRIPT), *map(str, args)], capture_output=True, text=True, check=False
        )
        if done.returncode or not done.stdout.startswith("{"):
            raise RuntimeError(done.stderr or done.stdout)
        said = json.loads(done.stdout.splitlines()[-1])
        values = {"queue": said["queue"], "wait": 1e3 * said["wait"]}
        for name, came, left in zip(COLORS, said["rates"][::2], said["rates"][1::2], strict=True):
            values |= {f"{name} before": came / 1e6, f"{name} behind": left / 1e6}
            values[f"{name} lost"] = lost(came, left)
        return values

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = list(pool.map(run, range(1, runs + 1)))
    return {key: [run[key] for run in found] for key in found[0]}


def ours(case: Case, runs: int) -> Values:
    """What Spillgate says of each run."""
    results = spillgate.run(SCENARIO, runs=runs, set=case.set(), series=())

    def of(scope: str, name: str, metric: str, by: float) -> list[float]:
        [samples] = results.samples(scope=scope, name=name, metric=metric)
        return [by * (v or 0.0) for v in samples.values]

    values = {
        "queue": of("queue", "core/fifo", "backlog_packets_mean", 1),
        "wait": of("queue", "core/fifo", "sojourn_mean", 1e3),
    }
    for name, dscp in COLORS.items():
        for where, link in (("before", "marked"), ("behind", "core")):
            values[f"{name} {where}"] = of("input", f"{link}/{dscp}", "carried", 1e-6)
        both = zip(values[f"{name} before"], values[f"{name} behind"], strict=True)
        values[f"{name} lost"] = [lost(came, left) for came, left in both]
    return values


def compared(case: Case) -> dict[str, tuple[str, str]]:
    """What is compared: its words and its unit, by key."""
    colors = list(COLORS)[: case.meter.colors]
    found = {f"{c} before": (f"{c}, marked", "Mb/s") for c in colors}
    if case.mode:
        found |= {f"{c} behind": (f"{c}, delivered", "Mb/s") for c in colors}
        found |= {f"{c} lost": (f"{c}, lost", "%") for c in colors}
        found |= {"queue": ("mean queue", "packets"), "wait": ("mean wait", "ms")}
    return found


def rows(names: Sequence[str], runs: int, together: float = TOGETHER) -> Iterator[Row]:
    """Every value of these cases."""
    number = sum(len(compared(CASES[n])) for n in names)
    level = 1 - (1 - together) / number
    for name in names:
        case = CASES[name]
        mine, theirs = ours(case, runs), ns2(case, runs)
        for key, (what, unit) in compared(case).items():
            yield Row(name, what, unit, mine[key], theirs[key], level)


def main() -> int:
    """Runs the cases and prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=RUNS, help="runs of each case, 2 at least")
    parser.add_argument("--only", nargs="+", default=[""], help="cases with one of these words")
    args = parser.parse_args()
    if args.runs < 2:
        parser.error("--runs must be at least 2")
    if not shutil.which("ns"):
        print("there is no `ns` on the path; on Debian: apt install ns2", file=sys.stderr)
        return 2
    names = [n for n in CASES if any(word in n for word in args.only)]
    if not names:
        parser.error(f"no case has such a word; there are: {', '.join(CASES)}")
    print(table(list(rows(names, args.runs))), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
