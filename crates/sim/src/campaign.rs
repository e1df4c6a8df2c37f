//! Many runs in parallel threads.
//!
//! Parallelism is across runs and never inside one: each run owns its world
//! and its random streams, so a result does not depend on how many threads
//! there are or which of them ran it.

mod sliced;

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use spillgate_events::WinnerTree;
use spillgate_queueing::OwnFault;
use spillgate_scenario::plan::{Plan, WorldPlan};

use crate::engine::{Engine, Stop, World};
use crate::outcome::Outcome;
use crate::replication::Replication;
use crate::turns::Turns;

pub use sliced::Sliced;

/// Events between two checks of the cancel flag.
const BUDGET: u64 = 1 << 16;
/// The number of parts in which the progress of a run is counted.
const PARTS: u64 = 1 << 16;

/// A plan being run.
pub struct Campaign {
    plan: Arc<Plan>,
    engine: Engine,
    cancelled: AtomicBool,
    /// What is to be run, once that is known.
    queue: OnceLock<Queue>,
    events: AtomicU64,
    done: AtomicUsize,
    kept: AtomicUsize,
    /// Runs that their points do not need.
    spared: AtomicUsize,
    finished: Mutex<Vec<Finished>>,
    failed: Mutex<Vec<(RunInfo, Failure)>>,
    /// The first failure that ended the campaign.
    fault: Mutex<Option<Failure>>,
}

/// The runs of a campaign in the order in which they begin.
struct Queue {
    runs: Vec<RunInfo>,
    /// One cell for each: parts done, of [`PARTS`].
    parts: Vec<AtomicU64>,
    turns: Turns,
}

/// Why a campaign failed, or one run of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The operating system gives no threads; its message.
    Threads(String),
    /// A file that is read during the simulation cannot be read, or has changed.
    Input(String),
    /// The look-ahead of the express lane was wrong, an error of this program.
    LookAhead(String),
    /// An invariant was broken, an error of this program.
    Crash(String),
    /// A part that the user wrote ended the run; its message.
    Own(String),
    /// A run took longer than it may.
    Time(Duration),
    /// A run may need more bytes than it may have: these, and those.
    Memory(u64, u64),
    /// A run failed so before.
    Before(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Threads(why)
            | Self::Input(why)
            | Self::LookAhead(why)
            | Self::Own(why)
            | Self::Before(why) => f.write_str(why),
            Self::Crash(why) => write!(f, "crashed: {why}"),
            Self::Time(limit) => write!(f, "took longer than {} s", limit.as_secs_f64()),
            Self::Memory(needs, limit) => write!(
                f,
                "may need {} MB of memory, the limit is {} MB",
                needs.div_ceil(1_000_000),
                limit / 1_000_000
            ),
        }
    }
}

impl std::error::Error for Failure {}

impl Failure {
    /// What a panic means.
    pub fn of_panic(cause: &(dyn std::any::Any + Send)) -> Self {
        match cause.downcast_ref::<OwnFault>() {
            Some(OwnFault(why)) => Self::Own(why.clone()),
            None => Self::Crash(said(cause)),
        }
    }
}

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

/// Which runs are made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// All, in order.
    #[default]
    All,
    /// All, in an order that no other process has: several that share a shelf then seldom make the
    /// same run at the same time.
    Scattered,
    /// Of all in order each `of`-th, from number `first` on.
    Part {
        /// Number of the first, from 0.
        first: usize,
        /// How many parts there are, at least 1.
        of: usize,
    },
    /// These, in this order.
    These(Vec<RunInfo>),
}

/// How a campaign is run.
#[derive(Clone, Debug, Default)]
pub struct Manner {
    /// Which runs have time series.
    pub observed: Observed,
    /// Which runs are made.
    pub wanted: Wanted,
    /// Outcomes are kept on the shelf alone, and not in memory: [`Campaign::finished`] lacks them.
    /// If the shelf cannot keep one, the campaign is cancelled.
    pub shelved: bool,
    /// A run that fails is put down ([`Campaign::failed`]), on the shelf too, and the others go
    /// on. Else the first failure ends the campaign.
    pub goes_on: bool,
    /// Runs that failed before, by what the shelf says, are tried again.
    pub again: bool,
    /// The longest that a run may take, by the clock.
    pub time: Option<Duration>,
    /// The most bytes that a run may need by the estimate, with every queue full.
    pub memory: Option<u64>,
    /// In what each thread makes its runs; nothing around them if not given.
    pub around: Option<Around>,
}

/// What is around the runs of a thread: it calls what it is given, once.
#[derive(Clone)]
pub struct Around(pub Arc<Surrounds>);

type Surrounds = dyn Fn(&(dyn Fn() + Sync)) + Send + Sync;

impl fmt::Debug for Around {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Around")
    }
}

/// Which run it is.
#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq, PartialOrd, Ord)]
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

    /// Whether [`Shelf::get`] would give the run, as far as that is known without reading it.
    fn has(&self, run: RunInfo, observed: bool) -> bool {
        self.get(run, observed).is_some()
    }

    /// Keeps a run that is finished; whether it could.
    fn put(&self, run: RunInfo, observed: bool, outcome: &Outcome) -> bool;

    /// Why a run failed before; none if it did not, or nobody put that down.
    fn failure(&self, _: RunInfo) -> Option<String> {
        None
    }

    /// Puts down that a run failed.
    fn put_failure(&self, _: RunInfo, _: &Failure) {}
}

/// Keeps nothing.
impl Shelf for () {
    fn get(&self, _: RunInfo, _: bool) -> Option<Outcome> {
        None
    }

    fn put(&self, _: RunInfo, _: bool, _: &Outcome) -> bool {
        false
    }
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
    /// Runs in all, but for those of which is known that their points do not need them.
    pub runs: usize,
    /// Events handled so far.
    pub events: u64,
}

impl Campaign {
    /// A campaign that has not begun.
    pub fn new(plan: Arc<Plan>) -> Self {
        Self {
            plan,
            engine: Engine::default(),
            cancelled: AtomicBool::new(false),
            queue: OnceLock::new(),
            events: AtomicU64::new(0),
            done: AtomicUsize::new(0),
            kept: AtomicUsize::new(0),
            spared: AtomicUsize::new(0),
            finished: Mutex::default(),
            failed: Mutex::default(),
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
        self.execute_so(threads, &Manner::default(), &())
    }

    /// Runs as [`Campaign::execute`] does what is wanted and not on the shelf, and puts there what
    /// it has made.
    ///
    /// # Errors
    /// As [`Campaign::execute`].
    pub fn execute_so(
        &self,
        threads: usize,
        manner: &Manner,
        shelf: &dyn Shelf,
    ) -> Result<(), Failure> {
        let threads = match threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            n => n,
        };
        let Queue { runs, turns, .. } = self.queue.get_or_init(|| self.queued(&manner.wanted));
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads.min(runs.len()).max(1))
            .build()
            .map_err(|e| Failure::Threads(e.to_string()))?;
        // Not a parallel iterator: that would split its range, and begin runs in the middle of it.
        let work = || {
            while let Some(place) = turns.take(|| self.cancelled.load(Ordering::Relaxed)) {
                self.one(place, manner, shelf);
            }
        };
        pool.broadcast(|_| match &manner.around {
            Some(Around(around)) => around(&work),
            None => work(),
        });
        match &*lock(&self.fault) {
            Some(why) => Err(why.clone()),
            None => Ok(()),
        }
    }

    fn queued(&self, wanted: &Wanted) -> Queue {
        // Whoever asks for single runs has judged himself.
        let rule = match wanted {
            Wanted::These(_) => None,
            _ => Replication::of(&self.plan),
        };
        let points = &self.plan.variants;
        // Points that are the same as another are not run.
        let variants: Vec<usize> = match wanted {
            // How many runs a point needs shows where all of them are made.
            Wanted::Part { first, of } if rule.is_some() => {
                let mine = (*first..points.len()).step_by((*of).max(1));
                mine.filter(|i| points[*i].same.is_none()).collect()
            }
            _ => (0..points.len())
                .filter(|i| points[*i].same.is_none())
                .collect(),
        };
        let all = 0..variants.len() * self.plan.runs as usize;
        let at = |i: usize| RunInfo {
            variant: variants[i % variants.len()],
            run: (i / variants.len()) as u32,
        };
        let runs: Vec<RunInfo> = match wanted {
            Wanted::All => all.map(at).collect(),
            Wanted::Part { .. } if rule.is_some() => all.map(at).collect(),
            Wanted::Scattered => {
                let mut runs: Vec<_> = all.map(at).collect();
                let state = RandomState::new();
                runs.sort_by_cached_key(|run| state.hash_one(run));
                runs
            }
            Wanted::Part { first, of } => all.skip(*first).step_by((*of).max(1)).map(at).collect(),
            Wanted::These(runs) => runs.clone(),
        };
        Queue {
            parts: runs.iter().map(|_| AtomicU64::new(0)).collect(),
            turns: Turns::new(rule, &runs, points.len()),
            runs,
        }
    }

    /// Makes a run unless the shelf has it.
    fn one(&self, place: usize, manner: &Manner, shelf: &dyn Shelf) {
        let Some(Queue { runs, parts, turns }) = self.queue.get() else {
            return;
        };
        let (info, part) = (runs[place], &parts[place]);
        let observe = manner.observed.has(info.run);
        // What is judged is read, too.
        let read = !manner.shelved || turns.rule().is_some();
        if !read && shelf.has(info, observe) {
            self.kept.fetch_add(1, Ordering::Relaxed);
            return self.finish(place, None, None);
        }
        if let Some(outcome) = read.then(|| shelf.get(info, observe)).flatten() {
            self.kept.fetch_add(1, Ordering::Relaxed);
            let values = self.values(info, &outcome);
            return self.finish(place, (!manner.shelved).then_some(outcome), values);
        }
        let before = shelf
            .failure(info)
            .filter(|_| manner.goes_on && !manner.again);
        let make = || {
            let outcome = self.made(info, part, manner, observe)?;
            let Some(outcome) = outcome else {
                return Ok(());
            };
            let values = self.values(info, &outcome);
            match (shelf.put(info, observe, &outcome), manner.shelved) {
                (_, false) => self.finish(place, Some(outcome), values),
                (true, true) => self.finish(place, None, values),
                // Nowhere would be what else is made.
                (false, true) => self.cancel(),
            }
            Ok(())
        };
        let made = match before {
            Some(why) => Err(Failure::Before(why)),
            None => catch_unwind(AssertUnwindSafe(make))
                .unwrap_or_else(|cause| Err(Failure::of_panic(&*cause))),
        };
        match made {
            Ok(()) => {}
            Err(why) if manner.goes_on => {
                if !matches!(why, Failure::Before(_)) {
                    shelf.put_failure(info, &why);
                }
                self.judged(place, None);
                lock(&self.failed).push((info, why));
            }
            Err(why) => {
                lock(&self.fault).get_or_insert(why);
                self.cancel();
            }
        }
    }

    /// What the rule of replication, if there is one, is to know of a run.
    fn values(&self, info: RunInfo, outcome: &Outcome) -> Option<Vec<f64>> {
        let rule = self.queue.get()?.turns.rule()?;
        Some(rule.values(info.variant, outcome))
    }

    /// A run is over, by its place in the queue.
    fn judged(&self, place: usize, values: Option<Vec<f64>>) {
        let Some(Queue { runs, parts, turns }) = self.queue.get() else {
            return;
        };
        parts[place].store(PARTS, Ordering::Relaxed);
        for spared in turns.finished(place, runs[place], values) {
            parts[spared].store(PARTS, Ordering::Relaxed);
            self.spared.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A run has ended well; its outcome, if it is kept here.
    fn finish(&self, place: usize, outcome: Option<Outcome>, values: Option<Vec<f64>>) {
        self.judged(place, values);
        self.done.fetch_add(1, Ordering::Relaxed);
        if let (Some(outcome), Some(queue)) = (outcome.map(Arc::new), self.queue.get()) {
            let info = queue.runs[place];
            lock(&self.finished).push(Finished { info, outcome });
        }
    }

    /// The outcome of a run that is made; none if the campaign is cancelled meanwhile.
    #[allow(
        clippy::disallowed_methods,
        reason = "the limit is one of the machine's time, and no part of results"
    )]
    fn made(
        &self,
        info: RunInfo,
        part: &AtomicU64,
        manner: &Manner,
        observe: bool,
    ) -> Result<Option<Outcome>, Failure> {
        let plan: &Arc<WorldPlan> = &self.plan.variants[info.variant].world;
        if let Some(limit) = manner.memory {
            let needs = plan.running_bytes();
            if needs > limit {
                return Err(Failure::Memory(needs, limit));
            }
        }
        let begun = manner.time.map(|limit| (limit, Instant::now()));
        let mut making = self.begin(info, observe);
        while !making.advance(self, part, BUDGET) {
            if self.cancelled.load(Ordering::Relaxed) {
                return Ok(None);
            }
            if let Some((limit, _)) = begun.filter(|(limit, from)| from.elapsed() > *limit) {
                return Err(Failure::Time(limit));
            }
        }
        making.outcome().map(Some)
    }

    /// Begins a run.
    fn begin(&self, info: RunInfo, observe: bool) -> Making {
        let plan = &self.plan.variants[info.variant].world;
        Making {
            world: World::on(self.engine, plan, self.plan.seed, info.run, observe),
            counted: 0,
        }
    }

    /// Asks all runs to stop soon; finished ones stay.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// How far the campaign is.
    pub fn progress(&self) -> Progress {
        let parts = self.queue.get().map(|queue| &queue.parts[..]);
        let done = parts.unwrap_or_default().iter();
        let done: u64 = done.map(|p| p.load(Ordering::Relaxed)).sum();
        let all = self.plan.variants.len() * self.plan.runs as usize;
        let runs = parts.map_or(all, <[_]>::len);
        Progress {
            // Nothing is left of nothing.
            fraction: match runs {
                0 => 1.0,
                _ => done as f64 / (PARTS as f64 * runs as f64),
            },
            runs_done: self.done.load(Ordering::Relaxed),
            runs_kept: self.kept.load(Ordering::Relaxed),
            runs: runs - self.spared.load(Ordering::Relaxed),
            events: self.events.load(Ordering::Relaxed),
        }
    }

    /// The finished runs so far, by variant and run.
    pub fn finished(&self) -> Vec<Finished> {
        let mut all = lock(&self.finished).clone();
        let points = self.plan.variants.iter().enumerate();
        let same: Vec<(usize, usize)> = points.filter_map(|(i, p)| Some((p.same?, i))).collect();
        if !same.is_empty() {
            let mut of: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
            for (first, other) in same {
                of.entry(first).or_default().push(other);
            }
            let copies = all.iter().flat_map(|f| {
                let others = of.get(&f.info.variant).into_iter().flatten();
                others.map(|variant| Finished {
                    info: RunInfo {
                        variant: *variant,
                        ..f.info
                    },
                    outcome: Arc::clone(&f.outcome),
                })
            });
            let copies: Vec<Finished> = copies.collect();
            all.extend(copies);
        }
        all.sort_by_key(|f| f.info);
        all
    }

    /// The runs that have failed so far, by variant and run.
    pub fn failed(&self) -> Vec<(RunInfo, Failure)> {
        let mut all = lock(&self.failed).clone();
        all.sort_by_key(|(info, _)| *info);
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

/// A run that is being made.
struct Making {
    world: World<WinnerTree>,
    /// Its events that the campaign knows of.
    counted: u64,
}

impl Making {
    /// Goes on for so many events; whether the run is over.
    fn advance(&mut self, campaign: &Campaign, part: &AtomicU64, events: u64) -> bool {
        let stop = self.world.run(events);
        let events = self.world.events();
        (campaign.events).fetch_add(events - self.counted, Ordering::Relaxed);
        self.counted = events;
        if stop == Stop::Paused {
            part.store(
                (self.world.fraction() * PARTS as f64) as u64,
                Ordering::Relaxed,
            );
        }
        stop == Stop::Done
    }

    /// What has come of a run that is over.
    fn outcome(self) -> Result<Outcome, Failure> {
        match self.world.fault() {
            Some(why) => Err(why.clone()),
            None => Ok(self.world.into_outcome()),
        }
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a panic said.
#[must_use]
pub fn said(cause: &(dyn std::any::Any + Send)) -> String {
    let owned = cause.downcast_ref::<String>().map(String::as_str);
    let text = owned.or_else(|| cause.downcast_ref::<&str>().copied());
    text.unwrap_or("a broken invariant").to_owned()
}
