//! How fast the fabric is, exactly.

use spillgate_core::{Dur, Rate};

/// Picoseconds for each byte, as a fraction: no rounding accumulates.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    numerator: u128,
    denominator: u128,
}

impl Pace {
    /// A path of `numerator / denominator` times the rate of a line.
    pub(crate) fn new(line: Rate, numerator: u32, denominator: u32) -> Self {
        // Eight bits a byte, 10^12 ps a second.
        Self {
            numerator: 8_000_000_000_000 * u128::from(denominator),
            denominator: u128::from(line.bps()) * u128::from(numerator),
        }
    }

    /// The time in which so many bytes pass, rounded down.
    #[inline]
    pub(crate) fn time(self, bytes: u64) -> Dur {
        let ps = u128::from(bytes) * self.numerator / self.denominator;
        Dur::from_ps(u64::try_from(ps).unwrap_or(u64::MAX))
    }

    /// The least number of bytes whose [`Pace::time`] is not below `time`.
    pub(crate) fn bytes_until(self, time: Dur) -> u64 {
        let bytes = (u128::from(time.as_ps()) * self.denominator).div_ceil(self.numerator);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slots of a cell at speedup 1.1: after 10 slots of a line there were 11 phases, to the
    /// picosecond, however many went before.
    #[test]
    fn phases_do_not_drift() {
        let line = Rate::from_bps(1_000_000).unwrap();
        let pace = Pace::new(line, 11, 10);
        let slot = line.tx_time(64).as_ps();
        for k in [1, 10, 1_000_000, 1 << 30] {
            let time = pace.time(64 * 11 * k);
            assert_eq!(time.as_ps(), 10 * k * slot);
            assert_eq!(pace.bytes_until(time), 64 * 11 * k);
            assert_eq!(
                pace.bytes_until(Dur::from_ps(time.as_ps() + 1)),
                64 * 11 * k + 1
            );
        }
    }
}
