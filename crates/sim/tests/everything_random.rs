//! Random networks that have everything at once: policies where packets leave a node and where they arrive, classes
//! that ask where packets came from, routers that take time, switches, MPLS, sessions, failures, rates that vary, loss and
//! reordering. Every value of every scope is the same however the run is driven, losses by place are those by flow, and no
//! rate exceeds its line or fabric.

mod common;

use std::fmt::Write;
use std::sync::Arc;

use proptest::prelude::*;
use spillgate_core::DropReason;
use spillgate_events::{EventSet, Heap4, WinnerTree};
use spillgate_measure::Volume;
use spillgate_measure::table::{Key, Layout, Metric, Scope};
use spillgate_scenario::key::Keys;
use spillgate_scenario::plan::{LinkPlan, Plan, SwitchPlan, WorldPlan};
use spillgate_sim::{Engine, Outcome, Stop, World, layout};

/// Policies of ports.
const OUT: [&str; 21] = [
    "{fifo: {limit: 20 packets}}",
    "{fifo: {limit: 9 kB}}",
    "{fifo: {limit: 50 packets, aqm: {red: {}}}}",
    "{fifo: {limit: 50 packets, aqm: {pie: {target: 4 ms, update: 5 ms, max_burst: 10 ms, ecn: true}}}}",
    "{fifo: {limit: 50 packets, aqm: {pie: {target: 4 ms, update: 5 ms, max_burst: 10 ms, dq_rate_estimator: true}}}}",
    "{fq: {limit: 90 packets, aqm: {pie: {as: linux, target: 2 ms, update: 3 ms, max_burst: 5 ms, dq_rate_estimator: true}}}}",
    "{fq: {limit: 80 packets, aqm: {pie: {as: linux, target: 2 ms, update: 3 ms, max_burst: 0 s, derandomize: false}}}}",
    "{fifo: {limit: 50 packets, aqm: {self-configuring-red: {min_th: 2, max_th: 9, weight: 0.1, ecn: true}}}}",
    "{fifo: {limit: 40 packets, aqm: {rio: {profile: [ef, af11, af31, af41], in: {min_th: 6, max_th: 20, max_p: 0.1}, out: {min_th: 1, max_th: 9, max_p: 0.5}, weight: 0.1, ecn: true}}}}",
    "{fifo: {limit: 12 packets, aqm: {rio: {mode: decoupled, profile: [ef, cs1], in: {min_th: 4, max_th: 20, max_p: 0.1}, out: {min_th: 1, max_th: 30, max_p: 0.2}, weight: 0.3}}}}",
    "{fifo: {limit: 9 kB, aqm: {adaptive-rio: {profile: [ef, af31], in: {min_th: 4, max_th: 12, max_p: 0.1}, max_th_low: 3, max_th_high: 12, weight: 0.2, update: 10 ms, window: 50 ms}}}}",
    "{fifo: {limit: 30 packets, aqm: {load-adaptive-red: {period: 40 ms, threshold_low: 4, weight: 0.1}}}}",
    "{wfq: {}}",
    "{flow-wfq: {}}",
    "{drr: {}}",
    "{fq-codel: {}}",
    "{fq: {limit: 50 packets, aqm: {red: {}}}}",
    "{class-based: {classes: [{name: p, match: {dscp: ef}, priority: {rate: 20 %}, set_dscp: af41}, {name: q, match: {exp: 5}, bandwidth: 20 %, police: {rate: 10 %, exceed: {set-exp: 0}}}, {name: class-default, fair_queue: {}}]}}",
    "{class-based: {classes: [{name: x, match: {input: a0}, bandwidth: 30 %, aqm: {wred: {}}}, {name: class-default, shape: {rate: 70 %}, queue_limit: 20 packets}]}}",
    "{class-based: {classes: [{name: x, match: {dscp: ef}, bandwidth: 30 %, police: {rate: 5 %, window: 50 ms, exceed: {set-dscp: af12}}}, {name: class-default, police: {rate: 20 %, peak_rate: 50 %, window: 20 ms, violate: drop}, aqm: {wred: {}}}]}}",
    "{class-based: {classes: [{name: v, phb: ef, police: {rate: 600 kb/s, per_flow: true}}, {name: a, phb: af1}, {name: l, phb: le, match: {dscp: cs1}}, {name: class-default, phb: default}]}}",
];

/// Policies where packets arrive.
const IN: [&str; 6] = [
    "{class-based: {classes: [{name: v, match: {dscp: ef}, police: {rate: 900 kb/s, burst: 3 kB}}, {name: class-default, police: {rate: 1500 kb/s}}]}}",
    "{class-based: {classes: [{name: v, match: {dscp: ef}, police: {rate: 700 kb/s, burst: 4 kB, exceed: {set-dscp: af11}}}, {name: class-default, set_dscp: cs1}]}}",
    "{class-based: {classes: [{name: class-default, police: {rate: 2 Mb/s, burst: 9 kB}}]}}",
    "{class-based: {classes: [{name: v, match: {dscp: ef}, police: {rate: 300 kb/s, window: 100 ms, exceed: {set-dscp: af11}}}, {name: class-default, police: {rate: 1 Mb/s, window: 20 ms}}]}}",
    "{class-based: {classes: [{name: class-default, police: {rate: 400 kb/s, peak_rate: 1 Mb/s, window: 50 ms, exceed: {set-dscp: cs1}, violate: drop}}]}}",
    "{class-based: {classes: [{name: v, match: {dscp: ef}, police: {rate: 200 kb/s, peak_rate: 400 kb/s, burst: 2 kB, exceed: {set-dscp: af12}, violate: drop, per_flow: true}}, {name: class-default, police: {rate: 300 kb/s, window: 50 ms, exceed: {set-dscp: af11}, per_flow: true}}]}}",
];

/// Switches, for nodes of two ports at least.
const SWITCHES: [&str; 14] = [
    "architecture: output-queued",
    "architecture: input-queued, buffer: {limit: 9 packets}",
    "architecture: input-queued, speedup: 1.5, fabric: {crossbar: {cell: packets}}",
    "architecture: voq, buffer: {limit: 12 kB, per: input}",
    "architecture: voq, fabric: {crossbar: {cell: packets, matching: {pim: {}}}}, buffer: {limit: 15 packets, per: shared}",
    "architecture: cioq, speedup: 4/3, fabric: {crossbar: {cell: 300 B, matching: {oldest-cell-first: {}}}}, buffer: {limit: 4 packets}",
    "architecture: cioq, speedup: 1.1, fabric: {parallel: {}}, buffer: {limit: 10 packets}",
    "architecture: cioq, speedup: 1.5, line_rate: 2 Mb/s, policy: VOQ-RED",
    "architecture: cioq, speedup: 2, fabric: {parallel: {}}, line_rate: 3 Mb/s, policy: VOQ-FQ",
    "architecture: voq, fabric: {crossbar: {cell: 200 B, matching: {round-robin: {}}}}",
    "architecture: cioq, speedup: 1.2, fabric: {crossbar: {cell: 64 B, matching: {longest-queue-first: {}}}}, buffer: {limit: 20 kB, per: shared, alpha: 0.5}",
    "architecture: cioq, speedup: 2, fabric: {crossbar: {matching: {stable-marriage: {}}}}",
    "architecture: voq, fabric: {crossbar: {cell: packets, matching: {maximum-weight: {}}}}, buffer: {limit: 5 packets}",
    "architecture: cioq, speedup: 1.6, fabric: {crossbar: {cell: 53 B, matching: {rotation: {}}}}",
];

/// What waits at inputs in the congestion measure of switches with virtual output queues.
const MEASURE: &str = ", congestion_measure: {nu: 0.25}";

/// Policies of virtual output queues.
const VOQ: [&str; 2] = [
    "VOQ-RED: {fifo: {limit: 20 packets, aqm: {red: {min_th: 2, max_th: 9, ecn: true}}}}",
    "VOQ-FQ: {fq-codel: {limit: 30 packets, target: 2 ms, interval: 20 ms}}",
];

/// What is not as usual on links.
const IRREGULAR: [&str; 9] = [
    "rate_process: {schedule: {steps: [{at: 0 s, rate: 800 kb/s}, {at: 30 ms, rate: 0 b/s}, {at: 47 ms, rate: 1 Mb/s}], repeat: 100 ms}}",
    "rate_process: {on-off: {on: 20 ms, off: 15 ms}}",
    "rate_process: {mahimahi: {file: m.trace, repeat: true}}",
    "loss: {bernoulli: 3 %}",
    "loss: {gilbert-elliott: {to_bad: 2 %, to_good: 30 %, good: 1 %, bad: 70 %}}",
    "reorder: {share: 10 %, by: 4 ms}",
    "rate_process: {on-off: {on: 20 ms, off: 15 ms, off_rate: 300 kb/s}}, loss: {bernoulli: 3 %}, reorder: {share: 20 %, by: 12 ms}",
    "atm: {contract: {nrt-vbr: {pcr: 900 kb/s, scr: 500 kb/s, mbs: 60, cdvt: 2 ms}}}",
    "atm: {encapsulation: vc-mux, phase: aligned}, loss: {bernoulli: 3 %}",
];

/// Opportunities for 0.9 Mb/s: less than any link has.
const TRACE: &[u8] = b"10\n10\n40\n";

/// The first are sources, which nothing answers.
const TRAFFIC: [&str; 6] = [
    "source: {cbr: {rate: 3 Mb/s, packet: 1500 B}}",
    "dscp: ef, source: {poisson: {rate: 2 Mb/s, packet: imix}}",
    "dscp: af41, source: {on-off: {peak: 10 Mb/s, packet: 1000 B, on: 20 ms, off: 50 ms}}",
    "tcp: {profile: linux}",
    "dscp: ef, arrivals: {fixed: {gap: 100 ms}}, session: {request-response: {request: {fixed: 100 B}, response: {fixed: 4000 B}, requests: 3}}, tcp: {profile: ns2}, active: 9",
    "arrivals: {poisson: {gap: 50 ms}}, session: {transfer: {size: {pareto: {mean: 5 kB, shape: 1.3, max: 1 MB}}}}, tcp: {profile: linux}, active: 40",
];

const SOURCES: usize = 3;

/// Rate in Mb/s, delay in µs, policies at both ends, and what is not as usual.
type Line = (u32, u32, usize, Option<usize>, Option<usize>);

#[derive(Clone, Debug)]
struct Net {
    /// The links of the ring, the last one a chord.
    core: Vec<Line>,
    /// The links from and to customers, one at each node of the ring.
    access: Vec<Line>,
    flows: Vec<(usize, usize, usize)>,
    /// Link, and when it fails and is repaired, in units of 50 ms.
    failures: Vec<(usize, u32, u32)>,
    mpls: Option<usize>,
    reroute_ms: u32,
    /// What each node of the ring takes for a packet, its delay in units of 100 µs, and its input queue.
    forwarding: Vec<Option<(u32, u32, u32)>>,
    /// What each other node of the ring is as a switch, and whether with a congestion measure.
    switches: Vec<Option<(usize, bool)>>,
}

fn net(kinds: usize) -> impl Strategy<Value = Net> {
    let link = || {
        (
            prop_oneof![Just(1_u32), Just(4), Just(10)],
            prop_oneof![Just(0_u32), 1_u32..20_000],
            0..OUT.len(),
            prop::option::weighted(0.4, 0..IN.len()),
            prop::option::weighted(0.15, 0..IRREGULAR.len()),
        )
    };
    (
        prop::collection::vec(link(), 4..7),
        prop::collection::vec(link(), 5),
        prop::collection::vec((0_usize..5, 0_usize..5, 0..kinds), 1..7),
        prop::collection::vec((0_usize..12, 0_u32..30, 1_u32..20), 0..5),
        prop::option::weighted(0.5, 0_usize..3),
        prop_oneof![Just(0_u32), Just(50), 1_u32..400],
        (
            any::<bool>(),
            any::<bool>(),
            any::<bool>(),
            0..4_u32,
            0..3_u32,
        ),
        prop::collection::vec(prop::option::of((0_u32..20, 0_u32..30, 1_u32..20)), 6),
        prop::collection::vec(prop::option::of((0..SWITCHES.len(), any::<bool>())), 6),
    )
        .prop_map(
            |(core, access, flows, failures, mpls, reroute_ms, some, forwarding, switches)| {
                let (inputs, fails, labels, slow, switched) = some;
                // The express lane is open where none of these is.
                let bare = |links: Vec<Line>| -> Vec<Line> {
                    let without = |l: Line| (l.0, l.1, l.2, l.3.filter(|_| inputs), l.4);
                    links.into_iter().map(without).collect()
                };
                Net {
                    core: bare(core),
                    access: bare(access),
                    flows,
                    failures: if fails { failures } else { Vec::new() },
                    mpls: mpls.filter(|_| labels),
                    reroute_ms,
                    forwarding: if slow == 0 { forwarding } else { vec![None; 6] },
                    switches: if switched == 0 {
                        switches
                    } else {
                        vec![None; 6]
                    },
                }
            },
        )
}

impl Net {
    /// Nodes `n0` ... on a ring with one chord, each with a customer `c0` ...; of all but the last of the ring
    /// under MPLS, which then has no customer.
    fn yaml(&self, stop: &str, measurement: &str) -> String {
        let n = self.core.len() - 1;
        let customers = n - usize::from(self.mpls.is_some());
        let mut out = String::from("schema_version: 1\ntopology:\n  nodes: [");
        let mut of_voqs = [false; VOQ.len()];
        for i in 0..n {
            match self.forwarding[i] {
                None => match self.switches[i] {
                    None => write!(out, "n{i}, "),
                    Some((kind, measure)) => {
                        let keys = SWITCHES[kind];
                        for (used, policy) in of_voqs.iter_mut().zip(VOQ) {
                            *used |= policy.starts_with(keys.rsplit(' ').next().unwrap_or("?"));
                        }
                        // The first five policies are FIFOs, which can take it into account.
                        let leaving = self.core.iter().enumerate();
                        let mut leaving = leaving.filter(|(l, _)| *l == i || (*l == n && i == 0));
                        let has_voqs = keys.contains("voq") || keys.contains("cioq");
                        let measure = measure && has_voqs && leaving.all(|(_, link)| link.2 < 5);
                        let measure = if measure { MEASURE } else { "" };
                        write!(out, "{{name: n{i}, switch: {{{keys}{measure}}}}}, ")
                    }
                },
                Some((each, delay, queue)) => write!(out, "{{name: n{i}, forwarding: {{per_packet: {each}00 us, delay: {delay}00 us, input_queue: {queue}}}}}, "),
            }
            .unwrap();
        }
        (0..customers).for_each(|i| write!(out, "c{i}, ").unwrap());
        out += "]\n  links:\n";
        let mut used = ([false; OUT.len()], [false; IN.len()]);
        let mut write_link = |name: String, from: String, to: String, link: &Line| {
            let (rate, delay, policy, input, irregular) = link;
            let irregular = irregular.map_or_else(String::new, |i| format!(", {}", IRREGULAR[i]));
            // A circuit of ATM says what it adds by itself.
            let overhead = match irregular.contains("atm:") {
                true => String::new(),
                false => format!("overhead: {}, ", common::overhead(*delay as usize + policy)),
            };
            used.0[*policy] = true;
            let input = input.map_or_else(String::new, |i| {
                used.1[i] = true;
                format!(", input_policy: IN{i}")
            });
            writeln!(out, "    {name}: {{from: {from}, to: {to}, rate: {rate} Mb/s, delay: {delay} us, {overhead}policy: OUT{policy}{input}{irregular}, duplex: true}}").unwrap();
        };
        for (i, link) in self.core.iter().enumerate() {
            let (from, to) = if i < n { (i, (i + 1) % n) } else { (0, 2 % n) };
            write_link(format!("l{i}"), format!("n{from}"), format!("n{to}"), link);
        }
        for (i, link) in self.access.iter().enumerate().take(customers) {
            write_link(format!("a{i}"), format!("c{i}"), format!("n{i}"), link);
        }
        if let Some(model) = self.mpls {
            let model = ["short-pipe", "pipe", "uniform"][model];
            let edges: Vec<_> = (0..customers).map(|i| format!("n{i}")).collect();
            let (edges, last) = (edges.join(", "), n - 1);
            writeln!(
                out,
                "  mpls: {{pe: [{edges}], p: [n{last}], model: {model}}}"
            )
            .unwrap();
        }
        let mut failures = String::new();
        let mut down = [false; 12];
        for (link, at, length) in &self.failures {
            let name = match link % 12 {
                i if i < self.core.len() => format!("l{i}"),
                i => format!("a{}", i % customers),
            };
            if !std::mem::replace(&mut down[link % 12], true)
                && !failures.contains(&format!("{name},"))
            {
                let (at, repair) = (50 * at, 50 * (at + length));
                writeln!(
                    failures,
                    "    - {{link: {name}, at: {at} ms, repair: {repair} ms}}"
                )
                .unwrap();
            }
        }
        if !failures.is_empty() {
            write!(out, "  failures:\n{failures}").unwrap();
        }
        writeln!(
            out,
            "  routing: {{convergence: {} ms}}\npolicies:",
            self.reroute_ms
        )
        .unwrap();
        for (name, policies, used) in [("OUT", &OUT[..], &used.0[..]), ("IN", &IN, &used.1)] {
            for (i, policy) in policies.iter().enumerate().filter(|(i, _)| used[*i]) {
                writeln!(out, "  {name}{i}: {policy}").unwrap();
            }
        }
        for (policy, _) in VOQ.iter().zip(of_voqs).filter(|(_, used)| *used) {
            writeln!(out, "  {policy}").unwrap();
        }
        out += "traffic:\n";
        for (i, (from, to, kind)) in self.flows.iter().enumerate() {
            let (from, to) = (from % customers, to % customers);
            let to = if from == to { (to + 1) % customers } else { to };
            let entry = if *kind < 4 { "flow" } else { "sessions" };
            let what = TRAFFIC[*kind];
            writeln!(
                out,
                "  - {entry}: {{name: f{i}, class: k{}, from: c{from}, to: c{to}, {stop}{what}}}",
                i % 2
            )
            .unwrap();
        }
        write!(
            out,
            "measurement: {{{measurement}}}\nruns: {{count: 1, seed: 3}}\n"
        )
        .unwrap();
        out
    }

    fn plan(&self, stop: &str, measurement: &str) -> Arc<Plan> {
        plan_of(&self.yaml(stop, measurement))
    }

    /// With one part of another network.
    fn with(mut self, part: usize, at: usize, other: &Self) -> Self {
        fn take<T: Clone>(mine: &mut [T], theirs: &[T], at: usize) {
            let at = at % mine.len().min(theirs.len());
            mine[at] = theirs[at].clone();
        }
        match part {
            0 => take(&mut self.core, &other.core, at),
            1 => take(&mut self.access, &other.access, at),
            2 => take(&mut self.flows, &other.flows, at),
            3 => self.failures.clone_from(&other.failures),
            4 => self.mpls = other.mpls,
            5 => take(&mut self.forwarding, &other.forwarding, at),
            6 => take(&mut self.switches, &other.switches, at),
            _ => self.reroute_ms = other.reroute_ms,
        }
        self
    }
}

fn plan_of(yaml: &str) -> Arc<Plan> {
    common::plan_with(yaml, [("m.trace", TRACE.to_vec())])
}

/// What says something else, or the same in other words, and changes no result.
const IDLE: [fn(&str) -> String; 7] = [
    |yaml| format!("{yaml}name: another title\n"),
    |yaml| yaml.replace("OUT", "EGRESS"),
    |yaml| yaml.replace(" Mb/s, delay", "000 kb/s, delay"),
    |yaml| yaml.replace("interval: 50 ms", "interval: 70 ms, series: [l1]"),
    |yaml| yaml.replace("count: 1", "count: 4"),
    |yaml| yaml.replace("policies:\n", "policies:\n  SPARE: {fq-codel: {}}\n"),
    |yaml| {
        format!(
            "{yaml}sla: [{{class: k0, metric: loss_ratio, max: 1 %}}]\nverdicts: {{correction: holm}}\n"
        )
    },
];

/// Under which its runs are stored, but for seed and number.
fn key(plan: &Plan) -> u128 {
    Keys::default().of(&plan.variants[0].world)
}

fn outcome<S: EventSet>(plan: &Plan, budget: u64) -> Outcome {
    let mut world = World::<S>::new(&plan.variants[0].world, 3, 0, false);
    while world.run(budget) != Stop::Done {}
    assert_eq!(world.fault(), None);
    world.outcome()
}

fn plain(plan: &Plan) -> Outcome {
    let mut world = World::<WinnerTree>::on(Engine::Plain, &plan.variants[0].world, 3, 0, false);
    while world.run(u64::MAX) != Stop::Done {}
    assert_eq!(world.fault(), None);
    world.outcome()
}

fn tapped(plan: &Plan) -> Outcome {
    let tap = Box::new(common::Blind);
    let mut world = World::<WinnerTree>::tapped(&plan.variants[0].world, 3, 0, false, tap);
    while world.run(u64::MAX) != Stop::Done {}
    assert_eq!(world.fault(), None);
    world.outcome()
}

/// A rate at which each transmission, of 40 B at least, may end a picosecond early.
fn with_rounding(rate: f64) -> f64 {
    rate * (1.0 + 1e-12 * rate / 320.0)
}

/// The sum over all things of some scope.
fn sum(plan: &Plan, of: &Outcome, scope: Scope, metric: Metric) -> f64 {
    let layout = layout(&plan.variants[0].world);
    let keys = layout.keys.iter().zip(&of.values);
    let wanted = keys.filter(|(k, _)| k.scope == scope && k.metric == metric);
    wanted.map(|(_, v)| v).sum()
}

/// Every value by scope, name and metric, and how far it could have gone.
fn named(plan: &Plan, of: &Outcome) -> Vec<(String, u64)> {
    let layout = layout(&plan.variants[0].world);
    let name = |k: &spillgate_measure::table::Key| {
        format!(
            "{}/{}/{}",
            k.scope.as_str(),
            layout.name(k),
            k.metric.name()
        )
    };
    let values = layout.keys.iter().zip(&of.values);
    let values = values.map(|(k, v)| (name(k), v.to_bits()));
    let bounds = of.bounds.iter().flat_map(|b| {
        let name = name(&layout.keys[b.at as usize]);
        [
            (name.clone() + " low", b.low.to_bits()),
            (name + " high", b.high.to_bits()),
        ]
    });
    values.chain(bounds).collect()
}

proptest! {
    #![proptest_config(common::cases(192))]

    /// With edges of the measured period in the middle of everything.
    #[test]
    fn every_value_is_the_same_however_driven(
        net in net(TRAFFIC.len()),
        warmup in 0_u32..900,
        duration in 200_u32..1500,
        // A packet of 1500 B takes 12 ms at 1 Mb/s.
        interval in prop_oneof![Just(50_u32), Just(12), Just(4), 3_u32..100],
    ) {
        let times = format!("warmup: {warmup} ms, duration: {duration} ms, interval: {interval} ms");
        let plan = net.plan("", &times);
        let reference = outcome::<WinnerTree>(&plan, u64::MAX);
        for (other, what) in [
            (outcome::<Heap4>(&plan, u64::MAX), "event set"),
            (outcome::<WinnerTree>(&plan, 77), "pauses"),
            (common::same_series(&plan, 3), "observer"),
            (tapped(&plan), "tap"),
            (plain(&plan), "plain engine"),
        ] {
            prop_assert_eq!(&other.digest, &reference.digest, "{}", what);
            for (a, b) in named(&plan, &other).into_iter().zip(named(&plan, &reference)) {
                prop_assert_eq!(a, b, "{}", what);
            }
        }
        no_rate_exceeds_its_line(&plan, &reference)?;
    }

    /// The key of a stored run changes if and only if results can: not with what is idle, and whenever a part of
    /// another network changes anything.
    #[test]
    fn keys_of_stored_runs_are_those_of_results(
        net in net(TRAFFIC.len()),
        other in net(TRAFFIC.len()),
        part in 0_usize..8,
        at in 0_usize..6,
        idle in prop::sample::subsequence(&IDLE[..], 1..=IDLE.len()),
    ) {
        let times = "warmup: 100 ms, duration: 600 ms, interval: 50 ms";
        let yaml = net.yaml("", times);
        let plan = plan_of(&yaml);
        let reference = outcome::<WinnerTree>(&plan, u64::MAX);
        let same = plan_of(&idle.iter().fold(yaml.clone(), |yaml, edit| edit(&yaml)));
        prop_assert_eq!(key(&same), key(&plan));
        let result = outcome::<WinnerTree>(&same, u64::MAX);
        prop_assert_eq!(&result.digest, &reference.digest);
        prop_assert_eq!(named(&same, &result), named(&plan, &reference));
        let edited = net.with(part, at, &other).plan("", times);
        let result = outcome::<WinnerTree>(&edited, u64::MAX);
        if key(&edited) == key(&plan) {
            prop_assert_eq!(&result.digest, &reference.digest);
            prop_assert_eq!(named(&edited, &result), named(&plan, &reference));
        } else {
            // Nothing is routed again where nothing fails.
            prop_assert!(part < 7 || yaml.contains("failures:"));
        }
    }

    /// Nothing is sent or fails near the end of the period, so every table sees the same losses.
    #[test]
    fn losses_by_place_are_those_by_flow(net in net(SOURCES)) {
        let plan = net.plan("stop: 2 s, ", "warmup: 0 s, duration: 90 s, interval: 50 ms");
        let mut world = World::<WinnerTree>::new(&plan.variants[0].world, 3, 0, false);
        while world.run(u64::MAX) != Stop::Done {}
        let of = world.outcome();
        prop_assert_eq!(sum(&plan, &of, Scope::Flow, Metric::Unresolved), 0.0);
        // What came to a queue and is not lost there or on its link has reached the end of the link.
        let at_queues = |metric| sum(&plan, &of, Scope::Queue, metric);
        let kept = at_queues(Metric::PacketsOffered) - at_queues(Metric::PacketsLost);
        prop_assert_eq!(kept, world.hops() as f64);
        let total = |metric| sum(&plan, &of, Scope::Flow, metric);
        let mut lost = 0.0;
        for reason in DropReason::ALL {
            let metric = Metric::drops(reason);
            let scopes = [Scope::Queue, Scope::Input, Scope::Node, Scope::SwitchInput];
            let places = scopes.map(|scope| sum(&plan, &of, scope, metric));
            // Who has no route is not told where it ends.
            if reason != DropReason::Unroutable {
                prop_assert_eq!(total(metric), places.iter().sum::<f64>(), "{}", metric.name());
            }
            lost += total(metric);
        }
        prop_assert_eq!(total(Metric::PacketsSent), total(Metric::PacketsReceived) + lost);
    }
}

/// What each link, each of its queues, its labels and the policy at its end carried, and what the flows got whose
/// last link it is.
fn no_rate_exceeds_its_line(plan: &Plan, of: &Outcome) -> Result<(), TestCaseError> {
    let world = &plan.variants[0].world;
    let layout = layout(world);
    let values: Vec<_> = layout.keys.iter().zip(&of.values).collect();
    for (number, link) in (0..).zip(&world.links) {
        // A packet across an edge of the period counts by its time on the link, not by the rate in it.
        let edge = if link.process.is_some() {
            // The longest packet is 32 cells of ATM.
            2.0 * 32.0 * 424.0
        } else {
            0.0
        };
        let line = with_rounding(link.rate.bps() as f64);
        // What was late arrives beside what is not.
        let late = link
            .reorder
            .as_ref()
            .map_or(0.0, |r| line * r.by.as_secs_f64());
        let rate = line + (edge + late) / world.duration.as_secs_f64();
        for scope in [Scope::Link, Scope::Queue, Scope::Exp, Scope::Input] {
            let of_link =
                |name: &str| name == link.name || name.starts_with(&format!("{}/", link.name));
            let sum: f64 = values
                .iter()
                .filter(|(k, _)| {
                    k.scope == scope && k.metric == Metric::Carried && of_link(layout.name(k))
                })
                .map(|(_, v)| **v)
                .sum();
            // Of a sum of 2^52 parts none is off by more.
            prop_assert!(
                sum <= rate * (1.0 + 1e-12),
                "{} {}: {sum} b/s",
                scope.as_str(),
                link.name
            );
        }
        if !world.failures.is_empty() {
            continue;
        }
        // By what is on its way from queue to queue they may differ; the last link gives them no more than a packet
        // beyond its rate.
        let last = |f: &&spillgate_scenario::plan::FlowPlan| {
            world.routes[f.route as usize].last() == Some(&number) && !f.traffic.is_closed_loop()
        };
        let names: Vec<&str> = world.flows.iter().filter(last).map(|f| &*f.name).collect();
        let sum: f64 = values
            .iter()
            .filter(|(k, _)| {
                k.scope == Scope::Flow
                    && k.metric == Metric::Throughput
                    && names.contains(&layout.name(k))
            })
            .map(|(_, v)| **v)
            .sum();
        let packet = 12_000.0 / world.duration.as_secs_f64();
        let rate = rate * ip_per_byte(link);
        prop_assert!(sum <= rate + packet, "flows over {}: {sum} b/s", link.name);
    }
    for switch in &world.switches {
        no_rate_exceeds_the_fabric(world, switch, &values, &layout)?;
    }
    Ok(())
}

/// Bytes of IP for each byte that the link sends, at most: more than one where it compresses headers.
fn ip_per_byte(link: &LinkPlan) -> f64 {
    let shrunk = |l: u16| f64::from(l) / f64::from(link.overhead.wire_len(l));
    (40..=1500).map(shrunk).fold(1.0, f64::max)
}

/// What crosses from each input, from each virtual output queue and to each output.
fn no_rate_exceeds_the_fabric(
    world: &WorldPlan,
    switch: &SwitchPlan,
    values: &[(&Key, &f64)],
    layout: &Layout,
) -> Result<(), TestCaseError> {
    let recipe = &switch.recipe;
    let carried = |scope, matches: &dyn Fn(&str) -> bool| -> f64 {
        let of = values.iter().filter(|(k, _)| {
            k.scope == scope && k.metric == Metric::Carried && matches(layout.name(k))
        });
        of.map(|(_, v)| **v).sum()
    };
    let name = |link: &u32| &*world.links[*link as usize].name;
    let of_outputs = |input: &str| carried(Scope::Voq, &|n| n.starts_with(&format!("{input}/")));
    let (num, den) = recipe.speedup().fraction();
    let fabric = with_rounding(recipe.line().bps() as f64) * num as f64 / den as f64;
    // A packet counts whole when it, or its last cell, begins to cross; on parallel links one from each port.
    let packets = if recipe.is_crossbar() {
        1
    } else {
        recipe.ports()
    };
    let packet = 12_000.0 * packets as f64 / world.duration.as_secs_f64();
    for input in &switch.inputs {
        let sum = carried(Scope::SwitchInput, &|n| n == name(input));
        let most = fabric + packet;
        prop_assert!(
            sum <= most * (1.0 + 1e-12),
            "from {}: {sum} b/s",
            name(input)
        );
        if recipe.is_voq() {
            let voqs = of_outputs(name(input));
            prop_assert!((voqs - sum).abs() <= 1e-9 * sum, "VOQs: {voqs}, {sum}");
        }
    }
    for output in &switch.outputs {
        let end = format!("/{}", name(output));
        let crossed = carried(Scope::Voq, &|n| n.ends_with(&end));
        let most = fabric + packet;
        prop_assert!(
            crossed <= most * (1.0 + 1e-12),
            "to {}: {crossed} b/s",
            name(output)
        );
        let line = &world.links[*output as usize];
        if line.process.is_none() {
            let sent = carried(Scope::SwitchOutput, &|n| n == name(output));
            let most = with_rounding(line.rate.bps() as f64) * ip_per_byte(line)
                + 12_000.0 / world.duration.as_secs_f64();
            prop_assert!(sent <= most * (1.0 + 1e-12), "{}: {sent} b/s", name(output));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(common::cases(128))]

    /// A bottleneck behind fast links and before them: neither flows nor classes nor all together get more than its
    /// rate, however much is offered and whenever the period begins and ends.
    #[test]
    fn nobody_gets_more_than_the_bottleneck_has(
        kbps in prop_oneof![Just(64_u32), Just(1_000), 1_500_u32..20_000],
        load in 80_u32..200,
        policy in 0..7_usize,
        kinds in prop::collection::vec(0..5_usize, 1..6),
        (warmup, duration) in (0_u32..3_000_000, 100_000_u32..3_000_000),
    ) {
        let share = f64::from(kbps * load / 100) / kinds.len() as f64;
        let mut traffic = String::new();
        for (i, kind) in kinds.iter().enumerate() {
            let what = match kind {
                0 => format!("source: {{cbr: {{rate: {share} kb/s, packet: 1500 B}}}}"),
                1 => format!("source: {{poisson: {{rate: {share} kb/s, packet: imix}}}}"),
                2 => format!("source: {{on-off: {{peak: {} kb/s, packet: 700 B, on: 40 ms, off: 40 ms}}}}", 2.0 * share),
                3 => "tcp: {profile: linux}".to_owned(),
                _ => "tcp: {profile: ns2}".to_owned(),
            };
            writeln!(traffic, "  - flow: {{name: f{i}, class: k{}, from: s, to: d, {what}}}", i % 2).unwrap();
        }
        let policy = OUT[policy];
        let plan = common::plan(&format!(
            "schema_version: 1
topology:
  nodes: [s, a, b, d]
  links:
    first: {{from: s, to: a, rate: 1 Gb/s, delay: 1 ms, duplex: true}}
    line: {{from: a, to: b, rate: {kbps} kb/s, delay: 5 ms, policy: P, duplex: true}}
    last: {{from: b, to: d, rate: 1 Gb/s, delay: 300 us, duplex: true}}
policies: {{P: {policy}}}
traffic:
{traffic}measurement: {{warmup: {warmup} us, duration: {duration} us, interval: 10 ms}}
runs: {{count: 1, seed: 3}}
"));
        let of = outcome::<WinnerTree>(&plan, u64::MAX);
        let layout = layout(&plan.variants[0].world);
        // At each edge parts of six flows' packets at most, some of which lie behind each other.
        let rounding = 8.0 * 12.0 * Volume::ROUNDING / (f64::from(duration) / 1e6);
        let rate = with_rounding(f64::from(kbps) * 1e3) + rounding;
        for (key, value) in layout.keys.iter().zip(&of.values) {
            let is_rate = [Metric::Throughput, Metric::Goodput].contains(&key.metric);
            if is_rate || (key.metric == Metric::Carried && layout.name(key).starts_with("line")) {
                prop_assert!(*value <= rate, "{} {}: {value}", layout.name(key), key.metric.name());
            }
        }
    }
}

/// A line that is always busy carries exactly its rate, wherever the edges of the period cut packets in two; the
/// flow gets it too, since its last link adds nothing.
#[test]
fn a_busy_line_carries_its_rate() {
    for (warmup, duration) in [
        ("1 s", "2 s"),
        ("1000.5 ms", "1234567 us"),
        ("0.7 ms", "100.3 ms"),
    ] {
        let plan = common::plan(&format!(
            "schema_version: 1
topology:
  nodes: [a, b]
  links: {{l: {{from: a, to: b, rate: 10 Mb/s, delay: 5 ms}}}}
traffic:
  - flow: {{name: f, from: a, to: b, source: {{cbr: {{rate: 10.3 Mb/s, packet: 1500 B, phase: 0 s}}}}}}
measurement: {{warmup: {warmup}, duration: {duration}, interval: 50 ms}}
runs: {{count: 1, seed: 1}}
"));
        let of = outcome::<WinnerTree>(&plan, u64::MAX);
        let layout = layout(&plan.variants[0].world);
        let value = |scope, name, metric| of.values[layout.position(scope, name, metric).unwrap()];
        // Two packets are cut by the edges.
        let seconds = plan.variants[0].world.duration.as_secs_f64();
        let off = 2.0 * 8.0 * Volume::ROUNDING / seconds;
        let carried = value(Scope::Link, "l", Metric::Carried);
        assert!((carried - 10e6).abs() <= off, "{carried}");
        // The first packet begins to arrive after 5 ms.
        if !warmup.starts_with("0.7") {
            let got = value(Scope::Flow, "f", Metric::Throughput);
            assert!((got - 10e6).abs() <= off, "{got}");
        }
        assert!(value(Scope::Flow, "f", Metric::Offered) > 10.2e6);
    }
}
