//! The least concave curve above what was counted: found by its tangents, steep ones first.
//!
//! The least line of a slope above all that was counted touches it at some point. Between two such
//! points, the line of the slope of their chord touches it at a third, or there is none above the
//! chord (the sandwich algorithm; G. Rote, "The convergence rate of the sandwich algorithm for
//! approximating convex functions", Computing 48, 1992). Each line is a bound by itself, so it may
//! end after any of them.

use std::collections::VecDeque;

use super::exact::{ceil, floor, ratio};
use super::{Checked, Curve, Exact, NoBound, Piece, UNITS, mul, whole};

/// Slopes are whole multiples of a b/s over this, so that sums keep one denominator.
const GRAIN: i128 = 1024;

/// A slope in parts of a b/s: 1024 of them are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slope(i128);

impl Slope {
    /// The least slope that is not below `value / ps`, a value of a curve over a time in ps.
    ///
    /// # Errors
    /// If it is too large, or there is no time.
    pub fn above(value: i128, ps: i128) -> Checked<Self> {
        let fine = value.checked_mul(GRAIN).filter(|_| ps > 0);
        let fine = fine.ok_or(NoBound::Overflow)?;
        let up = fine.rem_euclid(ps) != 0;
        Ok(Self(fine.div_euclid(ps) + i128::from(up)))
    }

    /// The largest slope that is not above `value / ps`.
    ///
    /// # Errors
    /// If it is too large, or there is no time.
    pub fn below(value: i128, ps: i128) -> Checked<Self> {
        let fine = value.checked_mul(GRAIN).filter(|_| ps > 0);
        Ok(Self(fine.ok_or(NoBound::Overflow)?.div_euclid(ps)))
    }

    /// So many b/s.
    pub fn bps(bps: u64) -> Self {
        Self(i128::from(bps) * GRAIN)
    }

    /// So much less; at least nothing.
    #[must_use]
    pub fn less(self, by: Self) -> Self {
        Self((self.0 - by.0).max(0))
    }

    /// In b/s.
    pub fn exact(self) -> Exact {
        ratio(self.0, GRAIN)
    }

    /// What it makes of a time in ps, in parts of a value: 1024 of them are one. What is too large
    /// stays at the largest number, from where no curve can be made.
    #[inline]
    pub fn over(self, ps: u64) -> i128 {
        self.0.saturating_mul(ps.into())
    }

    /// So many bytes in parts of a value.
    #[inline]
    pub fn bytes(n: u64) -> i128 {
        i128::from(n) * (UNITS * GRAIN)
    }
}

/// The least line of a slope above what was counted.
#[derive(Clone, Copy, Debug)]
pub struct Tangent {
    /// Its value at 0, in parts of a value ([`Slope::bytes`]).
    pub burst: i128,
    /// Where it touches, in ps.
    pub at: u64,
}

/// A point that a line touches, in ps and parts of a value.
type Point = (u64, i128);

impl Curve {
    /// The least concave curve, of at most `most` lines, above what was counted: `at_once` in parts
    /// of a value ([`Slope::bytes`]) at one time, in the end no more than at the slope `last`, and
    /// no more than each line that `tangent` finds.
    ///
    /// # Errors
    /// If a number is too large.
    pub fn hull(
        at_once: i128,
        last: Slope,
        most: usize,
        mut tangent: impl FnMut(Slope) -> Tangent,
    ) -> Checked<Self> {
        let mut lines = Vec::new();
        let mut touch = |slope: Slope, lines: &mut Vec<(Slope, i128)>| -> Point {
            let Tangent { burst, at } = tangent(slope);
            lines.push((slope, burst));
            (at, burst.saturating_add(slope.over(at)))
        };
        let end = touch(last, &mut lines);
        let mut open = VecDeque::from([((0, at_once), end)]);
        while let Some((from, to)) = open.pop_front().filter(|_| lines.len() < most) {
            let Some(time) = to.0.checked_sub(from.0).filter(|t| *t > 0) else {
                continue;
            };
            let rise = to.1.saturating_sub(from.1);
            let up = rise.rem_euclid(time.into()) != 0;
            let slope = Slope(rise.div_euclid(time.into()) + i128::from(up));
            if slope <= last {
                continue;
            }
            let found = touch(slope, &mut lines);
            if from.0 < found.0 && found.0 < to.0 {
                open.extend([(from, found), (found, to)]);
            }
        }
        lowest(lines)
    }
}

/// The lowest of some lines at each time; each begins up to a picosecond too soon, where it is not
/// yet the lowest, so that no number is longer than those of the lines.
fn lowest(mut lines: Vec<(Slope, i128)>) -> Checked<Curve> {
    // The steepest one, which is the lowest at first, comes first.
    lines.sort_unstable_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    lines.dedup_by_key(|(slope, _)| *slope);
    let mut kept: Vec<(u64, Slope, i128)> = Vec::new();
    for (slope, burst) in lines {
        let mut from = 0;
        while let Some((begin, steeper, low)) = kept.last() {
            let at = |slope: &Slope, burst: i128| burst.saturating_add(slope.over(*begin));
            let gap = at(&slope, burst) - at(steeper, *low);
            if gap > 0 {
                let after = u64::try_from(gap / (steeper.0 - slope.0));
                from = begin + after.map_err(|_| NoBound::Overflow)?;
                break;
            }
            // Below it from its beginning on.
            from = *begin;
            kept.pop();
        }
        if kept.last().is_some_and(|(begin, ..)| *begin == from) {
            kept.pop();
        }
        kept.push((from, slope, burst));
    }
    let piece = |(from, slope, burst): &(u64, Slope, i128)| Piece {
        from: Exact::from_integer(i128::from(*from)),
        value: ratio(burst.saturating_add(slope.over(*from)), GRAIN),
        slope: slope.exact(),
    };
    Curve::new(&kept.iter().map(piece).collect::<Vec<_>>())
}

/// The least whole multiple of 1 / [`GRAIN`] that is not below `a`.
fn up(a: Exact) -> Checked<Exact> {
    Ok(ratio(ceil(mul(a, whole(GRAIN))?)?, GRAIN))
}

impl Curve {
    /// A curve that is nowhere below this one and whose numbers are short: it turns at whole
    /// picoseconds, and rises by whole parts of a b/s. Sums of many such curves do not overflow.
    ///
    /// # Errors
    /// If a number is too large.
    pub fn rounded_up(&self) -> Checked<Self> {
        let mut pieces: Vec<Piece> = Vec::new();
        for p in &self.pieces {
            let (from, slope) = (floor(p.from), up(p.slope)?);
            let mut value = up(p.value)?;
            while let Some(last) = pieces.last() {
                value = value.max(last.at(from)?);
                if last.from < from {
                    break;
                }
                pieces.pop();
            }
            pieces.push(Piece { from, value, slope });
        }
        Self::new(&pieces)
    }
}
