"""The queues of ports: which formula each has, and whether its assumptions are met."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from spillgate.estimates import queues
from spillgate.estimates.found import Assumption, Estimate
from spillgate.estimates.service import Part, Service

FAIR = {
    *("wfq", "flow-wfq", "drr", "fair", "fq", "fq-codel", "fq-pie", "sfq"),
    *("dualpi2", "cake"),
}
"""Disciplines by flow: whose packet is next depends on lengths."""
BLIND = "the order does not look at lengths"
"""What M/G/1 assumes of the order."""
NEVER = 1e-6
"""What happens to fewer packets than these is left out."""
SETTLED = 0.002
"""The part of a mean that a beginning in an empty network may still move."""


_CLOSED = {
    "tcp": "what TCP sends depends on the network",
    "sessions": "what TCP sends depends on the network",
    "acknowledgments": "what TCP sends depends on the network",
    "replay": "packets of a capture come as they are",
}


@dataclass(frozen=True)
class Traffic:
    """Flows that are alike at a port.

    Attributes:
        of: The record of the core.
        rate: Packets a second, of all of them.
        service: How long each takes.
    """

    of: Mapping[str, Any]
    rate: float
    service: Service

    @property
    def who(self) -> str:
        """What to call them."""
        return f"`{self.of['flow']}`" if self.of["flow"] else "an acknowledgment"


@dataclass(frozen=True)
class Waiting:
    """How long packets wait at a port, and how many are lost.

    Attributes:
        formula: The name of the formula.
        waits: Mean wait in seconds, by queue; of a queue without formula none.
        loss: The share that is lost.
        busy: The share of time in which the line sends.
        assumptions: What is taken for granted.
    """

    formula: str
    waits: tuple[float | None, ...]
    loss: float
    busy: float
    assumptions: tuple[Assumption, ...]


@dataclass
class Port:
    """A port with what comes to it.

    Attributes:
        of: The record of the core.
        outline: Its policy as a tree; none without one.
        ports: All ports, by number.
        period: Begin and length of the measured period in seconds.
        why: Why there is no formula; found when one is looked for.
    """

    of: Mapping[str, Any]
    outline: Mapping[str, Any] | None
    ports: Sequence[Port]
    period: tuple[float, float]
    why: str = ""
    traffic: list[Traffic] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Takes the streams whose packets are known; says of which they are not."""
        for stream in self.of["streams"]:
            if stream["packets"] is None or not stream["lengths"]:
                self.why = _CLOSED.get(
                    stream["kind"], f"`{stream['flow']}` has lengths that no formula knows"
                )
                return
            parts = tuple(self._part(x) for x in stream["lengths"])
            rate = stream["packets"] * stream["count"]
            self.traffic.append(Traffic(stream, rate, Service(parts)))
        if not self.traffic:
            self.why = "nothing comes"

    def _part(self, length: Mapping[str, float]) -> Part:
        at = 8 / self.of["rate"]
        low, high = length["from"] * at, length["to"] * at
        return Part(length["share"], low, high, length["excess"] * at)

    @property
    def link(self) -> str:
        """The name of its link."""
        return str(self.of["link"])

    @property
    def kind(self) -> str:
        """Kind of its discipline."""
        return "fifo" if self.outline is None else str(self.outline["kind"])

    @cached_property
    def rate(self) -> float:
        """Packets a second that come."""
        return sum(t.rate for t in self.traffic)

    @cached_property
    def service(self) -> Service:
        """How long a packet takes, whatever it is."""
        return Service.mixed((t.rate, t.service) for t in self.traffic)

    @cached_property
    def load(self) -> float:
        """The share of its time that the line would need; 1 if it is but for rounding."""
        found = self.rate * self.service.mean
        # Sums in another order, as formulas of classes have them, may be 1 where this is not.
        return 1.0 if math.isclose(found, 1, rel_tol=1e-12) else found

    def at_leaf(self, leaf: int) -> list[Traffic]:
        """What comes to a queue."""
        return [t for t in self.traffic if len(self.of["leaves"]) == 1 or t.of["leaf"] == leaf]

    def queue(self, leaf: int) -> Mapping[str, Any] | None:
        """The record of a queue of the outline, with its limit."""
        if self.outline is None or not self.outline["classes"]:
            return self.outline
        name = self.of["leaves"][leaf]
        named = [c for c in self.outline["classes"] if c["name"] == name]
        return named[0] if named else None

    @cached_property
    def waiting(self) -> Waiting | None:
        """How long packets wait; none, and `why` says it, where no formula says that."""
        if self.why:
            return None
        passing = self._passes_at_once()
        if passing is not None:
            return passing
        classes = self.kind == "class-based"
        if self.kind in ("fifo", *FAIR) or (classes and len(self.of["leaves"]) == 1):
            return self._one_queue()
        if classes:
            return self._classes()
        self.why = f"no formula of `{self.kind}` is known"
        return None

    def _passes_at_once(self) -> Waiting | None:
        """Nothing waits behind a link from which all comes, and which takes longer for it."""
        before = {t.of["before"] for t in self.traffic}
        if len(before) != 1 or None in before or self.of["odd"] or len(self.of["leaves"]) > 1:
            return None
        first = self.ports[before.pop()]
        if self._restraints() or first.why or not first.traffic or first.of["odd"]:
            return None
        if self.service.most > first.service.least * (1 + 1e-12):
            return None
        text = "all comes over one slower link, so that nothing waits"
        return Waiting("no wait", (0.0,), 0.0, self.load, (Assumption(text),))

    def _arrivals(self, room: float = math.inf) -> list[Assumption]:
        """What all formulas of queues take for granted; `room`: seconds of work that fit."""
        others = [t for t in self.traffic if t.of["kind"] != "poisson"]
        late = [t for t in self.traffic if t.of["before"] is not None]
        why = ""
        if others:
            why = f"{others[0].who} is `{others[0].of['kind']}`"
        elif late:
            before = self.ports[late[0].of["before"]].link
            why = f"{late[0].who} has passed `{before}`, which changes its gaps"
        made = [Assumption("arrivals are Poisson", not why, why)]
        ordered = [t.who for t in self.traffic if not t.of["independent"]]
        why = f"those of {ordered[0]} follow each other in a fixed order" if ordered else ""
        made.append(Assumption("lengths are independent", not ordered, why))
        odd = self.of["odd"]
        why = f"`{self.link}` {odd[0]}" if odd else ""
        made.append(Assumption("the line sends at a constant rate", not odd, why))
        made.append(self._steady(room))
        return made

    def _steady(self, room: float) -> Assumption:
        text = "the measured period is the steady state"
        for t in self.traffic:
            if not t.of["throughout"]:
                return Assumption(text, met=False, why=f"{t.who} starts or stops within it")
        settles = queues.settling(self.rate, self.service, room)
        warmup, duration = self.period
        left = settles / duration * math.exp(-warmup / settles)
        why = f"it takes some {5 * settles:.2g} s until the empty beginning is forgotten"
        return Assumption(text, left < SETTLED, why if left >= SETTLED else "")

    def _restraints(self) -> list[str]:
        """What the port does beside letting packets wait up to limits, with its place."""
        outline = self.outline
        if outline is None:
            return []
        aqm = outline["aqm"] or outline["kind"] == "fq-codel"
        found = [f"`{self.link}` has an AQM"] if aqm else []
        for c in outline["classes"]:
            said = [
                (c["aqm"], "has an AQM"),
                (c["shape"], "is shaped"),
                (c["police"] or c.get("priority_policer"), "has a policer"),
                (c["policy"], "has a policy inside"),
                (c["flows"], "has queues by flow"),
            ]
            # A class without a queue of its own may act on packets of others' queues, too.
            found += [f"`{self.link}/{c['name']}` {what}" for is_so, what in said if is_so]
        return found

    def _only_limits(self) -> Assumption:
        found = self._restraints()
        text = "nothing but limits drops or holds packets"
        return Assumption(text, not found, found[0] if found else "")

    def _one_queue(self) -> Waiting | None:
        """M/G/1 and M/G/1/K, of one queue or of all queues of flows together."""
        queue = self.queue(0)
        if self.outline is not None and queue is None:
            self.why = f"`{self.link}` has a policy inside another"
            return None
        places = None if queue is None else queue["limit_packets"]
        room = math.inf if places is None else places * self.service.mean
        made = self._arrivals(room)
        fair = self.kind in FAIR or bool(queue and queue["flows"])
        if fair:
            text = BLIND
            why = "" if self.service.kind == "D" else f"`{self.kind}` does, and they differ"
        else:
            text, why = "first in, first out", ""
        made += [Assumption(text, not why, why), self._only_limits()]
        name = f"M/{self.service.kind}/1"
        if places is not None and not fair:
            limited = queues.mg1k(self.rate, self.service, places + self.of["ring"])
            if limited is None:
                self.why = "so long a queue at so high a load takes long to compute"
                return None
            rare = limited.loss < NEVER
            formula = name if rare else f"{name}/{places + self.of['ring']}"
            return Waiting(formula, (limited.wait,), limited.loss, limited.busy, tuple(made))
        if self.load >= 1:
            self.why = f"the load is {self.load:.3g}, for which a limit in packets is needed"
            return None
        made.append(self._limit(0, queue))
        wait = queues.mg1_wait(self.rate, self.service)
        return Waiting(name, (wait,), 0.0, self.load, tuple(made))

    def _limit(self, leaf: int, queue: Mapping[str, Any] | None) -> Assumption:
        """Whether the work that fits into a queue is hardly ever there."""
        mean = Service.mixed((t.rate, t.service) for t in self.at_leaf(leaf)).mean
        # Without a policy a port holds 1 GB.
        octets = 10**9 if queue is None else queue["limit_bytes"]
        room = math.inf if octets is None else octets * 8 / self.of["rate"]
        for key in ("limit_packets", "flow_packets"):
            if queue is not None and queue[key] is not None:
                room = min(room, queue[key] * mean)
        odds = queues.overflow(self.rate, self.service, room)
        name = f"{self.link}/{self.of['leaves'][leaf]}"
        why = f"`{name}` may be full for up to {odds:.1g} of the packets"
        text = "limits are hardly ever reached"
        return Assumption(text, odds < NEVER, why if odds >= NEVER else "")

    def _classes(self) -> Waiting | None:
        """Cobham's formula: priority classes, and what comes behind them if it is one queue."""
        leaves = range(len(self.of["leaves"]))
        used = [leaf for leaf in leaves if self.at_leaf(leaf)]
        unsorted = [t.who for t in self.traffic if t.of["leaf"] is None]
        if unsorted:
            self.why = f"to which class {unsorted[0]} comes is only known in the run"
            return None
        if self.load >= 1:
            self.why = f"the load is {self.load:.3g}, so that a queue always grows to its limit"
            return None
        made = [*self._arrivals(), self._one_ring(), self._only_limits()]
        levels: dict[int, list[int]] = {}
        behind: list[int] = []
        for leaf in used:
            queue = self.queue(leaf)
            if queue is None:
                self.why = f"`{self.link}` has a policy inside another"
                return None
            made.append(self._limit(leaf, queue))
            if queue["level"] is None:
                behind.append(leaf)
            else:
                levels.setdefault(queue["level"], []).append(leaf)
        order = [levels[level] for level in sorted(levels)] + ([behind] if behind else [])
        streams = [self._stream(group) for group in order]
        waits: list[float | None] = [None] * len(leaves)
        for group, wait in zip(order, queues.cobham_waits(streams), strict=True):
            # Of classes that share only the sum is known.
            if len(group) == 1:
                waits[group[0]] = wait
        formula = "M/G/1 with priorities" if levels else "M/G/1"
        return Waiting(formula, tuple(waits), 0.0, self.load, tuple(dict.fromkeys(made)))

    def _one_ring(self) -> Assumption:
        ring = self.of["ring"]
        why = f"the transmit ring holds {ring} packets in front of all" if ring > 1 else ""
        return Assumption("the scheduler chooses when the line is free", ring == 1, why)

    def _stream(self, leaves: Sequence[int]) -> queues.Stream:
        own = [t for leaf in leaves for t in self.at_leaf(leaf)]
        return sum(t.rate for t in own), Service.mixed((t.rate, t.service) for t in own)

    def estimates(self) -> list[Estimate]:
        """What is known of its queues and its line."""
        found = self.waiting
        if found is None or found.formula == "no wait":
            return []
        made = []
        for leaf, wait in enumerate(found.waits):
            own = self.at_leaf(leaf)
            if wait is None or not own:
                continue
            rate = sum(t.rate for t in own) * (1 - found.loss)
            octets = sum(t.rate * t.service.mean for t in own) * self.of["rate"] / 8
            name = f"{self.link}/{self.of['leaves'][leaf]}"
            lost = 1 - (1 - found.loss) * (1 - self.of["loss"])
            values = [
                ("sojourn_mean", "s", wait),
                ("backlog_packets_mean", "packets", rate * wait),
                ("backlog_bytes_mean", "B", octets * (1 - found.loss) * wait),
            ]
            if lost >= NEVER:
                values.append(("loss_ratio", "1", lost))
            made += [self._estimate("queue", name, *value) for value in values]
        made.append(self._estimate("link", self.link, "utilization", "1", found.busy))
        return made

    def _estimate(self, scope: str, name: str, metric: str, unit: str, value: float) -> Estimate:
        found = self.waiting
        assert found is not None  # noqa: S101
        terms = ((scope, name, metric, 1.0, 0.0),)
        return Estimate(
            found.formula,
            scope,
            name,
            metric,
            unit,
            value,
            exact=True,
            assumptions=found.assumptions,
            terms=terms,
        )
