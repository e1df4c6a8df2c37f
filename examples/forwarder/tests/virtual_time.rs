//! The bottleneck on a clock of the test.

use std::net::{Ipv4Addr, SocketAddrV4};

use spillgate_core::{Dur, Rate, Time};
use spillgate_forwarder::{Bottleneck, HEADERS};

const TO: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::LOCALHOST, 9001);

fn from(port: u16) -> SocketAddrV4 {
    SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)
}

fn at(us: u64) -> Time {
    Time::ZERO + Dur::from_us(us)
}

fn bottleneck(policy: &str) -> Bottleneck {
    Bottleneck::new(policy, Rate::from_bps(8_000_000).unwrap()).unwrap()
}

/// A payload that makes a packet of 1,000 B: a millisecond at 8 Mb/s.
fn payload(mark: u8) -> Vec<u8> {
    vec![mark; 1000 - HEADERS]
}

#[test]
fn a_packet_leaves_every_millisecond() {
    let mut b = bottleneck("fifo");
    for mark in 0..5 {
        b.put(at(10), from(1), TO, payload(mark));
    }
    assert_eq!(b.take(at(1009)), None);
    assert_eq!(b.wake(), Some(at(1010)));
    assert_eq!(b.take(at(1010)), Some(payload(0)));
    // A late wake does not slow the link down.
    let late: Vec<_> = std::iter::from_fn(|| b.take(at(4010))).collect();
    assert_eq!(late, [payload(1), payload(2), payload(3)]);
    assert_eq!(
        (b.take(at(5009)), b.take(at(5010))),
        (None, Some(payload(4)))
    );
    assert_eq!((b.wake(), b.counts), (None, (0, 5)));
}

#[test]
fn a_sparse_flow_goes_before_a_bulk_flow() {
    for (policy, wait_ms) in [
        ("fq-codel", 4),
        (r#"{"fifo": {"limit": "100 packets"}}"#, 51),
    ] {
        let mut b = bottleneck(policy);
        for _ in 0..50 {
            b.put(at(0), from(1), TO, payload(0));
        }
        b.put(at(0), from(2), TO, payload(7));
        // Behind the first packet, which found an idle link, and two that a quantum of 1,514 B lets go; or behind all.
        let end = at(wait_ms * 1000);
        let out: Vec<_> = std::iter::from_fn(|| b.take(end)).collect();
        assert_eq!(out.last().map(|p| p[0]), Some(7), "{policy}");
    }
}

#[test]
fn a_shaper_holds_packets_back() {
    let mut b = bottleneck(
        r#"{"class-based": {"classes": [{"name": "class-default", "shape": {"rate": "4 Mb/s", "burst": "1000 B"}}]}}"#,
    );
    for mark in 0..9 {
        b.put(at(0), from(1), TO, payload(mark));
    }
    let (mut now, mut ends) = (at(0), Vec::new());
    while let Some(wake) = b.wake() {
        now = now.max(wake);
        if b.take(now).is_some() {
            ends.push(now);
        }
    }
    // The first leaves at once, from then on one in two milliseconds.
    let expected: Vec<_> = (0..9).map(|i| at(1000 + 2000 * i)).collect();
    assert_eq!(ends, expected);
}

#[test]
fn policies_see_new_flows() {
    let mut b = bottleneck(
        r#"{"class-based": {"classes": [{"name": "call", "match": {"sport": 5060}, "priority": {"rate": "2 Mb/s"}}, {"name": "class-default"}]}}"#,
    );
    for _ in 0..20 {
        b.put(at(0), from(1), TO, payload(0));
    }
    b.put(at(0), from(5060), TO, payload(9));
    let out: Vec<_> = std::iter::from_fn(|| b.take(at(2000))).collect();
    assert_eq!(out, [payload(0), payload(9)]);
}

#[test]
fn what_is_dropped_makes_room() {
    let mut b = bottleneck(r#"{"fifo": {"limit": "3 packets"}}"#);
    for mark in 0..10 {
        b.put(at(0), from(1), TO, payload(mark));
    }
    let out: Vec<_> = std::iter::from_fn(|| b.take(at(100_000))).collect();
    assert_eq!((out.len(), b.counts, b.backlog()), (4, (6, 4), (0, 0)));
}

#[test]
fn a_wrong_policy_is_explained() {
    let rate = Rate::from_bps(8_000_000).unwrap();
    let why = |policy: &str| Bottleneck::new(policy, rate).err().unwrap();
    assert!(why("fair").contains("unknown variant"), "{}", why("fair"));
    assert!(why(r#"{"fifo": {"limit": 3}}"#).contains("unit"));
}
