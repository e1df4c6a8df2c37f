//! ClassState-based queueing: CBWFQ with LLQ, shapers, policers and nested policies.
//!
//! Sources: S. J. Golestani, "A Self-Clocked Fair Queueing Scheme for Broadband Applications",
//! INFOCOM 1994 (the scheduler); Cisco IOS modular QoS (the meaning of classes).
//!
//! Idea: every policy is a node whose classes hold a leaf or another node. Priority classes are
//! served first: by level, and within a level in the order of arrival. The other classes share by
//! SCFQ: a class that becomes backlogged starts at S = max(its last F, V), its next packet would
//! finish at F = S + L / share, the packet with the smallest F leaves, and F becomes V. So
//! backlogged classes share the bandwidth that others leave in proportion to their guarantees.
//! Classes for which guarantees leave nothing have a higher rank: they are chosen only while no
//! class of a lower rank can send, by SCFQ with a virtual time of their own.
//!
//! A shaped class becomes eligible when there are tokens for its whole next packet. While it waits
//! for them its S moves along with V, so it gathers no credit.
//!
//! Deviations: F is computed when a packet is chosen, not when it arrives. For a queue both are the
//! same; for a nested policy, whose next packet may change, only this is exact. Tags count 2⁻²⁰
//! byte per unit of share; shares are exact to 2⁻²⁰ relative or better, which may decide ties of
//! exact arithmetic, and no share counts as less than 10⁻⁶. Cost: O(classes) per packet, which for
//! the tens of classes of real policies is less than keeping them sorted.

mod buckets;
pub(crate) mod check;
mod divide;
mod guarantee;
pub(crate) mod parts;
mod resolve;
mod shares;
mod updates;

use std::sync::Arc;

use spillgate_core::{DropReason, Dropped, FlowKey, Overhead, Packet, Rng, Time};

use crate::classify::Classifier;
use crate::condition::{Step, TokenBucket};
use crate::engine::{Schedule, refuse_at};
use crate::evidence::{Cause, Evidence, QueueLimit};
use crate::guarantee::{Guarantee, Load, Reason};
use crate::leaf::Leaf;
use crate::line::bytes;
use crate::stats::{Cx, LeafGauges};

use shares::RANKS;

pub(crate) use divide::maximum;
pub use divide::{Division, Enclosing};
pub(crate) use resolve::{DEFAULT, MAX_DEPTH, resolve};

/// V is rebased towards 0 above this.
const REBASE: u64 = 1 << 60;

/// The content of a class.
#[derive(Clone, Copy, Debug)]
enum Content {
    Leaf(u16),
    Node(u16),
}

/// A class as the scheduler sees it.
#[derive(Clone, Debug)]
struct ClassState {
    /// Virtual time at which its next packet starts.
    start: u64,
    /// Tag units per byte: 2²⁰ / share.
    per_byte: u64,
    /// Its queued packets.
    packets: u32,
    /// The bytes of its next packet, as shapers and shares count, where its leaf is first in, first
    /// out; 0 where that has to be asked.
    head: u32,
    /// The node that it belongs to.
    node: u16,
    content: Content,
    /// Index of its shaper.
    shaper: Option<u16>,
    /// Priority level, 1 first; 0 for a class that shares.
    level: u8,
    /// The rank of its share: lower ranks go first.
    rank: u8,
    /// Whether its packets may have to wait for tokens, of its own shaper or of one inside.
    gated: bool,
}

/// A policy: the classes `first..end` of the tree.
#[derive(Clone, Debug)]
struct Node {
    /// Virtual time of each rank: the largest F served.
    v: [u64; RANKS],
    /// The number of queued packets in priority classes.
    priority_packets: u32,
    first: u16,
    end: u16,
    /// The class that contains it.
    parent: Option<u16>,
    /// Whether any class is gated.
    gated: bool,
}

/// Where a classified packet goes.
#[derive(Clone, Copy, Debug)]
struct Route {
    leaf: u16,
    /// Its steps are `first_step..end_step` of the tree's list.
    first_step: u16,
    end_step: u16,
}

/// Facts about a leaf that the tree needs.
#[derive(Clone, Copy, Debug)]
struct LeafPlace {
    class: u16,
    /// The smallest burst of the enclosing shapers.
    longest: u32,
    /// Whether it belongs to a priority class.
    priority: bool,
}

/// A running class-based policy with all policies nested in it.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    classifier: Classifier,
    routes: Vec<Route>,
    /// Indexes of `steps`; shared steps (a container's policer) appear several times.
    route_steps: Vec<u16>,
    steps: Vec<Step>,
    leaves: Vec<Leaf>,
    places: Vec<LeafPlace>,
    nodes: Vec<Node>,
    classes: Vec<ClassState>,
    shapers: Vec<TokenBucket>,
    /// Packets that arrived for priority classes, to order those of one level.
    arrivals: u64,
    names: Arc<[String]>,
    /// What shapers and shares count; none: what the link adds.
    counted: Option<Overhead>,
    /// The route of the last packet.
    last_route: u16,
    /// The step that dropped a packet last; none if a shaper's burst did.
    refused_by: Option<u16>,
    /// The number of known flows where conditions look at flows; [`u32::MAX`] elsewhere.
    known: u32,
    /// The number of packets of other flows that arrived.
    unknown: u64,
}

impl Tree {
    /// The sum of the rates of the shapers through which its packets go, in b/s; none if some go
    /// through none.
    pub(crate) fn shaped(&self) -> Option<u64> {
        self.shaped_node(self.nodes.first()?)
    }

    fn shaped_node(&self, node: &Node) -> Option<u64> {
        let classes = &self.classes[usize::from(node.first)..usize::from(node.end)];
        classes.iter().try_fold(0_u64, |sum, class| {
            let rate = match (class.shaper, class.content) {
                (Some(s), _) => self.shapers[usize::from(s)].rate(),
                (None, Content::Node(inner)) => {
                    self.shaped_node(&self.nodes[usize::from(inner)])?
                }
                (None, Content::Leaf(_)) => return None,
            };
            Some(sum.saturating_add(rate))
        })
    }
}

/// A packet that may leave: its leaf and its length.
#[derive(Clone, Copy)]
struct Pick {
    leaf: u16,
    len: u32,
}

impl Tree {
    /// The bytes of the next packet of a backlogged class, as shapers and shares count.
    #[inline]
    fn next_len(&self, class: &ClassState, leaf: u16) -> u32 {
        debug_assert!(class.head == 0 || class.head == self.head_len(leaf));
        match class.head {
            0 => self.head_len(leaf),
            known => known,
        }
    }

    /// The bytes of the next packet of a leaf, as shapers and shares count; 0 if there is none.
    fn head_len(&self, leaf: u16) -> u32 {
        let head = self.leaves[usize::from(leaf)].head();
        head.map_or(0, |p| bytes(self.counted, p))
    }

    /// The packet that leaves next if the server is free at `now`.
    fn pick(&self, node: u16, now: Time) -> Option<Pick> {
        let node = &self.nodes[usize::from(node)];
        let classes = &self.classes[usize::from(node.first)..usize::from(node.end)];
        if node.priority_packets > 0 {
            let first = self.pick_priority(classes, now);
            // Priority that waits for tokens leaves the line to the others.
            if first.is_some() || !node.gated {
                return first;
            }
        }
        let mut best = None;
        let (mut best_rank, mut best_finish) = (u8::MAX, u64::MAX);
        for class in classes {
            if class.packets == 0 || class.level > 0 || class.rank > best_rank {
                continue;
            }
            let Some(pick) = self.candidate(class, now) else {
                continue;
            };
            let finish = class.finish(pick.len);
            if class.rank < best_rank || finish < best_finish {
                (best_rank, best_finish) = (class.rank, finish);
                best = Some(pick);
            }
        }
        best
    }

    fn pick_priority(&self, classes: &[ClassState], now: Time) -> Option<Pick> {
        let mut best = None;
        let mut best_key = (u8::MAX, u64::MAX);
        for class in classes {
            if class.level == 0 || class.packets == 0 {
                continue;
            }
            let Content::Leaf(leaf) = class.content else {
                continue;
            };
            let l = &self.leaves[usize::from(leaf)];
            let key = (class.level, l.head_tag());
            if key < best_key {
                let pick = Pick {
                    leaf,
                    len: self.next_len(class, leaf),
                };
                if class.gated && self.candidate(class, now).is_none() {
                    continue;
                }
                best_key = key;
                best = Some(pick);
            }
        }
        best
    }

    /// The next packet of a backlogged class, if its shapers have tokens for it at `now`.
    #[inline]
    fn candidate(&self, class: &ClassState, now: Time) -> Option<Pick> {
        let pick = match class.content {
            Content::Leaf(leaf) => Pick {
                leaf,
                len: self.next_len(class, leaf),
            },
            Content::Node(node) => self.pick(node, now)?,
        };
        match class.shaper {
            Some(s) if !self.shapers[usize::from(s)].lets_go(now, pick.len) => None,
            _ => Some(pick),
        }
    }

    /// The first instant after `t` at which [`Tree::pick`] may give another
    /// answer, if nothing arrives or leaves.
    fn next_change(&self, node: u16, t: Time) -> Option<Time> {
        let node = &self.nodes[usize::from(node)];
        let mut next: Option<Time> = None;
        let mut note = |at: Time| {
            if at > t && at < Time::MAX {
                next = Some(next.map_or(at, |n| n.min(at)));
            }
        };
        for class in &self.classes[usize::from(node.first)..usize::from(node.end)] {
            if class.packets == 0 || !class.gated {
                continue;
            }
            let pick = match class.content {
                Content::Leaf(leaf) => Some(self.next_len(class, leaf)),
                Content::Node(n) => {
                    if let Some(at) = self.next_change(n, t) {
                        note(at);
                    }
                    self.pick(n, t).map(|p| p.len)
                }
            };
            if let (Some(len), Some(s)) = (pick, class.shaper) {
                note(self.shapers[usize::from(s)].ready_at(len));
            }
        }
        next
    }

    /// Counts a packet of `len` bytes in its class and the enclosing classes.
    #[inline]
    fn activate(&mut self, leaf: u16, len: u32) {
        let mut c = self.places[usize::from(leaf)].class;
        let class = &mut self.classes[usize::from(c)];
        if class.packets == 0 && self.leaves[usize::from(leaf)].is_fifo() {
            class.head = len;
        }
        loop {
            let class = &mut self.classes[usize::from(c)];
            let node = &mut self.nodes[usize::from(class.node)];
            if class.level > 0 {
                node.priority_packets += 1;
            } else if class.packets == 0 {
                class.start = class.start.max(node.v[usize::from(class.rank)]);
            }
            class.packets += 1;
            match node.parent {
                Some(parent) => c = parent,
                None => break,
            }
        }
    }

    /// Takes packets that the AQM or the queue of a leaf dropped out of the counts of its class and
    /// the enclosing classes. They are not charged: other classes use their time.
    #[cold]
    fn forget(&mut self, leaf: u16, lost: u32) {
        let mut c = self.places[usize::from(leaf)].class;
        loop {
            let class = &mut self.classes[usize::from(c)];
            class.packets -= lost;
            let node = &mut self.nodes[usize::from(class.node)];
            if class.level > 0 {
                node.priority_packets -= lost;
            }
            match node.parent {
                Some(parent) => c = parent,
                None => break,
            }
        }
    }

    /// Charges a packet that left to its class and the enclosing classes.
    #[inline]
    fn charge(&mut self, leaf: u16, len: u32, now: Time) {
        let mut c = self.places[usize::from(leaf)].class;
        loop {
            let class = &mut self.classes[usize::from(c)];
            let node = &mut self.nodes[usize::from(class.node)];
            class.packets -= 1;
            let mut far = false;
            if class.level > 0 {
                node.priority_packets -= 1;
            } else {
                class.start = class.finish(len);
                let v = &mut node.v[usize::from(class.rank)];
                *v = class.start.max(*v);
                far = *v > REBASE;
            }
            if let Some(s) = class.shaper {
                self.shapers[usize::from(s)].charge(now, len);
            }
            let n = class.node;
            let (gated, parent) = (node.gated, node.parent);
            if gated {
                self.hold_back(n, now);
            }
            if far {
                self.rebase(n);
            }
            match parent {
                Some(parent) => c = parent,
                None => break,
            }
        }
    }

    /// Moves the start tags of classes that wait for tokens along with virtual time.
    fn hold_back(&mut self, node: u16, now: Time) {
        let Node { v, first, end, .. } = self.nodes[usize::from(node)];
        for c in first..end {
            let class = &self.classes[usize::from(c)];
            let v = v[usize::from(class.rank)];
            if class.gated
                && class.packets > 0
                && class.start < v
                && self.candidate(class, now).is_none()
            {
                self.classes[usize::from(c)].start = v;
            }
        }
    }

    /// Moves the origin of a node's virtual times to the oldest tags in use.
    /// Order depends on differences only, so nothing else changes.
    #[cold]
    fn rebase(&mut self, node: u16) {
        let node = &mut self.nodes[usize::from(node)];
        let classes = &mut self.classes[usize::from(node.first)..usize::from(node.end)];
        for (rank, v) in (0_u8..).zip(&mut node.v) {
            let base = classes
                .iter()
                .filter(|c| c.packets > 0 && c.level == 0 && c.rank == rank)
                .map(|c| c.start)
                .fold(*v, u64::min);
            *v -= base;
            for class in classes.iter_mut().filter(|c| c.rank == rank) {
                class.start = class.start.saturating_sub(base);
            }
        }
    }
}

impl ClassState {
    #[inline]
    fn finish(&self, len: u32) -> u64 {
        self.start
            .saturating_add(u64::from(len).saturating_mul(self.per_byte))
    }
}

impl Schedule for Tree {
    #[inline]
    fn enqueue(&mut self, packet: &mut Packet, cx: &mut Cx<'_>) {
        if packet.flow >= self.known {
            self.note_unknown(packet);
        }
        self.last_route = self.classifier.route(packet);
        let route = self.routes[usize::from(self.last_route)];
        packet.leaf = route.leaf;
        cx.offered(packet);
        let congested = cx.total.packets > 0;
        for s in &self.route_steps[usize::from(route.first_step)..usize::from(route.end_step)] {
            if !self.steps[usize::from(*s)].admits(cx.now, packet, congested) {
                self.refused_by = Some(*s);
                cx.refused(*packet, DropReason::Policer);
                return;
            }
        }
        let place = self.places[usize::from(route.leaf)];
        let len = bytes(self.counted, packet);
        if len > place.longest {
            // The bucket of a shaper is smaller than the packet.
            self.refused_by = None;
            cx.refused(*packet, DropReason::Policer);
            return;
        }
        if place.priority {
            packet.tag = self.arrivals;
            self.arrivals += 1;
        }
        match self.leaves[usize::from(route.leaf)].offer(packet, cx) {
            0 => {}
            1 => self.activate(route.leaf, len),
            // At most one packet is gained.
            more => self.forget(route.leaf, more.unsigned_abs() as u32),
        }
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut Cx<'_>) -> Option<Packet> {
        loop {
            let pick = self.pick(0, cx.now)?;
            let leaf = &mut self.leaves[usize::from(pick.leaf)];
            let before = cx.backlog(pick.leaf).0;
            let left = leaf.pop(pick.leaf, cx);
            let lost = before - cx.backlog(pick.leaf).0 - u32::from(left.is_some());
            let next = leaf.queue.first().map_or(0, |p| bytes(self.counted, p));
            let place = self.places[usize::from(pick.leaf)];
            self.classes[usize::from(place.class)].head = next;
            if lost > 0 {
                self.forget(pick.leaf, lost);
            }
            // Its AQM may have dropped all packets of the class: choose again.
            let Some(packet) = &left else { continue };
            let len = bytes(self.counted, packet);
            debug_assert!(len == pick.len || lost > 0);
            self.charge(pick.leaf, len, cx.now);
            return left;
        }
    }

    #[inline]
    fn transmits_until(&mut self, leaf: u16, end: Time) {
        self.leaves[usize::from(leaf)].transmits_until(end);
    }

    fn refuse(&mut self, packet: Packet, reason: DropReason, cx: &mut Cx<'_>) {
        let route = self.routes[usize::from(self.classifier.route(&packet))];
        refuse_at(route.leaf, packet, reason, cx);
    }

    fn flush(&mut self, reason: DropReason, cx: &mut Cx<'_>) {
        for leaf in &mut self.leaves {
            leaf.flush(reason, cx);
        }
        // No class starts later than its node's virtual time, so emptied classes start alike.
        self.classes.iter_mut().for_each(|c| c.packets = 0);
        self.nodes.iter_mut().for_each(|n| n.priority_packets = 0);
    }

    fn next_wake(&self, now: Time) -> Option<Time> {
        if !self.nodes[0].gated {
            return None;
        }
        // Between two changes the choice is constant, and tokens only increase.
        let mut t = now;
        while self.pick(0, t).is_none() {
            t = self.next_change(0, t)?;
        }
        Some(t)
    }

    fn attach(&mut self, flows: &Arc<[FlowKey]>, _: &mut crate::fan::SharedLists) {
        self.attach(flows);
    }

    fn add_flow(&mut self, key: FlowKey, n: usize) {
        self.add_flow(key, n);
    }

    fn unknown(&self) -> u64 {
        self.unknown
    }

    fn seed(&mut self, stream: &dyn Fn(&str) -> Rng) {
        self.steps.iter_mut().for_each(|s| s.seed(stream));
    }

    fn attach_links(&mut self, names: &Arc<[String]>) {
        self.attach_links(names);
    }

    fn looks_at_marks(&self) -> bool {
        self.classifier.looks_at_marks() || self.steps.iter().any(Step::looks_at_marks)
    }

    fn leaves_mut(&mut self) -> &mut [Leaf] {
        &mut self.leaves
    }

    fn leaf_names(&self) -> Vec<String> {
        self.names.to_vec()
    }

    fn guarantee(&self, leaf: u16, load: &Load) -> Result<Guarantee, Reason> {
        self.guaranteed(leaf, load)
    }

    fn held(&self, leaf: usize) -> u32 {
        self.leaves[leaf].held()
    }

    fn gauges(&self, leaf: usize, now: Time) -> LeafGauges {
        self.leaves[leaf].gauges(now)
    }

    fn evidence(&self, now: Time, lost: &Dropped, backlog: (u32, u64)) -> Evidence {
        let leaf = usize::from(lost.packet.leaf);
        let of_queue = self.leaves[leaf].evidence(lost, backlog);
        if lost.reason != DropReason::Policer {
            return of_queue;
        }
        let step = self.refused_by.map(|s| &self.steps[usize::from(s)]);
        let longest = self.places[leaf].longest;
        let (counted, cause) = match step {
            Some(step) => (step.counted(), step.evidence(now)),
            None => (self.counted, Cause::LongerThanBurst(longest.into())),
        };
        Evidence {
            counted: counted.map(|_| bytes(counted, &lost.packet)),
            cause,
            ..of_queue
        }
    }

    fn limit(&self, leaf: usize) -> QueueLimit {
        self.leaves[leaf].limit()
    }

    fn leaf_of(&mut self, packet: &Packet) -> u16 {
        self.routes[usize::from(self.classifier.route(packet))].leaf
    }

    fn outranks(&self, first: u16, second: u16) -> bool {
        let mine = &self.classes[usize::from(self.places[usize::from(first)].class)];
        // The class of `second` in the same policy, if there is one.
        let mut c = self.places[usize::from(second)].class;
        loop {
            let class = &self.classes[usize::from(c)];
            if class.node == mine.node {
                return match (mine.level, class.level) {
                    (0, 0) => mine.rank < class.rank,
                    (0, _) => false,
                    (level, other) => other == 0 || other > level,
                };
            }
            match self.nodes[usize::from(class.node)].parent {
                Some(parent) => c = parent,
                None => return false,
            }
        }
    }

    fn is_held(&self, leaf: u16, now: Time) -> bool {
        let len = self.head_len(leaf);
        let mut c = self.places[usize::from(leaf)].class;
        loop {
            let class = &self.classes[usize::from(c)];
            if let Some(s) = class.shaper {
                if !self.shapers[usize::from(s)].lets_go(now, len) {
                    return true;
                }
            }
            match self.nodes[usize::from(class.node)].parent {
                Some(parent) => c = parent,
                None => return false,
            }
        }
    }

    fn memory_bytes(&self, flows: usize) -> u64 {
        let fixed = self.classes.len() * std::mem::size_of::<ClassState>()
            + self.nodes.len() * std::mem::size_of::<Node>()
            + self.steps.len() * std::mem::size_of::<Step>();
        self.leaves
            .iter()
            .map(|l| l.memory_bytes(flows))
            .fold(fixed as u64, u64::saturating_add)
            .saturating_add(self.classifier.memory_bytes(flows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::test_at;
    use crate::spec::{DisciplineSpec, Scope};
    use crate::stats::Desk;
    use spillgate_core::Rate;

    /// Moving the origin of virtual time changes no order: classes backlogged, idle and shaped, and
    /// a nested policy.
    #[test]
    fn the_origin_of_virtual_time_does_not_matter() {
        let json = r#"{"main": {"class-based": {"classes": [
              {"name": "a", "match": {"dscp": "cs1"}, "bandwidth": "10 %"},
              {"name": "b", "match": {"dscp": "cs2"}, "bandwidth": "30 %", "shape": {"rate": "20 %"}},
              {"name": "c", "match": {"dscp": ["cs3", "cs4"]}, "bandwidth": "25 %", "policy": "inner"}]}},
            "inner": {"class-based": {"classes": [{"name": "x", "match": {"dscp": "cs4"}, "bandwidth": "70 %"}]}}}"#;
        let policies = serde_json::from_str(json).unwrap();
        let scope = Scope {
            policies: &policies,
            name: "main",
            line: Rate::from_bps(1_000_000).unwrap().into(),
        };
        let DisciplineSpec::ClassBased(spec) = &policies["main"] else {
            panic!("not class-based");
        };
        let run = |rebase: bool| {
            let mut tree = test_at(|at| resolve(spec, at, &scope)).unwrap();
            let mut desk = Desk::new();
            let (mut script, mut order) = (Rng::from_key(4), Vec::new());
            for i in 0..3000_u32 {
                let mut cx = desk.at(Time::from_secs_f64(f64::from(i) * 0.003));
                let class = script.below(5).min(i / 300 % 5) as u8; // Now and then one falls idle.
                let mut packet = Packet::new(0, i, 100 + script.below(1400) as u16);
                packet.dscp = spillgate_core::Dscp::new(8 * class).unwrap();
                tree.enqueue(&mut packet, &mut cx);
                order.push(tree.dequeue(&mut cx).map(|p| p.seq));
                if script.below(2) == 0 {
                    order.push(tree.dequeue(&mut cx).map(|p| p.seq));
                }
                if rebase {
                    (0..tree.nodes.len()).for_each(|n| tree.rebase(n as u16));
                }
            }
            (order, tree.nodes[0].v[0])
        };
        let ((moved, v), (still, far)) = (run(true), run(false));
        assert_eq!(moved, still);
        assert!(v < far / 100, "{v} {far}");
    }
}
