//! Router configurations without a scenario.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use spillgate_import::{ConfigImporter, Understood, platform_by_name};
use spillgate_scenario::{Diagnostic, Diagnostics, Files as _};

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
    let read = move || read(&path, &platform, interface.as_deref(), strict);
    let understood = waiting(py, read)?.map_err(|e| input_error(py, &e))?;
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
    let found = waiting(py, move || {
        let file = path.display().to_string();
        spillgate_import::offered(&file, &bytes_of(&path)?)
    })?;
    let found = found.map_err(|e| input_error(py, &e))?;
    serde_json::to_string(&found).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// The bytes of a file that the user names.
pub(crate) fn bytes_of(path: &Path) -> Result<Vec<u8>, Diagnostics> {
    Disk.read(path).map_err(|e| {
        let d = Diagnostic::error("E0101", format!("cannot read it: {e}"));
        let file = path.display().to_string();
        Diagnostics::from(d.in_file(&file).hint("name a text file"))
    })
}

fn read(
    path: &Path,
    platform: &str,
    interface: Option<&str>,
    strict: bool,
) -> Result<Understood, Diagnostics> {
    let known = platform_by_name(platform)?;
    let file = path.display().to_string();
    let bytes = bytes_of(path)?;
    ConfigImporter { strict }.understand(&file, &bytes, known, interface)
}
