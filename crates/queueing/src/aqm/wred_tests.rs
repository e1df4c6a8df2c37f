//! Tests of WRED.

use super::*;
use crate::aqm::curve::Region;
use crate::aqm::tests::{Script, facts};
use crate::aqm::{Automaton, Backlog, Managed};
use crate::recipe::test_at;
use proptest::prelude::*;
use spillgate_core::{DropReason, Ecn, Time, Verdict};

fn wred(spec: WredSpec) -> Managed<Early<Wred>> {
    Managed::new(test_at(|at| spec.resolve(at, &facts())).unwrap())
}

/// The drop probability at an average: 0 below, 1 above, linear between.
fn chance(w: &Managed<Early<Wred>>, dscp: &str, avg: f64) -> f64 {
    let dscp: Dscp = dscp.parse().unwrap();
    match w.automaton.law.curves[usize::from(dscp.value())].region(avg, false) {
        Region::Pass => 0.0,
        Region::Random(p) => p,
        Region::Certain => 1.0,
    }
}

#[track_caller]
fn check(w: &Managed<Early<Wred>>, avg: f64, expected: &[(&str, f64)]) {
    for (dscp, p) in expected {
        let got = chance(w, dscp, avg);
        assert!((got - p).abs() < 5e-7, "{dscp} at {avg}: {got}");
    }
}

#[test]
fn default_profiles_are_the_router_s() {
    let min = |name: &str| WredProfile::default_for_dscp(name.parse().unwrap()).min;
    let expected = [
        ("af11", 32),
        ("af12", 28),
        ("af13", 24),
        ("af21", 32),
        ("af33", 24),
        ("af41", 32),
        ("af43", 24),
        ("ef", 36),
        ("cs1", 22),
        ("cs2", 24),
        ("cs4", 28),
        ("cs7", 34),
        ("default", 20),
        ("le", 20),
        ("voice-admit", 20),
        ("9", 20),
        ("63", 20),
    ];
    for (name, m) in expected {
        assert_eq!(min(name), m, "{name}");
    }
    let by_precedence: Vec<u32> = (0..8)
        .map(|p| WredProfile::default_for_precedence(p).min)
        .collect();
    assert_eq!(by_precedence, [20, 22, 24, 26, 28, 31, 33, 35]);
}

#[test]
fn probabilities_follow_the_profiles() {
    let w = wred(WredSpec::default());
    check(
        &w,
        36.0,
        &[
            ("af11", 0.05),
            ("af12", 0.066_667),
            ("af13", 0.075),
            ("ef", 0.0),
        ],
    );
    check(
        &w,
        39.9,
        &[
            ("af11", 0.098_75),
            ("af12", 0.099_167),
            ("af13", 0.099_375),
            ("ef", 0.097_5),
        ],
    );
    check(&w, 40.0, &[("af11", 1.0), ("af13", 1.0), ("ef", 1.0)]);
    check(
        &w,
        30.0,
        &[("af11", 0.0), ("af12", 0.016_667), ("af13", 0.037_5)],
    );
    let w = wred(WredSpec {
        by: WredBy::Precedence,
        ..WredSpec::default()
    });
    check(&w, 30.0, &[("default", 0.05), ("le", 0.05)]);
    for step in 0..450 {
        let avg = f64::from(step) * 0.1;
        let w = wred(WredSpec::default());
        let p = [1, 2, 3].map(|d| chance(&w, &format!("af2{d}"), avg));
        assert!(p[0] <= p[1] && p[1] <= p[2], "{avg}: {p:?}");
    }
}

#[test]
fn profiles_can_be_replaced() {
    let profile = |min| WredProfile {
        min,
        max: 42,
        denominator: 10,
    };
    let w = wred(WredSpec {
        dscp: [("af21", 24), ("af31", 26)]
            .map(|(d, min)| (d.parse().unwrap(), profile(min)))
            .into(),
        ..WredSpec::default()
    });
    check(&w, 33.0, &[("af21", 0.05), ("af31", 0.043_75)]);
    check(&w, 41.0, &[("af21", 0.094_444), ("af31", 0.093_75)]);
    check(&w, 42.0, &[("af21", 1.0), ("af31", 1.0)]);
}

#[test]
fn one_draw_between_the_thresholds_and_none_elsewhere() {
    let mut w = wred(WredSpec {
        exponential_weighting_constant: Some(1),
        ecn: true,
        ..WredSpec::default()
    });
    let mut script = Script::new(&[0.04, 0.06, 0.04]);
    let mut ask = |w: &mut Managed<Early<Wred>>, avg: f64, ecn| {
        // With n = 1 the next average is half way from this one to the queue of 36.
        w.vars.averages.value = 2.0 * avg - 36.0;
        let packet = Packet {
            dscp: "af11".parse().unwrap(),
            ecn,
            ..Packet::new(0, 0, 500)
        };
        w.arrival(Time::ZERO, &Backlog::of(36, 0), &packet, &mut script)
    };
    // p = 0.05 at 36.
    assert_eq!(ask(&mut w, 31.0, Ecn::NotEct), Verdict::Pass);
    assert_eq!(
        ask(&mut w, 36.0, Ecn::NotEct),
        Verdict::Drop(DropReason::Early)
    );
    assert_eq!(ask(&mut w, 36.0, Ecn::NotEct), Verdict::Pass);
    assert_eq!(ask(&mut w, 36.0, Ecn::Ect0), Verdict::Mark);
    assert_eq!(
        ask(&mut w, 40.0, Ecn::Ect0),
        Verdict::Drop(DropReason::Forced)
    );
    assert_eq!(script.drawn, 3);
}

/// What IOS XE prints as its active table: thresholds of limits in bytes and in time (10 ms at
/// 300 Mb/s), recorded (github.com/CiscoTestAutomation/genieparser, `ShowPolicyMapInterface`).
#[test]
fn defaults_of_ios_xe_are_shares_of_the_limit() {
    let table = |limit, rate| {
        let w = WredSpec {
            by: WredBy::Precedence,
            unit: WredUnit::Bytes,
            defaults: WredDefaults::IosXe,
            ..WredSpec::default()
        };
        let profile = |p: u8| w.profile(Dscp::new(p << 3).unwrap(), limit, rate);
        assert!((0..8).all(|p| profile(p).denominator == 10));
        let max = profile(0).max;
        assert!((0..8).all(|p| profile(p).max == max));
        ([0, 1, 2, 3, 4, 5, 6, 7].map(|p| profile(p).min), max)
    };
    let rate = Rate::from_bps(300_000_000).unwrap();
    let (minima, max) = table(Limit::Bytes(562_500), rate);
    let some = [
        minima[0], minima[1], minima[2], minima[3], minima[5], minima[7],
    ];
    assert_eq!(some, [140_625, 158_203, 175_781, 193_359, 228_515, 263_671]);
    assert_eq!(max, 281_250);
    let (minima, max) = table(Limit::Bytes(62_500), rate);
    assert_eq!((minima[4], minima[6], max), (23_437, 27_343, 31_250));
    let (minima, max) = table(Limit::Time(spillgate_core::Dur::from_ms(10)), rate);
    assert_eq!(
        (
            [
                minima[0], minima[1], minima[2], minima[4], minima[5], minima[6], minima[7]
            ],
            max
        ),
        (
            [93_750, 105_468, 117_187, 140_625, 152_343, 164_062, 175_781],
            187_500
        )
    );
}

/// The unit of the limit and that of the thresholds may differ; with IOS's own defaults the limit
/// is of no account.
#[test]
fn defaults_in_packets_and_bytes() {
    let rate = Rate::from_bps(1_000_000).unwrap();
    let of = |defaults, unit, limit, dscp: &str| {
        let w = WredSpec {
            unit,
            defaults,
            ..WredSpec::default()
        };
        let p = w.profile(dscp.parse().unwrap(), limit, rate);
        (p.min, p.max)
    };
    use WredDefaults::{Ios, IosXe};
    use WredUnit::{Bytes, Packets};
    let packets = Limit::Packets(64);
    for (dscp, min) in [
        ("default", 16),
        ("cs1", 18),
        ("cs7", 30),
        ("af11", 25),
        ("af12", 22),
        ("af13", 19),
        ("ef", 28),
    ] {
        assert_eq!(of(IosXe, Packets, packets, dscp), (min, 32), "{dscp}");
    }
    assert_eq!(of(IosXe, Bytes, packets, "default"), (24_000, 48_000));
    assert_eq!(of(IosXe, Packets, Limit::Bytes(96_000), "cs1"), (18, 32));
    assert_eq!(of(IosXe, Packets, Limit::Packets(1), "cs1"), (1, 1));
    assert_eq!(of(Ios, Packets, Limit::Packets(4096), "af11"), (32, 40));
    assert_eq!(
        of(Ios, Bytes, Limit::Packets(4096), "af11"),
        (32_000, 40_000)
    );
}

/// The table of the documentation: what each drop precedence has of the queue, and the weight.
#[test]
fn staggered_thresholds_do_not_overlap() {
    let rate = Rate::from_bps(12_000_000).unwrap();
    let spec = |unit| WredSpec {
        unit,
        defaults: WredDefaults::Staggered,
        ..WredSpec::default()
    };
    let of = |unit, limit, dscp: &str| {
        let p = spec(unit).profile(dscp.parse().unwrap(), limit, rate);
        (p.min, p.max, p.denominator)
    };
    use WredUnit::{Bytes, Ms, Packets};
    let packets = Limit::Packets(64);
    for class in 1..=4 {
        let of = |drop| of(Packets, packets, &format!("af{class}{drop}"));
        assert_eq!(
            [of(1), of(2), of(3)],
            [(48, 64, 10), (16, 32, 10), (8, 16, 10)]
        );
    }
    for (dscp, like) in [
        ("ef", "af11"),
        ("cs1", "af11"),
        ("cs7", "af11"),
        ("default", "af13"),
        ("le", "af13"),
        ("9", "af13"),
    ] {
        assert_eq!(
            of(Packets, packets, dscp),
            of(Packets, packets, like),
            "{dscp}"
        );
    }
    // A packet of the limit counts 1500 B; 20 ms are 30 000 B.
    assert_eq!(of(Bytes, packets, "af12"), (24_000, 48_000, 10));
    assert_eq!(of(Ms, packets, "af12"), (24_000, 48_000, 10));
    assert_eq!(of(Packets, Limit::Bytes(96_000), "af12"), (16, 32, 10));
    let short = Limit::Time(Dur::from_ms(20));
    assert_eq!(of(Packets, short, "af11"), (15, 20, 10));
    assert_eq!(of(Bytes, short, "af11"), (22_500, 30_000, 10));
    // No threshold is 0.
    assert_eq!(of(Packets, Limit::Packets(1), "af13"), (1, 1, 10));
    for (limit, n) in [
        (1, 1),
        (8, 1),
        (16, 2),
        (63, 3),
        (64, 4),
        (128, 5),
        (1000, 7),
        (2048, 9),
        (100_000, 9),
    ] {
        let n_of = |spec: WredSpec| spec.weighting_constant(Limit::Packets(limit), rate);
        assert_eq!(n_of(spec(Packets)), n, "{limit}");
        assert_eq!(n_of(WredSpec::default()), 9);
        let own = WredSpec {
            exponential_weighting_constant: Some(6),
            ..spec(Packets)
        };
        assert_eq!(n_of(own), 6);
    }
    let by = WredBy::Precedence;
    let spec = WredSpec {
        by,
        ..spec(Packets)
    };
    let e = test_at(|at| spec.resolve(at, &facts())).unwrap_err();
    assert_eq!(
        (e.path, e.found),
        ("policies.test.defaults".into(), "staggered".into())
    );
}

proptest! {
    /// Whatever comes out of profile, and however it comes, the last quarter of the queue is left
    /// to what is in profile; and that is dropped only where it has filled more than this itself.
    #[test]
    fn what_is_out_of_profile_leaves_a_quarter_of_the_queue(
        limit in 16_u32..3000,
        steps in prop::collection::vec((2_u8..=3, 0_u32..4, 0.0..1.0_f64), 1..3000),
    ) {
        let spec = WredSpec { defaults: WredDefaults::Staggered, ..WredSpec::default() };
        let leaf = LeafFacts { limit: Limit::Packets(limit), max_packets: Some(limit), ..facts() };
        let mut w = Managed::new(test_at(|at| spec.resolve(at, &leaf)).unwrap());
        let mut waiting = 0;
        for (drop, left, draw) in steps {
            let dscp = Dscp::af(1, drop).unwrap();
            let packet = Packet { dscp, ..Packet::new(0, 0, 500) };
            let draws = [draw];
            let mut script = Script::new(&draws);
            let backlog = &Backlog::of(waiting, u64::from(waiting) * 500);
            if w.arrival(Time::ZERO, backlog, &packet, &mut script) == Verdict::Pass {
                waiting += 1;
            }
            prop_assert!(f64::from(waiting) <= 0.75 * f64::from(limit), "{waiting} of {limit}");
            let in_profile = Packet { dscp: Dscp::af(1, 1).unwrap(), ..packet };
            let seen = w.clone().arrival(Time::ZERO, backlog, &in_profile, &mut script);
            prop_assert_eq!(seen, Verdict::Pass);
            waiting = waiting.saturating_sub(left);
        }
    }
}

/// Milliseconds are those of the rate that the queue is guaranteed, as IOS XE prints a limit of
/// 10 ms in a class with 300 Mb/s as 375,000 B.
#[test]
fn times_are_bytes_at_the_rate_of_the_queue() {
    let rate = Rate::from_bps(300_000_000).unwrap();
    let profile = WredProfile {
        min: 2,
        max: 5,
        denominator: 10,
    };
    let af11: Dscp = "af11".parse().unwrap();
    let spec = WredSpec {
        unit: WredUnit::Ms,
        dscp: [(af11, profile)].into(),
        ..WredSpec::default()
    };
    let limit = Limit::Time(spillgate_core::Dur::from_ms(10));
    let of = |rate| {
        let p = spec.profile(af11, limit, rate);
        (p.min, p.max, p.denominator)
    };
    assert_eq!(of(rate), (75_000, 187_500, 10));
    // At a rate at which a millisecond is no byte it is one.
    assert_eq!(of(Rate::from_bps(1000).unwrap()), (1, 1, 10));
    // Code points without a profile have the defaults in bytes.
    let p = spec.profile(Dscp::DEFAULT, limit, rate);
    assert_eq!((p.min, p.max), (20_000, 40_000));
    let lines = spec.thresholds(limit, rate);
    let written: Vec<_> = lines.iter().filter(|t| t.written).collect();
    assert_eq!(written.len(), 1);
    assert!(written[0].in_bytes && written[0].max == 187_500.0);
    let refused = |min, max, rate| {
        let spec = WredSpec {
            unit: WredUnit::Ms,
            dscp: [(
                af11,
                WredProfile {
                    min,
                    max,
                    denominator: 10,
                },
            )]
            .into(),
            ..WredSpec::default()
        };
        let leaf = LeafFacts {
            rate: Rate::from_bps(rate).unwrap(),
            ..facts()
        };
        let e = test_at(|at| spec.resolve(at, &leaf)).unwrap_err();
        (e.path, e.found)
    };
    let path = |end: &str| format!("policies.test.dscp.af11.{end}");
    assert_eq!(refused(0, 5, 1000), (path("min"), "0".into()));
    assert_eq!(refused(2, 10_001, 1000), (path("max"), "10001".into()));
    assert_eq!(
        refused(2, 1000, 400_000_000_000),
        (path("max"), "1000".into())
    );
}

/// In bytes the same queue is judged by what its packets weigh.
#[test]
fn bytes_are_averaged() {
    let spec = WredSpec {
        by: WredBy::Precedence,
        unit: WredUnit::Bytes,
        exponential_weighting_constant: Some(1),
        ..WredSpec::default()
    };
    let mut w = wred(spec);
    let ask = |w: &mut Managed<Early<Wred>>, bytes| {
        let mut script = Script::new(&[]);
        let backlog = &Backlog::of(30, bytes);
        w.vars.averages.value = bytes as f64;
        w.arrival(Time::ZERO, backlog, &Packet::new(0, 0, 500), &mut script)
    };
    assert_eq!(ask(&mut w, 19_999), Verdict::Pass);
    assert_eq!(ask(&mut w, 40_000), Verdict::Drop(DropReason::Forced));
    assert!(
        w.automaton
            .odds()
            .is_some_and(|o| o.in_bytes && o.max == 40_000.0)
    );
    assert_eq!(
        (w.average(), w.automaton.decides_by_packets()),
        (Some(40_000.0), false)
    );
}

/// Of a packet with labels the class selector of its EXP bits chooses the profile (RFC 3270 §2.6),
/// not the DSCP that the labels hide: at 30 packets that of CS1 drops 0.1 * 8/18, that of AF11
/// nothing.
#[test]
fn labels_choose_the_profile_by_dscp() {
    let mut w = wred(WredSpec::default());
    let mut ask = |labels: &[u8], u: &[f64]| {
        w.vars.averages.value = 30.0;
        let mut packet = Packet {
            dscp: "af11".parse().unwrap(),
            ..Packet::new(0, 0, 500)
        };
        labels.iter().for_each(|exp| packet.labels.push(*exp));
        let behind = &Backlog::of(30, 15_000);
        let mut script = Script::new(u);
        let verdict = w.arrival(Time::ZERO, behind, &packet, &mut script);
        (verdict, script.drawn)
    };
    assert_eq!(ask(&[], &[]), (Verdict::Pass, 0));
    assert_eq!(ask(&[1], &[0.044]), (Verdict::Drop(DropReason::Early), 1));
    assert_eq!(ask(&[1], &[0.045]), (Verdict::Pass, 1));
    // The top label counts.
    assert_eq!(ask(&[1, 7], &[]), (Verdict::Pass, 0));
}
