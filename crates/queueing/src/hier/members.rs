//! Ordered sets of classes.

/// A set of numbers of a range. Changes cost O(1); the next member costs O(range / 4096) at most.
#[derive(Clone, Debug, Default)]
pub(super) struct Members {
    first: u16,
    /// A bit for each number.
    words: Vec<u64>,
    /// A bit for each word that has any.
    summary: Vec<u64>,
}

impl Members {
    /// An empty set of numbers from `first` to `last`.
    pub(super) fn new(first: u16, last: u16) -> Self {
        let words = usize::from(last.saturating_sub(first)) / 64 + 1;
        Self {
            first,
            words: vec![0; words],
            summary: vec![0; words.div_ceil(64)],
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.summary.iter().all(|w| *w == 0)
    }

    #[inline]
    pub(super) fn contains(&self, n: u16) -> bool {
        let i = usize::from(n - self.first);
        self.words[i / 64] & 1 << (i % 64) != 0
    }

    #[inline]
    pub(super) fn insert(&mut self, n: u16) {
        let i = usize::from(n - self.first);
        self.words[i / 64] |= 1 << (i % 64);
        self.summary[i / 4096] |= 1 << (i / 64 % 64);
    }

    #[inline]
    pub(super) fn remove(&mut self, n: u16) {
        let i = usize::from(n - self.first);
        self.words[i / 64] &= !(1 << (i % 64));
        if self.words[i / 64] == 0 {
            self.summary[i / 4096] &= !(1 << (i / 64 % 64));
        }
    }

    pub(super) fn clear(&mut self) {
        self.words.fill(0);
        self.summary.fill(0);
    }

    /// The least member.
    #[inline]
    pub(super) fn least(&self) -> Option<u16> {
        self.from(self.first)
    }

    /// The least member after `n`.
    #[inline]
    pub(super) fn after(&self, n: u16) -> Option<u16> {
        self.from(n.checked_add(1)?)
    }

    /// The least member that is at least `n`.
    pub(super) fn from(&self, n: u16) -> Option<u16> {
        let i = usize::from(n.saturating_sub(self.first));
        let here = *self.words.get(i / 64)? & u64::MAX << (i % 64);
        if here != 0 {
            return Some(self.number(i / 64, here));
        }
        let word = i / 64 + 1;
        let mut mask = u64::MAX << (word % 64);
        for (at, bits) in self.summary.iter().enumerate().skip(word / 64) {
            let found = bits & mask;
            if found != 0 {
                let word = at * 64 + found.trailing_zeros() as usize;
                return Some(self.number(word, self.words[word]));
            }
            mask = u64::MAX;
        }
        None
    }

    fn number(&self, word: usize, bits: u64) -> u16 {
        self.first + (word * 64 + bits.trailing_zeros() as usize) as u16
    }

    /// All members in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u16> + '_ {
        std::iter::successors(self.least(), |n| self.after(*n))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn agrees_with_a_set(
            first in prop::sample::select(vec![0_u16, 1, 63, 4000, 60_000]),
            range in prop::sample::select(vec![0_u16, 1, 63, 64, 200, 5535]),
            ops in prop::collection::vec((any::<u16>(), any::<bool>(), any::<u16>()), 0..200),
        ) {
            let within = |n: u16| first + n % (range + 1);
            let mut set = BTreeSet::new();
            let mut members = Members::new(first, first + range);
            for (n, put, at) in ops {
                let n = within(n);
                if put { members.insert(n); set.insert(n); } else { members.remove(n); set.remove(&n); }
                let at = within(at);
                prop_assert_eq!(members.contains(at), set.contains(&at));
                prop_assert_eq!(members.from(at), set.range(at..).next().copied());
                prop_assert_eq!(members.after(at), set.range(at + 1..).next().copied());
                prop_assert_eq!(members.is_empty(), set.is_empty());
                prop_assert!(members.iter().eq(set.iter().copied()));
            }
            members.clear();
            prop_assert_eq!(members.least(), None);
        }
    }
}
