//! Which flow has the most bytes waiting, for the one that has to give.

use super::heap::MinHeap;

/// Flows by waiting bytes, exactly; of equals the lowest flow.
///
/// What only grows is kept up to date, what shrinks is not: a key may promise
/// more than a flow still has, and is corrected when it comes up. As long as
/// nothing has to give, no order is kept at all; it is built when the buffer
/// first overflows, and given up when that has emptied to half, so that
/// building it is paid by the packets in between.
/// Cost: O(log n) amortized per packet while the buffer overflows, else O(1).
#[derive(Clone, Debug, Default)]
pub(crate) struct Longest {
    heap: MinHeap,
    /// Below so many waiting packets no order is kept; 0 while none is.
    until: u32,
}

/// The order of a flow with `bytes` waiting: the smaller, the sooner it has to give.
#[inline]
fn key(bytes: u32, flow: u32) -> u64 {
    u64::from(u32::MAX - bytes) << 32 | u64::from(flow)
}

/// A slot's flow and its waiting bytes.
pub(crate) type Candidate = (u32, u32);

impl Longest {
    /// A flow that may have to give has more bytes than before.
    #[inline]
    pub(crate) fn grew(&mut self, slot: u32, (flow, bytes): Candidate) {
        if self.until > 0 {
            self.heap.grow(slot as usize + 1);
            self.heap.lower(slot, key(bytes, flow));
        }
    }

    /// So many packets wait in all.
    #[inline]
    pub(crate) fn shrunk(&mut self, packets: u32) {
        if packets < self.until {
            self.reset();
        }
    }

    /// Nothing waits.
    #[inline]
    pub(crate) fn reset(&mut self) {
        if self.until > 0 {
            self.heap.clear();
            self.until = 0;
        }
    }

    /// The slot that has to give, of `packets` that wait. `all` gives every candidate there is,
    /// `now` what the flow in a slot has, none if it is no candidate.
    pub(crate) fn find<I: Iterator<Item = (u32, Candidate)>>(
        &mut self,
        packets: u32,
        all: impl FnOnce() -> I,
        now: impl Fn(u32) -> Option<Candidate>,
    ) -> Option<u32> {
        if self.until == 0 {
            self.until = packets / 2 + 1;
            for (slot, candidate) in all() {
                self.grew(slot, candidate);
            }
        }
        while let Some((promised, slot)) = self.heap.first() {
            match now(slot).map(|(flow, bytes)| key(bytes, flow)) {
                Some(has) if has == promised => return Some(slot),
                Some(has) => self.heap.set(slot, has),
                None => self.heap.remove(slot),
            }
        }
        None
    }
}
