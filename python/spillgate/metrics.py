"""Metrics, and how their values are shown: units, prefixes and sensible digits.

Values are kept in base units everywhere (seconds, bits per second, ratios,
packets, bytes); only this module turns them into text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cache

from spillgate.labels import words


@dataclass(frozen=True)
class Metric:
    """A metric of the catalog.

    Attributes:
        name: Its name in results, such as `owd_p99`.
        unit: Its base unit: `s`, `b/s`, `packets`, `B`, `1` for ratios, `score` and `factor` for
            plain numbers.
        summary: One sentence on what it means.
        better: Whether `less` or `more` of it is better for its users; none if that depends.
        short: Its heading in tables.
        label: What people call it: on an axis, within a sentence.
    """

    name: str
    unit: str
    summary: str
    better: str | None = None
    short: str = ""
    label: str = ""


def metrics() -> list[Metric]:
    """Every metric that a run measures.

    Example:
        >>> import spillgate
        >>> next(m.unit for m in spillgate.metrics() if m.name == "owd_mean")
        's'
    """
    return [
        Metric(**{f.name: m[f.name] for f in fields(Metric)}) for m in words("metrics").values()
    ]


@dataclass(frozen=True)
class Scale:
    """A display unit and the factor from the base unit to it."""

    factor: float
    unit: str


@cache
def _scales() -> dict[str, tuple[Scale, ...]]:
    """The units in which values of each base unit are shown, the largest first."""
    known = (*words("metrics").values(), *words("series").values())
    return {m["unit"]: tuple(Scale(*scale) for scale in m["scale"]) for m in known}


def scale_for(unit: str, values: Iterable[float | None]) -> Scale:
    """The display unit that suits the largest of `values`, given in the base `unit`.

    Example:
        >>> scale_for("s", [0.004, 0.0002])
        Scale(factor=1000.0, unit='ms')
    """
    top = max((abs(v) for v in values if v is not None and math.isfinite(v)), default=0.0)
    family = _scales().get(unit) or (Scale(1.0, unit),)
    if top == 0.0:
        # The unit that is usual for zeros: ms, Mb/s, B.
        return family[-1 if unit == "B" else min(1, len(family) - 1)]
    # A shade below 1 keeps 999.9999 of rounding from choosing the smaller unit.
    return next((s for s in family if top * s.factor >= 0.9999), family[-1])


SIGNIFICANT = 4
"""Significant digits of a mean; more are noise to a reader."""


def decimals_for(mean: float, half: float | None) -> int:
    """How many decimals a mean deserves whose interval is `mean` ± `half`.

    The half-width keeps one significant digit, two if it begins with 1; the mean
    never more than `SIGNIFICANT`.
    """
    most = 2
    if mean != 0.0:
        most = max(0, SIGNIFICANT - 1 - math.floor(math.log10(abs(mean))))
    if half:
        exponent = math.floor(math.log10(half))
        digits = 1 if half / 10**exponent < 1.95 else 0
        return min(6, most, max(0, digits - exponent))
    return min(6, most)


def format_number(
    mean: float | None, half: float | None, scale: Scale, *, interval: bool = True
) -> str:
    """A mean with its half-width in the display unit, without naming the unit.

    A half-width below the last digit of the mean is not shown.

    Args:
        mean: In the base unit; none where the metric is undefined.
        half: Half-width of the interval in the base unit; none if unknown.
        scale: The display unit.
        interval: Whether to show the half-width at all.

    Example:
        >>> format_number(0.0048123, 0.0000312, Scale(1e3, "ms"))
        '4.81 ±0.03'
        >>> format_number(0.0048123, 1e-9, Scale(1e3, "ms"))
        '4.812'
        >>> format_number(None, None, Scale(1.0, "s"))
        '–'
    """
    if mean is None or not math.isfinite(mean):
        return "–"
    value = mean * scale.factor
    width = half * scale.factor if half is not None and math.isfinite(half) else 0.0
    decimals = decimals_for(value, width)
    shown = f"{value:.{decimals}f}"
    if width >= 0.5 * 10.0**-decimals:
        return f"{shown} ±{width:.{decimals}f}" if interval else shown
    if "." in shown:
        shown = shown.rstrip("0").rstrip(".")
    return "0" if shown == "-0" else shown


def column_decimals(scale: Scale, values: Iterable[float | None]) -> int:
    """Decimals that suit a whole column: the largest value gets `SIGNIFICANT` digits.

    Example:
        >>> column_decimals(Scale(1e3, "ms"), [0.0235, 0.0011])
        2
    """
    top = max((abs(v) for v in values if v is not None and math.isfinite(v)), default=0.0)
    return min(3, decimals_for(top * scale.factor, None))


def format_cell(
    mean: float | None, half: float | None, scale: Scale, decimals: int, *, interval: bool = True
) -> str:
    """A value of a column whose decimals are given.

    A value too small for the column is shown as such, so that `0` means zero.

    Example:
        >>> format_cell(0.0048, 0.0004, Scale(1e3, "ms"), 1)
        '4.8 ±0.4'
        >>> format_cell(1e-6, None, Scale(1e3, "ms"), 1)
        '<0.1'
    """
    if mean is None or not math.isfinite(mean):
        return "–"
    if mean == 0.0 and not half:
        return "0"
    value = mean * scale.factor
    shown = f"{value:.{decimals}f}"
    if 0.0 < value < 0.5 * 10.0**-decimals:
        shown = f"<{10.0**-decimals:.{decimals}f}"
    width = half * scale.factor if half is not None and math.isfinite(half) else 0.0
    if interval and width >= 0.5 * 10.0**-decimals:
        return f"{shown} ±{width:.{decimals}f}"
    return shown


def format_value(value: float | None, unit: str) -> str:
    """A value with a fitting unit.

    Example:
        >>> format_value(0.02, "s")
        '20 ms'
        >>> format_value(0.001, "1")
        '0.1 %'
    """
    if value is None:
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    scale = scale_for(unit, [value])
    return f"{format_number(value, None, scale)} {scale.unit}".rstrip()
