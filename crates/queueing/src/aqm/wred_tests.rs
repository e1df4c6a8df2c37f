//! Tests of WRED.

use super::*;
use crate::aqm::tests::{Script, facts};
use crate::recipe::test_at;
use spillgate_core::Ecn;

fn wred(spec: WredSpec) -> Wred {
    let n = WredSpec::default();
    assert_eq!(n.exponential_weighting_constant, 9);
    test_at(|at| spec.resolve(at, &facts())).unwrap()
}

/// The drop probability at an average: 0 below, 1 above, linear between.
fn chance(w: &Wred, dscp: &str, avg: f64) -> f64 {
    let dscp: Dscp = dscp.parse().unwrap();
    let p = &w.params.profiles[usize::from(dscp.value())];
    if avg < p.min {
        0.0
    } else if avg >= p.max {
        1.0
    } else {
        p.chance(avg)
    }
}

#[track_caller]
fn check(w: &Wred, avg: f64, expected: &[(&str, f64)]) {
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
    let by_precedence: Vec<u16> = (0..8)
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
        exponential_weighting_constant: 1,
        ecn: true,
        ..WredSpec::default()
    });
    let mut script = Script::new(&[0.04, 0.06, 0.04]);
    let mut ask = |w: &mut Wred, avg: f64, ecn| {
        // With n = 1 the next average is half way from this one to the queue of 36.
        w.vars.average.value = 2.0 * avg - 36.0;
        let packet = Packet {
            dscp: "af11".parse().unwrap(),
            ecn,
            ..Packet::new(0, 0, 500)
        };
        w.arrival(Time::ZERO, Backlog { packets: 36 }, &packet, &mut script)
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
