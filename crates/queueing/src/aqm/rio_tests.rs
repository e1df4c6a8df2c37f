use super::*;
use crate::aqm::automaton::DropStage;
use crate::aqm::curve::Region;
use crate::aqm::tests::{Script, facts};
use crate::aqm::{Automaton, Draw, early};
use crate::recipe::test_at;
use proptest::prelude::*;
use spillgate_core::{DropReason, Dur, Rng, Verdict};

type Vars = early::Vars<TwoColors, ()>;

fn rio(spec: RioSpec) -> Early<Rio> {
    test_at(|at| spec.resolve(at, &facts())).unwrap()
}

fn packet(within: bool) -> Packet {
    let dscp = if within {
        Dscp::af(1, 1).unwrap()
    } else {
        Dscp::DEFAULT
    };
    Packet {
        dscp,
        ..Packet::new(0, 0, 500)
    }
}

fn arrive(
    rio: &mut Early<Rio>,
    v: &mut Vars,
    now: Time,
    within: bool,
    draw: &mut impl Draw,
) -> Verdict {
    let backlog = Backlog::of(v.averages.queue.len() as u32, 0);
    rio.arrival(v, now, &backlog, &packet(within), draw)
}

/// Six arrivals without a departure at w = 0.5: averages of packets in, packets out, and all, by
/// hand.
#[test]
fn averages_by_color() {
    let script = [true, true, false, false, true, false];
    let own = [
        [0.0, 0.5, 0.5, 0.5, 1.25, 1.25],
        [0.0, 0.0, 0.0, 0.5, 0.5, 1.25],
    ];
    let all = [0.0, 0.5, 1.25, 2.125, 3.0625, 4.03125];
    for (mode, others) in [(RioMode::Coupled, all), (RioMode::Decoupled, own[1])] {
        let mut rio = rio(RioSpec {
            mode,
            weight: 0.5,
            ..RioSpec::default()
        });
        let mut v = rio.vars();
        for (i, within) in script.into_iter().enumerate() {
            let mut none = Script::new(&[]);
            let verdict = arrive(&mut rio, &mut v, Time::ZERO, within, &mut none);
            assert_eq!(verdict, Verdict::Pass);
            assert_eq!(
                (v.averages.averages[1].value, v.averages.averages[0].value),
                (own[0][i], others[i]),
                "{mode:?} {i}"
            );
        }
        assert_eq!(v.averages.waiting, [3, 3]);
    }
}

#[test]
fn curves_of_clark_and_fang() {
    let spec = RioSpec::default();
    let Region::Random(p) = spec.within.region(50.0, false) else {
        panic!("chance decides");
    };
    assert!((p - 0.006_666_67).abs() < 5e-9);
    assert_eq!(spec.out.region(20.0, false), Region::Random(0.25));
    assert_eq!(spec.out.region(30.0, false), Region::Certain);
}

/// What is out is all gone before what is in loses anything, if the thresholds do not overlap.
#[test]
fn packets_out_go_first() {
    let mut rio = rio(RioSpec {
        weight: 1.0,
        ..RioSpec::default()
    });
    let mut v = rio.vars();
    let mut rng = Rng::from_key(1);
    // 35 packets in are waiting: above all thresholds of packets out, below those of packets in.
    for _ in 0..35 {
        let verdict = arrive(&mut rio, &mut v, Time::ZERO, true, &mut rng);
        assert_eq!(verdict, Verdict::Pass);
    }
    for _ in 0..10 {
        let verdict = arrive(&mut rio, &mut v, Time::ZERO, false, &mut rng);
        assert_eq!(verdict, Verdict::Drop(DropReason::Forced));
    }
    assert_eq!(
        arrive(&mut rio, &mut v, Time::ZERO, true, &mut rng),
        Verdict::Pass
    );
}

/// Gaps between losses are counted from a packet that the full queue refused, too. At w = 1 and
/// probability n / 100 behind n packets the 8th arrival, the first after the refusal of the 7th, is
/// lost with 0.06 / (1 - 0.06) = 0.064; had six passed since the last loss it would be 0.06 / (1 -
/// 0.42) = 0.103.
#[test]
fn a_refusal_of_the_full_queue_restarts_the_gap() {
    for within in [true, false] {
        let curve = RedCurve {
            min_th: 0.0,
            max_th: 100.0,
            max_p: 1.0,
        };
        let mut rio = rio(RioSpec {
            within: curve,
            out: curve,
            weight: 1.0,
            ..RioSpec::default()
        });
        let mut v = rio.vars();
        let mut draws = Script::new(&[0.99, 0.99, 0.99, 0.99, 0.99, 0.99, 0.99, 0.08]);
        let mut arrive = |v: &mut Vars| arrive(&mut rio, v, Time::ZERO, within, &mut draws);
        for _ in 0..7 {
            assert_eq!(arrive(&mut v), Verdict::Pass);
        }
        v.averages.overflowed();
        assert_eq!(arrive(&mut v), Verdict::Pass);
    }
}

/// The average of packets in decays from the end of the last one's transmission, though others
/// wait.
#[test]
fn each_color_idles_by_itself() {
    let mut rio = rio(RioSpec {
        mode: RioMode::Decoupled,
        weight: 0.002,
        ..RioSpec::default()
    });
    let mut v = rio.vars();
    let mut rng = Rng::from_key(1);
    arrive(&mut rio, &mut v, Time::ZERO, true, &mut rng);
    arrive(&mut rio, &mut v, Time::ZERO, false, &mut rng);
    v.averages.averages[1].value = 8.0;
    let mut stage = DropStage::First;
    let behind = Backlog::of(1, 500);
    rio.departure(
        &mut v,
        &mut stage,
        Time::ZERO,
        &behind,
        &packet(true),
        &mut rng,
    );
    // 500 B at 1.5 Mb/s take 2.667 ms; 375 such packets a second, so 37.5 in a tenth.
    let idle = Time::ZERO + facts().rate.tx_time(500) + Dur::from_ms(100);
    arrive(&mut rio, &mut v, idle, true, &mut rng);
    assert!(
        (v.averages.averages[1].value - 7.421_390_522).abs() < 1e-6,
        "{}",
        v.averages.averages[1].value
    );
}

/// The algorithm as one would write it first: a list of the waiting packets, counted anew for each
/// arrival.
#[derive(Default)]
struct Plain {
    waiting: Vec<bool>,
    averages: [f64; 2],
    idle: [Option<Time>; 2],
    counts: [i32; 2],
}

impl Plain {
    fn sample(&mut self, which: usize, spec: &RioSpec, now: Time, packets: usize) {
        let average = &mut self.averages[which];
        match self.idle[which].filter(|since| packets == 0 && *since <= now) {
            Some(since) => {
                let m = now.since(since).as_secs_f64() * 375.0;
                *average *= spillgate_core::math::pow(1.0 - spec.weight, m);
                self.idle[which] = Some(now);
            }
            None => *average += spec.weight * (packets as f64 - *average),
        }
    }

    fn arrive(&mut self, spec: &RioSpec, now: Time, within: bool, rng: &mut Rng) -> Verdict {
        let of = |color| self.waiting.iter().filter(|w| **w == color).count();
        let (ins, outs, all) = (of(true), of(false), self.waiting.len());
        if within {
            self.sample(1, spec, now, ins);
        }
        if spec.mode == RioMode::Coupled {
            self.sample(0, spec, now, all);
        } else if !within {
            self.sample(0, spec, now, outs);
        }
        let (average, curve) = match within {
            true => (self.averages[1], spec.within),
            false => (self.averages[0], spec.out),
        };
        let count = &mut self.counts[usize::from(within)];
        let verdict = if average < curve.min_th {
            *count = 0;
            Verdict::Pass
        } else if average >= curve.max_th {
            *count = 1;
            Verdict::Drop(DropReason::Forced)
        } else {
            // Counted from 1, so that the packets between two drops are one less.
            let p_b = curve.max_p * (average - curve.min_th) / (curve.max_th - curve.min_th);
            let left = 1.0 - f64::from(*count) * p_b;
            *count += 1;
            let p_a = if left > 0.0 {
                (p_b / left).min(1.0)
            } else {
                1.0
            };
            if rng.draw() < p_a {
                *count = 1;
                Verdict::Drop(DropReason::Early)
            } else {
                Verdict::Pass
            }
        };
        if verdict == Verdict::Pass {
            self.waiting.push(within);
        }
        verdict
    }

    fn depart(&mut self, spec: &RioSpec, end: Time) {
        let color = self.waiting.remove(0);
        let last = !self.waiting.contains(&color);
        if last && (color || spec.mode == RioMode::Decoupled) {
            self.idle[usize::from(color)] = Some(end);
        }
        if self.waiting.is_empty() && spec.mode == RioMode::Coupled {
            self.idle[0] = Some(end);
        }
    }
}

proptest! {
    #[test]
    fn agrees_with_the_plain_one(
        coupled in any::<bool>(),
        weight in prop_oneof![Just(0.002), Just(0.2), Just(1.0)],
        steps in proptest::collection::vec((any::<bool>(), 0_u64..9_000, 0_u8..10), 0..400),
    ) {
        let curve = |min_th, max_th, max_p| RedCurve { min_th, max_th, max_p };
        let spec = RioSpec {
            mode: if coupled { RioMode::Coupled } else { RioMode::Decoupled },
            weight,
            within: curve(6.0, 15.0, 0.1),
            out: curve(2.0, 7.0, 0.5),
            ..RioSpec::default()
        };
        let mut rio = rio(spec.clone());
        let (mut v, mut plain) = (rio.vars(), Plain::default());
        let (mut ours, mut theirs) = (Rng::from_key(9), Rng::from_key(9));
        let mut now = Time::ZERO;
        for (within, us, what) in steps {
            now += Dur::from_us(us);
            if what < 4 && !plain.waiting.is_empty() {
                let color = plain.waiting[0];
                let end = now + facts().rate.tx_time(500);
                plain.depart(&spec, end);
                let behind = Backlog::of(plain.waiting.len() as u32, 0);
                let mut stage = DropStage::First;
                rio.departure(&mut v, &mut stage, now, &behind, &packet(color), &mut ours);
                if plain.waiting.is_empty() {
                    rio.emptied(&mut v, end);
                }
            } else {
                let found = arrive(&mut rio, &mut v, now, within, &mut ours);
                prop_assert_eq!(found, plain.arrive(&spec, now, within, &mut theirs));
            }
            prop_assert_eq!(v.averages.queue.len(), plain.waiting.len());
            for within in [false, true] {
                prop_assert_eq!(v.averages.averages[usize::from(within)].value, plain.averages[usize::from(within)]);
            }
        }
    }
}

#[test]
fn what_is_refused_or_pushed_out_no_longer_waits() {
    let mut rio = rio(RioSpec::default());
    let mut v = rio.vars();
    let mut rng = Rng::from_key(1);
    for within in [true, false, true, false] {
        arrive(&mut rio, &mut v, Time::ZERO, within, &mut rng);
    }
    rio.overflowed(&mut v);
    assert_eq!(v.averages.waiting, [1, 2]);
    rio.pushed_out(&mut v, 2);
    assert_eq!((v.averages.waiting, v.averages.queue.len()), ([0, 1], 1));
    // More than there are does no harm.
    rio.pushed_out(&mut v, 9);
    assert_eq!(v.averages.waiting, [0, 0]);
}

#[test]
fn wrong_parameters_are_refused_and_odd_ones_warned_of() {
    let fails = |spec: RioSpec| test_at(|at| spec.resolve(at, &facts())).is_err();
    let spec = RioSpec::default;
    assert!(!fails(spec()));
    assert!(fails(RioSpec {
        profile: vec![],
        ..spec()
    }));
    assert!(fails(RioSpec {
        weight: 2.0,
        ..spec()
    }));
    let flat = RedCurve {
        max_th: 10.0,
        ..spec().out
    };
    assert!(fails(RioSpec {
        out: flat,
        ..spec()
    }));
}

/// Told in advance when packets will leave it decides as if it saw each of them leave:
/// 40,000 packets at a line that takes one at a time, with idle times.
#[test]
fn foreseen_departures_are_those_seen() {
    for mode in [RioMode::Coupled, RioMode::Decoupled] {
        let curve = |min_th, max_th| RedCurve {
            min_th,
            max_th,
            max_p: 0.3,
        };
        let mut seen = rio(RioSpec {
            mode,
            within: curve(0.5, 6.0),
            out: curve(1.0, 8.0),
            weight: 0.05,
            ..RioSpec::default()
        });
        let mut told = seen.clone();
        let (mut a, mut b) = (seen.vars(), told.vars());
        let (mut draws, mut same) = (Rng::from_key(1), Rng::from_key(1));
        let mut walk = Rng::from_key(2);
        let mut starts: VecDeque<(Time, Packet)> = VecDeque::new();
        let (mut now, mut free_at) = (Time::ZERO, Time::ZERO);
        // The end of the last transmission, if nobody has been told.
        let mut last: Option<Time> = None;
        let (mut drops, mut idle) = ([0; 2], 0);
        for i in 0..40_000_u32 {
            // Sent in 2.7 ms.
            let mean_us = [2_000.0, 4_000.0][(i / 1_000 % 2) as usize];
            now += Dur::from_us((2.0 * mean_us * walk.f64()) as u64);
            let within = walk.f64() < 0.4;
            let packet = packet(within);
            let depart = |seen: &mut Early<Rio>, v: &mut Vars, start, packet: &Packet, last| {
                let mut stage = DropStage::First;
                let behind = Backlog::default();
                let mut none = Rng::from_key(0);
                seen.departure(v, &mut stage, start, &behind, packet, &mut none);
                if last {
                    seen.emptied(v, start + facts().rate.tx_time(packet.len));
                }
            };
            while let Some(&(start, ref left)) = starts.front().filter(|s| s.0 <= now) {
                depart(&mut seen, &mut a, start, left, starts.len() == 1);
                starts.pop_front();
            }
            let backlog = Backlog::of(starts.len() as u32, 0);
            let verdict = seen.arrival(&mut a, now, &backlog, &packet, &mut draws);
            if let Some(end) = last.take_if(|_| starts.is_empty()) {
                told.emptied(&mut b, end);
            }
            let foreseen = told.arrival(&mut b, now, &backlog, &packet, &mut same);
            assert_eq!(verdict, foreseen, "{mode:?} packet {i}");
            assert_eq!(
                a.averages.averages.map(|x| x.value),
                b.averages.averages.map(|x| x.value)
            );
            if verdict != Verdict::Pass {
                drops[usize::from(within)] += 1;
                continue;
            }
            let start = now.max(free_at);
            free_at = start + facts().rate.tx_time(packet.len);
            last = Some(free_at);
            told.begins(&mut b, start, &packet);
            if start == now {
                depart(&mut seen, &mut a, now, &packet, true);
                idle += 1;
            } else {
                starts.push_back((start, packet));
            }
        }
        assert!(
            drops.iter().all(|n| *n > 300) && idle > 1_000,
            "{drops:?} {idle}"
        );
    }
}
