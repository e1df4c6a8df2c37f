//! The total order of wakes.

use spillgate_core::Time;
use spillgate_core::rng::mix;

/// What kind of wake goes first at one instant: departures before arrivals
/// (the convention of queueing formulas), then failures and repairs, so that
/// what is sent at that instant meets them, then timers; an observer sees the
/// settled state and can never displace a model's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Rank {
    /// A server finished a packet, or a shaper may go on.
    Service = 0,
    /// A packet arrives at the end of a link.
    Delivery = 1,
    /// A link fails or is repaired, or routes change.
    Control = 2,
    /// A source or a protocol's timer.
    Timer = 3,
    /// A sampler.
    Observer = 4,
}

/// Position in the total order: time, then rank, then hash, then slot.
///
/// One integer, so that the smaller of two is found without a branch: time (64 bits), rank (3),
/// hash of time and path (29), slot (32).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(u128);

impl Key {
    /// After every wake.
    pub const IDLE: Self = Self(u128::MAX);

    /// The key of a wake of `slot`, whose component path hashes to `path`.
    #[inline]
    pub fn new(at: Time, rank: Rank, path: u64, slot: u32) -> Self {
        let time = at.as_ps();
        let hash = mix(time ^ path) >> 35;
        let tie = (rank as u64) << 61 | hash << 32 | u64::from(slot);
        Self(u128::from(time) << 64 | u128::from(tie))
    }

    /// The earlier of two. Who that is nobody can guess, so there is no branch.
    #[inline]
    #[must_use]
    pub(crate) fn first(self, other: Self) -> Self {
        let mask = u128::from(other.0 < self.0).wrapping_neg();
        Self(self.0 ^ ((self.0 ^ other.0) & mask))
    }

    /// When.
    #[inline]
    pub const fn time(self) -> Time {
        Time::from_ps((self.0 >> 64) as u64)
    }

    /// Whose; meaningless for [`Key::IDLE`].
    #[inline]
    pub const fn slot(self) -> u32 {
        self.0 as u32
    }
}
