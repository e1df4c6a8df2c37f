//! Ranges of sequence numbers, sorted and disjoint.
//!
//! A balanced tree: filling a hole costs the logarithm of their number, wherever it lies.

use std::collections::BTreeMap;

/// Disjoint ranges `start..end` in ascending order; adjacent ones are merged.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    /// End of each by its start.
    ends: BTreeMap<u64, u64>,
    bytes: u64,
}

impl Ranges {
    /// How many numbers they hold in all.
    #[inline]
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.ends.clear();
        self.bytes = 0;
    }

    /// In ascending order.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.ends.iter().map(|(&start, &end)| (start, end))
    }

    /// The highest number that they reach.
    pub(super) fn end(&self) -> Option<u64> {
        self.ends.last_key_value().map(|(_, &end)| end)
    }

    /// Adds `start..end`; returns how many of its numbers were new.
    pub(super) fn insert(&mut self, start: u64, end: u64) -> u64 {
        let new = match self.ends.last_entry() {
            Some(mut last) if *last.get() == start => {
                last.insert(end);
                end - start
            }
            Some(last) if *last.get() > start => self.insert_within(start, end),
            _ => {
                self.ends.insert(start, end);
                end - start
            }
        };
        self.bytes += new;
        new
    }

    fn insert_within(&mut self, mut start: u64, mut end: u64) -> u64 {
        let mut held = 0;
        // From above: all ranges that touch the new one become part of it.
        while let Some((&low, &high)) = self.ends.range(..=end).next_back() {
            if high < start {
                break;
            }
            held += high - low;
            if low <= start && end <= high {
                return 0;
            }
            (start, end) = (start.min(low), end.max(high));
            self.ends.remove(&low);
        }
        self.ends.insert(start, end);
        end - start - held
    }

    /// The range that holds `n`.
    pub(super) fn containing(&self, n: u64) -> Option<(u64, u64)> {
        let (&start, &end) = self.ends.range(..=n).next_back()?;
        (n < end).then_some((start, end))
    }

    /// Forgets what lies below `upto`.
    pub(super) fn drop_below(&mut self, upto: u64) {
        while let Some(first) = self.ends.first_entry().filter(|r| *r.key() < upto) {
            let (start, end) = first.remove_entry();
            self.bytes -= end.min(upto) - start;
            if end > upto {
                self.ends.insert(upto, end);
                return;
            }
        }
    }

    /// Removes the ranges that begin at `n` or below it; the highest number that they and `n` reach.
    pub(super) fn take_from(&mut self, n: u64) -> u64 {
        let mut to = n;
        while let Some(first) = self.ends.first_entry().filter(|r| *r.key() <= n) {
            let (start, end) = first.remove_entry();
            self.bytes -= end - start;
            to = to.max(end);
        }
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
                let list: Vec<_> = ranges.iter().collect();
                prop_assert!(list.windows(2).all(|w| w[0].1 < w[1].0));
                prop_assert_eq!(ranges.bytes(), bits.iter().filter(|&&b| b).count() as u64);
            }
            ranges.drop_below(cut);
            for i in 0..80 {
                let want = bits[i as usize] && i >= cut;
                prop_assert_eq!(ranges.containing(i).is_some(), want);
            }
            let left = (cut..80).filter(|&i| bits[i as usize]).count() as u64;
            prop_assert_eq!(ranges.bytes(), left);
            let to = ranges.take_from(cut);
            prop_assert_eq!(to, (cut..80).find(|&i| !bits[i as usize]).unwrap_or(80));
            prop_assert_eq!(ranges.bytes(), left - (to - cut));
        }
    }
}
