//! The total order of wakes.

use spillgate_core::rng::mix;
use spillgate_core::{Rank, Time};

/// Position in the total order: time, then rank, then hash, then slot.
///
/// One integer, so that the smaller of two is found without a branch: time (64 bits), rank (3),
/// hash of time and path (29), slot (31). The highest bit is zero: the sign of a difference says
/// which of two comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u128);

impl Key {
    /// After every wake.
    pub const IDLE: Self = Self(u128::MAX >> 1);

    /// The key of a wake of `slot`, below 2^31, whose component path hashes to `path`.
    #[inline]
    pub fn new(at: Time, rank: Rank, path: u64, slot: u32) -> Self {
        debug_assert!(slot < 1 << 31);
        let time = at.as_ps();
        let hash = mix(time ^ path) >> 35;
        let tie = (rank as u64) << 60 | hash << 31 | u64::from(slot);
        Self(u128::from(time) << 63 | u128::from(tie))
    }

    /// The earlier of two. Nobody can guess which that is, so there is no branch: a comparison
    /// and a choice by it would become one in a loop.
    #[inline]
    #[must_use]
    pub(crate) fn first(self, other: Self) -> Self {
        let ahead = other.0.wrapping_sub(self.0);
        let mask = (ahead as i128 >> 127) as u128;
        Self(self.0.wrapping_add(ahead & mask))
    }

    /// When.
    #[inline]
    pub const fn time(self) -> Time {
        Time::from_ps((self.0 >> 63) as u64)
    }

    /// Whose; meaningless for [`Key::IDLE`].
    #[inline]
    pub const fn slot(self) -> u32 {
        self.0 as u32 & (u32::MAX >> 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sign of a difference orders the most distant keys, too, and the closest.
    #[test]
    fn the_earlier_of_two_is_the_smaller() {
        let key = |at, rank, slot| Key::new(Time::from_ps(at), rank, 7, slot);
        let last = (1 << 31) - 1;
        let keys = [
            key(0, Rank::Service, 0),
            key(0, Rank::Service, 1),
            key(0, Rank::Observer, 0),
            key(1, Rank::Service, last),
            key(1 << 63, Rank::Service, 0),
            key(u64::MAX, Rank::Observer, last),
            Key::IDLE,
        ];
        assert!(keys.is_sorted_by(|a, b| a < b));
        for a in keys {
            for b in keys {
                assert_eq!(a.first(b), a.min(b));
            }
        }
        assert_eq!(keys[5].time(), Time::MAX);
        assert_eq!((keys[3].slot(), keys[5].slot()), (last, last));
        assert_eq!(Key::IDLE.time(), Time::MAX);
    }
}
