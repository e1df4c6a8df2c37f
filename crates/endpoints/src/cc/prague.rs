//! A scalable sender for L4S in the manner of TCP Prague
//! (draft-briscoe-iccrg-prague-congestion-control): DCTCP's response on
//! accurate feedback, ECT(1), pacing, additive increase only for bytes that
//! were not marked, halving on loss.
//!
//! Not included: independence of the round-trip time and the fallback to a
//! classic response behind a classic AQM.

use spillgate_core::Time;

use super::alpha::Alpha;
use super::window::{Window, no_parameters};
use super::{AckSample, Cause, Controller, LossSample, Traits};
use crate::tcp::config::{EcnMode, TcpConfig};

pub(super) const TRAITS: Traits = Traits {
    ecn: EcnMode::L4s,
    paced: true,
    ..Traits::MODERN
};

no_parameters! {
    /// Prague has no parameters: the gain of its average is 1/16.
    PragueSpec
}

/// State of the scalable sender.
#[derive(Clone, Debug)]
pub struct Prague {
    w: Window,
    alpha: Alpha,
}

impl Prague {
    /// Estimated share of marked bytes, 0..=1.
    pub fn alpha(&self) -> f64 {
        self.alpha.value()
    }
}

impl Controller for Prague {
    type Spec = PragueSpec;

    fn new(_: &PragueSpec, cfg: &TcpConfig, _: Time) -> Self {
        Self {
            w: Window::new(cfg),
            alpha: Alpha::new(),
        }
    }

    #[inline]
    fn cwnd(&self) -> u64 {
        self.w.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.w.ssthresh
    }

    fn on_ack(&mut self, ack: &AckSample) {
        self.alpha.on_ack(ack);
        let clean = ack.acked.saturating_sub(ack.marked);
        if clean > 0 && ack.cwnd_limited && !ack.in_recovery {
            self.w.grow(clean);
        }
    }

    fn on_congestion(&mut self, loss: &LossSample) {
        if loss.cause == Cause::Mark {
            self.w.scale(1.0 - self.alpha.value() / 2.0);
        } else {
            self.w.decrease(loss, 0.5);
        }
    }

    fn limit(&mut self, cwnd: u64) {
        self.w.limit(cwnd);
    }
}
