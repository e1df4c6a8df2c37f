//! Captures, measured.

use std::path::PathBuf;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spillgate_documents::{ProfileRequest, profile};

use crate::files::{Disk, OnDisk};
use crate::job::input_error;
use crate::waiting::waiting;

/// A capture's rates, bursts and sizes with sources that are like them, as JSON; under `scenario`
/// the sources as a scenario.
///
/// `by` is `dscp`, `flow` or `class`; for the last, `config` names a router configuration and
/// `interface` one of its interfaces. `only` is a JSON object like that of a capture in a scenario.
#[pyfunction]
#[pyo3(signature = (path, by = "dscp", only = "{}", top = 20, config = None, platform = "ios", interface = None))]
#[allow(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn profile_capture(
    py: Python<'_>,
    path: PathBuf,
    by: &str,
    only: &str,
    top: usize,
    config: Option<PathBuf>,
    platform: &str,
    interface: Option<String>,
) -> PyResult<String> {
    let only = serde_json::from_str(only).map_err(|e| PyValueError::new_err(e.to_string()))?;
    let request = ProfileRequest {
        path,
        by: by.to_owned(),
        only,
        top,
        config,
        platform: platform.to_owned(),
        interface,
    };
    let measured = waiting(py, move || {
        profile(&request, &OnDisk(request.path.clone()), &Disk)
    })?;
    Ok(measured.map_err(|e| input_error(py, &e))?.to_string())
}
