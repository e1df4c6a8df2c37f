"""Beyond the paper: call quality, other loads, TCP, and rivals of today."""

from __future__ import annotations

from spillgate.labels import short_of
from spillgate_papers.flows import Row
from spillgate_papers.grid import Batch, Grid
from spillgate_papers.mitroi import system
from spillgate_papers.mitroi.claims import FIFO, LLQ, WRED
from spillgate_papers.mitroi.system import ALSO, CLASSES, POLICIES
from spillgate_papers.mitroi.why import BRIEF, EVERY, POLICY, SHORT, classes, under
from spillgate_papers.rivals import rivals
from spillgate_papers.show import By, Curves, Panel, from_zero
from spillgate_papers.terms import value

OWN = frozenset({"fifo", "flow-wfq", "class-based", "red", "wred"})
"""Kinds that the paper's policies are made of; every other kind is a rival."""
RIVALS = rivals(OWN, "topology.links.wan")
"""By name, with the defaults of each kind."""
TCP = (FIFO, "RED", "CBWFQ", LLQ, WRED)
MODERN = ("fifo with codel", "fq-codel")
"""Rivals that need senders who slow down: they are measured with TCP, too."""


def _flow(row: Row) -> dict[str, object]:
    """A flow of table 1; what data classes write is sent through TCP."""
    source = {"cbr": {"rate": row["rate"], "packet": "1500 B", "jitter": "10 %"}}
    ends = {"from": "site-a", "to": "site-b", "count": int(row["count"]), "source": source}
    flow: dict[str, object] = {**{k: row[k] for k in ("name", "class", "dscp")}, **ends}
    if row["class"] not in system.REAL_TIME:
        flow["tcp"] = {"profile": "linux", "cc": "cubic"}
    return {"flow": flow}


BY_TCP: dict[str, object] = {
    **{f"topology.links.{link}.duplex": True for link in ("lan-a", "wan", "lan-b")},
    "traffic": [_flow(row) for row in system.FLOWS.rows],
}
LOADED = {f"{load} Mb/s": system.at_load(load) for load in system.LOADS}
SWEPT = POLICIES[:5]
"""The policies whose load is swept."""

TABLES = (
    By(
        "voice",
        "Voice quality by policy",
        {"policy": tuple(EVERY)},
        {
            "loss": ("loss_ratio", "voice"),
            "MOS": ("mos", "voice"),
            "worst call's MOS": ("mos_min", "voice"),
            "R": ("r_factor", "voice"),
            short_of("mouth_to_ear"): ("mouth_to_ear", "voice"),
            "late": ("late_ratio", "voice"),
            "BurstR": ("burst_ratio", "voice"),
        },
        "E-model of ITU-T G.107: each flow of the voice class is rated as one call with G.711 and "
        "a de-jitter buffer of 60 ms. 4.41 is a perfect call; below 3.6 some users are "
        "dissatisfied. Loss above 20 % is outside the range for which the model was validated.",
    ),
    By(
        "load",
        "Offered load from 80 to 150 Mb/s",
        {"policy": SWEPT, "offered": tuple(LOADED)},
        {
            "voice delay": ("owd_mean", "voice"),
            **{f"{c} loss": ("loss_ratio", c) for c in CLASSES},
        },
    ),
    classes(
        "tcp",
        "TCP (CUBIC) in place of CBR in the data classes",
        under("TCP", (*TCP, *MODERN)),
        {**SHORT, "throughput": "throughput"},
        "Each data flow writes at its rate of table 1 into a TCP connection with Linux's "
        "defaults; voice and video are as before. What the line cannot carry waits at the senders "
        "instead of being lost. Throughput counts IP packets, headers included. The last two are "
        "not of the paper: CoDel and FQ-CoDel with their defaults. FQ-CoDel knows flows, not "
        "classes: an equal share each is less than a video flow sends, and enough for a call. "
        "Where two of the 50 flows hash into one of its 1024 queues, they wait and lose together, "
        "in some runs and not in others, hence the wide intervals.",
    ),
    classes(
        "rivals",
        "Other queueing at the same line",
        under("briefly", (*POLICIES, *ALSO, *RIVALS)),
        SHORT,
        "Not part of the claims. Defaults of each kind; ECN-capable sources that do not slow down "
        "under ECN. CoDel and FQ-CoDel count on senders that slow down: these do not, so CoDel's "
        "queue grows up to its limit all the same (with TCP see the table before). Kinds that "
        "later versions bring join by themselves.",
    ),
)


BATCHES = (
    Batch("Offered load", Grid(policy=POLICY(SWEPT), load=LOADED), BRIEF),
    Batch(
        "TCP in the data classes",
        Grid(policy={**POLICY(TCP), **{k: RIVALS[k] for k in MODERN}}, traffic={"TCP": BY_TCP}),
        BRIEF,
    ),
    Batch(
        "Rivals",
        Grid(policy={**POLICY((*POLICIES, *ALSO)), **RIVALS}, effort={"briefly": {}}),
        BRIEF,
    ),
)
LOAD = Curves(
    "load",
    "Delay and loss by offered load",
    tuple(
        Panel(
            "",
            "offered load (Mb/s)" if cls in system.CONGESTED else "",
            heading,
            {
                p: {float(x): value(metric, f"{p}, {x} Mb/s", cls) for x in system.LOADS}
                for p in SWEPT
            },
            legend="best" if metric == "owd_mean" else "",
            factor=factor,
            look=from_zero,
        )
        for heading, metric, cls, factor in (
            ("voice delay (ms)", "owd_mean", "voice", 1e3),
            ("voice loss (%)", "loss_ratio", "voice", 100.0),
            ("AF3x loss (%)", "loss_ratio", "critical", 100.0),
            ("AF2x loss (%)", "loss_ratio", "non-critical", 100.0),
        )
    ),
    rows=2,
    size=(8.2, 5.0),
)
