//! CAKE as the discipline of a port, whose leaves are its tins, and as the queue of a class.

use std::any::Any;
use std::sync::Arc;

use spillgate_core::{DropReason, Dropped, Dscp, Ecn, FlowKey, Packet, Time};

use super::acks::Acks;
use super::tin::Tin;
use super::{Cake, CakeAckFilter, QUEUES};
use crate::engine::{Schedule, refuse_at};
use crate::evidence::{Cause, Evidence, QueueLimit};
use crate::fan::SharedLists;
use crate::guarantee::{Guarantee, Load, Reason};
use crate::leaf::{Bound, ring_packets};
use crate::sched::flow_queue::FlowQueue;
use crate::sched::slab::Slab;
use crate::share::{Fairness, Meanwhile, Member, Others};
use crate::stats::{Cx, LeafGauges, State};

const UNKNOWN: &str = "no guarantee of CAKE is known: how many queues of a host are busy decides on the turns of each, and \
                       the tins on what is left of the bandwidth";

/// The hashes of a flow's addresses.
fn hosts(key: &FlowKey) -> [u32; 2] {
    let of = |address| {
        let alone = FlowKey {
            src: address,
            dst: address,
            protocol: 0,
            sport: 0,
            dport: 0,
        };
        alone.hash()
    };
    [of(key.src), of(key.dst)]
}

impl Cake {
    fn know(&mut self, flows: &[FlowKey]) {
        if self.law.isolation != super::CakeIsolation::Flows {
            self.hosts = flows.iter().map(hosts).collect();
        }
    }

    fn know_more(&mut self, key: &FlowKey) {
        if self.law.isolation != super::CakeIsolation::Flows {
            self.hosts.push(hosts(key));
        }
    }

    /// Takes parameters and limits from the same CAKE on another line.
    pub(crate) fn retuned(&mut self, fresh: &Self) {
        self.law = fresh.law.clone();
        self.bound = fresh.bound;
        self.shaper.rate = fresh.shaper.rate;
    }

    /// The rate to which it shapes what the link counts, in b/s.
    pub(crate) fn shaped(&self) -> Option<u64> {
        let rate = self.shaper.rate.filter(|_| self.law.counted.is_none());
        rate.map(spillgate_core::Rate::bps)
    }

    fn state_of<'t>(tins: impl Iterator<Item = &'t Tin>) -> State {
        let (mut sparse, mut bulk, mut decaying, mut queued) = (0, 0, 0, 0);
        for tin in tins {
            sparse += tin.counts.sparse;
            bulk += tin.counts.bulk;
            decaying += tin.counts.decaying;
            queued += tin.backlogged();
        }
        vec![
            ("flows_queued", queued as f64),
            ("sparse_flows", sparse.into()),
            ("bulk_flows", bulk.into()),
            ("decaying_flows", decaying.into()),
        ]
    }

    fn cause(&self, lost: &Dropped) -> Cause {
        let packet = &lost.packet;
        match lost.reason {
            DropReason::Early => {
                let mut found = self.decided.iter().rev();
                let of = found.find(|(flow, seq, _)| (*flow, *seq) == (packet.flow, packet.seq));
                of.map_or(Cause::Plain, |of| of.2)
            }
            DropReason::PushedOut => {
                let tin = &self.tins.0[self.tin_of(packet)];
                let at = tin.find(self.addressed(packet).flow);
                let flow = at.and_then(|at| tin.flows.get(at));
                let (packets, bytes) = flow.map_or((0, 0), |f| (f.packets, f.bytes.into()));
                Cause::Flow {
                    packets,
                    bytes,
                    limit: QueueLimit::default(),
                }
            }
            _ => Cause::Plain,
        }
    }

    fn memory(&self) -> u64 {
        let queues = self.tins.0.len() * (Tin::MEMORY + QUEUES * 20);
        let packet = match self.law.ack_filter {
            CakeAckFilter::No => Slab::PACKET,
            _ => Slab::PACKET + Acks::PACKET,
        };
        queues as u64 + packet as u64 * ring_packets(&self.bound)
    }
}

impl Schedule for Cake {
    fn enqueue(&mut self, packet: &mut Packet, cx: &mut Cx<'_>) {
        packet.leaf = self.tin_of(packet) as u16;
        cx.offered(packet);
        if self.bound.admits(0, 0, packet.len) {
            let was = packet.ecn;
            self.accept(packet, was, cx);
        } else {
            cx.refused(*packet, DropReason::Tail);
        }
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.send(cx)
    }

    fn refuse(&mut self, packet: Packet, reason: DropReason, cx: &mut Cx<'_>) {
        refuse_at(self.tin_of(&packet) as u16, packet, reason, cx);
    }

    fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        self.give_up(reason, cx);
    }

    fn next_wake(&self, now: Time) -> Option<Time> {
        Some(self.shaper.opens().max(now))
    }

    fn attach(&mut self, flows: &Arc<[FlowKey]>, _: &mut SharedLists) {
        self.know(flows);
    }

    fn add_flow(&mut self, key: FlowKey, _: usize) {
        self.know_more(&key);
    }

    fn filters_acknowledgments(&self) -> bool {
        self.law.ack_filter != CakeAckFilter::No
    }

    fn leaf_names(&self) -> Vec<String> {
        let names = self.law.tins.iter().map(|t| t.name);
        names.map(str::to_owned).collect()
    }

    fn held(&self, leaf: usize) -> u32 {
        self.tins.0[leaf].packets
    }

    fn gauges(&self, leaf: usize, _: Time) -> LeafGauges {
        let tin = &self.tins.0[leaf];
        let head = tin.head(&self.slab, self.law.tins[leaf].flow_quantum);
        LeafGauges {
            head: head.map(|p| p.arrived),
            state: Self::state_of(std::iter::once(tin)),
            ..LeafGauges::default()
        }
    }

    fn evidence(&self, _: Time, lost: &Dropped, _: (u32, u64)) -> Evidence {
        Evidence {
            limit: self.bound.limit(),
            cause: self.cause(lost),
            ..Evidence::default()
        }
    }

    fn limit(&self, _: usize) -> QueueLimit {
        self.bound.limit()
    }

    fn leaf_of(&mut self, packet: &Packet) -> u16 {
        self.tin_of(packet) as u16
    }

    fn is_held(&self, leaf: u16, now: Time) -> bool {
        self.tins.0[usize::from(leaf)].packets > 0 && self.shaper.opens() > now
    }

    fn guarantee(&self, _: u16, _: &Load) -> Result<Guarantee, Reason> {
        Err(UNKNOWN.into())
    }

    fn memory_bytes(&self, _: usize) -> u64 {
        self.memory()
    }
}

impl FlowQueue for Cake {
    fn name(&self) -> &'static str {
        "cake"
    }

    fn offer(&mut self, packet: &mut Packet, was: Ecn, cx: &mut Cx<'_>) -> Option<i64> {
        let fits = self.bound.admits(0, 0, packet.len);
        fits.then(|| self.accept(packet, was, cx))
    }

    fn pop(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.send(cx)
    }

    fn filters_acknowledgments(&self) -> bool {
        Schedule::filters_acknowledgments(self)
    }

    fn packets(&self) -> u32 {
        self.packets
    }

    fn transmits_until(&mut self, _: Time) {}

    fn head(&self) -> Option<&Packet> {
        self.first()
    }

    fn foretells(&self) -> bool {
        false
    }

    fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        self.give_up(reason, cx);
    }

    fn attach(&mut self, flows: &[FlowKey]) {
        self.know(flows);
    }

    fn add_flow(&mut self, key: &FlowKey) {
        self.know_more(key);
    }

    fn state(&self) -> State {
        Self::state_of(self.tins.0.iter())
    }

    fn evidence(&self, lost: &Dropped) -> Cause {
        self.cause(lost)
    }

    fn bound(&self) -> &Bound {
        &self.bound
    }

    fn fairness(&self) -> &dyn Fairness {
        self
    }

    fn judges_departures(&self) -> bool {
        true
    }

    fn memory_bytes(&self, _: usize) -> u64 {
        self.memory()
    }

    fn retune(&mut self, fresh: &dyn FlowQueue) {
        if let Some(fresh) = fresh.as_any().downcast_ref::<Self>() {
            self.retuned(fresh);
        }
    }

    fn boxed(&self) -> Box<dyn FlowQueue> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Fairness for Cake {
    fn weights(&self, _: Option<Dscp>) -> (u64, u64) {
        (1, 1)
    }

    fn hashed(&self) -> Option<u32> {
        Some((QUEUES * self.tins.0.len()) as u32)
    }

    fn meanwhile(&self, _: &Member, _: &Others, _: &Load) -> Vec<Meanwhile> {
        Vec::new()
    }

    fn holds(&self, _: &Member, _: &Others) -> (QueueLimit, QueueLimit) {
        let limit = self.bound.limit();
        (limit, limit)
    }

    fn unknown(&self, _: u64) -> Option<Reason> {
        Some(UNKNOWN.into())
    }
}
