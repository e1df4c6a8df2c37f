"""The packets that took longest, and the first drops of each cause: what `explain` found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spillgate.explain import Explanation
from spillgate.labels import reason_of, words
from spillgate.points import counted


@dataclass(frozen=True)
class Late:
    """One packet.

    Attributes:
        cls: Its group: the class of service.
        name: Flow and number.
        sent: When it was sent, in seconds of the run.
        total: What it took.
        shares: Share of the longest packet's time that each cause took, with its color.
        times: The same in milliseconds, as text.
        sentence: All of it in words.
    """

    cls: str
    name: str
    sent: str
    total: str
    shares: Sequence[tuple[int, float]]
    times: Sequence[str]
    sentence: str


@dataclass(frozen=True)
class Drops:
    """What one queue dropped for one reason, and the first of it in words."""

    cls: str
    place: str
    count: str
    reason: str
    first: str


@dataclass(frozen=True)
class Worst:
    """One run's worst packets: its variant, number and fingerprint, packets and drops."""

    variant: str
    run: int
    digest: str
    causes: Sequence[tuple[int, str]]
    late: Sequence[Late]
    drops: Sequence[Drops]


def worst_packets(found: Sequence[Explanation]) -> list[Worst]:
    """The section's tables, one for each explained run."""
    return [_of(e) for e in found]


def _of(e: Explanation) -> Worst:
    causes = words("delays")
    arrived = [
        (group["name"], p)
        for group in e.groups
        for p in group["packets"]
        if p["delay"] is not None
    ]
    parts = []
    for _, packet in arrived:
        parts.append([sum(h["parts"][key] for h in packet["hops"]) for key in causes])
    used = [i for i in range(len(causes)) if any(p[i] for p in parts)]
    longest = max((packet["delay"] for _, packet in arrived), default=0) or 1
    late = [
        Late(
            cls,
            f"{packet['flow']} #{packet['seq']}",
            f"{packet['sent'] / 1e12:.6f}",
            _ms(packet["delay"]),
            [(i, part[i] / longest) for i in used],
            [_ms(part[i]) for i in used],
            packet["sentence"],
        )
        for (cls, packet), part in zip(arrived, parts, strict=True)
    ]
    drops = [
        Drops(
            group["name"],
            (kind["link"] or "nodes") + (f"/{kind['queue']}" if kind["queue"] else ""),
            counted(kind["packets"], "packet"),
            reason_of(kind["reason"]),
            kind["first"][0]["sentence"] if kind["first"] else "",
        )
        for group in e.groups
        for kind in group["drops"]
    ]
    names = [cause["summary"] for cause in causes.values()]
    return Worst(e.variant, e.run, e.digest, [(i, names[i]) for i in used], late, drops)


def _ms(ps: int) -> str:
    return f"{ps / 1e9:.3f}" if ps else "0"
