//! ATM switches: cells one by one against cells that are merged, losses of AAL5 by hand, cell
//! queues with known answers, and what switches do to TCP.

use crate::common;
use std::fmt::Write as _;
use std::sync::Arc;

use proptest::prelude::*;
use spillgate_core::DropReason;
use spillgate_core::testkit::effort;
use spillgate_events::WinnerTree;
use spillgate_measure::stats::Interval;
use spillgate_measure::table::{Metric, Row, Scope};
use spillgate_scenario::plan::Plan;
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

fn value(plan: &Plan, of: &Outcome, scope: Scope, name: &str, metric: Metric) -> f64 {
    let layout = layout(&plan.variants[0].world);
    let is_it = |k: &spillgate_measure::table::Key| {
        k.scope == scope && k.metric == metric && layout.names[k.name as usize] == name
    };
    of.values[layout.keys.iter().position(is_it).unwrap()]
}

fn sum(plan: &Plan, of: &Outcome, scope: Scope, metric: Metric) -> f64 {
    let layout = layout(&plan.variants[0].world);
    let all = layout.keys.iter().zip(&of.values);
    all.filter(|(k, _)| k.scope == scope && k.metric == metric)
        .map(|(_, v)| v)
        .sum()
}

/// Two circuits on which a cell takes 10 us, and a line; `b` begins at `start`.
fn lockstep(switch: &str, out: &str, start: &str) -> (Arc<Plan>, Outcome) {
    let plan = common::plan(&format!(
        "schema_version: 1
topology:
  nodes: [a, b, d, {{name: s, atm_switch: {{{switch}}}}}]
  links:
    a: {{from: a, to: s, rate: 42.4 Mb/s, atm: {{encapsulation: vc-mux, phase: aligned}}}}
    b: {{from: b, to: s, rate: 42.4 Mb/s, atm: {{encapsulation: vc-mux, phase: aligned}}}}
    out: {{from: s, to: d, rate: {out}, delay: 1 ms}}
traffic:
  - flow: {{name: a, from: a, to: d, stop: 500 us, source: {{cbr: {{rate: 1.856 Mb/s, packet: 232 B, phase: 0 s}}}}}}
  - flow: {{name: b, from: b, to: d, start: {start}, stop: 2500 us, source: {{cbr: {{rate: 1.856 Mb/s, packet: 232 B, phase: 0 s}}}}}}
measurement: {{warmup: 0 s, duration: 10 ms, interval: 1 ms}}
"
    ));
    let (digest, of) = run(&plan, Engine::Express, false);
    assert_eq!(run(&plan, Engine::Plain, true).0, digest);
    (plan, of)
}

/// Frames of five cells. In each slot the cell of `a` comes first and takes the room that the line
/// has made, so that of the first frame of `b` only the first cell is kept. What is left of it is
/// taken for the beginning of the second, and the third is whole.
#[test]
fn a_frame_that_lost_its_last_cell_takes_the_next_with_it() {
    for (switch, received, merged) in [
        ("buffer: 1", 1.0, 1.0),
        ("buffer: 1, discard: ppd", 1.0, 1.0),
        ("buffer: 1, reassembly: ideal", 2.0, 0.0),
        ("buffer: 5, queues: per-vc", 3.0, 0.0),
        ("buffer: 5", 3.0, 0.0),
    ] {
        let (plan, of) = lockstep(switch, "42.4 Mb/s", "0 s");
        let b = |metric| value(&plan, &of, Scope::Flow, "b", metric);
        let lost = 3.0 - received - merged;
        assert_eq!(
            value(&plan, &of, Scope::Flow, "a", Metric::PacketsReceived),
            1.0,
            "{switch}"
        );
        assert_eq!(b(Metric::PacketsReceived), received, "{switch}");
        assert_eq!(b(Metric::DropsCell), lost, "{switch}");
        assert_eq!(b(Metric::DropsFrame), merged, "{switch}");
        let port = |metric| value(&plan, &of, Scope::AtmPort, "out", metric);
        assert_eq!(port(Metric::CellsOffered), 20.0, "{switch}");
        assert_eq!(port(Metric::CellsLost), 4.0 * lost, "{switch}");
        assert_eq!(port(Metric::DropsFrame), merged, "{switch}");
        // The other cells of 424 bits in 10 ms.
        let carried = (20.0 - 4.0 * lost) * 424.0 / 10e-3;
        assert!((value(&plan, &of, Scope::Link, "out", Metric::Carried) - carried).abs() < 1e-3);
        assert!((port(Metric::Carried) - carried).abs() < 1e-3);
    }
}

/// EPD loses a frame as a whole, so that nothing of it is left for the next. On a line on which a
/// cell takes 20 us the second of `a` waits when the first of `b` comes, at 35 us.
#[test]
fn early_discard_leaves_nothing_behind() {
    let switch = "buffer: 5, discard: epd, epd_threshold: 1";
    let (plan, of) = lockstep(switch, "21.2 Mb/s", "25 us");
    let b = |metric| value(&plan, &of, Scope::Flow, "b", metric);
    let all = [
        Metric::PacketsSent,
        Metric::PacketsReceived,
        Metric::DropsEpd,
        Metric::DropsCell,
        Metric::DropsFrame,
    ];
    assert_eq!(all.map(b), [3.0, 2.0, 1.0, 0.0, 0.0]);
    let lost = value(&plan, &of, Scope::AtmPort, "out", Metric::CellsLost);
    assert_eq!(lost, 5.0);
}

/// Cells beyond the contract of a circuit that its edge does not shape: at 42.4 Mb/s a cell comes
/// each 10 us, and one in 40 us conforms.
#[test]
fn what_does_not_conform_is_lost_or_tagged() {
    let scenario = |police: &str| {
        let plan = common::plan(&format!(
            "schema_version: 1
topology:
  nodes: [a, d, {{name: s, atm_switch: {{buffer: 10, {police}}}}}]
  links:
    a: {{from: a, to: s, rate: 42.4 Mb/s, atm: {{shaped: false, phase: aligned, encapsulation: vc-mux, contract: {{cbr: {{pcr: 10.6 Mb/s}}}}}}}}
    out: {{from: s, to: d, rate: 42.4 Mb/s}}
traffic:
  - flow: {{name: one, from: a, to: d, stop: 95 ms, source: {{cbr: {{rate: 320 kb/s, packet: 40 B}}}}}}
  - flow: {{name: four, from: a, to: d, start: 500 us, stop: 95 ms, source: {{cbr: {{rate: 1.472 Mb/s, packet: 184 B}}}}}}
measurement: {{warmup: 0 s, duration: 100 ms, interval: 10 ms}}
"
        ));
        let (_, of) = run(&plan, Engine::Plain, false);
        (plan, of)
    };
    // Of four cells back to back the first conforms.
    let (plan, of) = scenario("police: discard");
    let four = |metric| value(&plan, &of, Scope::Flow, "four", metric);
    assert_eq!(four(Metric::PacketsSent), four(Metric::DropsPolicer));
    let sent = four(Metric::PacketsSent);
    assert_eq!(
        value(&plan, &of, Scope::AtmPort, "out", Metric::CellsLost),
        3.0 * sent
    );
    // Its last cell is lost with each frame, and what is left takes the packet of one cell behind
    // it.
    let one = |metric| value(&plan, &of, Scope::Flow, "one", metric);
    assert_eq!(one(Metric::PacketsReceived), 1.0);
    assert_eq!(one(Metric::DropsFrame), one(Metric::PacketsSent) - 1.0);
    let (plan, of) = scenario("police: tag");
    assert_eq!(
        value(&plan, &of, Scope::Flow, "four", Metric::PacketsReceived),
        sent
    );
    assert_eq!(
        value(&plan, &of, Scope::AtmPort, "out", Metric::CellsTagged),
        3.0 * sent
    );
}

/// A packet is lost for the reason of the first of its cells that is. Of five cells of `a`, 10 us
/// apart, those at 10, 20 and 30 us do not conform; that at 40 us does, and finds the one place
/// taken: a cell of `b` waits there from 25 to 50 us.
#[test]
fn the_first_cell_that_is_lost_says_why() {
    let plan = common::plan(
        "schema_version: 1
topology:
  nodes: [a, b, d, {name: s, atm_switch: {buffer: 1, police: discard}}]
  links:
    a: {from: a, to: s, rate: 42.4 Mb/s, atm: {shaped: false, phase: aligned, encapsulation: vc-mux, contract: {cbr: {pcr: 10.6 Mb/s}}}}
    b: {from: b, to: s, rate: 42.4 Mb/s, atm: {phase: aligned, encapsulation: vc-mux}}
    out: {from: s, to: d, rate: 16.96 Mb/s}
traffic:
  - flow: {name: a, from: a, to: d, stop: 500 us, source: {cbr: {rate: 1.856 Mb/s, packet: 232 B, phase: 0 s}}}
  - flow: {name: b, from: b, to: d, start: 5 us, stop: 500 us, source: {cbr: {rate: 7.616 Mb/s, packet: 952 B, phase: 0 s}}}
measurement: {warmup: 0 s, duration: 10 ms, interval: 1 ms}
",
    );
    let (digest, of) = run(&plan, Engine::Express, false);
    assert_eq!(run(&plan, Engine::Plain, true).0, digest);
    let drops = [Metric::DropsPolicer, Metric::DropsCell];
    let a = drops.map(|m| value(&plan, &of, Scope::Flow, "a", m));
    assert_eq!(a, [1.0, 0.0]);
    // That of `b`, which conforms, is lost for want of room.
    let out = drops.map(|m| value(&plan, &of, Scope::AtmPort, "out", m));
    assert_eq!(out, [1.0, 1.0]);
}

/// N·D/D/1 at the port of a switch, each source on a circuit of its own; see `atm.rs` for the
/// formula.
fn more_work_than(x: f64, sources: u32, period: f64) -> f64 {
    let all = f64::from(sources);
    let power = |x: f64, n: u32| (0..n).map(|_| x).product::<f64>();
    let (mut sum, mut choices) = (0.0, 1.0);
    for n in 0..=sources {
        let k = f64::from(n);
        if k > x {
            let p = (k - x) / period;
            let powers = power(p, n) * power(1.0 - p, sources - n);
            sum += choices * powers * (period - all + x) / (period - k + x);
        }
        choices *= (all - k) / (k + 1.0);
    }
    sum
}

#[test]
fn cells_of_periodic_sources_wait_at_a_switch() {
    let (sources, period, steps) = (20_u32, 25.0, 200_u32);
    let mut work = 0.0;
    for i in 0..sources * steps {
        let x = |i: u32| f64::from(i) / f64::from(steps);
        let both = more_work_than(x(i), sources, period)
            + more_work_than(x(i + 1) - 1e-12, sources, period);
        work += both / 2.0 / f64::from(steps);
    }
    // Waiting cells are λ times the mean wait (Little), and the work is λ (w + 1/2), in cell times.
    let load = f64::from(sources) / period;
    let waiting = work - load / 2.0;
    let plan = common::plan(
        "schema_version: 1
topology:
  nodes: [{name: c, count: 20}, d, {name: s, atm_switch: {}}]
  links:
    in: {from: c, to: s, rate: 42.4 Mb/s, atm: {encapsulation: vc-mux, phase: aligned}}
    out: {from: s, to: d, rate: 42.4 Mb/s}
traffic:
  - flow: {name: f, count: 20, from: c, to: d, start_spread: 250 us, source: {cbr: {rate: 1.28 Mb/s, packet: 40 B}}}
measurement: {warmup: 10 ms, duration: 10 ms, interval: 1 ms}
runs: {count: 600, seed: 3}
",
    );
    let finished = common::run(&plan, 2);
    let runs = common::values(
        &plan,
        &finished,
        Scope::AtmPort,
        "out",
        Metric::BacklogCellsMean,
    );
    let interval = Interval::of(&runs, 0.9999);
    let (low, high) = (interval.low, interval.high);
    assert!(
        low <= waiting && waiting <= high,
        "{waiting} not in {low}..{high}"
    );
}

/// Ten connections with windows of 64 kB over one line of OC-3, as A. Romanow and S. Floyd had them
/// (1995): goodput over what the payload of whole packets can have of the line.
fn goodput(buffer: u32, discard: &str, mss: u32) -> f64 {
    let plan = common::plan(&format!(
        "schema_version: 1
topology:
  nodes: [{{name: c, count: 10}}, d, {{name: s, atm_switch: {{buffer: {buffer}, discard: {discard}}}}}]
  links:
    in: {{from: c, to: s, rate: 149.76 Mb/s, delay: 5 us, atm: {{}}, duplex: true}}
    out: {{from: s, to: d, rate: 149.76 Mb/s, delay: 5 us, atm: {{}}, duplex: true}}
traffic:
  - flow: {{name: f, count: 10, from: c, to: d, start_spread: 10 ms, tcp: {{profile: ns2, mss: {mss} B, max_window: 64 kB, initial_rto: 200 ms, min_rto: 1 ms, rto_granularity: 100 us}}}}
measurement: {{warmup: 2 s, duration: 4 s, interval: 100 ms}}
"
    ));
    let (_, of) = run(&plan, Engine::Express, false);
    let cells = f64::from((mss + 40 + 16).div_ceil(48));
    let most = 149.76e6 * f64::from(mss) * 8.0 / (cells * 424.0);
    value(&plan, &of, Scope::Total, "all", Metric::Goodput) / most
}

/// The published order, and that EPD keeps nine tenths of the goodput where the buffer holds
/// several packets.
#[test]
fn whole_frames_keep_the_goodput_that_lost_cells_waste() {
    for (buffer, mtu) in [(1000, 9180), (4000, 9180), (1000, 1500)] {
        let [tail, ppd, epd] = ["tail", "ppd", "epd"].map(|d| goodput(buffer, d, mtu - 40));
        let found = format!("{buffer} cells, MTU {mtu}: {tail} {ppd} {epd}");
        assert!(tail < ppd && ppd < epd && epd > 0.9, "{found}");
    }
}

const CONTRACTS: [&str; 10] = [
    "",
    "phase: aligned, encapsulation: vc-mux",
    "contract: {cbr: {pcr: 1.5 Mb/s, cdvt: 1 ms}}",
    "contract: {nrt-vbr: {pcr: 2 Mb/s, scr: 600 kb/s, mbs: 40}}",
    "shaped: false, contract: {rt-vbr: {pcr: 1.8 Mb/s, scr: 800 kb/s, mbs: 30, cdvt: 500 us}}",
    "shaped: false, phase: aligned, contract: {ubr: {pcr: 1 Mb/s}}",
    "contract: {ubr: {mdcr: 400 kb/s, cdvt: 2 ms}}",
    "contract: {gfr: {mcr: 500 kb/s, mbs: 64, mfs: 192}}",
    "contract: {gfr: {pcr: 1.5 Mb/s, mcr: 900 kb/s, mbs: 300, mfs: 33, cdvt: 100 us}}",
    "shaped: false, contract: {gfr: {pcr: 1.7 Mb/s, mcr: 200 kb/s, mbs: 40, mfs: 100, cdvt: 1 ms}}",
];

const TRAFFIC: [&str; 6] = [
    "source: {cbr: {rate: 900 kb/s, packet: 1500 B}}",
    "source: {cbr: {rate: 700 kb/s, packet: 9180 B}}",
    "source: {poisson: {rate: 800 kb/s, packet: imix}}",
    "source: {on-off: {peak: 5 Mb/s, packet: 552 B, on: 20 ms, off: 60 ms}}",
    "source: {poisson: {rate: 300 kb/s, packet: 40 B}}",
    "tcp: {profile: linux}",
];

#[derive(Clone, Debug)]
struct Net {
    /// Rate, delay in us, contract, traffic, and whether it comes to the first of two switches.
    circuits: Vec<(u32, u32, usize, usize, bool)>,
    chained: bool,
    switch: String,
    out: (u32, u32),
}

fn net(traffic: usize) -> impl Strategy<Value = Net> {
    let circuit = (
        2_u32..9,
        0_u32..3000,
        0..CONTRACTS.len(),
        0..traffic,
        any::<bool>(),
    );
    let numbers = (1_u32..400, 1_u32..=100, 1_u32..=100);
    let words = (
        0..3_usize,
        0..3_usize,
        0..3_usize,
        any::<bool>(),
        any::<bool>(),
    );
    let switch = (numbers, words).prop_map(
        |((buffer, epd, clp), (discard, queues, police, ideal, tagged))| {
            let share = |percent: u32| (buffer * percent).div_ceil(100);
            let mut s = format!(
                "buffer: {buffer}, discard: {}",
                ["tail", "ppd", "epd"][discard]
            );
            if discard == 2 {
                write!(s, ", epd_threshold: {}", share(epd)).unwrap();
            }
            if tagged {
                write!(s, ", clp_threshold: {}", share(clp)).unwrap();
            }
            write!(s, ", police: {}", ["none", "tag", "discard"][police]).unwrap();
            s += [
                "",
                ", queues: per-vc",
                ", queues: per-vc, service: priority",
            ][queues];
            if ideal {
                s += ", reassembly: ideal";
            }
            s
        },
    );
    let out = (1_u32..6, 0_u32..2000);
    (
        prop::collection::vec(circuit, 1..6),
        any::<bool>(),
        switch,
        out,
    )
        .prop_map(|(circuits, chained, switch, out)| Net {
            circuits,
            chained,
            switch,
            out,
        })
}

impl Net {
    fn plan(&self, stop: &str, measurement: &str) -> Arc<Plan> {
        let mut links = String::new();
        let mut traffic = String::new();
        let mut names = String::new();
        for (i, (rate, delay, contract, kind, first)) in self.circuits.iter().enumerate() {
            let to = if self.chained && *first { "s" } else { "t" };
            let (contract, kind) = (CONTRACTS[*contract], TRAFFIC[*kind]);
            writeln!(links, "    in{i}: {{from: c{i}, to: {to}, rate: {rate} Mb/s, delay: {delay} us, atm: {{{contract}}}, duplex: true}}").unwrap();
            writeln!(
                traffic,
                "  - flow: {{name: f{i}, {stop}from: c{i}, to: d, {kind}}}"
            )
            .unwrap();
            write!(names, "c{i}, ").unwrap();
        }
        let (rate, delay) = self.out;
        let switch = &self.switch;
        let chain = "    trunk: {from: s, to: t, rate: 3 Mb/s, delay: 700 us, duplex: true}\n";
        common::plan(&format!(
            "schema_version: 1
topology:
  nodes: [{names}d, {{name: s, atm_switch: {{{switch}}}}}, {{name: t, atm_switch: {{{switch}}}}}]
  links:
{links}{}    out: {{from: t, to: d, rate: {rate} Mb/s, delay: {delay} us, atm: {{}}, duplex: true}}
traffic:
{traffic}measurement: {{{measurement}}}
",
            if self.chained { chain } else { "" }
        ))
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64 * effort()))]

    /// Cells as events, on the plain engine, and cells that are taken together between events, with
    /// and without a tap.
    #[test]
    fn merged_cells_are_cells(net in net(TRAFFIC.len())) {
        let plan = net.plan("", "warmup: 137 ms, duration: 900 ms, interval: 50 ms");
        let (digest, values) = run(&plan, Engine::Plain, false);
        for tapped in [false, true] {
            let (found, of) = run(&plan, Engine::Express, tapped);
            prop_assert_eq!(&found, &digest);
            let bits = |v: &Row| -> Vec<u64> { v.iter().map(|x| x.to_bits()).collect() };
            prop_assert_eq!(bits(&of.values), bits(&values.values));
        }
    }

    /// Every packet arrives or is lost at one place for one reason; every cell that comes to a port
    /// is sent or lost.
    #[test]
    fn packets_and_cells_are_conserved(net in net(TRAFFIC.len() - 1)) {
        let plan = net.plan("stop: 1 s, ", "warmup: 0 s, duration: 60 s, interval: 1 s");
        let (_, of) = run(&plan, Engine::Express, false);
        let total = |metric| sum(&plan, &of, Scope::Flow, metric);
        prop_assert_eq!(total(Metric::Unresolved), 0.0);
        let mut lost = 0.0;
        for reason in DropReason::ALL {
            let metric = Metric::drops(reason);
            let places = [Scope::Queue, Scope::AtmPort].map(|scope| sum(&plan, &of, scope, metric));
            prop_assert_eq!(total(metric), places.iter().sum::<f64>(), "{}", metric.name());
            lost += total(metric);
        }
        prop_assert_eq!(total(Metric::PacketsSent), total(Metric::PacketsReceived) + lost);
        for link in plan.variants[0].world.holding.iter().flat_map(|h| &h.declared.serves) {
            let name = &plan.variants[0].world.links[*link as usize].name;
            let port = |metric| value(&plan, &of, Scope::AtmPort, name, metric);
            let sent = port(Metric::Carried) * 60.0 / 424.0;
            let came = port(Metric::CellsOffered) - port(Metric::CellsLost);
            prop_assert!((sent - came).abs() < 1e-3, "{name}: {sent} {came}");
        }
    }
}

/// Four circuits send a frame of 32 cells each at once to a line as fast as theirs: three of four
/// cells wait.
#[test]
fn waiting_cells_are_sampled() {
    let plan = common::plan(
        "schema_version: 1
topology:
  nodes: [{name: h, count: 4}, {name: s, atm_switch: {}}, d]
  links:
    in: {from: h, to: s, rate: 42.4 Mb/s, delay: 0 s, atm: {phase: aligned}}
    out: {from: s, to: d, rate: 42.4 Mb/s, delay: 0 s}
traffic: [{flow: {name: f, count: 4, from: h, to: d, source: {cbr: {rate: 1 Mb/s, packet: 1500 B, phase: 0 s}}}}]
measurement: {warmup: 0 s, duration: 3 ms, interval: 105 us, series: [out]}
runs: {count: 1, seed: 1}
"
    );
    let of = common::same_series(&plan, 1);
    let curve = of.series.iter().find(|c| c.metric == "backlog_cells");
    let curve = curve.expect("it is sampled");
    assert_eq!((&*curve.place, curve.unit()), ("out", "cells"));
    // A cell takes 10 us, also at the edge.
    let wanted = |i: u64| {
        let now = 105 * (i + 1);
        let came = 4 * (now / 10).min(32);
        let begun = if came == 0 { 0 } else { (now / 10).min(128) };
        came - begun
    };
    let waiting: Vec<u64> = curve.v.iter().map(|v| *v as u64).collect();
    let all: Vec<u64> = (0..waiting.len() as u64).map(wanted).collect();
    assert_eq!(waiting, all);
    assert!(all.iter().any(|n| *n > 80));
    assert!(of.series.iter().all(|c| c.metric != "backlog_packets"));
}
