//! A scenario being run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyIndexError, PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use spillgate_import::ConfigImporter;
use spillgate_output::store::Store;
use spillgate_output::{Report, arriving, describe, explanation, loops, pcapng};
use spillgate_scenario::plan::{Plan, VariantPlan};
use spillgate_scenario::{Chosen, Diagnostic, Diagnostics, Options, codes, load};
use spillgate_sim::{
    Campaign, Engine, Failure, Finished, Manner, Observed, Replication, RunInfo, Shelf, Wanted,
};

use crate::files::Overlay;
use crate::memory;
use crate::own::{Own, Parts};
use crate::results::Results;
use crate::stored::behavior;
use crate::waiting::waiting;

pyo3::create_exception!(
    spillgate._native,
    InputError,
    pyo3::exceptions::PyException,
    "Bad input. `diagnostics` holds a JSON list of what is wrong and where."
);

pub(crate) fn input_error(py: Python<'_>, diagnostics: &Diagnostics) -> PyErr {
    let error = InputError::new_err(diagnostics.to_string());
    let json = serde_json::to_string(&diagnostics.0).unwrap_or_default();
    match error.value(py).setattr("diagnostics", json) {
        Ok(()) => error,
        Err(e) => e,
    }
}

/// How the background thread ended, once it has.
#[derive(Default)]
struct Done {
    result: Mutex<Option<Result<(), Failure>>>,
    ended: Condvar,
}

/// A scenario, loaded and checked, that can be run once.
#[pyclass(frozen, module = "spillgate._native")]
pub(crate) struct Job {
    campaign: Arc<Campaign>,
    threads: usize,
    memory_bytes: u64,
    /// What one run may need of the memory, where points stand apart.
    fair_share: Option<u64>,
    done: Arc<Done>,
    started: Mutex<bool>,
    observed: Mutex<Observed>,
    store: Mutex<Option<Arc<Store>>>,
    /// The user's own parts.
    own: Own,
}

#[pymethods]
impl Job {
    #[new]
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    #[pyo3(signature = (path, overrides = Vec::new(), sla = Vec::new(), seed = None, runs = None, jobs = 0, ignore_memory = false, strict = false, engine = "express", confine = false, files = BTreeMap::new(), points = None, edges = false, apart = false, variant = None, own = Parts::default()))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        overrides: Vec<String>,
        sla: Vec<String>,
        seed: Option<u64>,
        runs: Option<u32>,
        jobs: usize,
        ignore_memory: bool,
        strict: bool,
        engine: &str,
        confine: bool,
        files: BTreeMap<PathBuf, Vec<u8>>,
        points: Option<Vec<usize>>,
        edges: bool,
        apart: bool,
        variant: Option<String>,
        own: Parts<'_>,
    ) -> PyResult<Self> {
        let engine = Engine::named(engine)
            .ok_or_else(|| PyRuntimeError::new_err(format!("there is no engine {engine:?}")))?;
        let available = memory::available().filter(|_| !ignore_memory);
        let own = Own::new(py, own)?;
        let options = Options {
            overrides,
            sla,
            seed,
            runs,
            confine,
            memory: available,
            points: match (variant, points) {
                (Some(name), _) => Chosen::Named(name),
                (None, Some(numbers)) => Chosen::These(numbers),
                (None, None) if edges => Chosen::Edges,
                (None, None) => Chosen::All,
            },
            own: own.given.clone(),
        };
        let loaded = waiting(py, move || {
            load(&path, &Overlay(files), &ConfigImporter { strict }, &options)
        })?
        .map_err(|e| input_error(py, &e))?;
        let threads = if own.interpreted {
            // One thread at a time has the interpreter.
            1
        } else if jobs == 0 {
            std::thread::available_parallelism().map_or(1, usize::from)
        } else {
            jobs
        };
        let plan: Plan = loaded.plan;
        let memory_bytes = plan.memory_estimate(threads);
        if let Some(available) = available.filter(|_| !apart) {
            if let Some(problem) = plan.check_memory(threads, available) {
                return Err(input_error(py, &Diagnostics(vec![problem])));
            }
        }
        Ok(Self {
            campaign: Arc::new(Campaign::on(engine, Arc::new(plan))),
            threads,
            memory_bytes,
            fair_share: available
                .filter(|_| apart)
                .map(|bytes| bytes / threads as u64),
            done: Arc::default(),
            started: Mutex::new(false),
            observed: Mutex::default(),
            store: Mutex::new(None),
            own,
        })
    }

    /// How often the user's hooks were called and have returned, together; the one that runs, with
    /// what it is of; and the thread that calls them, as `threading.get_ident` has it.
    fn hook(&self) -> (u64, Option<(String, &'static str)>, u64) {
        let (calls, hook) = self.own.watch.under_way();
        (calls, hook, self.own.watch.thread())
    }

    /// What the scenario says, as JSON.
    fn describe(&self) -> PyResult<String> {
        let mut json = serde_json::to_value(describe(self.campaign.plan()))
            .map_err(|e| PyRuntimeError::new_err(e.to_string()))?;
        json["memory_bytes"] = self.memory_bytes.into();
        json["jobs"] = self.threads.into();
        Ok(json.to_string())
    }

    /// How many points the scenario has, whichever of them were chosen.
    fn extent(&self) -> usize {
        self.campaign.plan().extent
    }

    /// Variant by variant, what the engine takes one event after the other, and why.
    fn taken_plainly(&self) -> Vec<(String, Vec<String>)> {
        let variants = &self.campaign.plan().variants;
        let notes = |v: &spillgate_scenario::plan::VariantPlan| {
            (v.name.clone(), spillgate_sim::taken_plainly(&v.world))
        };
        variants.iter().map(notes).collect()
    }

    /// Starts the runs in background threads; a second call does nothing. `series`: the runs that
    /// have time series, all of them if not given. `store`: directory of stored runs, which are not
    /// made again, and of those that are made. `part`: of all runs only each n-th from a number on:
    /// number, n. `these`: only these, as point and number of the run. `scattered`: in an order
    /// that no other process has. `shelved`: runs that are stored are no results of this job.
    /// `goes_on`: a run that fails is put down in the store, and the others go on; with `again`
    /// those that failed before are tried, too. `time` and `memory`: the most seconds and bytes of
    /// one run. Raises OSError if the store cannot be used.
    #[allow(clippy::too_many_arguments, reason = "they have names in Python")]
    #[pyo3(signature = (series = None, store = None, *, part = None, these = None, scattered = false, shelved = false, goes_on = false, again = false, time = None, memory = None))]
    fn start(
        &self,
        series: Option<Vec<u32>>,
        store: Option<PathBuf>,
        part: Option<(usize, usize)>,
        these: Option<Vec<(usize, u32)>>,
        scattered: bool,
        shelved: bool,
        goes_on: bool,
        again: bool,
        time: Option<f64>,
        memory: Option<u64>,
    ) -> PyResult<()> {
        let observed = series.map_or(Observed::All, Observed::These);
        let mut started = self.started.lock().unwrap_or_else(PoisonError::into_inner);
        if *started {
            return Ok(());
        }
        let wanted = match (these, part) {
            (Some(these), _) => {
                let runs = these.into_iter();
                Wanted::These(
                    runs.map(|(variant, run)| RunInfo { variant, run })
                        .collect(),
                )
            }
            (None, Some((first, of))) => Wanted::Part { first, of },
            (None, None) if scattered => Wanted::Scattered,
            (None, None) => Wanted::All,
        };
        let manner = Manner {
            observed: observed.clone(),
            wanted,
            shelved,
            goes_on,
            again,
            time: time.and_then(|s| Duration::try_from_secs_f64(s).ok()),
            memory: memory.or(self.fair_share),
            around: self.own.around(),
        };
        let open = |directory: &PathBuf| self.open(directory).map(Arc::new);
        let store = store.as_ref().map(open).transpose()?;
        *self.observed.lock().unwrap_or_else(PoisonError::into_inner) = observed;
        self.store
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone_from(&store);
        *started = true;
        let (campaign, done, threads) = (
            Arc::clone(&self.campaign),
            Arc::clone(&self.done),
            self.threads,
        );
        std::thread::spawn(move || {
            let shelf: &dyn Shelf = store.as_deref().map_or(&(), |s| s);
            let run = std::panic::AssertUnwindSafe(|| campaign.execute_so(threads, &manner, shelf));
            let result = std::panic::catch_unwind(run)
                .unwrap_or_else(|cause| Err(Failure::of_panic(&*cause)));
            *done.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            done.ended.notify_all();
        });
        Ok(())
    }

    /// The runs that a directory lacks, in order, as point and number of the run; and those that
    /// failed there, unless they are tried `again`, with the cause. Raises OSError if it cannot be
    /// used.
    #[allow(clippy::type_complexity, reason = "a pair of lists")]
    fn lacking(
        &self,
        py: Python<'_>,
        directory: PathBuf,
        again: bool,
    ) -> PyResult<(Vec<(usize, u32)>, Vec<(usize, u32, String)>)> {
        let plan = self.campaign.plan();
        py.detach(|| {
            let store = self.open(&directory)?;
            let (mut lacking, mut failed) = (Vec::new(), Vec::new());
            let rule = Replication::of(plan);
            let points = plan.variants.iter().enumerate();
            for variant in points.filter(|(_, p)| p.same.is_none()).map(|(i, _)| i) {
                let (mut seen, mut wanted) = (Vec::new(), 0..plan.runs);
                if let Some(rule) = &rule {
                    wanted.end = rule.next_look(0);
                }
                let before = lacking.len();
                while let Some(run) = wanted.next() {
                    let info = RunInfo { variant, run };
                    if store.has(info) {
                        if let Some(rule) = &rule {
                            let found = store.outcome(info, false).ok().flatten();
                            seen.extend(found.map(|o| rule.values(variant, &o)));
                        }
                    } else {
                        match store.failure(info).filter(|_| !again) {
                            Some(why) => failed.push((variant, run, why)),
                            None => lacking.push((variant, run)),
                        }
                    }
                    // Whether a point needs more shows when all up to here are there.
                    if let Some(rule) = rule.as_ref().filter(|_| wanted.is_empty()) {
                        if lacking.len() == before && !rule.is_enough(&seen) {
                            wanted.end = rule.next_look(wanted.end);
                        }
                    }
                }
            }
            // All points of a run before the next run.
            lacking.sort_unstable_by_key(|(variant, run)| (*run, *variant));
            Ok((lacking, failed))
        })
    }

    /// Puts down in a directory that a run failed. Raises OSError if it cannot be used.
    fn put_failure(
        &self,
        py: Python<'_>,
        directory: PathBuf,
        variant: usize,
        run: u32,
        cause: String,
    ) -> PyResult<()> {
        self.variant(variant)?;
        py.detach(|| {
            let store = self.open(&directory)?;
            store.put_failure(RunInfo { variant, run }, &Failure::Before(cause));
            Ok(())
        })
    }

    /// The runs that have failed, and the others went on: point, number of the run, cause.
    fn failed(&self) -> Vec<(String, u32, String)> {
        let variants = &self.campaign.plan().variants;
        let failed = self.campaign.failed().into_iter();
        let failed = failed.map(|(i, why)| {
            let point = variants[i.variant].name.clone();
            (point, i.run, why.to_string())
        });
        failed.collect()
    }

    /// Fraction done, runs done, those of them that were stored, runs in all, events so far.
    fn progress(&self) -> (f64, usize, usize, usize, u64) {
        let p = self.campaign.progress();
        (p.fraction, p.runs_done, p.runs_kept, p.runs, p.events)
    }

    /// What was stored and had to be made anew, or could not be stored, in sentences.
    fn store_notes(&self) -> Vec<String> {
        let store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        store.as_ref().map_or_else(Vec::new, |s| s.notes())
    }

    /// Asks the runs to stop soon; finished ones stay.
    fn cancel(&self) {
        self.campaign.cancel();
    }

    /// Waits up to `seconds` for the end; whether it has come.
    ///
    /// Raises InputError if a capture could not be replayed, RuntimeError if the simulator broke
    /// one of its invariants.
    fn join(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        let patience = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO);
        let ended = py.detach(|| {
            let guard = self
                .done
                .result
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            let (guard, _) = self
                .done
                .ended
                .wait_timeout_while(guard, patience, |r| r.is_none())
                .unwrap_or_else(PoisonError::into_inner);
            guard.clone()
        });
        match ended {
            None => Ok(false),
            Some(Ok(())) => Ok(true),
            Some(Err(Failure::Input(text))) => {
                let d = Diagnostic::error(codes::BAD_CAPTURE, text);
                Err(input_error(py, &Diagnostics(vec![d])))
            }
            Some(Err(Failure::Own(text))) => Err(self.own.raised(py, text)),
            Some(Err(Failure::Crash(text))) => Err(PyRuntimeError::new_err(text)),
            Some(Err(why)) => Err(PyRuntimeError::new_err(why.to_string())),
        }
    }

    /// Flows (name, class) and links of a variant, as JSON.
    fn cast(&self, variant: usize) -> PyResult<String> {
        let world = &self.variant(variant)?.world;
        let flows: Vec<_> = world
            .flows
            .iter()
            .map(|f| (&f.name, &world.classes[usize::from(f.class)]))
            .collect();
        let links: Vec<_> = world.links.iter().map(|l| &l.name).collect();
        Ok(serde_json::json!({"flows": flows, "links": links}).to_string())
    }

    /// The links of a variant that endless connections cross, with what closes their control loops,
    /// as JSON.
    fn loops(&self, variant: usize) -> PyResult<String> {
        serde_json::to_string(&loops(&self.variant(variant)?.world))
            .map_err(|e| PyRuntimeError::new_err(e.to_string()))
    }

    /// What comes to each port of a variant, as JSON.
    fn arriving(&self, variant: usize) -> PyResult<String> {
        serde_json::to_string(&arriving(&self.variant(variant)?.world))
            .map_err(|e| PyRuntimeError::new_err(e.to_string()))
    }

    /// Repeats one run and tells where delays went and why packets were dropped; question and
    /// answer are JSON.
    fn explain(
        &self,
        py: Python<'_>,
        variant: usize,
        run: u32,
        question: &str,
    ) -> PyResult<String> {
        let world = Arc::clone(&self.variant(variant)?.world);
        let seed = self.campaign.plan().seed;
        let (names, question) =
            spillgate_documents::question(question, &world).map_err(PyValueError::new_err)?;
        let answer = self.own.repeat(py, || {
            let stopped = || Python::attach(|py| py.check_signals().is_err());
            spillgate_sim::explain::explain(&world, seed, run, &question, &stopped)
                .map(|answer| explanation(&world, &names, &answer).to_string())
        })?;
        answer.ok_or_else(|| PyKeyboardInterrupt::new_err("interrupted"))
    }

    /// Raises ValueError, with what is wrong, if packets cannot be recorded so.
    fn check_recording(&self, variant: usize, selection: &str) -> PyResult<()> {
        let world = &self.variant(variant)?.world;
        let checked = pcapng::Selection::parse(selection, world);
        checked.map(drop).map_err(PyValueError::new_err)
    }

    /// Repeats one run and writes the packets of a selection (JSON) to a new pcapng file; packets,
    /// packets left out, and the fingerprint.
    fn record(
        &self,
        py: Python<'_>,
        variant: usize,
        run: u32,
        selection: &str,
        title: &str,
        path: PathBuf,
    ) -> PyResult<(u64, u64, String)> {
        let world = Arc::clone(&self.variant(variant)?.world);
        let seed = self.campaign.plan().seed;
        let selection =
            pcapng::Selection::parse(selection, &world).map_err(PyValueError::new_err)?;
        let recorded = self.own.repeat(py, || {
            let stopped = || Python::attach(|py| py.check_signals().is_err());
            pcapng::record(&world, seed, run, &selection, title, &path, &stopped)
        })?;
        match recorded {
            Ok(Some(r)) => Ok((r.packets, r.left_out, r.digest)),
            Ok(None) => Err(PyKeyboardInterrupt::new_err("interrupted")),
            Err(e) => Err(e.into()),
        }
    }

    /// The results of the runs that are finished by now.
    fn results(&self, py: Python<'_>) -> Results {
        let (plan, campaign) = (Arc::clone(self.campaign.plan()), &self.campaign);
        let observed = self.observed.lock().unwrap_or_else(PoisonError::into_inner);
        let observed = observed.clone();
        py.detach(|| {
            Results::new(
                Report::new(plan, campaign.finished()),
                campaign.engine(),
                Some(observed),
            )
        })
    }

    /// The results of runs that are stored in a directory, without running anything. `whole`:
    /// whether all must be there. `series`: those of them whose time series are wanted, all if not
    /// given. Raises OSError if the directory cannot be read, ValueError if a run is not there, or
    /// is damaged.
    #[pyo3(signature = (directory, whole, series = None))]
    fn stored(
        &self,
        py: Python<'_>,
        directory: PathBuf,
        whole: bool,
        series: Option<Vec<u32>>,
    ) -> PyResult<Results> {
        let (plan, engine) = (self.campaign.plan(), self.campaign.engine());
        let observed = series.map_or(Observed::All, Observed::These);
        py.detach(|| {
            // What is only read is not made.
            std::fs::metadata(&directory)?;
            let store = self.open(&directory)?;
            let mut finished = Vec::new();
            let rule = Replication::of(plan);
            for (variant, point) in plan.variants.iter().enumerate() {
                let mut tally = rule.as_ref().map(Replication::tally);
                for run in 0..plan.runs {
                    if tally.as_ref().is_some_and(|t| t.ended().is_some()) {
                        break;
                    }
                    let info = RunInfo { variant, run };
                    let missing = || whole.then(|| "it is not there".to_owned());
                    let found = store.outcome(info, observed.has(run));
                    let found = found.and_then(|found| match (found, missing()) {
                        (None, Some(why)) => Err(why),
                        (found, _) => Ok(found),
                    });
                    let found = found.map_err(|why| {
                        PyValueError::new_err(format!("run {run} of {}: {why}", point.name))
                    })?;
                    if let (Some(rule), Some(tally), Some(outcome)) = (&rule, &mut tally, &found) {
                        tally.take(rule.values(variant, outcome));
                    }
                    finished.extend(found.map(|outcome| Finished {
                        info,
                        outcome: Arc::new(outcome),
                    }));
                }
            }
            Ok(Results::new(
                Report::new(Arc::clone(plan), finished),
                engine,
                None,
            ))
        })
    }
}

impl Job {
    /// What is run.
    pub(crate) fn plan(&self) -> &Arc<Plan> {
        self.campaign.plan()
    }

    /// Whether both have the same points, seed and engine.
    pub(crate) fn is_of_the_study_of(&self, other: &Self) -> bool {
        let of = |job: &Self| {
            (
                job.plan().hash.clone(),
                job.plan().seed,
                job.campaign.engine(),
            )
        };
        of(self) == of(other)
    }

    /// Opens a directory of stored runs.
    pub(crate) fn open(&self, directory: &Path) -> std::io::Result<Store> {
        let plan = Arc::clone(self.campaign.plan());
        Store::open(directory, behavior(), self.campaign.engine(), plan)
    }

    fn variant(&self, index: usize) -> PyResult<&VariantPlan> {
        let variants = &self.campaign.plan().variants;
        let missing = || PyIndexError::new_err("there is no such variant");
        variants.get(index).ok_or_else(missing)
    }
}
