//! Meters that measure the average rate in a sliding window, and choose colors at random.
//!
//! Sources: RFC 2859 (time sliding window three color marker) for the rate estimator of its section
//! 3 and the probabilities of its section 4; D. Clark and W. Fang, "Explicit allocation of
//! best-effort packet delivery service", IEEE/ACM Transactions on Networking 6(4), 1998, for the
//! tagger of two colors.
//!
//! Idea: packets are marked in proportion to the excess of the average rate over the target, so
//! that the marks of a connection are spread, while an empty bucket marks a run of packets.
//! Deviations: the average starts at the committed rate, as in the RFC, at the start of the run.
//! Both kinds are color-blind, as published. One random number is drawn for each packet that
//! arrives while the average is above the committed rate. Cost: O(1) for each packet.

use spillgate_core::rng::hash_bytes;
use spillgate_core::{Dur, Rate, Rng, Time};

use super::meter::Color;

/// The time sliding window estimator: the bytes of the last window, as if they had arrived evenly,
/// and those of the new packet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SlidingRate {
    /// Average rate in bytes per second, as of `at`.
    average: f64,
    /// Length of the window in seconds.
    window: f64,
    at: Time,
    /// Whether a packet has arrived.
    begun: bool,
}

impl SlidingRate {
    /// An average that starts at `start`; the window must not be 0.
    pub(crate) fn new(start: Rate, window: Dur) -> Self {
        Self {
            average: start.bps() as f64 / 8.0,
            window: window.as_secs_f64(),
            at: Time::ZERO,
            begun: false,
        }
    }

    /// An average that starts at 0.
    pub(crate) fn from_zero(window: Dur) -> Self {
        Self {
            average: 0.0,
            window: window.as_secs_f64(),
            at: Time::ZERO,
            begun: false,
        }
    }

    /// The average in bytes per second, as of the last packet.
    pub(crate) fn average(&self) -> f64 {
        self.average
    }

    /// Counts a packet of `len` bytes, and returns the average in bytes per second.
    #[inline]
    pub(crate) fn arrive(&mut self, now: Time, len: u32) -> f64 {
        let gone = now.since(self.at).as_secs_f64();
        self.average = (self.average * self.window + f64::from(len)) / (gone + self.window);
        self.at = self.at.max(now);
        self.begun = true;
        self.average
    }
}

/// A marker by the average rate, with two colors, or three with a peak rate.
#[derive(Clone, Debug)]
pub(crate) struct SlidingWindow {
    rate: SlidingRate,
    committed: Rate,
    /// None: nothing violates.
    peak: Option<Rate>,
    /// The name of its class, which names its stream of random numbers.
    name: Box<str>,
    rng: Rng,
    /// The random number drawn for the last packet.
    draw: Option<f64>,
}

/// The state of a marker when it dropped a packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AverageRate {
    /// The average rate with this packet, in bits per second.
    pub average: f64,
    /// The committed information rate (target), in bits per second.
    pub committed: u64,
    /// The peak information rate of a marker of three colors, in bits per second.
    pub peak: Option<u64>,
    /// The uniform number on [0, 1) that chose the color; none while the average is within the
    /// committed rate.
    pub draw: Option<f64>,
}

impl SlidingWindow {
    /// The marker of the class `name`; the peak rate is at least the committed one.
    pub(crate) fn new(committed: Rate, peak: Option<Rate>, window: Dur, name: &str) -> Self {
        Self {
            rate: SlidingRate::new(committed, window),
            committed,
            peak,
            name: name.into(),
            rng: Rng::from_key(hash_bytes(name.as_bytes())),
            draw: None,
        }
    }

    /// Sets its stream of random numbers, by the name of its class.
    pub(crate) fn seed(&mut self, stream: &dyn Fn(&str) -> Rng) {
        self.rng = stream(&self.name);
    }

    /// The same marker for one flow that begins at `now`, with a stream of random numbers of its
    /// own.
    pub(crate) fn of_flow(&self, flow: u32, now: Time) -> Self {
        let mut own = self.clone();
        own.rng = Rng::from_key(own.rng.u64() ^ hash_bytes(&flow.to_le_bytes()));
        own.rate.at = now;
        own
    }

    /// Takes the rates of the same marker at another rate of the port; the average stays, once a
    /// packet has arrived.
    pub(crate) fn retune(&mut self, fresh: &Self) {
        if !self.rate.begun {
            self.rate = fresh.rate.clone();
        }
        self.committed = fresh.committed;
        self.peak = fresh.peak;
    }

    /// RFC 2859, section 4. With u uniform on [0, 1), a packet is red if u * average is below
    /// average - peak, yellow if it is below average - committed, green otherwise.
    #[inline]
    pub(crate) fn color(&mut self, now: Time, len: u32) -> Color {
        let average = self.rate.arrive(now, len);
        let above = |rate: Rate| average - rate.bps() as f64 / 8.0;
        let excess = above(self.committed);
        if excess <= 0.0 {
            self.draw = None;
            return Color::Conform;
        }
        let draw = self.rng.f64();
        self.draw = Some(draw);
        let share = draw * average;
        if self.peak.is_some_and(|peak| share < above(peak)) {
            Color::Violate
        } else if share < excess {
            Color::Exceed
        } else {
            Color::Conform
        }
    }

    /// Its state after the last packet.
    pub(crate) fn describe(&self) -> AverageRate {
        AverageRate {
            average: self.rate.average * 8.0,
            committed: self.committed.bps(),
            peak: self.peak.map(Rate::bps),
            draw: self.draw,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes_per_sec(b: u64) -> Rate {
        Rate::from_bps(8 * b).unwrap()
    }

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-9 * b.abs(), "{a} is not {b}");
    }

    /// By hand, window 1 s, from 125,000 B/s: (125,000 + 1000) / 1; 127,000 / 1.01; and so on.
    #[test]
    fn the_average_of_a_window_of_a_second() {
        let mut rate = SlidingRate::new(bytes_per_sec(125_000), Dur::from_secs(1));
        let at = |us: u64| Time::ZERO + Dur::from_us(us);
        close(rate.arrive(at(0), 1000), 126_000.0);
        close(rate.arrive(at(10_000), 1000), 127_000.0 / 1.01);
        close(
            rate.arrive(at(20_000), 1000),
            (127_000.0 / 1.01 + 1000.0) / 1.01,
        );
        let before = rate.average;
        close(rate.arrive(at(1_000_000), 1500), (before + 1500.0) / 1.98);
    }

    /// The recurrence unrolled: with d the time from packet to packet, W the window and q = W /
    /// (W + d), the average after n packets of L bytes is A q^n + L / d (1 - q^n), which a loop
    /// over the recurrence never forms.
    #[test]
    fn a_constant_rate_has_a_closed_form() {
        let (start, window, gap, len) = (40_000.0_f64, 0.7, 0.003, 500.0);
        let mut rate = SlidingRate::new(bytes_per_sec(40_000), Dur::from_ms(700));
        let q: f64 = window / (window + gap);
        for n in 1..=5000_u64 {
            let at = Time::ZERO + Dur::from_ms(3 * n);
            let average = rate.arrive(at, 500);
            let qn = spillgate_core::math::pow(q, n as f64);
            close(average, start * qn + len / gap * (1.0 - qn));
        }
    }

    /// Packets of 1000 B at twice the average sought, so that (W a + 1000) / (W + d) = a: the
    /// average stays, and each packet's color has the probabilities of the RFC.
    fn shares(average: u64, committed: u64, peak: Option<u64>) -> [f64; 3] {
        const PACKETS: u32 = 200_000;
        let window = Dur::from_ms(100);
        let peak = peak.map(bytes_per_sec);
        let mut m = SlidingWindow::new(bytes_per_sec(committed), peak, window, "c");
        m.rate = SlidingRate::new(bytes_per_sec(average), window);
        let mut seen = [0_u32; 3];
        for n in 1..=u64::from(PACKETS) {
            // 1000 B / average is a whole number of microseconds.
            let at = Time::ZERO + Dur::from_us(n * 1_000_000_000 / average);
            seen[m.color(at, 1000) as usize] += 1;
        }
        seen.map(|n| f64::from(n) / f64::from(PACKETS))
    }

    /// The vectors of the probabilities: average in units of the committed rate, peak twice that. A
    /// share of n packets of probability p lies within 4.9 sqrt(p (1 - p) / n) of p but for one of
    /// 10^6.
    #[test]
    fn shares_are_the_probabilities_of_the_rfc() {
        for (average, peak, expected) in [
            (80_000, Some(200_000), [1.0, 0.0, 0.0]),
            (160_000, Some(200_000), [0.625, 0.375, 0.0]),
            (200_000, Some(200_000), [0.5, 0.5, 0.0]),
            (400_000, Some(200_000), [0.25, 0.25, 0.5]),
            (400_000, Some(100_000), [0.25, 0.0, 0.75]),
            (160_000, None, [0.625, 0.375, 0.0]),
            (400_000, None, [0.25, 0.75, 0.0]),
        ] {
            let got = shares(average, 100_000, peak);
            for (share, p) in got.into_iter().zip(expected) {
                let within = 4.9 * (p * (1.0 - p) / 200_000.0_f64).sqrt();
                assert!(
                    (share - p).abs() <= within,
                    "{average} B/s, peak {peak:?}: {got:?} is not {expected:?}"
                );
            }
        }
    }

    /// Two markers of one name draw the same, those of two names do not, and a stream handed over
    /// is drawn from.
    #[test]
    fn a_marker_draws_from_the_stream_of_its_name() {
        let draws = |name: &str, seed: Option<u64>| -> Vec<Color> {
            let rate = bytes_per_sec(1000);
            let mut m = SlidingWindow::new(rate, None, Dur::from_ms(10), name);
            if let Some(seed) = seed {
                m.seed(&|name| Rng::named(seed, 0, "links/l", name));
            }
            let at = |n: u64| Time::ZERO + Dur::from_us(500 * n);
            (0..200).map(|n| m.color(at(n), 1)).collect()
        };
        assert_eq!(draws("a", None), draws("a", None));
        assert_ne!(draws("a", None), draws("b", None));
        assert_ne!(draws("a", None), draws("a", Some(1)));
        assert_ne!(draws("a", Some(1)), draws("a", Some(2)));
        assert_eq!(draws("a", Some(1)), draws("a", Some(1)));
    }
}
