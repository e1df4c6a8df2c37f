//! The bottleneck on a clock of the test.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use spillgate_core::{Dur, Ecn, Rate, Time};
use spillgate_forwarder::ip::UDP_HEADERS;
use spillgate_forwarder::{Bottleneck, Header};

const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const TO: SocketAddr = SocketAddr::new(HOST, 9001);

/// A datagram from a port of this machine comes.
fn put(b: &mut Bottleneck, now: Time, port: u16, payload: Vec<u8>) {
    let from = SocketAddr::new(HOST, port);
    b.put(now, &Header::of_datagram(from, TO, payload.len()), payload);
}

fn take(b: &mut Bottleneck, now: Time) -> Option<Vec<u8>> {
    b.take(now).map(|(_, payload)| payload)
}

fn at(us: u64) -> Time {
    Time::ZERO + Dur::from_us(us)
}

fn bottleneck(policy: &str) -> Bottleneck {
    Bottleneck::new(policy, Rate::from_bps(8_000_000).unwrap()).unwrap()
}

/// A payload that makes a packet of 1,000 B: a millisecond at 8 Mb/s.
fn payload(mark: u8) -> Vec<u8> {
    vec![mark; 1000 - UDP_HEADERS]
}

#[test]
fn a_packet_leaves_every_millisecond() {
    let mut b = bottleneck("fifo");
    for mark in 0..5 {
        put(&mut b, at(10), 1, payload(mark));
    }
    assert_eq!(take(&mut b, at(1009)), None);
    assert_eq!(b.wake(), Some(at(1010)));
    assert_eq!(take(&mut b, at(1010)), Some(payload(0)));
    // A late wake does not slow the link down.
    let late: Vec<_> = std::iter::from_fn(|| take(&mut b, at(4010))).collect();
    assert_eq!(late, [payload(1), payload(2), payload(3)]);
    assert_eq!(
        (take(&mut b, at(5009)), take(&mut b, at(5010))),
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
            put(&mut b, at(0), 1, payload(0));
        }
        put(&mut b, at(0), 2, payload(7));
        // Behind the first packet, which found an idle link, and two that a quantum of 1,514 B lets
        // go; or behind all.
        let end = at(wait_ms * 1000);
        let out: Vec<_> = std::iter::from_fn(|| take(&mut b, end)).collect();
        assert_eq!(out.last().map(|p| p[0]), Some(7), "{policy}");
    }
}

#[test]
fn a_shaper_holds_packets_back() {
    let mut b = bottleneck(
        r#"{"class-based": {"classes": [{"name": "class-default", "shape": {"rate": "4 Mb/s", "burst": "1000 B"}}]}}"#,
    );
    for mark in 0..9 {
        put(&mut b, at(0), 1, payload(mark));
    }
    let (mut now, mut ends) = (at(0), Vec::new());
    while let Some(wake) = b.wake() {
        now = now.max(wake);
        if take(&mut b, now).is_some() {
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
        put(&mut b, at(0), 1, payload(0));
    }
    put(&mut b, at(0), 5060, payload(9));
    let out: Vec<_> = std::iter::from_fn(|| take(&mut b, at(2000))).collect();
    assert_eq!(out, [payload(0), payload(9)]);
}

#[test]
fn what_is_dropped_makes_room() {
    let mut b = bottleneck(r#"{"fifo": {"limit": "3 packets"}}"#);
    for mark in 0..10 {
        put(&mut b, at(0), 1, payload(mark));
    }
    let out: Vec<_> = std::iter::from_fn(|| take(&mut b, at(100_000))).collect();
    assert_eq!((out.len(), b.counts, b.backlog()), (4, (6, 4), (0, 0)));
}

#[test]
fn a_wrong_policy_is_explained() {
    let rate = Rate::from_bps(8_000_000).unwrap();
    let why = |policy: &str| Bottleneck::new(policy, rate).err().unwrap();
    assert!(
        why("fairest").contains("unknown variant"),
        "{}",
        why("fairest")
    );
    assert!(why(r#"{"fifo": {"limit": 3}}"#).contains("unit"));
    let text = why(r#"{"fifo": {"limit": "0 packets"}}"#);
    assert!(
        text.starts_with("policy: policies.policy.fifo.limit"),
        "{text}"
    );
}

#[test]
fn a_policy_may_stand_in_a_file() {
    let rate = Rate::from_bps(8_000_000).unwrap();
    let path = std::env::temp_dir().join(format!("forwarder-{}.json", std::process::id()));
    let name = path.to_str().unwrap();
    let why = |text: &str| {
        std::fs::write(&path, text).unwrap();
        Bottleneck::new(name, rate).err()
    };
    assert_eq!(why("{\n  \"fifo\": {\"limit\": \"3 packets\"}\n}\n"), None);
    for (text, wanted) in [
        ("{\n  \"fairest\": {}\n}", "unknown variant `fairest`"),
        (
            r#"{"fifo": {"limit": "0 packets"}}"#,
            "policies.policy.fifo.limit",
        ),
    ] {
        let said = why(text).unwrap();
        assert!(said.starts_with(name) && said.contains(wanted), "{said}");
    }
    assert!(why("{\n  \"fairest\": {}\n}").unwrap().contains("line 2"));
    std::fs::remove_file(&path).unwrap();
    let said = Bottleneck::new(name, rate).err().unwrap();
    assert!(said.starts_with(name), "{said}");
}

/// CoDel marks what is ECN-capable where it drops the rest.
#[test]
fn marks_come_out() {
    let mut b = bottleneck("fq-codel");
    let mut marked = 0;
    for ms in 0..1000 {
        for port in [1, 1] {
            let from = SocketAddr::new(HOST, port);
            let header = Header {
                ecn: Ecn::Ect0,
                ..Header::of_datagram(from, TO, 1000 - UDP_HEADERS)
            };
            b.put(at(ms * 1000), &header, payload(0));
        }
        while let Some((ecn, _)) = b.take(at(ms * 1000)) {
            assert!(ecn.is_capable());
            marked += u32::from(ecn == Ecn::Ce);
        }
    }
    assert!(marked > 0);
    assert_eq!(b.counts.0, 0);
}
