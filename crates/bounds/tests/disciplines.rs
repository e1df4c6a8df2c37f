//! Guarantees of each discipline, worked out by hand: bytes at 10 Mb/s, so 0.8 us each, and 5 ms of
//! propagation. TCP sends packets of up to 1500 B.

use crate::single::{line, near, of, owd};

/// The bound of `class` as bytes that are sent until its packet has left.
#[track_caller]
fn bytes(policy: &str, class: &str, traffic: &[&str]) -> f64 {
    (owd(&of(&line(policy, "", traffic), 0), class) - 5e-3) / 0.8e-6
}

#[track_caller]
fn after(policy: &str, class: &str, traffic: &[&str], expected: f64) {
    near(bytes(policy, class, traffic) * 0.8e-6, expected * 0.8e-3);
}

/// Why there is no bound of `class`.
#[track_caller]
fn why(policy: &str, class: &str, traffic: &[&str]) -> String {
    let found = of(&line(policy, "", traffic), 0).classes;
    let class = found.into_iter().find(|c| c.name == class);
    class.and_then(|c| c.why).unwrap()
}

/// A packet of its own in transmission, or in front of 20 in its queue.
const PACKET: f64 = 1500.0;
const FULL: f64 = 20.0 * PACKET;

const CALLS: &str = "class: calls, source: {cbr: {rate: 100 kb/s, packet: 200 B}}";
const A: &str = "class: a, dscp: af11, tcp: {profile: linux}";
const B: &str = "class: b, dscp: af41, tcp: {profile: linux}";
const C: &str = "class: c, dscp: cs7, tcp: {profile: linux}";

const DRR: &str = "{drr: {quantum: 1500 B, limit: 20 packets}}";

#[test]
fn deficit_round_robin() {
    // A packet of its own in transmission, 20 turns, and of each other a deficit first.
    let turns = PACKET + 20.0 * 4500.0 + 2.0 * 1499.0;
    after(DRR, "a", &[A, B, C], turns);
    // One packet of 200 B fits into the first turn, behind one of its own.
    after(DRR, "calls", &[CALLS, A, B], 2.0 * 200.0 + 2.0 * 2999.0);
    // Quanta of 2 and 5 times 300 B: 30,000 B are 50 quanta of 600 B, and 20 of 1500 B.
    let policy = "{drr: {quantum: 300 B, limit: 20 packets, weights: precedence}}";
    let more = [("a", 50.0 * 1500.0), ("b", 20.0 * 600.0)];
    for (class, turns) in more {
        after(policy, class, &[A, B], PACKET + FULL + turns + 1499.0);
    }
    // With an AQM that lets a long packet follow a short one that it drops, both keep a debt.
    let policy = "{drr: {quantum: 1500 B, limit: 20 packets, aqm: {codel: {}}}}";
    let debts = bytes(policy, "a", &[A, B]) - (PACKET + 2.0 * FULL + 1499.0);
    assert!((1499.0..=3000.0).contains(&debts), "{debts} B");
}

/// Calls take less than their turns: 200 B and 100 kb/s by what they are late at most, their packet
/// behind one of their own, and a turn and a deficit of the other.
#[test]
fn what_comes_to_others_counts() {
    let (own, rate) = (2.0 * 200.0 + 2999.0, 0.0125);
    let late = 200.0 + rate * own * 0.8;
    near(
        bytes(DRR, "a", &[CALLS, A]) * 0.8e-6,
        (PACKET + FULL + late) / (1.25 - rate) * 1e-3,
    );
    // Of two calls each waits for what is left by the other, the less late in each round.
    let mut us = (own + 1699.0) * 0.8;
    for _ in 0..3 {
        us = (own + 200.0 + rate * us) / (1.25 - rate);
    }
    after(DRR, "calls", &[CALLS, CALLS, A], us / 0.8);
}

/// Which flows share a queue is not known: at worst none does, or all do.
#[test]
fn hashed_queues() {
    let policy = "{drr: {quantum: 1500 B, limit: 20 packets, queues: 64}}";
    let full = PACKET + 2.0 * FULL + 1499.0;
    after(policy, "a", &[A, B], full);
    let one = "{drr: {quantum: 1500 B, limit: 20 packets, queues: 1}}";
    after(one, "a", &[A, B], PACKET + FULL);
    // Calls alone wait for one turn of the others. In one queue with one of them its 20 packets may
    // be before theirs, and the other takes turns.
    let found = bytes(policy, "calls", &[CALLS, A, B]);
    assert!(
        (full - 1300.0..=full + 0.001).contains(&found),
        "{found} B, not {full} B"
    );
}

/// Each other queue may send as an old and as a new one in each round.
#[test]
fn new_queues_first() {
    // Overspent when it comes to wait: 20 rounds of 2999 B and one of 4499 B, and 1499 B on credit.
    let rounds = PACKET + FULL + 20.0 * 2999.0 + 4499.0 + 1499.0;
    for kind in ["fq", "fq-codel"] {
        let policy = format!("{{{kind}: {{quantum: 1500 B, limit: 20 packets}}}}");
        after(&policy, "a", &[A, B], rounds);
    }
    // Calls that have credit: what they send now, and the next round.
    let policy = "{fq: {quantum: 1500 B}}";
    let sent = 2.0 * 200.0 + 2999.0 + 2999.0 + 1499.0;
    after(policy, "calls", &[CALLS, A], sent);
}

#[test]
fn flow_based_wfq() {
    for cdt in ["tail-drop", "worst-sn"] {
        let policy = format!("{{flow-wfq: {{threshold: 10, weights: equal, cdt_policy: {cdt}}}}}");
        let queue = 10.0 * PACKET;
        after(&policy, "a", &[A, B], PACKET + 2.0 * queue + 1500.0);
        // 16192 to 6476 by precedence; with `worst-sn` numbers up to those of ten packets of the
        // other may come before a packet that is evicted.
        let policy = format!("{{flow-wfq: {{threshold: 10, cdt_policy: {cdt}}}}}");
        let ratio = 16192.0 / 6476.0;
        let longer = if cdt == "worst-sn" { ratio } else { 1.0 };
        // The number of bytes is rounded down.
        for (class, queue, ratio) in [("a", queue, ratio), ("b", longer * queue, 1.0 / ratio)] {
            let expected = PACKET + queue * (1.0 + ratio) + 1500.0;
            let found = bytes(&policy, class, &[A, B]);
            assert!(
                (-2.0..0.1).contains(&(found - expected)),
                "{found} B, not {expected} B"
            );
        }
    }
}

/// Its limit alone says little: the fluid server may have been overtaken.
#[test]
fn packet_by_packet_generalized_processor_sharing() {
    let policy = "{wfq: {limit: 10 packets}}";
    after(policy, "a", &[A, B], 1500.0 + 30_000.0 + 1501.0);
    let policy = "{wfq: {limit: 10 packets, weights: precedence}}";
    // Of 2 and 8: a packet of its own, as tags count, is 4 of the other's, and a byte.
    after(policy, "a", &[A, C], 1500.0 + 15_000.0 * 5.0 + 4.0 * 1501.0);
    after(policy, "c", &[A, C], 1500.0 + 15_000.0 * 1.25 + 1500.0);
}

#[test]
fn packet_fair_queueing_by_flow() {
    // A packet of its own, 20 at half of the rate, and one of the other.
    let policy = "{fair: {limit: 20 packets}}";
    let scfq = PACKET + 2.0 * FULL + PACKET;
    after(policy, "a", &[A, B], scfq);
    // It may begin as late as its longest packet finishes after its shortest.
    let policy = "{fair: {scheduler: start-time, limit: 20 packets}}";
    let later = bytes(policy, "a", &[A, B]) - scfq;
    assert!((1400.0..1500.0).contains(&later), "{later} B");
}

#[test]
fn flow_aware_networking() {
    let policy = "{fan: {scheduler: pfq, limit: 20 packets}}";
    // Each is ahead of virtual time by an MTU less a byte, and a packet.
    after(policy, "a", &[A, B], 1500.0 + 60_000.0 + 2.0 * 2999.0);
    let policy = "{fan: {scheduler: {pdrr: {}}, limit: 20 packets}}";
    // 21 turns of the other: its own have been charged with a quantum, and it has a deficit; and a
    // quantum with priority.
    let turns = PACKET + FULL + 21.0 * 1500.0 + 1499.0 + 1500.0;
    after(policy, "a", &[A, B], turns);
    let policy = "{fan: {scheduler: {pdrr: {mode: literal}}, limit: 20 packets}}";
    let turns = PACKET + FULL + 20.0 * 3000.0 + 1500.0 + 1500.0;
    after(policy, "a", &[A, B], turns);
    let full = "{fan: {scheduler: {pfq: {afl_max: 1}}}}";
    assert!(why(full, "a", &[A, B]).contains("active flows may be full"));
}

/// Classes of one half each; weights are integers.
#[track_caller]
fn about(policy: &str, class: &str, traffic: &[&str], ms: f64) {
    let found = 5.0 + bytes(policy, class, traffic) * 0.8e-3;
    assert!((found - ms).abs() < ms * 1e-5, "{found} ms, not {ms} ms");
}

#[test]
fn a_fair_queue_inside_a_class() {
    let policy = "{class-based: {classes: [{name: y, match: {dscp: [af11, af41]}, bandwidth: 50 %, drr: {quantum: 1500 B, limit: 10 packets}}, {name: class-default, queue_limit: 20 packets}]}}";
    let turns = 15_000.0 + 10.0 * 1500.0 + 1499.0;
    about(
        policy,
        "a",
        &[A, B, C],
        5.0 + (2.0 * turns + 3000.0) * 0.8e-3,
    );
}

/// At 2 Mb/s of 5 Mb/s that it is guaranteed: once the tokens suffice, its last packet waits for
/// one of the other class and one in transmission.
#[test]
fn a_shaped_class_beside_another() {
    let policy = "{class-based: {classes: [{name: x, match: {dscp: af11}, bandwidth: 50 %, shape: {rate: 2 Mb/s, burst: 6 kB}, queue_limit: 10 packets}, {name: class-default, queue_limit: 20 packets}]}}";
    about(policy, "a", &[A, C], 5.0 + 2.4 + 2.4 + 60.0);
    about(policy, "c", &[A, C], 5.0 + 2.4 + 30_000.0 * 1.6e-3);
    // A bucket that may be full while it waits loses tokens: 0.4 ms for 100 B of 4.8 ms, each 800
    // B.
    let small = policy.replace("6 kB", "1600 B");
    about(
        &small,
        "a",
        &[A, C],
        5.0 + 4.8 + 4.4 + 6.0 + 15_000.0 * (4.0 + 5.5) * 1e-3,
    );
}

#[test]
fn priority_with_a_shaper() {
    let policy = "{class-based: {classes: [{name: v, match: {dscp: ef}, priority: {limit: 10 packets}, shape: {rate: 1 Mb/s, burst: 3 kB}}, {name: class-default, queue_limit: 20 packets}]}}";
    let calls = "class: calls, dscp: ef, source: {poisson: {rate: 2 Mb/s, packet: 200 B}}";
    about(policy, "calls", &[calls, A], 5.0 + 1.2 + 0.16 + 16.0);
    // What the shaper lets go, with a packet on credit, goes first.
    about(
        policy,
        "a",
        &[calls, A],
        5.0 + (31_500.0 + 3200.0) * 8e-3 / 9.0,
    );
}

/// A packet of AF11 is queued behind 9 others at most, one of AF41 behind 19.
#[test]
fn weighted_tail_drop() {
    let policy = "{class-based: {classes: [{name: x, match: {dscp: [af11, af41]}, bandwidth: 100 %, queue_limit: 20 packets, queue_limit_dscp: {af11: 10 packets}}]}}";
    after(policy, "a", &[A, B], 1500.0 + 15_000.0);
    after(policy, "b", &[A, B], 1500.0 + 30_000.0);
}

#[test]
fn what_others_leave() {
    let policy = "{class-based: {classes: [{name: x, match: {dscp: ef}, bandwidth: 100 %}, {name: class-default, queue_limit: 20 packets}]}}";
    let calls = "class: calls, dscp: ef, source: {cbr: {rate: 1 Mb/s, packet: 1000 B}}";
    about(
        policy,
        "a",
        &[calls, A],
        5.0 + (31_500.0 + 1000.0) * 8e-3 / 9.0,
    );
    let tcp = "class: calls, dscp: ef, tcp: {profile: linux}";
    assert!(why(policy, "a", &[tcp, A]).contains("while others have nothing to send"));
}

/// A class whose AQM drops the packet that was chosen and sends a longer one sets virtual time
/// ahead of others; one that comes then waits for what is behind it.
#[test]
fn aqm_at_departure_beside_other_classes() {
    let policy = "{class-based: {classes: [{name: x, match: {dscp: af11}, bandwidth: 1 %, AQM queue_limit: 9 packets}, {name: y, match: {dscp: af41}, bandwidth: 49 %, queue_limit: 9 packets}, {name: class-default, queue_limit: 20 packets}]}}";
    let [with, without] = ["aqm: {codel: {}},", "aqm: {red: {}},"]
        .map(|aqm| bytes(&policy.replace("AQM", aqm), "c", &[A, B, C]));
    // Nearly 1500 B of 1 % are 49 times as much of the other's 49 %, and of x again as much as it.
    let more = with - without;
    assert!((49.0 * 1400.0..50.0 * 1500.0).contains(&more), "{more} B");
}

/// Leaves of 3 and 5 of 10 Mb/s, with bursts in bytes.
fn htb(x: &str, y: &str) -> String {
    format!(
        "{{htb: {{default: x, classes: [{{name: x, match: {{dscp: af11}}, rate: 3 Mb/s, {x}, queue: {{fifo: {{limit: 10 packets}}}}}}, {{name: y, match: {{dscp: af41}}, rate: 5 Mb/s, {y}, queue: {{fifo: {{limit: 20 packets}}}}}}]}}}}"
    )
}

#[test]
fn hierarchical_token_buckets() {
    let y = "burst: 20 kB, cburst: 30 kB, ceil: 10 Mb/s";
    // A packet in the ring and the other's burst with a packet, at 5 Mb/s; a packet that it lacks
    // and ten of its own at 3 Mb/s; and one in the ring.
    let latency = (1500.0 + 21_500.0) * 1.6e-3;
    let own = 11.0 * 1500.0 * 8.0 / 3e3;
    let enough = htb("prio: 1, burst: 14 kB, cburst: 14 kB", y);
    about(&enough, "a", &[A, B], 5.0 + latency + own + 1.2);
    // With half the burst the rate is what fills that in the latency.
    let rate = 7000.0 * 8.0 / latency;
    let half = htb("prio: 1, burst: 7 kB, cburst: 14 kB", y);
    about(
        &half,
        "a",
        &[A, B],
        5.0 + latency + 11.0 * 1500.0 * 8.0 / rate + 1.2,
    );
    // In turns, of 1500 B to 3000 B: three turns of the other and a quantum, at a third of the
    // line.
    let turns = htb(
        "burst: 14 kB, cburst: 14 kB, quantum: 1500 B",
        &format!("{y}, quantum: 3000 B"),
    );
    let ahead = (1500.0 + 4.0 * 3000.0) * 0.8e-3;
    about(&turns, "a", &[A, B], 5.0 + ahead + own + 1.2);
    let much = htb("prio: 1", "rate: 8 Mb/s").replace("rate: 5 Mb/s, ", "");
    assert!(why(&much, "a", &[A, B]).contains("leave 2000000 b/s"));
}

#[test]
fn dual_queue() {
    // Of 30 %: 20 packets and two of the other queue, in transmission and the last; a credit of 70
    // % of a packet; and a packet in the ring.
    let policy = "{dualpi2: {limit: 20 packets, classic_share: 0.3, mtu: 1500 B}}";
    let found = bytes(policy, "a", &[A, B]);
    let expected = PACKET + (FULL / 0.3) + 2.0 * PACKET + 0.7 * PACKET / 0.3;
    assert!(
        (0.0..3.0).contains(&(found - expected)),
        "{found} B, not {expected} B"
    );
    let policy = "{dualpi2: {limit: 20 packets, time_shift: 30 ms}}";
    after(policy, "a", &[A, B], PACKET + FULL + 30_000.0 / 0.8);
}

/// Two calls of the rate that their clocks have, and a flow that takes what it gets.
#[test]
fn virtual_clock() {
    let call = "class: calls, source: {cbr: {rate: 3 Mb/s, packet: 200 B}}";
    let policy = "{fair: {scheduler: virtual-clock, weight_sum: 3, limit: 20 packets}}";
    // A packet at 10 / 3 Mb/s, and a packet of another in front, whose first packet may be a
    // shorter one that came late. Each packet may be due a picosecond early.
    let found = bytes(policy, "calls", &[call, call, A]) * 0.8e-3;
    let expected = 200.0 * 2.4e-3 + 2.0 * PACKET * 0.8e-3;
    assert!(
        (0.0..1e-3).contains(&(found - expected)),
        "{found} ms, not {expected} ms"
    );
    assert!(why(policy, "a", &[call, call, A]).contains("more may come"));
    let policy = policy.replace("sum: 3", "sum: 2");
    assert!(why(&policy, "calls", &[call, call, A]).contains("come to more"));
}
