//! A binary min-heap whose entries can be found and moved by their id.

const ABSENT: u32 = u32::MAX;

/// Keys of dense ids; equal keys are ordered by id. Every operation is
/// O(log n), and none allocates once each id has been in the heap.
#[derive(Clone, Debug, Default)]
pub(crate) struct MinHeap<K = u64> {
    entries: Vec<(K, u32)>,
    /// Position of each id in `entries`.
    place: Vec<u32>,
}

impl<K: Copy + Ord> MinHeap<K> {
    /// A heap for the ids `0..n`.
    pub(crate) fn with_ids(n: usize) -> Self {
        Self {
            entries: Vec::new(),
            place: vec![ABSENT; n],
        }
    }

    /// Allows the ids `0..n`.
    pub(crate) fn grow(&mut self, n: usize) {
        if n > self.place.len() {
            self.place.resize(n, ABSENT);
        }
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    #[inline]
    pub(crate) fn contains(&self, id: u32) -> bool {
        self.place[id as usize] != ABSENT
    }

    /// The key of `id`, if it is present.
    #[inline]
    pub(crate) fn key(&self, id: u32) -> Option<K> {
        let at = self.place[id as usize];
        (at != ABSENT).then(|| self.entries[at as usize].0)
    }

    /// The smallest key and its id.
    #[inline]
    pub(crate) fn first(&self) -> Option<(K, u32)> {
        self.entries.first().copied()
    }

    /// Sets the key of `id`, inserting it if it is absent.
    pub(crate) fn set(&mut self, id: u32, key: K) {
        let at = self.place[id as usize];
        let at = if at == ABSENT {
            self.entries.push((key, id));
            self.entries.len() - 1
        } else {
            self.entries[at as usize].0 = key;
            at as usize
        };
        let at = self.up(at);
        self.down(at);
    }

    /// Lowers the key of `id` to `key`, inserting it if it is absent.
    #[inline]
    pub(crate) fn lower(&mut self, id: u32, key: K) {
        match self.place[id as usize] {
            ABSENT => self.entries.push((key, id)),
            at if key < self.entries[at as usize].0 => {
                self.entries[at as usize].0 = key;
                self.up(at as usize);
                return;
            }
            _ => return,
        }
        self.up(self.entries.len() - 1);
    }

    /// Removes `id`, if it is present.
    pub(crate) fn remove(&mut self, id: u32) {
        let at = self.place[id as usize];
        if at == ABSENT {
            return;
        }
        self.place[id as usize] = ABSENT;
        let Some(last) = self.entries.pop() else {
            return;
        };
        if last.1 != id {
            self.entries[at as usize] = last;
            let at = self.up(at as usize);
            self.down(at);
        }
    }

    /// Removes all entries, in time proportional to their number.
    pub(crate) fn clear(&mut self) {
        for (_, id) in self.entries.drain(..) {
            self.place[id as usize] = ABSENT;
        }
    }

    fn up(&mut self, mut at: usize) -> usize {
        let entry = self.entries[at];
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.entries[parent] <= entry {
                break;
            }
            self.store(at, self.entries[parent]);
            at = parent;
        }
        self.store(at, entry);
        at
    }

    fn down(&mut self, mut at: usize) {
        let entry = self.entries[at];
        loop {
            let mut child = 2 * at + 1;
            if child >= self.entries.len() {
                break;
            }
            if child + 1 < self.entries.len() && self.entries[child + 1] < self.entries[child] {
                child += 1;
            }
            if entry <= self.entries[child] {
                break;
            }
            self.store(at, self.entries[child]);
            at = child;
        }
        self.store(at, entry);
    }

    #[inline]
    fn store(&mut self, at: usize, entry: (K, u32)) {
        self.entries[at] = entry;
        self.place[entry.1 as usize] = at as u32;
    }
}

impl MinHeap {
    /// Subtracts `base` from every key; all must be at least that.
    pub(crate) fn rebase(&mut self, base: u64) {
        for (key, _) in &mut self.entries {
            *key -= base;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn agrees_with_a_sorted_map(ops in prop::collection::vec((0_u32..8, prop::option::of(0_u64..20)), 0..200)) {
            let mut heap = MinHeap::with_ids(8);
            let mut map = BTreeMap::new();
            for (id, key) in ops {
                match key {
                    Some(key) => { heap.set(id, key); map.insert(id, key); }
                    None => { heap.remove(id); map.remove(&id); }
                }
                prop_assert_eq!(heap.first(), map.iter().map(|(i, k)| (*k, *i)).min());
                prop_assert_eq!(heap.contains(id), map.contains_key(&id));
                prop_assert_eq!(heap.key(id), map.get(&id).copied());
            }
        }
    }
}
