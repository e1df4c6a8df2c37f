//! What servers whose rate varies send at least, in any time in which packets wait.
//!
//! The least service in any time is above each line m t - d, where d is the most by which what is
//! sent falls behind m in any time: the most that a bucket ever holds which fills at m and is
//! emptied by what can be sent (the dual of Le Boudec and Thiran, proposition 1.2.3). The largest
//! of these lines at each time is R t less the hull of what a line of the rate R does not send.

use spillgate_core::Rate;
use spillgate_core::curve::{Curve, NoBound, Slope, Tangent, UNITS};

/// Most lines of a curve.
const LINES: usize = 32;

/// A time in ps with what it can send: bits per second in it, and bytes at its end.
pub(super) type Stretch = (u64, u64, u64);

/// What these times, again and again if they are a `round`, send at least. The rate of the last one
/// holds for ever otherwise.
pub(super) fn least(stretches: &[Stretch], round: bool) -> Result<Curve, NoBound> {
    // The bits of all these times, and how long they are.
    let sum = stretches.iter().try_fold((0_i128, 0_i128), |sum, s| {
        let bits = i128::from(s.1).checked_mul(s.0.into())?;
        let bits = bits.checked_add(i128::from(s.2) * UNITS)?;
        Some((sum.0.checked_add(bits)?, sum.1 + i128::from(s.0)))
    });
    let (bits, time) = sum.ok_or(NoBound::Overflow)?;
    let mean = match (round, stretches.last()) {
        (false, Some(last)) => Slope::bps(last.1),
        _ => Slope::below(bits, time)?,
    };
    let fastest = stretches.iter().map(|s| s.1).max().unwrap_or(0);
    let up = u64::try_from(mean.exact().ceil().to_integer()).map_err(|_| NoBound::Overflow)?;
    let Some(rate) = Rate::from_bps(fastest.max(up)) else {
        return Ok(Curve::zero());
    };
    let top = Slope::bps(rate.bps());
    let rounds = if round { 2 } else { 1 };
    let lacks = Curve::hull(0, top.less(mean), LINES, |slope| {
        behind(stretches, rounds, top.less(slope))
    })?;
    Curve::rate(rate).left_over(&lacks)
}

/// By how much what is sent falls behind a slope at most.
fn behind(stretches: &[Stretch], rounds: usize, slope: Slope) -> Tangent {
    let (mut level, mut since, mut most) = (0_i128, 0, Tangent { burst: 0, at: 0 });
    for (time, bps, bytes) in std::iter::repeat_n(stretches, rounds).flatten() {
        level += slope.over(*time) - Slope::bps(*bps).over(*time);
        since += time;
        if level > most.burst {
            most = Tangent {
                burst: level,
                at: since,
            };
        }
        level -= Slope::bytes(*bytes);
        if level <= 0 {
            (level, since) = (0, 0);
        }
    }
    most
}
