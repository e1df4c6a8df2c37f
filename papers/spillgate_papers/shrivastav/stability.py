"""Stability: margins of the linearized fluid model, and its oscillation over the simulated queue.

The model needs SciPy; without it the section says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from spillgate.errors import InputError, MissingDependencyError
from spillgate.run import Simulation
from spillgate_papers.lab import Lab
from spillgate_papers.measured import View, mean
from spillgate_papers.model import Cell, Section, Table
from spillgate_papers.show import Panel, from_zero
from spillgate_papers.shrivastav import system
from spillgate_papers.shrivastav.show import TEXTS
from spillgate_papers.shrivastav.system import LARGE, PERIOD, SMALL, WEIGHTS, Size
from spillgate_papers.study import Study

if TYPE_CHECKING:
    from spillgate.analysis import fluid

CAPACITY = 1e6 / (8 * system.PACKET)
"""Packets that an output sends in a second."""
FLOWS, RTTS = (2, 4, 8, 32), (0.2, 0.4)
"""Other numbers of connections at an output, and other round trips in seconds."""
FEW, FAR = 4, 0.2
"""Connections at each output and delay of the links there and back, for the oscillation: windows
are long enough then."""
SWUNG = ((1.1, 0.0), (1.1, 0.5), (1.5, 0.0), (1.5, 0.5), (1.5, 1.0))
"""Speedups and weights at which the model is laid beside the simulation."""
DRAWN = ((1.5, 0.0), (1.5, 1.0))
LINKS = ("in", "out", "acks", "home")
WARMUP, LONG, SAMPLED = 40.0, 160.0, 0.02
"""Seconds before anything counts, seconds that count, and between two looks at the queue."""


def round_trip(size: Size, speedup: float, links: float = 0.04) -> float:
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
    return fluid.Model(flows, CAPACITY, rtt, red, limit=system.BUFFER, switch=switch)


def far(speedup: float, nu: float) -> fluid.Model:
    """That of few connections over long links."""
    return model(SMALL, speedup, nu, FEW, round_trip(SMALL, speedup, FAR))


def at_once(size: Size) -> float:
    """Sessions at an output at a time, in the mean."""
    return size.full * size.lifetime[0] / PERIOD / size.ports


def margins() -> Table:
    """By weight, number of connections and round trip."""
    here, rtt = at_once(SMALL), round_trip(SMALL, SMALL.slow)
    cases = [(SMALL, nu, here, rtt) for nu in WEIGHTS]
    cases += [(SMALL, SMALL.nu, n, rtt) for n in FLOWS]
    cases += [(SMALL, SMALL.nu, here, t) for t in RTTS]
    large = round_trip(LARGE, LARGE.slow)
    cases += [(LARGE, LARGE.nu, at_once(LARGE) / k, large) for k in (1, 10)]
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
    head = "switch, nu, connections, round trip, window, VOQs, output, gain margin, phase margin, "
    return TEXTS.table("margins", head.split(", "), rows)


def said() -> str:
    """From which weight on the loop is stable, and from which on the output idles."""
    here, rtt = at_once(SMALL), round_trip(SMALL, SMALL.slow)
    models = {nu: model(SMALL, SMALL.slow, nu, here, rtt) for nu in WEIGHTS}
    stable = (f"{nu:g}" for nu, m in models.items() if m.margins().stable)
    idle = (f"{nu:g}" for nu, m in models.items() if m.operating_point().queue == 0)
    found = {k: next(of, "no weight") for k, of in (("stable", stable), ("idle", idle))}
    return TEXTS.said("stability", here=f"{here:g}", **found)(View({}))


def simulated(lab: Lab, speedup: float, nu: float) -> tuple[list[list[float]], float]:
    """Connections without end, one from each input to each output.

    Returns:
        The queues of outputs in packets, every `SAMPLED` seconds after the warm-up, and the mean
        of the VOQs of an input, which is that of those of an output.
    """
    flow = {"class": "sessions", "to": "sink", "count": SMALL.ports, "start_spread": "2 s"}
    names = ({"name": f"from-{i}", "from": f"source-{i}"} for i in range(SMALL.ports))
    values = {
        "topology.links.out.policy": "RED",
        f"{system.SWITCH}.congestion_measure": {"nu": nu},
        f"{system.SWITCH}.speedup": speedup,
    }
    found = Simulation(
        lab.scenario,
        seed=lab.seed,
        runs=1,
        set={
            "variants": [{"name": "long", "set": values}],
            "sla": [],
            "traffic": [{"flow": {**x, **flow, "tcp": system.tcp(window=1000)}} for x in names],
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
    inputs = found.table(scope="switch-input", metric=system.BACKLOG)
    return outputs, mean(x.mean or 0.0 for x in inputs)


def frequency(outputs: Sequence[Sequence[float]]) -> float:
    """Where the mean spectrum of queues is largest, in hertz."""
    import numpy as np
    from scipy.signal import welch

    # A resolution of 1/40 Hz.
    found = welch(np.array(outputs), fs=1 / SAMPLED, nperseg=round(40 / SAMPLED))
    frequencies, power = found[0], found[1].mean(axis=0)
    return float(frequencies[1:][power[1:].argmax()])


def stability(study: Study) -> Iterator[Section]:
    """Margins, and the oscillation beside the simulation."""
    try:
        import spillgate.analysis.fluid  # noqa: F401
    except MissingDependencyError as missing:
        yield Section("Stability", f"{missing}.")
        return
    queues = {at: simulated(study.lab, *at) for at in SWUNG}
    rows: list[tuple[Cell, ...]] = []
    for (s, nu), (outputs, inputs) in queues.items():
        m = far(s, nu)
        o = m.oscillation()
        pairs = (
            *(o.mean, mean(map(mean, outputs)), o.frequency, frequency(outputs)),
            *(m.operating_point().input_queue, inputs),
        )
        swing = f"{o.low:.1f} to {o.high:.1f}" if o.lasting else "none"
        rows.append((f"{s:g}", f"{nu:g}", swing, *(f"{x:.2f}" for x in pairs)))
    of = (x for k in ("mean output", "frequency", "VOQs") for x in (k, "simulated"))
    swings = TEXTS.table("oscillation", ("speedup", "nu", "predicted swing", *of), rows)
    panels = (panel(*at, queues[at][0][0]) for at in DRAWN)
    figure = replace(TEXTS.curves("swings", *panels, shared=True), file="oscillation")
    yield study.section("Stability", said(), (margins(), swings), (figure,), "stability")


def panel(s: float, nu: float, queue: Sequence[float], length: float = 20.0) -> Panel:
    """The model's curve over a queue."""
    cycle = far(s, nu).oscillation()
    way, level = cycle.trajectory, cycle.mean
    step = float(way.time[1] - way.time[0])
    curve = [float(x) for x in way.queue[-round(2 * length / step) :]]

    def rise(values: Sequence[float]) -> int:
        steps = enumerate(pairwise(values))
        return next((i for i, (a, b) in steps if a <= level < b), 0)

    shift = rise(queue) * SAMPLED - rise(curve) * step
    seen = [(SAMPLED * i, x) for i, x in enumerate(queue[: round(length / SAMPLED)])]
    laid = [(shift + step * i, x) for i, x in enumerate(curve)]
    over = [(t, x) for t, x in laid if 0 <= t <= length]
    lines = {"simulated": lambda _: seen, "fluid model": lambda _: over}
    title, y = f"speedup {s:g}, nu = {nu:g}", "output queue (packets)"
    return Panel(title, "time (s)", y, lines, legend="upper right", look=from_zero)
