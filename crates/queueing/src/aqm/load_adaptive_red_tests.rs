use super::*;
use crate::aqm::tests::{Script, facts};
use crate::aqm::{Automaton, Backlog, early};
use crate::recipe::test_at;
use proptest::prelude::*;
use spillgate_core::{DropReason, Ecn, Rng, math};

/// A queue of 200 packets at 375 packets of 500 B a second.
fn leaf() -> LeafFacts {
    LeafFacts {
        max_packets: Some(200),
        limit: Limit::Packets(200),
        ..facts()
    }
}

fn resolved(spec: LoadAdaptiveRedSpec) -> Early<LoadAdaptiveRed> {
    test_at(|at| spec.resolve(at, &leaf())).unwrap()
}

fn sixty() -> LoadAdaptiveRedSpec {
    LoadAdaptiveRedSpec {
        threshold: Some(60.0),
        ..LoadAdaptiveRedSpec::default()
    }
}

fn ms(t: u64) -> Time {
    Time::ZERO + Dur::from_ms(t)
}

/// Averages of the loss, and the middle after each: gain 0.5 times 200 packets, target 0.05, by
/// hand; both ends.
#[test]
fn the_threshold_follows_the_loss() {
    let red = resolved(LoadAdaptiveRedSpec {
        loss_weight: 1.0,
        ..sixty()
    })
    .law;
    let mut v = red.vars();
    let rows = [
        (0.10, 65.0),
        (0.08, 68.0),
        (0.05, 68.0),
        (0.03, 66.0),
        (0.0, 61.0),
        (1.0, 400.0 / 3.0),
        (1.0, 400.0 / 3.0),
        (0.06, 403.0 / 3.0 - 1.0),
    ];
    for (i, (loss, after)) in rows.into_iter().enumerate() {
        red.change(&mut v, loss);
        let after: f64 = after;
        // Of two thirds of 200.
        let after = after.min(400.0 / 3.0);
        assert!(
            (v.threshold - after).abs() < 1e-9,
            "row {i}: {}",
            v.threshold
        );
    }
    for _ in 0..30 {
        red.change(&mut v, 0.0);
    }
    assert_eq!(v.threshold, 10.0);
    let curve = red.spec.curve(v.threshold);
    assert_eq!((curve.min_th, curve.max_th), (5.0, 15.0));
    assert_eq!(red.state(&v)[0], ("adapted_max_th", 15.0));
}

/// d' <- 0.9 d' + 0.1 d.
#[test]
fn the_loss_is_averaged() {
    let red = resolved(sixty()).law;
    let mut v = red.vars();
    for (loss, average, threshold) in [
        (1.0, 0.1, 65.0),
        (0.0, 0.09, 69.0),
        (0.0, 0.081, 72.1),
        (0.5, 0.1229, 79.39),
    ] {
        red.change(&mut v, loss);
        assert!((v.loss - average).abs() < 1e-12, "{}", v.loss);
        assert!((v.threshold - threshold).abs() < 1e-9, "{}", v.threshold);
        assert_eq!(red.state(&v)[1], ("adapted_loss", v.loss));
    }
}

#[track_caller]
fn arrive(
    red: &mut Early<LoadAdaptiveRed>,
    v: &mut early::Vars<Spread, Vars>,
    at: u64,
    waiting: u32,
    packet: &Packet,
    draws: &[f64],
    verdict: Verdict,
) {
    let mut script = Script::new(draws);
    let found = red.arrival(v, ms(at), &Backlog::of(waiting, 0), packet, &mut script);
    assert_eq!((found, script.drawn), (verdict, draws.len()), "at {at}");
}

/// What counts as lost, and when: scripted arrivals with a weight of 1, so that the average is the
/// backlog, and with a loss that is not averaged.
#[test]
fn every_loss_of_a_period_counts() {
    let mut red = resolved(LoadAdaptiveRedSpec {
        weight: 1.0,
        loss_weight: 1.0,
        ecn: true,
        ..sixty()
    });
    let mut v = red.vars();
    let plain = Packet::new(0, 0, 500);
    let capable = Packet {
        ecn: Ecn::Ect0,
        ..plain
    };
    let (early, forced) = (
        Verdict::Drop(DropReason::Early),
        Verdict::Drop(DropReason::Forced),
    );
    // Thresholds 30 and 90: passed below, dropped and marked between (p_b = 0.05), dropped above.
    arrive(&mut red, &mut v, 1, 29, &plain, &[], Verdict::Pass);
    arrive(&mut red, &mut v, 2, 60, &plain, &[0.049], early);
    arrive(&mut red, &mut v, 3, 60, &capable, &[0.05], Verdict::Mark);
    red.overflowed(&mut v);
    arrive(&mut red, &mut v, 4, 90, &capable, &[], forced);
    // The limit refuses one that passed.
    arrive(&mut red, &mut v, 5, 29, &plain, &[], Verdict::Pass);
    red.overflowed(&mut v);
    assert_eq!((v.law.arrived, v.law.lost), (5, 4));
    // Still the first second; then 4 of 6 were lost: 60 + 100 (2/3 - 0.05) = 121.67, thresholds
    // 60.83 and 182.5.
    arrive(&mut red, &mut v, 999, 29, &plain, &[], Verdict::Pass);
    assert_eq!(v.law.threshold, 60.0);
    arrive(&mut red, &mut v, 1_000, 60, &plain, &[], Verdict::Pass);
    assert!((v.law.threshold - (55.0 + 200.0 / 3.0)).abs() < 1e-9);
    assert_eq!((v.law.arrived, v.law.lost, v.law.began), (1, 0, ms(1_000)));
    // One of one is pushed out, and one that had come before.
    red.pushed_out(&mut v, 2);
    // Three seconds and a half later one period ends, with no more than everything lost; the others
    // had no arrivals.
    arrive(&mut red, &mut v, 4_500, 60, &plain, &[], Verdict::Pass);
    assert_eq!(
        (v.law.threshold, v.law.loss, v.law.began),
        (400.0 / 3.0, 1.0, ms(4_000))
    );
    arrive(&mut red, &mut v, 5_000, 60, &plain, &[], Verdict::Pass);
    assert!((v.law.threshold - (400.0 / 3.0 - 5.0)).abs() < 1e-9);
    // What was pushed out ended a gap: the next packet is the first of another.
    v.averages.gap.count = 7;
    red.pushed_out(&mut v, 1);
    assert_eq!(v.averages.gap.count, 0);
}

/// By default thresholds begin as RED's, and everything else is a part of the limit.
#[test]
fn defaults_follow_the_limit() {
    let spec = LoadAdaptiveRedSpec::default();
    let at = |limit| {
        let range = spec.range(spec.room(limit, facts().rate));
        (range.gain, range.first, range.low, range.high)
    };
    assert_eq!(at(Limit::Packets(200)), (100.0, 10.0, 10.0, 200.0 / 1.5));
    assert_eq!(at(Limit::Packets(12)), (6.0, 8.0, 8.0, 8.0));
    // 100 packets of 500 B, and what 375 of them a second bring in 400 ms.
    assert_eq!(at(Limit::Bytes(50_000)), (50.0, 10.0, 10.0, 100.0 / 1.5));
    assert_eq!(at(Limit::Time(Dur::from_ms(400))).0, 75.0);
    let shown = spec.thresholds(Limit::Packets(200), facts().rate);
    assert_eq!(
        (shown[0].min, shown[0].max, shown[0].written),
        (5.0, 15.0, false)
    );
    // Without a limit there is nothing to take a part of.
    let no_limit = test_at(|at| spec.resolve(at, &facts())).unwrap_err();
    assert!(no_limit.path.ends_with("threshold_high"), "{no_limit}");
    let written = LoadAdaptiveRedSpec {
        threshold_high: Some(100.0),
        gain: Some(100.0),
        ..spec
    };
    assert!(test_at(|at| written.resolve(at, &facts())).is_ok());
}

/// The rule as the page has it, with a list of the packets of the period.
struct Plain {
    avg: f64,
    count: i64,
    middle: f64,
    loss: f64,
    period: u64,
    lost: Vec<bool>,
}

impl Plain {
    /// Whether a packet that finds `q` waiting at `us` is dropped.
    fn packet(&mut self, us: u64, q: u32, u: &mut Rng) -> bool {
        if us / 1_000_000 > self.period {
            self.period = us / 1_000_000;
            if !self.lost.is_empty() {
                let lost = self.lost.iter().filter(|l| **l).count();
                let share = lost as f64 / self.lost.len() as f64;
                self.loss = 0.9 * self.loss + 0.1 * share;
                let most = 200.0 / 1.5;
                self.middle = (self.middle + 0.5 * 200.0 * (self.loss - 0.05)).min(most);
                self.middle = self.middle.max(10.0);
                self.lost.clear();
            }
        }
        self.avg = 0.95 * self.avg + 0.05 * f64::from(q);
        let (min, max) = (self.middle * 0.5, self.middle * 1.5);
        let dropped = if self.avg < min {
            self.count = -1;
            false
        } else if self.avg >= max {
            true
        } else {
            self.count += 1;
            let p_b = 0.1 * (self.avg - min) / (max - min);
            let left = 1.0 - self.count as f64 * p_b;
            u.f64() < if left > p_b { p_b / left } else { 1.0 }
        };
        if dropped {
            self.count = 0;
        }
        self.lost.push(dropped);
        dropped
    }
}

/// 100,000 packets that find a queue which wanders, in phases of light and heavy load.
#[test]
fn agrees_with_the_plain_one() {
    let mut red = resolved(LoadAdaptiveRedSpec {
        weight: 0.05,
        ..LoadAdaptiveRedSpec::default()
    });
    let mut v = red.vars();
    let mut plain = Plain {
        avg: 0.0,
        count: -1,
        middle: 10.0,
        loss: 0.0,
        period: 0,
        lost: Vec::new(),
    };
    let (mut ours, mut theirs) = (Rng::from_key(4), Rng::from_key(4));
    let mut walk = Rng::from_key(5);
    let (mut us, mut q) = (0_u64, 0_u32);
    let (mut least, mut most, mut drops) = (200.0_f64, 0.0_f64, 0);
    let packet = Packet::new(0, 0, 500);
    for i in 0..100_000_u32 {
        us += 1 + (20_000.0 * walk.f64()) as u64;
        if walk.f64() < 0.001 {
            us += (5e6 * walk.f64()) as u64;
        }
        let up = [0.5, 0.55, 0.5, 0.45][(i / 5_000 % 4) as usize];
        q = match walk.f64() < up {
            true => (q + 1).min(199),
            false => q.saturating_sub(1),
        };
        let now = Time::ZERO + Dur::from_us(us);
        let verdict = red.arrival(&mut v, now, &Backlog::of(q, 0), &packet, &mut ours);
        let dropped = plain.packet(us, q, &mut theirs);
        assert_eq!(verdict != Verdict::Pass, dropped, "packet {i}");
        assert!((v.law.loss - plain.loss).abs() < 1e-9, "packet {i}");
        assert!((v.law.threshold - plain.middle).abs() < 1e-6, "packet {i}");
        least = least.min(v.law.threshold);
        most = most.max(v.law.threshold);
        drops += u32::from(dropped);
    }
    // It has been everywhere.
    assert_eq!(least, 10.0);
    assert!(most > 130.0 && drops > 1_000, "{most} {drops}");
}

/// With a queue of 20 a middle of 10 drops everything, so the thresholds rise until the target's
/// share is lost; then they rest.
#[test]
fn it_comes_to_rest_at_the_target() {
    let mut red = resolved(LoadAdaptiveRedSpec {
        weight: 1.0,
        ..LoadAdaptiveRedSpec::default()
    });
    let mut v = red.vars();
    let mut rng = Rng::from_key(1);
    let packet = Packet::new(0, 0, 500);
    let mut settled = Vec::new();
    for i in 0..400_000_u64 {
        red.arrival(&mut v, ms(i), &Backlog::of(20, 0), &packet, &mut rng);
        if i >= 200_000 && i % 1_000 == 0 {
            settled.push(v.law.threshold);
        }
    }
    // Gaps are uniform on 1 to 1/p_b - 1 packets, so that 0.05 are lost at 1/p_b = 40: of 0.1 a
    // quarter of the way from T/2 to 3T/2 is 3T/4 = 20.
    let mean = settled.iter().sum::<f64>() / settled.len() as f64;
    assert!(
        (math::pow(mean * 0.75 / 20.0, 2.0) - 1.0).abs() < 0.05,
        "{mean}"
    );
}

proptest! {
    /// Whatever comes, thresholds stay within their range.
    #[test]
    fn nothing_leaves_its_range(
        packets in proptest::collection::vec((0_u64..900, 0_u32..220, 0_u32..4), 0..400),
    ) {
        let mut red = resolved(LoadAdaptiveRedSpec {
            weight: 0.5,
            loss_weight: 1.0,
            gain: Some(1e6),
            ..LoadAdaptiveRedSpec::default()
        });
        let mut v = red.vars();
        let mut rng = Rng::from_key(2);
        let mut at = 0;
        for (gap, waiting, pushed) in packets {
            at += gap;
            let packet = Packet::new(0, 0, 500);
            red.arrival(&mut v, ms(at), &Backlog::of(waiting, 0), &packet, &mut rng);
            red.pushed_out(&mut v, pushed);
            prop_assert!((10.0..=200.0 / 1.5).contains(&v.law.threshold));
            prop_assert!((0.0..=1.0).contains(&v.law.loss));
        }
    }
}

#[test]
fn wrong_parameters_are_refused() {
    let fails = |spec: LoadAdaptiveRedSpec| test_at(|at| spec.resolve(at, &leaf())).is_err();
    let spec = LoadAdaptiveRedSpec::default;
    assert!(!fails(spec()));
    assert!(fails(LoadAdaptiveRedSpec {
        target_loss: 1.1,
        ..spec()
    }));
    assert!(fails(LoadAdaptiveRedSpec {
        loss_weight: 0.0,
        ..spec()
    }));
    assert!(fails(LoadAdaptiveRedSpec {
        period: Dur::ZERO,
        ..spec()
    }));
    assert!(fails(LoadAdaptiveRedSpec {
        gain: Some(0.0),
        ..spec()
    }));
    assert!(fails(LoadAdaptiveRedSpec {
        threshold_low: Some(0.0),
        ..spec()
    }));
    assert!(fails(LoadAdaptiveRedSpec {
        threshold_low: Some(20.0),
        threshold_high: Some(19.0),
        ..spec()
    }));
    for threshold in [9.0, 140.0, f64::NAN] {
        assert!(fails(LoadAdaptiveRedSpec {
            threshold: Some(threshold),
            ..spec()
        }));
    }
    assert!(fails(LoadAdaptiveRedSpec {
        max_p: -0.1,
        ..spec()
    }));
}
