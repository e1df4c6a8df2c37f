use super::super::tests::{Script, facts};
use super::*;
use crate::aqm::Automaton;
use crate::evidence::Cause;
use crate::recipe::test_at;
use spillgate_core::{DropReason, Verdict};

/// At 10 kB/s, so that the probability moves by a hundredth for every 1000 B/s if `gain` is 0.1.
fn running(gain: f64) -> ByChance<Green> {
    let spec = GreenSpec {
        gain,
        ..GreenSpec::default()
    };
    let rate = Rate::from_bps(80_000).unwrap();
    let leaf = LeafFacts { rate, ..facts() };
    test_at(|at| spec.resolve(at, &leaf)).unwrap()
}

fn us(us: u64) -> Time {
    Time::ZERO + Dur::from_us(us)
}

/// The estimate by hand, K = 100 ms, packets of 1000 B: 1 ms after nothing, 1 ms later, half a
/// millisecond later.
#[test]
fn the_rate_is_estimated_as_in_the_paper() {
    let green = running(0.001);
    let mut v = green.vars();
    for (at, expected) in [(1000, 9950.166), (2000, 19_801.327), (2500, 29_677.609)] {
        green.chooser.count(&mut v, us(at), 1000.0);
        assert!((v.rate - expected).abs() < 6e-4, "{at}: {}", v.rate);
    }
    // At the same instant: b/K.
    let mut v = green.vars();
    green.chooser.count(&mut v, Time::ZERO, 1000.0);
    assert_eq!(v.rate, 10_000.0);
    // A constant rate is found: 1000 B every 100 ms. The sawtooth of an estimate that is made at
    // packets is constant.
    let mut v = green.vars();
    for packet in 1..200 {
        green.chooser.count(&mut v, us(100_000 * packet), 1000.0);
    }
    assert!((v.rate - 10_000.0).abs() < 1e-6, "{}", v.rate);
}

/// Target 9700 B/s of 10,000: 0.1 for each 10,000 B/s of distance, at least one for 100 B/s.
#[test]
fn the_probability_follows_the_distance() {
    let green = running(0.1);
    for (rate, before, after) in [
        (10_700.0, 0.5, 0.51),
        (8700.0, 0.5, 0.49),
        // Nearer than 1 %, and at the target.
        (9750.0, 0.5, 0.501),
        (9650.0, 0.5, 0.499),
        (9700.0, 0.5, 0.501),
        // At the ends.
        (0.0, 0.05, 0.0),
        (90_000.0, 0.95, 1.0),
    ] {
        let mut v = Vars {
            rate,
            probability: before,
            last: Time::ZERO,
        };
        green.chooser.step(&mut v);
        assert!((v.probability - after).abs() < 1e-12, "{rate}: {v:?}");
    }
}

/// A packet is judged by what it has made of the probability, and a number is drawn only where
/// chance decides.
#[test]
fn packets_are_judged_after_they_count() {
    let mut green = running(0.1);
    let packet = Packet::new(0, 0, 1000);
    let mut v = green.vars();
    // At once 10,000 B/s: 300 above the target, 0.003.
    let verdict = |green: &mut ByChance<Green>, v: &mut Vars, script: &mut Script| {
        green.arrival(v, Time::ZERO, &Backlog::default(), &packet, script)
    };
    let (mut above, mut below) = (Script::new(&[0.0031]), Script::new(&[0.0029]));
    assert_eq!(
        verdict(&mut green, &mut v.clone(), &mut above),
        Verdict::Pass
    );
    let dropped = verdict(&mut green, &mut v, &mut below);
    assert_eq!(dropped, Verdict::Drop(DropReason::Early));
    let Some(Cause::Chance(odds)) = green.cause(&packet) else {
        panic!("no evidence")
    };
    let known: Vec<_> = odds.by.facts().map(|fact| fact.value).collect();
    assert_eq!((known, odds.draw), (vec![80_000.0, 77_600.0], Some(0.0029)));
    // A lone small packet makes no probability, and draws nothing.
    let small = Packet::new(0, 0, 100);
    let mut none = Script::new(&[]);
    let mut v = green.vars();
    let verdict = green.arrival(&mut v, us(1000), &Backlog::default(), &small, &mut none);
    assert_eq!((verdict, none.drawn), (Verdict::Pass, 0));
}

/// Packets that arrive at 12,000 B/s in front of the queue and at 6000 B/s here, where the fabric
/// is too slow: weight nu makes 6000 + 6000 nu of them, and nothing of it is an average of
/// averages.
#[test]
fn arrivals_in_front_of_the_queue_count_by_their_weight() {
    for (weight, expected) in [(0.0, 6000.0), (0.5, 9000.0), (1.0, 12_000.0)] {
        let mut green = running(1e-9);
        let mut v = green.vars();
        let backlog = Backlog {
            upstream: Upstream::weighted(weight),
            ..Backlog::default()
        };
        let packet = Packet::new(0, 0, 10);
        let mut pass = Script::new(&vec![1.0; 4000]);
        for ten_us in 0..100_000 {
            let now = us(10 * ten_us);
            // 10 B each 833.33 us and each 1666.67 us.
            if ten_us * 12 / 1000 != (ten_us + 1) * 12 / 1000 {
                green.upstream_arrival(&mut v, now, &backlog.upstream, 10);
            }
            if ten_us * 6 / 1000 != (ten_us + 1) * 6 / 1000 {
                green.arrival(&mut v, now, &backlog, &packet, &mut pass);
            }
        }
        // After 10 K nothing is left of the beginning, e^-10; a packet moves the estimate by
        // 100 B/s.
        assert!(
            (v.rate - expected).abs() < 100.0 + 1.0,
            "{weight}: {}",
            v.rate
        );
    }
}
