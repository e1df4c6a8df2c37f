//! Engines: what runs inside a discipline.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use spillgate_core::{DropReason, Dropped, FlowKey, Packet, Rng, Time};

use crate::custom::CustomEngine;
use crate::evidence::{Evidence, QueueLimit};
use crate::fan::admission::Fan;
use crate::fan::{AdmissionState, SharedLists, Wait};
use crate::guarantee::{self, Guarantee, Load, Reason, Sends};
use crate::hier::Hierarchy;
use crate::hier::hfsc::Hfsc;
use crate::hier::htb::Htb;
use crate::leaf::{Leaf, Queue};
use crate::sched::cake::Cake;
use crate::sched::pgps::Pgps;
use crate::stats::{Cx, LeafGauges};
use crate::tree::Tree;

/// The operations of every engine.
pub(crate) trait Schedule {
    /// Queues a packet, or drops it.
    fn enqueue(&mut self, packet: &mut Packet, cx: &mut Cx<'_>);
    /// The next packet, if one may leave now.
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet>;
    /// The packet of `leaf` that was dequeued last is in transmission until `end`.
    fn transmits_until(&mut self, _leaf: u16, _end: Time) {}
    /// Drops a packet that is classified, but not offered to policers, AQM or queue.
    fn refuse(&mut self, packet: Packet, reason: DropReason, cx: &mut Cx<'_>);
    /// Drops all queued packets.
    fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>);
    /// When a packet may leave, for engines that can hold packets back.
    fn next_wake(&self, _now: Time) -> Option<Time> {
        None
    }
    /// Sets the flows, and the lists that the links of a world share.
    fn attach(&mut self, _flows: &Arc<[FlowKey]>, _lists: &mut SharedLists) {}
    /// Announces another flow, so that there are `n`.
    fn add_flow(&mut self, _key: FlowKey, _n: usize) {}
    /// The number of packets of unknown flows that arrived, if conditions look at addresses or
    /// ports.
    fn unknown(&self) -> u64 {
        0
    }
    /// Sets the names of the links, by number.
    fn attach_links(&mut self, _names: &Arc<[String]>) {}
    /// Says at which port it is.
    fn at_port(&mut self, _name: &str) {}
    /// Gives each marker that draws random numbers a stream, by the name of its class.
    fn seed(&mut self, _stream: &dyn Fn(&str) -> Rng) {}
    /// Whether packets are classified by metadata outside of their headers.
    fn looks_at_marks(&self) -> bool {
        false
    }
    /// Whether it reads what packets acknowledge ([`Cx::ack`]).
    fn filters_acknowledgments(&self) -> bool {
        false
    }
    /// The leaves that are [`Leaf`]s.
    fn leaves_mut(&mut self) -> &mut [Leaf] {
        &mut []
    }
    /// Names of the leaves.
    fn leaf_names(&self) -> Vec<String>;
    /// The packets that a leaf holds, to check the counters.
    fn held(&self, leaf: usize) -> u32;
    /// State of a leaf at `now`.
    fn gauges(&self, _leaf: usize, _now: Time) -> LeafGauges {
        LeafGauges::default()
    }
    /// Why a packet was dropped by the last call; the backlog is set by the discipline.
    fn evidence(&self, now: Time, lost: &Dropped, backlog: (u32, u64)) -> Evidence;
    /// The limit of a leaf.
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
    /// From `now` on the number belongs to another flow.
    fn renew(&mut self, _now: Time, _flow: u32) {}
    /// What flow admission has done to each flow.
    fn waits(&self, _now: Time) -> Vec<Wait> {
        Vec::new()
    }
    /// The state of flow admission.
    fn admission(&self, _now: Time) -> Option<AdmissionState> {
        None
    }
    /// What a leaf is guaranteed. By default nothing is known.
    ///
    /// # Errors
    /// Why nothing is guaranteed.
    fn guarantee(&self, _leaf: u16, _load: &Load) -> Result<Guarantee, Reason> {
        Err("no guarantee of this discipline is known".into())
    }
    /// What leaves the port never exceeds, whatever comes, beside what its line sends; of fewer
    /// leaves first. By default nothing is known.
    fn sends(&self, _load: &Load) -> Vec<Sends> {
        Vec::new()
    }
    /// Whether what it guarantees follows from what its line sends, at whatever rates
    /// ([`Load::line`]). By default that is not known.
    fn follows_line(&self) -> bool {
        false
    }
    /// Upper estimate of the memory of the full queues in bytes.
    fn memory_bytes(&self, flows: usize) -> u64;
}

spillgate_core::family! {
    /// What runs inside a discipline.
    #[derive(Clone, Debug)]
    // One lives in each port, and its fields are on the packet path.
    #[allow(clippy::large_enum_variant)]
    pub(crate) running enum Engine by each;

    Queue(Leaf);
    Wfq(Pgps);
    ClassBased(Tree);
    Htb(Hierarchy<Htb>);
    Hfsc(Hierarchy<Hfsc>);
    Fan(Fan);
    Cake(Cake);
    Custom(CustomEngine);
}

/// What each packet asks of it is called directly, all else by [`Schedule`].
impl Engine {
    #[inline]
    pub(crate) fn enqueue(&mut self, packet: &mut Packet, cx: &mut Cx<'_>) {
        each!(self, e => Schedule::enqueue(e, packet, cx));
    }

    #[inline]
    pub(crate) fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        each!(self, e => Schedule::dequeue(e, cx))
    }

    #[inline]
    pub(crate) fn transmits_until(&mut self, leaf: u16, end: Time) {
        each!(self, e => Schedule::transmits_until(e, leaf, end));
    }

    /// Takes the parameters that depend on the rate of the port from `fresh`, the same policy at
    /// another rate. Queued packets and state stay.
    pub(crate) fn retune(&mut self, now: Time, fresh: Self) {
        match (self, fresh) {
            (Self::Queue(e), Self::Queue(f)) => e.retune(f),
            (Self::Wfq(e), Self::Wfq(f)) => e.retune(now, &f),
            (Self::ClassBased(e), Self::ClassBased(f)) => e.retune(now, f),
            (Self::Htb(e), Self::Htb(f)) => e.retune(now, f),
            (Self::Hfsc(e), Self::Hfsc(f)) => e.retune(now, f),
            (Self::Fan(e), Self::Fan(f)) => e.retune(now, f),
            (Self::Cake(e), Self::Cake(f)) => e.retuned(&f),
            // It was told the rate.
            (Self::Custom(_), Self::Custom(_)) => {}
            _ => debug_assert!(false, "a policy does not change its kind"),
        }
    }
}

impl Deref for Engine {
    type Target = dyn Schedule;

    fn deref(&self) -> &Self::Target {
        each!(self, e => e)
    }
}

impl DerefMut for Engine {
    fn deref_mut(&mut self) -> &mut Self::Target {
        each!(self, e => e)
    }
}

/// Drops a packet that belongs to `leaf`.
pub(crate) fn refuse_at(leaf: u16, mut packet: Packet, reason: DropReason, cx: &mut Cx<'_>) {
    packet.leaf = leaf;
    cx.offered(&packet);
    cx.refused(packet, reason);
}

/// A discipline with one leaf.
impl Schedule for Leaf {
    #[inline]
    fn enqueue(&mut self, packet: &mut Packet, cx: &mut Cx<'_>) {
        packet.leaf = 0;
        cx.offered(packet);
        self.offer(packet, cx);
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        self.pop(0, cx)
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

    fn filters_acknowledgments(&self) -> bool {
        self.filters_acknowledgments()
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

    fn held(&self, _: usize) -> u32 {
        self.held()
    }

    fn gauges(&self, _: usize, now: Time) -> LeafGauges {
        self.gauges(now)
    }

    fn evidence(&self, _: Time, lost: &Dropped, backlog: (u32, u64)) -> Evidence {
        self.evidence(lost, backlog)
    }

    fn limit(&self, _: usize) -> QueueLimit {
        self.limit()
    }

    fn guarantee(&self, _: u16, load: &Load) -> Result<Guarantee, Reason> {
        guarantee::only(self, load)
    }

    fn follows_line(&self) -> bool {
        true
    }

    fn memory_bytes(&self, flows: usize) -> u64 {
        self.memory_bytes(flows)
    }
}

impl Schedule for Pgps {
    fn enqueue(&mut self, packet: &mut Packet, cx: &mut Cx<'_>) {
        self.enqueue(*packet, cx);
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

    fn add_flow(&mut self, _: FlowKey, n: usize) {
        self.expect_flows(n);
    }

    fn leaf_names(&self) -> Vec<String> {
        vec!["wfq".to_owned()]
    }

    fn held(&self, _: usize) -> u32 {
        self.held()
    }

    fn gauges(&self, _: usize, _: Time) -> LeafGauges {
        LeafGauges {
            head: self.head().map(|p| p.arrived),
            ..LeafGauges::default()
        }
    }

    fn evidence(&self, _: Time, lost: &Dropped, _: (u32, u64)) -> Evidence {
        self.evidence(lost)
    }

    fn limit(&self, _: usize) -> QueueLimit {
        self.limit()
    }

    fn guarantee(&self, _: u16, load: &Load) -> Result<Guarantee, Reason> {
        guarantee::fair(self, load, true)
    }

    fn memory_bytes(&self, flows: usize) -> u64 {
        self.memory_bytes(flows)
    }
}
