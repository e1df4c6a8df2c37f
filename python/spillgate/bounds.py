"""What cannot be exceeded: worst cases by network calculus, without simulating."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spillgate import _engine
from spillgate.displayed import Displayed, Several
from spillgate.errors import InputError
from spillgate.rows import Verdict
from spillgate.rows import records as as_rows
from spillgate.scenario import Overrides, override_texts, seen_from
from spillgate.source import Source


@dataclass(frozen=True, kw_only=True)
class Delay:
    """What the longest delay at a port is the sum of.

    Attributes:
        link: The link whose port it is at, or the node that holds packets.
        queue: Its name: of a class-based policy the class.
        delay: The longest time in seconds from arrival until a packet has been sent; none if there
            is no bound.
        by: `burst` if sources and policers bound the delay, `limit` if the queue's limit does.
        own: The bytes of the burst, or of the full queue.
        parts: The parts of the delay in seconds: `own`, these bytes on an empty line, and what is
            added by classes that go first (`priority`), packets that are sent before (`front`), a
            `shaper`, and what other classes or flows get (`share`).
    """

    link: str
    queue: str
    delay: float | None = None
    by: str | None = None
    own: int | None = None
    parts: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class QueueBound(Delay):
    """What a queue of a port or node cannot exceed.

    Attributes:
        classes: The classes of service whose packets may come to it.
        backlog: The most bytes that wait, in the transmit ring too.
        lossless: Whether no packet can be lost here.
        rate: The rate in b/s that it is guaranteed in the end.
        why: Why there is no bound; then the numbers are none, and there are no parts.
    """

    classes: tuple[str, ...]
    backlog: int | None
    lossless: bool
    rate: int | None
    why: str | None


@dataclass(frozen=True)
class Halved:
    """A change that alone halves a bound.

    Attributes:
        link: The link at whose port it is made.
        queue: The queue of the class or flow there.
        what: `packets`, the limit of the queue in packets; `limit` or `burst`, in bytes; or
            another of the parts of the delay, in seconds.
        now: What it is now.
        most: What it may be at most.
    """

    link: str
    queue: str
    what: str
    now: float
    most: float


@dataclass(frozen=True)
class EndToEnd:
    """What a class or a flow cannot exceed on its paths.

    Attributes:
        name: Of the class of service, or of the flow.
        owd: The longest one-way delay in seconds; none if there is no bound.
        lossless: Whether no packet can be lost.
        propagation: The part of the delay in seconds that no queue changes.
        steps: The ports, and nodes that hold packets, on the way of the flow with the longest
            delay.
        once: What the sum of these is too large by in seconds, since a burst counts once along a
            path.
        halved: What halves the longest delay, each change alone.
        why: Why there is no bound.
    """

    name: str
    owd: float | None
    lossless: bool
    propagation: float | None
    steps: tuple[Delay, ...]
    once: float | None
    halved: tuple[Halved, ...]
    why: str | None

    @classmethod
    def of(cls, record: dict[str, Any]) -> EndToEnd:
        """From the record of the native module."""
        steps = tuple(Delay(**s) for s in record["steps"])
        halved = tuple(Halved(**h) for h in record["halved"])
        return cls(**record | {"steps": steps, "halved": halved})


@dataclass(frozen=True)
class Bounds(Displayed):
    """What cannot be exceeded at a point of a scenario.

    Attributes:
        point: The name of the point: a variant, with the values of axes.
        classes: By class of service.
        flows: By flow.
        queues: By link and queue, then by node.
        certain: Verdicts on what is required for certain: proven (`verdict` is `pass`) or not
            (`undecided`), since no run is made that could refute it.
        without_failures: Links fail in the scenario; the bounds are those of the network in which
            none does.
    """

    point: str
    classes: tuple[EndToEnd, ...]
    flows: tuple[EndToEnd, ...]
    queues: tuple[QueueBound, ...]
    certain: tuple[Verdict, ...]
    without_failures: bool


def bound(
    scenario: str | Path,
    *,
    variant: str | None = None,
    set: Overrides | None = None,  # noqa: A002 - the name of the command line
    sla: Sequence[str | Path] = (),
    confine: bool = False,
) -> tuple[Bounds, ...]:
    """Says which delays and backlogs cannot be exceeded; simulates nothing.

    Args:
        scenario: A scenario file.
        variant: Only the point of this name; default all.
        set: Values to replace, by path.
        sla: Files with the requirements of customers, beside those of the scenario.
        confine: Refuses files outside the scenario's folder.

    Returns:
        The bounds of each point, in their order.

    Raises:
        InputError: If the file cannot be used, or there is no such point.

    Example:
        >>> import spillgate
        >>> fifo, llq = spillgate.bound("examples/first/scenario.yaml")
        >>> [(c.name, c.owd) for c in llq.classes]
        [('voice', 0.00636), ('data', 0.06697979798)]
    """
    records = _engine.bound(
        str(scenario),
        overrides=override_texts(set),
        sla=seen_from(Source.of(scenario), sla),
        confine=confine,
    )
    found = Several(
        Bounds(
            point=record["point"],
            classes=tuple(EndToEnd.of(c) for c in record["bounds"]["classes"]),
            flows=tuple(EndToEnd.of(f) for f in record["bounds"]["flows"]),
            queues=tuple(
                QueueBound(**q | {"classes": tuple(q["classes"])})
                for q in record["bounds"]["queues"]
            ),
            certain=as_rows(Verdict, record["certain"]),
            without_failures=record["bounds"]["without_failures"],
        )
        for record in records
        if variant in (None, record["point"])
    )
    if not found:
        names = ", ".join(repr(r["point"]) for r in records)
        msg = f"error: {scenario}: there is no variant {variant!r}; valid are {names}"
        raise InputError(msg)
    return found
