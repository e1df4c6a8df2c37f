//! A winner (tournament) tree over slots.
//!
//! Schedule, reschedule and cancel are the same walk of log₂(n) matches from a
//! leaf to the root, without tombstones: what a timer that moves on every
//! packet wants.

use spillgate_core::Time;

use crate::{EventSet, Key, Rank};

/// A complete tree of matches.
#[derive(Clone, Debug)]
struct Tree {
    /// The two players of each match. Match i is between the winners of matches 2i and 2i + 1, or
    /// leaves; leaf s is player `leaves + s`. The second player of match 0 is the winner of all.
    /// Any number of leaves will do: all are below match 1.
    matches: Vec<[Key; 2]>,
    leaves: usize,
}

impl Tree {
    fn new(slots: usize) -> Self {
        let leaves = slots.max(2);
        Self {
            matches: vec![[Key::IDLE; 2]; leaves],
            leaves,
        }
    }

    #[inline]
    fn set(&mut self, leaf: usize, key: Key) {
        let mut player = self.leaves + leaf;
        let mut winner = key;
        loop {
            let players = &mut self.matches[player / 2];
            // Who wins stays in registers: what has just been written is slow to read.
            let other = players[1 - player % 2];
            let own = &mut players[player % 2];
            if *own == winner {
                // Nothing changes further up.
                return;
            }
            *own = winner;
            player /= 2;
            if player == 0 {
                return;
            }
            winner = winner.first(other);
        }
    }

    /// Sets a key without looking whether that changes anything: of the winner of all it does, in
    /// all matches.
    #[inline]
    fn set_winner(&mut self, leaf: usize, key: Key) {
        let mut player = self.leaves + leaf;
        let mut winner = key;
        while player > 1 {
            let players = &mut self.matches[player / 2];
            let other = players[1 - player % 2];
            players[player % 2] = winner;
            winner = winner.first(other);
            player /= 2;
        }
        self.matches[0][1] = winner;
    }

    #[inline]
    fn winner(&self) -> Key {
        self.matches[0][1]
    }
}

/// An [`EventSet`] as a winner tree: one of the slots that are seldom set, one of the busy ones,
/// and a final. What is set all the time has a shortcut.
#[derive(Clone, Debug)]
pub struct WinnerTree {
    quiet: Tree,
    busy: Tree,
    /// The first busy slot.
    first_busy: u32,
    paths: Vec<u64>,
    current: Option<u32>,
}

impl WinnerTree {
    #[inline]
    fn set(&mut self, slot: u32, key: Key) {
        match slot.checked_sub(self.first_busy) {
            Some(leaf) => self.busy.set(leaf as usize, key),
            None => self.quiet.set(slot as usize, key),
        }
    }

    /// Sets the slot that has just been woken, as most wakes do. If it is a busy one it mostly
    /// leads these still.
    #[inline]
    fn replace(&mut self, slot: u32, key: Key) {
        match slot.checked_sub(self.first_busy) {
            Some(leaf) if self.busy.winner().slot() == slot => {
                self.busy.set_winner(leaf as usize, key);
            }
            _ => self.set(slot, key),
        }
    }
}

impl EventSet for WinnerTree {
    fn new(paths: Vec<u64>, busy: u32) -> Self {
        let all = paths.len() as u32;
        let first_busy = busy.min(all);
        Self {
            quiet: Tree::new(first_busy as usize),
            busy: Tree::new((all - first_busy) as usize),
            first_busy,
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
        let key = Key::new(at, rank, path, slot);
        if self.current == Some(slot) {
            self.current = None;
            return self.replace(slot, key);
        }
        self.set(slot, key);
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
        let first = self.quiet.winner().first(self.busy.winner());
        if first == Key::IDLE {
            return None;
        }
        // The wake stays in place until the handler replaces it: one walk, not two.
        self.current = Some(first.slot());
        Some((first.time(), first.slot()))
    }
}
