//! Many runs in parallel threads.
//!
//! Parallelism is across runs and never inside one: each run owns its world
//! and its random streams, so a result does not depend on how many threads
//! there are or which of them ran it.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use spillgate_events::WinnerTree;
use spillgate_scenario::plan::{Plan, WorldPlan};

use crate::engine::{Engine, Stop, World};
use crate::outcome::Outcome;

/// Events between two checks of the cancel flag.
const BUDGET: u64 = 1 << 16;
/// The number of parts in which the progress of a run is counted.
const PARTS: u64 = 1 << 16;

/// A plan being run.
pub struct Campaign {
    plan: Arc<Plan>,
    engine: Engine,
    cancelled: AtomicBool,
    /// One cell for each (variant, run): parts done, of [`PARTS`].
    parts: Vec<AtomicU64>,
    events: AtomicU64,
    kept: AtomicUsize,
    finished: Mutex<Vec<Finished>>,
    /// The first failure.
    fault: Mutex<Option<Failure>>,
}

/// Why a campaign failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The operating system gives no threads; its message.
    Threads(String),
    /// A file that is read during the simulation cannot be read, or has changed.
    Input(String),
    /// The look-ahead of the express lane was wrong, an error of this program.
    LookAhead(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threads(why) | Self::Input(why) | Self::LookAhead(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Failure {}

/// Which runs have time series. Sampling takes time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Observed {
    /// The first run of each variant.
    #[default]
    First,
    /// Every run.
    All,
    /// The runs of these numbers of each variant.
    These(Vec<u32>),
}

impl Observed {
    /// Whether the run of this number has.
    pub fn has(&self, run: u32) -> bool {
        match self {
            Self::First => run == 0,
            Self::All => true,
            Self::These(runs) => runs.contains(&run),
        }
    }
}

/// Which run it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunInfo {
    /// Index of the variant.
    pub variant: usize,
    /// Number of the run, from 0.
    pub run: u32,
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Finished {
    /// Which run it is.
    pub info: RunInfo,
    /// Its result, shared: reports of what is finished so far copy nothing.
    pub outcome: Arc<Outcome>,
}

/// Where finished runs are kept. What it cannot keep is made again another time.
pub trait Shelf: Sync {
    /// The outcome of a run that was kept, with its time series if it is to be `observed`, without
    /// if not.
    fn get(&self, run: RunInfo, observed: bool) -> Option<Outcome>;

    /// Keeps a run that is finished.
    fn put(&self, run: RunInfo, observed: bool, outcome: &Outcome);
}

/// Keeps nothing.
impl Shelf for () {
    fn get(&self, _: RunInfo, _: bool) -> Option<Outcome> {
        None
    }

    fn put(&self, _: RunInfo, _: bool, _: &Outcome) {}
}

/// How far a campaign is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// 0 to 1.
    pub fraction: f64,
    /// Runs finished.
    pub runs_done: usize,
    /// Those of them that had been kept.
    pub runs_kept: usize,
    /// Runs in all.
    pub runs: usize,
    /// Events handled so far.
    pub events: u64,
}

impl Campaign {
    /// A campaign that has not begun.
    pub fn new(plan: Arc<Plan>) -> Self {
        let runs = plan.variants.len() * plan.runs as usize;
        Self {
            plan,
            engine: Engine::default(),
            cancelled: AtomicBool::new(false),
            parts: (0..runs).map(|_| AtomicU64::new(0)).collect(),
            events: AtomicU64::new(0),
            kept: AtomicUsize::new(0),
            finished: Mutex::new(Vec::with_capacity(runs)),
            fault: Mutex::new(None),
        }
    }

    /// A campaign that has not begun, on this engine.
    pub fn on(engine: Engine, plan: Arc<Plan>) -> Self {
        Self {
            engine,
            ..Self::new(plan)
        }
    }

    /// Runs everything on `threads` threads (0: one for each core; never more than there are
    /// runs); returns when all runs are finished or cancelled. To be called once.
    ///
    /// Runs begin in order, all variants of a run before the next run, so that an interrupted
    /// campaign leaves runs that can be compared.
    ///
    /// # Errors
    /// If the operating system gives no threads, or a capture cannot be replayed.
    pub fn execute(&self, threads: usize) -> Result<(), Failure> {
        self.execute_observing(threads, &Observed::First, &())
    }

    /// Runs everything as [`Campaign::execute`] does, with the time series of these runs, but for
    /// what is on the shelf; and puts there what it has made.
    ///
    /// # Errors
    /// As [`Campaign::execute`].
    pub fn execute_observing(
        &self,
        threads: usize,
        observed: &Observed,
        shelf: &dyn Shelf,
    ) -> Result<(), Failure> {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.min(self.parts.len()).max(1))
            .build()
            .map_err(|e| Failure::Threads(e.to_string()))?;
        let variants = self.plan.variants.len();
        // Not a parallel iterator: that would split its range, and begin runs in the middle of it.
        let next = AtomicUsize::new(0);
        pool.broadcast(|_| {
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= self.parts.len() || self.cancelled.load(Ordering::Relaxed) {
                    break;
                }
                let (variant, run) = (i % variants, (i / variants) as u32);
                self.one(RunInfo { variant, run }, observed.has(run), shelf);
            }
        });
        let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        match &*fault {
            Some(why) => Err(why.clone()),
            None => Ok(()),
        }
    }

    fn one(&self, info: RunInfo, observe: bool, shelf: &dyn Shelf) {
        let part = &self.parts[info.run as usize * self.plan.variants.len() + info.variant];
        let finish = |outcome| {
            part.store(PARTS, Ordering::Relaxed);
            let outcome = Arc::new(outcome);
            self.finished
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(Finished { info, outcome });
        };
        if let Some(outcome) = shelf.get(info, observe) {
            self.kept.fetch_add(1, Ordering::Relaxed);
            return finish(outcome);
        }
        let world: &Arc<WorldPlan> = &self.plan.variants[info.variant].world;
        let mut world =
            World::<WinnerTree>::on(self.engine, world, self.plan.seed, info.run, observe);
        let mut counted = 0;
        loop {
            let stop = world.run(BUDGET);
            self.events
                .fetch_add(world.events() - counted, Ordering::Relaxed);
            counted = world.events();
            if stop == Stop::Done {
                break;
            }
            part.store((world.fraction() * PARTS as f64) as u64, Ordering::Relaxed);
            if self.cancelled.load(Ordering::Relaxed) {
                return;
            }
        }
        if let Some(why) = world.fault() {
            let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
            fault.get_or_insert_with(|| why.clone());
            self.cancel();
            return;
        }
        let outcome = world.into_outcome();
        shelf.put(info, observe, &outcome);
        finish(outcome);
    }

    /// Asks all runs to stop soon; finished ones stay.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// How far the campaign is.
    pub fn progress(&self) -> Progress {
        let done: u64 = self.parts.iter().map(|p| p.load(Ordering::Relaxed)).sum();
        Progress {
            fraction: done as f64 / (PARTS as f64 * self.parts.len().max(1) as f64),
            runs_done: self
                .finished
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .len(),
            runs_kept: self.kept.load(Ordering::Relaxed),
            runs: self.parts.len(),
            events: self.events.load(Ordering::Relaxed),
        }
    }

    /// The finished runs so far, by variant and run.
    pub fn finished(&self) -> Vec<Finished> {
        let mut all = self
            .finished
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        all.sort_by_key(|f| f.info);
        all
    }

    /// The plan that is run.
    pub fn plan(&self) -> &Arc<Plan> {
        &self.plan
    }

    /// The engine that runs it.
    pub fn engine(&self) -> Engine {
        self.engine
    }
}
