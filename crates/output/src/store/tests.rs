//! Runs that other versions have stored.

use std::path::PathBuf;

use spillgate_scenario::{NoImporter, Options, load};
use spillgate_sim::{Campaign, Finished, Manner, Observed};

use super::*;

const SCENARIO: &str = "
schema_version: 1
topology: {nodes: [a, b], links: {wan: {from: a, to: b, rate: 1 Mb/s}}}
traffic:
  - flow: {name: v, class: voice, from: a, to: b, source: {poisson: {rate: 800 kb/s, packet: 200 B}}}
measurement: {warmup: 0 s, duration: 200 ms, interval: 50 ms}
";

/// One run with its time series, and a directory that is not there.
fn made(name: &str) -> (Arc<Plan>, Finished, PathBuf) {
    let path = Path::new("s.yaml");
    let files = BTreeMap::from([(path.to_owned(), SCENARIO.as_bytes().to_vec())]);
    let plan = load(path, &files, &NoImporter, &Options::default())
        .unwrap()
        .plan;
    let plan = Arc::new(Plan { runs: 1, ..plan });
    let campaign = Campaign::new(Arc::clone(&plan));
    let all = Manner {
        observed: Observed::All,
        ..Manner::default()
    };
    campaign.execute_so(1, &all, &()).unwrap();
    let directory = std::env::temp_dir().join(format!("spillgate-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&directory);
    (plan, campaign.finished().remove(0), directory)
}

/// A record with a field that this version does not know.
#[derive(Serialize)]
struct Later {
    #[serde(flatten)]
    record: Record,
    tomorrow: Vec<(u32, String)>,
}

/// With more and fewer metrics, other series, other fields, other frames, and a plan that has
/// another key.
#[test]
fn a_run_of_a_later_version_is_given_as_far_as_this_one_knows_it() {
    let (plan, Finished { info, outcome }, directory) = made("later");
    let store = Store::open(&directory, 1, Engine::Express, Arc::clone(&plan)).unwrap();
    let world = &plan.variants[0].world;
    let mut names = Named::of(world).unwrap().names;
    names.texts.push("tomorrow".to_owned());
    let new = names.texts.len() as u32 - 1;
    let (scope, name, _) = names.values[3];
    names.values.insert(3, (scope, name, new));
    names.values.pop();
    let id = 99;
    let point = (&*plan.variants[0].name, info.run, plan.seed);
    let mut record = Record::of(point, format!("{id:032x}"), &outcome, world, true);
    record.values.insert(3, 42.0);
    record.values.pop();
    record
        .bounds
        .iter_mut()
        .filter(|b| b.at >= 3)
        .for_each(|b| b.at += 1);
    record.series.push(record.series[0].clone());
    record.series[0].metric = "tomorrow".into();
    let record = Later {
        record,
        tomorrow: vec![(1, "x".to_owned())],
    };
    let frames = [
        frame(*b"more", 1, [1, 2], b"of tomorrow").unwrap(),
        frame(NAMES, 1, [id, 0], &packed(&names).unwrap()).unwrap(),
        frame(
            RUN,
            1,
            [!store.key(info), store.text(info)],
            &packed(&record).unwrap(),
        )
        .unwrap(),
    ];
    Writer::create(&directory)
        .unwrap()
        .append(&frames.concat())
        .unwrap();

    let store = Store::open(&directory, 1, Engine::Express, plan).unwrap();
    let found = store.get(info, true).unwrap();
    assert_eq!(store.notes(), Vec::<String>::new());
    let last = outcome.values.len() - 1;
    let but_last = |of: &Outcome| format!("{:?}", of.values.iter().take(last).collect::<Vec<_>>());
    assert_eq!(but_last(&found), but_last(&outcome));
    assert!(found.values[last].is_nan());
    assert_eq!(found.series.len(), outcome.series.len());
    // The first is not known; the last is the first once more.
    let without = found.series.split_last().unwrap().1;
    assert_eq!(
        format!("{without:?}"),
        format!("{:?}", &outcome.series[1..])
    );
    let rest = |o: &Outcome| format!("{:?}{:?}{}", o.bounds, o.class_delays, o.digest);
    assert_eq!(rest(&found), rest(&outcome));
    fs::remove_dir_all(directory).unwrap();
}

/// The names of another run.
#[test]
fn a_run_without_its_names_is_damaged() {
    let (plan, Finished { info, outcome }, directory) = made("nameless");
    let store = Store::open(&directory, 1, Engine::Express, Arc::clone(&plan)).unwrap();
    let point = (&*plan.variants[0].name, info.run, plan.seed);
    let record = Record::of(
        point,
        "0".to_owned(),
        &outcome,
        &plan.variants[0].world,
        true,
    );
    let keys = [store.key(info), store.text(info)];
    let run = frame(RUN, 1, keys, &packed(&record).unwrap()).unwrap();
    Writer::create(&directory).unwrap().append(&run).unwrap();
    let store = Store::open(&directory, 1, Engine::Express, plan).unwrap();
    assert!(store.get(info, true).is_none());
    assert!(store.notes()[0].contains("the names that it refers to are missing"));
    let why = store.outcome(info, true).unwrap_err();
    assert!(
        why.contains("the names that it refers to are missing"),
        "{why}"
    );
    fs::remove_dir_all(directory).unwrap();
}
