//! The arrival curve of a capture against every time of its packets.

use std::sync::Arc;

use proptest::prelude::*;
use spillgate_capture::testkit::{Pcap, ethernet, udp4};
use spillgate_capture::{Clock, Grouping, Opener, Replay, Selection, Sent, survey};
use spillgate_core::Time;
use spillgate_core::curve::{Curve, Exact, UNITS};

/// A capture, and the packets that it sends in some rounds: when, group, length.
struct Case {
    sent: Sent,
    packets: Vec<(u64, usize, u16)>,
}

/// Gaps in nanoseconds, code points and lengths of packets.
fn case(packets: &[(u64, u8, u16)], speed: f64, looped: bool) -> Case {
    let mut file = Pcap::default();
    file.nanoseconds = true;
    let mut now = 1_000;
    for (gap, dscp, len) in packets {
        now += gap;
        let packet = udp4("10.0.0.1:4000", "10.0.0.2:5060", *dscp, usize::from(*len));
        file.record(now, &ethernet(&packet));
    }
    let bytes: Arc<[u8]> = file.finish().into();
    let selection = Selection::default();
    let found = survey(&bytes[..], &selection, Grouping::Dscp, 100).unwrap();
    let clock = Clock::new(&selection, &found, speed, looped);
    let opener: Arc<dyn Opener> = Arc::new(bytes);
    let (selection, found) = (Arc::new(selection), Arc::new(found));
    let sent = Sent::read(&opener, &selection, &found, clock).unwrap();
    let mut replay = Replay::new(opener, selection, Arc::clone(&found), clock, Time::ZERO);
    let rounds = if looped { 4 } else { 1 };
    let mut sends = Vec::new();
    while let Some(p) = replay.next().unwrap() {
        let group = found.flows.entries()[p.flow as usize].group as usize;
        sends.push((p.at.since(Time::ZERO).as_ps(), group, p.len));
        if sends.len() == rounds * packets.len() {
            break;
        }
    }
    Case {
        sent: sent.unwrap(),
        packets: sends,
    }
}

fn occupied(len: u16) -> u32 {
    u32::from(len) + 18
}

/// How many bytes a curve leaves at least, in all times from one packet to another: what came
/// within it, both included, must be at most the value right after it.
fn least_room(case: &Case, group: usize, curve: &Curve) -> Exact {
    let of: Vec<_> = case.packets.iter().filter(|p| p.1 == group).collect();
    let mut least = Exact::from_integer(i128::from(u32::MAX));
    for (i, first) in of.iter().enumerate() {
        let mut bytes = 0;
        for last in &of[i..] {
            bytes += i128::from(occupied(last.2));
            let most = curve.right_of(Exact::from_integer((last.0 - first.0).into()));
            least = least.min(most.unwrap() / UNITS - Exact::from_integer(bytes));
        }
    }
    least
}

proptest! {
    /// It is never exceeded, whatever the speed and however often it repeats, and nowhere could it
    /// be a packet less.
    #[test]
    fn no_time_holds_more_and_one_holds_all(
        packets in prop::collection::vec((prop_oneof![Just(0_u64), 1_u64..900, 1_u64..2_000_000], prop_oneof![Just(0_u8), Just(46)], 1_u16..1400), 1..60),
        speed in prop_oneof![Just(1.0), Just(2.0), 0.01_f64..80.0],
        looped in any::<bool>(),
    ) {
        let case = case(&packets, speed, looped);
        let groups = case.packets.iter().map(|p| p.1).max().unwrap();
        for group in 0..=groups {
            let curve = case.sent.arrivals(group, &occupied);
            let Ok(curve) = curve else {
                // All at one time, again and again without a pause.
                prop_assert!(looped && packets[1..].iter().all(|p| p.0 == 0));
                continue;
            };
            let room = least_room(&case, group, &curve);
            prop_assert!(room >= Exact::from_integer(0), "{room} B of {curve:?}");
            // Short of rounding, some time holds all.
            let rounded = curve.pieces()[0].slope * 2 / UNITS + 1;
            prop_assert!(room < rounded, "{room} B of {curve:?}");
        }
    }
}

/// Two bursts of three packets of 1000 B, 10 ms apart, each packet 1 ms after the one before.
#[test]
fn a_small_capture_has_the_hull_of_its_packets() {
    const MS: u64 = 1_000_000;
    let one = |gap| (gap * MS, 0, 972);
    let packets = [one(0), one(1), one(1), one(8), one(1), one(1)];
    let once = case(&packets, 1.0, false);
    let curve = once.sent.arrivals(0, &|len| len.into()).unwrap();
    let corner = |ms: i128, kb: i128| (Exact::from_integer(ms * 1_000_000_000), kb * 1000 * UNITS);
    // 1000 B at once, 3000 within 2 ms, 6000 within 12 ms, and no more.
    for (at, value) in [
        corner(0, 1),
        corner(1, 2),
        corner(2, 3),
        corner(12, 6),
        corner(99, 6),
    ] {
        let found = curve.right_of(at).unwrap();
        let off = found - Exact::from_integer(value);
        assert!(
            off >= Exact::from_integer(0) && off < Exact::from_integer(UNITS),
            "{at}: {curve:?}"
        );
    }
    // It repeats after 12 ms and a mean gap, 12 / 5 ms.
    let again = case(&packets, 1.0, true);
    let curve = again.sent.arrivals(0, &|len| len.into()).unwrap();
    let mean = Exact::new(6 * 8 * 1000 * 10_000, 144);
    let off = curve.final_slope() - mean;
    assert!(
        off >= Exact::from_integer(0) && off < Exact::from_integer(1),
        "{curve:?}"
    );
}

/// The number of lines does not grow with the capture.
#[test]
fn a_large_capture_has_few_lines() {
    let packet = |i: u64| {
        let at = i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
        (at, 0, 64 + (i % 1300) as u16)
    };
    let packets: Vec<_> = (0..50_000).map(packet).collect();
    let case = case(&packets, 1.0, false);
    let curve = case.sent.arrivals(0, &occupied).unwrap();
    assert!(curve.pieces().len() <= 24, "{}", curve.pieces().len());
}
