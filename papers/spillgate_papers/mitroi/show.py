"""What is run, and what the page shows: what was measured, why, and what lies beyond the paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean

from spillgate.labels import short_of
from spillgate_papers import show
from spillgate_papers.flows import Row
from spillgate_papers.grid import Batch, Settings, Value, places
from spillgate_papers.groups import explained
from spillgate_papers.lab import Effort
from spillgate_papers.measured import View
from spillgate_papers.mitroi import claims, system
from spillgate_papers.mitroi.claims import BY_ID, MOVING, ORDER, STEP
from spillgate_papers.mitroi.system import ALSO, CLASSES, FIFO, LLQ, POLICIES, TEXTS, WRED
from spillgate_papers.model import Section
from spillgate_papers.rivals import rivals
from spillgate_papers.search import Search
from spillgate_papers.show import Bars, Column, Panel, compared, from_zero, logarithmic, verdict
from spillgate_papers.study import Study
from spillgate_papers.terms import Term, most, number, queued, value

REPEATING = Effort(5, 10, quick=(1, 3))
"""Of what repeats itself every 2 s without jitter: frames of 208.5, 370.5, 55.5 per second and of
whole numbers per second. Longer runs would measure the same again."""
VARIED = Effort(1, 4, quick=(1, 1))
BRIEF = Effort(1, 3, quick=(1, 1), runs=5)
"""Of what no claim rests on."""
POLICY = system.along_policies


def under(setting: str, policies: Sequence[str] = POLICIES) -> dict[str, str]:
    """Points in a setting, with the policies that are shown of them."""
    return {f"{p}, {setting}": p for p in policies}


def by_dscp(points: Sequence[str]) -> dict[str, Column]:
    """Loss by DSCP."""
    return {d.upper(): ("loss_ratio", d, "dscp") for d in points}


SHORT = {"loss": "loss_ratio", "delay": "owd_mean", "p99": "owd_p99", "jitter": "jitter"}
LONG: dict[str, Column] = {
    **{x: x for x in ("offered", "throughput")},
    **{x: SHORT[x] for x in ("loss", "delay")},
    **{p: f"owd_{p}" for p in ("p50", "p95", "p99")},
    "jitter": "jitter",
    "p99 − p50": lambda p, c: value("owd_p99", p, c) - value("owd_p50", p, c),
}
EVERY, EXACT = {p: p for p in (*POLICIES, *ALSO)}, under("exact")
LOSSES = by_dscp(("ef", "af41", *system.DATA_POINTS))
MEASURED = (
    TEXTS.by("classes", {"policy": EVERY, "class": CLASSES}, LONG),
    TEXTS.by("points", {"policy": EVERY}, LOSSES),
    TEXTS.by("classes-exact", {"policy": EXACT, "class": CLASSES}, LONG),
    TEXTS.by("points-exact", {"policy": EXACT}, LOSSES),
)

TEXTBOOK = {"wfq": {"limit": "64 packets", "hold_queue": "4000 packets"}}
ON_PORT = "on the 1 Gb/s port, a limit of 100 Mb/s after it"
FORMS: dict[str, Mapping[str, object]] = {
    FIFO: system.at_line(FIFO),
    ON_PORT: system.BEFORE_LIMIT,
    "on the 1 Gb/s port, policed to 100 Mb/s": {
        f"{system.WAN}.rate": "1 Gb/s",
        **system.at_line("WFQ-POLICED"),
    },
    "on the line, 64 packets in all": system.at_line("WFQ-SHARED"),
    "on the line, 1000 packets in all": system.at_line("WFQ"),
    "on the line, 4096 conversations": system.at_line("WFQ-LARGE"),
    "textbook: no collisions, 64 packets a flow": {
        "policies.TEXTBOOK": TEXTBOOK,
        **system.at_line("TEXTBOOK"),
    },
}
"""Where the paper may have had WFQ."""
PLACED = {f"{form}, placed": form for form in FORMS}


def _backlog(place: str) -> Term:
    return queued("backlog_packets_mean", place, "port" if place.startswith(ON_PORT) else "wan")


def _fits(cls: str, low: float, high: float) -> Column:
    losses = {p: number(value("loss_ratio", p, cls).between(low, high)) for p in PLACED}
    return lambda p: lambda v: "yes" if losses[p](v).holds else "no"


LABELED = {
    "no label, 15 % for voice": system.settings(LLQ),
    "one label, 15 %": {**system.settings("MPLS-CBWFQ-LLQ"), "topology.mpls.php": True},
    "two labels, 15 %": system.settings("MPLS-CBWFQ-LLQ"),
    "two labels, 16 %": {**system.settings("MPLS-CBWFQ-LLQ"), **system.llq_share(16)},
}
"""LLQ with labels; but for the last the policer has no room for them."""
EXPECTED = [*(f"{system.policed(n):.3%}".replace("%", " %") for n in range(3)), ""]
VOICE = system.FLOWS.offered("voice")
MORE = VOICE * system.LABEL / system.FRAME

LIMITS = {"1 ms": (2, 4, 8, 16, 24, 32, 40, 64, 128, 264, 276, 300), "10 ms": (264, 276, 300, 330)}
"""Limits of FIFO in packets by the line's delay."""
LIMITED = {
    f"{n} packets": {**system.at_line(FIFO), **system.fifo_limit(n)}
    for n in sorted({n for of in LIMITS.values() for n in of})
}


def _there(line: str, limit: str) -> bool:
    return limit not in LIMITED or int(limit.split()[0]) in LIMITS[line]


def _cut(line: str, limit: str) -> Term:
    return claims.fall(f"{line}, {limit}", f"{line}, {LLQ}")


def _limited(claim: str) -> Callable[[str, str], Callable[[View], str]]:
    """What a claim about FIFO's limit is on a line with one."""
    places = {FIFO: "{0}, {1}", LLQ: f"{{0}}, {LLQ}", WRED: f"{{0}}, {WRED}"}
    return lambda *of: verdict(BY_ID[claim], {k: x.format(*of) for k, x in places.items()})


def _both(v: View) -> str:
    found = [
        f"{limit} on a line of {line}"
        for line in LIMITS
        for limit in LIMITED
        if _there(line, limit)
        and all(_limited(c)(line, limit)(v) == "reproduced" for c in ("M4", "M8"))
    ]
    return ", ".join(found) or "no row"


TRAFFIC: dict[str, Mapping[str, object]] = {
    "as chosen": {},
    "Poisson": system.POISSON,
    "98 Mb/s offered": system.at_load(system.BELOW),
    MOVING: {**system.at_load(system.BELOW), **system.POISSON},
}
"""Traffic under which FIFO's queue stands full, or moves."""
STARTS = {
    "FIFO, exact": "random phases, no jitter",
    f"FIFO, {STEP}": STEP,
    f"FIFO, {ORDER}": ORDER,
}
EVEN = ("CBWFQ", LLQ, WRED)
"""What M9 and M10 are about."""
TABLES = (
    TEXTS.by(
        "wfq-places",
        {"WFQ": PLACED},
        {
            "voice loss": ("loss_ratio", "voice"),
            "video loss": ("loss_ratio", "video"),
            "AF2x loss": ("loss_ratio", "non-critical"),
            "voice delay": ("owd_mean", "voice"),
            "AF2x delay": ("owd_mean", "non-critical"),
            "packets waiting in it": _backlog,
            "voice as in M1": _fits("voice", 0.10, 0.15),
            "video as in M2": _fits("video", 0.15, 0.25),
        },
    ),
    TEXTS.by(
        "labels",
        {"policy": tuple(LABELED)},
        {
            "voice loss": ("loss_ratio", "voice"),
            "voice delay": ("owd_mean", "voice"),
            "loss expected": lambda p: EXPECTED[list(LABELED).index(p)],
        },
        {
            "voice": f"{VOICE:g}",
            "more": f"{MORE:g}",
            "two": f"{0.2 * VOICE / (2 * MORE):g}",
            "one": f"{0.2 * VOICE / MORE:g}",
        },
    ),
    TEXTS.by(
        "fifo-limit",
        {"line": tuple(LIMITS), "FIFO's limit": tuple(LIMITED)},
        {
            "voice delay FIFO / LLQ": _cut,
            "voice waiting FIFO / LLQ": lambda x, n: claims.waits(f"{x}, {n}", f"{x}, {LLQ}"),
            "AF3x delay FIFO": ("owd_mean", "critical"),
            "policy 4": lambda x, _: value("owd_mean", f"{x}, {LLQ}", "critical"),
            "policy 5": lambda x, _: value("owd_mean", f"{x}, {WRED}", "critical"),
            "M4": _limited("M4"),
            "M8": _limited("M8"),
        },
        {"both": _both},
        _there,
    ),
    TEXTS.by("points-together", {"policy": under(STEP)}, LOSSES),
    TEXTS.by(
        "points-even",
        {"policy": under("even rates", EVEN)},
        by_dscp(system.CONGESTED_POINTS),
        {x: verdict(BY_ID[x], claims.at("even rates", EVEN)) for x in ("M9", "M10")},
    ),
    TEXTS.by(
        "levels",
        {"start": STARTS},
        {
            **{
                f"{rate:g} Mb/s": lambda p, i=i: claims.by_rate(p, lambda g: fmean(g[i]))
                for i, rate in enumerate(system.RATES)
            },
            "widest of one rate": lambda p: claims.by_rate(
                p, lambda groups: max(max(g) - min(g) for g in groups)
            ),
            "explained by rate": lambda p: claims.by_rate(p, explained),
        },
    ),
    TEXTS.by(
        "jitter",
        {"traffic": tuple(TRAFFIC), "policy": (FIFO, "RED", "CBWFQ", LLQ)},
        {
            "voice jitter": lambda t, p: value("jitter", f"{p}, {t}", "voice"),
            "video jitter": lambda t, p: value("jitter", f"{p}, {t}", "video"),
            "p99 − p50, the larger": lambda t, p: most(
                value("owd_p99", f"{p}, {t}", c) - value("owd_p50", f"{p}, {t}", c)
                for c in system.REAL_TIME
            ),
            "M11": lambda t, p: verdict(BY_ID["M11"], claims.at(t)) if p == FIFO else "",
        },
        bare=0,
    ),
)


def _cluster(place: str, title: str) -> Panel:
    losses = {f"{r:g}": of for r, of in claims.flow_losses(place).items()}
    lines, look = show.side_by_side(losses)
    x, y = "rate of the flow (Mb/s)", "lost packets of the flow (%)"
    return Panel(title, x, y, lines, legend="", factor=100.0, dots=True, look=look)


FIGURES = (
    TEXTS.curves(
        "m4-fifo-limit",
        Panel(
            "M4: the ratio is that of FIFO's buffer",
            "FIFO's limit (packets)",
            "voice delay, FIFO / LLQ",
            {"measured": {float(n): _cut("1 ms", f"{n} packets") for n in LIMITS["1 ms"]}},
            {"paper: 3.5": 3.5, "from 2.5": 2.5, "to 5": 5.0},
            look=logarithmic((4, 8, 16, 40, 100, 300), (1, 2, 3.5, 5, 10, 20, 30)),
        ),
        size=(5.4, 3.2),
    ),
    TEXTS.curves(
        "m12-levels", *(_cluster(*of) for of in STARTS.items()), size=(9.9, 3.2), shared=True
    ),
)

OWN = frozenset({"fifo", "flow-wfq", "class-based", "red", "wred"})
"""Kinds that the paper's policies are made of; every other kind is a rival."""
RIVALS = rivals(OWN, system.WAN)
TCP, MODERN = (FIFO, "RED", "CBWFQ", LLQ, WRED), ("fifo with codel", "fq-codel")
"""The latter are rivals that need senders who slow down: they are measured with TCP, too."""


def _flow(row: Row) -> dict[str, object]:
    """A flow of table 1; what data classes write is sent through TCP."""
    source = {"cbr": {"rate": row["rate"], "packet": "1500 B", "jitter": "10 %"}}
    ends = {"from": "site-a", "to": "site-b", "count": int(row["count"]), "source": source}
    data = row["class"] not in system.REAL_TIME
    tcp = {"tcp": {"profile": "linux", "cc": "cubic"}} if data else {}
    return {"flow": {**{k: row[k] for k in ("name", "class", "dscp")}, **ends, **tcp}}


BY_TCP: dict[str, object] = {
    **{f"topology.links.{link}.duplex": True for link in ("lan-a", "wan", "lan-b")},
    "traffic": [_flow(row) for row in system.FLOWS.rows],
}
LOADED = {f"{load} Mb/s": system.at_load(load) for load in system.LOADS}
SWEPT = POLICIES[:5]
"""The policies whose load is swept."""
CALLS = {
    "loss": "loss_ratio",
    "MOS": "mos",
    "worst call's MOS": "mos_min",
    "R": "r_factor",
    short_of("mouth_to_ear"): "mouth_to_ear",
    "late": "late_ratio",
    "BurstR": "burst_ratio",
}
BEYOND = (
    TEXTS.by("voice", {"policy": tuple(EVERY)}, {k: (m, "voice") for k, m in CALLS.items()}),
    TEXTS.by(
        "load",
        {"policy": SWEPT, "offered": tuple(LOADED)},
        {
            "voice delay": ("owd_mean", "voice"),
            **{f"{c} loss": ("loss_ratio", c) for c in CLASSES},
        },
    ),
    TEXTS.by(
        "tcp",
        {"policy": under("TCP", (*TCP, *MODERN)), "class": CLASSES},
        {**SHORT, "throughput": "throughput"},
    ),
    TEXTS.by(
        "rivals",
        {"policy": under("briefly", (*POLICIES, *ALSO, *RIVALS)), "class": CLASSES},
        SHORT,
    ),
)


def _by_load(heading: str, metric: str, cls: str, factor: float) -> Panel:
    lines = {
        p: {float(x): value(metric, f"{p}, {x} Mb/s", cls) for x in system.LOADS} for p in SWEPT
    }
    x = "offered load (Mb/s)" if cls in system.CONGESTED else ""
    legend = "best" if metric == "owd_mean" else ""
    return Panel("", x, heading, lines, legend=legend, factor=factor, look=from_zero)


LOAD = TEXTS.curves(
    "load",
    _by_load("voice delay (ms)", "owd_mean", "voice", 1e3),
    _by_load("voice loss (%)", "loss_ratio", "voice", 100.0),
    _by_load("AF3x loss (%)", "loss_ratio", "critical", 100.0),
    _by_load("AF2x loss (%)", "loss_ratio", "non-critical", 100.0),
    rows=2,
    size=(8.2, 5.0),
)


def _started(title: str, label: str, value: Value, varied: Effort | None = None) -> Batch:
    note = "With hardly any jitter the traffic repeats itself every 2 s."
    grid = places(policy=POLICY(), source={label: value})
    return Batch(title, grid, REPEATING, varied, keep=True, note=note)


def _more(title: str, effort: Effort = BRIEF, /, **axes: Mapping[str, Settings]) -> Batch:
    return Batch(title, places(**axes), effort)


EVEN_RATES = {**system.IN_STEP, system.FILE: "traffic-even.csv"}
ALL = POLICY((*POLICIES, *ALSO))
LINES = {line: {system.DELAY: line} for line in LIMITS}
MEASURED_TWICE = {**POLICY(TCP), **{k: RIVALS[k] for k in MODERN}}
WITHOUT = "The same without jitter"
BATCHES = (
    Batch(
        "The paper's policies",
        places(policy=POLICY()),
        Effort(5, 60, quick=(1, 3)),
        VARIED,
        keep=True,
    ),
    Batch("Policies that it does not test", places(policy=POLICY(ALSO)), REPEATING, keep=True),
    _started(WITHOUT, "exact", Value({}, system.NO_JITTER), VARIED),
    _started("All streams started together", STEP, Value(system.IN_STEP)),
    _started("Streams started in order", ORDER, Value(system.in_order())),
    _more(
        "Started together, equal rates in a class",
        REPEATING,
        policy=POLICY(EVEN),
        source={"even rates": EVEN_RATES},
    ),
    _more("WFQ in its possible places", wfq=FORMS, place={"placed": {}}),
    Batch(
        "FIFO's limit",
        places(_there, line=LINES, policy={**POLICY((LLQ, WRED)), **LIMITED}),
        BRIEF,
    ),
    _more("Labels", VARIED, policy=LABELED),
    _more("Queues that stand still", VARIED, policy=POLICY((*POLICIES, "RED")), traffic=TRAFFIC),
    _more("Offered load", policy=POLICY(SWEPT), load=LOADED),
    _more("TCP in the data classes", policy=MEASURED_TWICE, traffic={"TCP": BY_TCP}),
    _more("Rivals", policy={**ALL, **RIVALS}, effort={"briefly": {}}),
)
REAL, DATA = system.REAL_TIME, tuple(CLASSES)[2:]
VARIATION = "Figure 10: delay variation of voice and video"
BARS = (
    Bars("fig06-delay-realtime", "Figure 6: delay of voice and video", "owd_mean", REAL),
    Bars("fig07-delay-data", "Figure 7: delay of the data classes", "owd_mean", DATA),
    Bars("fig08-loss-realtime", "Figure 8: loss of voice and video", "loss_ratio", REAL),
    Bars(
        *("fig09-loss-data", "Figure 9: loss of the data classes", "loss_ratio"),
        *(system.DATA_POINTS, "dscp", 3),
    ),
    Bars("fig10-delay-variation", VARIATION, "jitter", REAL),
)
SEARCH = Search(
    system.TOGETHER_AXES,
    replace(VARIED, runs=3),
    REPEATING,
    system.BRIEFLY,
    TEXTS.said("search")(View({})),
)


def sections(study: Study) -> Iterator[Section]:
    """What stands between the verdicts and the ledger."""
    v, exact, paper = study.main, study.lab.batches[WITHOUT], study.paper
    measured = study.measured()
    pictures = (*measured.pictures, *(f.picture(exact, EXACT, "exact") for f in BARS))
    yield replace(measured, tables=(*measured.tables, study.runs()), pictures=pictures)
    yield SEARCH.section(study)
    sources = {
        "with jitter": study.claims,
        "without jitter": paper.judged(v.moved({p: x for x, p in EXACT.items()})),
        **{x: paper.judged(study.switched(x)[0]) for x in (STEP, ORDER)},
    }
    text = TEXTS.said(
        "wfq",
        textbook=value("loss_ratio", list(PLACED)[-1], "voice"),
        fifo=value("loss_ratio", "FIFO, placed", "voice"),
        waiting=_backlog(f"{ON_PORT}, placed"),
        before=value("loss_ratio", f"{ON_PORT}, placed", "voice"),
    )
    note = TEXTS.said("sources")(v)
    table = compared("sources", "The claims by how the generator sends", sources, note)
    yield study.section("Why", text(v), (*TABLES, table), FIGURES, "wfq")
    yield study.section("Beyond the paper", "", BEYOND, (LOAD,))
