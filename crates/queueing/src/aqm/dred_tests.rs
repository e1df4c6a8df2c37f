use super::super::tests::Script;
use super::*;
use crate::aqm::{DropStage, Managed};
use crate::recipe::test_at;
use spillgate_core::{Packet, Rng, Time, Verdict};

/// In a queue of 200 packets at 1.25 MB/s: ten packets of 1000 B take 8 ms.
fn dred(spec: &DredSpec) -> ByChance<Sampled<Dred>> {
    let leaf = LeafFacts {
        rate: Rate::from_bps(10_000_000).unwrap(),
        max_packets: Some(200),
        limit: Limit::Packets(200),
    };
    test_at(|at| spec.resolve(at, &leaf)).unwrap()
}

/// By hand: lengths, filtered errors, probabilities; and the closed form after 1000 samples of one
/// length, a geometric sum.
#[test]
fn samples_are_those_of_the_equations() {
    let dred = dred(&DredSpec::default()).chooser;
    assert_eq!(dred.period, Dur::from_ms(8));
    let law = dred.law;
    let mut s = law.new_state();
    for (length, error, probability) in [
        (150, 0.1, 2.5e-8),
        (150, 0.1998, 7.495e-8),
        (150, 0.299_400_4, 1.498_001e-7),
        (120, 0.338_801_599, 2.345_005e-7),
        (90, 0.318_123_996, 3.140_315e-7),
        (50, 0.217_487_748, 3.684_034e-7),
    ] {
        law.sample(&mut s, &Backlog::of(length, 0));
        assert!((s.error - error).abs() < 1e-9, "{s:?}");
        assert!((s.probability - probability).abs() < 1e-13, "{s:?}");
    }
    let mut s = law.new_state();
    (0..1000).for_each(|_| law.sample(&mut s, &Backlog::of(150, 0)));
    assert!((s.error - 43.246_774).abs() < 1e-6, "{s:?}");
    assert!((s.probability - 0.007_104_965).abs() < 1e-9, "{s:?}");
    // At the target nothing changes.
    let mut s = law.new_state();
    (0..1000).for_each(|_| law.sample(&mut s, &Backlog::of(100, 0)));
    assert_eq!(s, law.new_state());
}

/// Below 0.9 of the target nothing is dropped, and nothing drawn.
#[test]
fn a_short_queue_is_spared() {
    for (waiting, draws) in [(89, &[][..]), (90, &[0.4])] {
        let mut dred = Managed::new(dred(&DredSpec::default()));
        dred.vars.state.probability = 0.5;
        let mut script = Script::new(draws);
        let packet = Packet::new(0, 0, 1000);
        let verdict = dred.arrival(Time::ZERO, &Backlog::of(waiting, 0), &packet, &mut script);
        assert_eq!(verdict == Verdict::Pass, draws.is_empty(), "{waiting}");
        assert_eq!(script.drawn, draws.len());
    }
}

/// DRED in plain words: a timer, in microseconds, from the first packet on.
fn plainly(spec: &DredSpec, waited: &[(u64, u32)], period: u64, until: u64) -> f64 {
    let (mut p, mut error) = (0.0_f64, 0.0_f64);
    let first = waited.first().map_or(until, |(at, _)| *at);
    let target = spec.target.unwrap();
    for tick in (1..).map(|n| n * period).take_while(|t| *t <= until) {
        if tick <= first {
            continue;
        }
        let before = waited.iter().take_while(|(at, _)| *at < tick).last();
        let q = f64::from(before.map_or(0, |(_, n)| *n));
        error += spec.beta * (q - target - error);
        p = (p + spec.alpha * error / 200.0).clamp(0.0, spec.max_p);
    }
    p
}

#[test]
fn it_is_what_it_is_in_plain_words() {
    let mut rng = Rng::from_key(7);
    for round in 0..100 {
        let period = 100 + u64::from(rng.below(5000));
        let spec = DredSpec {
            target: Some(f64::from(1 + rng.below(20))),
            alpha: rng.f64() + 0.01,
            beta: rng.f64().max(0.01),
            max_p: rng.f64().max(0.1),
            update: Some(Dur::from_us(period)),
            ..DredSpec::default()
        };
        let mut dred = Managed::new(dred(&spec));
        let (mut now, mut waiting, mut waited) = (0_u64, 0_u32, Vec::new());
        for _ in 0..200 {
            let most = if rng.below(20) == 0 { 500_000 } else { 3000 };
            now += u64::from(rng.below(most));
            let at = Time::ZERO + Dur::from_us(now);
            let packet = Packet::new(0, 0, 1000);
            let mut never = Script::new(&[1.0]);
            if waiting > 0 && rng.below(2) == 0 {
                waiting -= 1;
                let behind = Backlog::of(waiting, 0);
                dred.departure(&mut DropStage::First, at, &behind, &packet, &mut never);
            } else {
                dred.arrival(at, &Backlog::of(waiting, 0), &packet, &mut never);
                let p = dred.vars.state.probability;
                let expected = plainly(&spec, &waited, period, now);
                assert!((p - expected).abs() < 1e-9, "{round}: {p} {expected}");
                waiting += 1;
            }
            waited.push((now, waiting));
        }
    }
}
