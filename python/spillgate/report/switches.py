"""Switches: what waited from which input for which output, over time, and how slots were used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import fmean

from markupsafe import Markup

from spillgate.metrics import format_rough
from spillgate.report.svg import number
from spillgate.result import Results
from spillgate.rows import Row, Series
from spillgate.tables import Column, cells, heading

SAMPLED = "voq_backlog"
"""The metric of which a map shows parts of the run."""

MOST_PANELS = 12
"""Switches and variants that are shown."""

SLICES = 6
"""Parts of the run that are shown side by side."""

MOST_PORTS = 64
"""Rows and columns of a map; ports of larger switches are put together."""

SHADES = 12
"""Steps of the scale of shades."""

_SIDE, _GAP, _TOP, _SCALE = 120, 12, 16, 90

Matrix = Sequence[Sequence[float]]
"""Packets by input and output."""


@dataclass(frozen=True)
class Port:
    """An output: the shares of its slots in percent with their styles, and its row of texts."""

    name: str
    slots: tuple[tuple[int, float], ...]
    texts: tuple[str, ...]


@dataclass(frozen=True)
class SwitchPart:
    """One switch in one variant.

    Attributes:
        variant: The variant.
        name: The switch.
        map: The heat map, if it has virtual output queues.
        caption: What one sees of it.
        longest: The virtual output queues in which most waited: input, output, packets.
        columns: The columns of the outputs.
        ports: The outputs.
    """

    variant: str
    name: str
    map: Markup | None
    caption: str
    longest: tuple[tuple[str, str, str], ...]
    columns: tuple[Column, ...]
    ports: tuple[Port, ...]


_SLOTS = ("slots_used", "slots_wasted", "slots_idle")
_COLUMNS = (
    "offered",
    "carried",
    "loss_ratio",
    "backlog_packets_mean",
    "switch_delay_mean",
    "switch_delay_p99",
    *_SLOTS,
)
_LONGEST = 8

Cells = Mapping[str, Mapping[str, Row]]
"""Rows by name and metric."""


def switch_parts(results: Results) -> tuple[list[SwitchPart], int]:
    """The switches of each variant, as many as are shown, and how many there are."""
    at = {str(link["name"]): str(link["from"]) for link in results.description.links}
    switches, ports, queues = (_cells(results, s) for s in ("switch", "switch-output", "voq"))
    found = []
    for v in results.description.variants:
        for name in switches.get(v, ()):
            outputs = {k: c for k, c in ports.get(v, {}).items() if at.get(k) == name}
            voqs = {k: c for k, c in queues.get(v, {}).items() if k.partition("/")[2] in outputs}
            found.append((v, name, outputs, voqs))
    series = {(s.variant, s.where): s for s in results.series() if s.metric == SAMPLED}
    first = found[:MOST_PANELS]
    maps = [_slices(results, v, outputs, voqs, series) for v, _, outputs, voqs in first]
    # One scale for all, so that they can be compared.
    most = max((x for s in maps for part in s for row in part.packets for x in row), default=0.0)
    shown = [_part(at, slices, most or 1.0) for at, slices in zip(first, maps, strict=True)]
    return shown, len(found)


def _cells(results: Results, scope: str) -> dict[str, dict[str, dict[str, Row]]]:
    """Rows of a scope by variant, name and metric."""
    by: dict[str, dict[str, dict[str, Row]]] = {}
    for (variant, name), of in cells(results, scope).items():
        by.setdefault(variant, {})[name] = of
    return by


@dataclass(frozen=True)
class Slice:
    """A part of the run: from when to when in seconds, and what waited in the mean."""

    begin: float
    end: float
    packets: Matrix


def _part(at: tuple[str, str, Cells, Cells], slices: Sequence[Slice], most: float) -> SwitchPart:
    variant, name, outputs, voqs = at
    columns = [m for m in _COLUMNS if any(m in c for c in outputs.values())]
    slots = [m for m in columns if m in _SLOTS]
    ports = tuple(
        Port(
            k,
            tuple((i, 100.0 * (c[m].mean or 0.0)) for i, m in enumerate(slots)),
            tuple(format_rough(c[m].mean, c[m].unit) if m in c else "–" for m in columns),
        )
        for k, c in outputs.items()
    )
    means = _means(voqs)
    longest = sorted(means, key=lambda k: -means[k])[:_LONGEST]
    return SwitchPart(
        variant,
        name,
        _drawn(slices, most) if slices else None,
        _caption(slices, len(_inputs(voqs))) if slices else "",
        tuple((*k.split("/", 1), format_rough(means[k], "packets")) for k in longest),  # type: ignore[misc]
        tuple(heading(m) for m in columns),
        ports,
    )


def _means(voqs: Cells) -> dict[str, float]:
    return {k: c["backlog_packets_mean"].mean or 0.0 for k, c in voqs.items()}


def _inputs(voqs: Cells) -> list[str]:
    return list(dict.fromkeys(k.partition("/")[0] for k in voqs))


def _slices(
    results: Results,
    variant: str,
    outputs: Cells,
    voqs: Cells,
    series: Mapping[tuple[str, str], Series],
) -> list[Slice]:
    """Parts of the first run, or the mean of all runs where nothing was sampled."""
    if not voqs:
        return []
    d, inputs, means = results.description, _inputs(voqs), _means(voqs)
    sampled = {k: series.get((variant, k)) for k in voqs}
    if None in sampled.values():
        whole = [[means.get(f"{i}/{o}", 0.0) for o in outputs] for i in inputs]
        return [Slice(d.warmup, d.warmup + d.duration, _put_together(whole))]
    some = next(s for s in sampled.values() if s)
    count = min(SLICES, len(some.v))
    found = []
    for n in range(count):
        first, last = (n * len(some.v)) // count, ((n + 1) * len(some.v)) // count
        matrix = [[_mean(sampled[f"{i}/{o}"], first, last) for o in outputs] for i in inputs]
        begin, end = some.start + first * some.step, some.start + last * some.step
        found.append(Slice(begin, end, _put_together(matrix)))
    return found


def _mean(s: Series | None, first: int, last: int) -> float:
    values = [x for x in s.v[first:last] if not isnan(x)] if s else []
    return fmean(values) if values else 0.0


def _put_together(matrix: Matrix) -> Matrix:
    """Of many ports the means over neighbors."""
    every = -(-max(len(matrix), len(matrix[0])) // MOST_PORTS)
    if every == 1:
        return matrix

    def parts(n: int) -> list[range]:
        return [range(i, min(i + every, n)) for i in range(0, n, every)]

    columns = parts(len(matrix[0]))
    return [
        [fmean(matrix[i][o] for i in rows for o in of) for of in columns]
        for rows in parts(len(matrix))
    ]


def _drawn(slices: Sequence[Slice], most: float) -> Markup:
    """Squares of inputs by outputs side by side, and the scale of shades."""
    left = len(slices) * (_SIDE + _GAP)
    width, height = left + _SCALE, _TOP + _SIDE
    spoken = f"packets waiting by input and output, at most {format_rough(most, 'packets')}"
    out = [
        (
            f'<svg class="heat" viewBox="0 0 {width} {height}" role="img" '
            f'aria-label="{spoken}" style="max-width:{width}px">'
        )
    ]
    for n, part in enumerate(slices):
        x = n * (_SIDE + _GAP)
        rows, columns = len(part.packets), len(part.packets[0])
        shades: dict[int, list[str]] = {}
        for i, row in enumerate(part.packets):
            for o, packets in enumerate(row):
                shade = round(SHADES * packets / most)
                shades.setdefault(shade, []).append(f"M{o},{i}h1v1h-1z")
        said = f"{part.begin:g} to {part.end:g} s"
        out.append(
            f'<g transform="translate({x})"><text x="0" y="11">{said}</text>'
            f'<rect class="frame" y="{_TOP}" width="{_SIDE}" height="{_SIDE}"/>'
            f'<g transform="translate(0 {_TOP}) '
            f'scale({number(_SIDE / columns)} {number(_SIDE / rows)})">'
        )
        out += [
            f'<path class="f0" fill-opacity="{number(shade / SHADES)}" d="{"".join(at)}"/>'
            for shade, at in sorted(shades.items())
            if shade
        ]
        out.append("</g></g>")
    step = _SIDE / SHADES
    out += [
        f'<rect class="f0" fill-opacity="{number(shade / SHADES)}" x="{left}" '
        f'y="{number(_TOP + _SIDE - shade * step)}" width="12" height="{number(step)}"/>'
        for shade in range(1, SHADES + 1)
    ]
    out.append(
        f'<text x="{left + 16}" y="{_TOP + 9}">{format_rough(most, "packets")}</text>'
        f'<text x="{left + 16}" y="{_TOP + _SIDE}">0</text>'
    )
    # All of it is numbers.
    return Markup("".join([*out, "</svg>"]))  # noqa: S704


def _caption(slices: Sequence[Slice], inputs: int) -> str:
    of = "parts of the first run" if len(slices) > 1 else "mean over the runs"
    said = (
        f"Mean packets in each virtual output queue, {of}: an input in each row from the top, an "
        "output in each column from the left; the same scale for all that are shown."
    )
    together = -(-inputs // MOST_PORTS)
    return said if together == 1 else f"{said} Each square is {together} by {together} ports."
