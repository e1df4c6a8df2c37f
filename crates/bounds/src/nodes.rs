//! The bounds of nodes that hold packets.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use spillgate_core::Dur;
use spillgate_core::curve::Curve;
use spillgate_nodes::{NodeBound, NodeQueue, Passage};
use spillgate_queueing::Reason;
use spillgate_scenario::plan::WorldPlan;

use crate::flows::{Flows, Unit};
use crate::ports::Ports;
use crate::way::Held;

/// A queue of a node.
#[derive(Clone, Debug)]
pub struct NodeHop {
    /// Id of the node.
    pub node: u32,
    /// The name of the queue.
    pub name: String,
    /// The classes of service whose packets may come to it, by number.
    pub classes: Vec<u16>,
    /// What it cannot exceed, or why there is nothing.
    pub bound: Result<NodeBound, Reason>,
}

/// The queues of a node, and by the links of a way through it which of them it is.
struct Solved {
    queues: Vec<NodeQueue>,
    of: BTreeMap<(u32, u32), usize>,
    classes: Vec<Vec<u16>>,
}

/// The nodes of a world that hold packets.
#[derive(Default)]
pub(crate) struct Nodes {
    /// By node the flows through it, each with the hop at which it leaves.
    through: BTreeMap<u32, Vec<(usize, usize)>>,
    /// What is known, as long as what it depends on stays the same; none of what is being found.
    solved: RefCell<BTreeMap<u32, Option<Rc<Solved>>>>,
}

impl Nodes {
    pub(crate) fn of(world: &WorldPlan, flows: &Flows) -> Self {
        let mut new = Self::default();
        for (i, flow) in flows.all.iter().enumerate() {
            for (hop, link) in world.routes[flow.route].iter().enumerate().skip(1) {
                let node = world.links[*link as usize].from;
                if holds(world, *link) {
                    new.through.entry(node).or_default().push((i, hop));
                }
            }
        }
        new
    }

    /// What is known of ports changes.
    pub(crate) fn forget(&mut self) {
        self.solved.take();
    }
}

/// Whether the node before a link holds packets that go on over it: not if it has only lines that
/// circuits share.
pub(crate) fn holds(world: &WorldPlan, link: u32) -> bool {
    let node = world.holding.at(world.links[link as usize].from);
    node.is_some_and(|h| !h.declared.inputs.is_empty() || world.holding.serve(link))
}

impl Ports<'_> {
    /// From the ports of nodes that hold packets to all over which packets come to these.
    pub(crate) fn through_nodes(&self) -> impl Iterator<Item = (u32, u32)> {
        let nodes = self.nodes.through.values().flat_map(|flows| {
            let link = |&(i, hop): &(usize, usize)| {
                let route = &self.world.routes[self.flows.all[i].route];
                (route[hop - 1], route[hop])
            };
            let (mut from, mut to): (Vec<u32>, Vec<u32>) = flows.iter().map(link).unzip();
            for links in [&mut from, &mut to] {
                links.sort_unstable();
                links.dedup();
            }
            to.into_iter()
                .flat_map(move |to| from.clone().into_iter().map(move |from| (to, from)))
        });
        nodes.collect::<Vec<_>>().into_iter()
    }

    /// Whether a node takes what the port of a link sends.
    pub(crate) fn takes(&self, link: usize) -> bool {
        let node = self.world.links[link].to;
        let holding = self.world.holding.at(node);
        holding.is_some_and(|h| {
            let serves = |link: &u32| self.world.links[*link as usize].from == node;
            h.declared.inputs.is_empty() && h.declared.serves.iter().any(serves)
        })
    }

    /// What the packets of a flow cannot exceed at the node before its port of a hop, if that holds
    /// packets.
    pub(crate) fn held(&self, i: usize, hop: usize) -> Result<Option<Held>, Reason> {
        let route = &self.world.routes[self.flows.all[i].route];
        let node = self.world.links[route[hop] as usize].from;
        if hop == 0 || !self.nodes.through.contains_key(&node) {
            return Ok(None);
        }
        let solved = self.node(node);
        let solved = solved.ok_or("what comes to a node depends on its own bound")?;
        let queue = solved.of.get(&(route[hop - 1], route[hop]));
        let queue = queue.map(|q| &solved.queues[*q]);
        let queue = queue.ok_or("no bound of this node is known")?;
        let bound = queue.bound.as_ref().map_err(|why| -> Reason {
            let name = &self.world.nodes[node as usize];
            format!("node `{name}`, {}: {why}", queue.name).into()
        })?;
        Ok(Some(Held {
            before: hop,
            node,
            queue: queue.name.clone(),
            bound: bound.clone(),
        }))
    }

    /// By how much packets of a flow may be late at the node before its port of a hop; none if
    /// there is no bound.
    pub(crate) fn late_before(&self, i: usize, hop: usize) -> Option<Dur> {
        let held = self.held(i, hop).ok()?;
        Some(held.map_or(Dur::ZERO, |h| self.beyond_least(h.node, &h.bound)))
    }

    /// By how much packets that go through a node may be late there; none if there is no bound.
    pub(crate) fn late_in(&self, node: u32) -> Option<Dur> {
        if !self.nodes.through.contains_key(&node) {
            return Some(Dur::ZERO);
        }
        let solved = self.node(node)?;
        let mut late = solved.queues.iter().map(|q| {
            let bound = q.bound.as_ref().ok()?;
            Some(self.beyond_least(node, bound))
        });
        late.try_fold(Dur::ZERO, |most, late| Some(most.max(late?)))
    }

    fn beyond_least(&self, node: u32, bound: &NodeBound) -> Dur {
        let least = self.world.passing(node).as_ps();
        Dur::from_ps(bound.delay.as_ps().saturating_sub(least))
    }

    /// None if what comes to the node depends on its own bound.
    fn node(&self, node: u32) -> Option<Rc<Solved>> {
        if let Some(known) = self.nodes.solved.borrow().get(&node) {
            return known.clone();
        }
        let put = |what| self.nodes.solved.borrow_mut().insert(node, what);
        put(None);
        let solved = Rc::new(self.queues_of(node));
        put(Some(Rc::clone(&solved)));
        Some(solved)
    }

    fn queues_of(&self, node: u32) -> Solved {
        let mut passages: Vec<Passage> = Vec::new();
        let (mut places, mut classes) = (BTreeMap::new(), Vec::<Vec<u16>>::new());
        for &(i, hop) in self.nodes.through.get(&node).into_iter().flatten() {
            let flow = &self.flows.all[i];
            let route = &self.world.routes[flow.route];
            let (from, to) = (route[hop - 1], route[hop]);
            let place = *places.entry((from, to)).or_insert_with(|| {
                let zero = Some(Curve::zero());
                passages.push(Passage {
                    from,
                    to,
                    longest: 0,
                    bytes: zero.clone(),
                    packets: zero,
                });
                classes.push(Vec::new());
                passages.len() - 1
            });
            let passage = &mut passages[place];
            let labels = self.flows.labels(i, hop - 1);
            let bytes = Unit::Link(spillgate_core::Overhead::NONE, labels);
            passage.longest = passage.longest.max(bytes.of(*flow.lengths.end()));
            let add = |sum: &mut Option<Curve>, unit| {
                let own = self.comes(i, hop, unit);
                *sum = match (sum.take(), own) {
                    (Some(sum), Some(own)) => sum.plus(&own).ok(),
                    _ => None,
                };
            };
            add(&mut passage.bytes, bytes);
            add(&mut passage.packets, Unit::Packet);
            if !flow.answers {
                classes[place].push(self.world.flows[flow.of].class);
            }
        }
        let plan = self.world.holding.at(node).map(|h| &h.plan);
        let queues = plan
            .map(|p| p.bounds(&passages, self.world))
            .unwrap_or_default();
        let mut of = BTreeMap::new();
        for (number, queue) in queues.iter().enumerate() {
            of.extend(
                queue
                    .of
                    .iter()
                    .map(|p| ((passages[*p].from, passages[*p].to), number)),
            );
        }
        let of_queue = |queue: &NodeQueue| {
            let all = queue.of.iter().flat_map(|p| classes[*p].iter().copied());
            let mut all: Vec<u16> = all.collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        Solved {
            classes: queues.iter().map(of_queue).collect(),
            queues,
            of,
        }
    }

    /// The queues of all nodes, by node.
    pub(crate) fn all_nodes(&self) -> Vec<NodeHop> {
        let of = |node: &u32| {
            let Some(solved) = self.node(*node) else {
                return Vec::new();
            };
            let queues = solved.queues.iter().zip(&solved.classes);
            let hop = |(queue, classes): (&NodeQueue, &Vec<u16>)| NodeHop {
                node: *node,
                name: queue.name.clone(),
                classes: classes.clone(),
                bound: queue.bound.clone(),
            };
            queues.map(hop).collect()
        };
        self.nodes.through.keys().flat_map(of).collect()
    }
}
