//! Slotted Bernoulli arrivals: time is cut into slots in which a line sends one packet, and in each
//! slot there is a packet with a probability that does not depend on other slots.
//!
//! Slot k begins at exactly `start + 8 k packet / line`, rounded down to a picosecond, so sources
//! with one line, one size and one start have the same slots. The number of empty slots before a
//! packet is drawn at once: it is geometric.

use spillgate_core::{Rng, Time, math, time::PS_PER_SEC};

use super::arrivals::paced;
use super::spec::{BernoulliSpec, check_size, size_in_range};
use super::{Emission, Envelope, Model, Occupied};
use spillgate_core::Problem;
use spillgate_core::curve::{Curve, NoBound};

#[derive(Clone, Debug)]
pub(super) struct Bernoulli {
    start: Time,
    len: u16,
    /// In bits per second.
    line: u64,
    /// The natural logarithm of the probability that a slot is empty.
    empty: f64,
    /// The next slot that may have a packet.
    slot: u64,
}

/// ln(1 - p), within 1e-8 of its value.
fn ln_of_rest(p: f64) -> f64 {
    if p < 1e-8 { -p } else { math::ln(1.0 - p) }
}

/// A probability.
fn load(spec: &BernoulliSpec) -> f64 {
    match spec.load.0 {
        p if p > 0.0 => p.min(1.0),
        _ => 0.0,
    }
}

impl Bernoulli {
    /// Empty slots before the next packet: P(k or more) = (1 - p)^k, of an exponential variate
    /// rounded down.
    #[inline]
    fn gap(&self, rng: &mut Rng) -> u64 {
        if self.empty == f64::NEG_INFINITY {
            return 0;
        }
        // A conversion saturates where no time is left.
        (rng.exponential(1.0) / -self.empty) as u64
    }
}

impl Model for Bernoulli {
    type Spec = BernoulliSpec;

    fn new(spec: &BernoulliSpec, start: Time) -> Self {
        Self {
            start,
            len: size_in_range(spec.packet),
            line: spec.line.bps(),
            empty: ln_of_rest(load(spec)),
            slot: 0,
        }
    }

    #[inline]
    fn next(&mut self, rng: &mut Rng) -> Option<Emission> {
        let slot = self.slot.saturating_add(self.gap(rng));
        self.slot = slot.saturating_add(1);
        if self.slot == u64::MAX {
            return None;
        }
        let per_slot = u128::from(self.len) * u128::from(8 * PS_PER_SEC);
        let after = u128::from(slot).checked_mul(per_slot)? / u128::from(self.line);
        let at = self.start.as_ps().checked_add(u64::try_from(after).ok()?)?;
        Some(Emission {
            at: Time::from_ps(at),
            len: self.len,
        })
    }

    fn mean_rate(spec: &BernoulliSpec) -> f64 {
        spec.line.bps() as f64 * load(spec)
    }

    fn envelope(spec: &BernoulliSpec) -> Envelope {
        let random = Envelope::random(Self::mean_rate(spec), size_in_range(spec.packet));
        let line = spec.line.bps() as f64;
        // It never exceeds the line.
        match random.rate < line {
            true => random,
            false => Envelope::even(line, size_in_range(spec.packet)),
        }
    }

    /// A packet in each slot.
    fn arrivals(spec: &BernoulliSpec, occupied: Occupied<'_>) -> Option<Result<Curve, NoBound>> {
        let len = size_in_range(spec.packet);
        Some(paced(spec.line, len..=len, 0, occupied))
    }

    fn longest(spec: &BernoulliSpec) -> u16 {
        size_in_range(spec.packet)
    }

    fn shortest(spec: &BernoulliSpec) -> u16 {
        size_in_range(spec.packet)
    }

    fn check(spec: &BernoulliSpec) -> Result<(), Problem> {
        check_size("packet", spec.packet)?;
        if spec.load.0 > 0.0 && spec.load.0 <= 1.0 {
            return Ok(());
        }
        Err(Problem::new(
            "load",
            spec.load,
            "it is the probability that a slot has a packet",
            "write a percentage above 0 % and up to 100 %",
        ))
    }
}
