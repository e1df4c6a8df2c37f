//! Many queues of packets in one store.
//!
//! The packets of all queues lie in one vector and are linked by index, so that a queue costs two
//! numbers, and no packet is allocated by itself.

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

/// The links of a packet's place. They are separate from the packet, since appending needs no other
/// part of the last packet, and writing into a packet would make its copy slower.
#[derive(Clone, Copy, Debug)]
struct SlabPlace {
    /// The place behind it in its queue.
    next: u32,
    /// The number that is returned with the packet.
    note: u32,
}

/// The store. Its memory grows to the largest number of packets that were ever queued.
#[derive(Clone, Debug)]
pub(crate) struct Slab {
    packets: Vec<Packet>,
    places: Vec<SlabPlace>,
    /// The first vacant place; vacant places are linked like queues.
    vacant: u32,
}

impl Slab {
    pub(crate) const fn new() -> Self {
        Self {
            packets: Vec::new(),
            places: Vec::new(),
            vacant: NONE,
        }
    }

    /// Memory for each packet in bytes.
    pub(super) const PACKET: usize =
        std::mem::size_of::<Packet>() + std::mem::size_of::<SlabPlace>();

    /// Appends a packet, and a number that is returned with it. Returns its place.
    #[inline]
    pub(crate) fn push(&mut self, list: &mut List, packet: Packet, note: u32) -> u32 {
        let at = self.vacant;
        let place = SlabPlace { next: NONE, note };
        let at = if at == NONE {
            self.packets.push(packet);
            self.places.push(place);
            (self.packets.len() - 1) as u32
        } else {
            self.packets[at as usize] = packet;
            self.vacant = std::mem::replace(&mut self.places[at as usize], place).next;
            at
        };
        if list.tail == NONE {
            list.head = at;
        } else {
            self.places[list.tail as usize].next = at;
        }
        list.tail = at;
        at
    }

    /// Takes the first packet out, and the number it came with.
    #[inline]
    pub(crate) fn pop(&mut self, list: &mut List) -> Option<(Packet, u32)> {
        let at = self.unlink(list)?;
        Some((*self.packet(at), self.note(at)))
    }

    /// Unlinks the first packet from its queue; it stays in its place until the next packet is
    /// stored. Reading it from there copies it once, while several nested results would copy it
    /// several times: that halves the cost of a scheduler.
    #[inline]
    pub(super) fn unlink(&mut self, list: &mut List) -> Option<u32> {
        let at = list.head;
        let place = self.places.get_mut(at as usize)?;
        list.head = std::mem::replace(&mut place.next, self.vacant);
        if list.head == NONE {
            list.tail = NONE;
        }
        self.vacant = at;
        Some(at)
    }

    /// Unlinks the packet behind that in the place `before`, as [`Slab::unlink`].
    pub(super) fn unlink_behind(&mut self, list: &mut List, before: u32) -> Option<u32> {
        let at = self.places.get(before as usize)?.next;
        let place = self.places.get_mut(at as usize)?;
        let next = std::mem::replace(&mut place.next, self.vacant);
        self.places[before as usize].next = next;
        if next == NONE {
            list.tail = before;
        }
        self.vacant = at;
        Some(at)
    }

    /// The places of the packets of a queue, in order.
    pub(super) fn places(&self, list: &List) -> impl Iterator<Item = u32> {
        let mut next = list.head;
        std::iter::from_fn(move || {
            let at = next;
            next = self.places.get(at as usize)?.next;
            Some(at)
        })
    }

    /// The packet in a place.
    #[inline]
    pub(super) fn packet(&self, at: u32) -> &Packet {
        &self.packets[at as usize]
    }

    /// The number that the packet in a place came with.
    #[inline]
    pub(super) fn note(&self, at: u32) -> u32 {
        self.places[at as usize].note
    }

    /// Length of the first packet; none if the queue is empty.
    #[inline]
    pub(crate) fn first_len(&self, list: &List) -> Option<u32> {
        self.packets.get(list.head as usize).map(|p| p.len)
    }

    /// The first packet; none if the queue is empty.
    #[inline]
    pub(super) fn first(&self, list: &List) -> Option<&Packet> {
        self.packets.get(list.head as usize)
    }

    /// The packets of a queue in order, with their numbers.
    #[cfg(test)]
    pub(crate) fn iter(&self, list: &List) -> impl Iterator<Item = (&Packet, u32)> {
        self.places(list).map(|at| (self.packet(at), self.note(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn agrees_with_separate_queues(ops in prop::collection::vec((0_usize..4, 0_u8..5), 0..300)) {
            let mut slab = Slab::new();
            let mut lists = [List::EMPTY; 4];
            let mut model: [VecDeque<u32>; 4] = Default::default();
            let mut most = 0;
            for (seq, (q, op)) in (0_u32..).zip(ops) {
                if op < 2 {
                    let packet = Packet { tag: seq.into(), ..Packet::new(q as u32, seq, 100) };
                    slab.push(&mut lists[q], packet, seq ^ 7);
                    model[q].push_back(seq);
                } else if op == 4 && model[q].len() > 1 {
                    // One from the middle, or the last.
                    let nth = seq as usize % (model[q].len() - 1);
                    let before = slab.places(&lists[q]).nth(nth).unwrap();
                    let at = slab.unlink_behind(&mut lists[q], before).unwrap();
                    prop_assert_eq!(Some(slab.packet(at).seq), model[q].remove(nth + 1));
                } else {
                    let got = slab.pop(&mut lists[q]);
                    prop_assert_eq!(got.map(|(p, n)| (p.seq, n, p.tag)), model[q].pop_front().map(|s| (s, s ^ 7, s.into())));
                }
                prop_assert_eq!(lists[q].is_empty(), model[q].is_empty());
                prop_assert_eq!(slab.iter(&lists[q]).map(|(p, _)| p.seq).collect::<VecDeque<_>>(), model[q].clone());
                most = most.max(model.iter().map(VecDeque::len).sum());
            }
            prop_assert_eq!(slab.packets.len(), most);
        }
    }
}
