//! What promises nothing closes its own stretch of the express lane, and nothing else.

use crate::common;
use spillgate_events::WinnerTree;
use spillgate_sim::{Engine, Stop, World};

/// Connections over a dumbbell, and a corner of the network in which packets are `met`.
fn scenario(node: &str, link: &str) -> String {
    format!(
        "schema_version: 1\n\
         topology:\n  \
           nodes: [{{name: s, count: 20}}, {{name: d, count: 20}}, left, right, x, {node}, y]\n  links:\n    \
             access: {{from: s, to: left, rate: 1 Gb/s, delay: 1 ms, duplex: true}}\n    \
             bottleneck: {{from: left, to: right, rate: 100 Mb/s, delay: 10 ms, policy: Q, duplex: true}}\n    \
             egress: {{from: right, to: d, rate: 1 Gb/s, delay: 1 ms, duplex: true}}\n    \
             in: {{from: x, to: left, rate: 10 Mb/s, delay: 1 ms}}\n    \
             on: {{from: right, to: r, rate: 10 Mb/s, delay: 1 ms{link}}}\n    \
             out: {{from: r, to: y, rate: 10 Mb/s, delay: 1 ms}}\n\
         policies:\n  Q: {{fifo: {{limit: 100 packets}}}}\n  \
           IN: {{class-based: {{classes: [{{name: class-default, police: {{rate: 1 Mb/s}}}}]}}}}\n\
         traffic:\n  \
           - flow: {{name: f, count: 20, from: s, to: d, start_spread: 100 ms, tcp: {{profile: ns2}}}}\n  \
           - flow: {{name: c, from: x, to: y, source: {{poisson: {{rate: 1 Mb/s, packet: 1000 B}}}}}}\n\
         measurement: {{warmup: 0 s, duration: 2 s}}\nruns: {{count: 1, seed: 1}}\n"
    )
}

/// The wakes of a run, and its fingerprint.
fn wakes(yaml: &str, engine: Engine) -> (u32, String) {
    let plan = common::plan(yaml);
    let mut world = World::<WinnerTree>::on(engine, &plan.variants[0].world, 1, 0, false);
    let mut wakes = 0;
    while world.run(1) != Stop::Done {
        wakes += 1;
    }
    assert_eq!(world.fault(), None);
    (wakes, world.digest())
}

#[test]
fn a_corner_that_promises_nothing_leaves_the_rest_express() {
    let (open, _) = wakes(&scenario("r", ""), Engine::Express);
    for (node, link) in [
        ("{name: r, forwarding: {per_packet: 10 us}}", ""),
        ("r", ", loss: {bernoulli: 1 %}"),
        ("r", ", reorder: {share: 1 %, by: 2 ms}"),
        ("r", ", input_policy: IN"),
    ] {
        let yaml = scenario(node, link);
        let (express, digest) = wakes(&yaml, Engine::Express);
        let (plain, same) = wakes(&yaml, Engine::Plain);
        assert_eq!(digest, same);
        // About 250 packets, each with at most four wakes on its way through the corner.
        assert!(
            express.abs_diff(open) < 2_000,
            "{yaml}: {express}, not {open}"
        );
        assert!(express < plain / 3, "{yaml}: {express} of {plain}");
    }
}
