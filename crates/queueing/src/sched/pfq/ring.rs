//! Slots by their tag in constant time, for tags that lie close together.

use super::order::Order;

const NONE: u32 = u32::MAX;
const WORDS: usize = 64;
/// Tags in a ring are less than this many bytes above the least.
pub(crate) const SPAN: u64 = 64 * WORDS as u64;

/// A ring of first-in-first-out buckets, one for each tag in a window, with a bitmap in two levels
/// of those that are not empty: two searches for the first set bit give the least tag.
#[derive(Clone, Debug)]
pub(crate) struct Ring {
    /// A bit for each word of `words` that is not zero.
    summary: u64,
    words: [u64; WORDS],
    /// First and last slot of each bucket; means nothing where the bit is clear.
    buckets: Box<[(u32, u32)]>,
    /// The slots before and after each one in its bucket.
    links: Vec<(u32, u32)>,
}

#[inline]
fn bucket_of(tag: u64) -> usize {
    (tag % SPAN) as usize
}

impl Ring {
    /// The first bucket from `from` on, around the ring, that is not empty.
    #[inline]
    fn next_bucket(&self, from: usize) -> Option<usize> {
        if self.summary == 0 {
            return None;
        }
        let word = from / 64;
        let here = self.words[word] & (u64::MAX << (from % 64));
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        // The words after this one; else all, of which this one has low bits only.
        let after = self.summary & u64::MAX.checked_shl(word as u32 + 1).unwrap_or(0);
        let word = if after == 0 { self.summary } else { after }.trailing_zeros() as usize;
        Some(word * 64 + self.words[word].trailing_zeros() as usize)
    }
}

impl Order for Ring {
    const SLOT: usize = 8;

    fn new() -> Self {
        Self {
            summary: 0,
            words: [0; WORDS],
            buckets: vec![(NONE, NONE); SPAN as usize].into_boxed_slice(),
            links: Vec::new(),
        }
    }

    #[inline]
    fn insert(&mut self, slot: u32, tag: u64) {
        if slot as usize >= self.links.len() {
            self.links.resize(slot as usize + 1, (NONE, NONE));
        }
        let b = bucket_of(tag);
        let (word, bit) = (b / 64, 1 << (b % 64));
        if self.words[word] & bit == 0 {
            self.words[word] |= bit;
            self.summary |= 1 << word;
            self.buckets[b] = (slot, slot);
            self.links[slot as usize] = (NONE, NONE);
        } else {
            let last = self.buckets[b].1;
            self.links[last as usize].1 = slot;
            self.links[slot as usize] = (last, NONE);
            self.buckets[b].1 = slot;
        }
    }

    #[inline]
    fn remove(&mut self, slot: u32, tag: u64) {
        let b = bucket_of(tag);
        let (before, after) = self.links[slot as usize];
        match before {
            NONE => self.buckets[b].0 = after,
            p => self.links[p as usize].1 = after,
        }
        match after {
            NONE => self.buckets[b].1 = before,
            n => self.links[n as usize].0 = before,
        }
        if before == NONE && after == NONE {
            self.words[b / 64] &= !(1 << (b % 64));
            if self.words[b / 64] == 0 {
                self.summary &= !(1 << (b / 64));
            }
        }
    }

    #[inline]
    fn first(&self, from: u64) -> Option<u32> {
        self.next_bucket(bucket_of(from)).map(|b| self.buckets[b].0)
    }

    fn clear(&mut self) {
        while self.summary != 0 {
            self.words[self.summary.trailing_zeros() as usize] = 0;
            self.summary &= self.summary - 1;
        }
    }
}
