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
use spillgate_core::{DropReason, Dropped, Dscp, Limit, Packet, Rate, Time};

use super::heap::MinHeap;
use crate::evidence::{Cause, Evidence, QueueLimit};
use crate::guarantee::Load;
use crate::leaf::{Bound, ring_packets};
use crate::share::{Fairness, Meanwhile, Member, Others, PARTS, evenly, rounded, sum};
use crate::stats::Cx;

spillgate_core::spec! {
    /// Parameters of PGPS weighted fair queueing.
    pub struct WfqSpec {
        /// The weight of a flow.
        pub weights: WfqWeights = WfqWeights::Equal,
        /// Limit of one flow; time is counted at the port's rate. Default 64 packets.
        pub limit: Limit = Limit::Packets(64),
        /// Limit of all flows together; time is counted at the port's rate. Default 1000 packets.
        pub hold_queue: Limit = Limit::Packets(1000),
    }
}

/// Weights of flows in weighted fair queueing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WfqWeights {
    /// Equal weights.
    #[default]
    Equal,
    /// IP precedence + 1, as Cisco's flow-based WFQ weighs. A flow keeps its weight while the
    /// fluid server holds it.
    Precedence,
}

impl WfqWeights {
    #[inline]
    pub(crate) fn of(self, packet: &Packet) -> u32 {
        match self {
            Self::Equal => 1,
            Self::Precedence => u32::from(packet.treated_as().precedence()) + 1,
        }
    }

    /// The least and the most that packets of a code point weigh, or of any.
    pub(crate) fn range(self, dscp: Option<Dscp>) -> (u64, u64) {
        match (self, dscp) {
            (Self::Equal, _) => (1, 1),
            (Self::Precedence, None) => (1, 8),
            (Self::Precedence, Some(dscp)) => {
                let weight = u64::from(dscp.precedence()) + 1;
                (weight, weight)
            }
        }
    }
}

/// Tag units per byte, as a power of two.
const UNITS: u32 = 20;
/// 8·10¹² bit·ps per byte are 2¹⁵ of these.
const FIVE_12: u64 = 244_140_625;
/// V is rebased towards 0 above this.
const REBASE: u64 = 1 << 62;

#[derive(Clone, Debug, Default)]
struct PgpsFlow {
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
    flows: Vec<PgpsFlow>,
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

    /// Takes rate and limits of the same queue at another rate; the fluid server has that rate from
    /// `now` on.
    pub(crate) fn retune(&mut self, now: Time, fresh: &Self) {
        self.advance(now);
        self.bps = fresh.bps;
        self.flow_bound = fresh.flow_bound;
        self.bound = fresh.bound;
    }

    /// Makes room for the flows `0..n`.
    pub(crate) fn expect_flows(&mut self, n: usize) {
        if n > self.flows.len() {
            self.flows.resize_with(n, PgpsFlow::default);
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

    /// Why `lost` was dropped: by the limit of its flow, unless the queue as a whole was full.
    pub(crate) fn evidence(&self, lost: &Dropped) -> Evidence {
        let packet = &lost.packet;
        let flow = self.flows.get(packet.flow as usize);
        let cause = match flow {
            Some(flow)
                if lost.reason == DropReason::Tail
                    && self.bound.admits(self.packets, self.bytes, packet.len) =>
            {
                Cause::Flow {
                    packets: flow.ring.len() as u32,
                    bytes: flow.bytes,
                    limit: self.flow_bound.limit(),
                }
            }
            _ => Cause::Plain,
        };
        Evidence {
            limit: self.limit(),
            cause,
            ..Evidence::default()
        }
    }

    /// The limit of all flows together.
    pub(crate) fn limit(&self) -> QueueLimit {
        self.bound.limit()
    }

    pub(crate) fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        let packet = self.take_head()?;
        cx.dequeued(&packet);
        Some(packet)
    }

    /// The next packet.
    pub(crate) fn head(&self) -> Option<&Packet> {
        let (_, id) = self.heads.first()?;
        self.flows[id as usize].ring.front()
    }

    #[inline]
    fn take_head(&mut self) -> Option<Packet> {
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
        Some(packet)
    }

    /// Drops all packets. The fluid server, which may hold more than is queued, is emptied too: it
    /// must not serve packets that are never sent.
    pub(crate) fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        while let Some(packet) = self.take_head() {
            cx.evicted(packet, reason);
        }
        while let Some((_, id)) = self.fluid.first() {
            self.fluid.remove(id);
        }
        (self.sum, self.carry) = (0, 0);
        self.at = self.at.max(cx.now);
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

    /// The packets that it holds.
    pub(crate) fn held(&self) -> u32 {
        self.packets
    }

    pub(crate) fn memory_bytes(&self, flows: usize) -> u64 {
        let ring = match ring_packets(&self.flow_bound) {
            0 => ring_packets(&self.bound),
            n => n.min(ring_packets(&self.bound).max(1)),
        };
        let fixed = (std::mem::size_of::<PgpsFlow>() + 2 * 20) as u64;
        flows as u64 * (fixed + ring * std::mem::size_of::<Packet>() as u64)
    }
}

/// All that is sent before a packet of tag F has a tag of at most F. Let S be where the first
/// packet of its queue starts that waits, S' that of a queue j; then j sends w' (F - S') of w (F -
/// S).
///
/// If S was V when that packet came, what waits then was served by the fluid server for L' at most
/// in all queues j together, L' the longest packet of each (Parekh and Gallager, theorem 1: packets
/// that came after one of a later tag had been chosen are behind by that one at most, others have
/// later tags than V). Else the packet before it was chosen with the tag S. What waited then has no
/// earlier tag, so S - S' is a packet; what came later starts at V or later, and S - V is no more
/// than a packet of a queue that was behind then, or if none was, than what had left the scheduler
/// and not the line; and no more than all that were behind and that.
///
/// The line may gain a picosecond a packet on the fluid server, which counts a packet up to a unit
/// short.
impl Fairness for Pgps {
    fn weights(&self, dscp: Option<Dscp>) -> (u64, u64) {
        self.weights.range(dscp)
    }

    fn hashed(&self) -> Option<u32> {
        None
    }

    fn meanwhile(&self, own: &Member, others: &Others, load: &Load) -> Vec<Meanwhile> {
        let is_exact = |m: &Member| m.weight.0 == m.weight.1 && m.weight.0.is_power_of_two();
        let exact = is_exact(own) && others.iter().all(|(m, _)| is_exact(m));
        let (gained, packets) = load.drift();
        let short = if exact { 0 } else { packets / (PARTS / 8) + 1 };
        let left = u128::from(load.ring_bytes()) + gained + 1;
        let weight = u128::from(own.weight.0);
        // In bytes per unit of weight, in parts.
        let of = |bytes: u128, weight: u128| (bytes * PARTS).div_ceil(weight);
        let packet = |m: &Member| of(m.longest.into(), m.weight.0.into());
        let behind = others.iter().map(|(m, _)| packet(m)).max().unwrap_or(0);
        let all = of(sum(others, |m| m.longest.into()) + left, weight);
        let early = behind.max(of(left, weight)).min(all);
        let ahead = |m: &Member| {
            let heavy = u128::from(m.weight.1);
            rounded(heavy * early.max(packet(m)), m).div_ceil(PARTS)
        };
        vec![evenly(own, others, sum(others, ahead) + short)]
    }

    fn holds(&self, _: &Member, _: &Others) -> (QueueLimit, QueueLimit) {
        let limit = self.flow_bound.limit().and(self.bound.limit());
        (limit, limit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Desk;

    /// A queue at 1 B/s with what a call needs beside it.
    struct Fixture {
        queue: Pgps,
        desk: Desk,
    }

    impl Fixture {
        fn new() -> Self {
            let spec = WfqSpec::default();
            Self {
                queue: Pgps::new(&spec, Rate::from_bps(8).unwrap()),
                desk: Desk::new(),
            }
        }

        fn with<R>(&mut self, at: f64, f: impl FnOnce(&mut Pgps, &mut Cx<'_>) -> R) -> R {
            let mut cx = self.desk.at(Time::from_secs_f64(at));
            f(&mut self.queue, &mut cx)
        }

        /// Lets a packet arrive; V and the packet's tag, in bytes per unit of weight.
        fn arrive(&mut self, at: f64, flow: u32, len: u16, weight: u32) -> (f64, f64) {
            self.with(at, |q, cx| {
                q.enqueue_weighted(Packet::new(flow, 0, len), weight, cx);
            });
            let unit = f64::from(1_u32 << UNITS);
            let tag = self.queue.flows[flow as usize].finish;
            (self.queue.v as f64 / unit, tag as f64 / unit)
        }

        fn depart(&mut self) -> Option<u32> {
            self.with(0.0, |q, cx| q.dequeue(cx)).map(|p| p.flow)
        }
    }

    /// The tags of the first trace, of which the order alone shows elsewhere.
    #[test]
    fn virtual_time_and_tags() {
        let mut f = Fixture::new();
        let rows = [
            (0.0, 1, 100, 1, (0.0, 100.0)),
            (0.0, 2, 100, 1, (0.0, 100.0)),
            (0.0, 3, 100, 2, (0.0, 50.0)),
            (10.0, 3, 100, 2, (2.5, 100.0)),
            (150.0, 1, 50, 1, (37.5, 150.0)),
            (400.0, 2, 30, 1, (100.0, 130.0)),
        ];
        for (at, flow, len, weight, expected) in rows {
            assert_eq!(f.arrive(at, flow, len, weight), expected);
        }
    }

    /// Bennett and Zhang 1996: WFQ runs a whole GPS round ahead of the heavy flow.
    #[test]
    fn the_heavy_flow_of_bennett_and_zhang_goes_first() {
        let mut f = Fixture::new();
        for _ in 0..11 {
            f.arrive(0.0, 1, 1, 10);
        }
        for flow in 2..=11 {
            f.arrive(0.0, flow, 1, 1);
        }
        let order: Vec<u32> = std::iter::from_fn(|| f.depart()).collect();
        let expected = [1; 10].into_iter().chain(2..=11).chain([1]);
        assert_eq!(order, expected.collect::<Vec<_>>());
    }

    /// Order after moving the origin is the order without.
    #[test]
    fn the_origin_of_virtual_time_does_not_matter() {
        let run = |rebase: bool| {
            let mut f = Fixture::new();
            let mut order = Vec::new();
            for i in 0..200_u32 {
                f.arrive(
                    f64::from(i) * 20.0,
                    i % 5,
                    20 + (i * 7 % 13) as u16,
                    1 + i % 5,
                );
                if rebase && i % 10 == 0 {
                    f.queue.rebase();
                }
                if i % 3 == 0 {
                    order.push(f.depart());
                }
            }
            order.extend(std::iter::from_fn(|| f.depart().map(Some)));
            order
        };
        assert_eq!(run(true), run(false));
    }

    /// Many small steps of the fluid server are as one.
    #[test]
    fn no_work_is_lost_between_steps() {
        let mut one = Fixture::new();
        let mut many = Fixture::new();
        for f in [&mut one, &mut many] {
            for flow in 0..7 {
                f.arrive(0.0, flow, 1000, 1);
            }
        }
        let end = Time::from_secs_f64(6000.0);
        one.queue.advance(end);
        for i in 1..=60_000 {
            many.queue.advance(Time::from_secs_f64(f64::from(i) * 0.1));
        }
        assert_eq!(one.queue.v, many.queue.v);
        assert_eq!(one.queue.carry, many.queue.carry);
    }
}
