"""Same scenario, version and seed: same bytes, whatever the threads and the engine."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

import spillgate
from spillgate import _engine

CORPUS = Path(__file__).resolve().parents[2] / "corpus"
EXPECTED = CORPUS / "expected.json"
BEHAVIOR = CORPUS / "behavior.json"
SHOWN = (
    "offered",
    "throughput",
    "loss_ratio",
    "owd_mean",
    "owd_p99",
    "jitter",
    "marks_ce",
    "goodput",
    "retransmits",
    "transfers_done",
    "fct_mean",
)


def fingerprint(results: spillgate.Results) -> dict[str, object]:
    """Digests of all runs and the values by which a reader can judge them."""
    values: dict[str, dict[str, float | None]] = {}
    for row in results.classes():
        if row.metric in SHOWN:
            shown = None if row.mean is None else float(f"{row.mean:.6g}")
            values.setdefault(f"{row.variant}/{row.name}", {})[row.metric] = shown
    return {"digests": {f"{r.variant}/{r.run}": r.digest for r in results.runs}, "values": values}


@pytest.mark.parametrize("scenario", sorted(CORPUS.glob("*.yaml")), ids=lambda p: p.stem)
def test_fingerprints(scenario: Path) -> None:
    one = fingerprint(spillgate.run(scenario, jobs=1))
    four = fingerprint(spillgate.run(scenario, jobs=4))
    assert one == four
    assert one == fingerprint(spillgate.run(scenario, engine="plain", series=()))
    expected = json.loads(EXPECTED.read_text()) if EXPECTED.exists() else {}
    if os.environ.get("SPILLGATE_BLESS"):
        expected[scenario.stem] = one
        EXPECTED.write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n")
    assert json.loads(json.dumps(one)) == expected[scenario.stem]


def test_results_change_with_the_behavior_of_the_engine_only() -> None:
    """Stored runs of this behavior are used by every build that has it."""
    recorded = json.loads(BEHAVIOR.read_text()) if BEHAVIOR.exists() else {"scenarios": {}}
    known: dict[str, str] = recorded["scenarios"]
    now = {
        name: hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()
        for name, found in json.loads(EXPECTED.read_text()).items()
    }
    changed = sorted(name for name in known.keys() & now.keys() if known[name] != now[name])
    same = recorded.get("behavior") == _engine.BEHAVIOR
    assert not changed or not same, (
        f"results of {', '.join(changed)} have changed: raise BEHAVIOR in crates/sim/src/lib.rs, "
        "add a line marked **results** to CHANGELOG.md, and run this with SPILLGATE_BLESS=1"
    )
    if os.environ.get("SPILLGATE_BLESS"):
        text = json.dumps({"behavior": _engine.BEHAVIOR, "scenarios": now}, indent=1)
        BEHAVIOR.write_text(text + "\n")
    else:
        assert same, "run this with SPILLGATE_BLESS=1"
