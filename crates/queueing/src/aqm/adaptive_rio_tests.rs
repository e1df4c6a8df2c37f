use super::*;
use crate::aqm::tests::facts;
use crate::aqm::{Automaton, Backlog};
use crate::recipe::test_at;
use proptest::prelude::*;
use spillgate_core::Rng;

/// 10 Mb/s, so that C' is 9 to 10 Mb/s.
fn leaf() -> LeafFacts {
    LeafFacts {
        rate: Rate::from_bps(10_000_000).unwrap(),
        ..facts()
    }
}

fn adaptive(spec: AdaptiveRioSpec) -> Early<AdaptiveRio> {
    test_at(|at| spec.resolve(at, &leaf())).unwrap()
}

fn ms(t: u64) -> Time {
    Time::ZERO + Dur::from_ms(t)
}

/// Every branch, tie and end of the control law: arrival rate in Mb/s, whether a packet in profile
/// came in time, what follows; thresholds of 30 to 70 in steps of 1.4, C' of 9 to 10 Mb/s in steps
/// of 2 kb/s.
#[test]
fn every_branch_of_an_update() {
    let a = adaptive(AdaptiveRioSpec::default()).law;
    let mut c = a.vars();
    assert_eq!((c.max_th, c.reference), (30.0, 9e6));
    // Nothing in profile for more than 5 s: relieved, whatever the rate is.
    c.assured = Some(ms(0));
    assert_eq!(a.change(&mut c, ms(5_001), 20e6), Change::Relieve);
    assert_eq!((c.max_th, c.reference), (31.4, 9e6));
    c.assured = Some(ms(5_100));
    let margin = 0.025 * 9e6;
    let rows = [
        // Above the margin, but not above the rate before.
        (20e6, Change::Hold, 31.4, 9e6),
        (20e6 + 1.0, Change::Tighten, 30.0, 9e6 + 2e3),
        // At the end of the range; the reference goes on.
        (20e6 + 2.0, Change::Tighten, 30.0, 9e6 + 4e3),
        // Between.
        (9e6, Change::Hold, 30.0, 9e6 + 4e3),
        // Below and falling.
        (8e6, Change::Relieve, 31.4, 9e6 + 2e3),
        (7e6, Change::Relieve, 32.8, 9e6),
        (6e6, Change::Relieve, 34.2, 9e6),
        // Below but not falling.
        (6e6, Change::Hold, 34.2, 9e6),
        (7e6, Change::Hold, 34.2, 9e6),
        // At the margin exactly, from both sides.
        (9e6 + margin, Change::Hold, 34.2, 9e6),
        (9e6 - margin, Change::Hold, 34.2, 9e6),
    ];
    for (i, (rate, change, max_th, reference)) in rows.into_iter().enumerate() {
        assert_eq!(a.change(&mut c, ms(5_200), rate), change, "row {i}");
        assert!((c.max_th - max_th).abs() < 1e-9, "row {i}: {}", c.max_th);
        assert!(
            (c.reference - reference).abs() < 1e-3,
            "row {i}: {}",
            c.reference
        );
    }
    // What is sampled is what the next packet will meet.
    let state = a.state(&c);
    assert_eq!(state[0], ("adapted_max_th", c.max_th));
    assert_eq!(state[1], ("adapted_reference", c.reference));
    // Both ends hold.
    for i in 0..600 {
        a.change(&mut c, ms(20_000 + i), 0.0);
    }
    assert_eq!((c.max_th, c.reference), (70.0, 9e6));
    c.assured = Some(ms(30_000));
    for i in 0..600 {
        a.change(&mut c, ms(30_000), 20e6 + f64::from(i));
    }
    assert_eq!((c.max_th, c.reference), (30.0, 10e6));
}

#[test]
fn updates_are_as_far_apart_as_they_must() {
    let a = adaptive(AdaptiveRioSpec::default()).law;
    let mut c = a.vars();
    a.follow(&mut c, ms(199), 1000, false);
    assert_eq!(c.updated, Time::ZERO);
    a.follow(&mut c, ms(200), 1000, false);
    // No packet in profile yet.
    assert_eq!((c.updated, c.max_th), (ms(200), 31.4));
    a.follow(&mut c, ms(399), 1000, true);
    assert_eq!((c.updated, c.assured), (ms(200), Some(ms(399))));
    a.follow(&mut c, ms(7_000), 1000, false);
    // 6.6 s after the last packet in profile.
    assert_eq!((c.updated, c.max_th), (ms(7_000), 32.8));
}

/// The rows of the specification: whether a packet in profile has come, the rate in Mb/s, `max_th`
/// and C' after it. The range is 15 to 60 in steps of 1.2; before the first packet in profile
/// assured flows are absent, however soon.
#[test]
fn assured_flows_are_absent_before_their_first_packet() {
    let a = adaptive(AdaptiveRioSpec {
        max_th_low: 15.0,
        max_th_high: 60.0,
        ..AdaptiveRioSpec::default()
    })
    .law;
    let mut c = a.vars();
    let rows = [
        (false, 8.0, 16.2, 9.000e6),
        (false, 9.5, 17.4, 9.000e6),
        (true, 9.5, 17.4, 9.000e6),
        (true, 9.6, 16.2, 9.002e6),
        (true, 9.55, 16.2, 9.002e6),
        (true, 9.3, 16.2, 9.002e6),
        (true, 9.1, 16.2, 9.002e6),
        (true, 8.7, 17.4, 9.000e6),
        (true, 8.5, 18.6, 9.000e6),
    ];
    for (i, (assured, rate, max_th, reference)) in (1_u64..).zip(rows) {
        let now = ms(200 * i);
        if assured {
            c.assured = Some(now);
        }
        a.change(&mut c, now, rate * 1e6);
        assert!((c.max_th - max_th).abs() < 1e-9, "row {i}: {}", c.max_th);
        assert!(
            (c.reference - reference).abs() < 1e-3,
            "row {i}: {}",
            c.reference
        );
    }
}

/// The control law as the paper's words have it, with the window as a list of sums.
struct Plain {
    max_th: f64,
    reference: f64,
    average: f64,
    last: f64,
    before: f64,
    updated: f64,
    assured: Option<f64>,
}

impl Plain {
    fn packet(&mut self, now: f64, bits: f64, within: bool) {
        self.average = (self.average * 5.0 + bits) / (now - self.last + 5.0);
        self.last = now;
        if within {
            self.assured = Some(now);
        }
        // Half a nanosecond for what the division of picoseconds leaves.
        if now - self.updated < 0.2 - 5e-10 {
            return;
        }
        let a = self.average;
        let e = 0.025 * self.reference;
        let absent = self.assured.is_none_or(|t| now - t > 5.0 + 5e-10);
        let over = !absent && a > self.reference + e && a > self.before;
        let under = absent || (a < self.reference - e && a < self.before);
        if over {
            self.max_th -= 0.02 * 70.0;
            self.reference += 0.0002 * 10e6;
        } else if under {
            self.max_th += 0.02 * 70.0;
            self.reference -= 0.0002 * 10e6;
        }
        self.max_th = self.max_th.clamp(30.0, 70.0);
        self.reference = self.reference.clamp(9e6, 10e6);
        self.before = a;
        self.updated = now;
    }
}

/// 100,000 packets in phases of light and heavy load, with and without packets in profile.
#[test]
fn agrees_with_the_plain_one() {
    let a = adaptive(AdaptiveRioSpec::default()).law;
    let mut c = a.vars();
    let mut plain = Plain {
        max_th: 30.0,
        reference: 9e6,
        average: 0.0,
        last: 0.0,
        before: 0.0,
        updated: 0.0,
        assured: None,
    };
    let mut rng = Rng::from_key(7);
    let mut now = Time::ZERO;
    let (mut low, mut high) = (70.0_f64, 30.0_f64);
    for i in 0..100_000_u32 {
        let phase = i / 12_500;
        let mean_us = [700.0, 1_000.0, 500.0, 1_500.0][(phase % 4) as usize];
        now += Dur::from_us(1 + (mean_us * 2.0 * rng.f64()) as u64);
        let within = phase % 3 != 0 && rng.f64() < 0.4;
        a.follow(&mut c, now, 1_000, within);
        plain.packet(now.as_ps() as f64 / 1e12, 8_000.0, within);
        assert!((c.max_th - plain.max_th).abs() < 1e-6, "packet {i}");
        assert!((c.reference - plain.reference).abs() < 1e-3, "packet {i}");
        low = low.min(c.max_th);
        high = high.max(c.max_th);
    }
    // It has been everywhere.
    assert_eq!((low, high), (30.0, 70.0));
}

proptest! {
    /// Whatever comes, thresholds and reference stay within their ranges.
    #[test]
    fn nothing_leaves_its_range(
        packets in proptest::collection::vec((0_u64..400_000, 1_u16..9_000, any::<bool>()), 0..300),
    ) {
        let mut a = adaptive(AdaptiveRioSpec::default());
        let mut v = a.vars();
        let mut rng = Rng::from_key(2);
        let mut now = Time::ZERO;
        for (us, len, within) in packets {
            now += Dur::from_us(us);
            let dscp = if within { Dscp::af(2, 1).unwrap() } else { Dscp::DEFAULT };
            let packet = Packet { dscp, ..Packet::new(0, 0, len) };
            a.arrival(&mut v, now, &Backlog::of(20, 0), &packet, &mut rng);
            prop_assert!((30.0..=70.0).contains(&v.law.max_th));
            prop_assert!((9e6..=10e6).contains(&v.law.reference));
        }
    }
}

#[test]
fn wrong_parameters_are_refused() {
    let fails = |spec: AdaptiveRioSpec| test_at(|at| spec.resolve(at, &leaf())).is_err();
    let spec = AdaptiveRioSpec::default;
    assert!(!fails(spec()));
    assert!(fails(AdaptiveRioSpec {
        window: Dur::ZERO,
        ..spec()
    }));
    assert!(fails(AdaptiveRioSpec {
        update: Dur::ZERO,
        ..spec()
    }));
    assert!(fails(AdaptiveRioSpec {
        alpha: 1.0,
        ..spec()
    }));
    assert!(fails(AdaptiveRioSpec {
        max_th_high: 29.0,
        ..spec()
    }));
    assert!(fails(AdaptiveRioSpec {
        delta: 1.1,
        ..spec()
    }));
    assert!(fails(AdaptiveRioSpec {
        profile: vec![],
        ..spec()
    }));
}
