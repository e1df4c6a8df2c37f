//! Deviations of an arrival curve from a service curve: the longest delay in order of arrival and
//! the largest backlog (Le Boudec and Thiran, theorems 1.4.1 and 1.4.2).

use num_traits::Zero;

use super::exact::{ceil, floor};
use super::{Checked, Curve, Exact, NoBound, Piece, UNITS, add, div, sub, whole};
use crate::Dur;

impl Curve {
    /// The longest time until `service` has served what may have come: the delay of a server that
    /// serves in the order of arrival. Rounded up.
    ///
    /// # Errors
    /// If more may come than is served, or a number is too large.
    pub fn horizontal(&self, service: &Self) -> Checked<Dur> {
        if self.final_slope() > service.final_slope() {
            return Err(NoBound::Unbounded);
        }
        let turns = service.turns()?;
        let mut longest = Exact::zero();
        for (i, piece) in self.pieces.iter().enumerate() {
            let end = self.pieces.get(i + 1).map(|next| next.from);
            let end = end.map(|t| Ok((t, piece.at(t)?))).transpose()?;
            let mut wait = |served, t| -> Checked<()> {
                longest = longest.max(sub(served, t)?);
                Ok(())
            };
            // Between these times the delay changes evenly.
            if piece.slope.is_zero() {
                wait(service.reaches(piece.value)?, piece.from)?;
            } else {
                wait(service.exceeds(piece.value)?, piece.from)?;
                let within =
                    |value: &&Exact| **value > piece.value && end.is_none_or(|e| **value < e.1);
                for value in turns.iter().filter(within) {
                    let later = div(sub(*value, piece.value)?, piece.slope)?;
                    wait(service.exceeds(*value)?, add(piece.from, later)?)?;
                }
            }
            if let Some((t, come)) = end {
                wait(service.reaches(come)?, t)?;
            }
        }
        rounded_up(longest).map(Dur::from_ps)
    }

    /// The most bytes that may have come and not been served. Rounded up.
    ///
    /// # Errors
    /// If more may come than is served, or a number is too large.
    pub fn vertical(&self, service: &Self) -> Checked<u64> {
        if self.final_slope() > service.final_slope() {
            return Err(NoBound::Unbounded);
        }
        let mut most = Exact::zero();
        let mut before: Option<Piece> = None;
        for piece in self.differences(service)? {
            // At the end of the one before, and right after it.
            let end = before.map(|p| p.at(piece.from)).transpose()?;
            most = most.max(piece.value).max(end.unwrap_or_default());
            before = Some(piece);
        }
        rounded_up(div(most, whole(UNITS))?)
    }

    /// The first time at which so many bytes have been served. Rounded up.
    ///
    /// # Errors
    /// If they never are, or a number is too large.
    pub fn serves(&self, bytes: u64) -> Checked<Dur> {
        rounded_up(self.reaches(super::bytes(bytes))?).map(Dur::from_ps)
    }

    /// The whole bytes that have been served in this time. Rounded down.
    ///
    /// # Errors
    /// If a number is too large.
    pub fn served_in(&self, time: Dur) -> Checked<u64> {
        let bytes = floor(div(self.at(whole(time.as_ps()))?, whole(UNITS))?);
        u64::try_from(bytes.to_integer()).map_err(|_| NoBound::Overflow)
    }

    /// The values at which the curve turns, both of a jump.
    fn turns(&self) -> Checked<Vec<Exact>> {
        let mut turns = vec![self.pieces[0].value];
        for pair in self.pieces.windows(2) {
            let (end, begin) = (pair[0].at(pair[1].from)?, pair[1].value);
            turns.push(end);
            turns.extend(Some(begin).filter(|b| *b != end));
        }
        Ok(turns)
    }

    /// The time until which the curve is below `value`.
    fn reaches(&self, value: Exact) -> Checked<Exact> {
        self.first(value, |at| at >= value, |meets, until| meets <= until)
    }

    /// The time until which the curve is not above `value`.
    fn exceeds(&self, value: Exact) -> Checked<Exact> {
        self.first(value, |at| at > value, |meets, until| meets < until)
    }

    fn first(
        &self,
        value: Exact,
        is_there: impl Fn(Exact) -> bool,
        is_before: impl Fn(Exact, Exact) -> bool,
    ) -> Checked<Exact> {
        if is_there(Exact::zero()) {
            return Ok(Exact::zero());
        }
        for (i, piece) in self.pieces.iter().enumerate() {
            if is_there(piece.value) {
                return Ok(piece.from);
            }
            if piece.slope > Exact::zero() {
                let meets = add(piece.from, div(sub(value, piece.value)?, piece.slope)?)?;
                let until = self.pieces.get(i + 1).map(|p| p.from);
                if until.is_none_or(|u| is_before(meets, u)) {
                    return Ok(meets);
                }
            }
        }
        Err(NoBound::Unbounded)
    }
}

/// The least whole number that is not below `a`.
fn rounded_up(a: Exact) -> Checked<u64> {
    u64::try_from(ceil(a)?).map_err(|_| NoBound::Overflow)
}
