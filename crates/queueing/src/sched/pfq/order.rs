//! Slots by their tag, in two forms that give the same order.

use crate::sched::heap::MinHeap;

/// Slots ordered by a tag; of equal tags the one put in first.
pub(crate) trait TagOrder: Clone {
    /// Memory for each slot in bytes.
    const SLOT: usize;
    /// The widest window of tags that it can order.
    const MAX_SPAN: u64;
    /// An empty order for tags that lie less than `span` bytes above the least.
    fn new(span: u64) -> Self;
    /// Adds a slot that is absent.
    fn insert(&mut self, slot: u32, tag: u64);
    /// Removes a slot that was added with `tag`.
    fn remove(&mut self, slot: u32, tag: u64);
    /// The first slot; no tag is below `from`.
    fn first(&self, from: u64) -> Option<u32>;
    /// Removes all slots.
    fn clear(&mut self);
    /// Its memory in bytes, without that for slots.
    fn memory_bytes(&self) -> u64;
}

/// A binary heap: O(log n), any tags.
#[derive(Clone, Debug)]
pub(crate) struct Heap {
    heap: MinHeap<(u64, u64)>,
    /// The number of slots that have been added.
    count: u64,
}

impl TagOrder for Heap {
    const SLOT: usize = std::mem::size_of::<((u64, u64), u32)>() + 4;
    const MAX_SPAN: u64 = u64::MAX;

    fn new(_: u64) -> Self {
        Self {
            heap: MinHeap::with_ids(0),
            count: 0,
        }
    }

    #[inline]
    fn insert(&mut self, slot: u32, tag: u64) {
        self.heap.grow(slot as usize + 1);
        self.heap.set(slot, (tag, self.count));
        self.count += 1;
    }

    #[inline]
    fn remove(&mut self, slot: u32, _: u64) {
        self.heap.remove(slot);
    }

    #[inline]
    fn first(&self, _: u64) -> Option<u32> {
        self.heap.first().map(|(_, slot)| slot)
    }

    fn clear(&mut self) {
        self.heap.clear();
    }

    fn memory_bytes(&self) -> u64 {
        0
    }
}
