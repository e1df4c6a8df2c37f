#!/usr/bin/env python3
"""What tail drop, PPD and EPD leave of the goodput of TCP, and what decides how much.

python3 examples/tcp-over-atm/answer.py [--quick] [--figure FILE.png]
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import spillgate

SCENARIO = Path(__file__).with_name("scenario.yaml")
LINE = 155.52e6
"""Rate of the line in b/s of cells."""
CONNECTIONS = 10
DISCARDS = ("tail", "PPD", "EPD")
KEPT = 0.9
"""What EPD is asked to keep."""
SHORT_CLOCK, LONG_CLOCK = "0.1 ms", "100 ms"
TCP = "traffic.bulk.tcp."
QUICK: Mapping[str, object] = {
    "measurement.duration": "1 s",
    "axes.0.points": [{"name": SHORT_CLOCK, "set": {f"{TCP}rto_granularity": "100 us"}}],
}
"""Short runs with the short clock, for a look."""
SWITCH = "topology.nodes.1.atm_switch"
PHASE = "topology.links.in.atm.phase"


def frame(mtu: int) -> int:
    """Cells of a packet of so many bytes: AAL5 with LLC."""
    return -(-(mtu + 16) // 48)


def most(mtu: int) -> float:
    """Goodput in b/s if the line sent whole packets only, each once, of 40 B headers."""
    return LINE * (mtu - 40) * 8 / (frame(mtu) * 424)


@dataclass(frozen=True)
class Point:
    """A buffer in cells, what it loses, and the packets that come."""

    buffer: int
    discard: str
    mtu: int
    clock: str = SHORT_CLOCK
    early: float = 0.5
    """The share of the buffer from which on EPD loses frames."""

    @property
    def switch(self) -> dict[str, object]:
        """The switch, as a scenario has it."""
        found: dict[str, object] = {"buffer": self.buffer, "discard": self.discard.lower()}
        if self.discard == "EPD":
            found["epd_threshold"] = round(self.early * self.buffer)
        return found


@dataclass(frozen=True)
class Got:
    """Goodput over what whole packets can have, with its 95 % interval."""

    mean: float
    low: float
    high: float
    starved: float
    """How many of the ten got less than a tenth of their share, mean over the runs."""

    def __str__(self) -> str:
        """As a cell of a table."""
        return f"{self.mean:.3f} ±{(self.high - self.low) / 2:.3f}"


def got(
    results: spillgate.Results, mtu: int, name: str, at: Mapping[str, str] | None = None
) -> Got:
    """What one point of the results gave."""
    row = results.value(name, "total", "all", "goodput", at=at)
    if row.mean is None or row.low is None or row.high is None:
        raise ValueError("an interval needs two runs at least")
    flows = results.samples(scope="flow", metric="goodput", variant=name, at=at)
    little = most(mtu) / CONNECTIONS / 10
    runs = zip(*(f.values for f in flows), strict=True)
    starved = statistics.fmean(sum((v or 0) < little for v in run) for run in runs)
    return Got(row.mean / most(mtu), row.low / most(mtu), row.high / most(mtu), starved)


Grid = dict[Point, Got]
Changes = Mapping[str, object]
NONE: Changes = {}


def grid(runs: int | None = None, changes: Changes = NONE) -> Grid:
    """Every point of the scenario."""
    results = spillgate.run(SCENARIO, runs=runs, set=changes)
    ticks, mtus = (axis.labels for axis in results.description.axes)
    found = {}
    for p in results.description.points:
        buffer, discard = p.variant.split()
        clock, mtu = ticks[p.places[0]], mtus[p.places[1]]
        point = Point(int(buffer), discard, int(mtu.removesuffix(" B")), clock)
        found[point] = got(results, point.mtu, p.variant, {"clock": clock, "MTU": mtu})
    return found


def each(
    points: Mapping[str, tuple[Point, Changes]], runs: int | None = None, changes: Changes = NONE
) -> dict[str, Got]:
    """Points with a clock of 0.1 ms, each with changes of its own, by any name."""
    chosen = {
        name: {SWITCH: point.switch, f"{TCP}mss": f"{point.mtu - 40} B", **own}
        for name, (point, own) in points.items()
    }
    variants = [{"name": name, "set": own} for name, own in chosen.items()]
    alone = {k: v for k, v in changes.items() if not k.startswith("axes")}
    set_ = {**alone, "variants": variants, "axes": []}
    results = spillgate.run(SCENARIO, runs=runs, set=set_)
    return {name: got(results, point.mtu, name) for name, (point, _) in points.items()}


def clocks(found: Mapping[Point, object]) -> list[str]:
    """Those of the points."""
    return list(dict.fromkeys(p.clock for p in found))


ROOMS = (0.5, 1, 1.5, 2, 3, 5)
"""Room above EPD's threshold, in frames."""
MTUS = (512, 1500, 4352, 9180)


def room(mtu: int, frames: float) -> Point:
    """A buffer whose upper half holds so many frames."""
    return Point(2 * round(frames * frame(mtu)), "EPD", mtu)


def rooms(runs: int | None = None, changes: Changes = NONE) -> Grid:
    """EPD over the room above its threshold."""
    points = [room(mtu, r) for mtu in MTUS for r in ROOMS]
    found = each({f"{p.mtu} {p.buffer}": (p, NONE) for p in points}, runs, changes)
    return dict(zip(points, found.values(), strict=True))


CEILING = "longest timeout "
CAUSES: Mapping[str, Changes] = {
    "as above": {},
    **{f"{CEILING}{t}": {f"{TCP}max_rto": t} for t in ("1.6 ms", "3.2 ms", "6.4 ms")},
    **{f"{CEILING}{t}": {f"{TCP}max_rto": t} for t in ("51.2 ms", "1 s", "64 s")},
    "Reno": {f"{TCP}cc": "reno"},
    "NewReno": {f"{TCP}cc": "newreno"},
    "SACK": {f"{TCP}cc": "newreno", f"{TCP}sack": True},
    "every second segment acknowledged": {f"{TCP}delayed_ack": {"timeout": "200 us", "every": 2}},
    "no limited transmit": {f"{TCP}limited_transmit": False},
    "hosts that dally up to 100 us": {f"{TCP}send_jitter": "100 us"},
    "cells in step": {PHASE: "aligned"},
    "reassembly without loss of the next frame": {f"{SWITCH}.reassembly": "ideal"},
}
THRESHOLDS = (0.25, 0.8)
BUFFERS = (256, 1000, 8000)


def causes(runs: int | None = None, changes: Changes = NONE) -> dict[str, list[Got | None]]:
    """Packets of 9,180 B: what each change makes of each buffer and discard."""
    points = {}
    for name, own in CAUSES.items():
        for point in (Point(b, d, 9180) for b in BUFFERS for d in DISCARDS):
            points[f"{name} {point.buffer} {point.discard}"] = (point, _whole(point, own))
    early = {f"EPD from {t:.0%}".replace("%", " %"): t for t in THRESHOLDS}
    for name, t in early.items():
        points |= {f"{name} {b} EPD": (Point(b, "EPD", 9180, early=t), NONE) for b in BUFFERS}
    found = each(points, runs, changes)
    return {
        name: [found.get(f"{name} {b} {d}") for b in BUFFERS for d in DISCARDS]
        for name in (*CAUSES, *early)
    }


def _whole(point: Point, own: Changes) -> Changes:
    """With changes of the switch beside what it is: a variant sets it as a whole."""
    inner = {k.removeprefix(f"{SWITCH}."): v for k, v in own.items() if k.startswith(SWITCH)}
    return {SWITCH: {**point.switch, **inner}} if inner else own


def grid_table(found: Grid, clock: str) -> str:
    """A row for each packet size and buffer."""
    lines = [
        "| MTU | buffer | tail | PPD | EPD | starved: tail | PPD | EPD |",
        "| ---: | ---: | --- | --- | --- | ---: | ---: | ---: |",
    ]
    of = [p for p in found if p.clock == clock]
    for mtu in sorted({p.mtu for p in of}):
        for buffer in sorted({p.buffer for p in of}):
            row = [found[Point(buffer, d, mtu, clock)] for d in DISCARDS]
            starved = " | ".join(f"{g.starved:.1f}" for g in row)
            lines.append(f"| {mtu} B | {buffer} | {' | '.join(map(str, row))} | {starved} |")
    return "\n".join(lines) + "\n"


def room_table(found: Grid) -> str:
    """A row for each packet size, over the room above the threshold."""
    lines = [
        f"| MTU | cells of a frame | {' | '.join(f'{r:g}' for r in ROOMS)} |",
        "| ---: | ---: |" + " --- |" * len(ROOMS),
    ]
    for mtu in MTUS:
        cells = " | ".join(str(found[room(mtu, r)]) for r in ROOMS)
        lines.append(f"| {mtu} B | {frame(mtu)} | {cells} |")
    return "\n".join(lines) + "\n"


def cause_table(found: Mapping[str, Sequence[Got | None]]) -> str:
    """A row for each change."""
    head = [f"{b}: tail | PPD | EPD | starved" for b in BUFFERS]
    lines = [f"| | {' | '.join(head)} |", "| --- |" + " ---: |" * 4 * len(BUFFERS)]
    for name, row in found.items():
        cells = []
        for i in range(0, len(row), len(DISCARDS)):
            part = row[i : i + len(DISCARDS)]
            cells += ["" if g is None else f"{g.mean:.2f}" for g in part]
            cells.append("" if part[0] is None else f"{part[0].starved:.1f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def kept(found: Mapping[Point, Got], clock: str = SHORT_CLOCK) -> tuple[list[Point], list[Point]]:
    """Points at which EPD keeps nine tenths, by the lower end of the interval, and the others."""
    of = [p for p in found if p.discard == "EPD" and p.clock == clock]
    return [p for p in of if found[p].low >= KEPT], [p for p in of if found[p].low < KEPT]


def disorder(found: Mapping[Point, Got], clock: str = SHORT_CLOCK) -> list[tuple[Point, Point]]:
    """Pairs of neighbors among tail, PPD and EPD of which the second keeps less, surely."""
    points = [p for p in found if p.clock == clock]
    wrong = []
    for p in points:
        if p.discard == DISCARDS[-1]:
            continue
        after = DISCARDS[DISCARDS.index(p.discard) + 1]
        q = Point(p.buffer, after, p.mtu, p.clock)
        if found[q].high < found[p].low:
            wrong.append((p, q))
    return wrong


def _named(points: Sequence[Point]) -> str:
    return "; ".join(f"{p.mtu} B at {p.buffer} cells" for p in points) or "nowhere"


def said(found: Grid) -> str:
    """What the grid shows, in sentences."""
    lines = []
    for clock in clocks(found):
        of = {p: g for p, g in found.items() if p.clock == clock}
        least = []
        for discard in DISCARDS:
            mean, p = min(
                ((g.mean, p) for p, g in of.items() if p.discard == discard), key=lambda x: x[0]
            )
            least.append(f"{discard} {mean:.2f} ({_named([p])})")
        yes, no = kept(of, clock)
        wrong = "; ".join(
            f"{q.discard} below {p.discard} with {p.mtu} B at {p.buffer} cells"
            for p, q in disorder(of, clock)
        )
        parts = f"EPD keeps 90 % at {len(yes)} of {len(yes) + len(no)} points; not: {_named(no)}."
        lines.append(
            f"- Clock of {clock}: least goodput {', '.join(least)}. {parts} Against the order "
            f"tail ≤ PPD ≤ EPD, beyond both intervals: {wrong or 'nothing'}."
        )
    return "\n".join(lines) + "\n"


def figure(found: Grid, target: Path) -> None:
    """Goodput over the buffer for two packet sizes, a panel for each clock."""
    from matplotlib.figure import Figure

    from spillgate.plot.style import palette, styled

    with styled():
        made = Figure(figsize=(7.2, 3.2), layout="constrained")
        panels = made.subplots(1, len(clocks(found)), sharey=True, squeeze=False)[0]
        for axes, clock in zip(panels, clocks(found), strict=True):
            for discard, (color, _) in zip(DISCARDS, palette(len(DISCARDS)), strict=True):
                for mtu, style in ((9180, "-"), (1500, "--")):
                    line = sorted(
                        (p for p in found if (p.discard, p.mtu, p.clock) == (discard, mtu, clock)),
                        key=lambda p: p.buffer,
                    )
                    half = [(found[p].high - found[p].low) / 2 for p in line]
                    axes.errorbar(
                        [p.buffer for p in line],
                        [found[p].mean for p in line],
                        half,
                        label=f"{discard}, {mtu} B",
                        color=color,
                        linestyle=style,
                        linewidth=0.9,
                        marker="o",
                        markersize=3,
                    )
            axes.set_xscale("log", base=2)
            buffers = sorted({p.buffer for p in found})
            axes.set_xticks(buffers, [f"{b}" for b in buffers])
            axes.minorticks_off()
            axes.set_title(f"clock of {clock}")
            axes.set_xlabel("buffer (cells)")
        panels[0].set_ylabel("goodput / most of whole packets")
        panels[0].set_ylim(0, 1.03)
        panels[-1].legend(fontsize=7, loc="lower right")
        made.savefig(target, bbox_inches="tight", metadata={"Software": None})


def answer(
    figure_at: Path | None = None, runs: int | None = None, changes: Changes = NONE
) -> dict[str, str]:
    """All tables and sentences by name, as Markdown."""
    found = grid(runs, changes)
    if figure_at:
        figure(found, figure_at)
    return {
        **{f"grid-{clock.replace(' ', '')}": grid_table(found, clock) for clock in clocks(found)},
        "said": said(found),
        "rooms": room_table(rooms(runs, changes)),
        "causes": cause_table(causes(runs, changes)),
    }


def main() -> None:
    """Prints everything."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="short clock only, two runs of 1 s")
    parser.add_argument("--figure", type=Path, help="where to draw the goodput over the buffer")
    args = parser.parse_args()
    effort = (2, QUICK) if args.quick else ()
    print("\n".join(answer(args.figure, *effort).values()), end="")


if __name__ == "__main__":
    main()
