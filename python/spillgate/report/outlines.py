"""Policies as trees: what each class was promised and what it got."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from spillgate.metrics import format_value
from spillgate.result import Results
from spillgate.rows import Row

MOST_TREES = 40
"""Trees that are shown; of more, those whose queues lose or hold most."""

THIN = "\N{NARROW NO-BREAK SPACE}"
"""Between groups of three digits."""

Outline = dict[str, Any]


@dataclass(frozen=True)
class Node:
    """A class of a policy, with shares of the link's rate, 0 to 1.

    Attributes:
        depth: 0 for the policy itself.
        name: Its name.
        promise: What it was promised, in words.
        configured: Share of the link that it was promised; none if nothing or not known.
        carried: Share of the link that it used; none where it has no queue.
        offered: Share of the link that arrived for it.
        lost: Its lost packets over those that arrived, as text.
        limit: How much may wait.
        aqm: Its active queue management with thresholds.
        peak: Most packets that waited.
    """

    depth: int
    name: str
    promise: str
    configured: float | None
    carried: float | None
    offered: float | None
    lost: str
    limit: str
    aqm: str
    peak: str


@dataclass(frozen=True)
class Tree:
    """The policy of one link in one variant."""

    variant: str
    link: str
    policy: str
    rate: str
    nodes: tuple[Node, ...]

    @property
    def managed(self) -> bool:
        """Whether any class has active queue management."""
        return any(n.aqm for n in self.nodes)


def walk(outline: Outline) -> Iterator[Outline]:
    """An outline and everything in it, in order."""
    yield outline
    for inner in outline["classes"]:
        yield from walk(inner)


def queues(results: Results, variant: str) -> dict[str, Outline]:
    """What is known of each queue of a variant, by its name in results: `link/queue`."""
    d = results.description
    if not d.outlines:
        return {}
    trees = d.outlines[d.variants.index(variant)]
    return {
        f"{link['name']}/{node['queue']}": node
        for link, tree in zip(d.links, trees, strict=True)
        if tree is not None
        for node in walk(tree)
        if node["queue"] is not None
    }


def trees(results: Results) -> tuple[list[Tree], int]:
    """The trees to show, and how many there are in all."""
    d = results.description
    all_of_them = [
        (variant, link["name"], outline)
        for variant, outlines in zip(d.variants, d.outlines, strict=False)
        for link, outline in zip(d.links, outlines, strict=True)
        if outline is not None
    ]
    shown = all_of_them
    if len(all_of_them) > MOST_TREES:
        trouble = _trouble(results)
        of_each = [
            sum(trouble.get((variant, queue), 0.0) for queue in _queues(link, outline))
            for variant, link, outline in all_of_them
        ]
        floor = sorted(of_each, reverse=True)[MOST_TREES - 1]
        chosen = zip(all_of_them, of_each, strict=True)
        shown = [tree for tree, trouble in chosen if trouble >= floor][:MOST_TREES]
    names = {queue for _, link, outline in shown for queue in _queues(link, outline)}
    measured: dict[tuple[str, str], dict[str, Row]] = {}
    for row in results.table(scope="queue", name=names):
        measured.setdefault((row.variant, row.name), {})[row.metric] = row
    made = []
    for variant, link, outline in shown:
        rows = {
            node["queue"]: measured.get((variant, f"{link}/{node['queue']}"), {})
            for node in walk(outline)
            if node["queue"] is not None
        }
        tree = Tree(
            variant=variant,
            link=link,
            policy=outline["name"],
            rate=format_value(outline["guaranteed"], "b/s"),
            nodes=tuple(_nodes(outline, rows, outline["guaranteed"], 0)),
        )
        made.append(tree)
    return made, len(all_of_them)


def _queues(link: str, outline: Outline) -> list[str]:
    """The names in results of the queues of a tree."""
    return [f"{link}/{n['queue']}" for n in walk(outline) if n["queue"] is not None]


def _trouble(results: Results) -> dict[tuple[str, str], float]:
    """What each queue of each variant loses and holds, in packets."""
    found: dict[tuple[str, str], float] = {}
    for metric in ("packets_lost", "backlog_packets_mean"):
        for row in results.table(scope="queue", metric=metric):
            at = (row.variant, row.name)
            found[at] = found.get(at, 0.0) + (row.mean or 0.0)
    return found


def _value(rows: dict[str, Row], metric: str) -> float:
    row = rows.get(metric)
    return 0.0 if row is None or row.mean is None else row.mean


def _lost(rows: dict[str, Row]) -> float:
    return sum(_value(rows, m) for m in rows if m.startswith("drops_"))


def _nodes(
    outline: Outline, rows: dict[str, dict[str, Row]], rate: float, depth: int
) -> Iterator[Node]:
    inside = [rows[n["queue"]] for n in walk(outline) if n["queue"] is not None]
    known = [r for r in inside if r]

    def share(metric: str) -> float | None:
        return sum(_value(r, metric) for r in known) / rate if known and rate else None

    lost = sum(_lost(r) for r in known)
    configured = outline["guaranteed"] / rate if outline["guaranteed"] and rate else None
    own = rows.get(outline["queue"] or "", {})
    yield Node(
        depth=depth,
        name=outline["name"],
        promise=_promise(outline, top=depth == 0),
        configured=configured if depth else None,
        carried=share("carried"),
        offered=share("offered"),
        lost=_count(lost) if known else "–",
        limit=_limit(outline),
        aqm=_aqm(outline),
        peak=_count(_value(own, "backlog_packets_max")) if own else "",
    )
    for inner in outline["classes"]:
        yield from _nodes(inner, rows, rate, depth + 1)


def _count(number: float) -> str:
    shown = f"{number:.0f}" if number >= 10 or number == 0 else f"{number:.2g}"
    return f"{int(shown):_}".replace("_", THIN) if shown.isdigit() else shown


def _promise(o: Outline, *, top: bool) -> str:
    if top:
        kind = "classes" if o["kind"] == "class-based" else o["kind"]
        return ", ".join(filter(None, (kind, o["promise"])))
    buckets = [o[key]["words"] for key in ("police", "shape") if o[key]]
    inside = [f"policy {o['policy']} inside"] if o["policy"] is not None else []
    return "; ".join((o["promise"], *o.get("marks", ()), *buckets, *inside))


def _limit(o: Outline) -> str:
    own = (limit["words"] for limit in o.get("dscp_limits", ()))
    return ", ".join(filter(None, (o["limit"], *own, o["flows"])))


def _aqm(o: Outline) -> str:
    if o["aqm"] is None:
        return ""
    parts = "; ".join(t["words"] for t in o["thresholds"])
    return f"{o['aqm'].upper()}: {parts}" if parts else o["aqm"].upper()
