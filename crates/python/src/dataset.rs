//! Stored runs of several studies as one table.

use std::collections::BTreeSet;
use std::path::PathBuf;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use spillgate_output::{Dataset, DatasetError};
use spillgate_sim::RunInfo;

use crate::job::Job;

/// Writes the values of stored runs as one Parquet table. `studies`: jobs with the directories of
/// their stored runs. Runs of one scenario and seed that several directories have are written once.
/// Returns how many runs were written, and how many are nowhere. Raises OSError if a directory
/// cannot be read or the file cannot be written, ValueError if a run is damaged or the studies do
/// not fit into one table.
#[pyfunction]
pub(crate) fn write_dataset(
    py: Python<'_>,
    studies: Vec<(Py<Job>, PathBuf)>,
    path: PathBuf,
) -> PyResult<(usize, usize)> {
    py.detach(|| {
        let plans = studies.iter().map(|(job, _)| &**job.get().plan());
        let mut table = Dataset::create(&path, plans).map_err(refused)?;
        let mut written = BTreeSet::new();
        let mut wanted = BTreeSet::new();
        for (job, directory) in &studies {
            let job = job.get();
            let plan = job.plan();
            // The first of those that are alike.
            let alike = |(other, _): &(Py<Job>, PathBuf)| job.is_of_the_study_of(other.get());
            let study = studies.iter().position(alike);
            std::fs::metadata(directory)?;
            let store = job.open(directory)?;
            for (variant, point) in plan.variants.iter().enumerate() {
                for run in 0..plan.runs {
                    let id = (study, variant, run);
                    wanted.insert(id);
                    if written.contains(&id) {
                        continue;
                    }
                    let found = store.outcome(RunInfo { variant, run }, false);
                    let found = found.map_err(|why| {
                        let (place, name) = (directory.display(), &point.name);
                        PyValueError::new_err(format!("{place}: run {run} of {name}: {why}"))
                    })?;
                    if let Some(outcome) = found {
                        let added = table.add(plan, variant, run, &outcome.values);
                        added.map_err(refused)?;
                        written.insert(id);
                    }
                }
            }
        }
        table.finish().map_err(refused)?;
        Ok((written.len(), wanted.len() - written.len()))
    })
}

fn refused(error: DatasetError) -> PyErr {
    match error {
        DatasetError::Axis { .. } => PyValueError::new_err(error.to_string()),
        DatasetError::Writing(error) => PyOSError::new_err(error.to_string()),
    }
}
