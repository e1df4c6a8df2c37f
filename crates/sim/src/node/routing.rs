//! Forwarding by look-up at each node, since links fail.

use spillgate_core::rng::hash_bytes;
use spillgate_core::{DropReason, Dropped, Dur, Packet, Time};
use spillgate_events::EventSet;
use spillgate_scenario::plan::WorldPlan;

use super::next_hops::NextHops;
use crate::engine::World;

/// The current routes, in a world in which links fail.
pub(crate) struct Routing {
    pub(crate) next_hops: NextHops,
    /// First and last node of each path of the plan.
    pub(crate) ends: Vec<(u32, u32)>,
    /// The node at the far end of each link.
    pub(crate) far: Vec<u32>,
    /// Hashes of the nodes' names, for the digest.
    node_hashes: Vec<u64>,
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
        })
    }

    /// The last provider node on the path from one provider node to `dest` that does not leave the
    /// provider's network; none if that is the first node, or if there is no path.
    fn last_provider(
        &mut self,
        from: u32,
        dest: u32,
        is_provider: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let mut last = from;
        while last != dest {
            let link = self.next_hops.get(last, dest)?;
            let next = self.far[link as usize];
            if !is_provider(next) {
                break;
            }
            last = next;
        }
        (last != from).then_some(last)
    }

    /// The delay of each path: the sum over its links and nodes.
    fn delays(&mut self, plan: &WorldPlan) -> Vec<Dur> {
        let mut delays = Vec::with_capacity(self.ends.len());
        for path in 0..self.ends.len() {
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
        if let Some(mpls) = &mut self.mpls {
            mpls.reroute();
        }
        if let Some(routing) = &mut self.routing {
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
        let Some(routing) = &mut self.routing else {
            return;
        };
        let (source, mut dest) = routing.ends[(packet.handle >> 32) as usize];
        let node = link.map_or(source, |link| routing.far[link]);
        if self.mpls.is_some() {
            dest = self.switch_labels(node, packet);
        }
        let Some(routing) = &mut self.routing else {
            return;
        };
        if node == dest {
            return self.receive(now, packet);
        }
        match routing.next_hops.get(node, dest) {
            Some(next) if !self.leaves_network(next, packet) => {
                self.pass(link, next, packet, now);
            }
            _ => self.lose_unroutable(now, node, *packet),
        }
    }

    fn lose_unroutable(&mut self, now: Time, node: u32, packet: Packet) {
        let Some(routing) = &self.routing else {
            return;
        };
        let (name_hash, reason) = (routing.node_hashes[node as usize], DropReason::Unroutable);
        let lost = Dropped { packet, reason };
        if self.tap.is_some() {
            self.tap_lost(None, false, &lost);
        }
        self.lose(now, name_hash, &lost);
    }

    /// The node that a packet at `node` is bound for. It may leave a tunnel here, and enter one.
    fn switch_labels(&mut self, node: u32, packet: &mut Packet) -> u32 {
        let number = (packet.handle >> 32) as u32;
        let (Some(routing), Some(mpls), Some(plan)) =
            (&mut self.routing, &mut self.mpls, &self.plan.mpls)
        else {
            return node;
        };
        let dest = routing.ends[number as usize].1;
        let tunnel = mpls.tunnel(number);
        if tunnel.is_some() && node != dest {
            return dest;
        }
        let path = tunnel.map_or(number, |t| t.path);
        let dest = routing.ends[path as usize].1;
        packet.handle = u64::from(path) << 32 | u64::from(packet.handle as u32);
        if node == dest || !plan.is_provider(node) {
            return dest;
        }
        let chosen = match mpls.chosen(path, node) {
            Some(chosen) => chosen,
            None => {
                let egress = routing.last_provider(node, dest, |n| plan.is_provider(n));
                let (chosen, is_new) = mpls.choose(plan, path, node, egress);
                if let (true, Some(egress)) = (is_new, egress) {
                    routing.ends.push((node, egress));
                    self.hops.push(crate::engine::ROUTED);
                }
                chosen
            }
        };
        let Some(number) = chosen else {
            return dest;
        };
        packet.handle = u64::from(number) << 32 | u64::from(packet.handle as u32);
        let dest = routing.ends[number as usize].1;
        if tunnel.is_some() {
            self.leave_tunnel(packet);
        }
        dest
    }

    /// Whether a packet in a tunnel would leave the provider's network over this link.
    fn leaves_network(&self, link: u32, packet: &Packet) -> bool {
        let (Some(mpls), Some(plan)) = (&self.mpls, &self.plan.mpls) else {
            return false;
        };
        let tunnel = mpls.tunnel((packet.handle >> 32) as u32);
        tunnel.is_some() && !plan.is_provider(self.plan.links[link as usize].to)
    }
}
