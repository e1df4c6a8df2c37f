//! Nodes that hold packets before they pass them to a port.
//!
//! Most nodes pass a packet from the far end of a link to the next port at once; the engine has no
//! object for them. A node that holds packets is a [`Node`]: the engine tells it which packets
//! arrive and when its wake is due, and it returns the packets that go on and the packets that are
//! lost. A new kind of node implements this trait and nothing else. It promises nothing: where
//! there is such a node, the express lane computes nothing ahead of the clock.

use spillgate_core::rng::hash_bytes;
use spillgate_core::{Dropped, Packet, Time};
use spillgate_events::{EventSet, Rank};
use spillgate_queueing::Evidence;
use spillgate_scenario::plan::WorldPlan;

use super::software::Software;
use crate::engine::World;
use crate::gauge::NodeMeter;
use crate::window::Window;

/// A node that passes packets from one link to another, perhaps later.
pub(crate) trait Node: Send {
    /// A packet arrives over the link `from`, bound for the port of the link `to`.
    fn arrive(&mut self, now: Time, from: u32, to: u32, packet: &Packet, out: &mut Outbox);
    /// When it wants to be woken; the engine asks after each call.
    fn next_wake(&self) -> Option<Time>;
    /// Its wake is due.
    fn wake(&mut self, now: Time, out: &mut Outbox);
    /// Its measurements.
    fn meter(&self) -> &NodeMeter;
}

/// The packets that leave a node in one call.
#[derive(Default)]
pub(crate) struct Outbox {
    /// Packets that are passed on, each with the link to whose port.
    pub(crate) passed: Vec<(u32, Packet)>,
    /// Packets that are lost, each with the link that it came over, and why.
    pub(crate) lost: Vec<(u32, Evidence, Dropped)>,
}

/// A node, with its wake and its name.
struct Holder {
    node: Box<dyn Node>,
    /// When it wakes next, [`Time::MAX`] for never.
    wake: Time,
    /// Hash of its name, for the digest.
    name_hash: u64,
}

/// The nodes of a world that hold packets.
pub(crate) struct Nodes {
    holders: Vec<Holder>,
    /// The number of the node from which each link leads away.
    of_link: Vec<Option<u32>>,
    out: Outbox,
}

impl Nodes {
    /// None if all nodes pass packets on at once.
    pub(crate) fn new(plan: &WorldPlan, window: Window) -> Option<Self> {
        if plan.forwarding.is_empty() {
            return None;
        }
        let mut of_node = vec![None; plan.nodes.len()];
        for (number, forwarding) in (0..).zip(&plan.forwarding) {
            of_node[forwarding.node as usize] = Some(number);
        }
        let holder = |(name, node)| Holder {
            node,
            wake: Time::MAX,
            name_hash: name,
        };
        let kept = plan.forwarding.iter().map(|forwarding| {
            let node: Box<dyn Node> = Box::new(Software::new(forwarding, window));
            (name(plan, forwarding.node), node)
        });
        Some(Self {
            holders: kept.map(holder).collect(),
            of_link: plan
                .links
                .iter()
                .map(|l| of_node[l.from as usize])
                .collect(),
            out: Outbox::default(),
        })
    }

    /// The hashed names of their slots in the event set.
    pub(crate) fn slots(plan: &WorldPlan) -> impl Iterator<Item = u64> {
        plan.forwarding.iter().map(|f| name(plan, f.node))
    }

    /// Their meters, in order.
    pub(crate) fn meters(&self) -> impl Iterator<Item = &NodeMeter> {
        self.holders.iter().map(|k| k.node.meter())
    }
}

fn name(plan: &WorldPlan, node: u32) -> u64 {
    hash_bytes(format!("nodes/{}/forwarding", plan.nodes[node as usize]).as_bytes())
}

impl<S: EventSet> World<S> {
    /// Passes a packet that came over the link `from` to the port of `to`, through the node between
    /// them.
    #[inline]
    pub(crate) fn pass(&mut self, from: Option<usize>, to: u32, packet: &mut Packet, now: Time) {
        match (&self.nodes, from) {
            (Some(_), Some(from)) => self.arrive_at_node(from as u32, to, packet),
            _ => self.offer(to as usize, packet, now),
        }
    }

    #[cold]
    fn arrive_at_node(&mut self, from: u32, to: u32, packet: &mut Packet) {
        let now = self.now;
        let Some(nodes) = &mut self.nodes else {
            return;
        };
        let Some(holder) = nodes.of_link[to as usize] else {
            return self.offer(to as usize, packet, now);
        };
        let node = &mut nodes.holders[holder as usize].node;
        node.arrive(now, from, to, packet, &mut nodes.out);
        self.deliver_outbox(holder as usize);
    }

    /// The wake of a node.
    pub(crate) fn node_due(&mut self, holder: usize) {
        let Some(nodes) = &mut self.nodes else {
            return;
        };
        let due = &mut nodes.holders[holder];
        due.wake = Time::MAX;
        due.node.wake(self.now, &mut nodes.out);
        self.deliver_outbox(holder);
    }

    /// Delivers the packets that a node let go, and sets its next wake.
    fn deliver_outbox(&mut self, holder: usize) {
        let Some(nodes) = &mut self.nodes else {
            return;
        };
        let mut out = std::mem::take(&mut nodes.out);
        let Holder {
            node,
            wake,
            name_hash,
        } = &mut nodes.holders[holder];
        let name_hash = *name_hash;
        let next = node.next_wake().unwrap_or(Time::MAX);
        if next != *wake {
            *wake = next;
            let slot = self.slots.nodes + holder as u32;
            self.events.schedule(slot, next, Rank::Delivery);
        }
        for (from, evidence, lost) in out.lost.drain(..) {
            if self.tap.is_some() {
                self.tap_kept_out(from, evidence, &lost);
            }
            self.lose(self.now, name_hash, &lost);
        }
        for (to, mut packet) in out.passed.drain(..) {
            self.offer(to as usize, &mut packet, self.now);
        }
        if let Some(nodes) = &mut self.nodes {
            nodes.out = out;
        }
    }
}
