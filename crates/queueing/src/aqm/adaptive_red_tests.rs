use super::*;
use crate::aqm::tests::facts;
use crate::aqm::{Automaton, Backlog, early};
use crate::recipe::test_at;
use spillgate_core::{Packet, Rng};

fn resolved(spec: AdaptiveRedSpec) -> Early<AdaptiveRed> {
    test_at(|at| spec.resolve(at, &facts())).unwrap()
}

fn at(packets_per_second: u64) -> LeafFacts {
    LeafFacts {
        rate: Rate::from_bps(packets_per_second * 4000).unwrap(),
        ..facts()
    }
}

/// `max_p` before, average, `max_p` after: from the rules of Floyd, Gummadi and Shenker, section 3.
#[test]
fn floyds_steps() {
    let red = resolved(AdaptiveRedSpec::default());
    assert_eq!((red.law.curve.min_th, red.law.curve.max_th), (5.0, 15.0));
    let rows = [
        (0.1, 12.0, 0.11),
        (0.02, 12.0, 0.025),
        (0.1, 8.0, 0.09),
        (0.1, 10.0, 0.1),
        (0.5, 14.0, 0.5),
        (0.495, 14.0, 0.5),
        (0.01, 6.0, 0.01),
        (0.0105, 6.0, 0.01),
    ];
    for (before, average, after) in rows {
        let found = red.law.step(before, average);
        assert!(
            (found - after).abs() < 1e-12,
            "{before} at {average}: {found}"
        );
    }
}

#[test]
fn floyds_thresholds_follow_the_rate() {
    for (packets, weight, min, max) in [
        (1_000, 0.000_999_5, 5.0, 15.0),
        (10_000, 9.9995e-5, 25.0, 75.0),
        (18_750, 5.333_191e-5, 46.875, 140.625),
    ] {
        let spec = AdaptiveRedSpec::default();
        let rate = at(packets).rate;
        let curve = spec.curve(rate);
        assert!((curve.min_th - min).abs() < 1e-9 && (curve.max_th - max).abs() < 1e-9);
        assert!(
            (spec.weight(rate) / weight - 1.0).abs() < 1e-6,
            "{}",
            spec.weight(rate)
        );
    }
}

/// The clock goes on while nothing arrives, and finds what the last arrival left.
#[test]
fn floyds_clock_ticks_without_arrivals() {
    let red = resolved(AdaptiveRedSpec::default()).law;
    let mut v = red.vars();
    red.moves(&mut v, Time::ZERO + Dur::from_ms(499), 8.0, 8.0);
    assert_eq!(v.max_p, 0.1);
    red.moves(&mut v, Time::ZERO + Dur::from_ms(500), 8.0, 8.0);
    assert!((v.max_p - 0.09).abs() < 1e-12);
    red.moves(&mut v, Time::ZERO + Dur::from_ms(1_700), 8.0, 8.0);
    assert!((v.max_p - 0.0729).abs() < 1e-12);
    // A month later it has reached its end, and the next tick is in time.
    red.moves(&mut v, Time::ZERO + Dur::from_secs(2_592_000), 8.0, 8.0);
    assert_eq!(v.max_p, 0.01);
    assert_eq!(v.ticked, Time::ZERO + Dur::from_secs(2_592_000));
}

/// With 20 packets always waiting the average ends above the middle, and `max_p` at its upper end;
/// with none at its lower.
#[test]
fn max_p_follows_the_load() {
    let mut red = resolved(AdaptiveRedSpec {
        weight: Some(0.1),
        ..AdaptiveRedSpec::default()
    });
    let mut v = red.vars();
    let mut rng = Rng::from_key(3);
    let packet = Packet::new(0, 0, 500);
    let mut run = |v: &mut early::Vars<Spread, Vars>, from: u64, waiting| {
        for ms in from..from + 60_000 {
            red.arrival(
                v,
                Time::ZERO + Dur::from_ms(ms),
                &Backlog::of(waiting, 0),
                &packet,
                &mut rng,
            );
        }
    };
    run(&mut v, 0, 20);
    assert_eq!(v.law.max_p, 0.5);
    run(&mut v, 60_000, 0);
    assert_eq!(v.law.max_p, 0.01);
}

#[test]
fn wrong_parameters_are_refused() {
    let fails = |spec: AdaptiveRedSpec| test_at(|at| spec.resolve(at, &facts())).is_err();
    let spec = AdaptiveRedSpec::default;
    assert!(fails(AdaptiveRedSpec {
        interval: Dur::ZERO,
        ..spec()
    }));
    assert!(fails(AdaptiveRedSpec {
        max_p: 1.5,
        ..spec()
    }));
    assert!(fails(AdaptiveRedSpec {
        min_th: Some(9.0),
        max_th: Some(8.0),
        ..spec()
    }));
}
