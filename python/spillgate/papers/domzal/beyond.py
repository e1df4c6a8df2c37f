"""Beyond the paper: the list of protected flows shared by all links, and limits on admissions."""

from __future__ import annotations

from collections.abc import Mapping

from spillgate.papers.domzal import batches, system
from spillgate.papers.domzal.cells import Cell
from spillgate.papers.domzal.effort import Effort
from spillgate.papers.domzal.system import BASIC, Setting
from spillgate.papers.lab import Lab
from spillgate.papers.model import Cell as TableCell
from spillgate.papers.model import Table

FORMS: Mapping[str, tuple[tuple[str, object], ...]] = {
    "as published": (),
    "shared list (GPFL)": system.fan(protected_list="global"),
    "10 admissions a tick": system.fan(admissions_per_tick=10),
    "2 admissions a tick": system.fan(admissions_per_tick=2),
    "shared list, 10 a tick": system.fan(protected_list="global", admissions_per_tick=10),
}
"""What is added to the published router."""

ROUTERS = (BASIC, "EFM")


def table(lab: Lab, effort: Effort) -> Table:
    """Each form in the failure scenario, with basic FAN and with EFM."""
    brief = min(effort.brief, lab.runs)
    settings = {
        f"{router}, {form}": Setting(router=router, failure=effort.failure, rest=rest)
        for router in ROUTERS
        for form, rest in FORMS.items()
    }
    found = batches.run(lab, "Beyond the paper", settings, brief, effort.end, scale=effort.small)
    rows: list[tuple[TableCell, ...]] = []
    for router in ROUTERS:
        for form in FORMS:
            c = found.cells[f"{router}, {form}"]
            rows.append((router if form == "as published" else "", form, *_row(c)))
    return Table(
        "beyond",
        "A shared list, and limits on admissions",
        (
            "router",
            "form",
            "wait R2",
            "wait R4",
            "never admitted at R4",
            "longest gap, p95",
            "use of L3",
            "transfers done",
            "transfer time",
        ),
        tuple(rows),
        "Under PFQ. With a list that all links share (GPFL) a stream that R2 protects is "
        "protected at R4 too, and so are the elastic flows that come with it. A limit on the "
        "flows that are admitted between two ticks of the fair rate keeps an opening from letting "
        "everybody in; what is not admitted goes on waiting, streams as well. The transfer time "
        "counts transfers under way at the end with the time so far.",
    )


def _row(c: Cell) -> tuple[TableCell, ...]:
    return (
        c.wait("R2").quantity,
        c.wait("R4").quantity,
        c.censored("R4").quantity,
        c.long_gap().quantity,
        c.busy["R2"].quantity,
        c.done.quantity,
        c.transfer.quantity,
    )
