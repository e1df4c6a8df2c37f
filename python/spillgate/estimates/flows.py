"""TCP connections: what each should get, what a queue should hold, and shares beside BBR."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spillgate.estimates import tcp
from spillgate.estimates.found import Assumption, Estimate

RENO = ("reno", "newreno")
LOSS_BASED = (*RENO, "cubic")


@dataclass(frozen=True)
class Group:
    """Connections of one class that are alike over a link.

    Attributes:
        of: The record of the core: count, class, cc, frame, mss, rtt, loss, max_window, ..
        link: The record of the link: name, rate, limits, aqm.
    """

    of: Mapping[str, Any]
    link: Mapping[str, Any]

    @property
    def per_ack(self) -> float:
        """Full packets that an acknowledgment counts for, in the growth of the window."""
        return 1.0 if self.of["by_bytes"] else float(self.of["every"])

    @property
    def capacity(self) -> float:
        """Full packets a second that the link carries."""
        return float(self.link["rate"]) / 8 / float(self.of["frame"])

    def goodput(self, packets: float) -> float:
        """Payload in b/s of so many packets a second."""
        return packets * 8 * float(self.of["mss"])


def limit(link: Mapping[str, Any], frame: float) -> float | None:
    """Packets that the queue of a link holds; none if it is no FIFO."""
    if link["discipline"] not in (None, "fifo"):
        return None
    if link["limit_packets"] is not None:
        return float(link["limit_packets"])
    octets = 1e9 if link["limit_bytes"] is None else link["limit_bytes"]
    return float(octets / frame)


def buffers(link: Mapping[str, Any]) -> list[Estimate]:
    """The buffer rules of a link that endless connections cross."""
    groups = link["connections"]
    count = sum(g["count"] for g in groups)
    frame = sum(g["count"] * g["frame"] for g in groups) / count
    capacity = link["rate"] / 8 / frame
    rtt = count / sum(g["count"] / g["rtt"] for g in groups)
    room = limit(link, frame)
    has = "" if room is None else f"; the queue holds {room:.4g}"
    of = f"{capacity:.5g} packets/s, {rtt * 1e3:.4g} ms"
    others = {g["cc"] for g in groups} - set(LOSS_BASED)
    why = f"some have `{min(others)}`" if others else ""
    cc = Assumption("congestion controls halve their window at a loss (Reno)", not others, why)
    few = "" if count >= 50 else f"there are {count} connections; in step they need more"
    rules = [
        ("bandwidth-delay product", 1, (cc,)),
        ("BDP over root of flows", count, (cc, Assumption("many, out of step", not few, few))),
    ]
    return [
        Estimate(
            name,
            "link",
            str(link["name"]),
            "buffer",
            "packets",
            tcp.buffer(capacity, rtt, n),
            exact=False,
            assumptions=assumptions,
            note=f"{of}{has}",
        )
        for name, n, assumptions in rules[: 2 if count > 1 else 1]
    ]


def shares(link: Mapping[str, Any], classes: Mapping[str, str]) -> list[Estimate]:
    """What BBR gets beside connections that fill the queue.

    Args:
        link: The record of the core.
        classes: Of each congestion control the class of service that has it alone; others are
        left
            out.
    """
    groups = link["connections"]
    bbr = [g for g in groups if g["cc"] == "bbr"]
    others = [g for g in groups if g["cc"] != "bbr"]
    if not bbr or not others:
        return []
    count = sum(g["count"] for g in bbr)
    frame = sum(g["count"] * g["frame"] for g in groups) / sum(g["count"] for g in groups)
    capacity = link["rate"] / 8 / frame
    trips = [g["rtt"] for g in groups]
    rtt = sum(trips) / len(trips)
    room = limit(link, frame)
    if room is None or link["aqm"] is not None:
        return []
    share = tcp.bbr_share(count, room, capacity, rtt)
    odd = {g["cc"] for g in others} - set(LOSS_BASED)
    why = f"`{min(odd)}` is neither Reno nor CUBIC" if odd else ""
    apart = max(trips) > 1.05 * min(trips)
    multiple = room / (capacity * rtt)
    assumptions = (
        Assumption("the others fill the queue (Reno, CUBIC)", not odd, why),
        Assumption("round trips are alike", not apart, "round trips differ" if apart else ""),
        Assumption(
            "the queue holds more than the bandwidth-delay product",
            multiple >= 1,
            "" if multiple >= 1 else f"the queue holds {multiple:.3g} times the BDP",
        ),
        Assumption("nothing else crosses the link", not link["others"], _others(link)),
    )
    made = []
    mss = sum(g["count"] * g["mss"] for g in groups) / sum(g["count"] for g in groups)
    for cc, part in [("bbr", share), *((c, 1 - share) for c in {g["cc"] for g in others})]:
        if cc not in classes or (cc != "bbr" and len({g["cc"] for g in others}) > 1):
            continue
        name = classes[cc]
        made.append(
            Estimate(
                "BBR beside loss-based",
                "class",
                name,
                "goodput",
                "b/s",
                part * capacity * 8 * mss,
                exact=False,
                assumptions=assumptions,
                note=f"{part:.1%} of the link; the queue is {multiple:.3g} times its BDP",
                terms=(("class", name, "goodput", 1.0, 0.0),),
            )
        )
    return made


def _others(link: Mapping[str, Any]) -> str:
    return f"`{link['others'][0]}` crosses the link, too" if link["others"] else ""


def _law(group: Group, loss: float, rtt: float) -> list[tuple[str, float, Assumption]]:
    """The formulas of a congestion control: name, packets a second, and for which it is made."""
    cc, b, window = group.of["cc"], group.per_ack, group.of["max_window"]
    most = window / rtt
    if cc in RENO:
        text = "losses are repaired without timeouts, windows are not limited"
        root = tcp.square_root(rtt, loss, b)
        why = ""
        if root > most:
            why = f"windows are limited to {window:.4g} packets"
        elif root * rtt < 4:
            why = f"windows of {root * rtt:.2g} packets end in timeouts"
        of = Assumption("the congestion control is Reno")
        rto = max(group.of["min_rto"], rtt)
        return [
            ("square-root law", min(root, most), Assumption(text, not why, why)),
            ("PFTK", tcp.padhye(rtt, loss, rto, window, b), of),
            ("PFTK, RFC 5348", min(tcp.tfrc(rtt, loss, rto, b), most), of),
        ]
    if cc == "cubic":
        rate, friendly = tcp.cubic(rtt, loss)
        region = "Reno-friendly" if friendly else "cubic"
        return [
            (f"CUBIC, {region} region", min(rate, most), Assumption("losses are even and rare"))
        ]
    return []


def rates(
    groups: Sequence[Group],
    name: str,
    met: tuple[float, float] | None,
    said: tuple[Assumption, ...],
    note: str,
) -> list[Estimate]:
    """What the connections of a class get in all, by the loss and the round trip that they meet.

    Args:
        groups: Those of the class; with congestion controls that differ there is nothing.
        name: The class.
        met: Loss and queueing delay in seconds of a run; those of empty links if none.
        said: Assumptions beside those of the formulas.
        note: Of what the loss and the round trip are.
    """
    if len({g.of["cc"] for g in groups}) > 1:
        return []
    found: dict[str, tuple[float, Assumption]] = {}
    for g in groups:
        loss, queued = (g.of["loss"], 0.0) if met is None else met
        rtt = g.of["rtt"] + queued
        for formula, packets, of in _law(g, loss, rtt):
            so_far = found[formula][0] if formula in found else 0.0
            got = g.goodput(packets) * (1 - loss) * g.of["count"]
            found[formula] = (so_far + got, of)
    return [
        Estimate(
            formula,
            "class",
            name,
            "goodput",
            "b/s",
            value,
            exact=False,
            assumptions=(of, *said),
            note=note,
            terms=(("class", name, "goodput", 1.0, 0.0),),
        )
        for formula, (value, of) in found.items()
    ]


def by_links(groups: Sequence[Group], name: str) -> list[Estimate]:
    """Rates by the loss of the links on the way, where that limits and not a full queue.

    Args:
        groups: The connections of a class over the link that has least for each.
        name: The class.
    """
    link, first = groups[0].link, groups[0]
    if not 0 < first.of["loss"] < 1 or not _law(first, first.of["loss"], first.of["rtt"]):
        return []
    count = sum(g["count"] for g in link["connections"])
    fastest = max(_law(g, g.of["loss"], g.of["rtt"])[0][1] for g in groups)
    why = "" if fastest < 0.8 * first.capacity / count else "the link is full before that"
    beside = _others(link)
    said = (
        Assumption("losses of the link limit the windows, and no queue builds up", not why, why),
        Assumption("nothing else is on the way", not beside, beside),
    )
    note = f"loss {first.of['loss']:.3g} of the links, round trip {first.of['rtt'] * 1e3:.4g} ms"
    return rates(groups, name, None, said, note)


def by_run(groups: Sequence[Group], name: str, loss: float, delay: float) -> list[Estimate]:
    """Rates by what a run has shown: the loss of the class and its one-way delay in seconds."""
    if not 0 < loss < 1:
        return []
    # Over several paths of unlike length it is the mean of all that is queued.
    count = sum(g.of["count"] for g in groups)
    there = sum(g.of["count"] * g.of["there"] for g in groups) / count
    queued = max(delay - there, 0.0)
    text = "packets lost in one round trip count as several losses, where the models have one"
    rtt = groups[0].of["rtt"] + queued
    note = f"loss {loss:.3g} and round trip {rtt * 1e3:.4g} ms of the runs"
    return rates(groups, name, (loss, queued), (Assumption(text),), note)


def even(link: Mapping[str, Any], name: str) -> list[Estimate]:
    """What the connections of a class get of a full link: as much each, without headers."""
    groups = link["connections"]
    count = sum(g["count"] for g in groups)
    frame = sum(g["count"] * g["frame"] for g in groups) / count
    mss = sum(g["count"] * g["mss"] for g in groups) / count
    room = limit(link, frame)
    capacity = link["rate"] / 8 / frame
    rtt = count / sum(g["count"] / g["rtt"] for g in groups)
    need = tcp.buffer(capacity, rtt, count if count >= 50 else 1)
    short = "" if room is None or room >= need else f"the queue holds {room:.4g} of {need:.4g}"
    ccs = {g["cc"] for g in groups}
    unlike = "" if len(ccs) == 1 else "congestion controls differ"
    trips = [g["rtt"] for g in groups]
    apart = "round trips differ" if max(trips) > 1.05 * min(trips) else ""
    closed = sum(g["count"] * g["max_window"] for g in groups) < capacity * rtt
    held = "receivers' windows do not fill it" if closed else ""
    aqm = f"`{link['aqm']}` keeps the queue short" if link["aqm"] else ""
    full = held or short or aqm
    assumptions = (
        Assumption(
            "the queue holds the bandwidth-delay product and is never empty", not full, full
        ),
        Assumption("connections are alike", not (unlike or apart), unlike or apart),
        Assumption("nothing else crosses the link", not link["others"], _others(link)),
    )
    total = capacity * 8 * mss
    n = sum(g["count"] for g in groups if g["class"] == name)
    return [
        Estimate(
            "even shares",
            "class",
            name,
            "goodput",
            "b/s",
            total * n / count,
            exact=False,
            assumptions=assumptions,
            note=f"{n} of {count} connections over `{link['name']}`",
            terms=(("class", name, "goodput", 1.0, 0.0),),
        )
    ]
