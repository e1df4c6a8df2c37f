"""Charts as SVG text: axes, lines, bands, thresholds.

The paths are in the data's own units and a transform puts them into place, so that the page's
script can read values off them and zoom by changing the transform. Without the script the
chart is complete all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup, escape

WIDTH, HEIGHT = 480, 216
LEFT, RIGHT, TOP, BOTTOM = 54, 14, 22, 36
STYLES = 8
"""Colors with dashes that the style sheet has."""

_LABEL_PX = 11.0
_DENSE = 250
"""Points from which on a curve is drawn with a thinner pen."""


@dataclass(frozen=True)
class Axis:
    """One axis.

    Attributes:
        low: Where it begins, in the unit of the axis.
        high: Where it ends.
        label: What it shows.
        unit: Unit of the values.
        log: Whether it is logarithmic; then both ends are above 0.
    """

    low: float
    high: float
    label: str
    unit: str
    log: bool = False

    def at(self, value: float) -> float:
        """The coordinate of a value: itself or its decimal logarithm."""
        return math.log10(value) if self.log else value

    @property
    def ends(self) -> tuple[float, float]:
        """The ends as coordinates, never the same."""
        low, high = self.at(self.low), self.at(self.high)
        return (low, high) if high > low else (low, low + 1.0)


@dataclass(frozen=True)
class Line:
    """A curve.

    Attributes:
        name: What it is, as in the legend.
        style: Number of its color and dashes.
        points: The points; none breaks the curve.
        band: A closed outline around what it stands for, if any.
        average_of: The curve whose average it is; it is drawn broad and pale.
    """

    name: str
    style: int
    points: Sequence[tuple[float, float] | None]
    band: Sequence[tuple[float, float]] = ()
    average_of: str = ""


@dataclass(frozen=True)
class Level:
    """A horizontal line with a label, such as a queue limit; `style` none is neutral."""

    y: float
    label: str
    style: int | None = None


@dataclass(frozen=True)
class Wall:
    """A vertical line with a label, such as a bound; `style` none is neutral."""

    x: float
    label: str
    style: int | None = None


@dataclass(frozen=True)
class Panel:
    """One chart.

    Attributes:
        title: Above it.
        x: The horizontal axis.
        y: The vertical axis.
        lines: The curves.
        levels: Horizontal lines.
        spans: Shaded parts of the horizontal axis with what they are.
        dots: Points that curves are compared with.
        walls: Vertical lines; of those beyond the axis the label alone is drawn, with an arrow.
        summary: What there is to see, for those who do not.
    """

    title: str
    x: Axis
    y: Axis
    lines: Sequence[Line]
    levels: Sequence[Level] = ()
    spans: Sequence[tuple[float, float, str]] = ()
    dots: Sequence[tuple[float, float, str]] = field(default=())
    summary: str = ""
    walls: Sequence[Wall] = ()


def number(value: float) -> str:
    """Six significant digits, as short as they can be written.

    Example:
        >>> number(0.25), number(3.0), number(1234567.0), number(-0.0)
        ('.25', '3', '1234570', '0')
    """
    text = f"{value:.6g}"
    if "e" in text:
        text = f"{float(text):.12f}".rstrip("0").rstrip(".") or "0"
    if text.startswith("0."):
        return text[1:]
    if text.startswith("-0."):
        return "-" + text[2:]
    return "0" if text == "-0" else text


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """About `count` round numbers from `low` to `high`.

    Example:
        >>> ticks(0, 64)
        [0.0, 20.0, 40.0, 60.0]
        >>> ticks(0.9, 1.1, 3)
        [0.9, 1.0, 1.1]
    """
    if not high > low:
        return [low]
    rough = (high - low) / count
    base = 10.0 ** math.floor(math.log10(rough))
    step = next(m * base for m in (1, 2, 5, 10) if m * base >= rough * 0.9999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(i * step, digits) + 0.0 for i in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Powers of ten between two positive numbers, with 2 and 5 times them where there is room.

    Example:
        >>> log_ticks(0.001, 1)
        [0.001, 0.01, 0.1, 1.0]
        >>> log_ticks(1, 30)
        [1.0, 2.0, 5.0, 10.0, 20.0]
    """
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = max(1, math.ceil((last - first) / 6))
    parts = (1, 2, 5) if math.log10(high / low) <= 2.8 else (1,)
    found = [
        float(f"{m}e{d}")
        for d in range(first, last + 1, every)
        for m in parts
        if low * 0.9999 <= float(f"{m}e{d}") <= high * 1.0001
    ]
    return found if len(found) > 1 else ticks(low, high, 4)


def _ticks(axis: Axis, count: int) -> list[float]:
    low, high = axis.ends
    if axis.log:
        return log_ticks(10.0**low, 10.0**high)
    return ticks(low, high, count)


def _path(points: Sequence[tuple[float, float] | None], x: Axis, y: Axis) -> str:
    parts: list[str] = []
    begun = 0
    for point in (*points, None):
        if point is None:
            # A single point would draw nothing.
            parts += ["h0"] if begun == 1 else []
            begun = 0
            continue
        at = f"{number(x.at(point[0]))},{number(y.at(point[1]))}"
        parts.append(f" {at}" if begun else f"{' ' if parts else ''}M{at}")
        begun += 1
    return "".join(parts)


def render(panel: Panel) -> Markup:
    """The chart as an `svg` element."""
    x0, x1 = panel.x.ends
    y0, y1 = panel.y.ends
    width, height = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    right, bottom = LEFT + width, TOP + height
    sx, sy = width / (x1 - x0), height / (y1 - y0)

    def px(value: float) -> float:
        return LEFT + (panel.x.at(value) - x0) * sx

    def py(value: float) -> float:
        return bottom - (panel.y.at(value) - y0) * sy

    head = (
        f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(panel.title)}: {escape(panel.summary)}" '
        f'data-x="{number(x0)} {number(x1)}" data-y="{number(y0)} {number(y1)}" '
        f'data-log="{int(panel.x.log)}{int(panel.y.log)}" '
        f'data-units="{escape(panel.x.unit)}|{escape(panel.y.unit)}">'
        f'<text class="unit" x="{LEFT}" y="12">{escape(_axis_title(panel.y))}</text>'
        f'<text class="unit end" x="{right}" y="{HEIGHT - 4}">'
        f'{escape(_axis_title(panel.x))}</text><g class="ys">'
    )
    out = [head]
    for value in _ticks(panel.y, 4):
        at = number(round(py(value), 1))
        out.append(
            f'<line x1="{LEFT}" x2="{right}" y1="{at}" y2="{at}"/>'
            f'<text x="{LEFT - 5}" y="{at}" dy=".35em">{_tick_text(value)}</text>'
        )
    out.append('</g><g class="xs">')
    for value in _ticks(panel.x, 6):
        at = number(round(px(value), 1))
        out.append(
            f'<line x1="{at}" x2="{at}" y1="{bottom}" y2="{bottom + 4}"/>'
            f'<text x="{at}" y="{bottom + 15}">{_tick_text(value)}</text>'
        )
    matrix = " ".join(number(v) for v in (sx, 0, 0, -sy, -x0 * sx, y1 * sy))
    out.append(
        f'</g><svg class="view" x="{LEFT}" y="{TOP}" width="{width}" height="{height}">'
        f'<g class="data" transform="matrix({matrix})">'
    )
    out += [*_behind(panel), *_curves(panel), "</g></svg>", *_level_labels(panel, py, right)]
    out += _wall_labels(panel, px, right)
    out.append(f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/></svg>')
    # All of it is numbers and escaped texts.
    return Markup("".join(out))  # noqa: S704


def _behind(panel: Panel) -> Iterator[str]:
    """Spans and levels."""
    x0, x1 = panel.x.ends
    y0, y1 = panel.y.ends
    for begin, end, what in panel.spans:
        a, b = panel.x.at(begin), panel.x.at(end)
        down = "" if begin == 0.0 else " down"
        yield (
            f'<rect class="span{down}" x="{number(a)}" y="{number(y0)}" width="{number(b - a)}" '
            f'height="{number(y1 - y0)}"><title>{escape(what)}</title></rect>'
        )
    for level in panel.levels:
        if level.y <= panel.y.high:
            at = number(panel.y.at(level.y))
            line = f"M{number(x0)},{at} {number(x1)},{at}"
            yield f'<path class="level{_style(level.style)}" d="{line}"/>'

    for wall in panel.walls:
        if wall.x <= panel.x.high:
            at = number(panel.x.at(wall.x))
            line = f"M{at},{number(y0)} {at},{number(y1)}"
            yield (
                f'<path class="level wall{_style(wall.style)}" d="{line}">'
                f"<title>{escape(wall.label)}</title></path>"
            )


def _curves(panel: Panel) -> Iterator[str]:
    """Bands, curves, dots."""
    for line in panel.lines:
        if line.band:
            yield (
                f'<path class="band s{line.style}" data-of="{escape(line.name)}" '
                f'd="{_path(line.band, panel.x, panel.y)}Z"/>'
            )
    for line in panel.lines:
        yield (
            f'<path class="line{_pen(line)} s{line.style}" data-name="{escape(line.name)}" '
            f'{_of(line)}d="{_path(line.points, panel.x, panel.y)}"/>'
        )
    for x, y, what in panel.dots:
        yield (
            f'<path class="dot" d="M{number(panel.x.at(x))},{number(panel.y.at(y))}h0">'
            f"<title>{escape(what)}</title></path>"
        )


def _level_labels(panel: Panel, py: Callable[[float], float], right: float) -> list[str]:
    """Names of the levels at their right ends, moved apart where they would overlap."""
    places: list[tuple[float, Level]] = []
    for level in sorted(panel.levels, key=lambda v: -v.y):
        above = level.y > panel.y.high
        at = TOP + 9.0 if above else py(level.y) - 3.0
        if places:
            at = max(at, places[-1][0] + _LABEL_PX)
        places.append((max(at, TOP + 9.0), level))
    texts = []
    for at, level in places:
        arrow = "↑ " if level.y > panel.y.high else ""
        texts.append(
            f'<text class="name{_style(level.style)}" data-at="{number(level.y)}" '
            f'x="{right - 3}" y="{number(round(at, 1))}">'
            f"{arrow}{escape(level.label)}</text>"
        )
    return texts


def _wall_labels(panel: Panel, px: Callable[[float], float], right: float) -> list[str]:
    """Names of the walls beside their upper ends, one below the other."""
    texts = []
    for row, wall in enumerate(sorted(panel.walls, key=lambda w: w.x)):
        beyond = wall.x > panel.x.high
        at = right if beyond else px(wall.x)
        # On the side where there is room.
        side = " start" if at < LEFT + 0.5 * (right - LEFT) else ""
        texts.append(
            f'<text class="name bound{side}{_style(wall.style)}" '
            f'data-x="{number(panel.x.at(wall.x))}" '
            f'x="{number(round(at + (4 if side else -4), 1))}" '
            f'y="{number(TOP + 10 + row * _LABEL_PX)}">'
            f"{escape(wall.label)}{' →' if beyond else ''}</text>"
        )
    return texts


def _of(line: Line) -> str:
    return f'data-of="{escape(line.average_of)}" ' if line.average_of else ""


def _pen(line: Line) -> str:
    if line.average_of:
        return " average"
    if len(line.points) == 1:
        return " mark"
    return " fine" if len(line.points) > _DENSE else ""


def _style(style: int | None) -> str:
    return "" if style is None else f" s{style}"


def _axis_title(axis: Axis) -> str:
    return f"{axis.label} ({axis.unit})" if axis.unit else axis.label


def _tick_text(value: float) -> str:
    return f"{value:g}" if 1e-4 <= abs(value) < 1e6 or value == 0 else f"{value:.0e}"
