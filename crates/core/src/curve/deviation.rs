//! Deviations of an arrival curve from a service curve: the longest delay in order of arrival and
//! the largest backlog (Le Boudec and Thiran, theorems 1.4.1 and 1.4.2).

use num_traits::Zero;

use super::{Checked, Curve, Exact, NoBound, UNITS, add, div, rounded_up, sub, whole};
use crate::Dur;

impl Curve {
    /// The longest time until `service` has served what may have come: the delay of a server that
    /// serves in the order of arrival. Rounded up.
    ///
    /// # Errors
    /// If more may come than is served, or a number is too large.
    pub fn horizontal(&self, service: &Self) -> Checked<Dur> {
        let mut longest = Exact::zero();
        for (i, piece) in self.pieces.iter().enumerate() {
            let until = self.pieces.get(i + 1).map(|p| p.from);
            // Between these times the delay changes evenly.
            let mut times = vec![piece.from];
            if piece.slope > Exact::zero() {
                for value in service.turns()? {
                    times.push(add(
                        piece.from,
                        div(sub(value, piece.value)?, piece.slope)?,
                    )?);
                }
            }
            times.extend(until);
            for t in times {
                if t < piece.from || until.is_some_and(|u| t > u) {
                    continue;
                }
                let come = piece.at(t)?;
                let mut wait = |served| -> Checked<()> {
                    longest = longest.max(sub(served, t)?);
                    Ok(())
                };
                if t > piece.from {
                    wait(service.reaches(come)?)?;
                }
                if until != Some(t) {
                    wait(match piece.slope.is_zero() {
                        true => service.reaches(come)?,
                        false => service.exceeds(come)?,
                    })?;
                }
            }
        }
        if self.final_slope() > service.final_slope() {
            return Err(NoBound::Unbounded);
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
        for t in self.begins(service) {
            most = most.max(sub(self.at(t)?, service.at(t)?)?);
            most = most.max(sub(self.right_of(t)?, service.right_of(t)?)?);
        }
        rounded_up(div(most, Exact::from_integer(UNITS))?)
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
        let bytes = self.at(whole(time.as_ps()))? / Exact::from_integer(UNITS);
        u64::try_from(bytes.floor().to_integer()).map_err(|_| NoBound::Overflow)
    }

    /// The values at which the curve turns, both of a jump.
    fn turns(&self) -> Checked<Vec<Exact>> {
        let mut turns = Vec::new();
        for p in &self.pieces {
            turns.extend([self.at(p.from)?, p.value]);
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
