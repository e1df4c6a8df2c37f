//! What passes a port uncontended that computes departures, or waits there for others as long, is
//! counted as if the port had been asked for each packet, as it is where a tap wants to see them.

use crate::common;
use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_events::WinnerTree;
use spillgate_measure::table::{Metric, Scope};
use spillgate_sim::{Outcome, Stop, World, layout};

/// 12 Mb/s: 1 ms for 1500 B.
fn scenario(link: &str, flows: &[&str], measurement: &str) -> String {
    let flows: Vec<_> = (0..)
        .zip(flows)
        .map(|(i, f)| format!("  - flow: {{name: f{i}, from: a, to: b, {f}}}\n"))
        .collect();
    format!(
        "schema_version: 1\ntopology:\n  nodes: [a, b]\n  links:\n    \
         l: {{from: a, to: b, rate: 12 Mb/s, {link}}}\npolicies: {{P: {{fifo: {{limit: 64 packets}}}}}}\n\
         traffic:\n{}measurement: {{{measurement}, percentiles: [backlog]}}\nruns: {{count: 1, seed: 5}}\n",
        flows.concat()
    )
}

fn ended(mut world: World<WinnerTree>) -> Outcome {
    assert_eq!(world.run(u64::MAX), Stop::Done);
    world.outcome()
}

/// The values of a run, which are the same whoever looks.
#[track_caller]
fn run(yaml: &str) -> impl Fn(Metric) -> f64 + use<> {
    let plan = common::plan(yaml);
    let world = &plan.variants[0].world;
    let computed = ended(World::new(world, 5, 0, false));
    let tap = Box::new(common::Blind);
    let others = [
        common::same_series(&plan, 5),
        ended(World::tapped(world, 5, 0, false, tap)),
    ];
    let layout = layout(world);
    for other in &others {
        assert_eq!(computed.digest, other.digest);
        for ((key, a), b) in layout.keys.iter().zip(&computed.values).zip(&other.values) {
            let name = (layout.name(key), key.metric);
            assert_eq!(a.to_bits(), b.to_bits(), "{name:?} {a} {b}\n{yaml}");
        }
    }
    move |metric| {
        let mut found = layout.keys.iter().zip(&computed.values);
        let at_link = |k: Scope| matches!(k, Scope::Link | Scope::Queue);
        let found = found.find(|(k, _)| at_link(k.scope) && k.metric == metric);
        *found.expect("a value").1
    }
}

const EVEN: &str = "source: {cbr: {rate: 6 Mb/s, packet: 1500 B, phase: 0 s}}";

/// A transmission of 1 ms in each 2 ms: of those that begin or end outside the measured period the
/// part within it is busy time.
#[test]
fn edges_of_the_period_cut_transmissions() {
    for (warmup, duration) in [
        ("10 ms", "10 ms"),
        ("11 ms", "10 ms"),
        ("10.5 ms", "10 ms"),
        ("0 s", "10 ms"),
    ] {
        let times = format!("warmup: {warmup}, duration: {duration}, interval: 1 ms");
        let value = run(&scenario("policy: P", &[EVEN], &times));
        assert_eq!(value(Metric::Utilization), 0.5, "{warmup} {duration}");
        assert_eq!(value(Metric::BacklogBytesMax), 1500.0);
    }
}

/// 40 B, 500 B and 1000 B in turn and at once; what is too big never gets there, and is no peak.
#[test]
fn lengths_in_turn_are_counted_each() {
    let cbr = |len: u32, phase: &str| {
        format!("source: {{cbr: {{rate: {len} kb/s, packet: {len} B, phase: {phase}}}}}")
    };
    let flows = [
        cbr(40, "0 s"),
        cbr(500, "0 s"),
        cbr(1000, "4 ms"),
        cbr(1400, "6 ms"),
    ];
    let flows: Vec<_> = flows.iter().map(String::as_str).collect();
    let times = "warmup: 101 ms, duration: 1 s, interval: 100 ms";
    let value = run(&scenario("mtu: 1000 B, policy: P", &flows, times));
    assert!(value(Metric::DropsTooBig) > 0.0);
    let value = run(&scenario(
        "mtu: 1000 B, policy: P",
        &[flows[0], flows[3]],
        times,
    ));
    assert_eq!(value(Metric::BacklogBytesMax), 40.0);
}

/// The link fails 0.25 ms after it has begun to send its eleventh packet.
#[test]
fn a_failure_cuts_a_transmission_off() {
    let link = "policy: P}\n  failures: [{link: l, at: 20.25 ms, repair: 30.5 ms}]\n  routing: {convergence: 1 s";
    let times = "warmup: 0 s, duration: 40 ms, interval: 10 ms";
    let value = run(&scenario(link, &[EVEN], times));
    // The packets that come at 32, 34, 36 and 38 ms besides.
    assert_eq!(value(Metric::Utilization), (10.25 + 4.0) / 40.0);
}

/// Three packets of 1 ms that come at 16 ms and a failure before a fourth does: when the period
/// begins, at 17 ms, two wait or begin to be sent.
#[test]
fn what_waits_when_the_period_begins_is_a_peak_though_the_link_fails() {
    let link = "policy: P}\n  failures: [{link: l, at: 17.5 ms, repair: 30.5 ms}]\n  routing: {convergence: 1 s";
    let burst = "source: {cbr: {rate: 750 kb/s, packet: 1500 B, phase: 0 s}}";
    let times = "warmup: 17 ms, duration: 10 ms, interval: 10 ms";
    let value = run(&scenario(link, &[burst, burst, burst], times));
    assert_eq!(value(Metric::BacklogPacketsMax), 2.0);
}

/// A saturated port, of which it is said how much it carries and how long that waits: 1 ms for each
/// of the 64 packets that find room, of which one comes in the millisecond in which one leaves.
#[test]
fn what_waits_for_others_as_long_is_counted() {
    let flood = "source: {cbr: {rate: 24 Mb/s, packet: 1500 B, phase: 0 s}}";
    let times = "warmup: 1 s, duration: 1 s, interval: 100 ms";
    let value = run(&scenario("policy: P", &[flood], times));
    assert_eq!(value(Metric::Utilization), 1.0);
    assert_eq!(value(Metric::BacklogPacketsMax), 64.0);
    assert_eq!(value(Metric::BacklogBytesMax), 64.0 * 1500.0);
}

fn flow() -> impl Strategy<Value = String> {
    // 40 B and 41 B are as long in the smallest frame.
    let packet = prop_oneof![
        Just("40 B"),
        Just("41 B"),
        Just("500 B"),
        Just("1500 B"),
        Just("imix")
    ];
    (packet, 1..20_u32, 0..3_u8).prop_map(|(packet, rate, kind)| match kind {
        0 if packet != "imix" => {
            format!("source: {{cbr: {{rate: {rate} Mb/s, packet: {packet}}}}}")
        }
        1 if packet != "imix" => format!(
            "source: {{on-off: {{peak: {} Mb/s, packet: {packet}, on: 5 ms, off: 20 ms}}}}",
            4 * rate
        ),
        _ => format!("source: {{poisson: {{rate: {rate} Mb/s, packet: {packet}}}}}"),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100 * effort()))]

    /// Any lengths, limits and edges, with a server that is idle, busy or flooded.
    #[test]
    fn any_packets_agree(
        flows in prop::collection::vec(flow(), 1..4),
        policy in prop_oneof![
            Just("limit: 1 packets"),
            Just("limit: 30 packets"),
            Just("limit: 4000 B"),
            Just("limit: 4 ms"),
            Just("limit: 40 packets, aqm: {red: {weight: 0.1}}"),
            Just("limit: 12 packets, aqm: {red: {min_th: 8, max_th: 12, weight: 0.02}}"),
        ],
        link in prop_oneof![Just(""), Just(", overhead: ethernet-frame"), Just(", overhead: pppoe-llcsnap"), Just(", overhead: overhead -30 ptm, mtu: 1000 B"), Just(", mtu: 1000 B")],
        (warmup, duration) in (0..60_u32, 1..200_u32),
        failure in prop::option::of((1..100_u32, 1..50_u32)),
    ) {
        let failure = failure.map_or(String::new(), |(at, down)| {
            let repair = at + down;
            format!(
                "}}\n  failures: [{{link: l, at: {at}.3 ms, repair: {repair}.6 ms}}]\n  \
                 routing: {{convergence: 1 s"
            )
        });
        let flows: Vec<_> = flows.iter().map(String::as_str).collect();
        let times = format!("warmup: {warmup} ms, duration: {duration} ms, interval: 1 ms");
        let yaml = scenario(&format!("policy: P{link}{failure}"), &flows, &times);
        let _ = run(&yaml.replace("limit: 64 packets", policy));
    }
}
