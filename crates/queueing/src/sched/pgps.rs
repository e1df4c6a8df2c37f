//! Weighted fair queueing as packet-by-packet generalized processor sharing.
//!
//! Source: A. Parekh, R. Gallager, "A Generalized Processor Sharing Approach to
//! Flow Control", IEEE/ACM ToN 1(3), 1993; A. Demers, S. Keshav, S. Shenker,
//! SIGCOMM 1989.
//!
//! Idea: a fluid server gives every flow that it holds service in proportion to
//! its weight. Virtual time V grows at r / (sum of those weights). A packet's
//! tag is the virtual time at which the fluid server finishes it,
//! F = max(V, last F of the flow) + L / weight; the smallest tag leaves first.
//! A packet leaves at most Lmax / r later than from the fluid server.
//!
//! Precision: tags count 2⁻²⁰ byte per unit of weight. The work that is not yet
//! a whole unit of V is carried over, so V is exact between changes of the set
//! of fluid-backlogged flows and is off by less than one unit per change; both
//! are forgotten whenever the system empties.
//! Cost: O(log n) per packet for n flows, amortized over the fluid departures.

use std::collections::VecDeque;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use spillgate_core::{DropReason, Limit, Packet, Rate, Time};

use super::heap::MinHeap;
use crate::leaf::{Bound, ring_packets};
use crate::stats::{Cx, LeafGauges};

/// Parameters of PGPS weighted fair queueing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WfqSpec {
    /// What a flow's weight is.
    pub weights: WfqWeights,
    /// How much of one flow may wait; time is counted at the port's rate. Default 64 packets.
    pub limit: Limit,
    /// How much may wait in all; time is counted at the port's rate. Default 1000 packets.
    pub hold_queue: Limit,
}

impl Default for WfqSpec {
    fn default() -> Self {
        Self {
            weights: WfqWeights::Equal,
            limit: Limit::Packets(64),
            hold_queue: Limit::Packets(1000),
        }
    }
}

/// Weights of flows in weighted fair queueing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WfqWeights {
    /// All flows alike.
    #[default]
    Equal,
    /// IP precedence + 1, as Cisco's flow-based WFQ weighs. A flow keeps its weight while the
    /// fluid server holds it.
    Precedence,
}

impl WfqWeights {
    #[inline]
    fn of(self, packet: &Packet) -> u32 {
        match self {
            Self::Equal => 1,
            Self::Precedence => u32::from(packet.dscp.precedence()) + 1,
        }
    }
}

/// Tag units per byte, as a power of two.
const UNITS: u32 = 20;
/// 8·10¹² bit·ps per byte are 2¹⁵ of these.
const FIVE_12: u64 = 244_140_625;
/// V is brought back towards 0 above this.
const REBASE: u64 = 1 << 62;

#[derive(Clone, Debug, Default)]
struct Flow {
    ring: VecDeque<Packet>,
    bytes: u64,
    /// Tag of its last packet, in the busy period `epoch`.
    finish: u64,
    epoch: u32,
    weight: u32,
}

/// A running PGPS queue.
#[derive(Clone, Debug)]
pub(crate) struct Pgps {
    bps: u64,
    weights: WfqWeights,
    flow_bound: Bound,
    bound: Bound,
    flows: Vec<Flow>,
    /// Tag of the first packet of each flow with packets.
    heads: MinHeap,
    /// Last tag of each flow that the fluid server holds.
    fluid: MinHeap,
    /// Sum of the weights of the flows that the fluid server holds.
    sum: u64,
    v: u64,
    /// Work, in bit·ps·2⁵, that is not yet a unit of V.
    carry: u64,
    at: Time,
    epoch: u32,
    packets: u32,
    bytes: u64,
}

impl Pgps {
    pub(crate) fn new(spec: &WfqSpec, rate: Rate) -> Self {
        Self {
            bps: rate.bps(),
            weights: spec.weights,
            flow_bound: Bound::new(spec.limit, rate),
            bound: Bound::new(spec.hold_queue, rate),
            flows: Vec::new(),
            heads: MinHeap::default(),
            fluid: MinHeap::default(),
            sum: 0,
            v: 0,
            carry: 0,
            at: Time::ZERO,
            epoch: 1,
            packets: 0,
            bytes: 0,
        }
    }

    /// Makes room for the flows `0..n`.
    pub(crate) fn expect_flows(&mut self, n: usize) {
        if n > self.flows.len() {
            self.flows.resize_with(n, Flow::default);
            self.heads.grow(n);
            self.fluid.grow(n);
        }
    }

    /// Lets the fluid server work until `now`.
    fn advance(&mut self, now: Time) {
        let elapsed = now.since(self.at).as_ps();
        self.at = self.at.max(now);
        let mut work =
            ((u128::from(elapsed) * u128::from(self.bps)) << (UNITS - 15)) + u128::from(self.carry);
        while let Some((finish, _)) = self.fluid.first() {
            let per_unit = self.sum * FIVE_12;
            let need = u128::from(finish - self.v) * u128::from(per_unit);
            if need > work {
                let (units, rest) = match u64::try_from(work) {
                    Ok(work) => (work / per_unit, work % per_unit),
                    Err(_) => (
                        (work / u128::from(per_unit)) as u64,
                        (work % u128::from(per_unit)) as u64,
                    ),
                };
                self.v += units;
                self.carry = rest;
                return;
            }
            work -= need;
            self.v = finish;
            // Several flows may finish at once, and several times within one gap.
            while let Some((_, id)) = self.fluid.first().filter(|(f, _)| *f == finish) {
                self.fluid.remove(id);
                self.sum -= u64::from(self.flows[id as usize].weight);
            }
        }
        self.carry = 0;
    }

    pub(crate) fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        let weight = self.weights.of(&packet);
        self.enqueue_weighted(packet, weight, cx);
    }

    fn enqueue_weighted(&mut self, mut packet: Packet, weight: u32, cx: &mut Cx<'_>) {
        packet.leaf = 0;
        cx.offered(&packet);
        let id = packet.flow;
        self.expect_flows(id as usize + 1);
        let flow = &self.flows[id as usize];
        let fits = self.bound.admits(self.packets, self.bytes, packet.len)
            && self
                .flow_bound
                .admits(flow.ring.len() as u32, flow.bytes, packet.len);
        if !fits {
            cx.refused(packet, DropReason::Tail);
            return;
        }
        self.advance(cx.now);
        if self.fluid.is_empty() && self.packets == 0 {
            self.v = 0;
            self.epoch = self.epoch.wrapping_add(1);
        }
        let flow = &mut self.flows[id as usize];
        if flow.epoch != self.epoch {
            flow.epoch = self.epoch;
            flow.finish = 0;
        }
        if !self.fluid.contains(id) {
            flow.weight = weight;
            self.sum += u64::from(weight);
        }
        let start = flow.finish.max(self.v);
        packet.tag = start + (u64::from(packet.len) << UNITS) / u64::from(flow.weight);
        flow.finish = packet.tag;
        self.fluid.set(id, packet.tag);
        if flow.ring.is_empty() {
            self.heads.set(id, packet.tag);
        }
        flow.ring.push_back(packet);
        flow.bytes += u64::from(packet.len);
        self.packets += 1;
        self.bytes += u64::from(packet.len);
        cx.enqueued(&packet, false);
        if self.v > REBASE {
            self.rebase();
        }
    }

    pub(crate) fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        let (_, id) = self.heads.first()?;
        let flow = &mut self.flows[id as usize];
        let packet = flow.ring.pop_front()?;
        flow.bytes -= u64::from(packet.len);
        match flow.ring.front() {
            Some(next) => self.heads.set(id, next.tag),
            None => self.heads.remove(id),
        }
        self.packets -= 1;
        self.bytes -= u64::from(packet.len);
        cx.dequeued(&packet);
        Some(packet)
    }

    /// Moves the origin of virtual time to the oldest tag in use. Order depends
    /// on differences only, so nothing else changes.
    fn rebase(&mut self) {
        let base = self
            .heads
            .first()
            .map_or(self.v, |(tag, _)| tag.min(self.v));
        self.v -= base;
        self.heads.rebase(base);
        self.fluid.rebase(base);
        for flow in &mut self.flows {
            flow.finish = flow.finish.saturating_sub(base);
            for packet in &mut flow.ring {
                packet.tag -= base;
            }
        }
    }

    pub(crate) fn gauges(&self) -> LeafGauges {
        LeafGauges {
            backlog_packets: self.packets,
            backlog_bytes: self.bytes,
            average_queue: None,
        }
    }

    pub(crate) fn memory_bytes(&self, flows: usize) -> u64 {
        let ring = match ring_packets(&self.flow_bound) {
            0 => ring_packets(&self.bound),
            n => n.min(ring_packets(&self.bound).max(1)),
        };
        let fixed = (std::mem::size_of::<Flow>() + 2 * 20) as u64;
        flows as u64 * (fixed + ring * std::mem::size_of::<Packet>() as u64)
    }
}
