//! Time series of what AQMs, fair queues and token buckets go by.

use crate::common;

use spillgate_measure::Sampled;
use spillgate_queueing::{Recipe, kinds};
use spillgate_sim::{Curve, Outcome};

/// Three connections through this policy of a line of 10 Mb/s, sampled each 5 ms.
fn scenario(policy: &str) -> String {
    format!(
        "schema_version: 1
topology:
  nodes: [a, b]
  links:
    up: {{from: a, to: b, rate: 10 Mb/s, delay: 20 ms, policy: main}}
    down: {{from: b, to: a, rate: 10 Mb/s, delay: 20 ms}}
policies:
  main: {policy}
traffic:
  - flow: {{name: load, from: a, to: b, count: 3, tcp: {{}}}}
measurement: {{warmup: 0 s, duration: 8 s, interval: 5 ms, series: [up]}}
"
    )
}

fn sampled(policy: &str) -> Outcome {
    common::same_series(&common::plan(&scenario(policy)), 1)
}

#[track_caller]
fn curve<'o>(of: &'o Outcome, place: &str, metric: &str) -> &'o Curve {
    let mut curves = of.series.iter();
    let found = curves.find(|c| c.place == place && c.metric == metric);
    found.unwrap_or_else(|| panic!("no {metric} of {place}"))
}

fn largest(curve: &Curve) -> f64 {
    curve.v.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Each AQM in a FIFO and in a fair queue.
#[test]
fn names_of_state_are_series() {
    let family = kinds()
        .iter()
        .find(|f| f.kinds.iter().any(|k| k.kind == "codel"));
    for aqm in family.expect("the family of AQMs").kinds {
        for queue in ["fifo", "fq"] {
            let spec = format!(r#"{{"{queue}": {{"aqm": {{"{}": {{}}}}}}}}"#, aqm.kind);
            let spec = serde_json::from_str(&spec).unwrap_or_else(|e| panic!("{spec}: {e}"));
            let rate = spillgate_core::Rate::from_bps(10_000_000).unwrap();
            let recipe = match Recipe::of(spec, rate) {
                Ok((recipe, _)) => recipe,
                // One that tells flows apart has no place in a queue of one flow.
                Err(why) if queue == "fq" && why.to_string().contains("flows that share") => {
                    continue;
                }
                Err(why) => panic!("{}: {why}", aqm.kind),
            };
            for gauges in recipe.gauges() {
                for (name, _) in gauges.state {
                    assert!(Sampled::from_name(name).is_some(), "{}: {name}", aqm.kind);
                }
            }
        }
    }
}

#[test]
fn codel_shows_when_it_drops() {
    let of = sampled("{fifo: {limit: 1000 packets, aqm: {codel: {}}}}");
    let [dropping, count, next, delay] =
        ["codel_dropping", "codel_count", "codel_next", "queue_delay"]
            .map(|m| curve(&of, "up/fifo", m));
    let in_state = dropping.v.iter().filter(|v| **v == 1.0).count();
    assert!(0 < in_state && in_state < dropping.v.len());
    for ((on, count), next) in dropping.v.iter().zip(&count.v).zip(&next.v) {
        assert_eq!(*on == 1.0, next.is_finite());
        assert!(*on == 0.0 || *count >= 1.0);
        // RFC 8289: 100 ms at most lie between two drops.
        assert!(next.is_nan() || *next <= 0.1, "{next}");
    }
    let worst = largest(delay);
    assert!((0.005..0.3).contains(&worst), "{worst}");
}

#[test]
fn pie_shows_its_probability() {
    let of = sampled("{fifo: {limit: 1000 packets, aqm: {pie: {}}}}");
    let probability = largest(curve(&of, "up/fifo", "drop_probability"));
    assert!(0.0 < probability && probability <= 1.0, "{probability}");
    let burst = curve(&of, "up/fifo", "pie_burst");
    assert!(burst.v.contains(&0.15) && burst.v.contains(&0.0));
    // Its own delay is that of the head at its last update, at most 15 ms ago.
    let (own, head) = (
        curve(&of, "up/fifo", "pie_delay"),
        curve(&of, "up/fifo", "queue_delay"),
    );
    let pairs = own.v.iter().zip(&head.v).filter(|(_, head)| **head > 0.05);
    let far = pairs
        .filter(|(own, head)| (*own - *head).abs() > 0.05)
        .count();
    assert_eq!(far, 0);
}

/// A FIFO drains at the rate of its link.
#[test]
fn the_delay_of_a_fifo_is_what_waits_over_the_rate() {
    let of = sampled("{fifo: {limit: 100 packets}}");
    let (bytes, delay) = (
        curve(&of, "up/fifo", "backlog_bytes"),
        curve(&of, "up/fifo", "queue_delay"),
    );
    assert!(largest(delay) > 0.1);
    for (bytes, delay) in bytes.v.iter().zip(&delay.v) {
        assert!((bytes * 8.0 / 1e7 - delay).abs() < 1e-12);
    }
}

#[test]
fn a_fair_queue_shows_how_many_queues_it_serves() {
    let of = sampled("{fq-codel: {}}");
    assert_eq!(largest(curve(&of, "up/fq-codel", "flows_queued")), 3.0);
}

/// Buckets are full at the start and empty under load; each has the name of its class, that of a
/// container its own.
#[test]
fn buckets_show_their_tokens() {
    let of = sampled(
        "{class-based: {classes: [{name: all, match: {dscp: [be, ef]}, shape: {rate: 8 Mb/s, burst: 3000 B}, policy: inner}]}}
  inner: {class-based: {classes: [
    {name: p, match: {dscp: ef}, priority: {rate: 1 Mb/s, burst: 3000 B}},
    {name: q, match: {dscp: be}, police: {rate: 6 Mb/s, burst: 10000 B}}]}}",
    );
    for (place, metric, burst, least) in [
        ("up/all", "tokens_shaper", 3000.0, 2000.0),
        ("up/all/q", "tokens_policer", 10_000.0, 1500.0),
        ("up/all/p", "tokens_priority", 3000.0, 3000.0),
    ] {
        let tokens = curve(&of, place, metric);
        assert!(
            tokens.v.iter().all(|v| (0.0..=burst).contains(v)),
            "{place}"
        );
        let low = tokens.v.iter().copied().fold(burst, f64::min);
        assert!(low <= least, "{place}: {low}");
    }
    let counted = of.series.iter().filter(|c| c.metric.starts_with("tokens_"));
    assert_eq!(counted.count(), 3);
}

#[test]
fn buckets_at_arrival_show_their_tokens() {
    let yaml = scenario("{fifo: {}}
  edge: {class-based: {classes: [{name: q, match: {dscp: be}, police: {rate: 6 Mb/s, burst: 10000 B}}]}}")
        .replace("policy: main", "policy: main, input_policy: edge");
    let of = common::same_series(&common::plan(&yaml), 1);
    let tokens = curve(&of, "up/input/q", "tokens_policer");
    assert!(tokens.v.iter().any(|v| *v < 1500.0));
}
