//! Stages in the running world: what packets pass at nodes at once. Their kinds are in
//! `spillgate_nodes`.
//!
//! Before the stages of an arrival, a node notes the link and the tag of the frame, if anything
//! looks at these. Cost: nothing in worlds without stages and such classes; else O(1) for each
//! packet and node, and what its stages take.

use std::sync::Arc;

use spillgate_core::rng::hash_bytes;
use spillgate_core::{Cos, Dropped, FlowKey, Marks, Packet, Time};
use spillgate_events::EventSet;
use spillgate_measure::{Measures, Window};
use spillgate_nodes::Start;
use spillgate_nodes::stage::{Arrival, Leaving, Network, Routes, Sending, Stage};
use spillgate_queueing::{BucketLevel, State};
use spillgate_scenario::plan::WorldPlan;

use crate::engine::{ROUTED, World};
use crate::tap::Place;

/// A stage with its name.
struct Named {
    stage: Box<dyn Stage>,
    /// Hash of its path, for the digest.
    name_hash: u64,
}

/// The stages of a world.
pub(crate) struct Stages {
    /// In the order of the plan.
    all: Vec<Named>,
    /// By link: the numbers of those that act on what arrives over it.
    arrivals: Vec<Vec<u32>>,
    /// By link: the numbers of those that act on what goes to its port.
    ports: Vec<Vec<u32>>,
    /// Those that choose ways.
    ways: Vec<u32>,
    /// By link: whether its frames carry a tag; none if nothing looks at what is noted of arrivals.
    tagged: Option<Vec<bool>>,
}

/// Names of the links, by number.
pub(crate) fn names(plan: &WorldPlan) -> Arc<[String]> {
    plan.links.iter().map(|l| l.name.clone()).collect()
}

impl Stages {
    /// None if packets pass nothing and nothing looks at how they arrived. `routes`: the paths of
    /// packets, none if only what is measured matters. `watched`: by a tap.
    pub(crate) fn new(
        plan: &WorldPlan,
        routes: &[Box<[u32]>],
        flows: &Arc<[FlowKey]>,
        seed: (u64, u32),
        watched: bool,
    ) -> Option<Self> {
        let notes = plan.notes_arrivals();
        if !notes && plan.stages.is_empty() {
            return None;
        }
        let ends: Vec<(u32, u32)> = plan.links.iter().map(|l| (l.from, l.to)).collect();
        let network = Network {
            ends: &ends,
            routes,
            looked_up: !plan.failures.is_empty(),
            watched,
        };
        let links = names(plan);
        let mut new = Self {
            all: Vec::with_capacity(plan.stages.len()),
            arrivals: vec![Vec::new(); plan.links.len()],
            ports: vec![Vec::new(); plan.links.len()],
            ways: Vec::new(),
            tagged: notes.then(|| plan.links.iter().map(|l| l.dot1q).collect()),
        };
        for (number, stage) in (0..).zip(plan.stages.iter()) {
            let (path, acts) = (stage.path(), stage.declares(&network));
            let start = Start {
                window: Window::new(plan.warmup, plan.duration),
                flows,
                links: &links,
                seed,
                path: &path,
                percentiles: plan.backlog_percentiles,
                exact: false,
            };
            new.all.push(Named {
                stage: stage.build(&start, &network),
                name_hash: hash_bytes(path.as_bytes()),
            });
            for (links, by_link) in [
                (acts.arrivals, &mut new.arrivals),
                (acts.ports, &mut new.ports),
            ] {
                for link in links {
                    by_link[link as usize].push(number);
                }
            }
            new.ways.extend(acts.ways.then_some(number));
        }
        Some(new)
    }

    /// Whether a node notes how packets arrived.
    pub(crate) fn note_arrivals(&self) -> bool {
        self.tagged.is_some()
    }

    /// Puts what they have measured.
    pub(crate) fn measure(&self, plan: &WorldPlan, out: &mut Measures) {
        for named in &self.all {
            named.stage.measure(plan, out);
        }
    }

    /// The measured period begins or ends.
    pub(crate) fn pass_edge(&mut self, edge: Time) {
        for named in &mut self.all {
            named.stage.edge(edge);
        }
    }

    /// Their token buckets, in a fixed order: the link, the class, and the level.
    pub(crate) fn buckets(&self, now: Time) -> impl Iterator<Item = (u32, &str, BucketLevel)> {
        self.all.iter().flat_map(move |s| s.stage.buckets(now))
    }

    /// What is in the token buckets of those where packets arrive over a link, by class.
    pub(crate) fn tokens(&self, link: usize, now: Time) -> Vec<(String, State)> {
        let numbers = self.arrivals[link].iter();
        let of = |number: &u32| self.all[*number as usize].stage.tokens(now);
        numbers.flat_map(of).collect()
    }

    /// A link to whose port stages act sends a packet.
    #[cold]
    pub(crate) fn send(&mut self, link: usize, packet: &Packet, sent: Sending) {
        for number in &self.ports[link] {
            let stage = &mut self.all[*number as usize].stage;
            stage.sends(link as u32, packet, sent);
        }
    }
}

impl<S: EventSet> World<S> {
    /// A packet arrives over `link`: whether it passes what is there.
    #[cold]
    pub(crate) fn enter(&mut self, link: usize, packet: &mut Packet) -> bool {
        // Links that share a pipe lead to nothing that looks at what is noted here.
        let Some(stages) = self.stages.as_mut().filter(|_| link < self.links.len()) else {
            return true;
        };
        if let Some(tagged) = &stages.tagged {
            packet.cos = match (tagged[link], packet.cos) {
                (false, _) => Cos::NONE,
                (true, Cos::NONE) => Cos::of(0),
                (true, cos) => cos,
            };
            packet.set_marks(Marks::from_link(link as u32));
        }
        let node = self.plan.links[link].to;
        self.pass_all(|s| &s.arrivals[link], Some(link), node, packet)
    }

    /// A packet begins at a node, where ways are looked up: whether it passes what is there.
    pub(crate) fn enter_at_source(&mut self, node: u32, packet: &mut Packet) -> bool {
        self.pass_all(|s| &s.ways, None, node, packet)
    }

    fn pass_all(
        &mut self,
        of: impl Fn(&Stages) -> &[u32],
        from: Option<usize>,
        node: u32,
        packet: &mut Packet,
    ) -> bool {
        let mut nth = 0;
        while let Some(number) = self.stages.as_ref().and_then(|s| of(s).get(nth).copied()) {
            if !self.pass_stage(number, from, node, packet) {
                return false;
            }
            nth += 1;
        }
        true
    }

    fn pass_stage(
        &mut self,
        number: u32,
        from: Option<usize>,
        node: u32,
        packet: &mut Packet,
    ) -> bool {
        let (now, before) = (self.now, packet.dscp);
        let Some(stages) = &mut self.stages else {
            return true;
        };
        let Named { stage, name_hash } = &mut stages.all[number as usize];
        let place = *name_hash;
        let mut at = Arrival {
            node,
            from: from.map(|link| link as u32),
            routes: self.routing.as_deref_mut().map(|r| r as &mut dyn Routes),
            watched: self.tap.is_some(),
            found: None,
        };
        let refused = stage.arrive(now, &mut at, packet);
        let found = at.found;
        if let Some(routing) = &self.routing {
            // The ways that it may have opened.
            self.hops.resize(routing.ends.len(), ROUTED);
        }
        if let (Some(found), Some(link)) = (found, from.map(|link| link as u32)) {
            let found: Vec<_> = found
                .iter()
                .map(|(class, color)| (&**class, *color))
                .collect();
            self.tell(Some(link), packet, |tap, now, seen| {
                tap.conditioned(now, link, before, &found, seen);
            });
        }
        let Some(refused) = refused else {
            return true;
        };
        if let Some(link) = from {
            self.left_link(link);
        }
        let (Some((class, evidence)), Some(link)) = (refused.by, from) else {
            self.lose_unroutable(now, node, *packet);
            return false;
        };
        let lost = Dropped {
            packet: *packet,
            reason: refused.reason,
        };
        if self.tap.is_some() {
            let link = link as u32;
            self.tap_lost(Some(link), Place::Input(link, class, evidence), &lost);
        }
        self.lose(now, place, &lost);
        false
    }

    /// A packet goes to the port of a link to which stages act.
    #[cold]
    pub(crate) fn leave(&mut self, link: usize, packet: &mut Packet, now: Time) {
        let Some(stages) = &mut self.stages else {
            return;
        };
        let meter = self.flows[packet.flow as usize].meter;
        let at = Leaving {
            link: link as u32,
            now,
            class: self.plan.flows.get(meter as usize).map(|f| f.class),
        };
        for number in &stages.ports[link] {
            stages.all[*number as usize].stage.leave(at, packet);
        }
    }

    /// The values of a packet's labels at a link's port, the top one first, for a tap.
    pub(crate) fn label_values(&self, link: usize, packet: &Packet) -> [u32; 2] {
        let Some(stages) = &self.stages else {
            return [0; 2];
        };
        let numbers = stages.ports[link].iter();
        let mut values = numbers.map(|n| stages.all[*n as usize].stage.labels(link as u32, packet));
        values.find(|v| *v != [0; 2]).unwrap_or_default()
    }
}
