"""What a section measures: a metric of a class, a link or its queues, or a ratio of two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import add, sub

from spillgate.labels import short_of, words
from spillgate.metrics import metrics
from spillgate.result import Results

_WEIGHTED = ("sojourn_mean",)
"""Metrics of queues whose mean over several counts each packet once."""

_SUMMED = ("marks_ce", "packets_lost", "packets_offered", "backlog_packets_mean")
"""Metrics of queues that add up."""

_INCREASE = "increase of "
"""How measures begin that are about what load adds."""

OF_LINKS = ("utilization", "carried")
"""Metrics of a link itself; all others of a link are those of its queues."""


@dataclass(frozen=True)
class Term:
    """One metric of one thing.

    Attributes:
        scope: `class`, or `link` for a link and its queues.
        name: Its name.
        metric: The metric.
    """

    scope: str
    name: str
    metric: str

    def values(self, results: Results, variant: str) -> tuple[float | None, ...]:
        """The value of each run.

        Of several queues of one link (CAKE's tins, say) means are over all of their packets,
        counts are sums, and of other metrics the largest is taken.
        """
        if self.scope == "class":
            return self._only(results, variant, "class")
        if self.metric in OF_LINKS:
            return self._only(results, variant, "link")
        if self.metric == "loss_ratio":
            lost, came = (
                self._queues(results, variant, m) for m in ("packets_lost", "packets_offered")
            )
            return tuple(_ratio(_sum(a), _sum(b)) for a, b in zip(lost, came, strict=True))
        every = self._queues(results, variant, self.metric)
        if self.metric in _SUMMED:
            return tuple(map(_sum, every))
        if self.metric in _WEIGHTED:
            came = self._queues(results, variant, "packets_offered")
            return tuple(_weighted(v, w) for v, w in zip(every, came, strict=True))
        return tuple(max((v for v in of if v is not None), default=None) for of in every)

    def _only(self, results: Results, variant: str, scope: str) -> tuple[float | None, ...]:
        for s in results.samples(scope=scope, name=self.name, metric=self.metric, variant=variant):
            return s.values
        return ()

    def _queues(
        self, results: Results, variant: str, metric: str
    ) -> list[tuple[float | None, ...]]:
        """Of each run the values of all queues of the link."""
        found = [
            s.values
            for s in results.samples(scope="queue", metric=metric, variant=variant)
            if s.name.partition("/")[0] == self.name
        ]
        return list(zip(*found, strict=True))


@dataclass(frozen=True)
class Measure:
    """What one row of a section shows.

    Attributes:
        text: As the index writes it: `class.bulk.goodput`, `link.down.sojourn_mean`,
            `class.a.goodput / class.b.goodput`, `class.there.owd_p95 + class.back.owd_p95`,
            `increase of` any of them.
        over: What is measured.
        under: What it is divided by; none if by nothing.
        plus: What is added; none if nothing is.
        increase: Whether it is by how much it exceeds that of the section's baseline.
    """

    text: str
    over: Term
    under: Term | None = None
    plus: Term | None = None
    increase: bool = False

    @classmethod
    def of(cls, text: str) -> Measure:
        """Reads one.

        Example:
            >>> Measure.of("class.bulk.goodput").name
            'bulk: goodput'
            >>> Measure.of("class.a.goodput / class.b.goodput").name
            'goodput, a over b'
            >>> Measure.of("increase of class.there.owd_mean + class.back.owd_mean").name
            'there + back: mean one-way delay, increase'
        """
        plain = text.removeprefix(_INCREASE)
        above, slash, below = plain.partition("/")
        first, sign, second = above.partition("+")
        return cls(
            text,
            _term(first),
            _term(below) if slash else None,
            _term(second) if sign else None,
            plain != text,
        )

    @property
    def metric(self) -> str:
        """The metric."""
        return self.over.metric

    @property
    def unit(self) -> str:
        """Its base unit; that of plain numbers for ratios."""
        if self.under is not None:
            return "factor"
        return next((m.unit for m in metrics() if m.name == self.metric), "")

    @property
    def name(self) -> str:
        """Its name in tables."""
        label = words("metrics").get(self.metric, {}).get("label") or short_of(self.metric)
        if self.under is not None:
            return f"{label}, {self.over.name} over {self.under.name}"
        more = ", increase" if self.increase else ""
        return f"{self._things}: {label}{more}"

    @property
    def short(self) -> str:
        """Its name where there is little room."""
        of = self._things if self.under is None else f"{self.over.name}/{self.under.name}"
        return f"{of} {'added ' if self.increase else ''}{short_of(self.metric)}"

    @property
    def _things(self) -> str:
        return self.over.name if self.plus is None else f"{self.over.name} + {self.plus.name}"

    def values(
        self, results: Results, variant: str, baseline: str | None = None
    ) -> tuple[float | None, ...]:
        """The value of each run; empty where nothing has the metric.

        Args:
            results: What was measured.
            variant: The variant or point.
            baseline: The point that an increase is over, run by run.
        """
        found = self.over.values(results, variant)
        if self.plus is not None:
            found = _each(add, found, self.plus.values(results, variant))
        if self.under is not None:
            found = _each(_ratio, found, self.under.values(results, variant))
        if self.increase and baseline is not None:
            found = _each(sub, found, replace(self, increase=False).values(results, baseline))
        return found


def _term(text: str) -> Term:
    scope, name, metric = text.strip().split(".")
    return Term(scope, name, metric)


def _each(
    of: Callable[[float, float], float | None],
    first: Sequence[float | None],
    second: Sequence[float | None],
) -> tuple[float | None, ...]:
    """A function of each two values; none where one is missing."""
    pairs = zip(first, second, strict=True)
    return tuple(None if a is None or b is None else of(a, b) for a, b in pairs)


def _sum(values: Sequence[float | None]) -> float:
    return sum(v for v in values if v is not None)


def _ratio(a: float, b: float) -> float | None:
    return None if b == 0.0 else a / b


def _weighted(values: Sequence[float | None], weights: Sequence[float | None]) -> float | None:
    pairs = [(v, w) for v, w in zip(values, weights, strict=True) if v is not None and w]
    return _ratio(sum(v * w for v, w in pairs), sum(w for _, w in pairs))
