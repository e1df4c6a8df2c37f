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

use spillgate_core::{Limit, Problem, Rate};

use super::curve::{RedCurve, Region};
use super::early::{Early, Law, Spread, early_spec};
use super::red_spec::RedRules;
use super::{AverageParams, LeafFacts, RedUnit};
use crate::Thresholds;
use crate::recipe::At;

early_spec! {
    /// Parameters of double-slope RED.
    pub struct DsredSpec {
        /// Lower threshold of the average in packets (Kl). Default 6 (Zheng and Atiquzzaman).
        pub min_th: f64 = 6.0,
        /// Upper threshold of the average in packets (Kh), from which on all is dropped. Default
        /// 20.
        pub max_th: f64 = 20.0,
        /// The part of the probability that the second slope has: 1 - `gamma` is reached in the
        /// middle between the thresholds. Default 0.96.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub gamma: f64 = 0.96,
        /// Weight of one sample in the average. Default 0.07.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub weight: f64 = 0.07,
        /// Whether gaps between drops are spread as RED does. Default false.
        pub spread: bool = false,
    }
}

impl DsredSpec {
    fn curve(&self) -> RedCurve {
        RedCurve {
            min_th: self.min_th,
            max_th: self.max_th,
            max_p: 1.0,
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
    ) -> Result<Early<Dsred>, Problem> {
        self.curve().checked(at, leaf, RedUnit::Packets)?;
        at.check(
            (0.0..=1.0).contains(&self.gamma),
            "gamma",
            self.gamma,
            "it must be between 0 and 1",
            "the usual value is 0.96",
        )?;
        let average = AverageParams::checked(at, leaf, self.weight, self.mean_packet, self.idle)?;
        Ok(Early::new(Dsred(self.clone()), average, false, self.ecn))
    }
}

/// The law of double-slope RED.
#[derive(Clone, Debug)]
pub(crate) struct Dsred(DsredSpec);

impl Law for Dsred {
    type Vars = ();
    type Averages = Spread;

    fn vars(&self) {}

    #[inline]
    fn rules(&self) -> &RedRules {
        match self.0.spread {
            true => &RedRules::FLOYD,
            false => &RedRules::UNSPREAD,
        }
    }

    #[inline]
    fn curve(&self, (): &(), _: usize) -> RedCurve {
        self.0.curve()
    }

    #[inline]
    fn region(&self, curve: &RedCurve, average: f64, _: bool) -> Region {
        let (low, high, gamma) = (curve.min_th, curve.max_th, self.0.gamma);
        let middle = f64::midpoint(low, high);
        if average < low {
            Region::Pass
        } else if average < middle {
            Region::Random((1.0 - gamma) * (average - low) / (middle - low))
        } else if average < high {
            let rest = (average - middle) / (high - middle);
            Region::Random(1.0 - gamma + gamma * rest)
        } else {
            Region::Certain
        }
    }
}

#[cfg(test)]
#[path = "dsred_tests.rs"]
mod tests;
