"""Where a packet's delay went, and why one was dropped, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spillgate.labels import reason_of

Record = dict[str, Any]

PS_PER_S = 1e12


def duration(ps: int) -> str:
    """A time in words, of three significant digits.

    Example:
        >>> duration(7_900_000_000), duration(120_000_000), duration(0)
        ('7.9 ms', '120 µs', '0 s')
    """
    for unit, size in (("s", 10**12), ("ms", 10**9), ("µs", 10**6), ("ns", 10**3)):
        if ps >= size:
            return f"{float(f'{ps / size:.3g}'):g} {unit}"
    return f"{ps} ps" if ps else "0 s"


def packets(n: int) -> str:
    """A number of packets.

    Example:
        >>> packets(1), packets(12_000)
        ('1 packet', '12,000 packets')
    """
    return "1 packet" if n == 1 else f"{n:,} packets"


def packet_name(packet: Record) -> str:
    """What a packet is called.

    Example:
        >>> packet_name({"flow": "web-2", "seq": 7, "acknowledgment": True})
        'web-2 acknowledgment #7'
    """
    kind = " acknowledgment" if packet.get("acknowledgment") else ""
    return f"{packet['flow']}{kind} #{packet['seq']}"


def packet_sentence(packet: Record) -> str:
    """What took how long, in one or two sentences."""
    name = packet_name(packet)
    if packet["lost"] is not None:
        return drop_sentence(packet)
    if packet["delay"] is None:
        return f"{name} was still on the way at the end of the run."
    waits = [h for h in packet["hops"] if h["waited"]]
    waited = sum(h["waited"] for h in waits)
    head = f"{name} took {duration(packet['delay'])}"
    kept = sum(h.get("kept", 0) for h in packet["hops"])
    rest = packet["delay"] - waited - kept
    by_nodes = f"{duration(kept)} in nodes that forward; " if kept else ""
    if not waits:
        if not kept:
            return f"{head} and waited nowhere: all of it is serialization and propagation."
        return f"{head}: {by_nodes}{duration(rest)} serialization and propagation."
    said = [
        f"{duration(h['waited'])} waiting at {h['link']}, {wait_words(h, packet['class'])}"
        for h in sorted(waits, key=lambda h: -h["waited"])
        # What is below a hundredth of all is in the table.
        if 100 * h["waited"] >= waited
    ]
    return f"{head}: {'; '.join(said)}; {by_nodes}{duration(rest)} serialization and propagation."


def hop_parts(hop: Record) -> dict[str, int]:
    """What a hop took, in picoseconds: columns of the table."""
    of = {"ahead": "own", "overtook": "own", "priority": "priority", "turn": "others"}
    parts = dict.fromkeys(("own", "priority", "others"), 0)
    for s in hop["served"]:
        parts[of[s["relation"]]] += s["time"]
    rest = hop["residual"]["time"] if hop["residual"] else 0
    return {
        "node": hop.get("kept", 0),
        **parts,
        "wire": rest,
        "tokens": hop["tokens"],
        "sending": hop["serialization"],
        "link": hop["propagation"],
    }


def wait_words(hop: Record, own: str) -> str:
    """What a packet of a class of service waited for at a port."""
    kinds: dict[tuple[str, bool], list[Record]] = {}
    for s in hop["served"]:
        kinds.setdefault((s["relation"], s["without_tokens"]), []).append(s)
    parts: list[tuple[int, str]] = []
    for (relation, held), members in kinds.items():
        words = _sent(relation, members, hop["queue"], own)
        if held:
            words += ", while its shaper had no tokens"
        parts.append((sum(s["time"] for s in members), words))
    if hop["residual"] is not None:
        cls = hop["residual"]["class"]
        whose = "its own class" if cls == own else f"class {cls}"
        parts.append((hop["residual"]["time"], f"the rest of a packet of {whose} on the wire"))
    if hop["tokens"]:
        parts.append((hop["tokens"], "tokens of its shaper while the line was idle"))
    parts.sort(key=lambda p: -p[0])
    return "for " + _and([f"{words} ({duration(time)})" for time, words in parts])


def _sent(relation: str, members: Sequence[Record], queue: str, own: str) -> str:
    """Packets that stand to the waiting one in one way."""
    count: dict[str, int] = {}
    for s in members:
        name = _name(s, queue, own)
        count[name] = count.get(name, 0) + s["packets"]
    n = packets(sum(count.values()))
    if len(count) == 1:
        (name,) = count
        return {
            "ahead": f"{n} of {name} that came before it",
            "overtook": f"{n} of {name} that came after it and went first",
            "priority": f"{n} of {name}, which has priority",
            "turn": f"{n} of {name} in the scheduler's turns",
        }[relation]
    words = {
        "ahead": f"{n} that came before it into its queue {queue}",
        "overtook": f"{n} that came after it into its queue {queue} and went first",
        "priority": f"{n} of classes that have priority",
        "turn": f"{n} in the scheduler's turns",
    }[relation]
    most = sorted(count.items(), key=lambda item: (-item[1], item[0]))
    return f"{words}: {_and([f'{k:,} of {name}' for name, k in most])}"


def _name(served: Record, queue: str, own: str) -> str:
    """The class of service, with the queue where that is another and has another name."""
    cls: str = served["class"]
    there: str = served["queue"]
    if there == queue:
        return "its own class" if cls == own else cls
    return there if there.lower() == cls.lower() else f"{cls} (queue {there})"


def _and(items: Sequence[str]) -> str:
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"


def drop_sentence(packet: Record) -> str:
    """Who dropped a packet, and why."""
    lost = packet["lost"]
    what = f"{packet_name(packet)} was lost {lost['at'] / PS_PER_S:.6f} s into the run"
    if lost["link"] is None:
        return f"{what}: a node had no route to its destination."
    if lost.get("node") is not None:
        end = f"at node {lost['node']}, which it reached over {lost['link']}"
        return f"{what} {end}: {reason_words(lost)}."
    if lost.get("input") is not None:
        end = f"at the receiving end of {lost['link']}, class {lost['input']}"
        return f"{what} {end}: {reason_words(lost)}."
    if lost["queue"] is None:
        why = "at random" if lost["reason"] == "drops_link_loss" else "the link failed"
        return f"{what} on the wire of {lost['link']}: {why}."
    return f"{what} at {lost['link']}, queue {lost['queue']}: {reason_words(lost)}."


def mark_sentence(packet: Record) -> str:
    """Who marked a packet with congestion experienced, and why."""
    return (
        f"{packet_name(packet)} was marked {packet['at'] / PS_PER_S:.6f} s into the run at "
        f"{packet['link']}, queue {packet['queue']}: {mark_words(packet['evidence'])}."
    )


def mark_words(evidence: Record) -> str:
    """The numbers that decided on a mark."""
    cause, waiting = evidence["cause"], _waiting(evidence)
    if cause is not None and cause["kind"] == "waited":
        return f"{_waited(cause)}; {waiting}"
    if cause is not None and cause["kind"] == "delay":
        return f"{_delay(cause)}; {waiting}"
    if cause is None or cause["kind"] != "aqm":
        return waiting
    return f"{_odds(cause)}; {waiting}"


def _waited(cause: Record) -> str:
    """How long it waited, and what CoDel's law made of that."""
    waited, target = duration(cause["waited"]), duration(cause["target"])
    if cause["count"] is None:
        return f"it had waited {waited}, more than the {target} from which on packets are marked"
    nth = f"number {cause['count']} of this period" if cause["count"] > 1 else "the first"
    return (
        f"it had waited {waited}, and for {duration(cause['interval'])} packets had waited at "
        f"least the target of {target} ({nth}, due {cause['due'] / PS_PER_S:.6f} s into the run)"
    )


def _delay(cause: Record) -> str:
    """The delay that PIE knew, and by which chance the packet was chosen."""
    sums = "" if cause["sum"] is None else f" and {cause['sum']:.2f} in all since the last drop"
    known = (
        f"the queue's delay was {duration(cause['delay'])} at the last update (target "
        f"{duration(cause['target'])}), the probability {cause['probability']:.4f}{sums}"
    )
    if cause["draw"] is None:
        return f"{known}, so that no number was drawn"
    return f"{known}, and {cause['draw']:.4f} was drawn"


def _waiting(evidence: Record) -> str:
    waiting = f"{packets(evidence['queue_packets'])} ({evidence['queue_bytes']:,} B) waited"
    most = _limit(evidence["limit"])
    return waiting + (f", of at most {most}" if most else "")


def _odds(cause: Record) -> str:
    """The average queue, and by which chance the packet was chosen."""
    if cause.get("unit") == "B":
        average = f"the average queue was {cause['average']:,.0f} B"
    else:
        average = f"the average queue was {cause['average']:.2f} packets"
    if cause["draw"] is None:
        return f"{average}, above the upper threshold of {cause['max']:g}"
    count = f" and {cause['count']} since the last drop" if cause["count"] is not None else ""
    return (
        f"{average}, between the thresholds {cause['min']:g} and {cause['max']:g}"
        f"{count}, so the probability was {cause['probability']:.4f}, and "
        f"{cause['draw']:.4f} was drawn"
    )


def reason_words(lost: Record) -> str:
    """The reason of a drop with the numbers that decided."""
    evidence = lost["evidence"]
    cause = evidence["cause"]
    waiting = _waiting(evidence)
    reason: str = lost["reason"]
    said = reason_of(reason)
    if reason == "drops_too_big":
        return f"{said}: {lost['bytes']:,} B on the wire, labels and overhead included"
    if reason == "drops_link_down":
        # How much waits does not matter.
        return said
    if cause is None:
        return f"{said}; {waiting}"
    kind = cause["kind"]
    if kind == "waited":
        return f"{_waited(cause)}; {waiting}"
    if kind == "delay":
        chosen = "" if cause["draw"] is None else f"random {said}: "
        return f"{chosen}{_delay(cause)}; {waiting}"
    if kind == "aqm":
        chosen = "" if cause["draw"] is None else f"random {said}: "
        return f"{chosen}{_odds(cause)}; {waiting}"
    if kind in ("policer", "priority-policer"):
        whose = "the policer of the priority class" if kind == "priority-policer" else said
        words = (
            f"{whose} had tokens for {cause['tokens']:,} B, not for its {lost['bytes']:,} B "
            f"(rate {_rate(cause['rate'])}, burst {cause['burst']:,} B)"
        )
        if excess := cause.get("excess"):
            words += f"; {excess['tokens']:,} of {excess['burst']:,} B are in its other bucket"
        if cause["tokens"] >= lost["bytes"]:
            # Its color, before or now, is one that this policer drops.
            words = words.replace("not for", "more than")
        return words
    if kind == "marker":
        chosen = f" and {cause['draw']:.4f} was drawn" if cause["draw"] is not None else ""
        peak = f", peak {_rate(cause['peak_rate'])}" if cause["peak_rate"] is not None else ""
        return (
            f"{said}: the average rate of its class was {_rate(cause['average'])} (committed "
            f"{_rate(cause['rate'])}{peak}){chosen}"
        )
    if kind == "threshold":
        return (
            f"the queue had no room for its DSCP: packets of {cause['dscp']} are queued up to "
            f"{_limit(cause['limit'])}; {waiting}"
        )
    if kind == "admission":
        return _refusal(cause)
    if kind == "flow" and reason == "drops_pushed_out":
        return (
            f"{said}: its queue had the most bytes, and {packets(cause['packets'])} "
            f"({cause['bytes']:,} B) are left of it; in all {waiting}"
        )
    if kind == "flow":
        return (
            f"its own flow's queue was full: {packets(cause['packets'])} ({cause['bytes']:,} B), "
            f"of at most {_limit(cause['limit'])}; in all {waiting}"
        )
    return (
        f"its {lost['bytes']:,} B are more than the {cause['burst']:,} B of a shaper's burst: the "
        "tokens would never suffice"
    )


def _refusal(cause: Record) -> str:
    """Why flow admission refused a packet."""
    mechanism = f"mechanism {cause['mechanism']}"
    fair = f"the fair rate was {_rate(cause['fair_rate'])}"
    load = f"the priority load {100 * cause['priority_load']:.2f} %"
    measured = (
        f"{fair} (at least {_rate(cause['min_fair_rate'])} to admit new flows) and {load} "
        f"(at most {100 * cause['max_priority_load']:g} %)"
    )
    why = {
        "fair-rate": "the link was congested and its flow not on the protected list",
        "priority-load": "the link was congested and its flow not on the protected list",
        "active-flows": "the list of active flows was full and its flow not on the protected list",
        "quota": "as many new flows as allowed were admitted since the last tick",
        "blocked": "its flow was removed from the protected list and is blocked",
    }[cause["why"]]
    if cause["blocked_until"] is not None:
        why += f" until {cause['blocked_until'] / PS_PER_S:.6f} s"
    return f"flow admission refused it: {why}; {measured}; {mechanism}"


def _limit(limit: Record) -> str:
    said = []
    if limit["packets"] is not None:
        said.append(packets(limit["packets"]))
    if limit["bytes"] is not None:
        said.append(f"{limit['bytes']:,} B")
    return " and ".join(said)


def _rate(bps: float) -> str:
    for unit, size in (("Gb/s", 10**9), ("Mb/s", 10**6), ("kb/s", 10**3)):
        if bps >= size:
            return f"{bps / size:g} {unit}"
    return f"{bps:g} b/s"
