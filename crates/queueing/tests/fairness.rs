//! Who gets how much: measured shares against fluid arithmetic.

use crate::common::{build, packet, rate};
use proptest::prelude::*;
use spillgate_core::testkit::effort;
use spillgate_core::{Dscp, Dur, Packet, Time};
use spillgate_queueing::testkit::{Bench, Outcome};

/// Constant-rate arrivals of `len`-byte packets for `secs` seconds.
fn constant(bench: &mut Bench, mbps: f64, phase: f64, secs: f64, make: impl Fn(u32) -> Packet) {
    let p = make(0);
    let gap = f64::from(p.len) * 8.0 / (mbps * 1e6);
    for i in 0..((secs / gap) as u32) {
        bench.arrive(Time::from_secs_f64((f64::from(i) + phase) * gap), make(i));
    }
}

fn with_dscp(flow: u32, dscp: &'static str) -> impl Fn(u32) -> Packet {
    let dscp: Dscp = dscp.parse().unwrap();
    move |i| Packet {
        dscp,
        hash: flow.wrapping_mul(0x9e37_79b9),
        ..packet(flow, i, 1500)
    }
}

/// Mb/s of what satisfies `of` from second 1 to the last.
fn mbps(out: &Outcome, secs: f64, of: impl Fn(&Packet) -> bool) -> f64 {
    let bytes = out.bytes(Time::from_secs_f64(1.0), Time::from_secs_f64(secs), of);
    bytes as f64 * 8.0 / 1e6 / (secs - 1.0)
}

/// Offered Mb/s per class of 1500 B packets at 100 Mb/s, and what each carries.
#[track_caller]
fn check_classes(json: &str, offered: &[(&'static str, f64)], carried: &[f64]) {
    const SECS: f64 = 4.0;
    let mut bench = Bench::new(build(json, 100_000_000), rate(100_000_000));
    for (i, (dscp, rate)) in offered.iter().enumerate() {
        if *rate > 0.0 {
            // Phases that no two classes share.
            let phase = 0.1 + 0.13 * i as f64;
            constant(&mut bench, *rate, phase, SECS, with_dscp(i as u32, dscp));
        }
    }
    let out = bench.run();
    for (i, expected) in carried.iter().enumerate() {
        let got = mbps(&out, SECS, |p| p.flow == i as u32);
        // SCFQ's lag: at each end of the 3 s one packet of each of six classes, weighed by
        // shares of which the largest is 3.5 times the smallest but class-default's 1 %:
        // 2 * 6 * 12 kb / 3 s = 0.048 Mb/s; and the one packet per arrival process.
        assert!(
            (got - expected).abs() < 0.05,
            "{}: {got}, not {expected}",
            offered[i].0
        );
    }
}

const ABC: &str = r#"{"main": {"class-based": {"classes": [
    {"name": "a", "match": {"dscp": "af11"}, "bandwidth": "50 %"},
    {"name": "b", "match": {"dscp": "af21"}, "bandwidth": "30 %"},
    {"name": "c", "match": {"dscp": "af31"}, "bandwidth": "20 %"}]}}}"#;

#[test]
fn unused_bandwidth_is_shared_in_proportion() {
    let offered = |a| [("af11", a), ("af21", 100.0), ("af31", 100.0)];
    check_classes(ABC, &offered(0.0), &[0.0, 60.0, 40.0]);
    check_classes(ABC, &offered(10.0), &[10.0, 54.0, 36.0]);
    check_classes(ABC, &offered(100.0), &[50.0, 30.0, 20.0]);
}

/// The customer-edge node: voice, video, critical, non-critical and bulk data.
const S0: [(&str, f64); 5] = [
    ("ef", 15.0),
    ("af41", 30.0),
    ("af31", 30.012),
    ("af21", 40.032),
    ("af11", 7.992),
];
const S0_CARRIED: [f64; 5] = [15.0, 30.0, 23.504, 23.504, 7.992];

fn customer_edge(voice: &str) -> String {
    format!(
        r#"{{"main": {{"class-based": {{"classes": [
            {{"name": "voice", "match": {{"dscp": "ef"}}, {voice}}},
            {{"name": "video", "match": {{"dscp": "af41"}}, "bandwidth": "35 %"}},
            {{"name": "critical", "match": {{"dscp": ["af31", "af32", "af33"]}}, "bandwidth": "20 %"}},
            {{"name": "non-critical", "match": {{"dscp": ["af21", "af22", "af23"]}}, "bandwidth": "20 %"}},
            {{"name": "bulk", "match": {{"dscp": ["af11", "af12", "af13"]}}, "bandwidth": "10 %"}}]}}}}}}"#
    )
}

#[test]
fn the_customer_edge_node_shares_as_computed() {
    check_classes(&customer_edge(r#""bandwidth": "15 %""#), &S0, &S0_CARRIED);
    check_classes(
        &customer_edge(r#""priority": {"rate": "15 %"}"#),
        &S0,
        &S0_CARRIED,
    );
}

/// Classes of AF11 to AF31 with these statements beside an EF class, all of them overloaded.
#[track_caller]
fn check_remaining(ef: &str, statements: [&str; 3], carried: &[f64]) {
    let [a, b, c] = statements;
    let json = format!(
        r#"{{"main": {{"class-based": {{"classes": [
            {{"name": "ef", "match": {{"dscp": "ef"}}, {ef}}},
            {{"name": "a", "match": {{"dscp": "af11"}}, {a}}},
            {{"name": "b", "match": {{"dscp": "af21"}}, {b}}},
            {{"name": "c", "match": {{"dscp": "af31"}}, {c}}}]}}}}}}"#
    );
    let offered = ["ef", "af11", "af21", "af31"].map(|dscp| (dscp, 100.0));
    check_classes(&json, &offered, carried);
}

/// What `bandwidth remaining` says is exact, however little it is: 70 Mb/s in the ratio of 10 to 1
/// to 25.
#[test]
fn remaining_bandwidth_is_divided_as_written() {
    let ef = r#""priority": {"rate": "30 %", "burst": "15 kB"}"#;
    // The bucket of the 30 Mb/s brings 15 kB once.
    let carried = [30.0, 70.0 * 10.0 / 36.0, 70.0 / 36.0, 70.0 * 25.0 / 36.0];
    let percents = ["10 %", "1 %", "25 %"].map(|p| format!(r#""bandwidth_remaining": "{p}""#));
    check_remaining(ef, percents.each_ref().map(|s| &**s), &carried);
    let ratios = [10, 1, 25].map(|n| format!(r#""bandwidth_remaining_ratio": {n}"#));
    check_remaining(ef, ratios.each_ref().map(|s| &**s), &carried);
    // Ten times less than a hundredth, and what a guaranteed class leaves.
    let ratios = [600, 1, 399].map(|n| format!(r#""bandwidth_remaining_ratio": {n}"#));
    let carried = [90.0, 6.0, 0.01, 3.99];
    check_remaining(
        r#""bandwidth": "90 %""#,
        ratios.each_ref().map(|s| &**s),
        &carried,
    );
}

/// A guaranteed class gets what it is promised beside any number of classes without a statement,
/// which share equally what it does not use. So it is in a nested policy, too.
#[test]
fn nothing_is_taken_from_what_is_promised() {
    const SECS: f64 = 4.0;
    let most = rate(10_000_000);
    for others in [1_u8, 3, 30] {
        let more: Vec<String> = (1..=others)
            .map(|i| {
                format!(
                    r#"{{"name": "c{i}", "match": {{"dscp": {i}}}, "queue_limit": "64 packets"}}"#
                )
            })
            .collect();
        let classes = format!(
            r#"{{"class-based": {{"classes": [
                {{"name": "all", "match": {{"dscp": "ef"}}, "bandwidth": "100 %"}}, {}]}}}}"#,
            more.join(", ")
        );
        let nested = format!(
            r#"{{"main": {{"class-based": {{"classes": [
                {{"name": "class-default", "shape": {{"rate": "10 Mb/s"}}, "policy": "inner"}}]}}}}, "inner": {classes}}}"#
        );
        let plain = format!(r#"{{"main": {classes}}}"#);
        for (json, port) in [(&plain, most), (&nested, rate(20_000_000))] {
            for (promised, left) in [(20.0, 0.0), (4.0, 6.0)] {
                let mut bench = Bench::new(build(json, port.bps()), port);
                constant(&mut bench, promised, 0.1, SECS, with_dscp(0, "ef"));
                for i in 1..=others {
                    let dscp = Dscp::new(i).unwrap();
                    let make = |seq| Packet {
                        dscp,
                        ..packet(i.into(), seq, 1500)
                    };
                    constant(&mut bench, 10.0, 0.2 + f64::from(i) / 50.0, SECS, make);
                }
                let out = bench.run();
                let of = |f: u8| mbps(&out, SECS, |p| p.flow == u32::from(f));
                // At each end of the 3 s one packet of 12 kb that is on the line, and one that
                // waits.
                let within = 4.0 * 0.012 / 3.0;
                let got = of(0);
                assert!(
                    (got - (10.0 - left)).abs() <= within,
                    "{others} beside it: {got}"
                );
                for i in 1..=others {
                    let (got, share) = (of(i), left / f64::from(others));
                    assert!(
                        (got - share).abs() <= within,
                        "{i} of {others}: {got}, not {share}"
                    );
                }
            }
        }
    }
}

/// Fluid max-min over the node's 50 flows, each an equal share of 100 Mb/s: only flows
/// above 2.5769 Mb/s lose. Offered per flow by (count, Mb/s); carried by kind of flow.
#[test]
fn equal_weights_satisfy_the_small_flows() {
    const SECS: f64 = 4.0;
    let kinds: [(u32, f64, f64); 8] = [
        (10, 1.5, 1.5),
        (10, 3.0, 2.576_92),
        (4, 2.502, 2.502),
        (6, 3.336, 2.576_92),
        (4, 3.336, 2.576_92),
        (6, 4.446, 2.576_92),
        (4, 0.666, 0.666),
        (6, 0.888, 0.888),
    ];
    let json = r#"{"main": {"wfq": {"hold_queue": "10000 packets"}}}"#;
    let mut bench = Bench::new(build(json, 100_000_000), rate(100_000_000));
    let mut flow = 0;
    let mut kind_of = Vec::new();
    for (k, (count, rate, _)) in kinds.iter().enumerate() {
        for i in 0..*count {
            let phase = f64::from(i * 7 + k as u32) / 71.0;
            constant(&mut bench, *rate, phase, SECS, with_dscp(flow, "default"));
            kind_of.push(k);
            flow += 1;
        }
    }
    let out = bench.run();
    for (k, (count, _, expected)) in kinds.iter().enumerate() {
        let got = mbps(&out, SECS, |p| kind_of[p.flow as usize] == k) / f64::from(*count);
        // Two packets of 12 kb per flow and end of the 3 s: 0.016 Mb/s.
        assert!(
            (got - expected).abs() < 0.016,
            "kind {k}: {got}, not {expected}"
        );
    }
}

/// With equal weights, as HQF has them, precedence counts for nothing: eight conversations get an
/// eighth each.
#[test]
fn flows_of_equal_weight_share_alike() {
    let json = r#"{"main": {"class-based": {"classes": [{"name": "class-default",
        "fair_queue": {"queues": 4096, "hold_queue": 100000, "threshold": 4096, "weights": "equal"}}]}}}"#;
    let mut bench = Bench::new(build(json, 1_000_000), rate(1_000_000));
    for flow in 0..8_u8 {
        for seq in 0..2000 {
            let p = Packet {
                dscp: Dscp::new(8 * flow).unwrap(),
                hash: u32::from(flow).wrapping_mul(0x9e37_79b9),
                ..packet(flow.into(), seq, 1250)
            };
            bench.arrive(Time::ZERO, p);
        }
    }
    let out = bench.run();
    let end = Time::ZERO + Dur::from_secs(100);
    for flow in 0..8_u32 {
        let packets = out.bytes(Time::ZERO, end, |p| p.flow == flow) / 1250;
        // Of 10 000 packets; alike in length, they take turns.
        assert!(packets.abs_diff(1250) <= 1, "flow {flow}: {packets}");
    }
}

/// Cisco's example: one conversation per precedence 0..7 gets 1/36 .. 8/36; with 18 of
/// precedence 1 in place of one, each of these gets 2/70.
#[test]
fn flow_wfq_shares_by_precedence() {
    for (ones, total) in [(1, 36.0), (18, 70.0)] {
        let json =
            r#"{"main": {"flow-wfq": {"queues": 4096, "hold_queue": 100000, "threshold": 4096}}}"#;
        let mut bench = Bench::new(build(json, 1_000_000), rate(1_000_000));
        let precedences = (0..8).chain(std::iter::repeat_n(1, ones - 1));
        let precedences: Vec<u8> = precedences.collect();
        for (flow, precedence) in precedences.iter().enumerate() {
            for seq in 0..4000 {
                let p = Packet {
                    dscp: Dscp::new(8 * precedence).unwrap(),
                    hash: (flow as u32).wrapping_mul(0x9e37_79b9),
                    ..packet(flow as u32, seq, 1250)
                };
                bench.arrive(Time::ZERO, p);
            }
        }
        // 10 ms per packet; 100 s, in which all are backlogged, are 10 000 packets.
        let out = bench.run();
        let end = Time::ZERO + Dur::from_secs(100);
        for (flow, precedence) in precedences.iter().enumerate() {
            let bytes = out.bytes(Time::ZERO, end, |p| p.flow == flow as u32);
            let packets = bytes as f64 / 1250.0;
            let expected = 10_000.0 * (f64::from(*precedence) + 1.0) / total;
            // SCFQ: within a packet per unit of weight of each other, so within 1 + 8 packets;
            // the truncated weights (5397 for 5397.33) move it by 10^-4 of 2223 packets.
            assert!(
                (packets - expected).abs() < 9.3,
                "flow {flow}: {packets}, not {expected}"
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64 * effort()))]

    /// Golestani 1994: for classes that both stay backlogged,
    /// |W_f/share_f - W_m/share_m| <= L_f/share_f + L_m/share_m over any interval.
    #[test]
    fn scfq_keeps_its_fairness_bound(
        percents in prop::array::uniform3(5_u32..33),
        lens in prop::array::uniform3(64_u16..1500),
    ) {
        let [a, b, c] = percents;
        let json = format!(r#"{{"main": {{"class-based": {{"classes": [
            {{"name": "a", "match": {{"dscp": "af11"}}, "bandwidth": "{a} %", "queue_limit": "1000 packets"}},
            {{"name": "b", "match": {{"dscp": "af21"}}, "bandwidth": "{b} %", "queue_limit": "1000 packets"}},
            {{"name": "c", "match": {{"dscp": "af31"}}, "bandwidth": "{c} %", "queue_limit": "1000 packets"}}]}}}}}}"#);
        let mut bench = Bench::new(build(&json, 1_000_000), rate(1_000_000));
        for (flow, dscp) in ["af11", "af21", "af31"].into_iter().enumerate() {
            for seq in 0..400 {
                let p = Packet { dscp: dscp.parse().unwrap(), ..packet(flow as u32, seq, lens[flow]) };
                bench.arrive(Time::ZERO, p);
            }
        }
        let out = bench.run().departures;
        // Normalized service of each class after each departure, while all are backlogged.
        let mut left = [400; 3];
        let mut service = [0.0; 3];
        let mut trace = vec![service];
        for d in &out {
            let f = d.packet.flow as usize;
            service[f] += f64::from(d.packet.len) / f64::from(percents[f]);
            left[f] -= 1;
            if left[f] == 0 {
                break;
            }
            trace.push(service);
        }
        for (f, m) in [(0, 1), (0, 2), (1, 2)] {
            let bound = f64::from(lens[f]) / f64::from(percents[f]) + f64::from(lens[m]) / f64::from(percents[m]);
            let diff = trace.iter().map(|s| s[f] - s[m]);
            let (lo, hi) = diff.fold((f64::MAX, f64::MIN), |(l, h), d| (l.min(d), h.max(d)));
            // The largest difference over any interval is that of two prefix sums.
            prop_assert!(hi - lo <= bound * (1.0 + 1e-5), "{} > {bound}", hi - lo);
        }
    }
}
