"""What `spillgate fluid` prints: control loops, and how far they are from swinging."""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from spillgate.cli.machine import write_json
from spillgate.cli.text import console, item, legend, show, table
from spillgate.errors import InputError

if TYPE_CHECKING:
    from spillgate.analysis.fluid import ControlLoop, Margins, OperatingPoint, Oscillation


@dataclass(frozen=True)
class Judged:
    """A loop with what the model says of it; of one without operating point only why."""

    loop: ControlLoop
    point: OperatingPoint | None = None
    margins: Margins | None = None
    swing: Oscillation | None = None
    why: str = ""

    @classmethod
    def of(cls, loop: ControlLoop) -> Judged:
        """Computes it."""
        model = loop.model
        try:
            point = model.operating_point()
        except InputError as error:
            return cls(loop, why=str(error).removeprefix("error: fluid model: "))
        return cls(loop, point, model.margins(), model.oscillation())


def fluid(options: argparse.Namespace) -> int:
    """`spillgate fluid`."""
    from spillgate.analysis.fluid import from_scenario

    loops = from_scenario(
        options.scenario,
        link=options.link,
        variant=options.variant,
        set=options.set,
        confine=options.confine,
    )
    judged = [Judged.of(loop) for loop in loops]
    if options.format == "json":
        write_json([_record(j) for j in judged])
    else:
        _print(judged)
    return 0


def _finite(value: float) -> float | None:
    """A number as JSON has it, which knows neither NaN nor infinity."""
    return value if math.isfinite(value) else None


def _record(j: Judged) -> dict[str, Any]:
    loop, model = j.loop, j.loop.model
    record: dict[str, Any] = {
        "variant": loop.variant,
        "link": loop.link,
        "aqm": loop.aqm,
        "connections": model.flows,
        "capacity": model.capacity,
        "packet": loop.packet,
        "rtt": model.rtt,
        "round_trips": [list(t) for t in loop.round_trips],
        "parameters": asdict(model.aqm),  # type: ignore[call-overload]
        "switch": None if model.switch is None else asdict(model.switch),
        "notes": list(loop.notes),
        "operating_point": None,
        "margins": None,
        "oscillation": None,
        "why": j.why or None,
    }
    if j.point is not None and j.margins is not None and j.swing is not None:
        m, swing = j.margins, j.swing
        record["operating_point"] = asdict(j.point)
        record["margins"] = {
            "stable": m.stable,
            "gain": _finite(m.gain),
            "phase": _finite(m.phase),
            "delay": _finite(m.delay),
            "gain_crossover": _finite(m.gain_crossover),
            "phase_crossover": _finite(m.phase_crossover),
        }
        record["oscillation"] = {
            "lasting": swing.lasting,
            "frequency": _finite(swing.frequency),
            "low": swing.low,
            "high": swing.high,
            "mean": swing.mean,
        }
    return record


def _number(value: float, decimals: int) -> str:
    if math.isnan(value):
        return "-"
    return "none" if math.isinf(value) else f"{value:.{decimals}f}"


def _swing(swing: Oscillation) -> str:
    if not swing.lasting:
        return "dies away"
    return f"{swing.frequency:.2f} Hz, {swing.low:.0f} to {swing.high:.0f}"


def _print(judged: list[Judged]) -> None:
    out = console()
    show(out, _table(judged))
    text = (
        "queue, window: at the equilibrium, in packets; margins: of gain as a factor, of phase in "
        "degrees, none where no frequency has one; crossover: where the gain is 1, in rad/s; "
        "swing: what the queue does in the long run, in packets"
    )
    if any(j.loop.model.switch for j in judged):
        text += "; VOQs: what waits for the output at the inputs"
    legend(out, text)
    for j in judged:
        for note in (*([f"no equilibrium: {j.why}"] if j.why else []), *j.loop.notes):
            item(out, f"{_name(j, judged)}: {note}")


def _name(j: Judged, judged: list[Judged]) -> str:
    several = len({other.loop.variant for other in judged}) > 1
    return f"{j.loop.variant}, {j.loop.link}" if several else j.loop.link


def _table(judged: list[Judged]) -> Table:
    made = table()
    variants = len({j.loop.variant for j in judged}) > 1
    switches = any(j.loop.model.switch for j in judged)
    if variants:
        made.add_column("variant", no_wrap=True, vertical="bottom")
    made.add_column("loop at", no_wrap=True, vertical="bottom")
    made.add_column("AQM", no_wrap=True, vertical="bottom")
    heads = ["TCP", "RTT\n(ms)", "queue", *(["VOQs"] if switches else []), "window"]
    heads += ["gain\nmargin", "phase\nmargin", "cross-\nover"]
    for head in heads:
        made.add_column(head, justify="right", no_wrap=True, vertical="bottom")
    made.add_column("swing", no_wrap=True, vertical="bottom")
    for j in judged:
        loop, model = j.loop, j.loop.model
        names = [Text(loop.variant)] if variants else []
        cells = [f"{model.flows:g}", f"{model.rtt * 1e3:.4g}"]
        if j.point is None or j.margins is None or j.swing is None:
            cells += ["-"] * (6 + switches)
            swing = "no equilibrium"
        else:
            at, m = j.point, j.margins
            cells += [f"{at.queue:.1f}", *([f"{at.input_queue:.1f}"] if switches else [])]
            cells += [f"{at.window:.1f}", _number(m.gain, 2), _number(m.phase, 1)]
            cells.append(_number(m.gain_crossover, 2))
            swing = _swing(j.swing)
        made.add_row(*names, Text(loop.link), loop.aqm, *cells, swing)
    return made
