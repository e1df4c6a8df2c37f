//! TCP Prague (draft-briscoe-iccrg-prague-congestion-control): a scalable sender for L4S.
//!
//! DCTCP's reduction by half of the average share of marks, on accurate feedback, with:
//!
//! - additive increase for every byte that was not marked, also while a mark is answered, so that
//!   the window grows by 1 - p of a segment a round trip and is 2 (1 - p) / p segments in balance;
//! - a window that keeps its fractions: increments of less than a segment outlast reductions;
//! - an average that begins with the first mark, which ends slow start and halves the window;
//! - less dependence on the round-trip time R: below a virtual one V the window grows by (R / V)²,
//!   and average and reductions are taken once in V, which gives the rate of a round trip of V;
//!   some round trips after slow start, so that short transfers do not wait for it;
//! - pacing at the window a round trip, in slow start at twice that;
//! - at least two segments; on loss Reno's half, with which nothing grows until it is repaired;
//! - Reno where the peer or the path has no accurate feedback, as the Linux module does;
//! - with `classic_ecn_fallback` a reduction as CUBIC's where a classic AQM marks ([`classic`]
//!   finds it).
//!
//! Not included: windows below two segments by smaller ones.
//!
//! [`classic`]: super::classic

use spillgate_core::{Dur, Problem, Time};

use super::alpha::Alpha;
use super::classic::ClassicEcn;
use super::window::Window;
use super::{AckSample, Algorithm, Cause, Controller, LossSample, Traits};
use crate::tcp::config::{EcnMode, TcpConfig};

spillgate_core::spec! {
    /// Options of Prague.
    pub struct PragueSpec {
        /// With a shorter round trip the sender has the rate that it would have with this one, 0 s
        /// to 100 ms; 0 s: its own. Default 25 ms.
        pub virtual_rtt: Dur = Dur::from_ms(25),
        /// So many round trips after slow start, 0 to 100000. Default 500.
        #[schemars(range(max = 100_000))]
        pub transition: u32 = 500,
        /// Whether the window keeps fractions of a segment. Without, it grows by whole segments and
        /// forgets with each reduction what it had grown by, as DCTCP. Default true.
        pub fractions: bool = true,
        /// Whether the sender looks for a classic AQM, which marks as it would drop, by the depth
        /// and the variation of its queue, and reduces its window there as classic senders do.
        /// Default false, as in Linux.
        pub classic_ecn_fallback: bool = false,
    }
}

impl PragueSpec {
    /// Checks the ranges.
    ///
    /// # Errors
    /// The first value out of range, by key.
    pub(crate) fn check(&self) -> Result<(), Problem> {
        if self.virtual_rtt > Dur::from_ms(100) {
            return Err(Problem::new(
                "cc.prague.virtual_rtt",
                self.virtual_rtt,
                "a virtual round trip is at most 100 ms",
                "write a time such as 25 ms, or 0 s for none",
            ));
        }
        if self.transition > 100_000 {
            return Err(Problem::new(
                "cc.prague.transition",
                self.transition,
                "it must be from 0 to 100000",
                "write a number in this range",
            ));
        }
        Ok(())
    }
}

/// State of the scalable sender.
#[derive(Clone, Debug)]
pub struct Prague {
    w: Window,
    /// Bytes below one that the window has grown by.
    fraction: f64,
    alpha: Alpha,
    /// When the average was updated last, and when the window was reduced.
    averaged: Time,
    reduced: Time,
    srtt: Option<Dur>,
    spec: PragueSpec,
    /// Round trips since slow start.
    rounds: u32,
    /// A mark was seen.
    marked: bool,
    /// Marks are answered as losses.
    classic: bool,
    /// The AQM that marks, if it is looked at.
    aqm: Option<ClassicEcn>,
}

impl Prague {
    /// R / V, while the sender has the rate of a longer round trip.
    fn shortness(&self) -> Option<f64> {
        let (v, srtt) = (self.spec.virtual_rtt, self.srtt?);
        let on = !self.w.in_slow_start() && self.rounds >= self.spec.transition && srtt < v;
        on.then(|| srtt.as_secs_f64() / v.as_secs_f64())
    }

    /// Whether it is time for what is done once in a virtual round trip, last done `at`.
    fn is_due(&self, now: Time, at: Time) -> bool {
        self.shortness().is_none() || now.since(at) >= self.spec.virtual_rtt
    }

    fn end_round(&mut self, ack: &AckSample) {
        self.alpha.begin(ack.nxt, self.marked);
        if let Some(aqm) = self.aqm.as_mut().filter(|_| self.marked) {
            aqm.end_round(ack.min_rtt);
        }
        self.averaged = ack.now;
        if !self.w.in_slow_start() {
            self.rounds = self.rounds.saturating_add(1);
        }
    }

    fn grow(&mut self, bytes: u64) {
        if self.w.in_slow_start() {
            return self.w.grow(bytes);
        }
        let share = self.shortness().map_or(1.0, |s| s * s);
        if !self.spec.fractions {
            return self.w.grow((share * bytes as f64) as u64);
        }
        let mss = self.w.mss as f64;
        let cwnd = self.w.cwnd as f64 + self.fraction;
        self.set(cwnd + share * mss * bytes as f64 / cwnd);
    }

    /// The window in bytes, with its fraction.
    fn set(&mut self, cwnd: f64) {
        self.w.cwnd = cwnd as u64;
        self.fraction = cwnd - self.w.cwnd as f64;
    }
}

impl Algorithm for Prague {
    type Spec = PragueSpec;
    const TRAITS: Traits = Traits {
        ecn: EcnMode::L4s,
        paced: true,
        ..Traits::MODERN
    };

    fn new(spec: &PragueSpec, cfg: &TcpConfig, start: Time) -> Self {
        Self {
            w: Window::new(cfg),
            fraction: 0.0,
            alpha: Alpha::new(),
            averaged: start,
            reduced: Time::ZERO,
            srtt: None,
            spec: spec.clone(),
            rounds: 0,
            marked: false,
            classic: false,
            aqm: spec.classic_ecn_fallback.then(ClassicEcn::new),
        }
    }
}

impl Controller for Prague {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.w.cwnd
    }

    fn ssthresh(&self) -> u64 {
        self.w.ssthresh
    }

    fn on_ack(&mut self, ack: &AckSample) {
        self.srtt = ack.srtt.or(self.srtt);
        self.marked |= ack.marked > 0;
        if let (Some(aqm), Some(rtt)) = (&mut self.aqm, ack.rtt) {
            aqm.measure(rtt);
        }
        if self.alpha.count(ack) && self.is_due(ack.now, self.averaged) {
            self.end_round(ack);
        }
        if !ack.cwnd_limited || ack.in_recovery {
            return;
        }
        if self.classic {
            if ack.acked > 0 {
                self.w.grow(ack.acked);
            }
            return;
        }
        let unmarked = ack.acked.saturating_sub(ack.marked);
        if unmarked > 0 {
            self.grow(unmarked);
        }
    }

    fn on_congestion(&mut self, loss: &LossSample) {
        if loss.cause != Cause::Mark || self.classic {
            self.fraction = 0.0;
            return self.w.decrease(loss, 0.5);
        }
        self.reduced = loss.now;
        let cwnd = self.w.cwnd as f64 + self.fraction;
        let mut share = self.alpha.value;
        if let Some(aqm) = &mut self.aqm {
            aqm.slow_down(self.w.ssthresh / self.w.mss);
            share = share.max(aqm.least_alpha());
        }
        let factor = 1.0 - share / 2.0;
        if !self.spec.fractions {
            return self.w.scale(factor);
        }
        self.set((cwnd * factor).max(2.0 * self.w.mss as f64));
        self.w.ssthresh = self.w.cwnd;
    }

    fn limit(&mut self, cwnd: u64) {
        self.w.limit(cwnd);
    }

    fn answers_mark(&self, now: Time) -> bool {
        self.classic || self.is_due(now, self.reduced)
    }

    fn fall_back(&mut self) {
        self.classic = true;
        self.aqm = None;
    }

    fn classic_ecn(&self) -> Option<f64> {
        Some(self.aqm.as_ref()?.score)
    }

    fn pacing_rate(&self) -> Option<f64> {
        let srtt = self.srtt?.as_secs_f64();
        let ahead = if self.w.cwnd < self.w.ssthresh / 2 {
            2.0
        } else {
            1.0
        };
        let rate = ahead * (self.w.cwnd as f64 + self.fraction) / srtt;
        (!self.classic && srtt > 0.0).then_some(rate)
    }
}

#[cfg(test)]
#[path = "prague_tests.rs"]
mod tests;
