//! FQ-CoDel: flow queues, served round robin, each under CoDel.
//!
//! Source: T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys, E. Dumazet, RFC 8290, 2018; limits,
//! batches and the count after an overflow are those of Linux (`tc-fq_codel(8)`).
//!
//! Idea: packets are hashed into queues by addresses, ports and protocol. Queues with packets take
//! turns by deficit: one may send while its credit is above 0, and gets a quantum more each turn. A
//! queue that was empty joins the list of new queues, which goes before that of the old ones, and leaves
//! it for the old ones after its quantum or when it is empty: flows that send less than a quantum
//! per round hardly wait. Each queue has its own [CoDel](crate::aqm).
//!
//! Where there is no room, the queue with the most bytes loses half of them from its head, at most
//! `drop_batch` packets; its CoDel counts them as its own.
//!
//! Deviations: queues that are empty leave the lists as soon as nothing waits at all, where Linux
//! needs one more call. The memory limit counts the bytes of packets, not of kernel buffers.
//! Cost: O(1) per packet; O(log n) while the limit is exceeded, where Linux looks through all queues.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{DropReason, Dur, Limit, Packet, Rate, Rng, Size, Time, Verdict};

use super::drr::{check_quantum, check_queues};
use super::flows::{Flows, Sorting};
use super::table::Flow;
use crate::BuildError;
use crate::aqm::{CodelSpec, CodelVariant, CodelVars, InverseSqrt, Judge, Turn};
use crate::evidence::Cause;
use crate::leaf::{Bound, ring_packets};
use crate::recipe::At;

/// FQ-CoDel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FqCodelSpec {
    /// Whose CoDel it has. Default: that of RFC 8289.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub variant: Option<CodelVariant>,
    /// How much may wait in all. Default 10240 packets (RFC 8290 §5.2.4).
    pub limit: Limit,
    /// Bytes of packets that may wait in all, beside `limit`. Default 32 MiB (Linux).
    pub memory_limit: Size,
    /// Number of queues into which flows are hashed, 1 to 65536. Default 1024 (RFC 8290 §5.2.3).
    #[schemars(range(min = 1, max = 65536))]
    pub flows: u32,
    /// Bytes that a queue may send in its turn, 64 B to 1 MiB. Default 1514 B (RFC 8290 §5.2.2).
    pub quantum: Size,
    /// Packets that the longest queue loses at most when there is no room. Default 64 (Linux).
    #[schemars(range(min = 1))]
    pub drop_batch: u32,
    /// What a packet may wait in a good queue, as CoDel's. Default 5 ms.
    pub target: Dur,
    /// For how long packets have to wait longer than `target` before the first is dropped, as CoDel's.
    /// Default 100 ms.
    pub interval: Dur,
    /// Mark ECN-capable packets instead of dropping them. Default true (RFC 8290 §5.2.7, Linux).
    pub ecn: bool,
    /// Mark every ECN-capable packet that waited longer, whatever `ecn` says. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ce_threshold: Option<Dur>,
    /// While no more than this waits CoDel drops nothing. Default 1514 B.
    pub max_packet: Size,
    /// What is compared with `max_packet`.
    pub guard: Guard,
    /// How the square root is computed. Default `exact`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inverse_sqrt: Option<InverseSqrt>,
}

impl Default for FqCodelSpec {
    fn default() -> Self {
        let codel = CodelSpec::default();
        Self {
            variant: None,
            limit: Limit::Packets(10_240),
            memory_limit: Size(32 << 20),
            flows: 1024,
            quantum: Size(1514),
            drop_batch: 64,
            target: codel.target,
            interval: codel.interval,
            ecn: true,
            ce_threshold: None,
            max_packet: codel.max_packet,
            guard: Guard::Total,
            inverse_sqrt: codel.inverse_sqrt,
        }
    }
}

/// Whose backlog keeps the CoDel of FQ-CoDel from dropping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Guard {
    /// What waits in all queues together (Linux): the last packet of a flow may be dropped.
    #[default]
    Total,
    /// What waits in the packet's own queue (ns-3).
    Flow,
}

impl FqCodelSpec {
    /// Its CoDel.
    pub fn codel(&self) -> CodelSpec {
        CodelSpec {
            variant: self.variant,
            target: self.target,
            interval: self.interval,
            ecn: self.ecn,
            ce_threshold: self.ce_threshold,
            max_packet: self.max_packet,
            inverse_sqrt: self.inverse_sqrt,
        }
    }

    /// Checks the parameters; `rate` is that of the queue.
    pub(crate) fn resolve(&self, at: &mut At<'_>, rate: Rate) -> Result<FqCodel, BuildError> {
        let bound = at.bound("limit", self.limit, rate)?;
        at.check(
            self.memory_limit.0 > 0,
            "memory_limit",
            self.memory_limit,
            "nothing fits into it",
            "the default is 32 MiB",
        )?;
        check_queues(self.flows, "flows", at)?;
        at.check(
            self.drop_batch >= 1,
            "drop_batch",
            self.drop_batch,
            "at least one packet has to give",
            "the default is 64",
        )?;
        let bound = Bound {
            bytes: bound.bytes.min(self.memory_limit.0),
            ..bound
        };
        Ok(FqCodel {
            bound: bound.in_4_gib(),
            quantum: check_quantum(self.quantum, at)?,
            batch: self.drop_batch,
            guard: self.guard,
            judge: Judge::new(self.codel().params(at)?),
            flows: Flows::new(Sorting::Hashed {
                queues: self.flows,
                salt: None,
            }),
            new: VecDeque::new(),
            old: VecDeque::new(),
        })
    }
}

/// What the scheduler keeps of a queue.
#[derive(Clone, Copy, Debug)]
struct State {
    /// Bytes that it may send.
    deficit: i64,
    codel: CodelVars,
    /// It is in one of the two lists.
    listed: bool,
}

/// A running FQ-CoDel.
#[derive(Clone, Debug)]
pub(crate) struct FqCodel {
    bound: Bound,
    quantum: i64,
    batch: u32,
    guard: Guard,
    judge: Judge,
    flows: Flows<State>,
    /// Slots of the queues that just got packets.
    new: VecDeque<u32>,
    /// Slots of the others with packets, and of some without.
    old: VecDeque<u32>,
}

impl FqCodel {
    #[inline]
    pub(super) fn prepare(&mut self, rng: &mut Rng) {
        self.flows.prepare(rng);
    }

    /// Queues a packet and gives up what has no room; whether the packet itself is kept.
    #[inline]
    pub(super) fn offer(&mut self, packet: Packet, evicted: &mut dyn FnMut(Packet)) -> bool {
        let slot = self.flows.push(packet, || State {
            deficit: 0,
            codel: CodelVars::NEW,
            listed: false,
        });
        let state = &mut self.flows.at_mut(slot).own;
        if !state.listed {
            (state.listed, state.deficit) = (true, self.quantum);
            self.new.push_back(slot);
        }
        if self.bound.holds(self.flows.packets, self.flows.bytes) {
            return true;
        }
        // Linux's fq_codel_drop.
        let overflowed = |flow: &mut Flow<State>, packets| flow.own.codel.overflowed(packets);
        let kept = self
            .flows
            .make_room(&self.bound, self.batch, slot, evicted, overflowed);
        if self.flows.packets == 0 {
            self.idle();
        }
        kept
    }

    /// The next packet, and whether it is marked; `lost` gets what CoDel drops before.
    #[inline]
    pub(super) fn pop(
        &mut self,
        now: Time,
        lost: &mut dyn FnMut(Packet, DropReason),
    ) -> Option<(Packet, bool)> {
        loop {
            let (slot, is_new) = match (self.new.front(), self.old.front()) {
                (Some(slot), _) => (*slot, true),
                (None, Some(slot)) => (*slot, false),
                (None, None) => return None,
            };
            let state = &mut self.flows.at_mut(slot).own;
            if state.deficit <= 0 {
                state.deficit += self.quantum;
                self.leave(is_new);
                self.old.push_back(slot);
                continue;
            }
            let mut codel = state.codel;
            let found = self.take(slot, &mut codel, now, lost);
            let state = &mut self.flows.at_mut(slot).own;
            state.codel = codel;
            let Some((packet, marked)) = found else {
                self.leave(is_new);
                if is_new && !self.old.is_empty() {
                    // So that it cannot be new again before the old ones had their turn.
                    self.old.push_back(slot);
                } else {
                    self.unlist(slot);
                }
                continue;
            };
            state.deficit -= i64::from(packet.len);
            if self.flows.packets == 0 {
                self.idle();
            }
            return Some((packet, marked));
        }
    }

    /// The first packet of a queue that its CoDel lets go.
    #[inline]
    fn take(
        &mut self,
        slot: u32,
        codel: &mut CodelVars,
        now: Time,
        lost: &mut dyn FnMut(Packet, DropReason),
    ) -> Option<(Packet, bool)> {
        let mut turn = Turn::First;
        loop {
            let Some(mut packet) = self.flows.pop(slot) else {
                codel.exhausted(&self.judge, now, turn);
                return None;
            };
            let behind = match self.guard {
                Guard::Total => self.flows.bytes,
                Guard::Flow => self.flows.at(slot).waiting.into(),
            };
            match self.judge.departure(codel, &mut turn, now, &packet, behind) {
                Verdict::Pass => return Some((packet, false)),
                Verdict::Mark => {
                    packet.ecn = spillgate_core::Ecn::Ce;
                    return Some((packet, true));
                }
                Verdict::Drop(reason) => lost(packet, reason),
            }
        }
    }

    /// The first of the new or of the old queues leaves its list.
    #[inline]
    fn leave(&mut self, is_new: bool) {
        if is_new {
            self.new.pop_front();
        } else {
            self.old.pop_front();
        }
    }

    /// A queue is in no list any more. It is remembered while its CoDel remembers anything.
    #[inline]
    fn unlist(&mut self, slot: u32) {
        let state = &mut self.flows.at_mut(slot).own;
        state.listed = false;
        state.codel.emptied();
        if state.codel.is_new() {
            self.flows.forget(slot);
        }
    }

    /// Nothing waits.
    fn idle(&mut self) {
        while let Some(slot) = self.new.pop_front().or_else(|| self.old.pop_front()) {
            self.unlist(slot);
        }
        self.flows.emptied();
    }

    /// Length of the next packet if CoDel lets it go.
    pub(super) fn head_len(&self) -> u32 {
        // The first queue that has credit, in the first round in which any has.
        let (mut least, mut found) = (i64::MAX, 0);
        for slot in self.new.iter().chain(&self.old) {
            let Some(len) = self.flows.first_len(*slot) else {
                continue;
            };
            let deficit = self.flows.at(*slot).own.deficit;
            if deficit > 0 {
                return len;
            }
            let rounds = (-deficit).div_euclid(self.quantum) + 1;
            if rounds < least {
                (least, found) = (rounds, len);
            }
        }
        found
    }

    pub(super) fn flush(&mut self, lost: &mut dyn FnMut(Packet)) {
        self.flows.flush(lost);
        self.new.clear();
        self.old.clear();
    }

    /// Why the last departure dropped or marked a packet.
    pub(super) fn cause(&self, packet: &Packet) -> Option<Cause> {
        self.judge.evidence(packet)
    }

    pub(super) fn flows_backlog(&self, packet: &Packet) -> (u32, u64) {
        self.flows.backlog_of(packet)
    }

    pub(super) fn bound(&self) -> &Bound {
        &self.bound
    }

    pub(super) fn memory_bytes(&self, flows: usize) -> u64 {
        self.flows.memory_bytes(ring_packets(&self.bound), flows)
    }
}

#[cfg(test)]
#[path = "fq_codel_tests.rs"]
mod tests;
