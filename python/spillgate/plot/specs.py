"""Which figures to draw.

The figures of a scenario can be chosen in a TOML file:

    [[figure]]
    file = "delay"                # without ending
    kind = "bars"                 # or timeline, cdf, ccdf, distribution, sweep, ..
    metric = "owd_mean"
    scope = "class"
    names = ["voice", "video"]
    where = "load=8 Mb/s"
    title = "Delay of voice and video"
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from matplotlib.font_manager import get_font_names

from spillgate.bounded import read_text
from spillgate.errors import InputError
from spillgate.labels import short_of
from spillgate.plot.style import Asked
from spillgate.plot.sweep import MOST_LINES
from spillgate.points import FULL
from spillgate.result import Results
from spillgate.scenario import Description
from spillgate.where import numbers_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KINDS = (
    "bars",
    "timeline",
    "cdf",
    "ccdf",
    "distribution",
    "sweep",
    "heatmap",
    "tradeoff",
    "warmup",
)

FORMATS = ("png", "svg", "pdf", "pgf")

OVER_AXES = ("cdf", "ccdf", "sweep", "heatmap", "tradeoff")
"""Kinds that may have panels for the values of axes."""

_ONLY = {
    "axis": ("sweep", "heatmap"),
    "up": ("heatmap",),
    "gain": ("tradeoff",),
    "x": ("bars",),
    "shades": ("bars",),
    "rows": OVER_AXES,
    "columns": OVER_AXES,
    "scope": ("bars", "sweep", "heatmap"),
    "metric": ("bars", "timeline", "sweep", "heatmap", "tradeoff"),
    "log": tuple(kind for kind in KINDS if kind not in ("timeline", "warmup")),
}
"""Keys that say something of some kinds only."""

_GENERIC = ("serif", "sans-serif", "monospace")
"""Families of fonts that there are everywhere."""

DISTRIBUTIONS = ("cdf", "ccdf", "distribution")


@dataclass(frozen=True)
class FigureSpec:
    """One figure.

    Attributes:
        file: File name without ending: letters, digits, `.`, `_` and `-`.
        kind: `bars`, `timeline`, `cdf`, `ccdf`, `distribution` (both), `sweep`, `heatmap` or
            `tradeoff` or `warmup`.
        metric: Name of the metric (not for distributions and warm-ups).
        scope: For bars and sweeps: what is compared.
        names: Classes, code points, queues ... to show; all if empty.
        variants: Variants to show; all if empty.
        x: For bars: a group is a `variant` or a `name`.
        axis: For sweeps and heat maps: the axis of the scenario that goes to the right.
        up: For heat maps: the axis that goes up.
        rows: For all but bars and time lines: an axis whose values have a panel each, below each
            other.
        columns: The same side by side.
        where: Which points, such as `load=8 Mb/s,size=small`; all if empty.
        gain: For tradeoffs: what is to be high where `metric`, a delay, is to be low.
        shades: For bars: this many consecutive series share a hue.
        log: Logarithmic values, for distributions and tradeoffs logarithmic delays; if not given
            where one of what is compared dwarfs others.
        title: Above the figure.
        formats: As what it is written: `png`, `svg`, `pdf`, `pgf` (for LaTeX).
        width: How wide it is, all labels included: `8.5 cm`, `3.4 in`; as it comes if empty.
        font: The family of its texts, such as `serif`; DejaVu Sans if empty.
        font_size: Size of its labels in points; 9 if 0.
    """

    file: str
    kind: str = "bars"
    metric: str = ""
    scope: str = "class"
    names: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    x: str = "variant"
    shades: int = 1
    log: bool | None = None
    title: str = ""
    axis: str = ""
    up: str = ""
    rows: str = ""
    columns: str = ""
    where: str = ""
    formats: tuple[str, ...] = ("png", "svg")
    width: str = ""
    font: str = ""
    font_size: int = 0
    gain: str = "throughput"

    def __post_init__(self) -> None:
        """Checks what a user may have mistyped."""
        if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", self.file):
            msg = f"file {self.file!r} is no plain file name"
            raise ValueError(msg)
        for key, value, valid in (("kind", self.kind, KINDS), ("x", self.x, ("variant", "name"))):
            if value not in valid:
                msg = f"{key} {value!r} is none of {', '.join(valid)}"
                raise ValueError(msg)
        for one in self.formats or ("",):
            if one not in FORMATS:
                msg = f"formats {one!r} is none of {', '.join(FORMATS)}"
                raise ValueError(msg)
        for given in fields(self):
            kinds = _ONLY.get(given.name, KINDS)
            if self.kind not in kinds and getattr(self, given.name) != given.default:
                msg = f"{given.name} is for {', '.join(kinds)}, not for {self.kind}"
                raise ValueError(msg)
        if self.kind == "bars" and not self.metric:
            msg = "bars need a metric"
            raise ValueError(msg)
        if self.kind == "sweep" and not (self.metric and self.axis):
            msg = "a sweep needs a metric and an axis"
            raise ValueError(msg)
        if self.kind == "heatmap" and not (self.metric and self.axis and self.up and self.names):
            msg = "a heat map needs a metric, axis, up, and the name of what it shows"
            raise ValueError(msg)
        if self.kind in ("heatmap", "tradeoff") and len(self.names) != 1:
            msg = f"a {self.kind} shows one name, not {len(self.names)}"
            raise ValueError(msg)
        if self.width and not (0.0 < inches(self.width) < 50.0):
            msg = f"width {self.width!r} is no width such as 8.5 cm or 3.4 in"
            raise ValueError(msg)
        if not 0 <= self.font_size <= 72:
            msg = f"font_size must be 1 to 72 points, not {self.font_size}"
            raise ValueError(msg)
        if self.font and self.font not in (*_GENERIC, *get_font_names()):
            there = f"{', '.join(_GENERIC[:-1])} and {_GENERIC[-1]}"
            msg = f"there is no font {self.font!r}; {there} are always there"
            raise ValueError(msg)
        if self.shades < 1:
            msg = f"shades must be at least 1, not {self.shades}"
            raise ValueError(msg)

    @property
    def asked(self) -> Asked:
        """Its font and width."""
        return Asked(self.font, self.font_size, inches(self.width))

    def check(self, d: Description) -> None:
        """Raises `ValueError` or `InputError` if it names what a scenario does not have."""
        points = d.points
        if self.where:
            points = tuple(points[n] for n in numbers_of(d.axes, d.points, self.where))
        variants = {p.name for p in points}
        if self.kind in ("sweep", "heatmap", *DISTRIBUTIONS, "tradeoff"):
            of_points = variants if self.kind in ("tradeoff", *DISTRIBUTIONS) else set()
            variants = {p.variant for p in points} | of_points
        axes = [a.name for a in d.axes]
        known: list[tuple[str, Iterable[str], Iterable[str]]] = [
            ("variant", self.variants, [v for v in _variants(d) if v in variants]),
            ("axis", [a for a in (self.axis, self.up, self.rows, self.columns) if a], axes),
        ]
        if self.kind in (*DISTRIBUTIONS, "warmup") or (
            self.kind != "timeline" and self.scope == "class"
        ):
            known.append(("class", self.names, d.classes))
        for what, names, there in known:
            for name in names:
                if name not in there:
                    said = ", ".join(there) or "none"
                    msg = f"there is no {what} {name!r}; there are {said}"
                    raise ValueError(msg)


def _variants(d: Description) -> list[str]:
    """What points and variants are called."""
    return list(dict.fromkeys([*(p.variant for p in d.points), *d.variants]))


def inches(width: str) -> float:
    """A width in inches; 0 if it is none.

    Example:
        >>> inches("2.54 cm"), inches("25.4 mm"), inches("3.4 in"), inches("wide")
        (1.0, 1.0, 3.4, 0.0)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(cm|mm|in)\s*", width)
    return float(found[1]) / {"cm": 2.54, "mm": 25.4, "in": 1.0}[found[2]] if found else 0.0


def read_specs(path: str | Path) -> list[FigureSpec]:
    """Reads a file of figures.

    Args:
        path: A TOML file with `[[figure]]` tables; the keys are those of `FigureSpec`.

    Raises:
        InputError: If it cannot be read; says which figure and why.
    """
    try:
        data = tomllib.loads(read_text(Path(path), 1 << 20))
    except (OSError, ValueError) as error:
        msg = f"{path}: error: {error}"
        raise InputError(msg) from error
    tables = data.pop("figure", [])
    if data or not isinstance(tables, list) or not tables:
        msg = f"{path}: error: a file of figures holds [[figure]] tables and nothing else"
        raise InputError(msg)
    specs: list[FigureSpec] = []
    for number, table in enumerate(tables, start=1):
        try:
            spec = _spec(table)
            if spec.file in {s.file for s in specs}:
                msg = f"file {spec.file!r} occurs twice"
                raise ValueError(msg)
        except (TypeError, ValueError) as error:
            msg = f"{path}: error: figure {number}: {error}"
            raise InputError(msg) from error
        specs.append(spec)
    return specs


_TYPES = {
    **dict.fromkeys(("shades", "font_size"), int),
    "log": bool,
    **dict.fromkeys(("names", "variants", "formats"), list),
}


def _spec(table: dict[str, Any]) -> FigureSpec:
    known = [f.name for f in fields(FigureSpec)]
    for key, value in table.items():
        if key not in known:
            msg = f"unknown key {key!r}; known are {', '.join(known)}"
            raise ValueError(msg)
        kind = _TYPES.get(key, str)
        # In Python a bool is an int; in a figure it is a mistake.
        wrong = not isinstance(value, kind) or (kind is int and isinstance(value, bool))
        if wrong or (kind is list and not all(isinstance(v, str) for v in value)):
            what = {
                "list": "a list of texts",
                "str": "a text",
                "int": "a whole number",
            }
            msg = f"{key} must be {what.get(kind.__name__, 'true or false')}, not {value!r}"
            raise ValueError(msg)
    if "file" not in table:
        msg = "the key file is missing"
        raise ValueError(msg)
    values: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in table.items()}
    return FigureSpec(**values)


def default_figures(results: Results) -> list[FigureSpec]:
    """The figures that suit any scenario."""
    specs = [
        FigureSpec("delay", metric="owd_mean", title="Mean delay by class"),
        FigureSpec("loss", metric="loss_ratio", title="Loss by class"),
        FigureSpec("delay-variation", metric="pdv", title="Delay variation by class"),
        FigureSpec("delay-distribution", kind="ccdf", title="Distribution of delay by class"),
    ]
    sampled = {s.metric for s in results.series() if s.peak > 0.0}
    if "backlog_packets" in sampled:
        specs.append(
            FigureSpec(
                "backlog", kind="timeline", metric="backlog_packets", title="Backlog by queue"
            )
        )
    if "cwnd" in sampled:
        specs.append(FigureSpec("window", kind="timeline", metric="cwnd", title=short_of("cwnd")))
    if "sessions_open" in sampled:
        specs.append(
            FigureSpec(
                "sessions",
                kind="timeline",
                metric="sessions_open",
                title=short_of("sessions_open"),
            )
        )
    for file, metric, title in (
        ("goodput", "goodput", "Goodput by class"),
        ("transfers", "fct_p95", "Times of transfers"),
    ):
        # Classes whose transfers never end would leave gaps.
        names = dict.fromkeys(r.name for r in results.classes(metric=metric) if r.mean)
        if names:
            specs.append(FigureSpec(file, metric=metric, names=tuple(names), title=title))
    return specs + _sweeps(results)


def comparison_figures(results: Results, link: str) -> list[FigureSpec]:
    """Figures of mechanisms in the port of a link: delay against goodput, delays, queues."""
    specs = []
    for number, cls in enumerate(results.description.classes, start=1):
        gains = [
            m
            for m in ("goodput", "throughput")
            if any(r.mean is not None for r in results.table(scope="class", name=cls, metric=m))
        ]
        if gains:
            title = f"Delay against {short_of(gains[0])} of {cls}"
            specs.append(
                FigureSpec(
                    *(f"tradeoff-{number}", "tradeoff", "owd_p99"),
                    names=(cls,),
                    gain=gains[0],
                    title=title,
                )
            )
    specs.append(FigureSpec("delays", kind="cdf", title="Delay by class"))
    places = {
        s.where
        for s in results.series(metric="backlog_packets")
        if s.where.startswith(f"{link}/") and s.peak > 0.0
    }
    if places:
        specs.append(
            FigureSpec(
                "queues",
                kind="timeline",
                metric="backlog_packets",
                names=tuple(sorted(places)),
                title=f"What waits in port {link}",
            )
        )
    return specs


def _sweeps(results: Results) -> list[FigureSpec]:
    """The mean delay over each axis, where its lines can be told apart."""
    d = results.description
    specs = []
    variants = len({p.variant for p in d.points})
    for number, axis in enumerate(d.axes, start=1):
        others = len(d.points) // len(axis.labels) if d.design == FULL else variants
        lines = others * len(d.classes)
        if len(axis.labels) > 1 and lines <= MOST_LINES:
            title = f"Mean delay over {axis.name}"
            file = f"delay-over-axis-{number}"
            specs.append(FigureSpec(file, "sweep", "owd_mean", axis=axis.name, title=title))
    return specs
