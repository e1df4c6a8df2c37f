use super::super::tests::{Script, facts};
use super::*;
use crate::aqm::Managed;
use crate::recipe::test_at;
use spillgate_core::{DropReason, Ecn, Rng, Verdict};

fn blue(spec: &BlueSpec) -> ByChance<Blue> {
    test_at(|at| spec.resolve(at, &facts())).unwrap()
}

fn ms(ms: u64) -> Time {
    Time::ZERO + Dur::from_ms(ms)
}

/// Losses at 0, 50 and 150 ms, the link idle at 300, 350 and 450 ms, a loss at 460 ms: those within
/// 100 ms of a change are not heard. By hand.
#[test]
fn the_probability_stays_for_a_while_after_each_change() {
    let spec = BlueSpec {
        idle_repeat: false,
        ..BlueSpec::default()
    };
    let blue = blue(&spec).chooser;
    let mut v = blue.vars();
    for (loss, at, expected) in [
        (true, 0, 0.02),
        (true, 50, 0.02),
        (true, 150, 0.04),
        (false, 300, 0.038),
        (false, 350, 0.038),
        (false, 450, 0.036),
        (true, 460, 0.036),
    ] {
        if loss {
            blue.lost(&mut v, ms(at));
        } else {
            v.idle = ms(at);
            blue.rested(&mut v, ms(at));
        }
        assert!((v.probability - expected).abs() < 1e-12, "{at}: {v:?}");
    }
}

/// It ends at 0 and at 1.
#[test]
fn a_probability_is_one() {
    let blue = blue(&BlueSpec::default()).chooser;
    for (before, loss, after) in [(0.99, true, 1.0), (0.001, false, 0.0)] {
        let mut v = Vars {
            probability: before,
            idle: Time::ZERO,
            ..blue.vars()
        };
        match loss {
            true => blue.lost(&mut v, ms(0)),
            false => blue.rested(&mut v, ms(0)),
        }
        assert_eq!(v.probability, after);
    }
}

/// A link that stays idle: one step at its beginning, one after each 100 ms. Looked at once or each
/// ms, the result is the same; a day costs no more.
#[test]
fn an_idle_link_goes_on_lowering_it() {
    let blue = blue(&BlueSpec::default()).chooser;
    let start = Vars {
        probability: 0.5,
        free: ms(30),
        idle: ms(10),
        ..blue.vars()
    };
    // At 30, 130, 230 ms.
    let (mut once, mut often) = (start, start);
    blue.rested(&mut once, ms(329));
    (0..330).for_each(|t| {
        if often.idle <= ms(t) {
            blue.rested(&mut often, ms(t));
        }
    });
    assert!((once.probability - 0.494).abs() < 1e-12, "{once:?}");
    assert!((once.probability - often.probability).abs() < 1e-12);
    assert_eq!(once.free, often.free);
    blue.rested(&mut once, Time::from_secs_f64(86_400.0));
    assert_eq!(once.probability, 0.0);
}

/// Above the threshold an arrival is a loss, and it is judged by what it has made.
#[test]
fn a_long_queue_counts_as_a_loss() {
    let spec = BlueSpec {
        threshold: Some(3),
        increment: 0.5,
        ecn: true,
        ..BlueSpec::default()
    };
    let packet = Packet {
        ecn: Ecn::Ect0,
        ..Packet::new(0, 0, 1000)
    };
    for (waiting, draws, verdict) in [
        (3, &[][..], Verdict::Pass),
        (4, &[0.5], Verdict::Pass),
        (4, &[0.49], Verdict::Mark),
    ] {
        let mut blue = Managed::new(blue(&spec));
        let mut script = Script::new(draws);
        let backlog = Backlog::of(waiting, 1000 * u64::from(waiting));
        let found = blue.arrival(ms(0), &backlog, &packet, &mut script);
        assert_eq!((found, script.drawn), (verdict, draws.len()), "{waiting}");
    }
}

/// BLUE in plain words: a list of what happened, and the probability after all of it.
fn plainly(spec: &BlueSpec, events: &[(u64, bool)]) -> f64 {
    let (mut p, mut last) = (0.0_f64, None::<u64>);
    for (at, loss) in events {
        let freezes = last.is_some_and(|last| at - last < spec.freeze.as_ps() / 1_000_000_000);
        if freezes || (!loss && p == 0.0) {
            continue;
        }
        p += if *loss {
            spec.increment
        } else {
            -spec.decrement
        };
        p = p.clamp(0.0, 1.0);
        last = Some(*at);
    }
    p
}

/// Random losses and idle times in whole ms: an idle time is an event at each of its ms, since the
/// plain BLUE hears one as soon as it may.
#[test]
fn it_is_what_it_is_in_plain_words() {
    let mut rng = Rng::from_key(11);
    for round in 0..300 {
        let spec = BlueSpec {
            increment: 0.3 * rng.f64() + 0.01,
            decrement: 0.2 * rng.f64() + 0.01,
            freeze: Dur::from_ms(1 + u64::from(rng.below(40))),
            ..BlueSpec::default()
        };
        let mut blue = Managed::new(blue(&spec));
        let (mut events, mut now) = (Vec::new(), 0);
        for _ in 0..100 {
            let packet = Packet::new(0, 0, 1000);
            // Never below the probability.
            let mut never = Script::new(&[1.0]);
            if rng.below(3) == 0 {
                // Idle from the end of a transmission on, until a packet comes that is served.
                let rest = 1 + u64::from(rng.below(200));
                blue.emptied(ms(now));
                events.extend((now..=now + rest).map(|at| (at, false)));
                now += rest;
                blue.arrival(ms(now), &Backlog::of(0, 0), &packet, &mut never);
            } else {
                blue.arrival(ms(now), &Backlog::of(9, 9000), &packet, &mut never);
                blue.overflowed();
                events.push((now, true));
            }
            now += 1 + u64::from(rng.below(30));
        }
        let (p, expected) = (blue.vars.probability, plainly(&spec, &events));
        assert!((p - expected).abs() < 1e-9, "{round}: {p} {expected}");
    }
}

/// A probability of 0 drops nothing whatever is drawn, and draws nothing; 1 drops all.
#[test]
fn zero_drops_nothing() {
    let mut blue = Managed::new(blue(&BlueSpec::default()));
    let packet = Packet::new(0, 0, 1000);
    let mut none = Script::new(&[]);
    let verdict = blue.arrival(ms(0), &Backlog::of(5, 5000), &packet, &mut none);
    assert_eq!(verdict, Verdict::Pass);
    blue.vars.probability = 1.0;
    let mut most = Script::new(&[1.0 - f64::EPSILON]);
    let verdict = blue.arrival(ms(0), &Backlog::of(5, 5000), &packet, &mut most);
    assert_eq!(verdict, Verdict::Drop(DropReason::Early));
}
