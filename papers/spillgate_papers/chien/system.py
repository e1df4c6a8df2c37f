"""The paper's system: what is run of it, and what is taken of runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from spillgate.result import Results
from spillgate_papers.grid import Batch, Effort, Grid, Settings
from spillgate_papers.measured import Own, PerRun, mean
from spillgate_papers.terms import Term, of_each, own, value
from spillgate_papers.texts import Texts

SYSTEM = Path(__file__).parent / "system"
TEXTS = Texts.read(Path(__file__).with_name("paper.md"))

RIO, ADAPTIVE = "RIO", "A-RIO"
BOTH = (RIO, ADAPTIVE)
"""The paper's schemes."""
LOW, MIDDLE, HIGH = 30, 50, 70
"""Packets: max_L, which is RIO's `max_th` for packets out, what lies between, and max_U."""
FIXED = {f"RIO at {n}": n for n in (MIDDLE, HIGH)}
"""RIO with other fixed thresholds for packets out; at max_L it is the paper's."""
SCHEMES = (RIO, ADAPTIVE, *FIXED)
_ALIKE = {"max_p": 0.1, "weight": 0.002, "mean_packet": "1000 B"}
BLIND: dict[str, Settings] = {
    "self-configuring RED": {"self-configuring-red": {"min_th": 10, "max_th": LOW, **_ALIKE}},
    "load-adaptive RED": {"load-adaptive-red": {"threshold_low": 20, **_ALIKE}},
}
"""The paper's rivals, which see no profile, beginning with RIO's thresholds for packets out."""
BEST_EFFORT, ASSURED = "best-effort", "assured"
CLASSES = (BEST_EFFORT, ASSURED)
METER, IN_PROFILE = f"assured-access/{ASSURED}", "af11"
"""The edge's meter, and how it marks what is in profile."""
COMMITTED = 4e6
"""b/s of the assured flow."""
ALPHA = 3
"""How many times `min_th` of packets out their `max_th` is."""

THRESHOLDS = (3, 6, 12, 24, 48, 96)
"""`max_th` of figure 2, in packets."""
CHANCES = ("0.1", "0.02", "0.5")
"""`max_p` for packets out, ours first."""
OFF = tuple(range(0, 70, 10))
"""Mean seconds for which the source of figures 6 and 7 is silent."""

MORE = 4
"""How many times as often figure 2 is run as the others."""
LEDGER_RUNS = 4
"""Runs of each choice of the ledger."""
LENGTH = 400.0
PHASES = {"110 to 200 s": (110, 200), "310 to 400 s": (310, 400)}
"""Seconds of the assured phases, after ten of each."""
IDLE = ((0, 100), (200, 300))
ARRIVALS = "adapted_arrival_rate"
EXCEEDED, OTHERWISE = "that begin with arrivals above C'", "that do not"
"""Seconds of the assured phases, by arrivals of C' and a fortieth of it, the paper's eps."""
EPSILON = 0.025
"""Of C' (table 1)."""
MOVED = {"max_th": "adapted_max_th", "C'": "adapted_reference"}
"""What A-RIO moves, and the time series of it."""
ACTIVE = 200.0
"""Seconds for which the assured flow of figure 4 sends."""

TCP = {"profile": "ns2", "cc": "reno", "mss": "960 B"}
CONDITIONED = "policies.EDGE.classes.assured.police"


def best_effort(count: int) -> Settings:
    """Greedy best-effort connections, each from a host of its own."""
    return {
        "flow": {
            "name": BEST_EFFORT,
            "count": count,
            "from": "s",
            "to": "r1",
            "start_spread": "1 s",
            "tcp": TCP,
        }
    }


def assured(name: str = ASSURED, **values: object) -> Settings:
    """A flow of the assured class."""
    whole = {"name": name, "class": ASSURED, "dscp": "af12", "from": "s1", "to": "r1"}
    return {"flow": {**whole, **values}}


def on_off(off: int) -> Settings:
    """The traffic of figures 6 and 7."""
    lengths = {"peak": "4 Mb/s", "on": "10 s", "off": f"{off} s", "packet": "1000 B"}
    return {"traffic": [best_effort(4), assured(source={"on-off": lengths})]}


CBR = {"cbr": {"rate": "4 Mb/s", "packet": "1000 B"}}
UNRESPONSIVE: Settings = {
    "traffic": [
        best_effort(4),
        assured("assured-1", start="100 s", stop="200 s", source=CBR),
        assured("assured-2", start="300 s", source=CBR),
    ]
}
"""That of figure 4 with an assured flow that knows no congestion."""
DEEP: Settings = {f"{CONDITIONED}.burst": "500 ms"}
SOURCES: Mapping[str, Settings] = {"bucket of 500 ms": DEEP, "unresponsive": UNRESPONSIVE}
"""Other assured flows, and other edges."""


def scheme(name: str) -> Settings:
    """What a scheme replaces."""
    if name in BLIND:
        rival = {"fifo": {"limit": "125 packets", "aqm": BLIND[name]}}
        return {"policies.RIVAL": rival, "topology.links.core.policy": "RIVAL"}
    policy = ADAPTIVE if name == ADAPTIVE else RIO
    found: dict[str, object] = {"topology.links.core.policy": policy}
    if name in FIXED:
        found |= fixed(FIXED[name])
    return found


def fixed(max_th: float) -> Settings:
    """Other thresholds of RIO for packets out."""
    out = "policies.RIO.fifo.aqm.rio.out"
    return {f"{out}.min_th": max_th / ALPHA, f"{out}.max_th": max_th}


def chance(max_p: str) -> Settings:
    """Another `max_p` for packets out."""
    paths = ("RIO.fifo.aqm.rio.out.max_p", "A-RIO.fifo.aqm.adaptive-rio.max_p")
    return {f"policies.{p}": float(max_p) for p in paths}


def red(max_th: int, max_p: str) -> str:
    """A point of figure 2."""
    return f"max_th {max_th}, max_p {max_p}"


def absent(name: str, off: int) -> str:
    """A point of figures 6 and 7."""
    return f"{name}, off {off} s"


def sourced(name: str, source: str) -> str:
    """A point with another assured flow or edge; figure 4's own if there is no source."""
    return f"{name}, {source}" if source else name


def _batches() -> tuple[Batch, ...]:
    schemes = {s: scheme(s) for s in SCHEMES}
    blind = {s: scheme(s) for s in BLIND}
    ten: Settings = {"topology.nodes.s.count": 10, "traffic": [best_effort(10)]}
    alone = {f"max_th {n}": {**ten, **fixed(n)} for n in THRESHOLDS}
    silences = {f"off {n} s": on_off(n) for n in OFF}
    whole = Effort(0.0, LENGTH)
    briefly = Effort(0.0, LENGTH, quick=(0.0, 100.0))
    figure2 = Effort(10.0, 90.0, quick=(5.0, 15.0))

    ours, *others = CHANCES
    ten_alone = "Ten best-effort connections, no assured flow."

    def few(effort: Effort) -> Effort:
        return Effort(effort.warmup, effort.duration, effort.quick, LEDGER_RUNS)

    return (
        Batch("Figures 4 and 5", Grid(scheme=schemes | blind), whole, few(whole), keep=True),
        Batch(
            "Figure 2",
            Grid(max_th=alone, max_p={f"max_p {ours}": chance(ours)}),
            # The lowest thresholds are hardly told apart by ten runs.
            replace(figure2, times=MORE),
            few(figure2),
            note=ten_alone,
        ),
        Batch(
            "Figure 2, other chances",
            Grid(max_th=alone, max_p={f"max_p {p}": chance(p) for p in others}),
            figure2,
            few(figure2),
            note=ten_alone,
        ),
        Batch("Figures 6 and 7", Grid(scheme=schemes, off=silences), briefly, few(briefly)),
        Batch("Assured flows and edges", Grid(scheme=schemes, source=SOURCES), whole),
    )


BATCHES = _batches()
"""What is run."""


def rate(point: str, cls: str) -> Term:
    """What arrived of a class."""
    return value("throughput", point, cls)


def total(point: str) -> Term:
    """What arrived of both classes."""
    return of_each([rate(point, c) for c in CLASSES], "sum", sum)


def share(of: Term, point: str) -> Term:
    """A rate over that of the core's link."""
    link = [value(m, point, "core", "link") for m in ("carried", "utilization")]
    return of_each([of, *link], "share", lambda v: v[0] * v[2] / v[1], "1")


def use(point: str) -> Term:
    """What arrived of best effort over the rate of the core's link."""
    return share(rate(point, BEST_EFFORT), point)


def _over(v: Sequence[float]) -> float:
    return v[0] / v[1] if v[1] else math.nan


def delivered(point: str) -> Term:
    """What arrived in profile over what the edge's meter let in as such."""
    conform = value("conform", point, METER, "meter")
    arrived = value("throughput", point, f"{ASSURED}/{IN_PROFILE}", "class-dscp")
    return of_each([arrived, conform], "delivered", _over, "1")


def queue(point: str) -> Term:
    """The mean queue of the core's link."""
    return value("backlog_packets_mean", point, "core/fifo", "queue")


def taken(results: Results) -> Mapping[str, Own]:
    """Means over the phases of figure 4 of what is sampled every second, by variant."""
    if results.description.duration < LENGTH:
        return {}
    runs: dict[tuple[str, str, str], list[Sequence[float]]] = {}
    for metric in ("throughput", ARRIVALS, *MOVED.values()):
        for s in results.series(metric=metric):
            runs.setdefault((s.variant, s.where, metric), []).append(s.v)

    def over(of: Sequence[Sequence[float]], unit: str, *spans: tuple[int, int]) -> PerRun:
        return PerRun(tuple(mean(x for a, b in spans for x in run[a:b]) for run in of), unit)

    def while_active(scope: str, metric: str, name: str) -> Mapping[str, PerRun]:
        """A rate over the whole run, in the half of it in which the assured flow sends."""
        return {
            s.variant: PerRun(tuple(LENGTH / ACTIVE * (v or 0.0) for v in s.values), "b/s")
            for s in results.samples(scope=scope, metric=metric, name=name)
        }

    marked = while_active("meter", "conform", METER)
    good = while_active("class", "goodput", ASSURED)
    found: dict[str, Own] = {}
    for variant, where, metric in runs:
        if where != f"class {ASSURED}":
            continue
        gets, others = (runs[variant, f"class {c}", metric] for c in (ASSURED, BEST_EFFORT))
        own = {name: over(gets, "b/s", span) for name, span in PHASES.items()}
        own |= {"idle": over(others, "b/s", *IDLE), "in profile": marked[variant]}
        own["goodput"] = good.get(variant, PerRun((math.nan,) * len(gets), "b/s"))
        for what, of in MOVED.items():
            unit = "packets" if what == "max_th" else "b/s"
            moved = runs.get((variant, "core/fifo", of))
            if moved is None:
                continue
            for name, (a, b) in PHASES.items():
                own[f"{what}, {name}"] = over(moved, unit, (a, b))
                own[f"{what} before {name}"] = over(moved, unit, (a - 20, a - 10))
            own |= {f"most {what}": PerRun(tuple(map(max, moved)), unit)}
        if (variant, "core/fifo", ARRIVALS) in runs:
            rates, max_th, references = (
                runs[variant, "core/fifo", m] for m in (ARRIVALS, *MOVED.values())
            )
            spans = [range(a + 1, b) for a, b in PHASES.values()]
            own |= moves(rates, max_th, references, spans)
        found[variant] = own
    return found


def moves(
    arrivals: Sequence[Sequence[float]],
    thresholds: Sequence[Sequence[float]],
    references: Sequence[Sequence[float]],
    spans: Sequence[range],
) -> Mapping[str, PerRun]:
    """What max_th moves in a second, by the arrivals with which that begins.

    NaN in runs without such seconds.

    Args:
        arrivals: The rate by second, run by run.
        thresholds: The same of max_th.
        references: The same of C'.
        spans: Which samples, each of which has one before it.
    """

    def moved(run: int, *, above: bool) -> float:
        rate, max_th, reference = arrivals[run], thresholds[run], references[run]
        return mean(
            max_th[t] - max_th[t - 1]
            for span in spans
            for t in span
            if (rate[t - 1] > (1 + EPSILON) * reference[t - 1]) == above
        )

    return {
        f"max_th a second {name}": PerRun(
            tuple(moved(run, above=above) for run in range(len(arrivals))), "packets"
        )
        for name, above in ((EXCEEDED, True), (OTHERWISE, False))
    }


def phase(point: str, name: str) -> Term:
    """Rate of the assured flow at the wire in an assured phase."""
    return own(name, point)
