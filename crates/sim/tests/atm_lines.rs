//! Circuits of ATM that share the line of an edge: one alone against a line of its own, cells one
//! by one against cells taken together, shares and delays with known answers.

use crate::common;
use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{DropReason, Time};
use spillgate_events::WinnerTree;
use spillgate_measure::stats::Interval;
use spillgate_measure::table::{Key, Metric, Scope};
use spillgate_scenario::plan::Plan;
use spillgate_sim::explain::{Question, explain};
use spillgate_sim::{Engine, Outcome, Stop, World, layout};

fn run(plan: &Plan, engine: Engine, tapped: bool) -> (String, Outcome) {
    let world = &plan.variants[0].world;
    let mut world = match tapped {
        true => World::<WinnerTree>::tapped(world, 7, 0, false, Box::new(common::Blind)),
        false => World::on(engine, world, 7, 0, false),
    };
    while world.run(u64::MAX) != Stop::Done {}
    assert_eq!(world.fault(), None);
    (world.digest(), world.outcome())
}

/// A result by scope, name and metric, to the last bit.
type Entry = (Scope, String, Metric, u64);

/// All results without those of lines and of what is hidden.
fn all(plan: &Plan, of: &Outcome) -> Vec<Entry> {
    let layout = layout(&plan.variants[0].world);
    let name = |k: &Key| layout.names[k.name as usize].clone();
    let results = layout.keys.iter().zip(&of.values);
    results
        .filter(|(k, _)| k.scope != Scope::AtmLine && !name(k).contains("hidden"))
        .map(|(k, v)| (k.scope, name(k), k.metric, v.to_bits()))
        .collect()
}

/// The first result that differs.
fn differs(a: &[Entry], b: &[Entry]) -> Option<String> {
    let two = a.iter().zip(b).find(|(a, b)| a != b);
    let found = two.map(|both| format!("{both:?}"));
    found.or_else(|| (a.len() != b.len()).then(|| format!("{} {}", a.len(), b.len())))
}

fn find(plan: &Plan, of: &Outcome, scope: Scope, name: &str, metric: Metric) -> Option<f64> {
    let layout = layout(&plan.variants[0].world);
    let is_it =
        |k: &Key| k.scope == scope && k.metric == metric && layout.names[k.name as usize] == name;
    Some(of.values[layout.keys.iter().position(is_it)?])
}

fn value(plan: &Plan, of: &Outcome, scope: Scope, name: &str, metric: Metric) -> f64 {
    find(plan, of, scope, name, metric).unwrap()
}

const CONTRACTS: [&str; 8] = [
    "contract: {cbr: {pcr: 1.5 Mb/s}}",
    "contract: {cbr: {pcr: 800 kb/s, cdvt: 1 ms}}",
    "contract: {rt-vbr: {pcr: 2 Mb/s, scr: 600 kb/s, mbs: 40}}",
    "contract: {nrt-vbr: {pcr: 3 Mb/s, scr: 1 Mb/s, mbs: 90, cdvt: 200 us}}",
    "encapsulation: vc-mux",
    "contract: {ubr: {pcr: 1 Mb/s}}",
    "contract: {gfr: {mcr: 500 kb/s, mbs: 64, mfs: 200}}",
    "shaped: false, contract: {rt-vbr: {pcr: 1.8 Mb/s, scr: 800 kb/s, mbs: 30, cdvt: 500 us}}",
];

const TRAFFIC: [&str; 6] = [
    "source: {cbr: {rate: 900 kb/s, packet: 1500 B}}",
    "source: {cbr: {rate: 700 kb/s, packet: 9180 B}}",
    "source: {poisson: {rate: 800 kb/s, packet: imix}}",
    "source: {on-off: {peak: 5 Mb/s, packet: 552 B, on: 20 ms, off: 60 ms}}",
    "source: {poisson: {rate: 300 kb/s, packet: 40 B}}",
    "tcp: {profile: linux}",
];

const POLICIES: &str = "policies:
  NONE: {fifo: {limit: 50 packets}}
  RED: {fifo: {limit: 60 packets, aqm: {red: {min_th: 3, max_th: 15}}}}
  PIE: {fifo: {limit: 100 packets, aqm: {pie: {}}}}
  CODEL: {fifo: {limit: 100 packets, aqm: {codel: {}}}}
  FQ: {fq-codel: {}}
  LLQ:
    class-based:
      classes:
        - {name: small, match: {dscp: ef}, priority: {rate: 200 kb/s}}
        - {name: class-default, shape: {rate: 700 kb/s}}
";
const NAMES: [&str; 6] = ["NONE", "RED", "PIE", "CODEL", "FQ", "LLQ"];

#[derive(Clone, Debug)]
struct Net {
    /// Contract, policy, traffic, whether it comes to an ATM switch, and its line.
    circuits: Vec<(usize, usize, usize, bool, usize)>,
    rate: u32,
    delay: u32,
    aligned: bool,
    switch: &'static str,
}

fn net(traffic: usize, circuits: std::ops::Range<usize>) -> impl Strategy<Value = Net> {
    let circuit = (
        0..CONTRACTS.len(),
        0..NAMES.len(),
        0..traffic,
        any::<bool>(),
        0..2_usize,
    );
    let switch = prop_oneof![
        Just("buffer: 200"),
        Just("buffer: 60, discard: ppd, police: tag"),
        Just("buffer: 40, discard: epd, police: discard, queues: per-vc"),
        Just("buffer: 100, reassembly: ideal"),
    ];
    let all = prop::collection::vec(circuit, circuits);
    (
        all,
        3_u32..6,
        prop_oneof![Just(0), 0_u32..3000],
        any::<bool>(),
        switch,
    )
        .prop_map(|(circuits, rate, delay, aligned, switch)| Net {
            circuits,
            rate,
            delay,
            aligned,
            switch,
        })
}

/// How the circuits of a net have their lines.
#[derive(Clone, Copy, PartialEq)]
enum Lines {
    /// Those of a number share one.
    Shared,
    /// Each has its own, which is not named.
    Own,
    /// Each has its own, which a circuit that nobody uses shares.
    Idle,
}

impl Net {
    fn plan(&self, lines: Lines, stop: &str, measurement: &str) -> Arc<Plan> {
        let (mut nodes, mut links, mut traffic) = (String::new(), String::new(), String::new());
        let (rate, delay, switch) = (self.rate, self.delay, self.switch);
        let phase = if self.aligned { "phase: aligned, " } else { "" };
        for (i, (contract, policy, kind, to_switch, line)) in self.circuits.iter().enumerate() {
            let line = match lines {
                Lines::Shared => format!("line: l{line}, "),
                Lines::Own => String::new(),
                Lines::Idle => format!("line: own{i}, "),
            };
            let (contract, policy, kind) = (CONTRACTS[*contract], NAMES[*policy], TRAFFIC[*kind]);
            let to = if *to_switch {
                format!("s{i}")
            } else {
                format!("d{i}")
            };
            let circuit = format!(
                "rate: {rate} Mb/s, delay: {delay} us, policy: {policy}, atm: {{{line}{phase}{contract}}}"
            );
            writeln!(
                links,
                "    in{i}: {{from: e, to: {to}, {circuit}, duplex: true}}"
            )
            .unwrap();
            write!(nodes, "d{i}, ").unwrap();
            if *to_switch {
                write!(nodes, "h{i}, {{name: s{i}, atm_switch: {{{switch}}}}}, ").unwrap();
                writeln!(links, "    out{i}: {{from: s{i}, to: d{i}, rate: 3 Mb/s, delay: 300 us, atm: {{}}, duplex: true}}").unwrap();
                writeln!(
                    links,
                    "    beside{i}: {{from: h{i}, to: s{i}, rate: {rate} Mb/s, atm: {{{phase}}}}}"
                )
                .unwrap();
                writeln!(traffic, "  - flow: {{name: g{i}, {stop}from: h{i}, to: d{i}, source: {{poisson: {{rate: 1.5 Mb/s, packet: 576 B}}}}}}").unwrap();
            }
            if lines == Lines::Idle {
                writeln!(links, "    hidden{i}: {{from: e, to: hidden, rate: {rate} Mb/s, atm: {{{line}{phase}contract: {{cbr: {{pcr: 1 Mb/s}}}}}}}}").unwrap();
            }
            let dscp = if i % 2 == 0 { "dscp: ef, " } else { "" };
            writeln!(
                traffic,
                "  - flow: {{name: f{i}, {dscp}{stop}from: e, to: d{i}, {kind}}}"
            )
            .unwrap();
        }
        common::plan(&format!(
            "schema_version: 1
topology:
  nodes: [{nodes}e, hidden, {{name: t, atm_switch: {{}}}}]
  links:
{links}    unused: {{from: t, to: e, rate: 1 Mb/s}}
{POLICIES}traffic:
{traffic}measurement: {{{measurement}}}
"
        ))
    }
}

const PERIOD: &str = "warmup: 137 ms, duration: 900 ms, interval: 50 ms";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48 * effort()))]

    /// A circuit alone on a line, beside one that nobody uses, is a circuit with a line of its own.
    #[test]
    fn alone_on_a_line_it_is_as_without(mut net in net(TRAFFIC.len(), 1..4)) {
        // What is not shaped to all of its contract shows how much later than that has them cells
        // may come on a line of two.
        let exceeds = |c: &&str| c.contains("shaped: false") || c.contains("gfr");
        if net.circuits.iter().map(|c| CONTRACTS[c.0]).any(|c| exceeds(&c)) {
            net.switch = "buffer: 50";
        }
        let own = net.plan(Lines::Own, "", PERIOD);
        let (digest, values) = run(&own, Engine::Express, false);
        let wanted = all(&own, &values);
        let idle = net.plan(Lines::Idle, "", PERIOD);
        let (found, of) = run(&idle, Engine::Express, false);
        prop_assert_eq!(differs(&all(&idle, &of), &wanted), None);
        prop_assert_eq!(found, digest);
    }

    /// Slots as events, on the plain engine, and slots that are taken together between events, with
    /// and without a tap.
    #[test]
    fn merged_slots_are_slots(net in net(TRAFFIC.len(), 2..7)) {
        let plan = net.plan(Lines::Shared, "", PERIOD);
        let (digest, values) = run(&plan, Engine::Plain, false);
        for tapped in [false, true] {
            let (found, of) = run(&plan, Engine::Express, tapped);
            prop_assert_eq!(differs(&all(&plan, &of), &all(&plan, &values)), None);
            prop_assert_eq!(&found, &digest);
            for (line, metric) in ["e/l0", "e/l1"].into_iter().zip([Metric::Carried, Metric::Utilization]) {
                let of_line = |plan, of| find(plan, of, Scope::AtmLine, line, metric).map(f64::to_bits);
                prop_assert_eq!(of_line(&plan, &of), of_line(&plan, &values));
            }
        }
    }

    /// Every packet arrives or is lost at one place for one reason, and a line carries what its
    /// circuits carry.
    #[test]
    fn packets_and_bits_are_conserved(net in net(TRAFFIC.len() - 1, 2..7)) {
        let plan = net.plan(Lines::Shared, "stop: 1 s, ", "warmup: 0 s, duration: 60 s, interval: 1 s");
        let (_, of) = run(&plan, Engine::Express, false);
        let sum = |scope, metric| {
            let found = all(&plan, &of).into_iter().filter(|(s, _, m, _)| *s == scope && *m == metric);
            found.map(|(.., v)| f64::from_bits(v)).sum::<f64>()
        };
        prop_assert_eq!(sum(Scope::Flow, Metric::Unresolved), 0.0);
        let mut lost = 0.0;
        for reason in DropReason::ALL {
            let metric = Metric::drops(reason);
            let here = sum(Scope::Queue, metric) + sum(Scope::AtmPort, metric);
            prop_assert_eq!(sum(Scope::Flow, metric), here, "{}", metric.name());
            lost += here;
        }
        prop_assert_eq!(sum(Scope::Flow, Metric::PacketsSent), sum(Scope::Flow, Metric::PacketsReceived) + lost);
        for number in 0..2 {
            let of_line = net.circuits.iter().enumerate().filter(|(_, c)| c.4 == number);
            let circuits: f64 = of_line
                .map(|(i, _)| value(&plan, &of, Scope::Link, &format!("in{i}"), Metric::Carried))
                .sum();
            let line = find(&plan, &of, Scope::AtmLine, &format!("e/l{number}"), Metric::Carried);
            // Whole cells have left.
            prop_assert!((line.unwrap_or(0.0) - circuits).abs() < 1e-6, "{line:?} {circuits}");
        }
    }

    /// A tap is told when transmissions end; the parts of delays add up.
    #[test]
    fn delays_are_explained(net in net(TRAFFIC.len(), 2..6)) {
        let plan = net.plan(Lines::Shared, "", PERIOD);
        let world = &plan.variants[0].world;
        let flows = 0..world.flows.len() as u32;
        let groups = flows.map(|f| vec![f]).collect();
        let question = Question { groups, worst: 8, ..Question::default() };
        let answer = explain(world, 7, 0, &question, &|| false).unwrap();
        prop_assert_eq!(&answer.digest, &run(&plan, Engine::Plain, false).0);
        for journey in answer.packets.iter().flatten() {
            for hop in &journey.hops {
                prop_assert_eq!(hop.explained(), hop.waited(), "{:?}", hop);
                prop_assert!(hop.end > hop.start && hop.end < Time::MAX);
            }
        }
    }
}

/// A router whose circuits to `a` and `b` share a line of 4.24 Mb/s, on which a cell takes 100 us.
fn pair(a: &str, b: &str, more: &str, traffic: &[&str]) -> (Arc<Plan>, Outcome) {
    let traffic = traffic.concat();
    let plan = common::plan(&format!(
        "schema_version: 1
topology:
  nodes: [e, a, b]
  links:
    a: {{from: e, to: a, rate: 4.24 Mb/s, atm: {{line: one, vc: 1/32, phase: aligned, encapsulation: vc-mux, {a}}}}}
    b: {{from: e, to: b, rate: 4.24 Mb/s, atm: {{line: one, vc: 1/33, phase: aligned, encapsulation: vc-mux, {b}}}{more}}}
traffic:
{traffic}measurement: {{warmup: 1 s, duration: 10 s, interval: 1 s}}
"
    ));
    let (digest, of) = run(&plan, Engine::Express, false);
    assert_eq!(run(&plan, Engine::Plain, true).0, digest);
    (plan, of)
}

/// A flow to a node.
fn flow(to: &str, rate: &str, packet: u32) -> String {
    format!(
        "  - flow: {{name: {to}, from: e, to: {to}, source: {{cbr: {{rate: {rate}, packet: {packet} B}}}}}}\n"
    )
}

const CELL: f64 = 424.0;

/// Of 100,000 slots each gets half, but for a packet at each edge; the packets are 32 and 3 cells.
#[test]
fn circuits_of_a_category_share_a_line_evenly() {
    let traffic = [flow("a", "4 Mb/s", 1500), flow("b", "4 Mb/s", 100)];
    let (plan, of) = pair("", "", "", &[&traffic[0], &traffic[1]]);
    for (link, cells) in [("a", 32.0), ("b", 3.0)] {
        let carried = value(&plan, &of, Scope::Link, link, Metric::Carried);
        let off = (carried - 2.12e6).abs() * 10.0;
        assert!(off <= cells * CELL, "{link} {carried}");
    }
    let line = |metric| value(&plan, &of, Scope::AtmLine, "e/one", metric);
    assert_eq!(line(Metric::Utilization), 1.0);
    assert_eq!(line(Metric::Carried), 4.24e6);
}

/// Packets of one cell each 1.708 ms: a cell waits for one that has begun, 100 us at most, and for
/// that alone.
#[test]
fn a_constant_rate_waits_for_one_cell_of_others() {
    let traffic = [flow("a", "187.3 kb/s", 40), flow("b", "5 Mb/s", 9180)];
    let traffic = [&*traffic[0], &*traffic[1]];
    let (plan, of) = pair("contract: {cbr: {pcr: 424 kb/s}}", "", "", &traffic);
    let a = |metric| value(&plan, &of, Scope::Flow, "a", metric);
    assert_eq!(a(Metric::PacketsSent), a(Metric::PacketsReceived));
    let (least, most) = (a(Metric::OwdMin), a(Metric::OwdMax));
    assert!((100e-6..110e-6).contains(&least), "{least}");
    assert!((190e-6..=200e-6).contains(&most), "{most}");
    // Behind cells that go first it waits for good.
    let (plan, of) = pair("", "contract: {cbr: {pcr: 4.24 Mb/s}}", "", &traffic);
    let received = value(&plan, &of, Scope::Flow, "a", Metric::PacketsReceived);
    assert_eq!(received, 0.0);
}

/// A busy circuit at a constant rate of one cell in 2.5 slots has it beside one that takes what is
/// left.
#[test]
fn a_constant_rate_is_kept() {
    let traffic = [flow("a", "2 Mb/s", 1500), flow("b", "4 Mb/s", 1500)];
    let contract = "contract: {cbr: {pcr: 1.696 Mb/s}}";
    let (plan, of) = pair(contract, "", "", &[&traffic[0], &traffic[1]]);
    for (link, wanted) in [("a", 1.696e6), ("b", 4.24e6 - 1.696e6)] {
        let carried = value(&plan, &of, Scope::Link, link, Metric::Carried);
        // Cells in even steps, as packets at the edges are counted, are at most one off there.
        let off = (carried - wanted).abs() * 10.0;
        assert!(off <= 2.0 * CELL, "{link} {carried}");
    }
}

/// Cells that arrive at random, with priority and without: the waits of A. Cobham (1954) for a
/// server without preemption that takes 100 us for each. The first class waits `R / (1 - load1)`,
/// the second that divided by `1 - load`, where R is half a cell times the load. Two equal classes
/// wait as in M/D/1.
#[test]
fn random_cells_wait_as_at_a_server_with_priorities() {
    let (cell, load) = (100e-6, 0.7);
    let rest = load * cell / 2.0;
    let (ahead, alike) = (rest / (1.0 - 0.3), rest / (1.0 - load));
    let vbr = "contract: {rt-vbr: {pcr: 4.24 Mb/s, scr: 4.24 Mb/s, mbs: 1}}";
    for (contract, loads, waits) in [
        (vbr, [0.3, 0.4], [ahead, ahead / (1.0 - load)]),
        ("", [0.35, 0.35], [alike, alike]),
    ] {
        // Of 320 bits in the time of a cell.
        let [a, b] = loads.map(|share| share * 3200.0);
        let plan = common::plan(&format!(
            "schema_version: 1
topology:
  nodes: [e, a, b]
  links:
    a: {{from: e, to: a, rate: 4.24 Mb/s, atm: {{line: one, phase: aligned, encapsulation: vc-mux, {contract}}}}}
    b: {{from: e, to: b, rate: 4.24 Mb/s, atm: {{line: one, phase: aligned, encapsulation: vc-mux}}}}
traffic:
  - flow: {{name: a, from: e, to: a, source: {{poisson: {{rate: {a} kb/s, packet: 40 B}}}}}}
  - flow: {{name: b, from: e, to: b, source: {{poisson: {{rate: {b} kb/s, packet: 40 B}}}}}}
measurement: {{warmup: 100 ms, duration: 2 s, interval: 1 s}}
runs: {{count: 100, seed: 5}}
"
        ));
        let finished = common::run(&plan, 2);
        for (flow, wait) in ["a", "b"].into_iter().zip(waits) {
            let runs = common::values(&plan, &finished, Scope::Flow, flow, Metric::OwdMean);
            let interval = Interval::of(&runs, 0.9999);
            let (low, high) = (interval.low - cell, interval.high - cell);
            assert!(
                low <= wait && wait <= high,
                "{contract} {flow}: {wait} not in {low}..{high}"
            );
        }
    }
}

/// Random loss hits packets that their line has sent.
#[test]
fn circuits_of_a_line_lose_packets() {
    let traffic = [flow("a", "1 Mb/s", 1500), flow("b", "1 Mb/s", 100)];
    let loss = ", loss: {bernoulli: 10 %}";
    let (plan, of) = pair("", "", loss, &[&traffic[0], &traffic[1]]);
    let of = |name, metric| value(&plan, &of, Scope::Flow, name, metric);
    assert_eq!(of("a", Metric::LossRatio), 0.0);
    let (sent, lost) = (of("b", Metric::PacketsSent), of("b", Metric::DropsLinkLoss));
    assert_eq!(sent, of("b", Metric::PacketsReceived) + lost);
    // Four standard deviations of a binomial number.
    let off = (lost - 0.1 * sent).abs();
    assert!(off < 4.0 * (0.09 * sent).sqrt(), "{lost} of {sent}");
}

/// A label of 4 B makes the fourth cell of a packet that has three without: 125 B and 16 B of LLC
/// and AAL5. Time series are those of both engines, and a policy where packets arrive sees them.
#[test]
fn labels_and_policies_at_arrival_go_over_lines() {
    let plan = common::plan(
        "schema_version: 1
topology:
  nodes: [a, pe1, p, pe2, b, c]
  links:
    lan: {from: a, to: pe1, rate: 10 Mb/s, duplex: true}
    core: {from: pe1, to: p, rate: 2 Mb/s, delay: 1 ms, atm: {line: one}, duplex: true}
    plain: {from: pe1, to: c, rate: 2 Mb/s, delay: 1 ms, atm: {line: one}, input_policy: MARK}
    core2: {from: p, to: pe2, rate: 10 Mb/s, duplex: true}
    out: {from: pe2, to: b, rate: 10 Mb/s, duplex: true}
  mpls: {pe: [pe1, pe2], p: [p], php: false}
policies:
  MARK: {class-based: {classes: [{name: class-default, police: {rate: 300 kb/s, exceed: drop}}]}}
traffic:
  - flow: {name: b, from: a, to: b, source: {poisson: {rate: 600 kb/s, packet: 125 B}}}
  - flow: {name: c, from: a, to: c, source: {poisson: {rate: 600 kb/s, packet: 125 B}}}
measurement: {warmup: 0 s, duration: 20 s, interval: 100 ms}
",
    );
    let of = common::same_series(&plan, 3);
    for (flow, link, cells) in [("b", "core", 4.0), ("c", "plain", 3.0)] {
        let sent = value(&plan, &of, Scope::Flow, flow, Metric::PacketsSent);
        let carried = value(&plan, &of, Scope::Link, link, Metric::Carried) * 20.0;
        let whole = sent * cells * CELL;
        // What is on its way at the end, of 20 s.
        assert!(
            carried <= whole && carried > whole * 0.999,
            "{link}: {carried} {whole}"
        );
    }
    let flow = |metric| value(&plan, &of, Scope::Flow, "c", metric);
    let policed = flow(Metric::DropsPolicer);
    assert!(policed > 0.3 * flow(Metric::PacketsSent));
    assert_eq!(
        flow(Metric::PacketsSent),
        flow(Metric::PacketsReceived) + policed
    );
}

/// Where other links fail, packets have no paths ahead of them, and circuits of lines send as they
/// do otherwise.
#[test]
fn other_links_may_fail() {
    let plan = common::plan(
        "schema_version: 1
topology:
  nodes: [a, e, b, c]
  links:
    up: {from: a, to: e, rate: 10 Mb/s, duplex: true}
    spare: {from: a, to: e, rate: 5 Mb/s, cost: 5, duplex: true}
    b: {from: e, to: b, rate: 2 Mb/s, atm: {line: one, contract: {cbr: {pcr: 1 Mb/s}}}, duplex: true}
    c: {from: e, to: c, rate: 2 Mb/s, atm: {line: one}, duplex: true}
  failures:
    - {link: up, at: 3 s, repair: 6 s}
traffic:
  - flow: {name: b, from: a, to: b, source: {poisson: {rate: 700 kb/s, packet: 700 B}}}
  - flow: {name: c, from: a, to: c, tcp: {profile: linux}}
measurement: {warmup: 1 s, duration: 9 s, interval: 1 s}
",
    );
    let (digest, of) = run(&plan, Engine::Express, false);
    assert_eq!(run(&plan, Engine::Plain, false).0, digest);
    assert_eq!(run(&plan, Engine::Plain, true).0, digest);
    assert!(value(&plan, &of, Scope::Link, "spare", Metric::Carried) > 0.0);
    let line = value(&plan, &of, Scope::AtmLine, "e/one", Metric::Utilization);
    assert!(line > 0.8, "{line}");
}

/// Two circuits of a line lead to one ATM switch, and each to a site of its own behind it.
#[test]
fn circuits_to_far_ends_share_a_line_and_a_switch() {
    let circuit = |far_end: &str, kbps: u32| {
        format!(
            "{{from: e, to: s, rate: 4 Mb/s, delay: 1 ms, policy: P, atm: {{line: x, far_end: {far_end}, contract: {{cbr: {{pcr: {kbps} kb/s}}}}}}}}"
        )
    };
    let flow = |to: &str| flow(to, "2 Mb/s", 1500);
    let plan = common::plan(&format!(
        "schema_version: 1
topology:
  nodes: [e, {{name: s, atm_switch: {{}}}}, {{name: t, atm_switch: {{}}}}, a, b, c, d]
  links:
    to-a: {}
    to-b: {}
    on: {{from: s, to: t, rate: 4 Mb/s, delay: 1 ms}}
    a: {{from: s, to: a, rate: 4 Mb/s, delay: 1 ms}}
    b: {{from: t, to: b, rate: 4 Mb/s, delay: 1 ms}}
    c: {{from: a, to: c, rate: 4 Mb/s, delay: 1 ms}}
    d: {{from: b, to: d, rate: 4 Mb/s, delay: 1 ms}}
policies: {{P: {{fifo: {{limit: 9 packets}}}}}}
traffic:
{}{}measurement: {{warmup: 1 s, duration: 60 s}}
",
        circuit("a", 424),
        circuit("b", 848),
        flow("c"),
        flow("d"),
    ));
    let of = run(&plan, Engine::Express, false);
    assert_eq!(of.0, run(&plan, Engine::Plain, false).0);
    for (link, flow, bps) in [("to-a", "c", 424e3), ("to-b", "d", 848e3)] {
        // A packet of 32 cells is cut by each edge of the period.
        let off = 2.0 * 32.0 * 424.0 / 60.0;
        let carried = value(&plan, &of.1, Scope::Link, link, Metric::Carried);
        assert!((carried - bps).abs() <= off, "{link}: {carried}");
        let got = value(&plan, &of.1, Scope::Flow, flow, Metric::Throughput);
        let ip = 1500.0 / (32.0 * 53.0);
        assert!((got - bps * ip).abs() <= off, "{flow}: {got}");
    }
}
