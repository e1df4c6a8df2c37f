//! The bounds of paths: from a flow's source to its destination.

use std::ops::Range;
use std::sync::Arc;

use spillgate_core::Dur;
use spillgate_core::curve::NoBound;
use spillgate_nodes::NodeBound;
use spillgate_queueing::Reason;

use crate::hop::{HopBound, Parts};
use crate::loss::lost_on;
use crate::once::Once;
use crate::ports::Ports;

/// What the packets of a flow cannot exceed from end to end.
#[derive(Clone, Debug)]
pub struct Way {
    /// Propagation.
    pub propagation: Dur,
    /// The bound at each port on the way.
    pub steps: Vec<Step>,
    /// Those of nodes that hold packets.
    pub held: Vec<Held>,
    /// Ports in a row whose delays together are less than the sum of these.
    pub once: Vec<Once>,
    /// Whether no packet can be lost.
    pub lossless: bool,
}

/// A port on the way of a flow.
#[derive(Clone, Debug)]
pub struct Step {
    /// Id of the link.
    pub link: u32,
    /// The leaf, by number; where packets may come to several the one with the longest delay.
    pub leaf: u16,
    /// The longest delay of its packets.
    pub delay: Dur,
    pub(crate) bound: Arc<HopBound>,
    /// The longest packet of the flow.
    longest: u32,
}

impl Step {
    /// What the longest delay is the sum of.
    ///
    /// # Errors
    /// If an exact value is too large.
    pub fn parts(&self) -> Result<Parts, NoBound> {
        self.bound.parts_of(self.longest)
    }
}

/// A node on the way of a flow.
#[derive(Clone, Debug)]
pub struct Held {
    /// Before which of the ports on the way it is.
    pub before: usize,
    /// Id of the node.
    pub node: u32,
    /// The name of its queue.
    pub queue: String,
    /// What its packets cannot exceed there.
    pub bound: NodeBound,
}

impl Way {
    /// The longest one-way delay.
    pub fn owd(&self) -> Dur {
        self.sum() - self.saved()
    }

    /// The sum of propagation and the bounds of the ports and nodes.
    pub fn sum(&self) -> Dur {
        let held = self.held.iter().map(|h| h.bound.delay);
        held.fold(self.of(0..self.steps.len()) + self.propagation, |sum, d| {
            sum + d
        })
    }

    /// What the sum is too large by, since bursts count at each port.
    pub fn saved(&self) -> Dur {
        let saved = self.once.iter().map(|o| self.of(o.steps.clone()) - o.delay);
        saved.fold(Dur::ZERO, |sum, d| sum + d)
    }

    /// The longer of two, in whose directions data goes.
    pub(crate) fn or(self, other: Self) -> Self {
        let lossless = self.lossless && other.lossless;
        let longer = if other.owd() > self.owd() {
            other
        } else {
            self
        };
        Self { lossless, ..longer }
    }

    fn of(&self, steps: Range<usize>) -> Dur {
        let delays = self.steps[steps].iter().map(|s| s.delay);
        delays.fold(Dur::ZERO, |sum, d| sum + d)
    }
}

impl Ports<'_> {
    /// What the packets of a flow of the plan cannot exceed.
    pub(crate) fn way(&self, flow: usize, once: &[Once]) -> Result<Way, Reason> {
        let of = &self.flows.all[flow];
        let route = &self.world.routes[of.route];
        let mut way = Way {
            propagation: self.propagation(route),
            steps: Vec::new(),
            held: Vec::new(),
            once: Vec::new(),
            lossless: lost_on(self.world, of.route, *of.lengths.end()).is_none(),
        };
        for (hop, link) in route.iter().enumerate() {
            if let Some(held) = self.held(flow, hop)? {
                way.lossless &= held.bound.lossless;
                way.held.push(held);
            }
            let place = self.flows.places[flow][hop];
            let mut step: Option<Step> = None;
            for own in self.met(flow, hop)? {
                let located = |why: &Reason| -> Reason {
                    let plan = &self.world.links[*link as usize];
                    let queue = &plan.discipline.leaf_names()[usize::from(own.leaf)];
                    format!("`{}`, queue `{queue}`: {why}", plan.name).into()
                };
                let bound = own.of_flow(place).as_ref().map_err(located)?;
                let longest = self.longest(flow, hop);
                let delay = bound.delay_of(longest)?;
                way.lossless &= bound.lossless;
                if step.as_ref().is_none_or(|s| s.delay < delay) {
                    step = Some(Step {
                        link: *link,
                        leaf: own.leaf,
                        delay,
                        bound: Arc::clone(bound),
                        longest,
                    });
                }
            }
            way.steps.extend(step);
        }
        let less = |o: &&Once| o.delay < way.of(o.steps.clone());
        way.once = once.iter().filter(less).cloned().collect();
        Ok(way)
    }

    fn propagation(&self, route: &[u32]) -> Dur {
        let links = route.iter().map(|l| &self.world.links[*l as usize]);
        links.fold(Dur::ZERO, |sum, l| sum + l.longest_delay())
    }
}
