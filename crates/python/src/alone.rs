//! The points of a scenario as scenarios of their own.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use spillgate_import::ConfigImporter;
use spillgate_scenario::{Chosen, Options, points_alone};

use crate::files::Overlay;
use crate::job::input_error;
use crate::own::{Own, Parts};
use crate::waiting::waiting;

/// What each point says, or only `variant`, with all overrides: a JSON list of scenarios without
/// variants and axes. Policies of configurations stay where they are.
#[pyfunction]
#[pyo3(signature = (path, overrides = Vec::new(), variant = None, confine = false, files = BTreeMap::new(), own = Parts::default()))]
pub(crate) fn alone(
    py: Python<'_>,
    path: PathBuf,
    overrides: Vec<String>,
    variant: Option<String>,
    confine: bool,
    files: BTreeMap<PathBuf, Vec<u8>>,
    own: Parts<'_>,
) -> PyResult<String> {
    let options = Options {
        overrides,
        confine,
        points: variant.map_or(Chosen::All, Chosen::Named),
        own: Own::new(py, own)?.given,
        ..Options::default()
    };
    let importer = ConfigImporter { strict: false };
    let read = move || points_alone(&path, &Overlay(files), &importer, &options);
    let points = waiting(py, read)?.map_err(|e| input_error(py, &e))?;
    serde_json::to_string(&points)
        .map_err(|why| pyo3::exceptions::PyValueError::new_err(why.to_string()))
}
