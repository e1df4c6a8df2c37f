"""Runs that say why a claim comes out as it does: the suspected cause switched on and off."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from spillgate.papers.judge import outcome, shown, within
from spillgate.papers.lab import Case, Lab, Protocol
from spillgate.papers.measured import Measured, PerRun, View, largest
from spillgate.papers.mitroi import system
from spillgate.papers.mitroi.claims import CLAIMS, explained, waiting
from spillgate.papers.model import Cell, Quantity, Table, Trial


def _class(m: Measured, variant: str) -> Callable[[str, str], PerRun]:
    return lambda name, metric: m.of(variant, "class", name, metric)


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
    waiting_there: dict[str, Quantity] = {}
    for label, _, link in WFQ_FORMS:
        of = _class(m, label)
        queues = [q for q in m.names(label, "queue") if q.startswith(f"{link}/")]
        backlog = m.of(label, "queue", queues[0], "backlog_packets_mean").quantity
        voice, video = of("voice", "loss_ratio"), of("video", "loss_ratio")
        fits = (
            within("", voice, above=0.10, below=0.15).holds,
            within("", video, above=0.15, below=0.25).holds,
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
                *("yes" if fit else "no" for fit in fits),
            )
        )
        waiting_there[label] = backlog
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
            "voice as in M1",
            "video as in M2",
        ),
        tuple(rows),
        "Whether the losses are within the bounds of M1 and of M2; their order is another matter.",
    )

    def loss(label: str) -> str:
        return shown(m.of(label, "class", "voice", "loss_ratio").quantity)

    (fifo, _, _), (before, _, _), *_, (textbook_form, _, _) = WFQ_FORMS
    text = (
        f"Textbook WFQ on the line has voice lose {loss(textbook_form)}, FIFO {loss(fifo)}. The "
        "paper tells of one figure for FIFO and WFQ, and of interfaces of 1 Gb/s limited to "
        "100 Mb/s. Fair queueing is a command of the interface; on such an interface, before the "
        f"limit, {shown(waiting_there[before])} wait in its queue in the mean, the queue of the "
        f"limit drops, and voice loses {loss(before)}."
    )
    return table, text


LIMITS = (2, 4, 8, 16, 24, 32, 40, 64, 128, 264, 276, 300)
"""Limits of FIFO in packets, on a line of 1 ms."""
LONG = (264, 276, 300, 330)
"""The same on a line of `LONG_DELAY`."""
LONG_DELAY = "10 ms"
MOST = 300
"""The limit with which M8's suspected cause is off."""


def delay_buffers(
    lab: Lab, protocol: Protocol
) -> tuple[Table, tuple[tuple[int, PerRun], ...], View]:
    """FIFO's limit and the line's delay against M4 and M8.

    Returns:
        The table, the ratio of the delays by limit, and the policies with the limit `MOST`.
    """
    llq, wred = "CBWFQ-LLQ", "CBWFQ-LLQ-WRED"
    far: dict[str, object] = {"topology.links.wan.delay": LONG_DELAY}
    lines: tuple[tuple[str, Sequence[int], dict[str, object]], ...] = (
        ("1 ms", LIMITS, {}),
        (LONG_DELAY, LONG, far),
    )
    cases = []
    for line, limits, values in lines:
        cases += [Case(f"{p}, {line}", {**system.at_line(p), **values}) for p in (llq, wred)]
        cases += [
            Case(f"FIFO {n}, {line}", {**system.fifo_limit(n), **system.at_line("FIFO"), **values})
            for n in limits
        ]
    m = Measured(lab.run("FIFO's limit", cases, protocol), ("class", "queue"))
    tests = {c.id: c.test for c in CLAIMS if c.id in ("M4", "M8")}
    rows: list[tuple[Cell, ...]] = []
    ratios, both = [], []
    longer = None
    for line, limits, _ in lines:
        for n in limits:
            rest = {p: (m, f"{p}, {line}") for p in (llq, wred)}
            v = View({"FIFO": (m, f"FIFO {n}, {line}"), **rest})
            delays = (v.cls(p, "critical", "owd_mean").quantity for p in ("FIFO", llq, wred))
            verdicts = {k: outcome(test(v)).replace("_", " ") for k, test in tests.items()}
            if line == "1 ms":
                ratios.append((n, _ratio(v)))
                longer = v
            if set(verdicts.values()) == {"reproduced"}:
                both.append(f"{n} packets on a line of {line}")
            waits = waiting(v, "FIFO", "voice") / waiting(v, llq, "voice")
            rows.append(
                (
                    f"{n} packets",
                    line,
                    _ratio(v).quantity,
                    waits.quantity,
                    *delays,
                    *verdicts.values(),
                )
            )
    if longer is None:  # pragma: no cover
        msg = "no limit was run"
        raise ValueError(msg)
    table = Table(
        "fifo-limit",
        "FIFO's limit and the line's delay against M4 and M8",
        (
            "FIFO's limit",
            "line",
            "voice delay FIFO / LLQ",
            "voice waiting FIFO / LLQ",
            "AF3x delay FIFO",
            "policy 4",
            "policy 5",
            *tests,
        ),
        tuple(rows),
        "A queue of n packets that is served at rate r delays by n L / r, so that M8 asks for a "
        "FIFO that holds more time than a class's queue, and M4 for one that does not hold much "
        f"more than the line delays. Both are reproduced with: {', '.join(both) or 'no row'}.",
    )
    return table, tuple(ratios), longer


def _ratio(v: View) -> PerRun:
    return v.cls("FIFO", "voice", "owd_mean") / v.cls("CBWFQ-LLQ", "voice", "owd_mean")


IN_STEP = (
    "Streams of one rate that start together stay together and meet the full queue as one burst, "
    "so that loss goes with the rate; and in table 1 the rate grows with y. Each packet is moved "
    "by up to 0.01 % of the gap, which only shuffles packets that are sent at the same instant."
)


EVEN_POLICIES = ("CBWFQ", "CBWFQ-LLQ", "CBWFQ-LLQ-WRED")
"""What M9 and M10 are about."""


def even_rates(lab: Lab, protocol: Protocol) -> Table:
    """M9 and M10 with all streams in step, but without what makes y count: unequal rates."""
    even = lab.write("traffic-even.csv", system.evened())
    values = {**system.IN_STEP, "traffic.0.csv.file": even}
    cases = [Case(p, {**system.at_line(p), **values}) for p in EVEN_POLICIES]
    m = Measured(lab.run("Started together, equal rates in a class", cases, protocol), ("dscp",))
    view = View({p: (m, p) for p in EVEN_POLICIES})
    found = {c.id: outcome(c.test(view)) for c in CLAIMS if c.id in ("M9", "M10")}
    points = [d for d in system.DATA_POINTS if not d.startswith("af1")]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (p, *(m.of(p, "dscp", d, "loss_ratio").quantity for d in points)) for p in EVEN_POLICIES
    )
    said = ", ".join(f"{k} is {v.replace('_', ' ')}" for k, v in found.items())
    return Table(
        "points-even",
        "Loss by DSCP, all streams started together, equal rates in each class",
        ("policy", *(d.upper() for d in points)),
        rows,
        "The same with unequal rates off: every flow of a class has the mean rate of the class. "
        f"Then {said}.",
    )


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


MOVING = "98 Mb/s offered, Poisson"
"""Where FIFO's queue does not stand full."""


def standing_queues(lab: Lab, protocol: Protocol) -> tuple[Table, View]:
    """Jitter against whether FIFO's queue stands still, and the policies where it moves."""
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
        (MOVING, {"traffic.0.csv.file": below, system.DEFAULTS: poisson}),
    )
    cases = [
        Case(f"{label}: {p}", {**system.settings(p), **values})
        for label, values in settings
        for p in (*system.POLICIES, "RED")
    ]
    m = Measured(lab.run("Queues that stand still", cases, protocol), ("class", "queue"))
    claim = next(c for c in CLAIMS if c.id == "M11")
    views = {
        label: View({p: (m, f"{label}: {p}") for p in system.POLICIES}) for label, _ in settings
    }
    rows: list[tuple[Cell, ...]] = []
    for label, view in views.items():
        for p in ("FIFO", "RED", "CBWFQ", "CBWFQ-LLQ"):
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
                    outcome(claim.test(view)).replace("_", " ") if p == "FIFO" else "",
                )
            )
    table = Table(
        "jitter",
        "Jitter where the queue stands still and where it moves",
        ("traffic", "policy", "voice jitter", "video jitter", "p99 − p50, the larger", "M11"),
        tuple(rows),
        "Open-loop traffic above the line's rate keeps a tail-drop FIFO full, so that packets "
        "wait long and nearly the same time. M11 compares all class-based policies.",
    )
    return table, views[MOVING]


def trials(
    v: View, step: View, order: View, wider: View, chosen: View, longer: View, moving: View
) -> dict[str, tuple[Trial, ...]]:
    """What each claim is with a suspected cause off.

    Args:
        v: The claims' own runs.
        step: All streams started together.
        order: Streams started in the order of table 1.
        wider: LLQ with a larger share for voice; `chosen` are the runs to compare it with.
        chosen: As above.
        longer: FIFO with the limit `MOST`.
        moving: A load below the line's rate.
    """
    claims = {c.id: c for c in CLAIMS}
    phases = "phases of the streams are random, so that which of them lose is chance"

    def tried(of: str, cause: str, off: str, view: View, on: View | None = None) -> Trial:
        test = claims[of].test
        return Trial(cause, off, test(view), test(v if on is None else on))

    found: dict[str, tuple[Trial, ...]] = {
        of: (tried(of, phases, system.ORDERED, order),)
        for of in ("M1", "M2", "M9", "M10", "M11", "M12")
    }
    for of in ("M9", "M10", "M12"):
        found[of] += (tried(of, phases, "all streams start together", step),)
    labels = "LLQ's policer counts labels, which its rate leaves no room for"
    found["M3"] = (tried("M3", labels, "16 % of the line for voice", wider, chosen),)
    short = "FIFO's queue holds less time than the queues of AF3x and AF2x"
    found["M8"] = (tried("M8", short, f"{MOST} packets in FIFO", longer),)
    still = "traffic above the line's rate keeps FIFO full, so that packets wait alike"
    found["M11"] = (tried("M11", still, MOVING, moving), *found["M11"])
    return found
