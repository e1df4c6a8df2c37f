//! Delivery rates (draft-cheng-iccrg-delivery-rate-estimation), for the algorithms that ask for
//! them.

use spillgate_core::{Dur, Time};

use super::scoreboard::{Delivered, Snapshot};
use crate::cc::RateSample;

/// The connection's side of the estimator (§3.1.1); the segments' is [`Snapshot`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    pub(super) on: bool,
    delivered: u64,
    delivered_at: Time,
    first_sent: Time,
    /// Deliveries up to here are limited by the application; 0: none.
    app_limited: u64,
}

impl Rate {
    pub(super) fn new(on: bool, start: Time) -> Self {
        Self {
            on,
            delivered: 0,
            delivered_at: start,
            first_sent: start,
            app_limited: 0,
        }
    }

    /// A segment leaves though nothing is in flight.
    pub(super) fn restart(&mut self, now: Time) {
        (self.first_sent, self.delivered_at) = (now, now);
    }

    /// What a segment that leaves now remembers.
    #[inline]
    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent: self.first_sent,
            app_limited: self.app_limited > 0,
        }
    }

    /// The application has nothing to send and `outstanding` bytes are on the way (§3.4).
    pub(super) fn limited(&mut self, outstanding: u64) {
        if self.on && self.app_limited == 0 {
            self.app_limited = (self.delivered + outstanding).max(1);
        }
    }

    /// From what one acknowledgment delivered (§3.3).
    pub(super) fn sample(&mut self, now: Time, d: &Delivered, min_rtt: Dur) -> Option<RateSample> {
        if !self.on || d.bytes == 0 {
            return None;
        }
        self.delivered += d.bytes;
        self.delivered_at = now;
        if self.app_limited > 0 && self.delivered > self.app_limited {
            self.app_limited = 0;
        }
        let (sent, ..) = d.newest?;
        let p = d.snapshot;
        self.first_sent = sent;
        let elapsed = sent.since(p.first_sent).max(now.since(p.delivered_at));
        // Shorter than any round trip: an artifact of a retransmission (§4.1.2).
        if elapsed.is_zero() || elapsed < min_rtt {
            return None;
        }
        Some(RateSample {
            rate: (self.delivered - p.delivered) as f64 / elapsed.as_secs_f64(),
            prior_delivered: p.delivered,
            delivered: self.delivered,
            app_limited: p.app_limited,
        })
    }
}
