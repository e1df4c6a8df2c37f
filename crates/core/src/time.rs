//! Simulated time: unsigned picoseconds.
//!
//! 2⁶⁴ ps are 213 days. Picoseconds keep the transmission time of a packet
//! exact to under one unit at any rate, without a residual to carry: a 64-byte
//! frame at 100 Gb/s takes 5 120 ps.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// Picoseconds in a second.
pub const PS_PER_SEC: u64 = 1_000_000_000_000;

/// An instant of simulated time, in picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

/// A length of simulated time, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Dur(u64);

impl Time {
    /// The start of a run.
    pub const ZERO: Self = Self(0);
    /// Later than every instant that a run can reach: "never".
    pub const MAX: Self = Self(u64::MAX);

    /// An instant from picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// An instant from seconds; negative and NaN become 0, too large becomes [`Time::MAX`].
    pub fn from_secs_f64(s: f64) -> Self {
        Self(Dur::from_secs_f64(s).0)
    }

    /// Picoseconds since the start of the run.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds since the start of the run.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_SEC as f64
    }

    /// Time since `earlier`, zero if `earlier` is later.
    pub const fn since(self, earlier: Self) -> Dur {
        Dur(self.0.saturating_sub(earlier.0))
    }
}

impl Dur {
    /// No time at all.
    pub const ZERO: Self = Self(0);
    /// Longer than any run.
    pub const MAX: Self = Self(u64::MAX);

    /// A length from picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// A length from nanoseconds; saturates.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns.saturating_mul(1_000))
    }

    /// A length from microseconds; saturates.
    pub const fn from_us(us: u64) -> Self {
        Self(us.saturating_mul(1_000_000))
    }

    /// A length from milliseconds; saturates.
    pub const fn from_ms(ms: u64) -> Self {
        Self(ms.saturating_mul(1_000_000_000))
    }

    /// A length from whole seconds; saturates.
    pub const fn from_secs(s: u64) -> Self {
        Self(s.saturating_mul(PS_PER_SEC))
    }

    /// A length from seconds, rounded to the nearest picosecond; negative and
    /// NaN become 0, too large becomes [`Dur::MAX`].
    pub fn from_secs_f64(s: f64) -> Self {
        // `as` saturates and maps NaN to 0.
        Self((s * PS_PER_SEC as f64 + 0.5) as u64)
    }

    /// Picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_SEC as f64
    }

    /// Whether this is no time at all.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum, at most [`Dur::MAX`].
    pub const fn saturating_add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Add<Dur> for Time {
    type Output = Self;
    fn add(self, d: Dur) -> Self {
        Self(self.0.saturating_add(d.0))
    }
}

impl AddAssign<Dur> for Time {
    fn add_assign(&mut self, d: Dur) {
        *self = *self + d;
    }
}

impl Add for Dur {
    type Output = Self;
    fn add(self, d: Self) -> Self {
        self.saturating_add(d)
    }
}

impl Sub for Dur {
    type Output = Self;
    /// Zero if `d` is longer.
    fn sub(self, d: Self) -> Self {
        Self(self.0.saturating_sub(d.0))
    }
}

impl Mul<u64> for Dur {
    type Output = Self;
    fn mul(self, n: u64) -> Self {
        Self(self.0.saturating_mul(n))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Dur(self.0))
    }
}

impl fmt::Display for Dur {
    /// The largest unit that keeps the number at least 1: `250 ms`, `1.5 us`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, name) = match self.0 {
            0 => (PS_PER_SEC, "s"),
            x if x >= PS_PER_SEC => (PS_PER_SEC, "s"),
            x if x >= 1_000_000_000 => (1_000_000_000, "ms"),
            x if x >= 1_000_000 => (1_000_000, "us"),
            x if x >= 1_000 => (1_000, "ns"),
            _ => (1, "ps"),
        };
        write!(f, "{} {name}", self.0 as f64 / unit as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_in_the_largest_fitting_unit() {
        assert_eq!(Dur::from_ms(250).to_string(), "250 ms");
        assert_eq!(Dur::from_ns(1_500).to_string(), "1.5 us");
        assert_eq!(Dur::ZERO.to_string(), "0 s");
    }

    #[test]
    fn seconds_round_to_the_nearest_picosecond() {
        assert_eq!(Dur::from_secs_f64(0.1).as_ps(), PS_PER_SEC / 10);
        assert_eq!(Dur::from_secs_f64(-1.0), Dur::ZERO);
        assert_eq!(Dur::from_secs_f64(f64::INFINITY), Dur::MAX);
    }
}
