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

/// A table from flow numbers to slots with a record each. Looking up, adding, removing and clearing
/// are O(1): an entry is valid only if the record that it points to names the same flow. A flow
/// that is not remembered costs four bytes.
#[derive(Clone, Debug)]
pub(super) struct Table<S> {
    /// The slot of each flow, valid only if the record there names the flow.
    slots: Vec<u32>,
    flows: Vec<Flow<S>>,
    vacant: Vec<u32>,
}

impl<S> Table<S> {
    pub(super) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            flows: Vec::new(),
            vacant: Vec::new(),
        }
    }

    /// Allows the flows `0..n`.
    pub(super) fn expect_flows(&mut self, n: usize) {
        if n > self.slots.len() {
            self.slots.resize(n, NONE);
        }
    }

    /// The slot of a flow, if it is remembered.
    #[inline]
    pub(super) fn find(&self, flow: u32) -> Option<u32> {
        let slot = *self.slots.get(flow as usize)?;
        let found = self.flows.get(slot as usize)?;
        (found.id == flow).then_some(slot)
    }

    /// Adds a flow with `waiting` bytes queued outside of its own queue, and returns its slot.
    #[inline]
    pub(super) fn insert(&mut self, id: u32, waiting: u32, own: S) -> u32 {
        self.expect_flows(id as usize + 1);
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
        self.slots[id as usize] = slot;
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
