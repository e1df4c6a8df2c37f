//! Scenarios from text, and their values by name.

mod labels;
mod words;

use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spillgate_events::{EventSet, WinnerTree};
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::Plan;
use spillgate_scenario::{NoImporter, Options, load};
use spillgate_sim::tap::Tap;
use spillgate_sim::{Campaign, Engine, Finished, Outcome, Stop, World, layout};

pub(crate) use labels::{LabelCounts, labels};
pub(crate) use words::{overhead, ring};

/// A tap that ignores everything.
pub(crate) struct Blind;

impl Tap for Blind {
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Both engines show the same at every sample, also where there is nothing to show; what the
/// express engine gives is returned.
#[track_caller]
pub(crate) fn same_series(plan: &Plan, seed: u64) -> Outcome {
    let [plain, express] = [Engine::Plain, Engine::Express].map(|engine| {
        let world = &plan.variants[0].world;
        let mut world = World::<WinnerTree>::on(engine, world, seed, 0, true);
        while world.run(u64::MAX) != Stop::Done {}
        assert_eq!(world.fault(), None);
        world.outcome()
    });
    assert_eq!(plain.digest, express.digest);
    assert_eq!(plain.series.len(), express.series.len());
    for (a, b) in plain.series.iter().zip(&express.series) {
        assert_eq!((&a.place, &a.metric), (&b.place, &b.metric));
        assert_eq!(a.v.len(), b.v.len());
        for ((at, x), y) in a.times().zip(&a.v).zip(&b.v) {
            let what = (&a.place, &a.metric, at);
            assert_eq!(x.to_bits(), y.to_bits(), "{what:?}: {x} {y}");
        }
    }
    express
}

/// A run of seed 3, `budget` wakes at a time, on this set of events.
#[track_caller]
pub(crate) fn outcome<S: EventSet>(plan: &Plan, budget: u64) -> Outcome {
    let mut world = World::<S>::new(&plan.variants[0].world, 3, 0, false);
    while world.run(budget) != Stop::Done {}
    assert_eq!(world.fault(), None);
    world.outcome()
}

/// The same on the plain engine.
#[track_caller]
pub(crate) fn plain(plan: &Plan) -> Outcome {
    let mut world = World::<WinnerTree>::on(Engine::Plain, &plan.variants[0].world, 3, 0, false);
    while world.run(u64::MAX) != Stop::Done {}
    assert_eq!(world.fault(), None);
    world.outcome()
}

/// The same with a tap that ignores everything.
#[track_caller]
pub(crate) fn tapped(plan: &Plan) -> Outcome {
    let tap = Box::new(Blind);
    let mut world = World::<WinnerTree>::tapped(&plan.variants[0].world, 3, 0, false, tap);
    while world.run(u64::MAX) != Stop::Done {}
    assert_eq!(world.fault(), None);
    world.outcome()
}

/// The plan of a scenario text.
#[track_caller]
pub(crate) fn plan(yaml: &str) -> Arc<Plan> {
    plan_with(yaml, [])
}

/// The same with files that it refers to.
#[track_caller]
pub(crate) fn plan_with<const N: usize>(yaml: &str, beside: [(&str, Vec<u8>); N]) -> Arc<Plan> {
    let mut files = BTreeMap::from([(PathBuf::from("test.yaml"), yaml.as_bytes().to_vec())]);
    files.extend(beside.map(|(name, bytes)| (PathBuf::from(name), bytes)));
    match load(
        Path::new("test.yaml"),
        &files,
        &NoImporter,
        &Options::default(),
    ) {
        Ok(loaded) => Arc::new(loaded.plan),
        Err(e) => panic!("{e}"),
    }
}

/// All runs of a plan on `threads` threads.
pub(crate) fn run(plan: &Arc<Plan>, threads: usize) -> Vec<Finished> {
    let campaign = Campaign::new(Arc::clone(plan));
    campaign.execute(threads).expect("threads");
    campaign.finished()
}

/// One metric of one thing in every run of the first variant.
pub(crate) fn values(
    plan: &Plan,
    finished: &[Finished],
    scope: Scope,
    name: &str,
    metric: Metric,
) -> Vec<f64> {
    let layout = layout(&plan.variants[0].world);
    let at = layout
        .keys
        .iter()
        .position(|k| {
            k.scope == scope && k.metric == metric && layout.names[k.name as usize] == name
        })
        .unwrap_or_else(|| panic!("no {metric:?} of {name}: {:?}", layout.names));
    finished
        .iter()
        .filter(|f| f.info.variant == 0)
        .map(|f| f.outcome.values[at])
        .collect()
}

/// Digests by variant and run.
pub(crate) fn digests(finished: &[Finished]) -> BTreeMap<(usize, u32), String> {
    finished
        .iter()
        .map(|f| ((f.info.variant, f.info.run), f.outcome.digest.clone()))
        .collect()
}
