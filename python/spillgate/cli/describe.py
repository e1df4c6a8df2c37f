"""What `spillgate check` and `spillgate list` say."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from spillgate.cli.screen import Part, table_part
from spillgate.cli.text import console, count, show, table
from spillgate.metrics import format_value
from spillgate.scenario import Description, irregularity

_WITHOUT = "none (FIFO, 1 GB)"
"""The policy of a link without one."""

UNITS = {"1": "ratio"}
"""Units whose sign says little."""


def description(d: Description) -> Sequence[Part]:
    """Everything that `spillgate check` says of what a file describes."""
    kinds = dict.fromkeys(n["kind"] for n in d.nodes)
    return (
        Part(
            lambda out: _head(out, d),
            entries=1,
            some=lambda out, _: _head(out, d, classes=_NAMED),
        ),
        _links(d),
        *_unusual_links(d),
        *([_rings(d)] if d.rings else ()),
        *(_nodes(kind, [n for n in d.nodes if n["kind"] == kind]) for kind in kinds),
        *([_patterns(d)] if d.patterns else ()),
        *([_sessions(d)] if d.sessions else ()),
        *([_failures(d)] if d.failures else ()),
        *([_requirements(d)] if d.sla else ()),
        Part(lambda out: out.print("The scenario is valid.\n")),
    )


_NAMED = 12
"""Classes that are named where there is no place for all."""


def _head(out: Console, d: Description, classes: int | None = None) -> int:
    out.print(Text(d.name or "(no name)", "bold"))
    named = ", ".join(d.classes[:classes])
    if classes is not None and len(d.classes) > classes:
        named += ", ..."
    flows = f"{count(d.flows, 'flow')}{_kinds(d)}"
    out.print(
        Text(f"{flows} in {count(len(d.classes), 'class', 'classes')}: {named}"), overflow="fold"
    )
    out.print(
        f"{format_value(d.duration, 's')} measured after {format_value(d.warmup, 's')} of "
        f"warm-up, series every {format_value(d.interval, 's')}"
    )
    out.print(
        f"{d.extent()} × {count(d.runs, 'run')}, seed {d.seed}, "
        f"about {format_value(float(d.memory_bytes), 'B')} of memory"
    )
    out.print(Text(f"scenario {d.hash}"))
    if d.outside:
        out.print(Text(f"files outside its folder: {', '.join(d.outside)}"), overflow="fold")
    out.print()
    return 1


def _requirements(d: Description) -> Part:
    columns = ["class", "requirement"]
    columns[:0] = ["customer"] if any(r.get("customer") for r in d.sla) else []
    columns += ["objective"] if any(r.get("basis") for r in d.sla) else []
    made = table()
    for column in columns:
        made.add_column(column)
    for r in d.sla:
        site = f" @ {r['site']}" if r.get("site") else ""
        cells = {
            "customer": r.get("customer") or "",
            "class": f"{r['class']}{site}",
            "requirement": r["requirement"],
            "objective": r.get("basis") or "",
        }
        made.add_row(*(Text(cells[c]) for c in columns))
    together = f"All verdicts together at 95 % ({d.correction})."
    after = together if d.correction != "none" else ""
    return table_part(made, 3, "requirements", after=after)


def _kinds(d: Description) -> str:
    kinds = []
    if d.connections:
        kinds.append(count(d.connections, "TCP connection"))
    if d.sessions:
        kinds.append(count(len(d.sessions), "workload of sessions", "workloads of sessions"))
    return f" ({', '.join(kinds)})" if kinds else ""


def _links(d: Description) -> Part:
    made = table()
    labelled = any(link["labels"] for link in d.links)
    limited = any(link.get("mtu") for link in d.links)
    more = (*(("mtu",) if limited else ()), *(("labels",) if labelled else ()))
    for heading in ("link", "from → to", "rate", "delay", *more, "policy"):
        made.add_column(heading, no_wrap=heading != "policy")
    rows = []
    for i, link in enumerate(d.links):
        names = [p[i] for p in d.policies if i < len(p)]
        # With axes a list of all points would say nothing.
        names = list(dict.fromkeys(names)) if d.axes else names
        names = [_WITHOUT if name == "none" else name for name in names]
        policy = names[0] if len(set(names)) == 1 else f"{', '.join(names)} (by variant)"
        if link.get("input"):
            policy += f"; arriving: {link['input']}"
        labels = " or ".join(f"{n} ({4 * n} B)" if n else "none" for n in link["labels"])
        mtu = f"{link['mtu']} B" if link.get("mtu") else "-"
        rows.append((link, (link["rate"], mtu, labels, policy)))
    # First those that queue by a policy, then the slowest.
    worth = []
    for members, (rate, mtu, labels, policy) in families(rows):
        worth.append((policy == _WITHOUT, rate))
        delays = [link["delay"] for link in members]
        ends = [format_value(x, "s") for x in (min(delays), max(delays))]
        made.add_row(
            Text(_span([str(link["name"]) for link in members])),
            Text(" → ".join(_span([str(link[k]) for link in members]) for k in ("from", "to"))),
            format_value(rate, "b/s"),
            " to ".join(dict.fromkeys(ends)),
            *((mtu,) if limited else ()),
            *((labels or "-",) if labelled else ()),
            Text(policy),
        )
    return table_part(made, 2, "links", worth=worth)


def _counts_and_besides(link: Mapping[str, Any]) -> tuple[str, str, str]:
    """What a link counts, what its policy counts, and what else it does."""
    own, policy = link.get("counts") or "", link.get("policy_counts") or ""
    return own or ("IP packet" if policy else ""), policy, irregularity(link) or ""


def _unusual_links(d: Description) -> tuple[Part, ...]:
    """Links that add something to packets, or whose rate varies, or that lose or reorder."""
    told = [(link, _counts_and_besides(link)) for link in d.links]
    told = [(link, texts) for link, texts in told if any(texts)]
    if not told:
        return ()
    made = table()
    shown = [any(texts[i] for _, texts in told) for i in range(3)]
    made.add_column("link", no_wrap=True)
    for heading, is_shown in zip(("counts", "its policy counts", "besides"), shown, strict=True):
        if is_shown:
            made.add_column(heading)
    for members, texts in families(told):
        cells = [text or "-" for text, is_shown in zip(texts, shown, strict=True) if is_shown]
        made.add_row(Text(_span([str(link["name"]) for link in members])), *cells)
    return (table_part(made, 4, "links out of the ordinary"),)


def _rings(d: Description) -> Part:
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
    made = table()
    for heading in ("link", "transmit ring", "when full", "from"):
        made.add_column(heading, no_wrap=heading == "link")
    for members, (packets, delay, longest, why, variants) in families(rows):
        full = f"{format_value(delay, 's')} of {longest} B packets" if packets > 1 else "-"
        made.add_row(
            Text(_span([str(link["name"]) for link in members])),
            count(packets, "packet"),
            full,
            Text(why + variants),
        )
    return table_part(made, 5, "transmit rings")


def _nodes(kind: str, nodes: list[dict[str, Any]]) -> Part:
    """The nodes of a kind, with all that they were given but lists."""
    made = table()
    facts = [f["key"] for f in nodes[0]["facts"] if not isinstance(f["value"], list)]
    for heading in (f"node ({kind})", *(key.replace("_", " ") for key in facts)):
        made.add_column(heading)
    rows = [
        (n, tuple(_fact(f["value"], f["unit"]) for f in n["facts"] if f["key"] in facts))
        for n in nodes
    ]
    for members, texts in families(rows):
        made.add_row(Text(_span([n["name"] for n in members])), *map(Text, texts))
    return table_part(made, 5, f"nodes ({kind})")


def _fact(value: float | str | None, unit: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    return format_value(value, unit) if unit else f"{value:g}"


def _patterns(d: Description) -> Part:
    made = table()
    for heading in ("flows", "from → to", "how many", "who sends to whom"):
        made.add_column(heading)
    for p in d.patterns:
        cells = (p["name"], f"{p['from']} → {p['to']}", str(p["flows"]), p["pattern"])
        made.add_row(*(Text(cell) for cell in cells))
    return table_part(made, 4, "patterns")


def _sessions(d: Description) -> Part:
    made = table()
    for heading in ("sessions", "class", "from → to", "begin", "do", "at most"):
        made.add_column(heading)
    rows = [
        (s, (s["class"], words(s["arrivals"]), words(s["session"]), s["active"]))
        for s in d.sessions
    ]
    for members, (cls, begin, do, active) in families(rows):
        made.add_row(
            Text(_span([s["name"] for s in members])),
            Text(cls),
            Text(" → ".join(_span([s[k] for s in members]) for k in ("from", "to"))),
            Text(begin),
            Text(do),
            str(active),
        )
    return table_part(made, 4, "workloads of sessions")


def _failures(d: Description) -> Part:
    made = table()
    late = any(f["spread"] for f in d.failures)
    for heading in ("fails", "at", "until", *(("later by up to",) if late else ())):
        made.add_column(heading)
    for failure in d.failures:
        repair = failure["repair"]
        spread = format_value(failure["spread"], "s") if failure["spread"] else "–"
        made.add_row(
            Text(", ".join(_shortened(failure["links"]))),
            format_value(failure["at"], "s"),
            "the end" if repair is None else format_value(repair, "s"),
            *((spread,) if late else ()),
        )
    when = f"{format_value(d.reroute, 's')} later" if d.reroute else "at once"
    return table_part(made, 4, "failures", after=f"routes follow {when}")


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
        stems = tuple(_MEMBER.sub(r"\1\3", str(record.get(k))) for k in ("name", "from", "to"))
        found.setdefault((stems, alike), []).append(record)
    out: list[tuple[list[dict[str, Any]], tuple[Any, ...]]] = []
    for (_, alike), members in found.items():
        if len(members) < _FEW:
            out += [([one], alike) for one in members]
        else:
            out.append((members, alike))
    return out


def _span(names: Sequence[str]) -> str:
    first, last = names[0], names[-1]
    return first if first == last else f"{first} … {last}"


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
        return f"of {count(len(value), 'point')}"
    return str(value)


def catalog(families: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """Everything that `spillgate list` says."""
    out = console()
    for number, (family, entries) in enumerate(families.items()):
        if number:
            out.print()
        out.print(Text(family, "bold"))
        made = table()
        made.add_column()
        made.add_column()
        made.show_header = False
        for entry in entries:
            name = str(entry.get("kind") or entry.get("name"))
            unit = f" ({UNITS.get(entry['unit'], entry['unit'])})" if "unit" in entry else ""
            made.add_row(Text(f"  {name}"), Text(f"{entry['summary']}{unit}"))
        show(out, made)
