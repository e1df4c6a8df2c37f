//! Nodes that hold packets, in the running world: which packets they are told of, and what becomes
//! of what they say.
//!
//! Most nodes pass a packet from the far end of a link to the next port at once; the engine has no
//! object for them. A kind of node that holds packets implements [`Node`]. It promises nothing: the
//! express lane takes no packet through it ahead of the clock.

use std::sync::Arc;

use spillgate_core::rng::hash_bytes;
use spillgate_core::{FlowKey, Packet, Rank, Time};
use spillgate_events::EventSet;
use spillgate_measure::{Measures, Samples, Window};
use spillgate_nodes::{AtPort, Holding, Node, Outbox, PortEvent, Put, Sent, Start};
use spillgate_scenario::plan::WorldPlan;

use super::stages::names;
use crate::engine::World;
use crate::pipes::Placed;
use crate::tap::Place;

/// A node, with its wake and its name.
struct Holder {
    node: Box<dyn Node>,
    /// When it wakes next, [`Time::MAX`] for never, and among what.
    wake: (Time, Rank),
    /// Hash of its name, for the digest.
    name_hash: u64,
}

impl Holder {
    fn new(holding: &Holding, start: &Start<'_>) -> Self {
        Self {
            node: holding.plan.build(start),
            wake: (Time::MAX, Rank::Delivery),
            name_hash: hash_bytes(holding.path.as_bytes()),
        }
    }
}

/// The nodes of a world that hold packets.
pub(crate) struct Nodes {
    /// In the order of the plan.
    holders: Vec<Holder>,
    /// The number of what the packets of a link go through.
    behind: Vec<Option<u32>>,
    /// By link: who is told of its port.
    followers: Vec<Vec<u32>>,
    /// Which of them are sampled.
    sampled: Vec<bool>,
    out: Outbox,
    /// Flows of which a packet has crossed a fabric.
    crossed: Vec<u32>,
}

impl Nodes {
    /// None if all nodes pass packets on at once. `exact`: nothing is worked out ahead.
    pub(crate) fn new(
        plan: &WorldPlan,
        flows: &Arc<[FlowKey]>,
        seed: (u64, u32),
        exact: bool,
    ) -> Option<Self> {
        if plan.holding.is_empty() {
            return None;
        }
        let mut behind = vec![None; plan.links.len()];
        let mut followers = vec![Vec::new(); plan.links.len()];
        let (links, mut holders) = (names(plan), Vec::new());
        for (number, holding) in (0..).zip(plan.holding.iter()) {
            for link in &holding.declared.inputs {
                behind[*link as usize] = Some(number);
            }
            for link in &holding.declared.follows {
                followers[*link as usize].push(number);
            }
            holders.push(Holder::new(
                holding,
                &Start {
                    window: Window::new(plan.warmup, plan.duration),
                    flows,
                    links: &links,
                    seed,
                    path: &holding.path,
                    percentiles: plan.backlog_percentiles,
                    exact,
                },
            ));
        }
        Some(Self {
            holders,
            behind,
            followers,
            sampled: (0..)
                .zip(plan.holding.iter())
                .map(|(i, h)| plan.watched_nodes.contains(&i) || !h.declared.serves.is_empty())
                .collect(),
            out: Outbox::default(),
            crossed: Vec::new(),
        })
    }

    /// Nodes that have held nothing, for what they measure.
    pub(crate) fn idle(plan: &WorldPlan) -> Option<Self> {
        let flows: Arc<[FlowKey]> = Arc::new([]);
        Self::new(plan, &flows, (0, 0), false)
    }

    /// The hashed names of their slots in the event set.
    pub(crate) fn slots(plan: &WorldPlan) -> impl Iterator<Item = u64> {
        let paths = plan.holding.iter().map(|h| &h.path);
        paths.map(|path| hash_bytes(path.as_bytes()))
    }

    /// Puts what they have measured until `now`.
    pub(crate) fn measure(&self, now: Time, plan: &WorldPlan, out: &mut Measures) {
        for holder in &self.holders {
            holder.node.measure(now, plan, out);
        }
    }

    /// Puts what is sampled of them, after all else of this instant.
    pub(crate) fn sample(&mut self, now: Time, plan: &WorldPlan, out: &mut Samples) {
        let holders = self.holders.iter_mut().zip(&self.sampled);
        for (holder, _) in holders.filter(|(_, sampled)| **sampled) {
            holder.node.sample(now, &plan.watched, plan, out);
        }
    }
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
        // Links that share a pipe lead to no such node.
        let Some(holder) = nodes.behind.get(from as usize).copied().flatten() else {
            return self.offer(to as usize, packet, now);
        };
        packet.hash = self.flows[packet.flow as usize].hash;
        let node = &mut nodes.holders[holder as usize].node;
        node.arrive(now, from, to, packet, &mut nodes.out);
        self.deliver_outbox(holder as usize);
    }

    /// The port of `link` begins to send a packet: whether a node takes it from there.
    pub(crate) fn node_takes(&mut self, link: usize, packet: &Packet) -> bool {
        let now = self.now;
        let number = link as u32;
        let mut is_taken = false;
        for nth in 0.. {
            let (Some(nodes), Some(port)) = (&mut self.nodes, &self.links[link].port) else {
                break;
            };
            let Some(holder) = nodes.followers[link].get(nth).copied() else {
                break;
            };
            let event = PortEvent::Begins {
                put: port.server.as_ref().map_or(Put::Packet, |s| s.put()),
                // Where links fail there are no paths of links, and no node takes packets further.
                way: match self.failures.is_some() {
                    true => &[],
                    false => &self.hops[(packet.handle >> 32) as usize..],
                },
                delay: self.links[link].delay,
            };
            let at = AtPort {
                link: number,
                packet,
                event,
            };
            let node = &mut nodes.holders[holder as usize].node;
            let carries = node.at_port(now, &at, &mut nodes.out);
            is_taken |= carries.is_some();
            if let Some(carries) = carries.filter(|c| c.links > 0 && self.tap.is_some()) {
                self.tap_carried(number, carries, packet);
            }
            self.deliver_outbox(holder as usize);
        }
        is_taken
    }

    /// A packet is lost in the queue of a port.
    pub(crate) fn node_loses(&mut self, link: usize, packet: &Packet) {
        for nth in 0.. {
            let Some(nodes) = &mut self.nodes else {
                return;
            };
            let Some(holder) = nodes.followers[link].get(nth).copied() else {
                return;
            };
            let at = AtPort {
                link: link as u32,
                packet,
                event: PortEvent::Lost,
            };
            let node = &mut nodes.holders[holder as usize].node;
            node.at_port(self.now, &at, &mut nodes.out);
            self.deliver_outbox(holder as usize);
        }
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

    /// The measured period begins or ends.
    pub(crate) fn nodes_pass_edge(&mut self, edge: Time) {
        if let Some(stages) = &mut self.stages {
            stages.pass_edge(edge);
        }
        let Some(nodes) = &mut self.nodes else {
            return;
        };
        let mut all = Vec::new();
        for holder in &mut nodes.holders {
            holder.node.edge(edge, &mut all);
        }
        for carried in all {
            let link = &mut self.links[carried.link as usize];
            link.meter.busy = link.meter.busy + carried.busy;
            if let Some(port) = &mut link.port {
                port.queues[usize::from(carried.leaf)].carried += carried.volume;
            }
        }
    }

    /// Delivers what a node said, and sets its next wake.
    fn deliver_outbox(&mut self, holder: usize) {
        let now = self.now;
        let Some(nodes) = &mut self.nodes else {
            return;
        };
        let mut out = std::mem::take(&mut nodes.out);
        let mut crossed = std::mem::take(&mut nodes.crossed);
        let Holder {
            node,
            wake,
            name_hash,
        } = &mut nodes.holders[holder];
        let name_hash = *name_hash;
        let next = node.next_wake().unwrap_or((Time::MAX, Rank::Control));
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
                port.discipline.upstream_arrival(now, bytes);
            }
        }
        for (link, packets, bytes) in out.waiting.drain(..) {
            if let Some(port) = &mut self.links[link as usize].port {
                port.discipline.set_upstream(now, packets, bytes);
            }
        }
        for (from, evidence, lost) in out.lost.drain(..) {
            if self.tap.is_some() {
                self.tap_lost(Some(from), Place::Kept(from, evidence), &lost);
            }
            self.lose(now, name_hash, &lost);
        }
        for (link, flow, seq) in out.hopped.drain(..) {
            let tie = self.links[link as usize].tie;
            self.count_hop(now, tie, flow, seq);
        }
        for (link, packet) in out.done.drain(..) {
            if self.tap.is_some() {
                self.tap_last_part_left(&packet);
            }
            let l = &mut self.links[link as usize];
            l.meter.total_bytes += u64::from(packet.len);
            let (due, tie) = (now + l.delay, l.tie);
            let link = link as usize;
            if self.pipes.push(link, link, due, tie, &packet) == Placed::First {
                self.wake_pipe(link);
            }
        }
        for mut passed in out.passed.drain(..) {
            if let Some(since) = passed.crossed_since {
                // A backlogged flow keeps the queue of its first switch filled.
                let begin = self.flows[passed.packet.flow as usize].begin;
                if self.hops.get(begin as usize + 1) == Some(&passed.to) {
                    crossed.push(passed.packet.flow);
                }
                if self.tap.is_some() {
                    self.tap_crossed(passed.to, since, &passed.packet);
                }
            }
            self.offer(passed.to as usize, &mut passed.packet, now);
        }
        for flow in crossed.drain(..) {
            self.refill(flow);
        }
        if let Some(nodes) = &mut self.nodes {
            (nodes.out, nodes.crossed) = (out, crossed);
        }
    }

    /// A packet has left a port whose line a node has.
    fn has_sent(&mut self, sent: &Sent) {
        let link = sent.link as usize;
        // A packet in transmission at the end of the measured period has been counted there.
        if self.now < self.window.end() {
            let l = &mut self.links[link];
            l.carries(self.window, &sent.packet, sent.start, sent.end);
        }
        if self.tap.is_some() {
            self.tap_sent_until(sent.link, &sent.packet, sent.end, sent.ready);
        }
        let Some(port) = &mut self.links[link].port else {
            return;
        };
        let leaf = sent.packet.leaf;
        if port.is_last_of(leaf) {
            port.discipline.transmits_until(leaf, sent.end);
        }
        port.free_at = sent.ready;
        if let Some(server) = &mut port.server {
            server.sent(sent.end, sent.ready);
        }
        if !sent.is_taken {
            let mut packet = sent.packet;
            self.cross(link, &mut packet, sent.start, sent.end);
        }
        self.wake_port(link, sent.ready);
    }
}
