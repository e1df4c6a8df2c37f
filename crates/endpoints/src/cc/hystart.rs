//! HyStart++ (RFC 9406): leaves slow start when round trips grow, through a
//! conservative phase that can turn back.

use spillgate_core::Dur;

use super::AckSample;

const MIN_THRESH: u64 = Dur::from_ms(4).as_ps();
const MAX_THRESH: u64 = Dur::from_ms(16).as_ps();
/// MIN_RTT_DIVISOR.
const DIVISOR: u64 = 8;
/// N_RTT_SAMPLE.
const SAMPLES: u32 = 8;
/// CSS_GROWTH_DIVISOR.
const CSS_DIVISOR: u64 = 4;
/// CSS_ROUNDS.
const CSS_ROUNDS: u32 = 5;

/// State of RFC 9406 §4.2; times in picoseconds.
#[derive(Clone, Debug)]
pub(super) struct HyStart {
    round_end: u64,
    last_min: u64,
    min: u64,
    samples: u32,
    /// Smallest round trip at the entry of conservative slow start; none outside it.
    baseline: Option<u64>,
    css_rounds: u32,
}

impl HyStart {
    pub(super) fn new() -> Self {
        Self {
            round_end: 0,
            last_min: u64::MAX,
            min: u64::MAX,
            samples: 0,
            baseline: None,
            css_rounds: 0,
        }
    }

    /// Bytes by which the window grows, and whether slow start is over.
    pub(super) fn on_ack(&mut self, ack: &AckSample, mss: u64, paced: bool) -> (u64, bool) {
        // L = 8, or no bound with pacing (§4.3).
        let most = if paced { u64::MAX } else { 8 * mss };
        let mut growth = ack.acked.min(most);
        if self.baseline.is_some() {
            growth /= CSS_DIVISOR;
        }
        if let Some(rtt) = ack.rtt {
            self.min = self.min.min(rtt.as_ps());
            self.samples += 1;
        }
        if self.samples >= SAMPLES && self.min != u64::MAX && self.last_min != u64::MAX {
            match self.baseline {
                None => {
                    let thresh = (self.last_min / DIVISOR).clamp(MIN_THRESH, MAX_THRESH);
                    if self.min >= self.last_min.saturating_add(thresh) {
                        self.baseline = Some(self.min);
                        self.css_rounds = 0;
                    }
                }
                // The growth was spurious: back to slow start.
                Some(base) if self.min < base => self.baseline = None,
                Some(_) => {}
            }
        }
        let mut over = false;
        if ack.una > self.round_end {
            self.round_end = ack.nxt;
            self.last_min = self.min;
            self.min = u64::MAX;
            self.samples = 0;
            if self.baseline.is_some() {
                self.css_rounds += 1;
                over = self.css_rounds >= CSS_ROUNDS;
            }
        }
        (growth, over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillgate_core::Time;

    const MSS: u64 = 1000;

    struct Drive {
        h: HyStart,
        una: u64,
    }

    impl Drive {
        fn new() -> Self {
            Self {
                h: HyStart::new(),
                una: 1,
            }
        }

        /// A round of `n` acknowledgments of a segment each, all measuring `ms`; the window is
        /// `n` segments, so the last one ends the round. What the last one said.
        fn round(&mut self, n: u64, ms: f64) -> (u64, bool) {
            let end = self.una + (n - 1) * MSS;
            self.h.round_end = end;
            let mut said = (0, false);
            for _ in 0..n {
                self.una += MSS;
                said = self.h.on_ack(
                    &AckSample {
                        now: Time::ZERO,
                        acked: MSS,
                        delivered: MSS,
                        marked: 0,
                        ece: false,
                        prior_in_flight: 0,
                        in_flight: 0,
                        una: self.una,
                        nxt: self.una + n * MSS,
                        rtt: Some(Dur::from_secs_f64(ms / 1e3)),
                        srtt: None,
                        min_rtt: Dur::MAX,
                        cwnd_limited: true,
                        in_recovery: false,
                        paced: false,
                        rate: None,
                    },
                    MSS,
                    false,
                );
            }
            said
        }

        fn conservative(&self) -> bool {
            self.h.baseline.is_some()
        }
    }

    /// RFC 9406 §4.2: RttThresh is an eighth of the last round's minimum, from 4 ms to 16 ms.
    #[test]
    fn a_rise_by_the_threshold_enters_the_conservative_phase() {
        for (last, thresh) in [(10.0, 4.0), (100.0, 12.5), (400.0, 16.0)] {
            for (more, enters) in [(-0.01, false), (0.01, true)] {
                let mut d = Drive::new();
                d.round(10, last);
                d.round(10, last + thresh + more);
                assert_eq!(d.conservative(), enters, "{last} ms and {thresh} {more:+}");
            }
        }
    }

    /// N_RTT_SAMPLE: seven measurements in a round say nothing, eight do.
    #[test]
    fn eight_samples_are_needed() {
        for (n, enters) in [(7, false), (8, true)] {
            let mut d = Drive::new();
            d.round(10, 100.0);
            d.round(n, 150.0);
            assert_eq!(d.conservative(), enters, "{n} samples");
        }
    }

    /// CSS_GROWTH_DIVISOR and CSS_ROUNDS: a quarter of the growth, for five rounds with the one in
    /// which it began.
    #[test]
    fn the_conservative_phase_ends_slow_start() {
        let mut d = Drive::new();
        assert_eq!(d.round(10, 100.0), (MSS, false));
        d.round(10, 150.0);
        for left in [3, 2, 1] {
            assert_eq!(d.round(10, 150.0), (MSS / 4, false), "{left} rounds left");
        }
        assert_eq!(d.round(10, 150.0), (MSS / 4, true));
    }

    /// A round trip below the one at the entry: the rise was spurious, growth is whole again.
    #[test]
    fn a_spurious_rise_is_taken_back() {
        let mut d = Drive::new();
        d.round(10, 100.0);
        d.round(10, 150.0);
        d.round(10, 149.0);
        assert!(!d.conservative());
        assert_eq!(d.round(10, 149.0), (MSS, false));
    }

    /// §4.3: L = 8 segments per acknowledgment where nothing is paced.
    #[test]
    fn growth_is_bounded_without_pacing() {
        let mut h = HyStart::new();
        let mut ack = AckSample {
            now: Time::ZERO,
            acked: 20 * MSS,
            delivered: 20 * MSS,
            marked: 0,
            ece: false,
            prior_in_flight: 0,
            in_flight: 0,
            una: 1,
            nxt: 1,
            rtt: None,
            srtt: None,
            min_rtt: Dur::MAX,
            cwnd_limited: true,
            in_recovery: false,
            paced: false,
            rate: None,
        };
        assert_eq!(h.on_ack(&ack, MSS, false).0, 8 * MSS);
        ack.una += 20 * MSS;
        assert_eq!(h.on_ack(&ack, MSS, true).0, 20 * MSS);
    }
}
