"""The control loops of a scenario as models.

A loop is a link with a FIFO under an AQM that the model has a law of, and the endless TCP
connections whose data cross it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spillgate.analysis.fluid.adapt import adapted, resting_max_p
from spillgate.analysis.fluid.aqm import Aqm, Dsred, Pie, Red
from spillgate.analysis.fluid.model import Model, Switch
from spillgate.errors import InputError
from spillgate.scenario import Overrides, open_job
from spillgate.source import FilesLike, ScenarioLike, Source

_RENO = ("reno", "newreno")
_PLAIN = "has no AQM"
"""Of most links, so that only those asked for say so."""
_KINDS = "red, adaptive-red (Floyd), dsred or pie"


@dataclass(frozen=True)
class ControlLoop:
    """A queue and the connections that it controls.

    Attributes:
        variant: Name of the variant.
        link: Name of the link.
        aqm: Kind of its AQM, as the scenario has it.
        model: The fluid model.
        packet: Mean length of a full packet on the link in bytes, which counts as one.
        round_trips: How many connections have which round trip without queueing, in seconds,
            ascending.
        notes: What the model takes otherwise than the scenario, in sentences.
    """

    variant: str
    link: str
    aqm: str
    model: Model
    packet: float
    round_trips: tuple[tuple[int, float], ...]
    notes: tuple[str, ...]


def from_scenario(
    scenario: ScenarioLike,
    *,
    link: str | None = None,
    variant: str | None = None,
    files: FilesLike | None = None,
    set: Overrides | None = None,  # noqa: A002 - the option's name on the command line
    confine: bool = False,
) -> list[ControlLoop]:
    """The fluid model of each control loop of a scenario.

    Connections that differ count as alike ones: their round trip is the harmonic mean, so that
    alike windows send as much in all. Adaptive RED has the `max_p` at which it comes to rest; see
    `adapted`.

    Args:
        scenario: Path of the scenario file, its text, or what the text would say as a mapping.
        link: Of this link only.
        variant: Of this variant only.
        files: Contents that stand in for files, by name as the scenario writes it.
        set: Values to replace, by path.
        confine: Refuses files outside the scenario's folder.

    Returns:
        The loops by variant and link, at least one.

    Raises:
        InputError: If the scenario cannot be used, there is no such link or variant, or no loop;
            says why each link with connections closes none.
    """
    job = open_job(Source.of(scenario, files), set=set, confine=confine)
    variants = list(job.describe()["variants"])
    if variant is not None and variant not in variants:
        there = ", ".join(variants)
        msg = f"error: variant: {variant!r}: there is no such variant; there are {there}"
        raise InputError(msg)
    found = []
    why: dict[str, None] = {}
    for number, name in enumerate(variants):
        if variant not in (None, name):
            continue
        records = job.loops(number)
        if link is not None:
            records = _only(records, link, job.cast(number)["links"])
        for record in records:
            reason = _unmodelled(record)
            if reason is None:
                found.append(_loop(name, record))
            elif link is not None or reason != _PLAIN:
                why[f"link {record['name']!r} {reason}"] = None
    if not found:
        listed = "; ".join(why) or "no link that endless TCP connections cross has an AQM"
        msg = (
            f"error: fluid model: no control loop: {listed}; a loop is a FIFO with {_KINDS}, and "
            "endless TCP connections over it"
        )
        raise InputError(msg)
    return found


def _only(records: list[dict[str, Any]], link: str, names: list[str]) -> list[dict[str, Any]]:
    if link not in names:
        msg = f"error: link: {link!r}: there is no such link; there are {', '.join(names)}"
        raise InputError(msg)
    chosen = [r for r in records if r["name"] == link]
    if not chosen:
        msg = (
            f"error: fluid model: no control loop: no endless TCP connection crosses link {link!r}"
        )
        raise InputError(msg)
    return chosen


def _unmodelled(record: Mapping[str, Any]) -> str | None:
    """Why a link closes no loop that the model has."""
    if record["discipline"] not in (None, "fifo"):
        return f"has `{record['discipline']}`, which is not one queue"
    if record["aqm"] is None:
        return _PLAIN
    if record["law"] is None:
        return f"has `{record['aqm']}`, whose law the model does not have"
    if record["input_fifos"]:
        return "is behind a switch with one FIFO at each input, whose blocking is not modelled"
    return None


def _law(law: Mapping[str, Any], packet: float) -> Aqm:
    """The law in packets of so many bytes."""
    if law["kind"] == "pie":
        return Pie(law["target"], law["update"], law["alpha"], law["beta"])
    if law["kind"] == "dsred":
        return Dsred(law["min_th"], law["max_th"], law["gamma"], law["weight"], law["spread"])
    unit = packet if law["in_bytes"] else 1.0
    return Red(
        law["min_th"] / unit,
        law["max_th"] / unit,
        law["max_p"],
        law["weight"],
        gentle=law["gentle"],
        curve=law["curve"],
        spread=law["spread"],
        wait=law["wait"],
    )


def _switch(found: Mapping[str, Any] | None) -> Switch | None:
    if found is None:
        return None
    # Faster than all inputs together it holds nothing back.
    speedup = min(found["speedup"], float(found["ports"]))
    return Switch(found["ports"], speedup, found["nu"], max(found["inputs"], 1))


def _loop(variant: str, record: Mapping[str, Any]) -> ControlLoop:
    groups = record["connections"]
    count = sum(g["count"] for g in groups)
    packet = sum(g["count"] * g["frame"] for g in groups) / count
    rates = sum(g["count"] / g["rtt"] for g in groups)
    grow = sum(g["count"] * math.sqrt(_increase(g)) / g["rtt"] for g in groups) / rates
    limit = record["limit_packets"]
    if record["limit_bytes"] is not None:
        limit = record["limit_bytes"] / packet
    model = Model(
        flows=count,
        capacity=record["rate"] / 8 / packet,
        rtt=count / rates,
        aqm=_law(record["law"], packet),
        limit=limit,
        switch=_switch(record["switch"]),
        increase=grow * grow,
    )
    notes = _notes(record, model)
    if record["law"].get("adaptive"):
        first, rest = record["law"]["max_p"], resting_max_p(model)
        model = adapted(model)
        notes.append(f"max_p, {first:g} at first, is taken where it comes to rest, {rest:.4g}")
    notes += _windows(groups, model)
    trips: dict[float, int] = {}
    for g in groups:
        trips[g["rtt"]] = trips.get(g["rtt"], 0) + g["count"]
    return ControlLoop(
        variant=variant,
        link=record["name"],
        aqm=record["aqm"],
        model=model,
        packet=packet,
        round_trips=tuple((trips[t], t) for t in sorted(trips)),
        notes=tuple(notes),
    )


def _increase(group: Mapping[str, Any]) -> float:
    """Growth of a window in packets a round trip."""
    return 1.0 if group["by_bytes"] else 1.0 / group["every"]


def _windows(groups: Sequence[Mapping[str, Any]], model: Model) -> list[str]:
    """Whether some receivers let connections have less than the model's windows."""
    try:
        window = model.operating_point().window
    except InputError:
        return []
    small = [g for g in groups if g["max_window"] < window]
    if not small:
        return []
    count, least = sum(g["count"] for g in small), min(g["max_window"] for g in small)
    most = f"windows of at most {least:.4g} packets, less than the model's {window:.4g}"
    return [f"{count} connections have {most}"]


def _notes(record: Mapping[str, Any], model: Model) -> list[str]:
    groups, notes = record["connections"], []
    trips = [g["rtt"] for g in groups]
    if max(trips) > 1.001 * min(trips):
        notes.append(
            f"round trips of {min(trips) * 1e3:.4g} to {max(trips) * 1e3:.4g} ms count as "
            f"{model.rtt * 1e3:.4g} ms, their harmonic mean"
        )
    frames = {g["frame"] for g in groups}
    if len(frames) > 1:
        notes.append("packets of different lengths count as their mean")
    others: dict[str, int] = {}
    for g in groups:
        if g["cc"] not in _RENO:
            others[g["cc"]] = others.get(g["cc"], 0) + g["count"]
    notes += [f"{n} connections with `{cc}` count as Reno" for cc, n in others.items()]
    if record["others"]:
        notes.append(f"{len(record['others'])} other flows over the link are left out")
    if record["varies"]:
        notes.append("the rate varies, and is taken as it is written")
    if record["law"].get("scaled"):
        notes.append("that the drop probability depends on a packet's length is left out")
    if record["law"].get("derandomize"):
        notes.append("that drops are de-randomized is left out")
    if record["switch"] is not None and record["switch"]["is_crossbar"]:
        notes.append(
            "the crossbar is taken as parallel links, without the blocking of its matching"
        )
    return notes
