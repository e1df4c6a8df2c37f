"""Beyond the paper: policies it does not test, other loads, TCP, and rivals of today."""

from __future__ import annotations

from collections.abc import Sequence

from spillgate.errors import InputError
from spillgate.papers.lab import Case, Lab, Protocol
from spillgate.papers.measured import Measured, PerRun
from spillgate.papers.mitroi import system
from spillgate.papers.model import Cell, Table
from spillgate.scenario import catalog

LOADS = (80, 90, 100, 110, 120, 130, 140, 150)
"""Offered load in Mb/s."""

OWN = frozenset({"fifo", "flow-wfq", "class-based", "red", "wred"})
"""Kinds that the paper's policies are made of; every other kind is a rival."""

MODERN = ("fifo with codel", "fq-codel")
"""Rivals that need senders who slow down: they are measured with TCP, too."""

COLUMNS = (
    ("loss", "loss_ratio"),
    ("delay", "owd_mean"),
    ("p99", "owd_p99"),
    ("jitter", "jitter"),
)

RATED = ("mos", "mos_min", "r_factor", "mouth_to_ear", "late_ratio", "burst_ratio")
"""Metrics of calls."""


def measured_classes(
    m: Measured, variants: Sequence[tuple[str, str]]
) -> tuple[tuple[Cell, ...], ...]:
    """Rows of a table of classes.

    Args:
        m: The values.
        variants: Name of the row and of the variant.
    """
    return tuple(
        (
            name if cls == system.CLASSES[0] else "",
            system.LABELS[cls],
            *(m.of(variant, "class", cls, metric).quantity for _, metric in COLUMNS),
        )
        for name, variant in variants
        for cls in system.CLASSES
    )


def quality(m: Measured, policies: Sequence[str]) -> Table:
    """How calls over the voice class would be judged."""
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            p,
            m.of(p, "class", "voice", "loss_ratio").quantity,
            *(m.of(p, "class", "voice", metric).quantity for metric in RATED),
        )
        for p in policies
    )
    return Table(
        "voice",
        "Voice quality by policy",
        ("policy", "loss", "MOS", "worst call's MOS", "R", "mouth to ear", "late", "BurstR"),
        rows,
        "E-model of ITU-T G.107: each flow of the voice class is rated as one call with G.711 and "
        "a de-jitter buffer of 60 ms. 4.41 is a perfect call; below 3.6 some users are "
        "dissatisfied. Loss above 20 % is outside the range for which the model was validated.",
    )


CLASS_HEAD = ("policy", "class", *(heading for heading, _ in COLUMNS))


def loads(lab: Lab, protocol: Protocol) -> tuple[Table, dict[str, dict[int, dict[str, PerRun]]]]:
    """The policies with table 1 scaled to other loads; and the values for the figure."""
    files = {load: lab.write(f"traffic-{load}.csv", system.scaled(load)) for load in LOADS}
    cases = [
        Case(f"{load}: {p}", {**system.settings(p), "traffic.0.csv.file": files[load]})
        for load in LOADS
        for p in system.POLICIES[:5]
    ]
    m = Measured(lab.run("Offered load", cases, protocol))
    shown = (
        ("voice", "owd_mean"),
        ("voice", "loss_ratio"),
        ("video", "loss_ratio"),
        ("critical", "loss_ratio"),
        ("non-critical", "loss_ratio"),
        ("bulk", "loss_ratio"),
    )
    values = {
        p: {
            load: {f"{c} {k}": m.of(f"{load}: {p}", "class", c, k) for c, k in shown}
            for load in LOADS
        }
        for p in system.POLICIES[:5]
    }
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (
            p if load == LOADS[0] else "",
            f"{load} Mb/s",
            *(q.quantity for q in values[p][load].values()),
        )
        for p in system.POLICIES[:5]
        for load in LOADS
    )
    head = (
        "policy",
        "offered",
        "voice delay",
        *(f"{c} loss" for c, k in shown if k == "loss_ratio"),
    )
    return Table("load", "Offered load from 80 to 150 Mb/s", head, rows), values


def tcp_flows(cc: str = "cubic") -> list[dict[str, object]]:
    """Table 1 with what the data classes write sent through TCP; voice and video as they are."""
    found: list[dict[str, object]] = []
    for row in system.flows():
        flow: dict[str, object] = {
            "name": row["name"],
            "count": int(row["count"]),
            "class": row["class"],
            "dscp": row["dscp"],
            "from": "site-a",
            "to": "site-b",
            "source": {"cbr": {"rate": row["rate"], "packet": "1500 B", "jitter": "10 %"}},
        }
        if row["class"] not in system.REAL_TIME:
            flow["tcp"] = {"profile": "linux", "cc": cc}
        found.append({"flow": flow})
    return found


def tcp(lab: Lab, protocol: Protocol) -> Table:
    """The data classes over TCP, which slows down when it loses."""
    duplex: dict[str, object] = {
        f"topology.links.{link}.duplex": True for link in ("lan-a", "wan", "lan-b")
    }
    settings = {
        p: system.at_line(p) for p in ("FIFO", "RED", "CBWFQ", "CBWFQ-LLQ", "CBWFQ-LLQ-WRED")
    }
    known = rival_settings()
    for rival in MODERN:
        settings[rival] = {**known[rival], **system.at_line("RIVAL")}
    policies = tuple(settings)
    cases = [Case(p, {**s, **duplex, "traffic": tcp_flows()}) for p, s in settings.items()]
    m = Measured(lab.run("TCP in the data classes", cases, protocol))
    rows = measured_classes(m, [(p, p) for p in policies])
    goods = tuple(
        m.of(p, "class", c, "throughput").quantity for p in policies for c in system.CLASSES
    )
    return Table(
        "tcp",
        "TCP (CUBIC) in place of CBR in the data classes",
        (*CLASS_HEAD, "throughput"),
        tuple((*row, good) for row, good in zip(rows, goods, strict=True)),
        "Each data flow writes at its rate of table 1 into a TCP connection with Linux's "
        "defaults; voice and video are as before. What the line cannot carry waits at the senders "
        "instead of being lost. Throughput counts IP packets, headers included. The last two are "
        "not of the paper: CoDel and FQ-CoDel with their defaults. FQ-CoDel knows flows, not "
        "classes: an equal share each is less than a video flow sends, and enough for a call. "
        "Where two of the 50 flows hash into one of its 1024 queues, they wait and lose together, "
        "in some runs and not in others, hence the wide intervals.",
    )


def rival_settings() -> dict[str, dict[str, object]]:
    """Every kind of discipline and AQM that the paper's policies do not use, by name."""
    kinds = catalog()
    found: dict[str, dict[str, object]] = {}
    for entry in kinds.get("disciplines", ()):
        if entry["kind"] not in OWN:
            found[str(entry["kind"])] = {"policies.RIVAL": {entry["kind"]: {}}}
    for entry in kinds.get("aqm", ()):
        if entry["kind"] not in OWN:
            queue = {"limit": "1000 packets", "aqm": {entry["kind"]: {}}}
            found[f"fifo with {entry['kind']}"] = {"policies.RIVAL": {"fifo": queue}}
    return found


def rivals(lab: Lab, protocol: Protocol) -> Table:
    """Every other kind of queueing, with its default parameters, at the line."""
    cases, notes = [], []
    for name, values in rival_settings().items():
        case = Case(name, {**values, **system.at_line("RIVAL")})
        try:
            lab.simulation([case], protocol)
        except InputError as error:
            first = str(error).splitlines()[0]
            notes.append(f"{name} cannot be run with its defaults alone: {first}")
        else:
            cases.append(case)
    own = [Case(p, system.settings(p)) for p in (*system.POLICIES, *system.ALSO)]
    m = Measured(lab.run("Rivals", [*own, *cases], protocol))
    text = (
        "Not part of the claims. Defaults of each kind; ECN-capable sources that do not slow down "
        "under ECN. CoDel and FQ-CoDel count on senders that slow down: these do not, so CoDel's "
        "queue grows up to its limit all the same (with TCP see the table before). Kinds that "
        "later versions bring join by themselves."
    )
    return Table(
        "rivals",
        "Other queueing at the same line",
        CLASS_HEAD,
        measured_classes(m, [(c.name, c.name) for c in (*own, *cases)]),
        " ".join([text, *notes]),
    )
