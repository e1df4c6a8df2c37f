//! Worst cases, without simulating.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use spillgate_bounds::{Hop, bounds};
use spillgate_documents::NO_CURVE;
use spillgate_import::ConfigImporter;
use spillgate_output::worst::{Place, worst as find_worst};
use spillgate_scenario::{Diagnostics, Options, Own, load, points_alone};

use crate::files::Disk;
use crate::job::input_error;
use crate::memory;
use crate::waiting::waiting;

/// What cannot be exceeded at each point of a scenario: a JSON list of `point`, its report, and the
/// verdicts on what is required for certain.
#[pyfunction]
#[pyo3(signature = (path, overrides = Vec::new(), sla = Vec::new(), confine = false))]
pub(crate) fn bound(
    py: Python<'_>,
    path: PathBuf,
    overrides: Vec<String>,
    sla: Vec<String>,
    confine: bool,
) -> PyResult<String> {
    let options = Options {
        overrides,
        sla,
        confine,
        memory: memory::available(),
        own: Own::refused(NO_CURVE),
        ..Options::default()
    };
    let find = move || spillgate_documents::bounds(&path, &Disk, &options);
    let found = waiting(py, find)?.map_err(|e| input_error(py, &e))?;
    Ok(found.to_string())
}

/// The worst arrivals that are found for a queue with a bound: a JSON object, and the capture that
/// its scenario replays. `point` is its index; `link` and `queue` are names.
///
/// Raises ValueError, with the reason, if there is no bound of such a queue.
#[pyfunction]
#[pyo3(signature = (path, point, link, queue, overrides = Vec::new(), confine = false))]
pub(crate) fn worst<'py>(
    py: Python<'py>,
    path: PathBuf,
    point: usize,
    link: String,
    queue: String,
    overrides: Vec<String>,
    confine: bool,
) -> PyResult<(String, Bound<'py, PyBytes>)> {
    let options = Options {
        overrides,
        confine,
        memory: memory::available(),
        own: Own::refused(NO_CURVE),
        ..Options::default()
    };
    let stop = Arc::new(AtomicBool::new(false));
    let _ending = Ending(Arc::clone(&stop));
    let search = move || {
        let importer = ConfigImporter { strict: false };
        let plan = load(&path, &Disk, &importer, &options)?.plan;
        let alone = points_alone(&path, &Disk, &importer, &options)?;
        let place = Place {
            path: &path,
            files: &Disk,
            importer: &importer,
            confine,
        };
        let of = plan.variants.get(point).zip(alone.get(point));
        let Some((of, scenario)) = of else {
            return Ok(Err("there is no such point".to_owned()));
        };
        let world = &of.world;
        let is_it = |h: &&Hop| world.links[h.link as usize].name == link && h.name == queue;
        let bounds = bounds(world);
        let Some(hop) = bounds.hops.iter().find(is_it) else {
            return Ok(Err("there is no such queue".to_owned()));
        };
        Ok(find_worst(scenario, world, hop, place, &|| {
            stop.load(Relaxed)
        }))
    };
    let found: Result<_, Diagnostics> = waiting(py, search)?;
    let found = found.map_err(|e| input_error(py, &e))?;
    let found = found.map_err(PyValueError::new_err)?;
    let found = found.ok_or_else(|| PyKeyboardInterrupt::new_err("interrupted"))?;
    let record = serde_json::json!({
        "bound": found.bound.as_secs_f64(),
        "reached": found.reached.as_secs_f64(),
        "gap": found.gap,
        "flow": found.flow,
        "number": found.number,
        "story": found.story,
        "scenario": found.scenario,
        "tried": found.tried,
    });
    Ok((record.to_string(), PyBytes::new(py, &found.packets)))
}

/// Tells a thread that nobody waits for it.
struct Ending(Arc<AtomicBool>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}
