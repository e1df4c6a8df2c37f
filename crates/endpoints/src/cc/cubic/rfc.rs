//! CUBIC (RFC 9438): the window is a cubic function of the time since the last
//! reduction, with its plateau where that reduction happened, and never below
//! what Reno would have.
//!
//! Windows below are in segments. Time that the application, not the window,
//! bounded is taken out of the curve (§4.2).

use spillgate_core::{Time, math};

use super::CubicSpec;
use crate::cc::hystart::HyStart;
use crate::cc::window::Window;
use crate::cc::{AckSample, Cause, Controller, LossSample};
use crate::tcp::config::TcpConfig;

/// C of §4.6, segments per second cubed.
pub const C: f64 = 0.4;
/// The multiplicative decrease factor of §4.6.
pub const BETA: f64 = 0.7;
/// Additive increase that makes Reno with [`BETA`] as aggressive as Reno with one half (§4.3).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);

/// One congestion avoidance stage.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: Time,
    /// Time until the plateau, in seconds (equation 2).
    k: f64,
    /// Reno's window (equation 4).
    estimate: f64,
}

/// State of CUBIC as RFC 9438 has it.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    w: Window,
    hystart: Option<HyStart>,
    epoch: Option<Epoch>,
    w_max: f64,
    /// Window before the last reduction (cwnd_prior).
    prior: f64,
    /// Bytes below one that the window has grown by.
    fraction: f64,
    last_ack: Time,
    fast_convergence: bool,
    paced: bool,
}

impl Curve {
    pub(super) fn new(spec: &CubicSpec, cfg: &TcpConfig, start: Time) -> Self {
        Self {
            w: Window::new(cfg),
            hystart: (spec.hystart == Some(true)).then(HyStart::new),
            epoch: None,
            w_max: 0.0,
            prior: 0.0,
            fraction: 0.0,
            last_ack: start,
            fast_convergence: spec.fast_convergence,
            paced: cfg.pacing,
        }
    }

    fn segments(&self) -> f64 {
        self.w.cwnd as f64 / self.w.mss as f64
    }

    fn avoid(&mut self, ack: &AckSample) {
        let cwnd = self.segments() + self.fraction / self.w.mss as f64;
        let mut e = self.epoch.unwrap_or_else(|| {
            // After a timeout, or without a loss: the plateau is here (§4.8, §4.10).
            self.w_max = self.w_max.max(cwnd);
            Epoch {
                start: ack.now,
                k: math::cbrt((self.w_max - cwnd) / C),
                estimate: cwnd,
            }
        });
        let t = ack.now.since(e.start).as_secs_f64();
        let curve = |t: f64| {
            let d = t - e.k;
            C * d * d * d + self.w_max // equation 1
        };
        let acked = ack.acked as f64 / self.w.mss as f64;
        // §4.3: equation 4, with alpha 1 once the former window is reached again.
        let alpha = if e.estimate >= self.prior { 1.0 } else { ALPHA };
        e.estimate += alpha * acked / cwnd;
        let next = if curve(t) < e.estimate {
            e.estimate.max(cwnd)
        } else {
            // §4.4, §4.5: towards where the curve is one round trip later.
            let ahead = ack.srtt.map_or(0.0, |r| r.as_secs_f64());
            let target = curve(t + ahead).clamp(cwnd, 1.5 * cwnd);
            cwnd + (target - cwnd) / cwnd * acked
        };
        self.epoch = Some(e);
        let bytes = next * self.w.mss as f64;
        self.w.cwnd = bytes as u64;
        self.fraction = bytes - self.w.cwnd as f64;
    }
}

impl Controller for Curve {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.w.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.w.ssthresh
    }

    fn on_ack(&mut self, ack: &AckSample) {
        let idle = ack.now.since(self.last_ack);
        self.last_ack = ack.now;
        if !ack.cwnd_limited {
            if let Some(e) = &mut self.epoch {
                e.start += idle;
            }
            return;
        }
        if ack.acked == 0 || ack.in_recovery {
            return;
        }
        if !self.w.in_slow_start() {
            return self.avoid(ack);
        }
        match &mut self.hystart {
            // HyStart++ is for the first slow start (RFC 9406 §4.2).
            Some(h) if self.w.ssthresh == u64::MAX => {
                let (growth, over) = h.on_ack(ack, self.w.mss, self.paced);
                self.w.cwnd += growth;
                if over {
                    self.w.ssthresh = self.w.cwnd;
                }
            }
            _ => self.w.slow_start(ack.acked),
        }
    }

    fn on_congestion(&mut self, loss: &LossSample) {
        let cwnd = self.segments();
        match loss.cause {
            Cause::TimeoutAgain => {}
            // §4.8: the first stage after a timeout begins on its plateau.
            Cause::Timeout => (self.w_max, self.prior) = (0.0, cwnd),
            Cause::Loss | Cause::Mark => {
                self.w_max = if self.fast_convergence && cwnd < self.w_max {
                    cwnd * (1.0 + BETA) / 2.0
                } else {
                    cwnd
                };
                self.prior = cwnd;
            }
        }
        self.epoch = None;
        self.fraction = 0.0;
        self.w.decrease(loss, BETA);
    }

    fn limit(&mut self, cwnd: u64) {
        if cwnd < self.w.cwnd {
            self.epoch = None;
            self.fraction = 0.0;
        }
        self.w.limit(cwnd);
    }
}
