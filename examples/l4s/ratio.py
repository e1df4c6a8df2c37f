#!/usr/bin/env python3
"""How Prague and CUBIC share a line, by queue and path, as a table and as a figure.

spillgate run examples/l4s/scenario.yaml --no-figures --out runs/l4s
python3 examples/l4s/ratio.py runs/l4s
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import spillgate

COUPLING = 2.0
"""k of the scenario's DualPI2."""
TARGET, THRESHOLD = 15e-3, 1e-3
"""Where its queues stand: C at the target of PI2, L in the middle of its ramp."""
RENO, CRENO = 1.22, 1.68
"""Window times √p: of Reno, and of CUBIC in its Reno mode as RFC 9332 has it."""


@dataclass(frozen=True)
class Case:
    """A queue on a path.

    Attributes:
        ratio: Throughput of Prague over that of CUBIC, of the means of the runs.
        used: The sum of both over the rate of the line.
        waits: Mean one-way delay of Prague and of CUBIC less that of an empty path, in s.
    """

    ratio: float
    used: float
    waits: tuple[float, float]


def rate_and_rtt(path: str) -> tuple[float, float]:
    """Rate in b/s and round trip in s of the name of a path."""
    found = re.fullmatch(r"(\d+) Mb/s, (\d+) ms", path)
    if found is None:
        raise ValueError(path)
    return 1e6 * int(found[1]), 1e-3 * int(found[2])


def published(path: str, window: float) -> float:
    """The ratio in balance: 2 / (R_L k p') over window / (R_C p') (RFC 9332, appendix C)."""
    _, rtt = rate_and_rtt(path)
    return 2 / (COUPLING * window) * (rtt + TARGET) / (rtt + THRESHOLD)


def case(results: spillgate.Results, point: str, path: str) -> Case:
    """What came of a point."""
    rate, rtt = rate_and_rtt(path)

    def mean(metric: str) -> tuple[float, float]:
        rows = (results.value(point, "class", name, metric) for name in ("prague", "cubic"))
        prague, cubic = (math.nan if row.mean is None else row.mean for row in rows)
        return prague, cubic

    prague, cubic = mean("throughput")
    waits = tuple(delay - rtt / 2 for delay in mean("owd_mean"))
    return Case(prague / cubic, (prague + cubic) / rate, (waits[0], waits[1]))


def cases(results: spillgate.Results) -> dict[tuple[str, str], Case]:
    """Every queue on every path."""
    (axis,) = results.description.axes
    found = {}
    for p in results.description.points:
        path = axis.labels[p.places[0]]
        found[p.variant, path] = case(results, p.name, path)
    return found


def table(found: dict[tuple[str, str], Case]) -> str:
    """A line for each queue and path."""
    head = (
        f"{'queue':9} {'path':16} {'ratio':>6} {'RFC 9332':>11} {'used':>6}  waits: Prague, CUBIC"
    )
    lines = [head]
    before = ""
    for (policy, path), of in found.items():
        said = f"{published(path, CRENO):.2f} - {published(path, RENO):.2f}"
        coupled = said if policy == "DualPI2" else ""
        prague, cubic = (f"{1e3 * wait:6.2f} ms" for wait in of.waits)
        name = policy if policy != before else ""
        lines.append(
            f"{name:9} {path:16} {of.ratio:6.2f} {coupled:>11} {of.used:6.1%} {prague} {cubic}"
        )
        before = policy
    return "\n".join(lines)


def figure(found: dict[tuple[str, str], Case], target: Path) -> None:
    """The ratio by path, a line for each queue; the shade is what RFC 9332 lets expect."""
    from matplotlib.figure import Figure

    from spillgate.plot.style import palette, styled

    policies = list(dict.fromkeys(policy for policy, _ in found))
    paths = list(dict.fromkeys(path for _, path in found))
    with styled():
        made = Figure(figsize=(6.0, 3.2), layout="constrained")
        axes = made.subplots()
        low, high = ([published(path, window) for path in paths] for window in (CRENO, RENO))
        axes.fill_between(paths, low, high, color="#dddddd", label="RFC 9332, DualPI2")
        for policy, marker, (color, _) in zip(
            policies, "os^D", palette(len(policies)), strict=True
        ):
            ratios = [found[policy, path].ratio for path in paths]
            axes.plot(paths, ratios, label=policy, color=color, marker=marker, linewidth=0.9)
        axes.axhline(1.0, color="#444444", linewidth=0.9, linestyle="--")
        axes.set_yscale("log", base=2)
        axes.set_ylabel("throughput, Prague / CUBIC")
        axes.legend(fontsize=7)
        made.savefig(target, bbox_inches="tight", metadata={"Software": None})


def main() -> None:
    """Prints the table, and writes `ratio.png` into the run directory."""
    run = Path(sys.argv[1])
    found = cases(spillgate.load(run))
    print(table(found))
    figure(found, run / "ratio.png")


if __name__ == "__main__":
    main()
