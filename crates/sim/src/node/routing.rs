//! Forwarding by look-up at each node, since links fail.

use spillgate_core::rng::hash_bytes;
use spillgate_core::{DropReason, Dropped, Dur, Packet, Time};
use spillgate_events::EventSet;
use spillgate_nodes::stage::Routes;
use spillgate_scenario::plan::WorldPlan;

use super::next_hops::NextHops;
use crate::engine::World;
use crate::tap::Place;

/// The current routes, in a world in which links fail.
pub(crate) struct Routing {
    pub(crate) next_hops: NextHops,
    /// First and last node of each path of the plan, then of each way that a stage has opened.
    pub(crate) ends: Vec<(u32, u32)>,
    /// The node at the far end of each link.
    pub(crate) far: Vec<u32>,
    /// Hashes of the nodes' names, for the digest.
    node_hashes: Vec<u64>,
    /// How often the routes have changed.
    changes: u32,
}

impl Routes for Routing {
    fn next_hop(&mut self, node: u32, dest: u32) -> Option<u32> {
        self.next_hops.get(node, dest)
    }

    fn ends(&self, way: u32) -> (u32, u32) {
        self.ends[way as usize]
    }

    fn open(&mut self, from: u32, to: u32) -> u32 {
        self.ends.push((from, to));
        self.ends.len() as u32 - 1
    }

    fn changes(&self) -> u32 {
        self.changes
    }
}

impl Routing {
    /// None if nothing fails.
    pub(crate) fn new(plan: &WorldPlan) -> Option<Self> {
        if plan.failures.is_empty() {
            return None;
        }
        let end = |link: Option<&u32>, of: fn(u32, u32) -> u32| {
            link.map_or(0, |&l| {
                let link = &plan.links[l as usize];
                of(link.from, link.to)
            })
        };
        let ends = plan
            .routes
            .iter()
            .map(|r| (end(r.first(), |from, _| from), end(r.last(), |_, to| to)))
            .collect();
        let name = |n: &String| hash_bytes(format!("nodes/{n}").as_bytes());
        Some(Self {
            next_hops: NextHops::new(plan),
            ends,
            far: plan.links.iter().map(|l| l.to).collect(),
            node_hashes: plan.nodes.iter().map(name).collect(),
            changes: 0,
        })
    }

    /// The delay of each path: the sum over its links and nodes.
    fn delays(&mut self, plan: &WorldPlan) -> Vec<Dur> {
        let mut delays = Vec::with_capacity(plan.routes.len());
        for path in 0..plan.routes.len() {
            let (mut node, dest) = self.ends[path];
            let mut delay = Dur::ZERO;
            while node != dest {
                let Some(link) = self.next_hops.get(node, dest) else {
                    break;
                };
                delay = delay + plan.links[link as usize].longest_delay();
                node = self.far[link as usize];
                if node != dest {
                    delay = delay + plan.passing(node);
                }
            }
            delays.push(delay);
        }
        delays
    }
}

impl<S: EventSet> World<S> {
    /// Routing has learned of a change.
    pub(crate) fn reroute(&mut self) {
        if let Some(routing) = &mut self.routing {
            routing.changes += 1;
            let delays = routing.delays(&self.plan);
            self.set_deadlines(&delays);
        }
    }

    /// Forwards or receives a packet at the far end of `link`, or at its source, where paths are
    /// not compiled.
    #[inline(never)]
    pub(crate) fn forward_by_routes(
        &mut self,
        link: Option<usize>,
        packet: &mut Packet,
        now: Time,
    ) {
        if let Some(link) = link {
            self.left_link(link);
        }
        let Some(routing) = &self.routing else {
            return;
        };
        let way = |packet: &Packet| (packet.handle >> 32) as usize;
        let (source, _) = routing.ends[way(packet)];
        let node = link.map_or(source, |link| routing.far[link]);
        if link.is_none() && self.stages.is_some() && !self.enter_at_source(node, packet) {
            return;
        }
        let Some(routing) = &mut self.routing else {
            return;
        };
        let (_, dest) = routing.ends[way(packet)];
        if node == dest {
            return self.receive(now, packet);
        }
        match routing.next_hops.get(node, dest) {
            Some(next) => self.pass(link, next, packet, now),
            None => self.lose_unroutable(now, node, *packet),
        }
    }

    /// A packet is lost at a node, from which no way leads on.
    pub(super) fn lose_unroutable(&mut self, now: Time, node: u32, packet: Packet) {
        let Some(routing) = &self.routing else {
            return;
        };
        let (name_hash, reason) = (routing.node_hashes[node as usize], DropReason::Unroutable);
        let lost = Dropped { packet, reason };
        if self.tap.is_some() {
            self.tap_lost(None, Place::Node, &lost);
        }
        self.lose(now, name_hash, &lost);
    }
}
