"""Tables of what a scenario describes: links, nodes, traffic, failures; groups are one row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spillgate.metrics import format_value
from spillgate.points import counted
from spillgate.scenario import Description, irregularity
from spillgate.tables import Table

_WITHOUT = "none (FIFO, 1 GB)"
"""The policy of a link without one."""


@dataclass(frozen=True)
class Listing:
    """A table of a kind of things.

    Attributes:
        what: What its rows are called.
        rank: Those of a lower rank matter more.
        table: The table; its note stands below.
        fixed: How many columns at the left are never wrapped.
        worth: For each row, what is least of those that matter most. Default: their order.
    """

    what: str
    rank: int
    table: Table
    fixed: int = 0
    worth: Sequence[Any] = ()


def listings(d: Description) -> list[Listing]:
    """All but requirements."""
    kinds = dict.fromkeys(n["kind"] for n in d.nodes)
    return [
        _links(d),
        *_unusual_links(d),
        *([_rings(d)] if d.rings else ()),
        *(_nodes(kind, [n for n in d.nodes if n["kind"] == kind]) for kind in kinds),
        *([_patterns(d)] if d.patterns else ()),
        *([_sessions(d)] if d.sessions else ()),
        *([_failures(d)] if d.failures else ()),
    ]


def requirements(d: Description) -> Listing:
    """What is required of whom."""
    columns = ["class", "requirement"]
    columns[:0] = ["customer"] if any(r.get("customer") for r in d.sla) else []
    columns += ["objective"] if any(r.get("basis") for r in d.sla) else []
    rows = []
    for r in d.sla:
        site = f" @ {r['site']}" if r.get("site") else ""
        cells = {
            "customer": r.get("customer") or "",
            "class": f"{r['class']}{site}",
            "requirement": r["requirement"],
            "objective": r.get("basis") or "",
        }
        rows.append([cells[c] for c in columns])
    together = f"All verdicts together at {100 * d.level:g} % ({d.correction})."
    return Listing(
        "requirements", 3, Table(columns, rows, together if d.correction != "none" else "")
    )


def _links(d: Description) -> Listing:
    labelled = any(link.get("labels") for link in d.links)
    limited = any(link.get("mtu") for link in d.links)
    more = (*(("mtu",) if limited else ()), *(("labels",) if labelled else ()))
    head = ("link", "from → to", "rate", "delay", *more, "policy")
    rows = []
    for i, link in enumerate(d.links):
        names = [p[i] for p in d.policies if i < len(p)]
        # With axes a list of all points would say nothing.
        names = list(dict.fromkeys(names)) if d.axes else names
        names = [_WITHOUT if name == "none" else name for name in names]
        policy = names[0] if len(set(names)) == 1 else f"{', '.join(names)} (by variant)"
        if link.get("input"):
            policy += f"; arriving: {link['input']}"
        labels = " or ".join(f"{n} ({4 * n} B)" if n else "none" for n in link.get("labels", ()))
        mtu = f"{link['mtu']} B" if link.get("mtu") else "-"
        rows.append((link, (link["rate"], mtu, labels, policy)))
    # First those that queue by a policy, then the slowest.
    worth, shown = [], []
    for members, (rate, mtu, labels, policy) in families(rows):
        worth.append((policy == _WITHOUT, rate))
        delays = [link["delay"] for link in members]
        ends = [format_value(x, "s") for x in (min(delays), max(delays))]
        shown.append(
            (
                _span([str(link["name"]) for link in members]),
                _ends(members),
                format_value(rate, "b/s"),
                " to ".join(dict.fromkeys(ends)),
                *((mtu,) if limited else ()),
                *((labels or "-",) if labelled else ()),
                policy,
            )
        )
    return Listing("links", 2, Table(head, shown), len(head) - 1, worth)


def _counts_and_besides(link: Mapping[str, Any]) -> tuple[str, str, str]:
    """What a link counts, what its policy counts, and what else it does."""
    own, policy = link.get("counts") or "", link.get("policy_counts") or ""
    return own or ("IP packet" if policy else ""), policy, irregularity(link) or ""


def _unusual_links(d: Description) -> tuple[Listing, ...]:
    """Links that add something to packets, or whose rate varies, or that lose or reorder."""
    told = [(link, _counts_and_besides(link)) for link in d.links]
    told = [(link, texts) for link, texts in told if any(texts)]
    shown = [i for i in range(3) if any(texts[i] for _, texts in told)]
    heads = ("counts", "its policy counts", "besides")
    rows = [
        (_span([str(link["name"]) for link in members]), *(texts[i] or "-" for i in shown))
        for members, texts in families(told)
    ]
    table = Table(("link", *(heads[i] for i in shown)), rows)
    return (Listing("links out of the ordinary", 4, table, 1),) if rows else ()


def _rings(d: Description) -> Listing:
    """The transmit rings of ports, and what decides their size."""
    rows: list[tuple[dict[str, Any], tuple[Any, ...]]] = []
    for i, link in enumerate(d.links):
        found: dict[tuple[Any, ...], list[str]] = {}
        for variant, rings in zip(d.variants, d.rings, strict=True):
            if rings and (ring := rings[i]):
                key = tuple(ring[k] for k in ("packets", "delay", "longest", "from"))
                found.setdefault(key, []).append(variant)
        for said, variants in found.items():
            of_all = len(variants) == len(d.variants) or d.axes
            rows.append((link, (*said, "" if of_all else f" ({', '.join(variants)})")))
    shown = []
    for members, (packets, delay, longest, why, variants) in families(rows):
        full = f"{format_value(delay, 's')} of {longest} B packets" if packets > 1 else "-"
        name = _span([str(link["name"]) for link in members])
        shown.append((name, counted(packets, "packet"), full, why + variants))
    return Listing(
        "transmit rings", 5, Table(("link", "transmit ring", "when full", "from"), shown), 1
    )


def _nodes(kind: str, nodes: list[dict[str, Any]]) -> Listing:
    """The nodes of a kind, with all that they were given but lists."""
    facts = [f["key"] for f in nodes[0]["facts"] if not isinstance(f["value"], list)]
    rows = [
        (n, tuple(_fact(f["value"], f["unit"]) for f in n["facts"] if f["key"] in facts))
        for n in nodes
    ]
    shown = [(_span([n["name"] for n in members]), *texts) for members, texts in families(rows)]
    head = (f"node ({kind})", *(key.replace("_", " ") for key in facts))
    return Listing(f"nodes ({kind})", 5, Table(head, shown))


def _fact(value: float | str | None, unit: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return format_value(value, unit) if unit else f"{value:g}"


def _patterns(d: Description) -> Listing:
    rows = [
        (p["name"], f"{p['from']} → {p['to']}", str(p["flows"]), p["pattern"]) for p in d.patterns
    ]
    head = ("flows", "from → to", "how many", "who sends to whom")
    return Listing("patterns", 4, Table(head, rows))


def _sessions(d: Description) -> Listing:
    rows = [
        (s, (s["class"], words(s["arrivals"]), words(s["session"]), str(s["active"])))
        for s in d.sessions
    ]
    shown = [
        (_span([s["name"] for s in members]), cls, _ends(members), begin, do, active)
        for members, (cls, begin, do, active) in families(rows)
    ]
    head = ("sessions", "class", "from → to", "begin", "do", "at most")
    return Listing("workloads of sessions", 4, Table(head, shown))


def _failures(d: Description) -> Listing:
    late = any(f["spread"] for f in d.failures)
    rows = [
        (
            ", ".join(_shortened(f["links"])),
            format_value(f["at"], "s"),
            "the end" if f["repair"] is None else format_value(f["repair"], "s"),
            *((format_value(f["spread"], "s") if f["spread"] else "–",) if late else ()),
        )
        for f in d.failures
    ]
    head = ("fails", "at", "until", *(("later by up to",) if late else ()))
    when = f"{format_value(d.reroute, 's')} later" if d.reroute else "at once"
    return Listing("failures", 4, Table(head, rows, f"routes follow {when}"))


_MEMBER = re.compile(r"^(.*-)(\d+)((?:\.reverse)?)$")
_FEW = 4


def families(
    rows: Iterable[tuple[dict[str, Any], tuple[Any, ...]]],
) -> list[tuple[list[dict[str, Any]], tuple[Any, ...]]]:
    """Puts the members of groups together: what is called alike and is alike.

    Fewer than four stay alone.

    Args:
        rows: Records with name and perhaps from and to, each with what must be equal in a family.

    Example:
        >>> row = lambda i: ({"name": f"access-{i}", "from": f"s-{i}", "to": "r"}, (1e6,))
        >>> [(len(members), alike) for members, alike in families(map(row, range(1000)))]
        [(1000, (1000000.0,))]
    """
    found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for record, alike in rows:
        stems = tuple(_stem(str(record.get(k))) for k in ("name", "from", "to"))
        found.setdefault((stems, alike), []).append(record)
    out: list[tuple[list[dict[str, Any]], tuple[Any, ...]]] = []
    for (_, alike), members in found.items():
        if len(members) < _FEW:
            out += [([one], alike) for one in members]
        else:
            out.append((members, alike))
    return out


def _stem(name: str) -> str:
    """A name without the number of a member."""
    # A match is put together faster by hand than by a template, and there may be thousands.
    found = _MEMBER.match(name)
    return name if found is None else found[1] + found[3]


def _span(names: Sequence[str]) -> str:
    first, last = names[0], names[-1]
    return first if first == last else f"{first} … {last}"


def _ends(members: Sequence[Mapping[str, Any]]) -> str:
    """From where to where they lead."""
    return " → ".join(_span([str(one[k]) for one in members]) for k in ("from", "to"))


def _shortened(names: Sequence[str]) -> list[str]:
    rows = [({"name": n, "from": "", "to": ""}, ()) for n in names]
    return [
        _span([m["name"] for m in members]) + (f" ({len(members)} links)" if members[1:] else "")
        for members, _ in families(rows)
    ]


def words(value: object) -> str:
    """A part of a scenario as text in one line.

    Example:
        >>> words({"transfer": {"size": {"pareto": {"mean": "12 kB", "shape": 1.2}}}})
        'transfer size pareto (mean 12 kB, shape 1.2)'
    """
    if isinstance(value, Mapping):
        parts = []
        for key, inner in value.items():
            if inner is None:
                continue
            text = words(inner)
            deep = isinstance(inner, Mapping) and not (
                len(inner) == 1 and isinstance(next(iter(inner.values())), Mapping | str)
            )
            parts.append(f"{key} ({text})" if deep else f"{key} {text}")
        return ", ".join(parts)
    if isinstance(value, list):
        return f"of {counted(len(value), 'point')}"
    return str(value)
