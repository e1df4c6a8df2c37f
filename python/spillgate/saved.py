"""Results that a run directory holds."""

from __future__ import annotations

import math
import shutil
from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from spillgate import _engine, admission
from spillgate.errors import InputError
from spillgate.result import PARQUET, PARTS, SCOPES, SERIES, WORDS, Results
from spillgate.run import run
from spillgate.rundir import (
    RUNS,
    check_intact,
    read_json,
    read_manifest,
    stored,
    write_json,
)
from spillgate.scenario import Description
from spillgate.source import Source

_TOLD = (
    *("variants", "runs", "flows", "connections", "sessions", "policies"),
    *("warmup", "correction", "quantile_error"),
)
"""What of a description its words depend on."""


class Saved:
    """The values that a run directory holds."""

    def __init__(self, data: Mapping[str, Any], parquet: Path) -> None:
        """Takes the content of `results.json` and the path of `results.parquet`."""
        self._data = data
        self._parquet = parquet
        # Format 2 had every scope but that of single flows.
        self._scopes: Sequence[str] = data.get("scopes", SCOPES)

    def part(self, name: str) -> list[dict[str, Any]]:
        """The records of one of `PARTS`, or of `admission`."""
        if name == admission.PART:
            return admission.read(self._parquet.parent / admission.FILE)
        if name == "series" and name not in self._data:
            return _engine.stored_series(str(self._parquet.parent / SERIES))
        found: list[dict[str, Any]] = self._data[name]
        if name == "series":
            # Earlier versions had them here, too.
            return [{**s, "v": _doubles(s["v"])} for s in found]
        return self._told["verdicts"] if name == "verdicts" else found

    def words(self) -> dict[str, Any]:
        """The entries of `WORDS`."""
        return {name: self._told[name] for name in WORDS}

    @cached_property
    def _told(self) -> Mapping[str, Any]:
        """The words, and the verdicts with theirs; earlier versions saved none."""
        if all(name in self._data for name in WORDS):
            return self._data
        d = Description.from_json(self._data["scenario"])
        return _engine.stored_words(
            {
                "scenario": {name: getattr(d, name) for name in _TOLD},
                "summary": self.summary(["class", "link", "queue"], [], set()),
                "verdicts": self._data["verdicts"],
                "transients": self._data["transients"],
                "sampled": sorted({s["run"] for s in self.part("series")}),
            }
        )

    def summary(
        self, scopes: list[str], metrics: list[str], names: set[str]
    ) -> list[dict[str, Any]]:
        """The records of the rows of some scopes, metrics and names, or of all."""
        if scopes and all(s in self._scopes for s in scopes):
            return [
                r
                for r in self._data["summary"]
                if r["scope"] in scopes
                and (not metrics or r["metric"] in metrics)
                and (not names or r["name"] in names)
            ]
        # Single flows, and queues and links where they are many, are in the table alone.
        return _engine.stored_summary(str(self._parquet), scopes, metrics, names)

    def samples(self, scopes: list[str], metrics: list[str]) -> list[dict[str, Any]]:
        """The records of the values of each run; of some scopes and metrics, or of all."""
        return _engine.stored_samples(str(self._parquet), scopes, metrics)

    def write_json(self, path: str, head: dict[str, Any]) -> None:
        """Writes `results.json`, which begins with `head`."""
        parts = {name: self._data[name] for name in ("summary", *PARTS) if name in self._data}
        parts["verdicts"] = self._told["verdicts"]
        write_json(Path(path), {**head, "scopes": list(self._scopes), **self.words(), **parts})

    def write_parquet(self, path: str) -> None:
        """Copies `results.parquet`."""
        shutil.copyfile(self._parquet, path)

    def write_series(self, path: str) -> None:
        """Copies `series.parquet`, if there is one."""
        if (self._parquet.parent / SERIES).is_file():
            shutil.copyfile(self._parquet.parent / SERIES, path)


def load(directory: str | Path, *, confine: bool = False) -> Results:
    """Reads the results that a run directory holds: all that `run` gave.

    Args:
        directory: A directory made by `spillgate run` or `Results.save`.
        confine: Whether runs that are made with the results, by `extend` and `judge`, refuse files
            outside the directory.

    Raises:
        InputError: If it is no run directory of this version, or a file in it is not as it was
            written.
    """
    where = Path(directory)
    manifest = read_manifest(where)
    check_intact(where, manifest, ("results.json", PARQUET, SERIES, admission.FILE))
    data = read_json(where / "results.json")

    def again(*args: Any, **options: Any) -> Results:  # noqa: ANN401 - those of `run`
        check_intact(where, manifest, (manifest["scenario"], *manifest["files"]))
        return run(*args, **options, confine=confine)

    try:
        return Results(
            Description.from_json(data["scenario"]),
            Saved(data, where / PARQUET),
            source=Source(where / manifest["scenario"]),
            interrupted=data["interrupted"],
            wall_s=manifest.get("wall_s", 0.0),
            engine=manifest.get("engine", "express"),
            events=manifest.get("events", 0),
            overrides=manifest.get("set", ()),
            sla=manifest.get("sla", ()),
            store=where / RUNS if stored(where / RUNS) else None,
            again=again,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        msg = f"error: {where} is no complete run directory: {error!r}"
        raise InputError(msg) from error


def _doubles(values: Sequence[float | None]) -> array[float]:
    return array("d", [math.nan if v is None else v for v in values])
