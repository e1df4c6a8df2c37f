"""What the numbers rest on: parameters, assumptions, provenance."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from spillgate.metrics import format_value
from spillgate.points import FULL, Axis
from spillgate.report.outlines import THIN
from spillgate.scenario import Description

_MOST_LINKS = 40

_KEPT = ("--seed", "--runs", "--set", "--sla", "--correction", "--against", "--series")
"""Options of `spillgate run` that change results, or what is kept of them."""

_KEPT_ALONE = ("--strict", "--no-series")
"""The same of those without a value."""


def parameters(d: Description) -> list[tuple[str, str]]:
    """What was run, as names and texts."""
    tcp = f", {d.connections} of them TCP connections" if d.connections else ""
    variants = dict.fromkeys(p.variant for p in d.points)
    return [
        *([("variants", ", ".join(variants))] if any(variants) else []),
        *([("design", d.extent())] if d.design != FULL else []),
        *((f"axis {a.name}", _values(a)) for a in d.axes),
        ("classes of service", ", ".join(d.classes)),
        ("flows", f"{d.flows}{tcp}"),
        ("independent runs", f"{d.repeated()} of each {'point' if d.axes else 'variant'}"),
        *([("enough runs", _enough(d.replication))] if d.replication else []),
        ("seed", str(d.seed)),
        ("warm-up", f"{format_value(d.warmup, 's')}, simulated but not counted"),
        ("measured", format_value(d.duration, "s")),
        ("sampled every", format_value(d.interval, "s")),
    ]


def _enough(rule: Mapping[str, Any]) -> str:
    until = (f"{u['metric']} of {u['class']} ±{100 * u['within']:g} %" for u in rule["until"])
    return f"{' and '.join(until)} at {100 * rule['level']:g} %, however often one looks"


_MOST_VALUES = 20
"""So many values of an axis are listed; of more their ends."""


def _values(axis: Axis) -> str:
    if axis.numbers is None or len(axis.labels) <= _MOST_VALUES:
        return ", ".join(axis.labels)
    ordered = sorted(zip(axis.numbers, axis.labels, strict=True))
    return f"{len(axis.labels)} values from {ordered[0][1]} to {ordered[-1][1]}"


def command(manifest: Mapping[str, Any], d: Description) -> str:
    """The command line that gives the same results in the run directory."""
    argv = list(manifest.get("argv") or ())
    if argv[:2] in (["spillgate", "run"], ["spillgate", "sweep"]) and "--resume" not in {
        a.partition("=")[0] for a in argv
    }:
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
        # What `--where` of `report` has chosen of them.
        ("shown", str(manifest.get("where") or "")),
        ("events", f"{int(manifest.get('events', 0)):_}".replace("_", THIN)),
        ("platform", str(manifest.get("platform", ""))),
        ("Python", str(manifest.get("python", ""))),
    ]
    if d.files:
        found.insert(2, ("files", ", ".join(d.files)))
    return [(k, v) for k, v in found if v]
