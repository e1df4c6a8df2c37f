//! The interface of fair queues for admission control, and its implementations.
//!
//! A flow is [`Packet::flow`], the dense number that the driver gives each different key
//! ([`spillgate_core::FlowKey`]): equal numbers are equal keys, so no hash is needed.

use spillgate_core::Packet;

use crate::leaf::Bound;
use crate::sched::pdrr::Pdrr;
use crate::sched::pfq::{Heap, Pfq, Ring, TagOrder, WideRing, span};
use crate::share::{Meanwhile, Member, Others};

/// How a packet was queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FanClass {
    /// Before all packets of the other class.
    Priority,
    /// At the fair rate of its flow.
    Backlog,
}

/// A scheduler that gives priority to flows below their fair rate. It holds the queued packets and
/// their limit; it knows neither time nor rate.
pub(crate) trait FairScheduler {
    /// Queues a packet of an admitted flow, or returns none if the buffer is full of packets that
    /// cannot be pushed out. Packets that are pushed out for it go to `evicted`, also if they were
    /// not enough.
    fn offer(&mut self, packet: Packet, evicted: &mut impl FnMut(Packet)) -> Option<FanClass>;
    /// The next packet to send.
    fn pop(&mut self) -> Option<Packet>;
    /// The link has become idle, and no packet is queued: flows are forgotten, totals and virtual
    /// time stay.
    fn idle(&mut self);
    /// Whether a packet of the flow would be denied priority now: the flow is remembered and has
    /// used its allowance.
    fn is_backlogged(&self, flow: u32) -> bool;
    /// What waits, and what was served.
    fn totals(&self) -> FairTotals;
    /// Whether the list of active flows is full, so that the next new flow could not be listed.
    fn saturated(&self) -> bool {
        false
    }
    /// Whether so many flows can be active.
    fn lists_all(&self, _flows: u64) -> bool {
        true
    }
    /// What other flows may send while a flow that waits sends x bytes, if that is known.
    fn meanwhile(&self, _own: &Member, _others: &Others) -> Option<Meanwhile> {
        None
    }
    /// Upper estimate of the memory in bytes with a full buffer and so many flows.
    fn memory_bytes(&self, flows: usize) -> u64;
    /// Drops all queued packets, those with priority first, then flow by flow; then the link is
    /// idle.
    fn flush(&mut self, lost: &mut impl FnMut(Packet));
}

/// What a fair queue counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FairTotals {
    /// Waiting packets.
    pub(crate) packets: u32,
    /// Waiting bytes.
    pub(crate) bytes: u64,
    /// Bytes that got priority.
    pub(crate) priority_bytes: u64,
    /// Bytes that a permanently backlogged flow would have sent: virtual time (PFQ), the service of
    /// a fictitious flow (PDRR).
    pub(crate) fair_bytes: u64,
    /// Packets of flows that could not be listed since the list of active flows was full.
    pub(crate) unlisted: u64,
}

impl FairTotals {
    /// A packet is queued.
    #[inline]
    pub(crate) fn enters(&mut self, packet: &Packet) {
        self.packets += 1;
        self.bytes += u64::from(packet.len);
    }

    /// A packet is taken out.
    #[inline]
    pub(crate) fn leaves(&mut self, packet: &Packet) {
        self.packets -= 1;
        self.bytes -= u64::from(packet.len);
    }
}

/// Parameters of a fair queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FairQueueParams {
    /// The limit of all queues together.
    pub(crate) limit: Bound,
    /// PFQ: bytes of priority after which a flow gets no more.
    pub(crate) mtu: u32,
    /// PDRR: bytes of service, and of priority, per round.
    pub(crate) quantum: u32,
    /// PDRR: priority bytes are charged to the deficit.
    pub(crate) charged: bool,
    /// PFQ: the largest number of active flows.
    pub(crate) afl_max: u32,
}

spillgate_core::family! {
    /// A fair queue. It is boxed, so that ports of other kinds are not as large.
    #[derive(Clone, Debug)]
    pub(crate) running enum FairQueue by each;

    /// PFQ with a ring of buckets.
    Pfq(Box<Pfq<Ring>>);
    /// PFQ with a larger ring, for longer packets.
    PfqWide(Box<Pfq<WideRing>>);
    /// PFQ with a heap.
    PfqHeap(Box<Pfq<Heap>>);
    /// PDRR.
    Pdrr(Box<Pdrr>);
}

impl FairQueue {
    /// Sets the limit; packets above it are pushed out as others arrive.
    pub(crate) fn set_bound(&mut self, bound: Bound) {
        each!(self, q => q.set_bound(bound));
    }

    /// PFQ: in a ring if the tags of packets up to `mtu` fit, else in a heap.
    pub(crate) fn pfq(params: &FairQueueParams) -> Self {
        match span(params.mtu, params.mtu) {
            s if s <= Ring::MAX_SPAN => Self::Pfq(Box::new(Pfq::new(params))),
            s if s <= WideRing::MAX_SPAN => Self::PfqWide(Box::new(Pfq::new(params))),
            _ => Self::PfqHeap(Box::new(Pfq::new(params))),
        }
    }

    /// PDRR.
    pub(crate) fn pdrr(params: &FairQueueParams) -> Self {
        Self::Pdrr(Box::new(Pdrr::new(params)))
    }

    /// Whether a packet of this length is too long for the order as it is.
    #[inline]
    fn is_too_long(&self, len: u32) -> bool {
        match self {
            Self::Pfq(q) => !q.spans(len),
            Self::PfqWide(q) => !q.spans(len),
            Self::PfqHeap(_) | Self::Pdrr(_) => false,
        }
    }

    /// Prepares for a packet longer than the configured MTU.
    #[cold]
    fn allow_long(&mut self, len: u32) {
        fn wider<O: TagOrder>(q: &Pfq<O>, len: u32) -> FairQueue {
            if q.span(len) <= WideRing::MAX_SPAN {
                FairQueue::PfqWide(Box::new(q.clone().reordered(len)))
            } else {
                FairQueue::PfqHeap(Box::new(q.clone().reordered(len)))
            }
        }
        match self {
            Self::Pfq(q) => *self = wider(q, len),
            Self::PfqWide(q) => *self = wider(q, len),
            Self::PfqHeap(_) | Self::Pdrr(_) => {}
        }
    }
}

impl FairScheduler for FairQueue {
    #[inline]
    fn offer(&mut self, packet: Packet, evicted: &mut impl FnMut(Packet)) -> Option<FanClass> {
        if self.is_too_long(packet.len) {
            self.allow_long(packet.len);
        }
        each!(self, q => q.offer(packet, evicted))
    }

    #[inline]
    fn pop(&mut self) -> Option<Packet> {
        each!(self, q => q.pop())
    }

    #[inline]
    fn idle(&mut self) {
        each!(self, q => q.idle());
    }

    #[inline]
    fn is_backlogged(&self, flow: u32) -> bool {
        each!(self, q => q.is_backlogged(flow))
    }

    #[inline]
    fn totals(&self) -> FairTotals {
        each!(self, q => q.totals())
    }

    #[inline]
    fn saturated(&self) -> bool {
        each!(self, q => q.saturated())
    }

    fn lists_all(&self, flows: u64) -> bool {
        each!(self, q => q.lists_all(flows))
    }

    fn meanwhile(&self, own: &Member, others: &Others) -> Option<Meanwhile> {
        each!(self, q => q.meanwhile(own, others))
    }

    fn memory_bytes(&self, flows: usize) -> u64 {
        each!(self, q => q.memory_bytes(flows))
    }

    fn flush(&mut self, lost: &mut impl FnMut(Packet)) {
        each!(self, q => q.flush(lost));
    }
}
