//! From a scenario file to a plan.

use std::path::Path;

use crate::error::{Diagnostic, Diagnostics};
use crate::import::{Files, Importer};
use crate::plan::Plan;
use crate::schema::Scenario;

/// What the command line adds to a scenario file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Replaced values, each `path=value` as for `--set`, applied in order.
    pub overrides: Vec<String>,
    /// Master seed in place of the file's.
    pub seed: Option<u64>,
    /// Number of runs in place of the file's.
    pub runs: Option<u32>,
}

/// A scenario that was read and found valid.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// As written, overrides applied.
    pub scenario: Scenario,
    /// As it will run.
    pub plan: Plan,
}

/// Reads a scenario with everything it refers to, and checks all of it.
///
/// # Errors
/// Everything that is wrong, in the order of the input.
pub fn load(
    path: &Path,
    files: &dyn Files,
    importer: &dyn Importer,
    opts: &Options,
) -> Result<Loaded, Diagnostics> {
    let _ = (files, importer, opts);
    Err(Diagnostic::error("E0001", "scenarios cannot be read yet")
        .in_file(path.display().to_string())
        .into())
}
