//! PI, the proportional integral controller.
//!
//! Source: C. V. Hollot, V. Misra, D. Towsley, W. Gong, "On Designing Improved Controllers for AQM
//! Routers Supporting TCP Flows", IEEE INFOCOM 2001; ns-2.35, queue/pi.cc.
//!
//! Idea: an integrator holds the queue at a length that one chooses, whatever the load: the
//! probability stays only while the queue is that long. At each sample p <- p + a (q - q_ref) - b
//! (q_old - q_ref), within 0 and 1.
//!
//! Deviations: the defaults are the paper's for 15 Mb/s (3750 packets of 500 B a second), 60
//! connections and 246 ms, at 160 samples a second; ns-2 takes 170 with the same gains. q_old
//! begins with 0, as in ns-2: nothing was queued before. Cost: O(1) for each packet and sample, one
//! draw while p is above 0.

use spillgate_core::{Dur, Limit, Problem, Rate, Size};

use super::chance::ByChance;
use super::sampled::{Sampled, Sampler};
use super::{Backlog, LeafFacts};
use crate::Thresholds;
use crate::evidence::{FactUnit, GoesBy};
use crate::recipe::At;
use crate::stats::State;

spillgate_core::spec! {
    /// Parameters of PI.
    pub struct PiSpec {
        /// The length of the queue that is aimed at, in packets (q_ref). Default 50 (ns-2).
        pub target: f64 = 50.0,
        /// Gain of a sample for each packet above `target` (a). Default 1.822e-5 (the paper).
        pub a: f64 = 1.822e-5,
        /// Gain of the sample before (b), below `a`. Default 1.816e-5 (the paper).
        pub b: f64 = 1.816e-5,
        /// Time between samples, 10 us to 10 s. Default 6.25 ms: 160 a second (the paper).
        pub update: Dur = Dur::from_us(6250),
        /// Take as length the waiting bytes divided by this. Default: packets are counted.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub mean_packet: Option<Size> = None,
        /// Mark ECN-capable packets instead of dropping them. Default false.
        pub ecn: bool = false,
    }
}

/// The time between samples of a law, checked.
pub(super) fn checked_update(at: &At<'_>, update: Dur, usual: &str) -> Result<(), Problem> {
    at.check(
        (Dur::from_us(10)..=Dur::from_secs(10)).contains(&update),
        "update",
        update,
        "the time between samples must be from 10 us to 10 s",
        &format!("the usual value is {usual}"),
    )
}

/// A gain, which is finite and above 0.
pub(super) fn checked_gain(at: &At<'_>, key: &str, gain: f64, usual: &str) -> Result<(), Problem> {
    at.check(
        gain.is_finite() && gain > 0.0,
        key,
        gain,
        "a gain must be a finite number above 0",
        &format!("the usual value is {usual}"),
    )
}

/// Warns of a length to aim at that the queue never has.
pub(super) fn warn_of_target(at: &mut At<'_>, target: f64, leaf: &LeafFacts) {
    if leaf
        .max_packets
        .is_some_and(|most| target >= f64::from(most))
    {
        at.warn(format_args!(
            "the target of {target} packets is not below the limit of the queue: only the limit drops"
        ));
    }
}

impl PiSpec {
    /// None on an average.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<Thresholds> {
        Vec::new()
    }

    pub(super) fn resolve(
        &self,
        at: &mut At<'_>,
        leaf: &LeafFacts,
    ) -> Result<ByChance<Sampled<Pi>>, Problem> {
        at.check(
            self.target.is_finite() && self.target >= 0.0,
            "target",
            self.target,
            "a length of the queue is a finite number, at least 0",
            "the usual value is 50",
        )?;
        checked_gain(at, "a", self.a, "1.822e-5")?;
        checked_gain(at, "b", self.b, "1.816e-5")?;
        at.check(
            self.a > self.b,
            "b",
            self.b,
            &format!(
                "it must be below `a`, {}: else a queue above the target lowers the probability (Hollot and others 2001)",
                self.a
            ),
            "the usual values are 1.822e-5 and 1.816e-5",
        )?;
        checked_update(at, self.update, "6.25 ms")?;
        if let Some(size) = self.mean_packet {
            at.packet("mean_packet", size)?;
        }
        warn_of_target(at, self.target, leaf);
        let law = Pi {
            target: self.target,
            a: self.a,
            b: self.b,
            mean_packet: self.mean_packet.map(|size| size.0 as f64),
        };
        let period = self.update;
        Ok(ByChance::new(Sampled { law, period }, self.ecn))
    }
}

/// The law of PI.
#[derive(Clone, Debug)]
pub(crate) struct Pi {
    target: f64,
    a: f64,
    b: f64,
    mean_packet: Option<f64>,
}

/// What it keeps of one queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PiState {
    probability: f64,
    /// The length at the last sample in packets.
    length: f64,
}

impl Sampler for Pi {
    type State = PiState;

    fn new_state(&self) -> PiState {
        PiState {
            probability: 0.0,
            length: 0.0,
        }
    }

    fn sample(&self, s: &mut PiState, queue: &Backlog) {
        let length = match self.mean_packet {
            None => f64::from(queue.packets),
            Some(bytes) => queue.bytes as f64 / bytes,
        };
        let step = self.a * (length - self.target) - self.b * (s.length - self.target);
        s.probability = (s.probability + step).clamp(0.0, 1.0);
        s.length = length;
    }

    #[inline]
    fn probability(&self, s: &PiState, _: &Backlog) -> f64 {
        s.probability
    }

    fn goes_by(&self, s: &PiState) -> GoesBy {
        GoesBy::plain("length", "{} waited at the last sample (target {})")
            .and("length", s.length, FactUnit::Packets)
            .and("target", self.target, FactUnit::Packets)
    }

    fn shows(&self, s: &PiState) -> State {
        vec![("drop_probability", s.probability)]
    }
}

#[cfg(test)]
#[path = "pi_tests.rs"]
mod tests;
