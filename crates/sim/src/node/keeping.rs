//! Nodes that keep packets before they hand them to a port.
//!
//! Most nodes pass a packet from the far end of a link to the next port in no time; they are no
//! objects at all. One that keeps packets is a [`Node`]: it is told what comes and when it is
//! woken, and says what goes on and what is lost. A new kind is written against this trait alone.
//! It promises nothing: where there is such a node, the express lane works nothing out ahead.

use spillgate_core::rng::hash_bytes;
use spillgate_core::{Dropped, Packet, Time};
use spillgate_events::{EventSet, Rank};
use spillgate_queueing::Evidence;
use spillgate_scenario::plan::WorldPlan;

use super::software::Software;
use crate::engine::World;
use crate::gauge::NodeMeter;
use crate::window::Window;

/// What a node does with packets that come over a link and are to leave over another one.
pub(crate) trait Node: Send {
    /// A packet that came over the link `from` is to go on to the port of the link `to`.
    fn arrive(&mut self, now: Time, from: u32, to: u32, packet: &Packet, out: &mut Outbox);
    /// When it is to be woken; asked after each call.
    fn next_wake(&self) -> Option<Time>;
    /// It is the time that it asked for.
    fn wake(&mut self, now: Time, out: &mut Outbox);
    /// What it has measured.
    fn meter(&self) -> &NodeMeter;
}

/// What a node lets go in a call.
#[derive(Default)]
pub(crate) struct Outbox {
    /// Packets that go on now, each with the link to whose port.
    pub(crate) passed: Vec<(u32, Packet)>,
    /// Packets that are lost, each with the link that it came over, and why.
    pub(crate) lost: Vec<(u32, Evidence, Dropped)>,
}

/// A node with what the engine needs of it.
struct Keeper {
    node: Box<dyn Node>,
    /// When it is to be woken, [`Time::MAX`] for not.
    wake: Time,
    /// Hash of its name, for the digest.
    place: u64,
}

/// The nodes of a world that keep packets.
pub(crate) struct Nodes {
    keepers: Vec<Keeper>,
    /// The keeper from which each link leads away.
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
        let keeper = |(name, node)| Keeper {
            node,
            wake: Time::MAX,
            place: name,
        };
        let kept = plan.forwarding.iter().map(|forwarding| {
            let node: Box<dyn Node> = Box::new(Software::new(forwarding, window));
            (name(plan, forwarding.node), node)
        });
        Some(Self {
            keepers: kept.map(keeper).collect(),
            of_link: plan
                .links
                .iter()
                .map(|l| of_node[l.from as usize])
                .collect(),
            out: Outbox::default(),
        })
    }

    /// The hashed names of the slots of their wakes.
    pub(crate) fn slots(plan: &WorldPlan) -> impl Iterator<Item = u64> {
        plan.forwarding.iter().map(|f| name(plan, f.node))
    }

    /// What they have measured, in their order.
    pub(crate) fn meters(&self) -> impl Iterator<Item = &NodeMeter> {
        self.keepers.iter().map(|k| k.node.meter())
    }
}

fn name(plan: &WorldPlan, node: u32) -> u64 {
    hash_bytes(format!("nodes/{}/forwarding", plan.nodes[node as usize]).as_bytes())
}

impl<S: EventSet> World<S> {
    /// A packet that came over the link `from` goes on to the port of `to` by way of the node
    /// between them.
    #[inline]
    pub(crate) fn pass(&mut self, from: Option<usize>, to: u32, packet: &mut Packet, now: Time) {
        match (&self.nodes, from) {
            (Some(_), Some(from)) => self.come_to_node(from as u32, to, packet),
            _ => self.offer(to as usize, packet, now),
        }
    }

    #[cold]
    fn come_to_node(&mut self, from: u32, to: u32, packet: &mut Packet) {
        let now = self.now;
        let Some(nodes) = &mut self.nodes else {
            return;
        };
        let Some(keeper) = nodes.of_link[to as usize] else {
            return self.offer(to as usize, packet, now);
        };
        let node = &mut nodes.keepers[keeper as usize].node;
        node.arrive(now, from, to, packet, &mut nodes.out);
        self.clear_outbox(keeper as usize);
    }

    /// The wake of a node.
    pub(crate) fn node_due(&mut self, keeper: usize) {
        let Some(nodes) = &mut self.nodes else {
            return;
        };
        let due = &mut nodes.keepers[keeper];
        due.wake = Time::MAX;
        due.node.wake(self.now, &mut nodes.out);
        self.clear_outbox(keeper);
    }

    /// What a node has let go goes its way, and its next wake is set.
    fn clear_outbox(&mut self, keeper: usize) {
        let Some(nodes) = &mut self.nodes else {
            return;
        };
        let mut out = std::mem::take(&mut nodes.out);
        let Keeper { node, wake, place } = &mut nodes.keepers[keeper];
        let place = *place;
        let next = node.next_wake().unwrap_or(Time::MAX);
        if next != *wake {
            *wake = next;
            let slot = self.slots.nodes + keeper as u32;
            self.events.schedule(slot, next, Rank::Delivery);
        }
        for (from, evidence, lost) in out.lost.drain(..) {
            if self.tap.is_some() {
                self.tap_kept_out(from, evidence, &lost);
            }
            self.lose(self.now, place, &lost);
        }
        for (to, mut packet) in out.passed.drain(..) {
            self.offer(to as usize, &mut packet, self.now);
        }
        if let Some(nodes) = &mut self.nodes {
            nodes.out = out;
        }
    }
}
