//! Pipes: the packets in flight on links, in the order of their arrival.
//!
//! A link with a constant delay is a queue of packets of which only the first needs a wake. Links
//! with equal delays whose departures follow one another in time can share a pipe. Fewer pipes mean
//! fewer pending wakes, and packets that arrive one after another lie side by side in memory.

use std::collections::VecDeque;

use spillgate_core::{Cos, Dscp, Ecn, Labels, Packet, Time};
use spillgate_events::{Key, Rank};

/// Every link has a pipe of its own, with its number; shared pipes follow.
pub(crate) struct Pipes {
    queues: Vec<VecDeque<InFlight>>,
}

/// Where a packet was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// At the head of its pipe.
    First,
    /// Behind other packets.
    Behind,
    /// In the own pipe of its link, since the shared pipe had no place for it near its end.
    /// `first`: at the head of that pipe.
    Overflow { first: bool },
}

/// How many packets from the end of a shared pipe a place is looked for.
const SEARCH: usize = 128;

impl Pipes {
    pub(crate) fn new(number: usize) -> Self {
        Self {
            queues: (0..number).map(|_| VecDeque::new()).collect(),
        }
    }

    /// The packet that arrives next.
    #[inline]
    pub(crate) fn first(&self, pipe: usize) -> Option<&InFlight> {
        self.queues[pipe].front()
    }

    /// The packet that arrives `ahead` packets after the next one.
    #[inline]
    pub(crate) fn get(&self, pipe: usize, ahead: usize) -> Option<&InFlight> {
        self.queues[pipe].get(ahead)
    }

    /// Takes out the packet that arrives next.
    #[inline]
    pub(crate) fn pop(&mut self, pipe: usize) -> Option<InFlight> {
        self.queues[pipe].pop_front()
    }

    /// Takes out all packets.
    pub(crate) fn take(&mut self, pipe: usize) -> VecDeque<InFlight> {
        std::mem::take(&mut self.queues[pipe])
    }

    /// Puts back the packets that are left of those [taken](Self::take).
    pub(crate) fn put(&mut self, pipe: usize, queue: VecDeque<InFlight>) {
        self.queues[pipe] = queue;
    }

    /// Puts a packet of `link`, due at the far end at `due` and with the tie of the link, into
    /// `pipe`, or into the own pipe of the link if it would have to overtake many others.
    #[inline(always)]
    pub(crate) fn push(
        &mut self,
        pipe: usize,
        link: usize,
        due: Time,
        tie: u64,
        packet: &Packet,
    ) -> Placed {
        let queue = &mut self.queues[pipe];
        // A closure, so that each branch builds the record in place: one shared record would be
        // built elsewhere and copied.
        let flight = || InFlight::new(due, tie, packet);
        match queue.back() {
            None => {
                queue.push_back(flight());
                Placed::First
            }
            Some(last) if last.precedes(due, tie) => {
                queue.push_back(flight());
                Placed::Behind
            }
            Some(_) => self.insert(pipe, link, flight()),
        }
    }

    #[inline(never)]
    fn insert(&mut self, pipe: usize, link: usize, p: InFlight) -> Placed {
        let queue = &mut self.queues[pipe];
        // An exponential search from the end, then a binary search: most places are close to the
        // end.
        let lowest = match pipe == link {
            true => 0,
            false => queue.len().saturating_sub(SEARCH),
        };
        let mut after = queue.len() - 1;
        let mut step = 1;
        let mut at = loop {
            let probe = after.saturating_sub(step).max(lowest);
            if queue[probe].is_before(&p) {
                break probe + 1;
            }
            after = probe;
            step *= 2;
            if probe > lowest {
                continue;
            }
            if lowest == 0 {
                queue.push_front(p);
                return Placed::First;
            }
            let own = &mut self.queues[link];
            own.push_back(p);
            return Placed::Overflow {
                first: own.len() == 1,
            };
        };
        while at < after {
            let middle = at.midpoint(after);
            if queue[middle].is_before(&p) {
                at = middle + 1;
            } else {
                after = middle;
            }
        }
        queue.insert(at, p);
        Placed::Behind
    }
}

/// A packet in flight, and when it reaches the far end of its link; without the fields that ports
/// set.
#[derive(Clone, Copy)]
pub(crate) struct InFlight {
    pub(crate) due: Time,
    /// Hash that orders deliveries of the same instant by link.
    pub(crate) tie: u64,
    handle: u64,
    sent: Time,
    pub(crate) flow: u32,
    seq: u32,
    l3_len: u16,
    dscp: Dscp,
    labels: Labels,
    cos: Cos,
    ecn: Ecn,
}

const _: () = assert!(size_of::<InFlight>() == 48);

impl InFlight {
    /// Whether it arrives before `other`; at one instant, in the order of deliveries.
    #[inline]
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        self.precedes(other.due, other.tie)
    }

    /// Whether it arrives before a packet due at `due` with this tie.
    #[inline]
    fn precedes(&self, due: Time, tie: u64) -> bool {
        let key = |tie| Key::new(due, Rank::Delivery, tie, 0);
        self.due < due || (self.due == due && key(self.tie) <= key(tie))
    }

    #[inline]
    pub(crate) fn new(due: Time, tie: u64, p: &Packet) -> Self {
        Self {
            due,
            tie,
            handle: p.handle,
            sent: p.sent,
            flow: p.flow,
            seq: p.seq,
            l3_len: p.l3_len,
            dscp: p.dscp,
            labels: p.labels,
            cos: p.cos,
            ecn: p.ecn,
        }
    }

    /// The index of its next hop in [`World::hops`](crate::World).
    #[inline]
    pub(crate) fn hop(&self) -> usize {
        (self.handle >> 32) as usize
    }

    /// The number of its TCP segment.
    #[inline]
    pub(crate) fn segment(&self) -> u32 {
        self.handle as u32
    }

    /// The packet as it left the last port.
    #[inline]
    pub(crate) fn packet(&self) -> Packet {
        Packet {
            handle: self.handle,
            sent: self.sent,
            dscp: self.dscp,
            labels: self.labels,
            cos: self.cos,
            ecn: self.ecn,
            ..Packet::new(self.flow, self.seq, self.l3_len)
        }
    }
}
