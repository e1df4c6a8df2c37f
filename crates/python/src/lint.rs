//! Rules, without simulating.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use spillgate_import::platform_by_name;
use spillgate_lint::{RULES, Selection, WARNINGS, configuration, json, sarif, scenario, text};
use spillgate_scenario::{Diagnostics, Options};

use crate::config::bytes_of;
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
    let find = move || find(&path, is_scenario, &platform, &options, &selection);
    let found = waiting(py, find)?.map_err(|e| input_error(py, &e))?;
    let mut out = json(&found);
    out["text"] = text(&found).into();
    out["sarif"] = sarif(&found, env!("CARGO_PKG_VERSION"));
    Ok(out.to_string())
}

fn find(
    path: &Path,
    is_scenario: bool,
    platform: &str,
    options: &Options,
    selection: &Selection,
) -> Result<Vec<spillgate_lint::Finding>, Diagnostics> {
    if is_scenario {
        return scenario(path, &Disk, options, selection);
    }
    let platform = platform_by_name(platform)?;
    let file = path.display().to_string();
    configuration(&file, &bytes_of(path)?, platform, selection)
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
