//! Slots by their tag in constant time, for tags that lie close together.

use super::bits::{Bits, Three, Two};
use super::order::TagOrder;

const NONE: u32 = u32::MAX;

/// A ring for packets up to 2048 B.
pub(crate) type Ring = Buckets<Two>;
/// A ring for longer ones, up to 128 KiB. It takes 16 times to 64 times the memory.
pub(crate) type WideRing = Buckets<Three>;

/// A ring of first-in-first-out buckets, one for each tag in a window, with a multi-level bitmap of
/// the buckets that are not empty: a search for the first set bit in each level gives the smallest
/// tag.
#[derive(Clone, Debug)]
pub(crate) struct Buckets<B> {
    bits: B,
    /// The number of buckets, a power of two, less one.
    mask: u64,
    /// First and last slot of each bucket; undefined where the bit is clear.
    buckets: Box<[(u32, u32)]>,
    /// The slots before and after each one in its bucket.
    links: Vec<(u32, u32)>,
}

impl<B> Buckets<B> {
    /// Tags lie less than this above the smallest.
    #[inline]
    pub(crate) fn span(&self) -> u64 {
        self.mask + 1
    }

    #[inline]
    fn bucket_of(&self, tag: u64) -> usize {
        (tag & self.mask) as usize
    }
}

impl<B: Bits> TagOrder for Buckets<B> {
    const SLOT: usize = 8;
    const MAX_SPAN: u64 = B::MOST as u64;

    fn new(span: u64) -> Self {
        // At least the smallest size of the bitmap.
        let span = span.clamp(B::LEAST as u64, B::MOST as u64);
        let buckets = span.next_power_of_two() as usize;
        Self {
            bits: B::new(buckets),
            mask: buckets as u64 - 1,
            buckets: vec![(NONE, NONE); buckets].into_boxed_slice(),
            links: Vec::new(),
        }
    }

    #[inline]
    fn insert(&mut self, slot: u32, tag: u64) {
        if slot as usize >= self.links.len() {
            self.links.resize(slot as usize + 1, (NONE, NONE));
        }
        let b = self.bucket_of(tag);
        if self.bits.set(b) {
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
        let b = self.bucket_of(tag);
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
            self.bits.clear(b);
        }
    }

    #[inline]
    fn first(&self, from: u64) -> Option<u32> {
        self.bits
            .next(self.bucket_of(from))
            .map(|b| self.buckets[b].0)
    }

    fn clear(&mut self) {
        self.bits.clear_all();
    }

    fn memory_bytes(&self) -> u64 {
        8 * self.span() + self.span() / 8
    }
}
