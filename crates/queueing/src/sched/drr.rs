//! Deficit round robin (DRR).
//!
//! Source: M. Shreedhar, G. Varghese, "Efficient Fair Queuing Using Deficit Round-Robin", IEEE/ACM
//! ToN 4(3), 1996; pushing out from the longest queue: P. McKenney, "Stochastic Fairness Queueing",
//! INFOCOM 1990.
//!
//! Idea: backlogged flows take turns. In its turn a flow's deficit grows by its quantum, and its
//! packets leave while they are not longer than the deficit, which they are charged to. The rest of
//! the deficit is kept for the next turn, unless the queue is empty. Over any time in which two
//! flows are backlogged, the bytes that they send differ by less than a quantum and two packets.
//!
//! Where there is no room, the first packet of the flow with the longest queue in bytes is dropped
//! until there is, which may be the flow of the arriving packet.
//!
//! Deviation: a flow whose last packet was pushed out loses its deficit at once, and its place in
//! the round when its turn comes. Where an AQM drops at departure, the packet that is sent instead
//! may be longer than the deficit; the flow pays the rest in its next turns. Cost: O(1) per packet
//! if the quantum is at least the longest packet, else O(length / quantum) turns; O(log n) while
//! the buffer overflows.

use std::collections::VecDeque;

use spillgate_core::{Limit, Packet, Rate, Size, Time};

use super::flow_queue::{FlowQueue, FlowQueueSpec, Frame, Guard, Order, managed};
use super::flows::{Flows, Own, Sorting};
use super::pgps::WfqWeights;
use super::table::Flow;
use crate::aqm::AqmSpec;
use crate::guarantee::Load;
use crate::leaf::Bound;
use crate::line::{Line, Longest};
use crate::recipe::At;
use crate::share::{Meanwhile, Member, Others, sum};
use spillgate_core::{Dscp, Problem};

/// The smallest quantum: that of an Ethernet frame. It bounds the turns for one packet.
pub(crate) const LEAST_QUANTUM: u64 = 64;
/// The largest quantum.
pub(crate) const MOST_QUANTUM: u64 = 1 << 20;

spillgate_core::spec! {
    /// Deficit round robin.
    pub struct DrrSpec {
        /// Bytes that a flow of weight 1 may send in its turn, 64 B to 1 MiB. Default 1514 B, the
        /// longest packet of Ethernet, or the longest packet as the link counts it, whichever is
        /// more.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub quantum: Option<Size> = None,
        /// The weight of a flow, by which its quantum is multiplied.
        pub weights: WfqWeights = WfqWeights::Equal,
        /// Limit of all queues together. Default 1000 packets.
        pub limit: Limit = Limit::Packets(1000),
        /// Number of queues, 1 to 65536, into which flows are hashed by addresses, ports and
        /// protocol. Default: each flow has its own.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schemars(range(min = 1, max = 65536))]
        pub queues: Option<u32> = None,
        /// Active queue management of each queue. Default: none.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub aqm: Option<AqmSpec> = None,
    }
}

/// The default quantum: the longest packet of Ethernet (RFC 8290 §5.2), or that of the link.
pub(crate) fn default_quantum(longest: Longest) -> Size {
    Size(u64::from(longest.occupied.max(1514)))
}

/// Checks a quantum.
pub(crate) fn check_quantum(quantum: Size, at: &At<'_>) -> Result<i32, Problem> {
    at.check(
        (LEAST_QUANTUM..=MOST_QUANTUM).contains(&quantum.0),
        "quantum",
        quantum,
        "a quantum must be from 64 B to 1 MiB",
        "the usual value is the longest packet, 1514 B",
    )?;
    Ok(quantum.0 as i32)
}

/// Checks a number of queues.
pub(crate) fn check_queues(queues: u32, key: &str, at: &At<'_>) -> Result<(), Problem> {
    at.check(
        (1..=65_536).contains(&queues),
        key,
        queues,
        "the number of queues must be from 1 to 65536",
        "the usual value is 1024",
    )
}

impl DrrSpec {
    /// The quantum on a line with this longest packet.
    pub fn turn(&self, longest: Longest) -> Size {
        self.quantum.unwrap_or_else(|| default_quantum(longest))
    }

    fn frame(&self, at: &mut At<'_>, line: &Line) -> Result<Frame<Rounds<false>>, Problem> {
        let quantum = check_quantum(self.turn(line.longest), at)?;
        let bound = at.bound("limit", self.limit, line.rate)?;
        if let Some(queues) = self.queues {
            check_queues(queues, "queues", at)?;
        }
        Ok(Frame {
            name: "drr",
            order: Rounds::new(quantum, self.weights),
            sorting: Sorting::into_queues(self.queues),
            bound: bound.in_4_gib(),
            batch: 1,
            guard: Guard::Flow,
        })
    }
}

impl FlowQueueSpec for DrrSpec {
    fn resolve(&self, at: &mut At<'_>, line: &Line) -> Result<Box<dyn FlowQueue>, Problem> {
        let frame = self.frame(at, line)?;
        managed(frame, self.aqm.as_ref(), at, line.rate)
    }

    fn bound(&self, rate: Rate) -> Bound {
        Bound::new(self.limit, rate)
    }

    fn aqm(&self) -> Option<AqmSpec> {
        self.aqm.clone()
    }

    fn limits(&self) -> Vec<(&'static str, Limit)> {
        vec![("limit", self.limit)]
    }

    fn quantum(&self) -> Option<Size> {
        self.quantum
    }
}

/// The scheduler's state of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turns {
    /// Bytes that it may send.
    deficit: i32,
    /// Bytes that it gets in its turn; 0 while it is not in the round.
    quantum: i32,
}

// Two to a cache line.
const _: () = assert!(std::mem::size_of::<Flow<Own<Turns, ()>>>() <= 32);

/// Deficit round robin; `BY_PACKETS`: weighted round robin, in which a packet costs 1, whatever
/// its length, and a quantum is a number of packets.
#[derive(Clone, Debug)]
pub(crate) struct Rounds<const BY_PACKETS: bool> {
    quantum: i32,
    weights: WfqWeights,
    /// Slots of the flows with packets, in the order of the round; one whose packets were pushed
    /// out is still in it.
    round: VecDeque<u32>,
    /// The first flow has got its quantum in this turn.
    in_turn: bool,
}

impl<const BY_PACKETS: bool> Rounds<BY_PACKETS> {
    pub(super) fn new(quantum: i32, weights: WfqWeights) -> Self {
        Self {
            quantum,
            weights,
            round: VecDeque::new(),
            in_turn: false,
        }
    }

    /// What a packet costs.
    #[inline]
    fn cost(len: u32) -> u32 {
        if BY_PACKETS { 1 } else { len }
    }

    /// Removes the first flow from the round.
    #[inline]
    fn leave<V>(&mut self, flows: &mut Flows<Turns, V>) -> Option<u32> {
        let slot = self.round.pop_front()?;
        self.in_turn = false;
        flows.at_mut(slot).own.sched.quantum = 0;
        Some(slot)
    }
}

impl<const BY_PACKETS: bool> Order for Rounds<BY_PACKETS> {
    type State = Turns;

    fn state(&self) -> Turns {
        Turns {
            deficit: 0,
            quantum: 0,
        }
    }

    #[inline]
    fn joins<V>(&mut self, flows: &mut Flows<Turns, V>, slot: u32, packet: &Packet, _: Time) {
        let turns = &mut flows.at_mut(slot).own.sched;
        if turns.quantum == 0 {
            turns.deficit = 0;
            // At most 8 MiB.
            turns.quantum = self.quantum * self.weights.of(packet) as i32;
            self.round.push_back(slot);
        }
    }

    #[inline]
    fn next<V>(&mut self, flows: &mut Flows<Turns, V>) -> Option<u32> {
        loop {
            let slot = *self.round.front()?;
            let Some(len) = flows.first_len(slot) else {
                return Some(slot);
            };
            let turns = &mut flows.at_mut(slot).own.sched;
            if !self.in_turn {
                turns.deficit = turns.deficit.saturating_add(turns.quantum);
                self.in_turn = true;
            }
            if i64::from(Self::cost(len)) <= i64::from(turns.deficit) {
                return Some(slot);
            }
            let first = self.round.pop_front();
            self.round.extend(first);
            self.in_turn = false;
        }
    }

    #[inline]
    fn charge<V>(
        &mut self,
        flows: &mut Flows<Turns, V>,
        slot: u32,
        packet: &Packet,
        _: Time,
    ) -> bool {
        let (flow, cost) = (flows.at_mut(slot), Self::cost(packet.len));
        // The packet may be longer than the deficit, if the AQM dropped a shorter one before it:
        // the flow pays later.
        flow.own.sched.deficit = flow.own.sched.deficit.saturating_sub_unsigned(cost);
        flow.queue.is_empty() && self.leave(flows).is_some()
    }

    #[inline]
    fn missed<V>(&mut self, flows: &mut Flows<Turns, V>, _: u32) -> bool {
        self.leave(flows).is_some()
    }

    fn pushed_out<V>(&mut self, flows: &mut Flows<Turns, V>, slot: u32) {
        let flow = flows.at_mut(slot);
        if flow.queue.is_empty() {
            flow.own.sched.deficit = 0;
        }
    }

    fn withdraw<V>(&mut self, flows: &mut Flows<Turns, V>, _: Time) -> Option<u32> {
        self.leave(flows)
    }

    fn clear(&mut self) {
        self.round.clear();
        self.in_turn = false;
    }

    fn weights(&self, dscp: Option<Dscp>) -> (u64, u64) {
        self.weights.range(dscp)
    }

    /// Let x bytes of a queue be sent, or pushed out, from when it waits up to a packet's end. A
    /// turn that ends before has sent x less the packet that is first then at most, and leaves a
    /// deficit below that packet: n of its turns so end only if n Q <= x - 1. Others have at most
    /// n + 1 turns meanwhile, and a deficit from before (S. M. Tabatabaee and J.-Y. Le Boudec, RTAS
    /// 2021, theorem 1, there for x that need not end with a packet). A packet that an AQM lets
    /// follow a shorter one leaves a debt.
    ///
    /// A turn by packets brings its shortest ones at least, and their longest to others. Nothing is
    /// kept of it, but the packet in transmission may be the last of a turn of a queue that was
    /// empty then and waits again: it comes beside the turns.
    fn meanwhile(&self, own: &Member, others: &Others, judged: bool, _: &Load) -> Vec<Meanwhile> {
        let quantum = u64::from(self.quantum.unsigned_abs());
        let turn =
            |weight: u64, packet: u64| quantum * weight * if BY_PACKETS { packet } else { 1 };
        let debt = |m: &Member| match judged && !BY_PACKETS {
            true => m.longest - m.shortest,
            false => 0,
        };
        let ahead = match BY_PACKETS {
            true => others
                .iter()
                .map(|(m, _)| m.longest)
                .max()
                .unwrap_or(0)
                .into(),
            false => sum(others, |m| (m.longest - 1 + debt(m)).into()),
        };
        let own_turn = turn(own.weight.0, own.shortest);
        vec![Meanwhile::Turns {
            ahead,
            turn: own_turn,
            early: own_turn - 1 + debt(own),
            others: sum(others, |m| turn(m.weight.1, m.longest).into()),
        }]
    }

    fn head<'f, V>(&self, flows: &'f Flows<Turns, V>) -> Option<&'f Packet> {
        // The first flow that can send, in the first round in which any can.
        let mut best = (i64::MAX, usize::MAX);
        let mut found = None;
        for (place, slot) in self.round.iter().enumerate() {
            let Some(head) = flows.head(*slot) else {
                continue;
            };
            let turns = flows.at(*slot).own.sched;
            let quantum = i64::from(turns.quantum);
            let missing = i64::from(Self::cost(head.len)) - i64::from(turns.deficit);
            let rounds = (missing + quantum - 1).div_euclid(quantum);
            let key = if place == 0 && self.in_turn {
                if missing <= 0 {
                    return Some(head);
                }
                // Its next turn comes behind all others.
                (rounds.max(1), usize::MAX - 1)
            } else {
                (rounds.max(1), place)
            };
            if key < best {
                (best, found) = (key, Some(head));
            }
            if key == (1, place) {
                break;
            }
        }
        found
    }
}

#[cfg(test)]
#[path = "drr_tests.rs"]
mod tests;
