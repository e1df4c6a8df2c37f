//! Many queues of packets in one store.
//!
//! The packets of all queues lie in one vector and are linked by place, so that
//! a queue costs two numbers and no packet is ever allocated by itself.

use spillgate_core::Packet;

const NONE: u32 = u32::MAX;

/// A queue: first in, first out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    head: u32,
    tail: u32,
}

impl List {
    pub(crate) const EMPTY: Self = Self {
        head: NONE,
        tail: NONE,
    };

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == NONE
    }
}

/// The store. Its memory grows to the most packets that ever waited. The number that a packet
/// comes back with waits in its scratch field.
#[derive(Clone, Debug)]
pub(crate) struct Slab {
    packets: Vec<Packet>,
    /// The place behind each in its queue: apart, since appending needs no other part of the last
    /// packet.
    next: Vec<u32>,
    /// The first vacant place; vacant places are linked like queues.
    vacant: u32,
}

impl Slab {
    pub(crate) const fn new() -> Self {
        Self {
            packets: Vec::new(),
            next: Vec::new(),
            vacant: NONE,
        }
    }

    /// Appends a packet, and a number that comes back with it.
    #[inline]
    pub(crate) fn push(&mut self, list: &mut List, mut packet: Packet, note: u32) {
        packet.tag = u64::from(note);
        let at = self.vacant;
        let at = if at == NONE {
            self.packets.push(packet);
            self.next.push(NONE);
            (self.packets.len() - 1) as u32
        } else {
            self.packets[at as usize] = packet;
            self.vacant = self.next[at as usize];
            self.next[at as usize] = NONE;
            at
        };
        if list.tail == NONE {
            list.head = at;
        } else {
            self.next[list.tail as usize] = at;
        }
        list.tail = at;
    }

    /// Takes the first packet out, its scratch field zero, and the number it came with.
    #[inline]
    pub(crate) fn pop(&mut self, list: &mut List) -> Option<(Packet, u32)> {
        let at = list.head;
        let mut packet = *self.packets.get(at as usize)?;
        let note = packet.tag as u32;
        packet.tag = 0;
        list.head = std::mem::replace(&mut self.next[at as usize], self.vacant);
        if list.head == NONE {
            list.tail = NONE;
        }
        self.vacant = at;
        Some((packet, note))
    }

    /// Length of the first packet; none if the queue is empty.
    #[inline]
    pub(crate) fn first_len(&self, list: &List) -> Option<u32> {
        self.packets.get(list.head as usize).map(|p| p.len)
    }

    /// Packets of a queue, counted one by one.
    pub(crate) fn len(&self, list: &List) -> u32 {
        let (mut n, mut at) = (0, list.head);
        while at != NONE {
            n += 1;
            at = self.next[at as usize];
        }
        n
    }

    /// The packets of a queue in order, with their numbers.
    #[cfg(test)]
    pub(crate) fn iter(&self, list: &List) -> impl Iterator<Item = (&Packet, u32)> {
        let mut at = list.head;
        std::iter::from_fn(move || {
            let packet = self.packets.get(at as usize)?;
            at = self.next[at as usize];
            Some((packet, packet.tag as u32))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn agrees_with_separate_queues(ops in prop::collection::vec((0_usize..4, any::<bool>()), 0..300)) {
            let mut slab = Slab::new();
            let mut lists = [List::EMPTY; 4];
            let mut model: [VecDeque<u32>; 4] = Default::default();
            let mut most = 0;
            for (seq, (q, push)) in (0_u32..).zip(ops) {
                if push {
                    slab.push(&mut lists[q], Packet::new(q as u32, seq, 100), seq ^ 7);
                    model[q].push_back(seq);
                } else {
                    let got = slab.pop(&mut lists[q]);
                    prop_assert_eq!(got.map(|(p, n)| (p.seq, n)), model[q].pop_front().map(|s| (s, s ^ 7)));
                    prop_assert_eq!(got.map_or(0, |(p, _)| p.tag), 0);
                }
                prop_assert_eq!(lists[q].is_empty(), model[q].is_empty());
                prop_assert_eq!(slab.iter(&lists[q]).map(|(p, _)| p.seq).collect::<VecDeque<_>>(), model[q].clone());
                most = most.max(model.iter().map(VecDeque::len).sum());
            }
            prop_assert_eq!(slab.packets.len(), most);
        }
    }
}
