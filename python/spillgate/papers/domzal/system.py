"""The paper's system: its network, its traffic, and what a variant of it replaces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

SYSTEM = Path(__file__).parent / "system"

SCHEDULERS = ("PFQ", "PDRR")
MECHANISMS = ("EFM", "RAEF", "RBAEF")
"""The congestion control mechanisms, in the paper's order."""
BASIC = "basic"
ROUTERS = (BASIC, *MECHANISMS)
"""The rows of table I."""

LINKS = {"R2": "L3", "R4": "L5"}
"""The FAN link that each cross-protect router feeds."""

TIMERS = (1.0, 2.0, 5.0, 10.0, 20.0)
"""Values of `pfl_flushing_timer` and `active_time` in seconds, for figures 7 to 9."""
TIMER = 5.0
"""Their value everywhere else."""
BLOCKED_TIME = 1.0
"""`blocked_time` of RBAEF in seconds."""

FLOWS = (200, 300, 400, 500, 600)
"""Elastic flows to each destination, for figure 6; the first everywhere else."""

STREAMS = 20
STREAM_PACKET, STREAM_HZ = 100, 100
"""Bytes of a stream's packets, and how many it sends a second."""
STREAM_LEAST, STREAM_LEAST_HZ = 20, 20
"""The shortest packet at a part of the rates, an IP header, and the fewest a second: one in each
interval of the priority load."""

RATE = 100e6
"""b/s of the FAN links."""
MEAN = 300e6
"""Bits that an elastic flow transfers in the mean (W-cal)."""
SHAPE = 1.5
"""Shape of their Pareto distribution."""
GAP = 0.1
"""Mean seconds between starts of elastic flows to one destination."""
PAYLOAD, PACKET = 960, 1000
"""Bytes of a full segment of an elastic flow, and of its packet."""
LIMIT = 1000
"""Packets that a FAN link's buffer holds."""

TICK = 0.5
"""Seconds between two values of the fair rate."""
MIN_SHARE = 0.05
"""`min_fair_rate` as a share of the link."""
FAILURE = 250.0
"""Second at which L2 fails."""
END = 500.0
"""Second at which a run of the paper ends."""

_FAN = "policies.FAN.fan"
_STREAM = "traffic.0.flow"
_ELASTIC = ("traffic.1.sessions", "traffic.2.sessions")

PARAMETERS = {"EFM": "pfl_flushing_timer", "RAEF": "active_time", "RBAEF": "active_time"}
"""The timer of each mechanism."""


@dataclass(frozen=True)
class Workload:
    """Traffic that the paper leaves silent.

    Attributes:
        mean: Bits of an elastic flow in the mean.
        gap: Mean seconds between starts of elastic flows to one destination.
        stream_gap: Mean seconds between starts of streams.
        stream_start: Seconds before the first of these gaps.
        retry: The retry law of TCP as it stands in a scenario.
        flows: Elastic flows to each destination.
    """

    mean: float = MEAN
    gap: float = GAP
    stream_gap: float = 2.0
    stream_start: float = 0.0
    retry: object = None
    flows: int = FLOWS[0]

    def settings(self, scale: float) -> dict[str, object]:
        """What it replaces in the scenario, with links that carry `scale` times the rate."""
        # As of elastic flows, there are fewer packets, not shorter ones.
        rate = STREAM_PACKET * STREAM_HZ * scale
        hz = max(STREAM_LEAST_HZ, round(STREAM_HZ * scale))
        packet = max(STREAM_LEAST, round(rate / hz))
        found: dict[str, object] = {
            f"{_STREAM}.source.cbr.packet": f"{packet} B",
            f"{_STREAM}.source.cbr.rate": f"{packet * 8 * hz} b/s",
            f"{_STREAM}.start_gap": f"{self.stream_gap:g} s",
            f"{_STREAM}.start": f"{self.stream_start:g} s",
        }
        for path in _ELASTIC:
            found[f"{path}.arrivals.poisson.gap"] = f"{1000 * self.gap:g} ms"
            found[f"{path}.arrivals.poisson.count"] = self.flows
            found[f"{path}.active"] = self.flows
            size = f"{round(self.mean * scale / 8)} B"
            found[f"{path}.session.transfer.size.pareto.mean"] = size
            if self.retry is not None:
                found[f"{path}.tcp.retry"] = self.retry
                found[f"{path}.tcp.initial_rto"] = "3 s"
                found[f"{path}.tcp.max_rto"] = "64 s"
        return found


W_CAL = Workload()
"""The workload of table I: one that waits as long as the paper says needs many elastic flows that
come through each opening."""
W_LIT = Workload(mean=150e6, stream_gap=1.0, retry="exponential")
"""What the group's other papers tell of their traffic, and the standard's retries."""


@dataclass(frozen=True)
class Setting:
    """A variant of the system.

    Attributes:
        router: One of `ROUTERS`.
        scheduler: One of `SCHEDULERS`.
        workload: Its traffic.
        timer: Seconds of the mechanism's timer.
        failure: Second at which L2 fails; none: never.
        spread: Seconds by up to which each run has that later.
        limit: Packets that a FAN link's buffer holds.
        rest: Further values to replace, by path.
    """

    router: str = BASIC
    scheduler: str = "PFQ"
    workload: Workload = W_CAL
    timer: float = TIMER
    failure: float | None = FAILURE
    spread: float = 0.0
    limit: int = LIMIT
    rest: tuple[tuple[str, object], ...] = ()

    def settings(self, scale: float = 1.0, end: float = END) -> dict[str, object]:
        """What it replaces in the scenario.

        Args:
            scale: The rate of FAN links over the paper's 100 Mb/s; volumes and buffers go with
                it, so that everything takes as long.
            end: Second at which the run ends.
        """
        found = self.workload.settings(scale)
        found[f"{_FAN}.mechanism"] = mechanism(self.router, self.timer)
        found[f"{_FAN}.scheduler"] = scheduler(self.scheduler)
        for link in LINKS.values():
            found[f"topology.links.{link}.rate"] = f"{RATE * scale:.0f} b/s"
        found[f"{_FAN}.limit"] = f"{max(20, round(self.limit * scale))} packets"
        if self.failure is None:
            found["topology.failures"] = []
        else:
            found["topology.failures.0.at"] = f"{self.failure:g} s"
            if self.spread:
                found["topology.failures.0.spread"] = f"{self.spread:g} s"
            # Across the failure, for as long as a stream may be expected to wait.
            until = min(end, self.failure + HELD)
            found["measurement.gaps"] = {"from": f"{self.failure:g} s", "to": f"{until:g} s"}
        return found | dict(self.rest)


HELD = 10.0
"""Seconds after the failure in which interruptions of streams are looked for."""


def mechanism(router: str, timer: float) -> object:
    """The mechanism as it stands in a scenario."""
    if router == BASIC:
        return "basic"
    values = {PARAMETERS[router]: f"{timer:g} s"}
    if router == "RBAEF":
        values["blocked_time"] = f"{BLOCKED_TIME:g} s"
    return {router.lower(): values}


def scheduler(name: str) -> object:
    """The scheduler as it stands in a scenario; PDRR as published, without charges."""
    forms: Mapping[str, object] = {
        "PFQ": "pfq",
        "PDRR": {"pdrr": {"mode": "literal"}},
        "PDRR, charged": {"pdrr": {"mode": "charged"}},
    }
    return forms[name]


def fan(**values: object) -> tuple[tuple[str, object], ...]:
    """Values of the FAN policy by key, `__` between the keys of a path."""
    return tuple((f"{_FAN}.{k.replace('__', '.')}", v) for k, v in values.items())


TRIGGER = fan(accept_trigger=True)
"""The second setting: the packet that triggers a removal is admitted at once."""


def tcp(**values: object) -> tuple[tuple[str, object], ...]:
    """Values of the elastic flows' connections by key."""
    return tuple((f"{path}.tcp.{k}", v) for path in _ELASTIC for k, v in values.items())


def sizes(**values: object) -> tuple[tuple[str, object], ...]:
    """Values of the distribution of elastic volumes by key."""
    base = "session.transfer.size.pareto"
    return tuple((f"{path}.{base}.{k}", v) for path in _ELASTIC for k, v in values.items())


def delay(text: str) -> tuple[tuple[str, object], ...]:
    """Another propagation delay of all links."""
    return tuple((f"topology.links.L{i}.delay", text) for i in range(1, 9))
