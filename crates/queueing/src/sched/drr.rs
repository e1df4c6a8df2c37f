//! Deficit round robin (DRR).
//!
//! Source: M. Shreedhar, G. Varghese, "Efficient Fair Queuing Using Deficit Round-Robin", IEEE/ACM ToN
//! 4(3), 1996; pushing out from the longest queue: P. McKenney, "Stochastic Fairness Queueing",
//! INFOCOM 1990.
//!
//! Idea: flows with packets take turns. In its turn a flow's deficit grows by its quantum, and its
//! packets leave while they are not longer than the deficit, which pays for them. What is left is
//! kept for the next turn, unless the queue is empty. Over any time in which two flows always have
//! packets, what they send differs by less than a quantum and two packets.
//!
//! Where there is no room, the first packet of the flow with the most bytes waiting is dropped, until
//! there is: of the arriving packet's own flow if that is the one.
//!
//! Deviation: a flow whose last packet was pushed out loses its deficit at once and its place in the
//! round when its turn comes.
//! Cost: O(1) per packet if the quantum is at least the longest packet, else O(length / quantum)
//! turns; O(log n) while the buffer overflows.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{Limit, Packet, Rate, Rng, Size};

use super::flows::{Flows, Sorting};
use super::pgps::WfqWeights;
use super::table::Flow;
use crate::BuildError;
use crate::leaf::{Bound, ring_packets};
use crate::recipe::At;

/// The smallest quantum: that of an Ethernet frame. It bounds the turns for one packet.
pub(crate) const LEAST_QUANTUM: u64 = 64;
/// The largest quantum.
pub(crate) const MOST_QUANTUM: u64 = 1 << 20;

/// Deficit round robin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct DrrSpec {
    /// Bytes that a flow of weight 1 may send in its turn, 64 B to 1 MiB. Default 1514 B, the longest
    /// packet of Ethernet.
    pub quantum: Size,
    /// What a flow's quantum is multiplied by.
    pub weights: WfqWeights,
    /// How much may wait in all. Default 1000 packets.
    pub limit: Limit,
    /// Number of queues, 1 to 65536, into which flows are hashed by addresses, ports and protocol.
    /// Default: each flow has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65536))]
    pub queues: Option<u32>,
}

impl Default for DrrSpec {
    fn default() -> Self {
        Self {
            quantum: Size(1514),
            weights: WfqWeights::Equal,
            limit: Limit::Packets(1000),
            queues: None,
        }
    }
}

/// Checks a quantum.
pub(crate) fn check_quantum(quantum: Size, at: &At<'_>) -> Result<i64, BuildError> {
    at.check(
        (LEAST_QUANTUM..=MOST_QUANTUM).contains(&quantum.0),
        "quantum",
        quantum,
        "a quantum must be from 64 B to 1 MiB",
        "the usual value is the longest packet, 1514 B",
    )?;
    Ok(quantum.0 as i64)
}

/// Checks a number of queues.
pub(crate) fn check_queues(queues: u32, key: &str, at: &At<'_>) -> Result<(), BuildError> {
    at.check(
        (1..=65_536).contains(&queues),
        key,
        queues,
        "the number of queues must be from 1 to 65536",
        "the usual value is 1024",
    )
}

impl DrrSpec {
    /// Checks the parameters; `rate` is that of the queue.
    pub(crate) fn resolve(&self, at: &mut At<'_>, rate: Rate) -> Result<Drr, BuildError> {
        let quantum = check_quantum(self.quantum, at)?;
        let bound = at.bound("limit", self.limit, rate)?;
        let sorting = match self.queues {
            None => Sorting::Exact,
            Some(queues) => {
                check_queues(queues, "queues", at)?;
                Sorting::Hashed { queues, salt: None }
            }
        };
        Ok(Drr {
            bound: bound.in_4_gib(),
            quantum,
            weights: self.weights,
            flows: Flows::new(sorting),
            round: VecDeque::new(),
            in_turn: false,
        })
    }
}

/// What the scheduler keeps of a flow in the round.
#[derive(Clone, Copy, Debug)]
struct Turns {
    /// Bytes that it may send.
    deficit: i64,
    quantum: i64,
}

// Two to a cache line.
const _: () = assert!(std::mem::size_of::<Flow<Turns>>() <= 32);

/// A running DRR.
#[derive(Clone, Debug)]
pub(crate) struct Drr {
    bound: Bound,
    quantum: i64,
    weights: WfqWeights,
    flows: Flows<Turns>,
    /// Slots of the flows with packets, in the order of the round; one whose packets were pushed out
    /// is still in it.
    round: VecDeque<u32>,
    /// The first flow has been given its quantum in this turn.
    in_turn: bool,
}

impl Drr {
    #[inline]
    pub(super) fn prepare(&mut self, rng: &mut Rng) {
        self.flows.prepare(rng);
    }

    /// Queues a packet and gives up what has no room; whether the packet itself is kept.
    #[inline]
    pub(super) fn offer(&mut self, packet: Packet, evicted: &mut dyn FnMut(Packet)) -> bool {
        let mut joins = false;
        let quantum = self.quantum * i64::from(self.weights.of(&packet));
        let slot = self.flows.push(packet, || {
            joins = true;
            Turns {
                deficit: 0,
                quantum,
            }
        });
        if joins {
            self.round.push_back(slot);
        }
        if self.bound.holds(self.flows.packets, self.flows.bytes) {
            return true;
        }
        let forfeit = |flow: &mut Flow<Turns>, _| {
            if flow.queue.is_empty() {
                flow.own.deficit = 0;
            }
        };
        let kept = self.flows.make_room(&self.bound, 1, slot, evicted, forfeit);
        if self.flows.packets == 0 {
            self.idle();
        }
        kept
    }

    /// The next packet.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Packet> {
        loop {
            let slot = *self.round.front()?;
            let Some(len) = self.flows.first_len(slot) else {
                self.retire(slot);
                continue;
            };
            let turns = &mut self.flows.at_mut(slot).own;
            if !self.in_turn {
                turns.deficit += turns.quantum;
                self.in_turn = true;
            }
            if i64::from(len) > turns.deficit {
                let first = self.round.pop_front();
                self.round.extend(first);
                self.in_turn = false;
                continue;
            }
            turns.deficit -= i64::from(len);
            let packet = self.flows.pop(slot)?;
            if self.flows.at(slot).queue.is_empty() {
                self.retire(slot);
            }
            if self.flows.packets == 0 {
                self.idle();
            }
            return Some(packet);
        }
    }

    /// Takes the first of the round, which has no packets, out.
    #[inline]
    fn retire(&mut self, slot: u32) {
        self.round.pop_front();
        self.in_turn = false;
        self.flows.forget(slot);
    }

    /// Nothing waits: what was pushed out is still in the round.
    fn idle(&mut self) {
        while let Some(slot) = self.round.pop_front() {
            self.flows.forget(slot);
        }
        self.in_turn = false;
        self.flows.emptied();
    }

    /// Length of the next packet.
    pub(super) fn head_len(&self) -> u32 {
        // The first flow that can send, in the first round in which any can.
        let mut best = (i64::MAX, usize::MAX);
        let mut found = 0;
        for (place, slot) in self.round.iter().enumerate() {
            let Some(len) = self.flows.first_len(*slot) else {
                continue;
            };
            let turns = self.flows.at(*slot).own;
            let missing = i64::from(len) - turns.deficit;
            let rounds = (missing + turns.quantum - 1).div_euclid(turns.quantum);
            let key = if place == 0 && self.in_turn {
                if missing <= 0 {
                    return len;
                }
                // Its next turn comes behind all others.
                (rounds.max(1), usize::MAX - 1)
            } else {
                (rounds.max(1), place)
            };
            if key < best {
                (best, found) = (key, len);
            }
            if key == (1, place) {
                break;
            }
        }
        found
    }

    pub(super) fn flush(&mut self, lost: &mut dyn FnMut(Packet)) {
        self.flows.flush(lost);
        self.round.clear();
        self.in_turn = false;
    }

    pub(super) fn flows_backlog(&self, packet: &Packet) -> (u32, u64) {
        self.flows.backlog_of(packet)
    }

    pub(super) fn bound(&self) -> &Bound {
        &self.bound
    }

    pub(super) fn expect_flows(&mut self, n: usize) {
        self.flows.expect_flows(n);
    }

    pub(super) fn memory_bytes(&self, flows: usize) -> u64 {
        self.flows.memory_bytes(ring_packets(&self.bound), flows)
    }
}

#[cfg(test)]
#[path = "drr_tests.rs"]
mod tests;
