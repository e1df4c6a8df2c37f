"""`spillgate estimate`: what a run should show by formulas, and how far runs are from that."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from spillgate.cli.machine import write_json
from spillgate.cli.screen import Part, present
from spillgate.cli.text import console, fresh, item, legend, show, table
from spillgate.errors import InputError
from spillgate.estimates import Beside, Estimate, Estimates
from spillgate.estimates import estimate as find
from spillgate.labels import short_of, words
from spillgate.metrics import format_value, scale_of
from spillgate.saved import load

_OWN = {
    "buffer": "buffer needed",
    "erlangs": "load offered",
    "weighted_wait": "load × wait",
}
"""What metrics are called that results do not have."""


def estimate(options: argparse.Namespace) -> int:
    """The command; returns the exit status."""
    is_run = options.scenario.is_dir()
    if is_run and options.set:
        msg = f"error: {options.scenario}: `--set` replaces nothing in a run directory"
        raise InputError(msg)
    if is_run:
        found = load(options.scenario, confine=options.confine).estimates(options.variant)
    else:
        found = find(
            options.scenario, variant=options.variant, set=options.set, confine=options.confine
        )
    if options.format == "json":
        write_json([record(f) for f in found])
    else:
        _print(found, is_run=is_run, whole=options.all)
    return 0


def record(found: Estimates) -> dict[str, Any]:
    """Estimates as plain data."""
    beside = {id(b.estimate): b for b in found.simulated}

    def one(e: Estimate) -> dict[str, Any]:
        plain = {k: v for k, v in asdict(e).items() if k != "terms"} | {"holds": e.holds}
        b = beside.get(id(e))
        if b is not None:
            run = {"mean": b.mean, "low": b.low, "high": b.high, "n": b.n}
            plain["simulated"] = run | {"distance": b.distance}
        return plain

    return {
        "point": found.point,
        "estimates": [one(e) for e in found.estimates],
        "unknown": [asdict(u) for u in found.unknown],
    }


def _print(found: Sequence[Estimates], *, is_run: bool, whole: bool) -> None:
    count = sum(len(f.estimates) for f in found)

    def some(out: Console, n: int) -> int:
        left = n
        for f in found:
            shown = replace(f, estimates=f.estimates[:left])
            left -= len(shown.estimates)
            _point(out, shown, is_run=is_run)
            if left <= 0 < len(f.estimates):
                break
        return n - left

    text = (
        "exact: what runs have in the mean; a model: an approximation; rough: something that the "
        "formula assumes does not hold; sojourn: until transmission begins; backlog, bytes: of "
        "what waits"
    )
    if is_run:
        text += "; distance: of the simulated mean, in half-widths of its 95 % interval"
    parts = (
        Part(lambda out: some(out, count + 1), 1, "estimates", count, some),
        Part(lambda out: legend(out, text)),
    )
    present(console(), parts, "--all, or --format json", whole=whole)


def _point(out: Console, found: Estimates, *, is_run: bool) -> None:
    out.print(Text(found.point, style="bold"))
    if found.estimates:
        show(out, _table(found, simulated=is_run))
    else:
        out.print("No formula applies.")
    for line in _remarks(found):
        item(out, line)
    out.print()


def _label(metric: str) -> str:
    return _OWN.get(metric) or (short_of(metric) if metric in words("metrics") else metric)


def _value(e: Estimate, value: float) -> str:
    if e.unit in ("packets", "erlangs", "transfers"):
        return f"{value:.4g}"
    if scale_of(e.metric, e.unit, [value]).unit == "%" or e.unit == "1":
        return format_value(value, "1")
    return format_value(float(f"{value:.4g}"), e.unit)


def _table(found: Estimates, *, simulated: bool) -> Table:
    made = table()
    for name in ("of", "", "formula"):
        made.add_column(name)
    made.add_column("expected", justify="right")
    made.add_column("it is")
    beside: dict[int, Beside] = {}
    if simulated:
        made.add_column("simulated", justify="right")
        made.add_column("distance")
        beside = {id(b.estimate): b for b in found.simulated}
    above: Sequence[str] = ()
    for e in found.estimates:
        names = (e.name, _label(e.metric), e.formula)
        cells = [_value(e, e.value), _kind(e)]
        if simulated:
            b = beside.get(id(e))
            cells += ["", ""] if b is None else [_simulated(b), b.words]
        made.add_row(*(Text(n) for n in fresh(names[:1], above)), *map(Text, names[1:]), *cells)
        above = names[:1]
    return made


def _kind(e: Estimate) -> str:
    if not e.holds:
        return "rough"
    return "exact" if e.exact else "a model"


def _simulated(b: Beside) -> str:
    if b.mean is None:
        return "–"
    if b.low is None or b.high is None:
        return _value(b.estimate, b.mean)
    return f"{_value(b.estimate, b.low)} to {_value(b.estimate, b.high)}"


def _remarks(found: Estimates) -> list[str]:
    """Why values are rough or there are none, and what to know of them, each once."""
    reasons: dict[str, dict[str, None]] = {}
    for e in found.estimates:
        for why in e.reasons:
            reasons.setdefault(f"rough, since {why}: ", {})[f"{e.name} ({e.formula})"] = None
    for u in found.unknown:
        reasons.setdefault(f"no formula, since {u.why}: ", {})[u.what] = None
    lines = [why + _some(list(names)) for why, names in reasons.items()]
    notes = {f"{e.name}, {e.formula}: {e.note}": None for e in found.estimates if e.note}
    return lines + list(notes)


def _some(names: Sequence[str]) -> str:
    most = 6
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
