"""What the paper leaves silent: our choice, its reason, and other choices to run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from spillgate.papers.domzal import system
from spillgate.papers.domzal.system import MECHANISMS, Setting
from spillgate.papers.model import Silent

BOTH = (system.BASIC, "EFM")
"""For choices that touch basic FAN as well: EFM stands for the mechanisms."""


@dataclass(frozen=True)
class Choice:
    """Another choice, and the variant that it makes of one."""

    label: str
    change: Callable[[Setting], Setting]


@dataclass(frozen=True)
class Line:
    """An assumption with the choices of its sweep."""

    assumption: Silent
    choices: tuple[Choice, ...] = ()


def _traffic(label: str, **values: object) -> Choice:
    def change(s: Setting) -> Setting:
        return replace(s, workload=replace(s.workload, **values))  # type: ignore[arg-type]

    return Choice(label, change)


def _setting(label: str, **values: object) -> Choice:
    def change(s: Setting) -> Setting:
        return replace(s, **values)  # type: ignore[arg-type]

    return Choice(label, change)


def _rest(label: str, rest: tuple[tuple[str, object], ...]) -> Choice:
    return Choice(label, lambda s: replace(s, rest=s.rest + rest))


LINES = (
    Line(
        Silent(
            "elastic.volume",
            "300 Mbit in the mean",
            "L5 is closed until 240 s after the failure under basic FAN, so at least 49 Gbit "
            "cross it: 150 Mbit, as in the group's other papers, are too few",
            places=BOTH,
        ),
        (_traffic("150 Mbit", mean=150e6),),
    ),
    Line(
        Silent(
            "elastic.shape",
            "Pareto with shape 1.5",
            "recalled from the group's other papers; this one names the distribution only",
            places=BOTH,
        ),
        (_rest("2", system.sizes(shape=2.0)),),
    ),
    Line(
        Silent(
            "elastic.gap",
            "0.1 s in the mean between starts to one destination",
            "recalled from the group's other papers",
            places=BOTH,
        ),
        (_traffic("10 ms", gap=0.01),),
    ),
    Line(
        Silent(
            "elastic.count",
            "200 to each destination",
            "the paper says that flows went to both",
            places=BOTH,
        ),
        (_traffic("100 to each", flows=100),),
    ),
    Line(
        Silent(
            "elastic.packet",
            "1000 B with headers",
            "ns-2's usual size",
            note="not varied: what is measured depends on bytes",
        )
    ),
    Line(
        Silent(
            "stream.gap",
            "exponential, 2 s in the mean, from the start of the run; to d1",
            "the paper names the distribution only; its metric needs all of them at both routers",
            places=BOTH,
        ),
        (_traffic("1 s", stream_gap=1.0),),
    ),
    Line(
        Silent(
            "stream.duration",
            "to the end of the run",
            "each must be there at the failure",
            note="not varied",
        )
    ),
    Line(
        Silent(
            "tcp.retry",
            "every 1 s",
            "waits of tens of seconds need openings through which many elastic flows come; with "
            "doubling timeouts few try while a link is open",
            places=BOTH,
        ),
        (_traffic("doubling from 3 s to 64 s, as the standard has it", retry="exponential"),),
    ),
    Line(
        Silent(
            "tcp.window",
            "64 packets",
            "the buffer of the FAN link decides, not the window",
            places=BOTH,
        ),
        (_rest("20 packets", system.tcp(max_window="19200 B")),),
    ),
    Line(
        Silent("link.delay", "1 ms", "small against the queues of the FAN links", places=BOTH),
        (_rest("10 ms", system.delay("10 ms")),),
    ),
    Line(
        Silent(
            "fan.limit",
            "1000 packets",
            "between the 300 of France Télécom's prototype and 1500 of a later thesis",
            places=BOTH,
        ),
        (_setting("300 packets", limit=300),),
    ),
    Line(
        Silent(
            "fan.smoothing",
            "none",
            "the paper describes plain periodic estimates",
            places=BOTH,
        ),
        (_rest("one half, fair rate", system.fan(fair_rate__smoothing=0.5)),),
    ),
    Line(
        Silent(
            "fan.elastic",
            "sticky: a flow is elastic once the scheduler has refused it priority",
            "flows that sit in a timeout when the list is flushed are elastic as well",
            places=MECHANISMS,
        ),
        (_rest("instant: as the scheduler would class it now", system.fan(elastic="instant")),),
    ),
    Line(
        Silent(
            "fan.trigger",
            "the packet that triggers a removal is dropped and the link opens at the next tick",
            "table I's values after the failure are around one tick of the fair rate, 0.5 s",
            places=MECHANISMS,
        ),
        (_rest("it is admitted at once", system.TRIGGER),),
    ),
    Line(
        Silent(
            "failure.phase",
            "the failure falls on a tick of the fair rate",
            "250 s is a multiple of 500 ms when both count from the start",
            places=MECHANISMS,
        ),
        (_setting("up to 0.5 s after a tick, drawn in each run", spread=system.TICK),),
    ),
    Line(
        Silent(
            "routing.delay",
            "none: all nodes know of the failure at once",
            "the paper says nothing of it",
            places=MECHANISMS,
        ),
        (_rest("200 ms", (("topology.routing", {"convergence": "200 ms"}),)),),
    ),
    Line(
        Silent(
            "pdrr.mode",
            "literal: priority packets cost nothing",
            "as published; claims that do not compare the schedulers are shown for PFQ here",
            places=BOTH,
        ),
        (_setting("PDRR, charged", scheduler="PDRR, charged"),),
    ),
    Line(
        Silent(
            "topology",
            "L8 from R5 to R3, so that d1 can be reached over L5",
            "the figure is not readable in the copy; the text needs such a way",
            note="not varied: any way from R5 to d1 that is never full is the same",
        )
    ),
)
"""The ledger."""
