//! The few flows that a scheduler remembers, by their number.

use super::slab::List;

const NONE: u32 = u32::MAX;

/// A flow that is remembered: its queue, and the state that its scheduler keeps.
#[derive(Clone, Debug)]
pub(crate) struct Flow<S> {
    pub(super) own: S,
    /// [`NONE`] in a vacant slot.
    pub(super) id: u32,
    /// Its queued bytes.
    pub(super) waiting: u32,
    /// Its packets, without those in the priority queue.
    pub(super) queue: List,
}

impl<S> Flow<S> {
    /// The flow and its queued bytes, if it has packets that can be pushed out.
    #[inline]
    pub(super) fn candidate(&self) -> Option<(u32, u32)> {
        (!self.queue.is_empty()).then_some((self.id, self.waiting))
    }
}

/// A flow that has been in a [`Table`], and the slot that it had last. It is valid only if the
/// record there names the flow.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// [`NONE`] in a vacant place.
    id: u32,
    slot: u32,
}

/// A table from flow numbers to slots with a record each. Looking up, adding, removing and clearing
/// are O(1), amortized. A flow that has been in it takes 8 to 24 bytes, one that has not none.
#[derive(Clone, Debug)]
pub(super) struct Table<S> {
    /// A hash table with linear probing, a power of two of places.
    index: Vec<Entry>,
    /// Of the product of a flow's number and [`SPREAD`] the upper bits, shifted by this, are the
    /// place where its entry is looked for first.
    shift: u32,
    /// How many places have an entry, three of four at most.
    taken: u32,
    flows: Vec<Flow<S>>,
    vacant: Vec<u32>,
}

/// 2^32 by the golden ratio: numbers that follow one another spread evenly (Knuth, The Art of
/// Computer Programming 3, §6.4).
const SPREAD: u32 = 0x9e37_79b9;
/// Places of the smallest index, which fill a cache line.
const LEAST: usize = 8;

impl<S> Table<S> {
    /// Memory for each flow in bytes at most, if all are remembered: its record, an entry in the
    /// index, one in the list of vacant slots.
    pub(super) const FLOW: usize =
        size_of::<Flow<S>>() + 8 * size_of::<Entry>() / 3 + size_of::<u32>();

    pub(super) const fn new() -> Self {
        Self {
            index: Vec::new(),
            shift: 0,
            taken: 0,
            flows: Vec::new(),
            vacant: Vec::new(),
        }
    }

    /// The place of a flow's entry, or where it would be; the first one if there are none.
    #[inline]
    fn place(&self, flow: u32) -> usize {
        let mut at = (flow.wrapping_mul(SPREAD) >> self.shift) as usize;
        loop {
            match self.index.get(at) {
                Some(entry) if entry.id != flow && entry.id != NONE => {
                    at = (at + 1) & (self.index.len() - 1);
                }
                Some(_) => return at,
                None => return 0,
            }
        }
    }

    /// The slot of a flow, if it is remembered.
    #[inline]
    pub(super) fn find(&self, flow: u32) -> Option<u32> {
        let slot = self.index.get(self.place(flow))?.slot;
        let found = self.flows.get(slot as usize)?;
        (found.id == flow).then_some(slot)
    }

    /// Doubles the index.
    #[cold]
    fn grow(&mut self) {
        let places = (2 * self.index.len()).max(LEAST);
        let vacant = Entry {
            id: NONE,
            slot: NONE,
        };
        let old = std::mem::replace(&mut self.index, vec![vacant; places]);
        self.shift = 32 - places.ilog2();
        for entry in old.into_iter().filter(|e| e.id != NONE) {
            let at = self.place(entry.id);
            self.index[at] = entry;
        }
    }

    /// Adds a flow with `waiting` bytes queued outside of its own queue, and returns its slot.
    #[inline]
    pub(super) fn insert(&mut self, id: u32, waiting: u32, own: S) -> u32 {
        if 4 * self.taken as usize >= 3 * self.index.len() {
            self.grow();
        }
        let flow = Flow {
            own,
            id,
            waiting,
            queue: List::EMPTY,
        };
        let slot = match self.vacant.pop() {
            Some(slot) => {
                self.flows[slot as usize] = flow;
                slot
            }
            None => {
                self.flows.push(flow);
                (self.flows.len() - 1) as u32
            }
        };
        let at = self.place(id);
        let entry = &mut self.index[at];
        self.taken += u32::from(entry.id == NONE);
        *entry = Entry { id, slot };
        slot
    }

    /// Forgets the flow in `slot`.
    #[inline]
    pub(super) fn remove(&mut self, slot: u32) {
        self.flows[slot as usize].id = NONE;
        self.vacant.push(slot);
    }

    /// Forgets all flows.
    #[inline]
    pub(super) fn clear(&mut self) {
        self.flows.clear();
        self.vacant.clear();
    }

    /// The record in `slot`, if there is one.
    #[inline]
    pub(super) fn get(&self, slot: u32) -> Option<&Flow<S>> {
        self.flows.get(slot as usize).filter(|f| f.id != NONE)
    }

    #[inline]
    pub(super) fn at(&self, slot: u32) -> &Flow<S> {
        &self.flows[slot as usize]
    }

    #[inline]
    pub(super) fn at_mut(&mut self, slot: u32) -> &mut Flow<S> {
        &mut self.flows[slot as usize]
    }

    /// How many flows are remembered.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.flows.len() - self.vacant.len()
    }

    /// The flows that are remembered with their slots.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, &Flow<S>)> {
        (0_u32..).zip(&self.flows).filter(|(_, f)| f.id != NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn agrees_with_a_map(ops in prop::collection::vec(prop::option::weighted(0.95, 0_u32..12), 0..200)) {
            let mut table = Table::new();
            let mut map = BTreeMap::new();
            for (i, flow) in ops.into_iter().enumerate() {
                match flow {
                    None => { table.clear(); map.clear(); }
                    Some(flow) => match table.find(flow) {
                        Some(slot) => { table.remove(slot); map.remove(&flow); }
                        None => { table.insert(flow, 0, i); map.insert(flow, i); }
                    },
                }
                for flow in 0..12 {
                    prop_assert_eq!(table.find(flow).map(|s| table.at(s).own), map.get(&flow).copied());
                }
                prop_assert_eq!(table.len(), map.len());
                prop_assert_eq!(table.iter().map(|(_, f)| f.id).collect::<std::collections::BTreeSet<_>>(), map.keys().copied().collect());
            }
        }
    }
}
