//! Policers of three colors: against an independent model, and what holds for every sequence.
//! Markers by the average rate: whose random numbers they draw.

use proptest::prelude::*;
use spillgate_core::{DropReason, Drops, Dscp, Packet, Rng, Time};
use spillgate_queueing::Discipline;

use crate::common::build;

/// A discipline that polices every packet by `police`, and marks each with its color.
fn policer(police: &str, rate: u64) -> Discipline {
    let json = format!(
        r#"{{"main": {{"class-based": {{"classes": [
            {{"name": "all", "match": {{}}, "police": {police}, "queue_limit": "1000000 packets"}}]}}}}}}"#
    );
    build(&json, rate)
}

/// What one packet becomes: its new DSCP, or none if it is dropped.
fn treat(d: &mut Discipline, at: Time, len: u16, dscp: Dscp) -> Option<Dscp> {
    treat_of(d, 0, at, len, dscp)
}

/// The same of a flow.
fn treat_of(d: &mut Discipline, flow: u32, at: Time, len: u16, dscp: Dscp) -> Option<Dscp> {
    let (mut rng, mut drops) = (Rng::from_key(0), Drops::new());
    let packet = Packet {
        dscp,
        ..Packet::new(flow, 0, len)
    };
    d.enqueue(at, packet, &mut rng, &mut drops);
    d.dequeue(at, &mut rng, &mut drops).map(|p| p.dscp)
}

fn dscp(name: &str) -> Dscp {
    name.parse().unwrap()
}

#[test]
fn colors_are_those_of_the_rfcs() {
    let text = include_str!("vectors/meters.txt");
    let mut case = "";
    let mut d = None;
    let mut packets = 0;
    for line in text
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with('#'))
    {
        let (word, rest) = line.split_once(' ').unwrap();
        match word {
            "case" => case = rest,
            "police" => d = Some(policer(rest, 1_000_000_000)),
            _ => {
                let fields: Vec<&str> = rest.split(' ').collect();
                let (at, len, color) = (fields[0], fields[1], fields[fields.len() - 1]);
                let came = fields[2..fields.len() - 1]
                    .first()
                    .copied()
                    .unwrap_or("cs7");
                let at = Time::from_secs_f64(at.parse().unwrap());
                let marked = treat(d.as_mut().unwrap(), at, len.parse().unwrap(), dscp(came));
                let expected = match color {
                    "green" => "cs1",
                    "yellow" => "cs2",
                    _ => "cs3",
                };
                assert_eq!(marked, Some(dscp(expected)), "{case}: {line}");
                packets += 1;
            }
        }
    }
    assert_eq!(packets, 420);
}

#[test]
fn actions_are_those_of_the_color() {
    // 1 kB/s; 100 B conform, 100 B more exceed, the rest violates.
    let police = r#"{"rate": "8 kb/s", "burst": "100 B", "excess_burst": "100 B",
        "conform": "transmit", "exceed": ["transmit", {"set-dscp": "af12"}], "violate": "drop"}"#;
    let mut d = policer(police, 1_000_000_000);
    let ef = dscp("ef");
    let got: Vec<_> = (0..3).map(|_| treat(&mut d, Time::ZERO, 100, ef)).collect();
    assert_eq!(got, [Some(ef), Some(dscp("af12")), None]);
    assert_eq!(d.leaves()[0].drops_packets[DropReason::Policer.index()], 1);
    // Without `violate`, it is the exceed action's.
    let police =
        r#"{"rate": "8 kb/s", "burst": "100 B", "peak_rate": "16 kb/s", "excess_burst": "200 B"}"#;
    let mut d = policer(police, 1_000_000_000);
    let got: Vec<_> = (0..3).map(|_| treat(&mut d, Time::ZERO, 100, ef)).collect();
    assert_eq!(got, [Some(ef), None, None]);
}

/// Arrivals: gap in microseconds, length.
fn arrivals() -> impl Strategy<Value = Vec<(u64, u16)>> {
    proptest::collection::vec((0..20_000_u64, 20..1500_u16), 1..200)
}

const MARKS: &str = r#""conform": {"set-dscp": "cs1"}, "exceed": {"set-dscp": "cs2"}, "violate": {"set-dscp": "cs3"}"#;

/// Bytes by color, and how long it took.
fn run(police: &str, arrivals: &[(u64, u16)]) -> (u64, u64, u64, f64) {
    let mut d = policer(police, 1_000_000_000);
    let (mut green, mut yellow, mut red, mut us) = (0, 0, 0, 0_u64);
    for (gap, len) in arrivals {
        us += gap;
        let at = Time::from_ps(us * 1_000_000);
        let sum = match treat(&mut d, at, *len, dscp("ef")) {
            Some(c) if c == dscp("cs1") => &mut green,
            Some(c) if c == dscp("cs2") => &mut yellow,
            _ => &mut red,
        };
        *sum += u64::from(*len);
    }
    (green, yellow, red, us as f64 / 1e6)
}

proptest! {
    /// RFC 2697: what conforms is at most CBS + CIR t; with what exceeds, at most CBS + EBS + CIR
    /// t. A two-color policer of the same rate and burst finds the same packets to conform.
    #[test]
    fn a_single_rate_bounds_what_it_passes(a in arrivals(), cbs in 20..6000_u64, ebs in 0..6000_u64) {
        let rate = format!(r#""rate": "800 kb/s", "burst": "{cbs} B""#);
        let three = format!(r#"{{{rate}, "excess_burst": "{ebs} B", {MARKS}}}"#);
        let (green, yellow, red, t) = run(&three, &a);
        // Bytes are whole, and the tokens exact: half a byte covers the rounding of the bound
        // alone.
        let brought = 100_000.0 * t + 0.5;
        prop_assert!(green as f64 <= cbs as f64 + brought);
        prop_assert!((green + yellow) as f64 <= (cbs + ebs) as f64 + brought);
        let two = format!(r#"{{{rate}, "conform": {{"set-dscp": "cs1"}}, "exceed": {{"set-dscp": "cs3"}}}}"#);
        let (same, _, rest, _) = run(&two, &a);
        prop_assert_eq!((same, rest), (green, yellow + red));
    }

    /// RFC 2697 section 2: one of CBS and EBS may be 0. Without a committed burst nothing conforms,
    /// and what exceeds is what conforms to a bucket of EBS, which all tokens reach; without an
    /// excess burst nothing exceeds.
    #[test]
    fn one_burst_of_a_single_rate_may_be_zero(a in arrivals(), depth in 20..6000_u64) {
        let three = |cbs, ebs| format!(r#"{{"rate": "800 kb/s", "burst": "{cbs} B", "excess_burst": "{ebs} B", {MARKS}}}"#);
        let (green, yellow, red, _) = run(&three(depth, 0), &a);
        prop_assert_eq!(yellow, 0);
        prop_assert_eq!(run(&three(0, depth), &a).1, green);
        prop_assert_eq!(run(&three(0, depth), &a).0, 0);
        prop_assert_eq!(run(&three(0, depth), &a).2, red);
    }

    /// RFC 2698: what conforms is at most CBS + CIR t, with what exceeds at most PBS + PIR t.
    #[test]
    fn two_rates_bound_what_they_pass(a in arrivals(), cbs in 20..6000_u64, pbs in 20..6000_u64) {
        let police = format!(
            r#"{{"rate": "400 kb/s", "burst": "{cbs} B", "peak_rate": "800 kb/s", "excess_burst": "{pbs} B", {MARKS}}}"#
        );
        let (green, yellow, _, t) = run(&police, &a);
        prop_assert!(green as f64 <= cbs as f64 + 50_000.0 * t + 0.5);
        prop_assert!((green + yellow) as f64 <= pbs as f64 + 100_000.0 * t + 0.5);
    }
}

proptest! {
    /// A meter of each flow does with a flow's packets what a policer would that sees no others.
    #[test]
    fn a_meter_of_each_flow_sees_no_other(
        a in proptest::collection::vec((0..20_000_u64, 20..1500_u16, 0..4_u32), 1..200),
        bucket in 0..3_usize,
    ) {
        let second = ["", r#""excess_burst": "900 B", "#, r#""peak_rate": "900 kb/s", "#][bucket];
        let police = |own: &str| format!(r#"{{"rate": "300 kb/s", "burst": "2 kB", {second}{own}{MARKS}}}"#);
        let mut together = policer(&police(r#""per_flow": true, "#), 1_000_000_000);
        let mut alone: Vec<Discipline> = (0..4).map(|_| policer(&police(""), 1_000_000_000)).collect();
        let mut us = 0;
        for (gap, len, flow) in a {
            us += gap;
            let at = Time::from_ps(us * 1_000_000);
            let got = treat_of(&mut together, flow, at, len, dscp("ef"));
            prop_assert_eq!(got, treat_of(&mut alone[flow as usize], flow, at, len, dscp("ef")));
        }
    }
}

/// Flows whose averages are metered apart draw apart: one more flow moves no mark of another's, and
/// two flows that send alike are not marked alike.
#[test]
fn markers_of_flows_draw_apart() {
    let police = r#"{"rate": "400 kb/s", "window": "100 ms", "per_flow": true, "conform": {"set-dscp": "cs1"}, "exceed": {"set-dscp": "cs2"}}"#;
    let marks = |flows: &[u32]| {
        let mut d = policer(police, 1_000_000_000);
        let mut marks = vec![Vec::new(); 3];
        for ms in 0..2000 {
            for flow in flows {
                let at = Time::from_ps(ms * 1_000_000_000);
                let got = treat_of(&mut d, *flow, at, 100, dscp("ef"));
                marks[*flow as usize].push(got == Some(dscp("cs2")));
            }
        }
        marks
    };
    let (two, three) = (marks(&[0, 1]), marks(&[2, 0, 1]));
    assert_eq!(two[0], three[0]);
    assert_eq!(two[1], three[1]);
    assert_ne!(two[0], two[1]);
    // 800 kb/s at 400: once the average has settled, a half, within four standard deviations of
    // 1500 draws.
    for of_flow in &three {
        let marked = of_flow.iter().skip(500).filter(|m| **m).count() as f64;
        assert!((marked - 750.0).abs() < 4.0 * 375_f64.sqrt(), "{marked}");
    }
}

/// The average of a flow begins with its first packet at the committed rate: one that begins after
/// 10 s is marked as one that begins at once.
#[test]
fn the_average_of_a_flow_begins_with_it() {
    let police = r#"{"rate": "400 kb/s", "window": "100 ms", "per_flow": true, "conform": {"set-dscp": "cs1"}, "exceed": {"set-dscp": "cs2"}}"#;
    let marks = |from_ms: u64| -> Vec<_> {
        let mut d = policer(police, 1_000_000_000);
        let at = |ms: u64| Time::from_ps((from_ms + ms) * 1_000_000_000);
        (0..200)
            .map(|ms| treat_of(&mut d, 1, at(ms), 100, dscp("ef")))
            .collect()
    };
    let at_once = marks(0);
    assert!(at_once.contains(&Some(dscp("cs1"))) && at_once.contains(&Some(dscp("cs2"))));
    assert_eq!(marks(10_000), at_once);
}

/// What a class that drops everything is: no rate lets a packet through, and every drop is a
/// policer's.
#[test]
fn a_class_that_drops_lets_nothing_through() {
    let spec = spillgate_queueing::spec::PoliceSpec::dropping_all();
    assert!(spec.drops_all());
    let mut d = policer(&serde_json::to_string(&spec).unwrap(), 1_000_000);
    for ms in 0..100 {
        let at = Time::from_ps(ms * 1_000_000_000);
        assert_eq!(treat(&mut d, at, 64, dscp("ef")), None);
    }
    let dropped = d.leaves()[0].drops_packets[DropReason::Policer.index()];
    assert_eq!(dropped, 100);
}

/// A marker draws from its own stream: RED behind it drops the same packets as without it, and
/// another stream of the port changes no mark.
#[test]
fn a_marker_moves_nobody_s_random_numbers() {
    let red = |police: &str| {
        let json = format!(
            r#"{{"main": {{"class-based": {{"classes": [{{"name": "all", "match": {{}}, {police}
                "queue_limit": "1000 packets", "aqm": {{"red": {{"min_th": 2, "max_th": 1000, "weight": 1}}}}}}]}}}}}}"#
        );
        build(&json, 1_000_000_000)
    };
    let marks = |mut d: Discipline, key: u64, seed: u64| {
        d.seed(&|name| Rng::named(seed, 0, "links/l", name));
        let (mut rng, mut drops) = (Rng::from_key(key), Drops::new());
        for n in 0..600_u32 {
            let at = Time::from_ps(u64::from(n) * 1_000_000_000);
            d.enqueue(at, Packet::new(0, n, 500), &mut rng, &mut drops);
        }
        let dropped: Vec<u32> = drops.as_slice().iter().map(|d| d.packet.seq).collect();
        let sent = std::iter::from_fn(|| d.dequeue(Time::MAX, &mut rng, &mut Drops::new()));
        let sent: Vec<_> = sent.map(|p| (p.seq, p.dscp)).collect();
        (dropped, sent)
    };
    let plain = r#""bandwidth": "50 %","#;
    let silent = r#""police": {"rate": "1 Mb/s", "window": "50 ms", "exceed": "transmit"},"#;
    let marking =
        r#""police": {"rate": "1 Mb/s", "window": "50 ms", "exceed": {"set-dscp": "cs1"}},"#;
    let without = marks(red(plain), 3, 3);
    assert!(without.0.len() > 20, "{}", without.0.len());
    assert_eq!(marks(red(silent), 3, 3), without);
    let marked = |key, seed| {
        let (dropped, sent) = marks(red(marking), key, seed);
        let marked = sent.iter().filter(|(_, d)| *d == dscp("cs1"));
        (dropped, marked.map(|(seq, _)| *seq).collect::<Vec<_>>())
    };
    let (dropped, first) = marked(3, 3);
    assert_eq!(dropped, without.0);
    assert!(first.len() > 100, "{}", first.len());
    // Another stream of the marker: other marks. Another of the port: other drops, and of the
    // packets that both queue the same are marked.
    assert_ne!(marked(3, 4).1, first);
    let (other, second) = marked(4, 3);
    assert_ne!(other, dropped);
    let both = |seq: &&u32| !other.contains(seq) && !dropped.contains(seq);
    assert!(first.iter().filter(both).eq(second.iter().filter(both)));
}
