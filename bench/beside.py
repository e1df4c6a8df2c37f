"""What two programs say of the same cases, value by value."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats

TOGETHER = 0.95
"""The probability with which all intervals of a table hold."""

Values = dict[str, list[float]]
"""What each run says, by what it says it of."""


@dataclass(frozen=True)
class Row:
    """One value of both."""

    case: str
    what: str
    unit: str
    ours: Sequence[float]
    theirs: Sequence[float]
    level: float
    """Probability of its interval."""

    @property
    def difference(self) -> tuple[float, float]:
        """Ours less theirs, and half the width of the interval (Welch)."""
        a, b = self.ours, self.theirs
        parts = [statistics.variance(x) / len(x) for x in (a, b)]
        whole = sum(parts)
        mean = statistics.fmean(a) - statistics.fmean(b)
        if whole == 0:
            return mean, 0.0
        degrees = whole**2 / sum(p**2 / (len(x) - 1) for p, x in zip(parts, (a, b), strict=True))
        return mean, float(stats.t.ppf(0.5 + self.level / 2, degrees)) * math.sqrt(whole)

    @property
    def agrees(self) -> bool:
        """Whether the interval has 0 in it."""
        mean, half = self.difference
        return abs(mean) <= half


def table(found: Sequence[Row], peer: str = "ns-2") -> str:
    """As Markdown."""
    lines = [
        f"| case | | Spillgate | {peer} | difference | |",
        "| --- | --- | ---: | ---: | ---: | --- |",
    ]
    last = ""
    for row in found:
        mean, half = row.difference
        # To two digits of the interval.
        digits = min(max(1 - math.floor(math.log10(half)), 0), 4) if half else 4
        a, b = (f"{statistics.fmean(x):.{digits}f} {row.unit}" for x in (row.ours, row.theirs))
        name = row.case if row.case != last else ""
        verdict = "agrees" if row.agrees else "**differs**"
        lines.append(
            f"| {name} | {row.what} | {a} | {b} | {mean:+.{digits}f} ±{half:.{digits}f} | {verdict} |"
        )
        last = row.case
    return "\n".join(lines) + "\n"
