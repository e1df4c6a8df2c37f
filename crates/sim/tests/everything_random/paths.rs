//! Bounds over several ports: bursts that count once, and ports on loops.

use std::fmt::Write;

use proptest::prelude::*;
use spillgate_bounds::bounds;
use spillgate_core::testkit::effort;
use spillgate_events::WinnerTree;

use super::net::plan_of;
use super::worst::holds;
use crate::common::outcome;

/// What never sends more than its curve; packets that jitter, so that those of many come together.
const OFFERED: [&str; 5] = [
    "cbr: {rate: 100 kb/s, packet: 1000 B, jitter: 45 %}",
    "cbr: {rate: 300 kb/s, packet: {uniform: {min: 100 B, max: 900 B}}, jitter: 50 %}",
    "on-off: {peak: 400 kb/s, packet: 500 B, on: 20 ms, off: 30 ms}",
    "bernoulli: {line: 500 kb/s, load: 60 %, packet: 1200 B}",
    "voip: {codec: g711}",
];

/// Disciplines of the ports: without limit, and with classes.
const POLICIES: [&str; 3] = [
    "fifo: {limit: 2 GB}",
    "class-based: {classes: [{name: v, match: {dscp: ef}, priority: {limit: 2 GB}}, {name: class-default, queue_limit: 2 GB}]}",
    "class-based: {classes: [{name: v, match: {dscp: ef}, bandwidth: 30 %, queue_limit: 2 GB}, {name: class-default, queue_limit: 2 GB}]}",
];

#[derive(Clone, Debug)]
struct Ring {
    /// Of each port the discipline, and its rate in units of 100 kb/s.
    ports: Vec<(usize, u32)>,
    /// From which node, over how many ports, what, whether it is EF, and how many of them.
    flows: Vec<(usize, usize, usize, bool, usize)>,
}

fn ring() -> impl Strategy<Value = Ring> {
    let port = (0..POLICIES.len(), 15_u32..40);
    let flow = (
        0_usize..6,
        1_usize..6,
        0..OFFERED.len(),
        any::<bool>(),
        1_usize..4,
    );
    (
        prop::collection::vec(port, 3..6),
        prop::collection::vec(flow, 1..7),
    )
        .prop_map(|(ports, flows)| Ring { ports, flows })
}

impl Ring {
    fn yaml(&self) -> String {
        let n = self.ports.len();
        let nodes: Vec<_> = (0..n).map(|i| format!("n{i}")).collect();
        let mut out = format!(
            "schema_version: 1\ntopology:\n  nodes: [{}]\n  links:\n",
            nodes.join(", ")
        );
        for (i, (policy, rate)) in self.ports.iter().enumerate() {
            let to = (i + 1) % n;
            writeln!(out, "    l{i}: {{from: n{i}, to: n{to}, rate: {}00 kb/s, delay: {} us, policy: P{policy}}}", rate, i * 37).unwrap();
        }
        out += "policies:\n";
        for (i, policy) in POLICIES.iter().enumerate() {
            writeln!(out, "  P{i}: {{{policy}}}").unwrap();
        }
        out += "traffic:\n";
        for (i, (from, hops, what, ef, many)) in self.flows.iter().enumerate() {
            let (from, hops) = (from % n, (hops % n).max(1));
            let (to, dscp) = ((from + hops) % n, if *ef { "ef" } else { "be" });
            for k in 0..*many {
                writeln!(out, "  - flow: {{name: f{i}-{k}, class: k{i}, from: n{from}, to: n{to}, dscp: {dscp}, source: {{{}}}}}", OFFERED[*what]).unwrap();
            }
        }
        out + "measurement: {warmup: 0 s, duration: 900 ms, interval: 100 ms}\nruns: {count: 1, seed: 5}\n"
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96 * effort()))]

    #[test]
    fn no_bound_of_a_path_is_exceeded(ring in ring()) {
        let plan = plan_of(&ring.yaml());
        holds(&plan, &outcome::<WinnerTree>(&plan, u64::MAX))?;
    }
}

/// The random rings have what they are to try: bounds of loops, and of paths below the sum.
#[test]
fn rings_have_loops_and_long_paths() {
    let ring = |hops| Ring {
        ports: vec![(0, 30); 4],
        flows: (0..4).map(|i| (i, hops, 0, false, 3)).collect(),
    };
    let of = |ring: &Ring| bounds(&plan_of(&ring.yaml()).variants[0].world);
    let around = of(&ring(3));
    assert!(around.flows.iter().all(Result::is_ok));
    assert!(around.flows.iter().flatten().all(|w| w.lossless));
    // Each line is slower than the one before, so that what comes together waits at each.
    let chain = Ring {
        ports: [40, 25, 16, 10].map(|rate| (0, rate)).to_vec(),
        flows: vec![(0, 3, 0, false, 3), (1, 1, 0, false, 1)],
    };
    assert!(
        of(&chain)
            .flows
            .iter()
            .flatten()
            .any(|w| !w.once.is_empty())
    );
}
