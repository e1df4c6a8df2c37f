//! Worst cases, without simulating.

use std::path::PathBuf;

use pyo3::prelude::*;
use spillgate_bounds::{bounds, report};
use spillgate_import::IosImporter;
use spillgate_scenario::{Options, load};

use crate::files::Disk;
use crate::job::input_error;
use crate::memory;
use crate::waiting::waiting;

/// What cannot be exceeded at each point of a scenario: a JSON list of `point` and its report.
#[pyfunction]
#[pyo3(signature = (path, overrides = Vec::new(), confine = false))]
pub(crate) fn bound(
    py: Python<'_>,
    path: PathBuf,
    overrides: Vec<String>,
    confine: bool,
) -> PyResult<String> {
    let options = Options {
        overrides,
        confine,
        memory: memory::available(),
        ..Options::default()
    };
    let importer = IosImporter { strict: false };
    let find = move || load(&path, &Disk, &importer, &options);
    let plan = waiting(py, find)?.map_err(|e| input_error(py, &e))?.plan;
    let points = plan.variants.iter().map(|point| {
        let report = report(&point.world, &bounds(&point.world));
        serde_json::json!({"point": point.name, "bounds": report})
    });
    Ok(serde_json::Value::from_iter(points).to_string())
}
