"""What the numbers rest on: parameters, assumptions, provenance."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from spillgate.metrics import format_value
from spillgate.points import counted
from spillgate.report.outlines import THIN
from spillgate.scenario import Description, irregularity
from spillgate.tables import Table

_MOST_LINKS = 40

_KEPT = ("--seed", "--runs", "--set", "--sla", "--correction", "--against", "--series")
"""Options of `spillgate run` that change results, or what is kept of them."""

_KEPT_ALONE = ("--strict", "--no-series")
"""The same of those without a value."""


def parameters(d: Description) -> list[tuple[str, str]]:
    """What was run, as names and texts."""
    tcp = f", {d.connections} of them TCP connections" if d.connections else ""
    variants = dict.fromkeys(p.variant for p in d.points)
    found = [
        *([("variants", ", ".join(variants))] if any(variants) else []),
        *((f"axis {a.name}", ", ".join(a.labels)) for a in d.axes),
        ("classes of service", ", ".join(d.classes)),
        ("flows", f"{d.flows}{tcp}"),
        ("independent runs", f"{d.runs} of each {'point' if d.axes else 'variant'}"),
        ("seed", str(d.seed)),
        ("warm-up", f"{format_value(d.warmup, 's')}, simulated but not counted"),
        ("measured", format_value(d.duration, "s")),
        ("sampled every", format_value(d.interval, "s")),
    ]
    if d.failures:
        found.append(("routes follow a failure after", format_value(d.reroute, "s")))
    return found


def links(d: Description) -> Table:
    """The links with their policies by variant."""
    rows = []
    limited = any(link.get("mtu") for link in d.links)
    irregular = any(irregularity(link) for link in d.links)
    framed = any(link.get("counts") for link in d.links)
    for i, link in enumerate(d.links[:_MOST_LINKS]):
        used = list(dict.fromkeys(p[i] for p in d.policies if i < len(p)))
        rows.append(
            (
                str(link["name"]),
                f"{link['from']} → {link['to']}",
                format_value(link["rate"], "b/s"),
                format_value(link["delay"], "s"),
                *((str(link.get("counts") or "IP packet"),) if framed else ()),
                *((f"{link['mtu']} B" if link.get("mtu") else "–",) if limited else ()),
                *((irregularity(link) or "–",) if irregular else ()),
                *((_ring(d, i),) if d.rings else ()),
                ", ".join(used),
            )
        )
    more = len(d.links) - _MOST_LINKS
    note = f"{more} more links are in the scenario." if more > 0 else ""
    counts = ("counts",) if framed else ()
    mtu = ("MTU",) if limited else ()
    odd = ("irregular",) if irregular else ()
    ring = ("transmit ring",) if d.rings else ()
    headings = ("link", "from → to", "rate", "propagation", *counts, *mtu, *odd, *ring, "policy")
    return Table(headings, tuple(rows), note)


def _ring(d: Description, link: int) -> str:
    """The transmit rings that a link's port has in the variants, with their delay when full."""
    said = []
    for ring in (rings[link] for rings in d.rings if rings):
        if ring:
            full = f", {format_value(ring['delay'], 's')}" if ring["packets"] > 1 else ""
            said.append(counted(ring["packets"], "packet") + full)
    return " or ".join(dict.fromkeys(said)) or "–"


def sessions(d: Description) -> Table | None:
    """The workloads of sessions."""
    rows = tuple(
        (
            str(s["name"]),
            str(s["class"]),
            f"{s['from']} → {s['to']}",
            _words(s["arrivals"]),
            _words(s["session"]),
            str(s["active"]),
        )
        for s in d.sessions
    )
    head = ("sessions", "class", "from → to", "arrivals", "each", "at most at a time")
    return Table(head, rows) if rows else None


def failures(d: Description) -> Table | None:
    """What fails when."""
    rows = tuple(
        (
            ", ".join(f["links"]),
            format_value(f["at"], "s"),
            "–" if f["repair"] is None else format_value(f["repair"], "s"),
            format_value(f["spread"], "s") if f["spread"] else "–",
        )
        for f in d.failures
    )
    # A column that says nothing is left out.
    shown = 4 if any(f["spread"] for f in d.failures) else 3
    head = ("links that fail", "at", "repaired at", "later by up to")
    return Table(head[:shown], tuple(row[:shown] for row in rows)) if rows else None


def _words(value: object) -> str:
    """A part of the scenario as text, as it could be written there."""
    if isinstance(value, Mapping):
        return ", ".join(f"{k}: {_inner(v)}" for k, v in value.items() if v is not None)
    return str(value)


def _inner(value: object) -> str:
    if isinstance(value, Mapping):
        return f"{{{_words(value)}}}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return f"[{', '.join(_inner(v) for v in value)}]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def command(manifest: Mapping[str, Any], d: Description) -> str:
    """The command line that gives the same results in the run directory."""
    argv = list(manifest.get("argv") or ())
    if argv[:2] == ["spillgate", "run"] and "--resume" not in {a.partition("=")[0] for a in argv}:
        kept = list(_kept(argv))
    else:
        # From Python, or with what an earlier command line said: none to go by.
        kept = [word for text in manifest.get("set", ()) for word in ("--set", text)]
        kept += [word for file in manifest.get("sla", ()) for word in ("--sla", file)]
    if not any(a == "--seed" or a.startswith("--seed=") for a in kept):
        kept += ["--seed", str(d.seed)]
    if not any(a == "--runs" or a.startswith("--runs=") for a in kept):
        kept += ["--runs", str(d.runs)]
    return shlex.join(["spillgate", "run", str(manifest.get("scenario", "")), *kept])


def _kept(argv: Sequence[str]) -> Iterable[str]:
    for i, argument in enumerate(argv):
        name = argument.partition("=")[0]
        if argument in _KEPT and i + 1 < len(argv):
            yield argument
            yield argv[i + 1]
        elif argument in _KEPT_ALONE or (name in _KEPT and "=" in argument):
            yield argument


def provenance(manifest: Mapping[str, Any], d: Description) -> list[tuple[str, str]]:
    """Where the results come from."""
    found = [
        ("version", f"spillgate {manifest.get('version', '?')} ({manifest.get('commit', '?')})"),
        ("scenario", str(manifest.get("scenario", ""))),
        ("scenario hash", d.hash),
        ("seed", str(d.seed)),
        (
            "runs",
            f"{manifest.get('runs_completed', '?')} of {manifest.get('runs_requested', '?')}",
        ),
        ("events", f"{int(manifest.get('events', 0)):_}".replace("_", THIN)),
        ("platform", str(manifest.get("platform", ""))),
        ("Python", str(manifest.get("python", ""))),
    ]
    if d.files:
        found.insert(2, ("files", ", ".join(d.files)))
    return [(k, v) for k, v in found if v]
