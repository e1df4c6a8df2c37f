"""The paper's claims D1 to D11 as predicates on what was measured.

The bounds are those of the acceptance gates that were fixed before the runs, G1 to G12.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from spillgate.papers.domzal import system
from spillgate.papers.domzal.cells import Cell
from spillgate.papers.domzal.regression import fit, slopes
from spillgate.papers.judge import within
from spillgate.papers.measured import PerRun, largest, smallest
from spillgate.papers.model import Claim, Part


@dataclass(frozen=True)
class Found:
    """What the claims rest on.

    Attributes:
        table: Table I by scheduler and router; PDRR may be missing.
        oracle: By scheduler: how long the closure of L5 that is under way at the failure lasts
            under basic FAN, over what its admissions before let expect. NaN in a run where it was
            open.
        by_flows: Under PFQ, by router and number of elastic flows to each destination.
        by_timer: By scheduler, mechanism and timer.
        by_cost: Over whole runs under PFQ, by mechanism and timer.
        reference: Basic FAN under PFQ with the traffic of `by_cost`.
    """

    table: Mapping[tuple[str, str], Cell]
    oracle: Mapping[str, PerRun] = field(default_factory=dict)
    by_flows: Mapping[tuple[str, int], Cell] = field(default_factory=dict)
    by_timer: Mapping[tuple[str, str, float], Cell] = field(default_factory=dict)
    by_cost: Mapping[tuple[str, float], Cell] = field(default_factory=dict)
    reference: Cell | None = None

    @property
    def schedulers(self) -> tuple[str, ...]:
        """The schedulers that were run, in the paper's order."""
        known = dict.fromkeys(s for s, _ in self.table)
        return tuple(known)

    def cells(self) -> list[tuple[str, str, Cell]]:
        """Every mechanism under every scheduler."""
        return [
            (s, m, self.table[s, m])
            for s in self.schedulers
            for m in system.MECHANISMS
            if (s, m) in self.table
        ]


def basic_r2(f: Found) -> Sequence[Part]:
    """D1 (G4)."""
    parts = [
        within(
            f"the mean wait at R2 is 25 to 130 s under {s}",
            f.table[s, system.BASIC].wait("R2"),
            above=25.0,
            below=130.0,
        )
        for s in f.schedulers
    ]
    for s in f.schedulers:
        slowest = largest(c.wait("R2") for of, _, c in f.cells() if of == s)
        parts.append(
            within(
                f"it is at least ten times that of the slowest mechanism under {s}",
                f.table[s, system.BASIC].wait("R2") / slowest,
                above=10.0,
                kind="trend",
            )
        )
    return parts


def basic_r4(f: Found) -> Sequence[Part]:
    """D2 (G5)."""
    first, *_ = f.schedulers
    parts = [
        within(
            f"the mean wait at R4 is hundreds of seconds under {first}: above 100 s",
            f.table[first, system.BASIC].wait("R4"),
            above=100.0,
        )
    ]
    for s in f.schedulers:
        cell = f.table[s, system.BASIC]
        r4 = cell.wait("R4")
        # Of so few runs the share is what it is: no interval around it.
        long = PerRun((_share(v >= 30.0 for v in r4.values),), "1")
        parts.append(
            within(
                f"streams wait 30 s or more at R4 in at least half of the runs under {s}",
                long,
                above=0.499,
            )
        )
        parts.append(
            within(
                f"streams wait longer at R4 than at R2 under {s}: the difference",
                r4 - cell.wait("R2"),
                above=0.0,
                kind="trend",
            )
        )
    for s, ratio in f.oracle.items():
        closed = PerRun(tuple(v for v in ratio.values if not math.isnan(v)), "ratio")
        parts.append(
            within(
                f"L5 stays closed as long as what came in lets expect under {s}, within 15 %",
                closed,
                above=0.85,
                below=1.15,
            )
        )
    return parts


def _share(of: Iterable[bool]) -> float:
    found = list(of)
    return sum(found) / len(found)


def _fast(f: Found, router: str, shape: float, gate: str) -> Sequence[Part]:
    parts = [
        within(
            f"streams wait less than one second at {router} with {m} under {s}",
            c.wait(router),
            below=1.0,
        )
        for s, m, c in f.cells()
    ]
    parts += [
        within(
            f"less than {gate} with {m} under {s}",
            c.wait(router),
            below=shape,
            kind="trend",
        )
        for s, m, c in f.cells()
    ]
    # What the claim is about is the slowest of them.
    slowest = largest(c.wait(router) for _, _, c in f.cells())
    text = f"the slowest mechanism lets streams wait less than one second at {router}"
    return [within(text, slowest, below=1.0), *parts]


def mechanisms_r2(f: Found) -> Sequence[Part]:
    """D3 (G1)."""
    return _fast(f, "R2", system.TIMER / 2.0, "half the timer, 2.5 s,")


def mechanisms_r4(f: Found) -> Sequence[Part]:
    """D4 (G2)."""
    return _fast(f, "R4", 3.0, "3 s")


def alike(f: Found) -> Sequence[Part]:
    """D5 (G6)."""
    if len(f.schedulers) < 2:
        return ()
    pfq, pdrr = (f.table[s, system.BASIC].wait("R2") for s in system.SCHEDULERS)
    a, b = pfq.quantity, pdrr.quantity
    ratio = pdrr / pfq
    overlap = None not in (a.low, a.high, b.low, b.high) and max(
        a.low or 0.0, b.low or 0.0
    ) <= min(a.high or 0.0, b.high or 0.0)
    of_means = (b.mean or math.nan) / (a.mean or math.nan)
    parts = [
        Part(
            "basic FAN at R2, PDRR over PFQ: the intervals overlap, or the means are within 30 %",
            ratio.quantity,
            "trend",
            holds=overlap or 1 / 1.3 <= of_means <= 1.3,
        )
    ]
    for m in system.MECHANISMS:
        for r in system.LINKS:
            difference = f.table["PDRR", m].wait(r) - f.table["PFQ", m].wait(r)
            parts.append(
                within(
                    f"with {m} at {r} they are within 0.5 s of each other: PDRR minus PFQ",
                    difference,
                    above=-0.5,
                    below=0.5,
                )
            )
    return parts


def any_load(f: Found) -> Sequence[Part]:
    """D6 (G8)."""
    counts = sorted({n for _, n in f.by_flows})
    if not counts:
        return ()
    few, many = counts[0], counts[-1]
    parts = []
    for m in system.MECHANISMS:
        for r in system.LINKS:
            low, high = f.by_flows[m, few].wait(r), f.by_flows[m, many].wait(r)
            text = f"with {m} at {r} {many} flows instead of {few} change the wait by less than"
            near = within(f"{text} 1 s", high - low, above=-1.0, below=1.0, kind="trend")
            factor = within(
                f"{text} a factor of 2", high / low, above=0.5, below=2.0, kind="trend"
            )
            parts.append(near if near.holds or not factor.holds else factor)
    return parts


def linear(f: Found, mechanism: str) -> Sequence[Part]:
    """D7, and D8 for each of its mechanisms (G7)."""
    parts = []
    for s in system.SCHEDULERS:
        waits = {
            t: c.wait("R2") for (of, m, t), c in f.by_timer.items() if (of, m) == (s, mechanism)
        }
        if not waits:
            continue
        slope = slopes(waits)
        text = f"wait at R2 against the timer with {mechanism} under {s}"
        straight = fit({t: q.quantity.mean or math.nan for t, q in waits.items()}).r2
        parts += [
            within(
                f"{text}: about half of it, a slope of 0.30 to 0.55", slope, above=0.3, below=0.55
            ),
            within(f"{text}: it grows", slope, above=0.0, kind="trend"),
            within(
                f"{text}: on a straight line, R² of the means at least 0.95",
                PerRun((straight,), "ratio"),
                above=0.95,
                kind="trend",
            ),
        ]
    return parts


def linear_efm(f: Found) -> Sequence[Part]:
    """D7."""
    return linear(f, "EFM")


def linear_others(f: Found) -> Sequence[Part]:
    """D8."""
    return [*linear(f, "RAEF"), *linear(f, "RBAEF")]


E721_LOCAL, E721_INTERNATIONAL = 6.0, 11.0
"""Seconds within which 95 % of calls shall be set up (ITU-T E.721)."""


def grade_of_service(f: Found) -> Sequence[Part]:
    """D9 (G3)."""
    cells = f.cells()

    def least(seconds: float) -> PerRun:
        return smallest(c.share_within(r, seconds) for _, _, c in cells for r in system.LINKS)

    bound = system.TIMER + 1.5
    return (
        within(
            "95 % of the calls are set up within 6 s at each router with each mechanism",
            least(E721_LOCAL),
            above=0.95,
            kind="trend",
        ),
        within("and within 11 s", least(E721_INTERNATIONAL), above=0.95, kind="trend"),
        within(
            f"no call waits longer than the timer and three ticks, {bound:g} s",
            PerRun(
                (max(max(c.longest(r).values) for _, _, c in cells for r in system.LINKS),), "s"
            ),
            below=bound + 1e-9,
        ),
    )


def transfers(f: Found) -> Sequence[Part]:
    """D10 (G12)."""
    if f.reference is None or not f.by_cost:
        return ()
    basic = f.reference.transfer
    candidates = [(m, t, c.transfer / basic, c.wait("R4")) for (m, t), c in f.by_cost.items()]

    def mean(q: PerRun) -> float:
        found = q.quantity.mean
        return math.inf if found is None else found

    fast = [x for x in candidates if mean(x[3]) <= 1.0]
    m, t, ratio, wait = min(fast or candidates, key=lambda x: mean(x[2]))
    shortest = min(candidates, key=lambda x: mean(x[2]))
    return (
        within(
            f"mean transfer time over that of basic FAN with {m} and {t:g} s: at most 1.1",
            ratio,
            below=1.1,
        ),
        within(f"with it streams wait less than one second at R4 ({m}, {t:g} s)", wait, below=1.0),
        within(
            "a timer exists with which transfers are not 10 % longer "
            f"({shortest[0]}, {shortest[1]:g} s)",
            shortest[2],
            below=1.1,
            kind="trend",
        ),
    )


LEAST_BUSY = {"EFM": 0.90, "RAEF": 0.90, "RBAEF": 0.85}
"""Least utilization of L3 with each mechanism (G11)."""


def backup(f: Found) -> Sequence[Part]:
    """D11 (G10, G11)."""
    parts = []
    for s in f.schedulers:
        found = [(m, c.long_gap()) for of, m, c in f.cells() if of == s]
        m, gap = min(found, key=lambda x: x[1].quantity.mean or math.inf)
        parts.append(
            within(
                f"95 % of the streams are interrupted for at most 1.5 s under {s} with {m}",
                gap,
                below=1.5,
            )
        )
        parts.append(
            within(
                f"that is shorter than with basic FAN under {s}: the difference",
                f.table[s, system.BASIC].long_gap() - gap,
                above=0.0,
                kind="trend",
            )
        )
    for s, m, c in f.cells():
        parts += [
            within(
                f"no stream is removed from a list of protected flows with {m} under {s}: the "
                "most in a run",
                PerRun((max(c.removed.values),), "removals"),
                below=0.5,
                kind="trend",
            ),
            within(
                f"L3 is at least {LEAST_BUSY[m]:.0%} used until the failure with {m} under {s}",
                c.busy["R2"],
                above=LEAST_BUSY[m],
            ),
        ]
    return parts


CLAIMS = (
    Claim(
        "D1",
        "Under basic FAN a stream waits tens of seconds at R2 (78 s with PFQ, 89 s with PDRR)",
        78.43,
        "25 to 130 s, and at least ten times the wait with every mechanism (G4)",
        "wait at R2, basic, PFQ",
        basic_r2,
    ),
    Claim(
        "D2",
        "Under basic FAN it waits hundreds of seconds at R4, significantly longer than at R2",
        240.86,
        "above 100 s, 30 s or more in at least half of the runs, longer than at R2; L5 closed for "
        "what the closure oracle expects within 15 % (G5)",
        "wait at R4, basic, PFQ, cut off at 500 s",
        basic_r4,
    ),
    Claim(
        "D3",
        "With EFM, RAEF, RBAEF a stream is accepted at R2 in less than one second",
        None,
        "mean below 1 s; shape: below half the timer (G1)",
        "wait at R2, the slowest of the mechanisms",
        mechanisms_r2,
    ),
    Claim(
        "D4",
        "The same at R4, after the failure",
        None,
        "mean below 1 s; shape: below 3 s (G2)",
        "wait at R4, the slowest of the mechanisms",
        mechanisms_r4,
    ),
    Claim(
        "D5",
        "PFQ and PDRR give almost identical outcomes",
        1.14,
        "basic at R2 alike (G6); with the mechanisms within 0.5 s of each other",
        "wait at R2, basic, PDRR / PFQ",
        alike,
    ),
    Claim(
        "D6",
        "The wait does not depend on the number of elastic flows in the background (figure 6)",
        None,
        "from 200 to 600 flows to each destination it changes by less than 1 s or a factor 2 (G8)",
        "change of the wait at R2 with EFM",
        any_load,
    ),
    Claim(
        "D7",
        "With EFM the wait grows linearly with pfl_flushing_timer, about half of it (figure 7)",
        0.5,
        "slope 0.30 to 0.55, R² at least 0.95, timers of 1 to 20 s (G7)",
        "slope at R2, PFQ",
        linear_efm,
    ),
    Claim(
        "D8",
        "With RAEF and RBAEF it is the same against active_time (figures 8 and 9)",
        0.5,
        "slope 0.30 to 0.55, R² at least 0.95, for each (G7)",
        "slope at R2, RAEF, PFQ",
        linear_others,
    ),
    Claim(
        "D9",
        "Calls are set up within the grade of service of ITU-T E.721",
        0.95,
        "95 % within 6 s (local) and 11 s (international), none above the timer and 1.5 s (G3)",
        "share of calls within 6 s, the least of all mechanisms and routers",
        grade_of_service,
    ),
    Claim(
        "D10",
        "The transmission time of elastic flows need not grow significantly",
        1.0,
        "a timer exists with a ratio to basic FAN of at most 1.1 and a wait of at most 1 s at R4 "
        "(G12)",
        "mean transfer time over that of basic FAN, with that timer",
        transfers,
    ),
    Claim(
        "D11",
        "The backup link carries normal traffic before the failure, and streams move to it with "
        "hardly any interruption",
        None,
        "95th percentile of the streams' longest gap at most 1.5 s with a mechanism, no stream "
        "removed (G10), L3 well used (G11)",
        "95th percentile of the longest gap, PFQ, the best mechanism",
        backup,
    ),
)
"""The claims in the paper's order."""
