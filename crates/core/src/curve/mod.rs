//! Curves of network calculus: how much may come, or will be served, in any time.
//!
//! Source: J.-Y. Le Boudec and P. Thiran, "Network Calculus", Springer LNCS 2050, 2001, chapters 1
//! and 3; piecewise-linear algorithms as in A. Bouillard and E. Thierry, "An Algorithmic Toolbox
//! for Network Calculus", Discrete Event Dynamic Systems 18, 2008, for curves that end in a line.
//!
//! A curve is wide-sense increasing, piecewise linear, and ends in a line. It is 0 at 0 and
//! continuous from the left, as the book has it: a token bucket is 0 at 0, its burst right after.
//! Time is in picoseconds, a slope in bits per second, so a value is in bits per second times
//! picoseconds ([`UNITS`] to a byte) and all numbers that a user gives are integers.
//!
//! Numbers are exact ratios of 128-bit integers. What exceeds them is [`NoBound::Overflow`], never
//! a wrong number; a result in whole picoseconds or bytes is rounded up.
//!
//! Cost: O(n m) segments and O((n m)²) for convolution and deconvolution of n by m pieces, O(n + m)
//! pieces and O((n + m)²) for all else.

mod compose;
mod deviation;
mod envelope;
mod exact;
mod hull;

use std::fmt;

use num_traits::Zero;

use crate::time::PS_PER_SEC;
use crate::{Dur, Rate};
pub use compose::time_of;
use envelope::{Side, between, envelope};
pub use exact::Exact;
use exact::{add, div, mul, sub, whole};
pub use hull::{Slope, Tangent};

/// What a byte counts as a value: bits per second times picoseconds.
pub const UNITS: i128 = 8 * PS_PER_SEC as i128;

/// Why there is no bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoBound {
    /// The exact result does not fit into 128 bits.
    Overflow,
    /// There is none: more comes than is served.
    Unbounded,
    /// A piece lies below the one before it, or begins before it, or falls.
    Decreasing,
}

impl fmt::Display for NoBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Overflow => "its exact value does not fit into 128 bits",
            Self::Unbounded => "more may come than is served",
            Self::Decreasing => "a curve must not fall",
        })
    }
}

impl std::error::Error for NoBound {}

type Checked<T> = Result<T, NoBound>;

fn bytes(n: u64) -> Exact {
    // 2^64 times 2^43.
    whole(i128::from(n) * UNITS)
}

/// A line from right after `from` to the beginning of the next piece, which it includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it begins, in ps.
    pub from: Exact,
    /// The value right after `from`.
    pub value: Exact,
    /// Its slope, in b/s.
    pub slope: Exact,
}

impl Piece {
    fn at(&self, t: Exact) -> Checked<Exact> {
        if t == self.from || self.slope.is_zero() {
            return Ok(self.value);
        }
        add(self.value, mul(self.slope, sub(t, self.from)?)?)
    }
}

/// A wide-sense increasing piecewise-linear curve that ends in a line; see the [module](self).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// At least one; the first begins at 0.
    pieces: Vec<Piece>,
}

impl Curve {
    /// The curve of these pieces, by time; before the first it is 0.
    ///
    /// # Errors
    /// If the curve would fall, or its numbers are too large.
    pub fn new(pieces: &[Piece]) -> Checked<Self> {
        let mut curve = Self { pieces: Vec::new() };
        if pieces.first().is_none_or(|p| p.from > Exact::zero()) {
            curve.pieces.push(Piece {
                from: Exact::zero(),
                value: Exact::zero(),
                slope: Exact::zero(),
            });
        }
        let mut last: Option<&Piece> = None;
        for piece in pieces {
            let (after, above) = match last {
                Some(before) => (piece.from > before.from, before.at(piece.from)?),
                None => (piece.from >= Exact::zero(), Exact::zero()),
            };
            if !after || piece.value < above || piece.slope < Exact::zero() {
                return Err(NoBound::Decreasing);
            }
            last = Some(piece);
            curve.push(*piece)?;
        }
        Ok(curve)
    }

    /// Nothing at any time.
    pub fn zero() -> Self {
        Self::line(Exact::zero(), Exact::zero())
    }

    /// `value` right after 0, and a `slope` in b/s; both at least 0.
    pub fn line(value: Exact, slope: Exact) -> Self {
        let from = Exact::zero();
        Self {
            pieces: vec![Piece { from, value, slope }],
        }
    }

    /// A token bucket: `burst` bytes, and `rate` more.
    pub fn token_bucket(rate: Rate, burst: u64) -> Self {
        Self::line(bytes(burst), whole(rate.bps()))
    }

    /// A server that begins after `latency` and then serves at `rate`.
    ///
    /// # Errors
    /// If a number is too large, which no rate and time are.
    pub fn rate_latency(rate: Rate, latency: Dur) -> Checked<Self> {
        Self::rate(rate).delayed(latency)
    }

    /// A server that serves at `rate` from the beginning.
    pub fn rate(rate: Rate) -> Self {
        Self::token_bucket(rate, 0)
    }

    /// Its pieces, by time.
    pub fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Its slope at the end, in b/s.
    pub fn final_slope(&self) -> Exact {
        self.last().slope
    }

    fn last(&self) -> &Piece {
        &self.pieces[self.pieces.len() - 1]
    }

    /// Adds a piece, joined with the last where it continues it.
    fn push(&mut self, piece: Piece) -> Checked<()> {
        let joins = match self.pieces.last() {
            Some(last) => last.slope == piece.slope && last.at(piece.from)? == piece.value,
            None => false,
        };
        if !joins {
            self.pieces.push(piece);
        }
        Ok(())
    }

    /// The piece that holds right after `t`, at least 0.
    fn after(&self, t: Exact) -> &Piece {
        let end = self.pieces.partition_point(|p| p.from <= t);
        &self.pieces[end.max(1) - 1]
    }

    /// The value at `t` ps; 0 up to 0.
    ///
    /// # Errors
    /// If it is too large.
    pub fn at(&self, t: Exact) -> Checked<Exact> {
        match self.pieces.partition_point(|p| p.from < t) {
            0 => Ok(Exact::zero()),
            end => self.pieces[end - 1].at(t),
        }
    }

    /// The value right after `t` ps, at least 0.
    ///
    /// # Errors
    /// If it is too large.
    pub fn right_of(&self, t: Exact) -> Checked<Exact> {
        self.after(t).at(t)
    }

    /// Where a piece of either begins, with the pieces of both that hold right after it.
    fn with<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = (Exact, &'a Piece, &'a Piece)> {
        let (mut mine, mut theirs) = (&self.pieces[..], &other.pieces[..]);
        let mut next = Some(Exact::zero());
        std::iter::from_fn(move || {
            let from = next?;
            let begun = |pieces: &mut &'a [Piece]| {
                if pieces.get(1).is_some_and(|p| p.from == from) {
                    *pieces = &pieces[1..];
                }
                let later = pieces.get(1).map(|p| p.from);
                (&pieces[0], later)
            };
            let ((a, after_a), (b, after_b)) = (begun(&mut mine), begun(&mut theirs));
            next = after_a.into_iter().chain(after_b).min();
            Some((from, a, b))
        })
    }

    /// The difference right after each time at which a piece of either begins.
    fn differences(&self, other: &Self) -> Checked<Vec<Piece>> {
        let differs = |(from, a, b): (Exact, &Piece, &Piece)| {
            let value = sub(a.at(from)?, b.at(from)?)?;
            let slope = sub(a.slope, b.slope)?;
            Ok(Piece { from, value, slope })
        };
        self.with(other).map(differs).collect()
    }

    /// The sum: of flows together.
    ///
    /// # Errors
    /// If a number is too large, as with all operations.
    pub fn plus(&self, other: &Self) -> Checked<Self> {
        let mut sum = Self { pieces: Vec::new() };
        for (from, a, b) in self.with(other) {
            let value = add(a.at(from)?, b.at(from)?)?;
            let slope = add(a.slope, b.slope)?;
            sum.push(Piece { from, value, slope })?;
        }
        Ok(sum)
    }

    /// The smaller of both at any time: of two constraints.
    ///
    /// # Errors
    /// If a number is too large.
    pub fn min(&self, other: &Self) -> Checked<Self> {
        self.outermost(other, Side::Lower)
    }

    /// The larger of both at any time.
    ///
    /// # Errors
    /// If a number is too large.
    pub fn max(&self, other: &Self) -> Checked<Self> {
        self.outermost(other, Side::Upper)
    }

    fn outermost(&self, other: &Self, side: Side) -> Checked<Self> {
        let mut curve = Self { pieces: Vec::new() };
        let mut all = self.with(other).peekable();
        while let Some((from, a, b)) = all.next() {
            let begun = |p: &Piece| p.at(from).map(|value| Piece { from, value, ..*p });
            let until = all.peek().map(|next| next.0);
            between(&[begun(a)?, begun(b)?], until, side, &mut curve)?;
        }
        Ok(curve)
    }

    /// Min-plus convolution: of servers one after another.
    ///
    /// # Errors
    /// If a number is too large.
    pub fn convolve(&self, other: &Self) -> Checked<Self> {
        envelope(&envelope::sums(self, other)?, Side::Lower)
    }

    /// Min-plus deconvolution: what may leave in any time if this may come and `service` is served.
    /// Defined after 0, as all curves.
    ///
    /// # Errors
    /// If more may come than is served, or a number is too large.
    pub fn deconvolve(&self, service: &Self) -> Checked<Self> {
        if self.final_slope() > service.final_slope() {
            return Err(NoBound::Unbounded);
        }
        envelope(&envelope::differences(self, service)?, Side::Upper)
    }

    /// What is left of this service after `others` have been served: the largest of the differences
    /// up to any time, at least 0.
    ///
    /// # Errors
    /// If a number is too large.
    pub fn left_over(&self, others: &Self) -> Checked<Self> {
        let mut left = Self { pieces: Vec::new() };
        let (mut most, all) = (Exact::zero(), self.differences(others)?);
        for (i, rising) in all.iter().enumerate() {
            let Piece { from, value, slope } = *rising;
            let until = all.get(i + 1).map(|next| next.from);
            let flat = |value| Piece {
                from,
                value,
                slope: Exact::zero(),
            };
            most = most.max(value);
            if slope <= Exact::zero() {
                left.push(flat(most))?;
                continue;
            }
            let meets = add(from, div(sub(most, value)?, slope)?)?;
            if meets > from {
                left.push(flat(most))?;
            }
            if until.is_none_or(|u| meets < u) {
                left.push(Piece {
                    from: meets,
                    value: most,
                    slope,
                })?;
                most = until.map_or(Ok(most), |u| rising.at(u))?;
            }
        }
        Ok(left)
    }

    /// This curve without one of those of which it is the sum.
    ///
    /// # Errors
    /// If it is not such a sum, or a number is too large.
    pub fn minus(&self, summand: &Self) -> Checked<Self> {
        Self::new(&self.differences(summand)?)
    }

    /// What is left of this service, in the order of arrival, for some of those who come if
    /// `others` come too: [β(t) - α(t - θ)]^+ after θ (Le Boudec and Thiran, proposition 6.2.1),
    /// where it does not fall later. Any θ will do; the longest delay of the others is a good one.
    ///
    /// # Errors
    /// If others may take all, or a number is too large.
    pub fn in_order_beside(&self, others: &Self, theta: Dur) -> Checked<Self> {
        let (late, theta) = (others.delayed(theta)?, whole(theta.as_ps()));
        let mut left = self.differences(&late)?;
        let later = left.partition_point(|p| p.from <= theta);
        left.drain(..later - 1);
        left[0].value = left[0].at(theta)?;
        left[0].from = theta;
        // From the end: the least that is still to come.
        let (mut least, mut until): (Option<Exact>, Option<Exact>) = (None, None);
        let mut pieces = Vec::new();
        for Piece { from, value, slope } in left.into_iter().rev() {
            let end = until.map_or(Ok(value), |u| Piece { from, value, slope }.at(u))?;
            let flat = |from, value| Piece {
                from,
                value,
                slope: Exact::zero(),
            };
            let rises = slope >= Exact::zero();
            if until.is_none() && !rises {
                return Err(NoBound::Unbounded);
            }
            let low = least.map_or(end, |l| l.min(end));
            match least {
                _ if !rises => pieces.push(flat(from, low)),
                Some(least) if value >= least => pieces.push(flat(from, least)),
                Some(least) if end > least => {
                    pieces.push(flat(add(from, div(sub(least, value)?, slope)?)?, least));
                    pieces.push(Piece { from, value, slope });
                }
                _ => pieces.push(Piece { from, value, slope }),
            }
            least = Some(if rises { low.min(value) } else { low });
            until = Some(from);
        }
        if theta > Exact::zero() {
            pieces.push(Self::zero().pieces[0]);
        }
        pieces.reverse();
        Self { pieces }.max(&Self::zero())
    }

    /// The same curve `by` later: of a server behind a fixed delay.
    ///
    /// # Errors
    /// If a number is too large.
    pub fn delayed(&self, by: Dur) -> Checked<Self> {
        let by = whole(by.as_ps());
        let later = |p: &Piece| {
            let from = add(p.from, by)?;
            Ok(Piece { from, ..*p })
        };
        let pieces: Vec<Piece> = self.pieces.iter().map(later).collect::<Checked<_>>()?;
        Self::new(&pieces)
    }

    /// What may come in any time if each bit may be late by up to `by`: the curve, that much
    /// earlier.
    ///
    /// # Errors
    /// If a number is too large.
    pub fn jittered(&self, by: Dur) -> Checked<Self> {
        let by = whole(by.as_ps());
        let mut pieces = vec![Piece {
            from: Exact::zero(),
            value: self.right_of(by)?,
            slope: self.after(by).slope,
        }];
        for p in self.pieces.iter().filter(|p| p.from > by) {
            let from = sub(p.from, by)?;
            pieces.push(Piece { from, ..*p });
        }
        Ok(Self { pieces })
    }

    /// `packet` bytes more at any time after 0: a packet counts whole when its first bit comes (Le
    /// Boudec and Thiran, theorem 1.7.1).
    ///
    /// # Errors
    /// If a number is too large.
    pub fn packetized(&self, packet: u64) -> Checked<Self> {
        self.plus(&Self::line(bytes(packet), Exact::zero()))
    }

    /// This service after `ahead` bytes that are sent first.
    ///
    /// # Errors
    /// If a number is too large.
    pub fn after_bytes(&self, ahead: u64) -> Checked<Self> {
        self.left_over(&Self::line(bytes(ahead), Exact::zero()))
    }

    /// The curve times `factor`, which is not negative: a share of a service.
    ///
    /// # Errors
    /// If a number is too large.
    pub fn scaled(&self, factor: Exact) -> Checked<Self> {
        let scale = |p: &Piece| {
            Ok(Piece {
                from: p.from,
                value: mul(p.value, factor)?,
                slope: mul(p.slope, factor)?,
            })
        };
        let pieces = self.pieces.iter().map(scale).collect::<Checked<_>>()?;
        Ok(Self { pieces })
    }
}
