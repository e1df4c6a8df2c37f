//! Initial transients of whole runs.

use crate::common;
use spillgate_measure::table::Metric;
use spillgate_sim::{Campaign, Unsettled};

fn scenario(traffic: &str, measurement: &str, more: &str) -> String {
    format!(
        "
schema_version: 1
topology:
  nodes: [a, b]
  links:
    wan: {{from: a, to: b, rate: 100 Mb/s, delay: 100 ms, duplex: true, policy: q}}
{more}policies: {{q: {{fifo: {{limit: 200 packets}}}}}}
traffic:
  - flow: {{name: f, count: 1, from: a, to: b, {traffic}}}
measurement: {{{measurement}}}
runs: {{count: 1, seed: 1}}
"
    )
}

/// What had not settled in the first run of a scenario of one flow.
fn unsettled(traffic: &str, measurement: &str, more: &str) -> Vec<Unsettled> {
    first(&scenario(traffic, measurement, more))
}

/// What had not settled in the first run.
fn first(text: &str) -> Vec<Unsettled> {
    let campaign = Campaign::new(common::plan(text));
    campaign.execute(1).expect("a thread");
    campaign.finished()[0].outcome.unsettled.clone()
}

/// It adds a segment each 200 ms to a window that needs 1,700, and so for minutes.
#[test]
fn a_growing_window_has_not_settled() {
    let newreno = "tcp: {cc: newreno}";
    let found = unsettled(newreno, "warmup: 1 s, duration: 20 s", "");
    let rate = found
        .iter()
        .find(|u| u.metric == Metric::Throughput.name())
        .expect("its rate rises");
    assert_eq!(rate.warmup, None, "{rate:?}");
    assert!(rate.bias < -0.1, "{rate:?}");
    assert_eq!(unsettled(newreno, "warmup: 400 s, duration: 200 s", ""), []);
}

/// A steady source fills the pipe at once.
#[test]
fn steady_sources_have_settled() {
    for source in [
        "source: {cbr: {rate: 20 Mb/s, packet: 1000 B}}",
        "source: {poisson: {rate: 50 Mb/s, packet: 1000 B}}",
    ] {
        assert_eq!(unsettled(source, "warmup: 1 s, duration: 20 s", ""), []);
    }
}

/// A queue that fills slowly is seen in the delay, with the time that it takes.
#[test]
fn a_queue_that_fills_is_seen() {
    // 1 Mb/s more than the line takes 8 s to fill 1,000 packets of 1,000 B, or 80 ms.
    let over = "source: {poisson: {rate: 101 Mb/s, packet: 1000 B}}";
    let deep = "deep: {fifo: {limit: 1000 packets}}";
    let run = |measurement: &str| {
        let text = scenario(over, measurement, "")
            .replace("policies: {", &format!("policies: {{{deep}, "));
        first(
            &text
                .replace("delay: 100 ms", "delay: 10 ms")
                .replace("policy: q", "policy: deep"),
        )
    };
    let found = run("warmup: 0 s, duration: 40 s");
    let delay = found
        .iter()
        .find(|u| u.metric == Metric::OwdMean.name())
        .expect("it grows");
    assert!(delay.bias < -0.05, "{delay:?}");
    let until = delay.warmup.expect("it settles").as_secs_f64();
    assert!((6.0..=19.0).contains(&until), "{delay:?}");
    assert_eq!(run("warmup: 20 s, duration: 40 s"), []);
}

/// What a scenario does at a time of its own is no transient.
#[test]
fn what_is_meant_to_change_is_not_reported() {
    let cbr = "source: {cbr: {rate: 20 Mb/s, packet: 1000 B}}";
    let later = format!("start: 10 s, {cbr}");
    assert_eq!(unsettled(&later, "warmup: 1 s, duration: 20 s", ""), []);
    let failure = "  failures: [{link: wan, at: 10 s, repair: 15 s}]\n";
    assert_eq!(unsettled(cbr, "warmup: 1 s, duration: 20 s", failure), []);
    assert_eq!(
        unsettled("bytes: 5 MB, tcp: {}", "warmup: 1 s, duration: 20 s", ""),
        []
    );
}
