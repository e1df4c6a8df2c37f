//! The bounds of a world as a table: per class of service and flow end to end, and per queue.

use std::collections::BTreeMap;

use serde::Serialize;
use spillgate_core::curve::NoBound;
use spillgate_nodes::NodeBound;
use spillgate_queueing::{Part, Reason};
use spillgate_scenario::plan::WorldPlan;

use crate::{Bounds, Change, Changed, From, NodeHop, Parts, Step, Way};

/// All bounds of a point of a scenario.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// By class of service.
    pub classes: Vec<ClassBound>,
    /// By flow.
    pub flows: Vec<ClassBound>,
    /// By link and queue.
    pub queues: Vec<QueueBound>,
    /// Links fail in the scenario: the bounds are those of the network in which none does.
    pub without_failures: bool,
}

/// The bound of a class or flow, end to end.
#[derive(Clone, Debug, Serialize)]
pub struct ClassBound {
    /// Its name.
    pub name: String,
    /// The longest one-way delay in seconds, rounded up to a picosecond; null if there is none.
    pub owd: Option<f64>,
    /// Whether no packet can be lost.
    pub lossless: bool,
    /// The part of the delay in seconds that is propagation.
    pub propagation: Option<f64>,
    /// The ports, and nodes that hold packets, on the way of the flow with the longest delay.
    pub steps: Vec<StepBound>,
    /// What their sum is too large by in seconds, since a burst counts once along a path.
    pub once: Option<f64>,
    /// What halves the longest delay, each alone.
    pub halved: Vec<Halved>,
    /// Why there is no bound.
    pub why: Option<String>,
}

/// A change that halves a bound.
#[derive(Clone, Debug, Serialize)]
pub struct Halved {
    /// The link at whose port it is made.
    pub link: String,
    /// The name of the queue.
    pub queue: String,
    /// What is changed: `packets`, the limit of the queue in packets; `limit` or `burst`, in bytes;
    /// or another part of the delay, in seconds.
    pub what: &'static str,
    /// What it is now.
    pub now: f64,
    /// What it may be at most.
    pub most: f64,
}

/// A port on the way of a flow.
#[derive(Clone, Debug, Serialize)]
pub struct StepBound {
    /// The link whose port it is at, or the node that holds packets.
    pub link: String,
    /// The name of the queue.
    pub queue: String,
    #[serde(flatten)]
    pub parts: PartsBound,
}

/// What a delay at a port is the sum of.
#[derive(Clone, Debug, Serialize)]
pub struct PartsBound {
    /// The longest time in seconds from arrival until a packet has been sent.
    pub delay: f64,
    /// `burst` if sources and policers bound the delay, `limit` if the queue's limit does.
    pub by: &'static str,
    /// The bytes of the burst, or of the full queue.
    pub own: u64,
    /// The parts in seconds, by what causes them: `own`, its own bytes on an empty line, and what
    /// is more: `priority`, `front`, `shaper`, `share`.
    pub parts: BTreeMap<&'static str, f64>,
}

/// The bound of a queue.
#[derive(Clone, Debug, Serialize)]
pub struct QueueBound {
    /// The link whose port it is at, or the node that holds packets.
    pub link: String,
    /// The name of the queue: of a class-based policy the class.
    pub queue: String,
    /// The classes of service whose packets may come to it.
    pub classes: Vec<String>,
    /// The longest delay and its parts; null if there is none.
    #[serde(flatten)]
    pub delay: Option<PartsBound>,
    /// The most bytes that wait.
    pub backlog: Option<u64>,
    /// Whether no packet can be lost here.
    pub lossless: bool,
    /// The rate that it is guaranteed in the end, in b/s.
    pub rate: Option<u64>,
    /// Why there is no bound.
    pub why: Option<String>,
}

fn end(world: &WorldPlan, name: String, of: &[&Result<Way, Reason>]) -> ClassBound {
    let failed = of.iter().find_map(|r| r.as_ref().err());
    let ways = of.iter().filter_map(|r| r.as_ref().ok());
    let longest = ways.max_by_key(|w| w.owd()).filter(|_| failed.is_none());
    let mut bound = ClassBound {
        name,
        owd: None,
        lossless: of.iter().all(|r| r.as_ref().is_ok_and(|w| w.lossless)),
        propagation: None,
        steps: Vec::new(),
        once: None,
        halved: Vec::new(),
        why: failed.map(ToString::to_string),
    };
    if let Some(Err(why)) = longest.map(|way| bound.is(world, way)) {
        bound.why = Some(Reason::from(why).to_string());
    }
    bound
}

impl ClassBound {
    fn is(&mut self, world: &WorldPlan, way: &Way) -> Result<(), NoBound> {
        let parts = way.steps.iter().map(Step::parts);
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let halved = way.halved(&parts)?;
        let steps = way.steps.iter().zip(&parts);
        let steps: Vec<_> = steps.map(|(s, parts)| step(world, s, parts)).collect();
        self.halved = halved.iter().map(|to| halves(to, &steps)).collect();
        // The ports and nodes in order.
        for (i, port) in steps.into_iter().enumerate() {
            let nodes = way.held.iter().filter(|h| h.before == i);
            self.steps.extend(nodes.map(|h| StepBound {
                link: world.nodes[h.node as usize].clone(),
                queue: h.queue.clone(),
                parts: PartsBound::held(&h.bound),
            }));
            self.steps.push(port);
        }
        self.owd = Some(way.owd().as_secs_f64());
        self.propagation = Some(way.propagation.as_secs_f64());
        self.once = Some(way.saved().as_secs_f64());
        Ok(())
    }
}

fn halves(change: &Change, steps: &[StepBound]) -> Halved {
    let bound = &steps[change.step];
    let (what, now, most) = match change.to {
        Changed::Bytes(now, most) => (bound.parts.by, now as f64, most as f64),
        Changed::Packets(now, most) => ("packets", now as f64, most as f64),
        Changed::Other(part, most) => {
            let now = bound.parts.parts[name(part)];
            (name(part), now, most.as_secs_f64())
        }
    };
    Halved {
        link: bound.link.clone(),
        queue: bound.queue.clone(),
        what,
        now,
        most,
    }
}

fn name(part: Part) -> &'static str {
    match part {
        Part::Priority => "priority",
        Part::Front => "front",
        Part::Shaper => "shaper",
        Part::Share => "share",
    }
}

fn step(world: &WorldPlan, step: &Step, parts: &Parts) -> StepBound {
    let link = &world.links[step.link as usize];
    StepBound {
        link: link.name.clone(),
        queue: link.discipline.leaf_names()[usize::from(step.leaf)].clone(),
        parts: PartsBound::of(parts),
    }
}

/// The bounds of a world in words and numbers.
pub fn report(world: &WorldPlan, bounds: &Bounds) -> Report {
    let of_class = |class: usize| {
        let own = world.flows.iter().zip(&bounds.flows);
        let own = own.filter(|(f, _)| usize::from(f.class) == class);
        own.map(|(_, way)| way).collect::<Vec<_>>()
    };
    let classes = world.classes.iter().enumerate();
    let flows = world.flows.iter().zip(&bounds.flows);
    Report {
        classes: classes
            .map(|(i, name)| end(world, name.clone(), &of_class(i)))
            .collect(),
        flows: flows
            .map(|(f, way)| end(world, f.name.to_string(), &[way]))
            .collect(),
        queues: bounds
            .hops
            .iter()
            .map(|h| queue(world, h))
            .chain(bounds.nodes.iter().map(|h| held(world, h)))
            .collect(),
        without_failures: !world.failures.is_empty(),
    }
}

impl PartsBound {
    /// Of a node: all is its own.
    fn held(bound: &NodeBound) -> Self {
        let delay = bound.delay.as_secs_f64();
        Self {
            delay,
            by: if bound.by_limit { "limit" } else { "burst" },
            own: bound.backlog,
            parts: BTreeMap::from([("own", delay)]),
        }
    }

    fn of(parts: &Parts) -> Self {
        let more = parts.more.iter().map(|(part, more)| (name(*part), *more));
        let all = std::iter::once(("own", parts.alone)).chain(more);
        Self {
            delay: parts.sum().as_secs_f64(),
            by: match parts.from {
                From::Arrivals => "burst",
                From::Limit => "limit",
            },
            own: parts.own,
            parts: all.map(|(part, time)| (part, time.as_secs_f64())).collect(),
        }
    }
}

fn named(world: &WorldPlan, classes: &[u16]) -> Vec<String> {
    let name = |class: &u16| world.classes[usize::from(*class)].clone();
    classes.iter().map(name).collect()
}

fn held(world: &WorldPlan, hop: &NodeHop) -> QueueBound {
    let bound = hop.bound.as_ref().ok();
    QueueBound {
        link: world.nodes[hop.node as usize].clone(),
        queue: hop.name.clone(),
        classes: named(world, &hop.classes),
        delay: bound.map(PartsBound::held),
        backlog: bound.map(|b| b.backlog),
        lossless: bound.is_some_and(|b| b.lossless),
        rate: None,
        why: hop.bound.as_ref().err().map(ToString::to_string),
    }
}

fn queue(world: &WorldPlan, hop: &crate::Hop) -> QueueBound {
    let bound = hop.bound.clone();
    let bound = bound.and_then(|b| Ok((b.parts()?, b)));
    let why = bound.as_ref().err().map(ToString::to_string);
    let (parts, bound) = bound.ok().unzip();
    QueueBound {
        link: world.links[hop.link as usize].name.clone(),
        queue: hop.name.clone(),
        classes: named(world, &hop.classes),
        delay: parts.as_ref().map(PartsBound::of),
        backlog: bound.as_ref().map(|b| b.backlog),
        rate: bound.as_ref().map(|b| b.rate),
        lossless: bound.is_some_and(|b| b.lossless),
        why,
    }
}
