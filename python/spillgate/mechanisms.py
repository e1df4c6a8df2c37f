"""Mechanisms by name, with the parameters that each should have on a line.

A mechanism is what stands in one port: a queue under active queue management, or a discipline with
queues of its own. Each has the values of its own document. What these leave to the operator is
set by the rate of the line and the longest usual round trip:

- The one buffer of a FIFO holds what the line sends in a round trip (RFC 7928, 3.2), and no less
  than twice RED's upper threshold. Disciplines with queues of their own have their own limits.
- RED, and what has its thresholds, follow adaptive RED: `min_th` is half of what the line sends in
  5 ms, at least 5 packets, `max_th` three times that, and the average follows within a second.
- CoDel's interval is the round trip, and its target a twentieth of that, no less than one and a
  half times what a full packet takes; the interval is then twice the target at least, as in CAKE.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any

from spillgate import _engine
from spillgate.errors import InputError

RTT_S = 0.1
"""The longest usual round trip where nobody says another, in seconds (RFC 8289)."""

ROUND_TRIPS = 1e-6, 100.0
"""What a round trip takes, in seconds; CoDel, whose interval is one, takes no longer ones."""

PACKET = 1500
"""Bytes of a full packet, by which a buffer in packets is made."""

FRAME = 1514
"""Bytes of a full packet with the header of Ethernet, as CoDel counts it."""

CLASSFUL = ("class-based", "htb", "hfsc")
"""Disciplines that are nothing without classes of one's own."""

ALIASES = {"ared": "adaptive-red", "tail-drop": "fifo"}
"""Other names of some mechanisms."""

_TARGET_S = 0.005
_SMALL = 500
"""Bytes of the packets by which RED and adaptive RED count."""


@dataclass(frozen=True)
class Mechanism:
    """What stands in a port.

    Attributes:
        name: As the user wrote it: `codel`, `cake`, a policy's name, `as it is`.
        policy: What `policies` of a scenario would hold.
        stated: Each parameter on this line, with its source: `target 5 ms (RFC 8289)`.
    """

    name: str
    policy: Mapping[str, Any]
    stated: tuple[str, ...]


@dataclass(frozen=True)
class _Line:
    """What a mechanism is made for.

    Attributes:
        rate: In b/s; none if all defaults are those of the kind.
        rtt: The round trip in seconds, none if nobody said it.
    """

    rate: float | None
    rtt: float | None

    def sends(self, seconds: float, packet: int) -> float:
        """Packets that it sends in a time."""
        return (self.rate or 0.0) * seconds / (8 * packet)

    @property
    def longest(self) -> float:
        """The round trip, or the usual one."""
        return RTT_S if self.rtt is None else self.rtt

    @property
    def min_th(self) -> int:
        """RED's lower threshold in packets."""
        return max(5, round(self.sends(_TARGET_S, _SMALL) / 2))

    @property
    def buffer(self) -> int:
        """Packets that the one buffer of a FIFO holds."""
        return max(math.ceil(self.sends(self.longest, PACKET)), 6 * self.min_th)


_Set = dict[str, Any]
_Said = list[str]
_Rule = Callable[[_Line], tuple[_Set, _Said]]


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.4g} ms"


def _red(line: _Line) -> tuple[_Set, _Said]:
    low, per_second = line.min_th, line.sends(1.0, _SMALL)
    weight = float(f"{-math.expm1(-1.0 / per_second):.4g}")
    return {"min_th": low, "max_th": 3 * low, "weight": weight}, [
        f"min_th {low} packets: half of what the line sends in {_ms(_TARGET_S)} (adaptive RED)",
        f"max_th {3 * low} packets: three times min_th (Floyd 1997)",
        f"weight {weight:g}: a time constant of 1 s (adaptive RED)",
    ]


def _adaptive_red(line: _Line) -> tuple[_Set, _Said]:
    """It has these thresholds by itself."""
    return {}, _red(line)[1]


def _thresholds(line: _Line) -> tuple[_Set, _Said]:
    """Those of RED alone: the weight is the kind's own."""
    values, said = _red(line)
    return {k: v for k, v in values.items() if k != "weight"}, said[:2]


def _codel(line: _Line) -> tuple[_Set, _Said]:
    one = 8 * FRAME / (line.rate or math.inf)
    target = max(line.longest / 20, 1.5 * one)
    interval = max(line.longest, 2 * target)
    why = "a twentieth of the interval (RFC 8289)"
    if 1.5 * one > line.longest / 20:
        why = f"one and a half times what {FRAME} B take at this rate (Linux CAKE; RFC 8289)"
    return {"target": _ms(target), "interval": _ms(interval)}, [
        f"target {_ms(target)}: {why}",
        f"interval {_ms(interval)}: the longest usual round trip (RFC 8289)",
    ]


def _cake(line: _Line) -> tuple[_Set, _Said]:
    return {"rtt": _ms(line.longest)}, [
        f"rtt {_ms(line.longest)}: the longest usual round trip (Linux)",
        "no bandwidth: it stands at the line itself and need not shape",
    ]


def _coupled(line: _Line) -> tuple[_Set, _Said]:
    """The controller of RFC 9332 by the longest round trip."""
    if line.rtt is None:
        return {}, []
    update = min(max(line.rtt / 3, 0.001), 0.015)
    alpha, beta = 0.1 * update / line.rtt**2, 0.3 / line.rtt
    values = {"update": _ms(update), "alpha": float(f"{alpha:.4g}"), "beta": float(f"{beta:.4g}")}
    why = f"for round trips up to {_ms(line.rtt)} (RFC 9332, A.1)"
    return values, [f"{key} {value}: {why}" for key, value in values.items()]


def _step(line: _Line) -> tuple[_Set, _Said]:
    threshold = _ms(line.longest / 7)
    said = f"threshold {threshold}: a seventh of the round trip (Alizadeh and others 2010)"
    return {"threshold": threshold}, [said]


def _wred(_: _Line) -> tuple[_Set, _Said]:
    said = "defaults ios-xe: thresholds are shares of the limit, not numbers of packets"
    return {"defaults": "ios-xe"}, [said]


def _green_tcp(line: _Line) -> tuple[_Set, _Said]:
    rtt = _ms(line.longest)
    return {"rtt": rtt}, [f"rtt {rtt}: the longest usual round trip"]


def _queue_of(packets: int, source: str) -> _Rule:
    """A queue that is aimed at, in a buffer that may be shorter."""

    def rule(line: _Line) -> tuple[_Set, _Said]:
        target = min(packets, line.buffer // 2)
        why = source if target == packets else "half of the buffer"
        return {"target": target}, [f"target {target} packets ({why})"]

    return rule


def _own(_: _Line) -> tuple[_Set, _Said]:
    """The defaults of the kind, on any line."""
    return {}, []


_AQMS: Mapping[str, _Rule] = {
    "red": _red,
    "wred": _wred,
    "codel": _codel,
    "cobalt": _codel,
    "pie": _own,
    "pi2": _coupled,
    "step": _step,
    "adaptive-red": _adaptive_red,
    "self-configuring-red": _red,
    "load-adaptive-red": _own,
    "dsred": _thresholds,
    "rio": _own,
    "adaptive-rio": _own,
    "green": _own,
    "green-tcp": _green_tcp,
    "blue": _own,
    "choke": _red,
    "pi": _queue_of(50, "ns-2"),
    "rem": _queue_of(20, "ns-2"),
    "avq": _own,
    "sred": _own,
    "dred": _own,
    "sfb": _own,
}
_DISCIPLINES: Mapping[str, _Rule] = {
    "fifo": _own,
    "wfq": _own,
    "flow-wfq": _own,
    "fan": _own,
    "drr": _own,
    "fair": _own,
    "fq": _own,
    "fq-codel": _codel,
    "fq-pie": _own,
    "sfq": _own,
    "dualpi2": _coupled,
    "cake": _cake,
}
_LIMITED_BY = {"cake": "memory_limit", "wfq": "hold_queue", "flow-wfq": "hold_queue"}
_BUFFERED = ("fifo", "drr", "fair", "wfq")
"""Disciplines whose limit no document sets."""
_MARK = ("cake", "dualpi2")
"""What cannot be told not to mark."""

DISCIPLINES, AQMS = tuple(_DISCIPLINES), tuple(_AQMS)
"""The kinds: disciplines, and AQMs, each of which stands in a FIFO."""

NAMES: tuple[str, ...] = (*DISCIPLINES, *AQMS, *ALIASES)
"""All names: those of kinds in the catalog, and others of the same."""


def kind_of(name: str) -> str | None:
    """The kind that a name means; none if it is none of `NAMES`.

    Example:
        >>> kind_of("fq_codel"), kind_of("ARED"), kind_of("fq")
        ('fq-codel', 'adaptive-red', 'fq')
    """
    plain = name.strip().lower().replace("_", "-")
    plain = ALIASES.get(plain, plain)
    return plain if plain in _AQMS or plain in _DISCIPLINES else None


def check_round_trip(seconds: float, what: str) -> None:
    """Raises `InputError`, which says what it is about, for what no round trip takes."""
    low, high = ROUND_TRIPS
    if not low <= seconds <= high:
        msg = f"error: {what}: it is {low * 1e6:g} µs to {high:g} s"
        raise InputError(msg)


def mechanism(
    name: str,
    *,
    rate_bps: float | None,
    rtt_s: float | None = None,
    ecn: bool | None = True,
    limit: str | int | None = None,
    packet: int = PACKET,
    parameters: Mapping[str, object] | None = None,
    own: Collection[str] = (),
) -> Mechanism:
    """A mechanism with the parameters that it should have on a line.

    Args:
        name: One of `NAMES`, with `_` or `-`; or of `own`.
        rate_bps: The rate of the line in b/s; none for the defaults of the kind whatever the line.
        rtt_s: The longest usual round trip of its traffic in seconds; 100 ms if not given.
        ecn: Whether it marks packets capable of ECN in place of early drops, where it can be told;
            none for the default of its kind.
        limit: What it holds: packets, or a limit as a scenario writes it (`250 ms`); by default
            as the module says. CAKE, which counts bytes, has as many for packets.
        packet: Bytes of a full packet, for limits in bytes.
        parameters: Parameters of the kind that replace what the line gives.
        own: Names of AQMs of one's own, each of which stands in a FIFO.

    Raises:
        InputError: If there is no such mechanism, or a number makes no sense.

    Example:
        >>> found = mechanism("red", rate_bps=100e6)
        >>> found.policy["fifo"]["limit"], found.policy["fifo"]["aqm"]["red"]["min_th"]
        ('834 packets', 62)
        >>> mechanism("codel", rate_bps=1e6).policy["fifo"]["aqm"]["codel"]["target"]
        '18.17 ms'
    """
    if rate_bps is not None and not 0 < rate_bps < math.inf:
        msg = f"error: a line of {rate_bps} b/s: its rate is above 0"
        raise InputError(msg)
    if rtt_s is not None:
        check_round_trip(rtt_s, f"a round trip of {rtt_s} s")
    # One of one's own stands where any AQM does, and nothing is known of its parameters.
    kind = name if name in own else kind_of(name)
    if kind is None:
        raise unknown(name, own)
    line, asked = _Line(rate_bps, rtt_s), dict(parameters or {})
    rule = _own if kind in own else _DISCIPLINES.get(kind) or _AQMS[kind]
    values, said = ({}, []) if rate_bps is None else rule(line)
    keys = {} if kind in own else keys_of(kind)
    if ecn is not None and "ecn" in keys:
        values["ecn"] = ecn
        said.append("ecn true: marks" if ecn else "ecn false: drops only")
    elif kind in _MARK:
        said.append("marks packets capable of ECN, whatever is asked")
    values |= asked
    said = [s for s in said if s.split()[0] not in asked]
    said += [f"{key} {value} (as asked)" for key, value in asked.items()]
    written = {
        k: v for k, v in values.items() if k in asked or keys.get(k, {}).get("default") != v
    }
    whole = kind in _DISCIPLINES and kind not in own
    room, why = _room(kind if whole else "fifo", line, limit, packet)
    told = {s.split()[0] for s in (*why, *said)}
    stated = (*why, *said, *(_defaults(keys, told)))
    if whole:
        return Mechanism(name, {kind: {**room, **written}}, stated)
    return Mechanism(name, {"fifo": {**room, "aqm": {kind: written}}}, stated)


def _room(
    kind: str, line: _Line, limit: str | int | None, packet: int
) -> tuple[_Set, tuple[str, ...]]:
    """What limits a discipline, and why."""
    key = _LIMITED_BY.get(kind, "limit")
    why = "as asked"
    if limit is None:
        if line.rate is None or kind not in _BUFFERED:
            return {}, ()
        limit = line.buffer
        why = f"what the line sends in the longest usual round trip, {_ms(line.longest)}"
        why += " (RFC 7928, 3.2)"
        if line.buffer > math.ceil(line.sends(line.longest, PACKET)):
            why = "twice RED's upper threshold"
    if isinstance(limit, str) and (
        found := re.fullmatch(r"\s*(\d+)\s*(packets?|pkts|p)\s*", limit)
    ):
        limit = int(found[1])
    if isinstance(limit, int):
        said = f"{key} {limit} packets: {why}"
        if kind == "cake":
            return {key: f"{limit * packet} B"}, (f"{said}, of {packet} B",)
        return {key: limit if kind == "flow-wfq" else f"{limit} packets"}, (said,)
    if kind in ("cake", "flow-wfq"):
        unit = "packets" if kind == "flow-wfq" else "packets or bytes"
        if kind == "flow-wfq" or not limit.rstrip().endswith("B"):
            msg = f"error: the limit of {kind} is in {unit}, not {limit}"
            raise InputError(msg)
    return {key: limit}, (f"{key} {limit}: {why}",)


@cache
def keys_of(kind: str) -> Mapping[str, Mapping[str, Any]]:
    """The keys of a kind in the schema."""
    known = _engine.schema("scenario")["$defs"]
    for of in ("AqmSpec", "DisciplineSpec"):
        for entry in known[of]["oneOf"]:
            if kind in entry.get("properties", {}):
                found: Mapping[str, Mapping[str, Any]] = known[
                    entry["properties"][kind]["$ref"].rpartition("/")[2]
                ]["properties"]
                return found
    return {}


_DEFAULT = re.compile(r"\bDefault:? (.*?\d.*?)\.(?=\s|$)")


def _defaults(keys: Mapping[str, Mapping[str, Any]], told: Collection[str]) -> Iterator[str]:
    """The other numbers, as the schema states them, with their sources."""
    for key, of in keys.items():
        text = " ".join(str(of.get("description", "")).split())
        if key not in (*told, "as", "idle") and (default := _DEFAULT.search(text)):
            yield f"{key} {default[1].replace('`', '')}"


def unknown(name: str, others: Collection[str] = ()) -> InputError:
    """That there is no such mechanism, with what is meant, and all that there are.

    Args:
        name: What was asked for.
        others: Names that are valid beside `NAMES`.
    """
    near = _engine.nearest(name.lower().replace("_", "-"), [*NAMES, *others])
    hint = f"did you mean {near}? " if near else ""
    if name in CLASSFUL:
        hint = f"{name} is nothing without classes: write it as a policy of the scenario; "
    known = ", ".join([*others, *NAMES])
    return InputError(f"error: no mechanism is called {name!r}\n    hint: {hint}there are {known}")


def with_mechanism(document: Mapping[str, Any], port: str, mechanism: Mechanism) -> dict[str, Any]:
    """A scenario with the queueing of one port replaced.

    Args:
        document: The scenario as a mapping, as its file would be read.
        port: The link, or its ends: `wan`, `r1->r2`.
        mechanism: What shall stand there.

    Returns:
        A copy, in which a policy of `policies` has the mechanism.

    Raises:
        InputError: If there is no such port, or it cannot have a policy.

    Example:
        >>> document = {"topology": {"links": {"wan": {"from": "a", "to": "b"}}}}
        >>> made = with_mechanism(document, "a->b", mechanism("cake", rate_bps=10e6))
        >>> made["policies"], made["topology"]["links"]["wan"]["policy"]
        ({'cake': {'cake': {}}}, 'cake')
    """
    found = deepcopy(dict(document))
    links = found.get("topology", {}).get("links", {})
    ends = [(name, of.get("from", ""), of.get("to", "")) for name, of in links.items()]
    ends += [(f"{n}.reverse", b, a) for n, a, b in ends if links[n].get("duplex")]
    link = port_of(port, ends)
    policies = found.setdefault("policies", {})
    name = free_name(mechanism.name, policies)
    policies[name] = deepcopy(dict(mechanism.policy))
    links[link]["policy"] = name
    return found


def free_name(name: str, taken: Collection[str]) -> str:
    """A name for a policy that no other has, and that is one part of a path.

    Example:
        >>> free_name("fq-codel", ["fq-codel", "fq-codel-2"])
        'fq-codel-3'
    """
    plain = re.sub(r"[^\w-]+", "-", name).strip("-") or "mechanism"
    numbers = (plain if n == 1 else f"{plain}-{n}" for n in range(1, len(taken) + 2))
    return next(n for n in numbers if n not in taken)


def port_of(port: str, ends: Collection[tuple[str, str, str]]) -> str:
    """The link that a port feeds, by its name or by the nodes at its ends.

    Args:
        port: `wan` or `r1->r2`.
        ends: Each link: its name, the node it comes from, the node it leads to.

    Raises:
        InputError: If no link or more than one is meant, or it is the reverse of a duplex link,
            which has no policy.

    Example:
        >>> port_of("r1 -> r2", [("wan", "r1", "r2")])
        'wan'
    """
    sender, arrow, receiver = (x.strip() for x in port.partition("->"))
    meant = [
        name
        for name, a, b in ends
        if (name == port if not arrow else (a, b) == (sender, receiver))
    ]
    every = ", ".join(f"{name} ({a}->{b})" for name, a, b in ends if not name.endswith(".reverse"))
    if not meant:
        near = _engine.nearest(port, [name for name, _, _ in ends])
        hint = f"did you mean {near}? " if near else ""
        msg = f"error: no port is called {port!r}\n    hint: {hint}there are {every}"
        raise InputError(msg)
    if len(meant) > 1:
        msg = f"error: {port} is several ports: {', '.join(meant)}\n    hint: name one of them"
        raise InputError(msg)
    if meant[0].endswith(".reverse"):
        msg = (
            f"error: {meant[0]} has no policy: it is the other direction of a duplex link\n"
            "    hint: write it as a link of its own"
        )
        raise InputError(msg)
    return meant[0]
