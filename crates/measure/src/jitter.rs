//! Interarrival jitter of RFC 3550.

use spillgate_core::{Time, time::PS_PER_SEC};

/// The jitter estimator of RFC 3550 §6.4.1 over the packets of one flow in
/// order of arrival: `J += (|D| - J) / 16`, D being the difference of the
/// transit times of two consecutive packets. J begins at 0 (§A.8).
///
/// J is a running value that RTP reports at some instant; [`Jitter::value`] is
/// its mean over all packets but the first (which has no D), [`Jitter::last`]
/// what a report after the last packet would say. J needs some 50 packets to
/// forget its beginning (15/16 to the 50th is 4 %), so the mean of fewer is low.
#[derive(Clone, Debug)]
pub struct Jitter {
    /// Transit time of the previous packet in ps; none is `u64::MAX`.
    transit: u64,
    /// J in ps.
    j: f64,
    /// Sum of J over `n` packets, in ps.
    sum: f64,
    n: u64,
}

const NONE: u64 = u64::MAX;

impl Default for Jitter {
    fn default() -> Self {
        Self::new()
    }
}

impl Jitter {
    /// An estimator that has seen no packet.
    pub fn new() -> Self {
        Self {
            transit: NONE,
            j: 0.0,
            sum: 0.0,
            n: 0,
        }
    }

    /// Takes in one packet.
    #[inline]
    pub fn record(&mut self, sent: Time, received: Time) {
        let transit = received.since(sent).as_ps();
        if self.transit != NONE {
            // Below 2⁶³ ps, which are 106 days; a signed number is converted at once.
            let d = (transit.wrapping_sub(self.transit) as i64 as f64).abs();
            self.j += (d - self.j) / 16.0;
            self.sum += self.j;
            self.n += 1;
        }
        self.transit = transit;
    }

    /// Mean of J over the packets, in seconds; none before the second packet.
    pub fn value(&self) -> Option<f64> {
        (self.n > 0).then(|| self.sum / self.n as f64 / PS_PER_SEC as f64)
    }

    /// J after the last packet, in seconds; none before the second packet.
    ///
    /// After [`Jitter::merge`] it is that of the flow merged into.
    pub fn last(&self) -> Option<f64> {
        (self.n > 0).then(|| self.j / PS_PER_SEC as f64)
    }

    /// Joins another flow for [`Jitter::value`]: the mean over the packets of both.
    ///
    /// The two are different flows: no difference of transit times is taken between them.
    pub fn merge(&mut self, other: &Self) {
        self.sum += other.sum;
        self.n += other.n;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use spillgate_core::Dur;

    fn at(ms: u64) -> Time {
        Time::ZERO + Dur::from_ms(ms)
    }

    #[test]
    fn hand_example() {
        // Transits 10, 26, 10, 10 ms: |D| = 16, 16, 0; J = 1, 1 + 15/16, 15/16 of that.
        let mut j = Jitter::new();
        assert_eq!(j.value(), None);
        j.record(at(0), at(10));
        assert_eq!((j.value(), j.last()), (None, None));
        j.record(at(20), at(46));
        assert_eq!(j.last(), Some(0.001));
        j.record(at(40), at(50));
        assert_eq!(j.last(), Some(0.001_937_5));
        j.record(at(60), at(70));
        let last = 0.001_937_5 * 15.0 / 16.0;
        // The values are sums of a few binary fractions of whole picoseconds: an ulp or two.
        assert!((j.last().unwrap() - last).abs() < 1e-18);
        assert!((j.value().unwrap() - (0.001 + 0.001_937_5 + last) / 3.0).abs() < 1e-18);
    }

    #[test]
    fn merging_weighs_by_packets() {
        let flow = |transits: &[u64]| {
            let mut j = Jitter::new();
            for (i, &t) in (0_u64..).zip(transits) {
                j.record(at(100 * i), at(100 * i + t));
            }
            j
        };
        let (mut a, b) = (flow(&[0, 16]), flow(&[0, 32, 32, 32]));
        let sum_b = 2.0 + 2.0 * 15.0 / 16.0 + 2.0 * (15.0 / 16.0) * (15.0 / 16.0);
        a.merge(&b);
        assert!((a.value().unwrap() - (1.0 + sum_b) / 4.0 / 1e3).abs() < 1e-18);
        a.merge(&Jitter::new());
        assert!((a.value().unwrap() - (1.0 + sum_b) / 4.0 / 1e3).abs() < 1e-18);
    }

    proptest! {
        #[test]
        fn constant_transit_has_none_and_swings_bound_it(
            gaps in prop::collection::vec(1_u64..1_000, 2..100),
            swing in 0_u64..50,
        ) {
            let (mut still, mut swinging) = (Jitter::new(), Jitter::new());
            let mut t = 0;
            for (i, g) in gaps.into_iter().enumerate() {
                t += g;
                still.record(at(t), at(t + 7));
                swinging.record(at(t), at(t + 7 + swing * (i as u64 % 2)));
            }
            prop_assert_eq!(still.value(), Some(0.0));
            prop_assert!(swinging.value().unwrap() <= swing as f64 / 1e3);
        }
    }
}
