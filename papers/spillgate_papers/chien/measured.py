"""What the paper takes of runs beside their metrics, and the numbers that it makes of several."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from spillgate.result import Results
from spillgate_papers.measured import Own, PerRun, View, mean

BEST_EFFORT, ASSURED = "best-effort", "assured"
LENGTH = 400.0
PHASES = {"110 to 200 s": (110, 200), "310 to 400 s": (310, 400)}
"""Seconds of the assured phases, after ten of each."""
IDLE = ((0, 100), (200, 300))
ACTIVE = 200.0
"""Seconds for which the assured flow of figure 4 sends."""
ARRIVALS = "adapted_arrival_rate"
MOVED = {"max_th": "adapted_max_th", "C'": "adapted_reference"}
"""What A-RIO moves, and the time series of it."""
METER = "assured-access/assured"
"""The edge's meter."""
EXCEEDED, OTHERWISE = "that begin with arrivals above C'", "that do not"
"""Seconds of the assured phases, by arrivals of C' and a fortieth of it, the paper's eps."""
EPSILON = 0.025
"""Of C' (table 1)."""
BIN = 5
"""Seconds over which rates are averaged in figures 4 and 5."""


def share(v: Sequence[float]) -> float:
    """A rate over that of a link, from what it carried and how much of it that is."""
    return v[0] * v[2] / v[1]


def over(v: Sequence[float]) -> float:
    """The first over the second, NaN if there is none."""
    return v[0] / v[1] if v[1] else math.nan


def rates(view: View, point: str, *classes: str) -> list[tuple[float, float]]:
    """The rate of classes in the first run."""
    found = [view.series(point, f"class {c}", "throughput") for c in classes]
    sums = [sum(v for _, v in at) for at in zip(*found, strict=True)]
    return [
        (i + BIN / 2, sum(sums[i : i + BIN]) / BIN) for i in range(0, len(sums) - BIN + 1, BIN)
    ]


def ranks(values: Sequence[float]) -> list[float]:
    """The place of each in ascending order, from 1; equal ones share theirs.

    Example:
        >>> ranks([5.0, 1.0, 5.0])
        [2.5, 1.0, 2.5]
    """
    ordered = sorted(values)
    return [ordered.index(v) + (ordered.count(v) + 1) / 2 for v in values]


def spearman(values: Sequence[float]) -> float:
    """Rank correlation of values with their order; 0 if all are equal.

    Example:
        >>> spearman([1.0, 2.0, 4.0]), spearman([3.0, 2.0, 1.0])
        (1.0, -1.0)
    """
    middle = (len(values) + 1) / 2
    x = [i + 1 - middle for i in range(len(values))]
    y = [r - middle for r in ranks(values)]
    spread = (sum(a * a for a in x) * sum(b * b for b in y)) ** 0.5
    return sum(a * b for a, b in zip(x, y, strict=True)) / spread if spread else 0.0


def taken(results: Results) -> Mapping[str, Own]:
    """Means over the phases of figure 4 of what is sampled every second, by variant."""
    if results.description.duration < LENGTH:
        return {}
    runs: dict[tuple[str, str, str], list[Sequence[float]]] = {}
    for metric in ("throughput", ARRIVALS, *MOVED.values()):
        for s in results.series(metric=metric):
            runs.setdefault((s.variant, s.where, metric), []).append(s.v)

    def over(of: Sequence[Sequence[float]], unit: str, *spans: tuple[int, int]) -> PerRun:
        return PerRun(tuple(mean(x for a, b in spans for x in run[a:b]) for run in of), unit)

    def while_active(scope: str, metric: str, name: str) -> Mapping[str, PerRun]:
        """A rate over the whole run, in the half of it in which the assured flow sends."""
        return {
            s.variant: PerRun(tuple(LENGTH / ACTIVE * (v or 0.0) for v in s.values), "b/s")
            for s in results.samples(scope=scope, metric=metric, name=name)
        }

    marked = while_active("meter", "conform", METER)
    good = while_active("class", "goodput", ASSURED)
    found: dict[str, Own] = {}
    for variant, where, metric in runs:
        if where != f"class {ASSURED}":
            continue
        gets, others = (runs[variant, f"class {c}", metric] for c in (ASSURED, BEST_EFFORT))
        own = {name: over(gets, "b/s", span) for name, span in PHASES.items()}
        own |= {"idle": over(others, "b/s", *IDLE), "in profile": marked[variant]}
        own["goodput"] = good.get(variant, PerRun((math.nan,) * len(gets), "b/s"))
        for what, of in MOVED.items():
            unit = "packets" if what == "max_th" else "b/s"
            moved = runs.get((variant, "core/fifo", of))
            if moved is None:
                continue
            for name, (a, b) in PHASES.items():
                own[f"{what}, {name}"] = over(moved, unit, (a, b))
                own[f"{what} before {name}"] = over(moved, unit, (a - 20, a - 10))
            own |= {f"most {what}": PerRun(tuple(map(max, moved)), unit)}
        if (variant, "core/fifo", ARRIVALS) in runs:
            rates, max_th, references = (
                runs[variant, "core/fifo", m] for m in (ARRIVALS, *MOVED.values())
            )
            spans = [range(a + 1, b) for a, b in PHASES.values()]
            own |= moves(rates, max_th, references, spans)
        found[variant] = own
    return found


def moves(
    arrivals: Sequence[Sequence[float]],
    thresholds: Sequence[Sequence[float]],
    references: Sequence[Sequence[float]],
    spans: Sequence[range],
) -> Mapping[str, PerRun]:
    """What max_th moves in a second, by the arrivals with which that begins.

    NaN in runs without such seconds.

    Args:
        arrivals: The rate by second, run by run.
        thresholds: The same of max_th.
        references: The same of C'.
        spans: Which samples, each of which has one before it.
    """

    def moved(run: int, *, above: bool) -> float:
        rate, max_th, reference = arrivals[run], thresholds[run], references[run]
        return mean(
            max_th[t] - max_th[t - 1]
            for span in spans
            for t in span
            if (rate[t - 1] > (1 + EPSILON) * reference[t - 1]) == above
        )

    return {
        f"max_th a second {name}": PerRun(
            tuple(moved(run, above=above) for run in range(len(arrivals))), "packets"
        )
        for name, above in ((EXCEEDED, True), (OTHERWISE, False))
    }
