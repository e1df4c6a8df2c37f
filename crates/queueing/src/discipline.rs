//! The discipline: what a port drives.

use std::sync::Arc;

use spillgate_core::{DropReason, Dropped, Drops, FlowKey, Limit, Packet, Rng, Time};

use crate::aqm::{Aqm, ArrivalAqm};
use crate::evidence::{BucketLevel, Cause, Evidence, QueueLimit};
use crate::fan::admission::Fan;
use crate::fan::{AdmissionState, SharedLists, Wait};
use crate::leaf::{Leaf, Queue};
use crate::sched::pgps::Pgps;
use crate::stats::{Cx, LeafGauges, LeafStats, Total};
use crate::tree::Tree;

/// What every engine of a discipline can do.
pub(crate) trait Schedule {
    /// Queues a packet or gives it up.
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>);
    /// The next packet, if one may leave now.
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet>;
    /// The packet of `leaf` that was dequeued last is in transmission until `end`.
    fn transmits_until(&mut self, _leaf: u16, _end: Time) {}
    /// Gives a packet up that is classified, but never considered.
    fn refuse(&mut self, packet: Packet, reason: DropReason, cx: &mut Cx<'_>);
    /// Gives everything up that waits.
    fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>);
    /// When a packet may leave, for engines that can hold packets back.
    fn next_wake(&self, _now: Time) -> Option<Time> {
        None
    }
    /// Tells the flows, and the lists that the world's links share.
    fn attach(&mut self, _flows: &Arc<[FlowKey]>, _lists: &mut SharedLists) {}
    /// Tells the names of the links, by number.
    fn attach_links(&mut self, _names: &Arc<[String]>) {}
    /// Whether packets are classified by what is in no header.
    fn looks_at_marks(&self) -> bool {
        false
    }
    /// The leaves that are [`Leaf`]s.
    fn leaves_mut(&mut self) -> &mut [Leaf] {
        &mut []
    }
    /// Names of the leaves.
    fn leaf_names(&self) -> Vec<String>;
    /// State of a leaf.
    fn gauges(&self, leaf: usize) -> LeafGauges;
    /// Why a packet was dropped by the last call.
    fn evidence(&self, now: Time, lost: &Dropped) -> Evidence;
    /// How much may wait in a leaf.
    fn limit(&self, leaf: usize) -> QueueLimit;
    /// The leaf that a packet belongs to.
    fn leaf_of(&mut self, _packet: &Packet) -> u16 {
        0
    }
    /// Whether the packets of one leaf always go before those of another.
    fn outranks(&self, _first: u16, _second: u16) -> bool {
        false
    }
    /// Whether a leaf's next packet lacks tokens.
    fn is_held(&self, _leaf: u16, _now: Time) -> bool {
        false
    }
    /// From `now` on a flow's number belongs to another flow.
    fn renew(&mut self, _now: Time, _flow: u32) {}
    /// What flow admission has done to each flow.
    fn waits(&self, _now: Time) -> Vec<Wait> {
        Vec::new()
    }
    /// The state of flow admission.
    fn admission(&self, _now: Time) -> Option<AdmissionState> {
        None
    }
    /// Upper estimate of the memory of the full queues in bytes.
    fn memory_bytes(&self, flows: usize) -> u64;
}

/// Generates the runtime enum and its dispatch.
macro_rules! engines {
    ($($variant:ident => $runtime:ty,)+) => {
        /// The engines, one variant per kind of discipline.
        #[derive(Clone, Debug)]
        // One lives in each port, and its fields are on the packet path.
        #[allow(clippy::large_enum_variant)]
        pub(crate) enum Engine { $($variant($runtime),)+ }

        impl Schedule for Engine {
            #[inline]
            fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
                match self { $(Self::$variant(e) => Schedule::enqueue(e, packet, cx),)+ }
            }
            #[inline]
            fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
                match self { $(Self::$variant(e) => Schedule::dequeue(e, cx),)+ }
            }
            #[inline]
            fn transmits_until(&mut self, leaf: u16, end: Time) {
                match self { $(Self::$variant(e) => Schedule::transmits_until(e, leaf, end),)+ }
            }
            fn refuse(&mut self, packet: Packet, reason: DropReason, cx: &mut Cx<'_>) {
                match self { $(Self::$variant(e) => Schedule::refuse(e, packet, reason, cx),)+ }
            }
            fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
                match self { $(Self::$variant(e) => Schedule::flush(e, reason, cx),)+ }
            }
            fn next_wake(&self, now: Time) -> Option<Time> {
                match self { $(Self::$variant(e) => e.next_wake(now),)+ }
            }
            fn attach(&mut self, flows: &Arc<[FlowKey]>, lists: &mut SharedLists) {
                match self { $(Self::$variant(e) => e.attach(flows, lists),)+ }
            }
            fn attach_links(&mut self, names: &Arc<[String]>) {
                match self { $(Self::$variant(e) => e.attach_links(names),)+ }
            }
            fn looks_at_marks(&self) -> bool {
                match self { $(Self::$variant(e) => e.looks_at_marks(),)+ }
            }
            fn leaves_mut(&mut self) -> &mut [Leaf] {
                match self { $(Self::$variant(e) => e.leaves_mut(),)+ }
            }
            fn leaf_names(&self) -> Vec<String> {
                match self { $(Self::$variant(e) => e.leaf_names(),)+ }
            }
            fn gauges(&self, leaf: usize) -> LeafGauges {
                match self { $(Self::$variant(e) => Schedule::gauges(e, leaf),)+ }
            }
            fn evidence(&self, now: Time, lost: &Dropped) -> Evidence {
                match self { $(Self::$variant(e) => Schedule::evidence(e, now, lost),)+ }
            }
            fn limit(&self, leaf: usize) -> QueueLimit {
                match self { $(Self::$variant(e) => Schedule::limit(e, leaf),)+ }
            }
            fn leaf_of(&mut self, packet: &Packet) -> u16 {
                match self { $(Self::$variant(e) => e.leaf_of(packet),)+ }
            }
            fn outranks(&self, first: u16, second: u16) -> bool {
                match self { $(Self::$variant(e) => e.outranks(first, second),)+ }
            }
            fn is_held(&self, leaf: u16, now: Time) -> bool {
                match self { $(Self::$variant(e) => e.is_held(leaf, now),)+ }
            }
            fn renew(&mut self, now: Time, flow: u32) {
                match self { $(Self::$variant(e) => e.renew(now, flow),)+ }
            }
            fn waits(&self, now: Time) -> Vec<Wait> {
                match self { $(Self::$variant(e) => e.waits(now),)+ }
            }
            fn admission(&self, now: Time) -> Option<AdmissionState> {
                match self { $(Self::$variant(e) => e.admission(now),)+ }
            }
            fn memory_bytes(&self, flows: usize) -> u64 {
                match self { $(Self::$variant(e) => Schedule::memory_bytes(e, flows),)+ }
            }
        }
    };
}

engines! {
    Fifo => Leaf,
    Wfq => Pgps,
    FlowWfq => Leaf,
    Flows => Leaf,
    ClassBased => Tree,
    Fan => Fan,
}

/// Gives a packet up that belongs to `leaf`.
pub(crate) fn refuse_at(leaf: u16, mut packet: Packet, reason: DropReason, cx: &mut Cx<'_>) {
    packet.leaf = leaf;
    cx.offered(&packet);
    cx.refused(packet, reason);
}

/// A discipline of one leaf.
impl Schedule for Leaf {
    #[inline]
    fn enqueue(&mut self, mut packet: Packet, cx: &mut Cx<'_>) {
        packet.leaf = 0;
        cx.offered(&packet);
        self.offer(packet, cx);
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.pop(cx)
    }

    #[inline]
    fn transmits_until(&mut self, _: u16, end: Time) {
        self.transmits_until(end);
    }

    fn refuse(&mut self, packet: Packet, reason: DropReason, cx: &mut Cx<'_>) {
        refuse_at(0, packet, reason, cx);
    }

    fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        self.flush(reason, cx);
    }

    fn leaves_mut(&mut self) -> &mut [Leaf] {
        std::slice::from_mut(self)
    }

    fn leaf_names(&self) -> Vec<String> {
        vec![match &self.queue {
            Queue::Ring(_) | Queue::Judged(_) => "fifo".to_owned(),
            Queue::Fair(_) => "flow-wfq".to_owned(),
            Queue::Flows(flows) => flows.name().to_owned(),
        }]
    }

    fn gauges(&self, _: usize) -> LeafGauges {
        self.gauges()
    }

    fn evidence(&self, _: Time, lost: &Dropped) -> Evidence {
        self.evidence(lost)
    }

    fn limit(&self, _: usize) -> QueueLimit {
        self.limit()
    }

    fn attach(&mut self, flows: &Arc<[FlowKey]>, _: &mut SharedLists) {
        self.expect_flows(flows.len());
    }

    fn memory_bytes(&self, flows: usize) -> u64 {
        self.memory_bytes(flows)
    }
}

impl Schedule for Pgps {
    fn enqueue(&mut self, packet: Packet, cx: &mut Cx<'_>) {
        self.enqueue(packet, cx);
    }

    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.dequeue(cx)
    }

    fn refuse(&mut self, packet: Packet, reason: DropReason, cx: &mut Cx<'_>) {
        refuse_at(0, packet, reason, cx);
    }

    fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        self.flush(reason, cx);
    }

    fn attach(&mut self, flows: &Arc<[FlowKey]>, _: &mut SharedLists) {
        self.expect_flows(flows.len());
    }

    fn leaf_names(&self) -> Vec<String> {
        vec!["wfq".to_owned()]
    }

    fn gauges(&self, _: usize) -> LeafGauges {
        self.gauges()
    }

    fn evidence(&self, _: Time, lost: &Dropped) -> Evidence {
        self.evidence(lost)
    }

    fn limit(&self, _: usize) -> QueueLimit {
        self.limit()
    }

    fn memory_bytes(&self, flows: usize) -> u64 {
        self.memory_bytes(flows)
    }
}

/// A queue discipline: everything that waits in front of a port's server.
///
/// The driver calls [`Discipline::enqueue`] for every arrival and
/// [`Discipline::dequeue`] whenever the server is free. If that gives nothing
/// although something waits, [`Discipline::next_wake`] tells when to try again.
/// Both may drop packets, into `drops`; the driver drains it after each call.
/// The packet on the wire is none of the discipline's business: it counts
/// neither for limits nor for averages.
///
/// After each packet it takes, the driver says until when that is in transmission
/// ([`Discipline::transmits_until`]): averages of the queue's length count as idle
/// only what comes after.
///
/// Where the link fails, [`Discipline::flush`] gives up what waits, and
/// [`Discipline::refuse`] what arrives until the repair.
///
/// Times must not decrease from call to call; calls at the same instant may
/// come in any order. Asking more often than needed changes nothing.
#[derive(Clone, Debug)]
pub struct Discipline {
    engine: Engine,
    stats: Vec<LeafStats>,
    total: Total,
}

impl Discipline {
    pub(crate) fn new(engine: Engine) -> Self {
        let leaves = engine.leaf_names().len();
        Self {
            engine,
            stats: vec![LeafStats::default(); leaves],
            total: Total::default(),
        }
    }

    pub(crate) fn leaves_mut(&mut self) -> &mut [Leaf] {
        self.engine.leaves_mut()
    }

    pub(crate) fn attach(&mut self, flows: &Arc<[FlowKey]>, lists: &mut SharedLists) {
        self.engine.attach(flows, lists);
    }

    /// The flows are these from now on, by [`Packet::flow`]: for a driver that meets them as their packets
    /// come. Those that were known keep their places, new ones follow behind them; what waits is not
    /// touched. Cost: O(n) in the flows.
    pub fn announce(&mut self, flows: &Arc<[FlowKey]>) {
        self.attach(flows, &mut SharedLists::new());
    }

    /// Tells the names of the links, by number, to classes that ask where packets came from.
    pub fn attach_links(&mut self, names: &Arc<[String]>) {
        self.engine.attach_links(names);
    }

    /// Whether packets are classified by CoS, QoS group or the link of arrival, which the driver
    /// then has to note ([`Packet::set_marks`]).
    pub fn looks_at_marks(&self) -> bool {
        self.engine.looks_at_marks()
    }

    pub(crate) fn memory_bytes(&self, flows: usize) -> u64 {
        let leaf = std::mem::size_of::<LeafStats>() + std::mem::size_of::<Leaf>();
        let fixed = std::mem::size_of::<Self>() + self.stats.len() * leaf;
        self.engine.memory_bytes(flows).saturating_add(fixed as u64)
    }

    /// Takes a packet in: it is queued, or dropped (perhaps another in its place).
    #[inline]
    pub fn enqueue(&mut self, now: Time, pkt: Packet, rng: &mut Rng, drops: &mut Drops) {
        let mut cx = Cx {
            now,
            rng,
            drops,
            stats: &mut self.stats,
            total: &mut self.total,
        };
        self.engine.enqueue(pkt, &mut cx);
        self.audit();
    }

    /// The packet to send now, its [`Packet::leaf`] set; none if nothing waits,
    /// if nothing may leave yet, or if queue management dropped all that might have.
    #[inline]
    pub fn dequeue(&mut self, now: Time, rng: &mut Rng, drops: &mut Drops) -> Option<Packet> {
        if self.total.packets == 0 {
            return None;
        }
        let mut cx = Cx {
            now,
            rng,
            drops,
            stats: &mut self.stats,
            total: &mut self.total,
        };
        let packet = self.engine.dequeue(&mut cx);
        self.audit();
        packet
    }

    /// The packet of `leaf` that was dequeued last is in transmission until `end`; told anew, earlier
    /// than that, if the link fails meanwhile.
    #[inline]
    pub fn transmits_until(&mut self, leaf: u16, end: Time) {
        self.engine.transmits_until(leaf, end);
    }

    /// Drops everything that waits, leaf by leaf and in order within a flow. The discipline is then
    /// as after its last packet has left: virtual time begins anew, AQMs know of the empty queue.
    /// Tokens that a policer or shaper has taken are not given back.
    pub fn flush(&mut self, now: Time, reason: DropReason, drops: &mut Drops) {
        self.give_up(now, drops, |engine, cx| engine.flush(reason, cx));
    }

    /// Drops an arriving packet, counted for its leaf, that neither policer, AQM nor queue sees.
    pub fn refuse(&mut self, now: Time, pkt: Packet, reason: DropReason, drops: &mut Drops) {
        self.give_up(now, drops, |engine, cx| engine.refuse(pkt, reason, cx));
    }

    fn give_up(&mut self, now: Time, drops: &mut Drops, f: impl FnOnce(&mut Engine, &mut Cx<'_>)) {
        let mut cx = Cx {
            now,
            // Nothing is left to chance.
            rng: &mut Rng::from_key(0),
            drops,
            stats: &mut self.stats,
            total: &mut self.total,
        };
        f(&mut self.engine, &mut cx);
        self.audit();
    }

    /// When the next packet may leave, if one waits and a shaper may hold it
    /// back: the first instant, `now` or later, at which [`Discipline::dequeue`]
    /// gives a packet, or drops one that might have left. None for an empty discipline, and for one that never
    /// holds packets back.
    pub fn next_wake(&self, now: Time) -> Option<Time> {
        if self.total.packets == 0 {
            return None;
        }
        self.engine.next_wake(now)
    }

    /// Waiting packets.
    #[inline]
    pub fn backlog_packets(&self) -> u32 {
        self.total.packets
    }

    /// Waiting bytes.
    #[inline]
    pub fn backlog_bytes(&self) -> u64 {
        self.total.bytes
    }

    /// The limit, and its AQM if it has one, of a FIFO that decides about packets when they arrive,
    /// so that the port may compute departures then. A limit in time comes as bytes at the port's
    /// rate.
    pub fn decided_at_arrival(&self) -> Option<(Limit, Option<ArrivalAqm>)> {
        match &self.engine {
            Engine::Fifo(leaf)
                if leaf.thresholds.is_none()
                    && matches!(leaf.queue, Queue::Ring(_))
                    && leaf.aqm.as_ref().is_none_or(Aqm::decides_by_packets) =>
            {
                let aqm = leaf.aqm.clone().map(ArrivalAqm::new);
                Some((leaf.bound.as_limit(), aqm))
            }
            _ => None,
        }
    }

    /// The token buckets of policers and shapers at `now`, always in the same order, each with the first leaf that it
    /// is there for.
    pub fn buckets(&self, now: Time) -> Vec<(u16, BucketLevel)> {
        match &self.engine {
            Engine::ClassBased(tree) => tree.buckets(now),
            _ => Vec::new(),
        }
    }

    /// Counters by leaf; a packet's leaf is [`Packet::leaf`].
    #[inline]
    pub fn leaves(&self) -> &[LeafStats] {
        &self.stats
    }

    /// Starts the peaks of all leaves anew from what waits now.
    pub fn reset_peaks(&mut self) {
        self.stats.iter_mut().for_each(LeafStats::reset_peaks);
    }

    /// Names of the leaves: the class for class-based policies, `parent/class`
    /// for nested ones, else the kind of discipline. A fair queue is one leaf.
    pub fn leaf_names(&self) -> Vec<String> {
        self.engine.leaf_names()
    }

    /// The present state of a leaf; all zero if there is no such leaf.
    pub fn gauges(&self, leaf: usize) -> LeafGauges {
        if leaf < self.stats.len() {
            self.engine.gauges(leaf)
        } else {
            LeafGauges::default()
        }
    }

    /// Why a packet was dropped at `now`, in numbers: to be asked right after the call that dropped
    /// it, with what that call left in its sink. Of several packets that a flush gave up, the
    /// queue is as after the last.
    pub fn evidence(&self, now: Time, lost: &Dropped) -> Evidence {
        self.engine.evidence(now, lost)
    }

    /// Why a packet was marked with congestion experienced when it was queued or left at `now`, in
    /// numbers: to be asked right after that call, with [`Packet::leaf`] being that of its class. The
    /// packet is not among those that wait.
    pub fn mark_evidence(&self, now: Time, packet: &Packet) -> Evidence {
        // The automaton keeps the odds of its last verdict, drop or mark.
        let verdict = Dropped {
            packet: *packet,
            reason: DropReason::Early,
        };
        let evidence = self.engine.evidence(now, &verdict);
        if matches!(evidence.cause, Cause::Waited(_)) {
            return evidence; // It has left.
        }
        Evidence {
            queue_packets: evidence.queue_packets.saturating_sub(1),
            queue_bytes: evidence.queue_bytes.saturating_sub(packet.len.into()),
            ..evidence
        }
    }

    /// How much may wait in a leaf; no limit if there is no such leaf.
    pub fn limit(&self, leaf: usize) -> QueueLimit {
        if leaf < self.stats.len() {
            self.engine.limit(leaf)
        } else {
            QueueLimit::default()
        }
    }

    /// The leaf into which an arriving packet is classified.
    pub fn leaf_of(&mut self, packet: &Packet) -> u16 {
        self.engine.leaf_of(packet)
    }

    /// Whether waiting packets of leaf `first` always go before those of leaf `second`: a priority
    /// class before classes that share, and before priority classes of a later level.
    pub fn outranks(&self, first: u16, second: u16) -> bool {
        self.engine.outranks(first, second)
    }

    /// Whether the next packet of a leaf may not leave at `now` because a shaper, its own or one
    /// around it, lacks tokens for it. False for a leaf that holds none.
    pub fn is_held(&self, leaf: u16, now: Time) -> bool {
        self.engine.is_held(leaf, now)
    }

    /// From `now` on a flow's number belongs to another flow, of other addresses or ports: flow
    /// admission is to take nothing that it knows of the old one for the new one. None of the old
    /// flow's packets waits. What a scheduler remembers, for a round at most, stays.
    pub fn renew(&mut self, now: Time, flow: u32) {
        self.engine.renew(now, flow);
    }

    /// What flow admission has done to each flow that was offered until `now`, by flow, and where a
    /// number was [renewed](Self::renew) by time; empty for disciplines that admit packets, not
    /// flows.
    pub fn waits(&self, now: Time) -> Vec<Wait> {
        self.engine.waits(now)
    }

    /// The state of flow admission at `now`, ticks at `now` done; none for disciplines without.
    pub fn admission(&self, now: Time) -> Option<AdmissionState> {
        self.engine.admission(now)
    }

    /// Checks the conservation laws of every leaf, in debug builds.
    #[inline]
    fn audit(&self) {
        if cfg!(debug_assertions) {
            let mut sum = Total::default();
            for (i, stats) in self.stats.iter().enumerate() {
                let g = self.engine.gauges(i);
                assert!(
                    stats.conserves(g.backlog_packets, g.backlog_bytes),
                    "leaf {i} loses count: {stats:?} {g:?}"
                );
                sum.packets += g.backlog_packets;
                sum.bytes += g.backlog_bytes;
            }
            assert_eq!(
                (sum.packets, sum.bytes),
                (self.total.packets, self.total.bytes)
            );
        }
    }
}
