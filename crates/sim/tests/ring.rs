//! Transmit rings: packets that have left the queues and wait in order for the line, whatever their
//! class.

use crate::common;
use std::sync::Arc;

use spillgate_core::{Dur, Time};
use spillgate_events::WinnerTree;
use spillgate_measure::table::{Metric, Scope};
use spillgate_scenario::key::Keys;
use spillgate_scenario::plan::Plan;
use spillgate_sim::explain::{Fate, Hop, Question, Relation, explain};
use spillgate_sim::{Engine, Outcome, Stop, World, layout};

fn us(n: u64) -> Dur {
    Dur::from_us(n)
}

/// What happened at the port to the one packet of a flow, and when it arrived.
#[track_caller]
fn hop_of(plan: &Plan, flow: &str) -> (Hop, Time) {
    let world = &plan.variants[0].world;
    let of = world.flows.iter().position(|f| &*f.name == flow);
    let question = Question {
        groups: vec![vec![of.expect(flow) as u32]],
        worst: 1,
        ..Question::default()
    };
    let answer = explain(world, plan.seed, 0, &question, &|| false).expect("not cancelled");
    let journey = answer.packets[0].first().expect("a packet");
    let Fate::Received(at) = journey.fate else {
        panic!("{journey:?}")
    };
    assert_eq!(journey.hops[0].explained(), journey.hops[0].waited());
    (journey.hops[0].clone(), at)
}

/// LLQ at 12 Mb/s, which send 1500 B in a millisecond: ten packets of `bulk` come at 0, one of
/// 150 B of `call` at 0.5 ms.
fn burst(ring: &str) -> Arc<Plan> {
    common::plan(&format!(
        "
schema_version: 1
topology:
  nodes: [a, b]
  links: {{wan: {{from: a, to: b, rate: 12 Mb/s, delay: 0 s, policy: Q{ring}}}}}
policies:
  Q:
    class-based:
      classes:
        - {{name: voice, match: {{dscp: ef}}, priority: {{rate: 50 %}}}}
        - {{name: data, match: {{dscp: af21}}, bandwidth: 30 %}}
traffic:
  - flow: {{name: bulk, count: 10, dscp: af21, from: a, to: b, stop: 1 ms, source: {{cbr: {{rate: 12 kb/s, packet: 1500 B, phase: 0 s}}}}}}
  - flow: {{name: call, class: call, dscp: ef, from: a, to: b, stop: 1 ms, source: {{cbr: {{rate: 12 kb/s, packet: 150 B, phase: 500 us}}}}}}
measurement: {{warmup: 0 s, duration: 1 s}}
runs: {{count: 1, seed: 5}}
"
    ))
}

/// With three packets in the ring the first is on the line until 1 ms and two are behind it. Then
/// the ring takes the call, before the seven that are still queued; it leaves from 3 to 3.1 ms.
#[test]
fn a_priority_packet_waits_for_what_is_in_the_ring() {
    let (hop, at) = hop_of(&burst(", tx_ring: 3 packets"), "call");
    let residual = hop.residual.expect("a packet on the line");
    assert_eq!((residual.leaf, residual.time), (1, us(500)));
    let [before] = hop.served[..] else {
        panic!("{hop:?}")
    };
    assert_eq!(
        (before.relation, before.leaf, before.packets, before.time),
        (Relation::Ring, 1, 2, us(2000))
    );
    assert_eq!(hop.ringed, Some(Time::ZERO + us(1000)));
    assert_eq!((hop.in_ring(), hop.waited()), (us(2000), us(2500)));
    assert_eq!(at, Time::ZERO + us(3100));
}

/// The departures of all packets, worked out by hand: with a ring of three the call is the fourth.
#[test]
fn the_ring_leaves_in_order() {
    let plan = burst(", tx_ring: 3 packets");
    // From 0 to 3 ms the three that came first, the call, then the others in turn.
    let mut departures: Vec<u64> = (1..=3).map(|i| 1000 * i).collect();
    departures.push(3100);
    departures.extend((1..=7).map(|i| 3100 + 1000 * i));
    let flows = (0..10).map(|i| format!("bulk-{i}"));
    let mut found: Vec<u64> = flows
        .chain(["call".to_owned()])
        .map(|flow| hop_of(&plan, &flow).1.since(Time::ZERO).as_ps() / 1_000_000)
        .collect();
    found.sort_unstable();
    assert_eq!(found, departures);
}

/// With n packets in the ring the call waits for the rest of one and for n - 1, as far as there are
/// so many.
#[test]
fn the_wait_grows_with_the_ring() {
    for n in [1_u64, 2, 3, 5, 8, 10, 11, 64] {
        let (hop, _) = hop_of(&burst(&format!(", tx_ring: {n} packets")), "call");
        assert_eq!(hop.waited(), us(500 + 1000 * (n - 1).min(9)), "{n}");
    }
}

fn outcome(plan: &Plan, engine: Engine) -> Outcome {
    let world = &plan.variants[0].world;
    let mut world = World::<WinnerTree>::on(engine, world, plan.seed, 0, true);
    while world.run(u64::MAX) != Stop::Done {}
    assert_eq!(world.fault(), None);
    world.outcome()
}

/// Values by scope and metric, of flows and classes of service: not of queues, which a ring
/// shortens.
fn of_flows(plan: &Plan, of: &Outcome) -> Vec<(String, u64)> {
    let layout = layout(&plan.variants[0].world);
    let values = layout.keys.iter().zip(&of.values);
    values
        .filter(|(k, _)| matches!(k.scope, Scope::Flow | Scope::Class | Scope::Total))
        .map(|(k, v)| (format!("{} {:?}", layout.name(k), k.metric), v.to_bits()))
        .collect()
}

/// Random arrivals above the rate of the line.
fn overload(policy: &str, more: &str) -> Arc<Plan> {
    common::plan(&format!(
        "
schema_version: 1
topology:
  nodes: [a, b, c]
  links:
    in: {{from: a, to: b, rate: 40 Mb/s, delay: 10 us}}
    wan: {{from: b, to: c, rate: 10 Mb/s, delay: 1 ms, policy: Q{more}}}
policies: {{Q: {policy}}}
traffic:
  - flow: {{name: v, dscp: ef, from: a, to: c, source: {{poisson: {{rate: 1 Mb/s, packet: 200 B}}}}}}
  - flow: {{name: d, dscp: af11, from: a, to: c, source: {{poisson: {{rate: 6 Mb/s, packet: imix}}}}}}
  - flow: {{name: n, from: b, to: c, source: {{on-off: {{peak: 9 Mb/s, packet: 1000 B, on: 20 ms, off: 30 ms}}}}}}
measurement: {{warmup: 100 ms, duration: 2 s, interval: 50 ms}}
runs: {{count: 1, seed: 7}}
"
    ))
}

/// Tail drop in packets does not see where they wait: a queue of L packets before a ring of n is
/// one of L + n - 1.
#[test]
fn a_ring_lengthens_a_fifo_by_what_waits_in_it() {
    for (ring, queue) in [(2, 10), (4, 30), (64, 1)] {
        let with = overload(
            &format!("{{fifo: {{limit: {queue} packets}}}}"),
            &format!(", tx_ring: {ring} packets"),
        );
        let longer = format!("{{fifo: {{limit: {} packets}}}}", queue + ring - 1);
        let without = overload(&longer, "");
        let [a, b] = [&with, &without].map(|plan| outcome(plan, Engine::Express));
        assert_eq!(a.digest, b.digest, "{ring}");
        assert_eq!(of_flows(&with, &a), of_flows(&without, &b), "{ring}");
        // What waits is the same, in the mean and at its peak, and in every sample.
        for (of, plan) in [(&a, &with), (&b, &without)] {
            let layout = layout(&plan.variants[0].world);
            let at = |metric| {
                let wanted = |k: &&spillgate_measure::table::Key| {
                    k.scope == Scope::Queue && layout.name(k) == "wan/fifo" && k.metric == metric
                };
                let at = layout.keys.iter().position(|k| wanted(&k)).unwrap();
                of.values[at]
            };
            let peak = at(Metric::BacklogPacketsMax);
            assert_eq!(peak, f64::from(queue + ring - 1), "{ring}");
        }
        for (x, y) in a.series.iter().zip(&b.series) {
            assert_eq!((&x.place, &x.metric, &x.v), (&y.place, &y.metric, &y.v));
        }
    }
}

/// A ring of one packet is the line itself: same key, same bytes.
#[test]
fn a_ring_of_one_packet_is_none() {
    let policy = "{class-based: {classes: [{name: v, match: {dscp: ef}, priority: {rate: 5 %}}, {name: d, match: {dscp: af11}, bandwidth: 40 %, aqm: {wred: {}}}]}}";
    let plans = ["", ", tx_ring: 1 packet"].map(|ring| overload(policy, ring));
    let keys = plans
        .each_ref()
        .map(|p| Keys::default().of(&p.variants[0].world));
    assert_eq!(keys[0], keys[1]);
    for engine in [Engine::Plain, Engine::Express] {
        let [a, b] = plans.each_ref().map(|p| outcome(p, engine));
        assert_eq!(a.digest, b.digest);
        let bits = |o: &Outcome| o.values.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&a), bits(&b));
    }
    let longer = overload(policy, ", tx_ring: 2 packets");
    assert_ne!(keys[0], Keys::default().of(&longer.variants[0].world));
    assert_ne!(
        outcome(&longer, Engine::Plain).digest,
        outcome(&plans[0], Engine::Plain).digest
    );
}

/// Four packets of a priority class come at once, with tokens for one of them. Packets are queued,
/// so that the policer acts, only behind a full ring: the last finds none queued with four places
/// or more, and the one after the first of the queue is dropped. A policer that always acts takes
/// one in any case.
#[test]
fn a_policer_of_a_priority_class_waits_for_the_ring_to_be_full() {
    let lost = |ring: u32, police: &str| {
        let plan = common::plan(&format!(
            "
schema_version: 1
topology:
  nodes: [a, b]
  links: {{wan: {{from: a, to: b, rate: 12 Mb/s, policy: Q, tx_ring: {ring} packets}}}}
policies: {{Q: {{class-based: {{classes: [{{name: v, match: {{dscp: ef}}, priority: {{rate: 8 kb/s, burst: 1500 B{police}}}}}]}}}}}}
traffic:
  - flow: {{name: v, count: 4, dscp: ef, from: a, to: b, stop: 1 ms, source: {{cbr: {{rate: 12 kb/s, packet: 1500 B, phase: 0 s}}}}}}
measurement: {{warmup: 0 s, duration: 1 s}}
"
        ));
        common::values(
            &plan,
            &common::run(&plan, 1),
            Scope::Total,
            "all",
            Metric::DropsPolicer,
        )[0]
    };
    for (ring, dropped) in [(1, 2.0), (2, 1.0), (3, 0.0), (4, 0.0), (64, 0.0)] {
        assert_eq!(lost(ring, ""), dropped, "{ring}");
        assert_eq!(lost(ring, ", police: always"), 3.0, "{ring}");
    }
}

/// A shaper gives a packet to the ring when its tokens are there, also while the line is busy.
#[test]
fn a_shaper_releases_into_the_ring() {
    let plan = common::plan(
        "
schema_version: 1
topology:
  nodes: [a, b]
  links: {wan: {from: a, to: b, rate: 12 Mb/s, policy: Q, tx_ring: 3 packets}}
policies:
  Q: {class-based: {classes: [{name: slow, match: {dscp: af11}, shape: {rate: 8 Mb/s, burst: 1500 B}}]}}
traffic:
  - flow: {name: first, dscp: af11, from: a, to: b, stop: 1 ms, source: {cbr: {rate: 12 kb/s, packet: 1500 B, phase: 0 s}}}
  - flow: {name: second, dscp: af11, from: a, to: b, stop: 1 ms, source: {cbr: {rate: 12 kb/s, packet: 1500 B, phase: 100 us}}}
  - flow: {name: other, from: a, to: b, stop: 2 ms, source: {cbr: {rate: 12 kb/s, packet: 1500 B, phase: 1200 us}}}
measurement: {warmup: 0 s, duration: 1 s}
",
    );
    // Its tokens are there at 1.5 ms, in the middle of the packet of `other`, which is on the line
    // from 1.2 to 2.2 ms.
    let (hop, at) = hop_of(&plan, "second");
    assert_eq!(hop.ringed, Some(Time::ZERO + us(1500)));
    assert_eq!((hop.in_ring(), hop.idle), (us(700), us(200)));
    assert_eq!(at, Time::ZERO + us(3200));
}

/// What is in the ring of a link that fails is lost with it, and counted: one on the line, two in
/// the ring, seven queued.
#[test]
fn a_failure_loses_what_is_in_the_ring() {
    let yaml = "
schema_version: 1
topology:
  nodes: [a, b]
  links: {wan: {from: a, to: b, rate: 12 Mb/s, policy: Q, tx_ring: 3 packets}}
  failures: [{link: wan, at: 3500 us, repair: 10 ms}]
policies: {Q: {class-based: {classes: [{name: d, match: {dscp: af21}, bandwidth: 30 %}]}}}
traffic:
  - flow: {name: bulk, count: 10, dscp: af21, from: a, to: b, stop: 1 ms, source: {cbr: {rate: 12 kb/s, packet: 1500 B, phase: 0 s}}}
  - flow: {name: later, dscp: af21, from: a, to: b, start: 20 ms, stop: 21 ms, source: {cbr: {rate: 12 kb/s, packet: 1500 B, phase: 0 s}}}
measurement: {warmup: 0 s, duration: 1 s}
";
    let plan = common::plan(yaml);
    for engine in [Engine::Plain, Engine::Express] {
        let of = outcome(&plan, engine);
        let layout = layout(&plan.variants[0].world);
        let value = |scope, name: &str, metric| {
            let wanted = |k: &&spillgate_measure::table::Key| {
                k.scope == scope && layout.name(k) == name && k.metric == metric
            };
            of.values[layout.keys.iter().position(|k| wanted(&k)).unwrap()]
        };
        for (scope, name) in [(Scope::Total, "all"), (Scope::Queue, "wan/d")] {
            // Three had arrived and the fourth was on the line.
            assert_eq!(value(scope, name, Metric::DropsLinkDown), 7.0);
        }
        assert_eq!(value(Scope::Queue, "wan/d", Metric::PacketsOffered), 11.0);
        assert_eq!(value(Scope::Queue, "wan/d", Metric::BacklogPacketsMax), 9.0);
    }
}
