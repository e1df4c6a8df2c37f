//! The fair queues that drop by themselves, as a leaf holds them.

use spillgate_core::{DropReason, Dropped, Packet, Rng, Time};

use super::drr::Drr;
use super::fq_codel::FqCodel;
use crate::evidence::{Cause, QueueLimit};
use crate::leaf::Bound;

/// A fair queue that pushes out from the longest of its queues.
#[derive(Clone, Debug)]
pub(crate) enum FlowQueue {
    /// Deficit round robin.
    Drr(Drr),
    /// FQ-CoDel.
    FqCodel(FqCodel),
}

macro_rules! each {
    ($self:ident, $q:ident => $call:expr) => {
        match $self {
            Self::Drr($q) => $call,
            Self::FqCodel($q) => $call,
        }
    };
}

impl FlowQueue {
    /// The name of the leaf that it is.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Drr(_) => "drr",
            Self::FqCodel(_) => "fq-codel",
        }
    }

    /// To be called before a packet is offered: the first one makes the queue draw a number.
    #[inline]
    pub(crate) fn prepare(&mut self, rng: &mut Rng) {
        each!(self, q => q.prepare(rng));
    }

    /// Whether there would be room for a packet if nothing waited.
    #[inline]
    pub(crate) fn fits(&self, packet: &Packet) -> bool {
        each!(self, q => q.bound().admits(0, 0, packet.len))
    }

    /// Queues a packet and gives up what has no room; whether the packet itself is kept.
    #[inline]
    pub(crate) fn offer(&mut self, packet: Packet, evicted: &mut dyn FnMut(Packet)) -> bool {
        each!(self, q => q.offer(packet, evicted))
    }

    /// The next packet, and whether it is marked; `lost` gets what is dropped before.
    #[inline]
    pub(crate) fn pop(
        &mut self,
        now: Time,
        lost: &mut dyn FnMut(Packet, DropReason),
    ) -> Option<(Packet, bool)> {
        match self {
            Self::Drr(q) => q.pop().map(|p| (p, false)),
            Self::FqCodel(q) => q.pop(now, lost),
        }
    }

    /// Length of the next packet if nothing drops it; 0 if there is none.
    pub(crate) fn head_len(&self) -> u32 {
        each!(self, q => q.head_len())
    }

    /// Gives everything up.
    pub(crate) fn flush(&mut self, lost: &mut dyn FnMut(Packet)) {
        each!(self, q => q.flush(lost));
    }

    /// Why `lost` was dropped.
    pub(crate) fn evidence(&self, lost: &Dropped) -> Cause {
        match (self, lost.reason) {
            (Self::FqCodel(q), DropReason::Early) => q.cause(&lost.packet).unwrap_or_default(),
            (_, DropReason::PushedOut) => {
                let (packets, bytes) = each!(self, q => q.flows_backlog(&lost.packet));
                Cause::Flow {
                    packets,
                    bytes,
                    limit: QueueLimit::default(),
                }
            }
            _ => Cause::Plain,
        }
    }

    /// How much may wait in all.
    pub(crate) fn bound(&self) -> &Bound {
        each!(self, q => q.bound())
    }

    /// The flows are `0..n`.
    pub(crate) fn expect_flows(&mut self, n: usize) {
        match self {
            Self::Drr(q) => q.expect_flows(n),
            Self::FqCodel(_) => {}
        }
    }

    pub(crate) fn memory_bytes(&self, flows: usize) -> u64 {
        each!(self, q => q.memory_bytes(flows))
    }
}
