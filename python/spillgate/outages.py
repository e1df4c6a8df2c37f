"""Which failure is the worst, and how many break what is required.

Of a scenario with an axis of failures (`each: link`): its points with a failure beside the one
without, for each variant and each place on the other axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spillgate.labels import short_of
from spillgate.metrics import format_value
from spillgate.points import Axis, Point
from spillgate.rows import Row, Verdict

METRICS = ("owd_p99", "loss_ratio")
"""What is said of classes of which nothing is required."""


@dataclass(frozen=True)
class Outage:
    """What failures do to a class.

    Attributes:
        variant: Name of the point without a failure; `variant` and coordinates.
        cls: Whom it is about: a class, perhaps of a customer or at a site.
        metric: Name of the metric.
        unit: Its base unit.
        requirement: What is required of it; "" if nothing is.
        without: Its mean without a failure; none if it has no value.
        worst: The failure with the worst mean; "" if none is worse than no failure.
        value: The mean then.
        broken: The failures with which the requirement fails, the worst first.
        undecided: Those with which it is undecided.
        of: How many failures there are.
        idle: How many of them hit only what no packet would have crossed, so that all is as
            without a failure.
    """

    variant: str
    cls: str
    metric: str
    unit: str
    requirement: str
    without: float | None
    worst: str
    value: float | None
    broken: tuple[str, ...]
    undecided: tuple[str, ...]
    of: int
    idle: int

    def said(self) -> str:
        """It as a sentence.

        Example:
            >>> Outage("", "voice", "owd_p99", "s", "", 0.01, "ab", 0.02, (), (), 3, 1).said()
            'voice: 99 % delay is worst when ab fails: 20 ms, 10 ms without a failure'
        """
        name = short_of(self.metric)
        now = format_value(self.without, self.unit)
        if not self.worst:
            return f"{self.cls}: no failure makes {name} worse than {now}"
        text = f"{self.cls}: {name} is worst when {self.worst} fails: "
        return f"{text}{format_value(self.value, self.unit)}, {now} without a failure"


def outages(
    axes: Sequence[Axis],
    points: Sequence[Point],
    rows: Sequence[Row],
    verdicts: Sequence[Verdict],
) -> list[Outage]:
    """What failures do: to each requirement, and to classes of which nothing is required.

    Args:
        axes: The axes; without failures along one of them the result is empty.
        points: The points.
        rows: Values of classes.
        verdicts: The requirements, judged.
    """
    axis = next((i for i, a in enumerate(axes) if a.failures), None)
    if axis is None:
        return []
    groups: dict[tuple[str, tuple[int, ...]], list[Point]] = {}
    for p in points:
        groups.setdefault((p.variant, p.places[:axis] + p.places[axis + 1 :]), []).append(p)
    by_row = {(r.variant, r.name, r.metric): r for r in rows if r.metric in METRICS}
    judged: dict[tuple[str, str], dict[str, Verdict]] = {}
    for v in verdicts:
        judged.setdefault((v.whose, v.requirement), {})[v.variant] = v
    required = {(v.cls, v.metric) for v in verdicts}
    classes = list(dict.fromkeys(r.name for r in rows))
    found = []
    for group in groups.values():
        base = next(p for p in group if p.places[axis] == 0)
        failing = {p.name: axes[axis].labels[p.places[axis]] for p in group if p is not base}
        idle = sum(p.same is not None for p in group)
        for (whose, requirement), of in judged.items():
            first = next(iter(of.values()))
            worse = 1.0 if first.side == "max" else -1.0
            means = {p: _of(v) for p, v in of.items()}
            ranked = _ranked(failing, means, worse)
            states = {k: [failing[p] for p in ranked if of[p].verdict == k] for k in _STATES}
            about = (base.name, whose, first.metric, first.unit, requirement)
            found.append(_outage(about, means, ranked, failing, worse, states, idle))
        for cls in classes:
            for metric in METRICS:
                if (cls, metric) in required:
                    continue
                means = {
                    p.name: row.mean
                    for p in group
                    if (row := by_row.get((p.name, cls, metric))) is not None
                }
                if not means:
                    continue
                unit = by_row[next(iter(means)), cls, metric].unit
                about = (base.name, cls, metric, unit, "")
                # More of either is worse.
                ranked = _ranked(failing, means, 1.0)
                found.append(_outage(about, means, ranked, failing, 1.0, {}, idle))
    return found


_STATES = ("fail", "undecided")


def _of(v: Verdict) -> float | None:
    return v.largest if v.certain else v.mean


def _ranked(
    failing: Mapping[str, str], means: Mapping[str, float | None], worse: float
) -> list[str]:
    """The points with a failure that have a value, the worst first."""
    known = [p for p in failing if means.get(p) is not None]
    return sorted(known, key=lambda p: -worse * (means[p] or 0.0))


def _outage(
    about: tuple[str, str, str, str, str],
    means: Mapping[str, float | None],
    ranked: Sequence[str],
    failing: Mapping[str, str],
    worse: float,
    states: Mapping[str, Sequence[str]],
    idle: int,
) -> Outage:
    variant, cls, metric, unit, requirement = about
    without = means.get(variant)
    worst = ranked[0] if ranked else None
    value = None if worst is None else means[worst]
    hurts = value is not None and (without is None or worse * (value - without) > 0.0)
    return Outage(
        variant=variant,
        cls=cls,
        metric=metric,
        unit=unit,
        requirement=requirement,
        without=without,
        worst=failing[worst] if worst is not None and hurts else "",
        value=value if hurts else without,
        broken=tuple(states.get("fail", ())),
        undecided=tuple(states.get("undecided", ())),
        of=len(failing),
        idle=idle,
    )
