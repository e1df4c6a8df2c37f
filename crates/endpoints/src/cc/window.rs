//! Slow start and additive increase (RFC 5681 §3.1), shared by the algorithms that build on them.

use super::{Cause, LossSample};
use crate::tcp::config::{LossBase, TcpConfig};

/// A window, a threshold, and the fraction of the next increment.
#[derive(Clone, Debug, Default)]
pub struct Window {
    pub(super) cwnd: u64,
    pub(super) ssthresh: u64,
    pub(super) mss: u64,
    credit: u64,
    /// See [`TcpConfig::abc_limit`].
    abc_limit: u8,
    /// See [`TcpConfig::mark_floor`].
    mark_floor: u8,
    base: LossBase,
    /// In whole segments: see [`TcpConfig::linux`].
    whole: bool,
}

impl Window {
    pub(super) fn new(cfg: &TcpConfig) -> Self {
        let mss = u64::from(cfg.mss);
        Self {
            cwnd: mss * u64::from(cfg.initial_window),
            ssthresh: u64::MAX,
            mss,
            credit: 0,
            abc_limit: cfg.abc_limit,
            mark_floor: cfg.mark_floor,
            base: cfg.loss_base,
            whole: cfg.linux,
        }
    }

    pub(super) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// At most one segment, or `abc_limit` segments, per acknowledgment: equation (2), RFC 3465
    /// §2.2.
    pub(super) fn slow_start(&mut self, acked: u64) {
        let most = self.mss * u64::from(self.abc_limit.max(1));
        self.cwnd += if self.abc_limit == 0 {
            self.mss
        } else {
            acked.min(most)
        };
    }

    /// A segment per window of acknowledged bytes, the fraction kept until it makes a segment; or
    /// equation 3 where acknowledgments are counted instead.
    fn additive(&mut self, acked: u64) {
        if self.abc_limit == 0 {
            self.cwnd += self.mss * self.mss / self.cwnd;
            return;
        }
        self.credit += acked;
        while self.credit >= self.cwnd {
            self.credit -= self.cwnd;
            self.cwnd += self.mss;
        }
    }

    /// In whole segments: slow start to the threshold and no further; how many segments are left.
    pub(super) fn slow_start_up_to(&mut self, acked: u64) -> u64 {
        let grown = (self.cwnd + acked * self.mss).min(self.ssthresh);
        let left = acked - (grown - self.cwnd) / self.mss;
        self.cwnd = grown;
        left
    }

    /// In whole segments: one more for every `per` acknowledged.
    pub(super) fn one_per(&mut self, per: u64, acked: u64) {
        let per = per.max(1);
        // What had waited for a larger number.
        if self.credit >= per {
            self.credit = 0;
            self.cwnd += self.mss;
        }
        self.credit += acked;
        self.cwnd += self.credit / per * self.mss;
        self.credit %= per;
    }

    /// Slow start or congestion avoidance as the threshold says.
    #[inline]
    pub(super) fn grow(&mut self, acked: u64) {
        if self.whole {
            let mut acked = acked.div_ceil(self.mss);
            if self.in_slow_start() {
                acked = self.slow_start_up_to(acked);
            }
            if acked > 0 {
                self.one_per(self.cwnd / self.mss, acked);
            }
        } else if self.in_slow_start() {
            self.slow_start(acked);
        } else {
            self.additive(acked);
        }
    }

    /// New data were acknowledged, and no loss is known: the window as it is then, in bytes.
    #[inline]
    pub(crate) fn on_new_ack(&mut self, acked: u64, prior_in_flight: u64) -> u64 {
        if is_limited(self.cwnd, self.ssthresh, self.mss, prior_in_flight) {
            self.grow(acked);
        }
        self.cwnd
    }

    /// What a multiplicative decrease applies to.
    pub(super) fn loss_base(&self, loss: &LossSample) -> u64 {
        match self.base {
            LossBase::Flight => loss.in_flight,
            LossBase::Window => self.cwnd.min(loss.peer_window),
        }
    }

    /// Threshold `beta` times the base, at least two segments; window there (for marks down to
    /// their own floor), or one segment on a timeout.
    pub(super) fn decrease(&mut self, loss: &LossSample, beta: f64) {
        let mut share = (self.loss_base(loss) as f64 * beta) as u64;
        if self.whole {
            share -= share % self.mss;
        }
        if loss.cause != Cause::TimeoutAgain {
            self.ssthresh = share.max(2 * self.mss);
            self.credit = 0;
        }
        self.cwnd = match loss.cause {
            Cause::Loss => self.ssthresh,
            Cause::Mark => share.max(u64::from(self.mark_floor) * self.mss),
            Cause::Timeout | Cause::TimeoutAgain => self.mss,
        };
    }

    /// Threshold of so many segments, and the window as [`Window::decrease`] sets it.
    pub(super) fn reduce_to(&mut self, cause: Cause, segments: u64) {
        self.ssthresh = segments * self.mss;
        self.credit = 0;
        self.cwnd = match cause {
            Cause::Loss | Cause::Mark => self.ssthresh,
            Cause::Timeout | Cause::TimeoutAgain => self.mss,
        };
    }

    /// Window and threshold `factor` times the window, at least two segments.
    pub(super) fn scale(&mut self, factor: f64) {
        self.cwnd = ((self.cwnd as f64 * factor) as u64).max(2 * self.mss);
        self.ssthresh = self.cwnd;
        self.credit = 0;
    }

    pub(super) fn limit(&mut self, cwnd: u64) {
        self.cwnd = self.cwnd.min(cwnd.max(self.mss));
    }
}

/// Whether the window, and not the application or the receiver, bounds what is outstanding.
///
/// In slow start a window that is more than half used does: what leaves next round would fill it.
#[inline]
pub(crate) fn is_limited(cwnd: u64, ssthresh: u64, mss: u64, prior_in_flight: u64) -> bool {
    prior_in_flight + mss > cwnd || (cwnd < ssthresh && cwnd < 2 * prior_in_flight)
}

/// For an algorithm without parameters: an empty table.
macro_rules! no_parameters {
    ($(#[doc = $doc:literal])+ $spec:ident) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $spec {}
    };
}

/// An algorithm that is [`Window`] and a factor of decrease.
macro_rules! additive_increase {
    ($(#[doc = $doc:literal])+ $model:ident($spec:ty), $traits:expr, $after:expr) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, Default)]
        pub struct $model(super::window::Window);

        impl super::Algorithm for $model {
            type Spec = $spec;
            const TRAITS: super::Traits = $traits;

            fn new(_: &$spec, cfg: &crate::tcp::TcpConfig, _: spillgate_core::Time) -> Self {
                Self(super::window::Window::new(cfg))
            }
        }

        impl super::Controller for $model {
            #[inline]
            fn cwnd(&self) -> u64 {
                self.0.cwnd
            }

            fn ssthresh(&self) -> u64 {
                self.0.ssthresh
            }

            #[inline]
            fn on_ack(&mut self, ack: &super::AckSample) {
                if ack.acked > 0 && ack.cwnd_limited && !ack.in_recovery {
                    self.0.grow(ack.acked);
                }
            }

            #[inline]
            fn window(&mut self) -> Option<&mut super::Window> {
                Some(&mut self.0)
            }

            fn on_congestion(&mut self, loss: &super::LossSample) {
                self.0.decrease(loss, 0.5);
                $after(&mut self.0, loss);
            }

            fn limit(&mut self, cwnd: u64) {
                self.0.limit(cwnd);
            }
        }
    };
}

pub(super) use additive_increase;
pub(super) use no_parameters;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::TcpSpec;

    /// What was acknowledged towards the next segment of a window is forgotten with that window.
    #[test]
    fn a_smaller_window_begins_to_count_anew() {
        let mut w = Window::new(&TcpSpec::default().resolve().unwrap());
        (w.cwnd, w.ssthresh) = (10 * w.mss, 5 * w.mss);
        w.grow(9 * w.mss);
        assert_eq!(w.cwnd, 10 * w.mss);
        let loss = LossSample {
            now: spillgate_core::Time::ZERO,
            cause: Cause::Loss,
            in_flight: 10 * w.mss,
            delivered: 0,
            nxt: 0,
            peer_window: u64::MAX,
        };
        w.decrease(&loss, 0.5);
        w.grow(4 * w.mss);
        assert_eq!(w.cwnd, 5 * w.mss);
        w.grow(w.mss);
        assert_eq!(w.cwnd, 6 * w.mss);
    }
}
