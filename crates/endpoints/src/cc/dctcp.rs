//! DCTCP (RFC 8257): Reno that answers marks in proportion to their share.

use spillgate_core::Time;

use super::alpha::Alpha;
use super::window::{Window, no_parameters};
use super::{AckSample, Algorithm, Cause, Controller, LossSample, Traits};
use crate::tcp::config::{EcnMode, TcpConfig};

no_parameters! {
    /// DCTCP has no parameters: g is 1/16 (RFC 8257 §4.2).
    DctcpSpec
}

/// Reno's growth, but not on ECN echo (RFC 3168 §6.1.2); a decrease of alpha / 2 for marks and by
/// half for losses.
#[derive(Clone, Debug)]
pub struct Dctcp {
    w: Window,
    alpha: Alpha,
    /// Marks are answered as losses.
    classic: bool,
}

impl Dctcp {
    /// Estimated share of marked bytes, 0..=1.
    pub fn alpha(&self) -> f64 {
        self.alpha.value
    }
}

impl Algorithm for Dctcp {
    type Spec = DctcpSpec;
    const TRAITS: Traits = Traits {
        ecn: EcnMode::Dctcp,
        ..Traits::MODERN
    };

    fn new(_: &DctcpSpec, cfg: &TcpConfig, _: Time) -> Self {
        Self {
            w: Window::new(cfg),
            alpha: Alpha::new(),
            classic: false,
        }
    }
}

impl Controller for Dctcp {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.w.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.w.ssthresh
    }

    fn on_ack(&mut self, ack: &AckSample) {
        if self.alpha.count(ack) {
            self.alpha.begin(ack.nxt, true);
        }
        let grows = ack.cwnd_limited && !ack.in_recovery && (self.classic || !ack.ece);
        if ack.acked > 0 && grows {
            self.w.grow(ack.acked);
        }
    }

    fn on_congestion(&mut self, loss: &LossSample) {
        if loss.cause == Cause::Mark && !self.classic {
            self.w.scale(1.0 - self.alpha.value / 2.0); // equation 9
        } else {
            self.w.decrease(loss, 0.5); // §3.5
        }
    }

    fn limit(&mut self, cwnd: u64) {
        self.w.limit(cwnd);
    }

    fn fall_back(&mut self) {
        self.classic = true;
    }
}
