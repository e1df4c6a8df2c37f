"""Runs the ledger, and says what the claims do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spillgate.papers.domzal import batches, system
from spillgate.papers.domzal.cells import Cell
from spillgate.papers.domzal.claims import CLAIMS, Found
from spillgate.papers.domzal.effort import Effort
from spillgate.papers.domzal.ledger import LINES
from spillgate.papers.domzal.system import BASIC, Setting
from spillgate.papers.judge import judge
from spillgate.papers.lab import Lab
from spillgate.papers.model import (
    LETTERS_SAID,
    OUTCOME_LETTERS,
    Judged,
    Ledgered,
    Silent,
    Table,
)
from spillgate.papers.model import Cell as TableCell

IDS = ("D1", "D2", "D3", "D4", "D9", "D11")
"""The claims that one setting of table I under one scheduler decides."""

CHOSEN = "as chosen"


@dataclass(frozen=True)
class Sweep:
    """What the sweep gave: the ledger, and two tables of it."""

    ledger: tuple[Ledgered, ...]
    verdicts: Table
    waits: Table


def judged(cells: Mapping[str, Cell]) -> dict[str, Judged]:
    """The claims of `IDS` from the routers of one setting."""
    found = Found({("PFQ", router): cell for router, cell in cells.items()})
    return {c.id: judge(c, c.test(found)) for c in CLAIMS if c.id in IDS}


def _planned(effort: Effort) -> dict[tuple[str, str, str], Setting]:
    base = {router: Setting(router=router, failure=effort.failure) for router in system.ROUTERS}
    planned = {("", CHOSEN, router): of for router, of in base.items()}
    for line in LINES:
        for choice in line.choices:
            for router in line.assumption.places:
                key = (line.assumption.key, choice.label, router)
                planned[key] = choice.change(base[router])
    return planned


def run(lab: Lab, effort: Effort, claims: Sequence[Judged]) -> Sweep:
    """Runs every choice by itself, under PFQ, as often as the claims and under their seeds."""
    planned = _planned(effort)
    runs = min(effort.ledger or lab.runs, lab.runs)
    cells: dict[tuple[str, str, str], Cell] = {}
    for title, basic, end in (
        ("mechanisms", False, effort.failure + effort.aftermath),
        ("basic FAN", True, effort.end),
    ):
        chosen = {k: s for k, s in planned.items() if (k[2] == BASIC) == basic}
        names = {", ".join(x for x in k if x): k for k in chosen}
        found = batches.run(
            lab,
            f"The ledger of assumptions: {title}",
            {name: chosen[k] for name, k in names.items()},
            runs,
            end,
            scale=effort.scale,
        )
        cells |= {names[name]: cell for name, cell in found.cells.items()}
    how = (
        f"PFQ, {runs} runs at each point, as long and under the seeds of the claims. The first "
        "line is our choice. Claims that compare schedulers, timers or numbers of flows are not "
        "judged here."
    )
    base = judged({r: cells["", CHOSEN, r] for r in system.ROUTERS})
    return _sweep(cells, f"{how} {agreement(claims, base)}")


def agreement(claims: Sequence[Judged], base: Mapping[str, Judged]) -> str:
    """Whether the first line of the ledger has the verdicts of the claims, in words."""
    differ = [
        f"{j.claim.id} ({base[j.claim.id].verdict.replace('_', ' ')} here)"
        for j in claims
        if j.claim.id in base and base[j.claim.id].verdict != j.verdict
    ]
    if differ:
        return f"It has other verdicts than the claims for {', '.join(differ)}."
    return "It has the verdicts of the claims."


def _sweep(cells: Mapping[tuple[str, str, str], Cell], note: str) -> Sweep:
    def of(key: str, label: str) -> dict[str, Cell]:
        return {r: cells.get((key, label, r), cells["", CHOSEN, r]) for r in system.ROUTERS}

    base = judged(of("", CHOSEN))
    verdicts = [("", CHOSEN, *_letters(base))]
    waits = [_waits("", CHOSEN, of("", CHOSEN), system.ROUTERS)]
    ledger = []
    for line in LINES:
        a = line.assumption
        effects = []
        for choice in line.choices:
            here = of(a.key, choice.label)
            found = judged(here)
            effects.append(
                f"{choice.label}: {_effect(base, found)}{_numbers(a, of('', CHOSEN), here)}"
            )
            verdicts.append((a.key, choice.label, *_letters(found)))
            waits.append(_waits(a.key, choice.label, here, a.places))
        ledger.append(Ledgered(a, "; ".join(effects) or a.note))
    return Sweep(
        tuple(ledger),
        Table(
            "ledger",
            "Each assumption varied alone: verdicts",
            ("assumption", "choice", *IDS),
            tuple(verdicts),
            f"{LETTERS_SAID} {note}",
        ),
        Table(
            "ledger-waits",
            "Each assumption varied alone: waits",
            (
                "assumption",
                "choice",
                *(f"{r} {at}" for r in system.ROUTERS for at in system.LINKS),
            ),
            tuple(waits),
            f"Empty where a choice cannot touch a router. {note}",
        ),
    )


def _letters(found: Mapping[str, Judged]) -> list[str]:
    return [OUTCOME_LETTERS[found[i].verdict] for i in IDS]


def _waits(
    key: str, label: str, cells: Mapping[str, Cell], routers: tuple[str, ...]
) -> tuple[TableCell, ...]:
    waits = (
        cells[router].wait(at).quantity if router in routers else None
        for router in system.ROUTERS
        for at in system.LINKS
    )
    return (key, label, *waits)


def _effect(base: Mapping[str, Judged], found: Mapping[str, Judged]) -> str:
    changed = [
        f"{k} {base[k].verdict.replace('_', ' ')} → {j.verdict.replace('_', ' ')}"
        for k, j in found.items()
        if j.verdict != base[k].verdict
    ]
    return ", ".join(changed) or "no verdict changes"


def _numbers(a: Silent, base: Mapping[str, Cell], found: Mapping[str, Cell]) -> str:
    """The waits of the first router that the choice touches, before and after."""
    router = a.places[0]

    def mean(cells: Mapping[str, Cell], at: str) -> str:
        value = cells[router].wait(at).quantity.mean
        return "–" if value is None else f"{value:.3g}"

    parts = (f"{at} {mean(base, at)} → {mean(found, at)} s" for at in system.LINKS)
    return f" ({router} {', '.join(parts)})"
