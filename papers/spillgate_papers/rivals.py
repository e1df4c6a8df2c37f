"""Rivals: the kinds of queueing that a paper does not use."""

from __future__ import annotations

from collections.abc import Collection

from spillgate.scenario import catalog
from spillgate_papers.lab import Settings


def rivals(own: Collection[str], link: str) -> dict[str, Settings]:
    """Each other discipline and AQM with its defaults at a link, by name, as an axis.

    Kinds that later versions bring join by themselves. An AQM stands in a FIFO of 1000 packets.

    Args:
        own: The kinds that the paper uses.
        link: The path of the link.
    """
    known = catalog()
    kinds = {f: [str(e["kind"]) for e in known[f]] for f in ("disciplines", "aqm")}
    policies: dict[str, object] = {k: {k: {}} for k in kinds["disciplines"] if k not in own}
    for k in kinds["aqm"]:
        if k not in own:
            policies[f"fifo with {k}"] = {"fifo": {"limit": "1000 packets", "aqm": {k: {}}}}
    return {
        name: {"policies.RIVAL": policy, f"{link}.policy": "RIVAL"}
        for name, policy in policies.items()
    }
