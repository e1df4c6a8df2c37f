//! Self-configuring RED: RED whose `max_p` changes when its average leaves the thresholds.
//!
//! Source: W. Feng, D. Kandlur, D. Saha, K. Shin, "A Self-Configuring RED Gateway", IEEE INFOCOM
//! 1999, figure 5; ns-3 `red-queue-disc.cc` (`FengAdaptive`) for the factors 3 and 2.
//!
//! Idea: an average that comes below `min_th` says that RED drops too much, and divides `max_p` by
//! `alpha`; one that comes above `max_th` says that it drops too little, and multiplies `max_p` by
//! `beta`. Nothing happens again on the same side before the average has been elsewhere.
//!
//! Deviations: the paper has no range of `max_p`; here it is 0.0001 to 1. An average of `min_th` or
//! `max_th` exactly changes nothing, as the paper's signs have it. At the start the average counts
//! as above (ns-3). Cost: O(1), one draw while chance decides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Limit, Packet, Rate, Size, Time, Verdict};

use super::early::{MovedRed, MovedVars, RedCurve};
use super::{Automaton, Backlog, Draw, LeafFacts, RedIdle, UpstreamUse, is_default};
use crate::Thresholds;
use crate::evidence::Odds;
use crate::recipe::At;
use crate::stats::State;
use spillgate_core::Problem;

/// The least `max_p`.
const LEAST: f64 = 1e-4;

/// Parameters of self-configuring RED.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SelfConfiguringRedSpec {
    /// Lower threshold of the average in packets. Default 5.
    pub min_th: f64,
    /// Upper threshold of the average in packets. Default three times `min_th`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_th: Option<f64>,
    /// The probability at `max_th` to begin with, 0.0001 to 1. Default 0.1.
    #[schemars(range(min = 0.0001, max = 1.0))]
    pub max_p: f64,
    /// What `max_p` is divided by when the average comes below `min_th`, above 1. Default 3.
    pub alpha: f64,
    /// What `max_p` is multiplied by when the average comes above `max_th`, above 1. Default 2.
    pub beta: f64,
    /// Weight of one sample in the average. Default 0.002.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub weight: f64,
    /// Between `max_th` and twice that the probability rises to 1 instead of jumping. Default
    /// false.
    pub gentle: bool,
    /// Mark ECN-capable packets instead of dropping them where chance decides. Default false.
    pub ecn: bool,
    /// Length of the typical small packet by which the average of an idle queue decays. Default
    /// 500 B.
    pub mean_packet: Size,
    /// What the average does while the queue is idle. Default `decay` (1993).
    #[serde(skip_serializing_if = "is_default")]
    pub idle: RedIdle,
}

impl Default for SelfConfiguringRedSpec {
    fn default() -> Self {
        Self {
            min_th: 5.0,
            max_th: None,
            max_p: 0.1,
            alpha: 3.0,
            beta: 2.0,
            weight: 0.002,
            gentle: false,
            ecn: false,
            mean_packet: Size(500),
            idle: RedIdle::Decay,
        }
    }
}

impl SelfConfiguringRedSpec {
    /// The curve to begin with.
    fn curve(&self) -> RedCurve {
        RedCurve {
            min_th: self.min_th,
            max_th: self.max_th.unwrap_or(3.0 * self.min_th),
            max_p: self.max_p,
        }
    }

    /// The thresholds, alike for all packets.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<Thresholds> {
        vec![self.curve().shown(Vec::new())]
    }

    pub(super) fn resolve(
        &self,
        at: &mut At<'_>,
        leaf: &LeafFacts,
    ) -> Result<SelfConfiguringRed, Problem> {
        let (weight, packet) = (self.weight, (self.mean_packet, self.idle));
        let red = MovedRed::checked(at, leaf, weight, packet, self.gentle, self.ecn)?;
        let curve = self.curve();
        curve.checked(at, leaf.max_packets)?;
        at.check(
            self.max_p >= LEAST,
            "max_p",
            self.max_p,
            "it is moved within 0.0001 and 1, and begins there",
            "the usual value is 0.1",
        )?;
        for (key, factor, usual) in [("alpha", self.alpha, 3), ("beta", self.beta, 2)] {
            at.check(
                factor.is_finite() && factor > 1.0,
                key,
                factor,
                "max_p would not move, or the wrong way: a factor is above 1",
                &format!("the usual value is {usual}"),
            )?;
        }
        Ok(SelfConfiguringRed {
            red,
            curve,
            alpha: self.alpha,
            beta: self.beta,
        })
    }
}

/// A running self-configuring RED.
#[derive(Clone, Debug)]
pub(crate) struct SelfConfiguringRed {
    red: MovedRed,
    curve: RedCurve,
    alpha: f64,
    beta: f64,
}

/// Where the average was last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    Below,
    Between,
    Above,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Vars {
    red: MovedVars,
    max_p: f64,
    status: Status,
}

impl SelfConfiguringRed {
    /// The step at this average.
    #[inline]
    fn cross(&self, v: &mut Vars, avg: f64) {
        let c = &self.curve;
        if avg > c.min_th && avg < c.max_th {
            v.status = Status::Between;
        } else if avg < c.min_th && v.status != Status::Below {
            v.status = Status::Below;
            v.max_p = (v.max_p / self.alpha).max(LEAST);
        } else if avg > c.max_th && v.status != Status::Above {
            v.status = Status::Above;
            v.max_p = (v.max_p * self.beta).min(1.0);
        }
    }
}

impl Automaton for SelfConfiguringRed {
    type Vars = Vars;

    fn vars(&self) -> Vars {
        Vars {
            red: MovedVars::NEW,
            max_p: self.curve.max_p,
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
        let avg = self.red.sample(&mut v.red, now, backlog);
        self.cross(v, avg);
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
#[path = "self_configuring_red_tests.rs"]
mod tests;
