//! Adaptive RED: RED whose `max_p` follows the load.
//!
//! Source: S. Floyd, R. Gummadi, S. Shenker, "Adaptive RED: An Algorithm for Increasing the
//! Robustness of RED's Active Queue Management", 2001.
//!
//! Idea: the average is steered into the middle fifth between the thresholds: every `interval`
//! `max_p` grows by a step if the average is above it, and shrinks by a factor if it is below.
//!
//! Deviations: a clock that ticks between two arrivals finds the average that the first left, as a
//! timer would. `max_p` is clamped to its range after every step; ns-2, ns-3 and Linux test the
//! range before it, and overshoot. Cost: O(1), one draw while chance decides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Limit, Packet, Rate, Size, Time, Verdict};

use super::early::{MovedRed, MovedVars, RedCurve};
use super::{Automaton, Backlog, Draw, LeafFacts, RedIdle, UpstreamUse, is_default};
use crate::Thresholds;
use crate::evidence::Odds;
use crate::recipe::At;
use crate::stats::State;
use spillgate_core::Problem;

/// More steps than this change nothing: the range of `max_p` has been crossed.
const MOST_STEPS: u64 = 200;

/// Parameters of adaptive RED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptiveRedSpec {
    /// Lower threshold of the average in packets. Default half of what leaves within
    /// `target_delay`, at least 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_th: Option<f64>,
    /// Upper threshold of the average in packets. Default three times `min_th`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_th: Option<f64>,
    /// Weight of one sample in the average. Default 1 - exp(-1/C), C being packets of `mean_packet`
    /// a second.
    #[schemars(range(min = 0.0, max = 1.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The probability at `max_th` to begin with. Default 0.1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_p: f64,
    /// The delay for which the default thresholds are made. Default 5 ms.
    pub target_delay: Dur,
    /// How often `max_p` is changed. Default 500 ms.
    pub interval: Dur,
    /// Between `max_th` and twice that the probability rises to 1. Default true.
    pub gentle: bool,
    /// Mark ECN-capable packets instead of dropping them where chance decides. Default false.
    pub ecn: bool,
    /// Length of the typical packet: of C, and of an idle queue's decay. Default 500 B.
    pub mean_packet: Size,
    /// What the average does while the queue is idle. Default `decay` (1993).
    #[serde(skip_serializing_if = "is_default")]
    pub idle: RedIdle,
}

impl Default for AdaptiveRedSpec {
    fn default() -> Self {
        Self {
            min_th: None,
            max_th: None,
            weight: None,
            max_p: 0.1,
            target_delay: Dur::from_ms(5),
            interval: Dur::from_ms(500),
            gentle: true,
            ecn: false,
            mean_packet: Size(500),
            idle: RedIdle::Decay,
        }
    }
}

impl AdaptiveRedSpec {
    /// Packets of `mean_packet` a second.
    fn per_sec(&self, rate: Rate) -> f64 {
        rate.bytes_per_sec() / self.mean_packet.0.max(1) as f64
    }

    /// The curve to begin with, at a rate.
    pub(super) fn curve(&self, rate: Rate) -> RedCurve {
        let within = self.target_delay.as_secs_f64() * self.per_sec(rate);
        let min_th = self.min_th.unwrap_or_else(|| (within / 2.0).max(5.0));
        RedCurve {
            min_th,
            max_th: self.max_th.unwrap_or(3.0 * min_th),
            max_p: self.max_p,
        }
    }

    pub(super) fn weight(&self, rate: Rate) -> f64 {
        self.weight
            .unwrap_or_else(|| 1.0 - spillgate_core::math::exp(-1.0 / self.per_sec(rate)))
    }

    /// The thresholds, alike for all packets.
    pub(super) fn thresholds(&self, _: Limit, rate: Rate) -> Vec<Thresholds> {
        let written = self.min_th.is_some() || self.max_th.is_some();
        vec![Thresholds {
            written,
            ..self.curve(rate).shown(Vec::new())
        }]
    }

    pub(super) fn resolve(
        &self,
        at: &mut At<'_>,
        leaf: &LeafFacts,
    ) -> Result<AdaptiveRed, Problem> {
        let weight = self.weight(leaf.rate);
        let packet = (self.mean_packet, self.idle);
        let red = MovedRed::checked(at, leaf, weight, packet, self.gentle, self.ecn)?;
        let curve = self.curve(leaf.rate);
        curve.checked(at, leaf.max_packets)?;
        at.check(
            self.interval > Dur::ZERO,
            "interval",
            self.interval,
            "max_p cannot be changed without end",
            "the usual value is 500 ms",
        )?;
        Ok(AdaptiveRed {
            red,
            curve,
            interval: self.interval,
        })
    }
}

/// A running adaptive RED.
#[derive(Clone, Debug)]
pub(crate) struct AdaptiveRed {
    red: MovedRed,
    curve: RedCurve,
    interval: Dur,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Vars {
    red: MovedVars,
    max_p: f64,
    /// The last tick of the clock.
    ticked: Time,
}

impl AdaptiveRed {
    /// The step at this average.
    fn step(&self, max_p: f64, average: f64) -> f64 {
        let (min, max) = (self.curve.min_th, self.curve.max_th);
        if average > min + 0.6 * (max - min) {
            (max_p + (max_p / 4.0).min(0.01)).min(0.5)
        } else if average < min + 0.4 * (max - min) {
            (max_p * 0.9).max(0.01)
        } else {
            max_p
        }
    }

    /// The ticks of the clock since the last arrival, which found this average.
    fn tick(&self, v: &mut Vars, now: Time) {
        let ticks = now.since(v.ticked).as_ps() / self.interval.as_ps();
        v.ticked += self.interval * ticks;
        for _ in 0..ticks.min(MOST_STEPS) {
            v.max_p = self.step(v.max_p, v.red.average.value);
        }
    }
}

impl Automaton for AdaptiveRed {
    type Vars = Vars;

    fn vars(&self) -> Vars {
        Vars {
            red: MovedVars::NEW,
            max_p: self.curve.max_p,
            ticked: Time::ZERO,
        }
    }

    #[inline]
    fn arrival<D: Draw>(
        &mut self,
        v: &mut Vars,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        draw: &mut D,
    ) -> Verdict {
        self.tick(v, now);
        self.red.sample(&mut v.red, now, backlog);
        let curve = RedCurve {
            max_p: v.max_p,
            ..self.curve
        };
        self.red.judge(&mut v.red, &curve, packet, draw)
    }

    fn overflowed(&self, v: &mut Vars) {
        v.red.count.restart();
    }

    fn pushed_out(&self, v: &mut Vars, _: u32) {
        v.red.count.restart();
    }

    fn emptied(&self, v: &mut Vars, at: Time) {
        v.red.average.idle_since = at;
    }

    fn average(&self, v: &Vars) -> Option<f64> {
        Some(v.red.average.value)
    }

    fn state(&self, v: &Vars, _: Time) -> State {
        vec![("adapted_max_p", v.max_p)]
    }

    fn decides_by_packets(&self) -> bool {
        true
    }

    fn upstream_use(&self) -> UpstreamUse {
        UpstreamUse::Length
    }

    fn odds(&self) -> Option<Odds> {
        self.red.odds
    }
}

#[cfg(test)]
#[path = "adaptive_red_tests.rs"]
mod tests;
