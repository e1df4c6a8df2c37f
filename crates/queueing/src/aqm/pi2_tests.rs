//! What PI2 makes of its base probability.

use spillgate_core::{DropReason, Dur, Ecn, Packet, Time, Verdict};

use super::super::tests::{Script, facts};
use super::*;
use crate::recipe::test_at;

fn running(spec: &Pi2Spec) -> Pi2 {
    test_at(|at| spec.resolve(at, &facts())).unwrap()
}

fn base(p: f64) -> Base {
    let mut v = Base::NEW;
    v.p = p;
    v
}

/// The verdict on an arriving packet, and how many numbers were drawn for it.
fn verdict(spec: &Pi2Spec, p: f64, ecn: Ecn, numbers: &[f64]) -> (Verdict, usize) {
    let packet = Packet {
        ecn,
        ..Packet::new(0, 0, 1000)
    };
    let mut script = Script::new(numbers);
    let (mut pi2, mut v) = (running(spec), base(p));
    let said = pi2.arrival(
        &mut v,
        Time::ZERO,
        &Backlog::of(9, 9000),
        &packet,
        &mut script,
    );
    (said, script.drawn)
}

const DROP: Verdict = Verdict::Drop(DropReason::Early);

/// p = p'^2, and min(1, k p') for scalable packets, whatever p' and k.
#[test]
fn classic_packets_meet_the_square_and_scalable_ones_the_coupled_probability() {
    for k in [0.5, 1.0, 2.0, 3.0] {
        let spec = Pi2Spec {
            coupling: Some(k),
            ecn_threshold: 1.0,
            ..Pi2Spec::default()
        };
        for n in 1..100 {
            let p = f64::from(n) / 100.0;
            for (ecn, chance, hit) in [
                (Ecn::NotEct, p * p, DROP),
                (Ecn::Ect0, p * p, Verdict::Mark),
                (Ecn::Ect1, (k * p).min(1.0), Verdict::Mark),
                (Ecn::Ce, (k * p).min(1.0), Verdict::Mark),
            ] {
                if chance >= 1.0 {
                    assert_eq!(verdict(&spec, p, ecn, &[]), (hit, 0), "{k} {p} {ecn:?}");
                    continue;
                }
                let below = chance - 1e-9;
                assert_eq!(
                    verdict(&spec, p, ecn, &[below]),
                    (hit, 1),
                    "{k} {p} {ecn:?}"
                );
                assert_eq!(verdict(&spec, p, ecn, &[chance]), (Verdict::Pass, 1));
            }
        }
    }
}

/// Above the threshold of marks all are dropped with p, and scalable packets that remain are
/// marked. p' = 0.6: p = 0.36, 2 p' = 1.2.
#[test]
fn above_the_threshold_packets_are_dropped() {
    let spec = Pi2Spec {
        coupling: Some(2.0),
        ..Pi2Spec::default()
    };
    assert_eq!(verdict(&spec, 0.6, Ecn::Ect0, &[0.359]), (DROP, 1));
    assert_eq!(verdict(&spec, 0.6, Ecn::Ect1, &[0.359]), (DROP, 1));
    assert_eq!(verdict(&spec, 0.6, Ecn::Ect1, &[0.361]), (Verdict::Mark, 1));
    // p = 0.25 at p' = 0.5 is not above it.
    assert_eq!(verdict(&spec, 0.5, Ecn::Ect0, &[0.249]), (Verdict::Mark, 1));
    // Without a coupling factor all are classic, and without ECN all are dropped.
    let alike = Pi2Spec::default();
    assert_eq!(
        verdict(&alike, 0.5, Ecn::Ect1, &[0.249]),
        (Verdict::Mark, 1)
    );
    assert_eq!(
        verdict(&alike, 0.5, Ecn::Ect1, &[0.251]),
        (Verdict::Pass, 1)
    );
    let deaf = Pi2Spec {
        ecn: false,
        ..Pi2Spec::default()
    };
    assert_eq!(verdict(&deaf, 0.5, Ecn::Ect1, &[0.249]), (DROP, 1));
    // Nothing is drawn for what is certain.
    assert_eq!(verdict(&alike, 0.0, Ecn::Ect0, &[]), (Verdict::Pass, 0));
    assert_eq!(verdict(&alike, 1.0, Ecn::Ect0, &[]), (DROP, 0));
}

/// Updates that passed between an arrival and a departure are made at the departure.
#[test]
fn a_departure_makes_the_updates_that_found_the_packet() {
    let mut pi2 = running(&Pi2Spec::default());
    let mut v = pi2.vars();
    let packet = Packet::new(0, 0, 1000);
    let mut script = Script::new(&[]);
    pi2.arrival(&mut v, Time::ZERO, &Backlog::of(0, 0), &packet, &mut script);
    let at = Time::ZERO + Dur::from_ms(33);
    let mut stage = DropStage::First;
    let queue = Backlog::of(0, 0);
    pi2.departure(&mut v, &mut stage, at, &queue, &packet, &mut script);
    // At 16 ms: 0.16 * 0.001 + 3.2 * 0.016; at 32 ms: 0.16 * 0.017 + 3.2 * 0.016 more.
    assert!(
        (v.p - (0.000_16 + 0.0512 + 0.002_72 + 0.0512)).abs() < 1e-12,
        "{}",
        v.p
    );
    assert!(!pi2.is_new(&v));
}
