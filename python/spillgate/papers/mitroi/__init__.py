"""C. Mitroi and D. Stroescu: congestion management in the customer-edge node.

Policies 1 to 5 of the paper are run from the text of a router configuration (`system/`).
"""

from __future__ import annotations

from collections.abc import Mapping

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

TITLE = (
    "C. Mitroi and D. Stroescu, Optimization of congestion management mechanisms within customer "
    "equipment node in an intranet network"
)
SYSTEM = system.SYSTEM
RUNS = 10
QUICK_RUNS = 3

BRIEF_RUNS = 6
"""Runs at each point of a sweep, and of the explanations."""

SCOPES = ("class", "dscp", "queue")
IN_STEP = "Loss by DSCP, all streams started together"


def measured(lab: Lab, batch: str, cases: list[Case], protocol: Protocol) -> Measured:
    """Runs a batch and takes what the claims need."""
    return take(lab.run(batch, cases, protocol))


def take(results: object) -> Measured:
    """What the claims need of results."""
    return Measured(results, SCOPES, flow_metrics=("loss_ratio",))  # type: ignore[arg-type]


def judged(v: View, because: Mapping[str, str] | None = None) -> tuple[Judged, ...]:
    """Every claim, from the policies of one setting."""
    why = because or {}
    return tuple(judge(c, c.test(v), why.get(c.id, "")) for c in CLAIMS)


def reproduce(lab: Lab) -> Reproduction:
    """Runs everything."""
    main = Protocol(lab.runs, 1.0, 3.0) if lab.quick else Protocol(lab.runs, 5.0, 60.0)
    brief = Protocol(3, 1.0, 1.0) if lab.quick else Protocol(BRIEF_RUNS, 2.0, 4.0)

    policies = (*system.POLICIES, *system.ALSO)
    results = lab.run(
        "The paper's policies", [Case(p, system.settings(p)) for p in policies], main, keep=True
    )
    exact = lab.run(
        "The same without jitter",
        [Case(p, {**system.settings(p), **system.NO_JITTER}) for p in system.POLICIES],
        main,
        keep=True,
    )
    in_step = lab.run(
        "All streams started together",
        [Case(p, {**system.settings(p), **system.IN_STEP}) for p in system.POLICIES],
        # The traffic repeats itself every 2 s.
        Protocol(main.runs, main.warmup, main.duration / 3.0),
        keep=True,
    )
    m, without, together = take(results), take(exact), take(in_step)
    step = View(_all(together))
    steps = {j.claim.id: j for j in judged(step)}
    v = View({p: (m, p) for p in system.POLICIES} | _exact(without))
    ledger, table = _ledger(lab, brief)
    places, wfq = explain.wfq_places(lab, brief)
    buffers, ratios, limit = explain.delay_buffers(lab, brief)
    moving = explain.standing_queues(lab, brief)
    load, by_load = beyond.loads(lab, brief)
    tcp = beyond.tcp(lab, brief)
    quality = beyond.quality(m, policies)
    rivals = beyond.rivals(lab, brief)

    claims = judged(v, _because(v, wfq, limit, steps))
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
                _classes(m, policies, "classes", "By class"),
                _points(m, policies, "points", "Loss by DSCP"),
                _classes(without, system.POLICIES, "classes-exact", "By class, without jitter"),
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
                buffers,
                _points(together, system.POLICIES, "points-together", IN_STEP, explain.IN_STEP),
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
    )


def _exact(m: Measured) -> dict[str, tuple[Measured, str]]:
    return {p: (m, p.partition(",")[0]) for p in system.EXACT}


def _all(m: Measured) -> dict[str, tuple[Measured, str]]:
    """Runs without jitter as every policy of the claims."""
    return {p: (m, p) for p in system.POLICIES} | _exact(m)


def _because(v: View, wfq: str, limit: int | None, steps: Mapping[str, Judged]) -> dict[str, str]:
    llq = shown(waiting(v, "CBWFQ-LLQ", "voice").quantity)

    def step(claim: str) -> str:
        verdict = steps[claim].verdict.replace("_", " ")
        return f"When the generator starts all streams at once the claim is {verdict}"

    ratio = (
        f"with a FIFO of {limit} packets" if limit is not None else "with no limit that was run"
    )
    return {
        "M1": wfq,
        "M2": wfq,
        "M4": f"LLQ leaves voice {llq} of waiting, so the ratio is that of FIFO's buffer: of "
        f"one-way delay it is 3.5 {ratio}",
        "M5": "Policies 6 to 8 need MPLS, which this version does not simulate",
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


def _classes(m: Measured, policies: tuple[str, ...], file: str, title: str) -> Table:
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
    return Table(file, title, head, rows, note)


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
        "without jitter in any case.",
    )


def _ledger(lab: Lab, protocol: Protocol) -> tuple[tuple[Ledgered, ...], Table]:
    """Runs the sweep of every assumption, and says what the claims do.

    All points are compared with the choice itself under the same short protocol, so that what
    changes is not the length of the runs.
    """
    every = (*system.POLICIES, *system.EXACT)
    cases = [Case(f"as chosen: {p}", system.settings(p)) for p in every]
    touched: dict[tuple[str, str], tuple[str, ...]] = {}
    for a in ASSUMPTIONS:
        for point in a.points:
            values = lab.apply(a.key, point)
            policies = touched[a.key, point.label] = a.policies or every
            cases += [
                Case(f"{a.key}, {point.label}: {p}", {**values, **_of(a.key, point, p)})
                for p in policies
            ]
    m = measured(lab, "The ledger of assumptions", cases, protocol)
    chosen = {p: (m, f"as chosen: {p}") for p in every}
    base = {j.claim.id: j for j in judged(View(chosen))}
    head = ("assumption", "choice", *base)
    rows: list[tuple[Cell, ...]] = [
        ("", "as chosen", *(OUTCOME_LETTERS[j.verdict] for j in base.values()))
    ]
    ledger = []
    for a in ASSUMPTIONS:
        effects = []
        for point in a.points:
            own = {p: (m, f"{a.key}, {point.label}: {p}") for p in touched[a.key, point.label]}
            found = {j.claim.id: j for j in judged(View(chosen | own))}
            effects.append(f"{point.label}: {_changes(base, found)}")
            rows.append(
                (a.key, point.label, *(OUTCOME_LETTERS[j.verdict] for j in found.values()))
            )
        ledger.append(Ledgered(a, "; ".join(effects) or a.note))
    table = Table(
        "ledger",
        "Each assumption varied alone",
        head,
        tuple(rows),
        "R reproduced, s shape only, – not reproduced. Shorter runs than those of the claims; the "
        "first line is our choice under the same short runs.",
    )
    return tuple(ledger), table


def _of(key: str, point: Point, policy: str) -> dict[str, object]:
    if key == "wfq.position":
        return {
            **system.settings("FIFO, exact" if "exact" in policy else "FIFO"),
            **WFQ_FORMS[point.label],
        }
    return system.settings(policy)


def _changes(base: Mapping[str, Judged], found: Mapping[str, Judged]) -> str:
    changed = [
        f"{k} {base[k].verdict.replace('_', ' ')} → {j.verdict.replace('_', ' ')}"
        for k, j in found.items()
        if j.verdict != base[k].verdict
    ]
    return ", ".join(changed) or "no verdict changes"
