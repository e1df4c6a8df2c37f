//! Adaptive RED: RED whose `max_p` follows the load.
//!
//! Sources: S. Floyd, R. Gummadi, S. Shenker, "Adaptive RED: An Algorithm for Increasing the Robustness of
//! RED's Active Queue Management", 2001 (`floyd2001`); W. Feng, D. Kandlur, D. Saha, K. Shin, "A Self-Configuring
//! RED Gateway", INFOCOM 1999 (`feng1999`).
//!
//! Idea: Floyd steers the average into the middle fifth between the thresholds: every `interval` `max_p` grows by
//! a step if the average is above it, and shrinks by a factor if it is below. Feng multiplies `max_p` when the average
//! comes above the upper threshold, and divides it when it comes below the lower one.
//!
//! Deviations: a clock that ticks between two arrivals finds the average that the first left, as a timer would.
//! `max_p` is clamped to its range after every step; ns-2, ns-3 and Linux test the range before it, and
//! overshoot. Feng's range is not in the paper.
//! Cost: O(1), one draw while chance decides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Dur, Limit, Packet, Rate, Size, Time, Verdict};

use super::early::{Count, RedCurve, checked_average};
use super::{Automaton, Average, AverageParams, Backlog, Draw, LeafFacts, UpstreamUse};
use crate::evidence::Odds;
use crate::recipe::At;
use crate::stats::Adapted;
use crate::{BuildError, Thresholds};

/// More steps than this change nothing: the range of `max_p` has been crossed.
const MOST_STEPS: u64 = 200;

/// Parameters of adaptive RED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AdaptiveRedSpec {
    /// Whose rule moves `max_p`. Default `floyd2001`.
    #[serde(rename = "as")]
    pub variant: AdaptiveRedVariant,
    /// Lower threshold of the average in packets. Default with `floyd2001` half of what leaves within
    /// `target_delay`, at least 5; else 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_th: Option<f64>,
    /// Upper threshold of the average in packets. Default three times `min_th`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_th: Option<f64>,
    /// Weight of one sample in the average. Default with `floyd2001` 1 - exp(-1/C), C being packets of
    /// `mean_packet` a second; else 0.002.
    #[schemars(range(min = 0.0, max = 1.0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
    /// The probability at `max_th` to begin with. Default 0.1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub max_p: f64,
    /// The delay for which Floyd's thresholds are made. Default 5 ms.
    pub target_delay: Dur,
    /// How often Floyd's `max_p` is changed. Default 500 ms.
    pub interval: Dur,
    /// Between `max_th` and twice that the probability rises to 1. Default true with `floyd2001`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gentle: Option<bool>,
    /// Mark ECN-capable packets instead of dropping them where chance decides. Default false.
    pub ecn: bool,
    /// Length of the typical packet: of C, and of an idle queue's decay. Default 500 B.
    pub mean_packet: Size,
}

impl Default for AdaptiveRedSpec {
    fn default() -> Self {
        Self {
            variant: AdaptiveRedVariant::Floyd2001,
            min_th: None,
            max_th: None,
            weight: None,
            max_p: 0.1,
            target_delay: Dur::from_ms(5),
            interval: Dur::from_ms(500),
            gentle: None,
            ecn: false,
            mean_packet: Size(500),
        }
    }
}

/// Rules that move RED's `max_p`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AdaptiveRedVariant {
    /// Additive increase by min(0.01, `max_p`/4), multiplicative decrease by 0.9, within 0.01 to 0.5.
    #[default]
    Floyd2001,
    /// Multiplied by 2 above the thresholds, divided by 3 below, once each time; within 0.0001 to 1.
    Feng1999,
}

impl AdaptiveRedSpec {
    fn floyd(&self) -> bool {
        self.variant == AdaptiveRedVariant::Floyd2001
    }

    /// The curve to begin with, at a rate.
    pub(super) fn curve(&self, rate: Rate) -> RedCurve {
        let per_sec = rate.bytes_per_sec() / self.mean_packet.0.max(1) as f64;
        let min_th = self.min_th.unwrap_or_else(|| match self.variant {
            AdaptiveRedVariant::Floyd2001 => {
                (self.target_delay.as_secs_f64() * per_sec / 2.0).max(5.0)
            }
            AdaptiveRedVariant::Feng1999 => 5.0,
        });
        RedCurve {
            min_th,
            max_th: self.max_th.unwrap_or(3.0 * min_th),
            max_p: self.max_p,
        }
    }

    pub(super) fn weight(&self, rate: Rate) -> f64 {
        let per_sec = rate.bytes_per_sec() / self.mean_packet.0.max(1) as f64;
        self.weight.unwrap_or_else(|| match self.variant {
            AdaptiveRedVariant::Floyd2001 => 1.0 - spillgate_core::math::exp(-1.0 / per_sec),
            AdaptiveRedVariant::Feng1999 => 0.002,
        })
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
    ) -> Result<AdaptiveRed, BuildError> {
        checked_average(at, self.weight(leaf.rate), self.mean_packet)?;
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
            curve,
            floyd: self.floyd(),
            gentle: self.gentle.unwrap_or_else(|| self.floyd()),
            ecn: self.ecn,
            interval: self.interval,
            average: AverageParams::new(self.weight(leaf.rate), self.mean_packet.0, leaf.rate),
            odds: None,
        })
    }
}

/// A running adaptive RED.
#[derive(Clone, Debug)]
pub(crate) struct AdaptiveRed {
    curve: RedCurve,
    floyd: bool,
    gentle: bool,
    ecn: bool,
    interval: Dur,
    average: AverageParams,
    /// The odds of the last drop or mark.
    odds: Option<Odds>,
}

/// Where Feng's average was last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Below,
    Between,
    Above,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Vars {
    average: Average,
    count: Count,
    max_p: f64,
    /// The last tick of Floyd's clock.
    ticked: Time,
    status: Status,
}

impl AdaptiveRed {
    /// Floyd's step at this average.
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

    /// The ticks of Floyd's clock since the last arrival, which found this average.
    fn tick(&self, v: &mut Vars, now: Time) {
        let ticks = now.since(v.ticked).as_ps() / self.interval.as_ps();
        v.ticked += self.interval * ticks;
        for _ in 0..ticks.min(MOST_STEPS) {
            v.max_p = self.step(v.max_p, v.average.value);
        }
    }

    /// Feng's step at the present average.
    fn cross(&self, v: &mut Vars) {
        let (avg, c) = (v.average.value, &self.curve);
        if avg > c.min_th && avg < c.max_th {
            v.status = Status::Between;
        } else if avg < c.min_th && v.status != Status::Below {
            v.status = Status::Below;
            v.max_p = (v.max_p / 3.0).max(1e-4);
        } else if avg > c.max_th && v.status != Status::Above {
            v.status = Status::Above;
            v.max_p = (v.max_p * 2.0).min(1.0);
        }
    }
}

impl Automaton for AdaptiveRed {
    type Vars = Vars;

    fn vars(&self) -> Vars {
        Vars {
            average: Average::ZERO,
            count: Count::NONE,
            max_p: self.curve.max_p,
            ticked: Time::ZERO,
            status: Status::Above,
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
        if self.floyd {
            self.tick(v, now);
        }
        let length = backlog.measure_packets();
        let avg = v
            .average
            .sample(&self.average, now, length, &backlog.upstream);
        if !self.floyd {
            self.cross(v);
        }
        let curve = RedCurve {
            max_p: v.max_p,
            ..self.curve
        };
        let certain = Odds::certain(avg, curve.min_th, curve.max_th);
        let region = curve.region(avg, self.gentle);
        let (verdict, odds) = v
            .count
            .verdict(region, true, self.ecn, certain, packet, draw);
        self.odds = odds.or(self.odds);
        verdict
    }

    fn overflowed(&self, v: &mut Vars) {
        v.count.restart();
    }

    fn pushed_out(&self, v: &mut Vars, _: u32) {
        v.count.restart();
    }

    fn emptied(&self, v: &mut Vars, at: Time) {
        v.average.idle_since = at;
    }

    fn average(&self, v: &Vars) -> Option<f64> {
        Some(v.average.value)
    }

    fn adapted(&self, v: &Vars) -> Adapted {
        Adapted {
            max_p: Some(v.max_p),
            ..Adapted::default()
        }
    }

    fn decides_by_packets(&self) -> bool {
        true
    }

    fn upstream_use(&self) -> UpstreamUse {
        UpstreamUse::Length
    }

    fn odds(&self) -> Option<Odds> {
        self.odds
    }
}

#[cfg(test)]
#[path = "adaptive_red_tests.rs"]
mod tests;
