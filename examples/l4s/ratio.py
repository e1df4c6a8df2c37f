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

import numpy as np

import spillgate

COUPLING = 2.0
"""k of the scenario's DualPI2."""
TARGET, THRESHOLD = 15e-3, 1e-3
"""Where its queues stand: C at the target of PI2, L in the middle of its ramp."""
RENO, CRENO = 1.22, 1.68
"""Window times √p: of Reno, and of CUBIC in its Reno mode as RFC 9332 has it."""
VIRTUAL = 25e-3
"""Round trip below which Prague has the rate of this one; V."""
CLASSIC = 9
"""From this `classic_ecn` on Prague slows down as a classic sender does."""
PACKET = 1500 * 8
"""Bits of a full packet."""
OWN = ("DualPI2, own RTT", "whole segments", "threshold 3 ms")
"""Variants without V."""
COUPLED = ("DualPI2", *OWN, "first 30 s", "DualPI2, fall-back")
"""Variants with DualPI2."""
DRAWN = ("DualPI2", "DualPI2, own RTT", "PI2", "FQ-CoDel", "FIFO")
"""Variants in the figure."""


@dataclass(frozen=True)
class Case:
    """A queue on a path.

    Attributes:
        ratio: Throughput of Prague over that of CUBIC, of the means of the runs.
        used: The sum of both over the rate of the line.
        waits: Mean one-way delay of Prague and of CUBIC less that of an empty path, in s.
        window: Packets of Prague in a round trip.
        classic: Share of the samples in which Prague takes the AQM for a classic one
            (`classic_ecn` of 9 or more); none if it does not look.
    """

    ratio: float
    used: float
    waits: tuple[float, float]
    window: float
    classic: float | None


def rate_and_rtt(path: str) -> tuple[float, float]:
    """Rate in b/s and round trip in s of the name of a path."""
    found = re.fullmatch(r"(\d+) Mb/s, (\d+) ms", path)
    if found is None:
        raise ValueError(path)
    return 1e6 * int(found[1]), 1e-3 * int(found[2])


def expected(path: str, window: float, virtual: float, *, small: bool) -> float:
    """The ratio in balance behind DualPI2.

    Prague has 2 / (R_L p) packets a second and a classic sender window / (R_C p'), with p = k p'
    (RFC 9332, appendix C). With `small` Prague has 2 (1 - p) / (R_L p), as it grows for what is
    not marked alone; then p follows from the rate of the line.

    Args:
        path: Name of the path.
        window: Window times √p_C of the classic sender.
        virtual: Prague's virtual round trip in s.
        small: Whether windows are not large.
    """
    rate, rtt = rate_and_rtt(path)
    prague = 2 / max(rtt + THRESHOLD, virtual)
    classic = window * COUPLING / (rtt + TARGET)
    p = (prague + classic) / (rate / PACKET + prague) if small else 0.0
    return (1 - p) * prague / classic


def balance(p: float, *, marked_grows: bool, fractions: bool) -> float:
    """Prague's mean window in packets, where each is marked with probability p.

    A second, plain implementation of its law, in round trips.

    Args:
        p: Probability of a mark.
        marked_grows: The window grows for marked packets, too.
        fractions: What it has grown by outlasts a reduction; otherwise it grows by whole packets.
    """
    draws = np.random.default_rng(1)
    window, alpha, grown, total, wait = 10.0, 1.0, 0.0, 0.0, 0
    rounds, settle = 10_000, 500
    for at in range(rounds + settle):
        packets, marks = int(window), 0
        for marked in draws.random(packets) < p:
            marks += int(marked)
            if marked_grows or not marked:
                grown += 1 / window
                whole = grown if fractions else math.floor(grown)
                window, grown = window + whole, grown - whole
            wait -= 1
            if marked and wait <= 0:
                # Once for what was sent by then.
                window = max(2.0, window * (1 - alpha / 2))
                grown, wait = 0.0, int(window)
        alpha += (marks / packets - alpha) / 16
        total += window if at >= settle else 0.0
    return total / rounds


def case(results: spillgate.Results, point: str, path: str) -> Case:
    """What came of a point."""
    rate, rtt = rate_and_rtt(path)

    def mean(metric: str) -> tuple[float, float]:
        rows = (results.value(point, "class", name, metric) for name in ("prague", "cubic"))
        prague, cubic = (math.nan if row.mean is None else row.mean for row in rows)
        return prague, cubic

    prague, cubic = mean("throughput")
    waits = tuple(delay - rtt / 2 for delay in mean("owd_mean"))
    window = prague * (rtt + waits[0]) / PACKET
    sampled = [np.asarray(s.v) for s in results.series(metric="classic_ecn", variant=point)]
    classic = float(np.mean(np.concatenate(sampled) >= CLASSIC)) if sampled else None
    return Case(prague / cubic, (prague + cubic) / rate, (waits[0], waits[1]), window, classic)


def cases(results: spillgate.Results) -> dict[tuple[str, str], Case]:
    """Every queue on every path."""
    (axis,) = results.description.axes
    found = {}
    for p in results.description.points:
        path = axis.labels[p.places[0]]
        found[p.variant, path] = case(results, p.name, path)
    return found


def between(path: str, queue: str, *, small: bool) -> str:
    """What is expected with the window of CReno, and with that of Reno."""
    if queue not in COUPLED:
        return ""
    virtual = 0.0 if queue in OWN else VIRTUAL
    low, high = (expected(path, c, virtual, small=small) for c in (CRENO, RENO))
    return f"{low:.2f} - {high:.2f}"


def table(found: dict[tuple[str, str], Case]) -> str:
    """A line for each queue and path."""
    head = f"{'queue':19} {'path':14} {'ratio':>5} {'RFC 9332':>11} {'less marked':>11}"
    lines = [f"{head} {'window':>6} {'used':>6}  waits: Prague, CUBIC  classic"]
    before = ""
    for (policy, path), of in found.items():
        large, small = (between(path, policy, small=small) for small in (False, True))
        prague, cubic = (f"{1e3 * wait:6.2f} ms" for wait in of.waits)
        name = policy if policy != before else ""
        classic = "" if of.classic is None else f"  {of.classic:7.0%}"
        lines.append(
            f"{name:19} {path:14} {of.ratio:5.2f} {large:>11} {small:>11}"
            f" {of.window:6.1f} {of.used:6.1%} {prague} {cubic}{classic}"
        )
        before = policy
    return "\n".join(lines)


RULES = (
    ("grows for all, keeps fractions", True, True),
    ("grows for what is unmarked", False, True),
    ("and loses fractions", False, False),
)
"""Rules of the window, of which the second is Prague's."""


def windows() -> str:
    """Prague's window in packets by the probability of marks, with each of its rules."""
    head = "".join(f" {name:>31}" for name, _, _ in RULES)
    lines = [f"{'marked':>6} {'2 / p':>7}{head}"]
    for p in (0.02, 0.1, 0.2, 0.3, 0.4):
        cells = (balance(p, marked_grows=m, fractions=f) for _, m, f in RULES)
        lines.append(f"{p:6.0%} {2 / p:7.1f}" + "".join(f" {w:31.1f}" for w in cells))
    return "\n".join(lines)


def figure(found: dict[tuple[str, str], Case], target: Path) -> None:
    """The ratio by path, a line for each queue; the shade is what RFC 9332 lets expect."""
    from matplotlib.figure import Figure

    from spillgate.plot.style import palette, styled

    paths = list(dict.fromkeys(path for _, path in found))
    with styled():
        made = Figure(figsize=(6.0, 3.2), layout="constrained")
        axes = made.subplots()
        low, high = (
            [expected(path, window, VIRTUAL, small=True) for path in paths]
            for window in (CRENO, RENO)
        )
        axes.fill_between(paths, low, high, color="#dddddd", label="expected, DualPI2")
        for policy, marker, (color, _) in zip(DRAWN, "osv^D", palette(len(DRAWN)), strict=True):
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
    print()
    print(windows())
    figure(found, run / "ratio.png")


if __name__ == "__main__":
    main()
