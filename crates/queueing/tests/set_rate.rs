//! What a change of a port's rate does, and what it leaves. That packets are conserved, and that
//! any policy is as if built for the rate that it is told at its start, is in `contract.rs`.

use crate::common::{build, packet, rate};
use spillgate_core::{DropReason, Drops, Dur, Rng, Time};
use spillgate_queueing::{Discipline, Recipe};

const MBPS: u64 = 1_000_000;

fn at_ms(ms: u64) -> Time {
    Time::ZERO + Dur::from_ms(ms)
}

/// So many packets of 1,000 B come; why some were lost.
fn offer(d: &mut Discipline, now: Time, flow: u32, packets: u32) -> Vec<DropReason> {
    let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
    for seq in 0..packets {
        let mut p = packet(flow, seq, 1000);
        p.arrived = now;
        d.enqueue(now, p, &mut rng, &mut drops);
    }
    drops.as_slice().iter().map(|d| d.reason).collect()
}

/// So many packets leave.
fn take(d: &mut Discipline, now: Time, packets: u32) -> Vec<u32> {
    let (mut rng, mut drops) = (Rng::from_key(1), Drops::new());
    let next = |_| d.dequeue(now, &mut rng, &mut drops).map(|p| p.flow);
    (0..packets).map_while(next).collect()
}

#[test]
fn a_limit_in_time_follows_the_rate() {
    // 16 packets of 1,000 B at 1 Mb/s, 4 at a quarter of it.
    let mut d = build(r#"{"main": {"fifo": {"limit": "128 ms"}}}"#, MBPS);
    assert_eq!(offer(&mut d, at_ms(0), 0, 20), [DropReason::Tail; 4]);
    assert_eq!(d.set_rate(at_ms(0), rate(MBPS / 4)), Ok(vec![]));
    // What waits stays; nothing fits until it is below the limit.
    assert_eq!(d.backlog_packets(), 16);
    take(&mut d, at_ms(1), 12);
    assert_eq!(offer(&mut d, at_ms(1), 0, 1), [DropReason::Tail]);
    take(&mut d, at_ms(1), 1);
    assert_eq!(offer(&mut d, at_ms(1), 0, 2), [DropReason::Tail]);
    d.set_rate(at_ms(2), rate(4 * MBPS)).unwrap();
    assert_eq!(offer(&mut d, at_ms(2), 0, 61).len(), 1);
    assert_eq!(d.backlog_packets(), 64);
}

/// The longest queue gives up what has become too much, and the AQM of each keeps its state.
#[test]
fn a_fair_queue_pushes_out_what_has_become_too_much() {
    for kind in ["drr", "fq"] {
        let json = format!(r#"{{"main": {{"{kind}": {{"limit": "128 ms"}}}}}}"#);
        let mut d = build(&json, MBPS);
        offer(&mut d, at_ms(0), 0, 14);
        offer(&mut d, at_ms(0), 1, 2);
        d.set_rate(at_ms(0), rate(MBPS / 4)).unwrap();
        assert_eq!(d.backlog_packets(), 16);
        assert_eq!(offer(&mut d, at_ms(1), 2, 1), [DropReason::PushedOut; 13]);
        let mut left = take(&mut d, at_ms(1), 9);
        left.sort_unstable();
        assert_eq!(left, [0, 1, 1, 2], "{kind}");
    }
}

/// Tokens are counted at the old rate until then, and at the new one from then on.
#[test]
fn a_shaper_by_percent_follows_the_rate() {
    let json = r#"{"main": {"class-based": {"classes": [
        {"name": "class-default", "shape": {"rate": "80 %", "burst": "1000 B"}}]}}}"#;
    // 800 kb/s: 1,000 B in 10 ms.
    let mut d = build(json, MBPS);
    offer(&mut d, at_ms(0), 0, 3);
    assert_eq!(take(&mut d, at_ms(0), 1), [0]);
    assert_eq!(d.next_wake(at_ms(0)), Some(at_ms(10)));
    // Half of the tokens have come; the rest comes at a tenth of the rate.
    d.set_rate(at_ms(5), rate(MBPS / 10)).unwrap();
    assert_eq!(d.next_wake(at_ms(5)), Some(at_ms(55)));
    assert!(take(&mut d, at_ms(54), 1).is_empty());
    assert_eq!(take(&mut d, at_ms(55), 1), [0]);
}

/// A burst in time becomes shorter than a packet that waits: it leaves when the bucket is full.
#[test]
fn a_burst_that_shrinks_below_a_packet_does_not_hold_it_for_ever() {
    let json = r#"{"main": {"class-based": {"classes": [
        {"name": "class-default", "shape": {"rate": "80 %", "burst": "20 ms"}}]}}}"#;
    // 2,000 B, then 200 B.
    let mut d = build(json, MBPS);
    offer(&mut d, at_ms(0), 0, 4);
    assert_eq!(take(&mut d, at_ms(0), 3), [0, 0]);
    d.set_rate(at_ms(0), rate(MBPS / 10)).unwrap();
    assert_eq!(d.next_wake(at_ms(0)), Some(at_ms(20)));
    assert_eq!(take(&mut d, at_ms(20), 2), [0]);
    // 800 B are owed, then 200 B are to come: at 80 kb/s.
    assert_eq!(d.next_wake(at_ms(20)), Some(at_ms(120)));
    // What comes now is too long for the burst.
    assert_eq!(offer(&mut d, at_ms(20), 0, 1), [DropReason::Policer]);
}

/// A class that is guaranteed a rate, not a share, gets more of a slower link.
#[test]
fn shares_follow_the_rate() {
    let json = r#"{"main": {"class-based": {"classes": [
        {"name": "a", "match": {"sport": 40000}, "bandwidth": "500 kb/s", "queue_limit": "200 packets"},
        {"name": "class-default", "queue_limit": "200 packets"}]}}}"#;
    let mut d = build(json, MBPS);
    offer(&mut d, at_ms(0), 0, 100);
    offer(&mut d, at_ms(0), 1, 100);
    let of_a = |left: &[u32]| left.iter().filter(|f| **f == 0).count();
    assert_eq!(of_a(&take(&mut d, at_ms(1), 40)), 20);
    d.set_rate(at_ms(1), rate(625_000)).unwrap();
    // 500 of 625 kb/s; up to a packet the order before counts.
    let left = of_a(&take(&mut d, at_ms(1), 40));
    assert!((31..=33).contains(&left), "{left}");
    // All that there is, and half of it again.
    d.set_rate(at_ms(1), rate(500_000)).unwrap();
    assert_eq!(of_a(&take(&mut d, at_ms(1), 10)), 10);
    d.set_rate(at_ms(1), rate(MBPS)).unwrap();
    let left = of_a(&take(&mut d, at_ms(1), 20));
    assert!((9..=11).contains(&left), "{left}");
}

#[test]
fn a_rate_for_which_there_is_no_such_policy_changes_nothing() {
    let json = r#"{"main": {"class-based": {"classes": [
        {"name": "a", "match": {"dscp": "ef"}, "bandwidth": "500 kb/s"}]}}}"#;
    let mut d = build(json, MBPS);
    offer(&mut d, at_ms(0), 0, 3);
    let why = d.set_rate(at_ms(0), rate(100_000)).unwrap_err();
    assert!(why.path.contains("main.class-based.classes[0]"), "{why}");
    assert_eq!(d.backlog_packets(), 3);
    assert_eq!(d.set_rate(at_ms(0), rate(2 * MBPS)), Ok(vec![]));
}

/// The policies inside count as well, and nothing else of the table is kept.
#[test]
fn nested_policies_follow() {
    let json = r#"{"main": {"class-based": {"classes": [
            {"name": "class-default", "shape": {"rate": "50 %"}, "policy": "inner"}]}},
        "inner": {"class-based": {"classes": [{"name": "class-default", "queue_limit": "128 ms"}]}}}"#;
    let limit = |d: &Discipline| d.limit(0).bytes;
    let mut d = build(json, MBPS);
    assert_eq!(limit(&d), Some(8000));
    d.set_rate(at_ms(0), rate(3 * MBPS)).unwrap();
    assert_eq!(limit(&d), Some(24_000));
}

#[test]
fn a_link_without_a_policy_takes_any_rate() {
    let mut d = Recipe::default_fifo().build(&std::sync::Arc::from([]));
    assert_eq!(d.set_rate(at_ms(0), rate(1)), Ok(vec![]));
}

/// All meters, by percent: full buckets are as deep as if built for the rate, what was taken is
/// missing from both.
#[test]
fn policers_by_percent_follow_the_rate() {
    for class in [
        r#""police": {"rate": "40 %"}"#,
        r#""police": {"rate": "40 %", "violate": "drop"}"#,
        r#""police": {"rate": "40 %", "peak_rate": "60 %"}"#,
        r#""priority": {"rate": "30 %"}"#,
    ] {
        let json = format!(
            r#"{{"main": {{"class-based": {{"classes": [
                {{"name": "a", "match": {{"sport": 40000}}, {class}}}]}}}}}}"#
        );
        let mut told = build(&json, MBPS);
        let mut built = build(&json, 3 * MBPS);
        assert_ne!(told.buckets(at_ms(0)), built.buckets(at_ms(0)), "{class}");
        told.set_rate(at_ms(0), rate(3 * MBPS)).unwrap();
        for now in [0, 1, 70] {
            for d in [&mut told, &mut built] {
                offer(d, at_ms(now), 0, 2);
            }
            let now = at_ms(now + 1);
            assert_eq!(told.buckets(now), built.buckets(now), "{class}");
        }
    }
}

/// The policers of flows that have come before follow the rate of the port, too.
#[test]
fn policers_of_known_flows_follow_the_rate() {
    let json = r#"{"main": {"class-based": {"classes": [
        {"name": "a", "match": {}, "police": {"rate": "40 %", "burst": "1500 B", "per_flow": true}}]}}}"#;
    let dropped = |mut d: Discipline| {
        offer(&mut d, at_ms(0), 0, 1);
        d.set_rate(at_ms(0), rate(3 * MBPS)).unwrap();
        for ms in 1..1000 {
            offer(&mut d, at_ms(ms), 0, 1);
        }
        d.leaves()[0].drops_packets[DropReason::Policer.index()]
    };
    let of = dropped(build(json, 3 * MBPS));
    assert!(of > 100, "{of}");
    assert_eq!(dropped(build(json, MBPS)), of);
}
