"""Which failure is the worst, and how many break what is required.

Of a scenario with an axis of failures (`each: link`): its points with a failure beside the one
without, for each variant and each place on the other axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from spillgate.labels import short_of
from spillgate.metrics import format_value
from spillgate.points import Axis, Point, Shift
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
        idle: How many of them change no path and no load, so that all is as without a failure.
        busiest: The link with the highest load of those that are offered more in the worst
            failure; "" if there is none.
        load: What sources offer it then, relative to its rate; none if there is no such link.
        load_without: The same without a failure.
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
    busiest: str = ""
    load: float | None = None
    load_without: float | None = None

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
        text += f"{format_value(self.value, self.unit)}, {now} without a failure"
        if self.load is not None:
            text += (
                f"; sources then offer {self.busiest} {format_value(self.load, '1')} of its rate"
            )
        return text


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
        shifts = {axes[axis].labels[p.places[axis]]: p.shift for p in group}
        idle = sum(p.same is not None for p in group)
        for (whose, requirement), of in judged.items():
            first = next(iter(of.values()))
            worse = 1.0 if first.side == "max" else -1.0
            means = {p: _of(v) for p, v in of.items()}
            ranked = _ranked(failing, means, worse)
            states = {k: [failing[p] for p in ranked if of[p].verdict == k] for k in _STATES}
            about = (base.name, whose, first.metric, first.unit, requirement)
            found.append(_outage(about, means, ranked, failing, worse, states, idle, shifts))
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
                found.append(_outage(about, means, ranked, failing, 1.0, {}, idle, shifts))
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
    shifts: Mapping[str, Shift | None],
) -> Outage:
    variant, cls, metric, unit, requirement = about
    without = means.get(variant)
    worst = ranked[0] if ranked else None
    value = None if worst is None else means[worst]
    hurts = value is not None and (without is None or worse * (value - without) > 0.0)
    shift = shifts.get(failing[worst]) if worst is not None and hurts else None
    loaded = shift if shift is not None and shift.link else None
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
        busiest="" if loaded is None else loaded.link,
        load=None if loaded is None else loaded.load,
        load_without=None if loaded is None else loaded.without,
    )


def screening(axes: Sequence[Axis], points: Sequence[Point]) -> str:
    """How many failures need no run and why, and which one loads a link most; "" without any.

    Example:
        >>> from spillgate.points import Shift
        >>> axis = Axis("failure", ("none", "ab", "de"), failures=True)
        >>> ab, de = Shift(2, 0, "ad", 1.2, 0.4), Shift(0, 0, "", 0.0, 0.0)
        >>> none = Point("none", "", (0,))
        >>> points = [none, Point("ab", "", (1,), None, ab), Point("de", "", (2,), 0, de)]
        >>> for sentence in screening([axis], points).split(". "):
        ...     print(sentence)
        1 of 2 failures changes no path and no load and was not simulated: de
        Sources offer a link most when ab fails: ad 120 % of its rate, 40 % without
    """
    axis = next((i for i, a in enumerate(axes) if a.failures), None)
    if axis is None:
        return ""
    # Of several places on other axes each failure counts once, if it is so at all of them.
    labels = axes[axis].labels
    at: dict[str, list[Point]] = {}
    for p in points:
        if p.places[axis] != 0:
            at.setdefault(labels[p.places[axis]], []).append(p)
    idle = [label for label, of in at.items() if all(p.same is not None for p in of)]
    text = f"{len(at)} failures"
    if idle:
        named = ", ".join(idle[:_NAMED]) + (" .." if len(idle) > _NAMED else "")
        changes, was = ("changes", "was") if len(idle) == 1 else ("change", "were")
        text = (
            f"{len(idle)} of {text} {changes} no path and no load and {was} not simulated: {named}"
        )
    loaded = [(p.shift, label) for label, of in at.items() for p in of if p.shift and p.shift.link]
    if loaded:
        shift, label = max(loaded, key=lambda of: of[0].load)
        load, without = (format_value(v, "1") for v in (shift.load, shift.without))
        text += (
            f". Sources offer a link most when {label} fails: {shift.link} {load} of its rate, "
            f"{without} without"
        )
    return text


_NAMED = 10
"""So many failures that were screened out are named."""
