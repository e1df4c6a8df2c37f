//! The bounds of paths: from a flow's source to its destination.

use std::ops::Range;

use spillgate_core::Dur;
use spillgate_queueing::Reason;

use crate::halve::{Change, changes};
use crate::hop::{HopBound, Parts};
use crate::once::Once;
use crate::ports::Ports;

/// What the packets of a flow cannot exceed from end to end.
#[derive(Clone, Debug)]
pub struct Way {
    /// Propagation, and the times of the nodes between links.
    pub propagation: Dur,
    /// The bound at each port on the way.
    pub steps: Vec<Step>,
    /// Ports in a row whose delays together are less than the sum of these.
    pub once: Vec<Once>,
    /// Whether no packet can be lost in a queue.
    pub lossless: bool,
    /// What halves the delay, each alone.
    pub halved: Vec<Change>,
}

/// A port on the way of a flow.
#[derive(Clone, Debug)]
pub struct Step {
    /// Id of the link.
    pub link: u32,
    /// The leaf, by number; where packets may come to several the one with the longest delay.
    pub leaf: u16,
    /// What the longest delay of its packets is the sum of.
    pub parts: Parts,
}

impl Way {
    /// The longest one-way delay.
    pub fn owd(&self) -> Dur {
        self.sum() - self.saved()
    }

    /// The sum of propagation and the bounds of the ports.
    pub fn sum(&self) -> Dur {
        self.of(0..self.steps.len()) + self.propagation
    }

    /// What the sum is too large by, since bursts count at each port.
    pub fn saved(&self) -> Dur {
        let saved = self.once.iter().map(|o| self.of(o.steps.clone()) - o.delay);
        saved.fold(Dur::ZERO, |sum, d| sum + d)
    }

    fn of(&self, steps: Range<usize>) -> Dur {
        let delays = self.steps[steps].iter().map(|s| s.parts.sum());
        delays.fold(Dur::ZERO, |sum, d| sum + d)
    }
}

impl Ports<'_> {
    /// What the packets of a flow of the plan cannot exceed.
    pub(crate) fn way(&self, flow: usize, once: &[Once]) -> Result<Way, Reason> {
        let route = &self.world.routes[self.flows.all[flow].route];
        let mut way = Way {
            propagation: self.world.way(route),
            steps: Vec::new(),
            once: Vec::new(),
            lossless: true,
            halved: Vec::new(),
        };
        let mut hops = Vec::new();
        for (hop, link) in route.iter().enumerate() {
            let from = self.world.links[*link as usize].from;
            if self.world.holding.at(from).is_some() {
                let node = &self.world.nodes[from as usize];
                return Err(format!("no bound of node `{node}` is known").into());
            }
            let mut longest: Option<(Step, &HopBound)> = None;
            for own in self.met(flow, hop)? {
                let name = &self.world.links[*link as usize].name;
                let located = |why: &Reason| -> Reason {
                    format!("`{name}`, queue `{}`: {why}", own.name).into()
                };
                let bound = own.bound.as_ref().map_err(located)?;
                let parts = bound.parts_of(self.longest(flow, *link))?;
                way.lossless &= bound.lossless;
                if longest
                    .as_ref()
                    .is_none_or(|(l, _)| l.parts.sum() < parts.sum())
                {
                    let (link, leaf) = (*link, own.leaf);
                    longest = Some((Step { link, leaf, parts }, bound));
                }
            }
            let (step, bound) = longest.unzip();
            way.steps.extend(step);
            hops.extend(bound);
        }
        let less = |o: &&Once| o.delay < way.of(o.steps.clone());
        way.once = once.iter().filter(less).cloned().collect();
        way.halved = changes(&way, &hops)?;
        Ok(way)
    }
}
