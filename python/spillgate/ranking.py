"""Rankings of variants in a metric: who is shown to be better than whom, and who is not.

Every two variants are compared run by run, with Holm's correction for the number of pairs, so
that with 95 % probability no pair of a class and metric is put into the wrong order. A variant's
place is then one plus how many are shown to be better, or any up to how many are left when those
are taken away that it is shown to be better than: with that probability all true places are
within these together (as the confidence sets of ranks by Mogstad, Romano, Shaikh and Wilhelm
2024).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from spillgate.labels import label_of, words
from spillgate.result import Results
from spillgate.rows import Difference, Row

METRICS = ("goodput", "throughput", "owd_p99", "fct_p95", "loss_ratio", "jain")
"""What is ranked where nobody says something else: rates, delays, losses, fairness."""


@dataclass(frozen=True)
class Place:
    """A variant in a ranking.

    Attributes:
        name: The variant, or the point.
        mean: Mean of the metric over the runs.
        half: Half of its 95 % interval; none with fewer than two runs.
        first: The best place that it may have, from 1.
        last: The last one.
    """

    name: str
    mean: float
    half: float | None
    first: int
    last: int

    @property
    def places(self) -> str:
        """Both: `2`, `1 to 3`."""
        return str(self.first) if self.first == self.last else f"{self.first} to {self.last}"


@dataclass(frozen=True)
class Ranking:
    """Variants in the order of a metric of a class.

    Attributes:
        at: The coordinates on the axes, such as `load=2 Mb/s`; empty without axes.
        cls: The class of service.
        metric: The metric.
        unit: Its base unit.
        places: The variants by their means, the best first.
        groups: Variants that no pair of them tells apart, each such set as large as it can be; one
            variant may be in several.
        pairs: The differences of every two.
    """

    at: str
    cls: str
    metric: str
    unit: str
    places: tuple[Place, ...]
    groups: tuple[tuple[str, ...], ...]
    pairs: tuple[Difference, ...]

    def place(self, name: str) -> Place | None:
        """That of a variant; none where it has no value."""
        return next((p for p in self.places if p.name == name), None)

    @property
    def leaders(self) -> tuple[str, ...]:
        """Those that none is shown to be better than."""
        return tuple(p.name for p in self.places if p.first == 1)

    @property
    def what(self) -> str:
        """What is ranked, in words."""
        return f"{label_of(self.metric)} of {self.cls}" + (f" at {self.at}" if self.at else "")

    @property
    def tells(self) -> bool:
        """Whether any two are told apart."""
        return len(self.leaders) < len(self.places)

    @property
    def sentence(self) -> str:
        """Who is ahead, in a sentence."""
        what, ahead = self.what, self.leaders
        if not self.tells:
            same = all(d.effect == "same" for d in self.pairs)
            none = "all are the same in every run" if same else "no difference is shown"
            return f"{what}: {none}."
        if len(ahead) == 1:
            than = "is better than all others"
            if self.places[0].last > 1:
                than = "leads, but is not shown to be better than all others"
            return f"{what}: {ahead[0]} {than}."
        better = _better(self.pairs)
        rest = [p.name for p in self.places if p.first > 1]
        behind = "the others" if all(better[n] >= set(ahead) for n in rest) else "some others"
        return f"{what}: {', '.join(ahead)} are not told apart, and are better than {behind}."


def rankings(
    results: Results, metrics: Sequence[str] | None = None, classes: Sequence[str] | None = None
) -> tuple[Ranking, ...]:
    """The rankings of all variants, by class and metric; with axes at each place.

    Args:
        results: Of runs in which every two variants are compared (`against` is `all`).
        metrics: Which metrics, each with a good side; if not given those of `METRICS` that differ
            in any run. Throughput is left out where there is goodput.
        classes: Which classes; all if not given.

    Example:
        >>> import spillgate
        >>> results = spillgate.run("examples/first/scenario.yaml", runs=5, against="all")
        >>> [r.sentence for r in rankings(results, ["owd_p99"], ["voice"])]
        ['99th percentile of one-way delay of voice: llq is better than all others.']
    """
    d = results.description
    at = {p.name: _coordinates(results, p.places) for p in d.points}
    families: dict[tuple[str, str, str], list[Difference]] = {}
    for one in results.differences():
        if classes is None or one.cls in classes:
            families.setdefault((one.cls, at[one.variant], one.metric), []).append(one)
    wanted = METRICS if metrics is None else metrics
    found = []
    for cls in d.classes:
        for where in dict.fromkeys(at.values()):
            has = [m for m in wanted if _told(families.get((cls, where, m), ()))]
            if metrics is None:
                has = [m for m in has if not (m == "throughput" and "goodput" in has)]
                has = [m for m in has if _differs(families[cls, where, m])]
            rows = {
                m: {r.variant: r for r in results.classes(metric=m) if r.name == cls} for m in has
            }
            found += [_ranking(where, rows[m], families[cls, where, m]) for m in has]
    return tuple(found)


def _coordinates(results: Results, places: Sequence[int]) -> str:
    axes = results.description.axes
    return ", ".join(f"{a.name}={a.labels[i]}" for a, i in zip(axes, places, strict=True))


def _told(pairs: Sequence[Difference]) -> bool:
    return any(d.mean is not None for d in pairs)


def _differs(pairs: Sequence[Difference]) -> bool:
    return any(d.mean is not None and d.effect != "same" for d in pairs)


def _ranking(at: str, rows: Mapping[str, Row], pairs: Sequence[Difference]) -> Ranking:
    first = pairs[0]
    larger = words("metrics")[first.metric]["better"] == "more"
    names = dict.fromkeys(n for d in pairs for n in (d.against, d.variant))
    means = {n: rows[n].mean for n in names if n in rows}
    known = [(m, n) for n, m in means.items() if m is not None]
    # Of equal means the earlier variant is first.
    known.sort(key=lambda mn: -mn[0] if larger else mn[0])
    pairs = [d for d in pairs if {d.variant, d.against} <= {n for _, n in known}]
    better = _better(pairs)
    order = [n for _, n in known]
    places = tuple(
        Place(
            n,
            m,
            rows[n].half,
            1 + len(better.get(n, ())),
            len(order) - sum(n in of for of in better.values()),
        )
        for m, n in known
    )
    apart = {frozenset((n, b)) for n, of in better.items() for b in of}
    return Ranking(
        at, first.cls, first.metric, first.unit, places, tuple(_groups(order, apart)), tuple(pairs)
    )


def _better(pairs: Sequence[Difference]) -> dict[str, set[str]]:
    """By variant, those that are shown to be better than it."""
    found: dict[str, set[str]] = {}
    for d in pairs:
        if d.effect == "better":
            found.setdefault(d.against, set()).add(d.variant)
        elif d.effect == "worse":
            found.setdefault(d.variant, set()).add(d.against)
    return found


def _groups(order: Sequence[str], apart: Collection[frozenset[str]]) -> Iterator[tuple[str, ...]]:
    """The largest sets of which no two are apart (Piepho 2004: insert and absorb).

    Example:
        >>> list(_groups("abc", [frozenset("ac")]))
        [('a', 'b'), ('b', 'c')]
    """
    columns = [set(order)]
    for pair in sorted(map(sorted, apart)):
        split = [c for c in columns if c >= set(pair)]
        columns = [c for c in columns if c not in split]
        for c in (c - {name} for c in split for name in pair):
            if not any(c <= other for other in columns):
                columns = [*(other for other in columns if not other <= c), c]
    columns.sort(key=lambda c: sorted(map(order.index, c)))
    for c in columns:
        yield tuple(n for n in order if n in c)
