"""What a scenario says, before anything runs."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from spillgate import _engine
from spillgate.displayed import Displayed
from spillgate.errors import InputError
from spillgate.own import AqmLike, SchedulerLike
from spillgate.points import FULL, Axis, Point, axes_of, counted, points_of
from spillgate.source import FilesLike, ScenarioLike, Source

Overrides = Mapping[str, object] | Sequence[str]
"""Values by path (`{"topology.links.wan.rate": "50 Mb/s"}`) or as `path=value` texts."""


@dataclass(frozen=True)
class Unmodelled:
    """A configuration line that has no effect on the simulation.

    Attributes:
        file: The configuration file.
        line: Line number, from 1.
        text: The line.
        reason: Why it has no effect.
        understood: Whether it was understood; else it may be misspelt.
    """

    file: str
    line: int
    text: str
    reason: str
    understood: bool = True


@dataclass(frozen=True, kw_only=True)
class Description(Displayed):
    """What was understood of a scenario.

    Attributes:
        name: Title of the scenario.
        hash: Fingerprint of the scenario with all its files, 32 hexadecimal digits.
        files: Files that the scenario refers to, as written there.
        outside: Those of them that lie outside its folder, wherever links and `..` lead.
        seed: Master seed.
        runs: Independent runs of each variant, or the most of them.
        variants: Names of the points: of the variants, where there are no axes.
        axes: What is varied beside the variants.
        points: The points in the order of `variants`.
        replication: When a point has enough runs: `first` (runs before the first look), `level`
            (confidence), and `until`: records of class, metric and within (half the width of its
            interval, relative to its mean); none if each point has the same number.
        design: Which combinations of the values of axes they are: `full` for all of them, or
            `paired`, `random`, `latin-hypercube`, `sobol`.
        classes: Classes of service.
        links: One record a link: name, from, to, rate (b/s), delay (s), policy, and where they are
            irregular process (of the rate) and channel (loss and reordering) in words; those of
            the first variant.
        policies: Policy of each link by position, for each variant.
        arriving: Policy at the receiving end of each link by position, or none, for each variant;
            empty if no link has one.
        rings: Transmit ring of each link's port by position, for each variant: packets, delay
            (s, of a full one), longest (bytes of the packets that this is for) and from (words),
            or none; empty if no link has one.
        outlines: The same as `policies` as trees, none for a link without a policy: name, kind,
            policy, queue, level, guaranteed (b/s), shape and police (rate, burst, words),
            limit_packets, limit_bytes, flow_packets, aqm, thresholds of the DSCPs that flows send,
            classes; of FAN also admission; and sentences: condition, promise, limit, flows.
        flows: Number of flows, workloads of sessions included.
        connections: How many of them are TCP connections.
        patterns: One record for flows of the first variant between groups or with a pattern: name,
            from, to, flows (how many), pattern (who sends to whom, in words).
        sessions: One record a workload of sessions: name, class, from, to, arrivals, session,
            active.
        failures: One record for links that fail together: links, at (s), repair (s or none),
            spread (s): in each run both come later by a time drawn between 0 and this.
        reroute: Seconds from a failure or repair until routes follow.
        warnings: What to know before believing the result.
        unmodelled: Configuration lines without effect.
        memory_bytes: Estimate of the memory that the runs need, beside some 40 MB for the
            program; 0 in loaded results.
        jobs: Threads that the runs share; 0 in loaded results.
        warmup: Seconds that are simulated but not counted.
        duration: Seconds that are measured.
        interval: Period of the time series in seconds.
        sla: One record a requirement: class, metric, max, min in base units; customer, site and
            basis (the published objective) or none; requirement as text.
        correction: What is done about the number of requirements: `none`, `bonferroni`, `holm`.
        level: Confidence level of the verdicts, in 0..1.
        looks: How often one may look at the verdicts: `any` or `once`.
        against: The variant that the others are compared with, at the same coordinates, or
            `all`; of a scenario without variants the first point.
        auto_warmup: A pilot run is to find the warm-up, which is 0 until then.
        nodes: One record a node of the first variant that holds packets: name, kind (the key under
            which the scenario writes it), and facts, what it was given: key, value and base unit.
        quantile_error: Largest relative error of the percentiles, which come from histograms.
    """

    name: str
    hash: str
    files: tuple[str, ...]
    seed: int
    runs: int
    variants: tuple[str, ...]
    classes: tuple[str, ...]
    links: tuple[dict[str, Any], ...]
    policies: tuple[tuple[str, ...], ...]
    flows: int
    connections: int = 0
    sessions: tuple[dict[str, Any], ...] = ()
    failures: tuple[dict[str, Any], ...] = ()
    reroute: float = 0.0
    warnings: tuple[str, ...]
    unmodelled: tuple[Unmodelled, ...]
    # Of the machine, not of the scenario.
    memory_bytes: int = field(compare=False)
    jobs: int = field(compare=False)
    warmup: float
    duration: float
    interval: float
    sla: tuple[dict[str, Any], ...]
    outlines: tuple[tuple[dict[str, Any] | None, ...], ...] = ()
    quantile_error: float = 0.0
    correction: str = "none"
    level: float = 0.95
    looks: str = "any"
    against: str = ""
    arriving: tuple[tuple[str | None, ...], ...] = ()
    rings: tuple[tuple[dict[str, Any] | None, ...], ...] = ()
    auto_warmup: bool = False
    nodes: tuple[dict[str, Any], ...] = ()
    axes: tuple[Axis, ...] = ()
    points: tuple[Point, ...] = ()
    design: str = FULL
    replication: dict[str, Any] | None = None
    patterns: tuple[dict[str, Any], ...] = ()
    outside: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Its attributes as plain data, which is shared with it: not to be changed."""
        plain = {f.name: getattr(self, f.name) for f in fields(self)}
        # Of a large network links and outlines are many, and plain already.
        for name in ("unmodelled", "axes", "points"):
            plain[name] = tuple(asdict(part) for part in plain[name])
        return plain

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Description:
        """Builds it from the record that the core writes."""
        record = {**record, **record["measurement"]}
        if "settings" in record:
            record |= _by_point(record["settings"], record["set"])
        record["failures"] = [{"spread": 0.0, **f} for f in record.get("failures", ())]
        record["unmodelled"] = [Unmodelled(**u) for u in record["unmodelled"]]
        record["axes"] = axes_of(record.get("axes", ()))
        record["points"] = points_of(record["variants"], record.get("points", ()))
        known = {f.name for f in fields(cls)}
        return cls(**{k: _frozen(v) for k, v in record.items() if k in known})

    def extent(self) -> str:
        """How many points there are, in words.

        Returns:
            `12 points (2 variants × 6 load)`, `64 points (2 variants × sobol over load, delay)`.
        """
        if not self.axes:
            return counted(len(self.variants), "variant")
        variants = len({p.variant for p in self.points})
        sizes = [counted(variants, "variant")] if variants > 1 else []
        if self.design == FULL:
            sizes += [f"{len(a.labels)} {a.name}" for a in self.axes]
        else:
            sizes.append(f"{self.design} over {', '.join(a.name for a in self.axes)}")
        return f"{counted(len(self.points), 'point')} ({' × '.join(sizes)})"

    @property
    def compares_pairs(self) -> bool:
        """Whether every two variants are compared, not each with the one in `against`."""
        # A variant may have that name, too.
        names = {*self.variants, *(p.variant for p in self.points)}
        return self.against == "all" and "all" not in names

    def repeated(self) -> str:
        """How many runs a point has, in words: `10 runs`, `5 to 60 runs`."""
        if self.replication is None:
            return counted(self.runs, "run")
        first = min(self.replication["first"], self.runs)
        return f"{first} to {counted(self.runs, 'run')}"

    def outages(self) -> list[tuple[float, float, str]]:
        """When links may be down in a run: from, to (s), and which in words."""
        end = self.warmup + self.duration
        found = []
        for failure in self.failures:
            until = end if failure["repair"] is None else failure["repair"] + failure["spread"]
            what = f"down: {', '.join(failure['links'])}"
            if failure["spread"]:
                what += f", by up to {failure['spread']:g} s later"
            if failure["at"] < min(until, end):
                found.append((failure["at"], min(until, end), what))
        return found


def _frozen(value: Any) -> Any:  # noqa: ANN401 - what JSON can hold
    """Lists, and lists in lists, as tuples."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _by_point(settings: Sequence[Mapping[str, Any]], which: Sequence[int]) -> dict[str, Any]:
    # The core says each setting of the links once; points that are alike share it.
    keys = ("policies", "arriving", "outlines", "rings")
    shared = {k: [tuple(s.get(k, ())) for s in settings] for k in keys}
    by_point = {k: tuple(values[i] for i in which) for k, values in shared.items()}
    if not any(policy is not None for s in shared["arriving"] for policy in s):
        by_point["arriving"] = ()
    if not any(shared["rings"]):
        by_point["rings"] = ()
    return by_point


def irregularity(link: Mapping[str, Any]) -> str:
    """What is not as usual on a link of `Description.links`: its rate, loss, reordering.

    Returns:
        A few words; none if the rate is constant and all packets arrive in order.
    """
    return "; ".join(str(link[k]) for k in ("process", "channel") if link.get(k))


def override_texts(
    overrides: Overrides | None, correction: str | None = None, against: str | None = None
) -> list[str]:
    """Overrides as the core takes them: `path=value`, the value being YAML.

    Example:
        >>> override_texts({"runs.count": 3, "measurement.duration": "2 s"})
        ['runs.count=3', 'measurement.duration=2 s']
    """
    more = [] if correction is None else [f"verdicts.correction={correction}"]
    if against is not None:
        # Whatever its name looks like, it is a text.
        more.append(f"verdicts.against={json.dumps(against)}")
    if overrides is None:
        return more
    if isinstance(overrides, Mapping):
        return [f"{path}={_yaml(value)}" for path, value in overrides.items()] + more
    if isinstance(overrides, str):
        msg = "set takes a mapping or a list of path=value texts, not one text"
        raise TypeError(msg)
    return [*overrides, *more]


def _yaml(value: object) -> str:
    # JSON is YAML; plain text is left as it would stand in the file.
    return value if isinstance(value, str) else json.dumps(value)


Engine: TypeAlias = Literal["plain", "express"]
"""How runs get through their events; the results are the same."""


def open_job(
    source: Source,
    *,
    seed: int | None = None,
    runs: int | None = None,
    jobs: int | None = None,
    set: Overrides | None = None,  # noqa: A002 - the option's name on the command line
    sla: Sequence[str | Path] = (),
    correction: str | None = None,
    ignore_memory: bool = False,
    strict: bool = False,
    engine: Engine = "express",
    confine: bool = False,
    points: list[int] | None = None,
    edges: bool = False,
    apart: bool = False,
    variant: str | None = None,
) -> _engine.Job:
    """Loads and validates a scenario, or some of its points; raises `InputError`."""
    for name, value, least, most in (
        ("seed", seed, 0, 2**64 - 1),
        ("runs", runs, 1, 100_000),
        ("jobs", jobs, 0, 4096),
    ):
        if value is not None and not least <= value <= most:
            msg = f"error: {name} must be {least} to {most}, not {value}"
            raise InputError(msg)
    if engine not in get_args(Engine):
        msg = f"error: engine must be {' or '.join(get_args(Engine))}, not {engine!r}"
        raise InputError(msg)
    overrides = override_texts(set, correction)
    required = seen_from(source, sla)
    return _engine.Job(
        str(source.path),
        overrides,
        required,
        seed,
        runs,
        jobs or 0,
        ignore_memory=ignore_memory,
        strict=strict,
        engine=engine,
        confine=confine,
        files=source.overlay(),
        own=source.own.parts(),
        points=points,
        edges=edges,
        apart=apart,
        variant=variant,
    )


def seen_from(source: Source, files: Sequence[str | Path]) -> list[str]:
    """Files as a scenario names them."""
    return [_seen_from(source.path.parent, Path(file)) for file in files]


def _seen_from(directory: Path, file: Path) -> str:
    # A relative path makes the fingerprint the same wherever the files lie.
    try:
        found = Path(os.path.relpath(file, directory)).as_posix()
    except ValueError:  # another drive
        found = str(file.resolve())
    if any("\ud800" <= c <= "\udfff" for c in found):
        # The path is part of the scenario, which is a text.
        msg = f"error: sla: the path {found!r} is not UTF-8"
        raise InputError(msg)
    return found


def check(
    scenario: ScenarioLike,
    *,
    files: FilesLike | None = None,
    aqm: AqmLike | None = None,
    scheduler: SchedulerLike | None = None,
    seed: int | None = None,
    runs: int | None = None,
    set: Overrides | None = None,  # noqa: A002
    sla: Sequence[str | Path] = (),
    correction: str | None = None,
    confine: bool = False,
) -> Description:
    """Validates a scenario and says what was understood; runs nothing.

    Args:
        scenario: Path of the scenario file, its text, or what the text would say as a mapping.
        files: Contents that stand in for files, by name as the scenario writes it.
        aqm: AQMs of one's own that the scenario names, as classes by name; see `spillgate.own`.
        scheduler: Schedulers of one's own, likewise.
        seed: Replaces the scenario's master seed.
        runs: Replaces the scenario's number of runs.
        set: Values to replace, by path.
        sla: Files with the requirements of customers, beside the scenario's.
        correction: What is done about the number of requirements: `none`, `bonferroni`, `holm`.
        confine: Refuses files outside the scenario's folder that the scenario refers to, wherever
            links and `..` lead; those given with `sla` are read.

    Returns:
        What was understood.

    Raises:
        InputError: If the scenario cannot be used; says where and why.

    Example:
        >>> import spillgate
        >>> spillgate.check("examples/first/scenario.yaml").classes
        ('voice', 'data')
    """
    return Description.from_json(
        open_job(
            Source.of(scenario, files, aqm, scheduler),
            seed=seed,
            runs=runs,
            set=set,
            sla=sla,
            correction=correction,
            confine=confine,
        ).describe(),
    )


def understand(
    config: str | Path,
    *,
    platform: str = "ios",
    interface: str | None = None,
    strict: bool = False,
) -> dict[str, Any]:
    """What is understood of a router configuration, without a scenario.

    Args:
        config: Path of the configuration (Cisco IOS, IOS XE, IOS XR).
        platform: Whose meaning its commands have; `catalog()["platforms"]` lists them.
        interface: The interface to show with the classes of its policy, in any spelling that the
            router takes; None for all that have a policy, without them.
        strict: Refuses what is otherwise a warning with what stands in for it: names that are not
            defined, lines that are wrong.

    Returns:
        A record: `file`, `platform`, `interfaces` (each with its policy as a tree, rates in b/s,
        bursts in bytes), `unattached` policies, `unmodelled`,
        `warnings`.

    Raises:
        InputError: If the configuration is wrong or the interface does not exist; says where.

    Example:
        >>> import spillgate
        >>> found = spillgate.understand("examples/ce-node/policies.cfg")
        >>> [policy["name"] for policy in found["unattached"]]
        ['CBWFQ', 'CBWFQ-LLQ', 'CBWFQ-LLQ-WRED', 'FIFO', 'WFQ']
    """
    return _engine.understand(str(config), platform, interface, strict=strict)


def profile(
    capture: str | Path,
    *,
    by: str = "dscp",
    only: dict[str, Any] | None = None,
    top: int = 20,
    config: str | Path | None = None,
    platform: str = "ios",
    interface: str | None = None,
) -> dict[str, Any]:
    """Measures a packet capture, and fits sources to it.

    Args:
        capture: Path of the capture (pcap, pcapng).
        by: What packets are put together: `dscp`, `flow` (five-tuple) or `class`.
        only: Which packets, with the keys of `only` of a capture in a scenario, such as
            `{"src": "10.1.0.0/16"}`. None for all.
        top: How many groups are measured, those with the most bytes first.
        config: Router configuration whose classes are meant, for `class`.
        platform: Whose meaning its commands have.
        interface: The interface whose output policy has the classes.

    Returns:
        A record: `file`, `length` in s, `packets`, `bytes`, `not_ip`, `remarks`, `groups`, each
        with its `shape` (rates in b/s, sizes and bursts in bytes, times in s) and its `fit`, and
        `scenario`, the sources as the text of a scenario.

    Raises:
        InputError: If the capture or the configuration cannot be read; says where.
    """
    if by not in ("dscp", "flow", "class"):
        raise InputError(f"error: by is 'dscp', 'flow' or 'class', not {by!r}")
    if (by == "class") != (config is not None):
        raise InputError("error: classes are those of a configuration: give both or none")
    if top < 1:
        raise InputError(f"error: top is {top}; at least one group is measured")
    return _engine.profile_capture(
        str(capture),
        by,
        only or {},
        top,
        None if config is None else str(config),
        platform,
        interface,
    )


@dataclass(frozen=True)
class Exported(Displayed):
    """Policies as text for another system."""

    text: str
    """All of it; `notes` stand in it as comments, too."""
    notes: tuple[str, ...]
    """What the target cannot say, each with its place and the reason."""


def export(
    file: str | Path,
    *,
    to: str,
    platform: str = "ios",
    interface: str | None = None,
    link: str | None = None,
    variant: str | None = None,
    policy: str | None = None,
    rate: str | None = None,
    device: str | None = None,
    scheduler: str | None = None,
    filters: str | None = None,
    set: Sequence[str] = (),  # noqa: A002 - the name of the command line
    confine: bool = False,
) -> Exported:
    """Policies as a Cisco IOS configuration or as Linux `tc` commands.

    Args:
        file: A router configuration, or a scenario (`.yaml`, `.yml`, `.json`).
        to: `ios` or `tc`.
        platform: Whose meaning IOS commands have; `catalog()["platforms"]` lists them.
        interface: Of a configuration: only this interface. Of a scenario: what the link is
            called on the router.
        link: Of a scenario: only this link.
        variant: Of a scenario with variants: which.
        policy: Of a configuration: this policy, whatever interface has it.
        rate: Of a configuration: the interface's rate, where `bandwidth` does not say it.
        device: With `tc`: the network device; default the interface's or link's name.
        scheduler: With `tc`: what classes become: `htb` (default), `ets` (strict priorities, then
            shares) or `prio` (strict priorities and one class for the rest).
        filters: With `tc`: what conditions become: `flower` (default) or `u32`.
        set: Of a scenario: values to replace, by path.
        confine: Of a scenario: refuses files outside its folder.

    Returns:
        The text, and what it does not say.

    Raises:
        InputError: If the file cannot be used, or names lead nowhere; says where.

    Example:
        >>> import spillgate
        >>> config = "examples/ce-node/policies.cfg"
        >>> exported = spillgate.export(config, to="tc", policy="FIFO", rate="100 Mb/s")
        >>> exported.text.splitlines()[-1]
        'tc qdisc add dev eth0 parent 1:2 handle 20: pfifo limit 40'
    """
    if to not in ("ios", "tc"):
        msg = f"there is no export to {to!r}: ios or tc"
        raise InputError(msg)
    path = Path(file)
    found = _engine.export(
        str(path),
        to,
        scenario=path.suffix.lower() in (".yaml", ".yml", ".json"),
        platform=platform,
        names={
            "interface": interface,
            "link": link,
            "variant": variant,
            "policy": policy,
            "rate": rate,
            "device": device,
            "scheduler": scheduler,
            "filters": filters,
        },
        overrides=list(set),
        confine=confine,
    )
    notes = tuple(f"{note['place']}: {note['reason']}" for note in found["notes"])
    return Exported(text=found["text"], notes=notes)


def is_show_output(path: str | Path) -> bool:
    """Whether a file looks like an output of `show policy-map interface`, not a configuration."""
    return _engine.is_show_output(str(path))


def offered(path: str | Path, *, interface: str | None = None) -> dict[str, Any]:
    """What a router has measured: an output of `show policy-map interface` (IOS, IOS XE, IOS XR).

    Args:
        path: Path of the output.
        interface: Only the policies of this interface, abbreviated as on the router.

    Returns:
        A record: `policies` (interface, direction, policy, `framing` in bytes, and `classes` with
        packets, bytes, rates in b/s, `dscp`, what they match, and their queues) and `warnings`.

    Raises:
        InputError: If the output cannot be read or the interface is not in it; says where.

    Example:
        >>> import spillgate
        >>> found = spillgate.offered("examples/voice-edge/show.txt")
        >>> [c["name"] for c in found["policies"][0]["classes"]]
        ['VOICE', 'VIDEO', 'BUSINESS', 'class-default']
    """
    found = _engine.offered(str(path))
    if interface is not None:
        there = dict.fromkeys(p["interface"] for p in found["policies"])
        found["policies"] = [
            p for p in found["policies"] if _same_interface(interface, p["interface"])
        ]
        if not found["policies"]:
            msg = (
                f"{path}: error: no policy on an interface {interface!r}; there are "
                + ", ".join(there)
            )
            raise InputError(msg)
    return found


def _same_interface(wanted: str, name: str) -> bool:
    """Whether `gi0/1` means GigabitEthernet0/1, and `atm1/0.1` the circuit `ATM1/0.1 1/32`."""
    short, full = (re.match(r"\s*(\D*?)\s*(\d.*?)?\s*$", text.lower()) for text in (wanted, name))
    if short is None or full is None:
        return False
    # Without VPI/VCI each circuit of it is meant.
    same = short[2] in (full[2], (full[2] or "").split(" ")[0])
    return same and bool(short[1]) and full[1].startswith(short[1])


def schema(of: str = "scenario") -> dict[str, Any]:
    """JSON Schema of a kind of file, for editors and other tools.

    Args:
        of: `scenario`, or `sla`: the requirements of a customer (YAML or JSON).

    Raises:
        InputError: If there is no such kind.

    Example:
        >>> import spillgate
        >>> "topology" in spillgate.schema()["properties"]
        True
        >>> spillgate.schema("sla")["required"]
        ['customer']
    """
    if of not in SCHEMAS:
        msg = f"error: there is no schema of {of!r}; there are {', '.join(SCHEMAS)}"
        raise InputError(msg)
    return _engine.schema(of)


SCHEMAS = ("scenario", "sla")
"""Kinds of files that have a schema."""


def catalog() -> dict[str, list[dict[str, Any]]]:
    """What can be named in a scenario, by family: disciplines, aqm, sources, ...

    Example:
        >>> import spillgate
        >>> "fifo" in {d["kind"] for d in spillgate.catalog()["disciplines"]}
        True
    """
    return _engine.catalog()
