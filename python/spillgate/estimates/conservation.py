"""Kleinrock's conservation law over the classes of a port, which holds whatever the order is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from spillgate.estimates import queues
from spillgate.estimates.found import Assumption, Estimate, Term
from spillgate.estimates.ports import BLIND, FAIR, NEVER, Port, Traffic
from spillgate.estimates.service import Service


def conservation(port: Port, alone: Collection[str]) -> Estimate | None:
    """Kleinrock's law over the classes of a port, if it has several.

    Args:
        port: The port.
        alone: Classes of service all of whose packets pass this port and no other.
    """
    if port.why or port.load >= 1 or port.waiting is None or port.waiting.loss >= NEVER:
        return None
    groups: dict[str, list[Traffic]] = {}
    leaves = port.of["leaves"]
    for t in port.traffic:
        name = t.of["class"] if len(leaves) == 1 else leaves[t.of["leaf"]]
        groups.setdefault(name, []).append(t)
    if len(groups) < 2:
        return None
    if len(leaves) == 1 and not set(groups) <= set(alone):
        return None
    terms: list[Term] = []
    for name, own in groups.items():
        rho = queues.load([(t.rate, t.service) for t in own])
        if len(leaves) > 1:
            terms.append(("queue", f"{port.link}/{name}", "sojourn_mean", rho, 0.0))
        else:
            service = Service.mixed((t.rate, t.service) for t in own).mean
            fixed = service + port.of["delay"]
            terms.append(("class", name, "owd_mean", rho, fixed))
    kept = tuple(a for a in port.waiting.assumptions if a.text != BLIND)
    return Estimate(
        "conservation law",
        "link",
        port.link,
        "weighted_wait",
        "s",
        queues.conserved([(t.rate, t.service) for t in port.traffic]),
        exact=True,
        assumptions=(*kept, _order(port, groups)),
        note="the sum over classes of load times mean wait",
        terms=tuple(terms),
    )


def _order(port: Port, groups: Mapping[str, Sequence[Traffic]]) -> Assumption:
    """What is chosen by lengths must not differ in them within a class."""
    text = "the order does not look at lengths within a class"
    if port.kind == "fifo":
        return Assumption(text)
    strict = {
        leaf
        for i, leaf in enumerate(port.of["leaves"])
        if (queue := port.queue(i)) and queue["level"] is not None
    }
    sharing = [name for name in groups if name not in strict]
    if len(sharing) < 2 and port.kind not in FAIR:
        return Assumption(text)
    for name in sharing:
        own = groups[name]
        if Service.mixed((t.rate, t.service) for t in own).kind != "D":
            why = f"`{port.link}` shares by lengths, and those of `{name}` differ"
            return Assumption(text, met=False, why=why)
    return Assumption(text)
