"""Exact answers beside the simulated ones: formulas of queues and of TCP, without a run.

`queues` and `tcp` have the formulas; `ports`, `paths` and `flows` find in a scenario what they
need, and whether it meets what they assume. All of it is plain Python, since every table of a run
may show it; `spillgate.analysis` needs SciPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from spillgate import _engine
from spillgate.displayed import Several
from spillgate.errors import InputError
from spillgate.estimates import flows, paths
from spillgate.estimates.conservation import conservation
from spillgate.estimates.found import Assumption, Beside, Estimate, Estimates, Unknown
from spillgate.estimates.ports import Port
from spillgate.rows import Sample
from spillgate.scenario import Description, Overrides, open_job
from spillgate.source import FilesLike, ScenarioLike, Source

__all__ = ["Assumption", "Beside", "Estimate", "Estimates", "Unknown", "estimate"]


class Records(Protocol):
    """What has the core's records of points: a job, or what runs gave."""

    def arriving(self, variant: int) -> dict[str, Any]:
        """What comes to each port."""

    def loops(self, variant: int) -> list[dict[str, Any]]:
        """Links with endless connections."""


Samples = Callable[[str, str, str], Iterable[Sample]]
"""Gives the values of runs of a scope, a metric and a point."""


def estimate(
    scenario: ScenarioLike,
    *,
    variant: str | None = None,
    files: FilesLike | None = None,
    set: Overrides | None = None,  # noqa: A002 - the name of the command line
    confine: bool = False,
) -> tuple[Estimates, ...]:
    """Says by formulas what a run should show; simulates nothing.

    `Results.estimates` sets the same beside what was simulated.

    Args:
        scenario: Path of the scenario file, its text, or what the text would say as a mapping.
        variant: Only the point of this name; default all.
        files: Contents that stand in for files, by name as the scenario writes it.
        set: Values to replace, by path.
        confine: Refuses files outside the scenario's folder.

    Returns:
        The estimates of each point, in their order; of some there may be none.

    Raises:
        InputError: If the scenario cannot be used, or there is no such point.

    Example:
        >>> import spillgate
        >>> fifo, llq = spillgate.estimate("examples/first/scenario.yaml")
        >>> wait = next(e for e in fifo.estimates if e.metric == "sojourn_mean")
        >>> wait.formula, round(wait.value * 1e3, 2), wait.reasons
        ('M/G/1/51', 53.92, ('`voice` is `cbr`',))
    """
    source = Source.of(scenario, files)
    job = open_job(source, set=set, confine=confine)
    described = Description.from_json(job.describe())
    return Several(of_point(job, described, n) for n in numbers_of(described, variant))


def numbers_of(described: Description, variant: str | None) -> list[int]:
    """The numbers of all points, or of one; raises `InputError` if it is not there."""
    if variant is not None and variant not in described.variants:
        names = ", ".join(repr(v) for v in described.variants)
        msg = f"error: variant: there is no variant {variant!r}; valid are {names}"
        raise InputError(msg)
    return [n for n, name in enumerate(described.variants) if variant in (None, name)]


def of_point(
    records: Records, described: Description, number: int, samples: Samples | None = None
) -> Estimates:
    """The estimates of one point.

    Args:
        records: Has what the core says of the scenario.
        described: What was understood of it.
        number: Of the point.
        samples: What was simulated; none without.
    """
    point = described.variants[number]
    record = records.arriving(number)
    found, unknown = _queues(record, described, number)
    measured = None if samples is None else _Measured(samples, point)
    spent = {} if measured is None else measured.by_name("class", "fct_mean")
    found += paths.sessions(record["sessions"], record["duration"], record["warmup"], spent)
    found += _connections(records.loops(number), measured)
    simulated = [] if measured is None else [measured.beside(e) for e in found]
    return Estimates(
        point=point,
        estimates=tuple(found),
        unknown=tuple(unknown),
        simulated=tuple(b for b in simulated if b is not None),
    )


def exact_of_classes(
    records: Records, described: Description, number: int, samples: Samples
) -> dict[str, Beside]:
    """The mean delays of classes whose formula is exact and holds, beside those simulated.

    Args:
        records: Has what the core says of the scenario.
        described: What was understood of it.
        number: Of the point.
        samples: What was simulated.
    """
    found, _ = _queues(records.arriving(number), described, number)
    measured = _Measured(samples, described.variants[number])
    return {
        e.name: beside
        for e in found
        if e.metric == "owd_mean" and e.exact and e.holds
        if (beside := measured.beside(e)) is not None
    }


def _queues(
    record: Mapping[str, Any], described: Description, number: int
) -> tuple[list[Estimate], list[Unknown]]:
    ports: list[Port] = []
    period = (record["warmup"], record["duration"])
    outlines = described.outlines[number]
    fails = any("fails" in port["odd"] for port in record["ports"])
    for port, outline in zip(record["ports"], outlines, strict=True):
        # Traffic takes other ways while a link is down.
        odd = [*port["odd"], *(["is in a network where links fail"] if fails else [])]
        ports.append(Port({**port, "odd": odd}, outline, ports, period))
    found: list[Estimate] = []
    unknown = []
    alone = paths.alone(record["paths"])
    for link, port in enumerate(ports):
        found += port.estimates()
        law = conservation(port, alone.get(link, frozenset()))
        if law is not None:
            found.append(law)
        if port.waiting is None and port.of["streams"]:
            unknown.append(Unknown(f"link `{port.link}`", port.why))
    found += paths.calls(ports)
    made, why = paths.classes(record["paths"], ports)
    unknown += [Unknown(f"class `{name}`", reason) for name, reason in why.items()]
    return found + made, unknown


def _connections(loops: Sequence[Mapping[str, Any]], measured: _Measured | None) -> list[Estimate]:
    """Of endless connections, by class: at the link that has least for each of them."""
    found: list[Estimate] = []
    tightest: dict[str, tuple[float, Mapping[str, Any]]] = {}
    # Some connections of the slowest links have no slower one on their way, as far as is seen.
    least = min((link["rate"] for link in loops), default=0)
    for link in loops:
        found += flows.buffers(link) if link["rate"] <= least else []
        count = sum(g["count"] for g in link["connections"])
        for g in link["connections"]:
            each = link["rate"] / g["frame"] / count
            if g["class"] not in tightest or each < tightest[g["class"]][0]:
                tightest[g["class"]] = (each, link)
    for name, (_, link) in tightest.items():
        groups = [flows.Group(g, link) for g in link["connections"] if g["class"] == name]
        lossy = groups[0].of["loss"] > 0
        found += flows.by_links(groups, name)
        mixed = (
            "bbr" in {g["cc"] for g in link["connections"]}
            and len({g["cc"] for g in link["connections"]}) > 1
        )
        if not lossy and not mixed:
            found += flows.even(link, name)
        if measured is not None:
            loss = measured.by_name("class", "loss_ratio").get(name)
            delay = measured.by_name("class", "owd_mean").get(name)
            if loss is not None and delay is not None:
                found += flows.by_run(groups, name, loss, delay)
    for link in loops:
        owners: dict[str, set[str]] = {}
        for g in link["connections"]:
            owners.setdefault(g["cc"], set()).add(g["class"])
        alone = {cc: min(names) for cc, names in owners.items() if len(names) == 1}
        if link["rate"] <= least:
            found += flows.shares(link, alone)
    return found


class _Measured:
    """What was simulated at a point."""

    def __init__(self, samples: Samples, point: str) -> None:
        self._samples, self._point = samples, point
        self._known: dict[tuple[str, str], dict[str, dict[int, float]]] = {}

    def _runs(self, scope: str, metric: str) -> dict[str, dict[int, float]]:
        """By name and run, what is defined."""
        if (scope, metric) not in self._known:
            self._known[scope, metric] = {
                row.name: {
                    run: value
                    for run, value in zip(row.runs, row.values, strict=True)
                    if value is not None
                }
                for row in self._samples(scope, metric, self._point)
            }
        return self._known[scope, metric]

    def by_name(self, scope: str, metric: str) -> dict[str, float]:
        """Means over the runs, where they are defined."""
        found = self._runs(scope, metric).items()
        return {name: sum(of.values()) / len(of) for name, of in found if of}

    def beside(self, one: Estimate) -> Beside | None:
        """An estimate beside the measured values; none if nothing of the kind is measured."""
        if not one.terms:
            return None
        sums: dict[int, float] | None = None
        for scope, name, metric, weight, fixed in one.terms:
            values = self._runs(scope, metric).get(name, {})
            so_far = dict.fromkeys(values, 0.0) if sums is None else sums
            sums = {
                run: so_far[run] + weight * (value - fixed)
                for run, value in values.items()
                if run in so_far
            }
        values = sums or {}
        if not values:
            return Beside(one, None, None, None, 0)
        if len(values) == 1:
            [alone] = values.values()
            return Beside(one, alone, None, None, 1)
        mean, low, high = _engine.interval(list(values.values()))
        return Beside(one, mean, low, high, len(values))
