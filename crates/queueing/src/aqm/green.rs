//! GREEN, by the rate of arrivals.
//!
//! Source: B. Wydrowski, M. Zukerman, "GREEN: An Active Queue Management Algorithm for a Self
//! Managed Internet", ICC 2002, and "Implementation of Active Queue Management in a Combined Input
//! and Output Queued Switch", ICC 2003.
//!
//! Idea: the rate x at which packets arrive is estimated, and the drop probability rises while x is
//! above a target just below the rate of the link and falls while it is below, so that the queue is
//! short whatever the load.
//!
//! Equations, at a packet of b bytes after a gap D: x <- (1 - e^(-D/K)) b/D + e^(-D/K) x; P <- P +
//! dP sgn(x - uC), dP = max(|x - uC|, k), within 0 and 1.
//!
//! Deviations: the papers leave the unit of dP open. Here x - uC and k are shares of C, times
//! `gain`. With D = 0 the first term is its limit b/K. Behind the inputs of a switch x is the rate
//! at which the congestion measure is fed, output queue plus nu times what waits at the inputs: an
//! arrival there counts nu, and one at the output 1 - nu, since it has left there. Cost: O(1), an
//! exponential for each packet, one draw while P is above 0.

use spillgate_core::{Dur, Limit, Packet, Problem, Rate, Time};

use super::chance::{ByChance, Chooser, Chosen};
use super::{Backlog, Draw, LeafFacts, Upstream, UpstreamUse};
use crate::evidence::{FactUnit, GoesBy};
use crate::recipe::At;
use crate::stats::State;

spillgate_core::spec! {
    /// Parameters of GREEN.
    pub struct GreenSpec {
        /// The rate of arrivals that is aimed at, as a share of the link's (u), above 0 and at most
        /// 1. Default 0.97.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub utilization: f64 = 0.97,
        /// Time constant of the estimate of the rate (K). Default 100 ms.
        pub time_constant: Dur = Dur::from_ms(100),
        /// The probability changes at each packet by this times the distance of the rate from its
        /// target as a share of the link's rate. Default 0.0001.
        pub gain: f64 = 0.0001,
        /// The least distance that counts (k), as a share of the link's rate. Default 0.01.
        pub min_distance: f64 = 0.01,
        /// Mark ECN-capable packets instead of dropping them. Default false.
        pub ecn: bool = false,
    }
}

impl GreenSpec {
    /// None: it knows no queue.
    pub(super) fn thresholds(&self, _: Limit, _: Rate) -> Vec<crate::Thresholds> {
        Vec::new()
    }

    pub(super) fn resolve(
        &self,
        at: &mut At<'_>,
        leaf: &LeafFacts,
    ) -> Result<ByChance<Green>, Problem> {
        at.check(
            self.utilization > 0.0 && self.utilization <= 1.0,
            "utilization",
            self.utilization,
            "a share of the link's rate is above 0 and at most 1",
            "the usual value is 0.97",
        )?;
        at.check(
            !self.time_constant.is_zero(),
            "time_constant",
            self.time_constant,
            "a rate needs some time to be measured in",
            "the usual value is 100 ms",
        )?;
        at.check(
            self.gain.is_finite() && self.gain > 0.0,
            "gain",
            self.gain,
            "a gain must be a finite number above 0",
            "the usual value is 0.0001",
        )?;
        at.check(
            self.min_distance.is_finite() && self.min_distance >= 0.0,
            "min_distance",
            self.min_distance,
            "a distance must be a finite number, at least 0",
            "the usual value is 0.01",
        )?;
        let capacity = leaf.rate.bytes_per_sec();
        let green = Green {
            capacity,
            target: self.utilization * capacity,
            time_constant: self.time_constant.as_secs_f64(),
            gain: self.gain,
            min_distance: self.min_distance,
        };
        Ok(ByChance::new(green, self.ecn))
    }
}

/// A running GREEN.
#[derive(Clone, Debug)]
pub(crate) struct Green {
    /// C in bytes a second.
    capacity: f64,
    /// uC in bytes a second.
    target: f64,
    /// K in seconds.
    time_constant: f64,
    gain: f64,
    min_distance: f64,
}

/// The state of one queue under GREEN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Vars {
    /// x in bytes a second.
    rate: f64,
    probability: f64,
    /// When x was estimated last.
    last: Time,
}

const _: () = assert!(std::mem::size_of::<Vars>() <= 24);

impl Green {
    /// Counts so many bytes at `now`.
    #[inline]
    fn count(&self, v: &mut Vars, now: Time, bytes: f64) {
        let gap = now.since(v.last).as_secs_f64();
        v.last = now;
        if gap > 0.0 {
            let kept = spillgate_core::math::exp(-gap / self.time_constant);
            v.rate = (1.0 - kept) * bytes / gap + kept * v.rate;
        } else {
            v.rate += bytes / self.time_constant;
        }
    }

    /// One step of the probability.
    #[inline]
    fn step(&self, v: &mut Vars) {
        let distance = (v.rate - self.target) / self.capacity;
        let step = self.gain * distance.abs().max(self.min_distance);
        let signed = if distance < 0.0 { -step } else { step };
        v.probability = (v.probability + signed).clamp(0.0, 1.0);
    }
}

impl Chooser for Green {
    type Vars = Vars;

    fn vars(&self) -> Vars {
        Vars {
            rate: 0.0,
            probability: 0.0,
            last: Time::ZERO,
        }
    }

    fn state(&self, v: &Vars, _: Time) -> State {
        vec![
            ("drop_probability", v.probability),
            ("adapted_arrival_rate", 8.0 * v.rate),
        ]
    }

    #[inline]
    fn choose<D: Draw>(
        &self,
        v: &mut Vars,
        now: Time,
        backlog: &Backlog,
        packet: &Packet,
        _: &mut D,
    ) -> Chosen {
        let share = 1.0 - backlog.upstream.weight();
        self.count(v, now, share * f64::from(packet.len));
        self.step(v);
        Chosen::With(v.probability)
    }

    fn goes_by(&self, v: &Vars) -> GoesBy {
        GoesBy::plain("rate", "packets arrived at {} (target {})")
            .and("rate", 8.0 * v.rate, FactUnit::BitsPerSecond)
            .and("target", 8.0 * self.target, FactUnit::BitsPerSecond)
    }

    fn upstream_use(&self) -> UpstreamUse {
        UpstreamUse::Rate
    }

    fn upstream_arrival(&self, v: &mut Vars, now: Time, upstream: &Upstream, bytes: u32) {
        self.count(v, now, upstream.weight() * f64::from(bytes));
    }

    fn decides_by_packets(&self) -> bool {
        true
    }
}

#[cfg(test)]
#[path = "green_tests.rs"]
mod tests;
