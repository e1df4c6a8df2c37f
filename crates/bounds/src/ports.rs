//! The bounds of each port, and of paths over them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use spillgate_core::curve::{Curve, Slope};
use spillgate_core::{Dur, Packet};
use spillgate_nodes::Holding;
use spillgate_queueing::{Guarantee, Reason, Sends, Service};
use spillgate_scenario::plan::WorldPlan;

use crate::flows::Flows;
use crate::found::{Found, OfFlows};
use crate::hop::HopBound;
use crate::incoming::Sent;
use crate::loops::Place;
use crate::nodes::{NodeHop, Nodes};
use crate::once::Group;
use crate::policers::Policers;
use crate::sources::Sources;

/// A leaf of a port.
#[derive(Debug)]
pub struct Hop {
    /// Id of the link.
    pub link: u32,
    /// The leaf's number.
    pub leaf: u16,
    /// Its name.
    pub name: String,
    /// The classes of service whose packets may come to it, by number.
    pub classes: Vec<u16>,
    /// What it cannot exceed, or why there is nothing.
    pub bound: Result<Arc<HopBound>, Reason>,
    /// What flows cannot exceed, by place in [`Flows::over`], where they have queues of their own.
    flows: OfFlows,
}

impl Hop {
    /// The flows with queues of their own, as places in [`feeds`](crate::feeds()), the largest
    /// bound first.
    pub fn flows(&self) -> Vec<usize> {
        let bounded = self.flows.iter();
        let bounded = bounded.filter_map(|(i, b)| Some((b.as_ref().ok()?.delay, *i as usize)));
        let mut bounded: Vec<_> = bounded.collect();
        bounded.sort_by_key(|(delay, i)| (std::cmp::Reverse(*delay), *i));
        bounded.into_iter().map(|(_, i)| i).collect()
    }
}

/// What is known of a leaf while ports are solved.
pub(crate) struct Solved {
    pub(crate) leaf: u16,
    found: Found,
}

impl Solved {
    /// What the flow in this place of [`Flows::over`] cannot exceed.
    pub(crate) fn of_flow(&self, place: usize) -> &Result<Arc<HopBound>, Reason> {
        let own = u32::try_from(place).ok();
        let own = own.and_then(|p| self.found.flows.get(&p));
        own.unwrap_or(&self.found.bound)
    }

    fn delay(&self) -> Option<Dur> {
        self.found.bound.as_ref().ok().map(|b| b.delay)
    }
}

/// As many more looks as one a flow with a queue of its own takes.
const OWN_QUEUE: usize = 4;

/// All ports of a world.
pub(crate) struct Ports<'a> {
    pub(crate) world: &'a WorldPlan,
    pub(crate) flows: &'a Flows,
    pub(crate) sources: Sources,
    pub(crate) nodes: Nodes,
    pub(crate) policers: Policers,
    /// By flow and hop what comes to the port, as long as what that depends on stays the same.
    pub(crate) arrived: RefCell<BTreeMap<(usize, usize), Option<Curve>>>,
    /// By link what its port lets out at most, as far as that is known.
    pub(crate) sends: RefCell<BTreeMap<usize, Rc<[Sends]>>>,
    /// By line and packets what their slope is at most.
    pub(crate) slopes: RefCell<BTreeMap<Sent, Option<Slope>>>,
    /// The ports that are solved depend on each other.
    on_loop: bool,
    /// What may still be done to find bounds: looks at a flow at a port; none: anything.
    left: Option<usize>,
    /// By port the leaves to which packets may come; none as long as it is not solved.
    ports: Vec<Option<Vec<Solved>>>,
    /// Delays that are assumed of leaves without a bound, to see what follows.
    pub(crate) assumed: BTreeMap<Place, Dur>,
    /// By link, for each of [`Flows::over`] its leaf; none: any.
    pub(crate) leaves: Vec<Vec<Option<u16>>>,
    /// Policies give packets other code points.
    marks: bool,
}

impl<'a> Ports<'a> {
    pub(crate) fn new(world: &'a WorldPlan, flows: &'a Flows) -> Self {
        let mut ports = Self {
            world,
            flows,
            sources: Sources::of(world),
            nodes: Nodes::of(world, flows),
            policers: Policers::of(world, flows),
            arrived: RefCell::default(),
            sends: RefCell::default(),
            slopes: RefCell::default(),
            on_loop: false,
            left: None,
            ports: world.links.iter().map(|_| None).collect(),
            assumed: BTreeMap::new(),
            leaves: Vec::new(),
            marks: !world.marks().is_empty(),
        };
        ports.leaves = (0..world.links.len())
            .map(|l| ports.classified(l))
            .collect();
        ports
    }

    pub(crate) fn into_hops(mut self) -> (Vec<Hop>, Vec<NodeHop>) {
        let nodes = self.all_nodes();
        let mut hops = Vec::new();
        for link in 0..self.len() {
            let names = self.world.links[link].discipline.leaf_names();
            for Solved { leaf, found } in self.ports[link].take().into_iter().flatten() {
                hops.push(Hop {
                    link: link as u32,
                    leaf,
                    name: names[usize::from(leaf)].clone(),
                    classes: self.classes(link, leaf),
                    bound: found.bound,
                    flows: found.flows,
                });
            }
        }
        (hops, nodes)
    }

    /// The leaves of the flows over a link.
    fn classified(&self, link: usize) -> Vec<Option<u16>> {
        let plan = &self.world.links[link];
        if plan.discipline.leaf_names().len() == 1 {
            return vec![Some(0); self.flows.over[link].len()];
        }
        let hidden = plan.discipline.looks_at_marks() || self.world.carries_labels(plan);
        let mut discipline = plan.discipline.build(&self.flows.keys);
        let over = &self.flows.over[link];
        let leaf = |&(i, hop): &(usize, usize)| {
            let flow = &self.flows.all[i];
            let known = flow.alike && !hidden && (hop == 0 || !self.marks);
            let mut packet = Packet::new(i as u32, 0, *flow.lengths.end());
            packet.dscp = flow.dscp;
            known.then(|| discipline.leaf_of(&packet))
        };
        over.iter().map(leaf).collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.ports.len()
    }

    /// From each port to those before it, whose bounds its own depend on.
    pub(crate) fn dependencies(&self) -> BTreeSet<(u32, u32)> {
        let routes = self.flows.all.iter().map(|f| &self.world.routes[f.route]);
        let steps = routes.flat_map(|r| r.windows(2).map(|pair| (pair[1], pair[0])));
        steps.chain(self.through_nodes()).collect()
    }

    /// Finds bounds as long as at most so many looks at a flow at a port suffice.
    pub(crate) fn within(self, looks: usize) -> Self {
        let left = Some(looks);
        Self { left, ..self }
    }

    /// Whether that did not suffice.
    pub(crate) fn gave_up(&self) -> bool {
        self.left == Some(0)
    }

    /// Finds the bounds of a port by what is known of those before it.
    pub(crate) fn find(&mut self, link: usize) {
        self.looked(self.flows.over[link].len() + 1);
        if self.gave_up() {
            return;
        }
        self.changes(self.on_loop);
        let found = self.leaves_of(link);
        let own: usize = found.iter().map(|s| s.found.flows.len()).sum();
        self.looked(OWN_QUEUE * own);
        self.ports[link] = Some(found);
    }

    fn looked(&mut self, looks: usize) {
        self.left = self.left.map(|left| left.saturating_sub(looks));
    }

    /// Ports are solved that depend on each other, or one that does not.
    pub(crate) fn begin_with(&mut self, on_loop: bool) {
        self.changes(self.on_loop || on_loop);
        self.on_loop = on_loop;
    }

    /// What is known of ports changes, on which others may depend that are solved already.
    fn changes(&mut self, on_loop: bool) {
        if on_loop {
            self.arrived.take();
            self.nodes.forget();
        }
    }

    /// Nothing is known of a port.
    pub(crate) fn forget(&mut self, link: usize) {
        self.ports[link] = None;
    }

    fn hops(&self, link: usize) -> impl Iterator<Item = &Solved> {
        self.ports[link].iter().flatten()
    }

    /// The bound of a leaf, if it has one.
    pub(crate) fn bound(&self, (link, leaf): Place) -> Option<&HopBound> {
        let of_leaf = self.hops(link).find(|h| h.leaf == leaf)?;
        of_leaf.found.bound.as_deref().ok()
    }

    /// The flows over a link with the hop that it is for them, and their leaf; none: any.
    pub(crate) fn over(&self, link: u32) -> impl Iterator<Item = (usize, usize, Option<u16>)> {
        let link = link as usize;
        let over = self.flows.over[link].iter().zip(&self.leaves[link]);
        over.map(|(&(flow, hop), leaf)| (flow, hop, *leaf))
    }

    /// The route of a flow and its leaf at each link, if they are known.
    pub(crate) fn group(&self, flow: usize) -> Option<Group> {
        let route = self.flows.all[flow].route;
        let places = self.world.routes[route]
            .iter()
            .zip(&self.flows.places[flow]);
        let leaves = places.map(|(link, place)| self.leaves[*link as usize][*place]);
        Some((route, leaves.collect::<Option<_>>()?))
    }

    /// The delays of the leaves of some ports, where there are bounds.
    pub(crate) fn delays(&self, of: &[usize]) -> Vec<Option<Dur>> {
        let hops = of.iter().flat_map(|link| self.hops(*link));
        hops.map(Solved::delay).collect()
    }

    /// Whether the line of a port keeps one rate, so that a delay of it may be assumed.
    pub(crate) fn is_steady(&self, link: usize) -> bool {
        self.world.links[link].server.is_none() && self.excluded(link).is_none()
    }

    /// The leaves of some ports, and whether each has a bound.
    pub(crate) fn places(&self, of: &[usize]) -> Vec<(Place, bool)> {
        let place = |link: usize, s: &Solved| ((link, s.leaf), s.found.bound.is_ok());
        let of_link = |link: &usize| {
            self.hops(*link)
                .map(|s| place(*link, s))
                .collect::<Vec<_>>()
        };
        of.iter().flat_map(of_link).collect()
    }

    /// The bounds of the leaves of a port, where packets may come; those of the ports before it are
    /// known, or depend on this one.
    fn leaves_of(&self, link: usize) -> Vec<Solved> {
        let plan = &self.world.links[link];
        let (load, shortest) = self.load(link, plan.discipline.leaf_names().len());
        let discipline = plan.discipline.build(&self.flows.keys);
        let none = self.excluded(link);
        let limit = |l: u16| discipline.limit(l.into());
        let solve = |leaf: u16| {
            let guarantee = match &none {
                Some(why) => Err(why.clone()),
                None => discipline.guarantee(leaf, &load),
            };
            let of = |g: Guarantee| Found::of(g, &load, leaf, limit, &shortest);
            let found = guarantee.map_or_else(Found::none, of);
            Solved { leaf, found }
        };
        let reached = (0_u16..).zip(&load.leaves).filter(|(_, l)| l.longest > 0);
        reached.map(|(leaf, _)| solve(leaf)).collect()
    }

    /// The nodes that may have the line of a link.
    fn lines(&self, link: u32) -> impl Iterator<Item = &Holding> {
        let any = self.world.holding.follow(link);
        let nodes = self.world.holding.iter().filter(move |_| any);
        nodes.filter(move |h| h.declared.follows.contains(&link))
    }

    /// What the line of a link serves, if it has no constant rate.
    pub(crate) fn line_service(&self, link: usize) -> Option<Result<Service, Reason>> {
        let server = self.world.links[link].server.as_ref()?;
        let used = |link: u32| !self.flows.over[link as usize].is_empty();
        let of = |h: &Holding| h.plan.port_service(link as u32, &used, self.world);
        let shared = self.lines(link as u32).find_map(of);
        Some(shared.unwrap_or_else(|| server.serves()))
    }

    /// What it sends at most of packets of up to so many bytes on it, if that is known.
    pub(crate) fn line_sends(&self, link: usize, longest: u32) -> Option<Curve> {
        let server = self.world.links[link].server.as_ref()?;
        let of = |h: &Holding| h.plan.port_sends(link as u32, longest);
        let shared = self.lines(link as u32).find_map(of);
        shared.or_else(|| server.sends(longest))
    }

    /// Why a port has no bounds at all.
    fn excluded(&self, link: usize) -> Option<Reason> {
        let why = if self.world.holding.serve(link as u32) {
            "a node serves this link itself"
        } else if let Some(Err(why)) = self.line_service(link) {
            return Some(why);
        } else if self
            .fastest(link)
            .is_some_and(|r| r.0.tx_time(1).as_ps() < 2)
        {
            "times at this rate are too short to be exact"
        } else {
            return None;
        };
        Some(why.into())
    }

    fn classes(&self, link: usize, leaf: u16) -> Vec<u16> {
        let over = self.flows.over[link].iter().zip(&self.leaves[link]);
        let here = over.filter(|(_, l)| l.is_none_or(|l| l == leaf));
        let own = here
            .map(|((i, _), _)| &self.flows.all[*i])
            .filter(|f| !f.answers);
        let mut classes: Vec<u16> = own.map(|f| self.world.flows[f.of].class).collect();
        classes.sort_unstable();
        classes.dedup();
        classes
    }

    /// The leaves to which packets of a flow may come at one of its hops, or why nothing is known.
    pub(crate) fn met(
        &self,
        flow: usize,
        hop: usize,
    ) -> Result<impl Iterator<Item = &Solved>, Reason> {
        let link = self.world.routes[self.flows.all[flow].route][hop] as usize;
        if self.ports[link].is_none() {
            return Err("what comes to this port depends on its own bound".into());
        }
        let leaf = self.leaves[link][self.flows.places[flow][hop]];
        let of_flow = move |h: &&Solved| leaf.is_none_or(|l| l == h.leaf);
        Ok(self.hops(link).filter(of_flow))
    }

    /// The length of the longest packet of a flow on the link of a hop.
    pub(crate) fn longest(&self, flow: usize, hop: usize) -> u32 {
        let longest = *self.flows.all[flow].lengths.end();
        self.unit(flow, hop).of(longest)
    }

    /// The longest delay of a flow at one of its hops, if it has a bound.
    pub(crate) fn delay_at(&self, flow: usize, hop: usize) -> Option<Dur> {
        let (mut longest, place) = (Dur::ZERO, self.flows.places[flow][hop]);
        let link = self.world.routes[self.flows.all[flow].route][hop] as usize;
        for own in self.met(flow, hop).ok()? {
            let assumed = self.assumed.get(&(link, own.leaf));
            let delay = match (assumed, own.of_flow(place)) {
                (Some(assumed), _) => *assumed,
                (None, Ok(bound)) => bound.delay_of(self.longest(flow, hop)).ok()?,
                (None, Err(_)) => return None,
            };
            longest = longest.max(delay);
        }
        Some(longest)
    }
}
