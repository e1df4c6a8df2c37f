"""The paper's system: its switches, what is run and taken of them, and what it leaves silent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from spillgate.result import Results
from spillgate_papers.grid import Batch, Value, along, places
from spillgate_papers.lab import Effort, Settings
from spillgate_papers.measured import Measured, Own, PerRun, each, mean
from spillgate_papers.model import Point
from spillgate_papers.texts import Texts

SYSTEM = Path(__file__).parent / "system"
TEXTS = Texts.read(Path(__file__).with_name("paper.md"))

TAIL, RED, MODIFIED = SCHEMES = ("drop-tail", "RED", "modified RED")
CELLS, PACKETS = "rotation of cells", "rotation of packets"
PARALLEL, CROSSBAR, ROTATION, TOGETHER = FABRICS = ("parallel", "crossbar", PACKETS, CELLS)
PACKET, HEADERS, WINDOW = 1000, 40, 20
"""Bytes of a packet, bytes of it that are headers, and the window of a connection in packets."""
CELL = 50
"""Bytes of a cell, of which the packets of an input cross by turns, so all at once."""
PERIOD = 100.0
"""Seconds in which sessions begin, all of which are measured."""
ACTIVE = 100
"""Most sessions of a pair of ports at a time; there are seven in the mean where there are most."""
BUFFER = 20
"""Packets that each queue holds."""
LOW, HIGH = 1.5, 2.0
"""The speedups up to which the paper calls it low, and from which on high."""
SWITCH, OUT = "topology.nodes.1.switch", "topology.links.out.policy"
NU, SPEEDUP, HOST = f"{SWITCH}.congestion_measure", f"{SWITCH}.speedup", "policies.HOST.fifo.limit"


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
    def low(self) -> list[float]:
        """The low speedups."""
        return [s for s in self.speedups if s <= LOW]

    @property
    def high(self) -> list[float]:
        """The high speedups."""
        return [s for s in self.speedups if s >= HIGH]

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

    def settings(self, load: int) -> Settings:
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
        return {**dict.fromkeys(ends, self.ports), "traffic": traffic}


LOADS = (80, 200, 400, 600, 800)
SMALL = Size("4 x 4", 4, (1.1, 1.3, 1.5, 2.0, 2.5), LOADS, 1.1, 0.5, (8.0, 5.0))
LARGE = Size(
    "16 x 16",
    ports=16,
    speedups=(1.1, 1.4, 1.7, 2.0, 2.7),
    loads=tuple(8 * x for x in LOADS),
    slow=1.4,
    nu=0.125,
    lifetime=(28.0, 25.0),
    few=((1.1, 6400), (1.4, 640), (1.4, 6400), (2.0, 6400)),
)
SIZES = {size.name: size for size in (SMALL, LARGE)}
LIGHTER = "a quarter of the weight"
"""What points of modified RED with that are called."""
WEIGHTS = {f"nu = {x:g}": x for x in (0.0, 0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0)}
"""Weights of the sweep."""
MATCHINGS = ("islip", "round-robin", "pim", "longest-queue-first", "oldest-cell-first")
"""How a crossbar may choose its pairs."""


def tcp(cc: str = "newreno", packet: int = PACKET, window: int = WINDOW) -> dict[str, object]:
    """The connections."""
    data = packet - HEADERS
    size = {"mss": f"{data} B", "max_window": f"{window * data} B"}
    return {"profile": "ns2", "cc": cc, **size}


def scheme(name: str, nu: float) -> Settings:
    """What the outputs do."""
    policy = {OUT: "TAIL" if name == TAIL else "RED"}
    return {**policy, NU: {"nu": nu}} if name == MODIFIED else policy


def crossbar(matching: str = "islip", cell: str = "packets") -> Settings:
    """A crossbar in place of parallel links."""
    return {f"{SWITCH}.fabric": {"crossbar": {"matching": {matching: {}}, "cell": cell}}}


FABRIC: Mapping[str, Settings] = {
    PARALLEL: {},
    CROSSBAR: crossbar(),
    ROTATION: crossbar("rotation", f"{PACKET} B"),
    TOGETHER: crossbar("rotation", f"{CELL} B"),
}
"""Rotation is a crossbar that connects each pair of ports in every n-th slot, whatever waits: in
slots of a packet the packets of an input cross one by one, in slots of a cell all together."""


def experiment(
    size: Size, fabric: str, schemes: Mapping[str, Settings], **more: Mapping[str, Settings]
) -> Mapping[str, Value]:
    """Points of both experiments on a fabric."""
    points = size.run_on(fabric)
    return places(
        lambda *at: (float(at[3]), int(at[4])) in points,
        size={size.name: {}},
        fabric={fabric: FABRIC[fabric]},
        scheme=schemes,
        speedup=along(SPEEDUP, dict.fromkeys(f"{s:g}" for s, _ in points)),
        load={str(x): size.settings(x) for x in dict.fromkeys(x for _, x in points)},
        **more,
    )


def batches() -> list[Batch]:
    """What is run."""
    few = Effort(0.0, PERIOD, quick=(0.0, 10.0), runs=5)
    found = []
    # At the lowest speedup and the highest load.
    slow = {n: {**x.settings(x.full), SPEEDUP: x.speedups[0]} for n, x in SIZES.items()}
    for name, size in SIZES.items():
        small = size is SMALL
        whole = Effort(0.0, PERIOD, quick=(0.0, 20.0 if small else 10.0))
        varied = few if small else Effort(0.0, PERIOD, quick=(0.0, 2.0), runs=3)
        for fabric in FABRICS:
            grid = experiment(size, fabric, {x: scheme(x, size.nu) for x in SCHEMES})
            main = fabric == PARALLEL
            effort = whole if main or small else few
            found.append(
                Batch(f"{name}, {fabric}", grid, effort, varied if main else None, keep=main)
            )
        light = {MODIFIED: scheme(MODIFIED, size.nu / 4)}
        grid = experiment(size, PARALLEL, light, weight={LIGHTER: {}})
        found.append(Batch(f"{name}, {LIGHTER}", grid, whole))
        grid = places(
            size={name: slow[name]}, nu={k: scheme(MODIFIED, x) for k, x in WEIGHTS.items()}
        )
        found.append(Batch(f"{name}, weights", grid, whole if small else few))
    where = {**slow[SMALL.name], **scheme(RED, 0)}
    grid = places(size={SMALL.name: where}, matching={x: crossbar(x) for x in MATCHINGS})
    return [*found, Batch("Matchings", grid, few)]


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
        outputs = of_port("queue", BACKLOG, "out-")
        ports = len(m.names(variant, "switch-input"))
        return {
            "input queue": inputs,
            "VOQ": PerRun(tuple(x / ports for x in inputs.values), inputs.unit),
            "output queue": outputs,
            "backlog": inputs + outputs,
            "utilization": of_port("link", "utilization", "out-"),
            **{k: m.of(variant, "switch", name, metric) for k, (name, metric) in WHOLE.items()},
        }

    return {v: values(v) for v in results.description.variants}


DELAY, LINKS = 0.01, ("in", "out", "acks", "home")
"""Seconds of each link, and the links."""
AQM = "policies.RED.fifo.aqm"
STATED = {"min_th": 5, "max_th": 15, "weight": 0.004, "max_p": 0.1}
"""The paper's parameters of RED."""
NS2 = {"as": "ns2", "unit": "packets", "size_scaling": "none"}
"""RED as ns-2 has it where it counts packets."""
EVERY = [(size, size.at(x, *of)) for size in SIZES.values() for x in SCHEMES for of in size.points]
LEDGER = tuple(place for _, place in EVERY)
"""Where silent choices are varied: both switches with parallel links."""
WITH_RED = tuple(place for place in LEDGER if RED in place)
SPACING_OF_1993 = "drops spaced as in 1993"
"""RED's gaps of 1 to 1/p_b - 1 packets, where ns-2's code waits for 1/p_b packets first."""
VARIANT = f"red.variant, {SPACING_OF_1993}"
"""The setting with that."""


def _tcp(label: str, values: Settings) -> Point:
    paths = {n: [f"traffic.{i}.sessions.tcp" for i in range(x.ports)] for n, x in SIZES.items()}
    return Point(label, own={p: dict.fromkeys(paths[x.name], values) for x, p in EVERY})


LESS = f"{BUFFER - 1} packets"
SILENT = TEXTS.silent(
    {
        "packet.size": tuple(_tcp(f"{n} B", tcp(packet=n)) for n in (500, 1500)),
        "tcp.cc": tuple(_tcp(x, tcp(cc=x.lower())) for x in ("Reno", "Tahoe")),
        "tcp.window": (_tcp("100 packets", tcp(window=100)),),
        "link.delay": {f"topology.links.{x}.delay": ["2 ms", "50 ms"] for x in LINKS},
        "host.link": {
            "sources on 100 Mb/s": {"topology.links.in.rate": "100 Mb/s", HOST: "1000 packets"}
        },
        "host.limit": {HOST: ["20 packets", "1000 packets"]},
        "input.buffer": {
            "20 packets in all VOQs of an input": {f"{SWITCH}.buffer.per": "input"},
            "19 packets, also in drop-tail outputs: ns-2 refuses what would make it 20": {
                f"{SWITCH}.buffer.limit": LESS,
                "policies.TAIL.fifo.limit": LESS,
            },
        },
        "red.gentle": {"not gentle": {AQM: {"red": {**STATED, **NS2, "gentle": False}}}},
        "red.variant": {SPACING_OF_1993: {AQM: {"red": STATED}}},
    },
    dict.fromkeys(("red.gentle", "red.variant"), WITH_RED),
)
