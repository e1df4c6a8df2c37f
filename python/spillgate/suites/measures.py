"""What a section measures: a metric of a class, a link or its queues, or a ratio of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from spillgate.labels import short_of, words
from spillgate.metrics import metrics
from spillgate.result import Results

_WEIGHTED = ("sojourn_mean",)
"""Metrics of queues whose mean over several counts each packet once."""

_SUMMED = ("marks_ce", "packets_lost", "packets_offered", "backlog_packets_mean")
"""Metrics of queues that add up."""

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
            `class.a.goodput / class.b.goodput`.
        over: What is measured.
        under: What it is divided by; none if by nothing.
    """

    text: str
    over: Term
    under: Term | None = None

    @classmethod
    def of(cls, text: str) -> Measure:
        """Reads one.

        Example:
            >>> Measure.of("class.bulk.goodput").name
            'bulk: goodput'
            >>> Measure.of("class.a.goodput / class.b.goodput").name
            'goodput, a over b'
        """
        parts = [Term(*part.strip().split(".", 2)) for part in text.split("/")]
        return cls(text, *parts)

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
        short = words("metrics").get(self.metric, {}).get("label") or short_of(self.metric)
        if self.under is not None:
            return f"{short}, {self.over.name} over {self.under.name}"
        return f"{self.over.name}: {short}"

    @property
    def short(self) -> str:
        """Its name where there is little room."""
        of = self.over.name if self.under is None else f"{self.over.name}/{self.under.name}"
        return f"{of} {short_of(self.metric)}"

    def values(self, results: Results, variant: str) -> tuple[float | None, ...]:
        """The value of each run; empty where nothing has the metric."""
        over = self.over.values(results, variant)
        if self.under is None:
            return over
        return tuple(
            _ratio(a, b) for a, b in zip(over, self.under.values(results, variant), strict=True)
        )


def _sum(values: Sequence[float | None]) -> float:
    return sum(v for v in values if v is not None)


def _ratio(a: float | None, b: float | None) -> float | None:
    return None if a is None or b is None or b == 0.0 else a / b


def _weighted(values: Sequence[float | None], weights: Sequence[float | None]) -> float | None:
    pairs = [(v, w) for v, w in zip(values, weights, strict=True) if v is not None and w]
    return _ratio(sum(v * w for v, w in pairs), sum(w for _, w in pairs))
