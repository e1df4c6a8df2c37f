//! The generic cell rate algorithm, GCRA(T, τ): a cell every T, early by at most τ.
//!
//! Source: ITU-T I.371 annex A and ATM Forum TM 4.1 section 4.4.2, by virtual
//! scheduling. Times are whole picoseconds, T as
//! [`Rate::tx_time`](spillgate_core::Rate::tx_time) has it, rounded down: a source may be faster
//! than its rate by one picosecond in T. O(1) for each cell.

use spillgate_core::{Dur, Time};

/// GCRA by virtual scheduling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gcra {
    increment: Dur,
    limit: Dur,
    /// The theoretical arrival time of the next cell; what is past stands for now.
    tat: Time,
}

impl Gcra {
    /// GCRA(`increment`, `limit`) that has seen no cell.
    pub fn new(increment: Dur, limit: Dur) -> Self {
        Self {
            increment,
            limit,
            tat: Time::ZERO,
        }
    }

    /// T: the time between two cells at its rate.
    pub fn increment(&self) -> Dur {
        self.increment
    }

    /// τ: how early a cell may be.
    pub fn limit(&self) -> Dur {
        self.limit
    }

    /// Whether a cell at `now` conforms.
    #[inline]
    pub fn conforms(&self, now: Time) -> bool {
        now + self.limit >= self.tat
    }

    /// The first time at which a cell conforms.
    #[inline]
    pub fn ready(&self) -> Time {
        Time::ZERO + self.tat.since(Time::ZERO + self.limit)
    }

    /// Counts a cell at `now`, which conforms.
    #[inline]
    pub fn count(&mut self, now: Time) {
        self.forget(now);
        self.count_due();
    }

    /// What could have been sent before `now` is lost.
    #[inline]
    pub(super) fn forget(&mut self, now: Time) {
        self.tat = self.tat.max(now);
    }

    /// Counts a cell as if it had gone when it was due.
    #[inline]
    pub(super) fn count_due(&mut self) {
        self.tat += self.increment;
    }

    /// Counts a cell at `now` if it conforms, and returns whether it does.
    #[inline]
    pub fn police(&mut self, now: Time) -> bool {
        let conforms = self.conforms(now);
        if conforms {
            self.count(now);
        }
        conforms
    }

    /// How many cells conform after one at `first`, each `gap` after the one before, `gap` being
    /// shorter than the increment; the cell at `first` conforms and is not counted yet.
    pub(super) fn more_at(&self, first: Time, gap: Dur) -> u64 {
        let slack = (first + self.limit).since(self.tat.max(first));
        slack.as_ps() / (self.increment - gap).as_ps().max(1)
    }

    /// Counts `cells` that conform, from `first` to `last` in even steps.
    pub(super) fn count_run(&mut self, first: Time, last: Time, cells: u32) {
        // Of the maxima of `count` only those of the first and of the last cell can be the largest.
        let backlogged = self.tat.max(first) + self.increment * u64::from(cells);
        self.tat = backlogged.max(last + self.increment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// GCRA as a leaky bucket whose level falls by one in a unit of time, and rises by T with each
    /// cell.
    struct CellBucket {
        increment: Dur,
        limit: Dur,
        /// The level at `counted`, the time of the last cell that conformed.
        level: Dur,
        counted: Time,
    }

    impl CellBucket {
        fn new(increment: Dur, limit: Dur) -> Self {
            Self {
                increment,
                limit,
                level: Dur::ZERO,
                counted: Time::ZERO,
            }
        }

        fn police(&mut self, now: Time) -> bool {
            let level = self.level - now.since(self.counted);
            let conforms = level <= self.limit;
            if conforms {
                (self.level, self.counted) = (level + self.increment, now);
            }
            conforms
        }
    }

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    /// GCRA(4.5 δ, τ) and cells in slots of δ, the examples of I.371 appendix (TM 4.1 figures C-1
    /// to C-4): with τ = 0.5 δ one cell in 4 or 5 slots, with τ = 7 δ three cells back to back.
    #[test]
    fn the_examples_of_the_standard() {
        let sent = |tau: u64| -> Vec<u64> {
            let mut gcra = Gcra::new(Dur::from_ps(45), Dur::from_ps(tau));
            (0..20).filter(|slot| gcra.police(at(slot * 10))).collect()
        };
        assert_eq!(sent(5), [0, 4, 9, 13, 18]);
        assert_eq!(sent(35)[..3], [0, 1, 6]);
        assert_eq!(sent(70)[..4], [0, 1, 2, 7]);
    }

    proptest! {
        /// Times come by the gaps between cells, some far shorter than the increment, some longer.
        #[test]
        fn both_formulations_judge_alike(
            increment in 1_u64..1_000,
            limit in 0_u64..5_000,
            gaps in prop::collection::vec((0_u64..2_000, 0_u32..4), 1..300),
        ) {
            let (t, tau) = (Dur::from_ps(increment), Dur::from_ps(limit));
            let (mut virtually, mut bucket) = (Gcra::new(t, tau), CellBucket::new(t, tau));
            let mut now = 0;
            for (gap, shorter) in gaps {
                now += gap >> (3 * shorter);
                let ready = virtually.ready();
                prop_assert_eq!(virtually.conforms(at(now)), at(now) >= ready);
                prop_assert_eq!(virtually.police(at(now)), bucket.police(at(now)), "{}", now);
            }
        }
    }
}
