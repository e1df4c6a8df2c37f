//! Ranges of sequence numbers, sorted and disjoint.
//!
//! The list grows to the largest number of holes seen and stays; a query is a
//! binary search, an insertion in order at the end costs a comparison.

/// Disjoint ranges `start..end` in ascending order; adjacent ones are merged.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    /// How many numbers they hold in all.
    pub(super) fn bytes(&self) -> u64 {
        self.0.iter().map(|(start, end)| end - start).sum()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    pub(super) fn as_slice(&self) -> &[(u64, u64)] {
        &self.0
    }

    /// Adds `start..end`; returns how many of its numbers were new.
    #[inline]
    pub(super) fn insert(&mut self, start: u64, end: u64) -> u64 {
        match self.0.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            Some(last) if last.1 > start => return self.insert_within(start, end),
            _ => self.0.push((start, end)),
        }
        end - start
    }

    fn insert_within(&mut self, start: u64, end: u64) -> u64 {
        // All ranges from i touch or follow the new one; those before j touch or precede it.
        let i = self.0.partition_point(|r| r.1 < start);
        let j = i + self.0[i..].partition_point(|r| r.0 <= end);
        if i == j {
            self.0.insert(i, (start, end));
            return end - start;
        }
        let merged = (self.0[i].0.min(start), self.0[j - 1].1.max(end));
        let held: u64 = self.0[i..j].iter().map(|r| r.1 - r.0).sum();
        self.0[i] = merged;
        self.0.drain(i + 1..j);
        merged.1 - merged.0 - held
    }

    /// The range that holds `n`.
    pub(super) fn containing(&self, n: u64) -> Option<(u64, u64)> {
        let i = self.0.partition_point(|r| r.1 <= n);
        self.0.get(i).copied().filter(|r| r.0 <= n)
    }

    /// Forgets what lies below `upto`.
    pub(super) fn drop_below(&mut self, upto: u64) {
        let gone = self.0.partition_point(|r| r.1 <= upto);
        self.0.drain(..gone);
        if let Some(r) = self.0.first_mut() {
            r.0 = r.0.max(upto);
        }
    }

    /// Removes the ranges that begin at `n` or below it; the highest number that they and `n` reach.
    pub(super) fn take_from(&mut self, n: u64) -> u64 {
        let (mut gone, mut to) = (0, n);
        for &(_, end) in self.0.iter().take_while(|r| r.0 <= n) {
            (gone, to) = (gone + 1, to.max(end));
        }
        self.0.drain(..gone);
        to
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a bitmap.
        #[test]
        fn is_a_set(ops in prop::collection::vec((0_u64..60, 1_u64..12), 0..40), cut in 0_u64..60) {
            let mut ranges = Ranges::default();
            let mut bits = [false; 80];
            for (start, len) in ops {
                let new = (start..start + len).filter(|&i| !bits[i as usize]).count() as u64;
                (start..start + len).for_each(|i| bits[i as usize] = true);
                prop_assert_eq!(ranges.insert(start, start + len), new);
                prop_assert!(ranges.as_slice().windows(2).all(|w| w[0].1 < w[1].0));
            }
            ranges.drop_below(cut);
            for i in 0..80 {
                let want = bits[i as usize] && i >= cut;
                prop_assert_eq!(ranges.containing(i).is_some(), want);
            }
        }
    }
}
