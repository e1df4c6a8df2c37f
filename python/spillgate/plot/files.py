"""Drawing figures that were chosen, and writing them to files."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spillgate.errors import InputError
from spillgate.plot.charts import bars, timeline
from spillgate.plot.distribution import distribution
from spillgate.plot.pgf import write_pgf
from spillgate.plot.specs import FigureSpec, default_figures
from spillgate.plot.study import heatmap, tradeoff
from spillgate.plot.style import asked, styled
from spillgate.plot.sweep import sweep
from spillgate.plot.warmup import warmup
from spillgate.result import Results

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw(results: Results, spec: FigureSpec) -> Figure:
    """Draws one figure.

    Raises:
        InputError: If `where` names no axis or value of the results.
        ValueError: If it asks for what was not measured.
    """
    of = results.where(spec.where) if spec.where else results
    with asked(spec.asked):
        return _DRAWN[spec.kind](of, spec)


def _common(spec: FigureSpec) -> dict[str, Any]:
    return {"variants": spec.variants or None, "title": spec.title}


def _panels(spec: FigureSpec) -> dict[str, Any]:
    return {"rows": spec.rows, "columns": spec.columns, "log": spec.log, **_common(spec)}


def _bars(results: Results, spec: FigureSpec) -> Figure:
    return bars(
        results,
        spec.metric,
        scope=spec.scope,
        names=spec.names or None,
        x="name" if spec.x == "name" else "variant",
        shades=spec.shades,
        log=spec.log,
        **_common(spec),
    )


def _timeline(results: Results, spec: FigureSpec) -> Figure:
    metric = spec.metric or "backlog_packets"
    return timeline(results, metric, where=spec.names or None, **_common(spec))


def _distribution(results: Results, spec: FigureSpec) -> Figure:
    shape = "both" if spec.kind == "distribution" else "cdf" if spec.kind == "cdf" else "ccdf"
    return distribution(results, shape=shape, names=spec.names or None, **_panels(spec))  # type: ignore[arg-type]


def _warmup(results: Results, spec: FigureSpec) -> Figure:
    return warmup(results, names=spec.names or None, **_common(spec))


def _sweep(results: Results, spec: FigureSpec) -> Figure:
    names = spec.names or None
    return sweep(results, spec.metric, spec.axis, scope=spec.scope, names=names, **_panels(spec))


def _heatmap(results: Results, spec: FigureSpec) -> Figure:
    axes, (name,) = (spec.axis, spec.up), spec.names
    return heatmap(results, spec.metric, axes, name, scope=spec.scope, **_panels(spec))


def _tradeoff(results: Results, spec: FigureSpec) -> Figure:
    delay = spec.metric or "owd_p95"
    return tradeoff(results, spec.names[0], delay=delay, gain=spec.gain, **_panels(spec))


_DRAWN: Mapping[str, Callable[[Results, FigureSpec], Figure]] = {
    "bars": _bars,
    "timeline": _timeline,
    **dict.fromkeys(("cdf", "ccdf", "distribution"), _distribution),
    "sweep": _sweep,
    "heatmap": _heatmap,
    "tradeoff": _tradeoff,
    "warmup": _warmup,
}


def draw_to(results: Results, spec: FigureSpec, files: Sequence[Path]) -> list[str]:
    """Draws one figure to files whose endings say as what.

    Returns:
        What to know about them, in sentences.

    Raises:
        InputError: If `where` names no axis or value of the results.
        OSError: If a file cannot be written.
        ValueError: If it asks for what was not measured.
    """
    with _missing_signs() as missing:
        figure = draw(results, spec)
        for file in files:
            write(figure, file.with_suffix(""), (file.suffix[1:],))
    return _without(missing)


def save(
    results: Results, directory: str | Path, specs: Sequence[FigureSpec] | None = None
) -> tuple[list[Path], list[str]]:
    """Writes figures to files; the same results give the same bytes.

    Args:
        results: What was measured.
        directory: Where to write; made if missing.
        specs: The figures; those of `default_figures` if not given.

    Returns:
        The first file of each figure, and one line for each that could not be drawn.
    """
    where = Path(directory)
    where.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    problems: list[str] = []
    with _missing_signs() as missing:
        for spec in specs if specs is not None else default_figures(results):
            try:
                figure = draw(results, spec)
            except (ValueError, InputError) as error:
                problems.append(f"figure {spec.file}: {str(error).removeprefix('error: ')}")
                continue
            written.append(write(figure, where / spec.file, spec.formats))
    return written, [*problems, *_without(missing)]


def _without(missing: Iterable[str]) -> list[str]:
    """That the font lacks signs, in a sentence; nothing if it has all."""
    signs = "".join(missing)
    said = (
        f"figures: their font has no signs for {signs}, which PNG and PDF files show as boxes; "
        "SVG and PGF files and the report have them"
    )
    return [said] if signs else []


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


def write(figure: Figure, path: Path, formats: Sequence[str] = ("png", "svg")) -> Path:
    """Writes a figure; the same figure gives the same bytes.

    Args:
        figure: The figure.
        path: Where, without the ending.
        formats: As what: `png`, `svg`, `pdf`, `pgf`.

    Returns:
        The first file.
    """
    targets = {one: path.with_name(f"{path.name}.{one}") for one in formats}
    with styled():
        if figure.get_layout_engine() is not None:
            # Once for all files: it takes longer than drawing.
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
        for one, target in targets.items():
            if one == "pgf":
                write_pgf(figure, target)
            else:
                figure.savefig(target, metadata=_METADATA[one])
    return next(iter(targets.values()))


_METADATA: Mapping[str, dict[str, str | None]] = {
    "png": {"Software": "Spillgate"},
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
}
"""What keeps the time of writing out of files."""
