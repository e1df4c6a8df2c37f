use super::*;
use crate::aqm::gap::spread;
use crate::aqm::red_spec::RedVariant;
use crate::aqm::tests::{Script, facts};
use crate::aqm::{Aqm, Backlog, Managed};
use crate::aqm::{RedMarks, RedSpread, RedUnit, SizeScaling};
use crate::leaf::{Bound, Leaf};
use crate::recipe::test_at;
use crate::stats::Desk;
use spillgate_core::{DropReason, Ecn, Packet, Rng, Time, Verdict};

fn red(spec: RedSpec) -> Managed<Early<Red>> {
    Managed::new(test_at(|at| spec.resolve(at, &facts())).unwrap())
}

fn arrival(red: &mut Managed<Early<Red>>, q: u32, packet: &Packet, script: &mut Script) -> Verdict {
    red.arrival(Time::ZERO, &Backlog::of(q, 0), packet, script)
}

/// p_b at this average; none where all is dropped.
fn chance(red: &Early<Red>, average: f64) -> Option<f64> {
    match red.law.region(&red.law.0.thresholds(), average, red.gentle) {
        Region::Pass => Some(0.0),
        Region::Random(p_b) => Some(p_b),
        Region::Certain => None,
    }
}

const PACKET: fn() -> Packet = || Packet::new(0, 0, 500);
const EARLY: Verdict = Verdict::Drop(DropReason::Early);
const FORCED: Verdict = Verdict::Drop(DropReason::Forced);

/// Queue, average afterwards, verdict, count afterwards; from the formulas by hand.
#[test]
fn scripted_run() {
    let mut red = red(RedSpec {
        weight: Some(0.25),
        max_p: Some(0.5),
        gentle: Some(false),
        ..RedSpec::default()
    });
    let mut script = Script::new(&[0.5, 0.3, 0.2, 0.1, 0.9, 0.25, 0.4]);
    let rows = [
        (8, 2.0, Verdict::Pass, -1),
        (8, 3.5, Verdict::Pass, -1),
        (8, 4.625, Verdict::Pass, -1),
        (8, 5.468_75, Verdict::Pass, 0),
        (12, 7.101_562, Verdict::Pass, 1),
        (12, 8.326_172, EARLY, 0),
        (12, 9.244_629, EARLY, 0),
        (20, 11.933_472, Verdict::Pass, 1),
        (20, 13.950_104, EARLY, 0),
        (20, 15.462_578, FORCED, 0),
        (30, 19.096_933, FORCED, 0),
        (40, 24.322_7, FORCED, 0),
        (0, 18.242_025, FORCED, 0),
        (0, 13.681_519, EARLY, 0),
    ];
    for (i, (q, avg, verdict, count)) in rows.into_iter().enumerate() {
        let got = arrival(&mut red, q, &PACKET(), &mut script);
        assert_eq!(
            (got, red.vars.averages.gap.count),
            (verdict, count),
            "row {}",
            i + 1
        );
        // Half a unit of the last digit written, with room for the halves themselves.
        let error = (red.vars.averages.average.value - avg).abs();
        assert!(
            error < 6e-7,
            "row {}: {}",
            i + 1,
            red.vars.averages.average.value
        );
    }
    assert_eq!(script.drawn, 7);
}

/// Nonlinear RED: 1.5 max_p x², as much on average as RED's max_p x; gentle begins where it ends.
#[test]
fn a_quadratic_curve() {
    let made = |gentle| {
        let spec = RedSpec {
            curve: Some(RedShape::Quadratic),
            gentle: Some(gentle),
            ..RedSpec::default()
        };
        test_at(|at| spec.resolve(at, &facts())).unwrap()
    };
    let rows = [
        (5.0, 0.0),
        (7.5, 0.009_375),
        (10.0, 0.037_5),
        (12.5, 0.084_375),
    ];
    for (avg, p) in rows {
        assert!(
            (chance(&made(false), avg).unwrap() - p).abs() < 1e-15,
            "{avg}"
        );
    }
    let linear = test_at(|at| RedSpec::default().resolve(at, &facts())).unwrap();
    let cross = 5.0 + 10.0 * 2.0 / 3.0;
    let both = [&made(false), &linear].map(|p| chance(p, cross).unwrap());
    assert!((both[0] - both[1]).abs() < 1e-15, "{both:?}");
    assert_eq!(chance(&made(false), 15.0), None);
    assert!((chance(&made(true), 15.0).unwrap() - 0.15).abs() < 1e-15);
    assert!((chance(&made(true), 22.5).unwrap() - 0.575).abs() < 1e-15);
    let steep = RedSpec {
        curve: Some(RedShape::Quadratic),
        max_p: Some(0.7),
        ..RedSpec::default()
    };
    assert!(test_at(|at| steep.resolve(at, &facts())).is_err());
}

#[test]
fn gaps_are_spread() {
    let at = [
        (0, 0.01),
        (1, 0.010_101),
        (50, 0.02),
        (90, 0.1),
        (99, 1.0),
        (100, 1.0),
        (500, 1.0),
    ];
    for (count, expected) in at {
        let p = spread(false, 0.01, f64::from(count));
        assert!((p - expected).abs() < 5e-7, "count {count}: {p}");
    }
    let at = [
        (0, 0.0),
        (19, 0.0),
        (20, 0.05),
        (30, 0.1),
        (38, 0.5),
        (39, 1.0),
        (80, 1.0),
    ];
    for (count, expected) in at {
        let p = spread(true, 0.05, f64::from(count));
        // 0.05 is no binary fraction: a few units of the last place, times 20.
        assert!((p - expected).abs() < 1e-12, "count {count}: {p}");
    }
}

#[test]
fn gentle_rises_to_one_at_twice_the_threshold() {
    let p = red(RedSpec::default()).automaton;
    for (avg, expected) in [(15.0, 0.1), (18.0, 0.28), (22.5, 0.55), (27.0, 0.82)] {
        assert!((chance(&p, avg).unwrap() - expected).abs() < 1e-12);
    }
    assert_eq!(chance(&p, 30.0), None);
    let p = red(RedSpec {
        max_p: Some(0.02),
        ..RedSpec::default()
    })
    .automaton;
    assert!((chance(&p, 22.5).unwrap() - 0.51).abs() < 1e-12);
}

#[test]
fn the_probability_never_falls_with_the_average() {
    for gentle in [false, true] {
        let p = red(RedSpec {
            gentle: Some(gentle),
            ..RedSpec::default()
        })
        .automaton;
        let at = |i: i32| chance(&p, f64::from(i) * 0.01).unwrap_or(1.0);
        assert!((500..4000).all(|i| at(i) <= at(i + 1)));
    }
}

#[test]
fn length_scales_before_or_after_the_spreading() {
    let verdicts = |scaling, len, u: f64| {
        let mut red = red(RedSpec {
            weight: Some(1.0),
            max_p: Some(0.5),
            size_scaling: Some(scaling),
            ..RedSpec::default()
        });
        let packet = Packet::new(0, 0, len);
        // At an average of 10, p_b = 0.25; the first packet has count 0, so p_a = p_b.
        arrival(&mut red, 10, &packet, &mut Script::new(&[u]))
    };
    // Paper: 0.25 * 300 / 1500 = 0.05. ns: 0.25 * 300 / 500 = 0.15.
    assert_eq!(verdicts(SizeScaling::None, 300, 0.249), EARLY);
    assert_eq!(verdicts(SizeScaling::Ns, 300, 0.151), Verdict::Pass);
    assert_eq!(verdicts(SizeScaling::Ns, 300, 0.149), EARLY);
    assert_eq!(verdicts(SizeScaling::Paper, 300, 0.051), Verdict::Pass);
    assert_eq!(verdicts(SizeScaling::Paper, 300, 0.049), EARLY);
}

#[test]
fn capable_packets_are_marked_between_the_thresholds_only() {
    let mut red = red(RedSpec {
        weight: Some(1.0),
        ecn: true,
        gentle: Some(false),
        ..RedSpec::default()
    });
    for (ecn, early) in [
        (Ecn::NotEct, EARLY),
        (Ecn::Ect0, Verdict::Mark),
        (Ecn::Ect1, Verdict::Mark),
        (Ecn::Ce, Verdict::Mark),
    ] {
        let packet = Packet { ecn, ..PACKET() };
        let got = arrival(&mut red, 14, &packet, &mut Script::new(&[0.0]));
        assert_eq!(got, early);
        let got = arrival(&mut red, 15, &packet, &mut Script::new(&[]));
        assert_eq!(got, FORCED);
    }
}

#[test]
fn a_forced_drop_starts_a_new_gap() {
    let mut red = red(RedSpec {
        weight: Some(1.0),
        gentle: Some(false),
        ..RedSpec::default()
    });
    let mut script = Script::new(&[0.9; 4]);
    let counts = [10, 10, 10, 15, 10].map(|q| {
        arrival(&mut red, q, &PACKET(), &mut script);
        red.vars.averages.gap.count
    });
    assert_eq!(counts, [0, 1, 2, 0, 1]);
}

#[test]
fn an_overflow_starts_a_new_gap() {
    let red = red(RedSpec {
        weight: Some(1.0),
        max_th: Some(50.0),
        max_p: Some(0.0),
        ..RedSpec::default()
    });
    let bound = Bound {
        packets: 7,
        ..Bound::NONE
    };
    let mut leaf = Leaf::fifo(bound, Some(Aqm::Red(red)));
    let mut desk = Desk::new();
    let mut cx = desk.at(Time::ZERO);
    // The queue is at the lower threshold from the sixth arrival on.
    let counts: Vec<i32> = (0..8)
        .map(|_| {
            leaf.offer(&mut PACKET(), &mut cx);
            match &leaf.aqm {
                Some(Aqm::Red(r)) => r.vars.averages.gap.count,
                _ => -9,
            }
        })
        .collect();
    assert_eq!(counts, [-1, -1, -1, -1, -1, 0, 1, 0]);
    assert_eq!(desk.drops.as_slice()[0].reason, DropReason::Tail);
}

/// Verdicts on packets of 500 B that find so many waiting, D for a drop and M for a mark.
fn letters(red: &mut Managed<Early<Red>>, queues: &[u32], ecn: Ecn, script: &mut Script) -> String {
    let packet = Packet { ecn, ..PACKET() };
    let of = |v| match v {
        Verdict::Pass => '.',
        Verdict::Mark => 'M',
        Verdict::Drop(_) => 'D',
    };
    let verdict = |q: &u32| {
        let backlog = &Backlog::of(*q, u64::from(*q) * 500);
        of(red.arrival(Time::ZERO, backlog, &packet, script))
    };
    queues.iter().map(verdict).collect()
}

/// The average is the queue; p_b = 0.25 at 10 packets.
fn plain() -> RedSpec {
    RedSpec {
        weight: Some(1.0),
        max_p: Some(0.5),
        gentle: Some(false),
        ..RedSpec::default()
    }
}

/// How often each gap comes, in units of p_b = 1/4 over evenly placed numbers.
fn gaps(spec: &RedSpec) -> Vec<usize> {
    let mut rng = Rng::from_key(7);
    let mut red = red(spec.clone());
    let (mut counts, mut gap) = (vec![0; 9], 0);
    let mut all = 0;
    while all < 40_001 {
        gap += 1;
        let backlog = &Backlog::of(10, 5000);
        if red.arrival(Time::ZERO, backlog, &PACKET(), &mut rng) != Verdict::Pass {
            // The first gap begins below the thresholds.
            if all > 0 {
                counts[gap] += 1;
            }
            (gap, all) = (0, all + 1);
        }
    }
    counts
}

#[test]
fn gaps_are_uniform_over_what_the_page_says() {
    let wait = Some(true);
    let per_gap = Some(RedSpread::PerGap);
    let uniform: [(RedSpec, std::ops::RangeInclusive<usize>); 4] = [
        (plain(), 1..=3),
        (RedSpec { wait, ..plain() }, 4..=7),
        (
            RedSpec {
                spread: per_gap,
                ..plain()
            },
            1..=4,
        ),
        (
            RedSpec {
                spread: per_gap,
                wait,
                ..plain()
            },
            5..=8,
        ),
    ];
    for (spec, range) in uniform {
        let counts = gaps(&spec);
        let n = range.clone().count() as f64;
        for (gap, count) in counts.iter().enumerate() {
            let p = if range.contains(&gap) { 1.0 / n } else { 0.0 };
            // Five standard deviations of a binomial of 40,000.
            let five = 5.0 * (40_000.0 * p * (1.0 - p)).sqrt();
            let error = (*count as f64 - 40_000.0 * p).abs();
            assert!(error <= five, "{spec:?}: {gap} {counts:?}");
        }
    }
    // Independent drops: geometric.
    let counts = gaps_without_bound();
    for (gap, p) in [(1, 0.25), (2, 0.1875), (3, 0.140_625)] {
        let five = 5.0 * (40_000.0_f64 * p * (1.0 - p)).sqrt();
        assert!(
            (f64::from(counts[gap]) - 40_000.0 * p).abs() < five,
            "{counts:?}"
        );
    }
}

fn gaps_without_bound() -> [u32; 4] {
    let mut red = red(RedSpec {
        spread: Some(RedSpread::None),
        ..plain()
    });
    let (mut rng, mut counts, mut gap) = (Rng::from_key(8), [0; 4], 0_usize);
    let mut all = 0;
    while all < 40_000 {
        gap += 1;
        if arrival_random(&mut red, &mut rng) != Verdict::Pass {
            counts[if gap < 4 { gap } else { 0 }] += 1;
            (gap, all) = (0, all + 1);
        }
    }
    counts
}

fn arrival_random(red: &mut Managed<Early<Red>>, rng: &mut Rng) -> Verdict {
    let backlog = &Backlog::of(10, 5000);
    red.arrival(Time::ZERO, backlog, &PACKET(), rng)
}

#[test]
fn one_number_lasts_a_gap_and_the_first_packet_never_ends_it() {
    let mut red = red(RedSpec {
        spread: Some(RedSpread::PerGap),
        ..plain()
    });
    // p_b = 0.25: 0 ends a gap at the first packet behind the one that drew it, 0.6 at the third,
    // 0.75 at the third. Above the maximum all is dropped, and what follows begins anew.
    let mut script = Script::new(&[0.0, 0.6, 0.75, 0.9, 0.2, 0.9, 0.1]);
    let queues = [10, 10, 10, 10, 10, 10, 10, 10, 15, 10, 10, 4, 10];
    assert_eq!(
        letters(&mut red, &queues, Ecn::NotEct, &mut script),
        ".D..D..DD.D.."
    );
    assert_eq!(script.drawn, 7);
}

#[test]
fn nothing_is_dropped_of_a_short_queue_where_it_is_spared() {
    for (spare, unit, expected) in [
        (false, RedUnit::Packets, "DDDD"),
        (true, RedUnit::Packets, "D..D"),
        // One byte is less than a packet.
        (true, RedUnit::Bytes, "D.DD"),
    ] {
        let mut red = red(RedSpec {
            // The average stays above the maximum.
            weight: Some(1e-9),
            spare_short_queue: Some(spare),
            unit: Some(unit),
            ..plain()
        });
        red.vars.averages.average.value = 20_000.0;
        let got = letters(&mut red, &[2, 0, 1, 2], Ecn::NotEct, &mut Script::new(&[]));
        assert_eq!(got, expected);
    }
}

#[test]
fn the_first_packet_above_the_threshold_passes_and_counts_in_ns2() {
    let run = |first_passes| {
        let mut red = red(RedSpec {
            first_passes: Some(first_passes),
            ..plain()
        });
        let mut script = Script::new(&[0.3; 6]);
        let all = letters(&mut red, &[10, 10, 10, 0, 10, 10], Ecn::NotEct, &mut script);
        (all, script.drawn)
    };
    // p_a = 1/4, 1/3, where the first passes 1/2 is the next.
    assert_eq!(run(false), (".DD..D".to_owned(), 5));
    assert_eq!(run(true), (".DD..D".to_owned(), 3));
}

#[test]
fn marks_end_where_the_variant_says() {
    // Below the maximum, in the gentle region, above.
    let queues = [14, 20, 30];
    for (marks, gentle, expected) in [
        (RedMarks::BelowMax, true, "MDD"),
        (RedMarks::BelowCertain, true, "MMD"),
        (RedMarks::BelowCertain, false, "MDD"),
        (RedMarks::Always, true, "MMM"),
        (RedMarks::Always, false, "MMM"),
    ] {
        let mut red = red(RedSpec {
            ecn: true,
            marks: Some(marks),
            gentle: Some(gentle),
            ..plain()
        });
        let mut script = Script::new(&[0.0; 2]);
        assert_eq!(letters(&mut red, &queues, Ecn::Ect0, &mut script), expected);
        let mut script = Script::new(&[0.0; 2]);
        assert_eq!(letters(&mut red, &queues, Ecn::NotEct, &mut script), "DDD");
    }
}

#[test]
fn thresholds_in_bytes_count_bytes() {
    let mut red = red(RedSpec {
        unit: Some(RedUnit::Bytes),
        min_th: Some(2500.0),
        max_th: Some(7500.0),
        ..plain()
    });
    // 10 packets of 500 B are half way; 4 of them are below, however many packets that is.
    assert_eq!(
        letters(
            &mut red,
            &[4, 10, 10, 15],
            Ecn::NotEct,
            &mut Script::new(&[0.26, 0.32])
        ),
        "..DD"
    );
    assert!(red.automaton.odds.unwrap().in_bytes);
    assert_eq!(
        (red.automaton.odds.unwrap().average, red.average()),
        (7500.0, Some(7500.0))
    );
}

#[test]
fn a_variant_sets_what_is_not_written() {
    let of = |name: &str| -> RedRules {
        serde_json::from_str::<RedSpec>(&format!(r#"{{"as": "{name}"}}"#))
            .unwrap()
            .rules()
    };
    let ns2 = of("ns2");
    assert_eq!((ns2.min_th, ns2.max_th), (2500.0, 7500.0));
    assert!(ns2.gentle && ns2.wait && ns2.first_passes && ns2.spare_short_queue);
    assert_eq!(ns2.size_scaling, SizeScaling::Ns);
    let linux = of("linux");
    assert_eq!((linux.min_th, linux.max_p), (5000.0, 0.02));
    assert_eq!(
        (linux.spread, linux.marks),
        (RedSpread::PerGap, RedMarks::Always)
    );
    let paper = of("floyd1993");
    assert!(!paper.gentle && paper.unit == RedUnit::Packets && paper.max_p == 0.02);
    let cisco = of("cisco");
    assert_eq!(
        (cisco.min_th, cisco.max_th, cisco.weight),
        (20.0, 40.0, 1.0 / 512.0)
    );
    let own = RedSpec {
        variant: Some(RedVariant::Ns2),
        wait: Some(false),
        unit: Some(RedUnit::Packets),
        ..RedSpec::default()
    }
    .rules();
    assert!(!own.wait && own.gentle && own.min_th == 5.0);
}

/// p_a times length over the typical one, and bytes since the last drop in whole typical packets
/// (ns-2).
#[test]
fn scaling_as_ns_counts_bytes() {
    let mut red = red(RedSpec {
        size_scaling: Some(SizeScaling::Ns),
        ..plain()
    });
    let mut arrive = |len, u| {
        let packet = Packet::new(0, 0, len);
        arrival(&mut red, 10, &packet, &mut Script::new(&[u]))
    };
    // c = 0, then 300 B are no whole packet yet, 600 B are one: p_a = 1/4, 1/4 and 1/3, times 0.6.
    assert_eq!(arrive(300, 0.151), Verdict::Pass);
    assert_eq!(arrive(300, 0.151), Verdict::Pass);
    assert_eq!(arrive(300, 0.199), EARLY);
    // 2000 B are four packets: c p_b = 1, and what is certain is not scaled.
    assert_eq!(arrive(2000, 0.999), EARLY);
}
