//! State of the few flows that a scheduler remembers, found by the flow's number.

const NONE: u32 = u32::MAX;

/// State that knows whose it is.
pub(crate) trait Owned {
    /// The flow, `u32::MAX` for none.
    fn owner(&self) -> u32;
    /// Makes it nobody's.
    fn disown(&mut self);
}

/// A table from flow numbers to slots with a state each. Looking up, adding,
/// removing and clearing are O(1): what a flow's number points to counts only
/// if the state there says that it is that flow's. A flow that is not
/// remembered costs four bytes.
#[derive(Clone, Debug)]
pub(crate) struct Table<T> {
    /// Where to look, by flow.
    slots: Vec<u32>,
    states: Vec<T>,
    vacant: Vec<u32>,
}

impl<T: Owned> Table<T> {
    pub(crate) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            states: Vec::new(),
            vacant: Vec::new(),
        }
    }

    /// Allows the flows `0..n`.
    pub(crate) fn expect_flows(&mut self, n: usize) {
        if n > self.slots.len() {
            self.slots.resize(n, NONE);
        }
    }

    /// The slot of a flow, if it is remembered.
    #[inline]
    pub(crate) fn find(&self, flow: u32) -> Option<u32> {
        let slot = *self.slots.get(flow as usize)?;
        let state = self.states.get(slot as usize)?;
        (state.owner() == flow).then_some(slot)
    }

    /// Remembers a flow that is not; its slot.
    #[inline]
    pub(crate) fn insert(&mut self, state: T) -> u32 {
        let flow = state.owner();
        self.expect_flows(flow as usize + 1);
        let slot = match self.vacant.pop() {
            Some(slot) => {
                self.states[slot as usize] = state;
                slot
            }
            None => {
                self.states.push(state);
                (self.states.len() - 1) as u32
            }
        };
        self.slots[flow as usize] = slot;
        slot
    }

    /// Forgets the flow in `slot`.
    #[inline]
    pub(crate) fn remove(&mut self, slot: u32) {
        self.states[slot as usize].disown();
        self.vacant.push(slot);
    }

    /// Forgets all flows.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.states.clear();
        self.vacant.clear();
    }

    /// What is remembered in `slot`, if anything is.
    #[inline]
    pub(crate) fn get(&self, slot: u32) -> Option<&T> {
        self.states.get(slot as usize).filter(|s| s.owner() != NONE)
    }

    #[inline]
    pub(crate) fn at(&self, slot: u32) -> &T {
        &self.states[slot as usize]
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, slot: u32) -> &mut T {
        &mut self.states[slot as usize]
    }

    /// How many flows are remembered.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.states.len() - self.vacant.len()
    }

    /// The flows that are remembered with their slots.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        (0_u32..)
            .zip(&self.states)
            .filter(|(_, s)| s.owner() != NONE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    struct State(u32, usize);

    impl Owned for State {
        fn owner(&self) -> u32 {
            self.0
        }
        fn disown(&mut self) {
            self.0 = NONE;
        }
    }

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
                        None => { table.insert(State(flow, i)); map.insert(flow, i); }
                    },
                }
                for flow in 0..12 {
                    prop_assert_eq!(table.find(flow).map(|s| table.at(s).1), map.get(&flow).copied());
                }
                prop_assert_eq!(table.len(), map.len());
                prop_assert_eq!(table.iter().map(|(_, s)| s.0).collect::<std::collections::BTreeSet<_>>(), map.keys().copied().collect());
            }
        }
    }
}
