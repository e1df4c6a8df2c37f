"""Where cross traffic meets a scenario's own, and what it may be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from typing import Any

from spillgate import _engine
from spillgate.alone import alone, beside
from spillgate.envelope import MOST_PACKETS, Envelope, Pattern, Trace, source_name
from spillgate.errors import InputError
from spillgate.maximum import Place
from spillgate.metrics import format_value
from spillgate.objective import Objective
from spillgate.result import Results
from spillgate.run import Simulation
from spillgate.scenario import Description, check
from spillgate.search import quantity
from spillgate.source import Source

SCENARIO = "worst.yaml"
"""What a scenario with cross traffic is called."""

SOURCES = 16
"""The most sources."""

PACKET = 1500
"""Bytes of a packet, if nothing else is said."""

_SHARE, _BURST_S = 10, 0.01
"""Without an envelope: which part of the line, and the seconds it takes to send all bursts."""


@dataclass(frozen=True)
class Kind:
    """Sources whose packets are treated alike.

    Attributes:
        name: The class of service that they are like, or their code point; `best effort`.
        dscp: Their code point; none for the default.
    """

    name: str
    dscp: str | None


@dataclass(frozen=True)
class Base:
    """A scenario without variants, as plain data.

    Attributes:
        source: Where its files are.
        record: What it says.
        described: What was understood of it.
    """

    source: Source
    record: dict[str, Any]
    described: Description

    def with_traffic(self, traffic: Sequence[dict[str, Any]]) -> dict[str, Any]:
        """The same with more traffic."""
        return {**self.record, "traffic": [*self.record["traffic"], *traffic]}


def base_of(
    source: Source,
    objective: Objective,
    simulation: Callable[..., Simulation],
    overrides: list[str],
    variant: str | None,
    *,
    confine: bool,
) -> Base:
    """Reads a scenario, or one of its variants, and checks that the metric is measured.

    Raises:
        InputError: If it has several variants, lacks the metric, or cannot be written anew.
    """
    one = simulation(source, set=overrides, variant=variant, runs=1)
    d = one.description
    if len(d.variants) > 1:
        msg = (
            f"error: {source.path} has {len(d.variants)} variants\n"
            f"    hint: say with --variant which is meant: {', '.join(d.variants)}"
        )
        raise InputError(msg)
    objective.check(d, source.path)
    results = one.run(series=[])
    values_of(results, objective, source)
    # A warm-up that pilot runs found is that of all runs.
    record = alone(source, list(results.overrides), variant, confine=confine)
    base = Base(source, record, replace(d, warmup=one.description.warmup))
    again = simulation(beside(source, SCENARIO, record), runs=1).run(series=[])
    if again.runs[0].digest != results.runs[0].digest:
        msg = (
            f"error: {source.path} depends on what replaces parts of an imported configuration, "
            "which no scenario with other traffic can say\n    hint: change the configuration"
        )
        raise InputError(msg)
    return base


@dataclass(frozen=True)
class Ground:
    """Where cross traffic comes, and what it may be."""

    port: str
    kinds: tuple[Kind, ...]
    envelope: Envelope
    stated: tuple[str, ...]
    sources: int
    origins: tuple[str, ...]
    to: str
    name: str

    @property
    def all(self) -> list[tuple[Kind, str]]:
        """The kind and the node of each source."""
        return [
            (kind, self.origins[i % len(self.origins)])
            for kind in self.kinds
            for i in range(self.sources)
        ]

    def patterns(self, place: Place, end: int) -> tuple[Pattern, ...]:
        """The pattern of each kind, in a run that ends then (ps)."""
        size = Pattern.directions(self.sources)
        starts = range(0, len(place), size)
        return tuple(Pattern.at(place[i : i + size], self.envelope, end) for i in starts)

    def trace(self, place: Place, end: int) -> Trace:
        """All packets at a place of the cube."""
        traces = [Trace.of(p, self.envelope, end) for p in self.patterns(place, end)]
        return Trace(self.envelope, tuple(sent for t in traces for sent in t.sent))

    def replayed(self, file: str) -> list[dict[str, Any]]:
        """The traffic of a capture."""
        items = []
        for i, (kind, origin) in enumerate(self.all):
            item = {
                "name": f"{self.name} {i + 1}",
                "class": self.name,
                "file": file,
                "from": origin,
                "to": self.to,
                "group": "all",
                "only": {"interface": source_name(i)},
            }
            items.append({"capture": item | self._marked(kind)})
        return items

    def ordinary(self, source: str, bits: int, share: float, count: int) -> list[dict[str, Any]]:
        """Flows of a kind of source for each of ours, with a share of `bits` a second."""
        items = []
        for i, (kind, origin) in enumerate(self.all):
            # Rounded up: a bound is of no less.
            rate = f"{-(-int(bits * share) // count)} b/s"
            item = {
                "name": f"{self.name} {i + 1}",
                "class": self.name,
                "count": count,
                "from": origin,
                "to": self.to,
                "source": {source: {"rate": rate, "packet": f"{self.envelope.packet} B"}},
            }
            items.append({"flow": item | self._marked(kind)})
        return items

    @staticmethod
    def _marked(kind: Kind) -> dict[str, str]:
        return {} if kind.dscp is None else {"dscp": kind.dscp}


def ground_of(
    base: Base,
    port: str,
    rate: str | None,
    burst: str | None,
    packet: str | None,
    sources: int,
    like: Sequence[str],
    dscp: Sequence[str],
    origins: Sequence[str],
    to: str | None,
) -> Ground:
    """Where cross traffic comes at a port; the arguments are those of `spillgate.stress`.

    Raises:
        InputError: If there is no such link or class, or the envelope makes no sense.
    """
    d = base.described
    link = next((x for x in d.links if x["name"] == port), None)
    if link is None:
        names = [x["name"] for x in d.links]
        near = _engine.nearest(port, names)
        hint = f"did you mean {near}?" if near else f"there are {', '.join(names[:12])}"
        msg = f"error: --port: there is no link {port!r}; {hint}"
        raise InputError(msg)
    kinds = (*(_like(base, cls) for cls in like), *(_marked(x) for x in dscp))
    kinds = kinds or (Kind("best effort", None),)
    total = sources * len(kinds)
    if sources < 1 or total > SOURCES:
        msg = f"error: {total} sources: 1 to {SOURCES} can be searched over"
        raise InputError(msg)
    line = int(link["rate"])
    length = PACKET if packet is None else int(_size("packet", packet, "B"))
    if not 28 <= length <= 65535:
        msg = f"error: --packet {packet}: an IP packet of UDP has 28 to 65535 B"
        raise InputError(msg)
    rate_bps = line // _SHARE // total if rate is None else int(_size("rate", rate, "b/s"))
    depth = max(length, int(line * _BURST_S / 8 / total))
    if burst is not None:
        depth = int(_size("burst", burst, "B"))
    if rate_bps < 1:
        msg = f"error: --rate {rate}: a token bucket is filled at 1 b/s or more"
        raise InputError(msg)
    if depth < length:
        msg = f"error: --burst {burst or depth}: no packet of {length} B can ever be sent"
        raise InputError(msg)
    if rate_bps * total >= line:
        msg = (
            f"error: {total} x {format_value(rate_bps, 'b/s')} fill the "
            f"{format_value(line, 'b/s')} of {port} in the mean, so its queue grows without end\n"
            "    hint: a smaller --rate; --burst is what may exceed the line"
        )
        raise InputError(msg)
    most = total * (depth + rate_bps / 8 * (d.warmup + d.duration)) / length
    if most > MOST_PACKETS:
        msg = (
            f"error: the envelope allows for {most:.3g} packets in a run, and a trace may have "
            f"{MOST_PACKETS}\n    hint: a shorter measurement.duration"
        )
        raise InputError(msg)
    name = next(
        n for n in chain(["cross"], (f"cross-{i}" for i in count(2))) if n not in d.classes
    )
    given = tuple(n for n, v in (("rate", rate), ("burst", burst)) if v is not None)
    envelope = Envelope(rate_bps, depth, length)
    nodes = tuple(origins) or (link["from"],)
    ends = sorted({x[end] for x in d.links for end in ("from", "to")})
    for option, node in (*(("from", n) for n in nodes), ("to", to or link["to"])):
        if node not in ends:
            msg = f"error: --{option}: no link has the node {node!r}; there are {', '.join(ends)}"
            raise InputError(msg)
    return Ground(port, kinds, envelope, given, sources, nodes, to or link["to"], name)


def _like(base: Base, cls: str) -> Kind:
    """Sources with the code point of the flows of a class."""
    if cls not in base.described.classes:
        there = ", ".join(base.described.classes)
        msg = f"error: --class: there is no class {cls!r}; there are {there}"
        raise InputError(msg)
    specs = [spec for item in base.record["traffic"] for spec in item.values()]
    found = {
        str(spec.get("dscp", "default"))
        for spec in specs
        if (spec.get("class") or spec.get("name")) == cls
    }
    if len(found) != 1:
        what = f"have {', '.join(sorted(found))}" if found else "are not written one by one"
        msg = (
            f"error: --class {cls}: its flows {what}\n"
            "    hint: name the code point of the cross traffic with --dscp"
        )
        raise InputError(msg)
    return Kind(cls, found.pop())


def _marked(code_point: str) -> Kind:
    """Sources with a code point; raises `InputError` for what is none."""
    node, link = ["a", "b"], {"from": "a", "to": "b", "rate": "1 Mb/s"}
    source = {"cbr": {"rate": "1 kb/s", "packet": "100 B"}}
    flow = {"name": "x", "from": "a", "to": "b", "dscp": code_point, "source": source}
    # The core alone knows how they are written.
    smallest = {
        "schema_version": 1,
        "topology": {"nodes": node, "links": {"x": link}},
        "traffic": [{"flow": flow}],
        "measurement": {"duration": "1 s"},
    }
    try:
        check(smallest)
    except InputError as error:
        [wrong, *_] = error.diagnostics
        msg = f"error: --dscp {code_point}: {wrong.message}\n    hint: {wrong.hint}"
        raise InputError(msg) from None
    return Kind(code_point, code_point)


def _size(option: str, text: str, unit: str) -> float:
    number, found, _ = quantity(option, text)
    if found != unit:
        msg = f"error: --{option} {text}: write it in {unit}"
        raise InputError(msg)
    return float(number)


def values_of(results: Results, o: Objective, source: Source) -> dict[str, list[float | None]]:
    """The metric in each run, by the name of the point."""
    samples = results.samples(scope="class", metric=o.metric, name=o.cls)
    found = {s.variant: list(s.values) for s in samples}
    if not found:
        raise o.not_measured(source.path)
    return found
