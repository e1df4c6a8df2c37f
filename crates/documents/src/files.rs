//! Files that front ends name.

use std::path::Path;

use spillgate_scenario::{Diagnostic, Diagnostics, Files, codes};

/// The bytes of a file that the user names.
///
/// # Errors
/// That it cannot be read, and why.
pub fn bytes_of(files: &dyn Files, path: &Path) -> Result<Vec<u8>, Diagnostics> {
    files.read(path).map_err(|e| {
        let d = Diagnostic::error(codes::UNREADABLE, format!("cannot read it: {e}"));
        let file = path.display().to_string();
        Diagnostics::from(d.in_file(&file).hint("name a text file"))
    })
}
