//! Random early detection.
//!
//! Source: S. Floyd, V. Jacobson, "Random Early Detection Gateways for
//! Congestion Avoidance", IEEE/ACM ToN 1(4), 1993; gentle mode and `max_p`
//! 0.1 from Floyd's later notes (1997, 2000); ECN after RFC 3168.
//!
//! Idea: an exponentially weighted average of the queue decides. Below `min_th`
//! every packet passes; between the thresholds a packet is dropped (or marked)
//! with a probability that rises to `max_p`; above, with certainty, or in
//! gentle mode with a probability that rises to 1 at twice `max_th`. A count of
//! packets since the last drop spreads the drops: the gaps are uniform, which
//! makes the long-run rate about twice p_b. With a quadratic curve it is
//! nonlinear RED (K. Zhou, K. L. Yeung, V. O. K. Li, Computer Networks 50, 2006).
//!
//! Deviations: the idle period's exponent is real; a packet refused while the
//! queue is empty restarts the idle period, so that no instant decays twice.
//! Cost: O(1), one draw while p_b applies.

use spillgate_core::Problem;

use super::curve::{RedCurve, Region};
use super::early::{Early, Law, Spread};
use super::red_spec::{RedRules, RedShape, RedSpec};
use super::{AverageParams, LeafFacts};
use crate::recipe::At;

impl RedSpec {
    pub(crate) fn resolve(&self, at: &mut At<'_>, leaf: &LeafFacts) -> Result<Early<Red>, Problem> {
        let r = self.checked(at, leaf)?;
        let average = AverageParams::checked(at, leaf, r.weight, r.mean_packet, r.idle)?;
        Ok(Early::new(Red(r), average, r.gentle, r.ecn))
    }
}

/// The law of RED.
#[derive(Clone, Debug)]
pub(crate) struct Red(RedRules);

impl Law for Red {
    type Vars = ();
    type Averages = Spread;

    fn vars(&self) {}

    #[inline]
    fn rules(&self) -> &RedRules {
        &self.0
    }

    #[inline]
    fn curve(&self, (): &(), _: usize) -> RedCurve {
        self.0.thresholds()
    }

    #[inline]
    fn region(&self, curve: &RedCurve, average: f64, gentle: bool) -> Region {
        let (low, high) = (curve.min_th, curve.max_th);
        if self.0.curve == RedShape::Quadratic && average >= low && average < high {
            let x = (average - low) / (high - low);
            return Region::Random(self.0.highest() * x * x);
        }
        let max_p = self.0.highest();
        RedCurve { max_p, ..*curve }.region(average, gentle)
    }
}

#[cfg(test)]
#[path = "red_tests.rs"]
mod tests;
