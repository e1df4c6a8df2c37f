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

use spillgate_core::{Dur, Limit, Problem, Rate, Time};

use super::curve::RedCurve;
use super::early::{Early, Law, Spread, early_spec};
use super::{AverageParams, LeafFacts, RedUnit};
use crate::Thresholds;
use crate::recipe::At;
use crate::stats::State;

/// More steps than this change nothing: the range of `max_p` has been crossed.
const MOST_STEPS: u64 = 200;

early_spec! {
    /// Parameters of adaptive RED.
    pub struct AdaptiveRedSpec {
        /// Lower threshold of the average in packets. Default half of what leaves within
        /// `target_delay`, at least 5.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub min_th: Option<f64> = None,
        /// Upper threshold of the average in packets. Default three times `min_th`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub max_th: Option<f64> = None,
        /// Weight of one sample in the average. Default 1 - exp(-1/C), C being packets of
        /// `mean_packet` a second.
        #[schemars(range(min = 0.0, max = 1.0))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub weight: Option<f64> = None,
        /// The probability at `max_th` to begin with. Default 0.1.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub max_p: f64 = 0.1,
        /// The delay for which the default thresholds are made. Default 5 ms.
        pub target_delay: Dur = Dur::from_ms(5),
        /// How often `max_p` is changed. Default 500 ms.
        pub interval: Dur = Dur::from_ms(500),
        /// Between `max_th` and twice that the probability rises to 1. Default true.
        pub gentle: bool = true,
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
    ) -> Result<Early<AdaptiveRed>, Problem> {
        let weight = self.weight(leaf.rate);
        let average = AverageParams::checked(at, leaf, weight, self.mean_packet, self.idle)?;
        let curve = self.curve(leaf.rate);
        curve.checked(at, leaf, RedUnit::Packets)?;
        at.check(
            self.interval > Dur::ZERO,
            "interval",
            self.interval,
            "max_p cannot be changed without end",
            "the usual value is 500 ms",
        )?;
        let interval = self.interval;
        let law = AdaptiveRed { curve, interval };
        Ok(Early::new(law, average, self.gentle, self.ecn))
    }
}

/// The law of adaptive RED.
#[derive(Clone, Debug)]
pub(crate) struct AdaptiveRed {
    curve: RedCurve,
    interval: Dur,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Vars {
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
}

impl Law for AdaptiveRed {
    type Vars = Vars;
    type Averages = Spread;

    fn vars(&self) -> Vars {
        Vars {
            max_p: self.curve.max_p,
            ticked: Time::ZERO,
        }
    }

    /// The ticks of the clock since the last arrival, which left the average of `before`.
    #[inline]
    fn moves(&self, v: &mut Vars, now: Time, before: f64, _: f64) {
        let ticks = now.since(v.ticked).as_ps() / self.interval.as_ps();
        v.ticked += self.interval * ticks;
        for _ in 0..ticks.min(MOST_STEPS) {
            v.max_p = self.step(v.max_p, before);
        }
    }

    #[inline]
    fn curve(&self, v: &Vars, _: usize) -> RedCurve {
        let max_p = v.max_p;
        RedCurve {
            max_p,
            ..self.curve
        }
    }

    fn state(&self, v: &Vars) -> State {
        vec![("adapted_max_p", v.max_p)]
    }
}

#[cfg(test)]
#[path = "adaptive_red_tests.rs"]
mod tests;
