//! Numbers as text.

use pyo3::prelude::*;
use spillgate_core::show;

/// NaN is what the core has for none.
fn plain(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::NAN)
}

/// The factor to the unit of display that suits the largest of the values, or of differences of
/// values, and the unit.
#[pyfunction]
#[pyo3(signature = (unit, values, difference = false))]
pub(crate) fn scale_for(unit: &str, values: Vec<Option<f64>>, difference: bool) -> (f64, String) {
    let scale = show::fitting(unit, values.into_iter().map(plain));
    let scale = if difference {
        scale.of_difference()
    } else {
        scale
    };
    (scale.factor, scale.unit.to_owned())
}

/// A mean with its half-width in the display unit.
#[pyfunction]
pub(crate) fn format_number(
    mean: Option<f64>,
    half: Option<f64>,
    factor: f64,
    interval: bool,
) -> String {
    show::number(plain(mean), plain(half), factor, interval)
}

/// Decimals that suit a whole column.
#[pyfunction]
pub(crate) fn column_decimals(factor: f64, values: Vec<Option<f64>>) -> i32 {
    show::column(factor, values.into_iter().map(plain))
}

/// A value of a column whose decimals are given.
#[pyfunction]
pub(crate) fn format_cell(
    mean: Option<f64>,
    half: Option<f64>,
    factor: f64,
    decimals: i32,
    interval: bool,
) -> String {
    show::cell(plain(mean), plain(half), factor, decimals, interval)
}

/// A mean, with its half-width if there is one, in a fitting unit.
#[pyfunction]
#[pyo3(signature = (value, unit, half = None))]
pub(crate) fn format_value(value: Option<f64>, unit: &str, half: Option<f64>) -> String {
    show::with_interval(plain(value), plain(half), unit)
}

/// What cannot be exceeded, in a fitting unit, rounded up.
#[pyfunction]
pub(crate) fn format_ceiling(value: Option<f64>, unit: &str) -> String {
    show::ceiling(plain(value), unit)
}

/// A value of three digits in a fitting unit.
#[pyfunction]
pub(crate) fn format_rough(value: Option<f64>, unit: &str) -> String {
    show::rough(plain(value), unit)
}

/// A mean number of things.
#[pyfunction]
pub(crate) fn format_count(n: f64) -> String {
    show::count(n)
}

/// Seconds rounded up to two digits.
#[pyfunction]
pub(crate) fn rounded_up(seconds: f64) -> f64 {
    show::rounded_up(seconds)
}
