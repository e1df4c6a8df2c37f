//! Bytes that pass within the measured period.

use std::ops::{AddAssign, SubAssign};

use spillgate_core::Dur;

/// An amount of data: of a packet that is under way at an edge of the period, the part within it
/// counts. So what passes one after the other never adds up to more than the line carries in the
/// period.
///
/// Kept in 2^-16 B, to which parts are rounded; 2^48 B at most, what a line of 100 Gb/s carries in
/// six hours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Volume(u64);

impl Volume {
    /// How far off a part may be, in bytes.
    pub const ROUNDING: f64 = 1.0 / (2.0 * Self::BYTE as f64);
    const BYTE: u64 = 1 << 16;

    /// Whole bytes.
    #[inline]
    pub const fn of(bytes: u64) -> Self {
        Self(bytes * Self::BYTE)
    }

    /// The part of `bytes`, which take `whole` to pass, that passes in the time `part` of it.
    pub fn part_of(bytes: u32, part: Dur, whole: Dur) -> Self {
        if part >= whole {
            return Self::of(bytes.into());
        }
        let [part, whole] = [part, whole].map(|d| u128::from(d.as_ps()));
        let all = u128::from(Self::of(bytes.into()).0);
        Self(((all * part + whole / 2) / whole) as u64)
    }

    /// The sum, around the end of the numbers: of differences that add up to something.
    pub const fn wrapping_add(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// The difference, around the end of the numbers.
    pub const fn wrapping_sub(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }

    /// In bytes.
    pub fn bytes(self) -> f64 {
        self.0 as f64 / Self::BYTE as f64
    }

    /// The mean rate in bit/s over `period`.
    pub fn rate(self, period: Dur) -> f64 {
        self.bytes() * 8.0 / period.as_secs_f64()
    }
}

impl AddAssign for Volume {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for Volume {
    #[inline]
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_the_whole() {
        let ps = Dur::from_ps;
        assert_eq!(Volume::part_of(1_500, ps(0), ps(7)), Volume::default());
        assert_eq!(Volume::part_of(1_500, ps(7), ps(7)).bytes(), 1_500.0);
        let no_time = Volume::part_of(1_500, ps(0), ps(0));
        assert_eq!(no_time, Volume::of(1_500));
        let mut all = Volume::part_of(1_500, ps(3), ps(7));
        assert!((all.bytes() - 1_500.0 * 3.0 / 7.0).abs() <= Volume::ROUNDING);
        all += Volume::part_of(1_500, ps(4), ps(7));
        assert_eq!(all.bytes(), 1_500.0);
        all -= Volume::of(1_499);
        assert_eq!(all.bytes(), 1.0);
        assert_eq!(Volume::of(125).rate(Dur::from_secs(2)), 500.0);
    }
}
