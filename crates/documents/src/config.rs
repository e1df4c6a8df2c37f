//! Router configurations without a scenario.

use std::path::Path;

use spillgate_import::{ConfigImporter, Understood, platform_by_name};
use spillgate_scenario::offered::Offered;
use spillgate_scenario::{Diagnostics, Files};

use crate::bytes_of;

/// What is understood of a router configuration, or of one interface of it.
///
/// # Errors
/// What is wrong with it; with `strict` also what is not understood.
pub fn understand(
    path: &Path,
    files: &dyn Files,
    platform: &str,
    interface: Option<&str>,
    strict: bool,
) -> Result<Understood, Diagnostics> {
    let known = platform_by_name(platform)?;
    let file = path.display().to_string();
    let bytes = bytes_of(files, path)?;
    ConfigImporter { strict }.understand(&file, &bytes, known, interface)
}

/// The classes in an output of `show policy-map interface` with their rates.
///
/// # Errors
/// What is wrong with it.
pub fn offered(path: &Path, files: &dyn Files) -> Result<Offered, Diagnostics> {
    let file = path.display().to_string();
    spillgate_import::offered(&file, &bytes_of(files, path)?)
}
