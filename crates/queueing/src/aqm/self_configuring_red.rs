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

use spillgate_core::{Limit, Problem, Rate, Time};

use super::curve::RedCurve;
use super::early::{Early, Law, Spread, early_spec};
use super::{AverageParams, LeafFacts, RedUnit};
use crate::Thresholds;
use crate::recipe::At;
use crate::stats::State;

/// The least `max_p`.
const LEAST: f64 = 1e-4;

early_spec! {
    /// Parameters of self-configuring RED.
    pub struct SelfConfiguringRedSpec {
        /// Lower threshold of the average in packets. Default 5.
        pub min_th: f64 = 5.0,
        /// Upper threshold of the average in packets. Default three times `min_th`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub max_th: Option<f64> = None,
        /// The probability at `max_th` to begin with, 0.0001 to 1. Default 0.1.
        #[schemars(range(min = 0.0001, max = 1.0))]
        pub max_p: f64 = 0.1,
        /// What `max_p` is divided by when the average comes below `min_th`, above 1. Default 3.
        pub alpha: f64 = 3.0,
        /// What `max_p` is multiplied by when the average comes above `max_th`, above 1. Default 2.
        pub beta: f64 = 2.0,
        /// Weight of one sample in the average. Default 0.002.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub weight: f64 = 0.002,
        /// Between `max_th` and twice that the probability rises to 1 instead of jumping. Default
        /// false.
        pub gentle: bool = false,
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
    ) -> Result<Early<SelfConfiguringRed>, Problem> {
        let average = AverageParams::checked(at, leaf, self.weight, self.mean_packet, self.idle)?;
        let curve = self.curve();
        curve.checked(at, leaf, RedUnit::Packets)?;
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
        let law = SelfConfiguringRed {
            curve,
            alpha: self.alpha,
            beta: self.beta,
        };
        Ok(Early::new(law, average, self.gentle, self.ecn))
    }
}

/// The law of self-configuring RED.
#[derive(Clone, Debug)]
pub(crate) struct SelfConfiguringRed {
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
    max_p: f64,
    status: Status,
}

impl Law for SelfConfiguringRed {
    type Vars = Vars;
    type Averages = Spread;

    fn vars(&self) -> Vars {
        Vars {
            max_p: self.curve.max_p,
            status: Status::Above,
        }
    }

    #[inline]
    fn moves(&self, v: &mut Vars, _: Time, _: f64, average: f64) {
        let c = &self.curve;
        if average > c.min_th && average < c.max_th {
            v.status = Status::Between;
        } else if average < c.min_th && v.status != Status::Below {
            v.status = Status::Below;
            v.max_p = (v.max_p / self.alpha).max(LEAST);
        } else if average > c.max_th && v.status != Status::Above {
            v.status = Status::Above;
            v.max_p = (v.max_p * self.beta).min(1.0);
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
#[path = "self_configuring_red_tests.rs"]
mod tests;
