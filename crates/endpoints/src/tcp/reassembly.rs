//! Ranges of sequence numbers, sorted and disjoint.
//!
//! A ring: what arrives beyond all others is put at its end, holes are filled from its front, and
//! neither asks for memory. Filling one in the middle moves the ranges on its shorter side.

use std::collections::VecDeque;

/// Disjoint ranges `start..end` in ascending order; adjacent ones are merged.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges {
    list: VecDeque<(u64, u64)>,
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
        self.list.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.bytes = 0;
    }

    /// In ascending order.
    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> + '_ {
        self.list.iter().copied()
    }

    /// The highest number that they reach.
    pub(super) fn end(&self) -> Option<u64> {
        self.list.back().map(|r| r.1)
    }

    /// Adds `start..end`; returns how many of its numbers were new.
    pub(super) fn insert(&mut self, start: u64, end: u64) -> u64 {
        let new = match self.list.back_mut() {
            Some(last) if last.1 == start => {
                last.1 = end;
                end - start
            }
            Some(last) if last.1 > start => self.insert_within(start, end),
            _ => {
                self.list.push_back((start, end));
                end - start
            }
        };
        self.bytes += new;
        new
    }

    /// All ranges that touch the new one become part of it.
    fn insert_within(&mut self, start: u64, end: u64) -> u64 {
        let from = self.list.partition_point(|r| r.1 < start);
        let to = from + self.list.range(from..).take_while(|r| r.0 <= end).count();
        if from == to {
            self.list.insert(from, (start, end));
            return end - start;
        }
        let held: u64 = self.list.range(from..to).map(|(a, b)| b - a).sum();
        let all = (self.list[from].0.min(start), self.list[to - 1].1.max(end));
        self.list[from] = all;
        self.list.drain(from + 1..to);
        all.1 - all.0 - held
    }

    /// The range that holds `n`.
    pub(super) fn containing(&self, n: u64) -> Option<(u64, u64)> {
        let at = self.list.partition_point(|r| r.1 <= n);
        self.list.get(at).copied().filter(|r| r.0 <= n)
    }

    /// Forgets what lies below `upto`.
    pub(super) fn drop_below(&mut self, upto: u64) {
        while let Some(first) = self.list.front_mut().filter(|r| r.0 < upto) {
            self.bytes -= first.1.min(upto) - first.0;
            if first.1 > upto {
                first.0 = upto;
                return;
            }
            self.list.pop_front();
        }
    }

    /// Removes the ranges that begin at `n` or below it; the highest number that they and `n`
    /// reach.
    pub(super) fn take_from(&mut self, n: u64) -> u64 {
        let mut to = n;
        while let Some((start, end)) = self.list.front().copied().filter(|r| r.0 <= n) {
            self.list.pop_front();
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
