//! What arrives at one instant comes one after another, in a drawn order, after what is served at
//! that instant: a free port sends the first of it, and a port that falls free chooses among what
//! waited before.

use crate::common;
use std::any::Any;
use std::fmt::Write;

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Dropped, Drops, Dur, Packet, Rate, Rng, Time};
use spillgate_events::{EventSet, Heap4, WinnerTree};
use spillgate_measure::table::{Metric, Scope};
use spillgate_queueing::Discipline;
use spillgate_scenario::plan::WorldPlan;
use spillgate_sim::tap::{Place, PortView, Seen, Tap};
use spillgate_sim::{Outcome, Stop, World, layout};

/// What a port is offered, sends and drops.
#[derive(Default)]
struct Log {
    offered: Vec<(Time, Packet)>,
    sent: Vec<(Time, u32, u32)>,
    lost: Vec<(Time, u32, u32)>,
}

impl Tap for Log {
    fn offered(&mut self, port: &PortView<'_>, seen: Seen<'_>) {
        if port.link == 0 {
            self.offered.push((port.now, *seen.packet));
        }
    }

    fn served(&mut self, port: &PortView<'_>, seen: Seen<'_>) {
        if port.link == 0 {
            self.sent
                .push((port.now, seen.packet.flow, seen.packet.seq));
        }
    }

    fn lost(&mut self, now: Time, place: Place, lost: &Dropped, _: Seen<'_>) {
        assert!(matches!(place, Place::Port(0, _)));
        self.lost.push((now, lost.packet.flow, lost.packet.seq));
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

fn run<S: EventSet>(world: &std::sync::Arc<WorldPlan>, sampled: bool) -> Outcome {
    let mut w = World::<S>::new(world, 3, 0, sampled);
    while w.run(u64::MAX) != Stop::Done {}
    w.outcome()
}

fn log(world: &std::sync::Arc<WorldPlan>) -> (Log, Outcome) {
    let tap: Box<dyn Tap> = Box::<Log>::default();
    let mut w = World::<WinnerTree>::tapped(world, 3, 0, false, tap);
    while w.run(u64::MAX) != Stop::Done {}
    let outcome = w.outcome();
    (
        *w.into_tap().unwrap().into_any().downcast().unwrap(),
        outcome,
    )
}

/// Voice and two packets of data come to a free port at the same instant, every 20 ms, from sources
/// at the node or over links. Voice goes first, or waits for the one packet that was drawn to come
/// before it, never for both.
#[test]
fn a_free_port_sends_what_comes_first() {
    let up = "up: {from: a, to: b, rate: 12 Mb/s, policy: P}";
    let far = "x1: {from: x, to: a, rate: 12 Mb/s, delay: 1 ms}, y1: {from: y, to: a, rate: 12 Mb/s, delay: 1 ms}, z1: {from: z, to: a, rate: 12 Mb/s, delay: 1 ms}";
    for (nodes, links) in [
        (["a", "a", "a"], up.to_owned()),
        (["x", "y", "z"], format!("{up}, {far}")),
    ] {
        let mut yaml = format!(
            "schema_version: 1\ntopology:\n  nodes: [a, b, x, y, z]\n  links: {{{links}}}\npolicies:\n  P: {{class-based: {{classes: [{{name: voice, match: {{dscp: ef}}, priority: {{}}}}]}}}}\ntraffic:\n"
        );
        for (name, from, dscp) in [
            ("voice", nodes[0], "ef"),
            ("one", nodes[1], "default"),
            ("other", nodes[2], "default"),
        ] {
            writeln!(
                yaml,
                "  - flow: {{name: {name}, from: {from}, to: b, dscp: {dscp}, source: {{cbr: {{rate: 600 kb/s, packet: 1500 B, phase: 0 s}}}}}}"
            )
            .unwrap();
        }
        yaml += "measurement: {warmup: 0 s, duration: 4 s}\nruns: {count: 1, seed: 9}\n";
        let plan = common::plan(&yaml);
        let runs = common::run(&plan, 1);
        let of = |name, metric| common::values(&plan, &runs, Scope::Flow, name, metric)[0];
        // 1 ms on each link; in ms, rounded by the histogram.
        let hops = if nodes[0] == "a" { 0.0 } else { 2.0 };
        let ms = |name, metric| (1e3 * of(name, metric) - hops).round();
        assert_eq!(
            (ms("voice", Metric::OwdMin), ms("voice", Metric::OwdMax)),
            (1.0, 2.0)
        );
        assert_eq!(
            (ms("one", Metric::OwdMin), ms("one", Metric::OwdMax)),
            (1.0, 3.0)
        );
        // Of 200 draws, voice comes first in a third: within four standard deviations.
        let waits = (1e3 * of("voice", Metric::OwdMean) - hops - 1.0) * 200.0;
        assert!(
            (waits - 400.0 / 3.0).abs() < 4.0 * (200.0_f64 * 2.0 / 9.0).sqrt(),
            "{waits}"
        );
    }
}

/// Two packets of data come at 0 to a free port that takes 1 ms for each; voice comes at 1 ms, when
/// the first has left: the second has been chosen.
#[test]
fn a_port_that_falls_free_chooses_before_arrivals() {
    let plan = common::plan(
        "schema_version: 1\ntopology:\n  nodes: [a, b]\n  links: {up: {from: a, to: b, rate: 12 Mb/s, policy: P}}\npolicies: {P: {class-based: {classes: [{name: voice, match: {dscp: ef}, priority: {}}]}}}\ntraffic:\n  - flow: {name: data, count: 2, from: a, to: b, source: {cbr: {rate: 600 kb/s, packet: 1500 B, phase: 0 s}}}\n  - flow: {name: voice, from: a, to: b, dscp: ef, source: {cbr: {rate: 600 kb/s, packet: 1500 B, phase: 1 ms}}}\nmeasurement: {warmup: 0 s, duration: 1 s}\nruns: {count: 1, seed: 9}\n",
    );
    let (log, _) = log(&plan.variants[0].world);
    assert_eq!(log.sent.len() % 3, 0);
    for (i, three) in (0_u64..).zip(log.sent.chunks(3)) {
        let at = |ms: u64| Time::ZERO + Dur::from_ms(20 * i + ms);
        assert_eq!([three[0].0, three[1].0, three[2].0], [at(0), at(1), at(2)]);
        assert_eq!(three[2].1, 2, "voice goes last");
    }
}

type Packets = Vec<(Time, u32, u32)>;

/// What a server of 1 Mb/s sends and drops that takes each packet in when it comes, and before that
/// serves until then.
fn one_by_one(mut discipline: Discipline, offered: &[(Time, Packet)]) -> (Packets, Packets) {
    let (mut sent, mut lost) = (Vec::new(), Vec::new());
    let (mut rng, mut drops) = (Rng::from_key(0), Drops::new());
    let mut free = Time::ZERO;
    let mut serve = |d: &mut Discipline, until: Time, lost: &mut Packets, rng: &mut Rng| {
        while d.backlog_packets() > 0 {
            let at = d.next_wake(free).map_or(free, |t| t.max(free));
            if at > until {
                break;
            }
            let packet = d.dequeue(at, rng, &mut drops);
            lost.extend(
                drops
                    .as_slice()
                    .iter()
                    .map(|x| (at, x.packet.flow, x.packet.seq)),
            );
            drops.clear();
            let Some(packet) = packet else { continue };
            free = at + Rate::from_bps(1_000_000).unwrap().tx_time(packet.len);
            d.transmits_until(packet.leaf, free);
            sent.push((at, packet.flow, packet.seq));
        }
        free = free.max(until);
    };
    let mut refused = Drops::new();
    for (at, packet) in offered {
        serve(&mut discipline, *at, &mut lost, &mut rng);
        discipline.enqueue(*at, *packet, &mut rng, &mut refused);
        lost.extend(
            refused
                .as_slice()
                .iter()
                .map(|x| (*at, x.packet.flow, x.packet.seq)),
        );
        refused.clear();
        serve(&mut discipline, *at, &mut lost, &mut rng);
    }
    serve(&mut discipline, Time::MAX, &mut lost, &mut rng);
    (sent, lost)
}

const POLICIES: [&str; 10] = [
    "{class-based: {classes: [{name: p, match: {dscp: ef}, priority: {limit: 2 packets}}, {name: q, match: {dscp: af11}, bandwidth: 40 %, queue_limit: 2 packets}, {name: class-default, queue_limit: 1 packets}]}}",
    "{class-based: {classes: [{name: p, match: {dscp: ef}, priority: {rate: 20 %, burst: 500 B}}, {name: q, match: {dscp: af11}, shape: {rate: 30 %, burst: 2 kB}, queue_limit: 1000 B}]}}",
    "{class-based: {classes: [{name: p, match: {dscp: ef}, priority: {rate: 10 %, police: always}}, {name: class-default, fair_queue: {hold_queue: 4}, queue_limit: 3 packets}]}}",
    "{class-based: {classes: [{name: q, match: {dscp: af11}, bandwidth: 40 %, aqm: {red: {min_th: 0.1, max_th: 3, weight: 0.4}}}, {name: class-default, aqm: {codel: {target: 1 ms, interval: 5 ms, max_packet: 0 B}}}]}}",
    "{wfq: {limit: 3 packets, hold_queue: 6 packets}}",
    "{wfq: {weights: precedence, limit: 1200 B}}",
    "{flow-wfq: {threshold: 2, hold_queue: 5}}",
    "{drr: {quantum: 300 B, limit: 5 packets}}",
    "{fq-codel: {quantum: 300 B, limit: 1500 B, target: 1 ms, interval: 5 ms}}",
    "{fan: {limit: 5 packets}}",
];

/// Flows of packets of 125 n B every m ms at 1 Mb/s: 125 B take 1 ms, so that arrivals and ends of
/// transmissions coincide all the time.
fn yaml(policy: &str, flows: &[(u32, usize, u32, usize)]) -> String {
    let mut out = format!(
        "schema_version: 1\ntopology:\n  nodes: [a, b]\n  links: {{l: {{from: a, to: b, rate: 1 Mb/s, policy: P}}}}\npolicies: {{P: {policy}}}\ntraffic:\n"
    );
    for (i, (n, period, phase, dscp)) in flows.iter().enumerate() {
        let period = [4, 5, 8, 10, 16, 20][*period];
        let (rate, dscp) = (1_000_000 * n / period, ["ef", "af11", "default"][*dscp]);
        writeln!(
            out,
            "  - flow: {{name: f{i}, from: a, to: b, dscp: {dscp}, source: {{cbr: {{rate: {rate} b/s, packet: {} B, phase: {phase} ms}}}}}}",
            125 * n
        )
        .unwrap();
    }
    out + "measurement: {warmup: 0 s, duration: 1 s}\nruns: {count: 1, seed: 3}\n"
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40 * effort()))]

    /// A whole run does what a server does that is given the same arrivals one by one, serving
    /// first at each instant; and it does the same whoever looks on.
    #[test]
    fn a_run_serves_before_the_arrivals_of_an_instant(
        flows in prop::collection::vec((1_u32..4, 0_usize..6, 0_u32..6, 0_usize..3), 2..7)
    ) {
        for policy in POLICIES {
            let plan = common::plan(&yaml(policy, &flows));
            let world = &plan.variants[0].world;
            let (log, watched) = log(world);
            let plain = run::<WinnerTree>(world, false);
            prop_assert_eq!(&plain.digest, &watched.digest, "{}", policy);
            prop_assert_eq!(&plain.digest, &run::<Heap4>(world, false).digest);
            prop_assert_eq!(&plain.digest, &run::<WinnerTree>(world, true).digest);
            let keys = layout(world).keys;
            for ((key, a), b) in keys.iter().zip(&plain.values).zip(&watched.values) {
                prop_assert_eq!(a.to_bits(), b.to_bits(), "{} {:?}", policy, key.metric);
            }
            // These draw numbers of their own.
            if policy.contains("red") || policy.contains("fq-codel") {
                continue;
            }
            let discipline = world.links[0].discipline.build(&flow_keys(world));
            let (mut sent, mut of_server) = one_by_one(discipline, &log.offered);
            let until = log.sent.last().map_or(Time::ZERO, |s| s.0);
            let n = log.sent.len();
            sent.truncate(n);
            prop_assert_eq!(sent, log.sent, "{}", policy);
            let lost = |all: &mut Vec<(Time, u32, u32)>| {
                all.retain(|l| l.0 <= until);
                all.sort_unstable();
            };
            let mut of_run = log.lost.clone();
            lost(&mut of_server);
            lost(&mut of_run);
            prop_assert_eq!(of_server, of_run, "{}", policy);
        }
    }
}

fn flow_keys(world: &WorldPlan) -> std::sync::Arc<[spillgate_core::FlowKey]> {
    world.flows.iter().map(|f| f.key).collect()
}
