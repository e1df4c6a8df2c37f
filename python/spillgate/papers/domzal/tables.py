"""The tables: table I with the paper's figures, and what stands behind the figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from spillgate.papers.domzal import system
from spillgate.papers.domzal.batches import Prolonged, TableOne
from spillgate.papers.domzal.cells import Cell, percentile
from spillgate.papers.domzal.claims import E721_INTERNATIONAL, E721_LOCAL
from spillgate.papers.domzal.effort import Effort
from spillgate.papers.domzal.regression import fit, slopes
from spillgate.papers.domzal.system import BASIC, LINKS, MECHANISMS, ROUTERS
from spillgate.papers.lab import Lab
from spillgate.papers.measured import PerRun
from spillgate.papers.model import OUTCOME_MARKS, Judged, Quantity, Table
from spillgate.papers.model import Cell as TableCell

PAPER: Mapping[tuple[str, str], tuple[tuple[float, float], tuple[float, float]]] = {
    ("PFQ", "basic"): ((78.43, 6.56), (240.86, 26.64)),
    ("PFQ", "EFM"): ((0.46, 0.10), (0.67, 0.22)),
    ("PFQ", "RAEF"): ((0.37, 0.023), (0.45, 0.13)),
    ("PFQ", "RBAEF"): ((0.56, 0.21), (0.90, 0.23)),
    ("PDRR", "basic"): ((89.28, 7.87), (258.34, 30.65)),
    ("PDRR", "EFM"): ((0.98, 0.38), (0.54, 0.11)),
    ("PDRR", "RAEF"): ((0.15, 0.10), (0.82, 0.67)),
    ("PDRR", "RBAEF"): ((0.05, 0.01), (0.08, 0.06)),
}
"""Table I: waiting time and half the width of its interval in seconds, at R2 and at R4."""


def _paper(value: tuple[float, float]) -> Quantity:
    mean, half = value
    return Quantity(mean, mean - half, mean + half, "s", 2)


def table_one(file: str, title: str, found: Mapping[tuple[str, str], Cell], note: str) -> Table:
    """Waiting times beside the paper's."""
    rows: list[tuple[TableCell, ...]] = []
    before = ""
    for (scheduler, router), cell in found.items():
        row: list[TableCell] = [scheduler if scheduler != before else "", router]
        before = scheduler
        for at, value in zip(LINKS, PAPER[scheduler, router], strict=True):
            row += [_paper(value), cell.wait(at).quantity, cell.longest(at).quantity]
        rows.append(tuple(row))
    head = ["scheduler", "mechanism"]
    for at in LINKS:
        head += [f"paper, {at}", f"ours, {at}", f"longest, {at}"]
    return Table(file, title, tuple(head), tuple(rows), note)


def prolonged(found: Prolonged, end: float) -> Table:
    """Basic FAN, cut off as in the paper and with more time."""
    rows: list[tuple[TableCell, ...]] = []
    for s in system.SCHEDULERS:
        shown: Sequence[tuple[str, str, Cell]] = (
            ("R2", "until the failure", found.failed[s]),
            ("R2", f"no failure, until {end:g} s", found.unfailed[s]),
            ("R4", f"until {end:g} s", found.cut[s]),
            ("R4", "run on", found.on[s]),
        )
        for i, (at, how, c) in enumerate(shown):
            head = (s if not i else "", at, how)
            rows.append((*head, c.wait(at).quantity, c.censored(at).quantity))
    return Table(
        "prolonged",
        "Basic FAN: waits that are cut off, and with more time",
        ("scheduler", "router", "how long", "wait", "never admitted"),
        tuple(rows),
        "A stream that is not admitted when the time is over counts with the time so far, so the "
        "mean is a lower bound. At R2 the failure ends the time: from then on the streams go to "
        "R4. R2 is from runs without the failure at a part of the rates, R4 from those of table "
        "I; they are run on only where somebody waits still.",
    )


def grades(found: TableOne) -> Table:
    """Calls within the bounds of ITU-T E.721, and what else the gates ask."""
    rows: list[tuple[TableCell, ...]] = []
    for (scheduler, router), c in found.cells.items():
        for at in LINKS:
            every = c.all_waits(at)
            rows.append(
                (
                    scheduler if router == BASIC and at == "R2" else "",
                    router if at == "R2" else "",
                    at,
                    c.share_within(at, E721_LOCAL).quantity,
                    c.share_within(at, E721_INTERNATIONAL).quantity,
                    _seconds(percentile(every, 0.95)),
                    _seconds(every[-1] if every else math.nan),
                )
            )
    return Table(
        "e721",
        "Calls within the targets of ITU-T E.721",
        (
            "scheduler",
            "mechanism",
            "router",
            "within 6 s",
            "within 11 s",
            "95th percentile",
            "longest",
        ),
        tuple(rows),
        "Percentile and longest wait over all streams of all runs.",
    )


def _seconds(value: float) -> Quantity:
    found = None if math.isnan(value) else value
    return Quantity(found, None, None, "s", 1)


def interruptions(found: TableOne) -> Table:
    """What the failure does to streams and links."""
    rows: list[tuple[TableCell, ...]] = []
    for (scheduler, router), c in found.cells.items():
        rows.append(
            (
                scheduler if router == BASIC else "",
                router,
                c.long_gap().quantity,
                c.entry.quantity,
                c.removed.quantity,
                c.busy["R2"].quantity,
                c.busy["R4"].quantity,
            )
        )
    return Table(
        "failure",
        "Streams across the failure",
        (
            "scheduler",
            "mechanism",
            "longest gap, p95",
            "first to last admission at R4",
            "removals of streams",
            "use of L3 until the failure",
            "use of L5",
        ),
        tuple(rows),
        "The longest gap of a stream is looked for in the 10 s after the failure, which bound it. "
        "Use of L5 is that of the whole run.",
    )


def timers(by_timer: Mapping[tuple[str, str, float], Cell]) -> Table:
    """Figures 7 to 9."""
    rows: tuple[tuple[TableCell, ...], ...] = tuple(
        (s, m, f"{t:g} s", c.wait("R2").quantity, c.longest("R2").quantity)
        for (s, m, t), c in by_timer.items()
    )
    return Table(
        "timers",
        "Waits at R2 by timer",
        ("scheduler", "mechanism", "timer", "wait R2", "longest at R2"),
        rows,
        "Streams start from 50 s on with gaps of 5 s in the mean; nothing is sent to d2.",
    )


def costs(by_cost: Mapping[tuple[str, float], Cell], reference: Cell) -> Table:
    """What the timer does to transfers, and to those who wait."""
    rows: list[tuple[TableCell, ...]] = []
    for (m, t), c in by_cost.items():
        rows.append(
            (
                m,
                f"{t:g} s",
                c.wait("R2").quantity,
                c.wait("R4").quantity,
                c.censored("R4").quantity,
                (c.transfer / reference.transfer).quantity,
                (c.finished / reference.finished).quantity,
                c.done.quantity,
            )
        )
    r = reference
    waits = (r.wait("R2").quantity, r.wait("R4").quantity, r.censored("R4").quantity)
    rows.append((BASIC, "", *waits, None, None, r.done.quantity))
    return Table(
        "costs",
        "What the timer costs the elastic flows, and what it gives the streams",
        (
            "mechanism",
            "timer",
            "wait R2",
            "wait R4",
            "never admitted at R4",
            "transfer time / basic",
            "of those that ended / basic",
            "transfers done",
        ),
        tuple(rows),
        f"PFQ, {len(r.transfer.values)} runs. Transfer times of all elastic flows, those that are "
        "under way at the end counted with the time so far (they begin within some seconds, and "
        "the mean age is taken for it). Where streams were never admitted, waits are at least "
        "what is printed.",
    )


def settings(base: Sequence[Judged], other: Sequence[Judged]) -> Table:
    """The claims of table I under both settings of what triggers a removal."""
    rows: list[tuple[TableCell, ...]] = []
    for a, b in zip(base, other, strict=True):
        mine = (OUTCOME_MARKS[a.verdict], a.ours, OUTCOME_MARKS[b.verdict], b.ours)
        rows.append((a.claim.id, a.claim.measure, *mine))
    return Table(
        "settings",
        "The claims of table I, by what becomes of the packet that triggers a removal",
        ("id", "measured", "it is dropped", "ours", "it is admitted", "ours"),
        tuple(rows),
        "Under both schedulers, as often and as long. Dropped is our choice; the paper does not "
        "say.",
    )


def regressions(by_timer: Mapping[tuple[str, str, float], Cell]) -> Table:
    """The lines through the waits at R2."""
    rows: list[tuple[TableCell, ...]] = []
    for s in system.SCHEDULERS:
        for m in MECHANISMS:
            waits = {t: c.wait("R2") for (a, b, t), c in by_timer.items() if (a, b) == (s, m)}
            if len(waits) < 2:
                continue
            line = fit({t: _mean(q) for t, q in waits.items()})
            rows.append((s, m, slopes(waits).quantity, _seconds(line.offset), _ratio(line.r2)))
    return Table(
        "slopes",
        "Lines through the waits at R2",
        ("scheduler", "mechanism", "slope", "at timer 0", "R²"),
        tuple(rows),
        "Least squares over the timers; the slope of each run, the line of the means.",
    )


def flows(by_flows: Mapping[tuple[str, int], Cell], note: str) -> Table:
    """Figure 6."""
    rows: list[tuple[TableCell, ...]] = []
    counts = sorted({n for _, n in by_flows})
    for r in ROUTERS:
        for n in counts:
            c = by_flows[r, n]
            rows.append(
                (
                    r if n == counts[0] else "",
                    str(n),
                    c.wait("R2").quantity,
                    c.wait("R4").quantity,
                    c.longest("R2").quantity,
                    c.removed.quantity,
                )
            )
    return Table(
        "flows",
        "Waits by number of elastic flows",
        (
            "mechanism",
            "flows to each destination",
            "wait R2",
            "wait R4",
            "longest at R2",
            "removals",
        ),
        tuple(rows),
        note,
    )


def closures(found: Prolonged) -> Table:
    """The closure of L5 at the failure against the oracle, run by run."""
    rows: list[tuple[TableCell, ...]] = []
    for s, ratio in found.oracle.items():
        waits = found.on[s].wait("R4").values
        cut = found.cut[s].wait("R4").values
        for i, (r, w, c) in enumerate(zip(ratio.values, waits, cut, strict=True)):
            rows.append((s if not i else "", str(i), _seconds(c), _seconds(w), _ratio(r)))
    return Table(
        "closures",
        "Waits at R4 of single runs, basic FAN",
        ("scheduler", "run", "wait, until 500 s", "wait, run on", "closure / oracle"),
        tuple(rows),
        "The last column is how long the closure that is under way at the failure lasts, over "
        "what the flows that were admitted before let expect with volumes drawn anew; undefined "
        "where L5 was open.",
    )


def _ratio(value: float) -> Quantity:
    return Quantity(None if math.isnan(value) else value, None, None, "ratio", 1)


def _mean(q: PerRun) -> float:
    found = q.quantity.mean
    return math.nan if found is None else found


def inconsistencies() -> Table:
    """What the paper says against itself."""
    longer = (
        "The wait at R4 with PDRR, 258.34 s, is longer than the 250 s that remain after the "
        "failure"
    )
    half = (
        "A wait of about half the timer is 2.5 s at 5 s, and figures 7 to 9 are explained by it; "
        "table I has 0.05 to 0.98 s at 5 s"
    )
    chance = "More competitors are said to lower the chance of each stream at R4"
    cut = (
        "those runs were longer, or the time is counted from elsewhere; ours are given cut off at "
        "500 s and run on"
    )
    both = "both cannot hold: ours follow the explanation"
    enter = (
        "admission as published does not choose: at an opening every flow enters that sends a "
        "packet"
    )
    return Table(
        "inconsistencies",
        "What does not agree within the paper",
        ("claims", "the paper", "what it means here"),
        (("D2", longer, cut), ("D3, D4, D7, D8", half, both), ("D2", chance, enter)),
    )


def plan(lab: Lab, effort: Effort) -> Table:
    """How much is run of everything."""
    few, until = min(effort.few, lab.runs), effort.failure + effort.aftermath
    alone = min(effort.sweep_end, effort.failure)
    deciding, ledger = min(effort.deciding, lab.runs), min(effort.ledger or lab.runs, lab.runs)
    rates = ", ".join(f"{n}: {effort.rates(n):.2g}" for n in effort.flows)
    small = f"{effort.small:g}"
    rows = (
        ("table I, basic FAN", f"{effort.scale:g}", lab.runs, effort.end),
        ("the same run on where somebody waits", f"{effort.scale:g}", lab.runs, effort.prolonged),
        ("table I, mechanisms, in both settings", f"{effort.scale:g}", lab.runs, until),
        ("basic FAN without the failure, for R2", small, lab.runs, effort.end),
        ("workload W-lit, basic FAN", small, min(effort.second, lab.runs), effort.end),
        ("workload W-lit, mechanisms", small, min(effort.second, lab.runs), until),
        ("numbers of flows, mechanisms", rates, deciding, until),
        ("numbers of flows, basic FAN", small, deciding, effort.end),
        ("timers, for R2", small, few, alone),
        ("what timers cost", small, min(effort.traded, lab.runs), effort.end),
        ("beyond the paper", small, min(effort.brief, lab.runs), effort.end),
        ("ledger, basic FAN", f"{effort.scale:g}", ledger, effort.end),
        ("ledger, mechanisms", f"{effort.scale:g}", ledger, until),
    )
    return Table(
        "runs",
        "What is run",
        ("what", "part of the paper's rates", "runs", "until"),
        tuple((what, rate, str(runs), f"{end:g} s") for what, rate, runs, end in rows),
        "All runs of one number have the same starts and volumes whatever the router does, so "
        "that differences and ratios are formed run by run.",
    )
