"""The paper's switches and their traffic, what is taken of runs, and claims about fabrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path

from spillgate.result import Results
from spillgate_papers import judge
from spillgate_papers.measured import Measured, Own, PerRun, View, each, mean
from spillgate_papers.model import Part, Point, Quantity
from spillgate_papers.ours import Ours, percent, widths
from spillgate_papers.terms import Check, Term, own

FOLDER = Path(__file__).parent
TAIL, RED, MODIFIED = SCHEMES = ("drop-tail", "RED", "modified RED")
CELLS, PACKETS = "rotation of cells", "rotation of packets"
PARALLEL, CROSSBAR, ROTATION, TOGETHER = FABRICS = ("parallel", "crossbar", PACKETS, CELLS)
PACKET, HEADERS, WINDOW = 1000, 40, 20
"""Bytes of a packet, bytes of it that are headers, and the window of a connection in packets."""
PERIOD = 100.0
"""Seconds in which sessions begin, all of which are measured."""
ACTIVE = 100
"""Most sessions of a pair of ports at a time; there are seven in the mean where there are most."""
BUFFER = 20
"""Packets that each queue holds."""
SWITCH = "topology.nodes.1.switch"
LIGHTER = "a quarter of the weight"
WEIGHTS = (0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)


@dataclass(frozen=True)
class Size:
    """A switch of the paper with its experiments.

    Attributes:
        name: As in labels.
        ports: Inputs, and outputs.
        speedups: Of the experiment with queues, at the highest load.
        loads: Sessions in 100 s, of the experiment with loss and utilization.
        slow: The speedup of that.
        nu: Weight of the input queues in modified RED.
        lifetime: Mean of the sessions' lifetimes in seconds, and how far they are from it at most.
        few: The points at which a crossbar is run: speedup and load; all if empty.
    """

    name: str
    ports: int
    speedups: tuple[float, ...]
    loads: tuple[int, ...]
    slow: float
    nu: float
    lifetime: tuple[float, float]
    few: tuple[tuple[float, int], ...] = ()

    @property
    def full(self) -> int:
        """The highest load."""
        return self.loads[-1]

    @property
    def points(self) -> list[tuple[float, int]]:
        """Speedup and load of both experiments."""
        queues = [(s, self.full) for s in self.speedups]
        return queues + [(self.slow, x) for x in self.loads if (self.slow, x) not in queues]

    def run_on(self, fabric: str) -> Sequence[tuple[float, int]]:
        """Speedup and load of the points that are run on a fabric."""
        return self.points if fabric == PARALLEL or not self.few else self.few

    def at(self, scheme: str, s: float, load: int | None = None, fabric: str = PARALLEL) -> str:
        """The name of a point.

        Example:
            >>> SMALL.at(RED, 1.1)
            '4 x 4, parallel, RED, 1.1, 800'
        """
        return f"{self.name}, {fabric}, {scheme}, {s:g}, {load or self.full}"

    def settings(self, speedup: float, load: int) -> dict[str, object]:
        """What it replaces under so many sessions in 100 s: Poisson arrivals at each pair."""
        mean_life, spread = self.lifetime
        life = {"mean": f"{mean_life:g} s", "distribution": "uniform", "spread": f"{spread:g} s"}
        common = {
            "class": "sessions",
            "to": "sink",
            "count": self.ports,
            "stop": f"{PERIOD:g} s",
            "arrivals": {"poisson": {"gap": f"{PERIOD * self.ports**2 / load:g} s"}},
            "session": {"lifetime": life},
            "active": ACTIVE,
            "tcp": tcp(),
        }
        names = ({"name": f"from-{i}", "from": f"source-{i}"} for i in range(self.ports))
        ends = (f"topology.nodes.{i}.count" for i in (0, 2))
        traffic = [{"sessions": {**name, **common}} for name in names]
        return {
            **dict.fromkeys(ends, self.ports),
            "traffic": traffic,
            f"{SWITCH}.speedup": speedup,
        }


def tcp(cc: str = "newreno", packet: int = PACKET, window: int = WINDOW) -> dict[str, object]:
    """The connections."""
    data = packet - HEADERS
    size = {"mss": f"{data} B", "max_window": f"{window * data} B"}
    return {"profile": "ns2", "cc": cc, **size}


LOADS = (80, 200, 400, 600, 800)
SMALL = Size("4 x 4", 4, (1.1, 1.3, 1.5, 2.0, 2.5), LOADS, 1.1, 0.5, (8.0, 5.0))
_FEW = ((1.1, 6400), (1.4, 640), (1.4, 6400), (2.0, 6400))
_LOADS = tuple(8 * x for x in LOADS)
LARGE = Size("16 x 16", 16, (1.1, 1.4, 1.7, 2.0, 2.7), _LOADS, 1.4, 0.125, (28.0, 25.0), _FEW)
SIZES = {size.name: size for size in (SMALL, LARGE)}
axes: list[dict[str, object]] = []
lists: dict[str, list[object]] = {"every point": [], "crossed": []}
lists["few"] = [f"{s:g}, {n}" for s, n in LARGE.few]
for z in SIZES.values():
    points = {f"{s:g}, {n}": z.settings(s, n) for s, n in z.points}
    slow = {z.name: z.settings(z.speedups[0], z.full)}
    axes += [
        {"name": f"{name} {z.ports}", "points": [{"name": k, "set": x} for k, x in of.items()]}
        for name, of in (("at", points), ("slow", slow))
    ]
    lists["every point"] += [(z.name, place) for place in points]
    lists["crossed"] += [(z.name, f"{s:g}, {n}") for s, n in z.run_on(CROSSBAR)]
    speeds = [f"{s:g}" for s in z.speedups]
    lists |= {
        f"speedups of {z.name}": [*speeds],
        # What the paper calls low and high.
        f"low of {z.name}": [s for s in speeds if float(s) <= 1.5],
        f"high of {z.name}": [s for s in speeds if float(s) >= 2.0],
        f"steps of {z.name}": [*pairwise(speeds)],
        f"loads of {z.name}": [*z.loads[::-1]],
    }
    for f in (PARALLEL, CROSSBAR):
        run = z.run_on(f)
        lists[f"{f} speedups of {z.name}"] = [f"{s:g}" for s in z.speedups if (s, z.full) in run]
        lists[f"{f} loads of {z.name}"] = [n for n in z.loads if (z.slow, n) in run]
EVERY = [(z, z.at(x, *of)) for z in SIZES.values() for x in SCHEMES for of in z.points]


def _tcp(label: str, values: Mapping[str, object]) -> Point:
    paths = {n: [f"traffic.{i}.sessions.tcp" for i in range(x.ports)] for n, x in SIZES.items()}
    return Point(label, own={p: dict.fromkeys(paths[z.name], values) for z, p in EVERY})


silent = {
    "packet.size": tuple(_tcp(f"{n} B", tcp(packet=n)) for n in (500, 1500)),
    "tcp.cc": tuple(_tcp(x, tcp(cc=x.lower())) for x in ("Reno", "Tahoe")),
    "tcp.window": (_tcp("100 packets", tcp(window=100)),),
}
BACKLOG = "backlog_packets_mean"
WHOLE = {
    "loss": ("switch", "loss_ratio"),
    "lost at inputs": ("switch", "loss_input"),
    "lost at outputs": ("switch", "loss_output"),
    "delay": ("switch", "switch_delay_mean"),
}
"""What is measured of the whole switch, by key: its name and the metric."""


def taken(results: Results) -> Mapping[str, Own]:
    """What is taken of each variant: of the switch, and means over its ports, in each run."""
    metrics = (BACKLOG, *(x for _, x in WHOLE.values()), "utilization")
    m = Measured(results, ("switch", "switch-input", "queue", "link"), metrics)

    def values(variant: str) -> Own:
        def of_port(scope: str, metric: str, ports: str) -> PerRun:
            names = (x for x in m.names(variant, scope) if x.startswith(ports))
            return each((m.of(variant, scope, x, metric) for x in names), mean)

        inputs = of_port("switch-input", BACKLOG, "in-")
        ports = len(m.names(variant, "switch-input"))
        # A port may have several queues.
        waiting = (
            m.of(variant, "queue", x, BACKLOG)
            for x in m.names(variant, "queue")
            if x.startswith("out-")
        )
        outputs = each(waiting, lambda v: math.fsum(v) / ports)
        return {
            "input queue": inputs,
            "VOQ": PerRun(tuple(x / ports for x in inputs.values), inputs.unit),
            "output queue": outputs,
            "backlog": inputs + outputs,
            "utilization": of_port("link", "utilization", "out-"),
            **{k: m.of(variant, "switch", name, metric) for k, (name, metric) in WHOLE.items()},
        }

    return {v: values(v) for v in results.description.variants}


def disjoint(text: str, short: str, long: str) -> Check:
    """S4: that the interval of an output queue lies below that of another."""

    def check(v: View) -> Part:
        a, b = (own("output queue", place).take(v) for place in (short, long))
        top, bottom = a.quantity.high, b.quantity.low
        holds = top is not None and bottom is not None and top < bottom
        d = b - a
        return Part(text, d.quantity, "number", holds, margins=d.values)

    return check


MINOR = Ours("minor effect of a fabric", 0.15, widths(0.15), percent)
COMPARED = ("output queue", "input queue", "loss")


def against(key: str, size: Size, x: str, s: float, load: int, fabric: str) -> Term:
    """A fabric over parallel links at a point."""
    return own(key, size.at(x, s, load, fabric)) / own(key, size.at(x, s, load))


def apart(q: Quantity) -> float:
    """How far a ratio is from 1, on a scale on which 2 is as far as 1/2."""
    return abs(math.log(q.mean)) if q.mean else math.inf


def farthest(
    fabric: str,
    key: str,
    size: Size,
    part: Callable[[str, PerRun], Part] = judge.beside,
    schemes: Sequence[str] = SCHEMES,
) -> Check:
    """The part about the point at which a fabric is least as parallel links."""
    said = f"{key} in the {size.name} switch, {fabric} / parallel"

    def check(v: View) -> Part:
        found = [
            part(
                f"{said}: {x}, speedup {s:g}, {load} sessions",
                against(key, size, x, s, load, fabric).take(v),
            )
            for s, load in size.run_on(fabric)
            for x in schemes
        ]
        # What is missed first, then what is undecided, each the farthest from 1.
        return max(found, key=lambda p: (p.missed, p.undecided, apart(p.quantity)))

    return check


def alike_fabrics() -> Iterator[Check]:
    """S9, and beside it the fabrics in which a VOQ has its share and no more."""

    def minor(key: str, size: Size, bound: float) -> Check:
        def part(text: str, ratio: PerRun) -> Part:
            said = f"{text}, within {percent(bound)}"
            return judge.within(said, ratio, above=1 - bound, below=1 + bound)

        return farthest(CROSSBAR, key, size, part)

    where = [(key, size) for size in SIZES.values() for key in COMPARED]
    yield from (MINOR.judged(partial(minor, *at)) for at in where)
    for key, size in where:
        yield farthest(TOGETHER, key, size)
        for schemes in ((TAIL, RED), (MODIFIED,)):
            yield farthest(ROTATION, key, size, schemes=schemes)
