"""What the paper leaves silent: our choice, its reason, and other choices to run."""

from __future__ import annotations

from spillgate_papers.domzal.system import (
    BACKOFF,
    BASIC,
    MECHANISMS,
    TICK,
    TRIGGER,
    Plan,
    at,
    count,
    elastic,
    fan,
    limit,
    streams,
    volume,
)
from spillgate_papers.model import Point, Silent

BOTH = (at("PFQ", BASIC), at("PFQ", "EFM"))
"""For choices that touch basic FAN as well: EFM stands for the mechanisms."""
REMOVING = tuple(at("PFQ", m) for m in MECHANISMS)


def silent(plan: Plan) -> tuple[Silent, ...]:
    """The ledger."""
    size, delay = "session.transfer.size.pareto.shape", "10 ms"
    links = {f"topology.links.L{i}.delay": delay for i in range(1, 9)}
    return (
        Silent(
            "elastic.volume",
            "300 Mbit in the mean",
            "L5 is closed until 240 s after the failure under basic FAN, so at least 49 Gbit "
            "cross it: 150 Mbit, as in the group's other papers, are too few",
            (Point("150 Mbit", volume(150e6, plan.scale)),),
            places=BOTH,
        ),
        Silent(
            "elastic.shape",
            "Pareto with shape 1.5",
            "recalled from the group's other papers; this one names the distribution only",
            (Point("2", elastic({size: 2.0})),),
            places=BOTH,
        ),
        Silent(
            "elastic.gap",
            "0.1 s in the mean between starts to one destination",
            "recalled from the group's other papers",
            (Point("10 ms", elastic({"arrivals.poisson.gap": "10 ms"})),),
            places=BOTH,
        ),
        Silent(
            "elastic.count",
            "200 to each destination",
            "the paper says that flows went to both",
            (Point("100 to each", count(100)),),
            places=BOTH,
        ),
        Silent(
            "elastic.packet",
            "1000 B with headers",
            "ns-2's usual size",
            note="not varied: what is measured depends on bytes",
        ),
        Silent(
            "stream.gap",
            "exponential, 2 s in the mean, from the start of the run; to d1",
            "the paper names the distribution only; its metric needs all of them at both routers",
            (Point("1 s", streams({"start_gap": "1 s"})),),
            places=BOTH,
        ),
        Silent(
            "stream.duration",
            "to the end of the run",
            "each must be there at the failure",
            note="not varied",
        ),
        Silent(
            "tcp.retry",
            "every 1 s",
            "waits of tens of seconds need openings through which many elastic flows come; with "
            "doubling timeouts few try while a link is open",
            (Point("doubling from 3 s to 64 s, as the standard has it", BACKOFF),),
            places=BOTH,
        ),
        Silent(
            "tcp.window",
            "64 packets",
            "the buffer of the FAN link decides, not the window",
            (Point("20 packets", elastic({"tcp.max_window": "19200 B"})),),
            places=BOTH,
        ),
        Silent(
            "link.delay",
            "1 ms",
            "small against the queues of the FAN links",
            (Point(delay, links),),
            places=BOTH,
        ),
        Silent(
            "fan.limit",
            "1000 packets",
            "between the 300 of France Télécom's prototype and 1500 of a later thesis",
            (Point("300 packets", limit(300, plan.scale)),),
            places=BOTH,
        ),
        Silent(
            "fan.smoothing",
            "none",
            "the paper describes plain periodic estimates",
            (Point("one half, fair rate", fan(fair_rate__smoothing=0.5)),),
            places=BOTH,
        ),
        Silent(
            "fan.elastic",
            "sticky: a flow is elastic once the scheduler has refused it priority",
            "flows that sit in a timeout when the list is flushed are elastic as well",
            (Point("instant: as the scheduler would class it now", fan(elastic="instant")),),
            places=REMOVING,
        ),
        Silent(
            "fan.trigger",
            "the packet that triggers a removal is dropped and the link opens at the next tick",
            "table I's values after the failure are around one tick of the fair rate, 0.5 s",
            (Point("it is admitted at once", TRIGGER),),
            places=REMOVING,
        ),
        Silent(
            "failure.phase",
            "the failure falls on a tick of the fair rate",
            "250 s is a multiple of 500 ms when both count from the start",
            (
                Point(
                    f"up to {TICK:g} s after a tick, drawn in each run",
                    {"topology.failures.0.spread": f"{TICK:g} s"},
                ),
            ),
            places=REMOVING,
        ),
        Silent(
            "routing.delay",
            "none: all nodes know of the failure at once",
            "the paper says nothing of it",
            (Point("200 ms", {"topology.routing": {"convergence": "200 ms"}}),),
            places=REMOVING,
        ),
        Silent(
            "pdrr.mode",
            "literal: priority packets cost nothing",
            "as published; claims that do not compare the schedulers are shown for PFQ here",
            (Point("PDRR, charged", fan(scheduler={"pdrr": {"mode": "charged"}})),),
            places=BOTH,
        ),
        Silent(
            "topology",
            "L8 from R5 to R3, so that d1 can be reached over L5",
            "the figure is not readable in the copy; the text needs such a way",
            note="not varied: any way from R5 to d1 that is never full is the same",
        ),
    )
