//! Stored runs: they come back as they were, under keys that change if and only if results can, and
//! what is damaged or of another behavior is made anew.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_import::ConfigImporter;
use spillgate_output::store::{Store, inspect, stored};
use spillgate_scenario::key::Keys;
use spillgate_scenario::plan::Plan;
use spillgate_scenario::{Chosen, Options, load};
use spillgate_sim::{
    Campaign, Engine, Finished, Manner, Observed, Outcome, RunInfo, Shelf, Wanted, layout,
};

const BEHAVIOR: u32 = 1;

/// All that an outcome can hold: classes, sites, TCP, FAN, policers that a burst drains, speech.
const SCENARIO: &str = "
schema_version: 1
name: shop
topology:
  nodes: [a, r, b]
  links:
    in: {from: a, to: r, rate: 20 Mb/s, delay: 1 ms}
    out: {from: r, to: b, rate: 2 Mb/s, delay: 3 ms, policy: P}
    back: {from: b, to: a, rate: 20 Mb/s}
policies:
  P: {fifo: {limit: 30 packets}}
  Q: {wfq: {}}
traffic:
  - flow: {name: v, class: voice, from: a, to: b, dscp: ef, source: {cbr: {rate: 80 kb/s, packet: 200 B}}}
  - flow: {name: f, count: 2, class: data, from: a, to: b, source: {poisson: {rate: 1.2 Mb/s, packet: 1000 B}}}
  - flow: {name: t, class: bulk, from: a, to: b, tcp: {cc: reno}}
measurement: {warmup: 200 ms, duration: 1 s, interval: 100 ms}
runs: {count: 3, seed: 1}
sla:
  - {class: voice, metric: owd_p99, max: 100 ms}
variants:
  - {name: one, set: {}}
  - {name: two, set: {topology.links.out.policy: Q}}
";

const CUSTOMER: &str = "
customer: Shop
sites: [{name: Till, nodes: [b], objectives: [{class: voice, metric: owd_p99, max: 90 ms}]}]
";

fn plan_of(yaml: &str, overrides: &[&str], runs: Option<u32>) -> Arc<Plan> {
    let path = Path::new("shop.yaml");
    let file = |name: &str, text: &str| (PathBuf::from(name), text.as_bytes().to_vec());
    let files = BTreeMap::from([file("shop.yaml", yaml), file("customer.yaml", CUSTOMER)]);
    let options = Options {
        overrides: overrides.iter().map(|&o| o.to_owned()).collect(),
        runs,
        ..Options::default()
    };
    let loaded = load(path, &files, &ConfigImporter { strict: false }, &options);
    Arc::new(loaded.unwrap_or_else(|e| panic!("{overrides:?}: {e}")).plan)
}

fn plan(overrides: &[&str]) -> Arc<Plan> {
    plan_of(SCENARIO, overrides, None)
}

/// What finished runs gave, in order, and how many of them had been stored.
fn run(plan: &Arc<Plan>, observed: &Observed, shelf: &dyn Shelf) -> (Vec<Finished>, usize) {
    run_on(Engine::Express, plan, observed, shelf)
}

fn run_on(
    engine: Engine,
    plan: &Arc<Plan>,
    observed: &Observed,
    shelf: &dyn Shelf,
) -> (Vec<Finished>, usize) {
    let campaign = Campaign::on(engine, Arc::clone(plan));
    let manner = Manner {
        observed: observed.clone(),
        ..Manner::default()
    };
    campaign.execute_so(2, &manner, shelf).expect("runs");
    (campaign.finished(), campaign.progress().runs_kept)
}

fn same(a: &Outcome, b: &Outcome) {
    // A NaN is equal to itself in words.
    assert_eq!(format!("{a:?}"), format!("{b:?}"));
}

fn all_same(a: &[Finished], b: &[Finished]) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert_eq!(a.info, b.info);
        same(&a.outcome, &b.outcome);
    }
}

/// The same of runs of different engines.
fn all_same_but_events(a: &[Finished], b: &[Finished]) {
    let without = |finished: &Finished| Finished {
        outcome: Arc::new(Outcome {
            events: 0,
            ..(*finished.outcome).clone()
        }),
        ..finished.clone()
    };
    let without = |all: &[Finished]| all.iter().map(without).collect::<Vec<_>>();
    all_same(&without(a), &without(b));
}

/// An empty directory of one test.
fn directory(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("store-{name}"));
    let _ = fs::remove_dir_all(&path);
    path
}

fn open(directory: &Path, plan: &Arc<Plan>) -> Store {
    open_for(Engine::Express, directory, plan)
}

fn open_for(engine: Engine, directory: &Path, plan: &Arc<Plan>) -> Store {
    Store::open(directory, BEHAVIOR, engine, Arc::clone(plan)).expect("a directory")
}

/// The files of a directory.
fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    let mut files: Vec<_> = entries.map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

/// The one file of a directory.
fn only_file(directory: &Path) -> PathBuf {
    let [file] = files(directory).try_into().expect("one file");
    file
}

/// Of every file of the corpus: all disciplines, sources, routers, failures, captures, FAN, MPLS.
#[test]
fn every_outcome_comes_back_as_it_was() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    let read = |e: std::io::Result<fs::DirEntry>| {
        let path = e.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        (path, bytes)
    };
    let files: BTreeMap<_, _> = fs::read_dir(corpus).unwrap().map(read).collect();
    let mut scenarios: Vec<_> = files.keys().cloned().collect();
    scenarios.retain(|p| p.extension().is_some_and(|e| e == "yaml"));
    assert!(scenarios.len() > 10);
    let mut digests = BTreeMap::new();
    for path in scenarios {
        let options = Options {
            runs: Some(1),
            ..Options::default()
        };
        let loaded = load(&path, &files, &ConfigImporter { strict: false }, &options);
        let plan = Arc::new(loaded.unwrap_or_else(|e| panic!("{e}")).plan);
        let mut of_plan = Keys::default();
        for finished in run(&plan, &Observed::All, &()).0 {
            let world = &plan.variants[finished.info.variant].world;
            let digest = &finished.outcome.digest;
            let known = digests
                .entry(of_plan.of(world))
                .or_insert_with(|| digest.clone());
            assert_eq!(known, digest);
        }
        let directory = directory("corpus");
        let (made, _) = run(&plan, &Observed::All, &open(&directory, &plan));
        let store = open(&directory, &plan);
        for Finished { info, outcome } in &made {
            same(outcome, &store.get(*info, true).expect("a stored run"));
            let plain = store.get(*info, false).expect("a stored run");
            assert!(plain.series.is_empty() && plain.unsettled.is_empty());
            assert_eq!(plain.digest, outcome.digest);
            same(
                outcome,
                &store.outcome(*info, true).unwrap().expect("a run"),
            );
        }
        assert_eq!(store.notes(), Vec::<String>::new());
        // One that was not observed is not given for one that was.
        let (directory, info) = (self::directory("unobserved"), made[0].info);
        open(&directory, &plan).put(info, false, &made[0].outcome);
        let store = open(&directory, &plan);
        assert!(store.get(info, true).is_none() && store.get(info, false).is_some());
        let why = store.outcome(info, true).unwrap_err();
        assert_eq!(why, "it was stored without its time series");
    }
    // And what has another key does something else.
    let different: BTreeSet<_> = digests.values().collect();
    assert_eq!(different.len(), digests.len());
}

#[test]
fn nothing_is_made_twice() {
    let plan = plan(&[]);
    let directory = directory("twice");
    let (whole, kept) = run(&plan, &Observed::First, &());
    assert_eq!(kept, 0);
    let (made, kept) = run(&plan, &Observed::First, &open(&directory, &plan));
    assert_eq!(kept, 0);
    all_same(&whole, &made);
    let store = open(&directory, &plan);
    let (again, kept) = run(&plan, &Observed::First, &store);
    assert_eq!((kept, store.notes()), (6, vec![]));
    all_same(&whole, &again);
    // Some more runs; time series of others; other samples of the same.
    for (overrides, runs, observed, expected) in [
        (&[][..], 4, Observed::First, 6),
        (&[], 4, Observed::These(vec![1]), 6),
        (
            &["measurement.interval=50 ms"],
            4,
            Observed::These(vec![1]),
            6,
        ),
        (
            &["measurement.interval=50 ms"],
            4,
            Observed::These(vec![]),
            8,
        ),
    ] {
        let plan = plan_of(SCENARIO, overrides, Some(runs));
        let (whole, _) = run(&plan, &observed, &());
        let (extended, kept) = run(&plan, &observed, &open(&directory, &plan));
        all_same(&whole, &extended);
        assert_eq!(kept, expected, "{overrides:?} {runs} {observed:?}");
    }
}

/// Where the runs of a file are: after the line and each header.
fn contents(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let (mut at, mut found) = (17, Vec::new());
    while at < bytes.len() {
        let length = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
        if &bytes[at..at + 4] == b"run " {
            found.push(at + 52..at + 52 + length);
        }
        at += 52 + length;
    }
    found
}

#[test]
fn damaged_runs_are_named_and_the_rest_is_kept() {
    let plan = plan(&[]);
    let directory = directory("damaged");
    let (whole, _) = run(&plan, &Observed::First, &open(&directory, &plan));
    let path = only_file(&directory);
    let mut bytes = fs::read(&path).unwrap();
    let places = contents(&bytes);
    assert_eq!(places.len(), 6);
    bytes[places[1].start] ^= 1;
    bytes[places[4].end - 1] ^= 1;
    fs::write(&path, &bytes).unwrap();
    fs::write(directory.join("other.runs"), "PAR1 and more").unwrap();
    fs::write(directory.join("later.runs"), "spillgate runs 2\nand more").unwrap();
    fs::write(directory.join("notes.txt"), "of somebody").unwrap();
    let store = open(&directory, &plan);
    let (again, kept) = run(&plan, &Observed::First, &store);
    all_same(&whole, &again);
    assert_eq!(kept, 4);
    let said = |path: &Path, why: &str| format!("{}{why}", path.display());
    let at = |n: usize| {
        let why = "its checksum is wrong; its run is made anew";
        format!(" is damaged at byte {}: {why}", places[n].start)
    };
    let mut wanted = [
        said(&path, &at(1)),
        said(&path, &at(4)),
        said(
            &directory.join("other.runs"),
            ": it is not a file of stored runs, which begins with `spillgate runs 1`",
        ),
        said(
            &directory.join("later.runs"),
            ": it has version 2 of the format; this Spillgate reads version 1",
        ),
    ];
    let mut notes = store.notes();
    wanted.sort();
    notes.sort();
    assert_eq!(notes, wanted);
    // What was made anew is there now, beside what was not.
    for name in ["other.runs", "later.runs"] {
        fs::remove_file(directory.join(name)).unwrap();
    }
    let store = open(&directory, &plan);
    assert_eq!(
        (run(&plan, &Observed::First, &store).1, store.notes()),
        (6, vec![])
    );
}

/// Whenever a process was killed while it wrote.
#[test]
fn what_a_killed_process_has_left_is_used_as_far_as_it_goes() {
    let plan = plan_of(SCENARIO, &["measurement.duration=100 ms"], None);
    let directory = directory("killed");
    let (whole, _) = run(&plan, &Observed::First, &open(&directory, &plan));
    let path = only_file(&directory);
    let bytes = fs::read(&path).unwrap();
    let places = contents(&bytes);
    for cut in (0..bytes.len()).step_by(97) {
        fs::remove_dir_all(&directory).unwrap();
        fs::create_dir(&directory).unwrap();
        fs::write(&path, &bytes[..cut]).unwrap();
        let store = open(&directory, &plan);
        let (again, kept) = run(&plan, &Observed::First, &store);
        all_same(&whole, &again);
        assert_eq!(store.notes(), Vec::<String>::new());
        assert_eq!(
            kept,
            places.iter().filter(|p| p.end <= cut).count(),
            "{cut}"
        );
        // What is made anew goes into a file of its own.
        assert_eq!(fs::read(&path).unwrap(), &bytes[..cut]);
        assert_eq!(stored(&directory).unwrap().len(), 6);
    }
}

#[test]
fn runs_of_another_behavior_are_made_anew() {
    let plan = plan(&[]);
    let directory = directory("behavior");
    let other = Store::open(&directory, 7, Engine::Express, Arc::clone(&plan)).unwrap();
    let (made, _) = run(&plan, &Observed::First, &other);
    let store = open(&directory, &plan);
    assert!(!store.has(made[0].info));
    assert_eq!(run(&plan, &Observed::First, &store).1, 0);
    let said = "6 stored runs of behavior 7: they are made anew, as this is behavior 1";
    assert_eq!(store.notes(), [said]);
    // Both are there now; and who knows the key gets what there is, of whatever behavior.
    let store = open(&directory, &plan);
    assert_eq!(run(&plan, &Observed::First, &store).1, 6);
    assert!(store.notes().is_empty());
    let later = Store::open(&directory, 9, Engine::Express, Arc::clone(&plan)).unwrap();
    let Finished { info, outcome } = &made[0];
    same(
        outcome,
        &later.outcome(*info, true).unwrap().expect("a run"),
    );
}

#[test]
fn a_place_that_cannot_be_written_costs_no_results() {
    let plan = plan(&[]);
    let directory = directory("gone");
    let store = open(&directory, &plan);
    fs::remove_dir_all(&directory).unwrap();
    assert_eq!(run(&plan, &Observed::First, &store).0.len(), 6);
    assert!(store.notes()[0].starts_with("not every run could be stored: "));
    let nowhere = Path::new("/dev/null/x");
    assert!(Store::open(nowhere, BEHAVIOR, Engine::Express, plan).is_err());
}

/// What is to check another run is made.
#[test]
fn engines_do_not_answer_for_each_other() {
    let plan = plan(&[]);
    let directory = directory("engines");
    let both = Engine::ALL.map(|(_, engine)| engine);
    for engine in both {
        let store = open_for(engine, &directory, &plan);
        let (made, kept) = run_on(engine, &plan, &Observed::First, &store);
        assert_eq!(kept, 0, "{engine:?}");
        all_same_but_events(&made, &run(&plan, &Observed::First, &()).0);
    }
    for engine in both {
        let store = open_for(engine, &directory, &plan);
        let (again, kept) = run_on(engine, &plan, &Observed::First, &store);
        assert_eq!((kept, store.notes()), (6, vec![]), "{engine:?}");
        all_same(&again, &run_on(engine, &plan, &Observed::First, &()).0);
    }
}

#[test]
fn stores_side_by_side_keep_every_run() {
    let directory = directory("side-by-side");
    let plans: Vec<_> = (1..=4)
        .map(|seed| {
            let set = [
                format!("runs.seed={seed}"),
                "measurement.duration=100 ms".to_owned(),
            ];
            plan_of(SCENARIO, &set.each_ref().map(|s| &**s), Some(40))
        })
        .collect();
    std::thread::scope(|scope| {
        for plan in &plans {
            scope.spawn(|| {
                let store = open(&directory, plan);
                run(plan, &Observed::These(vec![]), &store);
                assert_eq!(store.notes(), Vec::<String>::new());
            });
        }
    });
    assert_eq!(files(&directory).len(), plans.len());
    for plan in &plans {
        let store = open(&directory, plan);
        assert_eq!(run(plan, &Observed::These(vec![]), &store).1, 80);
    }
}

/// A store that is open takes what another has stored meanwhile, and studies are noted in order.
#[test]
fn what_others_store_meanwhile_is_found() {
    let directory = directory("meanwhile");
    let plan = plan(&[]);
    let early = open(&directory, &plan);
    assert_eq!(spillgate_output::store::study(&directory).unwrap(), None);
    let made = run(&plan, &Observed::All, &open(&directory, &plan));
    assert_eq!(made.1, 0);
    let found = run(&plan, &Observed::All, &early);
    assert_eq!(found.1, made.0.len());
    all_same(&made.0, &found.0);
    for text in ["one", "two"] {
        spillgate_output::store::note_study(&directory, text).unwrap();
        let noted = spillgate_output::store::study(&directory).unwrap();
        assert_eq!(noted.as_deref(), Some(text));
    }
    fs::remove_dir_all(directory).unwrap();
}

/// Edits of the scenario: those that can change a result, and those that only change what is said
/// of it.
const COUNT: [&str; 18] = [
    "topology.links.out.rate=2.1 Mb/s",
    "topology.links.out.delay=4 ms",
    "topology.links.out.loss={bernoulli: 2 %}",
    "topology.links.back.policy=P",
    "policies.P.fifo.limit=31 packets",
    "policies.P.fifo.aqm={codel: {}}",
    "traffic.f.flow.source.poisson.rate=1.3 Mb/s",
    "traffic.f.flow.source.poisson.packet=900 B",
    "traffic.f.flow.count=3",
    "traffic.f.flow.class=voice",
    "traffic.v.flow.dscp=af41",
    "traffic.v.flow.start=150 ms",
    "traffic.t.flow.tcp.cc=cubic",
    "traffic.t.flow.tcp.mss=1000 B",
    "measurement.warmup=300 ms",
    "measurement.duration=1100 ms",
    "topology.nodes=[a, {name: r, forwarding: {delay: 1 ms}}, b]",
    "topology.failures=[{link: out, at: 500 ms, repair: 700 ms}]",
];
const DO_NOT: [&str; 7] = [
    "name=other",
    "measurement.interval=70 ms",
    "measurement.series=[out]",
    "sla=[{class: bulk, metric: loss_ratio, max: 1 %}]",
    "verdicts.correction=holm",
    "policies.SPARE={fq-codel: {}}",
    "topology.links.out.rate=2000 kb/s",
];

fn key(plan: &Plan) -> u128 {
    Keys::default().of(&plan.variants[0].world)
}

#[test]
fn each_edit_that_counts_gives_a_key_of_its_own() {
    let mut keys = BTreeSet::from([key(&plan(&[]))]);
    for edit in COUNT {
        assert!(keys.insert(key(&plan(&[edit]))), "{edit}");
    }
    let before = keys.len();
    for edit in DO_NOT {
        keys.insert(key(&plan(&[edit])));
    }
    assert_eq!(keys.len(), before);
    // Seed and run count; the number of runs does not.
    let names = |plan: Arc<Plan>| {
        let store = open(&directory("names"), &plan);
        let key = |run| store.key(RunInfo { variant: 0, run });
        [key(0), key(1)]
    };
    let first = names(plan(&[]));
    assert_ne!(first[0], first[1]);
    assert_eq!(names(plan(&["runs.count=9"])), first);
    assert_ne!(names(plan(&["runs.seed=2"])), first);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40 * effort()))]

    /// Whatever is edited together: equal keys mean equal results, and runs that differ have other
    /// keys.
    #[test]
    fn equal_keys_mean_equal_results(
        counting in proptest::sample::subsequence(&COUNT[..], 0..3),
        not in proptest::sample::subsequence(&DO_NOT[..6], 1..5),
    ) {
        let edited = plan(&counting);
        let both = plan(&[&counting[..], &not[..]].concat());
        prop_assert_eq!(key(&edited), key(&both));
        let (a, b) = (run(&edited, &Observed::These(vec![]), &()).0, run(&both, &Observed::These(vec![]), &()).0);
        let base = run(&plan(&[]), &Observed::These(vec![]), &()).0;
        for ((a, b), base) in a.iter().zip(&b).zip(&base) {
            same(&a.outcome, &b.outcome);
            prop_assert_eq!(&a.outcome.digest, &b.outcome.digest);
            if key(&edited) == key(&plan(&[])) {
                same(&a.outcome, &base.outcome);
            }
        }
    }

    /// Whatever became of a file: each run is as it was or is not there; nothing breaks.
    #[test]
    fn no_bytes_do_harm(at in any::<prop::sample::Index>(), bit in 0_u8..8, cut in any::<bool>()) {
        let plan = plan_of(SCENARIO, &["measurement.duration=100 ms"], Some(1));
        let directory = directory("harm");
        let (made, _) = run(&plan, &Observed::All, &open(&directory, &plan));
        let path = only_file(&directory);
        let mut bytes = fs::read(&path).unwrap();
        let whole = inspect(&bytes).unwrap();
        prop_assert!(whole >= 3);
        let at = at.index(bytes.len());
        match cut {
            true => bytes.truncate(at),
            false => bytes[at] ^= 1 << bit,
        }
        prop_assert!(inspect(&bytes).is_ok_and(|n| cut && n < whole) || inspect(&bytes).is_err());
        fs::write(&path, &bytes).unwrap();
        let store = open(&directory, &plan);
        let found: Vec<_> = made.iter().map(|f| (f, store.get(f.info, true))).collect();
        prop_assert!(found.iter().any(|(_, found)| found.is_none()));
        for (made, found) in found {
            found.iter().for_each(|found| same(&made.outcome, found));
        }
    }
}

/// Sites are taken from wider runs, and made anew for those that lack some.
#[test]
fn sites_that_are_asked_for_later_are_measured() {
    let directory = directory("sites");
    let (plain, with) = (plan(&[]), plan(&["sla=[{file: customer.yaml}]"]));
    assert_eq!(key(&plain), key(&with));
    assert_ne!(
        layout(&plain.variants[0].world).keys.len(),
        layout(&with.variants[0].world).keys.len()
    );
    let (whole, _) = run(&with, &Observed::These(vec![]), &());
    run(&plain, &Observed::These(vec![]), &open(&directory, &plain));
    let (found, kept) = run(&with, &Observed::These(vec![]), &open(&directory, &with));
    assert_eq!(kept, 0);
    all_same(&whole, &found);
    let (found, kept) = run(&plain, &Observed::These(vec![]), &open(&directory, &plain));
    assert_eq!(kept, 6);
    all_same(&run(&plain, &Observed::These(vec![]), &()).0, &found);
}

/// As long as their behavior is that of the engine, whatever has become of plans and their keys.
#[test]
fn runs_of_version_1_are_found() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../python/tests/stored/version-1");
    let file = |name: &str| (kept.join(name), fs::read(kept.join(name)).unwrap());
    let files = BTreeMap::from([file("scenario.yaml"), file("customer.yaml")]);
    let importer = ConfigImporter { strict: false };
    let loaded = load(
        &kept.join("scenario.yaml"),
        &files,
        &importer,
        &Options::default(),
    );
    let plan = Arc::new(loaded.unwrap_or_else(|e| panic!("{e}")).plan);
    let store = Store::open(&kept.join("runs"), 1, Engine::Express, Arc::clone(&plan)).unwrap();
    for variant in 0..3 {
        let found = store
            .get(RunInfo { variant, run: 0 }, true)
            .expect("a stored run");
        assert!(found.packets > 0 && !found.series.is_empty());
    }
    assert_eq!(store.notes(), Vec::<String>::new());
}

/// A study in parts, each with no more than its points, stores what the whole one has.
#[test]
fn parts_and_chosen_points_make_the_same_runs() {
    let plan = plan(&[]);
    let (whole, merged) = (directory("undivided"), directory("divided"));
    run(&plan, &Observed::First, &open(&whole, &plan));
    let part = |plan: &Arc<Plan>, wanted| {
        let campaign = Campaign::new(Arc::clone(plan));
        let manner = Manner {
            wanted,
            shelved: true,
            ..Manner::default()
        };
        let store = open(&merged, plan);
        campaign.execute_so(2, &manner, &store).unwrap();
        let progress = campaign.progress();
        assert_eq!(progress.fraction, 1.0);
        // They are on the shelf.
        assert!(campaign.finished().is_empty());
        (progress.runs_done, progress.runs_kept)
    };
    for first in 0..4 {
        let of = 4;
        let wanted = Wanted::Part { first, of };
        assert_eq!(part(&plan, wanted.clone()), ([2, 2, 1, 1][first], 0));
        assert_eq!(
            part(&plan, wanted),
            ([2, 2, 1, 1][first], [2, 2, 1, 1][first])
        );
    }
    assert_eq!(stored(&merged).unwrap(), stored(&whole).unwrap());
    fs::remove_dir_all(&merged).unwrap();
    for point in [1, 0] {
        let path = Path::new("s.yaml");
        let files = BTreeMap::from([(path.to_owned(), SCENARIO.as_bytes().to_vec())]);
        let options = Options {
            points: Chosen::These(vec![point]),
            ..Options::default()
        };
        let alone = load(path, &files, &ConfigImporter { strict: false }, &options);
        let alone = Arc::new(alone.unwrap().plan);
        assert_eq!((alone.variants.len(), alone.extent), (1, 2));
        assert_eq!(alone.variants[0].name, plan.variants[point].name);
        assert_eq!(alone.variants[0].text, plan.variants[point].text);
        assert_eq!(part(&alone, Wanted::Scattered), (3, 0));
    }
    assert_eq!(stored(&merged).unwrap(), stored(&whole).unwrap());
}

#[test]
fn a_run_that_fails_is_put_down_and_the_others_go_on() {
    let plan = plan(&[]);
    let directory = directory("failing");
    let failing = |manner: Manner| {
        let campaign = Campaign::new(Arc::clone(&plan));
        let store = open(&directory, &plan);
        let manner = Manner {
            goes_on: true,
            shelved: true,
            ..manner
        };
        campaign.execute_so(1, &manner, &store).unwrap();
        let failed = campaign.failed().into_iter();
        let failed: Vec<_> = failed
            .map(|(i, why)| (i.variant, i.run, why.to_string()))
            .collect();
        (campaign.progress().runs_done, failed)
    };
    // One point needs more than the other.
    let needs: Vec<_> = plan
        .variants
        .iter()
        .map(|v| v.world.running_bytes())
        .collect();
    let (small, large) = if needs[0] < needs[1] { (0, 1) } else { (1, 0) };
    assert!(needs[small] < needs[large]);
    let tight = Manner {
        memory: Some(needs[small]),
        ..Manner::default()
    };
    let (done, failed) = failing(tight);
    assert_eq!(done, 3);
    let large_ones: Vec<_> = failed.iter().map(|(v, run, _)| (*v, *run)).collect();
    assert_eq!(large_ones, [(large, 0), (large, 1), (large, 2)]);
    assert!(failed[0].2.starts_with("may need "), "{}", failed[0].2);
    // What failed is known, and is not tried again unasked.
    assert_eq!(failing(Manner::default()), (3, failed));
    let again = Manner {
        again: true,
        time: Some(std::time::Duration::ZERO),
        ..Manner::default()
    };
    let (done, failed) = failing(again);
    // A run of few events may be through before the clock is looked at.
    assert_eq!(done + failed.len(), 6);
    assert!(failed.iter().all(|f| f.2 == "took longer than 0 s"));
    let again = Manner {
        again: true,
        ..Manner::default()
    };
    assert_eq!(failing(again), (6, vec![]));
    assert_eq!(failing(Manner::default()), (6, vec![]));
}

/// An invariant that is broken ends one run, not the others.
#[test]
fn a_run_that_crashes_takes_no_other_with_it() {
    struct Broken;
    impl Shelf for Broken {
        fn get(&self, _: RunInfo, _: bool) -> Option<Outcome> {
            None
        }
        fn put(&self, run: RunInfo, _: bool, _: &Outcome) -> bool {
            assert!(run.run != 1, "run 1 is broken");
            false
        }
    }
    let campaign = Campaign::new(plan(&[]));
    let manner = Manner {
        goes_on: true,
        ..Manner::default()
    };
    campaign.execute_so(2, &manner, &Broken).unwrap();
    assert_eq!(campaign.finished().len(), 4);
    let failed = campaign.failed();
    assert_eq!(failed.len(), 2);
    assert_eq!(failed[0].1.to_string(), "crashed: run 1 is broken");
}
