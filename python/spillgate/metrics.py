"""Metrics, and how their values are shown: units, prefixes and sensible digits.

Values are kept in base units everywhere (seconds, bits per second, ratios,
packets, bytes); only the core turns them into text.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, fields

from spillgate import _engine
from spillgate.labels import is_a, words


@dataclass(frozen=True)
class Metric:
    """A metric of the catalog.

    Attributes:
        name: Its name in results, such as `owd_p99`.
        unit: Its base unit: `s`, `b/s`, `packets`, `B`, `1` for ratios, `score` and `factor` for
            plain numbers.
        summary: One sentence on what it means.
        better: Whether `less` or `more` of it is better for its users; none if that depends.
        needs: What must be there for it to be measured: `tcp`, `speech`, `admission` (a link that
            admits flows), `gaps` (a period in which they are measured), `switch`, `meter` or
            `percentiles` (that they are asked for); none for any traffic.
        short: Its heading in tables.
        label: What people call it: on an axis, within a sentence.
    """

    name: str
    unit: str
    summary: str
    better: str | None = None
    needs: str | None = None
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


def missing(metric: str, scope: str) -> str:
    """That results have no such metric, and what measures it, if it is known."""
    key = words("metrics").get(metric, {}).get("key")
    hint = f"; `{key}` measures it" if key else ""
    return f"there is no metric {metric!r} of scope {scope!r}{hint}"


@dataclass(frozen=True)
class Scale:
    """A display unit and the factor from the base unit to it."""

    factor: float
    unit: str


def scale_for(unit: str, values: Iterable[float | None], *, difference: bool = False) -> Scale:
    """The display unit that suits the largest of `values`, given in the base `unit`.

    Args:
        unit: The base unit.
        values: In the base unit; none where undefined.
        difference: Whether they are differences of values.

    Example:
        >>> scale_for("s", [0.004, 0.0002])
        Scale(factor=1000.0, unit='ms')
        >>> scale_for("1", [0.02], difference=True).unit
        '% points'
    """
    return Scale(*_engine.scale_for(unit, list(values), difference))


def scale_of(metric: str, unit: str, values: Iterable[float | None]) -> Scale:
    """As `scale_for`, for a metric: Jain's index is a number, not a percentage.

    Example:
        >>> scale_of("jain", "1", [0.5]), scale_of("loss_ratio", "1", [0.5])
        (Scale(factor=1.0, unit=''), Scale(factor=100.0, unit='%'))
    """
    return Scale(1.0, "") if is_a("plain", metric) else scale_for(unit, values)


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
    """
    return _engine.format_number(mean, half, scale.factor, interval)


def column_decimals(scale: Scale, values: Iterable[float | None]) -> int:
    """Decimals that suit a whole column: the largest value gets four digits.

    Example:
        >>> column_decimals(Scale(1e3, "ms"), [0.0235, 0.0011])
        2
    """
    return _engine.column_decimals(scale.factor, list(values))


def format_cell(
    mean: float | None, half: float | None, scale: Scale, decimals: int, *, interval: bool = True
) -> str:
    """A value of a column whose decimals are given.

    A value too small for the column is shown as such, so that `0` means zero.

    Example:
        >>> format_cell(1e-6, None, Scale(1e3, "ms"), 1)
        '<0.1'
    """
    return _engine.format_cell(mean, half, scale.factor, decimals, interval)


def ceiling_cell(bound: float | None, scale: Scale, decimals: int) -> str:
    """As `format_cell`, of what cannot be exceeded: rounded up.

    Example:
        >>> ceiling_cell(0.06697979, Scale(1e3, "ms"), 1), ceiling_cell(None, Scale(1e3, "ms"), 1)
        ('67.0', '–')
    """
    return format_cell(rounded_up(bound, scale, decimals), None, scale, decimals, interval=False)


def rounded_up(value: float | None, scale: Scale, decimals: int) -> float | None:
    """A value above 0 rounded up to so many decimals in the display unit.

    Example:
        >>> rounded_up(0.06697979, Scale(1e3, "ms"), 1)
        0.067
    """
    if value is None or value <= 0.0:
        return value
    step = 10.0**-decimals
    # A whole number of steps may be a little more or less in binary.
    return math.ceil(value * scale.factor / step - 1e-9) * step / scale.factor


def format_value(value: float | None, unit: str) -> str:
    """A value with a fitting unit.

    Example:
        >>> format_value(0.02, "s"), format_value(0.001, "1")
        ('20 ms', '0.1 %')
    """
    return _engine.format_value(value, unit)


format_ceiling = _engine.format_ceiling
"""What cannot be exceeded, with a fitting unit: four digits, the last rounded up."""

format_rough = _engine.format_rough
"""A value of three digits with a fitting unit."""

format_count = _engine.format_count
"""A mean number of things, with commas between thousands."""
