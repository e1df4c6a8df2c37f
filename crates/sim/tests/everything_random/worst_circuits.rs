//! Bounds of circuits that share a line, and of what comes over them to the next port.

use std::fmt::Write;

use proptest::prelude::*;
use spillgate_bounds::bounds;
use spillgate_core::testkit::effort;
use spillgate_events::WinnerTree;

use super::net::plan_of;
use super::worst::holds;
use crate::common::outcome;

/// Contracts, with rates in parts of a hundred of the line.
const CONTRACTS: [&str; 12] = [
    "ubr: {}",
    "ubr: {}",
    "ubr: {pcr: PEAK}",
    "ubr: {mdcr: RATE}",
    "ubr: {pcr: PEAK, mdcr: RATE, cdvt: 3 ms}",
    "cbr: {pcr: RATE}",
    "cbr: {pcr: RATE, cdvt: 2 ms}",
    "rt-vbr: {pcr: PEAK, scr: RATE, mbs: 9}",
    "nrt-vbr: {pcr: PEAK, scr: RATE, mbs: 40, cdvt: 1 ms}",
    "nrt-vbr: {pcr: LINE, scr: RATE, mbs: 70}",
    "gfr: {mcr: RATE, mbs: 40, mfs: 33}",
    "gfr: {pcr: PEAK, mcr: RATE, mbs: 70, mfs: 33}",
];

/// Policies of the circuits, and of the ports behind them.
const POLICIES: [&str; 7] = [
    "{fifo: {limit: 9 MB}}",
    "{fifo: {limit: 3 packets}}",
    "{fifo: {limit: 20 packets, aqm: {codel: {}}}}",
    "{drr: {limit: 20 packets}}",
    "{fq-codel: {limit: 30 packets}}",
    "{class-based: {classes: [{name: v, match: {dscp: ef}, priority: {rate: 15 %, burst: 2 kB}}, {name: class-default, queue_limit: 9 packets}]}}",
    "{class-based: {classes: [{name: v, match: {dscp: ef}, bandwidth: 30 %, queue_limit: 4 packets}, {name: class-default, queue_limit: 7 packets}]}}",
];

/// What is offered: from calls to more than any circuit has.
const OFFERED: [&str; 8] = [
    "dscp: ef, source: {cbr: {rate: 64 kb/s, packet: 200 B, jitter: 40 %}}",
    "dscp: ef, source: {voip: {codec: g711}}",
    "source: {cbr: {rate: 90 kb/s, packet: {uniform: {min: 40 B, max: 1500 B}}, jitter: 30 %}}",
    "source: {on-off: {peak: 3 Mb/s, packet: 1200 B, on: 10 ms, off: 90 ms}}",
    "source: {poisson: {rate: 3 Mb/s, packet: imix}}",
    "source: {poisson: {rate: 200 kb/s, packet: 90 B}}",
    "source: {cbr: {rate: 2 Mb/s, packet: 40 B}}",
    "tcp: {profile: linux}",
];

#[derive(Clone, Debug)]
struct Circuit {
    contract: usize,
    /// Of the sustainable or minimum rate and of the peak, in percent of the line.
    rates: (u32, u32),
    shaped: bool,
    vc_mux: bool,
    policies: [usize; 2],
    flows: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Line {
    /// In units of 10 kb/s.
    rate: u32,
    random: bool,
    circuits: Vec<Circuit>,
}

fn line() -> impl Strategy<Value = Line> {
    let circuit = (
        0..CONTRACTS.len(),
        (1_u32..40, 0_u32..60),
        prop::bool::weighted(0.9),
        any::<bool>(),
        [0..POLICIES.len(), 0..POLICIES.len()],
        prop::collection::vec(0..OFFERED.len(), 0..4),
    );
    let circuit = circuit.prop_map(
        |(contract, rates, shaped, vc_mux, policies, flows)| Circuit {
            contract,
            rates,
            shaped,
            vc_mux,
            policies,
            flows,
        },
    );
    let circuits = prop::collection::vec(circuit, 1..6);
    (40_u32..400, any::<bool>(), circuits).prop_map(|(rate, random, circuits)| Line {
        rate,
        random,
        circuits,
    })
}

impl Line {
    /// A host, a router with the line, and behind each circuit a router and a destination.
    fn yaml(&self) -> String {
        let n = self.circuits.len();
        let mut out = format!(
            "schema_version: 1\ntopology:\n  nodes: [a, r, {{name: c, count: {n}}}, {{name: z, count: {n}}}]\n  links:\n    up: {{from: a, to: r, rate: 20 Mb/s, delay: 0 s, duplex: true}}\n"
        );
        let phase = if self.random { "random" } else { "aligned" };
        for (i, c) in self.circuits.iter().enumerate() {
            let of = |percent: u32| format!("{} kb/s", (self.rate * percent / 10).max(1));
            let contract = CONTRACTS[c.contract]
                .replace("RATE", &of(c.rates.0))
                .replace("PEAK", &of(c.rates.0 + c.rates.1))
                .replace("LINE", &of(100));
            let encapsulation = if c.vc_mux { "vc-mux" } else { "llc" };
            let (rate, shaped, [own, next]) = (self.rate, c.shaped, c.policies);
            writeln!(out, "    l{i}: {{from: r, to: c-{i}, rate: {rate}0 kb/s, delay: 1 ms, policy: P{own}, atm: {{line: x, phase: {phase}, encapsulation: {encapsulation}, shaped: {shaped}, contract: {{{contract}}}}}}}").unwrap();
            writeln!(
                out,
                "    b{i}: {{from: c-{i}, to: r, rate: 9 Mb/s, delay: 1 ms}}"
            )
            .unwrap();
            writeln!(out, "    n{i}: {{from: c-{i}, to: z-{i}, rate: {rate}0 kb/s, delay: 0 s, policy: P{next}, overhead: 26 B, duplex: true}}").unwrap();
        }
        out += "policies:\n";
        for (i, policy) in POLICIES.iter().enumerate() {
            let of = |c: &Circuit| c.policies.contains(&i);
            if self.circuits.iter().any(of) {
                writeln!(out, "  P{i}: {policy}").unwrap();
            }
        }
        out += "traffic:\n  - flow: {name: f, from: a, to: r, source: {cbr: {rate: 1 kb/s, packet: 40 B}}}\n";
        for (i, c) in self.circuits.iter().enumerate() {
            for (k, what) in c.flows.iter().enumerate() {
                let what = OFFERED[*what];
                writeln!(
                    out,
                    "  - flow: {{name: f{i}-{k}, from: a, to: z-{i}, {what}}}"
                )
                .unwrap();
            }
        }
        out + "measurement: {warmup: 0 s, duration: 800 ms, interval: 80 ms}\nruns: {count: 1, seed: 3}\n"
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96 * effort()))]

    #[test]
    fn no_bound_of_circuits_is_exceeded(line in line()) {
        let plan = plan_of(&line.yaml());
        holds(&plan, &outcome::<WinnerTree>(&plan, u64::MAX))?;
    }
}

/// The random lines have what they are to try: circuits of all categories with bounds, and ports
/// behind them which only a contract keeps from being flooded.
#[test]
fn circuits_have_bounds() {
    let circuit = |contract| Circuit {
        contract,
        rates: (9, 10),
        shaped: true,
        vc_mux: false,
        policies: [1, 0],
        flows: vec![4, 7],
    };
    let all = Line {
        rate: 200,
        random: true,
        circuits: [0, 3, 4, 5, 7, 8, 10, 11].map(circuit).to_vec(),
    };
    let plan = plan_of(&all.yaml());
    let world = &plan.variants[0].world;
    let found = bounds(world);
    let bounded = |first: char| {
        let of = found.hops.iter().filter(|h| {
            let name = &world.links[h.link as usize].name;
            name.starts_with(first) && !name.ends_with("-back") && h.bound.is_ok()
        });
        of.count()
    };
    assert_eq!((bounded('l'), bounded('n')), (8, 8));
}
