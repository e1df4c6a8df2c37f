//! A fair queue without admission control.

use spillgate_core::Packet;

use super::scheduler::{FairQueue, FairQueueParams, FairScheduler, FanClass};
use crate::leaf::Bound;
use crate::sched::pfq::Pfq;

/// The scheduler of a flow-aware link without its admission control, for benchmarks and
/// experiments. It may hold a given number of packets; a packet is one of flow
/// [`Packet::flow`].
///
/// ```
/// use spillgate_core::Packet;
/// use spillgate_queueing::testkit::BareFairQueue;
///
/// let mut queue = BareFairQueue::pfq(1000, 1500);
/// assert_eq!(queue.offer(Packet::new(1, 0, 1500)), Some(true));
/// assert_eq!(queue.offer(Packet::new(1, 1, 1500)), Some(false)); // has had its MTU
/// assert_eq!(queue.offer(Packet::new(2, 0, 100)), Some(true));
/// let order: Vec<u32> = std::iter::from_fn(|| queue.pop()).map(|p| p.flow).collect();
/// assert_eq!(order, [1, 2, 1]);
/// ```
#[derive(Clone, Debug)]
pub struct BareFairQueue(FairQueue);

fn params(packets: u32, unit: u32, charged: bool) -> FairQueueParams {
    FairQueueParams {
        limit: Bound {
            packets,
            ..Bound::NONE
        },
        mtu: unit,
        quantum: unit,
        charged,
        afl_max: u32::MAX,
    }
}

impl BareFairQueue {
    /// Priority fair queueing; `mtu` in bytes. Its order is a ring of buckets up to 128 KiB, and a
    /// heap above.
    pub fn pfq(packets: u32, mtu: u32) -> Self {
        Self(FairQueue::pfq(&params(packets, mtu, true)))
    }

    /// Priority fair queueing whose order is a heap.
    pub fn pfq_heap(packets: u32, mtu: u32) -> Self {
        Self(FairQueue::PfqHeap(Box::new(Pfq::new(&params(
            packets, mtu, true,
        )))))
    }

    /// Priority deficit round robin; `quantum` in bytes, at least 1. `charged` takes priority bytes
    /// from the deficit.
    pub fn pdrr(packets: u32, quantum: u32, charged: bool) -> Self {
        Self(FairQueue::pdrr(&params(packets, quantum, charged)))
    }

    /// Queues a packet; returns whether it got priority, or none if it was dropped. Packets that
    /// are pushed out for it are discarded.
    #[inline]
    pub fn offer(&mut self, packet: Packet) -> Option<bool> {
        let class = self.0.offer(packet, &mut |_| {})?;
        Some(class == FanClass::Priority)
    }

    /// The next packet to send.
    #[inline]
    pub fn pop(&mut self) -> Option<Packet> {
        self.0.pop()
    }

    /// Drops all queued packets, and forgets all flows.
    pub fn clear(&mut self) {
        self.0.flush(&mut |_| {});
    }

    /// Waiting packets and bytes.
    pub fn backlog(&self) -> (u32, u64) {
        (self.0.totals().packets, self.0.totals().bytes)
    }

    /// The bytes that a permanently backlogged flow would have sent so far.
    pub fn fair_bytes(&self) -> u64 {
        self.0.totals().fair_bytes
    }

    /// The bytes that got priority so far.
    pub fn priority_bytes(&self) -> u64 {
        self.0.totals().priority_bytes
    }

    /// Upper estimate of the memory in bytes with a full buffer and so many flows.
    pub fn memory_bytes(&self, flows: usize) -> u64 {
        self.0.memory_bytes(flows)
    }
}
