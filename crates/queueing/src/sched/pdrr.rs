//! Priority deficit round robin (PDRR).
//!
//! Source: A. Kortebi, S. Oueslati, J. Roberts, "Implicit service differentiation using deficit
//! round robin", ITC 19, 2005; deficit round robin: M. Shreedhar, G. Varghese, IEEE/ACM ToN 4(3),
//! 1996.
//!
//! Idea: deficit round robin over the active flows, and a priority queue for the first quantum of
//! each flow since it became active. A flow that sends less than a quantum per round has left the
//! active list when its turn comes, and is new with its next packet. A marker takes part in the
//! round: each round in which flows are served between two of its turns is a quantum that a
//! permanently backlogged flow would have got.
//!
//! Modes: as published, a flow that empties its queue within its turn is new at once and gets more
//! than its share; `charged` charges priority bytes to the deficit, which prevents that. Cost: O(1)
//! per packet; O(log n) while the buffer overflows.

use std::collections::VecDeque;

use spillgate_core::Packet;

use super::longest::LongestFlow;
use super::slab::{List, Slab};
use super::table::{Flow, Table};
use crate::fan::scheduler::{FairQueueParams, FairScheduler, FairTotals, FanClass};
use crate::leaf::{Bound, ring_packets};
use crate::share::{Meanwhile, Member, Others, sum};

/// The marker's place in the round.
const MARKER: u32 = u32::MAX;

/// The scheduler's state of a flow in the active list.
#[derive(Clone, Debug)]
struct PdrrState {
    /// Bytes that it may send in this turn. At least minus one quantum.
    deficit: i64,
    /// Bytes that arrived since it became active, counted as far as needed.
    count: u32,
}

// Two to a cache line.
const _: () = assert!(std::mem::size_of::<Flow<PdrrState>>() <= 32);

/// A running PDRR scheduler.
#[derive(Clone, Debug)]
pub(crate) struct Pdrr {
    bound: Bound,
    quantum: u32,
    charged: bool,
    priority: List,
    slab: Slab,
    /// The active flows.
    flows: Table<PdrrState>,
    /// Their slots and the marker, in the order of the round.
    round: VecDeque<u32>,
    /// The first flow has got its quantum in this turn.
    in_turn: bool,
    /// A packet without priority has left since the marker was first.
    served: bool,
    longest: LongestFlow,
    totals: FairTotals,
}

impl Pdrr {
    pub(crate) fn set_bound(&mut self, bound: Bound) {
        self.bound = bound.in_4_gib();
    }

    pub(crate) fn new(params: &FairQueueParams) -> Self {
        Self {
            bound: params.limit.in_4_gib(),
            // With a quantum of zero no packet would leave.
            quantum: params.quantum.max(1),
            charged: params.charged,
            priority: List::EMPTY,
            slab: Slab::new(),
            flows: Table::new(),
            round: VecDeque::from([MARKER]),
            in_turn: false,
            served: false,
            longest: LongestFlow::default(),
            totals: FairTotals::default(),
        }
    }

    /// Takes the first packet out of the queue of the flow with the most bytes waiting.
    fn evict(&mut self) -> Option<Packet> {
        let slot = self.longest.find(self.totals.packets, &self.flows)?;
        let flow = self.flows.at_mut(slot);
        let at = self.slab.unlink(&mut flow.queue)?;
        let packet = self.slab.packet(at);
        flow.waiting -= packet.len;
        self.totals.leaves(packet);
        Some(*packet)
    }

    /// Moves the first of the round to its end.
    #[inline]
    fn next_turn(&mut self) {
        let first = self.round.pop_front();
        self.round.extend(first);
        self.in_turn = false;
    }

    /// Takes the first of the round, a flow, out.
    #[inline]
    fn retire(&mut self, slot: u32) {
        self.round.pop_front();
        self.flows.remove(slot);
        self.in_turn = false;
    }

    /// The slot of the next packet without priority; there must be one.
    fn serve(&mut self) -> Option<u32> {
        loop {
            let slot = *self.round.front()?;
            if slot == MARKER {
                if self.served {
                    self.totals.fair_bytes += u64::from(self.quantum);
                    self.served = false;
                }
                self.next_turn();
                continue;
            }
            let flow = self.flows.at_mut(slot);
            let Some(len) = self.slab.first_len(&flow.queue) else {
                self.retire(slot);
                continue;
            };
            if !self.in_turn {
                flow.own.deficit += i64::from(self.quantum);
                self.in_turn = true;
            }
            if i64::from(len) > flow.own.deficit {
                self.next_turn();
                continue;
            }
            flow.own.deficit -= i64::from(len);
            flow.waiting -= len;
            self.served = true;
            let at = self.slab.unlink(&mut flow.queue)?;
            if flow.queue.is_empty() {
                self.retire(slot);
            }
            return Some(at);
        }
    }
}

impl FairScheduler for Pdrr {
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
        self.totals.enters(&packet);
        let slot = match self.flows.find(packet.flow) {
            Some(slot) => slot,
            None => {
                let fresh = PdrrState {
                    deficit: 0,
                    count: 0,
                };
                let slot = self.flows.insert(packet.flow, 0, fresh);
                self.round.push_back(slot);
                slot
            }
        };
        let flow = self.flows.at_mut(slot);
        flow.waiting += len;
        flow.own.count = flow.own.count.saturating_add(len);
        // After the packet is counted, unlike PFQ.
        if flow.own.count <= self.quantum {
            self.totals.priority_bytes += u64::from(len);
            if self.charged {
                flow.own.deficit -= i64::from(len);
            }
            self.slab.push(&mut self.priority, packet, slot);
            return Some(FanClass::Priority);
        }
        self.longest.grew(slot, packet.flow, flow.waiting);
        self.slab.push(&mut flow.queue, packet, slot);
        Some(FanClass::Backlog)
    }

    #[inline]
    fn pop(&mut self) -> Option<Packet> {
        let at = match self.slab.unlink(&mut self.priority) {
            Some(at) => {
                let slot = self.slab.note(at);
                self.flows.at_mut(slot).waiting -= self.slab.packet(at).len;
                at
            }
            None if self.totals.packets == 0 => return None,
            None => self.serve()?,
        };
        let packet = self.slab.packet(at);
        self.totals.leaves(packet);
        self.longest.shrunk(self.totals.packets);
        Some(*packet)
    }

    #[inline]
    fn idle(&mut self) {
        self.flows.clear();
        self.round.clear();
        self.round.push_back(MARKER);
        self.in_turn = false;
        self.served = false;
        self.longest.reset();
    }

    #[inline]
    fn is_backlogged(&self, flow: u32) -> bool {
        self.flows
            .find(flow)
            .is_some_and(|slot| self.flows.at(slot).own.count > self.quantum)
    }

    #[inline]
    fn totals(&self) -> FairTotals {
        self.totals
    }

    /// As with deficit round robin; but a flow that has emptied its queue in its turn is new at
    /// once and sends a quantum with priority before the next flow's turn. Charged, that is paid
    /// for in its next turn, also by the flow that waits; as published it is not, so that each turn
    /// may be two quanta, and one has begun when the flow comes.
    fn meanwhile(&self, _: &Member, others: &Others) -> Option<Meanwhile> {
        let quantum = u64::from(self.quantum);
        let flows = sum(others, |_| 1);
        let packets = sum(others, |m| m.longest.into());
        let whole = u128::from(quantum) * flows;
        Some(match self.charged {
            true => Meanwhile::Turns {
                ahead: whole + packets - flows,
                turn: quantum,
                early: 2 * quantum - 1,
                others: whole,
            },
            false => Meanwhile::Turns {
                ahead: whole + packets,
                turn: quantum,
                early: quantum - 1,
                others: 2 * whole,
            },
        })
    }

    fn memory_bytes(&self, flows: usize) -> u64 {
        // An entry in the round and in the heap of backlogs.
        let flow = (Table::<PdrrState>::FLOW + 8 + 20) as u64;
        Slab::PACKET as u64 * ring_packets(&self.bound) + flows as u64 * flow
    }

    fn flush(&mut self, lost: &mut impl FnMut(Packet)) {
        while let Some((packet, _)) = self.slab.pop(&mut self.priority) {
            lost(packet);
        }
        for slot in self.round.drain(..).filter(|s| *s != MARKER) {
            let queue = &mut self.flows.at_mut(slot).queue;
            while let Some((packet, _)) = self.slab.pop(queue) {
                lost(packet);
            }
        }
        (self.totals.packets, self.totals.bytes) = (0, 0);
        self.idle();
    }
}
