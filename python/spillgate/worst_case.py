"""Worst cases as packets: arrivals that come near the bound of a queue, replayed by the engine."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from itertools import chain, count
from pathlib import Path
from typing import Any

from spillgate import _engine, bounds
from spillgate.errors import InputError, OutputError
from spillgate.explain import explain
from spillgate.run import run
from spillgate.rundir import RunDirectory, read_study
from spillgate.scenario import Overrides, override_texts
from spillgate.source import NAME, Source

PACKETS = "packets.pcapng"
"""The capture that the scenario of a worst case replays."""


@dataclass(frozen=True)
class WorstCase:
    """The worst arrivals at a queue that were found.

    Attributes:
        point: The name of the point.
        link: The link whose port the queue is at.
        queue: Its name.
        classes: The classes of service whose packets may come to it.
        bound: What the time from arrival until a packet has been sent cannot exceed, in seconds;
            none if there is no bound.
        reached: The longest such time that was found, in seconds; none if nothing was found.
        gap: Why `reached` is more than a hundredth below the bound, or why there is nothing.
        flow: The flow of the packet that took this long.
        number: The packet's number in it, from 0.
        story: What happened to it, as a packet of `spillgate.explain`.
        tried: How many arrivals were tried.
        scenario: The scenario that replays them, in YAML.
        packets: The capture beside it, `packets.pcapng`.
    """

    point: str
    link: str
    queue: str
    classes: tuple[str, ...]
    bound: float | None
    reached: float | None
    gap: str | None
    flow: str | None = None
    number: int | None = None
    story: dict[str, Any] | None = field(default=None, repr=False)
    tried: int = 0
    scenario: str | None = field(default=None, repr=False)
    packets: bytes | None = field(default=None, repr=False)
    _folder: Path = field(default=Path(), repr=False)

    @property
    def share(self) -> float | None:
        """The share of the bound that is reached, 0 to 1; none without either."""
        if self.bound is None or self.reached is None:
            return None
        return self.reached / self.bound if self.bound else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Everything but scenario and packets as plain data."""
        record = asdict(self)
        for name in ("scenario", "packets", "_folder"):
            del record[name]
        return record | {"share": self.share}

    def save(self, directory: str | Path) -> Path:
        """Makes a run directory: the scenario with its packets, what one run gives, and a report.

        `spillgate run DIRECTORY/scenario.yaml` runs it again.

        Args:
            directory: The directory to make.

        Returns:
            The directory.

        Raises:
            InputError: If no arrivals were found.
            OutputError: If it exists or cannot be written; nothing is then changed.
        """
        if self.scenario is None or self.packets is None:
            msg = f"error: nothing to save of {self.link}/{self.queue}: {self.gap}"
            raise InputError(msg)
        memory = {NAME: self.scenario.encode(), PACKETS: self.packets}
        return replayed(Source(self._folder / NAME, memory), directory, self.link)


def worst(
    scenario: str | Path,
    queue: str | None = None,
    *,
    variant: str | None = None,
    set: Overrides | None = None,  # noqa: A002 - the name of the command line
    confine: bool = False,
) -> tuple[WorstCase, ...]:
    """Constructs the arrivals that come nearest to the bounds of queues, and runs them.

    Each flow keeps its arrival curve; a flow that has none, such as a connection of TCP, may send
    any packets of its longest length. Several orders and instants are tried, the worst is kept: it
    is the largest found, not the largest there is.

    Args:
        scenario: A scenario file.
        queue: Only this queue, as `link/queue`, or those of this class of service; default all.
        variant: Only the point of this name; default all.
        set: Values to replace, by path.
        confine: Refuses files outside the scenario's folder.

    Returns:
        By point and queue, in the order of `spillgate.bound`.

    Raises:
        InputError: If the file cannot be used, or there is no such point, queue or class.

    Example:
        >>> import spillgate
        >>> [case] = spillgate.worst("examples/first/scenario.yaml", "voice", variant="llq")
        >>> case.bound, round(case.reached, 6)
        (0.00136, 0.00136)
    """
    texts = override_texts(set)
    points = [r["point"] for r in _engine.bound(str(scenario), overrides=texts, confine=confine)]
    found = bounds.bound(scenario, variant=variant, set=set, confine=confine)
    cases = [
        _of(scenario, points.index(b.point), b.point, q, texts, confine=confine)
        for b in found
        for q in _chosen(b.queues, queue)
    ]
    if not cases:
        names = sorted({f"{q.link}/{q.queue}" for b in found for q in b.queues})
        classes = sorted({c for b in found for q in b.queues for c in q.classes})
        msg = (
            f"error: {scenario}: there is no queue or class {queue!r}; "
            f"queues are {', '.join(names)}; classes {', '.join(classes)}"
        )
        raise InputError(msg)
    return tuple(cases)


def replayed(source: Source, directory: str | Path, link: str) -> Path:
    """Runs a scenario that replays packets, into a run directory with a report.

    Args:
        source: The scenario with its files.
        directory: The directory to make.
        link: The link whose port the report's packets waited longest at.

    Returns:
        The directory.

    Raises:
        OutputError: If it exists or cannot be written; nothing is then changed.
    """
    # Only those who save pay for it.
    from spillgate.report import REPORT, write

    made = RunDirectory(directory)
    try:
        results = run(source)
        with made.filling() as temporary:
            results.write_into(temporary)
            told = explain(temporary, at=link, worst=3, drops=0)
            manifest = results.manifest() | read_study(temporary)
            write(results, temporary / REPORT, manifest, worst=[told])
    finally:
        made.discard()
    return made.path


def _chosen(queues: Iterable[bounds.QueueBound], wanted: str | None) -> list[bounds.QueueBound]:
    if wanted is None:
        return list(queues)
    named = [q for q in queues if f"{q.link}/{q.queue}" == wanted]
    return named or [q for q in queues if wanted in q.classes]


def _of(
    scenario: str | Path,
    index: int,
    point: str,
    of: bounds.QueueBound,
    overrides: list[str],
    *,
    confine: bool,
) -> WorstCase:
    about: dict[str, Any] = {
        "point": point,
        "link": of.link,
        "queue": of.queue,
        "classes": of.classes,
    }
    if of.delay is None:
        return WorstCase(**about, bound=None, reached=None, gap=of.why)
    try:
        record, packets = _engine.worst(
            str(scenario), index, of.link, of.queue, overrides=overrides, confine=confine
        )
    except ValueError as error:
        return WorstCase(**about, bound=of.delay, reached=None, gap=str(error))
    return WorstCase(**about, **record, packets=packets, _folder=Path(scenario).parent)


def save_all(cases: Iterable[WorstCase], directory: str | Path) -> list[Path]:
    """Saves all that were found below a new directory, or one case as this directory.

    Args:
        cases: What `worst` gives.
        directory: The directory to make.

    Returns:
        The run directories.

    Raises:
        InputError: If no arrivals were found.
        OutputError: If it exists or cannot be written.
    """
    made = [c for c in cases if c.scenario is not None]
    if not made:
        msg = "error: nothing to save: no arrivals were found"
        raise InputError(msg)
    where = Path(directory)
    if where.exists():
        msg = f"{where} exists; choose another --out"
        raise OutputError(msg)
    if len(made) == 1:
        return [made[0].save(where)]
    several = len({c.point for c in made}) > 1
    paths: list[Path] = []
    for case in made:
        parent = where / _file_name(case.point) if several else where
        name = _file_name(f"{case.link}-{case.queue}")
        # Two names may be alike but for what no file name has.
        more = (f"{name}-{i}" for i in count(2))
        names = (parent / n for n in chain([name], more))
        paths.append(case.save(next(p for p in names if p not in paths)))
    return paths


def _file_name(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-.") or "queue"
