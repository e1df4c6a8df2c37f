"""What results consist of: rows, verdicts, runs, samples, series, distributions, admission."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal, TypeVar

from spillgate import _engine


@dataclass(frozen=True)
class Row:
    """The mean of one metric of one thing over the runs of one variant.

    Attributes:
        variant: Name of the variant.
        scope: `total`, `class`, `dscp`, `queue`, `link`, `admission` or `flow`.
        name: Name of the thing: a class, a code point, `link/queue`, `link/class`, ...
        metric: Name of the metric.
        unit: Base unit of the values.
        mean: Mean over the runs; none if undefined in all of them.
        low: Lower end of the 95 % interval; none with fewer than two runs.
        high: Upper end of the 95 % interval; none with fewer than two runs.
        n: Runs in which the metric is defined.
        bound: What it cannot exceed, whatever happens; none if nothing is known. Delays, losses
            and backlogs have one, where there is any.
    """

    variant: str
    scope: str
    name: str
    metric: str
    unit: str
    mean: float | None
    low: float | None
    high: float | None
    n: int
    bound: float | None = None

    @property
    def half(self) -> float | None:
        """Half the width of the interval; none if there is no interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


@dataclass(frozen=True)
class Verdict:
    """Whether one requirement is met by one variant.

    Attributes:
        variant: Name of the variant.
        cls: The class of service (`class` in files).
        metric: Name of the metric.
        unit: Base unit of the values.
        bound: The required value.
        side: `max` if the metric must not exceed `bound`, `min` if it must reach it.
        mean: Mean over the runs.
        low: Lower end of the 95 % interval.
        high: Upper end of the 95 % interval.
        n: Runs that count.
        verdict: `pass`, `fail`, or `undecided` when the interval contains the bound.
        further_runs: How many more runs would probably decide it; none if decided or
            out of reach.
        customer: Whose requirement it is; none for the scenario's own.
        site: The customer's site that it is about; none for the whole class.
        dscp: The code point of the packets that it is about; none for all.
        basis: The published objective that it comes from; none if the bound was written.
        level: Confidence level of the verdict; above 0.95 where many are corrected for their
            number.
        open: Whether packets or transfers were still on their way when a run ended that could
            have moved the value; the verdict holds whatever became of them.
        least: Mean over the runs of the least that the value could have been, all of them lost
            or arrived at once; the mean itself if none is open.
        most: The same of the most, all of them lost or arbitrarily late; none if it has no end.
        note: What the class meets on its way that is not yet as it will be: a policer whose tokens
            last longer than the warm-up; none if nothing was seen.
        about: The class, and the site or the code point if it is about one: `voice @ Bucharest`,
            `data (af11)`.
        whose: The same with the customer, if it is one's: `Acme: voice @ Bucharest`.
        requirement: The requirement as text: `loss_ratio ≤ 0.1 %`.
        words: The same in words: `loss ≤ 0.1 %`.
        measured: The mean with its interval, in a fitting unit: `4.80 ±0.10 ms`; of what is open
            from `least` to `most`.
        needs: What would decide an undecided one, in few words: a number of further runs,
            `longer grace`, `out of reach`; none if decided.
        advice: The same as a clause.
        certain: Whether it is to hold for certain: one run decides against it, and only a bound
            for it. `level` is then 1.
        said: The verdict in words: `pass`, `fail`, `undecided`; of one that is to hold for certain
            `proven`, `refuted`, `not proven`.
        largest: Of one that is to hold for certain the largest value of a run; none if no run has
            any.
        cannot_exceed: Of one that is to hold for certain what the value cannot exceed; none if
            nothing is known.
        why: Why that is not known; none if it is.
        witness: The run that refuted it: `run`, the `flow` that had the most of it, and the
            `value` of the run; none if none did. `Results.witness` finds the packet.
    """

    variant: str
    cls: str
    metric: str
    unit: str
    bound: float
    side: str
    mean: float | None
    low: float | None
    high: float | None
    n: int
    verdict: Literal["pass", "fail", "undecided"]
    further_runs: int | None
    customer: str | None = None
    site: str | None = None
    dscp: str | None = None
    basis: str | None = None
    level: float = 0.95
    open: bool = False
    least: float | None = None
    most: float | None = None
    note: str | None = None
    about: str = ""
    whose: str = ""
    requirement: str = ""
    words: str = ""
    measured: str = ""
    needs: str | None = None
    advice: str | None = None
    certain: bool = False
    said: str = ""
    largest: float | None = None
    cannot_exceed: float | None = None
    why: str | None = None
    witness: dict[str, Any] | None = None


@dataclass(frozen=True)
class ClassBound:
    """What the delay of a class cannot exceed in a variant, whatever happens.

    Attributes:
        variant: Name of the variant.
        cls: The class of service (`class` in files).
        owd: The longest one-way delay in seconds; none if there is no bound.
        lossless: Whether no packet can be lost.
        why: Why there is no bound; none if there is one.
    """

    variant: str
    cls: str
    owd: float | None
    lossless: bool
    why: str | None


@dataclass(frozen=True)
class Conclusion:
    """What all verdicts come to.

    Attributes:
        verdict: The worst verdict of the best variant.
        headline: The outcome in one sentence.
        tally: How many verdicts are what: `3 pass, 1 fail of 4 requirements`.
        certainty: What the confidence level holds for; none if there is one verdict.
    """

    verdict: str
    headline: str
    tally: str
    certainty: str | None


@dataclass(frozen=True)
class Transient:
    """A class whose rate or delay had not settled when measuring began.

    Attributes:
        variant: Name of the variant.
        run: Number of the run, from 0.
        cls: The class of service (`class` in files).
        metric: `throughput` or `owd_mean`.
        bias: By how much the mean of the measured period differs from what it settles at, as a
            share of that: -0.1 is 10 % below.
        warmup: The warm-up in seconds that would do; none if the run ends before it settles.
    """

    variant: str
    run: int
    cls: str
    metric: str
    bias: float
    warmup: float | None


@dataclass(frozen=True)
class Difference:
    """What one variant has more of than another, in one metric of one class.

    Runs of one number have the same arrivals in every variant: the difference is formed within
    each run, and has far less noise than the two values.

    Attributes:
        variant: Name of the variant.
        against: The variant that it is compared with.
        cls: The class of service (`class` in files).
        metric: Name of the metric.
        unit: Base unit of the values.
        mean: Mean over the runs of the value minus that of the other variant; none if undefined.
        low: Lower end of its 95 % interval, wider where every two variants are compared; none
            with fewer than two runs.
        high: Upper end.
        n: Runs in which both have a value.
        effect: `better` or `worse`; `more` or `less` of a metric that has no good side; `same`
            if every run gives the same; `not shown` if the interval contains zero or is unknown.
    """

    variant: str
    against: str
    cls: str
    metric: str
    unit: str
    mean: float | None
    low: float | None
    high: float | None
    n: int
    effect: str

    @property
    def half(self) -> float | None:
        """Half of the interval's width; none where there is none."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    @property
    def pair(self) -> str:
        """Both variants: `LLQ − FIFO`."""
        return f"{self.variant} − {self.against}"


@dataclass(frozen=True)
class Run:
    """One finished run.

    Attributes:
        variant: Name of the variant.
        run: Number of the run, from 0.
        seed: Master seed.
        digest: Fingerprint of the event stream; equal digests mean equal runs.
        packets: Packets sent.
    """

    variant: str
    run: int
    seed: int
    digest: str
    packets: int


@dataclass(frozen=True, eq=False)
class Series:
    """A time series of one run of a variant.

    Attributes:
        variant: Name of the variant.
        run: Number of the run.
        where: What was sampled.
        metric: Name of the metric.
        unit: Base unit of `v`.
        start: When the first sample was taken, in seconds.
        step: Seconds from each sample to the next.
        v: The values; NaN where undefined.
    """

    variant: str
    run: int
    where: str
    metric: str
    unit: str
    start: float
    step: float
    v: array[float]

    @cached_property
    def t(self) -> array[float]:
        """Sampling times in seconds."""
        # The core counts picoseconds; whole ones keep 0.3 from being 0.30000000000000004.
        start, step = (round(x * 1e12) for x in (self.start, self.step))
        return array("d", [(start + i * step) / 1e12 for i in range(len(self.v))])

    @cached_property
    def extent(self) -> tuple[float, float, float] | None:
        """The least, the mean and the largest value; none if all are undefined."""
        return _engine.extent(self.v)

    @property
    def peak(self) -> float:
        """The largest value; 0 if all are undefined."""
        return self.extent[2] if self.extent else 0.0

    def __eq__(self, other: object) -> bool:
        """Whether all is the same, undefined values included."""
        return isinstance(other, Series) and self._key() == other._key()

    def __hash__(self) -> int:
        """As equality has it."""
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        return tuple(
            x.tobytes() if isinstance(x, array) else x
            for x in (getattr(self, f.name) for f in fields(self))
        )


@dataclass(frozen=True)
class Distribution:
    """The one-way delays of a class as a quantile curve, pooled over all runs.

    Attributes:
        variant: Name of the variant.
        cls: The class of service.
        q: Levels of the quantiles, 0 to 1.
        owd: The quantiles in seconds.
        least: The smallest of the runs' own quantiles.
        most: The largest of them.
    """

    variant: str
    cls: str
    q: tuple[float, ...]
    owd: tuple[float | None, ...]
    least: tuple[float | None, ...] = ()
    most: tuple[float | None, ...] = ()


@dataclass(frozen=True)
class Sample:
    """One metric of one thing in every finished run of one variant.

    Run i of every variant has the same seeds, so differences and ratios of variants are formed
    run by run.

    Attributes:
        variant: Name of the variant.
        scope: `total`, `class`, `dscp`, `queue`, `link` or `flow`.
        name: Name of the thing.
        metric: Name of the metric.
        unit: Base unit of the values.
        runs: Numbers of the finished runs, from 0.
        values: The value in each of these runs; none where undefined.
    """

    variant: str
    scope: str
    name: str
    metric: str
    unit: str
    runs: tuple[int, ...]
    values: tuple[float | None, ...]


@dataclass(frozen=True)
class Admission:
    """What one link with flow admission did to one flow in one run.

    Attributes:
        variant: Name of the variant.
        run: Number of the run, from 0.
        link: Name of the link.
        flow: Name of the flow; all sessions of a workload have the same.
        cls: Class of service (`class` in files).
        direction: `data`, or `acknowledgments` of the flow's connection.
        offered_s: When its first packet reached the link, in seconds from the start of the run.
        admitted_s: When its first packet was admitted there; none if none was.
        waiting_s: Seconds from the one to the other; of a flow that was never admitted to the end
            of the run, which is less than it would have waited.
        refused: Packets refused before the first was admitted.
        refused_total: Packets refused in all.
        admissions: How often it was put on the link's list of protected flows.
        removals: How often the congestion mechanism took it off.
        timeouts: How often it fell off for its silence.
    """

    variant: str
    run: int
    link: str
    flow: str
    cls: str
    direction: Literal["data", "acknowledgments"]
    offered_s: float
    admitted_s: float | None
    waiting_s: float
    refused: int
    refused_total: int
    admissions: int
    removals: int
    timeouts: int


T = TypeVar(
    "T",
    Row,
    Verdict,
    ClassBound,
    Difference,
    Transient,
    Run,
    Series,
    Distribution,
    Sample,
    Admission,
)


def records(kind: type[T], records: list[dict[str, Any]]) -> tuple[T, ...]:
    """Builds objects of `kind` from the records that the core writes."""
    # `class` is a keyword in Python; a newer core may say more than we know.
    known = {("class" if f.name == "cls" else f.name): f.name for f in fields(kind)}

    def build(record: dict[str, Any]) -> T:
        values: dict[str, Any] = {
            known[k]: tuple(v) if isinstance(v, list) else v
            for k, v in record.items()
            if k in known
        }
        return kind(**values)

    return tuple(build(r) for r in records)
