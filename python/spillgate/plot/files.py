"""Which figures to draw, and writing them to files.

The figures of a scenario can be chosen in a TOML file:

    [[figure]]
    file = "delay"                # without ending
    kind = "bars"                 # bars, timeline, ccdf, sweep, heatmap, tradeoff or warmup
    metric = "owd_mean"
    scope = "class"
    names = ["voice", "video"]
    title = "Delay of voice and video"
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillgate.bounded import read_text
from spillgate.errors import InputError
from spillgate.labels import short_of
from spillgate.plot.charts import bars, ccdf, timeline
from spillgate.plot.study import heatmap, tradeoff
from spillgate.plot.style import fit, in_font, styled
from spillgate.plot.sweep import MOST_LINES, sweep
from spillgate.plot.warmup import warmup
from spillgate.points import FULL
from spillgate.result import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KINDS = ("bars", "timeline", "ccdf", "sweep", "heatmap", "tradeoff", "warmup")


@dataclass(frozen=True)
class FigureSpec:
    """One figure.

    Attributes:
        file: File name without ending: letters, digits, `.`, `_` and `-`.
        kind: `bars`, `timeline`, `ccdf`, `sweep`, `heatmap`, `tradeoff` or `warmup`.
        metric: Name of the metric (not for `ccdf`).
        scope: For bars and sweeps: what is compared.
        names: Classes, code points, queues ... to show; all if empty.
        variants: Variants to show; all if empty.
        x: For bars: a group is a `variant` or a `name`.
        axis: For sweeps and heat maps: the axis of the scenario that goes to the right.
        up: For heat maps: the axis that goes up.
        at: For sweeps, heat maps and tradeoffs: coordinates on the other axes; all of them if
            empty.
        gain: For tradeoffs: what is to be high where `metric`, a delay, is to be low.
        shades: For bars: this many consecutive series share a hue.
        log: For bars, sweeps and heat maps: logarithmic values.
        title: Above the figure.
        pdf: Whether it is also written as PDF, for LaTeX.
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
    log: bool = False
    title: str = ""
    axis: str = ""
    up: str = ""
    pdf: bool = False
    width: str = ""
    font: str = ""
    font_size: int = 0
    gain: str = "throughput"
    at: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks what a user may have mistyped."""
        if not re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._-]*", self.file):
            msg = f"file {self.file!r} is no plain file name"
            raise ValueError(msg)
        for key, value, valid in (("kind", self.kind, KINDS), ("x", self.x, ("variant", "name"))):
            if value not in valid:
                msg = f"{key} {value!r} is none of {', '.join(valid)}"
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
        if self.width and not (0.0 < _inches(self.width) < 50.0):
            msg = f"width {self.width!r} is no width such as 8.5 cm or 3.4 in"
            raise ValueError(msg)
        if not 0 <= self.font_size <= 72:
            msg = f"font_size must be 1 to 72 points, not {self.font_size}"
            raise ValueError(msg)
        if self.shades < 1:
            msg = f"shades must be at least 1, not {self.shades}"
            raise ValueError(msg)


def _inches(width: str) -> float:
    """A width in inches; 0 if it is none.

    Example:
        >>> _inches("2.54 cm"), _inches("25.4 mm"), _inches("3.4 in"), _inches("wide")
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
    **dict.fromkeys(("log", "pdf"), bool),
    **dict.fromkeys(("names", "variants"), list),
    "at": dict,
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
                "dict": "a table of coordinates by axis",
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


def draw(results: Results, spec: FigureSpec) -> Figure:
    """Draws one figure; raises `ValueError` if it asks for what was not measured."""
    names = spec.names or None
    variants = spec.variants or None
    if spec.kind == "timeline":
        return timeline(
            results,
            spec.metric or "backlog_packets",
            where=names,
            variants=variants,
            title=spec.title,
        )
    if spec.kind == "warmup":
        return warmup(results, names=names, variants=variants, title=spec.title)
    if spec.kind == "sweep":
        return sweep(
            results,
            spec.metric,
            spec.axis,
            scope=spec.scope,
            names=names,
            variants=variants,
            at=spec.at,
            log=spec.log,
            title=spec.title,
        )
    if spec.kind == "heatmap":
        return heatmap(
            results,
            spec.metric,
            (spec.axis, spec.up),
            spec.names[0],
            scope=spec.scope,
            variants=variants,
            at=spec.at,
            log=spec.log,
            title=spec.title,
        )
    if spec.kind == "tradeoff":
        return tradeoff(
            results,
            spec.names[0],
            delay=spec.metric or "owd_p95",
            gain=spec.gain,
            variants=variants,
            at=spec.at,
            title=spec.title,
        )
    if spec.kind == "ccdf":
        return ccdf(results, names=names, variants=variants, title=spec.title)
    return bars(
        results,
        spec.metric,
        scope=spec.scope,
        names=names,
        variants=variants,
        x="name" if spec.x == "name" else "variant",
        shades=spec.shades,
        log=spec.log,
        title=spec.title,
    )


def save(
    results: Results, directory: str | Path, specs: Sequence[FigureSpec] | None = None
) -> tuple[list[Path], list[str]]:
    """Writes figures as PNG and SVG; the same results give the same bytes.

    Args:
        results: What was measured.
        directory: Where to write; made if missing.
        specs: The figures; those of `default_figures` if not given.

    Returns:
        The PNG files, and one line for each figure that could not be drawn.
    """
    where = Path(directory)
    where.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    problems: list[str] = []
    with _missing_signs() as missing:
        for spec in specs if specs is not None else default_figures(results):
            try:
                with in_font(spec.font, spec.font_size):
                    figure = draw(results, spec)
                    if spec.width:
                        fit(figure, _inches(spec.width))
            except ValueError as error:
                problems.append(f"figure {spec.file}: {error}")
                continue
            written.append(write(figure, where / spec.file, pdf=spec.pdf))
    if missing:
        problems.append(
            f"figures: their font has no signs for {''.join(missing)}, which the PNG files show "
            "as boxes; the SVG files and the report have them"
        )
    return written, problems


@contextmanager
def _missing_signs() -> Iterator[dict[str, None]]:
    """Gives the characters of names that the font lacks, in place of a warning for each."""
    missing: dict[str, None] = {}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield missing
    for warning in caught:
        if found := re.match(r"Glyph (\d+) .*missing from", str(warning.message)):
            missing[chr(int(found[1]))] = None
        else:
            warnings.warn_explicit(
                warning.message, warning.category, warning.filename, warning.lineno
            )


def write(figure: Figure, path: Path, *, pdf: bool = False) -> Path:
    """Writes a figure as PNG and SVG; the same figure gives the same bytes.

    Args:
        figure: The figure.
        path: Where, without the ending.
        pdf: Also as PDF.

    Returns:
        The PNG file.
    """
    target = path.with_name(f"{path.name}.png")
    with styled():
        figure.savefig(target, metadata={"Software": "Spillgate"})
        figure.savefig(target.with_suffix(".svg"), metadata={"Date": None})
        if pdf:
            figure.savefig(target.with_suffix(".pdf"), metadata={"CreationDate": None})
    return target
