//! What sources never exceed: their arrival curves on a link.

use spillgate_core::curve::{Curve, Exact, NoBound, UNITS};
use spillgate_core::{Dur, Rate, time::PS_PER_SEC};

/// The bytes that an IP packet of so many bytes occupies on the link.
pub type Occupied<'a> = &'a dyn Fn(u16) -> u32;

/// Of packets of `lengths` bytes, each followed by a gap of at least its length at `rate`; each may
/// be moved by up to `jitter` (in units of 2^-32) of the longest gap to both sides.
///
/// What comes in a time `w` is at most the last packet, and at `rate` those before it: their
/// lengths add up to at most `rate w`. Places that are not whole picoseconds are rounded down.
pub(super) fn paced(
    rate: Rate,
    lengths: std::ops::RangeInclusive<u16>,
    jitter: u32,
    occupied: Occupied<'_>,
) -> Result<Curve, NoBound> {
    let longest = *lengths.end();
    let (work, bps) = (u64::from(longest) * (8 * PS_PER_SEC), rate.bps());
    let rounds = lengths.start() != lengths.end() || work % bps != 0;
    // The packet that a link lengthens most.
    let share = |len: u16| Exact::new(occupied(len).into(), len.max(1).into());
    let most = lengths
        .clone()
        .map(share)
        .max()
        .unwrap_or_else(|| share(longest));
    let rate = Exact::new(i128::from(rate.bps()) * most.numer(), *most.denom());
    let burst = lengths.map(occupied).max().unwrap_or_default();
    late(burst, rate, work.div_ceil(bps), jitter, rounds)
}

/// Of at most one packet in each `period`, moved by up to `jitter` (in units of 2^-32) of it.
pub(super) fn periodic(longest: u32, period: Dur, jitter: u32) -> Result<Curve, NoBound> {
    let gap = period.as_ps();
    late(
        longest,
        Exact::new(UNITS * i128::from(longest), gap.into()),
        gap,
        jitter,
        false,
    )
}

fn late(burst: u32, slope: Exact, gap: u64, jitter: u32, rounds: bool) -> Result<Curve, NoBound> {
    let even = Curve::line(Exact::from_integer(UNITS * i128::from(burst)), slope);
    let reach = (u128::from(gap) * u128::from(jitter)) >> 32;
    let apart = u64::try_from(2 * reach + u128::from(rounds)).map_err(|_| NoBound::Overflow)?;
    even.jittered(Dur::from_ps(apart))
}
