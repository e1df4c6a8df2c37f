//! Packets on the wire, in order of their arrival.
//!
//! A link of constant delay is a queue of packets of which only the first needs a wake. Links whose
//! departures follow each other in time and whose delays are alike can share one: the fewer there
//! are, the fewer wakes are pending, and packets that arrive one after the other lie so in memory.

use std::collections::VecDeque;

use spillgate_core::{Cos, Dscp, Ecn, Labels, Packet, Time};
use spillgate_events::{Key, Rank};

/// Every link has a wire of its own, by its number; those that links share follow.
pub(crate) struct Pipes {
    queues: Vec<VecDeque<InFlight>>,
}

/// Where a packet was put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placed {
    /// In front of all others on its wire.
    First,
    /// Behind others.
    Behind,
    /// On the wire of its link, `first` there or behind others.
    Overflow { first: bool },
}

/// How far from the end of a shared wire a place is looked for.
const SEARCH: usize = 128;

impl Pipes {
    pub(crate) fn new(number: usize) -> Self {
        Self {
            queues: (0..number).map(|_| VecDeque::new()).collect(),
        }
    }

    /// What arrives next.
    #[inline]
    pub(crate) fn first(&self, pipe: usize) -> Option<&InFlight> {
        self.queues[pipe].front()
    }

    /// What arrives `ahead` packets after the next.
    #[inline]
    pub(crate) fn get(&self, pipe: usize, ahead: usize) -> Option<&InFlight> {
        self.queues[pipe].get(ahead)
    }

    /// Takes out what arrives next.
    #[inline]
    pub(crate) fn pop(&mut self, pipe: usize) -> Option<InFlight> {
        self.queues[pipe].pop_front()
    }

    /// Takes out everything.
    pub(crate) fn take(&mut self, pipe: usize) -> VecDeque<InFlight> {
        std::mem::take(&mut self.queues[pipe])
    }

    /// Puts back what is left of what was [taken](Self::take).
    pub(crate) fn put(&mut self, pipe: usize, queue: VecDeque<InFlight>) {
        self.queues[pipe] = queue;
    }

    /// Puts a packet of `link`, with the tie of that, on `wire`, or on its own one if it would have
    /// to go far ahead of others. It is due at the far end at `due`.
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
        // Each makes its own: one that others look at would be put together elsewhere and copied.
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
        // Steps that double, then halves of the last one: most places are close to the end.
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

/// A packet on its way, and when it reaches the far end of the link: what ports set is left out.
#[derive(Clone, Copy)]
pub(crate) struct InFlight {
    pub(crate) due: Time,
    /// The tie of its link.
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
    /// Whether it arrives before `other`, at one instant in the order of deliveries.
    #[inline]
    pub(crate) fn is_before(&self, other: &Self) -> bool {
        self.precedes(other.due, other.tie)
    }

    /// Whether it arrives before what is due at `due` with that tie.
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

    /// Where its next hop stands.
    #[inline]
    pub(crate) fn hop(&self) -> usize {
        (self.handle >> 32) as usize
    }

    /// The number of its segment.
    #[inline]
    pub(crate) fn segment(&self) -> u32 {
        self.handle as u32
    }

    /// The packet as it left the port before.
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
