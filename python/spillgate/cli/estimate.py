"""`spillgate estimate`: what a run should show by formulas, and how far runs are from that."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

from rich.console import Console
from rich.text import Text

from spillgate.cli.machine import write_json
from spillgate.cli.screen import Part, present
from spillgate.cli.text import console, item, laid, legend, show
from spillgate.errors import InputError
from spillgate.estimates import Estimate, Estimates
from spillgate.estimates import estimate as find
from spillgate.saved import load
from spillgate.shown.estimates import DISTANCE, MEANING, estimates, remarks


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

    text = f"{MEANING}; {DISTANCE}" if is_run else MEANING
    parts = (
        Part(lambda out: some(out, count + 1), 1, "estimates", count, some),
        Part(lambda out: legend(out, text)),
    )
    present(console(), parts, "--all, or --format json", whole=whole)


def _point(out: Console, found: Estimates, *, is_run: bool) -> None:
    out.print(Text(found.point, style="bold"))
    if found.estimates:
        show(out, laid(estimates(found, simulated=is_run)))
    else:
        out.print("No formula applies.")
    for line in remarks(found):
        item(out, line)
    out.print()
