//! Decrease in proportion to the share of marked bytes (RFC 8257 §3.3), shared by the algorithms
//! that differ only in what an acknowledgment lets the window grow by.

use std::marker::PhantomData;

use spillgate_core::Time;

use super::window::Window;
use super::{AckSample, Algorithm, Cause, Controller, LossSample, Traits};
use crate::tcp::config::TcpConfig;

/// g of §4.2.
const GAIN: f64 = 1.0 / 16.0;

/// The moving average of the share. Per window of data: alpha = (1 - g) alpha + g M.
#[derive(Clone, Debug)]
struct Alpha {
    value: f64,
    window_end: u64,
    acked: u64,
    marked: u64,
}

impl Alpha {
    /// Begins at 1: the first mark halves the window (§3.3).
    fn new() -> Self {
        Self {
            value: 1.0,
            window_end: 1,
            acked: 0,
            marked: 0,
        }
    }

    fn on_ack(&mut self, ack: &AckSample) {
        self.acked += ack.delivered;
        self.marked += ack.marked.min(ack.delivered);
        if ack.una > self.window_end && self.acked > 0 {
            let share = self.marked as f64 / self.acked as f64;
            self.value = (1.0 - GAIN) * self.value + GAIN * share;
            (self.acked, self.marked) = (0, 0);
            self.window_end = ack.nxt;
        }
    }
}

/// What tells the algorithms apart.
pub(crate) trait Growth {
    /// Their parameters.
    type Spec;
    /// What they need.
    const TRAITS: Traits;
    /// Bytes for which the window grows.
    fn countable(ack: &AckSample) -> u64;
}

/// Reno's growth, a decrease of alpha / 2 for marks and by half for losses.
#[derive(Clone, Debug)]
pub struct Proportional<G> {
    w: Window,
    alpha: Alpha,
    growth: PhantomData<G>,
}

impl<G> Proportional<G> {
    /// Estimated share of marked bytes, 0..=1.
    pub fn alpha(&self) -> f64 {
        self.alpha.value
    }
}

impl<G: Growth> Algorithm for Proportional<G> {
    type Spec = G::Spec;
    const TRAITS: Traits = G::TRAITS;

    fn new(_: &G::Spec, cfg: &TcpConfig, _: Time) -> Self {
        Self {
            w: Window::new(cfg),
            alpha: Alpha::new(),
            growth: PhantomData,
        }
    }
}

impl<G: Growth> Controller for Proportional<G> {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.w.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.w.ssthresh
    }

    fn on_ack(&mut self, ack: &AckSample) {
        self.alpha.on_ack(ack);
        let bytes = G::countable(ack);
        if bytes > 0 && ack.cwnd_limited && !ack.in_recovery {
            self.w.grow(bytes);
        }
    }

    fn on_congestion(&mut self, loss: &LossSample) {
        if loss.cause == Cause::Mark {
            self.w.scale(1.0 - self.alpha.value / 2.0); // equation 9
        } else {
            self.w.decrease(loss, 0.5); // §3.5
        }
    }

    fn limit(&mut self, cwnd: u64) {
        self.w.limit(cwnd);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use spillgate_core::Dur;

    /// §3.3 by hand: windows of four segments of which all, none and half are marked. What one had
    /// counts in no other.
    #[test]
    fn each_window_has_its_own_share_of_marks() {
        let mut alpha = Alpha::new();
        let mut una = 1;
        let mut window = |marks: &[u64]| {
            for marked in marks {
                una += 1000;
                alpha.on_ack(&AckSample {
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
