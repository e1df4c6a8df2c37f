"""What files say of results beside their numbers: head of `results.json`, manifest, formulas."""

from __future__ import annotations

import math
import platform
import sys
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from spillgate import _engine
from spillgate.estimates import Beside
from spillgate.rundir import FORMAT, sha256
from spillgate.scenario import Description
from spillgate.source import Source


def head(described: Description, completed: int, *, interrupted: bool) -> dict[str, Any]:
    """What was run, and how many of the runs were completed."""
    scenario = described.to_dict()
    # Of the machine, not of the results, which are the same on any number of threads; the
    # manifest has the threads.
    del scenario["jobs"], scenario["memory_bytes"]
    if not described.axes:
        del scenario["axes"], scenario["points"], scenario["design"]
    scenario["measurement"] = {k: scenario.pop(k) for k in ("warmup", "duration", "interval")}
    return {
        "format": FORMAT,
        "version": _engine.VERSION,
        "interrupted": interrupted,
        "runs_requested": described.runs * len(described.variants),
        "runs_completed": completed,
        "scenario": scenario,
    }


def manifest(
    source: Source, described: Description, argv: Sequence[str] | None, **found: object
) -> dict[str, Any]:
    """What is needed to know where results come from and to repeat them.

    Args:
        source: The scenario with its files.
        described: What was understood of it.
        argv: The command line; that of this process if not given.
        found: What else there is to say of the runs: `digests`, `events`, ...
    """
    return {
        "format": FORMAT,
        "version": _engine.VERSION,
        "commit": _engine.COMMIT,
        "scenario": source.path.name,
        "files": list(described.files),
        "outside": list(described.outside),
        "file_hashes": _file_hashes(source, described.files),
        "scenario_hash": described.hash,
        "seed": described.seed,
        "runs_requested": described.runs * len(described.variants),
        "variants": list(described.variants),
        **found,
        "jobs": described.jobs,
        "platform": platform.platform(),
        "python": platform.python_version(),
        "argv": list(sys.argv if argv is None else argv),
        "warnings": list(described.warnings),
        "unmodelled": [asdict(u) for u in described.unmodelled],
    }


def _file_hashes(source: Source, files: Sequence[str]) -> dict[str, str]:
    """SHA-256 of the scenario and of the files that it refers to; those missing are left out."""
    hashes = {}
    for name in (source.path.name, *files):
        try:
            with source.open(name) as file:
                hashes[name] = sha256(file)
        except OSError:
            continue
    return hashes


def expected(by: Mapping[tuple[str, str], Beside]) -> list[dict[str, Any]]:
    """What formulas say of classes, by variant and class, as records."""

    def plain(value: float | None) -> float | None:
        # The last digits may be others on another machine.
        return None if value is None else float(f"{value:.10g}")

    return [
        {
            "variant": variant,
            "class": cls,
            "metric": b.estimate.metric,
            "unit": b.estimate.unit,
            "formula": b.estimate.formula,
            "value": plain(b.estimate.value),
            "distance": plain(b.distance),
        }
        for (variant, cls), b in by.items()
    ]


def plain(record: dict[str, Any]) -> dict[str, Any]:
    """A record as JSON can say it."""
    return {
        k: [x if math.isfinite(x) else None for x in v] if isinstance(v, array) else v
        for k, v in record.items()
    }
