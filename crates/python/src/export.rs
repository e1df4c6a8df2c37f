//! Policies back to text.

use std::path::PathBuf;

use pyo3::prelude::*;
use spillgate_documents::{ExportRequest, NO_ROUTER};
use spillgate_scenario::{Options, Own};

use crate::files::Disk;
use crate::job::input_error;
use crate::memory;
use crate::waiting::waiting;

/// The policies of a configuration or of a scenario's links as IOS text or as `tc` commands: JSON
/// with `text` and `notes`.
#[pyfunction]
#[pyo3(signature = (path, to, scenario, platform = "ios", interface = None, link = None, variant = None, policy = None, rate = None, device = None, scheduler = None, filters = None, overrides = Vec::new(), confine = false))]
#[allow(clippy::too_many_arguments)]
pub(crate) fn export(
    py: Python<'_>,
    path: PathBuf,
    to: &str,
    scenario: bool,
    platform: &str,
    interface: Option<String>,
    link: Option<String>,
    variant: Option<String>,
    policy: Option<String>,
    rate: Option<String>,
    device: Option<String>,
    scheduler: Option<String>,
    filters: Option<String>,
    overrides: Vec<String>,
    confine: bool,
) -> PyResult<String> {
    let request = ExportRequest {
        path,
        scenario,
        to_tc: to == "tc",
        platform: platform.to_owned(),
        interface,
        link,
        variant,
        policy,
        rate,
        device,
        scheduler,
        filters,
    };
    let options = Options {
        overrides,
        confine,
        memory: memory::available(),
        own: Own::refused(NO_ROUTER),
        ..Options::default()
    };
    let export = move || spillgate_documents::export(&request, &Disk, &options);
    let exported = waiting(py, export)?.map_err(|e| input_error(py, &e))?;
    Ok(exported.to_string())
}
