//! Patterns of traffic: which flows they become.

use std::path::Path;

use crate::common::{Router, memory};
use proptest::prelude::*;
use spillgate_scenario::plan::{FlowPlan, Plan, WorldPlan};
use spillgate_scenario::{Options, load};

/// The flows of `flow` between `h` of four nodes and `d` of `receivers`, and among `h`.
fn plan_with(flow: &str, receivers: u32, seed: u64) -> Plan {
    let text = format!(
        "schema_version: 1
topology:
  nodes: [{{name: h, count: 4}}, {{name: d, count: {receivers}}}, r]
  links:
    in: {{from: h, to: r, rate: 10 Mb/s, delay: 1 ms, duplex: true}}
    out: {{from: r, to: d, rate: 10 Mb/s, delay: 1 ms, duplex: true}}
traffic:
  - flow: {{name: f, from: h, {flow}}}
measurement: {{warmup: 1 s, duration: 5 s}}
runs: {{count: 3, seed: {seed}}}
"
    );
    let files = [("s.yaml", text.as_bytes())];
    let loaded = load(
        Path::new("s.yaml"),
        &memory(&files),
        &Router,
        &Options::default(),
    );
    loaded.map(|l| l.plan).unwrap_or_else(|e| panic!("{e}"))
}

fn plan(flow: &str, receivers: u32) -> Plan {
    plan_with(flow, receivers, 1)
}

fn world(plan: &Plan) -> &WorldPlan {
    &plan.variants[0].world
}

const CBR: &str = "source: {cbr: {rate: 1 Mb/s, packet: 500 B}}";

/// `f-0 h-0>d-0 0.5`, a flow a line.
fn shown(plan: &Plan) -> Vec<String> {
    let w = world(plan);
    let of = |f: &FlowPlan| {
        let name = |id: u32| &w.nodes[id as usize];
        let share = (f.share() * 1e4).round() / 1e4;
        format!("{} {}>{} {share}", f.name, name(f.from), name(f.to))
    };
    w.flows.iter().map(of).collect()
}

#[test]
fn patterns_say_who_sends_to_whom() {
    for (flow, expected) in [
        ("to: d, count: 2", &["f-0 h-0>d-0 1", "f-1 h-1>d-1 1"][..]),
        (
            "to: d, count: 2, pattern: uniform",
            &[
                "f-0 h-0>d-0 0.3333",
                "f-1 h-0>d-1 0.3333",
                "f-2 h-0>d-2 0.3333",
                "f-3 h-1>d-1 0.3333",
                "f-4 h-1>d-2 0.3333",
                "f-5 h-1>d-0 0.3333",
            ],
        ),
        // Nobody sends to itself.
        (
            "to: h, count: 1, pattern: uniform",
            &[
                "f-0 h-0>h-1 0.3333",
                "f-1 h-0>h-2 0.3333",
                "f-2 h-0>h-3 0.3333",
            ],
        ),
        (
            "to: d, count: 2, pattern: diagonal",
            &[
                "f-0 h-0>d-0 0.6667",
                "f-1 h-0>d-1 0.3333",
                "f-2 h-1>d-1 0.6667",
                "f-3 h-1>d-2 0.3333",
            ],
        ),
        (
            "to: h, count: 1, pattern: {diagonal: {share: 60 %}}",
            &["f-0 h-0>h-1 0.6", "f-1 h-0>h-2 0.4"],
        ),
        (
            "to: d, count: 1, pattern: log-diagonal",
            &[
                "f-0 h-0>d-0 0.5714",
                "f-1 h-0>d-1 0.2857",
                "f-2 h-0>d-2 0.1429",
            ],
        ),
        // 40 % and a third of the rest.
        (
            "to: d, count: 1, pattern: {hotspot: {share: 40 %, member: 1}}",
            &["f-0 h-0>d-0 0.2", "f-1 h-0>d-1 0.6", "f-2 h-0>d-2 0.2"],
        ),
        // The hot spot itself sends the rest only.
        (
            "to: h, count: 1, pattern: {hotspot: {share: 40 %}}",
            &[
                "f-0 h-0>h-1 0.3333",
                "f-1 h-0>h-2 0.3333",
                "f-2 h-0>h-3 0.3333",
            ],
        ),
        (
            "to: d, count: 1, pattern: all-to-all",
            &["f-0 h-0>d-0 1", "f-1 h-0>d-1 1", "f-2 h-0>d-2 1"],
        ),
        (
            "to: h, pattern: {permutation: {shift: 1}}",
            &[
                "f-0 h-0>h-1 1",
                "f-1 h-1>h-2 1",
                "f-2 h-2>h-3 1",
                "f-3 h-3>h-0 1",
            ],
        ),
        ("to: r, pattern: uniform, count: 1", &["f h-0>r 1"]),
    ] {
        let plan = plan(&format!("{flow}, {CBR}"), 3);
        assert_eq!(shown(&plan), expected, "{flow}");
    }
}

/// With a pattern there is one source for each sender unless `count` is written, and `check` says
/// who sends to whom.
#[test]
fn patterns_are_told_in_words() {
    let told = |flow: &str| {
        let plan = plan(&format!("{flow}, {CBR}"), 4);
        let told = world(&plan).patterns.first();
        let told = told.map(|p| (p.flows, p.pattern.clone()));
        told.map(|(n, words)| format!("{n} {}", words.split(':').next().unwrap()))
    };
    assert_eq!(told("to: d, pattern: uniform").unwrap(), "16 uniform");
    assert_eq!(told("to: h, pattern: uniform").unwrap(), "12 uniform");
    assert_eq!(told("to: d, count: 4").unwrap(), "4 in turn");
    assert_eq!(told("to: r, count: 4"), None);
}

/// The sum of what the links of a group carry is that of the sources, and the key tells patterns
/// apart.
#[test]
fn parts_of_a_source_add_up_to_it() {
    for pattern in [
        "uniform",
        "diagonal",
        "log-diagonal",
        "{hotspot: {share: 30 %}}",
    ] {
        let plan = plan(&format!("to: d, pattern: {pattern}, {CBR}"), 7);
        let w = world(&plan);
        for sender in 0..4 {
            let of = w.flows.iter().filter(|f| f.from == sender);
            let total: f64 = of.clone().map(FlowPlan::share).sum();
            assert!((total - 1.0).abs() < 1e-12);
            let mut sources: Vec<_> = of.map(|f| &f.split.as_ref().unwrap().source).collect();
            sources.dedup();
            assert_eq!(sources.len(), 1);
        }
    }
}

proptest! {
    /// A permutation gives each sender a receiver of its own, other than itself, the same for one
    /// seed.
    #[test]
    fn permutations_are_permutations(seed in any::<u64>(), receivers in 4..9_u32) {
        let seed = seed >> 12;
        for to in ["d", "h"] {
            let flow = format!("to: {to}, pattern: permutation, {CBR}");
            let plan = plan_with(&flow, receivers, seed);
            prop_assert_eq!(shown(&plan), shown(&plan_with(&flow, receivers, seed)));
            let flows = &world(&plan).flows;
            prop_assert_eq!(flows.len(), 4);
            let mut receivers: Vec<u32> = flows.iter().map(|f| f.to).collect();
            prop_assert!(flows.iter().all(|f| f.from != f.to && f.split.is_none()));
            receivers.sort_unstable();
            receivers.dedup();
            prop_assert_eq!(receivers.len(), 4);
        }
    }
}
