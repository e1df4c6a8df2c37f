"""Runs that say why a claim comes out as it does: the suspected cause switched on and off."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping

from spillgate.papers.judge import judge, shown, within
from spillgate.papers.lab import Case, Lab, Protocol
from spillgate.papers.measured import Measured, PerRun, View, largest
from spillgate.papers.mitroi import system
from spillgate.papers.mitroi.claims import CLAIMS, explained, waiting
from spillgate.papers.model import Cell, Judged, Point, Table


def _class(m: Measured, variant: str) -> Callable[[str, str], PerRun]:
    return lambda name, metric: m.of(variant, "class", name, metric)


def _fifo_limit(lab: Lab, packets: int) -> dict[str, object]:
    point = Point(
        f"{packets} packets", edit=((r"queue-limit 40 packets", f"queue-limit {packets} packets"),)
    )
    return lab.apply("explain fifo", point)


WFQ_FORMS: tuple[tuple[str, dict[str, object], str], ...] = (
    ("FIFO", system.at_line("FIFO"), "wan"),
    ("on the 1 Gb/s port, a limit of 100 Mb/s after it", system.before_limit("WFQ"), "port"),
    (
        "on the 1 Gb/s port, policed to 100 Mb/s",
        {"topology.links.wan.rate": "1 Gb/s", **system.at_line("WFQ-POLICED")},
        "wan",
    ),
    ("on the line, 64 packets in all", system.at_line("WFQ-SHARED"), "wan"),
    ("on the line, 1000 packets in all", system.at_line("WFQ"), "wan"),
    ("on the line, 4096 conversations", system.at_line("WFQ-LARGE"), "wan"),
    ("textbook: no collisions, 64 packets a flow", system.at_line("TEXTBOOK"), "wan"),
)
"""Places of WFQ: label, values to replace, the link whose queue it is."""


def wfq_places(lab: Lab, protocol: Protocol) -> tuple[Table, str]:
    """WFQ where the paper may have had it."""
    textbook = {
        "policies.TEXTBOOK": {"wfq": {"limit": "64 packets", "hold_queue": "4000 packets"}}
    }
    cases = [
        Case(label, {**(textbook if "TEXTBOOK" in values.values() else {}), **values})
        for label, values, _ in WFQ_FORMS
    ]
    m = Measured(lab.run("WFQ in its possible places", cases, protocol), ("class", "queue"))
    rows: list[tuple[Cell, ...]] = []
    for label, _, link in WFQ_FORMS:
        of = _class(m, label)
        queues = [q for q in m.names(label, "queue") if q.startswith(f"{link}/")]
        backlog = m.of(label, "queue", queues[0], "backlog_packets_mean").quantity
        voice, video = of("voice", "loss_ratio"), of("video", "loss_ratio")
        fits = (
            within("", voice, above=0.10).holds and within("", video, above=0.15, below=0.25).holds
        )
        rows.append(
            (
                label,
                voice.quantity,
                video.quantity,
                of("non-critical", "loss_ratio").quantity,
                of("voice", "owd_mean").quantity,
                of("non-critical", "owd_mean").quantity,
                backlog,
                "yes" if fits else "no",
            )
        )
    table = Table(
        "wfq-places",
        "WFQ where the paper may have had it",
        (
            "WFQ",
            "voice loss",
            "video loss",
            "AF2x loss",
            "voice delay",
            "AF2x delay",
            "packets waiting in it",
            "M1 and M2",
        ),
        tuple(rows),
        "Before the limit WFQ has nothing to choose from: its queue is empty, the queue of the "
        "limit drops, and what is measured is that of FIFO. On the line it protects flows below "
        "their fair share, the more so the fewer share a conversation or meet a full memory; with "
        "a small memory for all it decides who waits, but not who is dropped.",
    )
    fair = m.of(WFQ_FORMS[-1][0], "class", "voice", "loss_ratio").quantity
    text = (
        f"On the line itself WFQ would spare voice (textbook WFQ loses {shown(fair)}); the "
        "paper's figures are those of WFQ before the limit, where it never sees the backlog"
    )
    return table, text


LIMITS = (2, 4, 8, 16, 24, 32, 40, 64, 128, 264, 276, 300)
"""Limits of FIFO in packets."""


def delay_buffers(
    lab: Lab, protocol: Protocol
) -> tuple[Table, tuple[tuple[int, PerRun], ...], float | None]:
    """FIFO's limit against M4 and M8: a ratio of 3.5 wants a short queue, M8 a long one.

    Returns:
        The table, the ratio of the delays by limit, and the limit at which it is 3.5.
    """
    batch = "FIFO's limit"
    llq, wred = "CBWFQ-LLQ", "CBWFQ-LLQ-WRED"

    def run(limits: Iterable[int]) -> dict[int, View]:
        cases = [
            Case(f"FIFO {n}", {**_fifo_limit(lab, n), **system.at_line("FIFO")}) for n in limits
        ]
        cases += [Case(p, system.at_line(p)) for p in (llq, wred)]
        m = Measured(lab.run(batch, cases, protocol), ("class", "queue"))
        rest = {p: (m, p) for p in (llq, wred)}
        return {n: View({"FIFO": (m, f"FIFO {n}"), **rest}) for n in limits}

    found = run(LIMITS)
    ratios = {n: _ratio(v) for n, v in found.items()}
    means = {n: q.quantity.mean or 0.0 for n, q in ratios.items()}
    low = max((n for n in LIMITS if means[n] < 3.5), default=None)
    high = min((n for n in LIMITS if means[n] >= 3.5), default=None)
    root = None
    if low is not None and high is not None:
        # The delay of a full queue grows by the same time with each packet.
        root = low + (3.5 - means[low]) / (means[high] - means[low]) * (high - low)
        near = [n for n in (math.floor(root), math.ceil(root)) if n not in found]
        found |= run(near) if near else {}
        ratios = {n: _ratio(v) for n, v in found.items()}
    rows: list[tuple[Cell, ...]] = []
    for n, v in sorted(found.items()):
        first, fourth, fifth = (v.cls(p, "critical", "owd_mean") for p in ("FIFO", llq, wred))
        rows.append(
            (
                f"{n} packets",
                ratios[n].quantity,
                (waiting(v, "FIFO", "voice") / waiting(v, llq, "voice")).quantity,
                first.quantity,
                fourth.quantity,
                fifth.quantity,
                "yes" if within("", ratios[n], above=2.5, below=5.0).holds else "no",
                "yes" if within("", first - fourth, above=0.0).holds else "no",
            )
        )
    nearest = f"The delay falls 3.5 times with {root:.1f} packets. " if root is not None else ""
    table = Table(
        "fifo-limit",
        "FIFO's limit against M4 and M8",
        (
            "FIFO's limit",
            "voice delay FIFO / LLQ",
            "voice waiting FIFO / LLQ",
            "AF3x delay FIFO",
            "policy 4",
            "policy 5",
            "M4, delay",
            "M8: 4 below 1",
        ),
        tuple(rows),
        f"{nearest}A queue of n packets that is served at rate r delays by n L / r: 64 packets at "
        "AF3x's 23.5 Mb/s are 33 ms, 40 packets at 100 Mb/s 4.8 ms. M8 needs a FIFO of more than "
        "about 270 packets, M4 one of 18 to 43: no limit gives both.",
    )
    return table, tuple(sorted(ratios.items())), root


def _ratio(v: View) -> PerRun:
    return v.cls("FIFO", "voice", "owd_mean") / v.cls("CBWFQ-LLQ", "voice", "owd_mean")


IN_STEP = (
    "Streams of one rate that start together stay together and meet the full queue as one burst, "
    "so that loss goes with the rate; and in table 1 the rate grows with y. Each packet is moved "
    "by up to 0.01 % of the gap, which only shuffles packets that are sent at the same instant."
)


EVEN_POLICIES = ("CBWFQ", "CBWFQ-LLQ", "CBWFQ-LLQ-WRED")
"""What M9 and M10 are about."""


def even_rates(lab: Lab, protocol: Protocol) -> tuple[Table, dict[str, Judged]]:
    """M9 and M10 with all streams in step, but without what makes y count: unequal rates.

    Returns:
        Loss by DSCP, and the verdicts of the two claims there.
    """
    even = lab.write("traffic-even.csv", system.evened())
    values = {**system.IN_STEP, "traffic.0.csv.file": even}
    cases = [Case(p, {**system.at_line(p), **values}) for p in EVEN_POLICIES]
    m = Measured(lab.run("Started together, equal rates in a class", cases, protocol), ("dscp",))
    view = View({p: (m, p) for p in EVEN_POLICIES})
    found = {c.id: judge(c, c.test(view)) for c in CLAIMS if c.id in ("M9", "M10")}
    points = [d for d in system.DATA_POINTS if not d.startswith("af1")]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (p, *(m.of(p, "dscp", d, "loss_ratio").quantity for d in points)) for p in EVEN_POLICIES
    )
    said = ", ".join(f"{k} is {j.verdict.replace('_', ' ')}" for k, j in found.items())
    table = Table(
        "points-even",
        "Loss by DSCP, all streams started together, equal rates in each class",
        ("policy", *(d.upper() for d in points)),
        rows,
        "The same with the cause off: every flow of a class has the mean rate of the class. "
        f"Then y has no order: {said}.",
    )
    return table, found


def levels_table(groups: Mapping[str, Mapping[float, list[PerRun]]]) -> Table:
    """Mean loss under FIFO of the data flows of each rate, and how much the rate explains."""
    rates = sorted(next(iter(groups.values())))
    rows: list[tuple[Cell, ...]] = []
    for label, found in groups.items():
        runs = range(len(found[rates[0]][0].values))
        cut = [[[q.values[run] for q in found[r]] for r in rates] for run in runs]
        share = PerRun(tuple(explained(g) for g in cut), "1")
        means = [
            PerRun(tuple(sum(g[i]) / len(g[i]) for g in cut), "1").quantity
            for i in range(len(rates))
        ]
        spread = PerRun(tuple(max(max(x) - min(x) for x in g) for g in cut), "1")
        rows.append((label, *means, spread.quantity, share.quantity))
    return Table(
        "levels",
        "Loss of data flows under FIFO by their rate",
        ("start", *(f"{r:g} Mb/s" for r in rates), "widest of one rate", "explained by rate"),
        tuple(rows),
        "Widest: largest minus smallest loss of flows of the same rate. Explained: share of the "
        "variance of the flows' loss that lies between rates.",
    )


def standing_queues(lab: Lab, protocol: Protocol) -> Table:
    """Jitter against whether FIFO's queue stands still."""
    poisson = {
        "from": "site-a",
        "to": "site-b",
        "source": "poisson",
        "packet": "1500 B",
    }
    below = lab.write("traffic-below.csv", system.scaled(98.0))
    settings: tuple[tuple[str, dict[str, object]], ...] = (
        ("as chosen", {}),
        ("Poisson", {system.DEFAULTS: poisson}),
        ("98 Mb/s offered", {"traffic.0.csv.file": below}),
        ("98 Mb/s offered, Poisson", {"traffic.0.csv.file": below, system.DEFAULTS: poisson}),
    )
    policies = ("FIFO", "RED", "CBWFQ", "CBWFQ-LLQ")
    cases = [
        Case(f"{label}: {p}", {**system.at_line(p), **values})
        for label, values in settings
        for p in policies
    ]
    m = Measured(lab.run("Queues that stand still", cases, protocol), ("class", "queue"))
    rows: list[tuple[Cell, ...]] = []
    for label, _ in settings:
        for p in policies:
            of = _class(m, f"{label}: {p}")
            rows.append(
                (
                    label,
                    p,
                    of("voice", "jitter").quantity,
                    of("video", "jitter").quantity,
                    largest(
                        of(c, "owd_p99") - of(c, "owd_p50") for c in system.REAL_TIME
                    ).quantity,
                )
            )
    return Table(
        "jitter",
        "Jitter where the queue stands still and where it moves",
        ("traffic", "policy", "voice jitter", "video jitter", "p99 − p50, the larger"),
        tuple(rows),
        "Open-loop traffic above the line's rate keeps a tail-drop FIFO full: all packets wait "
        "long, nearly the same time, and jitter is small for the worst of reasons. Poisson "
        "packets do not change that, a load below the line's rate does: at 98 % the queue moves, "
        "and voice has several times the jitter of LLQ; in Poisson packets FIFO has more jitter "
        "than every class-based policy.",
    )
