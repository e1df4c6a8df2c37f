//! DRED, dynamic RED.
//!
//! Source: J. Aweya, M. Ouellette, D. Y. Montuno, "A control theoretic approach to active queue
//! management", Computer Networks 36, 2001.
//!
//! Idea: the queue is held at a target by an integrator of its filtered error, sampled by a fixed
//! clock, so that the working point does not depend on the load. While the queue is below a
//! `no_drop` line nothing is dropped, so that the link stays busy.
//!
//! Equations, at each sample: e = q - T, E <- (1 - beta) E + beta e, p <- p + alpha E / B within 0
//! and theta; B is the limit of the queue.
//!
//! Deviations: each arrival is judged by itself; the paper may spread drops as RED does. Cost: O(1)
//! for each packet and sample, one draw while p is above 0 and the queue is not short.

use spillgate_core::{Dur, Limit, Problem, Rate, Size};

use super::chance::ByChance;
use super::pi::{checked_gain, checked_update};
use super::sampled::{Sampled, Sampler};
use super::{Backlog, LeafFacts};
use crate::Thresholds;
use crate::evidence::{FactUnit, GoesBy};
use crate::recipe::At;
use crate::stats::State;

spillgate_core::spec! {
    /// Parameters of DRED.
    pub struct DredSpec {
        /// The length of the queue that is aimed at, in packets (T). Default: half of the limit.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub target: Option<f64> = None,
        /// Nothing is dropped while fewer packets wait (L). Default: 0.9 of the target.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub no_drop: Option<f64> = None,
        /// Gain of the controller at each sample (alpha). Default 0.00005 (the paper).
        pub alpha: f64 = 5e-5,
        /// Gain of the filter of the error at each sample, above 0 and at most 1 (beta). Default
        /// 0.002 (the paper).
        #[schemars(range(min = 0.0, max = 1.0))]
        pub beta: f64 = 0.002,
        /// The highest probability, above 0 and at most 1 (theta). Default 1.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub max_p: f64 = 1.0,
        /// Time between samples, 10 us to 10 s. Default: that in which the link sends ten packets
        /// of `mean_packet` (the paper).
        #[serde(skip_serializing_if = "Option::is_none")]
        pub update: Option<Dur> = None,
        /// The length of the packets of which the link sends ten between samples. Default 1000 B.
        pub mean_packet: Size = Size(1000),
        /// Mark ECN-capable packets instead of dropping them. Default false.
        pub ecn: bool = false,
    }
}

/// Packets that the link sends between samples.
const PACKETS_PER_SAMPLE: f64 = 10.0;

impl DredSpec {
    /// None on an average.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<Thresholds> {
        Vec::new()
    }

    /// The time between samples in a queue with this guaranteed rate.
    pub fn period(&self, rate: Rate) -> Dur {
        self.update.unwrap_or_else(|| {
            let bytes = PACKETS_PER_SAMPLE * self.mean_packet.0 as f64;
            let seconds = bytes / rate.bytes_per_sec();
            Dur::from_secs_f64(seconds.clamp(1e-5, 10.0))
        })
    }

    pub(super) fn resolve(
        &self,
        at: &mut At<'_>,
        leaf: &LeafFacts,
    ) -> Result<ByChance<Sampled<Dred>>, Problem> {
        let by_default = "half of the limit of the queue";
        at.packet("mean_packet", self.mean_packet)?;
        // A limit in bytes holds so many typical packets.
        let bound = crate::leaf::Bound::new(leaf.limit, leaf.rate);
        let room = match leaf.max_packets {
            Some(packets) => f64::from(packets),
            None => bound.bytes as f64 / self.mean_packet.0 as f64,
        };
        let target = self.target.unwrap_or(0.5 * room);
        at.check(
            target > 0.0 && target < room,
            "target",
            target,
            &format!("the target must be above 0 and below what the queue holds, {room} packets"),
            &format!("the default is {by_default}"),
        )?;
        let no_drop = self.no_drop.unwrap_or(0.9 * target);
        at.check(
            no_drop >= 0.0 && no_drop <= target,
            "no_drop",
            no_drop,
            &format!("it must be from 0 to the target, {target} packets"),
            "the default is 0.9 of the target",
        )?;
        checked_gain(at, "alpha", self.alpha, "0.00005")?;
        for (key, share, usual) in [("beta", self.beta, "0.002"), ("max_p", self.max_p, "1")] {
            at.check(
                share > 0.0 && share <= 1.0,
                key,
                share,
                "it must be above 0 and at most 1",
                &format!("the usual value is {usual}"),
            )?;
        }
        let period = self.period(leaf.rate);
        checked_update(at, period, "ten packets of the link")?;
        let law = Dred {
            target,
            no_drop,
            gain: self.alpha / room,
            beta: self.beta,
            max_p: self.max_p,
        };
        Ok(ByChance::new(Sampled { law, period }, self.ecn))
    }
}

/// The law of DRED.
#[derive(Clone, Debug)]
pub(crate) struct Dred {
    target: f64,
    no_drop: f64,
    /// alpha / B.
    gain: f64,
    beta: f64,
    max_p: f64,
}

/// What it keeps of one queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DredState {
    /// The filtered error in packets.
    error: f64,
    probability: f64,
}

impl Sampler for Dred {
    type State = DredState;

    fn new_state(&self) -> DredState {
        DredState {
            error: 0.0,
            probability: 0.0,
        }
    }

    fn sample(&self, s: &mut DredState, queue: &Backlog) {
        let error = f64::from(queue.packets) - self.target;
        s.error = (1.0 - self.beta) * s.error + self.beta * error;
        s.probability = (s.probability + self.gain * s.error).clamp(0.0, self.max_p);
    }

    #[inline]
    fn probability(&self, s: &DredState, queue: &Backlog) -> f64 {
        match f64::from(queue.packets) < self.no_drop {
            true => 0.0,
            false => s.probability,
        }
    }

    fn goes_by(&self, s: &DredState) -> GoesBy {
        GoesBy::plain(
            "error",
            "the queue was {} above its target of {} by the filter",
        )
        .and("error", s.error, FactUnit::Packets)
        .and("target", self.target, FactUnit::Packets)
    }

    fn shows(&self, s: &DredState) -> State {
        vec![("drop_probability", s.probability)]
    }
}

#[cfg(test)]
#[path = "dred_tests.rs"]
mod tests;
