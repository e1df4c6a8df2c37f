//! REM, random exponential marking.
//!
//! Source: S. Athuraliya, V. H. Li, S. H. Low, Q. Yin, "REM: Active Queue Management", IEEE Network
//! 15(3), 2001; ns-2.35, queue/rem.cc.
//!
//! Idea: a link has a price, which rises while more arrives than it sends or while more is queued
//! than it aims at. A packet is marked with probability 1 - phi^(-price), so that over a path the
//! probabilities of its links make that of the sum of their prices, if all have the same phi.
//!
//! Equations, at each sample with x packets that arrived since the last one, of which the link
//! sends c: price <- max(0, price + gamma (x + alpha (q - b*) - c)).
//!
//! Deviations: it decides at arrival, also where it marks (ns-2 marks at departure). c counts
//! packets of `mean_packet`. Cost: O(1) for each packet and sample, one draw while the price is
//! above 0.

use spillgate_core::{Dur, Limit, Packet, Problem, Rate, Size};

use super::chance::ByChance;
use super::pi::{checked_gain, checked_update, warn_of_target};
use super::sampled::{Sampled, Sampler};
use super::{Backlog, LeafFacts};
use crate::Thresholds;
use crate::evidence::{FactUnit, GoesBy};
use crate::recipe::At;
use crate::stats::State;

spillgate_core::spec! {
    /// Parameters of REM.
    pub struct RemSpec {
        /// Step of the price (gamma). Default 0.001 (ns-2).
        pub gamma: f64 = 0.001,
        /// Base of the probability, above 1 (phi). Default 1.001 (ns-2).
        pub phi: f64 = 1.001,
        /// Weight of the queue against the rate (alpha). Default 0.1 (ns-2).
        pub alpha: f64 = 0.1,
        /// The length of the queue that is aimed at, in packets (b*). Default 20 (ns-2).
        pub target: f64 = 20.0,
        /// Time between updates of the price, 10 us to 10 s. Default 2 ms (ns-2).
        pub update: Dur = Dur::from_ms(2),
        /// Weight of the newest count in the average of arrivals, above 0 and at most 1. Default 1:
        /// no average (ns-2).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub weight: f64 = 1.0,
        /// The length of packets by which the rate of the link counts. Default 1000 B (ns-2).
        pub mean_packet: Size = Size(1000),
        /// Mark ECN-capable packets instead of dropping them. Default false.
        pub ecn: bool = false,
    }
}

impl RemSpec {
    /// None on an average.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<Thresholds> {
        Vec::new()
    }

    pub(super) fn resolve(
        &self,
        at: &mut At<'_>,
        leaf: &LeafFacts,
    ) -> Result<ByChance<Sampled<Rem>>, Problem> {
        checked_gain(at, "gamma", self.gamma, "0.001")?;
        checked_gain(at, "alpha", self.alpha, "0.1")?;
        at.check(
            self.phi.is_finite() && self.phi > 1.0,
            "phi",
            self.phi,
            "it must be above 1: a higher price makes a higher probability",
            "the usual value is 1.001",
        )?;
        at.check(
            self.target.is_finite() && self.target >= 0.0,
            "target",
            self.target,
            "a length of the queue is a finite number, at least 0",
            "the usual value is 20",
        )?;
        at.check(
            self.weight > 0.0 && self.weight <= 1.0,
            "weight",
            self.weight,
            "the weight of a count must be above 0 and at most 1",
            "the usual value is 1",
        )?;
        checked_update(at, self.update, "2 ms")?;
        at.packet("mean_packet", self.mean_packet)?;
        warn_of_target(at, self.target, leaf);
        let law = Rem {
            sent: leaf.rate.bytes_per_sec() * self.update.as_secs_f64() / self.mean_packet.0 as f64,
            spec: self.clone(),
        };
        let period = self.update;
        Ok(ByChance::new(Sampled { law, period }, self.ecn))
    }
}

/// The law of REM.
#[derive(Clone, Debug)]
pub(crate) struct Rem {
    /// Packets that the link sends between updates (c).
    sent: f64,
    spec: RemSpec,
}

/// What it keeps of one queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RemState {
    price: f64,
    probability: f64,
    /// Average arrivals between updates.
    average: f64,
    /// Arrivals since the last update.
    arrived: u32,
}

impl Sampler for Rem {
    type State = RemState;

    fn new_state(&self) -> RemState {
        RemState {
            price: 0.0,
            probability: 0.0,
            average: 0.0,
            arrived: 0,
        }
    }

    fn sample(&self, s: &mut RemState, queue: &Backlog) {
        let p = &self.spec;
        s.average = (1.0 - p.weight) * s.average + p.weight * f64::from(s.arrived);
        s.arrived = 0;
        let above = p.alpha * (f64::from(queue.packets) - p.target);
        s.price = (s.price + p.gamma * (s.average + above - self.sent)).max(0.0);
        s.probability = 1.0 - spillgate_core::math::pow(p.phi, -s.price);
    }

    #[inline]
    fn counts(&self, s: &mut RemState, _: &Packet) {
        s.arrived += 1;
    }

    #[inline]
    fn probability(&self, s: &RemState, _: &Backlog) -> f64 {
        s.probability
    }

    fn goes_by(&self, s: &RemState) -> GoesBy {
        GoesBy::plain("price", "the price of the link was {}").and("price", s.price, FactUnit::One)
    }

    fn shows(&self, s: &RemState) -> State {
        vec![("drop_probability", s.probability), ("rem_price", s.price)]
    }
}

#[cfg(test)]
#[path = "rem_tests.rs"]
mod tests;
