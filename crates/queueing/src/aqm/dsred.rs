//! Double-slope RED.
//!
//! Source: B. Zheng, M. Atiquzzaman, "DSRED: Improving Performance of Active Queue Management over
//! Heterogeneous Networks", ICC 2001.
//!
//! Idea: RED with two slopes. From `min_th` to the middle the probability rises to 1 - `gamma`,
//! from there to `max_th` to 1, so that it is gentle while the average is low, steep while it is
//! high, and never jumps.
//!
//! Deviations: the papers say nothing of spreading drops over packets; `spread` does it as RED
//! does. Idle periods decay as in RED. Cost: O(1), one draw between the thresholds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Limit, Packet, Rate, Size, Time, Verdict};

use super::early::{Count, Region, checked_average};
use super::{
    Automaton, Average, AverageParams, Backlog, Draw, LeafFacts, RedIdle, UpstreamUse, is_default,
};
use crate::Thresholds;
use crate::evidence::Odds;
use crate::recipe::At;
use spillgate_core::Problem;

/// Parameters of double-slope RED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DsredSpec {
    /// Lower threshold of the average in packets (Kl). Default 6 (Zheng and Atiquzzaman).
    pub min_th: f64,
    /// Upper threshold of the average in packets (Kh), from which on all is dropped. Default 20.
    pub max_th: f64,
    /// The part of the probability that the second slope has: 1 - `gamma` is reached in the middle
    /// between the thresholds. Default 0.96.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub gamma: f64,
    /// Weight of one sample in the average. Default 0.07.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub weight: f64,
    /// Whether gaps between drops are spread as RED does. Default false.
    pub spread: bool,
    /// Mark ECN-capable packets instead of dropping them below `max_th`. Default false.
    pub ecn: bool,
    /// Length of the typical small packet by which an idle queue's average decays. Default 500 B.
    pub mean_packet: Size,
    /// What the average does while the queue is idle. Default `decay` (1993).
    #[serde(skip_serializing_if = "is_default")]
    pub idle: RedIdle,
}

impl Default for DsredSpec {
    fn default() -> Self {
        Self {
            min_th: 6.0,
            max_th: 20.0,
            gamma: 0.96,
            weight: 0.07,
            spread: false,
            ecn: false,
            mean_packet: Size(500),
            idle: RedIdle::Decay,
        }
    }
}

impl DsredSpec {
    /// The thresholds, alike for all packets.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<Thresholds> {
        vec![Thresholds {
            min: self.min_th,
            max: self.max_th,
            probability: 1.0,
            written: true,
            ..Thresholds::default()
        }]
    }

    pub(super) fn resolve(&self, at: &mut At<'_>, leaf: &LeafFacts) -> Result<Dsred, Problem> {
        super::early::RedCurve {
            min_th: self.min_th,
            max_th: self.max_th,
            max_p: 1.0,
        }
        .checked(at, leaf.max_packets)?;
        at.check(
            (0.0..=1.0).contains(&self.gamma),
            "gamma",
            self.gamma,
            "it must be between 0 and 1",
            "the usual value is 0.96",
        )?;
        checked_average(at, self.weight, self.mean_packet, self.idle)?;
        Ok(Dsred {
            spec: self.clone(),
            average: AverageParams::new(self.weight, self.mean_packet.0, leaf.rate, self.idle),
            odds: None,
        })
    }

    fn region(&self, average: f64) -> Region {
        let (low, high) = (self.min_th, self.max_th);
        let middle = f64::midpoint(low, high);
        if average < low {
            Region::Pass
        } else if average < middle {
            Region::Random((1.0 - self.gamma) * (average - low) / (middle - low))
        } else if average < high {
            let rest = (average - middle) / (high - middle);
            Region::Random(1.0 - self.gamma + self.gamma * rest)
        } else {
            Region::Certain
        }
    }
}

/// A running double-slope RED.
#[derive(Clone, Debug)]
pub(crate) struct Dsred {
    spec: DsredSpec,
    average: AverageParams,
    /// The odds of the last drop or mark.
    odds: Option<Odds>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Vars {
    average: Average,
    count: Count,
}

impl Automaton for Dsred {
    type Vars = Vars;

    fn vars(&self) -> Vars {
        Vars {
            average: Average::ZERO,
            count: Count::NONE,
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
        let length = backlog.measure_packets();
        let avg = v
            .average
            .sample(&self.average, now, length, &backlog.upstream);
        let s = &self.spec;
        let certain = Odds::certain(avg, s.min_th, s.max_th);
        let (verdict, odds) =
            v.count
                .verdict(s.region(avg), s.spread, s.ecn, certain, packet, draw);
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
#[path = "dsred_tests.rs"]
mod tests;
