//! Priority fair queueing (PFQ).
//!
//! Source: A. Kortebi, S. Oueslati, J. Roberts, "Cross-protect: implicit service differentiation
//! and admission control", IEEE HPSR 2004; start-time fair queueing: P. Goyal, H. Vin, H. Cheng,
//! IEEE/ACM ToN 5(5), 1997.
//!
//! Idea: start-time fair queueing whose virtual time v is the start tag of the packet that left
//! last. A packet of a flow that has used less than one MTU since it was last forgotten would get
//! the smallest possible tag; it leaves before all others. A flow is forgotten as soon as none of
//! its packets is queued and v has passed the finish tag of its last packet: a flow that sends less
//! than its fair rate is new with every packet, and so always has priority.
//!
//! Order: a queue for priority packets, a queue for each flow with other packets, and the start tag
//! of the first packet of each of these. The tag need not be stored: it is the flow's finish tag
//! less the bytes in its queue. Tags lie at most the MTU and the longest packet above v, so that a
//! ring of 4096 buckets orders them in constant time, or a larger one for MTUs above 2048 B (up to
//! 2 MB of buckets); above the longest IP packet a heap does, with the same result.
//!
//! Deviations: priority bytes are charged to the flow's tag, and the packet after one that was
//! pushed out inherits its tag; see the model page. Cost: O(1) per packet, amortized; O(log n) in
//! the heap form and while the buffer overflows.

mod bits;
mod order;
mod ring;

use spillgate_core::Packet;

use super::longest::LongestFlow;
use super::slab::{List, Slab};
use super::table::{Flow, Table};
use crate::fan::scheduler::{FairQueueParams, FairScheduler, FairTotals, FanClass};
use crate::leaf::{Bound, ring_packets};
use crate::share::{Meanwhile, Member, Others, PARTS, sum};
pub(crate) use order::{Heap, TagOrder};
use ring::Buckets;
pub(crate) use ring::{Ring, WideRing};

/// The note of a packet in the priority queue whose flow is not in the list.
const UNLISTED: u32 = u32::MAX;

/// How far above virtual time tags lie at most with packets up to `len`.
#[inline]
pub(crate) fn span(mtu: u32, len: u32) -> u64 {
    u64::from(mtu) + u64::from(len)
}

/// The scheduler's state of a flow in the active flow list.
#[derive(Clone, Debug)]
struct Tags {
    /// Finish tag of its last packet.
    finish: u64,
    /// Its bytes that are queued without priority.
    queued: u32,
    /// Bytes that got priority since it was listed.
    given: u32,
}

// Two to a cache line.
const _: () = assert!(std::mem::size_of::<Flow<Tags>>() <= 32);

impl Tags {
    /// Start tag of the first packet in its queue.
    #[inline]
    fn head(&self) -> u64 {
        self.finish - u64::from(self.queued)
    }
}

/// A running PFQ scheduler, its backlogged flows ordered by `O`.
#[derive(Clone, Debug)]
pub(crate) struct Pfq<O> {
    bound: Bound,
    mtu: u32,
    afl_max: usize,
    /// Virtual time in bytes.
    v: u64,
    priority: List,
    slab: Slab,
    /// The active flow list.
    flows: Table<Tags>,
    /// Flows with packets in their own queue, by the start tag of the first one.
    heads: O,
    /// Flows without queued packets, by finish tag; they are forgotten when v reaches it.
    resting: O,
    longest: LongestFlow,
    totals: FairTotals,
}

impl<O: TagOrder> Pfq<O> {
    pub(crate) fn set_bound(&mut self, bound: Bound) {
        self.bound = bound.in_4_gib();
    }

    pub(crate) fn new(params: &FairQueueParams) -> Self {
        let span = span(params.mtu, params.mtu);
        Self {
            bound: params.limit.in_4_gib(),
            mtu: params.mtu,
            afl_max: params.afl_max as usize,
            v: 0,
            priority: List::EMPTY,
            slab: Slab::new(),
            flows: Table::new(),
            heads: O::new(span),
            resting: O::new(span),
            longest: LongestFlow::default(),
            totals: FairTotals::default(),
        }
    }

    /// The same scheduler with another order, for packets up to `len`; its behavior does not
    /// change.
    pub(crate) fn reordered<P: TagOrder>(mut self, len: u32) -> Pfq<P> {
        let span = span(self.mtu, len);
        let mut heads = P::new(span);
        while let Some(slot) = self.heads.first(self.v) {
            let tag = self.flows.at(slot).own.head();
            self.heads.remove(slot, tag);
            heads.insert(slot, tag);
        }
        let mut resting = P::new(span);
        while let Some(slot) = self.resting.first(self.v) {
            let tag = self.flows.at(slot).own.finish;
            self.resting.remove(slot, tag);
            resting.insert(slot, tag);
        }
        Pfq {
            bound: self.bound,
            mtu: self.mtu,
            afl_max: self.afl_max,
            v: self.v,
            priority: self.priority,
            slab: self.slab,
            flows: self.flows,
            heads,
            resting,
            longest: self.longest,
            totals: self.totals,
        }
    }

    /// How far above virtual time tags lie at most with packets up to `len`.
    pub(crate) fn span(&self, len: u32) -> u64 {
        span(self.mtu, len)
    }

    /// Finish tag of a flow, if it is listed.
    #[cfg(test)]
    pub(crate) fn finish_tag(&self, flow: u32) -> Option<u64> {
        Some(self.flows.at(self.flows.find(flow)?).own.finish)
    }

    /// Removes the first packet from the longest queue. The next one inherits its tag: otherwise
    /// the dropped packet would count as service.
    fn evict(&mut self) -> Option<Packet> {
        let slot = self.longest.find(self.totals.packets, &self.flows)?;
        let flow = self.flows.at_mut(slot);
        let tag = flow.own.head();
        let (packet, _) = self.slab.pop(&mut flow.queue)?;
        flow.own.finish -= u64::from(packet.len);
        flow.waiting -= packet.len;
        flow.own.queued -= packet.len;
        if flow.queue.is_empty() {
            self.heads.remove(slot, tag);
            if flow.waiting == 0 {
                // The flow is forgotten when v changes, even if v is at its tag already.
                self.resting.insert(slot, flow.own.finish);
            }
        }
        self.totals.leaves(&packet);
        Some(packet)
    }

    /// Moves virtual time on, and forgets the flows whose finish tag it passes.
    #[inline]
    fn advance(&mut self, v: u64) {
        while let Some(slot) = self.resting.first(self.v) {
            let finish = self.flows.at(slot).own.finish;
            if finish > v {
                break;
            }
            self.resting.remove(slot, finish);
            self.flows.remove(slot);
        }
        self.v = v;
    }

    /// Queues a packet for which there is room.
    #[inline]
    fn take_in(&mut self, packet: Packet) -> FanClass {
        let len = packet.len;
        self.totals.enters(&packet);
        let Some(slot) = self.flows.find(packet.flow) else {
            self.totals.priority_bytes += u64::from(len);
            let slot = if self.flows.len() < self.afl_max {
                let fresh = Tags {
                    finish: self.v + u64::from(len),
                    queued: 0,
                    given: len,
                };
                self.flows.insert(packet.flow, len, fresh)
            } else {
                self.totals.unlisted += 1;
                UNLISTED
            };
            self.slab.push(&mut self.priority, packet, slot);
            return FanClass::Priority;
        };
        let flow = self.flows.at_mut(slot);
        if flow.waiting == 0 {
            self.resting.remove(slot, flow.own.finish);
        }
        flow.waiting += len;
        let start = flow.own.finish.max(self.v);
        flow.own.finish = start + u64::from(len);
        // Before the packet is counted: a flow gets up to one MTU and a packet.
        if flow.own.given < self.mtu {
            flow.own.given += len;
            self.totals.priority_bytes += u64::from(len);
            self.slab.push(&mut self.priority, packet, slot);
            return FanClass::Priority;
        }
        if flow.queue.is_empty() {
            self.heads.insert(slot, start);
        }
        flow.own.queued += len;
        self.longest.grew(slot, packet.flow, flow.waiting);
        self.slab.push(&mut flow.queue, packet, slot);
        FanClass::Backlog
    }
}

#[cfg(test)]
impl<O: TagOrder> Pfq<O> {
    /// Checks the invariants that hold between calls.
    pub(crate) fn audit(&self) {
        let span = 2 * u64::from(self.mtu);
        let mut listed = 0;
        for (_, flow) in self.flows.iter() {
            let lens = self.slab.iter(&flow.queue).map(|(p, _)| u64::from(p.len));
            assert_eq!(u64::from(flow.own.queued), lens.sum::<u64>());
            assert!(flow.waiting >= flow.own.queued);
            if !flow.queue.is_empty() {
                assert!(flow.own.head() >= self.v, "a tag in the past");
                assert!(flow.own.head() < self.v + span, "a tag far ahead");
            }
            listed += u64::from(flow.waiting);
        }
        let unlisted = self.slab.iter(&self.priority);
        let unlisted = unlisted.filter(|(_, note)| *note == UNLISTED);
        let unlisted: u64 = unlisted.map(|(p, _)| u64::from(p.len)).sum();
        assert_eq!(listed + unlisted, self.totals.bytes, "bytes are lost");
    }
}

impl<B> Pfq<Buckets<B>> {
    /// Whether the tags of packets of this length fit in the ring.
    #[inline]
    pub(crate) fn spans(&self, len: u32) -> bool {
        span(self.mtu, len) <= self.heads.span()
    }
}

impl<O: TagOrder> FairScheduler for Pfq<O> {
    #[inline]
    fn offer(&mut self, packet: Packet, evicted: &mut impl FnMut(Packet)) -> Option<FanClass> {
        let len = packet.len;
        if !self.bound.admits(0, 0, len) {
            return None;
        }
        while !self
            .bound
            .admits(self.totals.packets, self.totals.bytes, len)
        {
            evicted(self.evict()?);
        }
        Some(self.take_in(packet))
    }

    #[inline]
    fn pop(&mut self) -> Option<Packet> {
        let (at, slot) = match self.slab.unlink(&mut self.priority) {
            Some(at) => (at, self.slab.note(at)),
            None => {
                let slot = self.heads.first(self.v)?;
                let tag = self.flows.at(slot).own.head();
                if tag != self.v {
                    self.advance(tag);
                }
                self.heads.remove(slot, tag);
                let flow = self.flows.at_mut(slot);
                let at = self.slab.unlink(&mut flow.queue)?;
                flow.own.queued -= self.slab.packet(at).len;
                if !flow.queue.is_empty() {
                    self.heads.insert(slot, flow.own.head());
                }
                (at, slot)
            }
        };
        let packet = self.slab.packet(at);
        self.totals.leaves(packet);
        if slot != UNLISTED {
            let flow = self.flows.at_mut(slot);
            flow.waiting -= packet.len;
            if flow.waiting == 0 {
                self.resting.insert(slot, flow.own.finish);
            }
        }
        self.longest.shrunk(self.totals.packets);
        Some(*packet)
    }

    #[inline]
    fn idle(&mut self) {
        self.flows.clear();
        self.heads.clear();
        self.resting.clear();
        self.longest.reset();
    }

    #[inline]
    fn is_backlogged(&self, flow: u32) -> bool {
        self.flows
            .find(flow)
            .is_some_and(|slot| self.flows.at(slot).own.given >= self.mtu)
    }

    #[inline]
    fn totals(&self) -> FairTotals {
        FairTotals {
            fair_bytes: self.v,
            ..self.totals
        }
    }

    #[inline]
    fn saturated(&self) -> bool {
        self.flows.len() >= self.afl_max
    }

    fn lists_all(&self, flows: u64) -> bool {
        flows <= self.afl_max as u64
    }

    /// A packet of the start tag S leaves after others of tags from v, that of the last one that
    /// left, to S, and after packets with priority. All bytes of a flow lie one after another in
    /// tags from v on: those without priority start at S at the latest; one with priority starts
    /// within the MTU after a v at which its flow was listed. So a flow sends S - v, an MTU less a
    /// byte, and a packet. The flow itself is ahead of v by as much when it comes to wait.
    fn meanwhile(&self, own: &Member, others: &Others) -> Option<Meanwhile> {
        let most = |m: &Member| u128::from(self.mtu) - 1 + u128::from(m.longest);
        Some(Meanwhile::Evenly {
            ahead: sum(others, |m| most(m) + most(own)),
            parts: sum(others, |_| PARTS),
        })
    }

    fn memory_bytes(&self, flows: usize) -> u64 {
        // An entry in each order and in the heap of backlogs.
        let flow = (Table::<Tags>::FLOW + 2 * O::SLOT + 20) as u64;
        let rings = self.heads.memory_bytes() + self.resting.memory_bytes();
        Slab::PACKET as u64 * ring_packets(&self.bound) + flows as u64 * flow + rings
    }

    fn flush(&mut self, lost: &mut impl FnMut(Packet)) {
        while let Some((packet, _)) = self.slab.pop(&mut self.priority) {
            self.totals.leaves(&packet);
            lost(packet);
        }
        while let Some(slot) = self.heads.first(self.v) {
            let flow = self.flows.at_mut(slot);
            self.heads.remove(slot, flow.own.head());
            while let Some((packet, _)) = self.slab.pop(&mut flow.queue) {
                self.totals.leaves(&packet);
                lost(packet);
            }
            flow.own.queued = 0;
        }
        self.idle();
    }
}
