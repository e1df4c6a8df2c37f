//! A winner (tournament) tree over slots.
//!
//! Schedule, reschedule and cancel are the same walk of log₂(n) matches from a
//! leaf to the root, without tombstones: what a timer that moves on every
//! packet wants.

use spillgate_core::Time;

use crate::{EventSet, Key, Rank};

/// An [`EventSet`] as a winner tree.
#[derive(Clone, Debug)]
pub struct WinnerTree {
    /// Complete binary tree in heap layout: node i has children 2i and 2i + 1,
    /// leaf s is `leaves + s`, each node holds the smaller key of its children.
    nodes: Vec<Key>,
    leaves: usize,
    paths: Vec<u64>,
    current: Option<u32>,
}

impl WinnerTree {
    #[inline]
    fn set(&mut self, slot: u32, key: Key) {
        let mut i = self.leaves + slot as usize;
        self.nodes[i] = key;
        while i > 1 {
            let winner = self.nodes[i].min(self.nodes[i ^ 1]);
            i >>= 1;
            if self.nodes[i] == winner {
                // Nothing changes further up.
                return;
            }
            self.nodes[i] = winner;
        }
    }
}

impl EventSet for WinnerTree {
    fn new(paths: Vec<u64>) -> Self {
        let leaves = paths.len().next_power_of_two().max(2);
        Self {
            nodes: vec![Key::IDLE; 2 * leaves],
            leaves,
            paths,
            current: None,
        }
    }

    #[inline]
    fn schedule(&mut self, slot: u32, at: Time, rank: Rank) {
        self.schedule_for(slot, at, rank, self.paths[slot as usize]);
    }

    #[inline]
    fn schedule_for(&mut self, slot: u32, at: Time, rank: Rank, path: u64) {
        if self.current == Some(slot) {
            self.current = None;
        }
        self.set(slot, Key::new(at, rank, path, slot));
    }

    #[inline]
    fn cancel(&mut self, slot: u32) {
        self.set(slot, Key::IDLE);
    }

    #[inline]
    fn next(&mut self) -> Option<(Time, u32)> {
        if let Some(slot) = self.current.take() {
            self.set(slot, Key::IDLE);
        }
        let first = self.nodes[1];
        if first == Key::IDLE {
            return None;
        }
        // The wake stays in place until the handler replaces it: one walk, not two.
        self.current = Some(first.slot());
        Some((first.time(), first.slot()))
    }
}
