//! Where delays went and why packets were dropped: small cases worked out by hand, and laws for
//! any policy.

use crate::common;
use std::sync::Arc;

use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{DropReason, Dur, Time};
use spillgate_measure::table::{Metric, Scope};
use spillgate_queueing::Cause;
use spillgate_scenario::plan::{Plan, WorldPlan};
use spillgate_sim::explain::{Answer, Fate, Hop, Journey, Question, Relation, explain};
use spillgate_sim::tap::Place;

/// The worst packets and the drops of the named flow.
#[track_caller]
fn ask(plan: &Plan, flow: &str, more: impl FnOnce(&mut Question)) -> Answer {
    let world = &plan.variants[0].world;
    let of = world
        .flows
        .iter()
        .position(|f| &*f.name == flow)
        .expect(flow);
    let mut question = Question {
        groups: vec![vec![of as u32]],
        worst: 5,
        drops: 5,
        ..Question::default()
    };
    more(&mut question);
    explain(world, plan.seed, 0, &question, &|| false).expect("not cancelled")
}

/// The digest without a tap.
fn untapped(plan: &Arc<Plan>) -> String {
    common::run(plan, 1)[0].outcome.digest.clone()
}

/// The parts of a packet's delay add up, hop by hop and in all.
#[track_caller]
fn adds_up(world: &WorldPlan, j: &Journey) {
    let Fate::Received(at) = j.fate else {
        panic!("{j:?}")
    };
    let mut now = j.sent;
    for hop in &j.hops {
        assert_eq!(hop.arrived, now);
        assert_eq!(hop.explained(), hop.waited(), "{hop:?}");
        now = hop.end + world.links[hop.link as usize].delay;
    }
    assert_eq!(now, at);
}

/// Leaf, length and time of the rest of the packet on the wire.
#[track_caller]
fn rest(hop: &Hop) -> (u16, u32, Dur) {
    let r = hop.residual.expect("a packet on the wire");
    (r.leaf, r.bytes, r.time)
}

fn us(n: u64) -> Dur {
    Dur::from_us(n)
}

/// 12 Mb/s send 1500 B in a millisecond. At 0 s a burst of 3 packets comes from `bulk`, at 0.5 ms
/// one of `call`: it finds 0.5 ms of the first and two behind it.
#[test]
fn a_fifo_makes_a_packet_wait_for_those_before_it() {
    let plan = common::plan(
        "
schema_version: 1
topology:
  nodes: [a, b]
  links: {wan: {from: a, to: b, rate: 12 Mb/s, delay: 7 ms, policy: Q}}
policies: {Q: {fifo: {limit: 10 packets}}}
traffic:
  - flow: {name: bulk, count: 3, class: bulk, from: a, to: b, stop: 1 ms, source: {cbr: {rate: 12 kb/s, packet: 1500 B, phase: 0 s}}}
  - flow: {name: call, class: call, from: a, to: b, stop: 1 ms, source: {cbr: {rate: 12 kb/s, packet: 150 B, phase: 500 us}}}
measurement: {warmup: 0 s, duration: 1 s}
runs: {count: 1, seed: 5}
",
    );
    let answer = ask(&plan, "call", |_| {});
    assert_eq!(answer.digest, untapped(&plan));
    let [group] = &answer.packets[..] else {
        panic!()
    };
    let [packet] = &group[..] else {
        panic!("{group:?}")
    };
    adds_up(&plan.variants[0].world, packet);
    let [hop] = &packet.hops[..] else { panic!() };
    assert_eq!(rest(hop), (0, 1500, us(500)));
    // The queue is one, the classes of service are two: `bulk` comes first in the scenario.
    assert_eq!(hop.residual.map(|r| r.class), Some(0));
    assert_eq!(hop.found, (2, 3000));
    let [served] = hop.served[..] else {
        panic!("{hop:?}")
    };
    assert_eq!(
        (
            served.relation,
            served.class,
            served.packets,
            served.bytes,
            served.time
        ),
        (Relation::Ahead, 0, 2, 3000, us(2000))
    );
    assert_eq!(hop.idle, Dur::ZERO);
    assert_eq!(hop.waited(), us(2500));
    assert_eq!(hop.end.since(hop.start), us(100));
    assert_eq!(
        packet.fate,
        Fate::Received(Time::ZERO + us(500 + 2500 + 100 + 7000))
    );
}

/// LLQ before CBWFQ at 12 Mb/s. `data` comes at 0 with four packets: one is sent until 1 ms. A
/// priority packet of 1500 B comes at 0.5 ms and one of 750 B at 1.2 ms: the last packet of
/// `data` lets both go before it, and its own three.
const LLQ: &str = "
schema_version: 1
topology:
  nodes: [a, b]
  links: {wan: {from: a, to: b, rate: 12 Mb/s, delay: 0 s, policy: Q}}
policies:
  Q:
    class-based:
      classes:
        - {name: voice, match: {dscp: ef}, priority: {rate: 50 %}}
        - {name: data, match: {dscp: af21}, bandwidth: 30 %}
traffic:
  - flow: {name: data, count: 4, dscp: af21, from: a, to: b, stop: 1 ms, source: {cbr: {rate: 12 kb/s, packet: 1500 B, phase: 0 s}}}
  - flow: {name: long, class: voice, dscp: ef, from: a, to: b, stop: 1 ms, source: {cbr: {rate: 12 kb/s, packet: 1500 B, phase: 500 us}}}
  - flow: {name: short, class: voice, dscp: ef, from: a, to: b, stop: 2 ms, source: {cbr: {rate: 6 kb/s, packet: 750 B, phase: 1200 us}}}
measurement: {warmup: 0 s, duration: 1 s}
runs: {count: 1, seed: 5}
";

#[test]
fn priority_goes_before_the_scheduler_s_classes() {
    let plan = common::plan(LLQ);
    let world = &plan.variants[0].world;
    let all: Vec<u32> = (0..4).collect();
    let answer = ask(&plan, "data-0", |q| q.groups = vec![all]);
    assert_eq!(answer.digest, untapped(&plan));
    let worst = &answer.packets[0][0];
    adds_up(world, worst);
    let hop = &worst.hops[0];
    // Which of the four came first at instant 0 is drawn; the last one found all others there.
    assert_eq!(rest(hop), (1, 1500, us(1000)));
    let parts: Vec<_> = hop
        .served
        .iter()
        .map(|s| (s.leaf, s.relation, s.packets, s.bytes, s.time))
        .collect();
    assert_eq!(
        parts,
        [
            (0, Relation::Priority, 2, 2250, us(1500)),
            (1, Relation::Ahead, 2, 3000, us(2000)),
        ]
    );
    // A priority packet waits for the packet on the wire only.
    let answer = ask(&plan, "short", |_| {});
    let hop = &answer.packets[0][0].hops[0];
    assert_eq!(rest(hop), (0, 1500, us(800)));
    assert!(hop.served.is_empty() && hop.idle == Dur::ZERO);
}

/// A class shaped to 1.2 Mb/s with a burst of one packet: the second packet of 1500 B waits until
/// 10 ms after the first was sent, which took 1 ms of it.
#[test]
fn a_shaper_keeps_the_server_idle() {
    let plan = common::plan(
        "
schema_version: 1
topology:
  nodes: [a, b]
  links: {wan: {from: a, to: b, rate: 12 Mb/s, delay: 0 s, policy: Q}}
policies:
  Q: {class-based: {classes: [{name: slow, match: {dscp: af11}, shape: {rate: 1.2 Mb/s, burst: 1500 B}}]}}
traffic:
  - flow: {name: slow, count: 2, dscp: af11, from: a, to: b, stop: 1 ms, source: {cbr: {rate: 12 kb/s, packet: 1500 B, phase: 0 s}}}
  - flow: {name: other, from: a, to: b, stop: 5 ms, source: {cbr: {rate: 12 kb/s, packet: 1500 B, phase: 4 ms}}}
measurement: {warmup: 0 s, duration: 1 s}
runs: {count: 1, seed: 5}
",
    );
    let answer = ask(&plan, "slow-0", |q| q.groups = vec![vec![0, 1]]);
    let worst = &answer.packets[0][0];
    adds_up(&plan.variants[0].world, worst);
    let hop = &worst.hops[0];
    assert_eq!(rest(hop), (0, 1500, us(1000)));
    // From 1 to 10 ms, but for the packet of `class-default` from 4 to 5 ms.
    assert_eq!(hop.idle, us(8000));
    let [other] = hop.served[..] else {
        panic!("{hop:?}")
    };
    assert_eq!(
        (other.relation, other.held, other.time),
        (Relation::Turn, true, us(1000))
    );
    assert_eq!(hop.waited(), us(10_000));
}

/// A policer of 12 kb/s with a burst of 1500 B: the first packet spends it, the second, 100 ms
/// later, finds 150 B.
#[test]
fn a_policer_says_how_full_its_bucket_was() {
    let plan = common::plan(
        "
schema_version: 1
topology:
  nodes: [a, b]
  links: {wan: {from: a, to: b, rate: 12 Mb/s, delay: 0 s, policy: Q}}
policies:
  Q: {class-based: {classes: [{name: c, match: {dscp: af11}, police: {rate: 12 kb/s, burst: 1500 B}}]}}
traffic:
  - flow: {name: f, dscp: af11, from: a, to: b, stop: 150 ms, source: {cbr: {rate: 120 kb/s, packet: 1500 B, phase: 0 s}}}
measurement: {warmup: 0 s, duration: 1 s}
runs: {count: 1, seed: 5}
",
    );
    let answer = ask(&plan, "f", |_| {});
    let [group] = &answer.drops[0][..] else {
        panic!("{answer:?}")
    };
    assert_eq!((group.reason, group.packets), (DropReason::Policer, 1));
    let lost = group.first[0].lost;
    assert_eq!(lost.at, Time::ZERO + Dur::from_ms(100));
    let Place::Port(0, evidence) = lost.place else {
        panic!()
    };
    let Cause::Policer {
        committed: bucket,
        excess: None,
    } = evidence.cause
    else {
        panic!("{evidence:?}")
    };
    assert_eq!(
        (bucket.tokens, bucket.burst, bucket.bps),
        (150, 1500, 12_000)
    );
}

/// The same where packets arrive: no queue has a part in it.
#[test]
fn a_policer_at_arrival_says_which_class_and_how_full_its_bucket_was() {
    let plan = common::plan(
        "
schema_version: 1
topology:
  nodes: [a, b]
  links: {wan: {from: a, to: b, rate: 12 Mb/s, delay: 0 s, input_policy: Q}}
policies:
  Q: {class-based: {classes: [{name: d, match: {dscp: ef}}, {name: c, match: {dscp: af11}, police: {rate: 12 kb/s, burst: 1500 B}}]}}
traffic:
  - flow: {name: f, dscp: af11, from: a, to: b, stop: 150 ms, source: {cbr: {rate: 120 kb/s, packet: 1500 B, phase: 0 s}}}
measurement: {warmup: 0 s, duration: 1 s}
runs: {count: 1, seed: 5}
",
    );
    let answer = ask(&plan, "f", |_| {});
    let [group] = &answer.drops[0][..] else {
        panic!("{answer:?}")
    };
    assert_eq!((group.reason, group.packets), (DropReason::Policer, 1));
    let lost = group.first[0].lost;
    // Sent at 100 ms, on the wire for 1 ms.
    assert_eq!(lost.at, Time::ZERO + Dur::from_ms(101));
    let Place::Input(0, 1, evidence) = lost.place else {
        panic!("{lost:?}")
    };
    let Cause::Policer { committed, .. } = evidence.cause else {
        panic!("{evidence:?}")
    };
    assert_eq!((committed.tokens, committed.burst), (150, 1500));
}

/// A marker whose average rate is far above its committed rate says which, and what it drew.
#[test]
fn a_marker_that_drops_says_the_average_rate() {
    let plan = common::plan(
        "
schema_version: 1
topology:
  nodes: [a, b]
  links: {wan: {from: a, to: b, rate: 12 Mb/s, delay: 0 s, policy: Q}}
policies:
  Q: {class-based: {classes: [{name: c, match: {dscp: af11}, police: {rate: 1 b/s, window: 100 ms}}]}}
traffic:
  - flow: {name: f, dscp: af11, from: a, to: b, stop: 50 ms, source: {cbr: {rate: 120 kb/s, packet: 1500 B, phase: 0 s}}}
measurement: {warmup: 0 s, duration: 1 s}
runs: {count: 1, seed: 5}
",
    );
    let answer = ask(&plan, "f", |_| {});
    let [group] = &answer.drops[0][..] else {
        panic!("{answer:?}")
    };
    let Place::Port(0, evidence) = group.first[0].lost.place else {
        panic!()
    };
    let Cause::Marker(marker) = evidence.cause else {
        panic!("{evidence:?}")
    };
    // One packet of 1500 B in 100 ms, above 1 b/s.
    assert!((marker.average - 120_001.0).abs() < 1e-6);
    assert_eq!((marker.committed, marker.peak), (1, None));
    assert!(marker.draw.is_some_and(|u| u < 120_000.0 / 120_001.0));
}

#[test]
fn a_full_queue_says_how_full() {
    let plan =
        common::plan(&LLQ.replace("bandwidth: 30 %", "bandwidth: 30 %, queue_limit: 2 packets"));
    let answer = ask(&plan, "data-0", |q| q.groups = vec![(0..4).collect()]);
    let [group] = &answer.drops[0][..] else {
        panic!("{answer:?}")
    };
    assert_eq!(
        (group.reason, group.packets, group.link, group.leaf),
        (DropReason::Tail, 1, Some(0), 1)
    );
    let Place::Port(0, evidence) = group.first[0].lost.place else {
        panic!()
    };
    assert_eq!((evidence.queue_packets, evidence.queue_bytes), (2, 3000));
    assert_eq!(evidence.limit.packets, Some(2));
    assert_eq!(evidence.cause, Cause::Plain);
}

/// Random classes under random load: whatever the policy, the parts of each packet's wait add up
/// and the tap leaves the run as it is.
fn policies() -> impl Strategy<Value = String> {
    let aqm = prop_oneof![
        Just(""),
        Just(", aqm: {wred: {exponential_weighting_constant: 2}}"),
        Just(", aqm: {red: {weight: 0.2}}"),
        Just(", fair_queue: {threshold: 8}"),
    ];
    let shape = prop_oneof![
        Just(""),
        Just(", shape: {rate: 2 Mb/s}"),
        Just(", shape: {rate: 6 Mb/s}")
    ];
    let priority = prop_oneof![
        Just("priority: {rate: 10 %}"),
        Just("priority: {}"),
        Just("bandwidth: 10 %"),
    ];
    let tree = (priority, aqm, shape).prop_map(|(priority, aqm, shape)| {
        format!(
            "{{class-based: {{classes: [
               {{name: v, match: {{dscp: ef}}, {priority}}},
               {{name: d, match: {{dscp: [af11, af12]}}, bandwidth: 40 %{aqm}{shape}}},
               {{name: n, match: {{dscp: cs1}}, shape: {{rate: 5 Mb/s}}, policy: inner}}]}}}}"
        )
    });
    prop_oneof![
        3 => tree,
        1 => Just("{fifo: {limit: 20 packets}}".to_owned()),
        1 => Just("{wfq: {}}".to_owned()),
        1 => Just("{flow-wfq: {}}".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24 * effort()))]

    #[test]
    fn the_parts_sum_to_the_delay(policy in policies(), load in 2_u32..8, seed in 0_u32..1000, ring in 0_usize..6) {
        let ring = common::ring(ring);
        let plan = common::plan(&format!("
schema_version: 1
topology:
  nodes: [a, b, c]
  links:
    lan: {{from: a, to: b, rate: 40 Mb/s, delay: 10 us, duplex: true}}
    wan: {{from: b, to: c, rate: 10 Mb/s, delay: 1 ms, duplex: true, policy: Q{ring}}}
policies:
  inner: {{class-based: {{classes: [{{name: x, match: {{dscp: cs1}}, shape: {{rate: 3 Mb/s}}}}]}}}}
  Q: {policy}
traffic:
  - flow: {{name: v, dscp: ef, from: a, to: c, source: {{poisson: {{rate: 1 Mb/s, packet: 200 B}}}}}}
  - flow: {{name: d, dscp: af11, from: a, to: c, source: {{poisson: {{rate: {load} Mb/s, packet: imix}}}}}}
  - flow: {{name: e, dscp: af12, from: a, to: c, source: {{on-off: {{peak: 8 Mb/s, packet: 900 B, on: 10 ms, off: 30 ms}}}}}}
  - flow: {{name: n, dscp: cs1, from: a, to: c, source: {{poisson: {{rate: 3 Mb/s, packet: 1000 B}}}}}}
  - flow: {{name: t, from: a, to: c, tcp: {{}}}}
measurement: {{warmup: 50 ms, duration: 400 ms, interval: 50 ms}}
runs: {{count: 1, seed: {seed}}}
"));
        let world = &plan.variants[0].world;
        let answer = ask(&plan, "v", |q| {
            q.groups = (0..5).map(|f| vec![f]).collect();
            q.worst = 20;
        });
        prop_assert_eq!(&answer.digest, &untapped(&plan));
        for (i, group) in answer.packets.iter().enumerate() {
            // The connection may have lost its first segment.
            prop_assert!(i == 4 || !group.is_empty());
            let mut last = Dur::MAX;
            for j in group {
                adds_up(world, j);
                let Fate::Received(at) = j.fate else { panic!() };
                prop_assert!(at.since(j.sent) <= last);
                last = at.since(j.sent);
            }
        }
        for drops in answer.drops.iter().flatten() {
            for d in &drops.first {
                let Place::Port(_, evidence) = d.lost.place else { panic!("{d:?}") };
                if let Cause::Aqm(odds) = evidence.cause {
                    match drops.reason {
                        DropReason::Early => prop_assert!(odds.draw.unwrap() < odds.probability && odds.average >= odds.min),
                        DropReason::Forced => prop_assert!(odds.draw.is_none() && odds.average >= odds.max),
                        other => prop_assert!(false, "{:?}", other),
                    }
                } else {
                    prop_assert!(!matches!(drops.reason, DropReason::Early | DropReason::Forced | DropReason::Policer));
                }
            }
        }
    }
}

/// Two greedy connections over a RED queue that marks, their acknowledgments over a slow way back:
/// link 0, as links are numbered by name.
const MARKING: &str = "
schema_version: 1
topology:
  nodes: [a, b]
  links:
    forth: {from: a, to: b, rate: 10 Mb/s, delay: 5 ms, policy: Q}
    back: {from: b, to: a, rate: 100 kb/s, delay: 5 ms, policy: R}
policies:
  Q: {fifo: {limit: 100 packets, aqm: {red: {min_th: 5, max_th: 15, max_p: 0.1, ecn: true}}}}
  R: {fifo: {limit: 10 packets}}
traffic:
  - flow: {name: greedy, count: 2, class: greedy, from: a, to: b, tcp: {ecn: classic}}
measurement: {warmup: 1 s, duration: 5 s}
runs: {count: 1, seed: 5}
";

/// As many marks as were counted, each by a draw below its probability or above the thresholds.
#[test]
fn marks_say_by_which_chance() {
    let plan = common::plan(MARKING);
    let world = &plan.variants[0].world;
    let question = Question {
        groups: vec![vec![0, 1]],
        worst: 50,
        drops: 1000,
        ..Question::default()
    };
    let answer = explain(world, plan.seed, 0, &question, &|| false).expect("not cancelled");
    assert_eq!(answer.digest, untapped(&plan));
    let [group] = &answer.marks[0][..] else {
        panic!("{:?}", answer.marks)
    };
    assert_eq!((group.link, group.leaf), (1, 0));
    assert!(group.packets > 10, "{}", group.packets);
    assert_eq!(group.first.len() as u64, group.packets.min(1000));
    let counted = common::run(&plan, 1);
    let [class] = common::values(&plan, &counted, Scope::Class, "greedy", Metric::MarksCe)[..]
    else {
        panic!()
    };
    // A packet is counted when it arrives, a mark when it is set: those on the way at the end, and
    // those that were sent before the measured period.
    assert!(
        (class - group.packets as f64).abs() <= 30.0,
        "{class} {}",
        group.packets
    );
    for mark in &group.first {
        let Cause::Aqm(odds) = mark.why.cause else {
            panic!("{mark:?}")
        };
        assert!(odds.average >= 5.0 && (odds.min, odds.max) == (5.0, 15.0));
        match odds.draw {
            Some(draw) => assert!(draw < odds.probability && odds.probability <= 1.0),
            None => assert!(odds.average >= odds.max),
        }
        assert!(mark.why.queue_packets < 100);
    }
    // What is told of a packet's way is the same.
    let followed = answer.packets[0].iter().flat_map(|j| &j.hops);
    let mut marked = followed.filter(|h| h.mark.is_some()).peekable();
    assert!(marked.peek().is_some());
    assert!(marked.all(|h| h.ecn.0 != h.ecn.1));
}

/// Acknowledgments on the way back: 40 B take 3.2 ms at 100 kb/s, and wait for each other.
#[test]
fn acknowledgments_are_followed_in_place_of_data() {
    let plan = common::plan(MARKING);
    let answer = ask(&plan, "greedy-0", |q| q.answers = true);
    let [group] = &answer.packets[..] else {
        panic!()
    };
    assert_eq!(group.len(), 5);
    for packet in group {
        assert!(packet.answers && packet.transmissions.is_empty());
        adds_up(&plan.variants[0].world, packet);
        let [hop] = &packet.hops[..] else {
            panic!("{packet:?}")
        };
        assert_eq!(hop.link, 0);
        assert!(hop.waited() > Dur::ZERO);
        let segment = packet.segment.expect("an acknowledgment");
        assert!(segment.len == 0 && segment.ack > 0, "{segment:?}");
    }
    // The queue of the way back holds ten: more are lost.
    let lost: u64 = answer.drops[0].iter().map(|d| d.packets).sum();
    assert!(lost > 0 && answer.drops[0].iter().all(|d| d.link == Some(0)));
    assert!(answer.drops[0][0].first.iter().all(|d| d.answers));
    assert!(answer.marks[0].is_empty());
    // Data is not among them, and the other way round.
    let data = ask(&plan, "greedy-0", |_| {});
    assert!(
        data.packets[0]
            .iter()
            .all(|j| !j.answers && j.hops[0].link == 1)
    );
}
