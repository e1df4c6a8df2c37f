//! Router configurations without a scenario.

use std::path::PathBuf;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use spillgate_import::{IosImporter, Understood, platforms};
use spillgate_scenario::{Diagnostic, Diagnostics, Files as _, Platform};

use crate::files::Disk;
use crate::job::input_error;

/// What was understood of a Cisco IOS configuration, as JSON.
#[pyfunction]
#[pyo3(signature = (path, platform = "ios", interface = None))]
pub(crate) fn understand(
    py: Python<'_>,
    path: PathBuf,
    platform: &str,
    interface: Option<&str>,
) -> PyResult<String> {
    let understood = py
        .detach(|| read(&path, platform, interface))
        .map_err(|e| input_error(py, &e))?;
    serde_json::to_string(&understood).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

fn read(
    path: &PathBuf,
    platform: &str,
    interface: Option<&str>,
) -> Result<Understood, Diagnostics> {
    let Some(known) = Platform::by_name(platform) else {
        let names: Vec<_> = platforms().map(|(name, _)| name).collect();
        return Err(
            Diagnostic::error("E0717", format!("there is no platform `{platform}`"))
                .hint(format!("platforms: {}", names.join(", ")))
                .into(),
        );
    };
    let file = path.display().to_string();
    let bytes = Disk.read(path).map_err(|e| {
        let d = Diagnostic::error("E0718", format!("cannot read it: {e}"));
        Diagnostics::from(d.in_file(&file).hint("name a text file"))
    })?;
    IosImporter.understand(&file, &bytes, known, interface)
}
