//! The native module of the Python package: `spillgate._native`.
//!
//! PyO3 classes and nothing else, but for AQMs of a user's own (`own`). Documents go to Python as
//! JSON text; long calls release the interpreter.

mod alone;
mod bound;
mod capture;
mod config;
mod dataset;
mod export;
mod files;
mod job;
mod lint;
mod memory;
mod own;
mod results;
mod show;
mod stored;
mod voice;
mod waiting;
mod written;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use job::{InputError, Job};
use results::Results;

use spillgate_core::suggest;
use spillgate_measure::sla;
use spillgate_measure::stats::{Interval, Looks};

/// The JSON Schema of scenario files, or of customers' files of requirements (`sla`).
#[pyfunction]
#[pyo3(signature = (of = "scenario"))]
fn schema(of: &str) -> PyResult<String> {
    match of {
        "scenario" => Ok(spillgate_scenario::json_schema().to_string()),
        "sla" => Ok(spillgate_scenario::customer_schema().to_string()),
        _ => Err(PyValueError::new_err(format!(
            "there is no schema of {of:?}"
        ))),
    }
}

/// The one of `known` that `name` is probably meant to be, if one is near enough.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "it comes from Python")]
fn nearest(name: &str, known: Vec<String>) -> Option<String> {
    suggest::nearest(name, known.iter().map(String::as_str)).map(str::to_owned)
}

/// Everything that can be named in a scenario, by family, as JSON.
#[pyfunction]
fn catalog() -> String {
    spillgate_documents::catalog().to_string()
}

/// Mean of independent values with its interval of `level`, for one look (Student's t) or, `again`,
/// for any number of them: mean, low, high. Of one value the interval is infinite, of none the mean
/// is NaN.
#[pyfunction]
#[pyo3(signature = (values, level = Interval::LEVEL, again = false))]
fn interval(values: Vec<f64>, level: f64, again: bool) -> PyResult<(f64, f64, f64)> {
    let found = Interval::of(&values, proper(level, "level")?).for_looks(looks(again));
    Ok((found.mean, found.low, found.high))
}

/// The `p`-quantile of what independent values come from, with an interval of `level` for any
/// number of looks: value, low, high.
#[pyfunction]
#[pyo3(signature = (values, p, level = Interval::LEVEL))]
fn quantile_interval(values: Vec<f64>, p: f64, level: f64) -> PyResult<(f64, f64, f64)> {
    let found = Interval::of_quantile(&values, proper(p, "p")?, proper(level, "level")?);
    Ok((found.mean, found.low, found.high))
}

/// The p-value of `bound` being the mean of independent values, for one look or, `again`, for any
/// number of them.
#[pyfunction]
#[pyo3(signature = (values, bound, again = false))]
fn p_value(values: Vec<f64>, bound: f64, again: bool) -> f64 {
    let of = Interval::of(&values, Interval::LEVEL).for_looks(looks(again));
    sla::p_value(&of, Some(bound), None)
}

/// `Any` of those who look again.
const fn looks(again: bool) -> Looks {
    if again { Looks::Any } else { Looks::Once }
}

/// A probability that is neither 0 nor 1.
fn proper(p: f64, name: &str) -> PyResult<f64> {
    let between = p > 0.0 && p < 1.0;
    between
        .then_some(p)
        .ok_or_else(|| PyValueError::new_err(format!("{name} must be between 0 and 1, not {p}")))
}

/// Judges the 95 % interval of independent values, from `low` to `high` as it is reported, as
/// requirements are judged when one looks once: pass, fail or undecided, and then how many more
/// values would probably tell.
#[pyfunction]
fn judge(
    values: Vec<f64>,
    low: f64,
    high: f64,
    most: Option<f64>,
    least: Option<f64>,
) -> (&'static str, Option<u32>) {
    let of = Interval {
        low,
        high,
        ..Interval::of(&values, Interval::LEVEL)
    };
    let further = sla::further_runs(&of, most, least);
    (sla::judge(&of, most, least).as_str(), further)
}

/// The native module.
#[pymodule]
fn _native(py: Python<'_>, m: &Bound<'_, PyModule>) -> PyResult<()> {
    m.add("__version__", env!("CARGO_PKG_VERSION"))?;
    m.add("__commit__", spillgate_documents::COMMIT)?;
    m.add("BEHAVIOR", spillgate_sim::BEHAVIOR)?;
    m.add("InputError", py.get_type::<InputError>())?;
    m.add("AqmError", py.get_type::<own::AqmError>())?;
    m.add("HookError", py.get_type::<own::HookError>())?;
    m.add("SchedulerError", py.get_type::<own::SchedulerError>())?;
    m.add_class::<Job>()?;
    m.add_class::<Results>()?;
    m.add_class::<own::BacklogView>()?;
    m.add_class::<own::PacketView>()?;
    m.add_class::<own::PortView>()?;
    m.add_class::<own::QueueView>()?;
    m.add_function(wrap_pyfunction!(interval, m)?)?;
    m.add_function(wrap_pyfunction!(quantile_interval, m)?)?;
    m.add_function(wrap_pyfunction!(p_value, m)?)?;
    m.add_function(wrap_pyfunction!(judge, m)?)?;
    m.add_function(wrap_pyfunction!(stored::stored_runs, m)?)?;
    m.add_function(wrap_pyfunction!(stored::study, m)?)?;
    m.add_function(wrap_pyfunction!(dataset::write_dataset, m)?)?;
    m.add_function(wrap_pyfunction!(stored::note_study, m)?)?;
    m.add_function(wrap_pyfunction!(nearest, m)?)?;
    m.add_function(wrap_pyfunction!(schema, m)?)?;
    m.add_function(wrap_pyfunction!(catalog, m)?)?;
    m.add_function(wrap_pyfunction!(config::understand, m)?)?;
    m.add_function(wrap_pyfunction!(capture::profile_capture, m)?)?;
    m.add_function(wrap_pyfunction!(export::export, m)?)?;
    m.add_function(wrap_pyfunction!(alone::alone, m)?)?;
    m.add_function(wrap_pyfunction!(bound::bound, m)?)?;
    m.add_function(wrap_pyfunction!(bound::worst, m)?)?;
    m.add_function(wrap_pyfunction!(lint::lint, m)?)?;
    m.add_function(wrap_pyfunction!(lint::lint_rules, m)?)?;
    m.add_function(wrap_pyfunction!(lint::reader_warnings, m)?)?;
    m.add_function(wrap_pyfunction!(config::is_show_output, m)?)?;
    m.add_function(wrap_pyfunction!(config::offered, m)?)?;
    m.add_function(wrap_pyfunction!(show::scale_for, m)?)?;
    m.add_function(wrap_pyfunction!(show::format_number, m)?)?;
    m.add_function(wrap_pyfunction!(show::column_decimals, m)?)?;
    m.add_function(wrap_pyfunction!(show::format_cell, m)?)?;
    m.add_function(wrap_pyfunction!(show::format_value, m)?)?;
    m.add_function(wrap_pyfunction!(show::format_ceiling, m)?)?;
    m.add_function(wrap_pyfunction!(show::format_rough, m)?)?;
    m.add_function(wrap_pyfunction!(show::format_count, m)?)?;
    m.add_function(wrap_pyfunction!(show::rounded_up, m)?)?;
    m.add_function(wrap_pyfunction!(voice::rate_call, m)?)?;
    m.add_function(wrap_pyfunction!(written::written, m)?)?;
    Ok(())
}
