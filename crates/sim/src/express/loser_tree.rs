//! Which of several pipes brings the next packet: a tree of losers.
//!
//! Source: Knuth, The Art of Computer Programming 3, §5.4.1. Another head of the pipe that came
//! first plays as many matches as the tree is high, none of which needs a branch.

use spillgate_core::{Dur, Time};

/// The pipes of a port at which more meet wake for themselves.
pub(super) const MOST_PIPES: usize = 64;

/// The longest time that a batch may take, as fits into a [`Head`].
pub(super) const LONGEST_BATCH: Dur = Dur::from_ps(1 << 57);

/// When a packet is due, since the begin of a batch, and the number of its pipe in the merge point:
/// one word, so that the first of two is found without a branch that nobody can guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Head(u64);

impl Head {
    /// None that belongs to the batch.
    pub(super) const NONE: Self = Self(u64::MAX);

    /// That of pipe `i`, due at `due`, of a batch from `from` to `until`.
    #[inline]
    pub(super) fn new(due: Time, i: usize, from: Time, until: Time) -> Self {
        match due < until {
            true => Self(due.since(from).as_ps() * MOST_PIPES as u64 + i as u64),
            false => Self::NONE,
        }
    }

    #[inline]
    pub(super) fn pipe(self) -> usize {
        self.0 as usize % MOST_PIPES
    }

    /// Whether both are due at one instant.
    #[inline]
    pub(super) fn is_at(self, other: Self) -> bool {
        self.0 / MOST_PIPES as u64 == other.0 / MOST_PIPES as u64
    }
}

/// A tree of losers.
pub(super) struct LoserTree {
    /// Match i is between the winners of matches 2i and 2i + 1, or heads; who lost it.
    lost: [Head; MOST_PIPES],
    /// Half of the number of heads, next power of two.
    half: usize,
}

impl LoserTree {
    /// Between these heads, with the first of them all.
    pub(super) fn new(heads: &[Head]) -> (Self, Head) {
        let places = heads.len().next_power_of_two();
        let mut won = [Head::NONE; 2 * MOST_PIPES];
        won[places..places + heads.len()].copy_from_slice(heads);
        let mut lost = [Head::NONE; MOST_PIPES];
        for i in (1..places).rev() {
            let (a, b) = (won[2 * i], won[2 * i + 1]);
            (won[i], lost[i]) = (a.min(b), a.max(b));
        }
        let half = places / 2;
        (Self { lost, half }, won[1])
    }

    /// Has `next` take the place of the first, which was of pipe `i`: who is first now.
    #[inline]
    pub(super) fn replace_first(&mut self, i: usize, next: Head) -> Head {
        let mut first = next;
        let mut at = self.half + i / 2;
        while at > 0 {
            let other = &mut self.lost[at % MOST_PIPES];
            (first, *other) = (first.min(*other), first.max(*other));
            at /= 2;
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_race_is_won_in_the_order_of_a_sorted_list(
            pipes in prop::collection::vec(prop::collection::vec(0_u64..100, 0..6), 1..=MOST_PIPES)
        ) {
            let at = |ps| Time::from_ps(1000 + ps);
            let mut sorted = Vec::new();
            let pipes: Vec<Vec<Head>> = (0..).zip(pipes).map(|(i, mut dues)| {
                dues.sort_unstable();
                sorted.extend(dues.iter().filter(|due| **due < 80).map(|due| (*due, i)));
                dues.iter().map(|due| Head::new(at(*due), i, at(0), at(80))).collect()
            }).collect();
            sorted.sort_unstable();
            let head = |i: usize, at: usize| pipes[i].get(at).copied().unwrap_or(Head::NONE);
            let heads: Vec<_> = (0..pipes.len()).map(|i| head(i, 0)).collect();
            let (mut tree, mut first) = LoserTree::new(&heads);
            let mut taken = vec![0; pipes.len()];
            for (due, i) in sorted {
                prop_assert_eq!(first, Head::new(at(due), i, at(0), at(80)));
                taken[i] += 1;
                first = tree.replace_first(i, head(i, taken[i]));
            }
            prop_assert_eq!(first, Head::NONE);
        }
    }
}
