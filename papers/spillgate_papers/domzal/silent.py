"""What the paper leaves silent: our choice, its reason, and other choices to run."""

from __future__ import annotations

from spillgate_papers.domzal.system import (
    BACKOFF,
    BASIC,
    MECHANISMS,
    TEXTS,
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
    return TEXTS.silent(
        {
            "elastic.volume": (Point("150 Mbit", volume(150e6, plan.scale)),),
            "elastic.shape": (Point("2", elastic({size: 2.0})),),
            "elastic.gap": (Point("10 ms", elastic({"arrivals.poisson.gap": "10 ms"})),),
            "elastic.count": (Point("100 to each", count(100)),),
            "stream.gap": (Point("1 s", streams({"start_gap": "1 s"})),),
            "tcp.retry": (Point("doubling from 3 s to 64 s, as the standard has it", BACKOFF),),
            "tcp.window": (Point("20 packets", elastic({"tcp.max_window": "19200 B"})),),
            "link.delay": (Point(delay, links),),
            "fan.limit": (Point("300 packets", limit(300, plan.scale)),),
            "fan.smoothing": (Point("one half, fair rate", fan(fair_rate__smoothing=0.5)),),
            "fan.elastic": (
                Point("instant: as the scheduler would class it now", fan(elastic="instant")),
            ),
            "fan.trigger": (Point("it is admitted at once", TRIGGER),),
            "failure.phase": (
                Point(
                    f"up to {TICK:g} s after a tick, drawn in each run",
                    {"topology.failures.0.spread": f"{TICK:g} s"},
                ),
            ),
            "routing.delay": (Point("200 ms", {"topology.routing": {"convergence": "200 ms"}}),),
            "pdrr.mode": (Point("PDRR, charged", fan(scheduler={"pdrr": {"mode": "charged"}})),),
        },
        {
            "elastic.volume": BOTH,
            "elastic.shape": BOTH,
            "elastic.gap": BOTH,
            "elastic.count": BOTH,
            "stream.gap": BOTH,
            "tcp.retry": BOTH,
            "tcp.window": BOTH,
            "link.delay": BOTH,
            "fan.limit": BOTH,
            "fan.smoothing": BOTH,
            "fan.elastic": REMOVING,
            "fan.trigger": REMOVING,
            "failure.phase": REMOVING,
            "routing.delay": REMOVING,
            "pdrr.mode": BOTH,
        },
    )
