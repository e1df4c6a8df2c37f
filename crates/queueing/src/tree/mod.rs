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

mod beside;
mod buckets;
pub(crate) mod check;
mod deadlines;
mod divide;
mod guarantee;
mod lets_out;
pub(crate) mod parts;
pub(crate) mod policer;
mod resolve;
mod rule;
mod select;
mod sends;
mod shaped;
mod shares;
mod updates;

use std::sync::Arc;

use spillgate_core::{DropReason, Dropped, FlowKey, Overhead, Packet, Rng, Time};

use crate::classify::Classifier;
use crate::condition::{Step, TokenBucket};
use crate::engine::{Schedule, refuse_at};
use crate::evidence::{Cause, Evidence, QueueLimit};
use crate::guarantee::{Guarantee, Load, Reason, Sends};
use crate::leaf::Leaf;
use crate::line::bytes;
use crate::stats::{Cx, LeafGauges};

use rule::{Rule, Turns};
use shares::SLOTS;

pub(crate) use divide::maximum;
pub use divide::{Division, Enclosing};
pub(crate) use resolve::{DEFAULT, MAX_DEPTH, resolve};

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
    /// Lower ranks go first.
    rank: u8,
    /// The virtual time by which it is tagged.
    slot: u8,
    /// Whether its packets may have to wait for tokens, of its own shaper or of one inside.
    gated: bool,
    /// Its turns, where classes take turns.
    turns: Turns,
}

/// The packet that was taken last.
#[derive(Clone, Copy, Debug, Default)]
struct Sent {
    /// How many were taken up to it.
    number: u64,
    /// Its bytes, as shares count.
    len: u32,
    /// When it arrived, was taken, and until when it is in transmission.
    arrived: Time,
    from: Time,
    until: Time,
}

/// A policy: the classes `first..end` of the tree.
#[derive(Clone, Debug)]
struct Node {
    rule: Rule,
    /// The number of the last packet that it sent.
    sent: u64,
    /// Virtual times; by SCFQ the largest F served.
    v: [u64; SLOTS],
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
    sent: Sent,
    /// Whether a scheduler asks for it.
    remembers_sent: bool,
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
            1 => self.activate(route.leaf, len, cx.now),
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
            let place = self.places[usize::from(pick.leaf)];
            self.classes[usize::from(place.class)].head = self.first_len(pick.leaf);
            if lost > 0 {
                self.forget(pick.leaf, lost);
            }
            // Its AQM may have dropped all packets of the class: choose again.
            let Some(packet) = &left else { continue };
            let len = bytes(self.counted, packet);
            debug_assert!(
                len == pick.len || lost > 0 || !self.leaves[usize::from(pick.leaf)].foretells()
            );
            if self.remembers_sent {
                self.sent = Sent {
                    number: self.sent.number + 1,
                    len,
                    arrived: packet.arrived,
                    from: cx.now,
                    until: cx.now,
                };
            }
            self.charge(pick.leaf, len, pick.len, cx.now);
            return left;
        }
    }

    #[inline]
    fn transmits_until(&mut self, leaf: u16, end: Time) {
        self.sent.until = end;
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
        self.guaranteed(leaf, load)
    }

    fn sends(&self, load: &Load) -> Vec<Sends> {
        self.lets_out(load)
    }

    fn follows_line(&self) -> bool {
        true
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
        let mut next = Some(self.places[usize::from(second)].class);
        while let Some(c) = next {
            let class = &self.classes[usize::from(c)];
            if class.node == mine.node {
                return match (mine.level, class.level) {
                    (0, 0) => mine.rank < class.rank,
                    (0, _) => false,
                    (level, other) => other == 0 || other > level,
                };
            }
            next = self.nodes[usize::from(class.node)].parent;
        }
        false
    }

    fn is_held(&self, leaf: u16, now: Time) -> bool {
        let len = self.head_len(leaf);
        let mut next = Some(self.places[usize::from(leaf)].class);
        while let Some(c) = next {
            let class = &self.classes[usize::from(c)];
            if let Some(s) = class.shaper {
                if !self.shapers[usize::from(s)].lets_go(now, len) {
                    return true;
                }
            }
            next = self.nodes[usize::from(class.node)].parent;
        }
        false
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
