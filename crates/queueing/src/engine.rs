//! Engines: what runs inside a discipline, one for each kind.

use std::sync::Arc;

use spillgate_core::{DropReason, Dropped, FlowKey, Packet, Rng, Time};

use crate::custom::Custom;
use crate::evidence::{Evidence, QueueLimit};
use crate::fan::admission::Fan;
use crate::fan::{AdmissionState, SharedLists, Wait};
use crate::leaf::{Leaf, Queue};
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
    fn add_flow(&mut self, key: FlowKey, n: usize);
    /// The number of packets of unknown flows that arrived, if conditions look at addresses or
    /// ports.
    fn unknown(&self) -> u64 {
        0
    }
    /// Sets the names of the links, by number.
    fn attach_links(&mut self, _names: &Arc<[String]>) {}
    /// Gives each marker that draws random numbers a stream, by the name of its class.
    fn seed(&mut self, _stream: &dyn Fn(&str) -> Rng) {}
    /// Whether packets are classified by metadata outside of their headers.
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
    /// Takes the parameters that depend on the rate of the port from `fresh`, the same policy at
    /// another rate. Queued packets and state stay.
    fn retune(&mut self, now: Time, fresh: Self)
    where
        Self: Sized;
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
            fn enqueue(&mut self, packet: &mut Packet, cx: &mut Cx<'_>) {
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
            fn add_flow(&mut self, key: FlowKey, n: usize) {
                match self { $(Self::$variant(e) => Schedule::add_flow(e, key, n),)+ }
            }
            fn unknown(&self) -> u64 {
                match self { $(Self::$variant(e) => Schedule::unknown(e),)+ }
            }
            fn attach_links(&mut self, names: &Arc<[String]>) {
                match self { $(Self::$variant(e) => e.attach_links(names),)+ }
            }
            fn seed(&mut self, stream: &dyn Fn(&str) -> Rng) {
                match self { $(Self::$variant(e) => e.seed(stream),)+ }
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
            fn retune(&mut self, now: Time, fresh: Self) {
                match (self, fresh) {
                    $((Self::$variant(e), Self::$variant(f)) => Schedule::retune(e, now, f),)+
                    _ => debug_assert!(false, "a policy does not change its kind"),
                }
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
    Custom => Custom,
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

    fn add_flow(&mut self, _: FlowKey, n: usize) {
        self.expect_flows(n);
    }

    fn retune(&mut self, _: Time, fresh: Self) {
        self.retune(fresh);
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

    fn retune(&mut self, now: Time, fresh: Self) {
        self.retune(now, &fresh);
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
