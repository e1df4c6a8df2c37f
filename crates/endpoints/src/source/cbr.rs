//! Constant bit rate.
//!
//! Packet k has its place in a grid: the first at `start + phase`, each
//! following one after the time that its predecessor takes at the rate. The
//! remainder of the division is carried, so the grid is that of exact
//! arithmetic, rounded down to a picosecond, after any number of packets.
//!
//! Jitter moves a packet from its place, uniformly to both sides, and does not
//! move the grid. With unequal sizes the shorter of the two neighboring gaps
//! counts: packets keep their order, and the mean displacement is zero. No
//! packet is sent before the start.

use spillgate_core::{Dur, Percent, Rate, Rng, Time, time::PS_PER_SEC};

use super::arrivals::paced;
use super::size::Sizes;
use super::spec::CbrSpec;
use super::{Emission, Envelope, Model, Occupied};
use spillgate_core::Problem;
use spillgate_core::curve::{Curve, NoBound};

/// Exact transmission times at one rate, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    rate: Rate,
    /// Left over from the divisions so far, below `rate`, in units of 1 ps / rate.
    remainder: u64,
}

impl Grid {
    pub(super) fn new(rate: Rate) -> Self {
        Self { rate, remainder: 0 }
    }

    /// The time of `len` bytes; the sum over all calls is exact to below 1 ps.
    #[inline]
    pub(super) fn step(&mut self, len: u16) -> Dur {
        // At most 65535 * 8e12 + rate: below 2^60 plus a rate below 2^63, so
        // only an absurd rate saturates, and then the gap is no time at all.
        let owed = (u64::from(len) * (8 * PS_PER_SEC)).saturating_add(self.remainder);
        self.remainder = owed % self.rate.bps();
        Dur::from_ps(owed / self.rate.bps())
    }
}

#[derive(Clone, Debug)]
pub(super) struct Cbr {
    grid: Grid,
    sizes: Sizes,
    /// Place of the next packet in the grid; none once time is exhausted.
    place: Option<Time>,
    start: Time,
    /// The gap before `place`.
    before: Dur,
    /// Share of the gap in units of 2^-32, at most one half.
    jitter: u32,
    /// Over which the first packet's place is still to be drawn.
    phase: Option<Dur>,
}

impl Model for Cbr {
    type Spec = CbrSpec;

    fn new(spec: &CbrSpec, start: Time) -> Self {
        let (sizes, mean) = Sizes::new(&spec.packet);
        let phase = match spec.phase {
            Some(_) => None,
            None => Some(mean_gap(mean, spec.rate)),
        };
        Self {
            grid: Grid::new(spec.rate),
            sizes,
            place: later(start, spec.phase.unwrap_or(Dur::ZERO)),
            start,
            before: Dur::MAX,
            jitter: jitter_share(spec.jitter),
            phase,
        }
    }

    #[inline]
    fn next(&mut self, rng: &mut Rng) -> Option<Emission> {
        if let Some(over) = self.phase.take() {
            let first = Dur::from_ps((over.as_ps() as f64 * rng.f64()) as u64);
            self.place = later(self.start, first);
        }
        let place = self.place?;
        let len = self.sizes.draw(rng);
        let after = self.grid.step(len);
        self.place = later(place, after);
        let at = shifted(place, self.before.min(after), self.jitter, rng)?.max(self.start);
        self.before = after;
        Some(Emission { at, len })
    }

    fn mean_rate(spec: &CbrSpec) -> f64 {
        spec.rate.bps() as f64
    }

    fn envelope(spec: &CbrSpec) -> Envelope {
        // Sizes may be drawn: on an even grid of packets the bits then are random.
        Envelope::random(Self::mean_rate(spec), Self::longest(spec))
    }

    fn arrivals(spec: &CbrSpec, occupied: Occupied<'_>) -> Option<Result<Curve, NoBound>> {
        let lengths = Self::shortest(spec)..=Self::longest(spec);
        Some(paced(
            spec.rate,
            lengths,
            jitter_share(spec.jitter),
            occupied,
        ))
    }

    fn longest(spec: &CbrSpec) -> u16 {
        Sizes::new(&spec.packet).0.longest()
    }

    fn usually_longest(spec: &CbrSpec) -> u16 {
        Sizes::new(&spec.packet).0.usually_longest()
    }

    fn shortest(spec: &CbrSpec) -> u16 {
        Sizes::new(&spec.packet).0.shortest()
    }

    fn check(spec: &CbrSpec) -> Result<(), Problem> {
        spec.packet.check().map_err(|p| p.under("packet"))?;
        check_jitter(spec.jitter)
    }
}

/// Refuses a jitter by which packets could overtake each other.
pub(super) fn check_jitter(jitter: Percent) -> Result<(), Problem> {
    if (0.0..=0.5).contains(&jitter.0) {
        return Ok(());
    }
    Err(Problem::new(
        "jitter",
        jitter,
        "it is above 50 % of the gap, so packets could overtake each other",
        "write a percentage from 0 % to 50 %",
    ))
}

/// A jitter in units of 2^-32 of the gap, at most one half.
pub(super) fn jitter_share(jitter: Percent) -> u32 {
    (jitter.0.clamp(0.0, 0.5) * 4_294_967_296.0) as u32
}

/// `place` moved uniformly by up to the share `jitter` of `gap` to both sides; none beyond the
/// last instant. No draw without jitter.
#[inline]
pub(super) fn shifted(place: Time, gap: Dur, jitter: u32, rng: &mut Rng) -> Option<Time> {
    if jitter == 0 {
        return Some(place);
    }
    // Whole picoseconds throughout: two halves of a gap never exceed it.
    let reach = ((u128::from(gap.as_ps()) * u128::from(jitter)) >> 32) as u64;
    let shift = ((u128::from(rng.u64()) * u128::from(2 * reach + 1)) >> 64) as u64;
    let at = place.as_ps().checked_add(shift)?.saturating_sub(reach);
    Some(Time::from_ps(at))
}

/// `mean` bytes at `rate`, at least a picosecond.
pub(super) fn mean_gap(mean: f64, rate: Rate) -> Dur {
    Dur::from_ps(((mean * 8.0 * PS_PER_SEC as f64 / rate.bps() as f64) as u64).max(1))
}

/// `t + d`, none beyond the last instant.
#[inline]
pub(super) fn later(t: Time, d: Dur) -> Option<Time> {
    t.as_ps().checked_add(d.as_ps()).map(Time::from_ps)
}
