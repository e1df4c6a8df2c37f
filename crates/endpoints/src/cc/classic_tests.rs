//! `classic_ecn` by hand.

use super::*;

const BASE: Dur = Dur::from_ms(10);

/// Whose means take the half and a quarter of each measurement.
fn fast() -> ClassicEcn {
    let mut aqm = ClassicEcn::new();
    aqm.slow_down(1);
    assert_eq!(aqm.shift, 1);
    aqm
}

/// Whose queue varies by v and is d deep.
fn like(v: f64, d: f64) -> ClassicEcn {
    ClassicEcn {
        rtt: BASE.as_secs_f64() + d,
        deviation: v,
        ..ClassicEcn::new()
    }
}

#[track_caller]
fn is(found: f64, wanted: f64) {
    assert!((found - wanted).abs() < 1e-9, "{found}, not {wanted}");
}

/// 10 ms and 14 ms: a mean of 12 ms, and a deviation of 1 us and a quarter of the way to 4 ms. That
/// is 2 ms deep, which counts as nothing.
#[test]
fn means_and_score() {
    let mut aqm = fast();
    aqm.measure(BASE);
    is(aqm.deviation, 1e-6);
    aqm.measure(Dur::from_ms(14));
    is(aqm.rtt, 0.012);
    is(aqm.deviation, 0.001_000_75);
    aqm.end_round(BASE);
    // lg(1.00075 / 0.75) / 2
    is(aqm.score, 0.208_059_557_502);
}

#[test]
fn the_mean_is_over_more_than_a_sawtooth() {
    let mut aqm = ClassicEcn::new();
    for (threshold, shift) in [(0, 1), (2, 2), (4, 4), (100, 10), (u64::MAX / 1460, 18)] {
        aqm.slow_down(threshold);
        assert_eq!(aqm.shift, shift, "{threshold}");
    }
}

/// 3 ms is four times v0, 8 ms four times d0: 2 a round. Half of v0 and no depth: -1/2 a round, and
/// what was sure of a classic AQM needs 16 rounds to doubt it.
#[test]
fn the_score_rises_and_falls_and_is_bounded() {
    let mut aqm = like(3e-3, 8e-3);
    for round in 1..=12 {
        aqm.end_round(BASE);
        is(aqm.score, f64::min(2.0 * f64::from(round), 17.0));
    }
    aqm = ClassicEcn {
        score: aqm.score,
        ..like(375e-6, 1e-3)
    };
    for round in 1..=40 {
        aqm.end_round(BASE);
        is(aqm.score, f64::max(17.0 - 0.5 * f64::from(round), 0.0));
        assert_eq!(aqm.least_alpha() >= 0.625, round <= 16, "{round}");
    }
}

/// Only what is deeper than d0 tells; only a variation below v0 tells the contrary.
#[test]
fn depth_alone_and_variation_alone() {
    let mut deep = like(750e-6, 4e-3);
    deep.end_round(BASE);
    is(deep.score, 0.5);
    let mut shallow = like(1500e-6, 1e-6);
    shallow.end_round(BASE);
    is(shallow.score, 0.5);
    let mut none = ClassicEcn::new();
    none.end_round(BASE);
    is(none.score, 0.0);
}

/// From 8 to 9 the least reduction grows to 5/16, by which 11/16 of a window are left.
#[test]
fn between_scalable_and_classic() {
    for (score, share) in [
        (7.9, 0.0),
        (8.0, 0.0),
        (8.5, 0.3125),
        (9.0, 0.625),
        (17.0, 0.625),
    ] {
        let aqm = ClassicEcn {
            score,
            ..ClassicEcn::new()
        };
        is(aqm.least_alpha(), share);
    }
}
