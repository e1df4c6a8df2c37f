//! Token buckets that are full at the start and outlast the warm-up.

use crate::common;
use spillgate_measure::table::{Metric, Scope};
use spillgate_sim::{Campaign, Draining};

/// Voice of `rate` beside data that fill the line, with a priority policer of 15 % and a burst of
/// 20 kB.
fn draining(rate: &str, traffic: &str) -> (Vec<Draining>, f64) {
    let text = format!(
        "
schema_version: 1
topology:
  nodes: [a, b, c]
  links:
    access: {{from: a, to: b, rate: 1 Gb/s, delay: 0 ms}}
    wan: {{from: b, to: c, rate: 10 Mb/s, delay: 1 ms, policy: edge}}
policies:
  edge:
    class-based:
      classes:
        - {{name: voice, match: {{dscp: ef}}, priority: {{rate: 15 %, burst: 20000 B}}}}
        - {{name: class-default}}
traffic:
  - flow: {{name: voice, from: a, to: c, dscp: ef, source: {{{traffic}: {{rate: {rate}, packet: 200 B}}}}}}
  - flow: {{name: data, from: a, to: c, source: {{poisson: {{rate: 12 Mb/s, packet: 1000 B}}}}}}
measurement: {{warmup: 5 s, duration: 25 s}}
runs: {{count: 1, seed: 1}}
"
    );
    let plan = common::plan(&text);
    let campaign = Campaign::new(plan.clone());
    campaign.execute(1).expect("a thread");
    let outcome = campaign.finished()[0].outcome.clone();
    let at = spillgate_sim::layout(&plan.variants[0].world)
        .position(Scope::Class, "voice", Metric::LossRatio)
        .expect("voice is measured");
    (outcome.draining.clone(), outcome.values[at])
}

/// 1.51 Mb/s of 1.5: 20 kB last 16 s, and the loss of the first 11 s measured is none.
#[test]
fn a_bucket_that_outlasts_the_warm_up_is_seen() {
    let (found, loss) = draining("1.51 Mb/s", "cbr");
    let [bucket] = &found[..] else {
        panic!("{found:?}")
    };
    assert_eq!((&*bucket.place, bucket.burst), ("wan/voice", 20_000));
    // 20,000 B * 8 / 10 kb/s; samples are a second apart.
    let lasts = bucket.lasts.as_secs_f64();
    assert!((15.0..=17.0).contains(&lasts), "{lasts}");
    assert!(loss < 10.0 / 1510.0, "{loss}");
}

#[test]
fn buckets_that_are_soon_empty_or_stay_full_are_not() {
    // Empty after 3.2 s; never.
    assert_eq!(draining("1.55 Mb/s", "cbr").0, []);
    assert_eq!(draining("1.4 Mb/s", "cbr").0, []);
    assert_eq!(draining("1.2 Mb/s", "poisson").0, []);
}

/// The policer at the far end of a link.
#[test]
fn a_policer_at_arrival_counts() {
    let text = "
schema_version: 1
topology:
  nodes: [a, b, c]
  links:
    access: {from: a, to: b, rate: 1 Gb/s, delay: 0 ms, input_policy: in}
    wan: {from: b, to: c, rate: 10 Mb/s, delay: 1 ms}
policies:
  in:
    class-based:
      classes:
        - {name: class-default, police: {rate: 1 Mb/s, burst: 50000 B}}
traffic:
  - flow: {name: f, from: a, to: c, source: {cbr: {rate: 1.02 Mb/s, packet: 500 B}}}
measurement: {warmup: 5 s, duration: 10 s}
runs: {count: 1, seed: 1}
";
    let campaign = Campaign::new(common::plan(text));
    campaign.execute(1).expect("a thread");
    let found = campaign.finished()[0].outcome.draining.clone();
    let [bucket] = &found[..] else {
        panic!("{found:?}")
    };
    // 50,000 B * 8 / 20 kb/s.
    assert_eq!(&*bucket.place, "access/input/class-default");
    let lasts = bucket.lasts.as_secs_f64();
    assert!((19.0..=21.0).contains(&lasts), "{lasts}");
}
