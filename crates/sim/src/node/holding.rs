//! Nodes that hold packets before they pass them to a port.
//!
//! Most nodes pass a packet from the far end of a link to the next port at once; the engine has no
//! object for them. A node that holds packets is a [`Node`]: the engine tells it which packets
//! arrive and when its wake is due, and it returns the packets that go on and the packets that are
//! lost. A new kind of node implements this trait and nothing else. It promises nothing: the express
//! lane takes no packet through it ahead of the clock.

use std::sync::Arc;

use spillgate_core::rng::hash_bytes;
use spillgate_core::{Dropped, Dur, FlowKey, Packet, Time};
use spillgate_events::{EventSet, Rank};
use spillgate_measure::{Measures, Samples, Volume};
use spillgate_queueing::{Evidence, Train};
use spillgate_scenario::plan::{LinkPlan, WorldPlan};

use super::cells::CellSwitches;
use super::lines::{SentOver, Shared};
use super::software::Software;
use super::switch::SwitchNode;
use crate::engine::World;
use crate::pipes::Placed;
use crate::window::Window;

/// A node that passes packets from one link to another, perhaps later.
pub(crate) trait Node: Send {
    /// A packet arrives over the link `from`, bound for the port of the link `to`.
    fn arrive(&mut self, now: Time, from: u32, to: u32, packet: &Packet, out: &mut Outbox);
    /// When it wants to be woken; the engine asks after each call.
    fn next_wake(&self) -> Option<Time>;
    /// Its wake is due.
    fn wake(&mut self, now: Time, out: &mut Outbox);
    /// When it is woken among other things of the same instant.
    fn rank(&self) -> Rank {
        Rank::Delivery
    }
    /// A packet leaves the queue of the port to which it was passed.
    fn sent(&mut self, _now: Time, _to: u32, _packet: &Packet) {}
    /// A packet is lost in the queue of the port to which it was passed.
    fn dropped(&mut self, _now: Time, _to: u32, _packet: &Packet) {}
    /// The last link that cells of a packet take inside the node, and how many links there are, if the packet goes on over these
    /// hops as cells.
    fn way(&self, _hops: &[u32]) -> Option<(u32, u32)> {
        None
    }
    /// A packet begins to leave the port of a link as cells, which come to the node at these times and leave it over the other link.
    fn begin(&mut self, _ends: (u32, u32), _train: Train, _packet: Packet) {}
    /// A packet begins to leave the port of a link as cells, over a line that others share.
    fn share(&mut self, _now: Time, _shared: Shared) {}
    /// Packets whose cells leave over lines that are shared, and when the last one will have if nothing else comes.
    fn sharing(&self) -> Vec<SentOver> {
        Vec::new()
    }
    /// The measured period begins or ends.
    fn passes_edge(&mut self, _edge: Time) {}
    /// What links that the node serves itself carry of the measured period, and how long they were busy.
    fn carried(&self) -> Vec<(u32, Volume, Dur)> {
        Vec::new()
    }
    /// Puts what is sampled of it, after all else of this instant.
    fn sample(&mut self, _now: Time, _plan: &WorldPlan, _out: &mut Samples) {}
    /// Puts what it has measured until `now`. Before anything has happened it puts the same metrics.
    fn measure(&self, now: Time, plan: &WorldPlan, out: &mut Measures);
}

/// The packets that leave a node in one call.
#[derive(Default)]
pub(crate) struct Outbox {
    /// Packets that are passed on.
    pub(crate) passed: Vec<Passed>,
    /// Flows of which a packet has crossed a fabric, if they keep its queues filled.
    pub(crate) crossed: Vec<u32>,
    /// Packets that are lost, each with the link that it came over, and why.
    pub(crate) lost: Vec<(u32, Evidence, Dropped)>,
    /// For ports whose AQM is to know what waits for them in the node: the link, and how many packets and bytes do now.
    pub(crate) waiting: Vec<(u32, u32, u64)>,
    /// The same for a packet that has arrived for such a port: the link, and its bytes.
    pub(crate) arrived: Option<(u32, u32)>,
    /// Packets whose last cell has come over a link, by flow and number.
    pub(crate) hopped: Vec<(u32, u32, u32)>,
    /// Packets whose last cell has left over a link.
    pub(crate) done: Vec<(u32, Packet)>,
    /// Packets whose last cell has left the port of an edge over a line that is shared.
    pub(crate) sent: Vec<SentOver>,
}

/// A packet that a node passes on.
pub(crate) struct Passed {
    /// The link to whose port it goes.
    pub(crate) to: u32,
    pub(crate) packet: Packet,
    /// When it began to cross the fabric of a switch, if the node is one and it has waited for that.
    pub(crate) crossed_since: Option<Time>,
}

impl Passed {
    /// To the port of `to`, without a fabric.
    pub(crate) fn plainly(to: u32, packet: Packet) -> Self {
        Self {
            to,
            packet,
            crossed_since: None,
        }
    }
}

/// A node, with its wake and its name.
struct Holder {
    node: Box<dyn Node>,
    /// When it wakes next, [`Time::MAX`] for never, and among what.
    wake: (Time, Rank),
    /// Hash of its name, for the digest.
    name_hash: u64,
}

/// The nodes of a world that hold packets.
pub(crate) struct Nodes {
    /// Those that forward in software, then switches, then one for all ATM switches.
    holders: Vec<Holder>,
    /// The one for ATM switches.
    cells: Option<usize>,
    /// The number of the node from which each link leads away.
    of_link: Vec<Option<u32>>,
    out: Outbox,
}

impl Nodes {
    /// None if all nodes pass packets on at once.
    pub(crate) fn new(
        plan: &WorldPlan,
        window: Window,
        flows: &Arc<[FlowKey]>,
        (seed, run): (u64, u32),
    ) -> Option<Self> {
        if !plan.holds_packets() {
            return None;
        }
        let all = plan.flows.iter();
        let backlogged: Arc<[bool]> = match all.clone().any(|f| f.traffic.is_backlogged()) {
            true => all.map(|f| f.traffic.is_backlogged()).collect(),
            false => Arc::new([]),
        };
        let software = plan.forwarding.iter().map(|forwarding| {
            let node: Box<dyn Node> = Box::new(Software::new(forwarding, plan, window));
            (forwarding.node, node)
        });
        let switches = plan.switches.iter().map(|switch| {
            let path = path(plan, switch.node, SWITCH);
            let node = SwitchNode::new(switch, window, flows, &backlogged, (seed, run, &path));
            let node: Box<dyn Node> = Box::new(node);
            (switch.node, node)
        });
        let cells = first_of_cells(plan).map(|first| {
            let node: Box<dyn Node> = Box::new(CellSwitches::new(plan, window));
            (first, node)
        });
        // Packets come to what takes cells from ports, not from links.
        let passing = plan.forwarding.len() + plan.switches.len();
        let last = cells.is_some();
        let mut of_node = vec![None; plan.nodes.len()];
        let mut holders = Vec::new();
        for ((number, (id, node)), name_hash) in (0..)
            .zip(software.chain(switches).chain(cells))
            .zip(Self::slots(plan))
        {
            if holders.len() < passing {
                of_node[id as usize] = Some(number);
            }
            holders.push(Holder {
                node,
                wake: (Time::MAX, Rank::Delivery),
                name_hash,
            });
        }
        let from = |l: &LinkPlan| of_node[l.from as usize];
        Some(Self {
            cells: holders.len().checked_sub(1).filter(|_| last),
            holders,
            of_link: plan.links.iter().map(from).collect(),
            out: Outbox::default(),
        })
    }

    /// The hashed names of their slots in the event set.
    pub(crate) fn slots(plan: &WorldPlan) -> impl Iterator<Item = u64> {
        let forwarding = plan.forwarding.iter().map(|f| (f.node, FORWARDING));
        let switches = plan.switches.iter().map(|s| (s.node, SWITCH));
        let cells = first_of_cells(plan).map(|node| (node, CELLS));
        let all = forwarding.chain(switches).chain(cells);
        all.map(|(node, kind)| hash_bytes(path(plan, node, kind).as_bytes()))
    }

    /// Those of a world in which nothing happens.
    pub(crate) fn idle(plan: &WorldPlan) -> Option<Self> {
        let window = Window::new(plan.warmup, plan.duration);
        Self::new(plan, window, &Arc::default(), (0, 0))
    }

    /// Puts what they have measured until `now`.
    pub(crate) fn measure(&self, now: Time, plan: &WorldPlan, out: &mut Measures) {
        for holder in &self.holders {
            holder.node.measure(now, plan, out);
        }
    }

    /// Puts what is sampled of them, after all else of this instant.
    pub(crate) fn sample(&mut self, now: Time, plan: &WorldPlan, out: &mut Samples) {
        for holder in &mut self.holders {
            holder.node.sample(now, plan, out);
        }
    }

    /// What takes cells, with its number.
    pub(super) fn cells(&mut self) -> Option<(usize, &mut dyn Node)> {
        let number = self.cells?;
        Some((number, &mut *self.holders[number].node))
    }

    /// The measured period begins or ends.
    pub(crate) fn passes_edge(&mut self, edge: Time) {
        for holder in &mut self.holders {
            holder.node.passes_edge(edge);
        }
    }

    /// What links that nodes serve themselves carry of the measured period, and how long they were busy.
    pub(crate) fn carried(&self) -> impl Iterator<Item = (u32, Volume, Dur)> + '_ {
        self.holders.iter().flat_map(|h| h.node.carried())
    }

    /// A packet leaves the queue of a port.
    pub(crate) fn sent(&mut self, now: Time, link: usize, packet: &Packet) {
        if let Some(holder) = self.of_link[link] {
            let node = &mut self.holders[holder as usize].node;
            node.sent(now, link as u32, packet);
        }
    }

    /// A packet is lost in the queue of a port.
    pub(crate) fn dropped(&mut self, now: Time, link: usize, packet: &Packet) {
        if let Some(holder) = self.of_link[link] {
            let node = &mut self.holders[holder as usize].node;
            node.dropped(now, link as u32, packet);
        }
    }
}

/// The node by which what takes cells is called; none if there are none.
fn first_of_cells(plan: &WorldPlan) -> Option<u32> {
    let switches = plan.cell_switches.first().map(|s| s.node);
    switches.or_else(|| Some(plan.cell_lines.first()?.node))
}

const FORWARDING: &str = "forwarding";
const SWITCH: &str = "switch";
const CELLS: &str = "cells";

fn path(plan: &WorldPlan, node: u32, kind: &str) -> String {
    format!("nodes/{}/{kind}", plan.nodes[node as usize])
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
        packet.hash = self.flows[packet.flow as usize].hash;
        let node = &mut nodes.holders[holder as usize].node;
        node.arrive(now, from, to, packet, &mut nodes.out);
        self.deliver_outbox(holder as usize);
    }

    /// Hands a packet that the port of `link` begins to send over to ATM switches, if its way leads through some.
    pub(crate) fn enters_cells(&mut self, link: usize, packet: &Packet) -> bool {
        if self.shares(link, packet) {
            return true;
        }
        let Some(nodes) = &self.nodes else {
            return false;
        };
        let (Some(holder), Some(port)) = (nodes.cells, &self.links[link].port) else {
            return false;
        };
        let node = &nodes.holders[holder].node;
        let hops = &self.hops[(packet.handle >> 32) as usize..];
        let train = port.server.as_ref().and_then(|s| s.train());
        let (Some(train), Some((to, links))) = (train, node.way(hops)) else {
            return false;
        };
        let train = train.later(self.links[link].delay);
        if self.tap.is_some() {
            self.tap_enters_cells(link as u32, links, packet);
        }
        let Some(nodes) = &mut self.nodes else {
            return false;
        };
        let mut packet = *packet;
        packet.handle += u64::from(links) << 32;
        let node = &mut nodes.holders[holder].node;
        node.begin((link as u32, to), train, packet);
        self.deliver_outbox(holder);
        true
    }

    /// The wake of a node.
    pub(crate) fn node_due(&mut self, holder: usize) {
        let Some(nodes) = &mut self.nodes else {
            return;
        };
        let due = &mut nodes.holders[holder];
        due.wake.0 = Time::MAX;
        due.node.wake(self.now, &mut nodes.out);
        self.deliver_outbox(holder);
    }

    /// Delivers the packets that a node let go, and sets its next wake.
    pub(super) fn deliver_outbox(&mut self, holder: usize) {
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
        let next = (node.next_wake().unwrap_or(Time::MAX), node.rank());
        if next != *wake {
            *wake = next;
            let slot = self.slots.nodes + holder as u32;
            self.events.schedule(slot, next.0, next.1);
        }
        // Those of different lines in the order of nothing but their links.
        out.sent.sort_unstable_by_key(|s| s.link);
        for sent in out.sent.drain(..) {
            self.has_sent(&sent);
        }
        if let Some((link, bytes)) = out.arrived.take() {
            if let Some(port) = &mut self.links[link as usize].port {
                port.discipline.upstream_arrival(self.now, bytes);
            }
        }
        for (link, packets, bytes) in out.waiting.drain(..) {
            if let Some(port) = &mut self.links[link as usize].port {
                port.discipline.set_upstream(self.now, packets, bytes);
            }
        }
        for (from, evidence, lost) in out.lost.drain(..) {
            if self.tap.is_some() {
                self.tap_kept_out(from, evidence, &lost);
            }
            self.lose(self.now, name_hash, &lost);
        }
        for (link, flow, seq) in out.hopped.drain(..) {
            let tie = self.links[link as usize].tie;
            self.count_hop(self.now, tie, flow, seq);
        }
        for (link, packet) in out.done.drain(..) {
            if self.tap.is_some() {
                self.tap_leaves_cells(&packet);
            }
            let l = &mut self.links[link as usize];
            l.meter.total_bytes += u64::from(packet.len);
            let (due, tie) = (self.now + l.delay, l.tie);
            let link = link as usize;
            if self.pipes.push(link, link, due, tie, &packet) == Placed::First {
                self.wake_pipe(link);
            }
        }
        for mut passed in out.passed.drain(..) {
            if let Some(since) = passed.crossed_since.filter(|_| self.tap.is_some()) {
                self.tap_crossed(passed.to, since, &passed.packet);
            }
            self.offer(passed.to as usize, &mut passed.packet, self.now);
        }
        for flow in out.crossed.drain(..) {
            self.refill(flow);
        }
        if let Some(nodes) = &mut self.nodes {
            nodes.out = out;
        }
    }
}
