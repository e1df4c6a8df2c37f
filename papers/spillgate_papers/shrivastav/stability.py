"""Stability: margins of the linearized fluid model, and its oscillation over the simulated queue.

The model needs SciPy; without it the section says so.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from spillgate.errors import InputError, MissingDependencyError
from spillgate.run import Simulation
from spillgate_papers.lab import Lab
from spillgate_papers.model import Cell, Section, Table
from spillgate_papers.show import Curves, Panel, from_zero
from spillgate_papers.shrivastav.silent import DELAY, LINKS
from spillgate_papers.shrivastav.system import (
    BACKLOG,
    BUFFER,
    LARGE,
    MODIFIED,
    NUS,
    PACKET,
    PERIOD,
    SMALL,
    SPEEDUP,
    Size,
    scheme,
    tcp,
)
from spillgate_papers.study import Study

if TYPE_CHECKING:
    from spillgate.analysis import fluid

CAPACITY = 1e6 / (8 * PACKET)
"""Packets that an output sends in a second."""
FLOWS, RTTS = (2, 4, 8, 32), (0.2, 0.4)
"""Other numbers of connections at an output, and other round trips in seconds."""
FEW, FAR = 4, 0.2
"""Connections at each output and delay of the links there and back, for the oscillation: windows
are long enough then."""
SWUNG = ((1.1, 0.0), (1.1, 0.5), (1.5, 0.0), (1.5, 0.5), (1.5, 1.0))
"""Speedups and weights at which the model is laid beside the simulation."""
DRAWN = ((1.5, 0.0), (1.5, 1.0))
WARMUP, LONG, SAMPLED = 40.0, 160.0, 0.02
"""Seconds before anything counts, seconds that count, and between two looks at the queue."""


def round_trip(size: Size, speedup: float, links: float = 4 * DELAY) -> float:
    """Seconds of a round trip without waiting: links, and the packet sent thrice.

    Example:
        >>> round(round_trip(SMALL, 1.1), 3)
        0.085
    """
    return links + (2 + size.ports / speedup) / CAPACITY


def model(size: Size, speedup: float, nu: float, flows: float, rtt: float) -> fluid.Model:
    """The model of an output."""
    from spillgate.analysis import fluid

    red = fluid.Red(5, 15, 0.1, 0.004, spread="per-packet", wait=True)
    switch = fluid.Switch(ports=size.ports, speedup=speedup, nu=nu)
    return fluid.Model(flows, CAPACITY, rtt, red, limit=BUFFER, switch=switch)


def at_once(size: Size) -> float:
    """Sessions at an output at a time, in the mean."""
    return size.full * size.lifetime[0] / PERIOD / size.ports


def margins() -> Table:
    """By weight, number of connections and round trip."""
    here, rtt = at_once(SMALL), round_trip(SMALL, SMALL.slow)
    cases = [(SMALL, nu, here, rtt) for nu in NUS]
    cases += [(SMALL, SMALL.nu, n, rtt) for n in FLOWS]
    cases += [(SMALL, SMALL.nu, here, t) for t in RTTS]
    cases += [
        (LARGE, LARGE.nu, at_once(LARGE) / k, round_trip(LARGE, LARGE.slow)) for k in (1, 10)
    ]
    rows: list[tuple[Cell, ...]] = []
    for size, nu, n, t in cases:
        at = (size.name, f"{nu:g}", f"{n:g}", f"{t * 1e3:.0f} ms")
        try:
            m = model(size, size.slow, nu, n, t)
            o, g = m.operating_point(), m.margins()
        except InputError as error:
            rows.append((*at, *[""] * 5, str(error).partition("operating point: ")[2]))
            continue
        packets = (f"{x:.1f}" for x in (o.window, o.input_queue, o.queue))
        stable = "stable" if g.stable else f"swings at {g.swing.imag / math.tau:.2f} Hz"
        rows.append((*at, *packets, f"{g.gain:.2f}", f"{g.phase:.0f}°", stable))
    return Table(
        "margins",
        "Margins of the linearized model",
        (
            *("switch", "nu", "connections", "round trip", "window", "VOQs", "output"),
            *("gain margin", "phase margin", ""),
        ),
        tuple(rows),
        "Per output, at the speedup of the experiment with loads: as many connections as there "
        "are in the mean at the highest load, the round trip without waiting, then others. Window "
        "and queues in packets; VOQs: all of an output. A gain margin below 1 or a negative phase "
        "margin means that small disturbances grow; it is infinite where the gain is below 1 at "
        "every frequency.",
    )


def said() -> str:
    """From which weight on the loop is stable, and from which on the output idles."""
    here, rtt = at_once(SMALL), round_trip(SMALL, SMALL.slow)
    models = {nu: model(SMALL, SMALL.slow, nu, here, rtt) for nu in NUS}
    stable = next((nu for nu, m in models.items() if m.margins().stable), None)
    idle = next((nu for nu, m in models.items() if m.operating_point().queue == 0), None)
    return (
        f"At {SMALL.full} sessions an output of the {SMALL.name} switch has {here:g} connections "
        f"at a time in the mean. Of the weights of the sweep the linearized loop is stable from "
        f"{_number(stable)} on (the paper's is {SMALL.nu:g}), and from {_number(idle)} on what "
        "waits in the VOQs alone makes RED drop, so that the output idles. The model leaves out "
        "timeouts, and windows below about 4 packets are repaired by little else: believe the "
        "simulation there."
    )


def _number(nu: float | None) -> str:
    return "no weight" if nu is None else f"{nu:g}"


@dataclass(frozen=True)
class Queue:
    """What a simulation of long connections gives.

    Attributes:
        outputs: The queues of outputs in packets, every `SAMPLED` seconds after the warm-up.
        inputs: Mean of the VOQs of an input, which is that of those of an output.
    """

    outputs: Sequence[Sequence[float]]
    inputs: float

    @property
    def mean(self) -> float:
        """Mean of the queues of outputs."""
        return sum(sum(q) / len(q) for q in self.outputs) / len(self.outputs)

    @property
    def frequency(self) -> float:
        """Where their mean spectrum is largest, in hertz."""
        import numpy as np
        from scipy.signal import welch

        # A resolution of 1/40 Hz.
        found = welch(np.array(self.outputs), fs=1 / SAMPLED, nperseg=round(40 / SAMPLED))
        frequencies, power = found[0], found[1].mean(axis=0)
        return float(frequencies[1:][power[1:].argmax()])


def simulated(lab: Lab, speedup: float, nu: float) -> Queue:
    """Connections without end, one from each input to each output."""
    flow = {"class": "sessions", "to": "sink", "count": SMALL.ports, "start_spread": "2 s"}
    names = ({"name": f"from-{i}", "from": f"source-{i}"} for i in range(SMALL.ports))
    traffic = [{"flow": {**x, **flow, "tcp": tcp(window=1000)}} for x in names]
    found = Simulation(
        lab.scenario,
        seed=lab.seed,
        runs=1,
        set={
            "variants": [{"name": "long", "set": {**scheme(MODIFIED, nu), SPEEDUP: speedup}}],
            "sla": [],
            "traffic": traffic,
            "topology.links.in.rate": "100 Mb/s",
            "policies.HOST.fifo.limit": "1000 packets",
            **{f"topology.links.{x}.delay": f"{FAR * 250:g} ms" for x in LINKS},
            "measurement.warmup": f"{WARMUP:g} s",
            "measurement.duration": f"{LONG / 2 if lab.quick else LONG:g} s",
            "measurement.interval": f"{SAMPLED * 1e3:g} ms",
        },
    ).run(series="all")
    outputs = [
        [v for t, v in zip(s.t, s.v, strict=True) if t >= WARMUP]
        for s in found.series()
        if s.where.startswith("out-") and s.metric == "backlog_packets"
    ]
    inputs = [x.mean or 0.0 for x in found.table(scope="switch-input", metric=BACKLOG)]
    return Queue(outputs, sum(inputs) / len(inputs))


def section(study: Study) -> Section:
    """Margins, and the oscillation beside the simulation."""
    title = "Stability"
    try:
        import spillgate.analysis.fluid  # noqa: F401
    except MissingDependencyError as missing:
        return Section(title, f"{missing}.")
    queues = {at: simulated(study.lab, *at) for at in SWUNG}
    rows: list[tuple[Cell, ...]] = []
    for (s, nu), q in queues.items():
        m = model(SMALL, s, nu, FEW, round_trip(SMALL, s, FAR))
        o, inputs = m.oscillation(), m.operating_point().input_queue
        swing = f"{o.low:.1f} to {o.high:.1f}" if o.lasting else "none"
        pairs = ((o.mean, q.mean), (o.frequency, q.frequency), (inputs, q.inputs))
        rows.append((f"{s:g}", f"{nu:g}", swing, *(f"{x:.2f}" for pair in pairs for x in pair)))
    of = ("mean output", "frequency", "VOQs")
    swings = Table(
        "oscillation",
        "The oscillation, predicted and simulated",
        ("speedup", "nu", "predicted swing", *(x for k in of for x in (k, "simulated"))),
        tuple(rows),
        f"{FEW} connections without end at each output, one from each input, links of "
        f"{FAR * 1e3:g} ms there and back. Packets and hertz; simulated frequency: where the "
        "queue's spectrum is largest.",
    )
    figure = Curves(
        "oscillation",
        "The queue of an output, simulated and predicted",
        tuple(panel(at, queues[at].outputs[0]) for at in DRAWN),
        "The model knows no absolute time: its curve is laid over the first rise of the queue.",
        shared=True,
    )
    return study.section(title, said(), (margins(), swings), (figure,), "stability")


def panel(at: tuple[float, float], queue: Sequence[float], length: float = 20.0) -> Panel:
    """The model's curve over a queue."""
    s, nu = at
    cycle = model(SMALL, s, nu, FEW, round_trip(SMALL, s, FAR)).oscillation()
    way, level = cycle.trajectory, cycle.mean
    step = float(way.time[1] - way.time[0])
    curve = [float(x) for x in way.queue[-round(2 * length / step) :]]

    def rise(values: Sequence[float]) -> int:
        steps = enumerate(pairwise(values))
        return next((i for i, (a, b) in steps if a <= level < b), 0)

    shift = rise(queue) * SAMPLED - rise(curve) * step
    seen = [(SAMPLED * i, x) for i, x in enumerate(queue[: round(length / SAMPLED)])]
    laid = [(shift + step * i, x) for i, x in enumerate(curve)]
    return Panel(
        f"speedup {s:g}, nu = {nu:g}",
        "time (s)",
        "output queue (packets)",
        {
            "simulated": lambda _: seen,
            "fluid model": lambda _: [(t, x) for t, x in laid if 0 <= t <= length],
        },
        legend="upper right",
        look=from_zero,
    )
