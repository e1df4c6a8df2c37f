//! Sets of small numbers in which the next member is found in constant time.

/// A set of numbers below a power of two, in levels of 64: a bit of one level says whether a word
/// of the level below has any.
pub(crate) trait Bits: Clone {
    /// Fewest and most numbers.
    const LEAST: usize;
    const MOST: usize;
    /// An empty set of numbers below `n`, a power of two from `LEAST` to `MOST`.
    fn new(n: usize) -> Self;
    /// Adds a number, and returns whether it was absent.
    fn set(&mut self, i: usize) -> bool;
    /// Removes a number.
    fn clear(&mut self, i: usize);
    /// The first member at or after `from`, wrapping around the end.
    fn next(&self, from: usize) -> Option<usize>;
    /// Removes all members.
    fn clear_all(&mut self);
}

/// The bits of `word` from `at` on.
#[inline]
fn from(word: u64, at: usize) -> u64 {
    word & u64::MAX << at
}

/// Those after `at`.
#[inline]
fn after(word: u64, at: usize) -> u64 {
    word & (u64::MAX << at) << 1
}

#[inline]
fn first(word: u64) -> usize {
    word.trailing_zeros() as usize
}

/// Numbers below 4096.
#[derive(Clone, Debug)]
pub(crate) struct Two {
    summary: u64,
    words: [u64; 64],
}

impl Bits for Two {
    const LEAST: usize = 4096;
    const MOST: usize = 4096;

    fn new(_: usize) -> Self {
        Self {
            summary: 0,
            words: [0; 64],
        }
    }

    #[inline]
    fn set(&mut self, i: usize) -> bool {
        let (word, bit) = (i / 64, 1 << (i % 64));
        let fresh = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.summary |= 1 << word;
        fresh
    }

    #[inline]
    fn clear(&mut self, i: usize) {
        self.words[i / 64] &= !(1 << (i % 64));
        if self.words[i / 64] == 0 {
            self.summary &= !(1 << (i / 64));
        }
    }

    #[inline]
    fn next(&self, at: usize) -> Option<usize> {
        if self.summary == 0 {
            return None;
        }
        let word = at / 64;
        let here = from(self.words[word], at % 64);
        if here != 0 {
            return Some(word * 64 + first(here));
        }
        // The words after this one; else all, including the low bits of this one.
        let word = match after(self.summary, word) {
            0 => first(self.summary),
            later => first(later),
        };
        Some(word * 64 + first(self.words[word]))
    }

    fn clear_all(&mut self) {
        while self.summary != 0 {
            self.words[first(self.summary)] = 0;
            self.summary &= self.summary - 1;
        }
    }
}

/// Numbers below at most 2^18: sets of 4096, and a set of those that are not empty.
#[derive(Clone, Debug)]
pub(crate) struct Three {
    summary: u64,
    sets: Box<[Two]>,
}

impl Bits for Three {
    const LEAST: usize = 2 * Two::MOST;
    const MOST: usize = 64 * Two::MOST;

    fn new(n: usize) -> Self {
        Self {
            summary: 0,
            sets: vec![Two::new(Two::MOST); n / Two::MOST].into_boxed_slice(),
        }
    }

    #[inline]
    fn set(&mut self, i: usize) -> bool {
        self.summary |= 1 << (i / Two::MOST);
        self.sets[i / Two::MOST].set(i % Two::MOST)
    }

    #[inline]
    fn clear(&mut self, i: usize) {
        let set = &mut self.sets[i / Two::MOST];
        set.clear(i % Two::MOST);
        if set.summary == 0 {
            self.summary &= !(1 << (i / Two::MOST));
        }
    }

    #[inline]
    fn next(&self, at: usize) -> Option<usize> {
        if self.summary == 0 {
            return None;
        }
        let set = at / Two::MOST;
        // Wrapping around within the set comes last.
        if let Some(i) = self.sets[set].next(at % Two::MOST) {
            if i >= at % Two::MOST {
                return Some(set * Two::MOST + i);
            }
        }
        let set = match after(self.summary, set) {
            0 => first(self.summary),
            later => first(later),
        };
        Some(set * Two::MOST + self.sets[set].next(0)?)
    }

    fn clear_all(&mut self) {
        while self.summary != 0 {
            self.sets[first(self.summary)].clear_all();
            self.summary &= self.summary - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn agree<B: Bits>(n: usize, ops: &[(usize, usize, bool)]) {
        let mut bits = B::new(n);
        let mut set = BTreeSet::new();
        for &(i, at, put) in ops {
            let (i, at) = (i % n, at % n);
            if put {
                assert_eq!(bits.set(i), set.insert(i));
            } else if set.remove(&i) {
                bits.clear(i);
            }
            let next = set.range(at..).next().or_else(|| set.first());
            assert_eq!(bits.next(at), next.copied(), "from {at} of {n}");
        }
        bits.clear_all();
        assert_eq!(bits.next(n - 1), None);
    }

    /// Numbers that lie close together, so that they meet, and around every edge of a word.
    fn number() -> impl Strategy<Value = usize> {
        let edges = prop::sample::select(vec![0_usize, 63, 64, 4095, 4096, 8191, 65_535, 262_143]);
        (edges, 0_usize..4).prop_map(|(edge, more)| (edge + more) % (1 << 18))
    }

    proptest! {
        #[test]
        fn agrees_with_a_set(
            ops in prop::collection::vec((number(), number(), prop::bool::weighted(0.6)), 1..200),
            bits in 13_u32..=18,
        ) {
            agree::<Two>(4096, &ops);
            agree::<Three>(1 << bits, &ops);
        }
    }
}
