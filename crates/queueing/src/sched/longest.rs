//! The flow with the longest queue in bytes, from which packets are pushed out.

use super::heap::MinHeap;
use super::table::{Flow, Table};

/// Queues by slot.
pub(super) trait Backlogs {
    /// The queues from which packets can be pushed out, with [`Backlogs::of`] each.
    fn each(&self) -> impl Iterator<Item = (u32, (u32, u32))>;
    /// The number of the queue in a slot and its bytes, if packets can be pushed out from it.
    fn of(&self, slot: u32) -> Option<(u32, u32)>;
}

impl<S> Backlogs for Table<S> {
    fn each(&self) -> impl Iterator<Item = (u32, (u32, u32))> {
        self.iter()
            .filter_map(|(slot, flow)| Some((slot, flow.candidate()?)))
    }

    #[inline]
    fn of(&self, slot: u32) -> Option<(u32, u32)> {
        self.get(slot).and_then(Flow::candidate)
    }
}

/// Flows by queued bytes, exactly; of equals the lowest flow.
///
/// The order is lazy: it is updated when a queue grows, not when it shrinks. So a key may be larger
/// than the queue, and is corrected when it comes to the top. No order is kept before the buffer
/// first overflows. It is built then, and dropped when the buffer has emptied to half, so that the
/// packets in between pay for building it. Cost: O(log n) amortized per packet while the buffer
/// overflows, else O(1).
#[derive(Clone, Debug, Default)]
pub(super) struct LongestFlow {
    heap: MinHeap,
    /// The order is dropped below this number of queued packets; 0 while there is none.
    until: u32,
}

/// The key of a flow with `bytes` queued; the smallest key is pushed out first.
#[inline]
fn key(bytes: u32, flow: u32) -> u64 {
    u64::from(u32::MAX - bytes) << 32 | u64::from(flow)
}

impl LongestFlow {
    /// The flow in `slot`, which may be pushed out, has more bytes than before.
    #[inline]
    pub(super) fn grew(&mut self, slot: u32, flow: u32, bytes: u32) {
        if self.until > 0 {
            self.heap.grow(slot as usize + 1);
            self.heap.lower(slot, key(bytes, flow));
        }
    }

    /// The number of queued packets is now `packets`.
    #[inline]
    pub(super) fn shrunk(&mut self, packets: u32) {
        if packets < self.until {
            self.reset();
        }
    }

    /// All queues are empty.
    #[inline]
    pub(super) fn reset(&mut self) {
        if self.until > 0 {
            self.heap.clear();
            self.until = 0;
        }
    }

    /// The slot of the longest queue, given the number of queued packets.
    pub(super) fn find(&mut self, packets: u32, flows: &impl Backlogs) -> Option<u32> {
        if self.until == 0 {
            self.until = packets / 2 + 1;
            for (slot, (id, bytes)) in flows.each() {
                self.grew(slot, id, bytes);
            }
        }
        while let Some((promised, slot)) = self.heap.first() {
            match flows.of(slot) {
                Some((id, bytes)) if key(bytes, id) == promised => return Some(slot),
                Some((id, bytes)) => self.heap.set(slot, key(bytes, id)),
                None => self.heap.remove(slot),
            }
        }
        None
    }
}
