//! What a run directory holds of single runs.

use std::collections::BTreeSet;
use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;
use spillgate_output::{read_samples, read_summary};

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
