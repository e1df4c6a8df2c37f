//! Which flow has the most bytes waiting, for the one that has to give.

use super::heap::MinHeap;
use super::table::{Flow, Table};

/// Flows by waiting bytes, exactly; of equals the lowest flow.
///
/// What only grows is kept up to date, what shrinks is not: a key may promise
/// more than a flow still has, and is corrected when it comes up. As long as
/// nothing has to give, no order is kept at all; it is built when the buffer
/// first overflows, and given up when that has emptied to half, so that
/// building it is paid by the packets in between.
/// Cost: O(log n) amortized per packet while the buffer overflows, else O(1).
#[derive(Clone, Debug, Default)]
pub(super) struct Longest {
    heap: MinHeap,
    /// Below so many waiting packets no order is kept; 0 while none is.
    until: u32,
}

/// The order of a flow with `bytes` waiting: the smaller, the sooner it has to give.
#[inline]
fn key(bytes: u32, flow: u32) -> u64 {
    u64::from(u32::MAX - bytes) << 32 | u64::from(flow)
}

impl Longest {
    /// The flow in `slot`, which may have to give, has more bytes than before.
    #[inline]
    pub(super) fn grew(&mut self, slot: u32, flow: u32, bytes: u32) {
        if self.until > 0 {
            self.heap.grow(slot as usize + 1);
            self.heap.lower(slot, key(bytes, flow));
        }
    }

    /// So many packets wait in all.
    #[inline]
    pub(super) fn shrunk(&mut self, packets: u32) {
        if packets < self.until {
            self.reset();
        }
    }

    /// Nothing waits.
    #[inline]
    pub(super) fn reset(&mut self) {
        if self.until > 0 {
            self.heap.clear();
            self.until = 0;
        }
    }

    /// The slot that has to give, of `packets` that wait.
    pub(super) fn find<S>(&mut self, packets: u32, flows: &Table<S>) -> Option<u32> {
        if self.until == 0 {
            self.until = packets / 2 + 1;
            for (slot, flow) in flows.iter() {
                if let Some((id, bytes)) = flow.candidate() {
                    self.grew(slot, id, bytes);
                }
            }
        }
        while let Some((promised, slot)) = self.heap.first() {
            match flows.get(slot).and_then(Flow::candidate) {
                Some((id, bytes)) if key(bytes, id) == promised => return Some(slot),
                Some((id, bytes)) => self.heap.set(slot, key(bytes, id)),
                None => self.heap.remove(slot),
            }
        }
        None
    }
}
