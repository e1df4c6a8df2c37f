use super::super::tests::{Script, facts};
use super::*;
use crate::aqm::{Automaton as _, DropStage, Managed};
use crate::recipe::test_at;
use spillgate_core::{DropReason, Ecn, Rng, Verdict};

fn sfb(spec: &SfbSpec) -> Managed<ByChance<Sfb>> {
    Managed::new(test_at(|at| spec.resolve(at, &facts())).unwrap())
}

fn capable(flow: u32) -> Packet {
    Packet {
        ecn: Ecn::Ect0,
        ..Packet::new(flow, 0, 1000)
    }
}

/// The shares of packets that are marked and dropped at each probability, by hand.
#[test]
fn above_one_half_the_excess_is_dropped() {
    let law = sfb(&SfbSpec::default()).automaton.chooser;
    for (p, marked, dropped) in [
        (0.25, 0.25, 0.0),
        (0.5, 0.5, 0.0),
        (0.6, 0.4, 0.2),
        (0.75, 0.25, 0.5),
        (0.9, 0.1, 0.8),
    ] {
        let draws = (0..1000).map(|n| (f64::from(n) + 0.5) / 1000.0);
        let chosen: Vec<_> = draws.filter(|u| *u < p).collect();
        let marks = chosen.iter().filter(|u| law.marks(p, **u)).count() as f64;
        assert_eq!(marks, 1000.0 * marked, "{p}");
        assert_eq!(chosen.len() as f64 - marks, 1000.0 * dropped, "{p}");
    }
}

/// 100 arrivals of a flow whose bins hold 20 packets: 100 * 66/65535. Each arrival at bins without
/// packets takes 11/65535 back.
#[test]
fn probabilities_move_at_each_arrival() {
    let law = sfb(&SfbSpec::default()).automaton.chooser;
    let mut set = law.fresh(1 << 60);
    set.bins.iter_mut().for_each(|bin| bin.packets = 20);
    (0..100).for_each(|_| {
        law.moves(&mut set, 3);
    });
    let (least, shortest) = law.moves(&mut set, 3);
    assert!((least - 101.0 * 66.0 / 65_535.0).abs() < 1e-12, "{least}");
    assert_eq!(shortest, 20);
    set.bins.iter_mut().for_each(|bin| bin.packets = 0);
    let (least, _) = law.moves(&mut set, 3);
    assert!(
        (least - (101.0 * 66.0 - 11.0) / 65_535.0).abs() < 1e-12,
        "{least}"
    );
}

/// A flow shares all its bins with one of M others with probability (1 - (1 - 1/N)^M)^L. Of 20,000
/// hashes the share is off by more than four standard deviations once in 16,000 times.
#[test]
fn innocent_flows_collide_as_often_as_hashes_do() {
    for (levels, bins, others) in [(2, 8, 4_u32), (2, 5, 4), (3, 4, 6)] {
        let law = sfb(&SfbSpec {
            levels,
            bins,
            ..SfbSpec::default()
        });
        let law = law.automaton.chooser;
        let n = 20_000;
        let collides = |salt: &u64| {
            let salt = mixed(*salt);
            let taken: Vec<_> = (1..=others).flat_map(|f| law.places(salt, f)).collect();
            law.places(salt, 0).all(|place| taken.contains(&place))
        };
        let found = (1..=n).filter(collides).count() as f64 / n as f64;
        let pow = spillgate_core::math::pow;
        let one = 1.0 - pow(1.0 - 1.0 / f64::from(bins), f64::from(others));
        let expected = pow(one, f64::from(levels));
        let deviation = (expected * (1.0 - expected) / n as f64).sqrt();
        assert!(
            (found - expected).abs() < 4.0 * deviation,
            "{found} {expected}"
        );
    }
}

/// A queue that holds as many packets of one flow as its bins may is lost for certain to it; others
/// pass.
#[test]
fn full_bins_drop_their_flows_only() {
    let mut sfb = sfb(&SfbSpec::default());
    let mut never = Script::new(&[0.5; 40]);
    let mut verdicts = Vec::new();
    for n in 0..27 {
        let backlog = Backlog::of(n, 0);
        // Linux has a probability of 5 * 66/65535 by then at most: draws of 0.5 let all pass.
        verdicts.push(sfb.arrival(Time::ZERO, &backlog, &capable(1), &mut never));
    }
    let lost = Verdict::Drop(DropReason::Early);
    assert!(verdicts[..25].iter().all(|v| *v == Verdict::Pass));
    assert_eq!(verdicts[25..], [lost, lost]);
    let other = sfb.arrival(Time::ZERO, &Backlog::of(25, 0), &capable(2), &mut never);
    assert_eq!(other, Verdict::Pass);
}

/// Who does not slow down gets the burst, then so many as come within ten seconds, at most the
/// burst.
#[test]
fn the_penalty_box_is_filled_when_it_is_empty() {
    let mut sfb = sfb(&SfbSpec::default());
    let law = sfb.automaton.chooser.clone();
    let lets = |v: &mut Vars, seconds: f64| {
        let now = Time::from_secs_f64(seconds);
        (0..30).filter(|_| law.forgives(v, now)).count()
    };
    // 20 at once; then all that 10 a second give, whole ones; 0.05 s give none, and are gone.
    let found: Vec<_> = [0.0, 1.55, 1.6, 2.6, 100.0]
        .map(|at| lets(&mut sfb.vars, at))
        .into();
    assert_eq!(found, [20, 15, 0, 10, 20]);
}

/// A packet in the queue of the plain SFB: its flow, and the salts of the sets in which it counts.
struct Held(u32, Vec<u64>);

/// SFB in plain words: bins have no counters, the packets of the queue are looked at each time.
struct Plain<'a> {
    law: &'a Sfb,
    /// Active and next: salts, and the probability of each place.
    sets: Vec<(u64, std::collections::BTreeMap<usize, f64>)>,
    queue: Vec<Held>,
}

impl Plain<'_> {
    fn held(&self, salt: u64, place: usize) -> u32 {
        let there =
            |h: &&Held| h.1.contains(&salt) && self.law.places(salt, h.0).any(|at| at == place);
        self.queue.iter().filter(there).count() as u32
    }

    fn moves(&mut self, set: usize, flow: u32) -> (f64, u32) {
        let p = &self.law.0;
        let salt = self.sets[set].0;
        let places: Vec<_> = self.law.places(salt, flow).collect();
        let (mut least, mut shortest) = (1.0_f64, u32::MAX);
        for place in places {
            let n = self.held(salt, place);
            let probability = self.sets[set].1.entry(place).or_default();
            if n == 0 {
                *probability = (*probability - p.decrement).max(0.0);
            }
            if n >= p.target {
                *probability = (*probability + p.increment).min(1.0);
            }
            least = least.min(*probability);
            shortest = shortest.min(n);
        }
        (least, shortest)
    }
}

/// Random arrivals of few flows into few bins, departures and evictions: each verdict is that of
/// the plain one. Probabilities reach 1, so that the penalty box and the next hash come in.
#[test]
fn it_is_what_it_is_in_plain_words() {
    let mut rng = Rng::from_key(17);
    let (mut marked, mut lost, mut warm) = (0, 0, 0);
    for round in 0..60 {
        let spec = SfbSpec {
            levels: 1 + rng.below(3),
            bins: 2 + rng.below(4),
            target: 2,
            max: 3 + rng.below(4),
            increment: 0.2 * rng.f64() + 0.01,
            decrement: 0.1 * rng.f64() + 0.01,
            rehash: Dur::from_ms(200),
            warmup: Dur::from_ms(80),
            penalty_rate: 50,
            penalty_burst: 3,
            ecn: true,
        };
        let mut sfb = sfb(&spec);
        let law = sfb.automaton.chooser.clone();
        let mut plain = Plain {
            law: &law,
            sets: Vec::new(),
            queue: Vec::new(),
        };
        let (mut now, mut tokens, mut given) = (0.0_f64, 3_u32, 0.0_f64);
        for step in 0..400 {
            now += f64::from(rng.below(4)) * 1e-3;
            let at = Time::from_secs_f64(now);
            let waiting = plain.queue.len() as u32;
            match rng.below(5) {
                0 | 1 if waiting > 0 => {
                    let Held(flow, _) = plain.queue.remove(0);
                    let behind = Backlog::of(waiting - 1, 0);
                    let mut none = Script::new(&[]);
                    let mut stage = DropStage::First;
                    sfb.departure(&mut stage, at, &behind, &capable(flow), &mut none);
                }
                2 if waiting > 0 => {
                    let place = rng.below(waiting);
                    let Held(flow, _) = plain.queue.remove(place as usize);
                    sfb.automaton.evicted(&mut sfb.vars, place, &capable(flow));
                }
                _ => {
                    let flow = rng.below(6);
                    let draws: Vec<_> = (0..4).map(|_| rng.f64()).collect();
                    let mut script = Script::new(&draws);
                    let backlog = Backlog::of(waiting, 0);
                    let verdict = sfb.arrival(at, &backlog, &capable(flow), &mut script);
                    // Hashes are drawn by the one that is tested, and taken over.
                    let salts =
                        [sfb.vars.active, 1 - sfb.vars.active].map(|s| sfb.vars.sets[s].salt);
                    let known = std::mem::take(&mut plain.sets);
                    plain.sets = salts
                        .iter()
                        .map(|salt| {
                            let found = known.iter().find(|(of, _)| of == salt);
                            (*salt, found.map(|(_, p)| p.clone()).unwrap_or_default())
                        })
                        .collect();
                    let warms = sfb.vars.warms;
                    let (least, shortest) = plain.moves(0, flow);
                    let mut counts = vec![salts[0]];
                    let last = script.drawn.checked_sub(1).map(|n| draws[n]);
                    let expected = if shortest >= spec.max {
                        Verdict::Drop(DropReason::Early)
                    } else if least >= 1.0 {
                        if warms {
                            plain.moves(1, flow);
                            counts.push(salts[1]);
                            warm += 1;
                        }
                        if tokens == 0 {
                            let since = at.since(Time::from_secs_f64(given)).as_secs_f64();
                            tokens = ((since.min(10.0) * 50.0) as u32).min(3);
                            given = now;
                        }
                        if tokens > 0 {
                            tokens -= 1;
                            Verdict::Pass
                        } else {
                            Verdict::Drop(DropReason::Early)
                        }
                    } else if least == 0.0 || last.unwrap() >= least {
                        Verdict::Pass
                    } else if last.unwrap() < 2.0 * (least - 0.5) {
                        Verdict::Drop(DropReason::Early)
                    } else {
                        Verdict::Mark
                    };
                    assert_eq!(verdict, expected, "{round} {step}: {least} {shortest}");
                    marked += i32::from(verdict == Verdict::Mark);
                    match verdict {
                        Verdict::Drop(_) => lost += 1,
                        _ => plain.queue.push(Held(flow, counts)),
                    }
                }
            }
        }
    }
    assert!(
        marked > 100 && lost > 100 && warm > 10,
        "{marked} {lost} {warm}"
    );
}
