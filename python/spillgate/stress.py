"""Cross traffic that hurts most: a search over what sources may send within token buckets.

Nothing is known of the queue but what runs say: candidates are simulated, all with the same seeds,
and the worst is confirmed with fresh ones beside ordinary traffic of the same mean rate. What
network calculus knows is another question: see `spillgate.worst_case`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from spillgate import statistics
from spillgate.alone import beside
from spillgate.cross import SCENARIO, Base, Ground, Kind, base_of, ground_of, values_of
from spillgate.displayed import Displayed
from spillgate.envelope import SECOND, Envelope, Pattern
from spillgate.errors import InputError
from spillgate.labels import label_of, words
from spillgate.maximum import LEAST, Method, Place, highest
from spillgate.metrics import format_ceiling, format_value
from spillgate.objective import Objective
from spillgate.result import Results
from spillgate.run import Simulation
from spillgate.scenario import Overrides, override_texts
from spillgate.source import ScenarioLike, Source
from spillgate.worst_case import replayed

PACKETS = "worst.pcapng"
"""The capture that the scenario of the worst traffic replays."""

TRIALS, RUNS, CONFIRMED = 160, 2, 10
"""Candidates, runs of each, and runs of the worst with fresh seeds, if nothing else is said."""

_SAME = 0.01
"""How much the worst may differ from ordinary traffic, as a share, to be called about the same."""

_BATCH = 16
"""The most candidates that are loaded at a time."""


@dataclass(frozen=True)
class Measured:
    """What the metric is with some cross traffic.

    Attributes:
        traffic: Which: `none`, `cbr`, `poisson` or `worst`.
        values: The metric in each run, in its unit.
        mean: Its mean.
        half: Half the width of its 95 % interval; infinite for a single run.
    """

    traffic: str
    values: tuple[float, ...]
    mean: float
    half: float


@dataclass(frozen=True)
class Stressed(Displayed):
    """The worst cross traffic that was found, within the envelope.

    Attributes:
        objective: What was to become as bad as possible.
        port: The link at whose port it is.
        kinds: The kinds of sources.
        envelope: What each source keeps.
        stated: What of the envelope was given: `rate`, `burst`; the rest comes from the line.
        sources: Sources of each kind.
        mean_rate: What they send in the mean, together, in b/s.
        patterns: How the sources of each kind send.
        method: How it was searched.
        looked: How many candidates were run.
        searched: The mean of the metric in the runs of the search: the best of many, and so
            better than it is.
        beside: The metric with fresh seeds: with no cross traffic, with as much at a constant
            rate and at random (Poisson), and with the worst.
        bound: What the metric cannot exceed with any traffic within the envelope; none if nothing
            is known, or it is of the wrong side.
        seed: The master seed of the fresh runs.
        scenario: The scenario that replays the worst, in YAML.
        packets: The capture that it replays.
    """

    objective: Objective
    port: str
    kinds: tuple[Kind, ...]
    envelope: Envelope
    stated: tuple[str, ...]
    sources: int
    mean_rate: float
    patterns: tuple[Pattern, ...]
    method: Method
    looked: int
    searched: float
    beside: tuple[Measured, ...]
    bound: float | None
    seed: int
    scenario: str = field(repr=False)
    packets: bytes = field(repr=False)
    _source: Source = field(repr=False)
    _outside: tuple[str, ...] = field(default=(), repr=False)

    def of(self, traffic: str) -> Measured:
        """The metric with one of the kinds of cross traffic of `beside`."""
        return next(b for b in self.beside if b.traffic == traffic)

    @property
    def value(self) -> float:
        """The metric with the worst traffic, in fresh runs."""
        return self.of("worst").mean

    @property
    def share(self) -> float | None:
        """The share of the bound that its largest run reaches, 0 to 1; none without a bound."""
        return None if not self.bound else max(self.of("worst").values) / self.bound

    @property
    def sentence(self) -> str:
        """The answer in some sentences."""
        o = self.objective
        said = partial(format_value, unit=o.unit)
        none, random, worst = (self.of(t).mean for t in ("none", "poisson", "worst"))
        times = ""
        if random > 0 and worst > 0:
            ratio = worst / random
            same = abs(ratio - 1.0) < _SAME
            times = ", about the same" if same else f": the worst is {ratio:.3g} times that"
        answer = (
            f"The worst cross traffic found at {self.port} brings the {label_of(o.metric)} of "
            f"{o.cls} to {said(worst)}. With none it is {said(none)}, with as much at random "
            f"{said(random)}{times}."
        )
        if self.bound is None:
            return answer
        share = f", of which {100 * self.share:.3g} % is reached" if self.share else ""
        return (
            f"{answer} No traffic within the envelope can bring it above "
            f"{format_ceiling(self.bound, o.unit)}{share}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything but scenario and packets as plain data."""
        record = {k: v for k, v in asdict(self).items() if not k.startswith("_")}
        del record["scenario"], record["packets"], record["objective"]
        o = self.objective
        about = {"class": o.cls, "metric": o.metric, "unit": o.unit, "largest": o.larger}
        more = {"value": self.value, "share": self.share, "sentence": self.sentence}
        return about | record | more

    def save(self, directory: str | Path) -> Path:
        """Makes a run directory: the scenario with its capture, its results, and a report.

        `spillgate run DIRECTORY/worst.yaml` gives `value` again.

        Args:
            directory: The directory to make.

        Returns:
            The scenario's file.

        Raises:
            InputError: If the scenario refers to files outside its folder.
            OutputError: If it exists or cannot be written.
        """
        if self._outside:
            msg = (
                f"error: {self._outside[0]} is outside of the scenario's folder, so no directory "
                "holds both\n    hint: copy it beside the scenario"
            )
            raise InputError(msg)
        return replayed(self._source, directory, self.port) / SCENARIO


def stress(
    scenario: ScenarioLike | Source,
    port: str,
    against: str,
    *,
    rate: str | None = None,
    burst: str | None = None,
    packet: str | None = None,
    sources: int = 1,
    like: Sequence[str] = (),
    dscp: Sequence[str] = (),
    origins: Sequence[str] = (),
    to: str | None = None,
    variant: str | None = None,
    trials: int = TRIALS,
    runs: int = RUNS,
    confirm: int = CONFIRMED,
    method: Method = "evolve",
    seed: int | None = None,
    jobs: int | None = None,
    set: Overrides | None = None,  # noqa: A002
    confine: bool = False,
    tried: Callable[[int, float], None] | None = None,
) -> Stressed:
    """Searches for the cross traffic within an envelope that hurts a class most.

    Each source keeps a token bucket exactly: its bursts, their phases and its rate are searched
    for. The same candidates are run with the same seeds; the worst is run again with fresh ones.

    Args:
        scenario: As for `run`.
        port: The link at whose port the cross traffic meets the class.
        against: What is to become as bad as possible: `CLASS.METRIC`, such as `voice.owd_p99`.
        rate: Rate of each source's token bucket, `2 Mb/s`; default a tenth of the line's by all
            sources together.
        burst: Its depth, `64 kB`; default what the line sends in 10 ms, by all together.
        packet: Length of the IP packets; default `1500 B`.
        sources: Sources of each kind.
        like: Classes of service whose code point sources have, a kind of sources each.
        dscp: Code points, a kind of sources each; default best effort, without any kind.
        origins: Nodes that they send from, in turn; default the node at the port.
        to: The node that they send to; default the other end of the link.
        variant: Of a scenario with variants: which.
        trials: Candidates that are run, at least 16.
        runs: Runs of each.
        confirm: Runs with fresh seeds.
        method: `evolve`, or `random`: independent candidates, to see what a search is worth.
        seed: As for `run`; the search depends on it, too.
        jobs: As for `run`.
        set: As for `run`.
        confine: As for `run`.
        tried: Called after each step: candidates so far, and the worst value.

    Raises:
        InputError: If there is no such port, class, metric or node, the envelope holds no packet
            or fills the line, or the scenario cannot be used with other traffic.
        MissingDependencyError: If SciPy is not installed.

    Example:
        >>> import spillgate
        >>> found = spillgate.stress(
        ...     "examples/first/scenario.yaml",
        ...     "uplink",
        ...     "voice.owd_max",
        ...     burst="30 kB",
        ...     variant="llq",
        ...     trials=16,
        ...     set={"measurement.duration": "2 s"},
        ... )
        >>> found.value <= found.bound
        True
    """
    for name, number, least in (("--trials", trials, LEAST), ("--runs", runs, 1)):
        if number < least:
            msg = f"error: {name} {number}: at least {least}"
            raise InputError(msg)
    if confirm < 2:
        msg = f"error: --confirm {confirm}: at least 2 runs, since one has no interval"
        raise InputError(msg)
    objective = _objective(against)
    simulation = partial(Simulation, seed=seed, jobs=jobs, confine=confine)
    base = base_of(
        Source.of(scenario), objective, simulation, override_texts(set), variant, confine=confine
    )
    ground = ground_of(base, port, rate, burst, packet, sources, like, dscp, origins, to)
    arena = _Arena(base, ground, objective, simulation)
    worst: list[float] = []

    def look(places: list[Place]) -> list[float]:
        found: list[float] = []
        for i in range(0, len(places), _BATCH):
            found += arena.search(places[i : i + _BATCH], runs)
            worst.append(max([*found, *worst[-1:]]))
            if tried is not None:
                tried(arena.looked, arena.sign * worst[-1])
        return found

    directions = len(ground.kinds) * Pattern.directions(sources)
    best = highest(look, directions, looks=trials, seed=base.described.seed % 2**32, method=method)
    if best.value == -float("inf"):
        raise objective.not_measured(base.source.path)
    return arena.confirm(best.place, arena.sign * best.value, best.looked, method, confirm)


def _objective(text: str) -> Objective:
    # A class may have dots in its name, a metric has none.
    given = text if ":" in text else ":".join(text.rsplit(".", 1))
    if ":" not in given:
        msg = f"error: --against {text}: write CLASS.METRIC, such as voice.owd_p99"
        raise InputError(msg)
    o = Objective.read(given, larger=True)
    better = words("metrics")[o.metric]["better"]
    if better is None:
        msg = (
            f"error: {text}: neither more nor less of {o.metric} is better, so nothing hurts it\n"
            "    hint: a metric such as owd_p99, loss_ratio or throughput"
        )
        raise InputError(msg)
    return replace(o, larger=better == "less")


class _Arena:
    """Where candidates are run beside the scenario's own traffic."""

    def __init__(
        self,
        base: Base,
        ground: Ground,
        objective: Objective,
        simulation: Callable[..., Simulation],
    ) -> None:
        self.base, self.ground, self._simulation = base, ground, simulation
        self.objective = objective
        self.sign = 1.0 if objective.larger else -1.0
        self.looked = 0
        d = base.described
        self._end = int((d.warmup + d.duration) * SECOND)
        self._check_path()

    def _check_path(self) -> None:
        """Raises `InputError` if not all cross traffic comes to the port."""
        ground = self.ground
        flows = ground.ordinary("cbr", ground.envelope.rate, 1.0, 1)
        source = beside(self.base.source, SCENARIO, self.base.with_traffic(flows))
        ports = self._simulation(source, runs=1).arriving()["ports"]
        came = sum(
            stream["count"]
            for port in ports
            if port["link"] == ground.port
            for stream in port["streams"]
            if stream["class"] == ground.name
        )
        if came < len(flows):
            msg = (
                f"error: what {' and '.join(ground.origins)} sends to {ground.to} does not all "
                f"pass {ground.port}\n    hint: other nodes as --from and --to"
            )
            raise InputError(msg)

    def search(self, places: Sequence[Place], runs: int) -> list[float]:
        """How bad the metric is with the traffic at each place."""
        files = {
            f"{i}.pcapng": self.ground.trace(place, self._end).capture("a candidate")
            for i, place in enumerate(places)
        }
        traffic = {name: self.ground.replayed(name) for name in files}
        values = self._run(traffic, files, runs=runs)[0]
        self.looked += len(places)
        bad = []
        for name in files:
            known = [v for v in values.get(name, []) if v is not None]
            whole = len(known) == runs
            bad.append(self.sign * sum(known) / runs if whole else -float("inf"))
        return bad

    def _run(
        self,
        traffic: dict[str, list[dict[str, Any]]],
        files: dict[str, bytes],
        *,
        runs: int,
        seed: int | None = None,
    ) -> tuple[dict[str, list[float | None]], Results]:
        """The metric by the names of what is added to the traffic."""
        axis = [
            {"name": name, "set": {"traffic": self.base.with_traffic(items)["traffic"]}}
            for name, items in traffic.items()
        ]
        record = {**self.base.record, "axes": [{"name": "cross traffic", "points": axis}]}
        source = beside(self.base.source, SCENARIO, record, files)
        more = {} if seed is None else {"seed": seed}
        results = self._simulation(source, runs=runs, **more).run(series=[])
        values = values_of(results, self.objective, self.base.source)
        # Points are in the order of the axis.
        points = zip(traffic, results.description.variants, strict=True)
        return {name: values.get(point, []) for name, point in points}, results

    def confirm(
        self, place: Place, searched: float, looked: int, method: Method, runs: int
    ) -> Stressed:
        """The answer, with what fresh seeds say."""
        ground, o, d = self.ground, self.objective, self.base.described
        trace = ground.trace(place, self._end)
        seed = (d.seed + 1) % 2**63
        title = f"The worst cross traffic found at {ground.port} for {o.metric} of {o.cls}"
        packets = trace.capture(title)
        mean = trace.bits * SECOND / self._end
        share = 1 / len(ground.all)
        envelope = ground.envelope
        traffic = {
            "none": [],
            "cbr": ground.ordinary("cbr", int(mean), share, 1),
            "poisson": ground.ordinary("poisson", int(mean), share, 1),
            "worst": ground.replayed(PACKETS),
        }
        values, _ = self._run(traffic, {PACKETS: packets}, runs=runs, seed=seed)
        found_with = []
        for name in traffic:
            known = [v for v in values.get(name, []) if v is not None]
            if len(known) < runs:
                raise o.not_measured(f"{self.base.source.path} with {name} cross traffic")
            found = statistics.mean(known, again=False)
            found_with.append(Measured(name, tuple(known), found.estimate, found.half))
        bound = self._bound()
        reached = max(self.sign * v for v in found_with[-1].values)
        if bound is not None and reached > bound:
            msg = f"{o} reaches {reached}, above its bound of {bound}: please report this"
            raise RuntimeError(msg)
        record = {
            **self.base.with_traffic(ground.replayed(PACKETS)),
            "name": f"{self.base.record['name']}, with the worst cross traffic at {ground.port}",
            "runs": {"count": runs, "seed": seed},
        }
        text = _yaml(record)
        source = beside(self.base.source, SCENARIO, record, {PACKETS: packets})
        source = replace(source, memory={**source.memory, SCENARIO: text.encode()})
        return Stressed(
            objective=o,
            port=ground.port,
            kinds=ground.kinds,
            envelope=envelope,
            stated=ground.stated,
            sources=ground.sources,
            mean_rate=mean,
            patterns=ground.patterns(place, self._end),
            method=method,
            looked=looked,
            searched=searched,
            beside=tuple(found_with),
            bound=bound,
            seed=seed,
            scenario=text,
            packets=packets,
            _source=source,
            _outside=d.outside,
        )

    def _bound(self) -> float | None:
        """What the metric cannot exceed with any traffic within the envelope."""
        if not self.objective.larger:
            return None
        # As many flows of constant rates as there are packets in the bucket may together send
        # what the envelope allows for, and no more.
        envelope = self.ground.envelope
        count = -(-envelope.burst // envelope.packet)
        traffic = {"all": self.ground.ordinary("cbr", envelope.rate, 1.0, count)}
        _, results = self._run(traffic, {}, runs=1)
        o = self.objective
        rows = results.table(scope="class", metric=o.metric, name=o.cls)
        return rows[0].bound if rows else None


def _yaml(record: dict[str, Any]) -> str:
    """A scenario with a line for each value of its lists and mappings: JSON within YAML."""
    lines = [f"# {record['name']}"]
    for key, value in record.items():
        plain = partial(json.dumps, ensure_ascii=False)
        if isinstance(value, list) and value:
            lines += [f"{key}:", *(f"  - {plain(item)}" for item in value)]
        elif isinstance(value, dict) and value:
            lines += [f"{key}:", *(f"  {plain(k)}: {plain(v)}" for k, v in value.items())]
        else:
            lines.append(f"{key}: {plain(value)}")
    return "\n".join(lines) + "\n"
