//! An indexed 4-ary heap over slots.

use spillgate_core::Time;

use crate::{EventSet, Key, Rank};

const ABSENT: u32 = u32::MAX;
const ARITY: usize = 4;

/// An [`EventSet`] as a 4-ary heap of keys with each slot's position in it.
#[derive(Clone, Debug)]
pub struct Heap4 {
    heap: Vec<Key>,
    position: Vec<u32>,
    paths: Vec<u64>,
    current: Option<u32>,
}

impl Heap4 {
    fn put(&mut self, i: usize, key: Key) {
        self.heap[i] = key;
        self.position[key.slot() as usize] = i as u32;
    }

    fn sift_up(&mut self, mut i: usize, key: Key) {
        while i > 0 {
            let parent = (i - 1) / ARITY;
            if self.heap[parent] <= key {
                break;
            }
            self.put(i, self.heap[parent]);
            i = parent;
        }
        self.put(i, key);
    }

    fn sift_down(&mut self, mut i: usize, key: Key) {
        loop {
            let first = ARITY * i + 1;
            let last = (first + ARITY).min(self.heap.len());
            let Some(least) = (first..last).min_by_key(|&c| self.heap[c]) else {
                break;
            };
            if key <= self.heap[least] {
                break;
            }
            self.put(i, self.heap[least]);
            i = least;
        }
        self.put(i, key);
    }

    fn place(&mut self, i: usize, key: Key) {
        if key < self.heap[i] {
            self.sift_up(i, key);
        } else {
            self.sift_down(i, key);
        }
    }
}

impl EventSet for Heap4 {
    fn new(paths: Vec<u64>, _busy: u32) -> Self {
        let n = paths.len();
        Self {
            heap: Vec::with_capacity(n),
            position: vec![ABSENT; n],
            paths,
            current: None,
        }
    }

    fn schedule(&mut self, slot: u32, at: Time, rank: Rank) {
        self.schedule_for(slot, at, rank, self.paths[slot as usize]);
    }

    fn schedule_for(&mut self, slot: u32, at: Time, rank: Rank, path: u64) {
        if self.current == Some(slot) {
            self.current = None;
        }
        let key = Key::new(at, rank, path, slot);
        match self.position[slot as usize] {
            ABSENT => {
                self.heap.push(key);
                self.sift_up(self.heap.len() - 1, key);
            }
            i => self.place(i as usize, key),
        }
    }

    fn cancel(&mut self, slot: u32) {
        let i = self.position[slot as usize];
        if i == ABSENT {
            return;
        }
        self.position[slot as usize] = ABSENT;
        if let Some(last) = self.heap.pop() {
            if (i as usize) < self.heap.len() {
                self.place(i as usize, last);
            }
        }
    }

    fn next(&mut self) -> Option<(Time, u32)> {
        if let Some(slot) = self.current.take() {
            self.cancel(slot);
        }
        let first = *self.heap.first()?;
        self.current = Some(first.slot());
        Some((first.time(), first.slot()))
    }
}
