"""What is required for certain and is not proven: what refuted it, and why it is open."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from spillgate.labels import words
from spillgate.result import Results
from spillgate.rows import Verdict


@dataclass(frozen=True)
class Unproven:
    """A requirement that is not proven.

    Attributes:
        what: Whose requirement it is, what is required, and the verdict.
        why: What refuted it, or why it is open.
        packet: What became of the packet that refuted it, in a sentence; none of all but one run.
    """

    what: str
    why: str
    packet: str | None


def unproven(results: Results) -> list[Unproven]:
    """Those of the results, the worst first.

    One run is repeated where any is refuted, to find the packets that did it.
    """
    ranked = [v for v in worst_first(results.verdicts) if v.certain and v.verdict != "pass"]
    first = next(((v.variant, v.witness["run"]) for v in ranked if v.witness is not None), None)
    several = len(results.description.variants) > 1
    found = []
    for v in ranked:
        why, packet = v.advice or "", None
        if v.witness is not None:
            if (v.variant, v.witness["run"]) == first:
                packet = results.witness(v)
            if packet is None:
                why += "; `spillgate explain` names the packet"
        about = f"{v.variant}, {v.whose}" if several else v.whose
        said = None if packet is None else str(packet["sentence"])
        found.append(Unproven(f"{about}: {v.words}: {v.said}", why, said))
    return found


def worst_first(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """Verdicts by how bad they are, those of one kind by how far the mean is from the bound.

    Of what is to hold for certain the largest counts, not the mean. The distance is relative to
    the bound.
    """
    severity = {name: of["severity"] for name, of in words("verdicts").items()}

    def goodness(v: Verdict) -> tuple[int, float]:
        value = v.largest if v.certain else v.mean
        if value is None:
            return -severity[v.verdict], -math.inf
        over = value - v.bound if v.side == "max" else v.bound - value
        return -severity[v.verdict], -over / abs(v.bound) if v.bound else -_times_infinity(over)

    return sorted(verdicts, key=goodness)


def _times_infinity(over: float) -> float:
    return math.copysign(math.inf, over) if over else 0.0
