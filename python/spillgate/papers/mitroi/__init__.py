"""C. Mitroi and D. Stroescu: congestion management in the customer-edge node.

The eight policies of the paper are run from the text of a router configuration (`system/`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from spillgate import _engine
from spillgate.papers.judge import judge
from spillgate.papers.lab import Case, Lab, Protocol
from spillgate.papers.measured import Measured, View
from spillgate.papers.mitroi import beyond, explain, figures, search, system
from spillgate.papers.mitroi.claims import CLAIMS, by_rate
from spillgate.papers.mitroi.ledger import ASSUMPTIONS, WFQ_FORMS
from spillgate.papers.model import (
    LETTERS_SAID,
    OUTCOME_LETTERS,
    ByHand,
    Cell,
    Judged,
    Ledgered,
    Point,
    Reproduction,
    Section,
    Table,
    Trial,
)
from spillgate.result import Results

TITLE = (
    "C. Mitroi and D. Stroescu, Optimization of congestion management mechanisms within customer "
    "equipment node in an intranet network"
)
SYSTEM = system.SYSTEM
RUNS = 10
QUICK_RUNS = 3

BRIEF_RUNS = 5
"""Runs of what no claim rests on."""

SCOPES = ("class", "dscp", "queue")
CLAIMED = ("loss_ratio", "owd_mean", "jitter", "sojourn_mean")
"""The metrics that claims are about."""
IN_STEP = "Loss by DSCP, all streams started together"
ALSO = "PQ, RED and ECN, which the paper describes and does not test, are measured for 10 s."
REPEATS = "Without jitter the traffic repeats itself every 2 s, so 10 s are measured."


def take(results: Results, metrics: Sequence[str] | None = None) -> Measured:
    """What the claims need of results, or all metrics that the tables show."""
    return Measured(results, SCOPES, metrics, flow_metrics=("loss_ratio",))


def judged(v: View, trials: Mapping[str, Sequence[Trial]] | None = None) -> tuple[Judged, ...]:
    """Every claim, from the policies of one setting."""
    tried = trials or {}
    return tuple(judge(c, c.test(v), tried.get(c.id, ())) for c in CLAIMS)


def reproduce(lab: Lab) -> Reproduction:
    """Runs everything."""
    main = Protocol(lab.runs, 1.0, 3.0) if lab.quick else Protocol(lab.runs, 5.0, 60.0)
    brief = Protocol(3, 1.0, 1.0) if lab.quick else Protocol(BRIEF_RUNS, 1.0, 3.0)
    varied = Protocol(lab.runs, 1.0, 1.0) if lab.quick else Protocol(lab.runs, 1.0, 4.0)
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

    def started(batch: str, values: Mapping[str, object]) -> Results:
        cases = [Case(p, {**system.settings(p), **values}) for p in system.POLICIES]
        return lab.run(batch, cases, repeating, keep=True)

    exact = started("The same without jitter", system.NO_JITTER)
    together = take(started("All streams started together", system.IN_STEP), CLAIMED)
    table_one = lab.write("traffic-ordered.csv", system.ordered())
    ordered = take(started("Streams started in order", system.in_order(table_one)), CLAIMED)
    m = take(results) | take(also)
    without = take(exact)
    step, order = View(_all(together)), View(_all(ordered))
    v = View({p: (m, p) for p in system.POLICIES} | _exact(without))
    swept = _ledger(lab, varied)
    places, wfq = explain.wfq_places(lab, brief)
    buffers, ratios, longer = explain.delay_buffers(lab, brief)
    moving, moves = explain.standing_queues(lab, varied)
    even = explain.even_rates(lab, repeating)
    load, by_load = beyond.loads(lab, brief)
    tcp = beyond.tcp(lab, brief)
    quality = beyond.quality(m, policies)
    rivals = beyond.rivals(lab, brief)

    claims = judged(v, explain.trials(v, step, order, swept.wider, swept.chosen, longer, moves))
    best = search.run(lab, claims, varied, repeating)
    models = {
        "with jitter": {j.claim.id: j for j in claims},
        "without jitter": {j.claim.id: j for j in judged(View(_all(without)))},
        "started together": {j.claim.id: j for j in judged(step)},
        "started in order": {j.claim.id: j for j in judged(order)},
    }
    groups = {
        "random phases, no jitter": by_rate(v, "FIFO, exact"),
        "started together": by_rate(step, "FIFO, exact"),
        "started in order": by_rate(order, "FIFO, exact"),
    }
    sections = (
        Section(
            "What was measured",
            f"The claims rest on {main.runs} independent runs of {main.duration:g} s after "
            f"{main.warmup:g} s of warm-up, or {repeating.duration:g} s of what repeats itself "
            f"and of PQ, RED and ECN; the ledger on {varied.runs} of {varied.duration:g} s at "
            f"each point under the same seeds; what is beside them on {brief.runs} of "
            f"{brief.duration:g} s. ± is half the width of the 95 % interval.",
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
            "measured",
        ),
        best,
        Section(
            "Why",
            wfq,
            (
                places,
                swept.labels,
                buffers,
                _points(together, system.POLICIES, "points-together", IN_STEP, explain.IN_STEP),
                even,
                _compared(models),
                explain.levels_table(groups),
                moving,
            ),
            (figures.ratio(ratios), figures.clusters(groups)),
            "wfq",
        ),
        Section("Beyond the paper", "", (quality, load, tcp, rivals), (figures.by_load(by_load),)),
        Section("The claims under other assumptions", "", (swept.table,)),
    )
    return Reproduction(
        "mitroi",
        TITLE,
        _engine.VERSION,
        lab.seed,
        lab.runs,
        lab.quick,
        claims,
        swept.ledger,
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
        "without jitter in any case. What is started together or in order has 0.01 % of jitter.",
    )


@dataclass(frozen=True)
class _Swept:
    """The ledger: its lines, its table, and what of it explains a claim.

    Attributes:
        ledger: The assumptions with what the claims do.
        table: The verdict of each claim at each point.
        labels: What labels do to voice in LLQ.
        chosen: Everything as chosen.
        wider: With more of the line for voice in LLQ.
    """

    ledger: tuple[Ledgered, ...]
    table: Table
    labels: Table
    chosen: View
    wider: View


WIDER = "16 %, video 34 %"
"""The point of `llq.rate`."""


def _ledger(lab: Lab, protocol: Protocol) -> _Swept:
    """Runs the sweep of every assumption, and says what the claims do.

    All points are compared with the choice itself under the same protocol and seeds, so that what
    changes is neither the length of the runs nor chance.
    """
    every = (*system.POLICIES, *system.EXACT)
    cases = [Case(f"{CHOSEN}: {p}", system.settings(p)) for p in every]
    for a in ASSUMPTIONS:
        for point in a.points:
            values = lab.apply(point)
            cases += [
                Case(f"{a.key}, {point.label}: {p}", placed(a.key, point, p, values))
                for p in a.places or every
            ]
    m = take(lab.run("The ledger of assumptions", cases, protocol), CLAIMED)

    def found(label: str, policies: Iterable[str]) -> dict[str, tuple[Measured, str]]:
        return {p: (m, f"{label}: {p}") for p in policies}

    whole = found(CHOSEN, every)
    chosen = wider = View(whole)
    base = {j.claim.id: j for j in judged(chosen)}
    rows: list[tuple[Cell, ...]] = [
        ("", CHOSEN, *(OUTCOME_LETTERS[j.verdict] for j in base.values()))
    ]
    ledger = []
    for a in ASSUMPTIONS:
        effects = []
        for point in a.points:
            view = View(whole | found(f"{a.key}, {point.label}", a.places or every))
            here = {j.claim.id: j for j in judged(view)}
            effects.append(f"{point.label}: {changes(base, here)}")
            if (a.key, point.label) == ("llq.rate", WIDER):
                wider = view
            rows.append((a.key, point.label, *(OUTCOME_LETTERS[j.verdict] for j in here.values())))
        ledger.append(Ledgered(a, "; ".join(effects) or a.note))
    table = Table(
        "ledger",
        "Each assumption varied alone",
        ("assumption", "choice", *base),
        tuple(rows),
        f"{LETTERS_SAID} {protocol.runs} runs at each point, as many as of the claims and under "
        f"the same seeds, of {protocol.duration:g} s each; the first line is our choice in such "
        "runs.",
    )
    return _Swept(tuple(ledger), table, _labels(m), chosen, wider)


CHOSEN = "as chosen"


def _labels(m: Measured) -> Table:
    one, llq = "mpls.labels, one (penultimate-hop popping)", "MPLS-CBWFQ-LLQ"
    wanted: tuple[tuple[str, str, str, int | None], ...] = (
        ("no label, 15 % for voice", CHOSEN, "CBWFQ-LLQ", 0),
        ("one label, 15 %", one, llq, 1),
        ("two labels, 15 %", CHOSEN, llq, 2),
        ("two labels, 16 %", f"llq.rate, {WIDER}", llq, None),
    )
    rows: list[tuple[Cell, ...]] = []
    for label, point, policy, labels in wanted:
        cells = (
            m.of(f"{point}: {policy}", "class", "voice", k).quantity
            for k in ("loss_ratio", "owd_mean")
        )
        expected = "" if labels is None else f"{system.policed(labels):.3%}".replace("%", " %")
        rows.append((label, *cells, expected))
    offered = system.voice()
    more = offered * system.LABEL / system.FRAME
    return Table(
        "labels",
        "Voice in LLQ with labels, steady state",
        ("policy", "voice loss", "voice delay", "loss expected"),
        tuple(rows),
        f"Voice offers {offered:g} Mb/s of IP packets, LLQ's policer gives it as much of the "
        f"line, and each label adds {more:g} Mb/s. Expected: what is above the policer's rate, "
        "over what is offered with labels. The policer's 200 ms of tokens would last for "
        f"{0.2 * offered / (2 * more):g} s with two labels and {0.2 * offered / more:g} s with "
        "one; a burst of voice before anything is measured uses them up.",
    )


def placed(key: str, point: Point, policy: str, values: Mapping[str, object]) -> dict[str, object]:
    """A policy at a point of a sweep; what is exact stays so."""
    name, _, exact = policy.partition(", ")
    placed = WFQ_FORMS[point.label] if key == "wfq.position" else system.settings(name)
    return {**placed, **values, **(system.NO_JITTER if exact else {})}


def changes(base: Mapping[str, Judged], found: Mapping[str, Judged]) -> str:
    """Which verdicts are others."""
    changed = [
        f"{k} {base[k].verdict.replace('_', ' ')} → {j.verdict.replace('_', ' ')}"
        for k, j in found.items()
        if j.verdict != base[k].verdict
    ]
    return ", ".join(changed) or "no verdict changes"


PAPER = ByHand(SYSTEM, RUNS, QUICK_RUNS, reproduce)
