//! A FIFO is a FIFO: the port that computes departures at arrival and the port
//! that asks a discipline packet by packet give the same run.

use crate::common;
use spillgate_events::WinnerTree;
use spillgate_measure::table::{Metric, Scope};
use spillgate_sim::{Engine, Finished, Stop, World, layout};

/// Two hops, so that the arrivals of the second come from a port too, and CBR
/// flows of one period, so that arrivals coincide with each other and with departures.
fn scenario(policy: &str) -> String {
    format!(
        "
schema_version: 1
topology:
  nodes: [a, b, c, d]
  links:
    first: {{from: a, to: c, rate: 12 Mb/s, policy: P}}
    other: {{from: b, to: c, rate: 12 Mb/s, delay: 1 ms}}
    second: {{from: c, to: d, rate: 10 Mb/s, delay: 2 ms, policy: P}}
policies: {{P: {policy}}}
traffic:
  - flow: {{name: even, from: a, to: d, source: {{cbr: {{rate: 6 Mb/s, packet: 1500 B}}}}}}
  - flow: {{name: even2, from: a, to: d, source: {{cbr: {{rate: 6 Mb/s, packet: 1500 B}}}}}}
  - flow: {{name: random, from: a, to: d, source: {{poisson: {{rate: 1 Mb/s, packet: imix}}}}}}
  - flow: {{name: burst, from: b, to: d, source: {{on-off: {{peak: 12 Mb/s, packet: 500 B, on: 20 ms, off: 200 ms}}}}}}
measurement: {{warmup: 1 s, duration: 4 s, interval: 100 ms}}
runs: {{count: 3, seed: 11}}
"
    )
}

/// Values by scope, name (with the queue's own name left out) and metric.
fn rows(
    plan: &spillgate_scenario::plan::Plan,
    run: &Finished,
) -> Vec<(Scope, String, Metric, u64)> {
    let layout = layout(&plan.variants[0].world);
    layout
        .keys
        .iter()
        .zip(&run.outcome.values)
        .map(|(k, v)| {
            let name = layout.name(k).split('/').next().unwrap().to_owned();
            (k.scope, name, k.metric, v.to_bits())
        })
        .collect()
}

#[test]
fn a_computed_fifo_and_a_queued_fifo_are_the_same() {
    // Packets, bytes that hold some packets, bytes in which the longest packets do not fit, time.
    for limit in ["20 packets", "9000 B", "1000 B", "15 ms"] {
        let plain = scenario(&format!("{{fifo: {{limit: {limit}}}}}"));
        let queued = scenario(&format!(
            "{{class-based: {{classes: [{{name: class-default, queue_limit: {limit}}}]}}}}"
        ));
        let plans = [common::plan(&plain), common::plan(&queued)];
        let runs = plans.each_ref().map(|p| common::run(p, 2));
        for (a, b) in runs[0].iter().zip(&runs[1]) {
            assert_eq!(a.info, b.info);
            // Every packet arrives at the same instant in the same order, or is lost at the same.
            assert_eq!(a.outcome.digest, b.outcome.digest, "{limit}");
            assert_eq!(rows(&plans[0], a), rows(&plans[1], b), "{limit}");
            for (a, b) in a.outcome.series.iter().zip(&b.outcome.series) {
                assert_eq!((&a.metric, a.start), (&b.metric, b.start), "{limit}");
                // One is how long what waits takes to send, the other how long the next has waited:
                // a port that computes departures keeps no arrivals.
                if a.metric != "queue_delay" {
                    assert_eq!(a.v, b.v, "{limit}");
                }
            }
        }
        let lost = common::values(&plans[0], &runs[0], Scope::Total, "all", Metric::DropsTail);
        assert!(lost.iter().all(|n| *n > 100.0), "{limit}: {lost:?}");
    }
}

/// In the plain engine an AQM sits in a queue; in the express engine the port asks it on arrival
/// and computes departures. Marks, drops of each kind, waits and peaks are the same.
#[test]
fn an_aqm_of_a_computed_fifo_does_what_it_does_in_a_queue() {
    for (aqm, drops) in [
        ("red: {ecn: true, max_p: 0.3}", Metric::DropsEarly),
        ("red: {max_th: 10, gentle: false}", Metric::DropsForced),
        ("red: {weight: 0.0001}", Metric::DropsTail),
        (
            "wred: {ecn: true, dscp: {af21: {min: 3, max: 9}}}",
            Metric::DropsEarly,
        ),
    ] {
        let yaml = scenario(&format!("{{fifo: {{limit: 25 packets, aqm: {{{aqm}}}}}}}"))
            .replace("name: even,", "name: even, ecn: ect0,")
            .replace("name: random,", "name: random, ecn: ect1, dscp: af21,");
        let plan = common::plan(&yaml);
        let world = &plan.variants[0].world;
        let outcome = |engine| {
            let mut world = World::<WinnerTree>::on(engine, world, 11, 0, false);
            while world.run(1000) != Stop::Done {}
            world.outcome()
        };
        let (computed, queued) = (outcome(Engine::Express), outcome(Engine::Plain));
        assert_eq!(computed.digest, queued.digest, "{aqm}");
        assert!(computed.events < queued.events, "{aqm}: nothing computed");
        let layout = layout(world);
        let mut seen = (0.0, 0.0);
        for ((key, a), b) in layout.keys.iter().zip(&computed.values).zip(&queued.values) {
            let name = (layout.name(key), key.metric);
            assert_eq!(a.to_bits(), b.to_bits(), "{aqm}: {name:?} {a} {b}");
            if key.scope == Scope::Queue {
                seen.0 += if key.metric == drops { *a } else { 0.0 };
                seen.1 += if key.metric == Metric::MarksCe {
                    *a
                } else {
                    0.0
                };
            }
        }
        assert!(seen.0 > 10.0, "{aqm}: {seen:?}");
        assert_eq!(seen.1 > 10.0, aqm.contains("ecn"), "{aqm}: {seen:?}");
    }
}
