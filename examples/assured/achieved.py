#!/usr/bin/env python3
"""Who gets what: achieved over committed rate of each customer, as a table and as a figure.

spillgate run examples/assured/scenario.yaml --no-figures --out runs/assured
python3 examples/assured/achieved.py runs/assured
"""

from __future__ import annotations

import sys
from pathlib import Path

import spillgate

PROMISED = 0.95
"""The share of the committed rate that customers.csv requires."""
MARKS = {"pass": "✓", "fail": "✗", "undecided": "?"}


def achieved(results: spillgate.Results) -> dict[tuple[str, str], dict[str, tuple[float, str]]]:
    """By policy and share of the line that is committed: each customer's part, and its verdict."""
    (axis,) = results.description.axes
    where = {p.name: (p.variant, axis.labels[p.places[0]]) for p in results.description.points}
    found: dict[tuple[str, str], dict[str, tuple[float, str]]] = {}
    for v in results.verdicts:
        part = PROMISED * v.mean / v.bound
        found.setdefault(where[v.variant], {})[v.customer] = (part, v.verdict)
    return found


def table(parts: dict[tuple[str, str], dict[str, tuple[float, str]]]) -> str:
    """A line for each policy and share."""
    customers = list(next(iter(parts.values())))
    lines = [f"{'policy':9} {'subscribed':>10} " + " ".join(f"{c:>8}" for c in customers)]
    before = ""
    for (policy, share), of in parts.items():
        cells = " ".join(f"{of[c][0]:6.2f} {MARKS[of[c][1]]}" for c in customers)
        lines.append(f"{policy if policy != before else '':9} {share:>10} {cells}")
        before = policy
    return "\n".join(lines)


def figure(parts: dict[tuple[str, str], dict[str, tuple[float, str]]], target: Path) -> None:
    """A panel for each policy, a line for each customer; hollow where the promise is not kept."""
    from matplotlib.figure import Figure

    from spillgate.plot.style import palette, styled

    policies = list(dict.fromkeys(policy for policy, _ in parts))
    shares = list(dict.fromkeys(share for _, share in parts))
    customers = list(next(iter(parts.values())))
    with styled():
        made = Figure(figsize=(2.0 * len(policies), 3.2), layout="constrained")
        panels = made.subplots(1, len(policies), sharey=True)
        for axes, policy in zip(panels, policies, strict=True):
            axes.axhline(1.0, color="#444444", linewidth=0.9, linestyle="--")
            for i, (customer, (color, _)) in enumerate(
                zip(customers, palette(len(customers)), strict=True)
            ):
                ys, verdicts = zip(*(parts[policy, s][customer] for s in shares), strict=True)
                look = {"color": color, "marker": "os^Dvp"[i % 6], "markersize": 4}
                axes.plot(shares, ys, label=customer, linewidth=0.9, **look)
                missed = [
                    (s, y) for s, y, v in zip(shares, ys, verdicts, strict=True) if v != "pass"
                ]
                if missed:
                    axes.plot(*zip(*missed, strict=True), linestyle="none", mfc="white", **look)
            axes.set_title(policy)
            axes.set_yscale("log", base=2)
            axes.set_yticks((0.5, 1, 2, 4), ("0.5", "1", "2", "4"))
            axes.set_xticks(range(len(shares)), [s.removesuffix(" %") for s in shares])
        panels[0].set_ylabel("achieved / committed rate")
        made.supxlabel("committed share of the line (%)")
        panels[-1].legend(fontsize=7)
        made.savefig(target, bbox_inches="tight", metadata={"Software": None})


def main() -> None:
    """Prints the table, and writes `achieved.png` into the run directory."""
    run = Path(sys.argv[1])
    parts = achieved(spillgate.load(run))
    print(table(parts))
    figure(parts, run / "achieved.png")


if __name__ == "__main__":
    main()
