//! BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00; Cardwell et
//! al., CACM 2017): sends at the largest delivery rate seen lately, with about
//! twice the product of rate and smallest round trip in flight.
//!
//! The phase in which ProbeBW begins is drawn from a hash of the instant, so a
//! run is reproducible without a stream of its own.

use spillgate_core::{Dur, Time, rng};

use super::window::no_parameters;
use super::{AckSample, Algorithm, Cause, Controller, LossSample, RateSample, Traits};
use crate::tcp::config::TcpConfig;

no_parameters! {
    /// BBR has no parameters.
    BbrSpec
}

/// 2 / ln 2: the smallest gain that doubles the rate each round (§4.1.1.2).
const HIGH_GAIN: f64 = 2.885_390_081_777_927;
/// Pacing gains of ProbeBW (§4.3.4.2).
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Rounds over which the largest rate counts (BtlBwFilterLen).
const FILTER: usize = 10;
/// RTpropFilterLen.
const RTT_WINDOW: Dur = Dur::from_secs(10);
/// ProbeRTTDuration.
const PROBE_RTT: Dur = Dur::from_ms(200);
/// BBRMinPipeCwnd in segments.
const MIN_PIPE: u64 = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Startup,
    Drain,
    ProbeBw,
    ProbeRtt,
}

/// State of BBR.
#[derive(Clone, Debug)]
pub struct Bbr {
    mode: Mode,
    /// Largest rate of each of the last rounds, bytes per second.
    rates: [f64; FILTER],
    round: u64,
    round_end: u64,
    round_start: bool,
    rt_prop: Dur,
    rt_prop_at: Time,
    pacing_rate: f64,
    pacing_gain: f64,
    cwnd_gain: f64,
    full_rate: f64,
    full_rounds: u32,
    filled: bool,
    cycle: usize,
    cycle_at: Time,
    probe_rtt_until: Option<Time>,
    probe_rtt_round: bool,
    cwnd: u64,
    prior_cwnd: u64,
    /// Bytes delivered so far.
    delivered: u64,
    conserve: bool,
    recovering: bool,
    lost: bool,
    initial: u64,
    mss: u64,
}

impl Bbr {
    fn rate(&self) -> f64 {
        self.rates.iter().copied().fold(0.0, f64::max)
    }

    /// Gain times the product of rate and delay, with room for three bursts (§4.2.3.2).
    fn inflight(&self, gain: f64) -> u64 {
        if self.rt_prop == Dur::MAX {
            return self.initial;
        }
        (gain * self.rate() * self.rt_prop.as_secs_f64()) as u64 + 3 * self.mss
    }

    fn update_rate(&mut self, r: &RateSample) {
        self.round_start = r.prior_delivered >= self.round_end;
        if self.round_start {
            self.round_end = r.delivered;
            self.round += 1;
            self.rates[self.round as usize % FILTER] = 0.0;
            self.lost = false;
            self.conserve = false;
        }
        if r.rate >= self.rate() || !r.app_limited {
            let slot = &mut self.rates[self.round as usize % FILTER];
            *slot = slot.max(r.rate);
        }
    }

    fn check_full_pipe(&mut self, app_limited: bool) {
        if self.filled || !self.round_start || app_limited {
            return;
        }
        if self.rate() >= 1.25 * self.full_rate {
            self.full_rate = self.rate();
            self.full_rounds = 0;
            return;
        }
        self.full_rounds += 1;
        self.filled = self.full_rounds >= 3;
    }

    fn enter_probe_bw(&mut self, now: Time) {
        self.mode = Mode::ProbeBw;
        self.cwnd_gain = 2.0;
        // Any phase but the one that drains (§4.3.4.3).
        let draw = (rng::mix(now.as_ps()) % 7) as usize;
        self.cycle = if draw == 0 { 0 } else { draw + 1 };
        self.pacing_gain = CYCLE[self.cycle];
        self.cycle_at = now;
    }

    fn check_cycle(&mut self, ack: &AckSample) {
        let full = ack.now.since(self.cycle_at) > self.rt_prop;
        let next = if self.pacing_gain > 1.0 {
            full && (self.lost || ack.prior_in_flight >= self.inflight(self.pacing_gain))
        } else if self.pacing_gain < 1.0 {
            full || ack.prior_in_flight <= self.inflight(1.0)
        } else {
            full
        };
        if next {
            self.cycle = (self.cycle + 1) % CYCLE.len();
            self.pacing_gain = CYCLE[self.cycle];
            self.cycle_at = ack.now;
        }
    }

    fn check_probe_rtt(&mut self, ack: &AckSample, expired: bool, delivered: Option<u64>) {
        if self.mode != Mode::ProbeRtt {
            if !expired {
                return;
            }
            self.mode = Mode::ProbeRtt;
            (self.pacing_gain, self.cwnd_gain) = (1.0, 1.0);
            self.prior_cwnd = self.saved();
            self.probe_rtt_until = None;
        }
        match self.probe_rtt_until {
            None if ack.in_flight <= MIN_PIPE * self.mss => {
                self.probe_rtt_until = Some(ack.now + PROBE_RTT);
                self.probe_rtt_round = false;
                self.round_end = delivered.unwrap_or(self.round_end);
            }
            None => {}
            Some(until) => {
                self.probe_rtt_round |= self.round_start;
                if self.probe_rtt_round && ack.now > until {
                    self.rt_prop_at = ack.now;
                    self.cwnd = self.cwnd.max(self.prior_cwnd);
                    if self.filled {
                        self.enter_probe_bw(ack.now);
                    } else {
                        self.mode = Mode::Startup;
                        (self.pacing_gain, self.cwnd_gain) = (HIGH_GAIN, HIGH_GAIN);
                    }
                }
            }
        }
    }

    /// BBRSaveCwnd: the last good window.
    fn saved(&self) -> u64 {
        if self.recovering || self.mode == Mode::ProbeRtt {
            self.prior_cwnd.max(self.cwnd)
        } else {
            self.cwnd
        }
    }

    fn set_cwnd(&mut self, ack: &AckSample) {
        let target = self.inflight(self.cwnd_gain);
        if self.conserve {
            self.cwnd = self.cwnd.max(ack.in_flight + ack.delivered);
        } else if self.filled {
            self.cwnd = (self.cwnd + ack.delivered).min(target);
        } else if self.cwnd < target || self.delivered < self.initial {
            self.cwnd += ack.delivered;
        }
        self.cwnd = self.cwnd.max(MIN_PIPE * self.mss);
        if self.mode == Mode::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_PIPE * self.mss);
        }
    }

    fn set_pacing_rate(&mut self, srtt: Option<Dur>) {
        let mut rate = self.pacing_gain * self.rate();
        if rate == 0.0 {
            let rtt = srtt.map_or(0.001, Dur::as_secs_f64);
            rate = HIGH_GAIN * self.initial as f64 / rtt;
        }
        if self.filled || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }
}

impl Algorithm for Bbr {
    type Spec = BbrSpec;
    const TRAITS: Traits = Traits {
        needs_sack: true,
        paced: true,
        paces_itself: true,
        ..Traits::MODERN
    };

    fn new(_: &BbrSpec, cfg: &TcpConfig, start: Time) -> Self {
        let mss = u64::from(cfg.mss);
        let initial = mss * u64::from(cfg.initial_window);
        Self {
            mode: Mode::Startup,
            rates: [0.0; FILTER],
            round: 0,
            round_end: 0,
            round_start: false,
            rt_prop: Dur::MAX,
            rt_prop_at: start,
            pacing_rate: 0.0,
            pacing_gain: HIGH_GAIN,
            cwnd_gain: HIGH_GAIN,
            full_rate: 0.0,
            full_rounds: 0,
            filled: false,
            cycle: 0,
            cycle_at: start,
            probe_rtt_until: None,
            probe_rtt_round: false,
            cwnd: initial,
            prior_cwnd: 0,
            delivered: 0,
            conserve: false,
            recovering: false,
            lost: false,
            initial,
            mss,
        }
    }
}

impl Controller for Bbr {
    #[inline]
    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// BBR has no threshold.
    fn ssthresh(&self) -> u64 {
        u64::MAX
    }

    fn on_ack(&mut self, ack: &AckSample) {
        let v = self;
        v.delivered += ack.delivered;
        v.round_start = false;
        if let Some(r) = &ack.rate {
            v.update_rate(r);
        }
        if v.mode == Mode::ProbeBw {
            v.check_cycle(ack);
        }
        v.check_full_pipe(ack.rate.is_some_and(|r| r.app_limited));
        if v.mode == Mode::Startup && v.filled {
            v.mode = Mode::Drain;
            v.pacing_gain = 1.0 / HIGH_GAIN;
        }
        if v.mode == Mode::Drain && ack.in_flight <= v.inflight(1.0) {
            v.enter_probe_bw(ack.now);
        }
        let expired = ack.now > v.rt_prop_at + RTT_WINDOW;
        if let Some(rtt) = ack.rtt {
            if rtt <= v.rt_prop || expired {
                (v.rt_prop, v.rt_prop_at) = (rtt, ack.now);
            }
        }
        v.check_probe_rtt(ack, expired, ack.rate.map(|r| r.delivered));
        v.set_pacing_rate(ack.srtt);
        v.set_cwnd(ack);
    }

    fn on_congestion(&mut self, loss: &LossSample) {
        let v = self;
        v.lost = true;
        match loss.cause {
            Cause::Mark => {} // version 1 does not look at ECN
            Cause::Loss => {
                v.prior_cwnd = v.saved();
                v.recovering = true;
                v.conserve = true;
                v.cwnd = (loss.in_flight + loss.delivered.max(v.mss)).min(v.cwnd);
            }
            Cause::Timeout | Cause::TimeoutAgain => {
                v.prior_cwnd = v.saved();
                v.recovering = true;
                v.conserve = false;
                v.cwnd = v.mss;
            }
        }
    }

    fn on_recovered(&mut self, _now: Time, _in_flight: u64) {
        let v = self;
        v.conserve = false;
        if std::mem::take(&mut v.recovering) {
            v.cwnd = v.cwnd.max(v.prior_cwnd);
        }
    }

    fn limit(&mut self, cwnd: u64) {
        self.cwnd = self.cwnd.min(cwnd.max(self.mss));
    }

    fn pacing_rate(&self) -> Option<f64> {
        (self.pacing_rate > 0.0).then_some(self.pacing_rate)
    }
}

#[cfg(test)]
#[path = "bbr_tests.rs"]
mod tests;
