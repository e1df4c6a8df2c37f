//! Patterns of traffic, slotted Bernoulli and backlogged sources, through the whole simulator:
//! against what follows from their definition, and against published switches.

use crate::common;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Write;

use spillgate_core::{Packet, Time};
use spillgate_events::WinnerTree;
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::plan::Plan;
use spillgate_sim::tap::{Seen, Tap};
use spillgate_sim::{Engine, Outcome, Stop, World, layout};

/// 1000 B at 1 Gb/s.
const SLOT_PS: u64 = 8_000_000;
const SLOT: f64 = 8e-6;

/// A switch with `ports` inputs and outputs, all of 1 Gb/s and a slot long; cells of 1000 B.
fn scenario(ports: u32, switch: &str, traffic: &str, (warmup, slots): (u32, u32)) -> String {
    format!(
        "schema_version: 1
topology:
  nodes: [{{name: h, count: {ports}}}, {{name: d, count: {ports}}}, {{name: s, switch: {{{switch}}}}}]
  links:
    in: {{from: h, to: s, rate: 1 Gb/s, delay: 8 us}}
    out: {{from: s, to: d, rate: 1 Gb/s, delay: 8 us}}
traffic:
{traffic}measurement: {{warmup: {} us, duration: {} us, interval: 1 ms}}
runs: {{count: 1, seed: 4}}
",
        warmup * 8,
        slots * 8
    )
}

fn bernoulli(load: f64, pattern: &str) -> String {
    format!(
        "  - flow: {{name: u, from: h, to: d, pattern: {pattern}, source: {{bernoulli: {{line: 1 Gb/s, load: {} %, packet: 1000 B}}}}}}\n",
        load * 100.0
    )
}

fn outcome(plan: &Plan, engine: Engine, run: u32) -> Outcome {
    let mut world = World::<WinnerTree>::on(engine, &plan.variants[0].world, plan.seed, run, false);
    while world.run(u64::MAX) != Stop::Done {}
    assert_eq!(world.fault(), None);
    world.outcome()
}

fn value(plan: &Plan, of: &Outcome, scope: Scope, name: &str, metric: Metric) -> f64 {
    let layout = layout(&plan.variants[0].world);
    let at = layout.position(scope, name, metric);
    of.values[at.unwrap_or_else(|| panic!("no {metric:?} of {name}"))]
}

/// When packets were sent, by flow.
#[derive(Default)]
struct Sent(Vec<(Time, Packet)>);

impl Tap for Sent {
    fn sent(&mut self, now: Time, seen: Seen<'_>, _: u32) {
        self.0.push((now, *seen.packet));
    }
    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

fn sent(plan: &Plan) -> Vec<(Time, Packet)> {
    let tap = Box::new(Sent::default());
    let mut world = World::<WinnerTree>::tapped(&plan.variants[0].world, 4, 0, false, tap);
    while world.run(u64::MAX) != Stop::Done {}
    let tap = world.into_tap().unwrap().into_any();
    tap.downcast::<Sent>().unwrap().0
}

/// A sender has a packet in a slot or none, for one receiver, however many receivers share its
/// packets; packets and shares are within 4.5 standard deviations of a binomial, which one of about
/// 40 leaves with a probability below 3e-4.
#[test]
fn a_sender_has_at_most_one_packet_in_a_slot() {
    let load = 0.7;
    for (pattern, shares) in [
        ("uniform", [0.25; 4]),
        ("diagonal", [2.0 / 3.0, 1.0 / 3.0, 0.0, 0.0]),
        ("{diagonal: {share: 90 %}}", [0.9, 0.1, 0.0, 0.0]),
        (
            "log-diagonal",
            [8.0 / 15.0, 4.0 / 15.0, 2.0 / 15.0, 1.0 / 15.0],
        ),
    ] {
        let slots = 20_000;
        let traffic = bernoulli(load, pattern);
        let plan = common::plan(&scenario(4, "architecture: voq", &traffic, (0, slots)));
        let flows = &plan.variants[0].world.flows;
        // By sender and slot; by sender and receiver, counted from the sender's number.
        let mut taken = BTreeMap::new();
        let mut got = [[0.0; 4]; 4];
        for (at, packet) in sent(&plan) {
            let flow = &flows[packet.flow as usize];
            let slot = at.as_ps() / SLOT_PS;
            assert_eq!(at.as_ps() % SLOT_PS, 0);
            if slot >= u64::from(slots) {
                continue;
            }
            assert_eq!(
                taken.insert((flow.from, slot), ()),
                None,
                "{pattern}: {slot}"
            );
            let (from, to) = (flow.from as usize, flow.to as usize - 4);
            got[from][(to + 4 - from) % 4] += 1.0;
        }
        let n = f64::from(slots);
        for of_sender in got {
            for (got, share) in of_sender.iter().zip(shares) {
                let p = load * share;
                assert!(
                    (got - n * p).abs() <= 4.5 * (n * p * (1.0 - p)).sqrt(),
                    "{pattern}: {got}"
                );
            }
        }
    }
}

/// What a sender sends does not depend on who else sends, nor on how its receivers are chosen.
#[test]
fn other_flows_and_patterns_move_no_packet() {
    let slots = (0, 2000);
    let of = |traffic: &str| {
        let plan = common::plan(&scenario(4, "architecture: voq", traffic, slots));
        let flows = &plan.variants[0].world.flows;
        let name = |p: &Packet| flows[p.flow as usize].name.to_string();
        let mut all: Vec<_> = sent(&plan).iter().map(|(t, p)| (*t, name(p))).collect();
        all.retain(|(t, name)| name.starts_with('u') && t.as_ps() < 2000 * SLOT_PS);
        all.sort();
        all
    };
    let alone = of(&bernoulli(0.3, "uniform"));
    let before = "  - flow: {name: x, from: h, to: d, pattern: uniform, source: {poisson: {rate: 50 Mb/s, packet: 500 B}}}\n";
    assert_eq!(of(&format!("{before}{}", bernoulli(0.3, "uniform"))), alone);
    let times = |all: &[(Time, String)]| all.iter().map(|(t, _)| *t).collect::<Vec<_>>();
    assert_eq!(
        times(&of(&bernoulli(0.3, "{hotspot: {share: 40 %}}"))),
        times(&alone)
    );
}

/// Both engines, and any number of threads, with each pattern and source.
#[test]
fn both_engines_agree() {
    let patterns = [
        "uniform",
        "permutation",
        "{permutation: {shift: 2}}",
        "diagonal",
        "log-diagonal",
        "{hotspot: {share: 25 %, member: 3}}",
        "all-to-all",
    ];
    let sources = [
        "source: {bernoulli: {line: 1 Gb/s, load: 8 %, packet: 1000 B}}",
        "source: {poisson: {rate: 80 Mb/s, packet: imix}}, start_spread: 1 ms",
        "source: {on-off: {peak: 240 Mb/s, packet: 500 B, on: 1 ms, off: 2 ms}}, start_gap: 100 us, stop: 9 ms",
    ];
    for node in ["architecture: output-queued", "architecture: voq", ""] {
        for source in sources {
            let mut traffic = String::new();
            for (k, pattern) in patterns.iter().enumerate() {
                writeln!(
                    traffic,
                    "  - flow: {{name: f{k}, from: h, to: d, pattern: {pattern}, {source}}}"
                )
                .unwrap();
            }
            let mut yaml = scenario(4, node, &traffic, (100, 1500));
            if node.is_empty() {
                yaml = yaml.replace(", switch: {}", "");
            }
            let plan = common::plan(&yaml);
            let [plain, express] = [Engine::Plain, Engine::Express].map(|e| outcome(&plan, e, 0));
            assert_eq!(plain.digest, express.digest, "{node} {source}");
            assert!(sum(&plan, &plain, Metric::PacketsReceived) > 1000.0);
            assert_eq!(sum(&plan, &plain, Metric::Unresolved), 0.0);
        }
    }
}

fn sum(plan: &Plan, of: &Outcome, metric: Metric) -> f64 {
    let layout = layout(&plan.variants[0].world);
    let all = layout.keys.iter().zip(&of.values);
    let wanted = all.filter(|(k, _)| k.scope == Scope::Flow && k.metric == metric);
    wanted.map(|(_, v)| v).sum()
}

/// A mean over independent runs with its standard error; of 20, four of them hold with a
/// probability of 0.9992 (Student's t with 19 degrees of freedom).
#[derive(Clone, Copy, Debug)]
struct Estimate {
    mean: f64,
    error: f64,
}

const RUNS: u32 = 20;

fn estimate(plan: &Plan, of: impl Fn(&Outcome) -> f64) -> Estimate {
    let n = f64::from(RUNS);
    let all: Vec<f64> = (0..RUNS)
        .map(|run| of(&outcome(plan, Engine::Express, run)))
        .collect();
    let mean = all.iter().sum::<f64>() / n;
    let squares: f64 = all.iter().map(|v| (v - mean) * (v - mean)).sum();
    let error = (squares / (n * (n - 1.0))).sqrt();
    Estimate { mean, error }
}

/// The mean delay of a switch in slots, from arrival until the output begins to send.
fn delay(ports: u32, switch: &str, load: f64, slots: (u32, u32)) -> Estimate {
    let plan = common::plan(&scenario(ports, switch, &bernoulli(load, "uniform"), slots));
    estimate(&plan, |of| {
        value(&plan, of, Scope::Switch, "s", Metric::SwitchDelayMean) / SLOT
    })
}

/// M. Karol, M. Hluchyj and S. Morgan, IEEE Transactions on Communications 35(12), 1987, equation
/// (4): an output queue with n inputs and load p waits (n - 1) / n p / (2 (1 - p)) slots. Cells
/// that come in one slot come at one instant, and one of them leaves at once.
#[test]
fn output_queues_wait_as_their_closed_form_says() {
    for (ports, load) in [(4, 0.5), (8, 0.8), (16, 0.8)] {
        let found = delay(ports, "architecture: output-queued", load, (2000, 4000));
        let n = f64::from(ports);
        let expected = (n - 1.0) / n * load / (2.0 * (1.0 - load));
        println!("{ports} ports at {load}: {found:?}, expected {expected}");
        assert!(found.error < 0.02 * expected.max(1.0));
        assert!(
            (found.mean - expected).abs() <= 4.0 * found.error,
            "{found:?}, {expected}"
        );
    }
}

/// The same, table I: what FIFOs at the inputs carry if they always have a cell.
#[test]
fn fifos_at_inputs_saturate_as_published() {
    let switch = "architecture: input-queued, fabric: {crossbar: {cell: 1000 B, matching: {pim: {iterations: 4}}}}";
    for (ports, expected) in [(2, 0.75), (4, 0.6553), (8, 0.6184)] {
        let traffic = bernoulli(1.0, "uniform");
        let plan = common::plan(&scenario(ports, switch, &traffic, (2000, 2000)));
        let found = estimate(&plan, |of| {
            value(&plan, of, Scope::Switch, "s", Metric::Carried) / f64::from(ports) / 1e9
        });
        println!("{ports} ports: {found:?}, published {expected}");
        // The published values have four digits.
        assert!(found.error < 0.002);
        assert!(
            (found.mean - expected).abs() <= 4.0 * found.error + 5e-5,
            "{found:?}"
        );
    }
}

/// Delays in McKeown 1999, figure 10, as far as a marker can be read
/// (`crates/nodes/tests/published.rs`). A cell crosses in the slot in which it came if it is
/// matched at once, and its output sends it in the next: one slot more than the paper counts.
#[test]
fn delays_are_those_of_the_published_figure() {
    const PIXELS_PER_LOAD: f64 = 646.0;
    const PIXEL_OF_DELAY: f64 = 0.01333;
    let wanted = [("fifo", 0.54), ("pim", 0.6), ("islip", 0.6), ("islip", 0.8)];
    let lines = include_str!("../../nodes/tests/vectors/mckeown.csv").lines();
    let mut found = 0;
    for line in lines.filter(|line| !line.starts_with('#')).skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let [load, published] = [1, 2].map(|i| cells[i].parse::<f64>().unwrap());
        if !wanted.contains(&(cells[0], load)) {
            continue;
        }
        found += 1;
        let (architecture, matching) = match cells[0] {
            "fifo" => ("input-queued", "pim"),
            other => ("voq", other),
        };
        let switch = format!(
            "architecture: {architecture}, fabric: {{crossbar: {{cell: 1000 B, matching: {{{matching}: {{iterations: 1}}}}}}}}"
        );
        let of = |load| delay(16, &switch, load, (4000, 2000));
        let measured = of(load);
        // A pixel of load moves the delay by as much as it does here.
        let slope = (of(load + 2.0 / PIXELS_PER_LOAD).mean - measured.mean) / 2.0;
        let reading = published * PIXEL_OF_DELAY + slope.abs();
        let off = measured.mean - 1.0 - published;
        println!("{line}: {measured:?}, read to {reading:.3}");
        assert!(
            off.abs() <= reading + 4.0 * measured.error,
            "{line}: {measured:?}"
        );
    }
    assert_eq!(found, wanted.len());
}

/// Pfister and Norton 1985: with a share h of the packets of n ports for one output, that output is
/// offered 1 + h (n - 1) times the load of a port, so 1 / (1 + h (n - 1)) of it is carried.
#[test]
fn a_hotspot_is_offered_what_its_share_says() {
    let (ports, h, load) = (8, 0.25, 0.3);
    let traffic = bernoulli(load, "{hotspot: {share: 25 %, member: 5}}");
    let plan = common::plan(&scenario(
        ports,
        "architecture: output-queued",
        &traffic,
        (0, 4000),
    ));
    let offered = |output: &str| {
        let of = |o: &Outcome| value(&plan, o, Scope::SwitchOutput, output, Metric::Offered) / 1e9;
        estimate(&plan, of)
    };
    for (output, expected) in [
        ("out-5", load * (1.0 + h * f64::from(ports - 1))),
        ("out-0", load * (1.0 - h)),
    ] {
        let found = offered(output);
        println!("{output}: {found:?}, expected {expected}");
        // Before the period begins nothing is under way, so two slots are missing.
        assert!((found.mean - expected).abs() <= 4.0 * found.error + expected * 2.0 / 4000.0);
    }
}

/// With every queue always filled, of n inputs one iteration of PIM connects those to which at
/// least one output points: 1 - (1 - 1/n)^n (Anderson and others, ACM Transactions on Computer
/// Systems 11(4), 1993); iSLIP connects all.
#[test]
fn backlogged_inputs_always_have_a_cell_for_each_output() {
    let ports = 4;
    let traffic = "  - flow: {name: u, from: h, to: d, pattern: all-to-all, source: {backlogged: {packet: 1000 B}}}\n";
    for (fabric, expected) in [
        (
            "crossbar: {cell: 1000 B, matching: {pim: {iterations: 1}}}",
            1.0 - 81.0 / 256.0,
        ),
        (
            "crossbar: {cell: 1000 B, matching: {islip: {iterations: 1}}}",
            1.0,
        ),
        ("crossbar: {cell: packets, matching: {islip: {}}}", 1.0),
        ("crossbar: {cell: 250 B, matching: {islip: {}}}", 1.0),
        ("parallel: {}", 1.0),
    ] {
        let switch = format!("architecture: cioq, fabric: {{{fabric}}}");
        let plan = common::plan(&scenario(ports, &switch, traffic, (100, 2000)));
        let found = estimate(&plan, |of| {
            value(&plan, of, Scope::Switch, "s", Metric::Carried) / f64::from(ports) / 1e9
        });
        println!("{fabric}: {found:?}, expected {expected}");
        let rounding = 1e-9;
        assert!(
            (found.mean - expected).abs() <= 4.0 * found.error + rounding,
            "{fabric}: {found:?}"
        );
        let [plain, express] = [Engine::Plain, Engine::Express].map(|e| outcome(&plan, e, 0));
        assert_eq!(plain.digest, express.digest, "{fabric}");
        assert_eq!(sum(&plan, &plain, Metric::LossRatio), 0.0);
        if fabric.starts_with("crossbar") {
            let idle = value(
                &plan,
                &plain,
                Scope::SwitchOutput,
                "out-2",
                Metric::SlotsIdle,
            );
            assert_eq!(idle, 0.0, "{fabric}");
        }
        for (input, output) in [(0, 3), (2, 2)] {
            let name = format!("in-{input}/out-{output}");
            let of = |metric| value(&plan, &plain, Scope::Voq, &name, metric);
            assert!(of(Metric::BacklogPacketsMax) <= 2.0);
            assert!(
                of(Metric::BacklogPacketsMean) >= 1.0,
                "{fabric}: {}",
                of(Metric::BacklogPacketsMean)
            );
        }
    }
}
