//! Rules, without simulating.

use std::path::PathBuf;

use pyo3::prelude::*;
use spillgate_documents::{lint_configuration, lint_scenario};
use spillgate_lint::{RULES, Selection, WARNINGS};
use spillgate_scenario::Options;

use crate::files::Disk;
use crate::job::input_error;
use crate::memory;
use crate::own::{Own, Parts};
use crate::waiting::waiting;

/// What the rules find in a configuration or scenario: JSON with `findings`, `errors`, `warnings`,
/// `notes`, and the same as `text` and `sarif`.
#[pyfunction]
#[pyo3(signature = (path, is_scenario, platform = "ios", overrides = Vec::new(), select = Vec::new(), ignore = Vec::new(), confine = false, own = Parts::default()))]
#[allow(clippy::too_many_arguments, reason = "they have names in Python")]
pub(crate) fn lint(
    py: Python<'_>,
    path: PathBuf,
    is_scenario: bool,
    platform: &str,
    overrides: Vec<String>,
    select: Vec<String>,
    ignore: Vec<String>,
    confine: bool,
    own: Parts<'_>,
) -> PyResult<String> {
    let selection = Selection { select, ignore };
    let platform = platform.to_owned();
    let options = Options {
        overrides,
        confine,
        memory: memory::available(),
        own: Own::new(py, own)?.given,
        ..Options::default()
    };
    let found = waiting(py, move || {
        if is_scenario {
            lint_scenario(&path, &Disk, &options, &selection)
        } else {
            lint_configuration(&path, &Disk, &platform, &selection)
        }
    })?;
    Ok(found.map_err(|e| input_error(py, &e))?.to_string())
}

/// Every rule, as a JSON list.
#[pyfunction]
pub(crate) fn lint_rules() -> String {
    serde_json::to_string(&*RULES).unwrap_or_default()
}

/// Every warning of a reader, as a JSON list of the form of rules.
#[pyfunction]
pub(crate) fn reader_warnings() -> String {
    serde_json::to_string(WARNINGS).unwrap_or_default()
}
