"""What the paper leaves silent: our choice, its reason, and other choices to run."""

from __future__ import annotations

from spillgate_papers.grid import Settings
from spillgate_papers.model import Point
from spillgate_papers.zheng.system import (
    BOTH,
    CLOCKS,
    CONTRACTS,
    NRT,
    RED,
    SIZES,
    TEXTS,
    place,
)

LEDGER = tuple(place(c, s) for c in CONTRACTS for s in BOTH)
"""Points at which silent choices are varied."""
WITH_RED = tuple(place(c, RED) for c in CONTRACTS)
_TCP = "traffic.0.flow.tcp"
_VC = "topology.links.vc"
_SHAPED = tuple(place(NRT, s) for s in BOTH)


def _tcp(label: str, **values: object) -> Point:
    return Point(label, {f"{_TCP}.{k}": v for k, v in values.items()})


def _burst(cells: int) -> Point:
    return Point(f"{cells} cells", {f"{_VC}.atm.contract.nrt-vbr.mbs": cells})


def _rate(label: str, rate: float) -> Point:
    """Another rate of cells; the sustainable rate stays half of it."""
    both: Settings = {f"topology.links.{x}.rate": f"{rate:.0f} b/s" for x in ("vc", "back")}
    contract = f"{_VC}.atm.contract"
    rates = {"pcr": f"{rate:.0f} b/s", "scr": f"{rate / 2:.0f} b/s", "mbs": 200}
    always = {f"{contract}": {"nrt-vbr": rates}}
    return Point(label, {**both, **always}, _SHAPED, instead=False)


SILENT = TEXTS.silent(
    {
        "mtu": (Point("1500 B", list(SIZES.values())[-1]),),
        "tcp.clock": (Point("0.1 ms", list(CLOCKS.values())[-1]),),
        "tcp.recovery": (
            _tcp("NewReno", cc="newreno"),
            _tcp("SACK", cc="newreno", sack=True),
            _tcp("delayed acknowledgments", delayed_ack={"timeout": "200 ms", "every": 2}),
        ),
        "tcp.window": (_tcp("65535 B", max_window="65535 B"),),
        "line.rate": (_rate("51.84 Mb/s", 51.84e6),),
        "contract.mbs": (_burst(1), _burst(2000)),
        "encapsulation": {f"{_VC}.atm.encapsulation": ["vc-mux"]},
        "red.gentle": (Point("gentle", {"policies.RED.fifo.aqm.red.gentle": True}),),
        "red.weight": (Point("0.002", {"policies.RED.fifo.aqm.red.weight": 0.002}),),
        "average.idle": (
            Point(
                "none",
                {f"policies.{x}.fifo.aqm.{x.lower()}.idle": "none" for x in ("RED", "DSRED")},
            ),
        ),
        "start": {"traffic.0.flow.start_spread": ["10 s"]},
    },
    {
        "contract.mbs": _SHAPED,
        "red.gentle": WITH_RED,
        "red.weight": WITH_RED,
    },
)
"""The ledger."""
