//! Results of finished runs, for Python.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyIndexError, PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use spillgate_measure::{extent, outline};
use spillgate_output::store::Store;
use spillgate_output::{
    Report, SeriesRow, arriving, has_formulas, loops, write_json, write_parquet, write_series,
};
use spillgate_scenario::plan::WorldPlan;
use spillgate_sim::{Engine, Finished, Observed};

use crate::stored::behavior;

/// A time series as Python takes it: variant, run, what was sampled with metric and unit, first
/// instant and step in seconds, and the values as bytes of doubles, NaN where undefined.
type Curve<'py> = (
    String,
    u32,
    (String, String, String),
    (f64, f64),
    Bound<'py, PyBytes>,
);

/// The values as bytes.
fn bytes<'py>(py: Python<'py>, values: &[f64]) -> Bound<'py, PyBytes> {
    let bytes: Vec<u8> = values.iter().flat_map(|x| x.to_ne_bytes()).collect();
    PyBytes::new(py, &bytes)
}

fn doubles(bytes: &[u8]) -> Vec<f64> {
    let double = |b: &[u8]| b.try_into().map_or(f64::NAN, f64::from_ne_bytes);
    bytes.chunks_exact(8).map(double).collect()
}

/// Results of finished runs. Values are in base units: s, b/s, packets, B, ratios.
#[pyclass(frozen, module = "spillgate._native")]
pub(crate) struct Results {
    report: Report,
    engine: Engine,
    /// Which runs were observed, of those that were made; none if they were stored.
    made: Option<Observed>,
}

impl Results {
    pub(crate) fn new(report: Report, engine: Engine, made: Option<Observed>) -> Self {
        Self {
            report,
            engine,
            made,
        }
    }

    fn world(&self, variant: usize) -> PyResult<&WorldPlan> {
        let missing = || PyIndexError::new_err("there is no such variant");
        let variants = &self.report.plan().variants;
        Ok(&variants.get(variant).ok_or_else(missing)?.world)
    }
}

/// Whether a name is one of these; any is, if there are none.
fn among(names: &[String], one: &str) -> bool {
    names.is_empty() || names.iter().any(|n| n == one)
}

fn json(rows: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(rows).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

#[pymethods]
impl Results {
    /// Every value with its 95 % interval, as a JSON list; of the scopes, metrics and things that
    /// are named, of all where none is.
    fn summary(
        &self,
        scopes: Vec<String>,
        metrics: Vec<String>,
        names: BTreeSet<String>,
    ) -> PyResult<String> {
        json(&self.report.summary_of(|layout, key| {
            among(&scopes, key.scope.name())
                && among(&metrics, key.metric.name())
                && (names.is_empty() || names.contains(layout.name(key)))
        }))
    }

    /// The value of each finished run, as a JSON list; of the scopes and metrics that are named,
    /// of all where none is.
    fn samples(&self, scopes: Vec<String>, metrics: Vec<String>) -> PyResult<String> {
        let samples = (self.report).samples(|s| among(&scopes, s.name()), |m| among(&metrics, m));
        json(&samples)
    }

    /// What comes to each port of a variant, as JSON.
    fn arriving(&self, variant: usize) -> PyResult<String> {
        let world = self.world(variant)?;
        json(&arriving(world))
    }

    /// The links of a variant that endless connections cross, as JSON.
    fn loops(&self, variant: usize) -> PyResult<String> {
        let world = self.world(variant)?;
        json(&loops(world))
    }

    /// Whether a variant is small, and has Poisson sources that formulas of queues may be for.
    fn has_formulas(&self, variant: usize) -> PyResult<bool> {
        Ok(has_formulas(self.world(variant)?))
    }

    /// Every requirement judged, as a JSON list.
    fn verdicts(&self) -> PyResult<String> {
        json(&self.report.verdicts())
    }

    /// What the delays of classes cannot exceed, as a JSON list.
    fn bounds(&self) -> PyResult<String> {
        json(&self.report.bounds())
    }

    /// Every other variant compared with one, run by run, as a JSON list.
    fn differences(&self) -> PyResult<String> {
        json(&self.report.differences())
    }

    /// Classes that had not settled when measuring began, as a JSON list.
    fn transients(&self) -> PyResult<String> {
        json(&self.report.transients())
    }

    /// What is said of the results, as a JSON object.
    fn words(&self) -> PyResult<String> {
        json(&self.report.words())
    }

    /// The runs with their digests, as a JSON list.
    fn runs(&self) -> PyResult<String> {
        json(&self.report.runs())
    }

    /// Whether there are fewer runs than the scenario asks for.
    fn is_partial(&self, py: Python<'_>) -> bool {
        py.detach(|| self.report.is_partial())
    }

    /// The events that the runs took, which depend on the engine.
    fn events(&self) -> u64 {
        self.report.events()
    }

    /// Time series of the observed runs.
    fn series<'py>(&self, py: Python<'py>) -> Vec<Curve<'py>> {
        let curve = |c: SeriesRow<'_>| {
            let what = [c.place, c.metric, c.unit].map(str::to_owned);
            (
                c.variant.to_owned(),
                c.run,
                what.into(),
                (c.start, c.step),
                bytes(py, c.v),
            )
        };
        self.report.series().map(curve).collect()
    }

    /// Which points of a curve show all of it that can be seen, given its values as bytes of
    /// doubles.
    #[staticmethod]
    fn outline(values: &[u8], room: usize) -> Vec<usize> {
        outline(&doubles(values), room)
    }

    /// The least, the mean and the largest of the defined values among bytes of doubles, if there
    /// are any.
    #[staticmethod]
    fn extent(values: &[u8]) -> Option<(f64, f64, f64)> {
        extent(&doubles(values))
    }

    /// What flow admission did to each flow, as a JSON list.
    fn admission(&self) -> PyResult<String> {
        json(&self.report.admission())
    }

    /// Delay distributions by class, pooled over the runs, as a JSON list.
    fn distributions(&self) -> PyResult<String> {
        json(&self.report.distributions())
    }

    /// Stores the runs in a directory, but for those that are there. Raises OSError if they cannot
    /// be written.
    fn keep(&self, py: Python<'_>, directory: PathBuf) -> PyResult<()> {
        let Some(observed) = &self.made else {
            return Ok(());
        };
        py.detach(|| {
            let plan = self.report.shared_plan();
            let store = Store::open(&directory, behavior(), self.engine, plan)?;
            for Finished { info, outcome } in self.report.finished() {
                if !store.has(*info) {
                    store.write(*info, observed.has(info.run), outcome)?;
                }
            }
            Ok(())
        })
    }

    /// Writes everything but single flows as one JSON document, after the entries of `head`.
    fn write_json(&self, py: Python<'_>, path: PathBuf, head: &str) -> PyResult<()> {
        let head =
            serde_json::from_str(head).map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        py.detach(|| write_json(&self.report, &head, Path::new(&path)))
            .map_err(|e| PyOSError::new_err(e.to_string()))
    }

    /// Writes the time series as a Parquet table.
    fn write_series(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| write_series(&self.report, Path::new(&path)))
            .map_err(|e| PyOSError::new_err(e.to_string()))
    }

    /// Writes the values of every run as a tidy Parquet table.
    fn write_parquet(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| write_parquet(&self.report, Path::new(&path)))
            .map_err(|e| PyOSError::new_err(e.to_string()))
    }
}
