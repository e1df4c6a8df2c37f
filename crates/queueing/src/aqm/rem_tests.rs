use super::super::tests::{Script, facts};
use super::*;
use crate::aqm::{DropStage, Managed};
use crate::recipe::test_at;
use spillgate_core::{Rng, Time};

/// At 12.5 MB/s: 25 packets of 1000 B in 2 ms.
fn rem(spec: &RemSpec) -> ByChance<Sampled<Rem>> {
    let rate = Rate::from_bps(100_000_000).unwrap();
    let leaf = LeafFacts { rate, ..facts() };
    test_at(|at| spec.resolve(at, &leaf)).unwrap()
}

/// By hand: arrivals and queue of four samples, price and probability after each.
#[test]
fn prices_are_those_of_the_equation() {
    let law = rem(&RemSpec::default()).chooser.law;
    let mut s = law.new_state();
    for (arrived, queue, price, probability) in [
        (30, 30, 0.006, 5.996_984e-6),
        (30, 30, 0.012, 1.199_393e-5),
        (20, 10, 0.006, 5.996_984e-6),
        (25, 20, 0.006, 5.996_984e-6),
    ] {
        let packet = Packet::new(0, 0, 1000);
        (0..arrived).for_each(|_| law.counts(&mut s, &packet));
        law.sample(&mut s, &Backlog::of(queue, 0));
        assert!((s.price - price).abs() < 1e-12, "{s:?}");
        assert!((s.probability - probability).abs() < 5e-12, "{s:?}");
    }
    // A price that takes half of the packets, and one that takes a hundredth.
    for (price, probability) in [(693.4937, 0.5), (10.055_360, 0.01)] {
        let mut s = RemState { price, ..s };
        // What arrives is what the link sends, and the queue is at its target: the price stays.
        s.arrived = 25;
        law.sample(&mut s, &Backlog::of(20, 0));
        assert!((s.probability - probability).abs() < 1e-7, "{s:?}");
    }
}

/// The probability over a path is that of the sum of the prices: what is left of packets after two
/// links with prices of 100 and 300 is what one with 400 leaves.
#[test]
fn prices_of_a_path_add_up() {
    let law = rem(&RemSpec::default()).chooser.law;
    let passes = |price| {
        let mut s = RemState {
            price,
            arrived: 25,
            ..law.new_state()
        };
        law.sample(&mut s, &Backlog::of(20, 0));
        1.0 - s.probability
    };
    assert!((passes(100.0) * passes(300.0) - passes(400.0)).abs() < 1e-12);
}

/// REM in plain words: a timer, in microseconds, over lists of arrivals and of how many packets
/// waited from when on.
fn plainly(spec: &RemSpec, arrivals: &[u64], waited: &[(u64, u32)], until: u64) -> f64 {
    let (mut price, mut average) = (0.0_f64, 0.0_f64);
    let period = spec.update.as_ps() / 1_000_000;
    let sent = 12.5e6 * spec.update.as_secs_f64() / spec.mean_packet.0 as f64;
    for tick in (1..).map(|n| n * period).take_while(|t| *t <= until) {
        let came = arrivals
            .iter()
            .filter(|at| **at < tick && **at + period >= tick);
        average += spec.weight * (came.count() as f64 - average);
        let before = waited.iter().take_while(|(at, _)| *at < tick).last();
        let q = f64::from(before.map_or(0, |(_, n)| *n));
        price += spec.gamma * (average + spec.alpha * (q - spec.target) - sent);
        price = price.max(0.0);
    }
    1.0 - spillgate_core::math::pow(spec.phi, -price)
}

#[test]
fn it_is_what_it_is_in_plain_words() {
    let mut rng = Rng::from_key(6);
    for round in 0..100 {
        let spec = RemSpec {
            gamma: rng.f64() + 0.01,
            phi: 1.0 + 0.05 * rng.f64() + 1e-6,
            alpha: rng.f64() + 0.01,
            target: f64::from(rng.below(10)),
            update: Dur::from_us(50 + u64::from(rng.below(500))),
            weight: if rng.below(2) == 0 { 1.0 } else { 0.3 },
            ..RemSpec::default()
        };
        let mut rem = Managed::new(rem(&spec));
        let (mut now, mut waiting) = (0_u64, 0_u32);
        let (mut arrivals, mut waited) = (Vec::new(), Vec::new());
        for _ in 0..200 {
            let most = if rng.below(20) == 0 { 50_000 } else { 100 };
            now += u64::from(rng.below(most));
            let at = Time::ZERO + Dur::from_us(now);
            let packet = Packet::new(0, 0, 1000);
            let mut never = Script::new(&[1.0]);
            if waiting > 0 && rng.below(3) == 0 {
                waiting -= 1;
                let behind = Backlog::of(waiting, 0);
                rem.departure(&mut DropStage::First, at, &behind, &packet, &mut never);
            } else {
                rem.arrival(at, &Backlog::of(waiting, 0), &packet, &mut never);
                let p = rem.vars.state.probability;
                let expected = plainly(&spec, &arrivals, &waited, now);
                assert!((p - expected).abs() < 1e-9, "{round}: {p} {expected}");
                arrivals.push(now);
                waiting += 1;
            }
            waited.push((now, waiting));
        }
    }
}
