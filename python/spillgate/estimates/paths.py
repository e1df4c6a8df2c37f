"""Classes of service: what they meet on their way, from what is known of the ports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spillgate.estimates import queues
from spillgate.estimates.found import Assumption, Estimate
from spillgate.estimates.ports import FAIR, NEVER, Port, Traffic
from spillgate.estimates.service import Service


def classes(
    paths: Sequence[Mapping[str, Any]], ports: Sequence[Port]
) -> tuple[list[Estimate], dict[str, str]]:
    """Delay and loss of each class, and why those are not known of others."""
    made, unknown = [], {}
    for name in dict.fromkeys(p["class"] for p in paths):
        ways = [p for p in paths if p["class"] == name]
        why = next((w for p in ways if (w := _unknown(p, name, ports))), None)
        if why is None:
            made += _estimates(name, ways, ports)
        else:
            unknown[name] = why
    return made, unknown


def _unknown(path: Mapping[str, Any], name: str, ports: Sequence[Port]) -> str | None:
    for link in path["links"]:
        port = ports[link]
        if port.waiting is None:
            return str(port.why)
        if port.kind in FAIR and len({t.of["class"] for t in port.traffic}) > 1:
            return f"at `{port.link}` flows of several classes share, whose sum alone is known"
        for t in _own(port, name):
            if port.waiting.waits[t.of["leaf"] or 0] is None:
                return f"at `{port.link}` it shares with other classes, whose sum alone is known"
    return None


def alone(paths: Sequence[Mapping[str, Any]]) -> dict[int, set[str]]:
    """By link the classes all of whose packets pass it and no other."""
    ways: dict[str, set[tuple[int, ...]]] = {}
    for p in paths:
        ways.setdefault(p["class"], set()).add(tuple(p["links"]))
    found: dict[int, set[str]] = {}
    for name, of in ways.items():
        if len(of) == 1 and len(only := next(iter(of))) == 1:
            found.setdefault(only[0], set()).add(name)
    return found


def _own(port: Port, name: str) -> list[Traffic]:
    return [t for t in port.traffic if t.of["class"] == name]


def _at(port: Port, name: str) -> tuple[float, float]:
    """Mean time of a class's packets from arrival until they have been sent, and their loss."""
    waiting = port.waiting
    assert waiting is not None  # noqa: S101
    own = _own(port, name)
    rate = sum(t.rate for t in own)
    waits = sum(t.rate * (waiting.waits[t.of["leaf"] or 0] or 0.0) for t in own) / rate
    service = Service.mixed((t.rate, t.service) for t in own).mean
    loss = 1 - (1 - waiting.loss) * (1 - port.of["loss"])
    return waits + service, loss


def _estimates(
    name: str, ways: Sequence[Mapping[str, Any]], ports: Sequence[Port]
) -> list[Estimate]:
    delay = arrived = sent = 0.0
    met: dict[Assumption, None] = {}
    formulas: dict[str, None] = {}
    for path in ways:
        rate, time, left = path["count"] * path["packets"], path["passing"], 1.0
        for link in path["links"]:
            port = ports[link]
            spent, loss = _at(port, name)
            time += spent + port.of["delay"]
            left *= 1 - loss
            met |= dict.fromkeys(port.waiting.assumptions if port.waiting else ())
            if port.waiting and port.waiting.formula != "no wait":
                formulas[port.waiting.formula] = None
        sent += rate
        arrived += rate * left
        delay += rate * left * time
    formula = " + ".join(formulas) or "no wait"
    values = [("owd_mean", "s", delay / arrived)]
    if sent > 0 and 1 - arrived / sent >= NEVER:
        values.append(("loss_ratio", "1", 1 - arrived / sent))
    return [
        Estimate(
            formula,
            "class",
            name,
            metric,
            unit,
            value,
            exact=True,
            assumptions=tuple(met),
            terms=(("class", name, metric, 1.0, 0.0),),
        )
        for metric, unit, value in values
    ]


def sessions(
    found: Sequence[Mapping[str, Any]],
    duration: float,
    warmup: float,
    spent: Mapping[str, float],
) -> list[Estimate]:
    """Erlang's loss formula of sessions that stay for a time of their own: how many are refused.

    Args:
        found: The records of the core.
        duration: Length of the measured period in seconds.
        warmup: Seconds before it.
        spent: Mean time of sessions in seconds that a run has shown, by class.
    """
    made = []
    for one in found:
        if one["lifetime"] is None or one["gap"] <= 0 or one["active"] > _MOST:
            continue
        made.append(_refused(one, one["lifetime"], "", duration, warmup))
        if one["class"] in spent:
            note = ", with the mean time of the runs"
            made.append(_refused(one, spent[one["class"]], note, duration, warmup))
    return made


_MOST = 100_000
"""Circuits above which the formula takes long."""


def _refused(
    one: Mapping[str, Any], time: float, by: str, duration: float, warmup: float
) -> Estimate:
    name, metric = one["class"], "transfers_refused"
    erlangs = time / one["gap"]
    blocked = queues.erlang_b(erlangs, one["active"])
    steady = one["throughout"] and warmup >= 3 * time
    even = "" if one["poisson"] else f"`{one['name']}` begin at even times, or not for ever"
    late = "" if steady else f"the warm-up is shorter than three times `{one['name']}` stay"
    return Estimate(
        "Erlang B",
        "class",
        name,
        metric,
        "transfers",
        duration / one["gap"] * blocked,
        exact=False,
        assumptions=(
            Assumption("sessions begin as Poisson arrivals", not even, even),
            Assumption("the measured period is the steady state", not late, late),
            Assumption("a session ends with its time, its last packets take none"),
        ),
        note=f"{erlangs:.4g} erlangs for {one['active']} sessions, {blocked:.3g} are refused{by}",
        terms=(("class", name, metric, 1.0, 0.0),),
    )


def calls(ports: Sequence[Port]) -> list[Estimate]:
    """Erlang B the other way round: what may be offered to a class whose rate is policed."""
    made = []
    for port in ports:
        for leaf, name in enumerate(port.of["leaves"]):
            queue = port.queue(leaf)
            policer = queue and (queue.get("priority_policer") or queue["police"])
            calls = [s for s in port.of["streams"] if s["kind"] == "voip" and s["leaf"] == leaf]
            if not policer or not calls or not calls[0]["lengths"]:
                continue
            mean = sum(x["share"] * (x["from"] + x["to"]) / 2 for x in calls[0]["lengths"])
            each = calls[0]["packets"] * mean * 8
            circuits = int(policer["rate"] / each)
            if not 1 <= circuits <= _MOST:
                continue
            load = queues.erlangs_for(circuits, 0.01)
            late = queues.erlang_c(load, circuits)
            there = sum(s["count"] for s in calls)
            note = (
                f"{circuits} calls of {each / 1e3:.4g} kb/s fit into {policer['rate'] / 1e3:.6g} "
                f"kb/s (there are {there}); so many erlangs fit if 1 % may find no place; if they "
                f"waited for one, {late:.2g} would (Erlang C)"
            )
            more = [s for s in port.of["streams"] if s["leaf"] == leaf and s["kind"] != "voip"]
            why = f"`{more[0]['flow']}` is in the class, too" if more else ""
            made.append(
                Estimate(
                    "Erlang B",
                    "queue",
                    f"{port.link}/{name}",
                    "erlangs",
                    "erlangs",
                    load,
                    exact=False,
                    assumptions=(
                        Assumption(
                            "calls begin as Poisson arrivals and are refused beyond the rate"
                        ),
                        Assumption("the class has calls of one kind only", not why, why),
                    ),
                    note=note,
                )
            )
    return made
