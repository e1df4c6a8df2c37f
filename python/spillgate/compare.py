"""One port of a scenario under several mechanisms, on equal terms.

Each mechanism is a variant of the scenario in which only the queueing of the port differs. Run n
of all of them has the same arrivals, and every two are compared run by run. What the port has as
it is takes part as the reference. The results are those of any other run with variants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spillgate import _engine
from spillgate.displayed import Displayed
from spillgate.errors import InputError
from spillgate.labels import words
from spillgate.mechanisms import Mechanism
from spillgate.metrics import format_value
from spillgate.own import AqmLike, SchedulerLike
from spillgate.ports import Port, chosen, port_at, variants
from spillgate.ranking import Ranking, rankings
from spillgate.result import Results
from spillgate.run import Progress, Simulation
from spillgate.scenario import Description, Overrides, override_texts
from spillgate.source import ScenarioLike, Source


@dataclass(frozen=True)
class Compared(Displayed):
    """What became of a port under several mechanisms.

    Attributes:
        port: The port.
        mechanisms: What was compared, the reference first.
        rankings: By class and metric; with axes at each place.
        results: The results of all runs: with tables, verdicts, differences, figures.
    """

    port: Port
    mechanisms: tuple[Mechanism, ...]
    rankings: tuple[Ranking, ...]
    results: Results

    @property
    def reference(self) -> str:
        """Name of the port's own queueing."""
        return self.mechanisms[0].name

    @property
    def required(self) -> tuple[str, ...]:
        """The classes that have requirements."""
        has = {v.cls for v in self.results.verdicts}
        return tuple(c for c in self.results.description.classes if c in has)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know before believing the ranking, and what the results say themselves."""
        made = []
        link, rates = self.port.link, self.port.rates
        if len(rates) > 1:
            here, low, high = (
                format_value(x, "b/s") for x in (self.port.rate, rates[0], rates[-1])
            )
            made.append(
                f"what stands there is made for {here} at all points, but axes have {link} send "
                f"at {low} to {high}; compare at each rate by itself"
            )
        sent = self.results.table(scope="link", name=link, metric="utilization")
        if sent and all(row.mean == 0 for row in sent):
            made.append(f"no packet passes port {link} in the measured period")
        return (*made, *self.results.remarks)

    def met(self, name: str, cls: str | None = None) -> dict[str, int]:
        """How many requirements a mechanism passes, fails, and leaves undecided.

        Args:
            name: The mechanism.
            cls: Only those of this class; all if not given.
        """
        points = {p.name for p in self.results.description.points if name in (p.variant, p.name)}
        of = (v for v in self.results.verdicts if v.variant in points and cls in (None, v.cls))
        mine = Counter(v.verdict for v in of)
        return {verdict: mine[verdict] for verdict in ("pass", "fail", "undecided")}

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data, but for the results."""
        return {
            "port": self.port.link,
            "rate": self.port.rate,
            "variant": self.port.variant or None,
            "reference": self.reference,
            "mechanisms": [
                {
                    **asdict(m),
                    "requirements": {
                        "all": self.met(m.name),
                        "classes": {c: self.met(m.name, c) for c in self.required},
                    },
                }
                for m in self.mechanisms
            ],
            "rankings": [{**asdict(r), "sentence": r.sentence} for r in self.rankings],
            "remarks": list(self.remarks),
        }


def compare(
    scenario: ScenarioLike | Source,
    *,
    port: str,
    aqm: Sequence[str],
    own: AqmLike | None = None,
    scheduler: SchedulerLike | None = None,
    variant: str | None = None,
    metrics: Sequence[str] | None = None,
    rtt: float | None = None,
    ecn: bool | None = True,
    limit: str | int | None = None,
    tune: int | None = None,
    seed: int | None = None,
    runs: int | None = None,
    jobs: int | None = None,
    set: Overrides | None = None,  # noqa: A002
    sla: Sequence[str | Path] = (),
    correction: str | None = None,
    confine: bool = False,
    store: str | Path | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Compared:
    """Runs a scenario with several mechanisms in one port, and ranks them.

    Args:
        scenario: As for `run`.
        port: The port: a link (`wan`), or its ends (`r1->r2`).
        aqm: The mechanisms: names of `spillgate.mechanisms`, of policies of the scenario, and of
            `own`. The port's own queueing takes part, too.
        own: AQMs of one's own by name, as for `run`. Those that `aqm` names stand in a FIFO.
        scheduler: Schedulers of one's own that policies of the scenario name, as for `run`.
        variant: Of a scenario with variants: on which one the others build; default the first.
        metrics: Metrics that are ranked; default goodput, or throughput, delay, loss, completion
            times, and fairness.
        rtt: The longest usual round trip in seconds, by which buffers and intervals are made;
            100 ms if not given.
        ecn: Whether mechanisms mark in place of early drops; none for the defaults of their kinds.
        limit: What mechanisms hold, if not what `spillgate.mechanisms` says.
        tune: Points at which each mechanism's parameters are tried first; default none: it has
            those that are stated.
        seed: As for `run`.
        runs: As for `run`.
        jobs: As for `run`.
        set: As for `run`.
        sla: As for `run`.
        correction: As for `run`.
        confine: As for `run`.
        store: As for `run`.
        progress: As for `run`.

    Raises:
        InputError: If there is no such port, mechanism, metric or variant; if the port cannot have
            a mechanism; or if there are not two mechanisms, or two runs.

    Example:
        >>> import spillgate
        >>> found = spillgate.compare(
        ...     "examples/first/scenario.yaml", port="uplink", aqm=["llq", "fq-codel"], runs=3
        ... )
        >>> [m.name for m in found.mechanisms]
        ['as it is', 'llq', 'fq-codel']
    """
    prepared = prepare(
        scenario,
        port=port,
        aqm=aqm,
        own=own,
        scheduler=scheduler,
        variant=variant,
        metrics=metrics,
        rtt=rtt,
        ecn=ecn,
        limit=limit,
        set=set,
        seed=seed,
        runs=runs,
        jobs=jobs,
        sla=sla,
        correction=correction,
        confine=confine,
    )
    if tune is not None:
        prepared = prepared.tuned(tune, store=store)
    return prepared.run(progress, store=store)


@dataclass(frozen=True)
class Prepared:
    """A comparison before it runs.

    Attributes:
        port: The port.
        mechanisms: What is compared, the reference first.
        metrics: What is ranked; none for the usual metrics.
        simulation: What will run.
    """

    port: Port
    mechanisms: tuple[Mechanism, ...]
    metrics: tuple[str, ...] | None
    simulation: Simulation
    _how: Mapping[str, Any]

    @property
    def description(self) -> Description:
        """What was understood of the scenario with all mechanisms."""
        return self.simulation.description

    def run(
        self,
        progress: Callable[[Progress], None] | None = None,
        *,
        store: str | Path | None = None,
    ) -> Compared:
        """Runs it; arguments and errors are those of `Simulation.run`."""
        return self.of(self.simulation.run(progress, store=store))

    def of(self, results: Results) -> Compared:
        """What the results of these runs, or of some of them, say."""
        return Compared(self.port, self.mechanisms, rankings(results, self.metrics), results)

    def tuned(
        self,
        trials: int,
        *,
        store: str | Path | None = None,
        progress: Callable[[str, Progress], None] | None = None,
    ) -> Prepared:
        """The same with the parameters of each mechanism that suit the requirements best."""
        from spillgate.knobs import tuned

        how = {k: v for k, v in self._how.items() if k != "correction"}
        runs = self.description.runs
        how |= {"trials": trials, "runs": runs, "seed": self.description.seed + 1}
        found = tuned(self.port, self.mechanisms, store=store, progress=progress, **how)
        return _prepared(self.port, found, self.metrics, self._how)


def prepare(
    scenario: ScenarioLike | Source,
    *,
    port: str,
    aqm: Sequence[str],
    own: AqmLike | None = None,
    scheduler: SchedulerLike | None = None,
    variant: str | None = None,
    metrics: Sequence[str] | None = None,
    rtt: float | None = None,
    ecn: bool | None = True,
    limit: str | int | None = None,
    set: Overrides | None = None,  # noqa: A002
    **how: Any,  # noqa: ANN401 - as of `compare`
) -> Prepared:
    """All of `compare` up to its runs; its arguments and errors are those of that."""
    if isinstance(aqm, str):
        msg = "aqm takes a list of names, not one text"
        raise TypeError(msg)
    source = Source.of(scenario, aqm=own, scheduler=scheduler)
    for metric in metrics or ():
        if metric not in words("metrics") or words("metrics")[metric]["better"] is None:
            sided = [m for m, w in words("metrics").items() if w["better"]]
            near = _engine.nearest(metric, sided)
            said = f"did you mean {near}? " if near else ""
            msg = (
                f"error: {metric} cannot be ranked: it is no metric with a good side\n"
                f"    hint: {said}docs/reference/metrics.md lists them"
            )
            raise InputError(msg)
    texts = override_texts(set)
    where = port_at(
        source, port, variant=variant, overrides=texts, confine=how.get("confine", False)
    )
    ours = [name for name in aqm if name in source.own.aqm]
    found = chosen(where, aqm, own=ours, rtt=rtt, ecn=ecn, limit=limit)
    how = {"source": source, "overrides": texts, **how}
    return _prepared(where, found, None if metrics is None else tuple(metrics), how)


def _prepared(
    port: Port,
    mechanisms: tuple[Mechanism, ...],
    metrics: tuple[str, ...] | None,
    how: Mapping[str, Any],
) -> Prepared:
    given = dict(how)
    source, texts = given.pop("source"), given.pop("overrides")

    def opened(some: Sequence[Mechanism]) -> Simulation:
        return Simulation(source, set=[*texts, *variants(port, some)], **given)

    try:
        simulation = opened(mechanisms)
    except InputError:
        _explain(port, mechanisms, opened)
        raise
    d = simulation.description
    if d.runs < 2:
        msg = (
            f"error: {source.path}: one run says nothing of how much runs differ\n"
            "    hint: --runs 5, say"
        )
        raise InputError(msg)
    return Prepared(port, mechanisms, metrics, simulation, how)


def _explain(
    port: Port,
    mechanisms: Sequence[Mechanism],
    opened: Callable[[Sequence[Mechanism]], Simulation],
) -> None:
    """Raises `InputError` for the mechanism that a port cannot have, if one is at fault."""
    reference, *others = mechanisms
    opened([reference])
    for m in others:
        try:
            opened([reference, m])
        except InputError as error:
            msg = f"error: {m.name} cannot stand in port {port.link}:\n{error}"
            raise InputError(msg, error.diagnostics) from error
