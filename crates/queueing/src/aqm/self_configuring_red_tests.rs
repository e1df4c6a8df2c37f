use super::*;
use crate::aqm::tests::{Script, facts};
use crate::aqm::{Automaton, Backlog};
use crate::recipe::test_at;
use proptest::prelude::*;
use spillgate_core::{DropReason, Dur, Ecn, Packet, Rng, Verdict, math};

fn resolved(spec: SelfConfiguringRedSpec) -> Early<SelfConfiguringRed> {
    test_at(|at| spec.resolve(at, &facts())).unwrap()
}

fn ms(t: u64) -> Time {
    Time::ZERO + Dur::from_ms(t)
}

/// Averages one after the other, and `max_p` after each: the rule of figure 5 with 3 and 2, by
/// hand.
#[test]
fn every_branch_of_the_rule() {
    let red = resolved(SelfConfiguringRedSpec::default()).law;
    let mut v = red.vars();
    let rows = [
        // The first below divides, the second does nothing, nor does one between.
        (3.0, 0.1 / 3.0),
        (4.0, 0.1 / 3.0),
        (6.0, 0.1 / 3.0),
        (4.0, 0.1 / 9.0),
        (3.0, 0.1 / 9.0),
        (10.0, 0.1 / 9.0),
        (16.0, 0.2 / 9.0),
        (17.0, 0.2 / 9.0),
        (14.0, 0.2 / 9.0),
        (16.0, 0.4 / 9.0),
        (20.0, 0.4 / 9.0),
        // From above to below at once, and back.
        (3.0, 0.4 / 27.0),
        (16.0, 0.8 / 27.0),
        // On a threshold: nothing, and what it was before stays, so that the next above is not a
        // first one.
        (15.0, 0.8 / 27.0),
        (16.0, 0.8 / 27.0),
        (5.0, 0.8 / 27.0),
        (16.0, 0.8 / 27.0),
        (4.0, 0.8 / 81.0),
        (5.0, 0.8 / 81.0),
        (4.0, 0.8 / 81.0),
    ];
    for (i, (average, after)) in rows.into_iter().enumerate() {
        red.moves(&mut v, Time::ZERO, 0.0, average);
        assert!((v.max_p - after).abs() < 1e-12, "row {i}: {}", v.max_p);
    }
    assert_eq!(red.state(&v), [("adapted_max_p", v.max_p)]);
}

/// At the start the average counts as above: a first one there changes nothing.
#[test]
fn it_begins_above() {
    let red = resolved(SelfConfiguringRedSpec::default()).law;
    let mut v = red.vars();
    red.moves(&mut v, Time::ZERO, 0.0, 16.0);
    assert_eq!(v.max_p, 0.1);
    red.moves(&mut v, Time::ZERO, 0.0, 10.0);
    red.moves(&mut v, Time::ZERO, 0.0, 16.0);
    assert_eq!(v.max_p, 0.2);
}

#[test]
fn both_ends_hold() {
    let red = resolved(SelfConfiguringRedSpec::default()).law;
    let mut v = red.vars();
    for _ in 0..4 {
        red.moves(&mut v, Time::ZERO, 0.0, 10.0);
        red.moves(&mut v, Time::ZERO, 0.0, 20.0);
    }
    assert_eq!(v.max_p, 1.0);
    // 3^8 < 10^4 < 3^9.
    for step in 1..=10_u8 {
        red.moves(&mut v, Time::ZERO, 0.0, 10.0);
        red.moves(&mut v, Time::ZERO, 0.0, 0.0);
        let free = math::pow(3.0, -f64::from(step));
        assert!((v.max_p - free.max(1e-4)).abs() < 1e-15, "{step}");
    }
    assert_eq!(v.max_p, 1e-4);
}

#[test]
fn factors_are_those_that_were_written() {
    let red = resolved(SelfConfiguringRedSpec {
        alpha: 4.0,
        beta: 1.5,
        ..SelfConfiguringRedSpec::default()
    })
    .law;
    let mut v = red.vars();
    red.moves(&mut v, Time::ZERO, 0.0, 0.0);
    assert_eq!(v.max_p, 0.025);
    red.moves(&mut v, Time::ZERO, 0.0, 16.0);
    assert!((v.max_p - 0.0375).abs() < 1e-15);
}

/// Scripted arrivals with a weight of 1, so that the average is the backlog: the step comes before
/// the verdict, and counts of packets go on as RED's do.
#[test]
fn the_changed_probability_judges_at_once() {
    let mut red = resolved(SelfConfiguringRedSpec {
        weight: 1.0,
        ecn: true,
        ..SelfConfiguringRedSpec::default()
    });
    let mut v = red.vars();
    let plain = Packet::new(0, 0, 500);
    let capable = Packet {
        ecn: Ecn::Ect0,
        ..plain
    };
    let early = Verdict::Drop(DropReason::Early);
    let forced = Verdict::Drop(DropReason::Forced);
    // Backlog, packet, draws, verdict, max_p.
    let rows: [(u32, Packet, &[f64], Verdict, f64); 8] = [
        (2, plain, &[], Verdict::Pass, 0.1 / 3.0),
        // p_b = 0.0333 / 2, the first packet: p_a is that.
        (10, plain, &[0.0166], early, 0.1 / 3.0),
        // The next one: p_a = p_b / (1 - p_b) = 0.016949.
        (10, plain, &[0.017], Verdict::Pass, 0.1 / 3.0),
        // And p_b / (1 - 2 p_b) = 0.017241.
        (10, capable, &[0.0172], Verdict::Mark, 0.1 / 3.0),
        // Above for the first time: doubled; forced, without a draw, for what could be marked, too.
        (16, capable, &[], forced, 0.2 / 3.0),
        (16, plain, &[], forced, 0.2 / 3.0),
        // p_b = 0.0667 / 2, p_a = 0.034483.
        (10, plain, &[0.0345], Verdict::Pass, 0.2 / 3.0),
        (4, plain, &[], Verdict::Pass, 0.2 / 9.0),
    ];
    for (i, (waiting, packet, draws, verdict, max_p)) in rows.into_iter().enumerate() {
        let mut script = Script::new(draws);
        let at = ms(10 * i as u64);
        let found = red.arrival(&mut v, at, &Backlog::of(waiting, 0), &packet, &mut script);
        assert_eq!((found, script.drawn), (verdict, draws.len()), "row {i}");
        assert!(
            (v.law.max_p - max_p).abs() < 1e-15,
            "row {i}: {}",
            v.law.max_p
        );
    }
}

/// The gateway in the words of its authors and of RED's: thresholds 5 and 15, w = 0.02, 375 packets
/// a second.
struct Plain {
    avg: f64,
    idle: Option<f64>,
    count: i64,
    max_p: f64,
    status: &'static str,
}

impl Plain {
    /// Whether a packet is dropped that finds `q` waiting at `t`.
    fn packet(&mut self, t: f64, q: u32, u: &mut Rng) -> bool {
        if let (0, Some(since)) = (q, self.idle) {
            self.avg *= math::pow(0.98, (t - since) * 375.0);
            self.idle = Some(t);
        } else {
            self.avg = 0.98 * self.avg + 0.02 * f64::from(q);
        }
        if 5.0 < self.avg && self.avg < 15.0 {
            self.status = "between";
        }
        if self.avg < 5.0 && self.status != "below" {
            self.status = "below";
            self.max_p /= 3.0;
            if self.max_p < 0.0001 {
                self.max_p = 0.0001;
            }
        }
        if self.avg > 15.0 && self.status != "above" {
            self.status = "above";
            self.max_p *= 2.0;
            if self.max_p > 1.0 {
                self.max_p = 1.0;
            }
        }
        if self.avg < 5.0 {
            self.count = -1;
            return false;
        }
        if self.avg >= 15.0 {
            self.count = 0;
            return true;
        }
        self.count += 1;
        let p_b = self.max_p * (self.avg - 5.0) / 10.0;
        let left = 1.0 - self.count as f64 * p_b;
        let p_a = if left > p_b { p_b / left } else { 1.0 };
        let dropped = u.f64() < p_a;
        if dropped {
            self.count = 0;
        }
        dropped
    }
}

/// 100,000 packets that find a queue which wanders between 0 and 39, idle times among them.
#[test]
fn agrees_with_the_plain_one() {
    let mut red = resolved(SelfConfiguringRedSpec {
        weight: 0.02,
        ..SelfConfiguringRedSpec::default()
    });
    let mut v = red.vars();
    let mut plain = Plain {
        avg: 0.0,
        idle: None,
        count: -1,
        max_p: 0.1,
        status: "above",
    };
    let (mut ours, mut theirs) = (Rng::from_key(4), Rng::from_key(4));
    let mut walk = Rng::from_key(5);
    let (mut now, mut q) = (Time::ZERO, 0_u32);
    let (mut least, mut most, mut drops) = (1.0_f64, 0.0_f64, 0);
    let packet = Packet::new(0, 0, 500);
    for i in 0..100_000_u32 {
        now += Dur::from_us(1 + (4_000.0 * walk.f64()) as u64);
        // Up in one phase, down in the next, and level; now and then never down to the lower
        // threshold.
        let up = [0.5, 0.7, 0.5, 0.3][(i / 300 % 4) as usize];
        let floor = if i / 10_000 % 5 == 4 { 8 } else { 0 };
        q = match walk.f64() < up {
            true => (q + 1).min(39),
            false => q.saturating_sub(1).max(floor),
        };
        if q == 0 && walk.f64() < 0.3 {
            red.emptied(&mut v, now);
            plain.idle = Some(now.as_ps() as f64 / 1e12);
            now += Dur::from_us(1 + (40_000.0 * walk.f64()) as u64);
        }
        let verdict = red.arrival(&mut v, now, &Backlog::of(q, 0), &packet, &mut ours);
        let dropped = plain.packet(now.as_ps() as f64 / 1e12, q, &mut theirs);
        assert_eq!(verdict != Verdict::Pass, dropped, "packet {i}");
        assert!(
            (v.averages.average.value - plain.avg).abs() < 1e-9,
            "packet {i}"
        );
        assert!(
            (v.law.max_p / plain.max_p - 1.0).abs() < 1e-12,
            "packet {i}"
        );
        least = least.min(v.law.max_p);
        most = most.max(v.law.max_p);
        drops += u32::from(dropped);
    }
    // It has been everywhere.
    assert!(drops > 1_000);
    assert_eq!((least, most), (1e-4, 1.0));
}

proptest! {
    /// Whatever comes, `max_p` stays within its range, and changes by no other factors.
    #[test]
    fn nothing_leaves_its_range(
        max_p in 1e-4_f64..1.0, backlogs in proptest::collection::vec(0_u32..60, 0..400),
    ) {
        let mut red = resolved(SelfConfiguringRedSpec {
            max_p,
            weight: 0.5,
            ..SelfConfiguringRedSpec::default()
        });
        let mut v = red.vars();
        let mut rng = Rng::from_key(2);
        for (i, waiting) in backlogs.into_iter().enumerate() {
            let before = v.law.max_p;
            let packet = Packet::new(0, 0, 500);
            red.arrival(&mut v, ms(i as u64), &Backlog::of(waiting, 0), &packet, &mut rng);
            prop_assert!((1e-4..=1.0).contains(&v.law.max_p));
            let allowed = [before, (before / 3.0).max(1e-4), (before * 2.0).min(1.0)];
            prop_assert!(allowed.contains(&v.law.max_p));
        }
    }
}

#[test]
fn wrong_parameters_are_refused() {
    let fails = |spec: SelfConfiguringRedSpec| test_at(|at| spec.resolve(at, &facts())).is_err();
    let spec = SelfConfiguringRedSpec::default;
    assert!(!fails(spec()));
    for factor in [1.0, 0.0, -2.0, f64::NAN, f64::INFINITY] {
        assert!(fails(SelfConfiguringRedSpec {
            alpha: factor,
            ..spec()
        }));
        assert!(fails(SelfConfiguringRedSpec {
            beta: factor,
            ..spec()
        }));
    }
    for max_p in [0.0, 9e-5, 1.5] {
        assert!(fails(SelfConfiguringRedSpec { max_p, ..spec() }));
    }
    assert!(fails(SelfConfiguringRedSpec {
        max_th: Some(5.0),
        ..spec()
    }));
    assert!(fails(SelfConfiguringRedSpec {
        weight: 0.0,
        ..spec()
    }));
}
