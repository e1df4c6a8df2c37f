//! The flows of a list in the order of their last packets.
//!
//! Only a full list needs the exact order; a flow that has timed out is recognized when it is
//! looked up. Without `pfl_max` the order is therefore kept only to a sixteenth of the time-out,
//! which saves most packets the relinking.

use spillgate_core::{Dur, Time};

use super::epochs::ABSENT;

/// No flow.
pub(super) const NIL: u32 = u32::MAX;

/// The entry of a flow in a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListEntry {
    /// Time of the last packet, in halves that need no alignment.
    last: [u32; 2],
    prev: u32,
    next: u32,
    pub(super) mark: u32,
}

const _: () = assert!(std::mem::size_of::<ListEntry>() == 20);

impl ListEntry {
    pub(super) const NEW: Self = Self {
        last: [0; 2],
        prev: NIL,
        next: NIL,
        mark: ABSENT,
    };

    #[inline]
    pub(super) fn last(&self) -> Time {
        Time::from_ps(u64::from(self.last[0]) | u64::from(self.last[1]) << 32)
    }

    #[inline]
    pub(super) fn set_last(&mut self, at: Time) {
        self.last = [at.as_ps() as u32, (at.as_ps() >> 32) as u32];
    }
}

/// The order, as a doubly linked list of entries.
#[derive(Clone, Debug)]
pub(super) struct Recency {
    /// Its resolution is 2^shift ps.
    shift: u32,
    head: u32,
    tail: u32,
    /// Entries unlinked or relinked so far.
    #[cfg(test)]
    pub(super) work: u64,
}

impl Recency {
    /// An empty order, exact (`strict`) or as precise as the time-out needs.
    pub(super) fn new(timeout: Dur, strict: bool) -> Self {
        let grain = if strict { 1 } else { timeout.as_ps() / 16 };
        Self {
            shift: grain.max(1).ilog2(),
            head: NIL,
            tail: NIL,
            #[cfg(test)]
            work: 0,
        }
    }

    #[inline]
    fn slot(&self, at: Time) -> u64 {
        at.as_ps() >> self.shift
    }

    /// The flow whose last packet is the oldest, or [`NIL`].
    #[inline]
    pub(super) fn head(&self) -> u32 {
        self.head
    }

    /// Appends a flow.
    pub(super) fn push(&mut self, entries: &mut [ListEntry], flow: u32) {
        let entry = &mut entries[flow as usize];
        entry.prev = self.tail;
        entry.next = NIL;
        match entries.get_mut(self.tail as usize) {
            Some(tail) => tail.next = flow,
            None => self.head = flow,
        }
        self.tail = flow;
    }

    /// Removes a flow.
    pub(super) fn unlink(&mut self, entries: &mut [ListEntry], flow: u32) {
        #[cfg(test)]
        {
            self.work += 1;
        }
        let ListEntry { prev, next, .. } = entries[flow as usize];
        match entries.get_mut(prev as usize) {
            Some(e) => e.next = next,
            None => self.head = next,
        }
        match entries.get_mut(next as usize) {
            Some(e) => e.prev = prev,
            None => self.tail = prev,
        }
    }

    /// Updates a flow with a packet at `now`, after its last packet at `last`.
    #[inline]
    pub(super) fn refresh(&mut self, entries: &mut [ListEntry], flow: u32, last: Time, now: Time) {
        entries[flow as usize].set_last(now);
        if self.slot(now) != self.slot(last) && self.tail != flow {
            self.unlink(entries, flow);
            self.push(entries, flow);
        }
    }

    /// The entries of flows whose last packet may have arrived before `edge`.
    pub(super) fn before<'a>(
        &'a self,
        entries: &'a [ListEntry],
        edge: Time,
    ) -> impl Iterator<Item = &'a ListEntry> {
        let mut at = self.head;
        let next = move || {
            let entry = entries.get(at as usize)?;
            at = entry.next;
            Some(entry)
        };
        std::iter::from_fn(next).take_while(move |e| self.slot(e.last()) <= self.slot(edge))
    }
}
