//! What a scenario file says of policies, before it is a plan.

use std::collections::BTreeMap;
use std::path::PathBuf;

use pyo3::prelude::*;
use spillgate_scenario::{Chosen, Options};

use crate::files::Overlay;
use crate::job::input_error;
use crate::memory;
use crate::own::{Own, Parts};
use crate::waiting::waiting;

/// What a scenario writes, as JSON: `variants` with what they set, and of one point `policies`,
/// the names of all that there are; `links`: name, from, to, the rate that policies are made for in
/// b/s, and whether it is duplex; and `interfaces`: of each configuration those that go to links.
#[pyfunction]
#[pyo3(signature = (path, point, overrides = Vec::new(), confine = false, files = BTreeMap::new(), own = Parts::default()))]
pub(crate) fn written(
    py: Python<'_>,
    path: PathBuf,
    point: usize,
    overrides: Vec<String>,
    confine: bool,
    files: BTreeMap<PathBuf, Vec<u8>>,
    own: Parts<'_>,
) -> PyResult<String> {
    let options = Options {
        overrides,
        confine,
        memory: memory::available(),
        points: Chosen::These(vec![point]),
        own: Own::new(py, own)?.given,
        ..Options::default()
    };
    let read = move || spillgate_documents::written(&path, &Overlay(files), &options);
    let found = waiting(py, read)?.map_err(|e| input_error(py, &e))?;
    Ok(found.to_string())
}
