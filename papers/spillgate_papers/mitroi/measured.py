"""What the paper's Python adds to its data: traffic, groups of flows and rivals."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import fmean

import spillgate_papers.mitroi
from spillgate_papers import show
from spillgate_papers.flows import Flows, Row
from spillgate_papers.groups import Groups, explained, grouped, levels
from spillgate_papers.judge import within
from spillgate_papers.measured import View
from spillgate_papers.model import Claim, Part, Section, Table
from spillgate_papers.ours import Ours
from spillgate_papers.rivals import rivals
from spillgate_papers.show import By, Panel
from spillgate_papers.study import Study
from spillgate_papers.terms import Check, Term, number, queued, trend, value
from spillgate_papers.texts import Texts

FOLDER = Path(__file__).parent
TEXTS = Texts.read(FOLDER / "paper.md")
FLOWS = Flows(FOLDER / "system" / "traffic.csv")
"""Table 1 of the paper."""
FIFO, LLQ, WRED = "FIFO", "CBWFQ-LLQ", "CBWFQ-LLQ-WRED"
EARLY, INSIDE = (FIFO, "WFQ"), ("CBWFQ", LLQ, WRED)
POLICIES = (*EARLY, *INSIDE, *(f"MPLS-{p}" for p in INSIDE))
REAL_TIME = ("voice", "video")
CONGESTED_POINTS = tuple(f"af{x}{y}" for x in "32" for y in "123")
DATA_POINTS = (*CONGESTED_POINTS, "af11", "af12", "af13")
RATES = FLOWS.by_rate(DATA_POINTS)
"""The data flows by their rate in Mb/s."""
GAPS = (10, 30, 60, 90, 120, 300, 1000)
"""Microseconds between the starts of two streams that start in the order of table 1."""
STEP, ORDER = "started together", "started in order"
FILE, ORDERED = "traffic.0.csv.file", "traffic-order-{}.csv"
files = {
    **{ORDERED.format(gap): FLOWS.text(gap=gap) for gap in GAPS},
    **{f"traffic-{x}.csv": FLOWS.scaled(x) for x in (80, 90, 98, 100, 110, 120, 130, 140, 150)},
    "traffic-even.csv": FLOWS.evened(),
}
FRAME, LABEL = 1500, 4
"""Bytes of a frame, and of a label."""


def policed(labels: int) -> float:
    """The share of voice that LLQ's policer drops in the long run, at the rate that voice has.

    It counts labels, so that of every frame with its labels it carries the bytes of a frame.

    Example:
        >>> f"{policed(2):.3%}", f"{policed(0):.3%}"
        ('0.531%', '0.000%')
    """
    return 1.0 - FRAME / (FRAME + LABEL * labels)


def expected(point: str) -> str:
    """The same in words at a point with labels; nothing where the policer has room for them."""
    labels = {"no": 0, "one": 1, "two": 2}[point.split()[0]]
    return "" if "16 %" in point else f"{policed(labels):.3%}".replace("%", " %")


def at(setting: str, policies: Sequence[str] = POLICIES) -> dict[str, str]:
    """The points of a setting in which the claims' own are; what has no jitter is itself exact."""
    places = {p: f"{p}, {setting}" for p in policies}
    return places | {f"{p}, exact": x for p, x in places.items() if p in EARLY}


def under(setting: str, policies: Sequence[str] = POLICIES) -> dict[str, str]:
    """Points in a setting, with the policies that are shown of them."""
    return {f"{p}, {setting}": p for p in policies}


# M9 and M12

LEVEL_GAP = 0.01
"""Losses a percentage point apart are different levels: what a bar chart of 0 to 50 % shows."""
LEVEL = Ours("fall of a step that is one", LEVEL_GAP, (0.002, 0.03), "{:.1%}".format)


def spread(values: Sequence[float]) -> float:
    """From the least to the most."""
    return max(values) - min(values)


def no_step_down() -> Check:
    """M9. What falls by less is level."""

    def under(most: float) -> Check:
        def check(v: View) -> Part:
            loss = {x: value("loss_ratio", "CBWFQ", x, "dscp").take(v) for x in CONGESTED_POINTS}
            steps = {(a, b): loss[b] - loss[a] for a, b in pairwise(loss)}
            a, b = min(steps, key=lambda pair: steps[pair].quantity.mean or 0.0)
            text = f"no step from AF31 to AF23 goes down by {most:.1%}; the lowest is"
            said = f"{text} {a.upper()} to {b.upper()}"
            return within(said, steps[a, b], above=-most, kind="trend")

        return check

    return LEVEL.judged(under)


def flow_losses(place: str) -> dict[float, list[Term]]:
    """Loss of each data flow, by its rate in Mb/s."""
    return {r: [value("loss_ratio", place, x, "flow") for x in of] for r, of in RATES.items()}


def by_rate(place: str, f: Callable[[Groups], float], unit: str = "1") -> Term:
    """What a function gives of the losses of the data flows, grouped by rate, in each run."""
    return grouped(list(flow_losses(place).values()), f, unit)


def three_levels() -> Iterator[Check]:
    """M12."""
    # With k groups of n values without any relation, (k - 1) / (n - 1) is expected.
    chance = (len(RATES) - 1) / (sum(map(len, RATES.values())) - 1)
    for p in EARLY:
        share = by_rate(f"{p}, exact", explained)
        count = by_rate(f"{p}, exact", lambda g: levels(g, LEVEL_GAP), "levels")
        yield number(count.between(2.5, 3.5), f"three levels of loss under {p}")
        yield number(share.above(0.9), f"a flow's rate explains 90 % of its loss under {p}")
        said = f"loss goes with the rate more than by chance under {p}"
        yield trend(share.above(chance), said)


# Rivals, and TCP

OWN = frozenset({"fifo", "flow-wfq", "class-based", "red", "wred"})
"""Kinds that the paper's policies are made of; every other kind is a rival."""
RIVALS = rivals(OWN, "topology.links.wan")


def _flow(row: Row) -> dict[str, object]:
    """A flow of table 1; what data classes write is sent through TCP."""
    source = {"cbr": {"rate": row["rate"], "packet": "1500 B", "jitter": "10 %"}}
    ends = {"from": "site-a", "to": "site-b", "count": int(row["count"]), "source": source}
    data = row["class"] not in REAL_TIME
    tcp = {"tcp": {"profile": "linux", "cc": "cubic"}} if data else {}
    return {"flow": {**{k: row[k] for k in ("name", "class", "dscp")}, **ends, **tcp}}


BY_TCP: dict[str, object] = {
    **{f"topology.links.{link}.duplex": True for link in ("lan-a", "wan", "lan-b")},
    "traffic": [_flow(row) for row in FLOWS.rows],
}
axes = [
    {"name": "rivals", "points": [{"name": k, "set": v} for k, v in RIVALS.items()]},
    {"name": "tcp", "points": [{"name": "TCP", "set": BY_TCP}]},
]

# Tables and figures


def claim(name: str) -> Claim:
    """A claim of the paper."""
    return next(c for c in spillgate_papers.mitroi.PAPER.claims if c.id == name)


def waiting(place: str) -> Term:
    """What waits in the queue that a policy is on."""
    return queued("backlog_packets_mean", place, "port" if "limit of" in place else "wan")


def fits(cls: str, low: float, high: float) -> Callable[[str], Callable[[View], str]]:
    """Whether loss is within bounds, in words."""

    def of(place: str) -> Callable[[View], str]:
        check = number(value("loss_ratio", place, cls).between(low, high))
        return lambda v: "yes" if check(v).holds else "no"

    return of


as_in_m1, as_in_m2 = fits("voice", 0.10, 0.15), fits("video", 0.15, 0.25)


def verdict(name: str, places: Mapping[str, str]) -> Callable[[View], str]:
    """What a claim is with other points in place of its own."""
    return lambda v: show.verdict(claim(name), places)(v)


def limited(name: str) -> Callable[[str, str], Callable[[View], str]]:
    """What a claim about FIFO's limit is on a line with one."""
    places = {FIFO: "{0}, {1}", LLQ: f"{{0}}, {LLQ}", WRED: f"{{0}}, {WRED}"}
    return lambda *of: verdict(name, {k: x.format(*of) for k, x in places.items()})


LIMITS = {"1 ms": (2, 4, 8, 16, 24, 32, 40, 64, 128, 264, 276, 300), "10 ms": (264, 276, 300, 330)}
"""Limits of FIFO in packets by the line's delay."""
LIMITED = {n: f"{n} packets" for n in sorted({n for of in LIMITS.values() for n in of})}
EACH_LIMIT = [(line, LIMITED[n]) for line, of in LIMITS.items() for n in of]


def both(v: View) -> str:
    """The limits under which M4 and M8 are reproduced."""
    of = [limited(c) for c in ("M4", "M8")]
    found = [p for p in EACH_LIMIT if all(f(*p)(v) == "reproduced" for f in of)]
    return ", ".join(f"{limit} on a line of {line}" for line, limit in found) or "no row"


def cut(metric: str, line: str, limit: str) -> Term:
    """How many times LLQ cuts what voice has on a line of a delay."""
    first, second = f"{line}, {limit}", f"{line}, {LLQ}"
    if metric == "owd_mean":
        return value(metric, first, "voice") / value(metric, second, "voice")
    return queued(metric, first, "wan", "VOICE") / queued(metric, second, "wan", "VOICE")


EVERY, EXACT = (*POLICIES, "PQ", "RED", "ECN"), under("exact")
lists = {"compared": (*EVERY, *RIVALS)}
limits = TEXTS.by(
    "fifo-limit",
    {"line": tuple(LIMITS), "FIFO's limit": tuple(LIMITED.values())},
    {
        "voice delay FIFO / LLQ": lambda *of: cut("owd_mean", *of),
        "voice waiting FIFO / LLQ": lambda *of: cut("sojourn_mean", *of),
        "AF3x delay FIFO": ("owd_mean", "critical"),
        "policy 4": lambda x, _: value("owd_mean", f"{x}, {LLQ}", "critical"),
        "policy 5": lambda x, _: value("owd_mean", f"{x}, {WRED}", "critical"),
        **{c: limited(c) for c in ("M4", "M8")},
    },
    {"both": both},
    lambda *of: of in EACH_LIMIT,
)
points_even = TEXTS.by(
    "points-even",
    {"policy": under("even rates", INSIDE)},
    {d.upper(): ("loss_ratio", d, "dscp") for d in CONGESTED_POINTS},
    {x: verdict(x, at("even rates", INSIDE)) for x in ("M9", "M10")},
)
STARTS = {"FIFO, exact": "random phases, no jitter"} | {f"FIFO, {x}": x for x in (STEP, ORDER)}
by_level = TEXTS.by(
    "levels",
    {"start": STARTS},
    {
        **{
            f"{rate:g} Mb/s": lambda p, i=i: by_rate(p, lambda g: fmean(g[i]))
            for i, rate in enumerate(RATES)
        },
        "widest of one rate": lambda p: by_rate(p, lambda groups: max(map(spread, groups))),
        "explained by rate": lambda p: by_rate(p, explained),
    },
)


def m11(place: str) -> Callable[[View], str]:
    """M11 in a traffic; once, at FIFO's place."""
    policy, _, traffic = place.partition(", ")
    return verdict("M11", at(traffic)) if policy == FIFO else lambda _: ""


by_limit = TEXTS.curves(
    "m4-fifo-limit",
    Panel(
        "M4: the ratio is that of FIFO's buffer",
        "FIFO's limit (packets)",
        "voice delay, FIFO / LLQ",
        {"measured": {float(n): cut("owd_mean", "1 ms", LIMITED[n]) for n in LIMITS["1 ms"]}},
        {"paper: 3.5": 3.5, "from 2.5": 2.5, "to 5": 5.0},
        look=show.logarithmic((4, 8, 16, 40, 100, 300), (1, 2, 3.5, 5, 10, 20, 30)),
    ),
    size=(5.4, 3.2),
)


def _cluster(place: str, title: str) -> Panel:
    lines, look = show.side_by_side({f"{r:g}": of for r, of in flow_losses(place).items()})
    x, y = "rate of the flow (Mb/s)", "lost packets of the flow (%)"
    return Panel(title, x, y, lines, legend="", factor=100.0, dots=True, look=look)


by_cluster = TEXTS.curves(
    "m12-levels", *(_cluster(*of) for of in STARTS.items()), size=(9.9, 3.2), shared=True
)


def measured(study: Study, *tables: By | Table) -> Iterator[Section]:
    """The paper's own figures, and the tables behind them."""
    exact, found = study.lab.batches["The same without jitter"], study.measured()
    pictures = (*found.pictures, *(f.picture(exact, EXACT, "exact") for f in study.paper.figures))
    yield replace(found, tables=study.section("", "", tables).tables, pictures=pictures)


def sources(study: Study) -> Table:
    """The claims by how the generator sends."""
    paper = study.paper
    without = study.main.moved({p: x for x, p in EXACT.items()})
    claims = {
        "with jitter": study.claims,
        "without jitter": paper.judged(without),
        **{x: paper.judged(study.switched(x)[0]) for x in (STEP, ORDER)},
    }
    title, note = TEXTS.shown("sources")
    return show.compared("sources", title, claims, note)
