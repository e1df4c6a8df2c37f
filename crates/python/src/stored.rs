//! Directories of stored runs.

use std::path::PathBuf;

use pyo3::prelude::*;
use spillgate_output::store;
use spillgate_sim::BEHAVIOR;

/// The behavior under which this build stores runs.
pub(crate) fn behavior() -> u32 {
    match spillgate_documents::EDITS.parse() {
        Ok(0) | Err(_) => BEHAVIOR,
        Ok(edits) => edits,
    }
}

/// The keys of the runs that are stored in a directory, each once; none if it is not there. Raises
/// OSError if it cannot be read.
#[pyfunction]
pub(crate) fn stored_runs(py: Python<'_>, directory: PathBuf) -> PyResult<Vec<String>> {
    let keys = py.detach(|| store::stored(&directory))?;
    Ok(keys.into_iter().map(|key| format!("{key:032x}")).collect())
}

/// What a directory of stored runs says of its study, as JSON; none if nothing is noted. Raises
/// OSError if it cannot be read.
#[pyfunction]
pub(crate) fn study(py: Python<'_>, directory: PathBuf) -> PyResult<Option<String>> {
    Ok(py.detach(|| store::study(&directory))?)
}

/// Notes that in a directory of stored runs. Raises OSError if it cannot be written.
#[pyfunction]
pub(crate) fn note_study(py: Python<'_>, directory: PathBuf, text: &str) -> PyResult<()> {
    Ok(py.detach(|| store::note_study(&directory, text))?)
}
