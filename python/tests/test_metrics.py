import math

import pytest

from spillgate.metrics import (
    Scale,
    column_decimals,
    format_cell,
    format_number,
    format_value,
    scale_for,
)

MS = Scale(1e3, "ms")


@pytest.mark.parametrize(
    ("unit", "values", "shown"),
    [
        ("s", [2.0, 0.001], "s"),
        ("s", [0.0048], "ms"),
        ("s", [0.00021, None], "µs"),
        ("s", [0.0], "ms"),
        ("s", [0.99999999], "s"),
        ("b/s", [23.5e6, 1e3], "Mb/s"),
        ("b/s", [1e9], "Gb/s"),
        ("B", [1500.0], "kB"),
        ("1", [0.187], "%"),
        ("packets", [12.0], "packets"),
        ("s", [math.inf, None], "ms"),
    ],
)
def test_the_largest_value_chooses_the_unit(unit, values, shown):
    assert scale_for(unit, values).unit == shown


@pytest.mark.parametrize(
    ("mean", "half", "text"),
    [
        (0.0048123, 0.0000312, "4.81 ±0.03"),
        (0.0048123, 0.0000152, "4.812 ±0.015"),
        (0.0048123, None, "4.812"),
        (0.0048, None, "4.8"),
        (0.0048123, 0.0, "4.812"),
        # Narrower than the last digit anyone reads.
        (0.0048123, 1e-9, "4.812"),
        (0.0, 0.0, "0"),
        (None, None, "–"),
        (math.nan, 1.0, "–"),
        (0.0048, math.inf, "4.8"),
        (0.02, 0.005, "20 ±5"),
        (0.0999, 0.00961, "100 ±10"),
    ],
)
def test_digits_follow_the_interval(mean, half, text):
    assert format_number(mean, half, MS) == text


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.001, "1", "0.1 %"),
        (20e6, "b/s", "20 Mb/s"),
        (0.02, "s", "20 ms"),
        (0.0, "s", "0 ms"),
        (None, "s", "–"),
        (math.inf, "s", "∞"),
        (100.0, "packets", "100 packets"),
    ],
)
def test_values_carry_units(value, unit, text):
    assert format_value(value, unit) == text


def test_zero_means_zero_in_a_column():
    percent = Scale(100.0, "%")
    decimals = column_decimals(percent, [0.187, 1e-9, 0.0])
    assert decimals == 2
    assert format_cell(0.187, None, percent, decimals) == "18.70"
    assert format_cell(1e-9, None, percent, decimals) == "<0.01"
    assert format_cell(0.0, 0.0, percent, decimals) == "0"
    assert format_cell(0.187, 0.0005, percent, decimals) == "18.70 ±0.05"
    assert format_cell(0.187, 0.0005, percent, decimals, interval=False) == "18.70"
