//! What a run directory holds of single runs.

use std::collections::BTreeSet;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use spillgate_output::{StoredSeries, read_samples, read_series, read_summary, told};

use crate::job::{Curve, bytes};

fn json<T: Serialize, E: std::fmt::Display>(rows: Result<T, E>) -> PyResult<String> {
    let rows = rows.map_err(|e| PyValueError::new_err(e.to_string()))?;
    serde_json::to_string(&rows).map_err(|e| PyValueError::new_err(e.to_string()))
}

/// Whether a name is one of these; any is, if there are none.
pub(crate) fn among(names: &[String], one: &str) -> bool {
    names.is_empty() || names.iter().any(|n| n == one)
}

/// The value of each run in a `results.parquet`, as a JSON list; of the scopes and metrics that are
/// named, of all where none is. Raises ValueError if it cannot be read.
#[pyfunction]
pub(crate) fn stored_samples(
    py: Python<'_>,
    path: PathBuf,
    scopes: Vec<String>,
    metrics: Vec<String>,
) -> PyResult<String> {
    py.detach(|| {
        json(read_samples(
            &path,
            |s| among(&scopes, s),
            |m| among(&metrics, m),
            |_| true,
        ))
    })
}

/// Every value in a `results.parquet` with its 95 % interval, as a JSON list; of the scopes,
/// metrics and things that are named, of all where none is. Raises ValueError if it cannot be read.
#[pyfunction]
pub(crate) fn stored_summary(
    py: Python<'_>,
    path: PathBuf,
    scopes: Vec<String>,
    metrics: Vec<String>,
    names: BTreeSet<String>,
) -> PyResult<String> {
    py.detach(|| {
        json(read_summary(
            &path,
            |s| among(&scopes, s),
            |m| among(&metrics, m),
            |n| names.is_empty() || names.contains(n),
        ))
    })
}

/// The time series in a `series.parquet`. Raises ValueError if it cannot be read.
#[pyfunction]
pub(crate) fn stored_series(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Curve<'_>>> {
    let found = py.detach(|| read_series(&path));
    let found = found.map_err(|e| PyValueError::new_err(e.to_string()))?;
    let curve = |c: StoredSeries| {
        let what = (c.place, c.metric, c.unit);
        (c.variant, c.run, what, (c.start, c.step), bytes(py, &c.v))
    };
    Ok(found.into_iter().map(curve).collect())
}

/// What earlier versions saved without words, in words, as a JSON object with `verdicts`. Raises
/// ValueError if it is not what they saved.
#[pyfunction]
pub(crate) fn stored_words(saved: &str) -> PyResult<String> {
    told(saved).map_err(|e| PyValueError::new_err(e.to_string()))
}
