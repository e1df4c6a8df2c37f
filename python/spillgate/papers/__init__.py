"""Papers reproduced: their systems, their claims as predicates, what they leave silent.

A paper's module turns its statements into claims that are judged from runs: reproduced, shape
only, or not reproduced, with the reason. What the paper leaves silent is in a ledger, and each
line of it is varied to see which claims depend on it.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import cast

from spillgate.errors import InputError
from spillgate.papers.lab import Lab, Report
from spillgate.papers.model import Paper, Reproduction

PAPERS: Mapping[str, str] = {
    "mitroi": "Queueing and congestion avoidance in a customer-edge router",
    "domzal": "Flow-Aware Networking: congestion control after a link failure",
    "shrivastav": "RED that sees the input queues of a CIOQ switch",
    "chien": "Adaptive RIO: best effort beside assured flows that are often idle",
    "zheng": "Double-slope RED (DSRED) before an ATM circuit",
}
"""The papers by name, with what they are about."""


def paper(name: str) -> Paper:
    """The paper of this name.

    Raises:
        InputError: If there is no such paper.
    """
    if name not in PAPERS:
        msg = f"error: there is no paper {name!r}; there are {', '.join(PAPERS)}"
        raise InputError(msg)
    return cast("Paper", importlib.import_module(f"spillgate.papers.{name}").PAPER)


def reproduce(
    name: str,
    work: str | Path,
    *,
    quick: bool = False,
    seed: int = 1,
    runs: int | None = None,
    jobs: int | None = None,
    report: Report | None = None,
) -> Reproduction:
    """Runs a paper's experiment and judges its claims.

    Args:
        name: The paper, one of `PAPERS`.
        work: Directory for the scenario and the configurations that are run; made if missing.
        quick: Few and short runs, to see that it works; verdicts are not to be relied on.
        seed: Master seed.
        runs: Independent runs behind each claim, at least 2; the paper's default if not given.
        jobs: Threads; one a core if not given. The result does not depend on it.
        report: Called while it runs, with the name of the batch and how far it is.

    Returns:
        Claims with verdicts, the ledger, tables and figures; the same for the same version, seed
        and number of runs on every machine.

    Raises:
        InputError: If there is no such paper, or a number is out of range.
    """
    of = paper(name)
    if runs is not None and runs < 2:
        msg = f"error: runs must be at least 2 (an interval needs two), not {runs}"
        raise InputError(msg)
    lab = Lab(
        of.system,
        Path(work),
        seed=seed,
        runs=runs or (of.quick_runs if quick else of.runs),
        quick=quick,
        jobs=jobs,
        report=report,
    )
    return of.reproduce(lab)
