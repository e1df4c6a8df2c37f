"""What the paper leaves silent: our choice, its reason, and other choices to run."""

from __future__ import annotations

from spillgate_papers.grid import Settings
from spillgate_papers.model import Point, Silent
from spillgate_papers.zheng.system import (
    BOTH,
    CLOCKS,
    CONTRACTS,
    LINE,
    NRT,
    RED,
    SIZES,
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


SILENT = (
    Silent(
        "mtu",
        "9180 B, 192 cells",
        "the MTU of IP over ATM (RFC 2225)",
        (Point("1500 B", list(SIZES.values())[-1]),),
    ),
    Silent(
        "tcp.clock",
        "100 ms, no timeout below 200 ms",
        "between the 500 ms of BSD and 1 ms of today; decides how long a timeout lasts",
        (Point("0.1 ms", list(CLOCKS.values())[-1]),),
    ),
    Silent(
        "tcp.recovery",
        "Reno without delayed acknowledgments",
        "that of its time, as in RED's own paper",
        (
            _tcp("NewReno", cc="newreno"),
            _tcp("SACK", cc="newreno", sack=True),
            _tcp("delayed acknowledgments", delayed_ack={"timeout": "200 ms", "every": 2}),
        ),
    ),
    Silent(
        "tcp.window",
        "not limited (window scaling)",
        "64 KB are seven packets, four connections then cannot fill 200",
        (_tcp("65535 B", max_window="65535 B"),),
    ),
    Silent(
        "line.rate",
        f"{LINE / 1e6:g} Mb/s of cells on OC-1",
        "what SONET leaves of 51.84 Mb/s (a C-3 container, ITU-T G.707)",
        (_rate("51.84 Mb/s", 51.84e6),),
    ),
    Silent(
        "contract.mbs",
        "200 cells",
        "about one packet",
        (_burst(1), _burst(2000)),
        places=_SHAPED,
    ),
    Silent(
        "encapsulation",
        "LLC (RFC 2684)",
        "the default of IP over ATM",
        {f"{_VC}.atm.encapsulation": ["vc-mux"]},
    ),
    Silent(
        "red.gentle",
        "not gentle: all is dropped from max_th on",
        "RED of 1993, which the paper compares with",
        (Point("gentle", {"policies.RED.fifo.aqm.red.gentle": True}),),
        places=WITH_RED,
    ),
    Silent(
        "red.weight",
        "0.07, as that of DSRED",
        "the paper gives one w for its configuration, and does not say whose it is",
        (Point("0.002", {"policies.RED.fifo.aqm.red.weight": 0.002}),),
        places=WITH_RED,
    ),
    Silent(
        "average.idle",
        "decays while the queue is idle",
        "RED of 1993, with which the paper compares; its equation (1) has no such term",
        (
            Point(
                "none",
                {f"policies.{x}.fifo.aqm.{x.lower()}.idle": "none" for x in ("RED", "DSRED")},
            ),
        ),
    ),
    Silent(
        "start",
        "within the first second",
        "the paper's queues build up over 60 s, which slow start does in a few round trips",
        {"traffic.0.flow.start_spread": ["10 s"]},
    ),
)
"""The ledger."""
