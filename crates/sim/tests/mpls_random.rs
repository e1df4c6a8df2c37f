//! Random MPLS networks, with links that fail and without: every label that is put on is removed
//! or lost, and nothing depends on how the run is driven.

use crate::common;
use std::fmt::Write;
use std::sync::Arc;

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_events::{EventSet, Heap4, WinnerTree};
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::Plan;
use spillgate_sim::{Outcome, Stop, World, layout};

const POLICIES: [&str; 5] = [
    "{fifo: {limit: 20 packets}}",
    "{flow-wfq: {}}",
    "{class-based: {classes: [{name: v, match: {exp: 5}, priority: {rate: 20 %}}, {name: class-default, set_exp: 1}]}}",
    "{class-based: {classes: [{name: v, match: {exp: [1, 5]}, bandwidth: 30 %, police: {rate: 10 %, exceed: {set-exp: 0}}, aqm: {wred: {by: precedence}}}]}}",
    "{class-based: {classes: [{name: v, match: {dscp: ef}, set_exp_imposition: 6}, {name: class-default, shape: {rate: 70 %}}]}}",
];

const TRAFFIC: [&str; 5] = [
    "stop: 1 s, source: {cbr: {rate: 3 Mb/s, packet: 1500 B, phase: 0 s}}",
    "dscp: ef, stop: 1 s, source: {poisson: {rate: 2 Mb/s, packet: imix}}",
    "dscp: af41, stop: 1 s, source: {on-off: {peak: 10 Mb/s, packet: 1000 B, on: 20 ms, off: 50 ms}}",
    "bytes: 300 kB, tcp: {profile: linux}",
    "dscp: ef, arrivals: {fixed: {gap: 100 ms, count: 9}}, session: {request-response: {request: {fixed: 100 B}, response: {fixed: 4000 B}, requests: 3}}, tcp: {profile: ns2}",
];

#[derive(Clone, Debug)]
struct Net {
    /// Whether each core node beyond the first two is a provider edge.
    edges: Vec<bool>,
    /// Links of the core beside the ring: ends, megabits a second, policy.
    chords: Vec<(usize, usize)>,
    links: Vec<(u32, usize)>,
    flows: Vec<(usize, usize, usize)>,
    /// Link of the core, and when it fails and is repaired, in units of 50 ms.
    failures: Vec<(usize, u32, u32)>,
    model: usize,
    php: bool,
    reroute_ms: u32,
}

fn net(kinds: usize) -> impl Strategy<Value = Net> {
    (
        prop::collection::vec(any::<bool>(), 1..4),
        prop::collection::vec((0_usize..5, 0_usize..5), 0..4),
        prop::collection::vec(
            (
                prop_oneof![Just(1_u32), Just(10), Just(100)],
                0..POLICIES.len(),
            ),
            9,
        ),
        prop::collection::vec((0_usize..5, 0_usize..5, 0..kinds), 1..6),
        prop::collection::vec((0_usize..9, 0_u32..30, 1_u32..20), 0..4),
        (
            0_usize..3,
            any::<bool>(),
            prop_oneof![Just(0_u32), 1_u32..400],
        ),
    )
        .prop_map(
            |(edges, chords, links, flows, failures, (model, php, reroute_ms))| Net {
                edges,
                chords,
                links,
                flows,
                failures,
                model,
                php,
                reroute_ms,
            },
        )
}

impl Net {
    /// Core nodes `n0` ..., of which the edges have a customer `c0` ... each.
    fn yaml(&self, late: bool) -> String {
        let n = 2 + self.edges.len();
        let is_edge = |i: usize| i < 2 || self.edges[i - 2];
        let edges: Vec<usize> = (0..n).filter(|i| is_edge(*i)).collect();
        let names = |nodes: &[usize], letter: &str| {
            let names: Vec<_> = nodes.iter().map(|i| format!("{letter}{i}")).collect();
            names.join(", ")
        };
        let all: Vec<usize> = (0..n).collect();
        let inside: Vec<usize> = (0..n).filter(|i| !is_edge(*i)).collect();
        let mut out = format!(
            "schema_version: 1\ntopology:\n  nodes: [{}, {}]\n  links:\n",
            names(&all, "n"),
            names(&edges, "c")
        );
        let ring = (0..n).map(|i| (i, (i + 1) % n));
        let chords = self.chords.iter().map(|(a, b)| (a % n, b % n));
        let core: Vec<_> = ring.chain(chords.filter(|(a, b)| a != b)).collect();
        let mut used = std::collections::BTreeSet::new();
        for ((i, (a, b)), (rate, policy)) in core.iter().enumerate().zip(&self.links) {
            used.insert(*policy);
            writeln!(out, "    l{i}: {{from: n{a}, to: n{b}, rate: {rate} Mb/s, delay: {i} ms, overhead: {}, policy: P{policy}, duplex: true}}", common::overhead(i + policy)).unwrap();
        }
        for e in &edges {
            writeln!(
                out,
                "    a{e}: {{from: c{e}, to: n{e}, rate: 100 Mb/s, delay: 1 ms, duplex: true}}"
            )
            .unwrap();
        }
        let model = ["short-pipe", "pipe", "uniform"][self.model];
        writeln!(
            out,
            "  mpls: {{pe: [{}], p: [{}], model: {model}, php: {}}}",
            names(&edges, "n"),
            names(&inside, "n"),
            self.php
        )
        .unwrap();
        let mut down = std::collections::BTreeSet::new();
        let mut failures = String::new();
        for (link, at, length) in &self.failures {
            let link = link % core.len();
            if down.insert(link) {
                let (at, repair) = (50 * at, 50 * (at + length));
                writeln!(
                    failures,
                    "    - {{link: l{link}, at: {at} ms, repair: {repair} ms}}"
                )
                .unwrap();
            }
        }
        if late {
            // Nobody notices, but every packet is forwarded by the routes of the moment.
            failures = "    - {link: l0, at: 1 h}\n".to_owned();
        }
        if !failures.is_empty() {
            write!(out, "  failures:\n{failures}").unwrap();
        }
        let reroute = self.reroute_ms;
        write!(
            out,
            "  routing: {{convergence: {reroute} ms}}\npolicies:\n  NONE: {{fifo: {{}}}}\n"
        )
        .unwrap();
        for (i, policy) in POLICIES
            .iter()
            .enumerate()
            .filter(|(i, _)| used.contains(i))
        {
            writeln!(out, "  P{i}: {policy}").unwrap();
        }
        out += "traffic:\n";
        for (i, (from, to, kind)) in self.flows.iter().enumerate() {
            let (a, b) = (from % edges.len(), to % edges.len());
            let b = if a == b { (b + 1) % edges.len() } else { b };
            let (from, to) = (edges[a], edges[b]);
            let entry = if *kind < 4 { "flow" } else { "sessions" };
            writeln!(
                out,
                "  - {entry}: {{name: f{i}, from: c{from}, to: c{to}, {}}}",
                TRAFFIC[*kind]
            )
            .unwrap();
        }
        out += "measurement: {warmup: 0 s, duration: 30 s, interval: 50 ms, percentiles: [backlog]}\nruns: {count: 1, seed: 3}\n";
        out
    }

    fn plan(&self) -> Arc<Plan> {
        common::plan(&self.yaml(false))
    }
}

fn outcome<S: EventSet>(plan: &Plan, budget: u64) -> Outcome {
    let mut world = World::<S>::new(&plan.variants[0].world, 3, 0, false);
    while world.run(budget) != Stop::Done {}
    world.outcome()
}

/// The sum over all things of a scope.
fn sum(plan: &Plan, of: &Outcome, scope: Scope, metric: Metric) -> f64 {
    let layout = layout(&plan.variants[0].world);
    let keys = layout.keys.iter().zip(&of.values);
    keys.filter(|(k, _)| k.scope == scope && k.metric == metric)
        .map(|(_, v)| v)
        .sum()
}

fn bits(o: &Outcome) -> Vec<u64> {
    o.values.iter().map(|v| v.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128 * effort()))]

    /// All packets are there or lost at the end, and with them the labels.
    #[test]
    fn labels_are_conserved(net in net(3)) {
        let plan = net.plan();
        let of = outcome::<WinnerTree>(&plan, u64::MAX);
        let labels = common::labels::<WinnerTree>(&plan, 3);
        prop_assert_eq!(sum(&plan, &of, Scope::Flow, Metric::Unresolved), 0.0);
        prop_assert_eq!(labels.pushed, labels.popped + labels.lost);
        // Customers are at different edges: whatever arrives has had a label.
        let arrived = sum(&plan, &of, Scope::Flow, Metric::PacketsReceived) as u64;
        prop_assert!(labels.popped >= arrived, "{:?} {}", labels, arrived);
        // What links sent of labelled packets is labels, of 32 bits each, and the rest. A label
        // that was removed had crossed a link; one that was put on crosses none where a policer or
        // a shaper loses its packet at once.
        let seconds = 30.0;
        let of_labels = sum(&plan, &of, Scope::Link, Metric::CarriedLabels) * seconds;
        let of_packets = sum(&plan, &of, Scope::Exp, Metric::Carried) * seconds;
        prop_assert!(of_labels >= 32.0 * labels.popped as f64 * (1.0 - 1e-12));
        prop_assert!(of_labels <= of_packets && (labels.pushed > 0 || of_packets == 0.0));
    }

    #[test]
    fn event_sets_pauses_and_observers_change_nothing(net in net(TRAFFIC.len())) {
        let plan = net.plan();
        let reference = outcome::<WinnerTree>(&plan, u64::MAX);
        for (other, what) in [
            (outcome::<Heap4>(&plan, u64::MAX), "event set"),
            (outcome::<WinnerTree>(&plan, 77), "pauses"),
        ] {
            prop_assert_eq!(&other.digest, &reference.digest, "{}", what);
            prop_assert_eq!(bits(&other), bits(&reference), "{}", what);
        }
        let observed = common::same_series(&plan, 3);
        prop_assert_eq!(&observed.digest, &reference.digest);
        prop_assert_eq!(bits(&observed), bits(&reference));
    }

    /// Compiled paths and tunnels put on the same labels.
    #[test]
    fn a_failure_after_the_end_changes_nothing(mut net in net(TRAFFIC.len())) {
        net.failures.clear();
        let (plan, late) = (net.plan(), common::plan(&net.yaml(true)));
        let compiled = outcome::<WinnerTree>(&plan, u64::MAX);
        let routed = outcome::<WinnerTree>(&late, u64::MAX);
        prop_assert_eq!(&compiled.digest, &routed.digest);
        prop_assert_eq!(bits(&compiled), bits(&routed));
    }
}
