//! Router configurations without a scenario.

use std::path::PathBuf;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use spillgate_scenario::Files as _;

use crate::files::Disk;
use crate::job::input_error;
use crate::waiting::waiting;

/// What was understood of a Cisco IOS configuration, as JSON.
#[pyfunction]
#[pyo3(signature = (path, platform = "ios", interface = None, strict = false))]
pub(crate) fn understand(
    py: Python<'_>,
    path: PathBuf,
    platform: &str,
    interface: Option<String>,
    strict: bool,
) -> PyResult<String> {
    let platform = platform.to_owned();
    let understood = waiting(py, move || {
        spillgate_documents::understand(&path, &Disk, &platform, interface.as_deref(), strict)
    })?;
    let understood = understood.map_err(|e| input_error(py, &e))?;
    serde_json::to_string(&understood).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// Whether a file looks like an output of `show policy-map interface`; false if it cannot be read.
#[pyfunction]
pub(crate) fn is_show_output(py: Python<'_>, path: PathBuf) -> PyResult<bool> {
    waiting(py, move || {
        Disk.read(&path)
            .is_ok_and(|bytes| spillgate_import::is_show_output(&bytes))
    })
}

/// The classes in an output of `show policy-map interface` with their rates, as JSON.
#[pyfunction]
pub(crate) fn offered(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let found = waiting(py, move || spillgate_documents::offered(&path, &Disk))?;
    let found = found.map_err(|e| input_error(py, &e))?;
    serde_json::to_string(&found).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}
