use super::super::chance::Chooser;
use super::super::tests::{Script, facts};
use super::*;
use crate::aqm::{DropStage, Managed};
use crate::recipe::test_at;
use spillgate_core::{Packet, Rng, Time, Verdict};

fn pi(spec: &PiSpec) -> ByChance<Sampled<Pi>> {
    test_at(|at| spec.resolve(at, &facts())).unwrap()
}

/// By hand with the gains of the paper: the first sample of ns-2, which takes 0 for the one before.
#[test]
fn samples_are_those_of_the_equation() {
    let law = pi(&PiSpec::default()).chooser.law;
    let mut s = law.new_state();
    for (length, expected) in [
        (150, 0.002_730),
        (150, 0.002_736),
        (150, 0.002_742),
        (50, 0.000_926),
        (0, 0.000_015),
        (0, 0.000_012),
        (300, 0.005_475),
    ] {
        law.sample(&mut s, &Backlog::of(length, 0));
        assert!((s.probability - expected).abs() < 1e-12, "{length}: {s:?}");
    }
    // At the target it stays.
    let mut still = PiState {
        probability: 0.1,
        length: 50.0,
    };
    (0..100).for_each(|_| law.sample(&mut still, &Backlog::of(50, 0)));
    assert_eq!(still.probability, 0.1);
}

/// Bytes divided by the mean packet are packets.
#[test]
fn bytes_count_as_packets() {
    let law = |mean_packet| {
        let spec = PiSpec {
            mean_packet,
            ..PiSpec::default()
        };
        pi(&spec).chooser.law
    };
    let (packets, bytes) = (law(None), law(Some(Size(500))));
    let (mut p, mut b) = (packets.new_state(), bytes.new_state());
    for n in [10, 200, 60, 0, 90] {
        packets.sample(&mut p, &Backlog::of(n, 0));
        bytes.sample(&mut b, &Backlog::of(1, 500 * u64::from(n)));
        assert_eq!(p, b);
    }
}

/// PI in plain words: a timer that fires every period, in microseconds, over a list of how many
/// packets waited from when on.
fn plainly(spec: &PiSpec, waited: &[(u64, u32)], until: u64) -> f64 {
    let (mut p, mut old) = (0.0_f64, 0.0_f64);
    let period = spec.update.as_ps() / 1_000_000;
    for tick in (1..).map(|n| n * period).take_while(|t| *t <= until) {
        // What comes at the same instant comes later.
        let before = waited.iter().take_while(|(at, _)| *at < tick).last();
        let q = f64::from(before.map_or(0, |(_, n)| *n));
        p += spec.a * (q - spec.target) - spec.b * (old - spec.target);
        p = p.clamp(0.0, 1.0);
        old = q;
    }
    p
}

/// Random arrivals and departures, pauses that empty the queue, and long idle times.
#[test]
fn it_is_what_it_is_in_plain_words() {
    let mut rng = Rng::from_key(5);
    for round in 0..40 {
        let spec = PiSpec {
            target: f64::from(rng.below(20)),
            a: 0.02 * rng.f64() + 0.011,
            b: 0.01 * rng.f64(),
            update: Dur::from_us(100 + u64::from(rng.below(5000))),
            ..PiSpec::default()
        };
        let mut pi = Managed::new(pi(&spec));
        let (mut now, mut waiting, mut waited) = (0_u64, 0_u32, Vec::new());
        for _ in 0..200 {
            let most = if rng.below(20) == 0 { 2_000_000 } else { 3000 };
            now += u64::from(rng.below(most));
            let at = Time::ZERO + Dur::from_us(now);
            let packet = Packet::new(0, 0, 1000);
            let mut never = Script::new(&[1.0]);
            if waiting > 0 && rng.below(2) == 0 {
                waiting -= 1;
                let behind = Backlog::of(waiting, 1000 * u64::from(waiting));
                pi.departure(&mut DropStage::First, at, &behind, &packet, &mut never);
            } else {
                let backlog = Backlog::of(waiting, 1000 * u64::from(waiting));
                let verdict = pi.arrival(at, &backlog, &packet, &mut never);
                assert_eq!(verdict, Verdict::Pass);
                let p = pi.vars.state.probability;
                let expected = plainly(&spec, &waited, now);
                assert!((p - expected).abs() < 1e-9, "{round}: {p} {expected}");
                waiting += 1;
            }
            waited.push((now, waiting));
        }
    }
}

/// An idle queue is as new in the end, and a day of it is caught up with in no time.
#[test]
fn an_idle_queue_is_new_again() {
    let mut pi = Managed::new(pi(&PiSpec::default()));
    let packet = Packet::new(0, 0, 1000);
    let mut never = Script::new(&[1.0; 9]);
    let at = |s| Time::from_secs_f64(s);
    pi.arrival(at(0.0), &Backlog::of(200, 0), &packet, &mut never);
    pi.arrival(at(3.0), &Backlog::of(200, 0), &packet, &mut never);
    assert!(pi.vars.state.probability > 0.0);
    let behind = Backlog::of(0, 0);
    pi.departure(&mut DropStage::First, at(3.0), &behind, &packet, &mut never);
    pi.arrival(at(86_400.0), &behind, &packet, &mut never);
    assert_eq!(pi.vars.state, pi.automaton.chooser.law.new_state());
    assert!(pi.automaton.chooser.is_new(&pi.automaton.chooser.vars()));
}

/// `b` above `a` is a controller of the wrong sign.
#[test]
fn gains_in_the_wrong_order_are_refused() {
    let spec = PiSpec {
        b: 1.9e-5,
        ..PiSpec::default()
    };
    let why = test_at(|at| spec.resolve(at, &facts()).map(|_| ())).unwrap_err();
    assert!(why.to_string().contains("below `a`"), "{why}");
}
