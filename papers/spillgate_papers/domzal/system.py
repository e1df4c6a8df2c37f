"""The paper's system: its network, its traffic, what is run of it, and what is taken of runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from spillgate.result import Results
from spillgate.rows import Admission
from spillgate_papers import terms
from spillgate_papers.grid import Batch, Value, places
from spillgate_papers.lab import Effort, Settings
from spillgate_papers.measured import Measured, Own, PerRun, Singles, View, admission_waits, mean
from spillgate_papers.model import RIVALS, Silent
from spillgate_papers.rivals import Modern
from spillgate_papers.terms import Term
from spillgate_papers.texts import Texts

SYSTEM = Path(__file__).parent / "system"
TEXTS = Texts.read(Path(__file__).with_name("paper.md"))

SCHEDULERS: Mapping[str, object] = {"PFQ": "pfq", "PDRR": {"pdrr": {"mode": "literal"}}}
"""The schedulers as they stand in a scenario; PDRR as published, without charges."""
BASIC, MECHANISMS = "basic", ("EFM", "RAEF", "RBAEF")
"""The router without and with the congestion control mechanisms, in the paper's order."""
PARAMETERS = {"EFM": "pfl_flushing_timer", "RAEF": "active_time", "RBAEF": "active_time"}
"""The timer of each mechanism."""
LINKS = {"R2": "L3", "R4": "L5"}
"""The FAN link that each cross-protect router feeds."""

TIMER, TICK = 5.0, 0.5
"""Seconds of the timer but for figures 7 to 9, and between two values of the fair rate."""
RATE, MIN_SHARE, LIMIT = 100e6, 0.05, 1000
"""b/s of the FAN links, share of them that is the minimum fair rate, packets that they hold."""
MEAN, SHAPE = 300e6, 1.5
"""Mean volume of an elastic flow in bits (W-cal), and shape of its Pareto distribution."""
PAYLOAD, PACKET = 960, 1000
"""Bytes of a full segment of an elastic flow, and of its packet."""
STREAM_PACKET, STREAM_HZ, LEAST_PACKET, LEAST_HZ = 100, 100, 20, 20
"""Bytes of a stream's packets, and how many it sends a second; the least of both at a part of the
rates: an IP header, and one packet in each interval of the priority load."""
HELD = 10.0
"""Seconds after the failure in which interruptions of streams are looked for, and for which
mechanisms are run where only waits matter."""
CROWD = 240
"""Elastic flows above which more of the rates is needed: at a fifth each has 10.4 packets a second
then. With fewer it sits in timeouts that last longer than `pfl_flow_timeout`, loses its protection
and competes with the streams."""

ADMITTED, LITERATURE, RUN_ON, UNFAILED = "triggers admitted", "W-lit", "run on", "no failure"
WHOLE, UNTIMED = "whole run", "no timer"
"""What points other than those of table I are called."""


@dataclass(frozen=True)
class Plan:
    """How much is run.

    Attributes:
        scale: Rate of FAN links over the paper's; volumes, buffers and the streams' packets go
            with it, so that everything takes as long with fewer packets.
        decisive: The same for the ends of figure 6, which decide it.
        failure: Second at which L2 fails; runs of the paper end after twice as long.
        timers: For figures 7 to 9, in seconds.
        costs: Timers for what mechanisms cost the elastic flows, over whole runs.
        flows: Elastic flows to each destination, for figure 6; the first everywhere else.
        few: Runs of what is neither table I nor about timers, at most.
    """

    scale: float = 0.2
    decisive: float = 1.0
    failure: float = 250.0
    timers: tuple[float, ...] = (1.0, 2.0, 5.0, 10.0, 20.0)
    costs: tuple[float, ...] = (20.0, 60.0, 200.0)
    flows: tuple[int, ...] = (200, 400, 600)
    few: int | None = None

    def runs(self, most: int) -> int:
        """So many, or fewer."""
        return min(most, self.few or most)

    def rates(self, flows: int) -> float:
        """The rate of mechanisms in figure 6.

        Example:
            >>> Plan().rates(600), round(Plan().rates(400), 3), Plan(decisive=0.2).rates(600)
            (1.0, 0.333, 0.5)
        """
        end = flows in (self.flows[0], self.flows[-1])
        return max(self.scale * max(1.0, flows / CROWD), self.decisive if end else 0.0)

    def timers_of(self, scheduler: str) -> tuple[float, ...]:
        """PDRR is run at fewer timers: the claim is about the same line."""
        return self.timers if scheduler == "PFQ" else self.timers[::2]


def at(*labels: str | float) -> str:
    """The name of a point; numbers are timers.

    Example:
        >>> at("PFQ", "EFM"), at("PFQ", "EFM", 5.0)
        ('PFQ, EFM', 'PFQ, EFM, 5 s')
    """
    return ", ".join(x if isinstance(x, str) else f"{x:g} s" for x in labels)


def fan(**values: object) -> dict[str, object]:
    """Values of the FAN policy by key, `__` between the keys of a path."""
    return {f"policies.FAN.fan.{k.replace('__', '.')}": v for k, v in values.items()}


def elastic(values: Settings) -> dict[str, object]:
    """Values of both workloads of elastic flows by path."""
    return {f"traffic.{i}.sessions.{k}": v for i in (1, 2) for k, v in values.items()}


def streams(values: Settings) -> dict[str, object]:
    """Values of the streams by path."""
    return {f"traffic.0.flow.{k}": v for k, v in values.items()}


def volume(bits: float, scale: float) -> dict[str, object]:
    """Another mean volume of elastic flows."""
    return elastic({"session.transfer.size.pareto.mean": f"{round(bits * scale / 8)} B"})


def count(flows: int) -> dict[str, object]:
    """Another number of elastic flows."""
    return elastic({"arrivals.poisson.count": flows, "active": flows})


def limit(packets: int, scale: float) -> dict[str, object]:
    """Another buffer of the FAN links."""
    return fan(limit=f"{max(20, round(packets * scale))} packets")


TRIGGER = fan(accept_trigger=True)
"""The packet that triggers a removal is admitted at once."""
BACKOFF = elastic({"tcp.retry": "exponential", "tcp.initial_rto": "3 s", "tcp.max_rto": "64 s"})
"""TCP's doubling timeouts."""
ALONE: Settings = {
    "traffic.2.sessions.arrivals.poisson.count": 1,
    "traffic.2.sessions.session.transfer.size.pareto.mean": "1500 B",
}
"""Nothing to d2 but one small transfer: R2 does not notice."""
FORMS: Mapping[str, Settings] = {
    "as published": {},
    "shared list (GPFL)": fan(protected_list="global"),
    "10 admissions a tick": fan(admissions_per_tick=10),
    "2 admissions a tick": fan(admissions_per_tick=2),
    "shared list, 10 a tick": fan(protected_list="global", admissions_per_tick=10),
}
"""Beyond the paper: what is added to the published router."""


MORE, SOME_MORE, DECISIVE = 4, 2, 3
"""How many times as often as the others table I is run with mechanisms, figures 7 to 9, and what
the timer costs by which D10 is decided.

In ten runs D3 and D5, D8, and D10 were undecided; the scatter of these says how many decide them.
"""
CHEAPEST = ("EFM", 60.0)
"""The mechanism and the timer by which D10 is decided, with those of the full plan."""


def base(scale: float, failure: float | None) -> dict[str, object]:
    """The paper's system at a part of the rates; no failure if its second is none."""
    # As of elastic flows, there are fewer packets, not shorter ones.
    hz = max(LEAST_HZ, round(STREAM_HZ * scale))
    packet = max(LEAST_PACKET, round(STREAM_PACKET * STREAM_HZ * scale / hz))
    source = {"source.cbr.packet": f"{packet} B", "source.cbr.rate": f"{packet * 8 * hz} b/s"}
    rates = {f"topology.links.{link}.rate": f"{RATE * scale:.0f} b/s" for link in LINKS.values()}
    found = {**volume(MEAN, scale), **limit(LIMIT, scale), **streams(source), **rates}
    if failure is None:
        return {**found, "topology.failures": []}
    # Across the failure, for as long as a stream may be expected to wait.
    gaps = {"from": f"{failure:g} s", "to": f"{failure + HELD:g} s"}
    return {**found, "topology.failures.0.at": f"{failure:g} s", "measurement.gaps": gaps}


def mechanism(router: str, timer: float = TIMER) -> dict[str, object]:
    """A mechanism with its timer."""
    if router == BASIC:
        return fan(mechanism=BASIC)
    blocked = {"blocked_time": "1 s"} if router == "RBAEF" else {}
    return fan(mechanism={router.lower(): {PARAMETERS[router]: f"{timer:g} s", **blocked}})


def batches(plan: Plan) -> list[Batch]:
    """What is run."""
    failure, scale = plan.failure, f"{plan.scale:g} of the rates"
    failing, unfailed = (base(plan.scale, x) for x in (failure, None))
    both = {s: {**failing, **fan(scheduler=x)} for s, x in SCHEDULERS.items()}
    alone = {s: {**unfailed, **ALONE, **fan(scheduler=x)} for s, x in SCHEDULERS.items()}
    pfq = {"PFQ": both["PFQ"]}
    basic, mechanisms = ({r: mechanism(r) for r in of} for of in ((BASIC,), MECHANISMS))
    recalled = {**volume(150e6, plan.scale), **BACKOFF, **streams({"start_gap": "1 s"})}
    literature: Mapping[str, Settings] = {LITERATURE: recalled}
    # After the start of the network is over.
    late = streams({"start": f"{failure / 5:g} s", "start_gap": f"{failure / 50:g} s"})
    timed, dear = (
        {at(m, t): {**mechanism(m, t), **late} for m in MECHANISMS for t in of}
        for of in (plan.timers, plan.costs)
    )
    there = {at(s, m, t) for s in both for m in MECHANISMS for t in plan.timers_of(s)}
    dear[at(BASIC, UNTIMED)] = {**mechanism(BASIC), **late}
    decisive = {at(*CHEAPEST), at(BASIC, UNTIMED)}
    crowds = {f"{n} flows": {**base(plan.rates(n), failure), **count(n)} for n in plan.flows}
    filled = {f"{n} flows": {**count(n), **late} for n in plan.flows}
    part = ", ".join(f"{n} flows: {plan.rates(n):.2g} of the rates" for n in plan.flows)
    two = {r: mechanism(r) for r in (BASIC, "EFM")}

    def ended(view: View) -> dict[str, str]:
        """Where nobody waits any more at R4."""
        waits = {at(s, BASIC): view.own(at(s, BASIC), "wait R4") for s in SCHEDULERS}
        return {at(k, RUN_ON): k for k, w in waits.items() if not w.at_least}

    def run(
        title: str,
        end: float,
        grid: Mapping[str, Value],
        most: int = 0,
        note: str = scale,
        times: int = 1,
    ) -> Batch:
        runs = plan.runs(most) if most else 0
        return Batch(title, grid, Effort(0.0, end, runs=runs, times=times), note=note)

    whole, short = 2 * failure, failure + HELD

    def decided(title: str, end: float, of: Mapping[str, Settings], times: int = 1) -> Batch:
        varied = Effort(0.0, end, runs=plan.few or 0)
        made = run(title, end, places(s=both, r=of), times=times)
        return replace(made, varied=varied, keep=True)

    admitted = places(s=both, r=mechanisms, x={ADMITTED: TRIGGER})
    still = run("Basic FAN run on", 4 * failure, places(s=both, r=basic, x={RUN_ON: {}}))
    timers = places(lambda s, r: at(s, r) in there, s=alone, r=timed)
    few, often = (
        places(lambda _, r, __, x=x: (r in decisive) == x, s=pfq, r=dear, x={WHOLE: {}})
        for x in (False, True)
    )
    return [
        decided("Table I basic FAN", whole, basic),
        decided("Table I mechanisms", short, mechanisms, MORE),
        replace(run("Table I mechanisms, triggers admitted", short, admitted), keep=True),
        run("Recalled workload, basic FAN", whole, places(s=both, r=basic, x=literature), 2),
        run("Recalled workload, mechanisms", short, places(s=both, r=mechanisms, x=literature), 2),
        replace(still, same=ended),
        run("Basic FAN without the failure", whole, places(s=alone, r=basic, x={UNFAILED: {}})),
        run("Timers, for R2", 0.84 * failure, timers, times=SOME_MORE),
        run("What timers cost", whole, few, 3),
        run("What the cheapest timer costs", whole, often, times=DECISIVE),
        run("Numbers of flows, mechanisms", short, places(s=pfq, r=mechanisms, x=crowds), 4, part),
        # Basic FAN takes the longest, and no claim of figure 6 is about it.
        run("Numbers of flows, basic FAN", whole, places(s=pfq, r=basic, x=filled), 4),
        run("Beyond the paper", whole, places(s=pfq, r=two, x=FORMS), 1),
    ]


def modern(plan: Plan) -> Modern:
    """Mechanisms of today in place of FAN on its links, until streams should have come back."""
    end = plan.failure + HELD
    metrics = {
        "streams lost": "loss_ratio",
        "streams' delay, 99 %": "owd_p99",
        "streams' jitter": "jitter",
    }

    def streaming(metric: str, x: str) -> Term:
        return terms.value(metric, x, "streams")

    def goodput(x: str) -> Term:
        both = (terms.value("goodput", x, f"elastic to {d}") for d in ("d1", "d2"))
        return terms.of_each(both, "sum", math.fsum)

    return Modern(
        at=[f"topology.links.{link}.policy" for link in LINKS.values()],
        own={r: at("PFQ", r) for r in (BASIC, *MECHANISMS)},
        limit=max(20, round(LIMIT * plan.scale)),
        packet=PACKET,
        effort=Effort(0.0, end),
        more={
            "transfers' goodput": goodput,
            "transfers done": lambda x: terms.own("done", x),
        },
        less={
            "streams wait at R4": lambda x: terms.own("wait R4", x),
            "longest silence of a stream": lambda x: terms.own("gap", x, Singles.longest),
            **{head: partial(streaming, metric) for head, metric in metrics.items()},
        },
        scopes=("class",),
        note=TEXTS.shown(RIVALS)[1],
    )


def taken(results: Results, failure: float) -> Mapping[str, Own]:
    """What is taken of runs in which L2 fails at a second."""
    metrics = ("utilization", "fct_mean", "transfers_begun", "transfers_done")
    m = Measured(results, ("class", "link"), metrics, ("gap_max",))
    d = results.description
    rows: dict[str, list[list[Admission]]] = {v: [[] for _ in range(d.runs)] for v in d.variants}
    for row in results.admission():
        if row.direction == "data":
            rows[row.variant][row.run].append(row)
    end = d.warmup + d.duration
    return {v: values(m, v, rows[v], end, min(end, failure)) for v in d.variants}


def values(
    m: Measured, variant: str, rows: Sequence[Sequence[Admission]], end: float, until: float
) -> Own:
    """What is taken of a variant; `until` it fails or ends, traffic comes to L3."""

    def came(link: str, *, calls: bool) -> list[list[Admission]]:
        return [
            [r for r in run if r.link == link and (r.cls == "streams") == calls] for run in rows
        ]

    def admitted(*, calls: bool) -> list[tuple[float, ...]]:
        return [
            tuple(sorted(r.admitted_s for r in run if r.admitted_s is not None))
            for run in came("L5", calls=calls)
        ]

    def of(scope: str, metric: str, *names: str) -> list[tuple[float, ...]]:
        """The values of each run."""
        found = [m.of(variant, scope, name, metric).values for name in names]
        return list(zip(*found, strict=True)) or [()] * len(rows)

    def per_run(found: Iterable[float], unit: str) -> PerRun:
        return PerRun(tuple(found), unit)

    known = [name for name in m.names(variant, "flow") if name.startswith("stream-")]
    gaps = [tuple(v for v in run if not math.isnan(v)) for run in of("flow", "gap_max", *known)]
    # When sessions met their first link with admission: of those to d1 not L5.
    first = {"elastic to d1": "L3", "elastic to d2": "L5"}
    counts, ended, took = (
        of("class", x, *first) for x in ("transfers_begun", "transfers_done", "fct_mean")
    )
    begun, done = (list(map(math.fsum, x)) for x in (counts, ended))
    each = zip(ended, took, strict=True)
    time = [math.fsum(n * t for n, t in zip(*run, strict=True) if n) for run in each]
    ages = [end - mean(r.offered_s for r in run if first.get(r.cls) == r.link) for run in rows]
    every = list(zip(begun, done, time, ages, strict=True))
    calls, entered = came("L3", calls=True), admitted(calls=True)
    removed = (math.fsum(r.removals for r in run if r.cls == "streams") for run in rows)
    return {
        "wait R2": admission_waits(calls, until),
        "wait R2, no failure": admission_waits(calls, end),
        "wait R4": admission_waits(came("L5", calls=True), end),
        "openings": Singles(tuple(admitted(calls=False)), "s"),
        "gap": Singles(tuple(gaps), "s"),
        "removed": per_run(removed, "removals"),
        "entry": per_run([max(x) - min(x) if x else math.nan for x in entered], "s"),
        "use of L3": per_run([v * end / until for (v,) in of("link", "utilization", "L3")], "1"),
        "use of L5": per_run([v for (v,) in of("link", "utilization", "L5")], "1"),
        # Those that are under way at the end count with the time so far.
        "transfer": per_run(
            ((t + (b - d) * a) / b if b else math.nan for b, d, t, a in every), "s"
        ),
        "finished": per_run([t / d if d else math.nan for _, d, t, _ in every], "s"),
        "done": per_run(done, "transfers"),
    }


BOTH = (at("PFQ", BASIC), at("PFQ", "EFM"))
"""For choices that touch basic FAN as well: EFM stands for the mechanisms."""
REMOVING = tuple(at("PFQ", m) for m in MECHANISMS)
SIZE, DRAWN = (
    "session.transfer.size.pareto.shape",
    f"up to {TICK:g} s after a tick, drawn in each run",
)


def silent(plan: Plan, *, together: bool = False) -> tuple[Silent, ...]:
    """The ledger; or the same where choices are made together, which touch all of table I.

    In the ledger the points under PFQ stand for all, and those without a claim are left out.
    """
    every: dict[str, Mapping[str, Settings]] = {
        "elastic.volume": {"150 Mbit": volume(150e6, plan.scale)},
        "elastic.shape": {"2": elastic({SIZE: 2.0})},
        "elastic.gap": {"10 ms": elastic({"arrivals.poisson.gap": "10 ms"})},
        "elastic.count": {"100 to each": count(100)},
        "stream.gap": {"1 s": streams({"start_gap": "1 s"})},
        "tcp.retry": {"doubling from 3 s to 64 s, as the standard has it": BACKOFF},
        "tcp.window": {"20 packets": elastic({"tcp.max_window": "19200 B"})},
        "link.delay": {"10 ms": {f"topology.links.L{i}.delay": "10 ms" for i in range(1, 9)}},
        "fan.limit": {"300 packets": limit(300, plan.scale)},
        "fan.smoothing": {"one half, fair rate": fan(fair_rate__smoothing=0.5)},
        "pdrr.mode": {"PDRR, charged": fan(scheduler={"pdrr": {"mode": "charged"}})},
    }
    removing: dict[str, Mapping[str, Settings]] = {
        "fan.elastic": {"instant: as the scheduler would class it now": fan(elastic="instant")},
        "fan.trigger": {"it is admitted at once": TRIGGER},
        "failure.phase": {DRAWN: {"topology.failures.0.spread": f"{TICK:g} s"}},
        "routing.delay": {"200 ms": {"topology.routing": {"convergence": "200 ms"}}},
    }
    places = dict.fromkeys(every, BOTH) | dict.fromkeys(removing, REMOVING)
    if together:
        charged = tuple(at("PDRR", r) for r in (BASIC, *MECHANISMS))
        places = {key: charged if key == "pdrr.mode" else () for key in places}
    return TEXTS.silent({**every, **removing}, places)
