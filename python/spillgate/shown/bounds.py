"""What cannot be exceeded, as tables and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from spillgate.bounds import Bounds, Delay, EndToEnd, QueueBound
from spillgate.labels import mark_of
from spillgate.metrics import format_ceiling, format_value
from spillgate.rows import Verdict
from spillgate.tables import Table

PARTS = {
    "own": "of which\nown",
    "priority": "what goes\nfirst",
    "front": "packets\nin front",
    "shaper": "shaper",
    "share": "what others\nget",
}
"""The parts of a delay as columns."""

MEANING = (
    "Delays are of queueing and transmission; the one-way delay has propagation, too. Own: "
    "the burst that may come, or the full queue, on an empty line; other parts add to it."
)
"""What the columns mean."""

WITHOUT_FAILURES = "Links fail in this scenario: these bounds hold while none does."

CHANGES = {
    "packets": "a queue limit of {} packets (now {})",
    "limit": "a queue limit of {} (now {})",
    "burst": "a burst of {} (now {})",
    "priority": "{} of what goes first (now {})",
    "front": "{} of packets in front (now {})",
    "shaper": "{} of delay by the shaper (now {})",
    "share": "{} of what others get (now {})",
}
"""What halves a bound, in words."""


def time(seconds: float | None) -> str:
    """A bound of a time, rounded up."""
    return "no bound" if seconds is None else format_ceiling(seconds, "s")


def _size(count: float | None) -> str:
    return "" if count is None else f"{count:,.0f} B"


UNITS = {"packets": "{:.0f}".format, "limit": _size, "burst": _size}
"""How what halves a bound is written; all else is a time."""


def _loss(*, lossless: bool) -> str:
    return "impossible" if lossless else "possible"


def ends(what: str, found: Sequence[EndToEnd]) -> Table:
    """The delays of classes or flows with the places that they are the sum of."""
    parts = _parts(d for e in found for d in e.steps)
    rows: list[list[str]] = []
    for e in found:
        names = [e.name, time(e.owd), _loss(lossless=e.lossless)]
        if e.propagation:
            rows.append([*names, "propagation", time(e.propagation)])
        rows += [[*names, f"{s.link}/{s.queue}", *_delay(s, parts)] for s in e.steps]
        if e.once:
            rows.append([*names, "bursts count once", f"-{time(e.once)}"])
        if not e.steps:
            rows.append(names)
    head = (what, "one-way delay\nnever above", "loss", "of which", "there")
    wide = [*head, *(PARTS[p] for p in parts)]
    filled = [[*row, *[""] * (len(wide) - len(row))] for row in rows]
    return Table(wide, filled, names=3, right=(1, *range(4, len(wide))))


def _parts(delays: Iterable[Delay]) -> list[str]:
    """The parts that add to any of these delays."""
    found = {part for d in delays for part, seconds in d.parts.items() if seconds}
    return [part for part in PARTS if part in found]


def _delay(delay: Delay, parts: Iterable[str]) -> list[str]:
    """The cells of a delay and its parts."""
    return [
        time(delay.delay),
        *(time(delay.parts[p]) if p in delay.parts else "" for p in parts),
    ]


def queues(found: Iterable[QueueBound]) -> Table:
    """What queues cannot exceed."""
    head = ("link/queue", "classes", "delay\nnever above", "own", "is the", "guaranteed")
    rows = [
        (
            f"{q.link}/{q.queue}",
            ", ".join(q.classes),
            time(q.delay),
            _size(q.own),
            q.by or "",
            "" if q.rate is None else format_value(q.rate, "b/s"),
            _size(q.backlog),
            _loss(lossless=q.lossless),
        )
        for q in found
    ]
    return Table((*head, "backlog\nnever above", "loss"), rows, right=(2, 3, 5, 6))


def certain(verdicts: Iterable[Verdict]) -> Table:
    """What is required for certain."""
    # No run is made: what is not proven is open.
    rows = [(v.whose, v.requirement, v.measured, mark_of(v.verdict, v.said)) for v in verdicts]
    return Table(("class", "requirement", "known", "verdict"), rows)


def halved(b: Bounds) -> Iterator[str]:
    """What halves the bounds of classes, a line each."""
    for c in b.classes:
        if c.owd is None:
            continue
        ways = []
        for h in c.halved:
            unit = UNITS.get(h.what, time)
            change = CHANGES[h.what].format(unit(h.most), unit(h.now))
            ways.append(f"{change} at {h.link}/{h.queue}")
        if not ways and (c.propagation or 0) > c.owd / 2:
            ways = [f"nothing at a queue: propagation is {time(c.propagation)}"]
        yield f"To halve {c.name}: {', or '.join(ways) or 'no single change is enough'}."


def reasons(b: Bounds, *, flows: bool) -> Iterator[str]:
    """Why there is no bound, each reason once."""
    of: dict[str, list[str]] = {}
    for e in (*b.classes, *(b.flows if flows else ())):
        if e.why:
            of.setdefault(e.why, []).append(e.name)
    for q in b.queues:
        if q.why:
            of.setdefault(q.why, []).append(f"{q.link}/{q.queue}")
    for why, names in of.items():
        yield f"No bound of {', '.join(names)}: {why}."
