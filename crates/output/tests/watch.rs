//! What happens at a port, against the counters of the same run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_measure::table::Scope;
use spillgate_output::Report;
use spillgate_output::watch::{Happening, NO_REASON, Recording, Watch};
use spillgate_scenario::plan::Plan;
use spillgate_scenario::{NoImporter, Options, load};
use spillgate_sim::{Campaign, Finished, Outcome, RunInfo};

const QUEUES: [&str; 6] = [
    "{fifo: {limit: 20 packets}}",
    "{fifo: {limit: 60 packets, aqm: {codel: {}}}}",
    "{fifo: {limit: 60 packets, aqm: {red: {min_th: 5, max_th: 15, max_p: 0.1}}}}",
    "{fifo: {limit: 60 packets, aqm: {pie: {ecn: true}}}}",
    "{fq-codel: {}}",
    "{class-based: {classes: [{name: voice, match: {dscp: ef}, priority: {rate: 10 %}}, {name: class-default, queue_limit: 30 packets}]}}",
];

/// Calls and connections on 2 Mb/s; nothing is outside the measured period.
fn plan(queue: &str, connections: u32, ecn: bool, seed: u64) -> Arc<Plan> {
    let ecn = if ecn { "ecn: classic" } else { "" };
    let yaml = format!(
        "schema_version: 1
topology:
  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 2 Mb/s, delay: 5 ms, duplex: true, policy: Q}}}}
policies: {{Q: {queue}}}
traffic:
  - flow: {{name: call, class: voice, dscp: ef, from: a, to: b, source: {{poisson: {{rate: 80 kb/s, packet: 200 B}}}}}}
  - flow: {{name: bulk, class: bulk, count: {connections}, from: a, to: b, start_spread: 100 ms, tcp: {{{ecn}}}}}
measurement: {{warmup: 0 s, duration: 3 s, interval: 100 ms}}
runs: {{count: 1, seed: {seed}}}
"
    );
    let files = BTreeMap::from([(PathBuf::from("t.yaml"), yaml.into_bytes())]);
    let path = Path::new("t.yaml");
    Arc::new(
        load(path, &files, &NoImporter, &Options::default())
            .unwrap()
            .plan,
    )
}

fn watched(plan: &Plan, limit: usize, events: u64) -> (Outcome, Recording) {
    let world = &plan.variants[0].world;
    let link = world.links.iter().position(|l| l.name == "l").unwrap();
    let mut watch = Watch::new(world, plan.seed, 0, link as u32, limit);
    let mut before = 0.0;
    while watch.advance(events) {
        assert!((before..=1.0).contains(&watch.fraction()));
        before = watch.fraction();
    }
    watch.finish().unwrap()
}

/// Every packet arrives once, and leaves or is dropped at most once after it.
fn each_packet_has_one_fate(seen: &Recording) {
    let mut state: Vec<u8> = Vec::new();
    for (i, (kind, packet)) in seen.kind.iter().zip(&seen.packet).enumerate() {
        let at = *packet as usize;
        if *kind == Happening::Arrives as u8 {
            assert_eq!(at, state.len(), "numbers follow arrivals");
            state.push(0);
        } else {
            assert_eq!(state[at], 0, "packet {at} is gone already");
            state[at] = u8::from(*kind != Happening::Marked as u8);
        }
        let leaves = *kind == Happening::Leaves as u8;
        assert_eq!(seen.until[i] > seen.time[i], leaves);
        assert_eq!(seen.wait[i] >= 0.0, leaves);
        assert_eq!(
            seen.reason[i] != NO_REASON,
            *kind == Happening::Dropped as u8
        );
    }
    assert!(seen.time.is_sorted());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24 * effort()))]

    /// To watch changes nothing, and what is seen is what is counted.
    #[test]
    fn what_is_seen_is_what_is_counted(
        queue in 0..QUEUES.len(),
        connections in 1..8_u32,
        ecn: bool,
        seed in 0..1000_u64,
        events in 1..5000_u64,
    ) {
        let plan = plan(QUEUES[queue], connections, ecn, seed);
        let campaign = Campaign::new(Arc::clone(&plan));
        campaign.execute(1).unwrap();
        let made = campaign.finished();
        let (outcome, seen) = watched(&plan, usize::MAX, events);
        prop_assert_eq!(&outcome.digest, &made[0].outcome.digest);
        prop_assert_eq!(format!("{:?}", outcome.values), format!("{:?}", made[0].outcome.values));
        each_packet_has_one_fate(&seen);
        let info = RunInfo { variant: 0, run: 0 };
        let finished = Finished { info, outcome: Arc::new(outcome) };
        let report = Report::new(plan, vec![finished]);
        let all = report.summary_of(|layout, key| {
            key.scope == Scope::Queue && layout.name(key).starts_with("l/")
        });
        let dropped: f64 = all
            .iter()
            .filter(|row| row.metric.starts_with("drops_"))
            .map(|row| row.mean)
            .sum();
        // What is lost after the end of the measured period is seen, and not counted.
        let within = seen.time.iter().zip(&seen.kind).filter(|(t, k)| {
            **t < 3.0 && **k == Happening::Dropped as u8
        });
        prop_assert_eq!(within.count() as f64, dropped);
    }
}

#[test]
fn what_is_beyond_the_limit_is_counted() {
    let plan = plan(QUEUES[0], 4, false, 1);
    let (_, all) = watched(&plan, usize::MAX, 1000);
    let (outcome, some) = watched(&plan, 100, 1000);
    assert_eq!(some.len(), 100);
    assert_eq!(some.left_out, (all.len() - 100) as u64);
    assert_eq!(some.time, all.time[..100]);
    assert_eq!(outcome.digest, watched(&plan, 0, 1000).0.digest);
}

/// RED's probability is that of its gentle curve at the average: 0 below 5 packets, 0.1 at 15, 1 at
/// 30.
#[test]
fn the_probability_of_red_follows_its_average() {
    let (_, seen) = watched(&plan(QUEUES[2], 6, false, 3), usize::MAX, 1000);
    let mut between = 0;
    for (average, probability) in seen.average.iter().zip(&seen.probability) {
        let by_curve = match *average {
            a if a < 5.0 => 0.0,
            a if a < 15.0 => 0.1 * (a - 5.0) / 10.0,
            a => (0.1 + 0.9 * (a - 15.0) / 15.0).min(1.0),
        };
        assert!(
            (probability - by_curve).abs() < 1e-12,
            "{average}: {probability}"
        );
        between += usize::from(*average > 5.0 && *average < 15.0);
    }
    assert!(between > 100, "{between}");
}
