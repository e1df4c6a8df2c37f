//! Adaptive RIO: RIO whose thresholds for packets out of profile follow the load.
//!
//! Source: C.-H. Chien, W. Liao, "A Self-Configuring RED Gateway for Quality of Service (QoS)
//! Networks", ICME 2003, with its table 1 as defaults.
//!
//! Idea: while assured flows are idle, best effort may use the queue, and so the link; when they
//! come back it must give way. The arrival rate A of all packets, in a sliding window, is compared
//! with a reference C' every `update`: if A is above it and grows, `max_th` of packets out falls by
//! a step and C' rises; if A is below it and falls, or no packet in profile has come for a while,
//! the other way round. `min_th` is a part of `max_th`.
//!
//! Deviations: what the paper leaves open. Updates happen at arrivals, the packet being judged
//! before; C' begins at its lower end, `max_th` at its lower one (the most protective); A counts
//! packets that are dropped, too; the margin is a part of the present C'; assured flows are absent
//! until the first of their packets. Cost: that of RIO, and one division for each packet.

use spillgate_core::{Dscp, Dur, Limit, Packet, Problem, Rate, Time, Verdict};

use super::LeafFacts;
use super::curve::RedCurve;
use super::early::{Early, Law, early_spec};
use super::rio::{Profile, RioMode, RioSpec, TwoColors};
use crate::Thresholds;
use crate::condition::SlidingRate;
use crate::recipe::At;
use crate::stats::State;

early_spec! {
    /// Parameters of adaptive RIO.
    pub struct AdaptiveRioSpec {
        /// The DSCPs of packets that are in profile; all others are out. Default AF11, AF21, AF31
        /// and AF41.
        pub profile: Vec<Dscp> = RioSpec::default().profile,
        /// Thresholds for packets that are in, by the average of these. Default 40, 70, 0.02.
        #[serde(rename = "in")]
        pub within: RedCurve = RioSpec::default().within,
        /// The least `max_th` of packets out, in packets; it begins there. Default 30.
        pub max_th_low: f64 = 30.0,
        /// The largest `max_th` of packets out, in packets. Default 70.
        pub max_th_high: f64 = 70.0,
        /// Drop probability of packets out at their `max_th`. Default 0.5.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub max_p: f64 = 0.5,
        /// How many times `min_th` of packets out their `max_th` is (alpha). Default 3.
        pub alpha: f64 = 3.0,
        /// A step of `max_th` as a share of `max_th_high` (beta). Default 0.02.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub beta: f64 = 0.02,
        /// The least reference C' as a share of the rate (delta); it begins there. Default 0.9.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub delta: f64 = 0.9,
        /// A step of the reference as a share of the range that it has (omega): (1 - delta) of the
        /// rate. Default 0.002.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub omega: f64 = 0.002,
        /// By which share of itself the reference must be missed (epsilon). Default 0.025.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub epsilon: f64 = 0.025,
        /// The least time between two changes. Default 200 ms.
        pub update: Dur = Dur::from_ms(200),
        /// The window of the arrival rate. Default 5 s.
        pub window: Dur = Dur::from_secs(5),
        /// After how long without a packet in profile assured flows are absent. Default `window`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub absence: Option<Dur> = None,
        /// Weight of one sample in the averages. Default 0.002.
        #[schemars(range(min = 0.0, max = 1.0))]
        pub weight: f64 = 0.002,
    }
}

impl AdaptiveRioSpec {
    /// The RIO that it begins as.
    fn rio(&self) -> RioSpec {
        RioSpec {
            mode: RioMode::Coupled,
            profile: self.profile.clone(),
            within: self.within,
            out: self.out(self.max_th_low),
            weight: self.weight,
            gentle: false,
            ecn: self.ecn,
            mean_packet: self.mean_packet,
            idle: self.idle,
        }
    }

    /// The curve of packets out with this `max_th`.
    fn out(&self, max_th: f64) -> RedCurve {
        RedCurve {
            min_th: max_th / self.alpha,
            max_th,
            max_p: self.max_p,
        }
    }

    /// The thresholds to begin with.
    pub(super) fn thresholds(&self, limit: Limit, rate: Rate) -> Vec<Thresholds> {
        self.rio().thresholds(limit, rate)
    }

    pub(super) fn resolve(
        &self,
        at: &mut At<'_>,
        leaf: &LeafFacts,
    ) -> Result<Early<AdaptiveRio>, Problem> {
        at.check(
            self.alpha.is_finite() && self.alpha > 1.0,
            "alpha",
            self.alpha,
            "max_th must be more than min_th",
            "the usual value is 3",
        )?;
        at.check(
            self.max_th_low.is_finite() && self.max_th_low > 0.0,
            "max_th_low",
            self.max_th_low,
            "a threshold must be a finite number of packets above 0",
            "the usual value is max_th of a RIO for packets out",
        )?;
        at.check(
            self.max_th_high.is_finite() && self.max_th_high >= self.max_th_low,
            "max_th_high",
            self.max_th_high,
            &format!(
                "it must not be below max_th_low, which is {}",
                self.max_th_low
            ),
            "the usual value is in.max_th",
        )?;
        for (key, share) in [
            ("beta", self.beta),
            ("delta", self.delta),
            ("omega", self.omega),
            ("epsilon", self.epsilon),
        ] {
            at.check(
                (0.0..=1.0).contains(&share),
                key,
                share,
                "a share must be between 0 and 1",
                "leave it out for that of the paper",
            )?;
        }
        for (key, time) in [("update", self.update), ("window", self.window)] {
            at.check(
                time > Dur::ZERO,
                key,
                time,
                "a rate needs some time to be measured in",
                "leave it out for that of the paper",
            )?;
        }
        // It checks what they share, and warns of thresholds that are the wrong way round.
        let rio = self.rio().resolve(at, leaf)?;
        if self.within.max_th < self.max_th_high {
            at.warn(format!(
                "in.max_th of {} is below max_th_high of {}: where thresholds are highest, packets in profile are \
                 dropped first",
                self.within.max_th, self.max_th_high
            ));
        }
        let law = AdaptiveRio {
            profile: Profile::new(&self.profile),
            capacity: leaf.rate.bps() as f64,
            absence: self.absence.unwrap_or(self.window),
            spec: self.clone(),
        };
        Ok(Early::new(law, rio.averages, rio.gentle, rio.ecn))
    }
}

/// The law of adaptive RIO.
#[derive(Clone, Debug)]
pub(crate) struct AdaptiveRio {
    spec: AdaptiveRioSpec,
    profile: Profile,
    /// C in bits a second.
    capacity: f64,
    absence: Dur,
}

/// What follows the load.
#[derive(Clone, Debug)]
pub(crate) struct Control {
    /// `max_th` of packets out.
    max_th: f64,
    /// C' in bits a second.
    reference: f64,
    rate: SlidingRate,
    /// A of the last update, in bits a second.
    before: f64,
    updated: Time,
    /// When a packet in profile last came; none before the first, when assured flows are absent.
    assured: Option<Time>,
}

/// What an update does to the thresholds of packets out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Tighten,
    Relieve,
    Hold,
}

impl AdaptiveRio {
    /// One update, at the arrival rate `a` in bits a second.
    fn change(&self, c: &mut Control, now: Time, a: f64) -> Change {
        let s = &self.spec;
        let margin = s.epsilon * c.reference;
        let absent = |since: Time| now.since(since) > self.absence;
        let change = if c.assured.is_none_or(absent) {
            Change::Relieve
        } else if a > c.reference + margin && a > c.before {
            Change::Tighten
        } else if a < c.reference - margin && a < c.before {
            Change::Relieve
        } else {
            Change::Hold
        };
        let low = s.delta * self.capacity;
        let step = s.beta * s.max_th_high;
        let reference = s.omega * (self.capacity - low);
        let direction = match change {
            Change::Tighten => 1.0,
            Change::Relieve => -1.0,
            Change::Hold => 0.0,
        };
        c.max_th = (c.max_th - direction * step).clamp(s.max_th_low, s.max_th_high);
        c.reference = (c.reference + direction * reference).clamp(low, self.capacity);
        c.before = a;
        c.updated = now;
        change
    }

    /// Counts a packet, and updates if it is time.
    #[inline]
    fn follow(&self, c: &mut Control, now: Time, len: u32, within: bool) {
        let a = 8.0 * c.rate.arrive(now, len);
        if within {
            c.assured = Some(now);
        }
        if now.since(c.updated) >= self.spec.update {
            self.change(c, now, a);
        }
    }
}

impl Law for AdaptiveRio {
    type Vars = Control;
    type Averages = TwoColors;
    const TELLS_PRECEDENCES: bool = true;
    const CLASSES: bool = true;

    fn vars(&self) -> Control {
        Control {
            max_th: self.spec.max_th_low,
            reference: self.spec.delta * self.capacity,
            rate: SlidingRate::from_zero(self.spec.window),
            before: 0.0,
            updated: Time::ZERO,
            assured: None,
        }
    }

    #[inline]
    fn class(&self, packet: &Packet) -> usize {
        self.profile.class(packet)
    }

    #[inline]
    fn curve(&self, c: &Control, class: usize) -> RedCurve {
        match class {
            1 => self.spec.within,
            _ => self.spec.out(c.max_th),
        }
    }

    #[inline]
    fn judged(&self, c: &mut Control, now: Time, packet: &Packet, class: usize, _: Verdict) {
        self.follow(c, now, packet.len, class == 1);
    }

    fn state(&self, c: &Control) -> State {
        vec![
            ("adapted_max_th", c.max_th),
            ("adapted_reference", c.reference),
            ("adapted_arrival_rate", 8.0 * c.rate.average()),
        ]
    }
}

#[cfg(test)]
#[path = "adaptive_rio_tests.rs"]
mod tests;
