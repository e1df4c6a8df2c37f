//! Trees of classes as Linux has them (HTB, HFSC): classes by parent, queues in the leaves,
//! conditions that lead packets there.
//!
//! What the two have in common is here: classification, the leaves, what they report. Which leaf
//! sends next is an [`Order`].

mod curve;
pub(crate) mod hfsc;
mod hfsc_guarantee;
mod hfsc_spec;
pub(crate) mod htb;
mod htb_guarantee;
mod htb_spec;
mod members;
mod resolve;

use std::fmt::Debug;
use std::sync::Arc;

use spillgate_core::{DropReason, Dropped, FlowKey, Overhead, Packet, Time};

use crate::classify::Classifier;
use crate::engine::{Schedule, refuse_at};
use crate::evidence::{BucketLevel, Evidence, QueueLimit};
use crate::guarantee::{Guarantee, Load, Reason};
use crate::leaf::Leaf;
use crate::line::bytes;
use crate::stats::{Cx, LeafGauges, State};

pub use hfsc_spec::{CurveSpec, HfscClassSpec, HfscSpec};
pub use htb_spec::{HtbClassSpec, HtbSpec};
pub use resolve::ClassKeys;
pub(crate) use resolve::{DIRECT, USUAL_LIMIT};

/// A class and its relatives.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kin {
    parent: Option<u16>,
    /// How many classes are around it.
    depth: usize,
    /// Its leaf; none if it has children.
    leaf: Option<u16>,
}

/// A leaf that sends next, by its class, and how it came to that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pick {
    class: u16,
    how: u8,
}

/// The rule by which a leaf is chosen. Classes go by their places in the list.
pub(crate) trait Order: Clone + Debug {
    /// A leaf without packets got some; the next one has `len` bytes.
    fn fills(&mut self, class: u16, len: u32, now: Time);
    /// A leaf lost its last packets without sending them.
    fn empties(&mut self, class: u16, now: Time);
    /// The leaf that sends now; none if none may.
    fn pick(&mut self, now: Time) -> Option<Pick>;
    /// It sent `len` bytes; the next packet has `next`, none if it has no more.
    fn sent(&mut self, pick: Pick, len: u32, next: Option<u32>, now: Time);
    /// When a leaf may send, if some have packets.
    fn next_wake(&self, now: Time) -> Option<Time>;
    /// Whether a leaf with packets may not send now.
    fn is_held(&self, class: u16, now: Time) -> bool;
    /// No leaf has packets any more.
    fn reset(&mut self);
    /// Takes the parameters of the same classes at another rate of the port.
    fn retune(&mut self, now: Time, fresh: &Self);
    /// The buckets of classes, with the names of their series.
    fn buckets(&self, _now: Time) -> Vec<(u16, &'static str, BucketLevel)> {
        Vec::new()
    }
    /// What a leaf is guaranteed.
    fn guarantee(of: &Hierarchy<Self>, leaf: u16, load: &Load) -> Result<Guarantee, Reason>;
}

/// A running tree of classes.
#[derive(Clone, Debug)]
pub(crate) struct Hierarchy<O> {
    classifier: Classifier,
    leaves: Vec<Leaf>,
    /// The class of each leaf; none: its packets go first, unshaped.
    class_of: Vec<Option<u16>>,
    kin: Vec<Kin>,
    order: O,
    /// Names of the leaves, and of the classes.
    names: Arc<[String]>,
    class_names: Arc<[String]>,
    /// What rates count; none: what the link adds.
    counted: Option<Overhead>,
    /// The number of known flows where conditions look at flows; [`u32::MAX`] elsewhere.
    known: u32,
    /// The number of packets of other flows that arrived.
    unknown: u64,
}

impl<O: Order> Hierarchy<O> {
    fn expect_flows(&mut self, n: usize) {
        if self.classifier.looks_at_flow() {
            self.known = n as u32;
        }
    }

    /// The bytes of the packet that a leaf sends next if no AQM drops it.
    fn next_len(&self, leaf: u16) -> Option<u32> {
        let head = self.leaves[usize::from(leaf)].head();
        head.map(|p| bytes(self.counted, p))
    }

    /// The queue that is served before all classes, if it has packets.
    fn direct(&self, cx: &Cx<'_>) -> Option<u16> {
        let last = self.class_of.len().checked_sub(1)? as u16;
        let direct = self.class_of[usize::from(last)].is_none();
        (direct && cx.backlog(last).0 > 0).then_some(last)
    }

    /// The buckets of its classes at `now`, each with the first leaf below.
    pub(crate) fn buckets(&self, now: Time) -> Vec<(u16, BucketLevel)> {
        let all = self.order.buckets(now).into_iter();
        all.map(|(class, _, level)| (self.first_leaf(class), level))
            .collect()
    }

    /// What is in them, with the names of their series, by class.
    pub(crate) fn tokens(&self, now: Time) -> Vec<(String, State)> {
        let all = self.order.buckets(now).into_iter();
        all.map(|(class, series, level)| {
            let name = self.class_names[usize::from(class)].clone();
            (name, vec![(series, level.tokens as f64)])
        })
        .collect()
    }

    fn first_leaf(&self, class: u16) -> u16 {
        let within = |leaf: &Option<u16>| {
            let mut up = *leaf;
            while let Some(c) = up.filter(|c| *c != class) {
                up = self.kin[usize::from(c)].parent;
            }
            up.is_some()
        };
        self.class_of.iter().position(within).unwrap_or(0) as u16
    }

    pub(crate) fn retune(&mut self, now: Time, fresh: Self) {
        self.order.retune(now, &fresh.order);
        for (leaf, f) in self.leaves.iter_mut().zip(fresh.leaves) {
            leaf.retune(f);
        }
    }
}

impl<O: Order> Schedule for Hierarchy<O> {
    #[inline]
    fn enqueue(&mut self, packet: &mut Packet, cx: &mut Cx<'_>) {
        if packet.flow >= self.known {
            self.unknown += u64::from(packet.labels.is_plain());
        }
        let leaf = self.classifier.route(packet);
        packet.leaf = leaf;
        cx.offered(packet);
        let before = cx.backlog(leaf).0;
        self.leaves[usize::from(leaf)].offer(packet, cx);
        let Some(class) = self.class_of[usize::from(leaf)] else {
            return;
        };
        match (before, cx.backlog(leaf).0) {
            (0, 0) => {}
            (0, _) => {
                let len = self.next_len(leaf).unwrap_or(packet.len);
                self.order.fills(class, len, cx.now);
            }
            // An AQM dropped what was queued, and what came.
            (_, 0) => self.order.empties(class, cx.now),
            _ => {}
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        if let Some(leaf) = self.direct(cx) {
            let left = self.leaves[usize::from(leaf)].pop(leaf, cx);
            if left.is_some() {
                return left;
            }
        }
        loop {
            let pick = self.order.pick(cx.now)?;
            let leaf = self.kin[usize::from(pick.class)].leaf?;
            let left = self.leaves[usize::from(leaf)].pop(leaf, cx);
            let more = cx.backlog(leaf).0 > 0;
            match &left {
                Some(packet) => {
                    let len = bytes(self.counted, packet);
                    let next = if more {
                        Some(self.next_len(leaf).unwrap_or(len))
                    } else {
                        None
                    };
                    self.order.sent(pick, len, next, cx.now);
                    return left;
                }
                None if more => return None,
                None => self.order.empties(pick.class, cx.now),
            }
        }
    }

    #[inline]
    fn transmits_until(&mut self, leaf: u16, end: Time) {
        self.leaves[usize::from(leaf)].transmits_until(end);
    }

    fn refuse(&mut self, packet: Packet, reason: DropReason, cx: &mut Cx<'_>) {
        refuse_at(self.classifier.route(&packet), packet, reason, cx);
    }

    fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        for leaf in &mut self.leaves {
            leaf.flush(reason, cx);
        }
        self.order.reset();
    }

    fn next_wake(&self, now: Time) -> Option<Time> {
        let direct = self.class_of.last().filter(|c| c.is_none());
        if direct.is_some() && self.leaves.last().is_some_and(|l| l.held() > 0) {
            return Some(now);
        }
        self.order.next_wake(now)
    }

    fn attach(&mut self, flows: &Arc<[FlowKey]>, _: &mut crate::fan::SharedLists) {
        self.classifier.attach(flows);
        self.expect_flows(flows.len());
    }

    fn add_flow(&mut self, key: FlowKey, n: usize) {
        self.classifier.add_flow(key);
        self.expect_flows(n);
    }

    fn unknown(&self) -> u64 {
        self.unknown
    }

    fn attach_links(&mut self, names: &Arc<[String]>) {
        self.classifier.attach_links(names);
    }

    fn looks_at_marks(&self) -> bool {
        self.classifier.looks_at_marks()
    }

    fn filters_acknowledgments(&self) -> bool {
        self.leaves.iter().any(Leaf::filters_acknowledgments)
    }

    fn leaves_mut(&mut self) -> &mut [Leaf] {
        &mut self.leaves
    }

    fn leaf_names(&self) -> Vec<String> {
        self.names.to_vec()
    }

    fn guarantee(&self, leaf: u16, load: &Load) -> Result<Guarantee, Reason> {
        O::guarantee(self, leaf, load)
    }

    fn held(&self, leaf: usize) -> u32 {
        self.leaves[leaf].held()
    }

    fn gauges(&self, leaf: usize, now: Time) -> LeafGauges {
        self.leaves[leaf].gauges(now)
    }

    fn evidence(&self, _: Time, lost: &Dropped, backlog: (u32, u64)) -> Evidence {
        self.leaves[usize::from(lost.packet.leaf)].evidence(lost, backlog)
    }

    fn limit(&self, leaf: usize) -> QueueLimit {
        self.leaves[leaf].limit()
    }

    fn leaf_of(&mut self, packet: &Packet) -> u16 {
        self.classifier.route(packet)
    }

    fn outranks(&self, first: u16, second: u16) -> bool {
        let has_class = |leaf: u16| self.class_of[usize::from(leaf)].is_some();
        !has_class(first) && has_class(second)
    }

    fn is_held(&self, leaf: u16, now: Time) -> bool {
        let waits = self.leaves[usize::from(leaf)].held() > 0;
        let class = self.class_of[usize::from(leaf)].filter(|_| waits);
        class.is_some_and(|c| self.order.is_held(c, now))
    }

    fn memory_bytes(&self, flows: usize) -> u64 {
        // A class with its feeds and its places in heaps.
        let classes = self.kin.len() as u64 * 1024;
        let leaves = self.leaves.iter().map(|l| l.memory_bytes(flows));
        leaves
            .fold(classes, u64::saturating_add)
            .saturating_add(self.classifier.memory_bytes(flows))
    }
}
