"""C. Mitroi and D. Stroescu: congestion management in the customer-edge node.

The eight policies of the paper are run from the text of a router configuration (`system/`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from spillgate import _engine
from spillgate.papers.judge import judge, shown
from spillgate.papers.lab import Case, Lab, Protocol
from spillgate.papers.measured import Measured, View
from spillgate.papers.mitroi import beyond, explain, figures, system
from spillgate.papers.mitroi.claims import CLAIMS, by_rate, waiting
from spillgate.papers.mitroi.ledger import ASSUMPTIONS, WFQ_FORMS
from spillgate.papers.model import (
    OUTCOME_LETTERS,
    Cell,
    Judged,
    Ledgered,
    Point,
    Reproduction,
    Section,
    Table,
)
from spillgate.result import Results

TITLE = (
    "C. Mitroi and D. Stroescu, Optimization of congestion management mechanisms within customer "
    "equipment node in an intranet network"
)
SYSTEM = system.SYSTEM
RUNS = 10
QUICK_RUNS = 3

SLOW = ("CBWFQ-LLQ", "MPLS-CBWFQ-LLQ")
"""Policies that are run longer where LLQ's policer needs time to run out of tokens."""

BRIEF_RUNS = 5
"""Runs at each point of a sweep, and of the explanations."""

SCOPES = ("class", "dscp", "queue")
CLAIMED = ("loss_ratio", "owd_mean", "jitter", "sojourn_mean")
"""The metrics that claims are about."""
IN_STEP = "Loss by DSCP, all streams started together"
ALSO = "PQ, RED and ECN, which the paper describes and does not test, are measured for 10 s."
REPEATS = (
    "Without jitter the traffic repeats itself every 2 s, so 10 s are measured, in which LLQ's "
    "policer does not run out of tokens."
)


def take(results: Results, metrics: Sequence[str] | None = None) -> Measured:
    """What the claims need of results, or all metrics that the tables show."""
    return Measured(results, SCOPES, metrics, flow_metrics=("loss_ratio",))


def judged(v: View, because: Mapping[str, str] | None = None) -> tuple[Judged, ...]:
    """Every claim, from the policies of one setting."""
    why = because or {}
    return tuple(judge(c, c.test(v), why.get(c.id, "")) for c in CLAIMS)


def reproduce(lab: Lab) -> Reproduction:
    """Runs everything."""
    main = Protocol(lab.runs, 1.0, 3.0) if lab.quick else Protocol(lab.runs, 5.0, 60.0)
    brief = Protocol(3, 1.0, 1.0) if lab.quick else Protocol(BRIEF_RUNS, 1.0, 3.0)
    # Without jitter the traffic repeats itself every 2 s: frames of 208.5, 370.5, 55.5 per second
    # and of whole numbers per second. Longer runs would measure the same again.
    repeating = Protocol(lab.runs, main.warmup, main.duration if lab.quick else 10.0)

    policies = (*system.POLICIES, *system.ALSO)
    results = lab.run(
        "The paper's policies",
        [Case(p, system.settings(p)) for p in system.POLICIES],
        main,
        keep=True,
    )
    also = lab.run(
        "Policies that it does not test",
        [Case(p, system.settings(p)) for p in system.ALSO],
        repeating,
        keep=True,
    )
    exact = lab.run(
        "The same without jitter",
        [Case(p, {**system.settings(p), **system.NO_JITTER}) for p in system.POLICIES],
        repeating,
        keep=True,
    )
    in_step = lab.run(
        "All streams started together",
        [Case(p, {**system.settings(p), **system.IN_STEP}) for p in system.POLICIES],
        Protocol(brief.runs, repeating.warmup, repeating.duration),
        keep=True,
    )
    m = take(results) | take(also)
    without, together = take(exact), take(in_step, CLAIMED)
    step = View(_all(together))
    steps = {j.claim.id: j for j in judged(step)}
    v = View({p: (m, p) for p in system.POLICIES} | _exact(without))
    ledger, table, labels, voice = _ledger(lab, brief)
    places, wfq = explain.wfq_places(lab, brief)
    buffers, ratios, limit = explain.delay_buffers(lab, brief)
    moving = explain.standing_queues(lab, brief)
    even, evened = explain.even_rates(
        lab, Protocol(brief.runs, repeating.warmup, repeating.duration)
    )
    load, by_load = beyond.loads(lab, brief)
    tcp = beyond.tcp(lab, brief)
    quality = beyond.quality(m, policies)
    rivals = beyond.rivals(lab, brief)

    claims = judged(v, _because(v, wfq, limit, steps, evened) | {"M3": voice})
    models = {
        "with jitter": {j.claim.id: j for j in claims},
        "without jitter": {j.claim.id: j for j in judged(View(_all(without)))},
        "started together": steps,
    }
    groups = {
        "random phases, no jitter": by_rate(v, "FIFO, exact"),
        "started together": by_rate(step, "FIFO, exact"),
    }
    sections = (
        Section(
            "What was measured",
            "",
            (
                _classes(m, policies, "classes", "By class", ALSO),
                _points(m, policies, "points", "Loss by DSCP", ALSO),
                _classes(
                    without, system.POLICIES, "classes-exact", "By class, without jitter", REPEATS
                ),
                _points(without, system.POLICIES, "points-exact", "Loss by DSCP, without jitter"),
            ),
            (
                *figures.of_paper(results, system.POLICIES),
                *figures.of_paper(exact, system.POLICIES, ", without jitter"),
            ),
        ),
        Section(
            "Why",
            "",
            (
                places,
                labels,
                buffers,
                _points(together, system.POLICIES, "points-together", IN_STEP, explain.IN_STEP),
                even,
                _compared(models),
                explain.levels_table(groups),
                moving,
            ),
            (figures.ratio(ratios), figures.clusters(groups)),
        ),
        Section("Beyond the paper", "", (quality, load, tcp, rivals), (figures.by_load(by_load),)),
        Section("The claims under other assumptions", "", (table,)),
    )
    return Reproduction(
        "mitroi",
        TITLE,
        _engine.VERSION,
        lab.seed,
        lab.runs,
        lab.quick,
        claims,
        ledger,
        sections,
        lab.batches,
        lab.packets,
        lab.events,
    )


def _exact(m: Measured) -> dict[str, tuple[Measured, str]]:
    return {p: (m, p.partition(",")[0]) for p in system.EXACT}


def _all(m: Measured) -> dict[str, tuple[Measured, str]]:
    """Runs without jitter as every policy of the claims."""
    return {p: (m, p) for p in system.POLICIES} | _exact(m)


def _because(
    v: View,
    wfq: str,
    limit: float | None,
    steps: Mapping[str, Judged],
    evened: Mapping[str, Judged],
) -> dict[str, str]:
    llq = shown(waiting(v, "CBWFQ-LLQ", "voice").quantity)

    def step(claim: str) -> str:
        verdict = steps[claim].verdict.replace("_", " ")
        said = f"When the generator starts all streams at once the claim is {verdict}"
        if claim in evened:
            even = evened[claim].verdict.replace("_", " ")
            said += f"; so, but with equal rates for y = 1, 2, 3, it is {even}"
        missed = steps[claim].reason
        return f"{said} ({missed})" if missed else said

    ratio = (
        f"with a FIFO of {limit:.1f} packets"
        if limit is not None
        else "with no limit that was run"
    )
    return {
        "M1": wfq,
        "M2": wfq,
        "M4": f"LLQ leaves voice {llq} of waiting, so the ratio is that of FIFO's buffer: of "
        f"one-way delay it is 3.5 {ratio}",
        "M8": "WRED does shorten the queues, but FIFO's 40 packets at 100 Mb/s are less time than "
        "24 at a class's 23.5 Mb/s; policy 4 is below FIFO only where FIFO holds more than about "
        "270 packets, and then M4 fails",
        "M9": "Tail drop does not see the drop precedence, so with random phases y has no order. "
        + step("M9"),
        "M10": "With random phases tail drop favors no y, and WRED has nothing to move. "
        + step("M10"),
        "M11": "An overloaded tail-drop FIFO is always full, so that its packets wait long, and "
        "all alike; where its queue moves it has the most jitter",
        "M12": "Random phases spread the losses of single flows. " + step("M12"),
    }


def _classes(
    m: Measured, policies: tuple[str, ...], file: str, title: str, also: str = ""
) -> Table:
    columns = [
        ("offered", "offered"),
        ("throughput", "throughput"),
        ("loss", "loss_ratio"),
        ("delay", "owd_mean"),
        ("p50", "owd_p50"),
        ("p95", "owd_p95"),
        ("p99", "owd_p99"),
        ("jitter", "jitter"),
    ]
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            p if cls == "voice" else "",
            system.LABELS[cls],
            *(m.of(p, "class", cls, k).quantity for _, k in columns),
            (m.of(p, "class", cls, "owd_p99") - m.of(p, "class", cls, "owd_p50")).quantity,
        )
        for p in policies
        for cls in system.CLASSES
    )
    note = (
        "Delay is one-way; jitter that of RFC 3550; p99 − p50 the delay variation of RFC 5481. "
        "± is half the width of the 95 % interval over the runs."
    )
    head = ("policy", "class", *(h for h, _ in columns), "p99 − p50")
    return Table(file, title, head, rows, f"{note} {also}".rstrip())


def _points(
    m: Measured, policies: tuple[str, ...], file: str, title: str, note: str = ""
) -> Table:
    points = ("ef", "af41", *system.DATA_POINTS)
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (p, *(m.of(p, "dscp", d, "loss_ratio").quantity for d in points)) for p in policies
    )
    return Table(file, title, ("policy", *(d.upper() for d in points)), rows, note)


def _compared(models: Mapping[str, Mapping[str, Judged]]) -> Table:
    first = next(iter(models.values()))
    rows: list[tuple[Cell, ...]] = []
    for claim in first:
        cells: list[Cell] = [claim]
        for found in models.values():
            cells += [found[claim].verdict.replace("_", " "), found[claim].ours]
        rows.append(tuple(cells))
    head = ["claim"]
    for name in models:
        head += [name, "ours"]
    return Table(
        "sources",
        "The claims by how the generator sends",
        tuple(head),
        tuple(rows),
        "The verdicts of the paper's claims are those of the first column; M12 is about traffic "
        "without jitter in any case. Traffic without jitter repeats itself every 2 s and is "
        "measured for 10 s, in which LLQ's policer does not run out of tokens (M3).",
    )


class _Sweeps:
    """Policies at points of the ledger: some need long runs, the others short ones."""

    def __init__(self) -> None:
        self.cases: dict[bool, list[Case]] = {False: [], True: []}
        self.measured: dict[bool, Measured] = {}

    def add(self, label: str, policies: Mapping[str, dict[str, object]], *, slow: bool) -> None:
        """Plans policies, given with what they replace in the scenario."""
        for p, values in policies.items():
            self.cases[slow and p in SLOW].append(Case(f"{label}: {p}", values))

    def run(self, lab: Lab, short: Protocol, long: Protocol) -> None:
        """Runs what is planned."""
        for slow, protocol in ((False, short), (True, long)):
            name = "The ledger of assumptions" + (", slow effects" if slow else "")
            self.measured[slow] = take(lab.run(name, self.cases[slow], protocol), CLAIMED)

    def found(
        self, label: str, policies: Iterable[str], *, slow: bool
    ) -> dict[str, tuple[Measured, str]]:
        """Where the values of planned policies are."""
        return {p: (self.measured[slow and p in SLOW], f"{label}: {p}") for p in policies}


def _ledger(lab: Lab, protocol: Protocol) -> tuple[tuple[Ledgered, ...], Table, Table, str]:
    """Runs the sweep of every assumption, and says what the claims do.

    All points are compared with the choice itself under the same protocol, so that what changes
    is not the length of the runs.
    """
    every = (*system.POLICIES, *system.EXACT)
    chosen = "as chosen"
    sweeps = _Sweeps()
    settings = {p: system.settings(p) for p in every}
    sweeps.add(chosen, settings, slow=False)
    sweeps.add(chosen, {p: settings[p] for p in SLOW}, slow=True)
    for a in ASSUMPTIONS:
        for point in a.points:
            values = lab.apply(a.key, point)
            own = {p: placed(a.key, point, p, values) for p in a.policies or every}
            sweeps.add(f"{a.key}, {point.label}", own, slow=point.slow)
    # 40 s: the tokens of 200 ms last so long at 0.5 % above the rate.
    long = protocol if lab.quick else Protocol(protocol.runs, 40.0, protocol.duration)
    sweeps.run(lab, protocol, long)

    whole = {slow: sweeps.found(chosen, every, slow=slow) for slow in (False, True)}
    base = {slow: {j.claim.id: j for j in judged(View(v))} for slow, v in whole.items()}
    rows: list[tuple[Cell, ...]] = [
        ("", label, *(OUTCOME_LETTERS[j.verdict] for j in base[slow].values()))
        for slow, label in ((False, chosen), (True, f"{chosen} ¹"))
    ]
    ledger = []
    wider = ""
    for a in ASSUMPTIONS:
        effects = []
        for point in a.points:
            changed = sweeps.found(f"{a.key}, {point.label}", a.policies or every, slow=point.slow)
            view = View(whole[point.slow] | changed)
            found = {j.claim.id: j for j in judged(view)}
            effects.append(f"{point.label}: {_changes(base[point.slow], found)}")
            if a.key == "llq.rate":
                wider = found["M3"].verdict.replace("_", " ")
            label = f"{point.label} ¹" if point.slow else point.label
            rows.append((a.key, label, *(OUTCOME_LETTERS[j.verdict] for j in found.values())))
        ledger.append(Ledgered(a, "; ".join(effects) or a.note))
    table = Table(
        "ledger",
        "Each assumption varied alone",
        ("assumption", "choice", *base[False]),
        tuple(rows),
        "R reproduced, s shape only, – not reproduced. Shorter runs than those of the claims; the "
        "first lines are our choice under the same runs. ¹ What LLQ is about is measured after 40 "
        "s, since its policer has tokens for as long.",
    )
    voice = (
        "On the line, labels counted, voice is 15.08 Mb/s under MPLS and LLQ's policer gives it "
        "15: it drops the rest once its burst is used up, after 40 s. With 16 % for voice (34 % "
        f"for video) the claim is {wider}"
    )
    return tuple(ledger), table, _labels(sweeps), voice


def _labels(sweeps: _Sweeps) -> Table:
    wanted = (
        ("no label, 15 % for voice", "as chosen", "CBWFQ-LLQ"),
        ("one label, 15 %", "mpls.labels, one (penultimate-hop popping)", "MPLS-CBWFQ-LLQ"),
        ("two labels, 15 %", "as chosen", "MPLS-CBWFQ-LLQ"),
        ("two labels, 16 %", "llq.rate, 16 %, video 34 %", "MPLS-CBWFQ-LLQ"),
    )
    rows: list[tuple[Cell, ...]] = []
    for label, point, policy in wanted:
        v = View(sweeps.found(point, (policy,), slow=True))
        cells = (v.cls(policy, "voice", k).quantity for k in ("loss_ratio", "owd_mean"))
        rows.append((label, *cells))
    return Table(
        "labels",
        "Voice in LLQ with labels, after 40 s",
        ("policy", "voice loss", "voice delay"),
        tuple(rows),
        "10 × 1.5 Mb/s are 15 Mb/s of IP packets; each label adds 0.04 Mb/s. With one label the "
        "policer's 200 ms of tokens last for 75 s.",
    )


def placed(key: str, point: Point, policy: str, values: Mapping[str, object]) -> dict[str, object]:
    """A policy at a point of a sweep; what is exact stays so."""
    name, _, exact = policy.partition(", ")
    placed = WFQ_FORMS[point.label] if key == "wfq.position" else system.settings(name)
    return {**placed, **values, **(system.NO_JITTER if exact else {})}


def _changes(base: Mapping[str, Judged], found: Mapping[str, Judged]) -> str:
    changed = [
        f"{k} {base[k].verdict.replace('_', ' ')} → {j.verdict.replace('_', ' ')}"
        for k, j in found.items()
        if j.verdict != base[k].verdict
    ]
    return ", ".join(changed) or "no verdict changes"
