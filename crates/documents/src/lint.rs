//! Rules, without simulating.

use std::path::Path;

use serde_json::Value;
use spillgate_import::platform_by_name;
use spillgate_lint::{Finding, Selection, configuration, json, sarif, scenario, text};
use spillgate_scenario::{Diagnostics, Files, Options};

use crate::bytes_of;

/// What the rules find in a scenario: `findings`, `errors`, `warnings`, `notes`, and the same as
/// `text` and `sarif`.
///
/// # Errors
/// What is wrong with the scenario.
pub fn lint_scenario(
    path: &Path,
    files: &dyn Files,
    options: &Options,
    selection: &Selection,
) -> Result<Value, Diagnostics> {
    scenario(path, files, options, selection).map(|found| said(&found))
}

/// The same of a router configuration.
///
/// # Errors
/// What is wrong with it.
pub fn lint_configuration(
    path: &Path,
    files: &dyn Files,
    platform: &str,
    selection: &Selection,
) -> Result<Value, Diagnostics> {
    let platform = platform_by_name(platform)?;
    let file = path.display().to_string();
    let found = configuration(&file, &bytes_of(files, path)?, platform, selection)?;
    Ok(said(&found))
}

fn said(found: &[Finding]) -> Value {
    let mut out = json(found);
    out["text"] = text(found).into();
    out["sarif"] = sarif(found, env!("CARGO_PKG_VERSION"));
    out
}
