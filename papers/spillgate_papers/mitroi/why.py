"""What was measured and why: tables and figures, and the runs of those that explain."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from spillgate_papers.grid import Batch, Effort, Grid
from spillgate_papers.groups import explained
from spillgate_papers.measured import View
from spillgate_papers.mitroi import claims, system
from spillgate_papers.mitroi.claims import BY_ID, FIFO, LLQ, MOVING, ORDER, STEP, WRED
from spillgate_papers.mitroi.silent import DELAY
from spillgate_papers.mitroi.system import ALSO, CLASSES, POLICIES, at_line
from spillgate_papers.show import (
    By,
    Column,
    Curves,
    Panel,
    Text,
    filled,
    logarithmic,
    side_by_side,
    verdict,
)
from spillgate_papers.terms import Bound, Term, most, number, queued, value

MAIN = Effort(5, 60, quick=(1, 3))
REPEATING = Effort(5, 10, quick=(1, 3))
"""Of what repeats itself every 2 s without jitter: frames of 208.5, 370.5, 55.5 per second and of
whole numbers per second. Longer runs would measure the same again."""
VARIED = Effort(1, 4, quick=(1, 1))
BRIEF = Effort(1, 3, quick=(1, 1), runs=5)
"""Of what no claim rests on."""


def classes(
    file: str, title: str, of: Mapping[str, str], shown: Mapping[str, Column], note: Text
) -> By:
    """Points by class."""
    return By(file, title, {"policy": of, "class": CLASSES}, shown, note)


def _points(
    file: str,
    title: str,
    of: Mapping[str, str],
    note: Text = "",
    points: Sequence[str] = ("ef", "af41", *system.DATA_POINTS),
) -> By:
    """Loss by DSCP."""
    losses: dict[str, Column] = {d.upper(): ("loss_ratio", d, "dscp") for d in points}
    return By(file, title, {"policy": of}, losses, note)


def under(setting: str, policies: Sequence[str] = POLICIES) -> dict[str, str]:
    """Points in a setting, with the policies that are shown of them."""
    return {f"{p}, {setting}": p for p in policies}


SHORT = {"loss": "loss_ratio", "delay": "owd_mean", "p99": "owd_p99", "jitter": "jitter"}
LONG: dict[str, Column] = {
    "offered": "offered",
    "throughput": "throughput",
    "loss": "loss_ratio",
    "delay": "owd_mean",
    "p50": "owd_p50",
    "p95": "owd_p95",
    "p99": "owd_p99",
    "jitter": "jitter",
    "p99 − p50": lambda p, c: value("owd_p99", p, c) - value("owd_p50", p, c),
}
EVERY = {p: p for p in (*POLICIES, *ALSO)}
EXACT = under("exact")
NOTE = "Delay is one-way; jitter that of RFC 3550; p99 − p50 the delay variation of RFC 5481."
ALSO_SAID = "PQ, RED and ECN are described by the paper, which does not test them."
MEASURED = (
    classes("classes", "By class", EVERY, LONG, f"{NOTE} {ALSO_SAID}"),
    _points("points", "Loss by DSCP", EVERY, ALSO_SAID),
    classes("classes-exact", "By class, without jitter", EXACT, LONG, NOTE),
    _points("points-exact", "Loss by DSCP, without jitter", EXACT),
)

FORMS: dict[str, tuple[str, Mapping[str, object]]] = {
    "FIFO": ("wan", at_line("FIFO")),
    "on the 1 Gb/s port, a limit of 100 Mb/s after it": ("port", system.BEFORE_LIMIT),
    "on the 1 Gb/s port, policed to 100 Mb/s": (
        "wan",
        {"topology.links.wan.rate": "1 Gb/s", **at_line("WFQ-POLICED")},
    ),
    "on the line, 64 packets in all": ("wan", at_line("WFQ-SHARED")),
    "on the line, 1000 packets in all": ("wan", at_line("WFQ")),
    "on the line, 4096 conversations": ("wan", at_line("WFQ-LARGE")),
    "textbook: no collisions, 64 packets a flow": (
        "wan",
        {
            "policies.TEXTBOOK": {"wfq": {"limit": "64 packets", "hold_queue": "4000 packets"}},
            **at_line("TEXTBOOK"),
        },
    ),
}
"""Where the paper may have had WFQ: the link whose queue it is, and values to replace."""
PLACED = {f"{form}, placed": form for form in FORMS}
BEFORE = f"{list(FORMS)[1]}, placed"


def _backlog(p: str) -> Term:
    return queued("backlog_packets_mean", p, FORMS[PLACED[p]][0])


def _fits(of: Callable[[str], Bound]) -> Column:
    return lambda p: lambda v: "yes" if number(of(p))(v).holds else "no"


WFQ_SAID = filled(
    "Textbook WFQ on the line has voice lose {textbook}, FIFO {fifo}. The paper tells of one "
    "figure for FIFO and WFQ, and of interfaces of 1 Gb/s limited to 100 Mb/s. Fair queueing is a "
    "command of the interface; on such an interface, before the limit, {waiting} wait in its "
    "queue in the mean, the queue of the limit drops, and voice loses {before}.",
    textbook=value("loss_ratio", list(PLACED)[-1], "voice"),
    fifo=value("loss_ratio", "FIFO, placed", "voice"),
    waiting=queued("backlog_packets_mean", BEFORE, "port"),
    before=value("loss_ratio", BEFORE, "voice"),
)

LABELED = {
    "no label, 15 % for voice": (0, system.settings(LLQ)),
    "one label, 15 %": (1, {**system.settings("MPLS-CBWFQ-LLQ"), "topology.mpls.php": True}),
    "two labels, 15 %": (2, system.settings("MPLS-CBWFQ-LLQ")),
    "two labels, 16 %": (None, {**system.settings("MPLS-CBWFQ-LLQ"), **system.llq_share(16)}),
}
"""LLQ with labels: how many are counted by a policer that has no room for them, and values."""
VOICE = system.FLOWS.offered("voice")
MORE = VOICE * system.LABEL / system.FRAME


def _expected(p: str) -> str:
    labels = LABELED[p][0]
    return "" if labels is None else f"{system.policed(labels):.3%}".replace("%", " %")


LIMITS = {"1 ms": (2, 4, 8, 16, 24, 32, 40, 64, 128, 264, 276, 300), "10 ms": (264, 276, 300, 330)}
"""Limits of FIFO in packets by the line's delay."""
LIMITED = {
    f"{n} packets": {**at_line(FIFO), **system.fifo_limit(n)}
    for n in sorted({n for of in LIMITS.values() for n in of})
}


def _there(line: str, limit: str) -> bool:
    return limit not in LIMITED or int(limit.split()[0]) in LIMITS[line]


def _limit(line: str, limit: str) -> dict[str, str]:
    """The points of the claims about FIFO's limit."""
    return {FIFO: f"{line}, {limit}", LLQ: f"{line}, {LLQ}", WRED: f"{line}, {WRED}"}


def _cut(line: str, limit: str) -> Term:
    """How many times LLQ cuts the delay of voice."""
    return claims.fall(f"{line}, {limit}", f"{line}, {LLQ}")


def _both(v: View) -> str:
    found = [
        f"{n} packets on a line of {line}"
        for line, of in LIMITS.items()
        for n in of
        if all(
            verdict(BY_ID[c], _limit(line, f"{n} packets"))(v) == "reproduced"
            for c in ("M4", "M8")
        )
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
    By(
        "wfq-places",
        "WFQ where the paper may have had it",
        {"WFQ": PLACED},
        {
            "voice loss": ("loss_ratio", "voice"),
            "video loss": ("loss_ratio", "video"),
            "AF2x loss": ("loss_ratio", "non-critical"),
            "voice delay": ("owd_mean", "voice"),
            "AF2x delay": ("owd_mean", "non-critical"),
            "packets waiting in it": _backlog,
            "voice as in M1": _fits(lambda p: value("loss_ratio", p, "voice").between(0.10, 0.15)),
            "video as in M2": _fits(lambda p: value("loss_ratio", p, "video").between(0.15, 0.25)),
        },
        "Whether the losses are within the bounds of M1 and of M2; their order is another matter.",
    ),
    By(
        "labels",
        "Voice in LLQ with labels, steady state",
        {"policy": tuple(LABELED)},
        {
            "voice loss": ("loss_ratio", "voice"),
            "voice delay": ("owd_mean", "voice"),
            "loss expected": _expected,
        },
        f"Voice offers {VOICE:g} Mb/s of IP packets, LLQ's policer gives it as much of the line, "
        f"and each label adds {MORE:g} Mb/s. Expected: what is above the policer's rate, over "
        "what is offered with labels. The policer's 200 ms of tokens would last for "
        f"{0.2 * VOICE / (2 * MORE):g} s with two labels and {0.2 * VOICE / MORE:g} s with one; a "
        "burst of voice before anything is measured uses them up.",
    ),
    By(
        "fifo-limit",
        "FIFO's limit and the line's delay against M4 and M8",
        {"line": tuple(LIMITS), "FIFO's limit": tuple(LIMITED)},
        {
            "voice delay FIFO / LLQ": _cut,
            "voice waiting FIFO / LLQ": lambda line, n: claims.waits(
                f"{line}, {n}", f"{line}, {LLQ}"
            ),
            "AF3x delay FIFO": ("owd_mean", "critical"),
            "policy 4": lambda line, _: value("owd_mean", f"{line}, {LLQ}", "critical"),
            "policy 5": lambda line, _: value("owd_mean", f"{line}, {WRED}", "critical"),
            "M4": lambda line, n: verdict(BY_ID["M4"], _limit(line, n)),
            "M8": lambda line, n: verdict(BY_ID["M8"], _limit(line, n)),
        },
        filled(
            "A queue of n packets that is served at rate r delays by n L / r, so that M8 asks for "
            "a FIFO that holds more time than a class's queue, and M4 for one that does not hold "
            "much more than the line delays. Both are reproduced with: {both}.",
            both=_both,
        ),
        _there,
    ),
    _points(
        "points-together",
        "Loss by DSCP, all streams started together",
        under(STEP),
        "Streams of one rate that start together stay together and meet the full queue as one "
        "burst, so that loss goes with the rate; and in table 1 the rate grows with y. Each "
        "packet is moved by up to 0.01 % of the gap, which only shuffles packets "
        "that are sent at the same instant.",
    ),
    _points(
        "points-even",
        "Loss by DSCP, all streams started together, equal rates in each class",
        under("even rates", EVEN),
        filled(
            "The same with unequal rates off: every flow of a class has the mean rate of the "
            "class. Then M9 is {m9}, M10 is {m10}.",
            m9=verdict(BY_ID["M9"], claims.at("even rates", EVEN)),
            m10=verdict(BY_ID["M10"], claims.at("even rates", EVEN)),
        ),
        system.CONGESTED_POINTS,
    ),
    By(
        "levels",
        "Loss of data flows under FIFO by their rate",
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
        "Widest: largest minus smallest loss of flows of the same rate. Explained: share of the "
        "variance of the flows' loss that lies between rates.",
    ),
    By(
        "jitter",
        "Jitter where the queue stands still and where it moves",
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
        "Open-loop traffic above the line's rate keeps a tail-drop FIFO full, so that packets "
        "wait long and nearly the same time. M11 compares all class-based policies.",
        bare=0,
    ),
)

POLICY = system.along_policies
BATCHES = (
    Batch(
        "Started together, equal rates in a class",
        Grid(
            policy=POLICY(EVEN),
            source={"even rates": {**system.IN_STEP, system.FILE: "traffic-even.csv"}},
        ),
        REPEATING,
    ),
    Batch(
        "WFQ in its possible places",
        Grid(wfq={form: values for form, (_, values) in FORMS.items()}, place={"placed": {}}),
        BRIEF,
    ),
    Batch(
        "FIFO's limit",
        Grid(
            line={line: {DELAY: line} for line in LIMITS},
            policy={**POLICY((LLQ, WRED)), **LIMITED},
        ).only(_there),
        BRIEF,
    ),
    Batch("Labels", Grid(policy={k: values for k, (_, values) in LABELED.items()}), VARIED),
    Batch(
        "Queues that stand still", Grid(policy=POLICY((*POLICIES, "RED")), traffic=TRAFFIC), VARIED
    ),
)


def _cluster(place: str, title: str) -> Panel:
    lines, look = side_by_side(
        {f"{r:g}": losses for r, losses in claims.flow_losses(place).items()}
    )
    x, y = "rate of the flow (Mb/s)", "lost packets of the flow (%)"
    return Panel(title, x, y, lines, legend="", factor=100.0, dots=True, look=look)


FIGURES = (
    Curves(
        "m4-fifo-limit",
        "M4: the ratio by FIFO's limit",
        (
            Panel(
                "M4: the ratio is that of FIFO's buffer",
                "FIFO's limit (packets)",
                "voice delay, FIFO / LLQ",
                {"measured": {float(n): _cut("1 ms", f"{n} packets") for n in LIMITS["1 ms"]}},
                {"paper: 3.5": 3.5, "from 2.5": 2.5, "to 5": 5.0},
                look=logarithmic((4, 8, 16, 40, 100, 300), (1, 2, 3.5, 5, 10, 20, 30)),
            ),
        ),
        size=(5.4, 3.2),
    ),
    Curves(
        "m12-levels",
        "M12: levels of loss",
        tuple(_cluster(place, title) for place, title in STARTS.items()),
        size=(9.9, 3.2),
        shared=True,
    ),
)
