"""Packets that refuted requirements: their runs are repeated and asked for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spillgate.rows import Run, Verdict
from spillgate.scenario import Description, open_job
from spillgate.source import Source


def witnesses(
    source: Source,
    described: Description,
    overrides: Sequence[str],
    verdicts: Sequence[Verdict],
    run: Run,
) -> dict[tuple[str, bool], dict[str, Any]]:
    """The packets that refuted something in a run, by flow and whether they were lost.

    Args:
        source: The scenario.
        described: What was understood of it.
        overrides: Values of it that were replaced.
        verdicts: What was judged.
        run: The run. None are found if it cannot be repeated, as one that another version of
            Spillgate has made.
    """
    job = open_job(source, seed=described.seed, runs=described.runs, jobs=1, set=overrides)
    index = described.variants.index(run.variant)
    cast = [name for name, _ in job.cast(index)["flows"]]
    refuted = [v.witness for v in verdicts if v.variant == run.variant and v.witness]
    flows = {w["flow"] for w in refuted if w["run"] == run.run and w["flow"] in cast}
    question = {
        "groups": [(flow, [cast.index(flow)]) for flow in sorted(flows)],
        "worst": 1,
        "drops": 1,
        "at": None,
        "number": None,
        "answers": False,
    }
    answer = job.explain(index, run.run, question)
    if answer["digest"] != run.digest:
        return {}
    found = {}
    for group in answer["groups"]:
        drops = [first for of in group["drops"] for first in of["first"]]
        for packets, lost in ((group["packets"], False), (drops, True)):
            if packets:
                found[group["name"], lost] = packets[0]
    return found
