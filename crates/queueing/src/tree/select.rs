//! Which packet of a tree leaves next, and what that does to the tags of its classes.

use spillgate_core::Time;

use super::rule::Rule;
use super::{ClassState, Content, Node, Tree};
use crate::line::bytes;

/// V is rebased towards 0 above this.
pub(super) const REBASE: u64 = 1 << 60;

/// A packet that may leave: its leaf and its length.
#[derive(Clone, Copy)]
pub(super) struct Pick {
    pub(super) leaf: u16,
    pub(super) len: u32,
}

impl Tree {
    /// The bytes of the next packet of a backlogged class, as shapers and shares count.
    #[inline]
    fn next_len(&self, class: &ClassState, leaf: u16) -> u32 {
        debug_assert!(class.head == 0 || class.head == self.head_len(leaf));
        match class.head {
            0 => self.head_len(leaf),
            known => known,
        }
    }

    /// The same where the leaf is first in, first out; 0 where it is not.
    #[inline]
    pub(super) fn first_len(&self, leaf: u16) -> u32 {
        let first = self.leaves[usize::from(leaf)].queue.first();
        first.map_or(0, |p| bytes(self.counted, p))
    }

    /// The bytes of the next packet of a leaf, as shapers and shares count; 0 if there is none.
    pub(super) fn head_len(&self, leaf: u16) -> u32 {
        let head = self.leaves[usize::from(leaf)].head();
        head.map_or(0, |p| bytes(self.counted, p))
    }

    /// The packet that leaves next if the server is free at `now`.
    pub(super) fn pick(&self, node: u16, now: Time) -> Option<Pick> {
        let node = &self.nodes[usize::from(node)];
        let classes = &self.classes[usize::from(node.first)..usize::from(node.end)];
        if node.priority_packets > 0 {
            let first = self.pick_priority(classes, now);
            // Priority that waits for tokens leaves the line to the others.
            if first.is_some() || !node.gated {
                return first;
            }
        }
        if node.rule != Rule::Finish {
            return self.pick_by(node, classes, now);
        }
        let mut best = None;
        let (mut best_rank, mut best_finish) = (u8::MAX, u64::MAX);
        for class in classes {
            if class.packets == 0 || class.level > 0 || class.rank > best_rank {
                continue;
            }
            let Some(pick) = self.candidate(class, now) else {
                continue;
            };
            let finish = class.finish(pick.len);
            if class.rank < best_rank || finish < best_finish {
                (best_rank, best_finish) = (class.rank, finish);
                best = Some(pick);
            }
        }
        best
    }

    fn pick_priority(&self, classes: &[ClassState], now: Time) -> Option<Pick> {
        let mut best = None;
        let mut best_key = (u8::MAX, u64::MAX);
        for class in classes {
            if class.level == 0 || class.packets == 0 {
                continue;
            }
            let Content::Leaf(leaf) = class.content else {
                continue;
            };
            let l = &self.leaves[usize::from(leaf)];
            let key = (class.level, l.head_tag());
            if key < best_key {
                let pick = Pick {
                    leaf,
                    len: self.next_len(class, leaf),
                };
                if class.gated && self.candidate(class, now).is_none() {
                    continue;
                }
                best_key = key;
                best = Some(pick);
            }
        }
        best
    }

    /// The next packet of a backlogged class, if its shapers have tokens for it at `now`.
    #[inline]
    pub(super) fn candidate(&self, class: &ClassState, now: Time) -> Option<Pick> {
        let pick = match class.content {
            Content::Leaf(leaf) => Pick {
                leaf,
                len: self.next_len(class, leaf),
            },
            Content::Node(node) => self.pick(node, now)?,
        };
        match class.shaper {
            Some(s) if !self.shapers[usize::from(s)].lets_go(now, pick.len) => None,
            _ => Some(pick),
        }
    }

    /// The first instant after `t` at which [`Tree::pick`] may give another
    /// answer, if nothing arrives or leaves.
    pub(super) fn next_change(&self, node: u16, t: Time) -> Option<Time> {
        let node = &self.nodes[usize::from(node)];
        let mut next: Option<Time> = None;
        let mut note = |at: Time| {
            if at > t && at < Time::MAX {
                next = Some(next.map_or(at, |n| n.min(at)));
            }
        };
        for class in &self.classes[usize::from(node.first)..usize::from(node.end)] {
            if class.packets == 0 || !class.gated {
                continue;
            }
            let pick = match class.content {
                Content::Leaf(leaf) => Some(self.next_len(class, leaf)),
                Content::Node(n) => {
                    if let Some(at) = self.next_change(n, t) {
                        note(at);
                    }
                    self.pick(n, t).map(|p| p.len)
                }
            };
            if let (Some(len), Some(s)) = (pick, class.shaper) {
                note(self.shapers[usize::from(s)].ready_at(len));
            }
        }
        next
    }

    /// Counts a packet of `len` bytes in its class and the enclosing classes.
    #[inline]
    pub(super) fn activate(&mut self, leaf: u16, len: u32, now: Time) {
        let own = self.places[usize::from(leaf)].class;
        let class = &mut self.classes[usize::from(own)];
        if class.packets == 0 && self.leaves[usize::from(leaf)].is_fifo() {
            class.head = len;
        }
        let mut next = Some(own);
        while let Some(c) = next {
            let class = &mut self.classes[usize::from(c)];
            let node = &mut self.nodes[usize::from(class.node)];
            next = node.parent;
            class.packets += 1;
            if class.level > 0 {
                node.priority_packets += 1;
            } else if class.packets == 1 {
                if node.rule == Rule::Finish {
                    class.start = class.start.max(node.v[usize::from(class.slot)]);
                } else {
                    self.joins(c, now);
                }
            }
        }
    }

    /// Takes packets that the AQM or the queue of a leaf dropped out of the counts of its class and
    /// the enclosing classes. They are not charged: other classes use their time.
    #[cold]
    pub(super) fn forget(&mut self, leaf: u16, lost: u32) {
        let own = self.places[usize::from(leaf)].class;
        // The first packet may be among them.
        self.classes[usize::from(own)].head = self.first_len(leaf);
        let mut next = Some(own);
        while let Some(c) = next {
            let class = &mut self.classes[usize::from(c)];
            class.packets -= lost;
            let node = &mut self.nodes[usize::from(class.node)];
            if class.level > 0 {
                node.priority_packets -= lost;
            }
            next = node.parent;
        }
    }

    /// Charges a packet that left to its class and the enclosing classes; it was chosen because the
    /// next packet had `chosen` bytes.
    #[inline]
    pub(super) fn charge(&mut self, leaf: u16, len: u32, chosen: u32, now: Time) {
        let mut next = Some(self.places[usize::from(leaf)].class);
        while let Some(c) = next {
            let class = &mut self.classes[usize::from(c)];
            let node = &mut self.nodes[usize::from(class.node)];
            let (n, shaper) = (class.node, class.shaper);
            let gated = node.gated;
            next = node.parent;
            class.packets -= 1;
            let mut far = false;
            if class.level > 0 {
                node.priority_packets -= 1;
            } else if node.rule == Rule::Finish {
                class.start = class.finish(len);
                let v = &mut node.v[usize::from(class.slot)];
                *v = class.start.max(*v);
                far = *v > REBASE;
            } else {
                far = self.sends_by(c, len, chosen, now);
            }
            if let Some(s) = shaper {
                self.shapers[usize::from(s)].charge(now, len);
            }
            if gated {
                self.hold_back(n, now);
            }
            if far {
                self.rebase(n);
            }
        }
    }

    /// Moves the start tags of classes that wait for tokens along with virtual time.
    fn hold_back(&mut self, node: u16, now: Time) {
        let Node {
            rule,
            v,
            first,
            end,
            ..
        } = self.nodes[usize::from(node)];
        if !rule.has_virtual_time() {
            return;
        }
        for c in first..end {
            let class = &self.classes[usize::from(c)];
            let v = v[usize::from(class.slot)];
            if class.gated
                && class.packets > 0
                && class.start < v
                && self.candidate(class, now).is_none()
            {
                self.classes[usize::from(c)].start = v;
            }
        }
    }

    /// Moves the origin of a node's virtual times to the oldest tags in use.
    /// Order depends on differences only, so nothing else changes.
    #[cold]
    pub(super) fn rebase(&mut self, node: u16) {
        let node = &mut self.nodes[usize::from(node)];
        let classes = &mut self.classes[usize::from(node.first)..usize::from(node.end)];
        for (slot, v) in (0_u8..).zip(&mut node.v) {
            let base = classes
                .iter()
                .filter(|c| c.packets > 0 && c.level == 0 && c.slot == slot)
                .map(|c| c.start)
                .fold(*v, u64::min);
            *v -= base;
            for class in classes.iter_mut().filter(|c| c.slot == slot) {
                class.start = class.start.saturating_sub(base);
            }
        }
    }
}

impl ClassState {
    #[inline]
    pub(super) fn finish(&self, len: u32) -> u64 {
        self.start
            .saturating_add(u64::from(len).saturating_mul(self.per_byte))
    }
}
