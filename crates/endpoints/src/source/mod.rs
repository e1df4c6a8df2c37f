//! Open-loop sources.
//!
//! A source is an iterator over [`Emission`]s that draws from the one random
//! stream it is handed, so two policies under one seed see the same arrivals.
//! Rates count IP packets. All times are picoseconds, and constant bit rates
//! carry the remainder of their division: no rounding accumulates.
//!
//! Every kind is one line of the registry: its spec variant, its
//! kind string, its state machine and its summary.

mod arrivals;
mod backlogged;
mod bernoulli;
mod cbr;
mod codec;
mod imix;
mod mmpp;
mod onoff;
mod poisson;
mod registry;
mod size;
pub mod spec;
mod split;
mod video;
mod voip;
mod wire;

use spillgate_core::curve::{Curve, NoBound};
use spillgate_core::{Problem, Rng, Time};

pub use arrivals::Occupied;
pub use codec::CODECS;
pub use imix::MIXES;
pub use registry::Source;
pub use split::{Shares, Split};

/// A packet that a source sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emission {
    /// When, never before the previous emission of the same source.
    pub at: Time,
    /// Length of the IP packet in bytes.
    pub len: u16,
}

/// What a source hardly ever exceeds: in any time `w`, `rate * w + burst` bits.
///
/// Of random arrivals it is no bound, but with a mean of `m` packets more than `2 m + 20` of a
/// Poisson process come less than once in 10,000 times, whatever `m` is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Envelope {
    /// In bits per second.
    pub rate: f64,
    /// In bits.
    pub burst: f64,
}

impl Envelope {
    /// Of packets of up to `longest` bytes that come evenly.
    fn even(rate: f64, longest: u16) -> Self {
        let burst = 2.0 * 8.0 * f64::from(longest);
        Self { rate, burst }
    }

    /// Of packets of up to `longest` bytes that come at random.
    fn random(rate: f64, longest: u16) -> Self {
        let burst = 20.0 * 8.0 * f64::from(longest);
        Self {
            rate: 2.0 * rate,
            burst,
        }
    }
}

/// What every kind of source implements.
trait Model: Sized {
    /// Its parameters.
    type Spec;
    /// A source that begins at `start`.
    fn new(spec: &Self::Spec, start: Time) -> Self;
    /// The next packet; none once simulated time is exhausted.
    fn next(&mut self, rng: &mut Rng) -> Option<Emission>;
    /// Long-run mean in bits per second.
    fn mean_rate(spec: &Self::Spec) -> f64;
    /// What it hardly ever exceeds.
    fn envelope(spec: &Self::Spec) -> Envelope;
    /// What it never exceeds, in the bytes that its packets occupy on a link; by default nothing is
    /// known, as of random arrivals.
    fn arrivals(_: &Self::Spec, _: Occupied<'_>) -> Option<Result<Curve, NoBound>> {
        None
    }
    /// The longest packet that it may send, in bytes.
    fn longest(spec: &Self::Spec) -> u16;
    /// What at most one of 10,000 packets is longer than, in bytes: not above [`Model::longest`].
    fn usually_longest(spec: &Self::Spec) -> u16 {
        Self::longest(spec)
    }
    /// No packet is shorter, in bytes.
    fn shortest(_: &Self::Spec) -> u16 {
        spec::MIN_PACKET
    }
    /// Checks the ranges that the types do not.
    fn check(spec: &Self::Spec) -> Result<(), Problem>;
}
