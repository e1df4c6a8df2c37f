//! The steps of the probability by the equations, and what lazy updates must not change.

use super::*;
use crate::aqm::Managed;
use crate::aqm::tests::{Script, facts};
use crate::recipe::test_at;
use spillgate_core::{Ecn, Rng};

fn pie(spec: &PieSpec) -> Managed<Pie> {
    Managed::new(test_at(|at| spec.resolve(at, &facts())).unwrap())
}

fn ms(t: f64) -> Dur {
    Dur::from_us((t * 1e3) as u64)
}

/// RFC 8033 §4.2: the burst allowance comes back once two delays in a row are below half of the
/// target, not with the first.
#[test]
fn one_short_delay_brings_no_burst_allowance() {
    let spec = PieSpec::default();
    let pie = pie(&spec);
    let mut v = PieVars {
        delay: spec.target,
        burst: Dur::ZERO,
        ..pie.vars
    };
    pie.automaton.step_to(&mut v, Dur::ZERO);
    assert_eq!((v.probability, v.burst), (0.0, Dur::ZERO));
    pie.automaton.step_to(&mut v, Dur::ZERO);
    assert_eq!(v.burst, spec.max_burst);
}

/// Probability, delay and the one before in ms, and the probability after: by hand, each row of the
/// table of steps, the cap of 0.02, and the decay of an empty queue.
#[test]
fn steps_are_those_of_the_equations() {
    let rows = [
        (0.0, 30.0, 15.0, (0.125 * 0.015 + 1.25 * 0.015) / 2048.0),
        (5e-6, 30.0, 15.0, 5e-6 + 0.020_625 / 512.0),
        (5e-5, 30.0, 15.0, 2.111_328_1e-4),
        (5e-4, 30.0, 15.0, 5e-4 + 0.020_625 / 32.0),
        (0.005, 30.0, 15.0, 0.007_578_125),
        (0.05, 30.0, 15.0, 0.060_312_5),
        (0.2, 30.0, 15.0, 0.22),
        (0.2, 10.0, 20.0, 0.186_875),
        (0.2, 0.0, 0.0, 0.194_162_5),
        (0.5, 300.0, 15.0, 0.52),
    ];
    let pie = pie(&PieSpec::default());
    for (probability, delay, old, expected) in rows {
        let mut v = PieVars {
            probability,
            delay: ms(old),
            ..pie.vars
        };
        pie.automaton.step_to(&mut v, ms(delay));
        assert!(
            (v.probability - expected).abs() < 1e-10,
            "{probability} {delay} {old}: {}",
            v.probability
        );
    }
    // From the start.
    let mut v = pie.vars;
    let steps = [
        (20.0, 1.251_220_7e-5),
        (30.0, 1.248_168_9e-4),
        (40.0, 6.130_981_4e-4),
        (50.0, 1.140_441_89e-3),
        (50.0, 1.687_316_89e-3),
        (50.0, 2.234_191_89e-3),
    ];
    for (delay, expected) in steps {
        pie.automaton.step_to(&mut v, ms(delay));
        assert!(
            (v.probability - expected).abs() < 1e-11,
            "{}",
            v.probability
        );
    }
}

/// A drain rate of 10^6 B/s.
fn drains() -> DrainRate {
    let mut drain = DrainRate::UNKNOWN;
    for ms in 0..=17 {
        let now = Time::ZERO + Dur::from_ms(ms);
        drain.left(
            DrainRule::Linux,
            now,
            if ms == 0 { 0 } else { 1000 },
            20_000,
        );
    }
    assert!((drain.bytes_per_sec().unwrap() - 1e6).abs() < 1e-3);
    drain
}

/// A queue in which nothing moves, asked once, is in the end as one asked every ms.
#[test]
fn updates_can_wait() {
    let variants = [None, Some(PieVariant::Linux), Some(PieVariant::Ns3)];
    for (variant, dq_rate_estimator) in variants.into_iter().flat_map(|v| [(v, false), (v, true)]) {
        let spec = PieSpec {
            variant,
            dq_rate_estimator,
            ..PieSpec::default()
        };
        // Empty, and 4 ms, 9 ms and 20 ms of queue.
        for bytes in [0, 4_000, 9_000, 20_000] {
            let new = pie(&spec).vars;
            let start = PieVars {
                probability: 0.3,
                // In Linux and ns-3 the packet that leaves a queue empty makes it 0.
                delay: ms(if variant.is_some() && bytes == 0 {
                    0.0
                } else {
                    40.0
                }),
                burst: ms(70.0),
                next: Time::ZERO + ms(15.0),
                drain: if dq_rate_estimator {
                    drains()
                } else {
                    new.drain
                },
                ..new
            };
            let (mut often, mut once) = (start, start);
            let queue = Backlog {
                head: (bytes > 0).then_some(Time::ZERO),
                ..Backlog::of((bytes > 0).into(), bytes)
            };
            let automaton = pie(&spec).automaton;
            for t in 0..60_000 {
                automaton.advance(&mut often, Time::ZERO + ms(f64::from(t)), &queue);
            }
            automaton.advance(&mut once, Time::ZERO + ms(59_999.0), &queue);
            assert_eq!(often, once, "{spec:?} {bytes}");
            // An empty queue is as new in the end, and waits for a packet.
            let time_stamps = !dq_rate_estimator && variant.is_none();
            if time_stamps {
                assert_eq!(bytes == 0, once == new);
            }
            assert_eq!(bytes == 0, once.next == Time::MAX, "{spec:?} {bytes}");
        }
    }
}

/// A day without a packet ends in no time.
#[test]
fn a_day_is_skipped() {
    let mut v = PieVars {
        probability: 1.0,
        next: Time::ZERO,
        ..pie(&PieSpec::default()).vars
    };
    let queue = Backlog {
        head: Some(Time::ZERO),
        ..Backlog::of(1, 1000)
    };
    pie(&PieSpec::default())
        .automaton
        .advance(&mut v, Time::from_secs_f64(86_400.0), &queue);
    assert!(v.delay > Dur::from_secs(86_399));
}

/// 41 packets of 1000 B wait at each update, one leaves each ms: 17 of them, of which one does not
/// count, take 16 ms, and the RFC divides 16,384 B by that.
#[test]
fn a_standing_queue_is_divided_by_its_drain_rate() {
    for (variant, rate) in [
        (None, 1.024e6),
        (Some(PieVariant::Linux), 1e6),
        (Some(PieVariant::Ns3), 1e6),
    ] {
        let mut p = pie(&PieSpec {
            variant,
            dq_rate_estimator: true,
            ..PieSpec::default()
        });
        let mut rng = Rng::from_key(1);
        let behind = Backlog::of(40, 40_000);
        p.arrival(Time::ZERO, &behind, &Packet::new(0, 0, 1000), &mut rng);
        for t in 1..=2000 {
            let packet = Packet::new(0, 0, 1000);
            let now = Time::ZERO + ms(f64::from(t));
            p.departure(&mut DropStage::First, now, &behind, &packet, &mut rng);
            // The first measurement ends at 17 ms: the update of 15 ms knows no rate.
            if t == 29 {
                assert!(p.vars.delay.is_zero());
            }
        }
        let delay = p.vars.delay.as_secs_f64();
        assert!(
            (delay - 41_000.0 / rate).abs() < 1e-9,
            "{variant:?}: {delay}"
        );
        // What measurements took is the burst that Linux allowed; the RFC counts updates.
        assert!(p.vars.burst.is_zero());
    }
}

/// A verdict at this probability, behind so many bytes.
fn verdict(spec: &PieSpec, change: impl Fn(&mut PieVars), bytes: u64, draws: &[f64]) -> Verdict {
    let mut pie = pie(spec);
    pie.vars.delay = ms(30.0);
    pie.vars.burst = Dur::ZERO;
    pie.vars.next = Time::from_secs_f64(9.0);
    change(&mut pie.vars);
    let mut script = Script::new(draws);
    let packet = Packet {
        ecn: Ecn::Ect0,
        ..Packet::new(0, 0, 1000)
    };
    let backlog = Backlog {
        head: Some(Time::ZERO),
        ..Backlog::of(9, bytes)
    };
    let verdict = pie.arrival(Time::ZERO, &backlog, &packet, &mut script);
    assert_eq!(script.drawn, draws.len());
    verdict
}

#[test]
fn who_is_spared_and_who_is_marked() {
    const EARLY: Verdict = Verdict::Drop(DropReason::Early);
    let plain = PieSpec {
        derandomize: false,
        ..PieSpec::default()
    };
    let at = |p: f64| move |v: &mut PieVars| v.probability = p;
    assert_eq!(verdict(&plain, at(0.3), 9000, &[0.29]), EARLY);
    assert_eq!(verdict(&plain, at(0.3), 9000, &[0.3]), Verdict::Pass);
    // Two packets, a burst, and a delay below half of the target at less than 0.2.
    assert_eq!(verdict(&plain, at(0.3), 3028, &[]), Verdict::Pass);
    assert_eq!(verdict(&plain, at(0.3), 3029, &[0.0]), EARLY);
    let bursting = |v: &mut PieVars| (v.probability, v.burst) = (1.0, ms(1.0));
    assert_eq!(verdict(&plain, bursting, 9000, &[]), Verdict::Pass);
    let short = |p: f64| move |v: &mut PieVars| (v.probability, v.delay) = (p, ms(7.4));
    assert_eq!(verdict(&plain, short(0.19), 9000, &[]), Verdict::Pass);
    assert_eq!(verdict(&plain, short(0.2), 9000, &[0.0]), EARLY);
    let marking = PieSpec { ecn: true, ..plain };
    assert_eq!(verdict(&marking, at(0.1), 9000, &[0.0]), Verdict::Mark);
    assert_eq!(verdict(&marking, at(0.11), 9000, &[0.0]), EARLY);
    // ns-3 looks at the delay of the last update, and drops from the threshold on.
    let ns3 = PieSpec {
        variant: Some(PieVariant::Ns3),
        ..marking
    };
    let was = |p: f64, former: f64| {
        move |v: &mut PieVars| (v.probability, v.former, v.calm) = (p, ms(former), 0)
    };
    assert_eq!(verdict(&ns3, was(0.09, 30.0), 9000, &[0.0]), Verdict::Mark);
    assert_eq!(verdict(&ns3, was(0.1, 30.0), 9000, &[0.0]), EARLY);
    assert_eq!(verdict(&ns3, was(0.1, 7.4), 9000, &[]), Verdict::Pass);

    // RFC 8033 §5.4: no drop below a sum of 0.85, a certain one from 8.5 on.
    let spread = PieSpec::default();
    let sum = |sum: f64| move |v: &mut PieVars| (v.probability, v.sum) = (0.25, sum);
    assert_eq!(verdict(&spread, sum(0.59), 9000, &[]), Verdict::Pass);
    assert_eq!(verdict(&spread, sum(0.6), 9000, &[0.2]), EARLY);
    assert_eq!(verdict(&spread, sum(0.6), 9000, &[0.25]), Verdict::Pass);
    assert_eq!(verdict(&spread, sum(8.25), 9000, &[]), EARLY);
}

/// With `derandomize` the gaps between drops at probability p are at least 0.85/p packets long.
#[test]
fn drops_keep_apart() {
    let mut pie = pie(&PieSpec::default());
    let mut rng = Rng::from_key(1);
    let (mut gaps, mut gap) = (Vec::new(), 0);
    for _ in 0..100_000 {
        pie.vars = PieVars {
            probability: 1.0 / 32.0,
            delay: ms(30.0),
            burst: Dur::ZERO,
            next: Time::from_secs_f64(9.0),
            ..pie.vars
        };
        gap += 1;
        let backlog = Backlog::of(9, 9000);
        let packet = Packet::new(0, 0, 1000);
        if pie.arrival(Time::ZERO, &backlog, &packet, &mut rng) != Verdict::Pass {
            gaps.push(std::mem::take(&mut gap));
        }
    }
    // 0.85 · 32 = 27.2 and 8.5 · 32 = 272 packets; 27 + 32 in the mean, with a deviation of 32
    // each: four errors of that of 1,690 gaps are 3.1.
    assert!(gaps.iter().all(|g| (28..=272).contains(g)));
    let mean = f64::from(gaps.iter().sum::<i32>()) / gaps.len() as f64;
    assert!((mean - 59.0).abs() < 3.1, "{mean}");
}

/// Linux: an update on the grid of 20 ms takes the delay of the packet that left last; that of a
/// queue left empty is 0.
#[test]
fn linux_takes_the_delay_of_the_packet_that_left() {
    let spec = PieSpec {
        variant: Some(PieVariant::Linux),
        update: ms(20.0),
        ..PieSpec::default()
    };
    let mut p = pie(&spec);
    let (mut rng, at) = (Rng::from_key(1), |t: f64| Time::ZERO + ms(t));
    let mut packet = Packet::new(0, 0, 1500);
    packet.arrived = at(5.0);
    p.arrival(at(5.0), &Backlog::of(0, 0), &packet, &mut rng);
    assert_eq!(p.vars.next, at(20.0));
    let mut stage = DropStage::default();
    p.departure(
        &mut stage,
        at(35.0),
        &Backlog::of(1, 1500),
        &packet,
        &mut rng,
    );
    assert_eq!((p.vars.delay, p.vars.former), (ms(30.0), Dur::ZERO));
    p.departure(&mut stage, at(45.0), &Backlog::of(0, 0), &packet, &mut rng);
    // At 40 ms: (0.125 (0.030 - 0.015) + 1.25 * 0.030) / 2048.
    assert!((p.vars.probability - 0.039_375 / 2048.0).abs() < 1e-12);
    assert_eq!((p.vars.delay, p.vars.former), (Dur::ZERO, ms(30.0)));
    // Between the departures 10 ms passed.
    assert_eq!(p.vars.burst, ms(140.0));
}

/// ns-3: a queue that the last packet left empty is taken for one without delay, whatever came
/// since; only a queue that was left with a packet moves the probability again.
#[test]
fn ns3_lets_the_probability_of_a_queue_fall_that_was_empty() {
    let step = |variant, delay| {
        let p = pie(&PieSpec {
            variant: Some(variant),
            ..PieSpec::default()
        });
        let mut v = PieVars {
            probability: 0.3,
            delay,
            former: delay,
            burst: Dur::ZERO,
            next: Time::ZERO,
            ..p.vars
        };
        let waiting = Backlog::of(3, 3000);
        p.automaton.advance(&mut v, Time::ZERO, &waiting);
        v.probability
    };
    let short = 0.3 - 0.125 * 0.015;
    assert!((step(PieVariant::Linux, Dur::ZERO) - short).abs() < 1e-12);
    assert!((step(PieVariant::Ns3, Dur::ZERO) - 0.98 * short).abs() < 1e-12);
    assert!((step(PieVariant::Ns3, ms(15.0)) - 0.3).abs() < 1e-12);
}

/// ns-3: the first arrival begins a burst; the next one comes after 102 calm updates in a row, the
/// first of which ends the one before.
#[test]
fn bursts_of_ns3_keep_apart() {
    let mut p = pie(&PieSpec {
        variant: Some(PieVariant::Ns3),
        ..PieSpec::default()
    });
    let mut rng = Rng::from_key(1);
    let mut arrive = |p: &mut Managed<Pie>, at: f64| {
        let now = Time::ZERO + ms(at);
        // It waits, so that the clock goes on.
        p.arrival(
            now,
            &Backlog::of(1, 1000),
            &Packet::new(0, 0, 1000),
            &mut rng,
        );
        (p.vars.burst, p.vars.calm)
    };
    assert_eq!(arrive(&mut p, 0.0), (ms(150.0), 0));
    assert_eq!(arrive(&mut p, 149.0), (ms(15.0), 0));
    // Calm from 150 ms on; ten updates later ...
    assert_eq!(arrive(&mut p, 285.0), (Dur::ZERO, 10));
    // ... one sees a delay, after which two are calm no more.
    p.vars.delay = ms(9.0);
    assert_eq!(arrive(&mut p, 300.0), (Dur::ZERO, 1));
    p.vars.delay = Dur::ZERO;
    assert_eq!(arrive(&mut p, 315.0), (Dur::ZERO, 1));
    assert_eq!(arrive(&mut p, 315.0 + 100.0 * 15.0), (Dur::ZERO, 101));
    assert_eq!(arrive(&mut p, 315.0 + 101.0 * 15.0), (ms(150.0), 0));
}
