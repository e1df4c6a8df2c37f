//! The moving average of the share of marked bytes (RFC 8257 §3.3), for algorithms that reduce
//! their window in proportion to it.

use super::AckSample;

/// g of §4.2.
const GAIN: f64 = 1.0 / 16.0;

/// Per window of data: alpha = (1 - g) alpha + g M.
#[derive(Clone, Debug)]
pub(super) struct Alpha {
    /// The average, 0..=1.
    pub(super) value: f64,
    window_end: u64,
    acked: u64,
    marked: u64,
}

impl Alpha {
    /// Begins at 1: the first mark halves the window (§3.3).
    pub(super) const fn new() -> Self {
        Self {
            value: 1.0,
            window_end: 1,
            acked: 0,
            marked: 0,
        }
    }

    /// Counts what an acknowledgment tells; whether it ends a window of data.
    pub(super) fn count(&mut self, ack: &AckSample) -> bool {
        self.acked += ack.delivered;
        self.marked += ack.marked.min(ack.delivered);
        ack.una > self.window_end && self.acked > 0
    }

    /// The next window ends when everything below `nxt` is acknowledged; the share of the last one
    /// counts if it is `known` that marks come.
    pub(super) fn begin(&mut self, nxt: u64, known: bool) {
        if known {
            let share = self.marked as f64 / self.acked as f64;
            self.value = (1.0 - GAIN) * self.value + GAIN * share;
        }
        (self.acked, self.marked) = (0, 0);
        self.window_end = nxt;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillgate_core::{Dur, Time};

    /// §3.3 by hand: windows of four segments of which all, none and half are marked. What one had
    /// counts in no other.
    #[test]
    fn each_window_has_its_own_share_of_marks() {
        let mut alpha = Alpha::new();
        let mut una = 1;
        let mut window = |marks: &[u64]| {
            for marked in marks {
                una += 1000;
                let ended = alpha.count(&AckSample {
                    now: Time::ZERO,
                    acked: 1000,
                    delivered: 1000,
                    marked: 1000 * marked,
                    ece: false,
                    prior_in_flight: 4000,
                    in_flight: 4000,
                    una,
                    nxt: una + 3000,
                    rtt: None,
                    srtt: None,
                    min_rtt: Dur::MAX,
                    cwnd_limited: true,
                    in_recovery: false,
                    paced: false,
                    rate: None,
                });
                if ended {
                    alpha.begin(una + 3000, true);
                }
            }
            alpha.value
        };
        // The first acknowledgment ends a window of its own.
        assert_eq!(window(&[1]), 1.0);
        assert_eq!(window(&[1, 1, 1, 1]), 1.0);
        assert_eq!(window(&[0, 0, 0, 0]), 15.0 / 16.0);
        let half = 15.0 / 16.0 * 15.0 / 16.0 + 0.5 / 16.0;
        assert_eq!(window(&[0, 1, 1, 0]), half);
    }
}
